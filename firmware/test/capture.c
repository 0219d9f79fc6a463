/* The queue between interrupts and loop, and the muting of inputs that change too fast. */
#include "../core/capture.h"

#include <string.h>

#include "check.h"

static struct capture_queue queue;
static struct bank bank;

static void begin(void)
{
    memset(&queue, 0, sizeof queue);
    memset(&bank, 0, sizeof bank);
    bank.watched = 0x3F;
    bank_new_period(&bank, RATE_LIMIT_MAX);
}

static int drain(void)
{
    struct capture capture;
    int edges = 0;
    while (capture_pop(&queue, &capture)) {
        for (; capture.changed; capture.changed &= (uint8_t)(capture.changed - 1))
            edges++;
    }
    return edges;
}

static void captures_come_out_as_they_went_in(void)
{
    begin();
    struct capture capture;
    for (uint32_t tick = 0; tick < 1000; tick++) {
        uint8_t levels = (uint8_t)(tick * 7);
        uint8_t changed = (uint8_t)((bank.seen ^ levels) & 0x3F);
        bank_new_period(&bank, RATE_LIMIT_MAX);
        CHECK(bank_look(&bank, &queue, 2, levels, tick) == 0);
        CHECK(capture_pop(&queue, &capture) == (changed != 0));
        if (changed)
            CHECK(capture.tick == tick && capture.bank == 2 && capture.changed == changed &&
                  capture.levels == (levels & 0x3F));
    }
    CHECK(!capture_pending(&queue));
}

static void nothing_is_lost_uncounted(void)
{
    begin();
    uint32_t happened = 0, delivered = 0, lost = 0;
    for (uint32_t step = 0; step < 100000; step++) {
        uint8_t levels = (uint8_t)(step * 2654435761u >> 24) & 0x3F;
        for (uint8_t changed = bank.seen ^ levels; changed; changed &= (uint8_t)(changed - 1))
            happened++;
        if (step % 8 == 0)
            bank_new_period(&bank, RATE_LIMIT_MAX);
        CHECK(bank_look(&bank, &queue, 0, levels, step) == 0);
        if (step % 50 == 49) {
            delivered += (uint32_t)drain();
            uint16_t now_lost = capture_take_lost(&queue);
            CHECK(now_lost > 0);
            lost += now_lost;
        }
    }
    CHECK(delivered + lost == happened);
    CHECK(delivered > 0 && lost > 0 && !capture_pending(&queue));
}

static void toggle(uint8_t input, int times)
{
    while (times--)
        bank_look(&bank, &queue, 0, bank.seen ^ input, 0);
}

static void what_is_too_fast_is_muted_alone(void)
{
    for (uint8_t limit = 1; limit <= RATE_LIMIT_MAX; limit++) {
        begin();
        bank_new_period(&bank, limit);
        toggle(0x02, limit - 1);
        toggle(0x08, limit - 1);
        CHECK(bank.muted == 0);
        CHECK(bank_look(&bank, &queue, 0, bank.seen ^ 0x02, 0) == 0x02);
        CHECK(bank.muted == 0x02 && bank.watched == 0x3D);
        drain();
        capture_take_lost(&queue);
        uint8_t seen = bank.seen;
        CHECK(bank_look(&bank, &queue, 0, seen ^ 0x02, 0) == 0);
        CHECK(bank.seen == seen && !capture_pending(&queue));
    }
}

static void the_muted_get_another_try(void)
{
    begin();
    toggle(0x02, RATE_LIMIT_MAX);
    CHECK(bank.muted == 0x02 && (bank.seen & 0x02) == 0);
    drain();
    capture_take_lost(&queue);
    bank_new_period(&bank, RATE_LIMIT_MAX);
    CHECK(bank_unmute(&bank) == 0x02);
    CHECK(bank_look(&bank, &queue, 0, bank.seen ^ 0x02, 77) == 0);
    CHECK(drain() == 1);           /* the level had changed while nobody listened */
    toggle(0x02, 6);
    CHECK(bank.muted == 0);
    toggle(0x02, 1);
    CHECK(bank.muted == 0x02);
    toggle(0x04, RATE_LIMIT_MAX - 1);
    CHECK(bank.muted == 0x02);
}

void test_capture(void)
{
    captures_come_out_as_they_went_in();
    nothing_is_lost_uncounted();
    what_is_too_fast_is_muted_alone();
    the_muted_get_another_try();
}
