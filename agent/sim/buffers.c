#include "agent/sim/buffers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MCAST_MOST = 256 }; /* the largest MCastLimit: each needs a flight, as each buffer does */

int
buffers_add_pool(struct buffers *b, struct tnetx4090_model *pool, uint32_t n_buffers)
{
	unsigned max = b->max_flights + n_buffers + TNETX4090_PORTS * MCAST_MOST;
	struct flight *flights;

	if (b->n_pools == BUFFERS_MAX_POOLS)
		return -ENOSPC;
	flights = realloc(b->flights, max * sizeof(*flights));
	if (!flights)
		return -ENOMEM;
	b->flights = flights;
	b->max_flights = max;
	for (unsigned i = 0; i < TNETX4090_PORTS; i++)
		if (b->n_pools * TNETX4090_PORTS + i < BUFFERS_MAX_PORTS)
			b->places[b->n_pools * TNETX4090_PORTS + i] = (struct buffers_place){pool, i};
	b->pools[b->n_pools++] = pool;
	return 0;
}

void
buffers_free(struct buffers *b)
{
	for (unsigned port = 0; port < BUFFERS_MAX_PORTS; port++)
		while (b->held[port].first)
			free(buffers_pop_held(b, port));
	free(b->flights);
	*b = (struct buffers){0};
}

/* --- frames in flight: a binary heap --- */

static inline void
buffers_sift_down(struct flight *heap, unsigned n, unsigned i, struct flight f)
{
	for (unsigned child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && heap[child + 1].until_ns < heap[child].until_ns)
			child++;
		if (heap[child].until_ns >= f.until_ns)
			break;
		heap[i] = heap[child];
	}
	heap[i] = f;
}

static inline void
release_flight(struct buffers *b, const struct flight *f, uint64_t now)
{
	struct buffers_place at = buffers_place(b, f->port);

	if (f->buffers == 0)
		tnetx4090_model_mcast_sent(at.pool, at.port);
	else
		tnetx4090_model_release(at.pool, at.port, f->buffers, now);
}

static inline void
release_next(struct buffers *b)
{
	struct flight f = b->flights[0];

	assert(b->n_flights > 0);
	b->n_flights--;
	buffers_sift_down(b->flights, b->n_flights, 0, b->flights[b->n_flights]);
	release_flight(b, &f, f.until_ns);
}

void
buffers_release_next(struct buffers *b)
{
	release_next(b);
}

static bool
is_eager(const struct buffers *b)
{
	bool eager = b->n_held > 0;

	for (unsigned i = 0; i < b->n_pools; i++)
		eager = eager || b->pools[i]->pressed != 0 || b->pools[i]->mcast_limited != 0;
	return eager;
}

void
buffers_release(struct buffers *b, uint64_t now)
{
	for (unsigned i = 0; i < b->n_recent; i++) {
		if (b->recent[i].until_ns <= now)
			release_flight(b, &b->recent[i], now);
		else
			buffers_add_flight(b, &b->recent[i]);
	}
	b->n_recent = 0;
	while (buffers_next_ns(b) <= now)
		release_next(b);
	b->eager = is_eager(b);
}

enum tnetx4090_verdict
buffers_admit_slow_path(struct buffers *b, unsigned port, uint32_t n, uint64_t now)
{
	struct buffers_place at = buffers_place(b, port);
	enum tnetx4090_verdict verdict;

	buffers_release(b, now);
	verdict = tnetx4090_model_admit(at.pool, at.port, n, now);
	b->eager = is_eager(b);
	return verdict;
}

/* A flooded frame has no departure time per port. The earliest time is when this port may transmit
 * again. */
static void
shift_flight(struct flight *f, unsigned port, int64_t by_ns, uint64_t not_before)
{
	if (f->slowest == port)
		f->until_ns += (uint64_t)by_ns;
	else if (f->slowest != BUFFERS_MANY)
		return;
	if (f->until_ns < not_before)
		f->until_ns = not_before;
}

void
buffers_shift(struct buffers *b, unsigned port, int64_t by_ns, uint64_t not_before, uint64_t now)
{
	buffers_release(b, now);
	for (unsigned i = 0; i < b->n_flights; i++)
		if (b->flights[i].until_ns > now)
			shift_flight(&b->flights[i], port, by_ns, not_before);
	for (unsigned i = b->n_flights / 2; i-- > 0;)
		buffers_sift_down(b->flights, b->n_flights, i, b->flights[i]);
}

/* --- MCastLimit --- */

uint64_t
buffers_leave_out(struct buffers *b, uint64_t ports)
{
	uint64_t full = 0;

	for (unsigned i = 0; i < b->n_pools; i++)
		full |= (uint64_t)tnetx4090_model_mcast_full(b->pools[i]) << i * TNETX4090_PORTS;
	full &= ports;
	for (uint64_t left = full; left != 0; left &= left - 1) {
		unsigned port = (unsigned)__builtin_ctzll(left);

		tnetx4090_model_mcast_left_out(b->places[port].pool, b->places[port].port);
	}
	return full;
}

/* Only ports with a limit count their waiting multicasts. */
void
buffers_queue_multicast(struct buffers *b, const struct wires *wires, uint64_t ports)
{
	uint64_t limited = 0;

	for (unsigned i = 0; i < b->n_pools; i++)
		limited |= (uint64_t)b->pools[i]->mcast_limited << i * TNETX4090_PORTS;
	for (limited &= ports; limited != 0; limited &= limited - 1) {
		unsigned port = (unsigned)__builtin_ctzll(limited);
		struct flight f = {.until_ns = wires_free_ns(wires, port),
		    .port = (uint8_t)port, .slowest = (uint8_t)port};

		tnetx4090_model_mcast_queued(b->places[port].pool, b->places[port].port);
		buffers_add_flight(b, &f);
	}
}

/* --- senders that wait --- */

int
buffers_hold(struct buffers *b, const struct feed_frame *frame)
{
	struct held_queue *q = &b->held[frame->port];
	struct held_frame *h;

	if (b->n_held == BUFFERS_MAX_HELD)
		return -ENOBUFS;
	h = malloc(sizeof(*h) + frame->captured_octets);
	if (!h)
		return -ENOMEM;
	h->next = NULL;
	h->frame = *frame;
	h->frame.octets = h->octets;
	memcpy(h->octets, frame->octets, frame->captured_octets);
	if (!q->first)
		q->end = &q->first;
	*q->end = h;
	q->end = &h->next;
	b->n_held++;
	b->eager = true;
	return 0;
}

struct held_frame *
buffers_pop_held(struct buffers *b, unsigned port)
{
	assert(b->n_held > 0);
	struct held_frame *h = b->held[port].first;

	if (!h)
		return NULL;
	b->held[port].first = h->next;
	b->n_held--;
	return h;
}
