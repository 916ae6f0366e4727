#include "agent/sonic/redis.h"

#include "agent/sonic/resp.h"
#include "common/close_fd.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
	READ_OCTETS = 16 << 10,
	KEPT_OCTETS = 64 << 10, /* a larger buffer is freed when it is empty */
	KEPT_CALLS = 1024,      /* the same of the list of commands */
};

struct buffer {
	char *octets;
	size_t first, end, room; /* what is in use, and what is allocated */
};

/* A command whose answer is awaited. */
struct call {
	redis_answer *answer;
	void *request;
};

struct redis_link {
	const char *name;
	struct redis_address address;
	int epoll_fd;
	const struct redis_listener *listener;
	int fd; /* -1: not connected, and not connecting */
	bool connecting, up, told_down;
	uint32_t events;	 /* that epoll waits for */
	uint64_t connections;	 /* made, so that a caller sees that the one it knew is gone */
	redisReader *reader;	 /* makes a reply of octets that are a whole one */
	struct resp_scan scan;	 /* of the reply that begins in.octets + in.first */
	struct buffer in, out;
	struct call *calls;	 /* a ring of calls_room; answers come in the order of the commands */
	size_t calls_room, first_call, awaited;
	struct call subscriber;	 /* answer NULL: nothing is subscribed to */
	uint64_t now_us;	 /* when the caller last called */
	uint64_t progress_us;	 /* when an answer last came, or a command was sent while none was awaited */
	uint64_t retry_us, wait_us; /* when to connect again, and how long to wait after a failure */
	char why[160];
};

/* ---- buffers ---- */

static bool
buffer_has_room(struct buffer *b, size_t octets)
{
	size_t room = b->room ? b->room : READ_OCTETS;
	char *grown;

	assert(b->first <= b->end && b->end <= b->room);
	if (b->room - b->end >= octets)
		return true;
	if (b->first > 0) {
		memmove(b->octets, b->octets + b->first, b->end - b->first);
		b->end -= b->first;
		b->first = 0;
	}
	while (room - b->end < octets)
		room *= 2;
	grown = realloc(b->octets, room);
	if (!grown)
		return false;
	b->octets = grown;
	b->room = room;
	return true;
}

static void
buffer_clear(struct buffer *b)
{
	b->first = b->end = 0;
	if (b->room <= KEPT_OCTETS)
		return;
	free(b->octets);
	*b = (struct buffer){0};
}

/* ---- commands that are awaited ---- */

static bool
calls_have_room(struct redis_link *link)
{
	size_t room = link->calls_room ? 2 * link->calls_room : 64;
	struct call *grown;

	if (link->awaited < link->calls_room)
		return true;
	grown = calloc(room, sizeof(*grown));
	if (!grown)
		return false;
	for (size_t i = 0; i < link->awaited; i++)
		grown[i] = link->calls[(link->first_call + i) % link->calls_room];
	free(link->calls);
	link->calls = grown;
	link->calls_room = room;
	link->first_call = 0;
	return true;
}

static struct call
take_call(struct redis_link *link)
{
	struct call call = link->calls[link->first_call];

	assert(link->awaited > 0 && link->first_call < link->calls_room);
	link->first_call = (link->first_call + 1) % link->calls_room;
	if (--link->awaited == 0 && link->calls_room > KEPT_CALLS) {
		free(link->calls);
		link->calls = NULL;
		link->calls_room = link->first_call = 0;
	}
	return call;
}

/* ---- losing a connection ---- */

static void
watch_events(struct redis_link *link, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = link};

	if (events == link->events)
		return;
	(void)epoll_ctl(link->epoll_fd, link->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, link->fd, &event);
	link->events = events;
}

static void
forget_connection(struct redis_link *link)
{
	close_fd(link->fd); /* epoll forgets it, too */
	link->fd = -1;
	link->events = 0;
	link->connecting = link->up = false;
	link->connections++;
	if (link->reader)
		redisReaderFree(link->reader);
	link->reader = NULL;
	link->scan = (struct resp_scan){0};
	buffer_clear(&link->in);
	buffer_clear(&link->out);
}

static void
drop_connection(struct redis_link *link, const char *why)
{
	size_t lost = link->awaited;
	struct call subscriber = link->subscriber;

	snprintf(link->why, sizeof(link->why), "%s", why);
	link->wait_us = link->up || link->wait_us == 0 ? REDIS_RETRY_US : 2 * link->wait_us;
	if (link->wait_us > REDIS_RETRY_MAX_US)
		link->wait_us = REDIS_RETRY_MAX_US;
	link->retry_us = link->now_us + link->wait_us;
	forget_connection(link);
	link->subscriber = (struct call){0};
	if (!link->told_down)
		link->listener->down(link->listener->ctx, link, link->why);
	link->told_down = true;
	for (; lost > 0; lost--) {
		struct call call = take_call(link);

		call.answer(call.request, NULL);
	}
	if (subscriber.answer)
		subscriber.answer(subscriber.request, NULL);
}

/* ---- sending ---- */

static void
send_some(struct redis_link *link)
{
	struct buffer *out = &link->out;

	while (out->first < out->end) {
		ssize_t n = send(link->fd, out->octets + out->first, out->end - out->first, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			drop_connection(link, strerror(errno));
			return;
		}
		if (n < 0)
			break;
		out->first += (size_t)n;
	}
	if (out->first == out->end)
		buffer_clear(out);
	watch_events(link, EPOLLIN | (out->first < out->end ? EPOLLOUT : 0));
}

/* Puts the command behind those that wait to be sent. */
static int
put_command(struct redis_link *link, int n, const char *const words[], const size_t octets[])
{
	char *command = NULL;
	/* The library lacks a const; it only reads the words. */
	int size = redisFormatCommandArgv(&command, n, (const char **)(uintptr_t)words, octets);
	int rc = -ENOMEM;

	if (size > 0 && buffer_has_room(&link->out, (size_t)size)) {
		memcpy(link->out.octets + link->out.end, command, (size_t)size);
		link->out.end += (size_t)size;
		watch_events(link, EPOLLIN | EPOLLOUT);
		rc = 0;
	}
	if (size > 0)
		redisFreeCommand(command);
	return rc;
}

static int
send_command(struct redis_link *link, redis_answer *answer, void *request, int n, const char *const words[],
    const size_t octets[])
{
	int rc = calls_have_room(link) ? put_command(link, n, words, octets) : -ENOMEM;

	if (rc < 0)
		return rc;
	if (link->awaited == 0)
		link->progress_us = link->now_us;
	assert(link->awaited < link->calls_room);
	link->calls[(link->first_call + link->awaited++) % link->calls_room] = (struct call){answer, request};
	return 0;
}

int
redis_link_ask(struct redis_link *link, redis_answer *answer, void *request, int n,
    const char *const words[], const size_t octets[])
{
	return link->up ? send_command(link, answer, request, n, words, octets) : -ENOTCONN;
}

int
redis_link_subscribe(struct redis_link *link, redis_answer *answer, void *request, const char *pattern)
{
	const char *const words[] = {"PSUBSCRIBE", pattern};
	const size_t octets[] = {strlen(words[0]), strlen(pattern)};
	int rc = link->up ? put_command(link, 2, words, octets) : -ENOTCONN;

	if (rc == 0)
		link->subscriber = (struct call){answer, request};
	return rc;
}

/* ---- receiving ---- */

/* Answers go to commands in their order. Whoever has asked nothing gets no answer. */
static void
take_reply(struct redis_link *link, const redisReply *reply)
{
	if (link->awaited > 0) {
		struct call call = take_call(link);

		link->progress_us = link->now_us;
		call.answer(call.request, reply);
	} else if (link->subscriber.answer) {
		link->subscriber.answer(link->subscriber.request, reply);
	} else {
		drop_connection(link, "it answers what was not asked");
	}
}

/* The octets are one whole reply. 0, or -EPROTO: libhiredis does not take it for one. */
static int
read_reply(struct redis_link *link, const char *octets, size_t size)
{
	void *reply = NULL;

	if (redisReaderFeed(link->reader, octets, size) != REDIS_OK ||
	    redisReaderGetReply(link->reader, &reply) != REDIS_OK || !reply)
		return -EPROTO;
	take_reply(link, reply);
	freeReplyObject(reply);
	return 0;
}

/* An answer may lose the connection, and with it the buffer. */
static void
read_replies(struct redis_link *link)
{
	uint64_t connection = link->connections;
	int rc = 1;

	while (rc > 0 && link->in.first < link->in.end) {
		size_t size;

		rc = resp_scan(&link->scan, link->in.octets + link->in.first, link->in.end - link->in.first);
		if (rc <= 0)
			break;
		size = link->scan.at;
		link->scan = (struct resp_scan){0};
		link->in.first += size;
		rc = read_reply(link, link->in.octets + link->in.first - size, size);
		if (link->connections != connection)
			return;
		rc = rc < 0 ? rc : 1;
	}
	if (rc < 0)
		drop_connection(link, rc == -EMSGSIZE ? "its answer is too long" : "its answer is not Redis' protocol");
	else if (link->in.first == link->in.end)
		buffer_clear(&link->in);
}

static void
receive_some(struct redis_link *link)
{
	ssize_t n;

	if (!buffer_has_room(&link->in, READ_OCTETS)) {
		drop_connection(link, "no memory");
		return;
	}
	n = recv(link->fd, link->in.octets + link->in.end, READ_OCTETS, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop_connection(link, n == 0 ? "it was closed" : strerror(errno));
		return;
	}
	link->in.end += (size_t)n;
	read_replies(link);
}

/* ---- connecting ---- */

static void
on_selected(void *ctx, const redisReply *reply)
{
	struct redis_link *link = ctx;

	if (!reply)
		return;
	if (reply->type != REDIS_REPLY_STATUS) {
		drop_connection(link, reply->type == REDIS_REPLY_ERROR ? reply->str : "it does not say OK to SELECT");
		return;
	}
	link->up = true;
	link->told_down = false;
	link->listener->up(link->listener->ctx, link);
}

static int
redis_address_of(const struct redis_address *address, struct sockaddr_storage *result, socklen_t *size)
{
	struct sockaddr_un *un = (struct sockaddr_un *)result;
	struct sockaddr_in *in = (struct sockaddr_in *)result;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)result;

	*result = (struct sockaddr_storage){0};
	if (address->socket[0]) {
		un->sun_family = AF_UNIX;
		snprintf(un->sun_path, sizeof(un->sun_path), "%s", address->socket);
		*size = sizeof(*un);
	} else if (inet_pton(AF_INET, address->address, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(address->port);
		*size = sizeof(*in);
	} else if (inet_pton(AF_INET6, address->address, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(address->port);
		*size = sizeof(*in6);
	} else {
		return -EINVAL;
	}
	return 0;
}

/* 0: connected, or connecting. */
static int
begin_connection(struct redis_link *link)
{
	struct sockaddr_storage address;
	socklen_t size = 0;
	int rc = redis_address_of(&link->address, &address, &size);

	if (rc == 0)
		link->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (rc == 0 && (link->fd < 0 ||
	    (connect(link->fd, (struct sockaddr *)&address, size) < 0 && errno != EINPROGRESS)))
		rc = -errno;
	if (rc == 0 && !(link->reader = redisReaderCreate()))
		rc = -ENOMEM;
	return rc;
}

static void
connect_now(struct redis_link *link)
{
	char database[16];
	const char *const words[] = {"SELECT", database};
	size_t octets[] = {strlen("SELECT"), 0};
	int rc = begin_connection(link);

	octets[1] = (size_t)snprintf(database, sizeof(database), "%u", link->address.database);
	link->connecting = rc == 0;
	if (rc == 0)
		rc = send_command(link, on_selected, link, 2, words, octets);
	if (rc < 0)
		drop_connection(link, strerror(-rc));
}

/* What connect has come to. */
static void
end_connecting(struct redis_link *link)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	link->connecting = false;
	if (error != 0)
		drop_connection(link, strerror(error));
}

void
redis_link_step(struct redis_link *link, uint64_t now_us)
{
	link->now_us = now_us;
	if (link->fd < 0 && now_us >= link->retry_us)
		connect_now(link);
	else if (link->fd >= 0 && link->awaited > 0 && now_us - link->progress_us >= REDIS_ANSWER_US)
		drop_connection(link, "it has not answered for 5 s");
}

void
redis_link_ready(struct redis_link *link, uint32_t events, uint64_t now_us)
{
	link->now_us = now_us;
	if (link->connecting)
		end_connecting(link);
	if (link->fd >= 0 && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		receive_some(link);
	if (link->fd >= 0 && (events & EPOLLOUT))
		send_some(link);
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
	link->fd = -1;
	*result = link;
	return 0;
}

void
redis_link_destroy(struct redis_link *link)
{
	if (!link)
		return;
	link->told_down = true;
	drop_connection(link, "");
	free(link->in.octets);
	free(link->out.octets);
	free(link->calls);
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
