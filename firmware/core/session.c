#include "session.h"

#include <string.h>

#include "bits.h"
#include "bytes.h"

static bool reached(uint32_t now, uint32_t at)
{
    return (int32_t)(now - at) >= 0;
}

void session_boot(struct session *session, const struct identity *who, const uint8_t *levels, uint32_t now)
{
    memset(session, 0, sizeof *session);
    session->who = *who;
    memcpy(session->levels, levels, sizeof session->levels);
    session->hello_due = true;
    session->heartbeat_at = now;
    session->patience = HEARTBEAT_PATIENCE;
    session->outputs_at_rest = true;
}

/* ------------------------------------------------------------------ what happens at the table */

static void report(struct session *session, const struct sensor *sensor, uint8_t object, uint32_t tick)
{
    if (object)
        session_colour(session, tick, sensor->channel, object);
}

void session_edge(struct session *session, uint32_t tick, uint8_t channel, uint8_t level)
{
    for (uint8_t number = 0; number < config_sensors(&session->config); number++) {
        const struct sensor *sensor = config_sensor(&session->config, number);
        if (sensor->channel == channel)
            report(session, sensor, watcher_edge(&session->watchers[number], sensor, level, tick), tick);
    }
    bits_put(session->levels, channel, level);
    struct entry entry = {.tick = tick, .what = (uint8_t)(SORT_EDGE | channel), .arg = level};
    ring_push(&session->ring, &entry);
}

void session_colour(struct session *session, uint32_t tick, uint8_t channel, uint8_t object)
{
    struct entry entry = {.tick = tick, .what = (uint8_t)(SORT_COLOUR | channel), .arg = object};
    ring_push(&session->ring, &entry);
}

void session_lose(struct session *session, uint32_t tick, uint16_t count, const uint8_t *levels)
{
    memcpy(session->levels, levels, sizeof session->levels);
    ring_lose(&session->ring, count, tick);
}

bool session_wants_reading(const struct session *session, uint8_t number)
{
    return number < config_sensors(&session->config) && watcher_wants_reading(&session->watchers[number]);
}

void session_read(struct session *session, uint8_t number, uint8_t reading)
{
    watcher_read(&session->watchers[number], config_sensor(&session->config, number), reading);
}

static void expire_watchers(struct session *session, uint32_t now)
{
    for (uint8_t number = 0; number < config_sensors(&session->config); number++) {
        const struct sensor *sensor = config_sensor(&session->config, number);
        report(session, sensor, watcher_expire(&session->watchers[number], sensor, now), now);
    }
}

/* ------------------------------------------------------------------ outputs and configuration */

/* Puts the outputs to the levels of `bits`, or to rest where that is NULL. */
static void set_outputs(struct session *session, const uint8_t *bits)
{
    for (uint8_t at = 0; at < LEVEL_BYTES_MAX; at++) {
        uint8_t outputs = config_byte(&session->config, CONFIG_OUTPUTS, at);
        session->outputs[at] = bits ? bits[at] & outputs : config_byte(&session->config, CONFIG_REST, at);
        session->levels[at] = (uint8_t)((session->levels[at] & ~outputs) | session->outputs[at]);
    }
    session->outputs_at_rest = bits == NULL;
    session->outputs_are_new = true;
}

void session_configured(struct session *session, const uint8_t *levels, uint32_t now)
{
    const struct config *config = &session->config;
    for (uint8_t at = 0; at < LEVEL_BYTES_MAX; at++)
        session->levels[at] = (uint8_t)((levels[at] & config_byte(config, CONFIG_INPUTS, at)) | session->outputs[at]);
    session->config_is_new = false;
    session->config_in_force = config_checksum(config->bytes, config->length);
    session->heartbeat_at = now;
}

static void take_config(struct session *session, const struct host_message *message, uint32_t now)
{
    struct config *config = &session->config;
    if (session->config_is_new)
        return;                    /* one at a time: the host repeats what has not been answered */
    if (config->length == message->body_length && memcmp(config->bytes, message->body, config->length) == 0) {
        session->heartbeat_at = now;           /* the answer to the first one was lost */
        return;
    }
    config->length = message->body_length;
    memcpy(config->bytes, message->body, config->length);
    memset(session->watchers, 0, sizeof session->watchers);
    session->config_is_new = true;
    session->config_in_force = 0;
    set_outputs(session, NULL);
}

static void take_output(struct session *session, const struct host_message *message, uint32_t now)
{
    uint8_t bits[LEVEL_BYTES_MAX] = {0};
    memcpy(bits, message->body + 1, message->body_length - 1u);
    set_outputs(session, bits);
    session->heartbeat_at = now;
}

/* ------------------------------------------------------------------ what the host says */

/* Whether the fields of a message are right for this board. */
static bool is_sound(const struct session *session, const struct host_message *message)
{
    switch (message->kind) {
    case KIND_CONFIG:
        return config_is_valid(message->body, message->body_length, session->who.channels);
    case KIND_OUTPUT:
        return levels_are_valid(message->body, message->body_length, session->who.channels);
    default:
        return true;
    }
}

static void obey(struct session *session, const struct host_message *message, uint32_t now)
{
    struct ring *ring = &session->ring;
    if (message->kind == KIND_HELLO_REQUEST) {
        session->hello_due = true;
        ring_rewind(ring, ring->oldest);
        return;
    }
    if (message->boot != (uint16_t)session->who.boot_id)
        return;                    /* meant for a boot before this one */
    session->host_heard_at = now;
    switch (message->kind) {
    case KIND_NAK:
        ring_rewind(ring, message->seq);
        return;
    case KIND_CONFIG:
        take_config(session, message, now);
        return;
    case KIND_OUTPUT:
        take_output(session, message, now);
        return;
    default:
        break;
    }
    if (ring_release(ring, message->seq, now)) {
        session->resend_armed = ring_kept(ring) != 0;
        session->resend_at = now + RESEND_AFTER_US;
    }
    if (message->kind == KIND_HOST_HEARTBEAT) {
        session->echo = message->token;
        session->heartbeat_at = now;
    }
}

void session_receive(struct session *session, uint8_t byte, uint32_t now)
{
    uint8_t length = 0;
    struct host_message message;
    switch (deframer_take(&session->in, byte, &length)) {
    case FRAME_NEED_MORE:
        return;
    case FRAME_WHOLE:
        switch (host_message_read(session->in.bytes, length, &message)) {
        case READ_WELL:
            if (!is_sound(session, &message))
                break;
            obey(session, &message, now);
            return;
        case READ_UNKNOWN:
            return;
        case READ_BAD:
            break;
        }
        break;
    default:
        break;
    }
    session->bad_frames++;
}

/* ------------------------------------------------------------------ what the board says */

static struct counters count(const struct session *session)
{
    struct counters counters = {
        .lost = session->ring.lost, .bad_frames = session->bad_frames, .resent = session->ring.resent};
    return counters;
}

static uint8_t *put_header(const struct session *session, uint8_t *at, uint8_t kind, uint16_t seq, uint32_t now)
{
    return put_board_header(at, kind, session->who.boot_id, seq, now);
}

static uint8_t *put_standing(const struct session *session, uint8_t *at)
{
    struct counters counters = count(session);
    return put_levels(put_counters(at, &counters), session->who.channels, session->levels);
}

static uint8_t hello(struct session *session, uint8_t *frame, uint32_t now)
{
    session->hello_due = false;
    /* A zero first, so that what the boot loader or the opened port left on the line does not spoil it. */
    frame[0] = 0;
    uint8_t *payload = frame + 2;
    uint8_t *at = put_header(session, payload, KIND_HELLO, session->ring.next, now);
    at = put_hello(at, &session->who, session->ring.oldest, RING_ENTRIES);
    at = put_standing(session, at);
    return (uint8_t)(1 + frame_close(frame + 1, (uint8_t)(at - payload)));
}

static uint8_t edges(struct session *session, uint8_t *frame, uint32_t now)
{
    uint8_t *payload = frame + 1;
    uint8_t *at = put_header(session, payload, KIND_EDGES, session->ring.sent, now);
    for (uint8_t room = MAX_ENTRIES; room && ring_has_unsent(&session->ring); room--)
        at = put_entry(at, ring_send(&session->ring));
    return frame_close(frame, (uint8_t)(at - payload));
}

static uint8_t heartbeat(struct session *session, uint8_t *frame, uint32_t now)
{
    uint8_t *payload = frame + 1;
    uint8_t *at = put_header(session, payload, KIND_HEARTBEAT, session->ring.next, now);
    at = put_u16(at, session->echo);
    at = put_standing(session, at);
    at = put_u16(at, session->config_in_force);
    at = put_bits(at, session->who.channels, session->muted);
    session->echo = 0;
    session->heartbeat_at = now + HEARTBEAT_PERIOD_US;
    session->patience = HEARTBEAT_PATIENCE;
    return frame_close(frame, (uint8_t)(at - payload));
}

uint8_t session_poll(struct session *session, uint8_t *frame, uint32_t now)
{
    struct ring *ring = &session->ring;
    expire_watchers(session, now);
    if (!session->outputs_at_rest && reached(now, session->host_heard_at + HOST_SILENCE_US))
        set_outputs(session, NULL);
    if (session->hello_due)
        return hello(session, frame, now);
    if (session->resend_armed && reached(now, session->resend_at)) {
        session->resend_armed = false;
        ring_rewind(ring, ring->oldest);
    }
    if (ring_kept(ring) && !session->resend_armed) {
        session->resend_armed = true;
        session->resend_at = now + RESEND_AFTER_US;
    }
    bool is_heartbeat_due = reached(now, session->heartbeat_at);
    if (ring_has_unsent(ring) && !(is_heartbeat_due && session->patience == 0)) {
        if (is_heartbeat_due)
            session->patience--;
        return edges(session, frame, now);
    }
    return is_heartbeat_due ? heartbeat(session, frame, now) : 0;
}

static uint32_t until(uint32_t now, uint32_t at)
{
    return reached(now, at) ? 0 : at - now;
}

uint32_t session_idle_us(const struct session *session, uint32_t now)
{
    if (session->hello_due || ring_has_unsent(&session->ring))
        return 0;
    uint32_t idle = until(now, session->heartbeat_at);
    if (session->resend_armed) {
        uint32_t resend = until(now, session->resend_at);
        if (resend < idle)
            idle = resend;
    }
    return idle;
}
