/*
 * Names of IP addresses from the system's resolver, for whoever must not wait: a thread of its own asks, and a name is
 * there at a later look. It keeps RESOLVER_PLACES answers, an answer that there is none, too, for RESOLVER_KEPT_US; of
 * two addresses that meet in one place the later one stays, once the other was answered. Any thread may ask.
 */
#ifndef EASE_COLLECTOR_FILTER_RESOLVER_H
#define EASE_COLLECTOR_FILTER_RESOLVER_H

#include "common/clock.h"

#include <stddef.h>
#include <stdint.h>

enum { RESOLVER_PLACES = 4096, RESOLVER_NAME_ROOM = 64 };
#define RESOLVER_KEPT_US 3600000000ull

struct resolver;

/* Borrows the clock. seed makes the hash unpredictable. 0 or -errno. */
int resolver_new(struct resolver **out, uint64_t seed, const struct clock *clock);
/* Accepts NULL. Does not wait: a question that is being asked ends by itself. */
void resolver_free(struct resolver *r);

/* The name of an address of 4 or 16 octets; "": there is none, or it is not known yet. */
void resolver_name(struct resolver *r, size_t n_octets, const uint8_t *octets, char name[RESOLVER_NAME_ROOM]);

/* Asks the resolver now, which may take seconds. "": there is none. */
void resolver_ask(size_t n_octets, const uint8_t *octets, char name[RESOLVER_NAME_ROOM]);

#endif
