/*
 * The real firmware in an emulated ATmega328P, at exact microseconds.
 *
 *   emulator FIRMWARE.elf              virtual time: commands on standard input, one answer line for each `run`
 *   emulator FIRMWARE.elf --pty        real time: the line is a pty whose path is the first line of output
 *
 * Times are microseconds of the emulator's clock, with --pty from the command on. Commands:
 *
 *   edge US CHANNEL LEVEL              a pin changes
 *   wave US CHANNEL HALF_US COUNT      COUNT changes, HALF_US apart; each to the other level
 *   adc US INPUT MILLIVOLTS            an analog input changes
 *   hear HEX                           bytes from the host begin to arrive now, at the speed of the line
 *   reset | hang                       the reset line is pulled | the loop stops where it is, for ever
 *   flash ADDRESS HEX                  bytes are put into the program, or with `poke` into memory
 *   run US                             time passes until US or the end of a frame; the answer is NOW RESETS PORTS HEX:
 *                                      DDR and PORT of D, B, C, and what was sent meanwhile
 *
 * Events wait in a queue of our own behind one timer: the emulator's pool of timers is small, and a full one
 * starves the serial port. After a reset the emulator has forgotten the pins and that timer.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_adc.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

enum { CYCLES_PER_US = 16, BYTE_CYCLES = 16000000 / 11520, CHANNELS = 18, TOGGLE = 2, LINE = 1 << 18 };
enum { SLICE_US = 500, HANG_AT = 0x77FE };

static const char pin_names[] = "D2D3D4D5D6D7B0B1B2B3B4C0C1C2C3C4C5B5", port_names[] = "DBC";

enum kind { PIN, ADC, BYTE, STOP };

static avr_t *avr;
static struct event {
    uint64_t cycle;
    enum kind kind;
    uint32_t what, value;
} *events;                         /* sorted from `next` on; equal times stay in the order of the commands */
static size_t next, count, room;
static unsigned levels[CHANNELS], resets;
static uint64_t line_free, origin; /* cycles */
static uint8_t sent[LINE];
static char line[LINE];
static size_t sent_length;
static int frame_ended, pins_forgotten;

/* A pin's level from outside. The port has to be told as well, or every write to it would undo the level. */
static void drive(unsigned channel, unsigned level)
{
    static avr_ioport_external_t outside[256];
    char port = pin_names[2 * channel];
    unsigned bit = (unsigned)pin_names[2 * channel + 1] - '0';
    avr_ioport_external_t *all = &outside[(int)port];
    all->mask |= 1u << bit;
    all->value = (all->value & ~(1u << bit)) | level << bit;
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(port), all);
    avr_irq_t *pin = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), (int)bit);
    if (pins_forgotten)                /* a level that is believed to be there already is not raised */
        avr_raise_irq(pin, !level);
    avr_raise_irq(pin, level);
    levels[channel] = level;
}

static void happen(const struct event *event)
{
    switch (event->kind) {
    case PIN:
        drive(event->what, event->value == TOGGLE ? !levels[event->what] : event->value);
        break;
    case ADC:
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0 + (int)event->what), event->value);
        break;
    case BYTE:
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), event->value);
        break;
    case STOP:
        break;
    }
}

static avr_cycle_count_t on_time(avr_t *unused, avr_cycle_count_t when, void *param)
{
    (void)unused, (void)when, (void)param;
    while (next < count && events[next].cycle <= avr->cycle)
        happen(&events[next++]);
    return next < count ? events[next].cycle : 0;
}

static void arm(void)
{
    avr_cycle_timer_cancel(avr, on_time, NULL);
    uint64_t now = avr->cycle;
    if (next < count)
        avr_cycle_timer_register(avr, events[next].cycle > now ? events[next].cycle - now : 1, on_time, NULL);
}

static void add(uint64_t cycle, enum kind kind, uint32_t what, uint32_t value)
{
    if (count == room) {
        memmove(events, events + next, (count - next) * sizeof *events);
        count -= next;
        next = 0;
        room = count < room / 2 ? room : room * 2 + 1024;
        if (!(events = realloc(events, room * sizeof *events))) /* cppcheck-suppress memleakOnRealloc */
            abort();
    }
    size_t at = count++;
    for (; at > next && events[at - 1].cycle > cycle; at--)
        events[at] = events[at - 1];
    events[at] = (struct event){cycle, kind, what, value};
}

static void on_reset(avr_t *unused)
{
    (void)unused;
    resets++;
    pins_forgotten = 1;
}

static void on_sent(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq, (void)param;
    if (sent_length < sizeof sent)
        sent[sent_length++] = (uint8_t)value;
    frame_ended |= value == 0;
}

static void show_pins(void)
{
    avr_extint_set_strict_lvl_trig(avr, 0, 0);   /* else a low D2 or D3 costs a timer every cycle */
    avr_extint_set_strict_lvl_trig(avr, 1, 0);
    for (unsigned channel = 0; channel < CHANNELS; channel++)
        drive(channel, levels[channel]);
    pins_forgotten = 0;
    arm();
}

/* Until `cycle`, or until a frame has been sent if `at_frames`. */
static void run(uint64_t cycle, int at_frames)
{
    frame_ended = 0;
    add(cycle, STOP, 0, 0);
    arm();
    while (avr->cycle < cycle && !(at_frames && frame_ended)) {
        int state = avr_run(avr);
        if (pins_forgotten)
            show_pins();
        if (state == cpu_Done || state == cpu_Crashed)
            exit(3);
    }
}

static void hear(const uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        line_free = (line_free > avr->cycle ? line_free : avr->cycle) + BYTE_CYCLES;
        add(line_free, BYTE, 0, bytes[at]);
    }
}

static size_t unhex(const char *hex, uint8_t *bytes)
{
    size_t length = 0;
    while (sscanf(hex + 2 * length, "%2hhx", &bytes[length]) == 1)
        length++;
    return length;
}

static void answer(void)
{
    printf("%" PRIu64 " %u ", (uint64_t)avr->cycle / CYCLES_PER_US, resets);
    for (const char *port = port_names; *port; port++) {
        avr_ioport_state_t state;
        avr_ioctl(avr, AVR_IOCTL_IOPORT_GETSTATE(*port), &state);
        printf("%02x%02x", (unsigned)state.ddr, (unsigned)state.port);
    }
    putchar(' ');
    for (size_t at = 0; at < sent_length; at++)
        printf("%02x", sent[at]);
    puts("");
    fflush(stdout);
    sent_length = 0;
}

static void obey(void)
{
    static uint8_t bytes[LINE];
    uint64_t us;
    unsigned a, b, c;
    int hex = 0;                       /* where the bytes begin */
    if (sscanf(line, "edge %" SCNu64 " %u %u", &us, &a, &b) == 3 && a < CHANNELS)
        add(origin + us * CYCLES_PER_US, PIN, a, b != 0);
    else if (sscanf(line, "wave %" SCNu64 " %u %u %u", &us, &a, &b, &c) == 4 && a < CHANNELS)
        for (; c; c--, us += b)
            add(origin + us * CYCLES_PER_US, PIN, a, TOGGLE);
    else if (sscanf(line, "adc %" SCNu64 " %u %u", &us, &a, &b) == 3)
        add(origin + us * CYCLES_PER_US, ADC, a, b);
    else if (sscanf(line, "hear %n", &hex) == 0 && hex)
        hear(bytes, unhex(line + hex, bytes));
    else if (sscanf(line, "flash %x %n", &a, &hex) == 1 && hex)
        memcpy(avr->flash + a, bytes, unhex(line + hex, bytes));
    else if (sscanf(line, "poke %x %n", &a, &hex) == 1 && hex)
        memcpy(avr->data + a, bytes, unhex(line + hex, bytes));
    else if (strcmp(line, "reset\n") == 0) {
        avr_reset(avr);
        show_pins();
        avr_regbit_set(avr, avr->reset_flags.extrf);
    } else if (strcmp(line, "hang\n") == 0) {
        memcpy(avr->flash + HANG_AT, "\xFF\xCF", 2);   /* rjmp to itself */
        avr->pc = HANG_AT;
    } else if (sscanf(line, "run %" SCNu64, &us) == 1) {
        run(origin + us * CYCLES_PER_US, 1);
        answer();
    } else
        fprintf(stderr, "emulator: not a command: %s", line);
    arm();
}

/* Slices of real time; what a stalled reader leaves no room for is lost, as on a wire. */
static void run_behind_a_pty(void)
{
    int master, slave;
    static char path[256];
    struct termios raw;
    if (openpty(&master, &slave, path, NULL, NULL) != 0 || tcgetattr(slave, &raw) != 0)
        exit(1);
    cfmakeraw(&raw);
    tcsetattr(slave, TCSANOW, &raw);   /* `slave` stays open, so that a host may come and go */
    fcntl(master, F_SETFL, O_NONBLOCK);
    setvbuf(stdin, NULL, _IONBF, 0);
    puts(path);
    fflush(stdout);
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (struct pollfd input = {.fd = 0, .events = POLLIN};; usleep(SLICE_US)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t elapsed_us = (now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000;
        run((uint64_t)elapsed_us * CYCLES_PER_US, 0);
        if (sent_length && write(master, sent, sent_length) < (ssize_t)sent_length)
            fputs("emulator: nobody reads; bytes are lost\n", stderr);
        sent_length = 0;
        ssize_t heard = read(master, sent, sizeof sent);
        if (heard > 0)
            hear(sent, (size_t)heard);
        while (poll(&input, 1, 0) > 0) {
            if (!fgets(line, sizeof line, stdin))
                return;
            origin = avr->cycle;
            obey();
        }
    }
}

static void silent(avr_t *unused, const int level, const char *format, va_list args)
{
    (void)unused, (void)level, (void)format, (void)args;
}

static void sleep_in_virtual_time(avr_t *unused, avr_cycle_count_t cycles)
{
    (void)unused, (void)cycles;
}

int main(int argc, char **argv)
{
    elf_firmware_t firmware = {0};
    avr_global_logger_set(silent);
    if (argc < 2 || elf_read_firmware(argv[1], &firmware) != 0 || !(avr = avr_make_mcu_by_name("atmega328p")))
        return 2;
    avr_init(avr);
    firmware.eesize = 0;               /* the EEPROM begins erased, as on a new board */
    avr_load_firmware(avr, &firmware);
    avr->frequency = CYCLES_PER_US * 1000000;
    avr->vcc = avr->avcc = avr->aref = 5000;
    avr->sleep = sleep_in_virtual_time;
    avr->reset = on_reset;
    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_sent, NULL);
    show_pins();
    avr_regbit_set(avr, avr->reset_flags.porf);
    if (argc > 2)
        run_behind_a_pty();
    while (fgets(line, sizeof line, stdin))
        obey();
    return 0;
}
