/*
 * The inventory of agents and ports that the collector knows. For each port it keeps the accounts
 * of the agent's two newest boots, the counters from which true totals go on, and the last state.
 * An account says which samples of one boot of a port were expected and which arrived.
 *
 * Memory is allocated at the start. Who stays when it is full says lru_table.h; an owner is the source
 * that an agent is known by. Whatever leaves is in the store by then: inventory_choose marks it, and
 * inventory_sweep removes it at the next flush, if nothing of it is unwritten. What comes back is read from
 * the store. A filter tells what may be there, so that newcomers cost no read. Used by the accounting and
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
#include "common/lru_table.h"

/* The newest boot, and the one before it for samples that were still in transit. */
enum { INVENTORY_BOOTS = 2 };

/* By what an agent is found. */
enum inventory_key { INVENTORY_ID, INVENTORY_NUMBER, INVENTORY_ADDRESS, INVENTORY_N_KEYS };

/* What an sFlow agent stated that cannot be, and is not written yet. */
struct oddities {
	uint64_t newest_us; /* 0: nothing */
	uint16_t n[EASE_N_ODDITIES]; /* as many as fit: between two flushes */
};

static inline void
oddities_note(struct oddities *o, const struct ease_odd *odd)
{
	o->newest_us = odd->time_us;
	o->n[odd->kind] = (uint16_t)(o->n[odd->kind] + odd->n < UINT16_MAX ? o->n[odd->kind] + odd->n : UINT16_MAX);
}

#define INVENTORY_RESUMES UINT64_MAX

struct agent {
	struct store_agent row; /* row.boot: the newest boot; row.last_us: newest time in it */
	/* The boot in which the agent was first heard. Of later boots the start was observed, so
	 * all of their samples are expected. */
	uint32_t first_heard_boot;
	struct device_clock clock;
	uint64_t clock_since_us; /* when the clock's offset changed, by the collector's clock */
	bool clock_unwritten;
	bool dirty;
	struct agent_boots {
		uint32_t before;    /* the boot before row.boot; 0: none was heard */
		uint64_t newest_us; /* when a record of the newest boot came; all times monotonic */
		uint32_t other;	    /* a boot that is not believed yet, as the agent tells it */
		uint64_t other_since_us, other_us; /* its first and newest record; 0: none */
		uint64_t followed_us; /* when a boot out of order was followed; 0: never */
		uint64_t resumed_us; /* when an agent of the store was heard again; INVENTORY_RESUMES: not yet; 0: is new */
		bool numbers_again; /* samples of the newest boot begin again */
	} boots;
	uint64_t heard_us; /* by the monotonic clock, when a record was accepted; 0: not yet */
	struct agent_identity identity;
	struct {
		uint64_t start_us; /* of the newest minute with events of discarded packets, */
		uint32_t told;	   /* and how many of them have rows (accounting_discards.c) */
	} discards;
	struct oddities odd; /* of no port */
	struct lru_link link;
	uint32_t n_ports;
	uint32_t next[INVENTORY_N_KEYS]; /* in its buckets: index into agents + 1, 0 at the end */
};

/* One boot of a port. */
struct account {
	bool used, dirty;
	bool stored; /* the store has a row of it */
	uint32_t boot;
	struct crash_journal_slot *slot; /* its sequence tracker and newest time, in the journal */
	uint64_t stored_crash_lost;	 /* samples lost with a crash, as the store has it */
	uint64_t agent_drops, stalls, stalled_pkts;
	uint64_t dropped_apart; /* samples that the agent says it dropped, beside those whose numbers are missing */
	struct sequence_jumps jumps;
	uint32_t again;	      /* numbers in a row that had come before, with newer times */
	bool is_newest;	      /* the last record was the newest by the device's clock, */
	uint64_t newest_said_us; /* which this is the latest time of; 0: not known */
	uint64_t last_expected_if; /* the port to which expected numbers were added last, */
	uint64_t first_us;
	uint64_t
	    last_expected_us; /* and a time in the minute */
};

struct port {
	struct agent *agent;
	uint64_t if_index;
	uint32_t next; /* in its bucket: index into ports + 1, 0 at the end */
	struct lru_link link;
	uint32_t stored_boot; /* of the newest counters in the store, and when they were read */
	uint64_t stored_us;
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
	bool counters_held;		      /* nor are they in totals, as they wait for samples */
	struct store_counter newest_counters; /* time 0: none arrived */
	/* Of discarded packets what is in no batch yet: events that are only counted, packets that no event came
	 * of, and events lost on the way; and when the newest came. */
	struct {
		uint64_t time_us, counted, not_sent;
		int64_t lost;
	} discards;
	struct oddities odd;
	/* sFlow: what samples since the newest counters say was received, by which these hold them (accounting_watch.c) */
	struct {
		double octets;
		float squares;
		float part; /* of what samples say, as much was counted; 0: not known yet, and not shown before since_s */
		uint32_t since_s;
	} watched;
	bool has_state;
	bool is_linked;	       /* it leads to another switch, as the collector has asked */
	bool is_elsewhere;     /* lists have its frames at another port, as its sender says */
	bool has_polled_names; /* the collector has asked for them: those that are sent are not used */
	bool state_unwritten; /* the state must be written to a new, empty store */
	uint32_t state_boot;
	struct ease_state state;
};

enum { INVENTORY_FILTER_WORDS = 8192 }; /* 2^19 bits: of 65,000 ports, one in 20 is taken for another */

struct inventory {
	struct agent *agents; /* never moved, because ports point into it; row.id 0: a free place */
	struct port *ports;   /* never moved; agent NULL: a free place */
	struct lru_table agent_places, port_places; /* .end: the end of the places that were ever used */
	int64_t last_number; /* of an agent, also of those that are not here */
	uint64_t seed; /* of the hashes, because senders choose ids and ifIndexes */
	uint32_t *agent_buckets[INVENTORY_N_KEYS]; /* index into agents + 1, 0 empty */
	uint64_t agent_mask;
	uint32_t *port_buckets; /* index into ports + 1, 0 empty */
	struct port *port_found; /* last: a sample and its counters come together; NULL: none yet */
	uint64_t port_mask;
	uint64_t stored[INVENTORY_FILTER_WORDS]; /* agents and ports that may be in the store and not here */
	struct store *store; /* from which they are read; NULL: none is there */
	int64_t loading_us; /* monotonic */
	uint64_t recalled; /* agents and ports that were read, so far */
	uint64_t left_agents, left_ports; /* that left, so far */
	struct crash_journal journal;
};

/* Returns the octets that an inventory of these limits takes when it is full. */
uint64_t inventory_memory(uint32_t max_agents, uint32_t max_ports);

/* Allocates memory for all agents and ports of the limits. The seed goes into the hashes. Returns 0
 * or -ENOMEM. */
int inventory_init(struct inventory *r, uint32_t max_agents, uint32_t max_ports, uint64_t seed);
void inventory_free(struct inventory *r);

/* Notes that records of a boot count, which may be the newest one now. */
void agent_note_boot(struct agent *a, uint32_t boot);

/* The owner of what is known by this source. */
uint64_t inventory_owner(const struct inventory *r, const char *source);

struct agent *inventory_find_agent(const struct inventory *r, const uint8_t *agent_id);
struct agent *inventory_agent_by_number(const struct inventory *r, int64_t id);

/* Returns the first agent at an address, and the next one; NULL at the end. */
struct agent *inventory_first_at(const struct inventory *r, const char *address);
struct agent *inventory_next_at(const struct inventory *r, const struct agent *a);

/* Sets the agent's address. */
void inventory_set_address(struct inventory *r, struct agent *a, const char *address);

/* Returns the agent that the store has and that is not here, once it was read; 0 with *a NULL if there is
 * none. -EDQUOT: there is no place for it; -EIO: the store cannot be read now. */
int inventory_recall_agent(struct inventory *r, const uint8_t *agent_id, uint64_t owner, uint64_t mono_us,
    struct agent **a);

/* Adds an agent that is not in the store; if row.id is 0, it gets the next number. NULL if the owner may
 * not have another place. */
struct agent *inventory_add_agent(
    struct inventory *r, const struct store_agent *row, uint64_t owner, uint64_t mono_us);

/* Returns the port of that agent, or NULL if it is not known. */
struct port *inventory_find_port(struct inventory *r, const struct agent *a, uint64_t if_index);

/* The same; a port that is not known is read from the store, or added. Returns 0, -EDQUOT if there is no
 * place for it, or -EIO if the store cannot be read now. */
int inventory_port(struct inventory *r, struct agent *a, uint64_t if_index, uint64_t mono_us, struct port **p);

/* What has been silent for so long is not there any more: counters come each 20 s, of sFlow each 5 minutes at
 * most. It may leave the memory, and the store may have forgotten it (store/source_limits.h). *assumed* */
#define INVENTORY_SILENT_US 900000000ll

/* Marks what the store has of an agent itself as unwritten. */
void inventory_write_again(struct agent *a);

/* Note that a record came. False if the agent or port leaves, and may not be used any more. */
static inline bool
inventory_heard_agent(struct inventory *r, struct agent *a, uint64_t mono_us)
{
	if ((int64_t)mono_us - a->link.heard_us > INVENTORY_SILENT_US)
		inventory_write_again(a);
	return lru_table_heard(&r->agent_places, (uint32_t)(a - r->agents), (int64_t)mono_us);
}
static inline bool
inventory_heard_port(struct inventory *r, struct port *p, uint64_t mono_us)
{
	if ((int64_t)mono_us - p->link.heard_us > INVENTORY_SILENT_US)
		p->state_unwritten = p->has_state;
	return lru_table_heard(&r->port_places, (uint32_t)(p - r->ports), (int64_t)mono_us);
}

/* Marks what is to leave: what was silent for forget_us (0: for ever), and what makes room. */
void inventory_choose(struct inventory *r, uint64_t mono_us, uint64_t forget_us);

/* Removes what was marked and has nothing unwritten. All that was flushed before must be in the store. */
void inventory_sweep(struct inventory *r);

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
void inventory_account_row(const struct port *p, const struct account *a, struct store_account *row);

/* Returns the callbacks by which store_load reads the inventory back: as many of those heard last as leave
 * room for newcomers. */
struct store_loader inventory_loader(struct inventory *r, uint64_t mono_us);

#endif
