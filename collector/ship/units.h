/*
 * Units of shipping: a unit is a minute of a shard of agents with parts that the cluster does not
 * have yet. It is sent whole when no data has arrived for it for a while. A fingerprint of what was
 * sent is kept, so that a minute that was only settled again is not sent again.
 */
#ifndef EASE_COLLECTOR_SHIP_UNITS_H
#define EASE_COLLECTOR_SHIP_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Waiting units, and fingerprints of sent ones: some 2 MiB each. With more units than this
	 * the table part is read further when some have been sent. */
	UNITS_MAX = 1 << 15,
	UNITS_REMEMBERED = 1 << 16,
};

struct unit {
	uint64_t start_us;
	uint32_t shard;
	bool sent; /* in the present batch */
	int64_t first_id; /* of its parts that the cluster does not have */
	uint64_t seen_us; /* when the last one was seen, monotonic */
	uint64_t fingerprint; /* of what was sent in the present batch */
};

struct units {
	struct unit *items;
	size_t n;
	uint32_t *slots; /* hash table of indices + 1 */
	struct remembered {
		uint64_t start_us, fingerprint;
		uint32_t shard;
	} *remembered;
};

/* 0 or -ENOMEM; units_free in both cases. */
int units_init(struct units *units);
void units_free(struct units *units);
void units_forget(struct units *units);

/* Adds a part with that id. False: there is no room. */
bool units_see(struct units *units, uint64_t start_us, uint32_t shard, int64_t id, uint64_t now_us);

/* Sorts by start, then shard. Other calls change the order. */
void units_sort(struct units *units);

/* The fingerprint of what was last sent of a unit; 0: nothing, or it is no longer known. */
uint64_t units_fingerprint(const struct units *units, uint64_t start_us, uint32_t shard);

/* After the batch: commit removes the units marked as sent and keeps their fingerprints; roll_back
 * keeps the units. */
void units_commit(struct units *units);
void units_roll_back(struct units *units);

/* The lowest id of a waiting part, or none_id. */
int64_t units_least_id(const struct units *units, int64_t none_id);

#endif
