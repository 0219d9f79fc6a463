/* Every line of the shared file of frames: bytes to meaning, and for what a board says meaning to bytes. */
#include <string.h>

#include "../core/bytes.h"
#include "../core/config.h"
#include "../core/message.h"
#include "check.h"

enum { LINE_MAX_BYTES = 4096 };

static const char *text;           /* the meaning of the present line */

static unsigned long long field(const char *name)
{
    char key[32];
    CHECK(snprintf(key, sizeof key, " %s=", name) < (int)sizeof key);
    const char *at = strstr(text, key);
    CHECK(at != NULL);
    return strtoull(at + strlen(key), NULL, 10);
}

static int is(const char *name)
{
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && (text[length] == ' ' || text[length] == 0);
}

static uint8_t *put_standing(uint8_t *at)
{
    struct counters counters = {
        (uint32_t)field("lost"), (uint16_t)field("bad_frames"), (uint16_t)field("resent")};
    uint8_t levels[LEVEL_BYTES_MAX];
    for (int byte = 0; byte < LEVEL_BYTES_MAX; byte++)
        levels[byte] = (uint8_t)(field("levels") >> 8 * byte);
    return put_levels(put_counters(at, &counters), (uint8_t)field("channels"), levels);
}

static uint8_t *put_header(uint8_t *at, enum kind kind)
{
    return put_board_header(at, (uint8_t)kind, (uint32_t)field("boot"), (uint16_t)field("seq"),
                            (uint32_t)field("tick"));
}

/* The payload that the line describes, or NULL where this firmware says no such thing. */
static uint8_t *built(uint8_t *at)
{
    if (is("edges")) {
        at = put_header(at, KIND_EDGES);
        for (unsigned n = 0; n < field("entries"); n++) {
            char tick[16], what[16], arg[16];
            snprintf(tick, sizeof tick, "tick%u", n);
            snprintf(what, sizeof what, "what%u", n);
            snprintf(arg, sizeof arg, "arg%u", n);
            struct entry entry = {(uint32_t)field(tick), (uint8_t)field(what), (uint8_t)field(arg)};
            at = put_entry(at, &entry);
        }
        return at;
    }
    if (is("heartbeat")) {
        at = put_header(at, KIND_HEARTBEAT);
        at = put_standing(put_u16(at, (uint16_t)field("echo")));
        if (strstr(text, " config=") == NULL)
            return at;
        uint8_t muted[LEVEL_BYTES_MAX];
        for (int byte = 0; byte < LEVEL_BYTES_MAX; byte++)
            muted[byte] = (uint8_t)(field("muted") >> 8 * byte);
        return put_bits(put_u16(at, (uint16_t)field("config")), (uint8_t)field("channels"), muted);
    }
    if (is("hello") && field("protocol") == 1 && field("fw_major") == 1 && field("tick_hz") == 1000000) {
        struct identity who = {(uint32_t)field("boot_id"), (uint8_t)field("reset_cause"),
                               (uint8_t)field("board"), (uint8_t)field("channels")};
        at = put_header(at, KIND_HELLO);
        return put_standing(put_hello(at, &who, (uint16_t)field("oldest"), (uint16_t)field("ring")));
    }
    return NULL;
}

static unsigned long long numbered(const char *name, int number)
{
    char key[16];
    snprintf(key, sizeof key, "%s%d", name, number);
    return field(key);
}

static void check_configuration(const struct host_message *message)
{
    static const char *const names[CONFIG_BITS] = {"inputs", "pull_ups", "outputs", "rest"};
    struct config config = {.length = message->body_length};
    memcpy(config.bytes, message->body, message->body_length);
    CHECK(config_checksum(config.bytes, config.length) == field("checksum"));
    CHECK(config_mute_after(&config) == field("mute_after"));
    CHECK(config_sensors(&config) == field("sensors"));
    for (int which = 0; which < CONFIG_BITS; which++) {
        for (uint8_t byte = 0; byte < LEVEL_BYTES_MAX; byte++)
            CHECK(config_byte(&config, (enum config_bits)which, byte) == (uint8_t)(field(names[which]) >> 8 * byte));
    }
    for (uint8_t number = 0; number < config_sensors(&config); number++) {
        const struct sensor *sensor = config_sensor(&config, number);
        CHECK(sensor->channel == numbered("channel", number) && sensor->analog == numbered("analog", number));
        CHECK(sensor->after == numbered("after", number));
        for (int class = 0; class < SENSOR_CLASSES; class++)
            CHECK(sensor->limits[class] == (uint8_t)(numbered("limits", number) >> 8 * class));
        CHECK(get_u16(sensor->objects) == numbered("objects", number));
    }
}

/* As the session judges the body of what it has read. */
static int is_sound(const struct host_message *message)
{
    if (message->kind == KIND_CONFIG)
        return config_is_valid(message->body, message->body_length, 64);
    return message->kind != KIND_OUTPUT || levels_are_valid(message->body, message->body_length, 64);
}

static void check_host_message(const struct host_message *message)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } kinds[] = {{"hello_request", KIND_HELLO_REQUEST}, {"ack", KIND_ACK}, {"nak", KIND_NAK},
                 {"host_heartbeat", KIND_HOST_HEARTBEAT}, {"config", KIND_CONFIG}, {"output", KIND_OUTPUT}};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        CHECK(is(kinds[n].name) == (message->kind == kinds[n].kind));
    if (message->kind == KIND_HELLO_REQUEST)
        return;
    CHECK(message->boot == field("boot"));
    if (is("config")) {
        check_configuration(message);
        return;
    }
    if (is("output")) {
        CHECK(message->body[0] == field("channels"));
        return;
    }
    CHECK(message->seq == field("seq"));
    CHECK(message->token == (is("host_heartbeat") ? field("token") : 0));
}

static enum verdict reason(void)
{
    if (is("bad crc"))
        return FRAME_BAD_CRC;
    if (is("bad short"))
        return FRAME_SHORT;
    if (is("bad cobs"))
        return FRAME_NOT_COBS;
    if (is("bad overlong"))
        return FRAME_OVERLONG;
    return FRAME_WHOLE;
}

/* Returns how many messages of the board were built. */
static int check_line(const uint8_t *bytes, size_t length)
{
    struct deframer in = {0};
    enum verdict verdict = FRAME_NEED_MORE;
    uint8_t payload_length = 0;
    for (size_t at = 0; at < length; at++) {
        enum verdict now = deframer_take(&in, bytes[at], &payload_length);
        CHECK(now == FRAME_NEED_MORE || verdict == FRAME_NEED_MORE);
        if (now != FRAME_NEED_MORE)
            verdict = now;
    }
    CHECK(verdict == reason());
    if (verdict != FRAME_WHOLE)
        return 0;

    uint8_t frame[FRAME_MAX];
    memcpy(frame + 1, in.bytes, payload_length);
    CHECK(frame_close(frame, payload_length) == length);
    CHECK(memcmp(frame, bytes, length) == 0);

    struct host_message message;
    enum reading reading = host_message_read(in.bytes, payload_length, &message);
    if (reading == READ_WELL && !is_sound(&message))
        reading = READ_BAD;
    int is_from_host = in.bytes[0] >= KIND_HELLO_REQUEST && in.bytes[0] <= KIND_OUTPUT;
    if (is("bad length") || is("bad value"))
        CHECK(reading == (is_from_host ? READ_BAD : READ_UNKNOWN));
    else
        CHECK(reading == (is_from_host ? READ_WELL : READ_UNKNOWN));
    if (reading == READ_WELL)
        check_host_message(&message);

    const uint8_t *end = built(frame + 1);
    if (end == NULL)
        return 0;
    CHECK(frame_close(frame, (uint8_t)(end - frame - 1)) == length);
    CHECK(memcmp(frame, bytes, length) == 0);
    return 1;
}

static void check_crc(void)
{
    CHECK(crc16(CRC16_START, (const uint8_t *)"123456789", 9) == 0x29B1);
}

static void check_overlong_frames_are_one_each(void)
{
    for (unsigned length = FRAME_MAX - 2; length < 1000; length++) {
        struct deframer in = {0};
        uint8_t ignored;
        unsigned bad = 0;
        for (unsigned at = 0; at <= length; at++)
            bad += deframer_take(&in, at < length ? 'A' : 0, &ignored) != FRAME_NEED_MORE;
        CHECK(bad == 1);
        CHECK(in.length == 0 && !in.skipping);
    }
}

void test_frames(const char *vectors)
{
    FILE *file = fopen(vectors, "r");
    CHECK(file != NULL);
    static char line[LINE_MAX_BYTES];
    int lines = 0, messages = 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        if (line[0] == '#' || tab == NULL)
            continue;
        uint8_t bytes[LINE_MAX_BYTES / 2] = {0};
        size_t length = 0;
        for (char *at = line; at != tab; at += 2) {
            unsigned byte;
            CHECK(sscanf(at, "%2x", &byte) == 1);
            bytes[length++] = (uint8_t)byte;
        }
        text = tab + 1;
        messages += check_line(bytes, length);
        lines++;
    }
    fclose(file);
    CHECK(lines > 80 && messages > 13);
    check_crc();
    check_overlong_frames_are_one_each();
}
