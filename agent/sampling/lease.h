/*
 * The lease of a station that asks for skips (easeRequestOwner, easeRequestTtl): one owner an agent, for so many
 * seconds, which it renews while it is there. When they are over every request is void, so a station that dies leaves
 * the configured skips behind.
 *
 * Pure: the time is passed in, by the agent's monotonic clock.
 */
#ifndef EASE_AGENT_SAMPLING_LEASE_H
#define EASE_AGENT_SAMPLING_LEASE_H

#include <stdbool.h>
#include <stdint.h>

enum { LEASE_OWNER_MAX = 16, LEASE_TTL_MAX_S = 3600 };

struct lease {
	char owner[LEASE_OWNER_MAX + 1]; /* "": nobody's */
	uint64_t until_us;
};

/* What one request says of the lease. */
struct lease_claim {
	const char *owner; /* NULL: nothing */
	bool has_ttl;
	uint32_t ttl_s;
	bool asks; /* it has requests of ports, too */
};

/* Returns 0, or -EBUSY: the claim says not who claims, somebody else has the lease, or nobody would have it for the
 * time that the requests need. */
int lease_check(const struct lease *lease, const struct lease_claim *claim, uint64_t now_us);

/* Carries out a claim that was checked. Returns whether the lease ended by it (a time to live of 0). */
bool lease_take(struct lease *lease, const struct lease_claim *claim, uint64_t now_us);

/* Ends the lease if its time is over; returns whether it did. */
bool lease_expire(struct lease *lease, uint64_t now_us);

/* The seconds that are left, a begun one counts; 0: nobody has it. */
static inline uint32_t
lease_ttl_s(const struct lease *lease, uint64_t now_us)
{
	bool owned = lease->owner[0] != '\0' && now_us < lease->until_us;

	return owned ? (uint32_t)((lease->until_us - now_us + 999999) / 1000000) : 0;
}

#endif
