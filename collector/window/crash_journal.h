/*
 * The crash journal: which samples of each port arrived, kept where a crash of the collector cannot
 * destroy it. It is a file in memory, which survives the process but not a restart of the machine: in
 * $RUNTIME_DIRECTORY, which systemd makes for our user alone, or else in /dev/shm. It costs the receiving path nothing, because the sequence trackers
 * themselves live in it. A clean stop removes the file. A collector that finds one at its start
 * learns from it which samples arrived and were never stored (crash_recovery.h).
 *
 * The journal belongs to one store, by the store's id, and one process uses it at a time. Its name
 * begins with that id and ends at random: in /dev/shm everybody could take a name that is known. If
 * there is no shared memory, or it is full, the slots are in private memory and everything else works as usual; only the samples lost with a crash then count as lost
 * in the network. Used by one thread.
 */
#ifndef EASE_COLLECTOR_WINDOW_CRASH_JOURNAL_H
#define EASE_COLLECTOR_WINDOW_CRASH_JOURNAL_H

#include "collector/window/sequence_tracker.h"
#include "common/sample.h"

/* What the journal has of one boot of a port. */
struct crash_journal_slot {
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	uint32_t boot;
	uint64_t if_index;
	uint64_t last_us; /* newest time by the device's clock */
	struct sequence_tracker tracker;
	struct crash_lost crash_lost;
};

struct crash_journal_header {
	uint64_t layout; /* differs if another version of the program wrote the file */
	uint64_t store_id;
	uint64_t n_slots;
	uint64_t last_received_us; /* newest record, by the collector's clock */
	char store[4064];	   /* path; once it is gone, nobody needs the file any more */
};

enum { CRASH_JOURNAL_NAME = 512 };

struct crash_journal {
	struct crash_journal_header *header;
	struct crash_journal_slot *slots;
	uint32_t max_slots;
	uint32_t backed; /* slots for which the file has memory */
	int fd;		 /* -1: private memory */
	char name[CRASH_JOURNAL_NAME], new_name[CRASH_JOURNAL_NAME]; /* paths */
};

/* The journal of a collector that crashed. n_slots 0: there is none. */
struct crash_journal_past {
	bool crashed;
	uint64_t last_received_us;
	struct crash_journal_slot *slots; /* allocated */
	uint64_t n_slots;
};

/* Returns the octets that so many slots take at most. */
uint64_t crash_journal_memory(uint32_t max_slots);

/* Reserves private memory for so many slots. Returns 0 or -ENOMEM. */
int crash_journal_init(struct crash_journal *j, uint32_t max_slots);

/* Unmaps the journal; the file stays for the next collector. */
void crash_journal_free(struct crash_journal *j);

/* Returns slot i < max_slots, which is zeroed at first and never moves. */
struct crash_journal_slot *crash_journal_slot(struct crash_journal *j, uint32_t i);

/* Reads the journal that an earlier collector of that store left, and moves the slots, which keep
 * their addresses, into a new shared file under a temporary name. The caller frees past->slots.
 * Returns 0, or -errno: then the slots stay in private memory, and past is empty. Journals of stores
 * that are nowhere to be seen go, ten minutes after their newest record. */
int crash_journal_share(struct crash_journal *j, int64_t store_id, const char *store_path,
    uint64_t now_us, struct crash_journal_past *past);

/* Gives the new file its final name, once the slots include what the old journal had. Returns 0 or
 * -errno. */
int crash_journal_publish(struct crash_journal *j);

/* Renames the journal for the new store that replaced the old one. */
void crash_journal_rename(struct crash_journal *j, int64_t store_id);

/* Removes the file at a clean stop, when everything is in the store. */
void crash_journal_remove(struct crash_journal *j);

#endif
