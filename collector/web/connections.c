#include "collector/web/connections.h"

#include <stdlib.h>
#include <sys/socket.h>

/* A client that reads an answer for longer is slow and may be evicted. */
#define SLOW_READER_US 5000000u

/* The library sees the shutdown and closes the connection as any other. */
static void
end_connection(const struct web_connections *clients, struct web_connection *client)
{
	shutdown(client->fd, SHUT_RDWR);
	connection_enter(clients, client, CONNECTION_CLOSING);
}

static struct web_connection *
oldest_connection(const struct web_connections *clients, enum connection_state state)
{
	struct web_connection *found = NULL;

	for (struct web_connection *c = clients->all; c; c = c->next)
		if (c->state == state && (!found || c->since_us < found->since_us))
			found = c;
	return found;
}

struct web_connection *
connections_add(struct web_connections *clients, int fd, bool *evicted)
{
	struct web_connection *client = calloc(1, sizeof(*client));
	struct web_connection *other = clients->n >= clients->most
	    ? oldest_connection(clients, CONNECTION_REQUEST) : NULL;

	*evicted = other != NULL;
	if (other)
		end_connection(clients, other);
	if (!client)
		return NULL;
	client->fd = fd;
	client->next = clients->all;
	clients->all = client;
	clients->n++;
	connection_enter(clients, client, CONNECTION_REQUEST);
	return client;
}

void
connections_remove(struct web_connections *clients, struct web_connection *client)
{
	struct web_connection **at = &clients->all;

	while (*at && *at != client)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = client->next;
	clients->n--;
	free(client);
}

void
connection_enter(const struct web_connections *clients, struct web_connection *client, enum connection_state state)
{
	client->state = state;
	client->since_us = clock_mono_us(clients->clock);
}

size_t
connections_close_late(struct web_connections *clients)
{
	static const uint64_t longest_us[CONNECTION_STATES] = {
	    [CONNECTION_REQUEST] = CONNECTION_REQUEST_US,
	    [CONNECTION_RESPONSE] = CONNECTION_RESPONSE_US,
	};
	uint64_t now_us = clock_mono_us(clients->clock);
	size_t n = 0;

	for (struct web_connection *c = clients->all; c; c = c->next)
		if (longest_us[c->state] > 0 && now_us - c->since_us > longest_us[c->state]) {
			end_connection(clients, c);
			n++;
		}
	return n;
}

bool
connections_evict_reader(struct web_connections *clients)
{
	struct web_connection *reader = oldest_connection(clients, CONNECTION_RESPONSE);

	if (!reader || clock_mono_us(clients->clock) - reader->since_us < SLOW_READER_US)
		return false;
	end_connection(clients, reader);
	return true;
}
