#include "tests/collector/accounting_rig.h"
#include "tests/sql.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_MS = 30000 }; /* the store may be rolling up, and a sanitizer makes that slow */

const struct ledger_limits books_limits = {
    .agents = 64,
    .ports = 1024,
    .windows = {.windows = 4096, .keys = 65536, .keys_per_window = WINDOW_KEYS_PER_WINDOW},
};

void
books_open(struct books *f)
{
	books_open_with(f, &books_limits);
}

void
books_open_with(struct books *f, const struct ledger_limits *limits)
{
	struct store_room room[STORE_N_TABLES] = {0};
	struct store_loader loader;
	struct store_life life;

	ledger_room(limits, room);
	ck_assert_int_eq(ledger_new(&f->ledger, limits, &f->clock, 1), 0);
	loader = ledger_loader(f->ledger);
	ck_assert_msg(store_open(&f->store, f->path, NULL, f->error, sizeof(f->error)) == 0, "%s",
	    f->error);
	store_get_life(f->store, &life);
	ck_assert_msg(store_load(f->store, &loader, f->error, sizeof(f->error)) == 0, "%s",
	    f->error);
	if (f->recalls)
		f->had_outage = ledger_recall(f->ledger, &life, &f->outage);
	ck_assert_int_eq(store_start(f->store, room), 0);
	f->batch = store_take(f->store);
	f->renewals = 0;
}

void
books_notice_renewal(struct books *f)
{
	enum store_outage_kind why;
	struct store_life life;

	if (store_renewals(f->store, &why) == f->renewals)
		return;
	f->renewals = store_renewals(f->store, &why);
	store_get_life(f->store, &life);
	ledger_tell_again(f->ledger, life.id);
}

void
books_cut(struct books *f)
{
	books_notice_renewal(f);
	ck_assert_int_eq(ledger_cut(f->ledger, f->batch), 0);
	store_submit(f->store, f->batch);
	ck_assert_int_eq(store_drain(f->store), 0);
	f->batch = store_take(f->store);
	ck_assert_ptr_nonnull(f->batch);
}

void
books_close(struct books *f)
{
	ck_assert_int_eq(store_close(f->store), 0);
	ledger_free(f->ledger);
}

void
books_make(struct books *f)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/check_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/ease.db", f->dir);
	f->clock.manual = true;
	f->clock.manual_wall_us = f->clock.manual_mono_us = NOON_US;
}

void
books_remove(struct books *f)
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
books_ask(const struct books *f, const char *sql)
{
	return sql_number(f->path, sql);
}

void
books_header(uint32_t i, uint8_t header[BOOKS_HEADER])
{
	static const uint8_t ipv4[] = {8, 0, 0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1,
	    10, 0, 0, 2};

	memset(header, 0, BOOKS_HEADER);
	header[5] = (uint8_t)(i % 7);
	header[11] = (uint8_t)(i % 5);
	memcpy(header + 12, ipv4, sizeof(ipv4));
}

struct ease_record
books_record(enum ease_part kind, uint32_t boot)
{
	return (struct ease_record){
	    .kind = kind,
	    .agent_id = {1, 2, 3, 4, 5, 6, 7, 8},
	    .boot = boot,
	    .sender = "192.0.2.1",
	    .received_us = NOON_US,
	};
}

struct ease_record
books_sample(uint32_t boot, uint32_t i, const uint8_t *header)
{
	struct ease_record r = books_record(EASE_PART_SAMPLE, boot);

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
books_snapshot(uint32_t boot, uint32_t i)
{
	struct ease_record r = books_record(EASE_PART_SNAPSHOT, boot);

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
books_send_sample(struct books *f, uint32_t boot, uint32_t i)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	books_header(i, header);
	r = books_sample(boot, i, header);
	ledger_take(f->ledger, f->batch, &r, 1);
}

void
books_send_snapshot(struct books *f, uint32_t boot, uint32_t i)
{
	struct ease_record r = books_snapshot(boot, i);

	ledger_take(f->ledger, f->batch, &r, 1);
}

void
books_send_range(struct books *f, uint32_t boot, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		books_send_sample(f, boot, i);
		if (i % PER_SNAPSHOT == 0)
			books_send_snapshot(f, boot, i);
	}
}

void
books_check_all(const struct books *f, uint32_t n)
{
	double w = 0, wb = 0, w2b2 = 0;

	for (uint32_t i = 1; i <= n; i++) {
		w += 20;
		wb += 20. * (64 + i % 1000);
		w2b2 += 400. * (64 + i % 1000) * (64 + i % 1000);
	}
	ck_assert_double_eq(books_ask(f, "SELECT count(*) FROM sample"), n);
	ck_assert_double_eq(books_ask(f, "SELECT received FROM account"), n);
	ck_assert_double_eq(books_ask(f, "SELECT expected FROM account"), n);
	ck_assert_double_eq(books_ask(f, "SELECT sum(n) FROM window"), n);
	ck_assert_double_eq(books_ask(f, "SELECT sum(w) FROM window"), w);
	ck_assert_double_eq(books_ask(f, "SELECT sum(wb) FROM window"), wb);
	ck_assert_double_eq(books_ask(f, "SELECT sum(w2b2) FROM window"), w2b2);
	ck_assert_double_eq(books_ask(f, "SELECT sum(wb) FROM window_key WHERE kind = 1"), wb);
	ck_assert_double_eq(books_ask(f, "SELECT sum(n) FROM window_key WHERE kind = 2"), n);
	ck_assert_double_eq(books_ask(f, "SELECT sum(expected) FROM window_port"), n);
	ck_assert_double_eq(books_ask(f, "SELECT sum(received) FROM window_port"), n);
	ck_assert_double_eq(books_ask(f, "SELECT count(*) FROM window_port WHERE expected <> received"),
	    0);
	ck_assert_double_eq(books_ask(f, "SELECT sum(pool_pkts) FROM window WHERE direction = 1"),
	    14. * n);
	ck_assert_double_eq(books_ask(f, "SELECT sum(pool_octets) FROM window WHERE direction = 1"),
	    5000. * n);
	ck_assert_double_eq(books_ask(f, "SELECT sum(pool_octets) FROM window WHERE direction = 2"),
	    3001. * n);
	/* each sample is in the minute that its own row says */
	ck_assert_double_eq(
	    books_ask(f, "SELECT count(*) FROM (SELECT time_us / 60000000 * 60000000 AS m,"
		   " direction AS d,"
		   " count(*) AS n FROM sample GROUP BY 1, 2) s LEFT JOIN window w ON w.start_us ="
		   " s.m AND w.direction = s.d WHERE w.n IS NOT s.n"),
	    0);
}

sqlite3 *
books_run(const struct books *f, const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(f->path, &db), SQLITE_OK);
	sqlite3_busy_timeout(db, BUSY_MS);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

void
books_sql(const struct books *f, const char *sql)
{
	sqlite3_close(books_run(f, sql));
}

void
books_set_version(const struct books *f, int version)
{
	char pragma[64];

	snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%d", version);
	books_sql(f, pragma);
}
