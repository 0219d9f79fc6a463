/*
 * From the interrupts to the loop: what changed, and when. Nothing is debounced here.
 *
 * Inputs come in banks of up to eight, as ports have them. An interrupt compares a bank with what it saw
 * last, stamps, and pushes one capture for all inputs that changed. The queue has one producer (interrupts do
 * not nest) and one consumer, so an index each is enough. Where it overflows nothing more is pushed until
 * the loop has taken the number of lost edges: the loss has its place between the captures around it.
 *
 * An input that changes faster than anything on a table does is muted, so that a broken sensor or a radio
 * cannot take the processor. Changes are counted in bit planes, eight inputs in a few instructions:
 * plane n holds bit n of every input's count, and a carry out of the last one is an input at its limit.
 *
 * What an interrupt runs is inline, because a call would make it save every register.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef CAPTURE_SLOTS
#define CAPTURE_SLOTS 32u
#endif
_Static_assert((CAPTURE_SLOTS & (CAPTURE_SLOTS - 1)) == 0 && CAPTURE_SLOTS <= 128u, "queue: not a power of two");

enum {
    RATE_PLANES = 6,
    RATE_LIMIT_MAX = 1 << RATE_PLANES
};

struct capture {
    uint32_t tick;
    uint8_t bank;
    uint8_t changed;
    uint8_t levels;
};

struct capture_queue {
    volatile uint8_t head, tail;   /* free running; the producer moves head, the consumer tail */
    volatile uint16_t lost;
    struct capture slots[CAPTURE_SLOTS];
};

struct bank {
    uint8_t seen;                  /* the levels after every change that was captured or lost */
    uint8_t watched;
    uint8_t muted;
    uint8_t planes[RATE_PLANES];
};

/* ------------------------------------------------------------------ in the interrupt */

__attribute__((always_inline)) static inline void capture_push(struct capture_queue *queue, uint32_t tick, uint8_t bank, uint8_t changed,
                                uint8_t levels)
{
    uint8_t head = queue->head;
    if (queue->lost || (uint8_t)(head - queue->tail) == CAPTURE_SLOTS) {
        uint8_t edges = 0;
        for (; changed; changed &= (uint8_t)(changed - 1))
            edges++;
        queue->lost += edges;
        return;
    }
    struct capture *slot = &queue->slots[head % CAPTURE_SLOTS];
    slot->tick = tick;
    slot->bank = bank;
    slot->changed = changed;
    slot->levels = levels;
    atomic_signal_fence(memory_order_release);
    queue->head = head + 1;
}

/* Takes a look at bank `number`; returns the inputs that are muted from now on. */
__attribute__((always_inline)) static inline uint8_t bank_look(struct bank *bank, struct capture_queue *queue,
                                                                  uint8_t number, uint8_t levels,
                                uint32_t tick)
{
    uint8_t changed = (levels ^ bank->seen) & bank->watched;
    if (changed == 0)
        return 0;
    bank->seen ^= changed;
    capture_push(queue, tick, number, changed, bank->seen);
    uint8_t carry = changed;
    for (uint8_t *plane = bank->planes; carry && plane != bank->planes + RATE_PLANES; plane++) {
        uint8_t before = *plane;
        *plane = before ^ carry;
        carry &= before;
    }
    bank->watched &= (uint8_t)~carry;
    bank->muted |= carry;
    return carry;
}

/* ------------------------------------------------------------------ in the loop */

bool capture_pop(struct capture_queue *queue, struct capture *capture);

/* How many edges were lost since the last capture; only with interrupts off, and once the queue is empty. */
uint16_t capture_take_lost(struct capture_queue *queue);

static inline bool capture_pending(const struct capture_queue *queue)
{
    return queue->head != queue->tail || queue->lost;
}

/* Begins a new period of counting: from now on `limit` changes (1 to RATE_LIMIT_MAX) mute. Interrupts off. */
void bank_new_period(struct bank *bank, uint8_t limit);

/*
 * Gives muted inputs another try, with few changes until they are muted again, and returns them. The caller
 * looks at the bank then: a level that has changed meanwhile is an edge. Interrupts off.
 */
uint8_t bank_unmute(struct bank *bank);

#endif
