/*
 * Captures of what made switches send: raw IP packets of UDP, to port 6343. Limits are asserted: test data only.
 */
#ifndef EASE_TESTS_CAPTURE_H
#define EASE_TESTS_CAPTURE_H

#include "tests/collector/dialects/dialects.h"

enum { CAPTURE_PORT = 6343 };

struct capture;

struct capture *capture_begin(const char *path);
/* Adds the datagrams of a row, from a UDP port. */
void capture_row(struct capture *capture, const struct dialect *d, uint16_t from_port, struct passed *passed);
void capture_end(struct capture *capture);

#endif
