#include "board.h"

#include <avr/pgmspace.h>
#include <string.h>

#include "bits.h"
#include "message.h"

static const uint8_t channels_at[BANKS][8] PROGMEM = {
    {6, 7, 8, 9, 10, 17, NO_CHANNEL, NO_CHANNEL},
    {11, 12, 13, 14, 15, 16, NO_CHANNEL, NO_CHANNEL},
    {NO_CHANNEL, NO_CHANNEL, 0, 1, 2, 3, 4, 5},
};

uint8_t board_channel(uint8_t bank, uint8_t bit)
{
    return pgm_read_byte(&channels_at[bank][bit]);
}

void board_to_channels(const uint8_t *banks, uint8_t *channels)
{
    memset(channels, 0, LEVEL_BYTES_MAX);
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        for (uint8_t bit = 0, left = banks[bank]; left; bit++, left >>= 1) {
            if (left & 1)
                bits_put(channels, board_channel(bank, bit), true);
        }
    }
}

void board_to_banks(const uint8_t *channels, uint8_t *banks)
{
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        uint8_t byte = 0;
        for (uint8_t bit = 8; bit--;) {
            uint8_t channel = board_channel(bank, bit);
            byte = (uint8_t)(byte << 1 | (channel != NO_CHANNEL && bits_get(channels, channel)));
        }
        banks[bank] = byte;
    }
}
