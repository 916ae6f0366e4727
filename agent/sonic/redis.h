/*
 * A connection to one database of a Redis server: it connects, is made again when it was lost, and gives each
 * command's answer to a function. Commands are sent without waiting for earlier answers, and no function waits.
 * Knows nothing of SONiC.
 *
 * libhiredis writes commands and makes replies of octets. Its own connections are not used: they assert that a server
 * sends what was asked for only, so that a hostile one could end the process. Here such a server is given up, as
 * is one whose reply is too long or nested too deep (resp.h).
 *
 * A server that leaves commands unanswered for REDIS_ANSWER_US is given up and connected to again, as is one that
 * refuses its database. Between two tries lie REDIS_RETRY_US at first, and up to REDIS_RETRY_MAX_US later.
 */
#ifndef EASE_AGENT_SONIC_REDIS_H
#define EASE_AGENT_SONIC_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDIS_ANSWER_US 5000000ull
#define REDIS_RETRY_US 250000ull
#define REDIS_RETRY_MAX_US 4000000ull

/* Where a database is. */
struct redis_address {
	char socket[108];  /* a Unix socket's path; empty: by TCP */
	char address[46];  /* numeric, so that no name is looked up */
	uint16_t port;
	uint32_t database;
};

struct redis_link;

/* Gets the answer to one command; NULL: the connection was lost, or it refused the command's database. Borrowed
 * for the call. It may send further commands, but not if the answer is NULL. */
typedef void redis_answer(void *request, const redisReply *reply);

struct redis_listener {
	void *ctx;
	void (*up)(void *ctx, struct redis_link *link); /* commands can be sent now */
	/* Called once for each loss and not for each try. Answers that were awaited come later, as NULL. */
	void (*down)(void *ctx, struct redis_link *link, const char *why);
};

/* epoll_fd is told to watch the connection, with the link as its data. The listener and the name are borrowed.
 * -ENOMEM. */
int redis_link_create(const char *name, const struct redis_address *address, int epoll_fd,
    const struct redis_listener *listener, struct redis_link **link);
void redis_link_destroy(struct redis_link *link); /* NULL allowed; answers come as NULL */

const char *redis_link_name(const struct redis_link *link);
bool redis_link_is_up(const struct redis_link *link);
size_t redis_link_awaited(const struct redis_link *link); /* answers */

/* Connects if that is due, and gives up a server that does not answer. To be called at least every second. */
void redis_link_step(struct redis_link *link, uint64_t now_us);
/* The descriptor is ready for epoll's events. Reads at most 16 KiB. */
void redis_link_ready(struct redis_link *link, uint32_t events, uint64_t now_us);

/* Sends a command. -ENOTCONN: the link is not up; -ENOMEM. After a failure answer is not called. */
int redis_link_ask(struct redis_link *link, redis_answer *answer, void *request, int n,
    const char *const words[], const size_t octets[]);
/* Asks for the messages of a pattern (PSUBSCRIBE): answer gets each of them, and NULL at the end. One function gets
 * those of all patterns, and such a link takes no other commands. */
int redis_link_subscribe(struct redis_link *link, redis_answer *answer, void *request,
    const char *pattern);

#endif
