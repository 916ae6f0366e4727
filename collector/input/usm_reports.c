#include "collector/input/usm_reports.h"

#include "common/endpoint.h"

#define SECOND_US 1000000ull
#define MINUTE_US (60 * SECOND_US)

/* Far more than any sender needs, and small enough that adding a datagram cannot overflow. */
enum { CREDIT_MAX = 1 << 20 };

static void
begin_minute(struct usm_reports *r, uint64_t now_us)
{
	r->minute_us = now_us;
	for (size_t i = 0; i < USM_REPORTS_SLOTS; i++)
		r->slots[i].credit = USM_REPORTS_FREE_OCTETS;
}

static void
begin_second(struct usm_reports *r, uint64_t now_us)
{
	r->second_us = now_us;
	for (size_t i = 0; i < USM_REPORTS_SLOTS; i++)
		r->slots[i].sent = 0;
}

static size_t
reports_slot_of(const struct usm_reports *r, const struct sockaddr *address)
{
	return endpoint_hash(r->seed, address) % USM_REPORTS_SLOTS;
}

void
usm_reports_init(struct usm_reports *r, uint64_t seed, uint64_t now_us)
{
	r->seed = seed;
	begin_minute(r, now_us);
	begin_second(r, now_us);
}

void
usm_reports_heard(struct usm_reports *r, const struct sockaddr *from, size_t n, uint64_t now_us)
{
	uint32_t *credit = &r->slots[reports_slot_of(r, from)].credit;

	if (now_us - r->minute_us >= MINUTE_US)
		begin_minute(r, now_us);
	if (*credit < CREDIT_MAX)
		*credit += (uint32_t)n;
}

bool
usm_reports_allow(struct usm_reports *r, const struct sockaddr *to, size_t n, uint64_t now_us)
{
	size_t at = reports_slot_of(r, to);

	if (now_us - r->second_us >= SECOND_US)
		begin_second(r, now_us);
	if (r->slots[at].credit < n || r->slots[at].sent >= USM_REPORTS_A_SECOND)
		return false;
	r->slots[at].credit -= (uint32_t)n;
	r->slots[at].sent++;
	return true;
}
