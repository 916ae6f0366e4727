/*
 * Reads the store for shipping, by a read-only connection of its own, so that neither the writer nor
 * the receivers ever wait for it (WAL). What it reads becomes rows of a batch.
 *
 * Sums are read one unit (minute and shard of agents) at a time: within one transaction, unsettled
 * and settled parts together are all that the store has of it. Everything else is rows of tables,
 * whose columns have the same names in the cluster.
 */
#ifndef EASE_COLLECTOR_SHIP_STORE_READER_H
#define EASE_COLLECTOR_SHIP_STORE_READER_H

#include "collector/ship/ship_batch.h"
#include "collector/ship/units.h"
#include "collector/store/merge.h"

#include <sqlite3.h>
#include <sys/types.h>

/* An agent by the store's number. */
struct store_reader_agent {
	uint8_t id[8];
	bool known;
	int64_t last_us, last_received_us; /* of its row */
	int64_t identity, sent_identity;   /* a sum that changes with its clock, source and refusals */
	/* of its row when its counters, and its whole state, were sent last */
	int64_t sent_us, sent_received_us, told_received_us;
	struct { /* the same, in the present batch */
		bool is_set, tells_all;
		int64_t us, received_us, identity;
	} staged;
};

struct store_reader {
	const char *path; /* borrowed */
	sqlite3 *db;
	dev_t device;
	ino_t inode;
	bool is_damaged; /* the last failure was for this */
	struct parts *parts;
	int64_t store_id;
	uint64_t from_us; /* parts of minutes before are not followed */
	struct store_reader_agent *agents; /* by number */
	size_t n_agents;
	struct { /* times of the samples and counters of one minute, by agent */
		uint64_t start_us;
		uint64_t *low_us, *high_us;
		size_t n;
	} minute;
	char error[CLUSTER_ERROR_TEXT];
};

void store_reader_init(struct store_reader *s, const char *path);
void store_reader_close(struct store_reader *s);

/* Begins a round: the times of a minute are read again. */
void store_reader_refresh(struct store_reader *s);

/* Opens the store, or opens it again if it is another file now. 1: it is another store; 0; or -EIO
 * with .error. */
int store_reader_open(struct store_reader *s);

/* Reads one integer. 0, or -EIO with .error, as the functions below unless they say more. */
int store_reader_number(struct store_reader *s, const char *sql, int64_t *value);

/* Reads the table agent. */
int store_reader_load_agents(struct store_reader *s);

/* Adds the parts after *id to units, as many as there is room for, and sets *id to the last one. */
int store_reader_scan_parts(struct store_reader *s, struct units *units, int64_t *id, uint64_t now_us);

/* Computes the fingerprint of a unit without sending it: equal sums have equal fingerprints. */
int store_reader_fingerprint(struct store_reader *s, const struct unit *unit, uint64_t *fingerprint);

/* Sends the rows of the unit: keys, ports, folded, cover. *entries: number of sums; 0: the store no
 * longer has any.
 * 0, or an error of ship_batch_end_row(), too. */
int store_reader_send_unit(struct store_reader *s, struct ship_batch *batch, const struct unit *unit,
    uint64_t *fingerprint, size_t *entries);

/* Sends the samples of a minute for the shards of agents that are sent in this batch. */
int store_reader_send_samples(struct store_reader *s, struct ship_batch *batch,
    const struct units *units, uint64_t start_us);

/* The parameters of a statement. */
struct store_reader_range {
	int64_t agent;	  /* ?1 */
	int64_t from_us;  /* ?2: by the device's clock */
	int64_t received_us; /* ?3: by the collector's clock, later than that */
	int64_t to_us;	  /* ?4 */
};

/* Sends the rows of a table within the range, by the table's statement (store_reader.c). */
int store_reader_send_rows(struct store_reader *s, struct ship_batch *batch,
    enum cluster_table_id table, const struct store_reader_range *range);

/* Sends rows of event or outage with ids above *id, `most` at most, and sets *id to the last one.
 * *n: the number of rows. */
int store_reader_send_by_id(struct store_reader *s, struct ship_batch *batch,
    enum cluster_table_id table, int64_t *id, int most, int *n);

#endif
