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
#define CLIENT_ASK_US 10000000u
/* The longest answer by a line of 1 Mbit/s. */
#define CLIENT_READ_US 60000000u

enum client_state {
	CLIENT_ASKS,  /* its request is not complete; or it keeps the line for a next one */
	CLIENT_WAITS, /* for our answer */
	CLIENT_READS, /* our answer */
	CLIENT_ENDS,  /* is being closed */
	CLIENT_STATES,
};

struct client {
	int fd;
	enum client_state state;
	uint64_t since_us; /* monotonic */
	void *request;	   /* the server's; NULL: none */
	struct client *next;
};

struct clients {
	const struct clock *clock;
	struct client *all;
	size_t n, most;
};

/* NULL without memory; takes the place of another if there are too many, and says so. */
struct client *clients_add(struct clients *clients, int fd, bool *evicted);
void clients_remove(struct clients *clients, struct client *client);

void client_enter(const struct clients *clients, struct client *client, enum client_state state);

/* Closes those that take too long; how many. */
size_t clients_look(struct clients *clients);

/* Closes the one that has been reading an answer for longest, if it has for some seconds. */
bool clients_evict_reader(struct clients *clients);

#endif
