/*
 * The beam controller's loop. Interrupts stamp and push; everything else happens here, a bounded piece at a
 * time, and nothing waits. The watchdog is fed in one place only: after the queue has been drained.
 */
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <string.h>

#include "board.h"
#include "clock.h"
#include "colours.h"
#include "inputs.h"
#include "reset.h"
#include "session.h"
#include "uart.h"

static struct session session;

static void begin(void)
{
    uint8_t levels[LEVEL_BYTES_MAX];
    struct identity who = {
        .boot_id = reset_next_boot_id(),
        .reset_cause = reset_cause(),
        .board = BOARD_ATMEGA328P,
        .channels = CHANNELS,
    };
    clock_start();
    uart_start();
    inputs_start(levels);
    session_boot(&session, &who, levels, clock_now());
    set_sleep_mode(SLEEP_MODE_IDLE);
    watchdog_start();
    sei();
}

static void hear(uint32_t now)
{
    uint8_t byte;
    while (uart_read(&byte))
        session_receive(&session, byte, now);
}

static void speak(uint32_t now)
{
    uint8_t frame[SESSION_FRAME_MAX];
    if (!uart_has_room(sizeof frame))
        return;
    uint8_t length = session_poll(&session, frame, now);
    uart_write(frame, length);
}

/* Sleeps until the next interrupt, unless there is something to do already. */
static void rest(uint32_t now)
{
    bool can_speak = uart_has_room(SESSION_FRAME_MAX) && session_idle_us(&session, now) == 0;
    cli();
    if (can_speak || inputs_pending() || uart_has_received()) {
        sei();
        return;
    }
    sleep_enable();
    /* The instruction after sei still runs before any interrupt: none can slip in between. */
    sei();
    sleep_cpu();
    sleep_disable();
}

int main(void)
{
    begin();
    for (;;) {
        inputs_drain(&session);
        watchdog_feed();
        uint32_t now = clock_now();
        inputs_upkeep(&session, now);
        colours_attend(&session);
        hear(now);
        outputs_show(&session);
        speak(now);
        rest(now);
    }
}
