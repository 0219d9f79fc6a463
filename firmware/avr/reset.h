/*
 * Why the board has started, which start this is, and the watchdog.
 *
 * The watchdog restarts a firmware whose loop no longer drains its queue. After a reset by it the chip keeps
 * it running with 16 ms, so the very first instructions switch it off. The boot loader of old Nanos
 * (ATmegaBOOT) does not: it would be reset again and again before it got here. Where that one is found in
 * flash, the watchdog is therefore used as an interrupt that jumps to the start, and never resets the chip.
 */
#ifndef RESET_H
#define RESET_H

#include <stdint.h>

/* A reset cause of docs/protocol.md. */
uint8_t reset_cause(void);

/* A number that no boot of this board has had before; writes the EEPROM, so call it once a boot. */
uint32_t reset_next_boot_id(void);

void watchdog_start(void);
void watchdog_feed(void);

#endif
