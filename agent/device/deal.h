/*
 * Deals frames to ports by source address: a station stays at the port where it was first seen.
 * Bounded: beyond FEED_DEAL_ADDRESSES stations, and for group and zero addresses, which are
 * nobody's, a hash decides.
 */
#ifndef EASE_AGENT_DEVICE_DEAL_H
#define EASE_AGENT_DEVICE_DEAL_H

#include "agent/device/feed.h"

struct deal;

/* ports are copied; n_ports is at least 1 and at most 65535. */
int deal_create(enum feed_deal mode, const unsigned *ports, size_t n_ports, struct deal **deal);
void deal_destroy(struct deal *deal); /* NULL allowed */

/* The port of a source address (48 bits, first octet on top); *full is set if it was new and
 * could not be remembered. */
unsigned deal_port(struct deal *deal, uint64_t source, bool *full);

#endif
