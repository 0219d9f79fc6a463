/*
 * What the host has told the board to be: its inputs, its outputs and its colour sensors.
 *
 * A configuration is one frame's body, kept as it came. Its layout is in docs/protocol.md; everything here
 * reads it in place. Only a valid one is ever kept, so readers need no checks.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"

enum {
    CONFIG_BYTES_MAX = FRAME_PAYLOAD_MAX - HOST_HEADER_BYTES,
    SENSORS_MAX = 4,
    SENSOR_CLASSES = 4
};

enum object {
    OBJECT_NONE = 0,
    OBJECT_READING = 7             /* for whoever calibrates: the reading itself is told */
};

enum config_bits {
    CONFIG_INPUTS,
    CONFIG_PULL_UPS,
    CONFIG_OUTPUTS,
    CONFIG_REST,                   /* the outputs' levels as long as the host wants no others */
    CONFIG_BITS
};

struct config {
    uint8_t length;                /* 0: none */
    uint8_t bytes[CONFIG_BYTES_MAX];
};

/* A colour sensor, as its bytes are: its passages are those of `channel`. */
struct sensor {
    uint8_t channel;
    uint8_t analog;                /* the input and enum sensor_flags */
    uint8_t after;                 /* readings still count for so long after the passage, in 65,536 microseconds */
    uint8_t limits[SENSOR_CLASSES];
    uint8_t objects[SENSOR_CLASSES / 2];
};

enum sensor_flags {
    SENSOR_INPUT = 0x07,
    SENSOR_WANTS_LOWEST = 0x10,
    SENSOR_ACTIVE_HIGH = 0x20
};

/* Whether these bytes are a configuration for a board with so many channels. */
bool config_is_valid(const uint8_t *bytes, uint8_t length, uint8_t channels);

/* The word that says which configuration is in force; never 0. */
uint16_t config_checksum(const uint8_t *bytes, uint8_t length);

/* The rest only of a valid configuration. `byte` counts the bytes of a set of channels; beyond its end they are 0. */
uint8_t config_byte(const struct config *config, enum config_bits which, uint8_t byte);
bool config_is_input(const struct config *config, uint8_t channel);
uint8_t config_mute_after(const struct config *config);
uint8_t config_sensors(const struct config *config);
const struct sensor *config_sensor(const struct config *config, uint8_t number);

/* The object that a reading stands for; 0 for none. */
uint8_t sensor_object(const struct sensor *sensor, uint8_t reading);

#endif
