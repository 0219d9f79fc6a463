#include "clock.h"

#include <avr/interrupt.h>
#include <util/atomic.h>

enum { WAKE_HALF_US = 8000 };

volatile uint32_t clock_base;

ISR(TIMER1_OVF_vect)
{
    clock_base += CLOCK_OVERFLOW_US;
}

ISR(TIMER1_COMPA_vect)
{
    OCR1A += WAKE_HALF_US;
}

void clock_start(void)
{
    TCCR1A = 0;
    TCCR1B = 0;
    TCNT1 = 0;
    OCR1A = WAKE_HALF_US;
    TIFR1 = _BV(TOV1) | _BV(OCF1A);
    TIMSK1 = _BV(TOIE1) | _BV(OCIE1A);
    TCCR1B = _BV(CS11);            /* 16 MHz / 8 */
}

uint32_t clock_now(void)
{
    uint32_t now;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        now = clock_stamp();
    }
    return now;
}
