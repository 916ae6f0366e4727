#include "agent/sonic/redis.h"

#include <errno.h>
#include <hiredis/async.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

struct redis_link {
	const char *name;
	struct redis_address address;
	int epoll_fd;
	const struct redis_listener *listener;
	redisAsyncContext *hiredis; /* NULL: not connected, and not connecting */
	uint32_t events;	    /* that epoll waits for */
	bool up, told_down;
	size_t awaited;
	uint64_t now_us;      /* when the caller last called */
	uint64_t progress_us; /* when an answer last came, or a command was sent while none was awaited */
	uint64_t retry_us, wait_us; /* when to connect again, and how long to wait after a failure */
	char why[160];
};

/* What libhiredis keeps for a command. */
struct awaited {
	struct redis_link *link;
	redis_answer *answer;
	void *request;
	bool lasts; /* a subscription */
};

/* ---- libhiredis's hooks into epoll ---- */

static void
watch(struct redis_link *link, uint32_t add, uint32_t remove)
{
	uint32_t events = (link->events | add) & ~remove;
	struct epoll_event event = {.events = events, .data.ptr = link};
	int fd = link->hiredis->c.fd;

	if (events == link->events)
		return;
	(void)epoll_ctl(link->epoll_fd, link->events == 0 ? EPOLL_CTL_ADD
	    : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD, fd, &event);
	link->events = events;
}

static void
add_read(void *link)
{
	watch(link, EPOLLIN, 0);
}

static void
remove_read(void *link)
{
	watch(link, 0, EPOLLIN);
}

static void
add_write(void *link)
{
	watch(link, EPOLLOUT, 0);
}

static void
remove_write(void *link)
{
	watch(link, 0, EPOLLOUT);
}

/* libhiredis has not closed the descriptor yet. */
static void
unwatch(void *link)
{
	if (((struct redis_link *)link)->hiredis)
		watch(link, 0, EPOLLIN | EPOLLOUT);
}

/* ---- connecting ---- */

/* The connection is of no use any more. libhiredis calls the answers, with NULL, now or when it returns. */
static void
lose(struct redis_link *link, const char *why)
{
	redisAsyncContext *hiredis = link->hiredis;

	snprintf(link->why, sizeof(link->why), "%s", why);
	link->wait_us = link->up || link->wait_us == 0 ? REDIS_RETRY_US : 2 * link->wait_us;
	if (link->wait_us > REDIS_RETRY_MAX_US)
		link->wait_us = REDIS_RETRY_MAX_US;
	link->retry_us = link->now_us + link->wait_us;
	link->up = false;
	if (hiredis) {
		unwatch(link);
		link->hiredis = NULL;
		hiredis->ev.cleanup = NULL;
		hiredis->ev.addRead = hiredis->ev.delRead = NULL;
		hiredis->ev.addWrite = hiredis->ev.delWrite = NULL;
	}
	if (!link->told_down)
		link->listener->down(link->listener->ctx, link, link->why);
	link->told_down = true;
}

static void
drop(struct redis_link *link, const char *why)
{
	redisAsyncContext *hiredis = link->hiredis;

	lose(link, why);
	if (hiredis)
		redisAsyncFree(hiredis);
}

/* ---- commands ---- */

static void
on_answer(redisAsyncContext *hiredis, void *reply, void *privdata)
{
	struct awaited *awaited = privdata, call = *awaited;

	(void)hiredis;
	if (!call.lasts) {
		call.link->awaited--;
		call.link->progress_us = call.link->now_us;
	}
	if (!call.lasts || !reply)
		free(awaited);
	call.answer(call.request, reply);
}

static int
send_command(struct redis_link *link, redis_answer *answer, void *request, bool lasts, int n,
    const char *const words[], const size_t octets[])
{
	struct awaited *awaited = malloc(sizeof(*awaited));

	if (!awaited)
		return -ENOMEM;
	*awaited = (struct awaited){link, answer, request, lasts};
	/* The library lacks a const; it only reads the words. */
	if (redisAsyncCommandArgv(link->hiredis, on_answer, awaited, n,
		(const char **)(uintptr_t)words, octets) != REDIS_OK) {
		free(awaited);
		return -ENOMEM;
	}
	if (lasts)
		return 0;
	if (link->awaited++ == 0)
		link->progress_us = link->now_us;
	return 0;
}

int
redis_link_ask(struct redis_link *link, redis_answer *answer, void *request, int n,
    const char *const words[], const size_t octets[])
{
	return link->up ? send_command(link, answer, request, false, n, words, octets) : -ENOTCONN;
}

int
redis_link_subscribe(struct redis_link *link, redis_answer *answer, void *request, const char *pattern)
{
	const char *const words[] = {"PSUBSCRIBE", pattern};
	const size_t octets[] = {strlen(words[0]), strlen(pattern)};

	return link->up ? send_command(link, answer, request, true, 2, words, octets) : -ENOTCONN;
}

/* ---- connecting ---- */

static void
on_selected(void *ctx, const redisReply *reply)
{
	struct redis_link *link = ctx;

	if (!reply)
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		drop(link, reply->str);
		return;
	}
	link->up = true;
	link->told_down = false;
	link->listener->up(link->listener->ctx, link);
}

static void
on_connect(const redisAsyncContext *hiredis, int status)
{
	struct redis_link *link = hiredis->data;

	if (status != REDIS_OK && link->hiredis == hiredis)
		lose(link, hiredis->c.errstr);
}

static void
on_disconnect(const redisAsyncContext *hiredis, int status)
{
	struct redis_link *link = hiredis->data;

	(void)status;
	if (link->hiredis == hiredis)
		lose(link, hiredis->errstr && hiredis->errstr[0] ? hiredis->errstr : "it was closed");
}

static void
connect_now(struct redis_link *link)
{
	char database[16];
	const char *const words[] = {"SELECT", database};
	size_t octets[] = {strlen("SELECT"), 0};
	redisAsyncContext *hiredis = link->address.socket[0]
	    ? redisAsyncConnectUnix(link->address.socket)
	    : redisAsyncConnect(link->address.address, link->address.port);

	if (!hiredis || hiredis->err) {
		lose(link, hiredis ? hiredis->errstr : "no memory");
		if (hiredis)
			redisAsyncFree(hiredis);
		return;
	}
	link->hiredis = hiredis;
	link->events = 0;
	link->progress_us = link->now_us;
	hiredis->data = link;
	hiredis->ev.data = link;
	hiredis->ev.addRead = add_read;
	hiredis->ev.delRead = remove_read;
	hiredis->ev.addWrite = add_write;
	hiredis->ev.delWrite = remove_write;
	hiredis->ev.cleanup = unwatch;
	octets[1] = (size_t)snprintf(database, sizeof(database), "%u", link->address.database);
	if (redisAsyncSetConnectCallback(hiredis, on_connect) != REDIS_OK ||
	    redisAsyncSetDisconnectCallback(hiredis, on_disconnect) != REDIS_OK ||
	    send_command(link, on_selected, link, false, 2, words, octets) < 0)
		drop(link, "no memory");
}

void
redis_link_step(struct redis_link *link, uint64_t now_us)
{
	link->now_us = now_us;
	if (!link->hiredis && now_us >= link->retry_us)
		connect_now(link);
	else if (link->hiredis && link->awaited > 0 && now_us - link->progress_us >= REDIS_ANSWER_US)
		drop(link, "it has not answered for 5 s");
}

void
redis_link_ready(struct redis_link *link, uint32_t events, uint64_t now_us)
{
	link->now_us = now_us;
	if (link->hiredis && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		redisAsyncHandleRead(link->hiredis);
	if (link->hiredis && (events & EPOLLOUT))
		redisAsyncHandleWrite(link->hiredis);
}

/* ---- life cycle ---- */

int
redis_link_create(const char *name, const struct redis_address *address, int epoll_fd,
    const struct redis_listener *listener, struct redis_link **result)
{
	struct redis_link *link = calloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	link->name = name;
	link->address = *address;
	link->epoll_fd = epoll_fd;
	link->listener = listener;
	*result = link;
	return 0;
}

void
redis_link_destroy(struct redis_link *link)
{
	if (!link)
		return;
	link->told_down = true;
	if (link->hiredis)
		drop(link, "");
	free(link);
}

const char *
redis_link_name(const struct redis_link *link)
{
	return link->name;
}

bool
redis_link_is_up(const struct redis_link *link)
{
	return link->up;
}

size_t
redis_link_awaited(const struct redis_link *link)
{
	return link->awaited;
}
