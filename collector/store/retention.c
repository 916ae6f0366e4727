#include "collector/store/retention.h"
#include "collector/store/forget.h"
#include "collector/store/schema.h"
#include "common/hash.h"
#include "common/log.h"

#include <errno.h>

enum {
	ROWS_A_STEP = 256, /* samples or events deleted in a step: some milliseconds */
	PARTS_A_STEP = 32, /* parts deleted in a step, each up to 80 kB */
	SAMPLES_A_SIZE_STEP = 1024, /* samples deleted at once while the store is too large */
	PORTS_A_STEP = 16, /* whose spare rows are looked for in a step */
};

/* When this machine's clock was set by so much, nothing is deleted by age for so long: it may be set back. *assumed* */
#define WALL_STEP_US	  600000000
#define WALL_STEP_WAIT_US 3600000000ull

/* The pass that thins no further, but deletes what is older than all days that are kept. */
#define ENDED_DAYS LEVEL_8_D

/* The longest time whose counters of a port are thinned by one statement: of those by the second, and of others. */
#define THIN_SECONDS_US (4 * 3600 * 1000000ull)
#define THIN_MOST_US (4 * 86400 * 1000000ull)

/* Returns the time before which data is deleted; 0: nothing is. */
static uint64_t
retention_limit_of(const struct retention *t, uint64_t keep_us)
{
	return keep_us > 0 && t->now_us > keep_us ? t->now_us - keep_us : 0;
}

/* Samples and events */

static int
delete_samples(struct retention *t, struct rollup *r, uint64_t before_us, int most)
{
	const int64_t row[] = {(int64_t)before_us, most};

	return rollup_delete(r, "DELETE FROM sample WHERE (agent, boot, if_index, sequence) IN"
	    " (SELECT agent, boot, if_index, sequence FROM sample WHERE time_us < ?"
	    " ORDER BY time_us LIMIT ?) RETURNING 1", row, 2, &t->deleted[RETENTION_SAMPLES]);
}

/* Deletes old samples, and events and gaps of days that are deleted. The newest event always stays, so that
 * its id is not used again: collector/ship follows the table by id. */
static int
retention_delete_old_rows(struct retention *t, struct rollup *r)
{
	uint64_t samples_us = retention_limit_of(t, t->keep.samples_us);
	uint64_t events_us = r->levels[LEVEL_1_D].kept_us;
	const int64_t row[] = {(int64_t)events_us, ROWS_A_STEP};
	const int64_t headers[] = {(int64_t)(t->keep.headers_us > 0 ? retention_limit_of(t, t->keep.headers_us) : INT64_MAX), ROWS_A_STEP};
	int n = 0;

	if (samples_us > 0)
		n = delete_samples(t, r, samples_us, ROWS_A_STEP);
	if (n == 0)
		n = rollup_delete(r, "UPDATE sample SET header = NULL WHERE (agent, boot, if_index, sequence) IN"
		    " (SELECT agent, boot, if_index, sequence FROM sample WHERE header IS NOT NULL AND time_us < ?"
		    " ORDER BY time_us LIMIT ?) RETURNING 1", headers, 2, &t->deleted[RETENTION_HEADERS]);
	if (n == 0 && events_us > 0)
		n = rollup_delete(r, "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE"
		    " time_us < ? AND id < (SELECT max(id) FROM event) ORDER BY time_us LIMIT ?)"
		    " RETURNING 1", row, 2, &t->deleted[RETENTION_EVENTS]);
	if (n == 0 && events_us > 0)
		n = rollup_delete(r, "DELETE FROM gap WHERE id IN (SELECT id FROM gap WHERE"
		    " until_us <= ? ORDER BY until_us LIMIT ?) RETURNING 1", row, 2,
		    &t->deleted[RETENTION_COUNTERS]);
	return n > 0 ? 1 : n;
}

/* Rows of devices */

static const char old_discard_hours[] =
    "DELETE FROM discard_hour WHERE (" STORE_DISCARD_HOUR_KEY ") IN (SELECT " STORE_DISCARD_HOUR_KEY " FROM"
    " discard_hour WHERE agent IN (SELECT agent FROM held WHERE tab = 1) AND start_us < ?1 LIMIT ?2) RETURNING 1";

/* What is older than the days that are kept; ?1: the time, ?2: most rows. */
static const char *const old_device_rows[] = {
    old_discard_hours,
    "DELETE FROM outage WHERE id IN (SELECT id FROM outage WHERE until_us < ?1 AND id < (SELECT"
    " max(id) FROM outage) LIMIT ?2) RETURNING 1",
};

/* The same of tables that are gone through port after port, which are found by an index: so no step looks at more rows
 * than a port has. Of each port the state before that time stays, and of each agent the newest boot. ?1: agent, ?2:
 * ifIndex, ?3: the time, ?4: most rows. */
#define OLD_OF_PORT(table, key, old)                                                                              \
	{"SELECT agent, if_index FROM " table " WHERE (agent, if_index) >= (?1, ?2) ORDER BY agent, if_index LIMIT 1", \
	    "DELETE FROM " table " WHERE (" key ") IN (SELECT " key " FROM " table " t WHERE agent = ?1 AND if_index = ?2" \
	    " AND " old " LIMIT ?4) RETURNING 1"}
static const struct {
	const char *next, *delete;
} old_of_ports[RETENTION_N_OLD] = {
    [RETENTION_OLD_PLACES] = OLD_OF_PORT("place", "layer, address, agent, if_index", "last_us < ?3"),
    [RETENTION_OLD_ACCOUNTS] = OLD_OF_PORT("account", "agent, boot, if_index",
	"last_us < ?3 AND boot < (SELECT boot FROM agent WHERE id = ?1)"),
    [RETENTION_OLD_LOST] = OLD_OF_PORT("gone", "agent, boot, if_index", "?3 > 0 AND NOT EXISTS(SELECT 1 FROM account"
	" WHERE agent = t.agent AND boot = t.boot AND if_index = t.if_index)"),
    [RETENTION_OLD_STATES] = OLD_OF_PORT("port", "agent, if_index, since_us", "since_us < ?3 AND since_us < (SELECT"
	" max(since_us) FROM port WHERE agent = ?1 AND if_index = ?2 AND since_us <= ?3)"),
    [RETENTION_OLD_ERROR_SOURCES] = OLD_OF_PORT("error_source", "agent, if_index, mac, kind", "last_us < ?3"),
    [RETENTION_OLD_ODDITIES] = OLD_OF_PORT("oddity", "agent, if_index, kind", "last_us < ?3"),
};

/* To make room: two boots, and few states of each port. ?1: agent, ?2: ifIndex. A port has few of both (tables.c). */
static const char *const spare_device_rows[] = {
    "DELETE FROM account WHERE agent = ?1 AND if_index = ?2 AND boot < (SELECT boot FROM account WHERE agent = ?1 AND"
    " if_index = ?2 ORDER BY boot DESC LIMIT 1 OFFSET 1) RETURNING 1",
    "DELETE FROM port WHERE agent = ?1 AND if_index = ?2 AND since_us < (SELECT since_us FROM port WHERE agent = ?1 AND"
    " if_index = ?2 ORDER BY since_us DESC LIMIT 1 OFFSET 15) RETURNING 1",
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Looks once for each time up to which days are deleted. */
static int
delete_old_device_rows(struct retention *t, struct rollup *r)
{
	const int64_t row[] = {(int64_t)r->levels[LEVEL_1_D].kept_us, ROWS_A_STEP};
	int n = 0;

	if (t->device_rows_us == (uint64_t)row[0] && t->forgotten_us == t->keep.forget_us)
		return 0;
	for (size_t i = 0; n == 0 && i < N(old_device_rows); i++)
		n = rollup_delete(r, old_device_rows[i], row, 2, &t->deleted[RETENTION_DEVICE_ROWS]);
	if (n == 0 && row[0] > 0 && t->keep.forget_us > 0)
		n = forget_silent(r, (uint64_t)row[0], t->keep.forget_us, &t->deleted[RETENTION_DEVICE_ROWS]);
	if (n == 0) {
		t->device_rows_us = (uint64_t)row[0];
		t->forgotten_us = t->keep.forget_us;
	}
	return n > 0 ? 1 : n;
}

/* Goes on with a pass over the ports, if there was none up to that time. */
static int
delete_old_of_ports(struct retention *t, struct rollup *r, enum retention_old table, uint64_t before_us)
{
	struct retention_pass *pass = &t->passes[table];
	int64_t row[] = {pass->agent, pass->if_index, (int64_t)before_us, ROWS_A_STEP};
	int n;

	if (before_us <= pass->done_us)
		return 0;
	n = rollup_query(r, old_of_ports[table].next, row, 2, row, 2);
	if (n == 0)
		*pass = (struct retention_pass){.done_us = before_us};
	else if (n > 0) {
		n = rollup_delete(r, old_of_ports[table].delete, row, 4, &t->deleted[RETENTION_DEVICE_ROWS]);
		pass->agent = row[0];
		pass->if_index = row[1] + (n < ROWS_A_STEP);
	}
	return n < 0 ? n : 1;
}

/* Addresses that were seen in no window of five minutes that is kept, looked for each hour; and what belongs to days
 * that are deleted. */
static int
delete_old_ports(struct retention *t, struct rollup *r)
{
	uint64_t places_us = store_window_start(retention_limit_of(t, t->keep.level_us[LEVEL_5_MIN]),
	    store_levels[LEVEL_1_H].span_us);
	int did = 0;

	for (int i = 0; did == 0 && i < RETENTION_N_OLD; i++)
		did = delete_old_of_ports(t, r, (enum retention_old)i,
		    i == RETENTION_OLD_PLACES ? places_us : r->levels[LEVEL_1_D].kept_us);
	return did;
}

/* Sums */

/* Returns the latest time at which a level's range may begin, so that the next level has everything
 * before it. */
static uint64_t
latest_start(const struct rollup *r, enum store_level_index level, uint64_t limit_us)
{
	if (level + 1 == STORE_N_LEVELS)
		return store_window_start(limit_us, store_levels[level].span_us);
	if (limit_us > r->levels[level + 1].done_us)
		limit_us = r->levels[level + 1].done_us;
	return store_window_start(limit_us, store_levels[level + 1].span_us);
}

/* Moves the start of a level's range to limit_us, if the level has data before it. Returns 1 if it
 * moved, 0, or an error. */
static int
move_start(struct rollup *r, enum store_level_index level, uint64_t limit_us)
{
	const int64_t row[] = {store_levels[level].minutes};
	uint64_t start_us = latest_start(r, level, limit_us);
	int64_t oldest = INT64_MAX;
	int err;

	if (start_us <= r->levels[level].kept_us)
		return 0;
	err = rollup_query(r, "SELECT min(start_us) FROM part WHERE level = ? AND kind = 0", row, 1, &oldest, 1);
	if (err < 0 || (uint64_t)oldest >= start_us)
		return err < 0 ? err : 0;
	r->levels[level].kept_us = start_us;
	err = rollup_save(r, level);
	if (err == 0 && level == LEVEL_1_D) { /* 8 days are of no use without the days */
		r->levels[LEVEL_8_D].kept_us = start_us;
		err = rollup_save(r, LEVEL_8_D);
	}
	return err < 0 ? err : 1;
}

/* Deletes rows before the start of a level's range. To find that there are none, each kind is looked for: once for
 * each start, as no older ones come. */
static int
delete_parts(struct retention *t, struct rollup *r, enum store_level_index level)
{
	uint64_t kept_us = r->levels[level].kept_us;
	int n = kept_us == t->sums_deleted_us[level] ? 0
	    : parts_delete_before(r->parts, level, kept_us, PARTS_A_STEP, &t->deleted[RETENTION_SUMS + level]);

	if (n == 0)
		t->sums_deleted_us[level] = kept_us;
	return n > 0 ? 1 : n;
}

static uint64_t
retention_keep_of(const struct retention *t, enum store_level_index level)
{
	return t->keep.level_us[level == LEVEL_8_D ? LEVEL_1_D : level];
}

static int
delete_old_sums(struct retention *t, struct rollup *r)
{
	int did = 0;

	for (int l = LEVEL_1_MIN; did == 0 && l < STORE_N_LEVELS; l++) {
		uint64_t limit_us = retention_limit_of(t, retention_keep_of(t, (enum store_level_index)l));

		if (limit_us > 0)
			did = move_start(r, (enum store_level_index)l, limit_us);
		if (did == 0)
			did = delete_parts(t, r, (enum store_level_index)l);
	}
	return did;
}

/* Counters */

/* Counters are thinned when they are that old, in a pass over the ports each so often. */
#define SECONDS_KEPT_US	 600000000ull
#define SECONDS_UNTIL_US 300000000ull

/* Thins the rows of port (?1, ?2) from ?3 to ?4. In each window of ?5 microseconds the first and
 * the last row stay, for each boot and discontinuity in it; and the rows from which the accounting
 * continues the totals after a restart (account.base_us). */
static const char thin_counters[] =
    "DELETE FROM counter WHERE agent = ?1 AND if_index = ?2 AND time_us IN (SELECT time_us FROM counter WHERE agent = ?1"
    " AND if_index = ?2 AND time_us >= ?3 AND time_us < ?4 AND time_us NOT IN ("
    "SELECT min(time_us) FROM counter WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3"
    " AND time_us < ?4 GROUP BY time_us / ?5, boot, discontinuity_us UNION ALL "
    "SELECT max(time_us) FROM counter WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3"
    " AND time_us < ?4 GROUP BY time_us / ?5, boot, discontinuity_us UNION ALL "
    "SELECT base_us FROM account WHERE agent = ?1 AND if_index = ?2 AND base_us IS NOT NULL) LIMIT ?6)"
    " RETURNING 1";

/* Thins resources in the same way; they have no discontinuities, and nothing continues from them.
 */
static const char thin_resources[] =
    "DELETE FROM resource WHERE agent = ?1 AND if_index = ?2 AND time_us IN (SELECT time_us FROM resource WHERE agent = ?1"
    " AND if_index = ?2 AND time_us >= ?3 AND time_us < ?4 AND time_us NOT IN ("
    "SELECT min(time_us) FROM resource WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3"
    " AND time_us < ?4 GROUP BY time_us / ?5, boot UNION ALL "
    "SELECT max(time_us) FROM resource WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3"
    " AND time_us < ?4 GROUP BY time_us / ?5, boot) LIMIT ?6)"
    " RETURNING 1";

/* Deletes the rows of port (?1, ?2) before ?4, of days that are deleted, but for the newest, with which a range that
 * begins there interpolates. */
#define BEFORE_THE_NEWEST_OF(table, further) \
	"DELETE FROM " table " WHERE agent = ?1 AND if_index = ?2 AND time_us IN (SELECT time_us FROM " table " WHERE" \
	" agent = ?1 AND if_index = ?2 AND time_us < (SELECT max(time_us) FROM " table " WHERE agent = ?1 AND" \
	" if_index = ?2 AND time_us < ?4)" further " LIMIT ?6) RETURNING 1"
static const char delete_counters[] = BEFORE_THE_NEWEST_OF("counter", " AND time_us NOT IN (SELECT base_us FROM"
    " account WHERE agent = ?1 AND if_index = ?2 AND base_us IS NOT NULL)");
static const char delete_resources[] = BEFORE_THE_NEWEST_OF("resource", "");

/* Makes one of the gaps that lie within one window, which changes no sum of whole windows. */
#define GAPS_WITHIN " FROM gap WHERE agent = ?1 AND if_index = ?2 AND until_us > ?3 AND until_us" \
		    " <= ?4 AND from_us / ?5 = (until_us - 1) / ?5 "
static const char merge_gaps[] =
    "INSERT INTO gap(agent, if_index, from_us, until_us, received_us, in_pkts, in_octets,"
    " out_pkts, out_octets, in_cut_pkts, in_cut_octets, out_cut_pkts, out_cut_octets) SELECT agent,"
    " if_index, min(from_us), max(until_us), max(received_us), sum(in_pkts), sum(in_octets),"
    " sum(out_pkts), sum(out_octets), sum(in_cut_pkts), sum(in_cut_octets), sum(out_cut_pkts),"
    " sum(out_cut_octets)" GAPS_WITHIN
    "GROUP BY from_us / ?5 HAVING count(*) > 1";
static const char delete_merged_gaps[] =
    "DELETE FROM gap WHERE id IN (SELECT id" GAPS_WITHIN ") AND id NOT IN (SELECT max(id)"
    GAPS_WITHIN "GROUP BY from_us / ?5) RETURNING 0";

/* The pass of the first level, of which there are no windows, thins to steps. */
static uint64_t
retention_span_of(enum store_level_index level)
{
	return level == LEVEL_UNSETTLED ? STORE_COUNTERS_STEP_US : store_levels[level].span_us;
}

/* Returns 1 if more of the port is left, 0, or -EIO. */
static int
thin_port(struct retention *t, struct rollup *r)
{
	const int64_t row[] = {t->agent, t->if_index,
	    (int64_t)r->levels[t->thinning].thinned_us, (int64_t)t->thin_to_us,
	    (int64_t)retention_span_of(t->thinning), ROWS_A_STEP};
	uint64_t *deleted = &t->deleted[RETENTION_COUNTERS];
	bool ended = t->thinning == ENDED_DAYS;
	int n = rollup_delete(r, ended ? delete_counters : thin_counters, row, 6, deleted);

	if (n >= 0 && n < ROWS_A_STEP)
		n = rollup_delete(r, ended ? delete_resources : thin_resources, row, 6, deleted);
	if (n == ROWS_A_STEP)
		return 1;
	if (n >= 0)
		n = rollup_query(r, merge_gaps, row, 5, NULL, 0);
	return n < 0 ? n : rollup_delete(r, delete_merged_gaps, row, 5, deleted) < 0 ? -EIO : 0;
}

/* The first row that the next pass can thin, of port (?1, ?2) from ?3 on. */
static const char next_row[] =
    "SELECT min(us) FROM (SELECT min(time_us) AS us FROM counter WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3"
    " UNION ALL SELECT min(time_us) FROM resource WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3"
    " UNION ALL SELECT min(until_us) - 1 FROM gap WHERE agent = ?1 AND if_index = ?2 AND until_us > ?3)";

static int
find_next_row(struct retention *t, struct rollup *r)
{
	const int64_t row[] = {t->agent, t->if_index, (int64_t)t->thin_to_us};
	int64_t us = INT64_MAX;
	int err = rollup_query(r, next_row, row, 3, &us, 1);

	if ((uint64_t)us < t->thin_next_us)
		t->thin_next_us = (uint64_t)us;
	return err < 0 ? err : 0;
}

/* Ranges of whole minutes need no counters within them, but for the newest, between which reports that
 * reach to now interpolate; steps of the last hour need theirs. */
static uint64_t
thinned_to(const struct retention *t, const struct rollup *r, enum store_level_index level)
{
	uint64_t kept_us = level == LEVEL_UNSETTLED ? SECONDS_KEPT_US : SECONDS_KEPT_US + STORE_COUNTERS_FINE_US;
	uint64_t until_us = store_window_start(t->now_us, SECONDS_UNTIL_US);

	if (level > LEVEL_1_MIN)
		return r->levels[level - 1].kept_us;
	return until_us > kept_us ? until_us - kept_us : 0;
}

/* Between the pass and the next row of any port nothing need be walked through, which may be months. */
static uint64_t
end_of_pass(const struct retention *t, const struct rollup *r)
{
	uint64_t most_us = thinned_to(t, r, t->thinning);
	uint64_t next_us = t->thin_next_us < most_us ? store_window_start(t->thin_next_us, retention_span_of(t->thinning)) : most_us;

	return next_us > t->thin_to_us ? next_us : t->thin_to_us;
}

/* Thins the next port, or ends the pass. */
static int
thin_next(struct retention *t, struct rollup *r)
{
	const int64_t row[] = {t->agent, t->if_index};
	int64_t port[2] = {t->agent, t->if_index};
	int found = t->thin_again ? 1 : rollup_query(r, "SELECT agent, if_index FROM counter WHERE (agent, if_index) >"
	    " (?1, ?2) ORDER BY agent, if_index LIMIT 1", row, 2, port, 2);

	if (found < 0)
		return found;
	if (found == 0) {
		r->levels[t->thinning].thinned_us = end_of_pass(t, r);
		found = rollup_save(r, t->thinning);
		t->thin_to_us = 0;
		return found < 0 ? found : 1;
	}
	t->agent = port[0];
	t->if_index = port[1];
	found = thin_port(t, r);
	t->thin_again = found == 1;
	if (found == 0)
		found = find_next_row(t, r);
	return found < 0 ? found : 1;
}

/* Sets the time from which a pass begins; the first pass begins at the oldest counters. */
static int
thinned_until(struct rollup *r, enum store_level_index level, uint64_t *from_us)
{
	int64_t oldest = INT64_MAX;
	int err = 0;

	*from_us = r->levels[level].thinned_us;
	if (level == LEVEL_UNSETTLED && *from_us < r->levels[LEVEL_1_MIN].thinned_us)
		*from_us = r->levels[LEVEL_1_MIN].thinned_us;
	if (*from_us == 0)
		err = rollup_query(r, "SELECT min(first_us) FROM agent", NULL, 0, &oldest, 1);
	if (err == 1)
		*from_us = store_window_start((uint64_t)oldest, store_levels[level].span_us);
	return err < 0 ? err : 0;
}

/* Goes on with a pass over all ports, or begins one when the level before has deleted windows. */
static int
thin_ports(struct retention *t, struct rollup *r)
{
	if (t->thin_to_us > 0)
		return thin_next(t, r);
	for (int l = LEVEL_UNSETTLED; l <= ENDED_DAYS; l++) {
		uint64_t to_us = thinned_to(t, r, (enum store_level_index)l), from_us;
		uint64_t most_us = l <= LEVEL_1_MIN ? THIN_SECONDS_US : THIN_MOST_US;

		if (r->levels[l].thinned_us >= to_us)
			continue;
		if (thinned_until(r, (enum store_level_index)l, &from_us) < 0)
			return -EIO;
		r->levels[l].thinned_us = from_us;
		if (from_us >= to_us)
			continue;
		t->thinning = (enum store_level_index)l;
		t->thin_to_us = to_us - from_us > most_us ? from_us + most_us : to_us;
		t->thin_next_us = INT64_MAX;
		t->agent = t->if_index = -1;
		return 1;
	}
	return 0;
}

/* Size */

static int
octets_used(struct rollup *r, uint64_t *octets)
{
	int64_t pages = 0, free_pages = 0, page = 0;

	if (rollup_query(r, "PRAGMA page_count", NULL, 0, &pages, 1) < 0 ||
	    rollup_query(r, "PRAGMA freelist_count", NULL, 0, &free_pages, 1) < 0 ||
	    rollup_query(r, "PRAGMA page_size", NULL, 0, &page, 1) < 0)
		return -EIO;
	*octets = (uint64_t)(pages - free_pages) * (uint64_t)page;
	return 0;
}

/* Shortens a level's range by one window of the next level, of which the last two always stay. */
static int
shorten_level(struct rollup *r, enum store_level_index level)
{
	const int64_t row[] = {store_levels[level].minutes};
	uint64_t step_us = store_levels[level + 1 < STORE_N_LEVELS ? level + 1 : level].span_us;
	int64_t oldest = 0;
	int found = rollup_query(r, "SELECT min(start_us) FROM part WHERE level = ? AND kind = 0",
	    row, 1, &oldest, 1);
	uint64_t start_us = store_window_start((uint64_t)oldest, step_us) + step_us;

	if (found < 0 || oldest == 0)
		return found < 0 ? found : 0;
	if (start_us + 2 * step_us > r->levels[level].done_us)
		return 0;
	return move_start(r, level, start_us);
}

#define OF_FIRST_BOOT                                                                                             \
	" FROM sample WHERE agent = ?1 AND boot = (SELECT min(boot) FROM sample WHERE agent = ?1) AND if_index = ?2"

/* The older half of a port's samples, of the first boot that it has; at most so many. Where numbers wrapped, which
 * makes the lowest later than the highest, the older ones are those of the upper half of 32 bits. */
static const char oldest_of_port[] =
    "DELETE FROM sample WHERE (agent, boot, if_index, sequence) IN (SELECT agent, boot, if_index, sequence"
    OF_FIRST_BOOT " AND CASE WHEN (SELECT time_us" OF_FIRST_BOOT " ORDER BY sequence LIMIT 1) > (SELECT time_us"
    OF_FIRST_BOOT " ORDER BY sequence DESC LIMIT 1) THEN sequence >= 2147483648"
    " ELSE sequence <= (SELECT (min(sequence) + max(sequence)) / 2" OF_FIRST_BOOT ") END"
    " ORDER BY sequence LIMIT ?3) RETURNING time_us";

/* Where the port has none of that boot: any of it, whose end is in sight. */
static const char oldest_of_agent[] =
    "DELETE FROM sample WHERE (agent, boot, if_index, sequence) IN (SELECT agent, boot, if_index,"
    " sequence FROM sample WHERE agent = ?1 AND boot < (SELECT boot FROM agent WHERE id = ?1) AND"
    " ?2 IS NOT NULL ORDER BY boot, if_index, sequence LIMIT ?3) RETURNING time_us";

/* Deletes samples of an agent, and notes since when it has all. Returns the number, or -EIO. */
static int
delete_of_agent(struct retention *t, struct rollup *r, const char *sql, const int64_t *row)
{
	sqlite3_stmt *s = rollup_statement(r, sql);
	int64_t floor[] = {row[0], 0};
	int code, n = 0;

	if (!s)
		return -EIO;
	for (int i = 0; i < 3; i++)
		sqlite3_bind_int64(s, i + 1, row[i]);
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t time_us = sqlite3_column_int64(s, 0);

		floor[1] = time_us >= floor[1] ? time_us + 1 : floor[1];
		n++;
	}
	sqlite3_reset(s);
	t->deleted[RETENTION_SAMPLES] += (uint64_t)n;
	if (code != SQLITE_DONE)
		return -EIO;
	if (n > 0 && rollup_query(r, "INSERT INTO sample_floor VALUES(?1, ?2) ON CONFLICT(agent) DO"
	    " UPDATE SET since_us = max(since_us, excluded.since_us)", floor, 2, NULL, 0) < 0)
		return -EIO;
	return n;
}

/* Deletes samples of a port that fills the store; where it is not known who does, the oldest. */
static int
squeeze_samples(struct retention *t, struct rollup *r)
{
	for (int tries = 0; tries < RETENTION_FILLERS; tries++) {
		uint64_t draw = ++t->n_choices * HASH_GOLDEN >> 32;
		struct retention_filler *filler = &t->fillers[draw % RETENTION_FILLERS];
		const int64_t row[] = {filler->agent, filler->if_index, SAMPLES_A_SIZE_STEP};
		int n = 0;

		if (filler->agent == 0)
			continue;
		n = delete_of_agent(t, r, oldest_of_port, row);
		if (n == 0)
			n = delete_of_agent(t, r, oldest_of_agent, row);
		if (n != 0)
			return n;
		*filler = (struct retention_filler){0};
	}
	return delete_samples(t, r, INT64_MAX, SAMPLES_A_SIZE_STEP);
}

/* Goes once through the ports. */
static int
squeeze_device_rows(struct retention *t, struct rollup *r)
{
	int n = 0;

	for (int i = 0; n >= 0 && i < PORTS_A_STEP && !t->shrunk; i++) {
		n = rollup_query(r, "SELECT * FROM (SELECT * FROM (SELECT agent, if_index FROM port WHERE (agent, if_index)"
		    " > (?1, ?2) ORDER BY 1, 2 LIMIT 1) UNION SELECT * FROM (SELECT agent, if_index FROM account WHERE"
		    " (agent, if_index) > (?1, ?2) ORDER BY 1, 2 LIMIT 1)) ORDER BY 1, 2 LIMIT 1", t->shrink_port, 2,
		    t->shrink_port, 2);
		t->shrunk = n == 0;
		for (size_t k = 0; n > 0 && k < N(spare_device_rows); k++)
			n = rollup_delete(r, spare_device_rows[k], t->shrink_port, 2,
			    &t->deleted[RETENTION_DEVICE_ROWS]) < 0 ? -EIO : 1;
	}
	return n < 0 ? n : !t->shrunk;
}

/* Whether samples, sums, counters and states take more than they may, see shares.h. */
static int
is_over_size(struct retention *t, struct rollup *r, uint64_t *octets)
{
	if (t->keep.most_octets == 0)
		return 0;
	if (octets_used(r, octets) < 0)
		return -EIO;
	if (*octets > shares_of_others(t->keep.most_octets) + (uint64_t)t->shares.held)
		return 1;
	t->over_size = t->shrunk = false;
	t->charge.n = 0;
	t->shrink_port[0] = t->shrink_port[1] = 0;
	return 0;
}

static int
delete_by_size(struct retention *t, struct rollup *r)
{
	uint64_t octets;
	int did = is_over_size(t, r, &octets);

	if (did <= 0)
		return did;
	did = squeeze_samples(t, r);
	if (did == 0)
		did = charge_step(&t->charge, r, thin_counters, &t->deleted[RETENTION_PAID]);
	if (did == 0)
		did = squeeze_device_rows(t, r);
	for (int l = LEVEL_1_MIN; did == 0 && l <= LEVEL_1_D; l++)
		did = shorten_level(r, (enum store_level_index)l);
	if (did == 0 && !t->over_size) {
		t->over_size = true;
		log_warn("store",
		    "the store has %llu octets, more than the option store_size allows, "
		    "and the data that is left is too new to be deleted; raise "
		    "store_size",
		    (unsigned long long)octets);
	}
	return did > 0 ? 1 : did;
}

int
retention_make_room(struct retention *t, struct rollup *r)
{
	uint64_t octets = 0;
	int did;

	t->shares.most_octets = t->keep.most_octets;
	did = shares_step(&t->shares, r);
	if (did == 0 && is_over_size(t, r, &octets) > 0 && octets > t->keep.most_octets)
		did = squeeze_samples(t, r);
	return did > 0 ? 1 : did;
}

int
retention_step(struct retention *t, struct rollup *r, uint64_t wall_us, uint64_t mono_us)
{
	uint64_t done_us = r->levels[LEVEL_1_MIN].done_us;
	int64_t wall_less_mono_us = (int64_t)(wall_us - mono_us);
	int64_t step_us = wall_less_mono_us - t->wall_less_mono_us;
	int did;

	/* Nothing is deleted by a wall clock that was just set. */
	if (t->wall_less_mono_us != 0 && (step_us > WALL_STEP_US || step_us < -WALL_STEP_US))
		t->wait_until_us = mono_us + WALL_STEP_WAIT_US;
	t->wall_less_mono_us = wall_less_mono_us;
	t->now_us = done_us < wall_us ? done_us : wall_us;
	if (mono_us < t->wait_until_us)
		t->now_us = 0;
	source_limits_set(&t->sources, t->keep.most_agents, t->keep.most_ports, t->keep.most_octets);
	did = retention_delete_old_rows(t, r);
	if (did == 0)
		did = delete_old_device_rows(t, r);
	if (did == 0)
		did = shares_fold_old(&t->shares, r, store_window_start(r->levels[LEVEL_1_MIN].kept_us,
		    store_levels[LEVEL_1_H].span_us));
	if (did == 0)
		did = source_limits_step(&t->sources, r, &t->deleted[RETENTION_OF_SOURCES]);
	if (did == 0)
		did = delete_old_ports(t, r);
	if (did == 0)
		did = delete_old_sums(t, r);
	if (did == 0)
		did = thin_ports(t, r);
	return did == 0 ? delete_by_size(t, r) : did;
}
