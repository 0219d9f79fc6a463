#include "bits.h"

static uint8_t mask(uint8_t channel)
{
    uint8_t bit = 1;
    for (channel %= 8; channel; channel--)
        bit = (uint8_t)(bit << 1);
    return bit;
}

bool bits_get(const uint8_t *bits, uint8_t channel)
{
    return (bits[channel / 8] & mask(channel)) != 0;
}

void bits_put(uint8_t *bits, uint8_t channel, bool value)
{
    if (value)
        bits[channel / 8] |= mask(channel);
    else
        bits[channel / 8] &= (uint8_t)~mask(channel);
}
