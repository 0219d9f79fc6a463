/*
 * Frames on the serial line: where one ends, and whether it arrived whole.
 *
 * A frame is COBS(payload, CRC high byte, CRC low byte) and a zero byte. COBS leaves no zero inside, so a
 * zero is always an end: whatever is lost or garbled, the next zero puts the reader back in step. The
 * CRC-16 (polynomial 0x1021, initial value 0xFFFF) over payload and CRC together is 0.
 * Both directions work in place: no frame is ever copied.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FRAME_MAX = 64,                /* bytes on the wire, the closing zero included */
    FRAME_PAYLOAD_MAX = FRAME_MAX - 4
};

enum verdict {
    FRAME_NEED_MORE,
    FRAME_WHOLE,
    FRAME_OVERLONG,
    FRAME_NOT_COBS,
    FRAME_SHORT,
    FRAME_BAD_CRC
};

/* Collects the bytes of one frame; all zero is its state at the start. */
struct deframer {
    uint8_t length;
    bool skipping;                 /* throwing away the rest of an overlong frame */
    uint8_t bytes[FRAME_MAX - 1];
};

#define CRC16_START 0xFFFFu

/* The CRC of `length` bytes after those that gave `crc`. */
uint16_t crc16(uint16_t crc, const uint8_t *data, uint8_t length);

/*
 * Takes one byte. On FRAME_WHOLE, `bytes` begins with a payload of `*payload_length` bytes (1 or more), which
 * stays until the next call. Each bad frame is reported exactly once.
 */
enum verdict deframer_take(struct deframer *in, uint8_t byte, uint8_t *payload_length);

/*
 * Makes a frame of the payload that stands at `frame + 1` and returns its length on the wire; `frame` has
 * room for FRAME_MAX bytes, the payload at most FRAME_PAYLOAD_MAX.
 */
uint8_t frame_close(uint8_t *frame, uint8_t payload_length);

#endif
