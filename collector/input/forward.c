#include "collector/input/forward.h"

#include "common/endpoint.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/udp_out.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ROOM "forward"

enum {
	BLOCK = 16, /* records begin at multiples of it; what hash_octets takes at a time */
	NOT_A_RECORD = -1, /* in place of a length: the next record is at the ring's start */
	SENDERS = 4096, /* slots, chosen by hash with a random seed: nobody can choose whose to share */
	SEEN = 1 << 16, /* at 150,000 datagrams a second the last 0.4 s */
	FULL_WAIT_MS = 2, /* for room in the kernel's buffer */
};

static const struct stat_name stat_names[FORWARD_N_STATS] = {
    [FORWARD_STAT_SENT] = {"forward.sent", "datagrams sent on, counted once for each receiver of forward"},
    [FORWARD_STAT_AGAIN] = {"forward.again",
	"datagrams not sent on, because the same came within two seconds before: collectors forward in a circle, or "
	"the network doubles them"},
    [FORWARD_STAT_OVER_SHARE] = {"forward.over_share",
	"datagrams not sent on, because more came than could be sent, and their sender had its share of the queue"},
    [FORWARD_STAT_QUEUE_FULL] = {"forward.queue_full",
	"datagrams not sent on, because more came than could be sent"},
    [FORWARD_STAT_KERNEL_REFUSED] = {"forward.kernel_refused",
	"datagrams that the kernel did not send to a receiver of forward; the log has the reason"},
    [FORWARD_STAT_UNREACHABLE] = {"forward.unreachable",
	"times that the host of a receiver of forward answered that no program listens there"},
};

struct record {
	int32_t n; /* octets that follow, padded with zeros to a BLOCK */
	uint32_t sender; /* its slot */
	uint8_t unused[BLOCK - sizeof(int32_t) - sizeof(uint32_t)];
};
_Static_assert(FORWARD_RING_OCTETS % BLOCK == 0 && sizeof(struct record) == BLOCK, "the ring ends with a record");

struct receiver_out {
	struct udp_out out;
	char text[ENDPOINT_TEXT];
	bool is_full; /* waiting for room did not help last time */
};

struct forward {
	const struct clock *clock;
	uint64_t seed;
	uint8_t *ring; /* NULL: there was no receiver yet */
	_Atomic uint64_t put, taken; /* octets since the start */
	_Atomic uint32_t held[SENDERS]; /* octets of the ring, by the slot of who sent them */
	_Atomic bool has_receivers, is_asleep, stops;
	int wake_fd; /* eventfd(2) */
	pthread_t thread;
	pthread_mutex_t lock; /* of the receivers */
	struct receiver_out receivers[FORWARD_RECEIVERS_MAX];
	size_t n_receivers;
	struct seen {
		uint64_t hash, time_us;
	} *seen; /* of the thread */
	struct stat_set stats;
	_Atomic uint64_t values[FORWARD_N_STATS];
};

static size_t
padded_to_block(size_t n)
{
	return (n + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- the thread that sends ---- */

static void
forward_send_to(struct forward *f, struct receiver_out *r, const void *octets, size_t n)
{
	struct pollfd room = {.fd = r->out.fd, .events = POLLOUT};
	bool is_unreachable = false;
	uint64_t now_us = clock_mono_us(f->clock);
	int err = udp_out_send(&r->out, octets, n, now_us, &is_unreachable);

	/* A receiver whose buffer stays full must not make others wait again and again. */
	if (err == -EAGAIN && !r->is_full && poll(&room, 1, FULL_WAIT_MS) > 0)
		err = udp_out_send(&r->out, octets, n, now_us, &is_unreachable);
	r->is_full = err == -EAGAIN;
	stat_add_own(&f->stats, FORWARD_STAT_UNREACHABLE, is_unreachable);
	stat_add_own(&f->stats, err < 0 ? FORWARD_STAT_KERNEL_REFUSED : FORWARD_STAT_SENT, 1);
	if (err < 0)
		log_warn_limited(ROOM, "a datagram was not sent on to %s: %s", r->text, strerror(-err));
	else if (is_unreachable)
		log_warn_limited(ROOM, "no program listens at %s", r->text);
}

static bool
came_before(struct forward *f, const uint8_t *octets, size_t n)
{
	uint64_t hash = hash_octets(f->seed, octets, padded_to_block(n)) + n, now_us = clock_mono_us(f->clock);
	struct seen *seen = &f->seen[hash % SEEN];
	bool is_again = seen->hash == hash && now_us - seen->time_us < FORWARD_AGAIN_US;

	*seen = (struct seen){hash, now_us};
	return is_again;
}

static void
send_first(struct forward *f)
{
	uint64_t taken = f->taken;
	size_t at = taken % FORWARD_RING_OCTETS;
	struct record head;

	memcpy(&head, f->ring + at, sizeof(head));
	if (head.n == NOT_A_RECORD) {
		f->taken = taken + FORWARD_RING_OCTETS - at;
		return;
	}
	if (came_before(f, f->ring + at + BLOCK, (size_t)head.n)) {
		stat_add_own(&f->stats, FORWARD_STAT_AGAIN, 1);
	} else {
		pthread_mutex_lock(&f->lock);
		for (size_t i = 0; i < f->n_receivers; i++)
			forward_send_to(f, &f->receivers[i], f->ring + at + BLOCK, (size_t)head.n);
		pthread_mutex_unlock(&f->lock);
	}
	f->held[head.sender] -= (uint32_t)(BLOCK + padded_to_block((size_t)head.n));
	f->taken = taken + BLOCK + padded_to_block((size_t)head.n);
}

static void
wake_sender(struct forward *f)
{
	if (eventfd_write(f->wake_fd, 1) < 0)
		log_warn_limited(ROOM, "the thread cannot be woken: %s", strerror(errno));
}

static void
sleep_until_woken(struct forward *f)
{
	eventfd_t ignored;

	f->is_asleep = true;
	if (f->put == f->taken && !f->stops && eventfd_read(f->wake_fd, &ignored) < 0)
		log_warn_limited(ROOM, "the thread cannot sleep: %s", strerror(errno));
	f->is_asleep = false;
}

static void *
run_forward(void *arg)
{
	struct forward *f = arg;

	while (f->put != f->taken || !f->stops)
		if (f->put != f->taken)
			send_first(f);
		else
			sleep_until_woken(f);
	return NULL;
}

/* ---- the thread that takes datagrams ---- */

void
forward_put(struct forward *f, const struct sockaddr *from, const void *octets, size_t n)
{
	struct record head = {.n = (int32_t)n};
	uint64_t put, rest, octets_needed, used;
	uint8_t *at;

	if (!f || !f->has_receivers)
		return;
	put = f->put;
	rest = FORWARD_RING_OCTETS - put % FORWARD_RING_OCTETS;
	octets_needed = BLOCK + padded_to_block(n);
	used = put - f->taken;
	if (used + octets_needed + (rest < octets_needed ? rest : 0) > FORWARD_RING_OCTETS) {
		stat_add_own(&f->stats, FORWARD_STAT_QUEUE_FULL, 1);
		return;
	}
	/* A sender holds no more than what is free: k that flood leave a part in k + 1 to all others. */
	head.sender = (uint32_t)(endpoint_hash(f->seed, from) % SENDERS);
	if (f->held[head.sender] + octets_needed > FORWARD_RING_OCTETS - used) {
		stat_add_own(&f->stats, FORWARD_STAT_OVER_SHARE, 1);
		return;
	}
	if (rest < octets_needed) {
		memcpy(f->ring + put % FORWARD_RING_OCTETS, &(struct record){.n = NOT_A_RECORD}, BLOCK);
		put += rest;
	}
	at = f->ring + put % FORWARD_RING_OCTETS;
	memcpy(at, &head, BLOCK);
	memset(at + octets_needed - BLOCK, 0, BLOCK);
	memcpy(at + BLOCK, octets, n);
	f->held[head.sender] += (uint32_t)octets_needed;
	f->put = put + octets_needed;
	if (f->is_asleep) /* read after put was written: either it sees the datagram, or this sees that it sleeps */
		wake_sender(f);
}

/* ---- begin and end ---- */

int
forward_new(struct forward **out, uint64_t seed, const struct clock *clock)
{
	struct forward *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->clock = clock;
	f->seed = seed;
	f->wake_fd = -1;
	f->stats = (struct stat_set){stat_names, FORWARD_N_STATS, f->values};
	pthread_mutex_init(&f->lock, NULL);
	*out = f;
	return 0;
}

static int
start_sending(struct forward *f)
{
	int err = -ENOMEM;

	f->ring = malloc(FORWARD_RING_OCTETS);
	f->seen = calloc(SEEN, sizeof(*f->seen));
	f->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (f->ring && f->seen)
		err = f->wake_fd < 0 ? -errno : -pthread_create(&f->thread, NULL, run_forward, f);
	if (err == 0) {
		pthread_setname_np(f->thread, ROOM);
		return 0;
	}
	free(f->ring);
	free(f->seen);
	if (f->wake_fd >= 0)
		close(f->wake_fd);
	f->ring = NULL;
	return err;
}

static void
close_receivers(struct receiver_out *receivers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		udp_out_close(&receivers[i].out);
}

int
forward_set(struct forward *f, const char *const *receivers, size_t n)
{
	struct receiver_out fresh[FORWARD_RECEIVERS_MAX] = {0};
	int err = n > 0 && !f->ring ? start_sending(f) : 0;
	size_t opened = 0;

	while (err == 0 && opened < n) {
		err = udp_out_open(&fresh[opened].out, receivers[opened]);
		snprintf(fresh[opened].text, sizeof(fresh->text), "%s", receivers[opened]);
		opened++;
	}
	if (err < 0) {
		close_receivers(fresh, opened);
		return err;
	}
	pthread_mutex_lock(&f->lock);
	close_receivers(f->receivers, f->n_receivers);
	memcpy(f->receivers, fresh, sizeof(fresh));
	f->n_receivers = n;
	pthread_mutex_unlock(&f->lock);
	f->has_receivers = n > 0;
	return 0;
}

void
forward_free(struct forward *f)
{
	if (!f)
		return;
	if (f->ring) {
		f->stops = true;
		wake_sender(f);
		pthread_join(f->thread, NULL);
		close(f->wake_fd);
	}
	close_receivers(f->receivers, f->n_receivers);
	pthread_mutex_destroy(&f->lock);
	free(f->ring);
	free(f->seen);
	free(f);
}

const struct stat_set *
forward_stats(const struct forward *f)
{
	return &f->stats;
}
