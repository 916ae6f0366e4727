/*
 * Which agents and ports the collector knows, and what it keeps of each: the accounts of its two
 * newest boots, the base of its true totals, its last state. Sized at the start: beyond a limit a
 * newcomer is refused and the caller counts it; nobody known is ever dropped for a stranger.
 * Inside the window room; the ledger works on it.
 */
#ifndef EASE_COLLECTOR_WINDOW_INVENTORY_H
#define EASE_COLLECTOR_WINDOW_INVENTORY_H

#include "collector/store/store.h"
#include "collector/window/port_totals.h"
#include "collector/window/crash_journal.h"

enum { ROSTER_BOOTS = 2 }; /* the newest, and the one before for what was still on its way */

struct agent {
	struct store_agent row; /* row.boot: its newest; row.last_us: newest time in that boot */
	uint32_t met_boot;	/* boot in which we met it: later ones were witnessed */
	bool dirty;
};

/* One boot of a port. */
struct account {
	bool used, dirty;
	uint32_t boot;
	struct witness_slot *slot; /* its tracker and newest time; of its own for good */
	uint64_t stored_gone;	   /* samples gone with a crash, as the store has it */
	uint64_t agent_drops, stalls, stalled_pkts;
	uint64_t first_us;
	uint64_t gap_us; /* a time in the minute that got the numbers expected last */
};

struct port {
	struct agent *agent;
	uint32_t if_index;
	struct account accounts[ROSTER_BOOTS]; /* newest boot first */
	struct totals totals;
	bool has_waiting;	       /* newest counters not in the store yet */
	struct store_counter waiting;  /* kept when they are; time 0: none came */
	uint32_t stored_boot;	       /* of the newest counters in the store */
	uint64_t stored_us;
	bool has_state;
	bool state_untold; /* to a store that has begun anew */
	uint32_t state_boot;
	struct ease_state state;
};

struct roster {
	uint32_t max_agents, max_ports;
	struct agent *agents; /* by rising row.id; never moves, because ports point into it */
	uint32_t n_agents;
	struct port *ports; /* nobody leaves, nothing moves */
	uint32_t n_ports;
	uint32_t *port_buckets; /* open addressing: index into ports + 1, 0 empty */
	uint64_t port_mask;
	uint32_t last_agent; /* senders come in runs */
	struct witness witness;
};

/* Octets that a roster of these limits takes when full. */
uint64_t roster_memory(uint32_t max_agents, uint32_t max_ports);

/* Allocates room for all that may come. 0 or -ENOMEM. */
int roster_init(struct roster *r, uint32_t max_agents, uint32_t max_ports);
void roster_free(struct roster *r);

struct agent *roster_find_agent(struct roster *r, const uint8_t *agent_id);
struct agent *roster_agent_by_number(const struct roster *r, int64_t id);

/* Adds an agent; row.id 0 gets the next number. NULL at the limit. */
struct agent *roster_add_agent(struct roster *r, const struct store_agent *row);

/* The port of that agent, made if need be; NULL at the limit. */
struct port *roster_port(struct roster *r, struct agent *a, uint32_t if_index);

/* The account of a port's boot, made if need be with first_us and *made set; NULL if the boot is
 * older than those kept. What leaves memory for it goes to put_away first;
 * NULL: it is in the store. */
typedef void roster_put_away(void *arg, const struct port *p, const struct account *a);
struct account *roster_account(struct port *p, uint32_t boot, uint64_t first_us, bool *made,
    roster_put_away *put_away, void *arg);

/* So many samples of its newest boots came and are lost: received no more, but gone. */
void roster_lose(struct port *p, uint64_t samples);

/* Everything must be said again: the store has begun anew. */
void roster_untell(struct roster *r);

/* The account as the store keeps it, and what store_load needs to read the roster back. */
void roster_account_row(const struct port *p, const struct account *a, struct store_account *row);
struct store_loader roster_loader(struct roster *r);

#endif
