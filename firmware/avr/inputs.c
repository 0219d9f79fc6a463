#include "inputs.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "board.h"
#include "capture.h"
#include "clock.h"

#define PERIOD_US 16384u
#define RETRY_US 1000000u

enum { LIMIT = RATE_LIMIT_MAX };

const uint8_t board_channels[BANKS][8] PROGMEM = {
    {NO_CHANNEL, NO_CHANNEL, 0, 1, 2, 3, 4, 5},
    {6, 7, 8, 9, 10, 17, NO_CHANNEL, NO_CHANNEL},
    {11, 12, 13, 14, 15, 16, NO_CHANNEL, NO_CHANNEL},
};
static const uint8_t default_inputs[BANKS] = {0xFC, 0x1F, 0x01};

static struct capture_queue queue;
static struct bank banks[BANKS];
static uint32_t period_at, retry_at;

/* ------------------------------------------------------------------ the interrupts */

/* One look at a bank; its pin-change mask loses the inputs that are muted. */
#define LOOK(number, pins, mask)                                                                    \
    do {                                                                                            \
        uint8_t levels = (pins);                                                                    \
        uint8_t muted = bank_look(&banks[number], &queue, (number), levels, clock_stamp());         \
        if (muted)                                                                                  \
            (mask) &= (uint8_t)~muted;                                                              \
    } while (0)

ISR(PCINT2_vect)
{
    LOOK(0, PIND, PCMSK2);
}

ISR(PCINT0_vect)
{
    LOOK(1, PINB, PCMSK0);
}

ISR(PCINT1_vect)
{
    LOOK(2, PINC, PCMSK1);
}

/* ------------------------------------------------------------------ the loop */

static void gather(uint8_t *levels)
{
    for (uint8_t byte = 0; byte < LEVEL_BYTES_MAX; byte++)
        levels[byte] = 0;
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        for (uint8_t bit = 0; bit < 8; bit++) {
            uint8_t channel = board_channel(bank, bit);
            if (banks[bank].seen >> bit & 1)
                levels[channel / 8] |= (uint8_t)(1u << (channel % 8));
        }
    }
}

static void watch(void)
{
    PCMSK2 = banks[0].watched;
    PCMSK0 = banks[1].watched;
    PCMSK1 = banks[2].watched;
}

static void look_at_all(void)
{
    LOOK(0, PIND, PCMSK2);
    LOOK(1, PINB, PCMSK0);
    LOOK(2, PINC, PCMSK1);
}

void inputs_start(uint8_t *levels)
{
    PORTD |= default_inputs[0];
    PORTB |= default_inputs[1];
    PORTC |= default_inputs[2];
    /* The pull-ups need a moment to lift a line with its cable. */
    for (uint32_t start = clock_now(); clock_now() - start < 100;)
        ;
    banks[0].seen = PIND & default_inputs[0];
    banks[1].seen = PINB & default_inputs[1];
    banks[2].seen = PINC & default_inputs[2];
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        banks[bank].watched = default_inputs[bank];
        bank_new_period(&banks[bank], LIMIT);
    }
    gather(levels);
    watch();
    PCICR = _BV(PCIE0) | _BV(PCIE1) | _BV(PCIE2);
}

static void take(struct session *session, const struct capture *capture)
{
    for (uint8_t bit = 0, left = capture->changed; left; bit++, left >>= 1) {
        if (left & 1)
            session_edge(session, capture->tick, board_channel(capture->bank, bit), capture->levels >> bit & 1);
    }
}

void inputs_drain(struct session *session)
{
    struct capture capture;
    /* Bounded, so that inputs which fill the queue as fast as it empties cannot hold the loop here. */
    for (uint8_t most = CAPTURE_SLOTS; most && capture_pop(&queue, &capture); most--)
        take(session, &capture);
    uint16_t lost = 0;
    uint32_t tick = 0;
    uint8_t levels[LEVEL_BYTES_MAX];
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        if (queue.head == queue.tail && queue.lost) {
            lost = capture_take_lost(&queue);
            tick = clock_stamp();
            gather(levels);
        }
    }
    if (lost)
        session_lose(session, tick, lost, levels);
}

bool inputs_pending(void)
{
    return capture_pending(&queue);
}

void inputs_upkeep(uint32_t now)
{
    bool is_new_period = now - period_at >= PERIOD_US;
    bool is_retry = now - retry_at >= RETRY_US;
    if (is_new_period) {
        period_at = now;
        for (uint8_t bank = 0; bank < BANKS; bank++) {
            ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
            {
                bank_new_period(&banks[bank], LIMIT);
            }
        }
    }
    if (is_retry) {
        retry_at = now;
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            uint8_t muted = 0;
            for (uint8_t bank = 0; bank < BANKS; bank++)
                muted |= bank_unmute(&banks[bank]);
            if (muted) {
                watch();
                look_at_all();
            }
        }
    }
}
