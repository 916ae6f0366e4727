/* Counts and tells whose records find no place, or had been silent for long while the store cannot be read. */
#include "collector/window/accounting_private.h"
#include "common/log.h"

#include <errno.h>
#include <inttypes.h>

#define ROOM "accounting"

static void
fail_recall(struct accounting *acc, const char *address)
{
	accounting_count(acc, ACCOUNTING_STAT_RECALL_FAILURES);
	log_warn_limited(ROOM,
	    "refused a record of %s, which had been silent for long: the store cannot be read now, and "
	    "has its totals", address);
}

void
accounting_refuse_agent(struct accounting *acc, const struct ease_record *r, int err)
{
	const struct inventory *known = &acc->inventory;
	const char *source = agent_identity_source(r);

	if (err != -EDQUOT) {
		fail_recall(acc, r->sender);
		return;
	}
	accounting_count(acc, ACCOUNTING_STAT_AGENTS_FULL);
	log_warn_limited(ROOM,
	    "refused a record of another agent at %s: there is room for %u agents, all are heard, and "
	    "%u of them are of %s, no fewer than anybody else's",
	    r->sender, known->agent_places.max,
	    lru_table_held(&known->agent_places, inventory_owner(known, source)), source);
}

void
accounting_refuse_port(struct accounting *acc, const struct agent *a, uint64_t if_index, int err)
{
	const struct inventory *known = &acc->inventory;
	uint64_t owner = lru_table_owner(&known->agent_places, (uint32_t)(a - known->agents));

	if (err != -EDQUOT) {
		fail_recall(acc, a->row.address);
		return;
	}
	accounting_count(acc, ACCOUNTING_STAT_PORTS_FULL);
	log_warn_limited(ROOM,
	    "refused a record of another port, ifIndex %" PRIu64 " of the agent at %s: there is room for %u ports, "
	    "all are heard, and %u of them are of the same sender, no fewer than anybody else's; the option "
	    "memory makes room for more",
	    if_index, a->row.address, known->port_places.max,
	    lru_table_held(&known->port_places, owner));
}
