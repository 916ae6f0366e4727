/*
 * Books and store of a test, without a network: one agent, one port, ten samples a second whose
 * every tenth is followed by a snapshot exactly in step with it; and what must be in the file once
 * samples 1..n are, however they came. Read back by plain SQL.
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
	bool recalls; /* as easecapd does, say what a life before this one lost */
	bool had_outage;
	struct store_outage outage;
	uint64_t renewals;
};

/* Small books with room for the traffic of these tests. */
extern const struct accounting_limits rig_limits;

/* A directory and a clock; and everything in it removed. */
void rig_make(struct accounting_rig *f);
void rig_remove(struct accounting_rig *f);

/* Opens the store, reads the books back, takes the first batch; writes what is new and waits for
 * it; and closes both. */
void rig_open(struct accounting_rig *f);
void rig_open_with(struct accounting_rig *f, const struct accounting_limits *limits);
void rig_flush(struct accounting_rig *f);
void rig_close(struct accounting_rig *f);

/* As easecapd before each cut: a store that has begun anew is told everything again. */
void rig_notice_renewal(struct accounting_rig *f);

/* One number from the file; statements to it, by another process so to speak, whose connection the
 * first of them returns open; its version. */
double rig_query(const struct accounting_rig *f, const char *sql);
sqlite3 *rig_run(const struct accounting_rig *f, const char *sql);
void rig_sql(const struct accounting_rig *f, const char *sql);
void rig_set_version(const struct accounting_rig *f, int version);

/* The traffic: records, and taken into the books at once. */
void rig_header(uint32_t i, uint8_t header[BOOKS_HEADER]);
struct ease_record rig_record(enum ease_part kind, uint32_t boot);
struct ease_record rig_sample(uint32_t boot, uint32_t i, const uint8_t *header);
struct ease_record rig_snapshot(uint32_t boot, uint32_t i);
void rig_send_sample(struct accounting_rig *f, uint32_t boot, uint32_t i);
void rig_send_snapshot(struct accounting_rig *f, uint32_t boot, uint32_t i);
void rig_send_range(struct accounting_rig *f, uint32_t boot, uint32_t from, uint32_t to);

/* All of samples 1..n and the snapshots 0..n is there, once. */
void rig_check_all(const struct accounting_rig *f, uint32_t n);

#endif
