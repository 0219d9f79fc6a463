/*
 * The decoder and the session against any bytes, at any time, in any order, with the sanitizers watching.
 *
 * The input is a script: an operation and what belongs to it, over and over. Some operations frame what follows,
 * because no fuzzer guesses a check sum. After each step, what must always hold is looked at.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../core/session.h"

#define MUST(condition) ((condition) ? (void)0 : abort())

enum { BOOT_ID = 0x12345678, MAX_FRAMES = 2 * RING_ENTRIES, LONGEST_PAUSE_US = 600000000 };

static struct session session;
static uint32_t now, polled_at;

static void hear(const uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++)
        session_receive(&session, bytes[at], now);
    if (session.config_is_new)
        session_configured(&session, session.levels, now);
}

/* A frame of a kind that exists, mostly of this boot, with the rest as it comes. */
static void hear_framed(uint8_t kind, const uint8_t *bytes, uint8_t length)
{
    uint8_t frame[FRAME_MAX] = {0, (uint8_t)(KIND_HELLO_REQUEST + kind % 6), BOOT_ID & 0xFF, BOOT_ID >> 8 & 0xFF};
    uint8_t room = FRAME_PAYLOAD_MAX - 3;
    uint8_t used = length < room ? length : room;
    memcpy(frame + 4, bytes, used);
    hear(frame, frame_close(frame, (uint8_t)(3 + used)));
}

static void edge(uint8_t what)
{
    session_edge(&session, now, what % 64 % session.who.channels, what >> 7);
}

/* Every frame that comes out is whole, and there is an end of them. */
static void poll(void)
{
    uint8_t frame[SESSION_FRAME_MAX], length;
    polled_at = now;
    for (int frames = 0; (length = session_poll(&session, frame, now)) != 0; frames++) {
        struct deframer in = {0};
        uint8_t payload_length = 0;
        int whole = 0;
        MUST(frames < MAX_FRAMES && length <= sizeof frame);
        for (uint8_t at = 0; at < length; at++)
            whole += deframer_take(&in, frame[at], &payload_length) == FRAME_WHOLE;
        MUST(whole == 1 && in.bytes[0] >= KIND_HELLO && in.bytes[0] <= KIND_HEARTBEAT);
    }
}

static void look(void)
{
    const struct ring *ring = &session.ring;
    uint16_t kept = ring_kept(ring);
    MUST(kept <= RING_ENTRIES);
    MUST((uint16_t)(ring->sent - ring->oldest) <= kept);
    MUST((uint16_t)(ring->highest - ring->oldest) <= kept);
    MUST((uint16_t)(ring->highest - ring->oldest) >= (uint16_t)(ring->sent - ring->oldest));
    MUST(ring->unrecorded <= ring->lost);
    MUST(session.config.length == 0 ||
         config_is_valid(session.config.bytes, session.config.length, session.who.channels));
    MUST(session_idle_us(&session, now) <= HEARTBEAT_PERIOD_US);
    MUST(session.in.length < FRAME_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t no_levels[LEVEL_BYTES_MAX];
    if (size < 4)
        return 0;
    struct identity who = {BOOT_ID, data[0] % 6, 0, (uint8_t)(1 + data[1] % 64)};
    now = polled_at = (uint32_t)data[2] << 24;
    session_boot(&session, &who, no_levels, now);
    const uint8_t *at = data + 3, *end = data + size;
    while (at + 2 <= end) {
        uint8_t operation = *at++, what = *at++;
        size_t left = (size_t)(end - at), length = what % 64 < left ? what % 64 : left;
        switch (operation % 8) {
        case 0:
            hear(at, length);
            at += length;
            break;
        case 1:
        case 2:
            hear_framed(operation >> 3, at, (uint8_t)length);
            at += length;
            break;
        case 3:
            for (uint8_t edges = operation >> 3; edges; edges--)
                edge((uint8_t)(what + edges * 129));
            break;
        case 4:
            now += (uint32_t)what << (operation >> 3) % 22;
            /* A loop that runs at all comes round more often than the clock. */
            if (now - polled_at > LONGEST_PAUSE_US)
                poll();
            break;
        case 5:
            session_lose(&session, now, what, no_levels);
            break;
        case 6:
            if (session_wants_reading(&session, operation >> 3 & 3))
                session_read(&session, operation >> 3 & 3, what);
            break;
        default:
            poll();
            break;
        }
        look();
    }
    poll();
    look();
    return 0;
}
