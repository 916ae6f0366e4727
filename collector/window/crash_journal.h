/*
 * What a crash of the collector must not take along: of each port's boot, which samples came. It
 * stands in shared memory, which outlives the process though not the machine, and costs the
 * receiving path nothing, because the trackers simply live there. A clean stop removes it. Found at
 * a start, it tells what came and never got into the store (crash_recovery.h).
 *
 * It belongs to one store by the store's id, and one process has it at a time. Without shared
 * memory (none there, full, somebody else's) all works from private memory; then a crash's losses
 * count as lost on the way. Used by one thread.
 */
#ifndef EASE_COLLECTOR_WINDOW_CRASH_JOURNAL_H
#define EASE_COLLECTOR_WINDOW_CRASH_JOURNAL_H

#include "collector/window/sequence_tracker.h"
#include "common/sample.h"

/* One boot of a port. */
struct crash_journal_slot {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot, if_index;
	uint64_t last_us; /* newest time by the device's clock */
	struct sequence_tracker tracker;
	struct crash_lost crash_lost;
};

struct crash_journal_header {
	uint64_t layout;   /* changes with what stands in the file */
	uint64_t store_id;
	uint64_t n_slots;
	uint64_t last_received_us; /* newest record, by the collector's clock */
	char store[4064];	   /* path, by which one is known that nobody will ask for again */
};

struct crash_journal {
	struct crash_journal_header *header;
	struct crash_journal_slot *slots;
	uint32_t max_slots;
	uint32_t backed; /* slots with memory */
	int fd;		 /* -1: private */
	char name[64], new_name[72];
};

/* What a collector that died had seen. Nothing: n_slots 0. */
struct crash_journal_past {
	bool crashed;
	uint64_t last_received_us;
	struct crash_journal_slot *slots; /* allocated */
	uint64_t n_slots;
};

/* Octets that so many slots take at most. */
uint64_t crash_journal_memory(uint32_t max_slots);

/* Private memory for so many slots. 0 or -ENOMEM. */
int crash_journal_init(struct crash_journal *w, uint32_t max_slots);

/* Unmaps; the file stays for who comes after. */
void crash_journal_free(struct crash_journal *w);

/* Slot i < max_slots, zeroed at first; stays where it is. */
struct crash_journal_slot *crash_journal_slot(struct crash_journal *w, uint32_t i);

/* Moves the slots, which keep their addresses, into a shared file for that store, not yet in its
 * place, and reads what was there before; the caller frees past->slots. 0; -errno: they stay
 * private, and past is empty. */
int crash_journal_share(struct crash_journal *w, int64_t store_id, const char *store_path,
    struct crash_journal_past *past);

/* Puts the file in its place, now that what was there is in the slots. 0 or -errno. */
int crash_journal_publish(struct crash_journal *w);

/* The store has begun anew with another id. */
void crash_journal_rename(struct crash_journal *w, int64_t store_id);

/* A clean stop: everything is in the store. */
void crash_journal_remove(struct crash_journal *w);

#endif
