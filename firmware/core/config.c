#include "config.h"

#include "bits.h"
#include "capture.h"

_Static_assert(sizeof(struct sensor) == 9, "sensor: not as on the wire");

static uint8_t mask_bytes(const uint8_t *bytes)
{
    return (uint8_t)(bytes[0] + 7) / 8;
}

/* Where the bytes after the sets of channels begin: the mute limit, the number of sensors, the sensors. */
static uint8_t tail(const uint8_t *bytes)
{
    return (uint8_t)(1 + CONFIG_BITS * mask_bytes(bytes));
}

static uint8_t mask_byte(const uint8_t *bytes, enum config_bits which, uint8_t byte)
{
    uint8_t count = mask_bytes(bytes);
    return byte < count ? bytes[(uint8_t)(1 + which * count + byte)] : 0;
}

static bool are_masks_valid(const uint8_t *bytes)
{
    uint8_t left = bytes[0];
    for (uint8_t at = 0; left; at++) {
        uint8_t inputs = mask_byte(bytes, CONFIG_INPUTS, at), outputs = mask_byte(bytes, CONFIG_OUTPUTS, at);
        if (inputs & outputs || mask_byte(bytes, CONFIG_PULL_UPS, at) & ~inputs ||
            mask_byte(bytes, CONFIG_REST, at) & ~outputs)
            return false;
        if (left < 8)
            return (inputs | outputs) >> left == 0;
        left = (uint8_t)(left - 8);
    }
    return true;
}

static bool are_objects_valid(uint8_t pair)
{
    return (pair & 0x0F) <= OBJECT_READING && pair >> 4 <= OBJECT_READING;
}

static bool is_sensor_valid(const uint8_t *bytes, const struct sensor *sensor)
{
    return sensor->channel < bytes[0] && bits_get(bytes + 1, sensor->channel) &&
           (sensor->analog & ~(SENSOR_INPUT | SENSOR_WANTS_LOWEST | SENSOR_ACTIVE_HIGH)) == 0 &&
           are_objects_valid(sensor->objects[0]) && are_objects_valid(sensor->objects[1]);
}

bool config_is_valid(const uint8_t *bytes, uint8_t length, uint8_t channels)
{
    if (length == 0 || length > CONFIG_BYTES_MAX || bytes[0] > channels)
        return false;
    uint8_t at = tail(bytes);
    if (at + 2 > length || !are_masks_valid(bytes) || bytes[at] > RATE_LIMIT_MAX)
        return false;
    uint8_t sensors = bytes[at + 1];
    if (sensors > SENSORS_MAX || at + 2 + sensors * sizeof(struct sensor) != length)
        return false;
    for (const uint8_t *sensor = bytes + at + 2; sensor != bytes + length; sensor += sizeof(struct sensor)) {
        if (!is_sensor_valid(bytes, (const struct sensor *)sensor))
            return false;
    }
    return true;
}

uint16_t config_checksum(const uint8_t *bytes, uint8_t length)
{
    uint16_t checksum = crc16(CRC16_START, bytes, length);
    return checksum ? checksum : CRC16_START;
}

uint8_t config_byte(const struct config *config, enum config_bits which, uint8_t byte)
{
    return mask_byte(config->bytes, which, byte);
}

bool config_is_input(const struct config *config, uint8_t channel)
{
    return channel < config->bytes[0] && bits_get(config->bytes + 1, channel);
}

uint8_t config_mute_after(const struct config *config)
{
    return config->bytes[tail(config->bytes)];
}

uint8_t config_sensors(const struct config *config)
{
    return config->length ? config->bytes[tail(config->bytes) + 1] : 0;
}

const struct sensor *config_sensor(const struct config *config, uint8_t number)
{
    return (const struct sensor *)(config->bytes + tail(config->bytes) + 2) + number;
}

uint8_t sensor_object(const struct sensor *sensor, uint8_t reading)
{
    for (uint8_t class = 0; class < SENSOR_CLASSES; class++) {
        uint8_t pair = sensor->objects[class / 2];
        uint8_t object = class % 2 ? pair >> 4 : pair & 0x0F;
        if (object && reading <= sensor->limits[class])
            return object;
    }
    return 0;
}
