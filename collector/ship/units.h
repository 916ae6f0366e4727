/*
 * Minutes on their way: which (minute, shard of agents) of the store has parts that the cluster has
 * not, and what was sent of which, so that a minute that was only settled anew is not sent again.
 * A unit is sent whole when nothing has come for it for a while.
 */
#ifndef EASE_COLLECTOR_SHIP_UNITS_H
#define EASE_COLLECTOR_SHIP_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Units that wait at a time, and memory of what was sent: both some 2 MiB. Beyond, the
	 * table part is read on when others have gone. */
	UNITS_MAX = 1 << 15,
	UNITS_REMEMBERED = 1 << 16,
};

struct unit {
	uint64_t start_us;
	uint32_t shard;
	bool sent; /* in the batch under way */
	int64_t first_id; /* of its parts that the cluster has not */
	uint64_t seen_us; /* when the last one was seen, monotonic */
	uint64_t fingerprint; /* of what was sent, in the batch under way */
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

/* A part of that id was seen. False: there is no room. */
bool units_see(struct units *units, uint64_t start_us, uint32_t shard, int64_t id,
    uint64_t now_us);

/* By start, then shard. Other calls put them into another order. */
void units_sort(struct units *units);

/* What was last sent of a unit; 0: nothing, or it is forgotten. */
uint64_t units_fingerprint(const struct units *units, uint64_t start_us, uint32_t shard);

/* The batch has arrived: units marked as sent go, and are remembered. Or it has not. */
void units_commit(struct units *units);
void units_roll_back(struct units *units);

/* The lowest id of a part that still waits, or none_id. */
int64_t units_least_id(const struct units *units, int64_t none_id);

#endif
