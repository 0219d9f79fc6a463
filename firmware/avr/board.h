/*
 * The ATmega328P at 16 MHz: which pin is which channel.
 *
 *   channels 0 to 10    D2 to D12
 *   channels 11 to 16   A0 to A5
 *   channel 17          D13, which has a LED on most boards and is a poor input for that
 *
 * Banks are the ports in the order of their pin-change interrupts: B, C, D. Until the host configures the
 * board, channels 0 to 11 are inputs with pull-ups and the others are left alone.
 */
#ifndef BOARD_H
#define BOARD_H

#include <avr/io.h>
#include <stdint.h>

enum {
    BOARD_ATMEGA328P = 1,
    BANKS = 3,
    CHANNELS = 18,
    NO_CHANNEL = 0xFF
};

/* The registers of the ports follow each other, and so do those of their interrupts. */
enum { PORT_STRIDE = 3 };

#define BANK_PINS(bank) (*(&PINB + (bank) * PORT_STRIDE))
#define BANK_DIRECTION(bank) (*(&DDRB + (bank) * PORT_STRIDE))
#define BANK_PORT(bank) (*(&PORTB + (bank) * PORT_STRIDE))
#define BANK_MASK(bank) (*(&PCMSK0 + (bank)))

/* The channel at a pin, or NO_CHANNEL. */
uint8_t board_channel(uint8_t bank, uint8_t bit);

/* Sets of channels from one byte a bank, and back. */
void board_to_channels(const uint8_t *banks, uint8_t *channels);
void board_to_banks(const uint8_t *channels, uint8_t *banks);

#endif
