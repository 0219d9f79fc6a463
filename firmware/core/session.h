/*
 * The board's end of the link: bytes and time in, frames out.
 *
 * `now` is the board's tick in microseconds, 32 bits that wrap; deadlines are compared by signed difference,
 * so they may lie up to 35 minutes ahead. Nothing here waits or reads a clock: the loop hands in what the
 * interrupts have queued and asks for one frame at a time whenever the line has room for it.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "colour.h"
#include "config.h"
#include "frame.h"
#include "ring.h"

#define HEARTBEAT_PERIOD_US 250000u
#define RESEND_AFTER_US 250000u

/*
 * A heartbeat that is due lets entries go first, because it speaks of them, but not more frames than a full
 * ring needs: so it comes even where entries are made faster than the line takes them.
 */
#define HEARTBEAT_PATIENCE (RING_ENTRIES / MAX_ENTRIES)

/* Outputs go to rest when the host has said nothing for so long: a buzzer must not sound for ever. */
#define HOST_SILENCE_US 5000000u

/* The longest that `session_poll` writes: a HELLO with a zero before it fits as well. */
#define SESSION_FRAME_MAX FRAME_MAX

struct session {
    struct identity who;
    struct ring ring;
    struct deframer in;
    uint16_t bad_frames;
    uint16_t echo;
    uint8_t patience;              /* frames that may still go before a heartbeat that is due */
    bool hello_due;
    bool resend_armed;
    uint32_t resend_at;
    uint32_t heartbeat_at;
    uint32_t host_heard_at;
    uint8_t levels[LEVEL_BYTES_MAX];
    uint8_t muted[LEVEL_BYTES_MAX];
    uint8_t outputs[LEVEL_BYTES_MAX];          /* their levels as the host wants them */
    bool outputs_are_new;          /* for whoever sets the pins, who takes it back */
    bool outputs_at_rest;
    bool config_is_new;            /* waits for `session_configured` */
    uint16_t config_in_force;      /* its checksum; 0: none */
    struct config config;
    struct watcher watchers[SENSORS_MAX];
};

/* Begins a boot. `levels` (one bit a channel, lowest first) are those that the pins have. */
void session_boot(struct session *session, const struct identity *who, const uint8_t *levels, uint32_t now);

/* A level has changed at `tick`. */
void session_edge(struct session *session, uint32_t tick, uint8_t channel, uint8_t level);

/* A sensor at `channel` has seen `object` (a code of docs/protocol.md). */
void session_colour(struct session *session, uint32_t tick, uint8_t channel, uint8_t object);

/* `count` edges happened up to `tick` and were not captured; the pins now have `levels`. */
void session_lose(struct session *session, uint32_t tick, uint16_t count, const uint8_t *levels);

/* Notes that `config` is in force; of `levels`, those of its inputs count. */
void session_configured(struct session *session, const uint8_t *levels, uint32_t now);

/* Whether sensor `number` is to be read now; and what was read of one that was. */
bool session_wants_reading(const struct session *session, uint8_t number);
void session_read(struct session *session, uint8_t number, uint8_t reading);

/* Takes one byte from the line. */
void session_receive(struct session *session, uint8_t byte, uint32_t now);

/* Writes the next frame that is due, at most SESSION_FRAME_MAX bytes; returns its length, 0 for none. */
uint8_t session_poll(struct session *session, uint8_t *frame, uint32_t now);

/* Microseconds until `session_poll` has something to say although nothing happens; 0 for at once. */
uint32_t session_idle_us(const struct session *session, uint32_t now);

#endif
