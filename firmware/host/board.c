/*
 * The core as a process: a board whose pins, line and clock are lines of text, so that the appliance's tests
 * can hold the same conversation with it as with their simulated board, in any time they like.
 *
 * Commands come on standard input, one a line; NOW is the time in microseconds, which never runs backwards.
 *
 *   boot NOW CHANNELS BOOT_ID CAUSE TICK NUMBER    begin; at NOW the clock shows TICK, the next entry is NUMBER
 *   level NOW CHANNEL LEVEL                        a pin has this level now; a change of an input is an edge
 *   colour NOW CHANNEL OBJECT                      a sensor has reported
 *   read NOW SENSOR READING                        a colour sensor has been read, if it is to be read now
 *   hear NOW HEX                                   bytes from the host
 *   poll NOW                                       answers with a line: the bytes to send, in hex
 *   idle NOW                                       answers with a line: entries kept, microseconds to do nothing
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/bits.h"
#include "../core/session.h"

enum { LINE_BYTES = 1 << 16 };

static struct session session;
static uint32_t ahead;             /* of the clock over NOW */

static void boot(uint32_t now, unsigned channels, uint32_t boot_id, unsigned cause, uint32_t tick, unsigned number)
{
    static const uint8_t no_levels[LEVEL_BYTES_MAX];
    struct identity who = {boot_id, (uint8_t)cause, 0, (uint8_t)channels};
    ahead = tick - now;
    session_boot(&session, &who, no_levels, tick);
    struct ring *ring = &session.ring;
    ring->oldest = ring->sent = ring->next = ring->highest = (uint16_t)number;
}

static void level(uint8_t channel, uint8_t level, uint32_t tick)
{
    bool is_input = session.config.length == 0 || config_is_input(&session.config, channel);
    if (is_input && bits_get(session.levels, channel) != level)
        session_edge(&session, tick, channel, level);
}

static void hear(const char *hex, uint32_t tick)
{
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) {
        session_receive(&session, (uint8_t)byte, tick);
        if (session.config_is_new)
            session_configured(&session, session.levels, tick);
    }
}

static void poll(uint32_t tick)
{
    uint8_t frame[SESSION_FRAME_MAX];
    uint8_t length;
    while ((length = session_poll(&session, frame, tick)) != 0) {
        for (uint8_t at = 0; at < length; at++)
            printf("%02x", frame[at]);
    }
    puts("");
    fflush(stdout);
}

static int obey(const char *line)
{
    uint64_t now;
    uint32_t boot_id, tick;
    unsigned a, b, c;
    int hex;
    if (sscanf(line, "boot %" SCNu64 " %u %" SCNu32 " %u %" SCNu32 " %u", &now, &a, &boot_id, &b, &tick, &c) == 6)
        boot((uint32_t)now, a, boot_id, b, tick, c);
    else if (sscanf(line, "level %" SCNu64 " %u %u", &now, &a, &b) == 3)
        level((uint8_t)a, (uint8_t)b, (uint32_t)now + ahead);
    else if (sscanf(line, "read %" SCNu64 " %u %u", &now, &a, &b) == 3) {
        if (session_wants_reading(&session, (uint8_t)a))
            session_read(&session, (uint8_t)a, (uint8_t)b);
    }
    else if (sscanf(line, "colour %" SCNu64 " %u %u", &now, &a, &b) == 3)
        session_colour(&session, (uint32_t)now + ahead, (uint8_t)a, (uint8_t)b);
    else if (sscanf(line, "hear %" SCNu64 " %n", &now, &hex) == 1)
        hear(line + hex, (uint32_t)now + ahead);
    else if (sscanf(line, "poll %" SCNu64, &now) == 1)
        poll((uint32_t)now + ahead);
    else if (sscanf(line, "idle %" SCNu64, &now) == 1) {
        printf("%u %" PRIu32 "\n", ring_kept(&session.ring), session_idle_us(&session, (uint32_t)now + ahead));
        fflush(stdout);
    } else
        return 0;
    return 1;
}

int main(void)
{
    static char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin)) {
        if (!obey(line)) {
            fprintf(stderr, "board: not a command: %s", line);
            return 2;
        }
    }
    return 0;
}
