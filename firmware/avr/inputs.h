/*
 * The pins: those that are watched, how a change of level gets into the session, and those that are driven.
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

/* What time brings: new periods of counting, another try for muted inputs, a configuration to take up. */
void inputs_upkeep(struct session *session, uint32_t now);

/* Drives the outputs as the session wants them. */
void outputs_show(struct session *session);

#endif
