/*
 * What a sensor saw of a passage: the highest (or lowest) reading from the break of its beam until some
 * time after it is clear again, and the object that this reading stands for.
 */
#ifndef COLOUR_H
#define COLOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

enum { TOLD_READING = 0x80 };      /* in the place of an object, with half of the reading */

enum watching {
    WATCHING_NOTHING,
    WATCHING_PASSAGE,
    WATCHING_AFTERWARDS
};

struct watcher {
    uint8_t state;                 /* enum watching */
    bool has_reading;
    uint8_t extreme;
    uint32_t until;
};

static inline bool watcher_wants_reading(const struct watcher *watcher)
{
    return watcher->state != WATCHING_NOTHING;
}

/*
 * The level of the sensor's channel has changed at `tick`. Returns the object of a passage that this ends
 * before its time: the next one has begun.
 */
uint8_t watcher_edge(struct watcher *watcher, const struct sensor *sensor, uint8_t level, uint32_t tick);

void watcher_read(struct watcher *watcher, const struct sensor *sensor, uint8_t reading);

/* Returns the object of the passage once its time is over; 0 for none. */
uint8_t watcher_expire(struct watcher *watcher, const struct sensor *sensor, uint32_t now);

#endif
