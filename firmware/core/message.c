#include "message.h"

#include "bytes.h"
#include "version.h"

enum {
    HOST_HEADER_BYTES = 5,
    TICK_HZ = 1000000
};

enum reading host_message_read(const uint8_t *payload, uint8_t length, struct host_message *message)
{
    uint8_t body;
    switch (payload[0]) {
    case KIND_ACK:
    case KIND_NAK:
        body = 0;
        break;
    case KIND_HELLO_REQUEST:
        body = 1;
        break;
    case KIND_HOST_HEARTBEAT:
        body = 2;
        break;
    default:
        return READ_UNKNOWN;
    }
    if (length != HOST_HEADER_BYTES + body)
        return READ_BAD;
    message->kind = payload[0];
    message->boot = get_u16(payload + 1);
    message->seq = get_u16(payload + 3);
    message->token = message->kind == KIND_HOST_HEARTBEAT ? get_u16(payload + HOST_HEADER_BYTES) : 0;
    return READ_WELL;
}

uint8_t *put_board_header(uint8_t *at, uint8_t kind, uint32_t boot_id, uint16_t seq, uint32_t tick)
{
    *at++ = kind;
    at = put_u16(at, (uint16_t)boot_id);
    at = put_u16(at, seq);
    return put_u32(at, tick);
}

uint8_t *put_entry(uint8_t *at, const struct entry *entry)
{
    at = put_u32(at, entry->tick);
    *at++ = entry->what;
    *at++ = entry->arg;
    return at;
}

uint8_t *put_counters(uint8_t *at, const struct counters *counters)
{
    at = put_u32(at, counters->lost);
    at = put_u16(at, counters->bad_frames);
    return put_u16(at, counters->resent);
}

uint8_t *put_levels(uint8_t *at, uint8_t channels, const uint8_t *levels)
{
    *at++ = channels;
    for (uint8_t bytes = (uint8_t)(channels + 7) / 8; bytes; bytes--)
        *at++ = *levels++;
    return at;
}

uint8_t *put_hello(uint8_t *at, const struct identity *who, uint16_t oldest, uint16_t ring)
{
    *at++ = PROTOCOL_VERSION;
    *at++ = FIRMWARE_MAJOR;
    *at++ = FIRMWARE_MINOR;
    *at++ = FIRMWARE_PATCH;
    at = put_u32(at, who->boot_id);
    *at++ = who->reset_cause;
    *at++ = who->board;
    at = put_u32(at, TICK_HZ);
    at = put_u16(at, oldest);
    return put_u16(at, ring);
}
