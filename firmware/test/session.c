/* The session in time: what it says when, and across the wrap of its clock. */
#include "../core/session.h"

#include <string.h>

#include "../core/bytes.h"
#include "check.h"

static struct session session;
static uint8_t payload[FRAME_PAYLOAD_MAX];
static const struct identity who = {0x12345678, 1, 0, 12};
static const uint8_t no_levels[LEVEL_BYTES_MAX];

/* The kind of the next frame, whose payload it leaves behind; 0 for none. */
static uint8_t poll(uint32_t now)
{
    uint8_t frame[SESSION_FRAME_MAX];
    struct deframer in = {0};
    uint8_t length = session_poll(&session, frame, now), payload_length = 0;
    CHECK(length <= sizeof frame);
    for (uint8_t at = 0; at < length; at++) {
        enum verdict verdict = deframer_take(&in, frame[at], &payload_length);
        CHECK((verdict == FRAME_WHOLE) == (at == length - 1));
    }
    memcpy(payload, in.bytes, payload_length);
    return length ? payload[0] : 0;
}

static void say(uint8_t kind, uint16_t boot, uint16_t seq, uint32_t now)
{
    uint8_t frame[FRAME_MAX], *at = frame + 1;
    *at++ = kind;
    at = put_u16(put_u16(at, boot), seq);
    if (kind == KIND_HELLO_REQUEST)
        *at++ = PROTOCOL_VERSION;
    if (kind == KIND_HOST_HEARTBEAT)
        at = put_u16(at, 0xBEEF);
    uint8_t length = frame_close(frame, (uint8_t)(at - frame - 1));
    for (uint8_t n = 0; n < length; n++)
        session_receive(&session, frame[n], now);
}

static void quiet_from(uint32_t now)
{
    session_boot(&session, &who, no_levels, now);
    CHECK(poll(now) == KIND_HELLO);
    CHECK(poll(now) == KIND_HEARTBEAT);
    CHECK(poll(now) == 0);
    CHECK(session_idle_us(&session, now) == HEARTBEAT_PERIOD_US);
}

static void everything_is_on_time_from(uint32_t boot)
{
    quiet_from(boot);
    CHECK(poll(boot + HEARTBEAT_PERIOD_US - 1) == 0);
    CHECK(poll(boot + HEARTBEAT_PERIOD_US) == KIND_HEARTBEAT);
    uint32_t now = boot + 300000;
    session_edge(&session, now, 3, 1);
    CHECK(session_idle_us(&session, now) == 0);
    CHECK(poll(now) == KIND_EDGES);
    CHECK(session_idle_us(&session, now) == 200000);
    CHECK(poll(now + 200000) == KIND_HEARTBEAT);
    CHECK(payload[3] == 1 && payload[20] == 8);        /* after one entry, channel 3 is high */
    CHECK(poll(now + RESEND_AFTER_US - 1) == 0);
    for (uint32_t again = 1; again < 20; again++) {
        uint8_t kind;
        while ((kind = poll(now + again * RESEND_AFTER_US)) == KIND_HEARTBEAT)
            ;
        CHECK(kind == KIND_EDGES);
    }
    CHECK(session.ring.resent == 19);
    say(KIND_ACK, (uint16_t)who.boot_id, 1, now);
    CHECK(!session.resend_armed && ring_kept(&session.ring) == 0);
}

static void heartbeats_go_on_under_any_load(void)
{
    quiet_from(0);
    int heartbeats = 0;
    for (uint32_t now = 0; now < 10000000; now += 5000) {
        for (int edge = 0; edge < 16; edge++)
            session_edge(&session, now, 0, edge & 1);
        heartbeats += poll(now) == KIND_HEARTBEAT;
        say(KIND_ACK, (uint16_t)who.boot_id, session.ring.sent, now);
    }
    CHECK(heartbeats >= 25);
    CHECK(session.ring.lost > 0);
}

static void a_host_is_answered(void)
{
    quiet_from(5);
    say(KIND_HOST_HEARTBEAT, (uint16_t)who.boot_id, 0, 1000);
    CHECK(poll(1000) == KIND_HEARTBEAT);
    CHECK(payload[9] == 0xEF && payload[10] == 0xBE);
    CHECK(poll(1000 + HEARTBEAT_PERIOD_US) == KIND_HEARTBEAT);
    CHECK(payload[9] == 0 && payload[10] == 0);
    say(KIND_HOST_HEARTBEAT, (uint16_t)(who.boot_id + 1), 0, 300000);
    CHECK(poll(300000) == 0);
    for (int n = 0; n < 12; n++)
        session_edge(&session, 300000, 1, n & 1);
    CHECK(poll(300000) == KIND_EDGES && payload[3] == 0);
    CHECK(poll(300000) == KIND_EDGES && payload[3] == 8);
    say(KIND_NAK, (uint16_t)who.boot_id, 5, 300000);
    CHECK(poll(300000) == KIND_EDGES && payload[3] == 5);
    say(KIND_ACK, (uint16_t)who.boot_id, 3, 300000);
    say(KIND_HELLO_REQUEST, 0, 0, 300000);
    CHECK(poll(300000) == KIND_HELLO && payload[3] == 12);
    CHECK(payload[9 + 14] == 3);                       /* the oldest kept */
    CHECK(poll(300000) == KIND_EDGES && payload[3] == 3);
}

static void damage_is_counted_and_does_nothing(void)
{
    quiet_from(0);
    const char *junk = "AT+GMM\r\n\0ATZ\0\0\0\x02\xff";
    for (size_t n = 0; n < 17; n++)
        session_receive(&session, (uint8_t)junk[n], 0);
    session_receive(&session, 0, 0);
    CHECK(session.bad_frames == 3);
    CHECK(poll(0) == 0);
    session_lose(&session, 7, 300, no_levels);
    CHECK(poll(7) == KIND_EDGES);
    CHECK(payload[13] == (SORT_LOST | 1) && payload[14] == 300 - 256);
}

/* Two sensors: at channel 0 the highest reading counts, at channel 1, active low, the lowest, and 131 ms longer. */
static const uint8_t two_sensors[] = {
    12, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 2,
    0, 0x20, 0, 50, 100, 255, 0, 0x32, 0x01,
    1, 0x11, 2, 80, 0, 0, 0, 0x04, 0x00,
};

static void configure(const uint8_t *body, uint8_t length, uint32_t now)
{
    uint8_t frame[FRAME_MAX], *at = frame + 1;
    *at++ = KIND_CONFIG;
    at = put_u16(put_u16(at, (uint16_t)who.boot_id), 0);
    memcpy(at, body, length);
    uint8_t on_wire = frame_close(frame, (uint8_t)(at + length - frame - 1));
    for (uint8_t n = 0; n < on_wire; n++)
        session_receive(&session, frame[n], now);
}

static void a_configuration_is_in_force_once_the_pins_are_made(void)
{
    static const uint8_t high[LEVEL_BYTES_MAX] = {0xFF, 0xFF};
    quiet_from(0);
    configure(two_sensors, sizeof two_sensors, 1000);
    CHECK(session.config_is_new && session.config_in_force == 0);
    CHECK(poll(1000) == 0);
    session_configured(&session, high, 2000);
    CHECK(poll(2000) == KIND_HEARTBEAT);
    CHECK(get_u16(payload + 22) == config_checksum(two_sensors, sizeof two_sensors));
    CHECK(payload[20] == 0x03 && payload[21] == 0);    /* of the levels, those of the inputs */
    configure(two_sensors, sizeof two_sensors, 3000);
    CHECK(!session.config_is_new);
    CHECK(poll(3000) == KIND_HEARTBEAT);
    configure(two_sensors, sizeof two_sensors - 1, 4000);
    CHECK(session.bad_frames == 1 && session.config_in_force != 0);
}

static const struct entry *newest(unsigned back)
{
    return &session.ring.entries[(session.ring.next - back) % RING_ENTRIES];
}

static void a_passage_is_read(void)
{
    quiet_from(0);
    configure(two_sensors, sizeof two_sensors, 0);
    session_configured(&session, no_levels, 0);
    CHECK(!session_wants_reading(&session, 0) && !session_wants_reading(&session, 2));
    session_edge(&session, 1000, 0, 1);
    CHECK(session_wants_reading(&session, 0) && !session_wants_reading(&session, 1));
    session_read(&session, 0, 20);
    session_read(&session, 0, 90);
    session_read(&session, 0, 10);
    session_edge(&session, 9000, 0, 0);
    CHECK(poll(9000) == KIND_EDGES);
    CHECK(payload[13] == 0 && payload[19] == 0 && payload[25] == (SORT_COLOUR | 0) && payload[26] == 3);
    CHECK(!session_wants_reading(&session, 0));

    session_edge(&session, 10000, 1, 1);
    session_edge(&session, 11000, 1, 0);
    session_read(&session, 1, 200);
    session_edge(&session, 12000, 1, 1);
    session_read(&session, 1, 70);
    poll(12000 + (2 << 16) - 1);
    CHECK(newest(1)->what == 1);
    poll(12000 + (2 << 16));
    CHECK(newest(1)->what == (SORT_COLOUR | 1) && newest(1)->arg == 4 && newest(1)->tick == 12000 + (2 << 16));

    /* The next passage ends this one's time; of that one nothing is read. */
    session_edge(&session, 300000, 1, 0);
    session_read(&session, 1, 5);
    session_edge(&session, 301000, 1, 1);
    session_edge(&session, 302000, 1, 0);
    CHECK(newest(2)->what == (SORT_COLOUR | 1) && newest(1)->what == 1);
    session_edge(&session, 303000, 1, 1);
    poll(303000 + (2 << 16));
    CHECK(newest(1)->what == 1 && !session_wants_reading(&session, 1));

    /* Whoever calibrates gets the reading itself: half of it, so that it is told apart from an object. */
    uint8_t calibrating[sizeof two_sensors];
    memcpy(calibrating, two_sensors, sizeof two_sensors);
    calibrating[sizeof two_sensors - 1] = OBJECT_READING << 4 | OBJECT_READING;
    calibrating[sizeof two_sensors - 2] = OBJECT_READING << 4 | OBJECT_READING;
    configure(calibrating, sizeof calibrating, 400000);
    session_configured(&session, no_levels, 400000);
    session_edge(&session, 401000, 1, 0);
    session_read(&session, 1, 71);
    session_edge(&session, 402000, 1, 1);
    poll(402000 + (2 << 16));
    CHECK(newest(1)->what == (SORT_COLOUR | 1) && newest(1)->arg == (0x80 | 35));
}

void test_session(void)
{
    a_configuration_is_in_force_once_the_pins_are_made();
    a_passage_is_read();
    everything_is_on_time_from(0);
    everything_is_on_time_from(0u - 100000);
    everything_is_on_time_from(0u - 400000);
    everything_is_on_time_from(0x7FFFFFFFu - 400000);
    heartbeats_go_on_under_any_load();
    a_host_is_answered();
    damage_is_counted_and_does_nothing();
}
