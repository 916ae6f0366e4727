/*
 * What a crash of the collector must not take along: of each port's boot, which samples came. It
 * stands in shared memory, which outlives the process though not the machine, and costs the
 * receiving path nothing, because the trackers simply live there. A clean stop removes it. Found at
 * a start, it tells what came and never got into the store (recall.h).
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
struct witness_slot {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot, if_index;
	uint64_t last_us; /* newest time by the device's clock */
	struct tracker tracker;
	struct tracker_gone gone;
};

struct witness_header {
	uint64_t layout;   /* changes with what stands in the file */
	uint64_t store_id;
	uint64_t n_slots;
	uint64_t last_received_us; /* newest record, by the collector's clock */
	char store[4064];	   /* path, by which one is known that nobody will ask for again */
};

struct witness {
	struct witness_header *header;
	struct witness_slot *slots;
	uint32_t max_slots;
	uint32_t backed; /* slots with memory */
	int fd;		 /* -1: private */
	char name[64], new_name[72];
};

/* What a collector that died had seen. Nothing: n_slots 0. */
struct witness_past {
	bool crashed;
	uint64_t last_received_us;
	struct witness_slot *slots; /* allocated */
	uint64_t n_slots;
};

/* Octets that so many slots take at most. */
uint64_t witness_memory(uint32_t max_slots);

/* Private memory for so many slots. 0 or -ENOMEM. */
int witness_init(struct witness *w, uint32_t max_slots);

/* Unmaps; the file stays for who comes after. */
void witness_free(struct witness *w);

/* Slot i < max_slots, zeroed at first; stays where it is. */
struct witness_slot *witness_slot(struct witness *w, uint32_t i);

/* Moves the slots, which keep their addresses, into a shared file for that store, not yet in its
 * place, and reads what was there before; the caller frees past->slots. 0; -errno: they stay
 * private, and past is empty. */
int witness_share(struct witness *w, int64_t store_id, const char *store_path,
    struct witness_past *past);

/* Puts the file in its place, now that what was there is in the slots. 0 or -errno. */
int witness_publish(struct witness *w);

/* The store has begun anew with another id. */
void witness_rename(struct witness *w, int64_t store_id);

/* A clean stop: everything is in the store. */
void witness_remove(struct witness *w);

#endif
