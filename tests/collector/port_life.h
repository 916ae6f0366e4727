/*
 * A short life of one port in notifications, for tests that send or import it whole: the port's
 * state, a new address, then messages of a few samples one second apart with a snapshot in step
 * with them.
 */
#ifndef EASE_TESTS_PORT_LIFE_H
#define EASE_TESTS_PORT_LIFE_H

#include <stddef.h>
#include <stdint.h>

#define PORT_LIFE_US 1700000040000000ull /* when it begins */

enum {
	PORT_LIFE_SAMPLES = 5,	 /* a message, from the third on */
	PORT_LIFE_OCTETS = 4096, /* room for one */
};

/* The i-th message, from 0 on: how many octets it has. */
size_t port_life_message(unsigned i, uint8_t octets[static PORT_LIFE_OCTETS]);

#endif
