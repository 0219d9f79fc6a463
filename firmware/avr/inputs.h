/*
 * The pins that are watched, and how a change of level gets into the session.
 */
#ifndef INPUTS_H
#define INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

/* Makes the default inputs and begins to watch them; `levels` gets one bit a channel. Interrupts are still off. */
void inputs_start(uint8_t *levels);

/* Hands everything captured so far to the session. */
void inputs_drain(struct session *session);

/* Whether something waits to be drained. */
bool inputs_pending(void);

/* Begins new periods of counting and gives muted inputs another try when it is time. */
void inputs_upkeep(uint32_t now);

#endif
