#include "uart.h"

#include <avr/interrupt.h>
#include <avr/io.h>

/* Powers of two, below 256, so that free-running 8-bit indices do. */
enum {
    RECEIVE_BYTES = 64,
    SEND_BYTES = 128
};

/* Rounded; twice the speed (U2X) makes the error at 115200 baud 2.1 % instead of 3.5 %. */
#define DIVIDER ((F_CPU + BAUD * 4L) / (BAUD * 8L) - 1)
_Static_assert(DIVIDER >= 0 && DIVIDER <= 4095, "this speed cannot be made of this clock");

static uint8_t received[RECEIVE_BYTES];
static volatile uint8_t received_head, received_tail;
static uint8_t sending[SEND_BYTES];
static volatile uint8_t sending_head, sending_tail;

ISR(USART_RX_vect)
{
    uint8_t status = UCSR0A;
    uint8_t byte = UDR0;
    uint8_t head = received_head;
    if (status & _BV(FE0) || (uint8_t)(head - received_tail) == RECEIVE_BYTES)
        return;
    received[head % RECEIVE_BYTES] = byte;
    received_head = head + 1;
}

ISR(USART_UDRE_vect)
{
    uint8_t tail = sending_tail;
    if (tail == sending_head) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
        return;
    }
    UDR0 = sending[tail % SEND_BYTES];
    sending_tail = tail + 1;
}

void uart_start(void)
{
    UCSR0A = _BV(U2X0);
    UBRR0 = DIVIDER;
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

bool uart_has_received(void)
{
    return received_head != received_tail;
}

bool uart_read(uint8_t *byte)
{
    uint8_t tail = received_tail;
    if (tail == received_head)
        return false;
    *byte = received[tail % RECEIVE_BYTES];
    received_tail = tail + 1;
    return true;
}

bool uart_has_room(uint8_t length)
{
    return (uint8_t)(sending_head - sending_tail) <= SEND_BYTES - length;
}

void uart_write(const uint8_t *bytes, uint8_t length)
{
    uint8_t head = sending_head;
    while (length--)
        sending[head++ % SEND_BYTES] = *bytes++;
    sending_head = head;
    UCSR0B |= _BV(UDRIE0);
}
