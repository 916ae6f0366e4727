#include "tests/agent/state_rig.h"

#include <check.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
state_rig_start(struct state_rig *rig, struct managed_table *const *managed, size_t n)
{
	const struct state_options options = {.dir = rig->dir, .clock = &rig->clock, .keep_departed_days = 30};
	char error[512];

	ck_assert_msg(state_open(&options, &rig->state, error, sizeof(error)) == 0, "%s", error);
	state_set_tables(rig->state, managed, n);
	for (size_t i = 0; i < n; i++)
		state_restore_rows(rig->state, managed[i]);
	state_started(rig->state);
}

void
state_rig_open(struct state_rig *rig, struct managed_table *const *managed, size_t n)
{
	*rig = (struct state_rig){.clock = {.manual = true, .manual_mono_us = 1}};
	strcpy(rig->dir, "/tmp/ease-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	state_rig_start(rig, managed, n);
}

static int
no_totals(void *ctx, uint32_t if_index, uint64_t *totals, size_t max, size_t *n,
    uint64_t *discontinuity_us)
{
	(void)ctx;
	(void)if_index;
	(void)totals;
	(void)max;
	*n = 0;
	*discontinuity_us = 0;
	return -ENODEV;
}

void
state_rig_stop(struct state_rig *rig)
{
	static const struct state_totals_source source = {.read = no_totals};

	ck_assert_int_eq(state_stop(rig->state, &source), 0);
	state_close(rig->state);
	rig->state = NULL;
}

void
state_rig_sql(struct state_rig *rig, const char *sql)
{
	char path[96];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/easeagentd.db", rig->dir);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	sqlite3_close(db);
}

void
state_rig_close(struct state_rig *rig)
{
	char command[96];

	state_close(rig->state);
	snprintf(command, sizeof(command), "rm -rf %s", rig->dir);
	ck_assert_int_eq(system(command), 0);
}
