#include "inputs.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <string.h>
#include <util/atomic.h>

#include "board.h"
#include "capture.h"
#include "clock.h"

#define PERIOD_US 16384u
#define RETRY_US 1000000u
#define SETTLE_US 1000u            /* a pull-up lifts a line with its cable within that */

/* Changes in a period that mute an input: 3,000 a second, twice what a 1 kHz square wave has, and a bit. */
enum { DEFAULT_LIMIT = 48 };

static struct capture_queue queue;
static struct bank banks[BANKS];
static uint8_t limit = DEFAULT_LIMIT;
static uint32_t period_at, retry_at, settled_at;
static bool is_settling;

/* What the pins are, one byte a bank; until the host says otherwise D2 to D12 and A0 are inputs with pull-ups. */
static uint8_t pins[CONFIG_BITS][BANKS] = {{0x1F, 0x01, 0xFC}, {0x1F, 0x01, 0xFC}};

/* D0 and D1 are the serial port, B6 and B7 the resonator, C6 is the reset line. */
#define NOT_OURS(bank) ((bank) == 0 ? 0xC0 : (bank) == 1 ? 0xC0 : 0x03)

/* ------------------------------------------------------------------ the interrupts */

/*
 * Whichever port has changed, all are looked at: a look that finds nothing costs little, and changes at the
 * same moment get the same stamp.
 */
__attribute__((always_inline)) static inline void look(void)
{
    uint32_t tick = clock_stamp();
    for (uint8_t number = 0; number < BANKS; number++) {
        uint8_t muted = bank_look(&banks[number], &queue, number, BANK_PINS(number), tick);
        if (muted)
            BANK_MASK(number) &= (uint8_t)~muted;
    }
}

ISR(PCINT0_vect)
{
    look();
}
ISR(PCINT1_vect, ISR_ALIASOF(PCINT0_vect));
ISR(PCINT2_vect, ISR_ALIASOF(PCINT0_vect));

/* ------------------------------------------------------------------ what is watched */

/* One bit a channel of what the banks hold at `field`, a member of struct bank. */
static void gather(const uint8_t *field, uint8_t *channels)
{
    uint8_t bytes[BANKS];
    for (uint8_t bank = 0; bank < BANKS; bank++)
        bytes[bank] = field[bank * sizeof(struct bank)];
    board_to_channels(bytes, channels);
}

static void begin_period(void)
{
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            bank_new_period(&banks[bank], limit);
        }
    }
}

/* Directions and pull-ups; what is no input any more is not watched any more. */
static void make_pins(void)
{
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        uint8_t inputs = pins[CONFIG_INPUTS][bank], outputs = pins[CONFIG_OUTPUTS][bank];
        BANK_DIRECTION(bank) &= outputs | NOT_OURS(bank);
        BANK_PORT(bank) = (BANK_PORT(bank) & (outputs | NOT_OURS(bank))) | pins[CONFIG_PULL_UPS][bank];
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            banks[bank].watched &= inputs;
            banks[bank].muted &= inputs;
            banks[bank].seen &= inputs;
            BANK_MASK(bank) = banks[bank].watched;
        }
    }
}

/* Begins to watch every input that is not watched yet; its level now is no edge. */
static void watch_inputs(void)
{
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            uint8_t fresh = pins[CONFIG_INPUTS][bank] & (uint8_t)~(banks[bank].watched | banks[bank].muted);
            banks[bank].seen |= BANK_PINS(bank) & fresh;
            banks[bank].watched |= fresh;
            BANK_MASK(bank) = banks[bank].watched;
        }
    }
}

void inputs_start(uint8_t *levels)
{
    make_pins();
    for (uint32_t start = clock_now(); clock_now() - start < SETTLE_US;)
        ;
    begin_period();
    watch_inputs();
    gather(&banks[0].seen, levels);
    PCICR = _BV(PCIE0) | _BV(PCIE1) | _BV(PCIE2);
}

/* ------------------------------------------------------------------ the loop */

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
            gather(&banks[0].seen, levels);
        }
    }
    if (lost)
        session_lose(session, tick, lost, levels);
}

bool inputs_pending(void)
{
    return capture_pending(&queue);
}

static void take_up(struct session *session, uint32_t now)
{
    if (!is_settling) {
        for (uint8_t which = 0; which < CONFIG_BITS; which++) {
            uint8_t channels[LEVEL_BYTES_MAX];
            for (uint8_t byte = 0; byte < LEVEL_BYTES_MAX; byte++)
                channels[byte] = config_byte(&session->config, which, byte);
            board_to_banks(channels, pins[which]);
        }
        limit = config_mute_after(&session->config);
        if (limit == 0)
            limit = DEFAULT_LIMIT;
        make_pins();
        settled_at = now + SETTLE_US;
        is_settling = true;
    } else if ((int32_t)(now - settled_at) >= 0) {
        uint8_t levels[LEVEL_BYTES_MAX];
        watch_inputs();
        ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
        {
            is_settling = capture_pending(&queue);   /* what waits has its place before these levels */
            gather(&banks[0].seen, levels);
        }
        if (!is_settling)
            session_configured(session, levels, now);
    }
}

static void try_muted(void)
{
    uint8_t muted = 0;
    cli();
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        muted |= bank_unmute(&banks[bank]);
        BANK_MASK(bank) = banks[bank].watched;
    }
    /* The handler itself takes the look; its return switches interrupts on again, as sei does. */
    if (muted)
        PCINT0_vect();
    sei();
}

void inputs_upkeep(struct session *session, uint32_t now)
{
    if (session->config_is_new)
        take_up(session, now);
    if (now - period_at >= PERIOD_US) {
        period_at = now;
        begin_period();
        gather(&banks[0].muted, session->muted);
    }
    if (now - retry_at >= RETRY_US) {
        retry_at = now;
        try_muted();
    }
}

void outputs_show(struct session *session)
{
    if (!session->outputs_are_new || session->config_is_new)
        return;
    session->outputs_are_new = false;
    uint8_t levels[BANKS];
    board_to_banks(session->outputs, levels);
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        uint8_t outputs = pins[CONFIG_OUTPUTS][bank];
        BANK_PORT(bank) = (BANK_PORT(bank) & (uint8_t)~outputs) | levels[bank];
        BANK_DIRECTION(bank) |= outputs;
    }
}
