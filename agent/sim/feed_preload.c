#include "agent/sim/feed_preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Each frame is in another page. Huge pages reduce the cost of address translation. */
enum { HUGE_PAGE = 2 << 20, CHUNK_OCTETS = 2 * HUGE_PAGE, FIRST_FRAMES = 65536 };

/* Octets of frames; a chunk never moves. */
struct chunk {
	struct chunk *next;
	size_t used;
	uint8_t octets[CHUNK_OCTETS - 2 * sizeof(size_t)];
};

static struct chunk *
new_chunk(void)
{
	struct chunk *chunk = aligned_alloc(HUGE_PAGE, sizeof(*chunk));

	if (chunk)
		madvise(chunk, sizeof(*chunk), MADV_HUGEPAGE); /* optional */
	return chunk;
}

struct feed_preload {
	bool loop;
	struct feed_frame *frames;
	size_t n, room, next;
	struct chunk *chunks;
	uint64_t octets;
	uint64_t offset_us, round_us; /* of this round; from one round to the next */
};

static uint8_t *
keep_octets(struct feed_preload *p, const struct feed_frame *frame)
{
	struct chunk *chunk = p->chunks;

	if (!chunk || sizeof(chunk->octets) - chunk->used < frame->captured_octets) {
		chunk = new_chunk();
		if (!chunk)
			return NULL;
		chunk->next = p->chunks;
		chunk->used = 0;
		p->chunks = chunk;
	}
	chunk->used += frame->captured_octets;
	if (frame->captured_octets > 0)
		memcpy(chunk->octets + chunk->used - frame->captured_octets, frame->octets,
		    frame->captured_octets);
	return chunk->octets + chunk->used - frame->captured_octets;
}

int
feed_preload_add(struct feed_preload *p, const struct feed_frame *frame)
{
	struct feed_frame *kept;

	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : FIRST_FRAMES;
		struct feed_frame *more = realloc(p->frames, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->frames = more;
		p->room = room;
	}
	p->octets += frame->captured_octets + sizeof(*frame);
	if (p->octets > FEED_PRELOAD_MAX_OCTETS)
		return -EFBIG;
	kept = &p->frames[p->n];
	*kept = *frame;
	kept->octets = keep_octets(p, frame);
	if (!kept->octets)
		return -ENOMEM;
	p->n++;
	p->round_us = frame->time_us - p->frames[0].time_us + FEED_LOOP_GAP_US;
	return 0;
}

int
feed_preload_create(bool loop, struct feed_preload **preload)
{
	struct feed_preload *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->loop = loop;
	*preload = p;
	return 0;
}

void
feed_preload_destroy(struct feed_preload *preload)
{
	struct chunk *next;

	if (!preload)
		return;
	for (struct chunk *chunk = preload->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(preload->frames);
	free(preload);
}

size_t
feed_preload_next_batch(struct feed_preload *p, struct feed_frame *frames, size_t max)
{
	size_t n;

	if (p->next == p->n && p->loop) {
		p->next = 0;
		p->offset_us += p->round_us;
	}
	n = p->n - p->next < max ? p->n - p->next : max;
	for (size_t i = 0; i < n; i++) {
		frames[i] = p->frames[p->next + i];
		frames[i].time_us += p->offset_us;
	}
	p->next += n;
	return n;
}
