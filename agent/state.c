#include "agent/state.h"

#include "agent/hal/hal_provider.h"
#include "agent/state_file.h"
#include "agent/state_ports.h"
#include "agent/state_rows.h"
#include "common/log.h"
#include "common/made_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COMMIT_DELAY_US 5000000ull  /* in which ports that come and go are written together */
#define RETRY_US	10000000ull /* after a change could not be written */
#define AGEING_US	3600000000ull
#define DAY_S		86400ull

enum stat { STAT_COMMITS, STAT_FAILURES, STAT_SET_ASIDE, STAT_FORGOTTEN, N_STATS };

static const struct stat_name stat_names[N_STATS] = {
    [STAT_COMMITS] = {"state.commits", "changes of the agent's state written to the disk"},
    [STAT_FAILURES] = {"state.failures",
	"times the agent's state could not be written; it is tried again every 10 s"},
    [STAT_SET_ASIDE] = {"state.set_aside", "damaged state files set aside"},
    [STAT_FORGOTTEN] = {"state.forgotten",
	"ports forgotten, because they were gone for keep_departed_days or made room for others"},
};

struct state {
	struct state_options options;
	struct state_file *file;
	struct state_identity identity;
	bool was_clean, had_rows;
	bool clean; /* to be written */
	bool identity_dirty;
	uint64_t loaded_running_s, started_us; /* how long all runs took, and when this one began */
	struct state_ports ports;
	struct state_rows rows;
	const struct state_totals_source *totals; /* during a clean stop */
	bool started;
	uint64_t due_us, aged_us; /* monotonic; due_us 0: nothing is to be written */
	bool failing; /* the latest attempt to write failed */
	struct stat_set stats;
	_Atomic uint64_t stat_values[N_STATS];
};

/* ---- ports ---- */

/* Changes of the ports are written together, some seconds later. */
static void
write_soon(struct state *s)
{
	if (s->due_us == 0)
		s->due_us = clock_mono_us(s->options.clock) + COMMIT_DELAY_US;
}

static uint64_t
running_s(const struct state *s)
{
	return s->loaded_running_s + (clock_mono_us(s->options.clock) - s->started_us) / 1000000 + 1;
}

/* Forgets ports that were gone for too long, and those above the limit. */
static void
forget_old(struct state *s)
{
	uint64_t now_s = running_s(s), age_s = s->options.keep_departed_days * DAY_S;
	uint64_t before = s->ports.n_forgotten;

	state_ports_age(&s->ports, now_s > age_s ? now_s - age_s : 0, STATE_DEPARTED_MAX);
	stat_add(&s->stats, STAT_FORGOTTEN, s->ports.n_forgotten - before);
	if (s->ports.n_forgotten != before)
		write_soon(s);
}

void
state_port_here(struct state *s, const char *name, uint32_t if_index)
{
	const struct state_port *known = state_ports_find(&s->ports, name);

	/* Containers with fixed names come back with other numbers all the time: worth a word only where it matters. */
	if (known && known->if_index != 0 && known->if_index != if_index && state_port_has_settings(known))
		log_warn_limited("state", "port %s has ifIndex %u now, and had %u: its settings follow it, "
		    "but rows of RMON and static addresses name ports by the number", name,
		    (unsigned)if_index, (unsigned)known->if_index);
	if (state_ports_here(&s->ports, name, if_index, s->started) < 0)
		log_warn_limited("state", "no memory to remember port %s", name);
	write_soon(s);
}

void
state_port_gone(struct state *s, uint32_t if_index)
{
	struct state_port *port = if_index ? state_ports_owner(&s->ports, if_index) : NULL;

	if (!port)
		return;
	state_ports_gone(port, running_s(s));
	forget_old(s);
	write_soon(s);
}

size_t
state_n_names(const struct state *s)
{
	return s->ports.n;
}

bool
state_name(const struct state *s, size_t i, const char **name, uint32_t *if_index)
{
	if (i >= s->ports.n)
		return false;
	*name = s->ports.items[i]->name;
	*if_index = s->ports.items[i]->if_index;
	return true;
}

/* ---- settings ---- */

void
state_settings(const struct state *s, uint32_t if_index,
    void (*apply)(void *ctx, const struct mib_set *set), void *ctx)
{
	const struct state_port *port =
	    if_index != STATE_ALL_PORTS ? state_ports_owner(&s->ports, if_index) : NULL;

	if (port)
		state_ports_settings(port, apply, ctx);
	if (if_index != STATE_ALL_PORTS)
		return;
	state_ports_settings(&s->ports.self, apply, ctx);
	for (size_t i = 0; i < s->ports.n; i++) {
		if (s->ports.items[i]->here)
			state_ports_settings(s->ports.items[i], apply, ctx);
	}
}

static void
keep_one(struct state *s, const struct mib_set *set)
{
	struct state_port *port;

	if (set->kind == MIB_SET_ROW) {
		state_rows_changed(&s->rows, set);
		return;
	}
	if (!settings_column(set->kind))
		return;
	port = state_ports_owner(&s->ports, set->if_index);
	if (port && state_ports_change(&s->ports, port, set) < 0)
		log_warn_limited("state", "no memory to keep %s", settings_column(set->kind));
	if (settings_holds(set->kind))
		keep_one(s, &(struct mib_set){.kind = MIB_SET_REQUESTS_HELD, .if_index = set->if_index, .number = 1});
}

void
state_keep(struct state *s, const struct mib_set *sets, size_t n)
{
	state_ports_begin(&s->ports);
	for (size_t i = 0; i < n; i++)
		keep_one(s, &sets[i]);
	(void)state_commit(s);
}

void
state_keep_undone(struct state *s, const struct mib_set *sets, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sets[i].kind == MIB_SET_ROW)
			state_rows_changed(&s->rows, &sets[i]);
	}
	state_ports_undo(&s->ports);
	(void)state_commit(s);
}

/* ---- reading the file ---- */

struct loading {
	struct state *state;
	struct state_port *port; /* of the setting that was read last */
};

static int
state_take_agent(void *ctx, sqlite3_stmt *row)
{
	struct state *s = ctx;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	int64_t number = sqlite3_column_int64(row, 1);

	if (!name)
		return 0;
	if (strcmp(name, "id") == 0 && sqlite3_column_bytes(row, 1) == EASE_AGENT_ID_LEN)
		memcpy(s->identity.agent_id, sqlite3_column_blob(row, 1), EASE_AGENT_ID_LEN);
	else if (strcmp(name, "boot") == 0 && number > 0 && number <= STATE_BOOT_MAX)
		s->identity.boot = (uint32_t)number;
	else if (strcmp(name, "clean") == 0)
		s->was_clean = number != 0;
	else if (strcmp(name, "had_rows") == 0)
		s->had_rows = number != 0;
	else if (strcmp(name, "running_s") == 0 && number > 0)
		s->loaded_running_s = (uint64_t)number;
	return 0;
}

/* A name or a number that the file has twice is the first one's. */
static int
state_take_port(void *ctx, sqlite3_stmt *row)
{
	struct state *s = ctx;
	const char *name = (const char *)sqlite3_column_text(row, 1);
	int64_t id = sqlite3_column_int64(row, 0);
	int64_t if_index = sqlite3_column_int64(row, 2), departed_s = sqlite3_column_int64(row, 3);
	struct state_port *port;

	/* 0 is the agent itself, and behind the largest there is no next one. */
	if (id <= 0 || id == INT64_MAX)
		return 0;
	if (!name || !name[0] || strlen(name) > EASE_NAME_MAX || state_ports_find(&s->ports, name))
		return 0;
	port = state_ports_add(&s->ports, id, name);
	if (!port)
		return -ENOMEM;
	if (if_index > 0 && if_index <= INT32_MAX)
		port->if_index = (uint32_t)if_index;
	port->departed_s = departed_s > 0 ? (uint64_t)departed_s : 0;
	return 0;
}

static int
state_take_setting(void *ctx, sqlite3_stmt *row)
{
	struct loading *loading = ctx;
	int64_t id = sqlite3_column_int64(row, 0);
	const char *name = (const char *)sqlite3_column_text(row, 1);

	if (!loading->port || loading->port->id != id)
		loading->port = state_ports_find_id(&loading->state->ports, id);
	for (unsigned kind = 0; kind < STATE_N_KINDS && loading->port && name; kind++) {
		if (!settings_column(kind) || strcmp(name, settings_column(kind)) != 0)
			continue;
		if (state_ports_set(loading->port, kind, sqlite3_column_int64(row, 2),
			(const char *)sqlite3_column_text(row, 2)) < 0)
			return -ENOMEM;
		loading->port->settings[kind].dirty = false;
	}
	return 0;
}

static int
load_file(struct state *s)
{
	static const uint8_t no_id[EASE_AGENT_ID_LEN];
	struct loading loading = {.state = s};
	int rc = state_file_read(s->file, "SELECT name, value FROM agent", NULL, state_take_agent, s);

	if (rc == 0)
		rc = state_file_read(s->file, "SELECT id, name, if_index, departed_s FROM port ORDER BY id",
		    NULL, state_take_port, s);
	if (rc == 0)
		rc = state_ports_check_numbers(&s->ports);
	if (rc == 0)
		rc = state_file_read(s->file, "SELECT port, name, value FROM setting ORDER BY port",
		    NULL, state_take_setting, &loading);
	if (rc == 0 && (s->identity.boot == 0 ||
			   memcmp(s->identity.agent_id, no_id, sizeof(no_id)) == 0))
		rc = -EBADMSG; /* an agent's tables, without the agent */
	return rc;
}

static void
forget_loaded(struct state *s)
{
	state_ports_free(&s->ports);
	s->was_clean = s->had_rows = false;
	s->identity = (struct state_identity){0};
	s->loaded_running_s = 0;
}

/* ---- writing ---- */

static int
state_put_number(struct state *s, const char *name, uint64_t number)
{
	return state_file_put(s->file, STATE_PUT_AGENT, "ti", name, (int64_t)number);
}

static int
write_identity(struct state *s)
{
	int rc = state_file_put(s->file, STATE_PUT_AGENT, "tb", "id", s->identity.agent_id,
	    sizeof(s->identity.agent_id));

	if (rc == 0)
		rc = state_put_number(s, "boot", s->identity.boot);
	if (rc == 0)
		rc = state_put_number(s, "clean", s->clean);
	if (rc == 0)
		rc = state_put_number(s, "had_rows", s->started || s->had_rows);
	return rc == 0 ? state_put_number(s, "running_s", running_s(s)) : rc;
}

static int
write_deleted(struct state *s)
{
	static const enum state_statement statements[] = {STATE_DELETE_PORT, STATE_DELETE_SETTINGS,
	    STATE_DELETE_TOTALS};
	int rc = 0;

	for (size_t i = 0; i < s->ports.n_deleted; i++) {
		for (size_t j = 0; j < 3 && rc == 0; j++)
			rc = state_file_put(s->file, statements[j], "i", s->ports.deleted[i]);
	}
	return rc;
}

static int
write_setting(struct state *s, const struct state_port *port, unsigned kind)
{
	const struct state_setting *setting = &port->settings[kind];
	const char *name = settings_column(kind);

	if (!setting->set)
		return state_file_put(s->file, STATE_DELETE_SETTING, "it", port->id, name);
	if (setting->text)
		return state_file_put(s->file, STATE_PUT_SETTING, "itt", port->id, name, setting->text);
	return state_file_put(s->file, STATE_PUT_SETTING, "iti", port->id, name, setting->number);
}

static int
write_port(struct state *s, const struct state_port *port)
{
	int rc = 0;

	if (port->dirty)
		rc = state_file_put(s->file, STATE_PUT_PORT, "itii", port->id, port->name,
		    (int64_t)port->if_index, (int64_t)port->departed_s);
	for (unsigned kind = 0; kind < STATE_N_KINDS && rc == 0; kind++) {
		if (port->settings[kind].dirty)
			rc = write_setting(s, port, kind);
	}
	return rc;
}

static int
write_totals(struct state *s)
{
	uint64_t totals[HAL_MAX_COUNTER_ROWS], discontinuity_us;
	size_t n;
	int rc = state_file_put(s->file, STATE_CLEAR_TOTALS, "");

	for (size_t i = 0; i < s->ports.n && rc == 0; i++) {
		const struct state_port *port = s->ports.items[i];

		if (port->here && s->totals->read(s->totals->ctx, port->if_index, totals,
				      HAL_MAX_COUNTER_ROWS, &n, &discontinuity_us) == 0)
			rc = state_file_put(s->file, STATE_PUT_TOTALS, "iib", port->id,
			    (int64_t)discontinuity_us, totals, n * sizeof(totals[0]));
	}
	return rc;
}

static int
write_change(struct state *s, const struct state_port *port)
{
	uint64_t numbers[HAL_MAX_CHANGES];
	size_t n = s->totals->changes(s->totals->ctx, port->if_index, numbers);

	return n == 0 ? 0
		      : state_file_put(s->file, STATE_PUT_CHANGES, "ib", port->id, numbers, n * sizeof(numbers[0]));
}

static int
write_times(struct state *s)
{
	int rc = state_file_put(s->file, STATE_CLEAR_CHANGES, "");

	if (!s->totals->changes)
		return rc;
	for (size_t i = 0; i < s->ports.n && rc == 0; i++)
		if (s->ports.items[i]->here)
			rc = write_change(s, s->ports.items[i]);
	return rc == 0 ? write_change(s, &s->ports.self) : rc;
}

static int
write_changes(struct state *s)
{
	int rc = s->identity_dirty ? write_identity(s) : 0;

	if (rc == 0)
		rc = write_deleted(s);
	if (rc == 0)
		rc = write_port(s, &s->ports.self);
	for (size_t i = 0; i < s->ports.n && rc == 0; i++)
		rc = write_port(s, s->ports.items[i]);
	if (rc == 0)
		rc = state_rows_write(&s->rows, s->file);
	if (rc == 0 && s->totals)
		rc = write_totals(s);
	if (rc == 0 && s->totals)
		rc = write_times(s);
	return rc;
}

static int
set_aside(struct state *s)
{
	const char *path = state_file_path(s->file);
	int rc;

	log_error("state", "%s is damaged (%s); it is set aside as %s.damaged", path,
	    state_file_error(s->file), path);
	rc = state_file_set_aside(s->file);
	if (rc < 0)
		log_error("state", "%s: %s", path, state_file_error(s->file));
	else
		stat_add(&s->stats, STAT_SET_ASIDE, 1);
	return rc < 0 ? rc : state_file_open(s->file);
}

static int
write_transaction(struct state *s)
{
	int rc = state_file_is_open(s->file) ? 0 : state_file_open(s->file);

	if (rc == 0)
		rc = state_file_begin(s->file);
	if (rc < 0)
		return rc;
	rc = write_changes(s);
	if (rc < 0)
		state_file_rollback(s->file);
	return rc < 0 ? rc : state_file_commit(s->file);
}

static bool
state_is_dirty(const struct state *s)
{
	return s->identity_dirty || s->totals || state_rows_wait(&s->rows) || state_ports_dirty(&s->ports);
}

int
state_commit(struct state *s)
{
	int rc;

	if (!state_is_dirty(s)) {
		s->due_us = 0;
		return 0;
	}
	rc = write_transaction(s);
	if (rc == -EBADMSG) {
		/* The next commit writes all that is in memory, to a file that is new. */
		s->identity_dirty = true;
		state_ports_mark(&s->ports, true);
		s->rows.all = true;
		rc = set_aside(s);
		if (rc == 0)
			rc = write_transaction(s);
	}
	if (rc < 0) {
		stat_add(&s->stats, STAT_FAILURES, 1);
		if (!s->failing)
			log_error("state", "%s cannot be written: %s; the agent goes on and tries again every 10 s, "
			    "but a restart before that would use the older state", state_file_path(s->file),
			    state_file_error(s->file));
		s->failing = true;
		s->due_us = clock_mono_us(s->options.clock) + RETRY_US;
		return rc;
	}
	stat_add(&s->stats, STAT_COMMITS, 1);
	s->identity_dirty = false;
	state_ports_mark(&s->ports, false);
	state_rows_written(&s->rows);
	if (s->failing)
		log_info("state", "%s is written again", state_file_path(s->file));
	s->failing = false;
	s->due_us = 0;
	return 0;
}

void
state_tick(struct state *s)
{
	uint64_t now_us = clock_mono_us(s->options.clock);

	if (now_us >= s->aged_us + AGEING_US) {
		s->aged_us = now_us;
		forget_old(s);
		/* The running time is written for those that are gone. */
		for (size_t i = 0; i < s->ports.n && !s->identity_dirty; i++)
			s->identity_dirty = !s->ports.items[i]->here;
		if (s->identity_dirty)
			write_soon(s);
	}
	if (s->due_us != 0 && now_us >= s->due_us)
		(void)state_commit(s);
}

/* ---- life cycle ---- */

/* Opens the file and loads it. A file that is damaged is set aside, and what it had is lost but for
 * the identity, of which there is a copy. */
static int
state_open_file(struct state *s, char *error, size_t error_size)
{
	int rc = state_file_open(s->file);

	if (rc == 0 && state_file_has_tables(s->file))
		rc = load_file(s);
	if (rc == -EBADMSG) {
		forget_loaded(s);
		rc = set_aside(s);
		if (rc < 0)
			return 0; /* the agent goes on without a file */
	}
	if (rc == 0 || rc == -ENOSPC)
		return 0;
	snprintf(error, error_size, "%s: %s", state_file_path(s->file), state_file_error(s->file));
	return rc;
}

static int
draw_id(uint8_t id[static EASE_AGENT_ID_LEN])
{
	do {
		if (getrandom(id, EASE_AGENT_ID_LEN, 0) != EASE_AGENT_ID_LEN)
			return -EIO;
	} while (made_id_kind(id) != MADE_ID_NONE);
	return 0;
}

/* The identity is the file's. If it has none, there is the copy. */
static int
find_identity(struct state *s)
{
	struct state_identity copy;
	bool has_copy = state_file_read_identity(s->file, &copy);

	if (s->identity.boot == 0) {
		if (has_copy)
			s->identity = copy;
		else if (draw_id(s->identity.agent_id) < 0)
			return -EIO;
	}
	/* earlier versions drew that, too, once in 16,384 times; no collector takes it */
	if (made_id_kind(s->identity.agent_id) != MADE_ID_NONE && draw_id(s->identity.agent_id) < 0)
		return -EIO;
	/* The copy is newer if the file could not be written at the latest start. */
	if (has_copy && memcmp(copy.agent_id, s->identity.agent_id, EASE_AGENT_ID_LEN) == 0 &&
	    copy.boot > s->identity.boot)
		s->identity.boot = copy.boot;
	if (s->identity.boot < STATE_BOOT_MAX)
		s->identity.boot++;
	return 0;
}

/* Counts this start on the disk, before anybody hears of it: in the database, or at least in the copy of
 * the identity, which needs no room. If neither can be written the next start may get the same number,
 * and receivers would take its samples for those of this one. A full disk is no reason not to serve. */
static int
count_start(struct state *s, char *error, size_t error_size)
{
	int rc, copied;

	s->identity_dirty = true;
	rc = state_commit(s);
	copied = state_file_write_identity(s->file, &s->identity);
	if (rc == 0 || copied == 0)
		return 0;
	if (rc == -ENOSPC) {
		log_error("state", "start %u cannot be counted on the disk: if the agent starts again before it "
		    "can, receivers take its samples for those of this run", (unsigned)s->identity.boot);
		return 0;
	}
	snprintf(error, error_size, "%s: %s", state_file_path(s->file), state_file_error(s->file));
	return rc;
}

int
state_open(const struct state_options *options, struct state **result, char *error, size_t error_size)
{
	struct state *s = calloc(1, sizeof(*s));
	int rc;

	error[0] = '\0';
	if (!s) {
		snprintf(error, error_size, "%s: %s", options->dir, strerror(ENOMEM));
		return -ENOMEM;
	}
	s->options = *options;
	state_ports_init(&s->ports);
	s->ports.forgot = options->forgot;
	s->ports.ctx = options->ctx;
	s->stats = (struct stat_set){stat_names, N_STATS, s->stat_values};
	s->started_us = s->aged_us = clock_mono_us(options->clock);
	rc = state_file_lock(options->dir, options->vfs, &s->file, error, error_size);
	if (rc == 0)
		rc = state_open_file(s, error, error_size);
	if (rc == 0)
		rc = find_identity(s);
	if (rc == 0)
		rc = count_start(s, error, error_size);
	if (rc < 0) {
		if (error[0] == '\0')
			snprintf(error, error_size, "%s: %s", options->dir, strerror(-rc));
		state_close(s);
		return rc;
	}
	*result = s;
	return 0;
}

void
state_close(struct state *s)
{
	if (!s)
		return;
	forget_loaded(s);
	state_rows_free(&s->rows);
	state_file_close(s->file);
	free(s);
}

int
state_check(const char *dir, uid_t user, char *error, size_t error_size)
{
	return state_file_check(dir, user, error, error_size);
}

void
state_agent_id(const struct state *s, uint8_t id[EASE_AGENT_ID_LEN])
{
	memcpy(id, s->identity.agent_id, EASE_AGENT_ID_LEN);
}

uint32_t
state_boot(const struct state *s)
{
	return s->identity.boot;
}

bool
state_was_clean(const struct state *s)
{
	return s->was_clean;
}

bool
state_had_rows(const struct state *s)
{
	return s->had_rows;
}

void
state_started(struct state *s)
{
	for (size_t i = 0; i < s->ports.n; i++) {
		struct state_port *port = s->ports.items[i];

		if (!port->here && port->departed_s == 0)
			state_ports_gone(port, running_s(s));
	}
	s->started = true;
	s->identity_dirty = true; /* had_rows */
	s->rows.all = !s->had_rows;
	forget_old(s);
	(void)state_commit(s);
}

/* ---- rows and totals ---- */

void
state_set_tables(struct state *s, struct managed_table *const *managed, size_t n)
{
	s->rows.managed = managed;
	s->rows.n_managed = n;
}

void
state_restore_rows(struct state *s, struct managed_table *managed)
{
	if (state_file_is_open(s->file))
		state_rows_restore(&s->rows, s->file, managed, false);
}

void
state_rows_removed(struct state *s)
{
	s->rows.all = true;
	write_soon(s);
}

void
state_retry_rows(struct state *s, struct managed_table *managed)
{
	if (state_file_is_open(s->file) && state_rows_forget_unmade(&s->rows, managed) > 0)
		state_rows_restore(&s->rows, s->file, managed, true);
}

struct reading_totals {
	struct state *state;
	void (*restore)(void *ctx, uint32_t if_index, const uint64_t *totals, size_t n,
	    uint64_t discontinuity_us);
	void *ctx;
};

static int
state_take_totals(void *ctx, sqlite3_stmt *row)
{
	const struct reading_totals *reading = ctx;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const struct state_port *port = name ? state_ports_find(&reading->state->ports, name) : NULL;
	size_t octets = (size_t)sqlite3_column_bytes(row, 2);
	uint64_t totals[HAL_MAX_COUNTER_ROWS];

	if (!port || !port->here || octets == 0 || octets > sizeof(totals) || octets % sizeof(totals[0]) != 0)
		return 0;
	memcpy(totals, sqlite3_column_blob(row, 2), octets);
	reading->restore(reading->ctx, port->if_index, totals, octets / sizeof(totals[0]),
	    (uint64_t)sqlite3_column_int64(row, 1));
	return 0;
}

void
state_totals(struct state *s,
    void (*restore)(void *ctx, uint32_t if_index, const uint64_t *totals, size_t n,
	uint64_t discontinuity_us),
    void *ctx)
{
	struct reading_totals reading = {s, restore, ctx};

	if (s->was_clean && state_file_is_open(s->file) &&
	    state_file_read(s->file, "SELECT name, discontinuity_us, totals FROM totals JOIN port"
		" ON port = id", NULL, state_take_totals, &reading) < 0)
		log_warn("state", "the counters' totals cannot be read, and begin anew: %s",
		    state_file_error(s->file));
}

struct reading_changes {
	struct state *state;
	void (*restore)(void *ctx, uint32_t if_index, const uint64_t *numbers, size_t n);
	void *ctx;
};

static int
take_changes(void *ctx, sqlite3_stmt *row)
{
	const struct reading_changes *reading = ctx;
	int64_t id = sqlite3_column_int64(row, 0);
	const struct state_port *port = id ? state_ports_find_id(&reading->state->ports, id) : NULL;
	size_t octets = (size_t)sqlite3_column_bytes(row, 1);
	uint64_t numbers[HAL_MAX_CHANGES];

	if ((id != 0 && (!port || !port->here)) || octets == 0 || octets > sizeof(numbers))
		return 0;
	memcpy(numbers, sqlite3_column_blob(row, 1), octets);
	reading->restore(reading->ctx, port ? port->if_index : 0, numbers, octets / sizeof(numbers[0]));
	return 0;
}

void
state_changes(struct state *s,
    void (*restore)(void *ctx, uint32_t if_index, const uint64_t *numbers, size_t n), void *ctx)
{
	struct reading_changes reading = {s, restore, ctx};

	if (s->was_clean && state_file_is_open(s->file) &&
	    state_file_read(s->file, "SELECT port, value FROM setting WHERE name = 'changes' ORDER BY port DESC",
		NULL, take_changes, &reading) < 0)
		log_warn("state", "the times of changes cannot be read, and begin anew: %s", state_file_error(s->file));
}

int
state_stop(struct state *s, const struct state_totals_source *source)
{
	int rc;

	s->totals = source;
	s->clean = true;
	s->identity_dirty = true;
	s->rows.all = true;
	rc = state_commit(s);
	s->totals = NULL;
	return rc;
}

const struct stat_set *
state_stats(const struct state *s)
{
	return &s->stats;
}

/* ---- putting in force ---- */

static void
restore_setting(void *ctx, const struct mib_set *set)
{
	const struct settings_owners *owners = ctx;
	int rc = settings_restore(owners, set);

	if (rc < 0)
		log_warn("state", "port %u: a setting from before the restart cannot be made again: %s",
		    (unsigned)set->if_index, strerror(-rc));
}

static void
state_name_port(struct state *state, const struct hal *hal, uint32_t if_index)
{
	struct hal_port info;

	if (hal_port_info(hal, if_index, &info) == 0)
		state_port_here(state, info.name, if_index);
}

void
state_restore_port(
    struct state *state, const struct settings_owners *owners, const struct hal_port_event *event)
{
	switch (event->happening) {
	case HAL_PORT_CAME:
		state_name_port(state, owners->hal, event->if_index);
		state_settings(state, event->if_index, restore_setting, (void *)(uintptr_t)owners);
		break;
	case HAL_PORT_CHANGED:
		state_name_port(state, owners->hal, event->if_index);
		break;
	case HAL_PORT_LEFT:
		state_port_gone(state, event->if_index);
		break;
	case HAL_PORT_FORGOTTEN: /* by the state itself */
		break;
	}
}

struct restoring {
	struct hal *hal;
	uint32_t *done; /* the ports whose totals continue, in the order of the file */
	size_t n_done;
};

static void
restore_totals(void *ctx, uint32_t if_index, const uint64_t *totals, size_t n, uint64_t discontinuity_us)
{
	struct restoring *r = ctx;

	int rc = hal_restore_totals(r->hal, if_index, totals, n);

	if (rc == -ENODEV)
		return;
	if (rc < 0) {
		hal_mark_discontinuity(r->hal, if_index);
		return;
	}
	hal_restore_discontinuity(r->hal, if_index, discontinuity_us);
	r->done[r->n_done++] = if_index;
}

static int
state_compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A port without stored totals begins anew after a crash; but not where the device keeps the totals, as a
 * kernel does, which has counted on. */
static void
restore_all_totals(struct state *state, struct hal *hal)
{
	size_t n = hal_n_ports(hal);
	struct restoring r = {.hal = hal, .done = calloc(n + 1, sizeof(*r.done))};

	if (r.done)
		state_totals(state, restore_totals, &r);
	if (r.n_done > 0)
		qsort(r.done, r.n_done, sizeof(*r.done), state_compare_numbers);
	for (size_t i = 0; i < n && state_boot(state) > 1 && !hal_totals_go_on(hal); i++) {
		uint32_t if_index = hal_port_if_index(hal, i);

		if (r.n_done == 0 || !bsearch(&if_index, r.done, r.n_done, sizeof(*r.done), state_compare_numbers))
			hal_mark_discontinuity(hal, if_index);
	}
	free(r.done);
}

static void
restore_changes(void *ctx, uint32_t if_index, const uint64_t *numbers, size_t n)
{
	hal_restore_changes(ctx, if_index, numbers, n);
}

void
state_restore(struct state *state, const struct settings_owners *owners)
{
	for (size_t i = 0; i < hal_n_ports(owners->hal); i++)
		state_name_port(state, owners->hal, hal_port_if_index(owners->hal, i));
	state_settings(state, STATE_ALL_PORTS, restore_setting, (void *)(uintptr_t)owners);
	restore_all_totals(state, owners->hal);
	state_changes(state, restore_changes, owners->hal);
}

static int
state_read_totals(void *ctx, uint32_t if_index, uint64_t *totals, size_t max, size_t *n, uint64_t *discontinuity_us)
{
	const struct hal *hal = ctx;

	*discontinuity_us = hal_discontinuity_wall_us(hal, if_index);
	return hal_save_totals(hal, if_index, totals, max, n);
}

static size_t
read_changes(void *ctx, uint32_t if_index, uint64_t *numbers)
{
	return hal_save_changes(ctx, if_index, numbers);
}

int
state_save_totals(struct state *state, const struct hal *hal)
{
	const struct state_totals_source source = {(void *)(uintptr_t)hal, state_read_totals, read_changes};

	return state_stop(state, &source);
}
