/*
 * The accounting and the store of a test, without a network: one agent and one port with ten
 * samples a second, every tenth followed by a snapshot in step with it; and the check of what the
 * file must contain after samples 1..n, in whatever order they arrived. Read back by plain SQL.
 */
#ifndef EASE_TESTS_ACCOUNTING_RIG_H
#define EASE_TESTS_ACCOUNTING_RIG_H

#include "collector/store/store.h"
#include "collector/window/accounting.h"

#include <sqlite3.h>

#define NOON_US	 (1700000040ull * 1000000)
#define STEP_US	 100000ull /* ten samples a second */
#define MINUTE_US 60000000ull

enum { SAMPLES = 3000, PER_SNAPSHOT = 10, ERROR_TEXT = 256, BOOKS_HEADER = 34 };

struct accounting_rig {
	char dir[64], path[96];
	struct clock clock;
	struct store *store;
	struct accounting *accounting;
	struct store_batch *batch;
	char error[ERROR_TEXT];
	bool recalls; /* use the crash journal, as easecapd does */
	bool had_outage;
	struct store_outage outage;
	uint64_t renewals;
};

/* Small limits with room for the traffic of these tests. */
extern const struct accounting_limits rig_limits;

/* Make a directory and a clock; remove the directory with everything in it. */
void rig_make(struct accounting_rig *f);
void rig_remove(struct accounting_rig *f);

/* Open the store, load the accounts and take the first batch; flush what is new and wait until it
 * is written; close both. */
void rig_open(struct accounting_rig *f);
void rig_open_with(struct accounting_rig *f, const struct accounting_limits *limits);
void rig_flush(struct accounting_rig *f);
void rig_close(struct accounting_rig *f);

/* As easecapd does before each flush: if the store was replaced, everything is written again. */
void rig_notice_renewal(struct accounting_rig *f);

/* Read one number from the file; run SQL on it by a connection of its own, as another process would
 * (rig_run returns the connection open); set the file's version. */
double rig_query(const struct accounting_rig *f, const char *sql);
sqlite3 *rig_run(const struct accounting_rig *f, const char *sql);
void rig_sql(const struct accounting_rig *f, const char *sql);
void rig_set_version(const struct accounting_rig *f, int version);

/* The traffic: make records, and add them to the accounting. */
void rig_header(uint32_t i, uint8_t header[BOOKS_HEADER]);
struct ease_record rig_record(enum ease_part kind, uint32_t boot);
void rig_by_sflow(struct ease_record *r); /* as an sFlow agent: with an id of that form */
struct ease_record rig_sample(uint32_t boot, uint32_t i, const uint8_t *header);
struct ease_record rig_snapshot(uint32_t boot, uint32_t i);
void rig_send_sample(struct accounting_rig *f, uint32_t boot, uint32_t i);
void rig_send_snapshot(struct accounting_rig *f, uint32_t boot, uint32_t i);
void rig_send_range(struct accounting_rig *f, uint32_t boot, uint32_t from, uint32_t to);

/* Checks that samples 1..n and snapshots 0..n are in the file, once each. */
void rig_check_all(const struct accounting_rig *f, uint32_t n);

#endif
