#include "collector/web/connections.h"

#include <stdlib.h>
#include <sys/socket.h>

/* A reader that took longer is slow: others may go before it. */
#define SLOW_READER_US 5000000u

/* The server's library sees the end of the connection and closes it as any other. */
static void
end(const struct clients *clients, struct client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	client_enter(clients, client, CLIENT_ENDS);
}

static struct client *
oldest(const struct clients *clients, enum client_state state)
{
	struct client *found = NULL;

	for (struct client *c = clients->all; c; c = c->next)
		if (c->state == state && (!found || c->since_us < found->since_us))
			found = c;
	return found;
}

struct client *
clients_add(struct clients *clients, int fd, bool *evicted)
{
	struct client *client = calloc(1, sizeof(*client));
	struct client *other = clients->n >= clients->most ? oldest(clients, CLIENT_ASKS) : NULL;

	*evicted = other != NULL;
	if (other)
		end(clients, other);
	if (!client)
		return NULL;
	client->fd = fd;
	client->next = clients->all;
	clients->all = client;
	clients->n++;
	client_enter(clients, client, CLIENT_ASKS);
	return client;
}

void
clients_remove(struct clients *clients, struct client *client)
{
	struct client **at = &clients->all;

	while (*at && *at != client)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = client->next;
	clients->n--;
	free(client);
}

void
client_enter(const struct clients *clients, struct client *client, enum client_state state)
{
	client->state = state;
	client->since_us = clock_mono_us(clients->clock);
}

size_t
clients_look(struct clients *clients)
{
	static const uint64_t longest_us[CLIENT_STATES] = {
	    [CLIENT_ASKS] = CLIENT_ASK_US, [CLIENT_READS] = CLIENT_READ_US};
	uint64_t now_us = clock_mono_us(clients->clock);
	size_t n = 0;

	for (struct client *c = clients->all; c; c = c->next)
		if (longest_us[c->state] > 0 && now_us - c->since_us > longest_us[c->state]) {
			end(clients, c);
			n++;
		}
	return n;
}

bool
clients_evict_reader(struct clients *clients)
{
	struct client *reader = oldest(clients, CLIENT_READS);

	if (!reader || clock_mono_us(clients->clock) - reader->since_us < SLOW_READER_US)
		return false;
	end(clients, reader);
	return true;
}
