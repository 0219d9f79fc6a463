/* The analog inputs of the colour sensors, one conversion at a time and only while a passage wants it. */
#ifndef COLOURS_H
#define COLOURS_H

#include "session.h"

/* Takes what the converter has and begins the next conversion that is wanted. */
void colours_attend(struct session *session);

#endif
