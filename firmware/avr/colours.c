#include "colours.h"

#include <avr/interrupt.h>
#include <avr/io.h>

enum { IDLE = 0xFF };

static uint8_t converting = IDLE;  /* the sensor that is being read */

/* Only wakes the loop. */
EMPTY_INTERRUPT(ADC_vect)

void colours_attend(struct session *session)
{
    uint8_t last = 0;
    if (converting != IDLE) {
        if (ADCSRA & _BV(ADSC))
            return;
        session_read(session, converting, ADCH);
        last = converting + 1;
        converting = IDLE;
    }
    for (uint8_t step = 0; step < SENSORS_MAX; step++) {
        uint8_t number = (uint8_t)((last + step) % SENSORS_MAX);
        if (!session_wants_reading(session, number))
            continue;
        converting = number;
        /* Against the supply, the upper eight bits, 104 µs a conversion. */
        ADMUX = _BV(REFS0) | _BV(ADLAR) | (config_sensor(&session->config, number)->analog & SENSOR_INPUT);
        ADCSRA = _BV(ADEN) | _BV(ADSC) | _BV(ADIE) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0);
        return;
    }
}
