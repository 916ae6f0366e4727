/*
 * Agents: the switches that were heard, since when, how many of their samples arrived, how their
 * clocks differ from the collector's, as whom they are known and what was refused in their names,
 * in a second table which events they sent, and in a third whose datagrams the collector refused unread
 * (input/refused_senders.h). Also the long job that the store is doing, if there is one.
 */
#include "collector/report/event_names.h"
#include "collector/report/oddities.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/store/batch.h"
#include "common/made_id.h"
#include "common/number_format.h"
#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

enum {
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_ID,
	COLUMN_ADDRESS,
	COLUMN_SENDER,
	COLUMN_BOOT,
	COLUMN_BOOT_TEXT,
	COLUMN_STARTED,
	COLUMN_PORTS,
	COLUMN_SAMPLES,
	COLUMN_EXPECTED,
	COLUMN_COMPLETENESS,
	COLUMN_SAMPLED,
	COLUMN_FIRST,
	COLUMN_LAST,
	COLUMN_RECEIVED,
	COLUMN_OFFSET,
	COLUMN_DRIFT,
	COLUMN_CORRECTED,
	COLUMN_CLOCK,
	COLUMN_NAMES_READ,
	COLUMN_COUNTERS_READ,
	COLUMN_SILENT_SINCE,
	COLUMN_ASKED,
	COLUMN_SOURCE,
	COLUMN_REFUSED,
	COLUMN_REFUSED_SOURCE,
	COLUMN_REFUSED_WHY,
	COLUMN_REFUSED_NEWEST,
	N_COLUMNS,
};

static const struct report_column agent_columns[N_COLUMNS] = {
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_ID] = {"id", "ID", REPORT_TEXT},
	[COLUMN_ADDRESS] = {"address", "ADDRESS", REPORT_TEXT},
	[COLUMN_SENDER] = {NULL, "SENDER", REPORT_TEXT},
	[COLUMN_BOOT] = {"boot", NULL, REPORT_COUNT},
	[COLUMN_BOOT_TEXT] = {NULL, "BOOT", REPORT_TEXT},
	[COLUMN_STARTED] = {"started", "STARTED", REPORT_TIME},
	[COLUMN_PORTS] = {"ports", "PORTS", REPORT_COUNT},
	[COLUMN_SAMPLES] = {"samples", "SAMPLES", REPORT_COUNT},
	[COLUMN_EXPECTED] = {"expected", NULL, REPORT_COUNT},
	[COLUMN_COMPLETENESS] = {"completeness", "COMPLETE", REPORT_COMPLETENESS},
	[COLUMN_SAMPLED] = {"sampled_on", "SAMPLED ON", REPORT_TEXT},
	[COLUMN_FIRST] = {"first_data", NULL, REPORT_TIME},
	[COLUMN_LAST] = {"newest_data", "NEWEST DATA", REPORT_TIME},
	[COLUMN_RECEIVED] = {"last_seen", "LAST SEEN", REPORT_TIME},
	[COLUMN_OFFSET] = {"clock_behind_s", NULL, REPORT_COUNT},
	[COLUMN_DRIFT] = {"clock_drift_ppm", NULL, REPORT_COUNT},
	[COLUMN_CORRECTED] = {"clock_corrected_s", NULL, REPORT_COUNT},
	[COLUMN_CLOCK] = {NULL, "CLOCK", REPORT_TEXT},
	[COLUMN_NAMES_READ] = {"names_read", NULL, REPORT_TIME},
	[COLUMN_COUNTERS_READ] = {"counters_read", NULL, REPORT_TIME},
	[COLUMN_SILENT_SINCE] = {"silent_since", NULL, REPORT_TIME},
	[COLUMN_ASKED] = {NULL, "ASKED FOR", REPORT_TEXT},
	[COLUMN_SOURCE] = {"source", NULL, REPORT_TEXT},
	[COLUMN_REFUSED] = {"refused", NULL, REPORT_COUNT},
	[COLUMN_REFUSED_SOURCE] = {"refused_source", NULL, REPORT_TEXT},
	[COLUMN_REFUSED_WHY] = {"refused_reason", NULL, REPORT_TEXT},
	[COLUMN_REFUSED_NEWEST] = {"refused_newest", NULL, REPORT_TIME},
};

enum {
	EVENT_SITE,
	EVENT_AGENT,
	EVENT_KIND,
	EVENT_COUNT,
	EVENT_NEWEST,
	EVENT_PORT,
	EVENT_MAC,
	EVENT_COLUMNS,
};

static const struct report_column event_columns[EVENT_COLUMNS] = {
	[EVENT_SITE] = {"site", "SITE", REPORT_TEXT},
	[EVENT_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[EVENT_KIND] = {"event", "EVENT", REPORT_TEXT},
	[EVENT_COUNT] = {"count", "COUNT", REPORT_COUNT},
	[EVENT_NEWEST] = {"newest", "NEWEST", REPORT_TIME},
	[EVENT_PORT] = {"newest_port", "PORT", REPORT_TEXT},
	[EVENT_MAC] = {"newest_address", "ADDRESS", REPORT_TEXT},
};

enum {
	REFUSED_ADDRESS,
	REFUSED_DATAGRAMS,
	REFUSED_REASON,
	REFUSED_FIRST,
	REFUSED_NEWEST,
	REFUSED_COLUMNS,
};

static const struct report_column refused_columns[REFUSED_COLUMNS] = {
	[REFUSED_ADDRESS] = {"address", "REFUSED SENDER", REPORT_TEXT},
	[REFUSED_DATAGRAMS] = {"datagrams", "DATAGRAMS", REPORT_COUNT},
	[REFUSED_REASON] = {"reason", "WHY", REPORT_TEXT},
	[REFUSED_FIRST] = {"first", NULL, REPORT_TIME},
	[REFUSED_NEWEST] = {"newest", "NEWEST", REPORT_TIME},
};

/* ---- clocks ---- */

/* The smallest time from a snapshot to its arrival at the begin and at the end of the range: the offset of the
 * clocks and the shortest delay. Only the present boot counts, as a device's clock may have run twice. Of a long
 * range the first and the last minutes are enough: each port sends counters every minute at least. A mirror has
 * of each boot just the two snapshots with the least delay, of the first and of the second half. */
struct clocks {
	double behind_us[2], at_us[2];
	bool known[2];
};

#define ENDS_US 600000000ull

/* The agent's ports, each by one step in the index, and when the boot began. */
#define WITH_PORTS \
	"WITH RECURSIVE p(i) AS (SELECT min(if_index) FROM counter WHERE agent = ?1 UNION ALL SELECT (SELECT" \
	" min(if_index) FROM counter WHERE agent = ?1 AND if_index > p.i) FROM p WHERE i IS NOT NULL), b(since) AS" \
	" (SELECT max(:from, ifnull(min(first_us), 0)) FROM account WHERE agent = ?1 AND boot = ?2) "
#define TIME_OF_PORT \
	"(SELECT time_us FROM counter WHERE agent = ?1 AND if_index = i AND boot = ?2 AND time_us >= since AND" \
	" time_us < :to ORDER BY time_us "

static sqlite3_stmt *
prepare_clock(struct query *query, const struct query_agent *agent, const char *sql)
{
	sqlite3_stmt *stmt = query_prepare(query, sql);

	if (stmt) {
		sqlite3_bind_int64(stmt, 1, agent->id);
		sqlite3_bind_int64(stmt, 2, agent->boot);
	}
	return stmt;
}

/* The first and the last snapshot of the boot in the range; 0, 0: there is none. */
static int
find_ends(struct query *query, const struct query_agent *agent, uint64_t *first_us, uint64_t *last_us)
{
	sqlite3_stmt *stmt = prepare_clock(query, agent, WITH_PORTS "SELECT min(" TIME_OF_PORT "LIMIT 1)),"
	    " max(" TIME_OF_PORT "DESC LIMIT 1)) FROM p, b");
	int more = stmt ? query_step(query, stmt) : -EIO;

	if (more == 1) {
		*first_us = (uint64_t)sqlite3_column_int64(stmt, 0);
		*last_us = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

static int
find_least(struct query *query, const struct query_agent *agent, uint64_t from_us, uint64_t to_us,
    struct clocks *clocks, int half)
{
	sqlite3_stmt *stmt = prepare_clock(query, agent, WITH_PORTS "SELECT received_us - time_us, time_us FROM p"
	    " CROSS JOIN counter WHERE agent = ?1 AND if_index = i AND boot = ?2 AND time_us >= ?3 AND time_us < ?4"
	    " ORDER BY 1, 2 LIMIT 1");
	int more = stmt ? 0 : -EIO;

	if (!stmt)
		return more;
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)from_us);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)to_us);
	more = query_step(query, stmt);
	if (more == 1) {
		clocks->known[half] = true;
		clocks->behind_us[half] = sqlite3_column_double(stmt, 0);
		clocks->at_us[half] = sqlite3_column_double(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

static int
read_clock(struct query *query, const struct query_agent *agent, struct clocks *clocks)
{
	uint64_t first_us = 0, last_us = 0, middle_us, ends_us;
	int err = find_ends(query, agent, &first_us, &last_us);

	*clocks = (struct clocks){0};
	if (err || last_us == 0)
		return err;
	middle_us = first_us + (last_us - first_us) / 2;
	ends_us = query->store->is_remote || middle_us - first_us < ENDS_US ? last_us - middle_us : ENDS_US;
	err = find_least(query, agent, first_us, ends_us == ENDS_US ? first_us + ENDS_US : middle_us, clocks, 0);
	return err ? err : find_least(query, agent, last_us - ends_us, last_us + 1, clocks, 1);
}

/* A drift needs some time: within ten minutes a delay that changes by 1 ms looks like 2 ppm. */
#define DRIFT_LEAST_US 600e6

/* Of a clock that is corrected, what is added to its times; it drifts unnoticed behind that. */
static void
fill_wrong_clock(double behind_s, struct report_value *row)
{
	char age[NUMBER_TEXT], text[2 * NUMBER_TEXT];

	row[COLUMN_OFFSET] = row[COLUMN_CORRECTED] = cell_number(behind_s);
	number_format_age(fabs(behind_s), age);
	snprintf(text, sizeof(text), "%s %s, corrected", age, behind_s < 0 ? "ahead" : "behind");
	row[COLUMN_CLOCK] = cell_text(text);
}

static void
fill_clock(const struct clocks *c, struct report_value *row)
{
	double span_us = c->at_us[1] - c->at_us[0], behind_s = c->behind_us[1] / 1e6;
	char age[NUMBER_TEXT], text[2 * NUMBER_TEXT];

	if (!c->known[1])
		return;
	row[COLUMN_OFFSET] = cell_number(behind_s);
	if (c->known[0] && span_us >= DRIFT_LEAST_US)
		row[COLUMN_DRIFT] =
		    cell_number(-1e6 * (c->behind_us[1] - c->behind_us[0]) / span_us);
	number_format_age(fabs(behind_s), age);
	snprintf(text, sizeof(text), "%s %s", age, behind_s < 0 ? "ahead" : "behind");
	row[COLUMN_CLOCK] = cell_text(fabs(behind_s) < 1 ? "ok" : text);
}

/* ---- who may speak for an agent ---- */

static const char *const refusals[] = {
	[STORE_REFUSED_SOURCE] = "source",
	[STORE_REFUSED_BOOT] = "boot",
};

static const char *
refusal_name(int64_t reason)
{
	return reason > 0 && (size_t)reason < ARRAY_LEN(refusals) ? refusals[reason] : "other";
}

static int
fill_identity(struct query *query, const struct query_agent *agent, struct report_value *row)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT s.source, ifnull(r.records, 0), r.source, r.reason, r.last_us FROM agent a"
	    " LEFT JOIN agent_source s ON s.agent = a.id LEFT JOIN agent_refused r ON r.agent = a.id"
	    " WHERE a.id = ?1");
	int more;

	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, agent->id);
	more = query_step(query, stmt);
	if (more == 1) {
		const unsigned char *source = sqlite3_column_text(stmt, 0);

		row[COLUMN_SOURCE] = cell_text(source ? (const char *)source : "");
		row[COLUMN_REFUSED] = cell_number(sqlite3_column_double(stmt, 1));
	}
	if (more == 1 && sqlite3_column_int64(stmt, 1) > 0) {
		row[COLUMN_REFUSED_SOURCE] = cell_text((const char *)sqlite3_column_text(stmt, 2));
		row[COLUMN_REFUSED_WHY] = cell_text(refusal_name(sqlite3_column_int64(stmt, 3)));
		row[COLUMN_REFUSED_NEWEST] = cell_time((uint64_t)sqlite3_column_int64(stmt, 4));
	}
	sqlite3_finalize(stmt);
	return more < 0 ? more : 0;
}

/* ---- what was asked ---- */

static void
add_age(char *text, size_t size, const char *what, uint64_t us, uint64_t now_us)
{
	char age[NUMBER_TEXT];

	if (us == 0)
		return;
	number_format_age(now_us > us ? (double)(now_us - us) / 1e6 : 0, age);
	text_add(text, size, "%s%s%s", *text ? ", " : "", what, age);
}

/* What a switch was asked for by SNMP, and how old that is. */
static int
fill_asked(struct query *query, const struct query_agent *agent, uint64_t now_us, struct report_value *row)
{
	static const char *const what[] = {"names ", "counters ", "silent for "};
	char text[4 * NUMBER_TEXT] = "";
	sqlite3_stmt *stmt;
	int more;

	if (query->store->is_shared)
		return 0;
	stmt = query_prepare(query, "SELECT names_us, counters_us, silent_us FROM polled WHERE agent = ?1");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, agent->id);
	more = query_step(query, stmt);
	for (int i = 0; more == 1 && i < (int)ARRAY_LEN(what); i++) {
		uint64_t us = (uint64_t)sqlite3_column_int64(stmt, i);

		add_age(text, sizeof(text), what[i], us, now_us);
		if (us > 0)
			row[COLUMN_NAMES_READ + i] = cell_time(us);
	}
	sqlite3_finalize(stmt);
	if (*text)
		row[COLUMN_ASKED] = cell_text(text);
	return more < 0 ? more : 0;
}

/* ---- events ---- */

static int
agents_add_event(const struct query *query, struct report_result *events, sqlite3_stmt *stmt)
{
	const struct query_agent *agent = query_find_agent(query, sqlite3_column_int64(stmt, 0));
	const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 4));
	struct report_value *row;
	char mac[FRAME_MAC_TEXT];

	if (!agent || !agent->chosen)
		return 0;
	row = result_add_row(events);
	if (!row)
		return -ENOMEM;
	row[EVENT_SITE] = cell_site(port ? port->site : agent->site);
	row[EVENT_AGENT] = cell_text(agent->name);
	row[EVENT_KIND] = cell_text(event_name(sqlite3_column_int(stmt, 1)));
	row[EVENT_COUNT] = cell_number(sqlite3_column_double(stmt, 2));
	row[EVENT_NEWEST] = cell_time((uint64_t)sqlite3_column_int64(stmt, 3));
	if (port)
		row[EVENT_PORT] = cell_text(port->name);
	if (sqlite3_column_bytes(stmt, 5) == FRAME_MAC_LEN) {
		frame_format_mac(sqlite3_column_blob(stmt, 5), mac);
		row[EVENT_MAC] = cell_text(mac);
	}
	return 0;
}

/* By agent and kind, with port and address of the newest. Also those after the newest samples: such
 * an event may be the reason why no more came. */
static int
agents_add_events(struct query *query, bool all, struct report_result *events)
{
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(query, QUERY_ALL_ROWS, query->range.from_us, all ? UINT64_MAX : query->range.to_us);
	stmt = query_prepare(query,
	    "SELECT agent, kind, COUNT(*), MAX(time_us), if_index, mac FROM event"
	    " WHERE time_us >= :from AND (time_us < :to OR :all)"
	    " GROUP BY agent, kind ORDER BY agent, 4 DESC");
	err = stmt ? 0 : -EIO;
	if (stmt)
		sqlite3_bind_int(stmt, sqlite3_bind_parameter_index(stmt, ":all"), all);
	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = agents_add_event(query, events, stmt);
	sqlite3_finalize(stmt);
	return err;
}

/* ---- who was refused ---- */

#define REFUSED_SHOWN "20"

/* Those of whom datagrams came in the range or later, who sent most first, but for those who were heard a minute after the
 * last refusal; each collector of a cluster knows its own. */
static int
add_refused_senders(struct query *query, struct report_result *refused)
{
	sqlite3_stmt *stmt;
	int err;

	if (query->store->is_shared)
		return 0;
	stmt = query_prepare(query, "SELECT address, datagrams, reason, first_us, last_us FROM refused_sender"
	    " r WHERE last_us >= :from AND NOT EXISTS (SELECT 1 FROM agent a LEFT JOIN agent_source s ON s.agent = a.id WHERE"
	    " (a.address = r.address OR s.source = r.address) AND a.last_received_us > r.last_us + 60000000)"
	    " ORDER BY datagrams DESC, address LIMIT " REFUSED_SHOWN);
	err = stmt ? 0 : -EIO;
	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		struct report_value *row = result_add_row(refused);

		err = row ? 0 : -ENOMEM;
		if (!row)
			break;
		row[REFUSED_ADDRESS] = cell_text((const char *)sqlite3_column_text(stmt, 0));
		row[REFUSED_DATAGRAMS] = cell_number(sqlite3_column_double(stmt, 1));
		row[REFUSED_REASON] = cell_text((const char *)sqlite3_column_text(stmt, 2));
		row[REFUSED_FIRST] = cell_time((uint64_t)sqlite3_column_int64(stmt, 3));
		row[REFUSED_NEWEST] = cell_time((uint64_t)sqlite3_column_int64(stmt, 4));
	}
	sqlite3_finalize(stmt);
	return err;
}

/* An agent that was heard so short before a record in its name was refused has not moved. *assumed* */
#define BOTH_HEARD_US 60000000ull

static void
note_refusal(struct report_result *result, const struct report_value *row)
{
	const char *source = row[COLUMN_SOURCE].text, *why = row[COLUMN_REFUSED_WHY].text;
	struct note_values *note = note_new(result, NOTE_ID_REFUSED);
	bool moved = why && strcmp(why, "source") == 0;
	bool both = moved && row[COLUMN_RECEIVED].time_us + BOTH_HEARD_US >= row[COLUMN_REFUSED_NEWEST].time_us;
	uint8_t id[EASE_AGENT_ID_LEN] = {0};

	if (row[COLUMN_ID].text)
		(void)sscanf(row[COLUMN_ID].text, "%2hhx%2hhx", &id[0], &id[1]);
	note_count(note, "records", row[COLUMN_REFUSED].number);
	note_text(note, "agent", row[COLUMN_ID].text ? row[COLUMN_ID].text : "");
	note_time(note, "newest", row[COLUMN_REFUSED_NEWEST].time_us);
	note_text(note, "from", row[COLUMN_REFUSED_SOURCE].text);
	note_text(note, "source", source ? source : "what rows source name");
	note_count(note, "#moved", moved);
	note_count(note, "#both", both && made_id_kind(id) != MADE_ID_NONE);
	note_count(note, "#copied", both && made_id_kind(id) == MADE_ID_NONE);
	note_count(note, "#two", both && source && strcmp(source, row[COLUMN_REFUSED_SOURCE].text) != 0);
}

static int
agents_add_agent(struct report_result *result, struct query *query, const struct query_agent *agent, uint64_t now_us)
{
	struct report_value *row = result_add_row(result);
	struct clocks clocks;
	int err = read_clock(query, agent, &clocks);
	uint64_t expected = 0, received = 0;
	char boot[NUMBER_TEXT];
	double n_ports = 0;

	if (!row || err)
		return err ? err : -ENOMEM;
	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		if (port->agent != agent || !port->chosen)
			continue;
		n_ports++;
		expected += port->expected;
		received += port->received;
		result_count_port(result, port);
	}
	row[COLUMN_SITE] = cell_site(agent->site);
	row[COLUMN_AGENT] = cell_text(agent->name);
	row[COLUMN_ID] = cell_text(agent->id_text);
	row[COLUMN_ADDRESS] = cell_text(agent->address);
	row[COLUMN_SENDER] = cell_text(*agent->sender ? agent->sender : agent->address);
	row[COLUMN_BOOT] = cell_number((double)agent->boot);
	if (agent->boot >= QUERY_SFLOW_BOOTS) { /* in place of a number that sFlow has not, the second in which it started */
		row[COLUMN_STARTED] = cell_time((uint64_t)agent->boot * 1000000);
	} else {
		number_format_count((double)agent->boot, boot);
		row[COLUMN_BOOT_TEXT] = cell_text(boot);
	}
	row[COLUMN_PORTS] = cell_number(n_ports);
	row[COLUMN_SAMPLES] = cell_number((double)received);
	row[COLUMN_EXPECTED] = cell_number((double)expected);
	row[COLUMN_COMPLETENESS] = cell_completeness(received, expected);
	row[COLUMN_SAMPLED] = cell_label(query_sampled_text(agent->samples[EASE_IN], agent->samples[EASE_OUT]));
	row[COLUMN_FIRST] = cell_time(agent->first_us);
	row[COLUMN_LAST] = cell_time(agent->last_us);
	row[COLUMN_RECEIVED] = cell_time(agent->last_received_us);
	row[COLUMN_CORRECTED] = cell_number(0);
	if (agent->clock_off_us != 0)
		fill_wrong_clock((double)agent->clock_off_us / 1e6, row);
	else
		fill_clock(&clocks, row);
	err = fill_identity(query, agent, row);
	if (err == 0)
		err = fill_asked(query, agent, now_us, row);
	if (err == 0 && row[COLUMN_REFUSED].number >= 1 && row[COLUMN_REFUSED_SOURCE].text)
		note_refusal(result, row);
	return err;
}

/* ---- the store ---- */

static int
read_work(struct query *query, struct report_result *result)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT work, done, total FROM progress ORDER BY at_us DESC LIMIT 1");
	int err = stmt ? query_step(query, stmt) : -EIO;

	if (err == 1) {
		note_text(note_of(result, NOTE_ID_STORE_WORK), "work", (const char *)sqlite3_column_text(stmt, 0));
		note_count(note_of(result, NOTE_ID_STORE_WORK), "done", sqlite3_column_double(stmt, 1));
		note_count(note_of(result, NOTE_ID_STORE_WORK), "total", sqlite3_column_double(stmt, 2));
	}
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

static int
read_lag(struct query *query, struct report_result *result)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT value FROM stat WHERE name = 'ship.lag_s'");
	int err = stmt ? query_step(query, stmt) : -EIO;

	if (err == 1 && sqlite3_column_int64(stmt, 0) > 0)
		note_count(note_of(result, NOTE_ID_CLUSTER_LAG), "cluster_lag_s", sqlite3_column_double(stmt, 0));
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

static int
read_reach(struct query *query, struct report_result *result)
{
	struct report_reach reach;
	int err = query->store->is_shared ? 0 : query_read_reach(query, &reach);

	for (int i = 0; err == 0 && !query->store->is_shared && i < REPORT_N_REACH; i++) {
		struct note_values *level;

		note_time(note_of(result, NOTE_ID_KEPT_SINCE), report_reach_names[i], reach.since_us[i]);
		if (reach.since_us[i] == 0)
			continue;
		level = note_item(result, NOTE_ID_KEPT_SINCE);
		note_text(level, "level", report_reach_names[i]);
		note_time(level, "since", reach.since_us[i]);
		note_count(level, "sums", i > 0);
	}
	return err;
}

/* Names and senders that are the addresses, and sites that are none, are not worth a column. */
static uint32_t
what_no_agent_has(const struct query *query)
{
	uint32_t hidden = 1u << COLUMN_AGENT | 1u << COLUMN_SITE | 1u << COLUMN_SENDER | 1u << COLUMN_BOOT_TEXT | 1u << COLUMN_STARTED;

	for (size_t i = 0; i < query->n_agents; i++) {
		const struct query_agent *agent = &query->agents[i];

		if (agent->chosen && *agent->sender)
			hidden &= ~(1u << COLUMN_SENDER);
		if (agent->chosen && (agent->is_named || *agent->system_name || agent->digits > 0 || agent->lacks_address))
			hidden &= ~(1u << COLUMN_AGENT);
		if (agent->chosen)
			hidden &= ~(1u << (agent->boot >= QUERY_SFLOW_BOOTS ? COLUMN_STARTED : COLUMN_BOOT_TEXT));
		if (agent->chosen && agent->site)
			hidden &= ~(1u << COLUMN_SITE);
	}
	return hidden;
}

static bool
is_anybody_asked(const struct report_result *result)
{
	for (size_t i = 0; i < result->n_rows; i++)
		if (result->values[i * N_COLUMNS + COLUMN_ASKED].text)
			return true;
	return false;
}

int
report_agents(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	result_begin(result, "agents", agent_columns, N_COLUMNS, query);
	result->hidden = what_no_agent_has(query);
	err = query_windows(query);
	result->hidden |= query->n_sent_agents > 0 ? 0 : 1u << COLUMN_SAMPLED;
	for (size_t i = 0; err == 0 && i < query->n_agents; i++)
		if (query->agents[i].chosen)
			err = agents_add_agent(result, query, &query->agents[i], now_us);
	result->hidden |= is_anybody_asked(result) ? 0 : 1u << COLUMN_ASKED;
	result_finish(result, query);
	if (err == 0)
		err = read_work(query, result);
	if (err == 0)
		err = read_lag(query, result);
	if (err == 0)
		err = read_reach(query, result);
	if (err == 0)
		err = result_add_below(result, "events", event_columns, EVENT_COLUMNS);
	if (err == 0)
		err = agents_add_events(query, options->all && !options->has_to, result->below);
	if (result->below)
		result_hide_agent(result->below, query, EVENT_AGENT);
	if (err == 0)
		err = oddities_add_table(query, result->below);
	if (err == 0 && result->below->below)
		result_hide_agent(result->below->below, query, 1);
	if (err == 0)
		err = result_add_below(result->below->below, "refused_senders", refused_columns, REFUSED_COLUMNS);
	if (err == 0)
		err = add_refused_senders(query, result->below->below->below);
	return err;
}
