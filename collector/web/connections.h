/*
 * The connections of the HTTP server, with a deadline for each state, and a limit on their number.
 * A connection whose client sends its request or reads its answer too slowly is closed, even if
 * octets still flow. Above the limit a new connection replaces the one that has been in state
 * CONNECTION_REQUEST for longest. Used by the server's one thread.
 */
#ifndef EASE_COLLECTOR_WEB_CONNECTIONS_H
#define EASE_COLLECTOR_WEB_CONNECTIONS_H

#include "common/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A browser sends a request at once; this allows for a bad line. */
#define CONNECTION_REQUEST_US 10000000u
/* The largest answer over a line of 1 Mbit/s. */
#define CONNECTION_RESPONSE_US 60000000u

enum connection_state {
	CONNECTION_REQUEST,  /* its request is not complete, or the connection is idle */
	CONNECTION_WAIT, /* for the answer */
	CONNECTION_RESPONSE, /* the client reads the answer */
	CONNECTION_CLOSING,  /* it is being closed */
	CONNECTION_STATES,
};

struct web_connection {
	int fd;
	enum connection_state state;
	uint64_t since_us; /* monotonic */
	void *request;	   /* the server's; NULL: none */
	struct web_connection *next;
};

struct web_connections {
	const struct clock *clock;
	struct web_connection *all;
	size_t n, most;
};

/* NULL without memory. *evicted: another one is being closed to make room. */
struct web_connection *connections_add(struct web_connections *clients, int fd, bool *evicted);
void connections_remove(struct web_connections *clients, struct web_connection *client);

void connection_enter(const struct web_connections *clients, struct web_connection *client,
    enum connection_state state);

/* Closes the connections past their deadlines and returns how many. */
size_t connections_close_late(struct web_connections *clients);

/* Closes the one that has been reading an answer for longest, if that is more than some seconds. */
bool connections_evict_reader(struct web_connections *clients);

#endif
