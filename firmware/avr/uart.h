/*
 * The serial port with a ring each way. Receiving never waits: a byte for which there is no room is dropped
 * like one that the line has lost, and the frame's check sum tells.
 */
#ifndef UART_H
#define UART_H

#include <stdbool.h>
#include <stdint.h>

#ifndef BAUD
#define BAUD 115200
#endif

void uart_start(void);

/* Takes one received byte, if there is one. */
bool uart_read(uint8_t *byte);
bool uart_has_received(void);

/* Whether `length` bytes can be written at once. */
bool uart_has_room(uint8_t length);

/* Queues bytes for which there is room. */
void uart_write(const uint8_t *bytes, uint8_t length);

#endif
