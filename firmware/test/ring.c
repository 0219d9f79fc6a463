/* The ring against its rules: wraps, overflow in its place, acknowledgements that make no sense. */
#include <string.h>

#include "../core/ring.h"
#include "check.h"

static struct ring ring;

static void begin(uint16_t number)
{
    memset(&ring, 0, sizeof ring);
    ring.oldest = ring.sent = ring.next = ring.highest = number;
}

static void push(uint32_t tick)
{
    struct entry entry = {tick, SORT_EDGE | 3, tick & 1};
    ring_push(&ring, &entry);
}

static void numbers_wrap(void)
{
    begin(0);
    uint32_t tick = 0, taken = 0;
    for (int round = 0; round < 70000; round++) {
        push(tick++);
        if (round % 3 == 0)
            push(tick++);
        while (ring_has_unsent(&ring))
            CHECK(ring_send(&ring)->tick == taken++);
        CHECK(ring_release(&ring, ring.next, 0));
    }
    CHECK(taken == tick && ring.lost == 0 && ring.resent == 0 && ring_kept(&ring) == 0);
    CHECK(tick > 65536 && ring.next == (uint16_t)tick);
}

static void a_full_ring_tells_its_loss_in_its_place(void)
{
    begin(65500);
    for (uint32_t tick = 0; tick < RING_ENTRIES + 40; tick++)
        push(tick);
    CHECK(ring.lost == 40 && ring_kept(&ring) == RING_ENTRIES);
    while (ring_has_unsent(&ring))
        ring_send(&ring);
    CHECK(ring_release(&ring, (uint16_t)(65500 + 2), 900));
    push(1000);
    push(1001);                    /* no room: the loss and one edge have taken it */
    CHECK(ring.lost == 41);
    const struct entry *loss = ring_send(&ring);
    CHECK(loss->what == SORT_LOST && loss->arg == 40 && loss->tick == 900);
    CHECK(ring_send(&ring)->tick == 1000);
    CHECK(!ring_has_unsent(&ring));
    CHECK(ring_release(&ring, ring.sent, 2000));
    loss = ring_send(&ring);
    CHECK(loss->what == SORT_LOST && loss->arg == 1);
}

static void a_large_loss_takes_several_entries(void)
{
    begin(7);
    ring_lose(&ring, 40000, 5);
    push(6);                       /* before it the loss has to be told, and that takes more than one entry */
    push(7);
    CHECK(ring.lost == 40001);
    uint32_t told = 0;
    for (int n = 0; n < 3; n++) {
        const struct entry *loss = ring_send(&ring);
        CHECK((loss->what & 0xC0) == SORT_LOST);
        told += (uint32_t)(loss->what & 0x3F) << 8 | loss->arg;
        if (n == 1)
            CHECK(told == 2 * MAX_LOST);
    }
    CHECK(told == 40001);
    CHECK(ring_send(&ring)->tick == 7 && !ring_has_unsent(&ring));
}

static void only_sensible_acknowledgements_count(void)
{
    begin(65530);
    for (uint32_t tick = 0; tick < 10; tick++)
        push(tick);
    for (int sent = 0; sent < 6; sent++)
        ring_send(&ring);
    CHECK(!ring_release(&ring, 65530, 0));
    CHECK(!ring_release(&ring, 65529, 0));
    CHECK(!ring_release(&ring, 5, 0));
    ring_rewind(&ring, 65529);
    ring_rewind(&ring, 1);
    CHECK(ring.sent == 0 && ring.oldest == 65530 && ring.next == 4);
    ring_rewind(&ring, 65533);
    CHECK(ring.sent == 65533);
    CHECK(ring_release(&ring, 65535, 0));
    CHECK(ring.sent == 65535);
    ring_send(&ring);
    CHECK(ring.resent == 1 && ring.sent == 0);
    ring_send(&ring);
    CHECK(ring.resent == 1);
    CHECK(ring_release(&ring, 4, 0));
    CHECK(ring.sent == 4 && ring_kept(&ring) == 0 && !ring_has_unsent(&ring));
}

void test_ring(void)
{
    numbers_wrap();
    a_full_ring_tells_its_loss_in_its_place();
    a_large_loss_takes_several_entries();
    only_sensible_acknowledgements_count();
}
