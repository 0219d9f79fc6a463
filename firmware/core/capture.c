#include "capture.h"

enum { TRIAL = 8 };                /* changes that mute again after another try */

bool capture_pop(struct capture_queue *queue, struct capture *capture)
{
    uint8_t tail = queue->tail;
    if (tail == queue->head)
        return false;
    atomic_signal_fence(memory_order_acquire);
    *capture = queue->slots[tail % CAPTURE_SLOTS];
    atomic_signal_fence(memory_order_release);
    queue->tail = tail + 1;
    return true;
}

uint16_t capture_take_lost(struct capture_queue *queue)
{
    uint16_t lost = queue->lost;
    queue->lost = 0;
    return lost;
}

/* Sets the counts of `inputs` so that `limit` more changes carry out of the last plane. */
static void preset(struct bank *bank, uint8_t inputs, uint8_t limit)
{
    uint8_t count = (uint8_t)(RATE_LIMIT_MAX - limit);
    for (uint8_t plane = 0; plane < RATE_PLANES; plane++) {
        bank->planes[plane] &= (uint8_t)~inputs;
        if (count >> plane & 1)
            bank->planes[plane] |= inputs;
    }
}

void bank_new_period(struct bank *bank, uint8_t limit)
{
    preset(bank, 0xFF, limit);
}

uint8_t bank_unmute(struct bank *bank)
{
    uint8_t inputs = bank->muted;
    preset(bank, inputs, TRIAL);
    bank->watched |= inputs;
    bank->muted = 0;
    return inputs;
}
