#include "collector/input/refused_senders.h"
#include "common/hash.h"
#include "common/utf8.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 4, SETS = REFUSED_SENDERS_MAX / WAYS };

struct place {
	struct refused_sender now; /* datagrams 0: nothing since it was taken */
	uint64_t all;		   /* datagrams since it has the place; 0: the place is free */
	uint64_t heard_us;
};

struct refused_senders {
	atomic_flag busy; /* a thread is at what follows */
	_Atomic uint64_t crowded_out;
	uint64_t seed, waiting; /* waiting: places with something to take */
	size_t hand;			     /* where the next is looked for */
	struct place places[SETS * WAYS];
};

int
refused_senders_new(struct refused_senders **out, uint64_t seed)
{
	struct refused_senders *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	atomic_flag_clear(&r->busy);
	r->seed = seed;
	*out = r;
	return 0;
}

void
refused_senders_free(struct refused_senders *r)
{
	free(r);
}

/* False if another thread is there now. */
static bool
enter_senders(struct refused_senders *r)
{
	return !atomic_flag_test_and_set_explicit(&r->busy, memory_order_acquire);
}

static void
leave_senders(struct refused_senders *r)
{
	atomic_flag_clear_explicit(&r->busy, memory_order_release);
}

static bool
refused_goes_before(const struct place *p, const struct place *q, uint64_t now_us)
{
	bool p_old = now_us - p->heard_us >= REFUSED_SENDERS_AGE_US;
	bool q_old = now_us - q->heard_us >= REFUSED_SENDERS_AGE_US;

	if (p_old != q_old)
		return p_old;
	return p->all != q->all ? p->all < q->all : p->heard_us < q->heard_us;
}

/* The place of the address: its own, or one that it takes. */
static struct place *
refused_place_of(struct refused_senders *r, const char *address, uint64_t now_us)
{
	char text[ENDPOINT_TEXT] = ""; /* hash_octets takes blocks of 16 */
	struct place *first, *leaves = NULL;

	snprintf(text, sizeof(text), "%s", address);
	first = r->places + WAYS * (hash_octets(r->seed, text, sizeof(text)) % SETS);
	for (struct place *p = first; p < first + WAYS; p++) {
		if (p->all > 0 && strcmp(p->now.address, text) == 0)
			return p;
		if (!leaves || refused_goes_before(p, leaves, now_us))
			leaves = p;
	}
	/* What was not taken of who leaves is told of nobody. */
	r->crowded_out += leaves->now.datagrams;
	r->waiting -= leaves->now.datagrams > 0;
	memset(leaves, 0, sizeof(*leaves));
	snprintf(leaves->now.address, sizeof(leaves->now.address), "%s", text);
	return leaves;
}

void
refused_senders_note(struct refused_senders *r, const char *address, const char *reason, uint64_t now_us)
{
	struct place *p;

	if (!r)
		return;
	if (!enter_senders(r)) {
		r->crowded_out++;
		return;
	}
	p = refused_place_of(r, address, now_us);
	if (p->now.datagrams++ == 0) {
		p->now.first_us = now_us;
		r->waiting++;
	}
	p->all++;
	p->now.last_us = p->heard_us = now_us;
	snprintf(p->now.reason, sizeof(p->now.reason), "%s", reason);
	leave_senders(r);
}

bool
refused_senders_take(struct refused_senders *r, struct refused_sender *out)
{
	char reason[REFUSED_REASON_TEXT];
	bool found;

	if (!enter_senders(r))
		return false;
	found = r->waiting > 0;
	while (found && r->places[r->hand].now.datagrams == 0)
		r->hand = (r->hand + 1) % (SETS * WAYS);
	if (found) {
		*out = r->places[r->hand].now;
		r->places[r->hand].now.datagrams = 0;
		r->waiting--;
	}
	leave_senders(r);
	if (found) { /* a reason quotes what a stranger sent */
		memcpy(reason, out->reason, sizeof(reason));
		utf8_printable(reason, out->reason, sizeof(out->reason));
	}
	return found;
}

uint64_t
refused_senders_crowded_out(struct refused_senders *r)
{
	return r->crowded_out;
}
