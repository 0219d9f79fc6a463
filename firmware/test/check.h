/* The smallest harness: a failed CHECK says where and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

void test_frames(const char *vectors);
void test_ring(void);
void test_session(void);
void test_capture(void);

#endif
