#include "ring.h"

static void append(struct ring *ring, const struct entry *entry)
{
    ring->entries[ring->next % RING_ENTRIES] = *entry;
    ring->next++;
}

static void tell_loss(struct ring *ring, uint32_t tick, uint16_t room_for)
{
    if (ring->unrecorded == 0 || RING_ENTRIES - ring_kept(ring) < room_for)
        return;
    uint16_t count = ring->unrecorded > MAX_LOST ? MAX_LOST : (uint16_t)ring->unrecorded;
    struct entry loss = {.tick = tick, .what = (uint8_t)(SORT_LOST | count >> 8), .arg = (uint8_t)count};
    ring->unrecorded -= count;
    append(ring, &loss);
}

void ring_push(struct ring *ring, const struct entry *entry)
{
    tell_loss(ring, entry->tick, 2);
    if (ring->unrecorded || ring_kept(ring) >= RING_ENTRIES) {
        ring->unrecorded++;
        ring->lost++;
        return;
    }
    append(ring, entry);
}

void ring_lose(struct ring *ring, uint32_t count, uint32_t tick)
{
    ring->unrecorded += count;
    ring->lost += count;
    tell_loss(ring, tick, 1);
}

bool ring_release(struct ring *ring, uint16_t seq, uint32_t tick)
{
    uint16_t count = (uint16_t)(seq - ring->oldest);
    uint16_t sent = (uint16_t)(ring->sent - ring->oldest);
    uint16_t highest = (uint16_t)(ring->highest - ring->oldest);
    if (count == 0 || count > ring_kept(ring))
        return false;
    ring->oldest = seq;
    if (sent < count)
        ring->sent = seq;
    if (highest < count)
        ring->highest = seq;
    tell_loss(ring, tick, 1);
    return true;
}

void ring_rewind(struct ring *ring, uint16_t seq)
{
    if ((uint16_t)(seq - ring->oldest) <= (uint16_t)(ring->sent - ring->oldest))
        ring->sent = seq;
}

const struct entry *ring_send(struct ring *ring)
{
    const struct entry *entry = &ring->entries[ring->sent % RING_ENTRIES];
    if (ring->sent == ring->highest)
        ring->highest++;
    else
        ring->resent++;
    ring->sent++;
    return entry;
}
