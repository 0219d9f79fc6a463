#include "reset.h"

#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/wdt.h>
#include <stdbool.h>

#include "frame.h"

enum cause {
    CAUSE_UNKNOWN,
    CAUSE_POWER_ON,
    CAUSE_RESET_LINE,
    CAUSE_BROWN_OUT,
    CAUSE_WATCHDOG
};

enum {
    ALL_CAUSES = _BV(PORF) | _BV(EXTRF) | _BV(BORF) | _BV(WDRF),
    RESTARTED = 0xB0A7,            /* left in memory by the watchdog's interrupt */
    OLD_LOADER_START = 0x7800,
    LOADER_VERSION = 0x7FFE,
    ERASED = 0xFFFF,
    NOISE_READINGS = 64
};

/* Survive the start of the program, which clears everything else. */
static uint8_t flags_at_start __attribute__((section(".noinit")));
static uint16_t restarted __attribute__((section(".noinit")));

void first_of_all(void) __attribute__((naked, used, section(".init3")));

void first_of_all(void)
{
    /* Optiboot clears MCUSR and hands what it was over in register 2. */
    uint8_t handed_over;
    __asm__ volatile("mov %0, r2" : "=r"(handed_over));
    flags_at_start = MCUSR;
    if (flags_at_start == 0 && (handed_over & ~ALL_CAUSES) == 0)
        flags_at_start = handed_over;
    MCUSR = 0;
    wdt_disable();
}

uint8_t reset_cause(void)
{
    bool was_restarted = restarted == RESTARTED;
    restarted = 0;
    /* Power first: it sets the others as it rises. */
    if (flags_at_start & _BV(PORF))
        return CAUSE_POWER_ON;
    if (flags_at_start & _BV(WDRF) || was_restarted)
        return CAUSE_WATCHDOG;
    if (flags_at_start & _BV(BORF))
        return CAUSE_BROWN_OUT;
    if (flags_at_start & _BV(EXTRF))
        return CAUSE_RESET_LINE;
    return CAUSE_UNKNOWN;
}

/* ------------------------------------------------------------------ the watchdog */

/* Whether a reset of the chip gets past its boot loader: there is none, or it says that it is Optiboot. */
static bool is_reset_safe(void)
{
    return pgm_read_word(OLD_LOADER_START) == ERASED || pgm_read_word(LOADER_VERSION) != ERASED;
}

ISR(WDT_vect)
{
    restarted = RESTARTED;
    wdt_disable();
    __asm__ volatile("jmp 0");
}

void watchdog_start(void)
{
    if (is_reset_safe()) {
        wdt_enable(WDTO_500MS);
        return;
    }
    wdt_reset();
    WDTCSR = _BV(WDCE) | _BV(WDE);
    WDTCSR = _BV(WDIE) | _BV(WDP2) | _BV(WDP0);
}

void watchdog_feed(void)
{
    wdt_reset();
}

/* ------------------------------------------------------------------ the boot id */

/*
 * The low half counts the boots, the high half tells boards apart. An EEPROM cell lasts 100,000 writes and a
 * program that opens the port over and over resets the board each time, so the count moves through cells:
 * count n stands in cell n % COUNT_CELLS, and the newest is the one whose successor does not follow it.
 */
enum { COUNT_CELLS = 64 };

static uint16_t kept_counts[COUNT_CELLS] EEMEM;
static uint16_t kept_board_number EEMEM;

static uint16_t next_count(void)
{
    uint16_t count = eeprom_read_word(&kept_counts[0]);
    for (uint8_t cell = 1; cell <= COUNT_CELLS; cell++) {
        uint16_t next = eeprom_read_word(&kept_counts[cell % COUNT_CELLS]);
        if (next != (uint16_t)(count + 1))
            break;
        count = next;
    }
    count++;
    eeprom_update_word(&kept_counts[count % COUNT_CELLS], count);
    return count;
}

/* The noise of the converter's lowest bits, looking at the chip's own thermometer. */
static uint16_t noise(void)
{
    uint16_t crc = CRC16_START;
    ADMUX = _BV(REFS1) | _BV(REFS0) | _BV(MUX3);
    ADCSRA = _BV(ADEN) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0);
    for (uint8_t reading = 0; reading < NOISE_READINGS; reading++) {
        ADCSRA |= _BV(ADSC);
        while (ADCSRA & _BV(ADSC))
            ;
        uint8_t low = ADCL;
        (void)ADCH;                /* reading it lets the converter write again */
        crc = crc16(crc, &low, 1);
    }
    ADCSRA = 0;
    return crc;
}

static uint16_t board_number(void)
{
    uint16_t number = eeprom_read_word(&kept_board_number);
    if (number == ERASED) {
        number = noise();
        eeprom_update_word(&kept_board_number, number);
    }
    return number;
}

uint32_t reset_next_boot_id(void)
{
    return (uint32_t)board_number() << 16 | next_count();
}
