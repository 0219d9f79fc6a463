/*
 * The ATmega328P at 16 MHz: which pin is which channel.
 *
 *   channels 0 to 10    D2 to D12
 *   channels 11 to 16   A0 to A5
 *   channel 17          D13, which has a LED on most boards and is a poor input for that
 *
 * Bank 0 is port D, bank 1 port B, bank 2 port C. Until the host configures the board, channels 0 to 11 are
 * inputs with pull-ups and the others are left alone.
 */
#ifndef BOARD_H
#define BOARD_H

#include <avr/pgmspace.h>
#include <stdint.h>

enum {
    BOARD_ATMEGA328P = 1,
    BANKS = 3,
    CHANNELS = 18,
    LEVEL_BYTES = (CHANNELS + 7) / 8,
    NO_CHANNEL = 0xFF
};

extern const uint8_t board_channels[BANKS][8] PROGMEM;

static inline uint8_t board_channel(uint8_t bank, uint8_t bit)
{
    return pgm_read_byte(&board_channels[bank][bit]);
}

#endif
