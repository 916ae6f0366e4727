/*
 * Loss: where each numbered sample was lost, by agent, port and boot: in the agent, in the network,
 * or with a collector that died; what the collector itself refused or dropped; its outages; and how
 * many frames were counted, but not sampled, because nothing arrived.
 * Numbers that a boot gave out before the collector first heard of it are expected of the boot but
 * were not lost: they have a column of their own, and the completeness leaves them out.
 */
#include "collector/query/query_private.h"
#include "collector/report/event_names.h"
#include "collector/report/oddities.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "common/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_BOOT,
	COLUMN_EXPECTED,
	COLUMN_RECEIVED,
	COLUMN_LOST,
	COLUMN_LOST_AGENT,
	COLUMN_LOST_COLLECTOR,
	COLUMN_LOST_ELSEWHERE,
	COLUMN_LOST_NETWORK,
	COLUMN_BEFORE,
	COLUMN_APART,
	COLUMN_DUPLICATES,
	COLUMN_REORDERED,
	COLUMN_LATE,
	COLUMN_STALLS,
	COLUMN_STALLED,
	N_COLUMNS,
};

/* Rows at most, whatever --top says: some ten megabytes of JSON. Of more the places still have the sums.
 */
enum { ROWS_MAX = 10000 };

static const struct report_column loss_columns[N_COLUMNS] = {
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_BOOT] = {"boot", "BOOT", REPORT_COUNT},
	[COLUMN_EXPECTED] = {"expected", "EXPECTED", REPORT_COUNT},
	[COLUMN_RECEIVED] = {"received", "RECEIVED", REPORT_COUNT},
	[COLUMN_LOST] = {"lost", "LOST", REPORT_COUNT},
	[COLUMN_LOST_AGENT] = {"lost_in_agent", "in agent", REPORT_COUNT},
	[COLUMN_LOST_COLLECTOR] = {"lost_in_collector", "in collector", REPORT_COUNT},
	[COLUMN_LOST_ELSEWHERE] = {"lost_elsewhere", NULL, REPORT_COUNT}, /* the next two */
	[COLUMN_LOST_NETWORK] = {"lost_network", "in network", REPORT_COUNT},
	[COLUMN_BEFORE] = {"before_collector", "before collector", REPORT_COUNT},
	/* of no number, so none of those that are lost */
	[COLUMN_APART] = {"dropped_apart", "dropped in agent, by its word", REPORT_COUNT},
	[COLUMN_DUPLICATES] = {"duplicates", "DUPL", REPORT_COUNT},
	[COLUMN_REORDERED] = {"reordered", "REORD", REPORT_COUNT},
	[COLUMN_LATE] = {"late", "LATE", REPORT_COUNT},
	[COLUMN_STALLS] = {"stalls", "STALLS", REPORT_COUNT},
	[COLUMN_STALLED] = {"stalled_frames", "unsampled frames", REPORT_COUNT},
};

/*
 * Where the collector itself lost something, by its own counters since its start. Whoever sent a
 * datagram that was dropped unread is not known, so its samples are also among those of the place
 * "network": they were lost in the network unless a place from "receive buffer" to "accounting" has
 * a count.
 */
enum { PLACE_NAMES = 20 };

static const struct place {
	const char *place, *of, *names[PLACE_NAMES];
	bool if_any; /* no row with 0 */
} places[] = {
	{"receive buffer", "datagrams", {"input.kernel_drops"}, false},
	{"fair share", "datagrams", {"input.over_share", "slow_path.over_share"}, false},
	{"refused", "datagrams", {"input.refused_sender", "input.refused_community",
	    "input.refused_oversize", "input.refused_parse", "input.refused_version",
	    "input.refused_value", "input.refused_parts", "input.refused_too_many",
	    "slow_path.refused",
	    "v3.refused_parse", "v3.unknown_engine", "v3.unknown_user", "v3.wrong_digest",
	    "v3.not_in_time_window", "v3.decryption", "v3.security_level", "sflow.refused_version",
	    "sflow.refused_datagram"}, false},
	{"slow queue", "datagrams", {"slow_path.queue_full", "inform.full"}, false},
	{"accounting", "records", {"accounting.agents_full", "accounting.ports_full",
	    "accounting.old_boot",
	    "accounting.bad_time", "sflow.agents_full", "sflow.ports_full", "sflow.no_interface",
	    "sflow.refused_sample",
	    "sflow.too_many"}, false},
	{"store", "rows", {"accounting.lost_store_queue", "accounting.lost_store_rows",
	    "store.lost_rows"}, false},
	/* of a cluster: not lost, another collector received them as well */
	{"counted already", "samples", {"cluster.passed_over"}, true},
};

enum { PLACE_PLACE, PLACE_COUNT, PLACE_OF, PLACE_SINCE, PLACE_UNTIL, PLACE_COLUMNS };

static const struct report_column place_columns[PLACE_COLUMNS] = {
	[PLACE_PLACE] = {"place", "LOST WHERE", REPORT_TEXT},
	[PLACE_COUNT] = {"count", "COUNT", REPORT_COUNT},
	[PLACE_OF] = {"of", "OF", REPORT_TEXT},
	[PLACE_SINCE] = {"since", "SINCE", REPORT_TIME}, /* of an outage */
	[PLACE_UNTIL] = {"until", "UNTIL", REPORT_TIME},
};

static int
loss_add_place(struct report_result *below, const char *place, double count, const char *of)
{
	struct report_value *row = result_add_row(below);

	if (!row)
		return -ENOMEM;
	row[PLACE_PLACE] = cell_text(place);
	row[PLACE_COUNT] = cell_number(count);
	row[PLACE_OF] = cell_text(of);
	return 0;
}

static int
add_refusal(void *below, const char *text, double n)
{
	return loss_add_place(below, text, n, "samples");
}

static double
loss_count_of(const struct report_result *result, const struct place *place)
{
	double count = 0;

	for (size_t i = 0; i < PLACE_NAMES && place->names[i]; i++)
		for (size_t c = 0; c < result->n_counters; c++)
			if (strcmp(result->counters[c].name, place->names[i]) == 0)
				count += (double)result->counters[c].value;
	return count;
}

/* A row for each kind: how many, from the last data stored before the first outage to the end of
 * the last one. The samples that they cost are in the place "collector". */
static int
add_outages_of_kind(struct report_result *result, sqlite3_stmt *stmt)
{
	struct report_value *row = result_add_row(result->below);

	if (!row)
		return -ENOMEM;
	row[PLACE_PLACE] = cell_text(outage_words(sqlite3_column_int(stmt, 0)).name);
	row[PLACE_COUNT] = cell_number(sqlite3_column_double(stmt, 1));
	row[PLACE_OF] = cell_text("outages");
	row[PLACE_SINCE] = cell_time((uint64_t)sqlite3_column_int64(stmt, 2));
	row[PLACE_UNTIL] = cell_time((uint64_t)sqlite3_column_int64(stmt, 3));
	return 0;
}

static int
loss_add_outages(struct query *query, uint64_t now_us, struct report_result *result)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT kind, count(*), min(since_us),"
	    " max(until_us) FROM outage WHERE until_us >= :from AND since_us < :to AND until_us <= ?3 + 86400000000 GROUP BY kind");
	int err = stmt ? 0 : -EIO;

	if (stmt) /* one that ends days later: reports.c */
		sqlite3_bind_int64(stmt, 3, (sqlite3_int64)now_us);

	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = add_outages_of_kind(result, stmt);
	sqlite3_finalize(stmt);
	return err;
}

/* Frames that ports counted while nothing of them arrived: none of them was sampled. */
static int
add_gaps(struct query *query, struct report_result *result)
{
	const struct query_in_gaps *gaps = &query->in_gaps;
	struct report_value *row;

	if (gaps->since_us == 0)
		return 0;
	row = result_add_row(result->below);
	if (!row)
		return -ENOMEM;
	row[PLACE_PLACE] = cell_text("not sampled: no counters came");
	row[PLACE_COUNT] = cell_number(gaps->pkts);
	row[PLACE_OF] = cell_text("frames");
	row[PLACE_SINCE] = cell_time(gaps->since_us);
	row[PLACE_UNTIL] = cell_time(gaps->until_us);
	return 0;
}

static int
add_places(struct query *query, uint64_t now_us, struct report_result *result)
{
	double agent = 0, collector = 0, network = 0, before = 0, apart = 0;
	int err = result_add_below(result, "places", place_columns, PLACE_COLUMNS);

	for (size_t i = 0; i < query->n_agents; i++) {
		agent += query->agents[i].losses.in_agent;
		collector += query->agents[i].losses.in_collector;
		network += query->agents[i].losses.network;
		before += query->agents[i].losses.before;
		apart += query->agents[i].losses.apart;
	}
	if (err == 0)
		err = loss_add_place(result->below, "agent", agent, "samples");
	if (err == 0)
		err = loss_add_place(result->below, "collector", collector, "samples");
	if (err == 0)
		err = loss_add_place(result->below, "network", network, "samples");
	if (err == 0)
		err = loss_add_place(result->below, "before the collector", before, "samples");
	if (err == 0 && apart > 0)
		err = loss_add_place(result->below, "agent, by its word", apart, "samples");
	if (err == 0)
		err = oddities_each_refusal(query, add_refusal, result->below);
	for (size_t i = 0; err == 0 && i < ARRAY_LEN(places); i++) {
		double count = loss_count_of(result, &places[i]);

		if (count > 0 || !places[i].if_any)
			err = loss_add_place(result->below, places[i].place, count, places[i].of);
	}
	if (err == 0 && result->uncounted.lost_samples > 0) /* of those above */
		err = loss_add_place(result->below, "in no figure: no counters came",
		    (double)result->uncounted.lost_samples, "samples");
	if (err == 0)
		err = add_gaps(query, result);
	return err == 0 ? loss_add_outages(query, now_us, result) : err;
}

static double
loss_at_most(double value, double most)
{
	return value > most ? most : value; /* NAN stays */
}

/* An account as it is shown. Of many only those that lost most are kept while reading. */
struct shown {
	const struct query_port *port;
	double cells[N_COLUMNS];
};

struct accounts {
	struct shown *items; /* while there are more than most: a heap, the one that lost least first */
	size_t n, room, most;
	size_t n_left_out;
	uint64_t since_us; /* the first of them began */
};

static bool
lost_less(const struct shown *a, const struct shown *b)
{
	return a->cells[COLUMN_LOST] < b->cells[COLUMN_LOST];
}

/* Moves an item down to its place in the heap. */
static void
sink_item(struct accounts *accounts, size_t at)
{
	struct shown item = accounts->items[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < accounts->n && lost_less(&accounts->items[child + 1], &accounts->items[child]))
			child++;
		if (child >= accounts->n || !lost_less(&accounts->items[child], &item))
			break;
		accounts->items[at] = accounts->items[child];
		at = child;
	}
	accounts->items[at] = item;
}

static int
keep_account(struct query *query, struct accounts *accounts, const struct shown *item)
{
	if (accounts->n == accounts->most) {
		if (accounts->n_left_out++ == 0)
			for (size_t i = accounts->n / 2; i-- > 0;)
				sink_item(accounts, i);
		if (lost_less(&accounts->items[0], item)) {
			accounts->items[0] = *item;
			sink_item(accounts, 0);
		}
		return 0;
	}
	if (accounts->n == accounts->room) {
		size_t room = accounts->room ? 2 * accounts->room : 256;
		struct shown *items = realloc(accounts->items, room * sizeof(*items));

		if (!items)
			return query_fail(query, -ENOMEM, "no memory");
		accounts->items = items;
		accounts->room = room;
	}
	accounts->items[accounts->n++] = *item;
	return 0;
}

static void
add_losses(struct query_losses *sum, const double *cells)
{
	sum->expected += cells[COLUMN_EXPECTED];
	sum->received += cells[COLUMN_RECEIVED];
	sum->lost += cells[COLUMN_LOST];
	sum->in_agent += cells[COLUMN_LOST_AGENT];
	sum->in_collector += cells[COLUMN_LOST_COLLECTOR];
	sum->network += cells[COLUMN_LOST_NETWORK];
	sum->before += isnan(cells[COLUMN_BEFORE]) ? 0 : cells[COLUMN_BEFORE];
	sum->apart += cells[COLUMN_APART];
	sum->duplicates += cells[COLUMN_DUPLICATES];
}

static int
loss_add_account(struct query *query, struct report_result *result, struct accounts *accounts, sqlite3_stmt *stmt)
{
	struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
	    (uint64_t)sqlite3_column_int64(stmt, 1));
	double expected = sqlite3_column_double(stmt, 3), received = sqlite3_column_double(stmt, 4);
	double lost = expected > received ? expected - received : 0;
	double agent = loss_at_most(sqlite3_column_double(stmt, 5), lost);
	double collector = loss_at_most(sqlite3_column_double(stmt, 11), lost - agent);
	double elsewhere = lost - agent - collector;
	double before = loss_at_most(query_given_out_before(stmt, 12), elsewhere);
	struct shown item = {.port = port};

	if (!port || !port->chosen)
		return 0;
	if (query_u64(stmt, 14) < accounts->since_us)
		accounts->since_us = query_u64(stmt, 14);
	item.cells[COLUMN_BOOT] = sqlite3_column_double(stmt, 2);
	item.cells[COLUMN_EXPECTED] = expected;
	item.cells[COLUMN_RECEIVED] = received;
	item.cells[COLUMN_LOST] = lost;
	item.cells[COLUMN_LOST_AGENT] = agent;
	item.cells[COLUMN_LOST_COLLECTOR] = collector;
	item.cells[COLUMN_LOST_ELSEWHERE] = elsewhere;
	item.cells[COLUMN_LOST_NETWORK] = isnan(before) ? elsewhere : elsewhere - before;
	item.cells[COLUMN_BEFORE] = before;
	item.cells[COLUMN_APART] = sqlite3_column_double(stmt, 13);
	for (int i = COLUMN_DUPLICATES; i <= COLUMN_STALLED; i++)
		item.cells[i] = sqlite3_column_double(stmt, 6 + i - COLUMN_DUPLICATES);
	result->samples += (uint64_t)received;
	result->expected += (uint64_t)(expected - (isnan(before) ? 0 : before));
	add_losses(&query->agents[port->agent - query->agents].losses, item.cells);
	return keep_account(query, accounts, &item);
}

static int
compare_shown(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int64_t agents = x->port->agent->id - y->port->agent->id;

	if (agents != 0)
		return agents < 0 ? -1 : 1;
	if (x->cells[COLUMN_BOOT] != y->cells[COLUMN_BOOT])
		return x->cells[COLUMN_BOOT] < y->cells[COLUMN_BOOT] ? -1 : 1;
	return x->port->if_index < y->port->if_index ? -1 : x->port->if_index > y->port->if_index;
}

/* By agent, boot and port. */
static int
show_accounts(struct report_result *result, const struct accounts *accounts)
{
	if (accounts->n > 0)
		qsort(accounts->items, accounts->n, sizeof(*accounts->items), compare_shown);
	for (size_t i = 0; i < accounts->n; i++) {
		const struct shown *item = &accounts->items[i];
		struct report_value *row = result_add_row(result);

		if (!row)
			return -ENOMEM;
		row[COLUMN_SITE] = cell_site(item->port->site);
		row[COLUMN_AGENT] = cell_text(item->port->agent->name);
		row[COLUMN_PORT] = cell_text(item->port->name);
		for (int c = COLUMN_BOOT; c < N_COLUMNS; c++)
			row[c] = cell_number(item->cells[c]);
	}
	result_leave_out(result, accounts->n_left_out);
	return 0;
}

/* An account is of a whole boot: those that the range overlaps. */
static int
add_accounts(struct query *query, const struct report_options *options, struct report_result *result)
{
	struct accounts accounts = {.most = options->has_top ? options->top : ROWS_MAX, .since_us = UINT64_MAX};
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT agent, if_index, boot, expected, received,"
	    " agent_drops, duplicates, reordered, late, stalls, stalled_pkts,"
	    " (SELECT samples FROM gone WHERE agent = account.agent AND boot = account.boot"
	    " AND if_index = account.if_index), tracker, dropped_apart, first_us FROM account"
	    " WHERE last_us >= :from AND first_us < :to");
	int err = stmt ? 0 : -EIO;

	for (size_t i = 0; i < query->n_agents; i++)
		query->agents[i].losses = (struct query_losses){0};
	if (accounts.most > ROWS_MAX)
		accounts.most = ROWS_MAX;
	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = loss_add_account(query, result, &accounts, stmt);
	sqlite3_finalize(stmt);
	if (err == 0)
		err = show_accounts(result, &accounts);
	if (err == 0 && accounts.since_us < result->from_us)
		note_time(note_of(result, NOTE_ID_WHOLE_BOOTS), "counted_since", accounts.since_us);
	free(accounts.items);
	return err;
}

static int
add_counter(struct report_result *result, const char *name, uint64_t value)
{
	struct report_counter *counters = realloc(result->counters,
	    (result->n_counters + 1) * sizeof(*counters));

	if (!counters)
		return -ENOMEM;
	result->counters = counters;
	counters += result->n_counters;
	counters->value = value;
	counters->name = utf8_printable_copy(name ? name : "");
	if (!counters->name)
		return -ENOMEM;
	result->n_counters++;
	return 0;
}

static int
add_counters(struct query *query, struct report_result *result)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT name, value FROM stat ORDER BY name");
	int err = stmt ? 0 : -EIO;

	while (err == 0 && (err = query_step(query, stmt)) == 1)
		err = add_counter(result, (const char *)sqlite3_column_text(stmt, 0),
		    (uint64_t)sqlite3_column_int64(stmt, 1));
	sqlite3_finalize(stmt);
	return err;
}

static bool
drops_are_told(const struct query *query)
{
	bool any = false;

	for (size_t i = 0; i < query->n_agents; i++)
		any |= query->agents[i].losses.apart > 0;
	return any;
}

/* Of what is lost nowhere, and of boots where no agent has two, few want a column. */
static uint32_t
find_details(const struct report_result *result)
{
	uint32_t details = 1u << COLUMN_BOOT;

	for (size_t column = COLUMN_LOST_AGENT; column <= COLUMN_STALLED; column++)
		details |= 1u << column;
	for (size_t r = 0; r < result->n_rows; r++) {
		for (size_t column = COLUMN_LOST_AGENT; column <= COLUMN_STALLED; column++)
			if (report_cell(result, r, column)->number > 0)
				details &= ~(1u << column);
		/* rows are by agent and boot */
		if (r > 0 && report_cell(result, r, COLUMN_BOOT)->number != report_cell(result, r - 1, COLUMN_BOOT)->number &&
		    strcmp(report_cell(result, r, COLUMN_AGENT)->text, report_cell(result, r - 1, COLUMN_AGENT)->text) == 0)
			details &= ~(1u << COLUMN_BOOT);
	}
	return details;
}

int
report_loss(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	int err;

	query->wants_numbers = true;
	err = query_begin(query, options, now_us);
	query->wants_numbers = false;
	if (err)
		return err;
	result_begin(result, "loss", loss_columns, N_COLUMNS, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			result_count_port(result, &query->ports[i]);
	result->samples = result->expected = 0; /* these come from the accounts, not from the windows */
	if (err == 0)
		err = add_accounts(query, options, result);
	if (err == 0)
		err = add_counters(query, result);
	if (err == 0)
		err = add_places(query, now_us, result);
	result->hidden |= drops_are_told(query) ? 0 : 1u << COLUMN_APART;
	result->details = find_details(result);
	result_hide_agent(result, query, COLUMN_AGENT);
	result_finish(result, query);
	return err;
}
