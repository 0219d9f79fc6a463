/*
 * The numbered ring: entries stay until the host has them on disk.
 *
 * Numbers run modulo 65,536: oldest <= sent <= next. An acknowledgement moves `oldest`, sending moves `sent`, a
 * NAK or a time-out moves `sent` back. A full ring takes nothing: what it lost becomes one entry of its own
 * as soon as there is room, and only then edges are recorded again, so that every loss has its place.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"

/* A power of two, so that a number's place in the ring survives the wrap. */
#ifndef RING_ENTRIES
#define RING_ENTRIES 128u
#endif
_Static_assert((RING_ENTRIES & (RING_ENTRIES - 1)) == 0 && RING_ENTRIES <= 32768u, "ring: not a power of two");

struct ring {
    uint16_t oldest, sent, next;
    uint16_t highest;              /* where `sent` has been: what lies below has gone out before */
    uint16_t resent;
    uint32_t lost;                 /* since boot */
    uint32_t unrecorded;           /* lost, and not told by an entry yet */
    struct entry entries[RING_ENTRIES];
};

static inline uint16_t ring_kept(const struct ring *ring)
{
    return (uint16_t)(ring->next - ring->oldest);
}

static inline bool ring_has_unsent(const struct ring *ring)
{
    return ring->sent != ring->next;
}

void ring_push(struct ring *ring, const struct entry *entry);

/* Notes that `count` entries were lost at `tick` before they could be pushed. */
void ring_lose(struct ring *ring, uint32_t count, uint32_t tick);

/* Forgets everything below `seq`, if it lies above `oldest` and not beyond `next`; whether it did. */
bool ring_release(struct ring *ring, uint16_t seq, uint32_t tick);

/* Sends again from `seq`, if it lies between `oldest` and `sent`. */
void ring_rewind(struct ring *ring, uint16_t seq);

/* The next entry to send, which then counts as sent; only while `ring_has_unsent`. */
const struct entry *ring_send(struct ring *ring);

#endif
