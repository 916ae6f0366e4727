/*
 * Which agents and ports the collector knows, and what it keeps of each: the accounts of its two
 * newest boots, the base of its true totals, its last state. Sized at the start: beyond a limit a
 * newcomer is refused and the caller counts it; nobody known is ever dropped for a stranger.
 * Inside the window room; the accounting works on it.
 */
#ifndef EASE_COLLECTOR_WINDOW_INVENTORY_H
#define EASE_COLLECTOR_WINDOW_INVENTORY_H

#include "collector/store/store.h"
#include "collector/window/port_totals.h"
#include "collector/window/crash_journal.h"

enum { INVENTORY_BOOTS = 2 }; /* the newest, and the one before for what was still on its way */

struct agent {
	struct store_agent row; /* row.boot: its newest; row.last_us: newest time in that boot */
	uint32_t first_heard_boot;	/* boot in which we met it: later ones were witnessed */
	bool dirty;
};

/* One boot of a port. */
struct account {
	bool used, dirty;
	uint32_t boot;
	struct crash_journal_slot *slot; /* its tracker and newest time; of its own for good */
	uint64_t stored_crash_lost;	   /* samples gone with a crash, as the store has it */
	uint64_t agent_drops, stalls, stalled_pkts;
	uint64_t first_us;
	uint64_t last_expected_us; /* a time in the minute that got the numbers expected last */
};

struct port {
	struct agent *agent;
	uint32_t if_index;
	struct account accounts[INVENTORY_BOOTS]; /* newest boot first */
	struct port_totals totals;
	bool counters_unwritten;	       /* newest counters not in the store yet */
	struct store_counter newest_counters;  /* kept when they are; time 0: none came */
	uint32_t stored_boot;	       /* of the newest counters in the store */
	uint64_t stored_us;
	bool has_state;
	bool state_unwritten; /* to a store that has begun anew */
	uint32_t state_boot;
	struct ease_state state;
};

struct inventory {
	uint32_t max_agents, max_ports;
	struct agent *agents; /* by rising row.id; never moves, because ports point into it */
	uint32_t n_agents;
	struct port *ports; /* nobody leaves, nothing moves */
	uint32_t n_ports;
	uint32_t *port_buckets; /* open addressing: index into ports + 1, 0 empty */
	uint64_t port_mask;
	uint32_t last_agent; /* senders come in runs */
	struct crash_journal journal;
};

/* Octets that a inventory of these limits takes when full. */
uint64_t inventory_memory(uint32_t max_agents, uint32_t max_ports);

/* Allocates room for all that may come. 0 or -ENOMEM. */
int inventory_init(struct inventory *r, uint32_t max_agents, uint32_t max_ports);
void inventory_free(struct inventory *r);

struct agent *inventory_find_agent(struct inventory *r, const uint8_t *agent_id);
struct agent *inventory_agent_by_number(const struct inventory *r, int64_t id);

/* Adds an agent; row.id 0 gets the next number. NULL at the limit. */
struct agent *inventory_add_agent(struct inventory *r, const struct store_agent *row);

/* The port of that agent, made if need be; NULL at the limit. */
struct port *inventory_port(struct inventory *r, struct agent *a, uint32_t if_index);

/* The account of a port's boot, made if need be with first_us and *made set; NULL if the boot is
 * older than those kept. What leaves memory for it goes to put_away first;
 * NULL: it is in the store. */
typedef void inventory_evicted(void *arg, const struct port *p, const struct account *a);
struct account *inventory_account(struct port *p, uint32_t boot, uint64_t first_us, bool *made,
    inventory_evicted *put_away, void *arg);

/* So many samples of its newest boots came and are lost: received no more, but gone. */
void inventory_add_lost(struct port *p, uint64_t samples);

/* Everything must be said again: the store has begun anew. */
void inventory_mark_all_dirty(struct inventory *r);

/* The account as the store keeps it, and what store_load needs to read the inventory back. */
void inventory_account_row(
    const struct port *p, const struct account *a, struct store_account *row);
struct store_loader inventory_loader(struct inventory *r);

#endif
