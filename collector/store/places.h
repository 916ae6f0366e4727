/*
 * Places: where addresses were seen as sources, since when, when last and how often (table place), so that
 * `easetop addresses` reads a row for an address and port, not each sample. An address is seen at a port that
 * receives a sample from it, or of which the switch tells that it is new there.
 *
 * Most samples come from addresses that were seen just now: sightings are added up in a table in memory and
 * written with each batch, as many rows as PLACES_A_BATCH. What does not fit waits for the next batch; of
 * addresses that made-up sources crowd out nothing is noted but a count. A crash loses what waits: some
 * seconds of LAST SEEN and SEEN.
 *
 * A port keeps its PLACES_A_PORT places that were seen last, so that a flood takes the room of its own port only;
 * retention.c deletes by age. On the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_PLACES_H
#define EASE_COLLECTOR_STORE_PLACES_H

#include "collector/store/batch.h"

#include <sqlite3.h>

enum {
	PLACES_A_BATCH = 4096, /* rows: a few percent of a core where batches come each second */
	PLACES_A_PORT = 4096,  /* stations behind a large uplink, too */
};

struct places;

/* The database is borrowed. Returns 0, -ENOMEM, or -EIO (the database has the reason). */
int places_open(struct places **places, sqlite3 *db);
/* Drops what waits; NULL is nothing. */
void places_close(struct places *places);

/* Notes the addresses of a batch and writes what waits, within the caller's transaction. Returns 0 or -EIO. */
int places_write(struct places *places, const struct store_batch *batch);

/* Writes all that waits, in a transaction of its own. Returns 0 or -EIO. */
int places_end(struct places *places);

/* To be called when the caller's transaction was rolled back: the batch will come again. */
void places_rolled_back(struct places *places);

/* Since the opening. */
struct places_counts {
	uint64_t crowded_out;  /* sightings that found no room */
	uint64_t beyond_limit; /* rows deleted because a port had more than its number */
	int64_t beyond_agent;  /* of the port that had it last */
};
struct places_counts places_counts(const struct places *places);

#endif
