/*
 * The inventory of agents and ports that the collector knows. For each port it keeps the accounts
 * of the agent's two newest boots, the counters from which true totals go on, and the last state.
 * An account says which samples of one boot of a port were expected and which arrived.
 *
 * Memory is allocated at the start. Beyond the limits a new agent or port is refused, and the
 * caller counts that; a known one is never dropped to make room. Used by accounting.c and
 * crash_recovery.c inside the window room.
 */
#ifndef EASE_COLLECTOR_WINDOW_INVENTORY_H
#define EASE_COLLECTOR_WINDOW_INVENTORY_H

#include "collector/store/store.h"
#include "collector/window/agent_identity.h"
#include "collector/window/crash_journal.h"
#include "collector/window/device_clock.h"
#include "collector/window/cut_totals.h"
#include "collector/window/sequence_jumps.h"

/* The newest boot, and the one before it for samples that were still in transit. */
enum { INVENTORY_BOOTS = 2 };

struct agent {
	struct store_agent row; /* row.boot: the newest boot; row.last_us: newest time in it */
	/* The boot in which the agent was first heard. Of later boots the start was observed, so
	 * all of their samples are expected. */
	uint32_t first_heard_boot;
	struct device_clock clock;
	bool dirty;
	struct agent_boots {
		uint32_t before;    /* the boot before row.boot; 0: none was heard */
		uint64_t newest_us; /* when a record of the newest boot came; all times monotonic */
		uint32_t other;	    /* a boot that is not believed yet, as the agent tells it */
		uint64_t other_since_us, other_us; /* its first and newest record; 0: none */
		uint64_t followed_us; /* when a boot out of order was followed; 0: never */
		bool numbers_again; /* samples of the newest boot begin again */
	} boots;
	uint64_t heard_us; /* by the monotonic clock, when a record was accepted; 0: not yet */
	struct agent_identity identity;
	uint32_t next; /* in its bucket: index into agents + 1, 0 at the end */
};

/* One boot of a port. */
struct account {
	bool used, dirty;
	bool stored; /* the store has a row of it */
	uint32_t boot;
	struct crash_journal_slot *slot; /* its sequence tracker and newest time, in the journal */
	uint64_t stored_crash_lost;	 /* samples lost with a crash, as the store has it */
	uint64_t agent_drops, stalls, stalled_pkts;
	struct sequence_jumps jumps;
	bool is_newest;	      /* the last record was the newest by the device's clock */
	uint32_t again;	      /* numbers in a row that had come before, with newer times */
	uint64_t first_us;
	uint64_t
	    last_expected_us; /* a time in the minute to which expected numbers were added last */
};

struct port {
	struct agent *agent;
	uint32_t if_index;
	struct account accounts[INVENTORY_BOOTS]; /* newest boot first */
	struct port_totals totals;
	struct sample_gaps gaps; /* of the newest boot */
	struct cut_totals cuts;
	struct port_pools pools[EASE_OUT]; /* by direction - 1 */
	uint64_t snapshot_in; /* the last notification that had a snapshot of it, counted from 1 */
	/* numbers of the minute of wait_us for which there was no room yet */
	int64_t expected_wait, received_wait;
	uint64_t wait_us;
	/* Samples refused since the agent was heard last, which no minute expects yet; and when the
	 * first of them came. */
	uint64_t refused_samples, refused_since_us;
	bool counters_unwritten;	      /* newest_counters are not in the store yet */
	struct store_counter newest_counters; /* time 0: none arrived */
	uint32_t stored_boot;		      /* of the newest counters in the store */
	uint64_t stored_us;
	bool has_state;
	bool state_unwritten; /* the state must be written to a new, empty store */
	uint32_t state_boot;
	struct ease_state state;
};

struct inventory {
	uint32_t max_agents, max_ports;
	struct agent *agents; /* sorted by row.id; never moved, because ports point into it */
	uint32_t n_agents;
	struct port *ports; /* never removed and never moved */
	uint32_t n_ports;
	uint64_t seed; /* of the hashes, because senders choose ids and ifIndexes */
	uint32_t *agent_buckets; /* index into agents + 1, 0 empty */
	uint64_t agent_mask;
	uint32_t *port_buckets; /* open addressing: index into ports + 1, 0 empty */
	uint64_t port_mask;
	struct crash_journal journal;
};

/* Returns the octets that an inventory of these limits takes when it is full. */
uint64_t inventory_memory(uint32_t max_agents, uint32_t max_ports);

/* Allocates memory for all agents and ports of the limits. The seed goes into the hashes. Returns 0
 * or -ENOMEM. */
int inventory_init(
    struct inventory *r, uint32_t max_agents, uint32_t max_ports, uint64_t seed);
void inventory_free(struct inventory *r);

/* Notes that records of a boot count, which may be the newest one now. */
void agent_note_boot(struct agent *a, uint32_t boot);

/* Sets the agent's address to the sender's. */
void agent_note_address(struct agent *a, const struct ease_record *r);

struct agent *inventory_find_agent(const struct inventory *r, const uint8_t *agent_id);
struct agent *inventory_agent_by_number(const struct inventory *r, int64_t id);

/* Adds an agent; if row.id is 0, it gets the next number. Returns NULL at the limit. */
struct agent *inventory_add_agent(struct inventory *r, const struct store_agent *row);

/* Returns the port of that agent, or NULL if it is not known. */
struct port *inventory_find_port(struct inventory *r, const struct agent *a, uint32_t if_index);

/* Returns the port of that agent, which is added if it is not known; NULL at the limit. */
struct port *inventory_port(struct inventory *r, struct agent *a, uint32_t if_index);

/* Returns the account of a port's boot. If there is none, it is made with first_us, and *made is
 * set; the account of the oldest boot, which it replaces, is given to evicted first (NULL if the
 * store has it). Returns NULL if the boot is older than those kept. */
typedef void inventory_evicted(void *arg, const struct port *p, const struct account *a);
struct account *inventory_account(struct port *p, uint32_t boot, uint64_t first_us, bool *made,
    inventory_evicted *evicted, void *arg);

/* Counts so many received samples of the port's newest boots as lost in the collector. */
void inventory_add_lost(struct port *p, uint64_t samples);

/* Marks everything as unwritten, because the store was replaced by an empty one. */
void inventory_mark_all_dirty(struct inventory *r);

/* Fills the account's row for the store. */
void inventory_account_row(
    const struct port *p, const struct account *a, struct store_account *row);

/* Returns the callbacks by which store_load reads the inventory back. */
struct store_loader inventory_loader(struct inventory *r);

#endif
