#include "colour.h"

static uint8_t finish(struct watcher *watcher, const struct sensor *sensor)
{
    watcher->state = WATCHING_NOTHING;
    if (!watcher->has_reading)
        return OBJECT_NONE;
    uint8_t object = sensor_object(sensor, watcher->extreme);
    return object == OBJECT_READING ? TOLD_READING | watcher->extreme >> 1 : object;
}

uint8_t watcher_edge(struct watcher *watcher, const struct sensor *sensor, uint8_t level, uint32_t tick)
{
    if (level != ((sensor->analog & SENSOR_ACTIVE_HIGH) != 0)) {
        if (watcher->state == WATCHING_PASSAGE) {
            watcher->state = WATCHING_AFTERWARDS;
            watcher->until = tick + ((uint32_t)sensor->after << 16);
        }
        return 0;
    }
    uint8_t object = watcher->state == WATCHING_AFTERWARDS ? finish(watcher, sensor) : 0;
    watcher->state = WATCHING_PASSAGE;
    watcher->has_reading = false;
    return object;
}

void watcher_read(struct watcher *watcher, const struct sensor *sensor, uint8_t reading)
{
    if (watcher->state == WATCHING_NOTHING)
        return;
    bool is_further = sensor->analog & SENSOR_WANTS_LOWEST ? reading < watcher->extreme : reading > watcher->extreme;
    if (!watcher->has_reading || is_further)
        watcher->extreme = reading;
    watcher->has_reading = true;
}

uint8_t watcher_expire(struct watcher *watcher, const struct sensor *sensor, uint32_t now)
{
    if (watcher->state != WATCHING_AFTERWARDS || (int32_t)(now - watcher->until) < 0)
        return 0;
    return finish(watcher, sensor);
}
