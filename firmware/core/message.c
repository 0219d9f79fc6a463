#include "message.h"

#include "bytes.h"
#include "version.h"

enum { TICK_HZ = 1000000 };

enum reading host_message_read(const uint8_t *payload, uint8_t length, struct host_message *message)
{
    uint8_t kind = payload[0];
    if (kind < KIND_HELLO_REQUEST || kind > KIND_OUTPUT)
        return READ_UNKNOWN;
    if (length < HOST_HEADER_BYTES)
        return READ_BAD;
    uint8_t body_length = (uint8_t)(length - HOST_HEADER_BYTES);
    message->kind = kind;
    message->boot = get_u16(payload + 1);
    message->seq = get_u16(payload + 3);
    message->token = 0;
    message->body = payload + HOST_HEADER_BYTES;
    message->body_length = body_length;
    switch (kind) {
    case KIND_HELLO_REQUEST:
        return body_length == 1 ? READ_WELL : READ_BAD;
    case KIND_HOST_HEARTBEAT:
        if (body_length != 2)
            return READ_BAD;
        message->token = get_u16(message->body);
        return READ_WELL;
    case KIND_CONFIG:
    case KIND_OUTPUT:
        return READ_WELL;
    default:
        return body_length == 0 ? READ_WELL : READ_BAD;
    }
}

bool levels_are_valid(const uint8_t *bytes, uint8_t length, uint8_t channels)
{
    if (length == 0 || bytes[0] > channels || length != 1 + (bytes[0] + 7) / 8)
        return false;
    uint8_t in_last_byte = bytes[0] % 8;
    return in_last_byte == 0 || bytes[length - 1] >> in_last_byte == 0;
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

uint8_t *put_bits(uint8_t *at, uint8_t channels, const uint8_t *bits)
{
    for (uint8_t bytes = (uint8_t)(channels + 7) / 8; bytes; bytes--)
        *at++ = *bits++;
    return at;
}

uint8_t *put_levels(uint8_t *at, uint8_t channels, const uint8_t *levels)
{
    *at++ = channels;
    return put_bits(at, channels, levels);
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
