#include "collector/input/usm_reports.h"

#include "collector/input/fair_share.h"

#define SECOND_US 1000000ull
#define MINUTE_US (60 * SECOND_US)

/* Far more than any sender asks for, and no sum of it and a datagram wraps. */
enum { CREDIT_MAX = 1 << 20 };

static void
begin_minute(struct reports *r, uint64_t now_us)
{
	r->minute_us = now_us;
	for (size_t i = 0; i < REPORTS_PLACES; i++)
		r->places[i].credit = REPORTS_FREE_OCTETS;
}

static void
begin_second(struct reports *r, uint64_t now_us)
{
	r->second_us = now_us;
	for (size_t i = 0; i < REPORTS_PLACES; i++)
		r->places[i].sent = 0;
}

static size_t
place_of(const struct reports *r, const struct sockaddr *address)
{
	return share_hash(r->seed, address) % REPORTS_PLACES;
}

void
reports_init(struct reports *r, uint64_t seed, uint64_t now_us)
{
	r->seed = seed;
	begin_minute(r, now_us);
	begin_second(r, now_us);
}

void
reports_heard(struct reports *r, const struct sockaddr *from, size_t n, uint64_t now_us)
{
	uint32_t *credit = &r->places[place_of(r, from)].credit;

	if (now_us - r->minute_us >= MINUTE_US)
		begin_minute(r, now_us);
	if (*credit < CREDIT_MAX)
		*credit += (uint32_t)n;
}

bool
reports_allow(struct reports *r, const struct sockaddr *to, size_t n, uint64_t now_us)
{
	size_t at = place_of(r, to);

	if (now_us - r->second_us >= SECOND_US)
		begin_second(r, now_us);
	if (r->places[at].credit < n || r->places[at].sent >= REPORTS_A_SECOND)
		return false;
	r->places[at].credit -= (uint32_t)n;
	r->places[at].sent++;
	return true;
}
