/*
 * The connections of the HTTP server: how long each may take, and who goes when there are too
 * many. A client that sends its request slower than a deadline or reads its answer slower than
 * another is closed, however busy it looks; a new one is let in at the cost of the one that has
 * been sending its request for longest. Used by the server's one thread.
 */
#ifndef EASE_COLLECTOR_WEB_CONNECTIONS_H
#define EASE_COLLECTOR_WEB_CONNECTIONS_H

#include "common/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A browser sends a request in one go; this is what a bad line may cost. */
#define CONNECTION_REQUEST_US 10000000u
/* The longest answer by a line of 1 Mbit/s. */
#define CONNECTION_RESPONSE_US 60000000u

enum connection_state {
	CONNECTION_REQUEST,  /* its request is not complete; or it keeps the line for a next one */
	CONNECTION_WAIT, /* for our answer */
	CONNECTION_RESPONSE, /* our answer */
	CONNECTION_CLOSING,  /* is being closed */
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

/* NULL without memory; takes the place of another if there are too many, and says so. */
struct web_connection *connections_add(struct web_connections *clients, int fd, bool *evicted);
void connections_remove(struct web_connections *clients, struct web_connection *client);

void connection_enter(const struct web_connections *clients, struct web_connection *client, enum connection_state state);

/* Closes those that take too long; how many. */
size_t connections_close_late(struct web_connections *clients);

/* Closes the one that has been reading an answer for longest, if it has for some seconds. */
bool connections_evict_reader(struct web_connections *clients);

#endif
