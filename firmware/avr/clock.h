/*
 * The board's clock: Timer1 counts half microseconds, its overflows make it 32 bits of microseconds.
 *
 * An overflow that has happened and waits for its interrupt is seen in its flag, so that the clock never
 * steps back, whatever the interrupts are busy with.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <avr/io.h>
#include <stdint.h>

#define CLOCK_OVERFLOW_US 32768u

/* The time of the last overflow; its low 15 bits are always 0. */
extern volatile uint32_t clock_base;

/* Starts the timer and a compare interrupt every 4 ms that wakes the loop. */
void clock_start(void);

/* The time, for where interrupts are off. */
__attribute__((always_inline)) static inline uint32_t clock_stamp(void)
{
    uint16_t half = TCNT1;
    uint32_t base = clock_base;
    if ((TIFR1 & _BV(TOV1)) && !(half & 0x8000))
        base += CLOCK_OVERFLOW_US;
    return base | half >> 1;
}

uint32_t clock_now(void);

#endif
