#include "agent/sampling/lease.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SECOND_US UINT64_C(1000000)

static bool
has_owner(const struct lease *lease, uint64_t now_us)
{
	return lease->owner[0] != '\0' && now_us < lease->until_us;
}

int
lease_check(const struct lease *lease, const struct lease_claim *claim, uint64_t now_us)
{
	bool owned = has_owner(lease, now_us);

	if (claim->owner == NULL || claim->owner[0] == '\0' || strlen(claim->owner) > LEASE_OWNER_MAX)
		return -EBUSY;
	if (owned && strcmp(claim->owner, lease->owner) != 0)
		return -EBUSY;
	if (!owned && !claim->has_ttl)
		return -EBUSY;
	return claim->asks && claim->has_ttl && claim->ttl_s == 0 ? -EBUSY : 0;
}

bool
lease_take(struct lease *lease, const struct lease_claim *claim, uint64_t now_us)
{
	bool owned = has_owner(lease, now_us);

	if (!claim->has_ttl)
		return false;
	if (claim->ttl_s == 0) {
		*lease = (struct lease){0};
		return owned;
	}
	snprintf(lease->owner, sizeof(lease->owner), "%s", claim->owner);
	lease->until_us = now_us + claim->ttl_s * SECOND_US;
	return false;
}

bool
lease_expire(struct lease *lease, uint64_t now_us)
{
	if (lease->owner[0] == '\0' || now_us < lease->until_us)
		return false;
	*lease = (struct lease){0};
	return true;
}
