/*
 * The store as the shipper reads it: by a connection of its own that can only read, so that neither
 * the writer nor who receives ever waits for it (WAL). What it reads becomes rows of a batch's
 * batch.
 *
 * Sums are read a unit (minute and shard of agents) at a time: fresh and settled parts added up,
 * within one transaction, are all that the store has of it. Everything else is rows of tables,
 * whose columns have the cluster's names.
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
	/* of the row with which its counters, and all that is known of it, were sent last */
	int64_t sent_us, sent_received_us, told_received_us;
	struct { /* the same, in the batch under way */
		bool is_set, tells_all;
		int64_t us, received_us;
	} staged;
};

struct store_reader {
	const char *path; /* borrowed */
	sqlite3 *db;
	dev_t device;
	ino_t inode;
	struct parts *parts;
	int64_t store_id;
	struct store_reader_agent *agents; /* by number */
	size_t n_agents;
	struct { /* times of samples and counters of one minute, by agent */
		uint64_t start_us;
		uint64_t *low_us, *high_us;
		size_t n;
	} minute;
	char error[CLUSTER_ERROR_TEXT];
};

void store_reader_init(struct store_reader *s, const char *path);
void store_reader_close(struct store_reader *s);

/* What is known of a minute's times is read anew: a round begins. */
void store_reader_refresh(struct store_reader *s);

/* Opens the store, or opens it anew if another file is there now. 1: it is another store, 0, or
 * -EIO with .error. */
int store_reader_open(struct store_reader *s);

/* One whole number. 0, or -EIO with .error, as all below that do not say more. */
int store_reader_number(struct store_reader *s, const char *sql, int64_t *value);

/* Reads the rows of agent. */
int store_reader_load_agents(struct store_reader *s);

/* Parts behind an id, at most as many as there is room for. *id: up to where was read. */
int store_reader_scan_parts(struct store_reader *s, struct units *units, int64_t *id, uint64_t now_us);

/* What the unit's sums are like, without sending anything: equal ones have equal fingerprints. */
int store_reader_fingerprint(struct store_reader *s, const struct unit *unit, uint64_t *fingerprint);

/* Rows of the unit: keys, ports, folded, cover. *entries: of sums; 0: the store has none any more.
 * 0, or an error of ship_batch_end_row(), too. */
int store_reader_send_unit(struct store_reader *s, struct ship_batch *batch, const struct unit *unit,
    uint64_t *fingerprint, size_t *entries);

/* Samples of a minute whose agents' shard is sent in this batch. */
int store_reader_send_samples(struct store_reader *s, struct ship_batch *batch, const struct units *units,
    uint64_t start_us);

/* What a statement's rows are bound to. */
struct store_reader_range {
	int64_t agent;	  /* ?1 */
	int64_t from_us;  /* ?2: by the device's clock */
	int64_t received_us; /* ?3: by the collector's clock, later than that */
	int64_t to_us;	  /* ?4 */
};

/* Rows of a table within the range, by the table's statement (store_reader.c). */
int store_reader_send_rows(struct store_reader *s, struct ship_batch *batch, enum cluster_table_id table,
    const struct store_reader_range *range);

/* Rows of event or outage with ids over *id, which becomes the last one's; at most `most`.
 * *n: how many. */
int store_reader_send_by_id(struct store_reader *s, struct ship_batch *batch, enum cluster_table_id table,
    int64_t *id, int most, int *n);

#endif
