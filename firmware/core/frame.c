#include "frame.h"

enum { CRC_BYTES = 2 };

uint16_t crc16(uint16_t crc, const uint8_t *data, uint8_t length)
{
    /* A byte at a time without a table: the polynomial has only three terms below its highest. */
    while (length--) {
        uint8_t x = (uint8_t)(crc >> 8) ^ *data++;
        x ^= x >> 4;
        crc = (uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^ (uint16_t)((uint16_t)x << 5) ^ x;
    }
    return crc;
}

/* Undoes COBS in place; returns the decoded length, or -1 where a block reaches beyond the end. */
static int8_t cobs_decode(uint8_t *bytes, uint8_t length)
{
    uint8_t from = 0, to = 0;
    while (from < length) {
        uint8_t code = bytes[from++];
        if (code - 1 > length - from)
            return -1;
        for (uint8_t left = code - 1; left; left--)
            bytes[to++] = bytes[from++];
        if (from < length)
            bytes[to++] = 0;
    }
    return (int8_t)to;
}

static enum verdict judge(struct deframer *in, uint8_t length, uint8_t *payload_length)
{
    int8_t decoded = cobs_decode(in->bytes, length);
    if (decoded < 0)
        return FRAME_NOT_COBS;
    if (decoded <= CRC_BYTES)
        return FRAME_SHORT;
    if (crc16(CRC16_START, in->bytes, (uint8_t)decoded) != 0)
        return FRAME_BAD_CRC;
    *payload_length = (uint8_t)(decoded - CRC_BYTES);
    return FRAME_WHOLE;
}

enum verdict deframer_take(struct deframer *in, uint8_t byte, uint8_t *payload_length)
{
    if (byte == 0) {
        uint8_t length = in->length;
        bool skipped = in->skipping;
        in->length = 0;
        in->skipping = false;
        /* Zeros in a row are idle line; the end of an overlong frame was reported when it grew too long. */
        return skipped || length == 0 ? FRAME_NEED_MORE : judge(in, length, payload_length);
    }
    if (in->skipping)
        return FRAME_NEED_MORE;
    if (in->length == sizeof in->bytes) {
        in->length = 0;
        in->skipping = true;
        return FRAME_OVERLONG;
    }
    in->bytes[in->length++] = byte;
    return FRAME_NEED_MORE;
}

uint8_t frame_close(uint8_t *frame, uint8_t payload_length)
{
    uint16_t crc = crc16(CRC16_START, frame + 1, payload_length);
    uint8_t end = payload_length + 1;
    frame[end++] = (uint8_t)(crc >> 8);
    frame[end++] = (uint8_t)crc;
    uint8_t code_at = 0;
    for (uint8_t at = 1; at < end; at++) {
        if (frame[at] == 0) {
            frame[code_at] = at - code_at;
            code_at = at;
        }
    }
    frame[code_at] = end - code_at;
    frame[end++] = 0;
    return end;
}
