/* Sets of channels: one bit a channel, channel 0 lowest in the first byte. */
#ifndef BITS_H
#define BITS_H

#include <stdbool.h>
#include <stdint.h>

bool bits_get(const uint8_t *bits, uint8_t channel);
void bits_put(uint8_t *bits, uint8_t channel, bool value);

#endif
