/*
 * What a ClickHouse server is to the shipper, small enough to fail in every way: it listens on a
 * port of loopback, takes the shipper's statements over HTTP, keeps rows of RowBinary by their
 * table's key with the highest revision, and answers questions about the cursor. One request, the
 * n-th, can be given a fate.
 */
#ifndef EASE_TESTS_CLUSTER_MODEL_H
#define EASE_TESTS_CLUSTER_MODEL_H

#include "collector/cluster/rowbinary.h"

#include <stdint.h>

enum fate {
	FATE_NONE,
	FATE_CLOSE,	 /* the connection, before the request is read */
	FATE_LOSE,	 /* the request is taken, and no answer comes */
	FATE_HALF,	 /* … half an answer comes */
	FATE_LATE,	 /* … it comes when nobody waits any more */
	FATE_ERROR,	 /* ClickHouse's: status 500 and a code */
	FATE_NO_TABLE,	 /* the same, its code says that tables are missing */
	FATE_OVERLOADED, /* status 503 */
	FATE_GARBAGE,	 /* status 200 and nonsense in its body */
	N_FATES,
};

struct cluster_model;

/* Its thread calls `begun` first of all, unless that is NULL. */
struct cluster_model *cluster_model_start(uint32_t late_ms, void (*begun)(void));
void cluster_model_stop(struct cluster_model *m);
uint16_t cluster_model_port(const struct cluster_model *m);

/* From now on the n-th request, counted from 0, has that fate. */
void cluster_model_fail(struct cluster_model *m, unsigned n, enum fate fate);

/* Asked before the model itself answers, on its thread: true if it put the answer into out. */
void cluster_model_answer(struct cluster_model *m,
    bool (*give)(void *arg, const char *sql, struct row_buffer *out), void *arg);

/* Requests since then. */
unsigned cluster_model_requests(struct cluster_model *m);

/* Rows of a table, each key once, and the sum of their column n (1 where there is none). */
void cluster_model_count(struct cluster_model *m, enum cluster_table_id table, size_t *rows,
    uint64_t *n);

/* Of all that the rows of a table say, but for their revisions: the same in whatever order they came. */
uint64_t cluster_model_digest(struct cluster_model *m, enum cluster_table_id table);

/* Rows that came, each time. */
size_t cluster_model_taken(struct cluster_model *m);

/* missed_minutes of the newest row of cursor. */
int64_t cluster_model_missed(struct cluster_model *m);

/* All that it has is gone, as if a disk had been lost. */
void cluster_model_wipe(struct cluster_model *m);

/* True if a request had the password "hush" in its header. */
bool cluster_model_saw_key(struct cluster_model *m);

#endif
