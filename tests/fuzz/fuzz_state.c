/* Any rows as what the agent has kept over a restart (people change the file with sqlite3): the agent starts in any
 * case, and takes of it as much as the device and the tables allow; and its next start counts on. Each line of the
 * input is a row: a table's name and its columns, separated by tabs; x and hexadecimal digits are octets. */
#include "agent/rmon/rmon.h"
#include "agent/state.h"
#include "common/log.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sampling_port_config defaults = {.enabled = true, .mean_skip = 400,
    .header_octets = 128};

/* Objects of every other length are there. */
static int
read_object(void *ctx, const struct mib_oid *name, bool fresh, struct rmon_reading *reading)
{
	(void)ctx;
	(void)fresh;
	*reading = (struct rmon_reading){.value = 7, .syntax = MIB_COUNTER32};
	return name->n % 2 ? 0 : -ENXIO;
}

static void
apply(struct state *state)
{
	static struct fake_device fake;
	const struct sampling_options how = {.has_seed = true, .seed = 1, .defaults = defaults};
	struct rmon_options options = {.clock = &clock_system, .event_table = &rmon_mib_event_table,
	    .control_table = &rmon_mib_history_control_table, .alarm_table = &rmon_mib_alarm_table,
	    .hc_alarm_table = &hc_alarm_mib_table, .read = read_object};
	struct sampling *sampling;
	struct rmon *rmon;

	fake_init(&fake, 2);
	if (hal_create(&fake.device, &clock_system, &options.hal) || hal_start(options.hal) ||
	    sampling_create(options.hal, &how, &(struct sampling_sink){0}, &sampling) ||
	    rmon_create(&options, &rmon))
		abort();
	state_restore(state, &(struct settings_owners){.hal = options.hal, .sampling = sampling});
	state_set_tables(state, rmon_managed(rmon), RMON_N_MANAGED);
	for (size_t i = 0; i < RMON_N_MANAGED; i++)
		state_restore_rows(state, rmon_managed(rmon)[i]);
	state_started(state);
	rmon_destroy(rmon);
	sampling_destroy(sampling);
	hal_destroy(options.hal);
}

static struct state *
open_state(const char *dir)
{
	const struct state_options options = {.dir = dir, .clock = &clock_system,
	    .keep_departed_days = 30};
	struct state *state;
	char error[512];

	if (state_open(&options, &state, error, sizeof(error)) < 0)
		abort();
	return state;
}

static void
bind_value(sqlite3_stmt *insert, int at, const char *value)
{
	uint8_t octets[512];
	size_t n = 0;

	while (value[0] == 'x' && n < sizeof(octets) && sscanf(value + 1 + 2 * n, "%2hhx", &octets[n]) == 1)
		n++;
	if (value[0] == 'x')
		sqlite3_bind_blob(insert, at, octets, (int)n, SQLITE_TRANSIENT);
	else
		sqlite3_bind_text(insert, at, value, -1, SQLITE_TRANSIENT); /* read as a number where one is wanted */
}

static void
put_line(sqlite3 *db, char *line)
{
	static const struct {
		const char *table, *insert;
	} tables[] = {{"agent", "INSERT OR REPLACE INTO agent VALUES (?, ?)"},
	    {"port", "INSERT OR REPLACE INTO port VALUES (?, ?, ?, ?)"},
	    {"setting", "INSERT OR REPLACE INTO setting VALUES (?, ?, ?)"},
	    {"totals", "INSERT OR REPLACE INTO totals VALUES (?, ?, ?)"},
	    {"cell", "INSERT OR REPLACE INTO cell VALUES (?, ?, ?, ?)"}};
	const char *table = strsep(&line, "\t"), *value;
	sqlite3_stmt *insert;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].table, table) != 0)
			continue;
		if (sqlite3_prepare_v2(db, tables[i].insert, -1, &insert, NULL) != SQLITE_OK)
			abort();
		for (int at = 1; (value = strsep(&line, "\t")) != NULL; at++)
			bind_value(insert, at, value);
		sqlite3_step(insert); /* may be refused: two ports of one id */
		sqlite3_finalize(insert);
	}
}

static void
put_rows(const char *path, const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text, *line;
	sqlite3 *db;

	if (!text || sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		abort();
	while ((line = strsep(&rest, "\n")) != NULL)
		put_line(db, line);
	if (sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		abort();
	sqlite3_close(db);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const files[] = {"db", "db-wal", "db-shm", "db.damaged", "lock"};
	char dir[64], path[96];
	struct state *state;
	uint32_t boot;

	log_set_most(LOG_LEVEL_ERROR - 1);
	snprintf(dir, sizeof(dir), "/dev/shm/fuzz_state.%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/easeagentd.db", dir);
	mkdir(dir, 0700);
	state_close(open_state(dir)); /* makes the tables */
	put_rows(path, data, size);
	state = open_state(dir);
	apply(state);
	boot = state_boot(state);
	state_close(state);
	state = open_state(dir);
	if (boot < STATE_BOOT_MAX && state_boot(state) != boot + 1)
		abort();
	state_close(state);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/easeagentd.%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
	return 0;
}
