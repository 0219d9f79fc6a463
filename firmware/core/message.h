/*
 * The messages of the serial protocol, version 1, as docs/protocol.md has them: what the host says is read
 * here, what the board says is put into bytes. Whoever keeps a number compares it modulo its width.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

enum {
    PROTOCOL_VERSION = 1,
    MAX_ENTRIES = 8,               /* in one EDGES */
    MAX_LOST = 0x3FFF,             /* that one entry can tell */
    LEVEL_BYTES_MAX = 8,
    HOST_HEADER_BYTES = 5
};

enum kind {
    KIND_HELLO = 0x01,
    KIND_EDGES = 0x02,
    KIND_HEARTBEAT = 0x03,
    KIND_HELLO_REQUEST = 0x81,
    KIND_ACK = 0x82,
    KIND_NAK = 0x83,
    KIND_HOST_HEARTBEAT = 0x84,
    KIND_CONFIG = 0x85,
    KIND_OUTPUT = 0x86
};

enum sort {
    SORT_EDGE = 0x00,
    SORT_COLOUR = 0x40,
    SORT_LOST = 0x80
};

/* What has happened: `what` is a sort and a channel, `tick` when. */
struct entry {
    uint32_t tick;
    uint8_t what;
    uint8_t arg;
};

/* What a board is, for as long as it is powered. */
struct identity {
    uint32_t boot_id;
    uint8_t reset_cause;
    uint8_t board;
    uint8_t channels;
};

struct counters {
    uint32_t lost;
    uint16_t bad_frames;
    uint16_t resent;
};

/* ------------------------------------------------------------------ from the host */

enum reading {
    READ_WELL,
    READ_BAD,                      /* a kind that the host sends, of a wrong length */
    READ_UNKNOWN                   /* a kind that a board does not know: ignored */
};

struct host_message {
    uint8_t kind;
    uint16_t boot;
    uint16_t seq;
    uint16_t token;                /* of a HEARTBEAT */
    const uint8_t *body;           /* of CONFIG and OUTPUT, within the payload; not judged yet */
    uint8_t body_length;
};

enum reading host_message_read(const uint8_t *payload, uint8_t length, struct host_message *message);

/* Whether these bytes are levels of channels that a board with `channels` has. */
bool levels_are_valid(const uint8_t *bytes, uint8_t length, uint8_t channels);

/* ------------------------------------------------------------------ to the host */

/* Each writes at `at` and returns where the next byte goes. */
uint8_t *put_board_header(uint8_t *at, uint8_t kind, uint32_t boot_id, uint16_t seq, uint32_t tick);
uint8_t *put_entry(uint8_t *at, const struct entry *entry);
uint8_t *put_counters(uint8_t *at, const struct counters *counters);
uint8_t *put_bits(uint8_t *at, uint8_t channels, const uint8_t *bits);
uint8_t *put_levels(uint8_t *at, uint8_t channels, const uint8_t *levels);
uint8_t *put_hello(uint8_t *at, const struct identity *who, uint16_t oldest, uint16_t ring);

#endif
