#include "tests/collector/accounting_rig.h"
#include "tests/sql.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_MS = 30000 }; /* the store may be rolling up, and a sanitizer makes that slow */

const struct accounting_limits rig_limits = {
    .agents = 64,
    .ports = 1024,
    .windows = {.windows = 4096, .keys = 65536, .keys_per_window = WINDOW_KEYS_PER_WINDOW},
};

void
rig_open(struct accounting_rig *f)
{
	rig_open_with(f, &rig_limits);
}

void
rig_open_with(struct accounting_rig *f, const struct accounting_limits *limits)
{
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_loader loader;
	struct store_life life;

	accounting_room(limits, room);
	ck_assert_int_eq(accounting_new(&f->accounting, limits, &f->clock, 1), 0);
	loader = accounting_loader(f->accounting);
	ck_assert_msg(store_open(&f->store, f->path, NULL, f->error, sizeof(f->error)) == 0, "%s",
	    f->error);
	accounting_set_store(f->accounting, f->store);
	store_get_life(f->store, &life);
	ck_assert_msg(store_load(f->store, &loader, f->error, sizeof(f->error)) == 0, "%s",
	    f->error);
	if (f->recalls)
		ck_assert_int_eq(accounting_recover(f->accounting, &life, &f->outage, &f->had_outage), 0);
	ck_assert_int_eq(store_start(f->store, room), 0);
	f->batch = store_take(f->store);
	f->renewals = 0;
}

void
rig_notice_renewal(struct accounting_rig *f)
{
	enum store_outage_kind why;
	struct store_life life;

	if (store_renewals(f->store, &why) == f->renewals)
		return;
	f->renewals = store_renewals(f->store, &why);
	store_get_life(f->store, &life);
	accounting_rewrite_all(f->accounting, life.id);
}

void
rig_flush(struct accounting_rig *f)
{
	rig_notice_renewal(f);
	ck_assert_int_eq(accounting_flush(f->accounting, f->batch), 0);
	store_submit(f->store, f->batch);
	ck_assert_int_eq(store_drain(f->store), 0);
	f->batch = store_take(f->store);
	ck_assert_ptr_nonnull(f->batch);
}

void
rig_close(struct accounting_rig *f)
{
	ck_assert_int_eq(store_close(f->store), 0);
	accounting_free(f->accounting);
}

void
rig_make(struct accounting_rig *f)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/check_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/ease.db", f->dir);
	f->clock.manual = true;
	f->clock.manual_wall_us = f->clock.manual_mono_us = NOON_US;
}

void
rig_remove(struct accounting_rig *f)
{
	DIR *dir = opendir(f->dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(f->dir);
}

double
rig_query(const struct accounting_rig *f, const char *sql)
{
	return sql_number(f->path, sql);
}

void
rig_header(uint32_t i, uint8_t header[BOOKS_HEADER])
{
	static const uint8_t ipv4[] = {8, 0, 0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1,
	    10, 0, 0, 2};

	memset(header, 0, BOOKS_HEADER);
	header[5] = (uint8_t)(i % 7);
	header[11] = (uint8_t)(i % 5);
	memcpy(header + 12, ipv4, sizeof(ipv4));
}

struct ease_record
rig_record(enum ease_part kind, uint32_t boot)
{
	return (struct ease_record){
	    .kind = kind,
	    .agent_id = {1, 2, 3, 4, 5, 6, 7, 8},
	    .boot = boot,
	    .sender = "192.0.2.1",
	    .received_us = NOON_US,
	};
}

void
rig_by_sflow(struct ease_record *r)
{
	r->loose_numbers = true;
	memcpy(r->agent_id, (const uint8_t[]){0, 5}, 2);
}

struct ease_record
rig_sample(uint32_t boot, uint32_t i, const uint8_t *header)
{
	struct ease_record r = rig_record(EASE_PART_SAMPLE, boot);

	r.sample = (struct ease_sample){
	    .time_us = NOON_US + i * STEP_US,
	    .if_index = 3,
	    .sequence = i,
	    .direction = i % 3 ? EASE_IN : EASE_OUT,
	    .skip = 19,
	    .mean_skip = 20,
	    .pool_pkts = 20ull * i,
	    .frame_octets = 64 + i % 1000,
	    .kept_octets = BOOKS_HEADER,
	    .header = header,
	};
	return r;
}

struct ease_record
rig_snapshot(uint32_t boot, uint32_t i)
{
	struct ease_record r = rig_record(EASE_PART_SNAPSHOT, boot);

	r.snapshot = (struct ease_snapshot){
	    .if_index = 3,
	    .time_us = NOON_US + i * STEP_US + 1,
	    .in = {.octets = 5000ull * i},
	    .out = {.octets = 3001ull * i},
	    .samples = i,
	    .last_sequence = i,
	    .pool_in_pkts = 14ull * i,
	    .pool_out_pkts = 7ull * i,
	};
	return r;
}

void
rig_send_sample(struct accounting_rig *f, uint32_t boot, uint32_t i)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	rig_header(i, header);
	r = rig_sample(boot, i, header);
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

void
rig_send_snapshot(struct accounting_rig *f, uint32_t boot, uint32_t i)
{
	struct ease_record r = rig_snapshot(boot, i);

	accounting_add_records(f->accounting, f->batch, &r, 1);
}

void
rig_send_range(struct accounting_rig *f, uint32_t boot, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		rig_send_sample(f, boot, i);
		if (i % PER_SNAPSHOT == 0)
			rig_send_snapshot(f, boot, i);
	}
}

void
rig_check_all(const struct accounting_rig *f, uint32_t n)
{
	double w = 0, wb = 0, w2b2 = 0;

	for (uint32_t i = 1; i <= n; i++) {
		w += 20;
		wb += 20. * (64 + i % 1000);
		w2b2 += 400. * (64 + i % 1000) * (64 + i % 1000);
	}
	ck_assert_double_eq(rig_query(f, "SELECT count(*) FROM sample"), n);
	ck_assert_double_eq(rig_query(f, "SELECT received FROM account"), n);
	ck_assert_double_eq(rig_query(f, "SELECT expected FROM account"), n);
	ck_assert_double_eq(rig_query(f, "SELECT sum(n) FROM window"), n);
	ck_assert_double_eq(rig_query(f, "SELECT sum(w) FROM window"), w);
	ck_assert_double_eq(rig_query(f, "SELECT sum(wb) FROM window"), wb);
	ck_assert_double_eq(rig_query(f, "SELECT sum(w2b2) FROM window"), w2b2);
	ck_assert_double_eq(rig_query(f, "SELECT sum(wb) FROM window_key WHERE kind = 1"), wb);
	ck_assert_double_eq(rig_query(f, "SELECT sum(n) FROM window_key WHERE kind = 2"), n);
	ck_assert_double_eq(rig_query(f, "SELECT sum(expected) FROM window_port"), n);
	ck_assert_double_eq(rig_query(f, "SELECT sum(received) FROM window_port"), n);
	ck_assert_double_eq(
	    rig_query(f, "SELECT count(*) FROM window_port WHERE expected <> received"), 0);
	ck_assert_double_eq(rig_query(f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * n);
	ck_assert_double_eq(rig_query(f, "SELECT sum(pool_octets) FROM window WHERE direction = 1"),
	    5000. * n);
	ck_assert_double_eq(rig_query(f, "SELECT sum(pool_octets) FROM window WHERE direction = 2"),
	    3001. * n);
	/* each sample is in the minute that its own row says */
	ck_assert_double_eq(
	    rig_query(f, "SELECT count(*) FROM (SELECT time_us / 60000000 * 60000000 AS m,"
		   " direction AS d,"
		   " count(*) AS n FROM sample GROUP BY 1, 2) s LEFT JOIN window w ON w.start_us ="
		   " s.m AND w.direction = s.d WHERE w.n IS NOT s.n"),
	    0);
}

sqlite3 *
rig_run(const struct accounting_rig *f, const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(f->path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, BUSY_MS);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

void
rig_sql(const struct accounting_rig *f, const char *sql)
{
	sqlite3_close(rig_run(f, sql));
}

void
rig_set_version(const struct accounting_rig *f, int version)
{
	char pragma[64];

	snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%d", version);
	rig_sql(f, pragma);
}
