/*
 * Links between two switches, as both name each other by LLDP: of each way what one end counted as sent, the other as
 * received, and what samples at that end say, beside each other; and what the differences mean. A bad cable shows in errors
 * at the receiving end, a wrong rate in samples at one end that do not agree with that end's own counters.
 */
#include "collector/report/links.h"
#include "collector/report/load_judge.h"
#include "collector/report/oddities.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COLUMN_FROM_AGENT,
	COLUMN_FROM_PORT,
	COLUMN_TO_AGENT,
	COLUMN_TO_PORT,
	COLUMN_SENT,
	COLUMN_RECEIVED,
	COLUMN_SENT_RATE,
	COLUMN_RECEIVED_RATE,
	COLUMN_SAMPLED,
	COLUMN_ERRORS,
	COLUMN_DISCARDS,
	COLUMN_MISSING,
	COLUMN_CHECK,
	COLUMN_SAYS,
	COLUMN_DISAGREES,
	COLUMN_SEEN,
	N_COLUMNS,
};

static const struct report_column link_columns[N_COLUMNS] = {
    [COLUMN_FROM_AGENT] = {"from_agent", "FROM", REPORT_TEXT},
    [COLUMN_FROM_PORT] = {"from_port", "PORT", REPORT_TEXT},
    [COLUMN_TO_AGENT] = {"to_agent", "TO", REPORT_TEXT},
    [COLUMN_TO_PORT] = {"to_port", "PORT", REPORT_TEXT},
    [COLUMN_SENT] = {"sent_packets", NULL, REPORT_COUNT},
    [COLUMN_RECEIVED] = {"received_packets", NULL, REPORT_COUNT},
    [COLUMN_SENT_RATE] = {NULL, "SENT pps", REPORT_RATE},
    [COLUMN_RECEIVED_RATE] = {NULL, "RECEIVED", REPORT_RATE},
    [COLUMN_SAMPLED] = {"sampled_packets", "SAMPLED", REPORT_PKTS},
    [COLUMN_ERRORS] = {"errors", "ERRORS", REPORT_COUNT},
    [COLUMN_DISCARDS] = {"discards", "DISCARDED", REPORT_COUNT},
    [COLUMN_MISSING] = {"missing", "MISSING", REPORT_COUNT},
    [COLUMN_CHECK] = {"check", "CHECK", REPORT_TEXT},
    [COLUMN_SAYS] = {"says", "SAYS", REPORT_TEXT},
    [COLUMN_DISAGREES] = {"disagrees", NULL, REPORT_COUNT}, /* 1: something is wrong, and says tells what; 0 */
    [COLUMN_SEEN] = {"seen", NULL, REPORT_TIME},
};

enum { LINKS_MAX = 20000, SAYS_TEXT = 160, ERRORS_LEAST = 10, FRAMES_LEAST = 100 };
#define ERRORS_PART   1e-6 /* a cable within its standard has at most one bad bit in 10^10, so one bad frame in 10^6 */
#define MISSING_PART  1e-3 /* *assumed*: ends that count otherwise (frames of the link itself) differ by less */
#define FORGOTTEN_US  (2 * 3600 * 1000000ull) /* LLDP is read each hour */

struct link {
	const struct query_port *a, *b;
	uint64_t seen_us;
	bool disagrees; /* one of its ways does */
};

struct links {
	struct query *query;
	struct report_result *result;
	struct link *items;
	size_t n, n_left_out;
	double skip;
};

/* ---- which there are ---- */

static int
take_stored_link(struct links *l, sqlite3_stmt *stmt)
{
	const struct query_port *a = query_find_port(l->query, sqlite3_column_int64(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1));
	const struct query_port *b = query_find_port(l->query, sqlite3_column_int64(stmt, 2), (uint64_t)sqlite3_column_int64(stmt, 3));
	struct link *more;

	if (!a || !b || !(a->chosen || b->chosen))
		return 0;
	if (l->n == LINKS_MAX) {
		l->n_left_out++;
		return 0;
	}
	if ((l->n & (l->n - 1)) == 0) { /* at powers of two there is room for no more */
		more = realloc(l->items, (l->n > 0 ? 2 * l->n : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->items = more;
	}
	l->items[l->n++] = (struct link){a, b, (uint64_t)sqlite3_column_int64(stmt, 4), false};
	return 0;
}

static int
read_links(struct links *l)
{
	/* Either end may have told of it; it counts once, from the end that has the smaller number. */
	sqlite3_stmt *stmt = query_prepare(l->query, "SELECT agent, if_index, other_agent, other_if_index, max(seen_us) FROM"
	    " (SELECT agent, if_index, other_agent, other_if_index, seen_us FROM link"
	    "   WHERE (agent, if_index) < (other_agent, other_if_index)"
	    "  UNION ALL SELECT other_agent, other_if_index, agent, if_index, seen_us FROM link"
	    "   WHERE (agent, if_index) > (other_agent, other_if_index))"
	    " WHERE seen_us >= ?1 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4");
	uint64_t from_us = l->query->range.from_us;
	int err = stmt ? 0 : -EIO;

	if (stmt)
		sqlite3_bind_int64(stmt, 1, (sqlite3_int64)(from_us > FORGOTTEN_US ? from_us - FORGOTTEN_US : 0));
	while (err == 0 && (err = query_step(l->query, stmt)) == 1)
		err = take_stored_link(l, stmt);
	sqlite3_finalize(stmt);
	return err;
}

/* ---- one way of a link ---- */

struct way {
	const struct query_port *from, *to;
	struct load_judgement sender, receiver;
	double sent, received, errors, discards; /* NAN: not counted */
	double slack; /* so many frames may lie beyond the counters at the range's ends */
};

static void
fill_way(struct way *w, double range_s)
{
	const struct query_load *from = &w->sender.load, *to = &w->receiver.load;
	double rate;

	w->sent = from->known ? query_tx_pkts(from) : NAN;
	w->received = to->known ? query_rx_pkts(to) : NAN;
	w->errors = to->known ? to->in_errors : NAN;
	w->discards = to->known ? to->in_discards : NAN;
	rate = fmax(isnan(w->sent) ? 0 : w->sent, isnan(w->received) ? 0 : w->received) / range_s;
	w->slack = rate * (from->off_s + to->off_s) + MISSING_PART * rate * range_s + ERRORS_LEAST;
}

/* Frames that one end sent, and of which the other neither received nor counted anything; NAN: it is not known. */
static double
missing_of(const struct way *w)
{
	return w->sent - w->received - (isnan(w->errors) ? 0 : w->errors);
}

static bool
has_bad_frames(const struct way *w)
{
	return w->errors >= ERRORS_LEAST && w->errors > ERRORS_PART * (w->received + w->errors);
}

static bool
is_wrong(const char *check)
{
	return strncmp(check, "mismatch", 8) == 0 || strcmp(check, "not sampling") == 0;
}

/* A device may leave what it discards out of what it received. Returns whether something is wrong. */
static bool
say_counters(const struct way *w, char *says)
{
	double missing = missing_of(w), discards = isnan(w->discards) ? 0 : w->discards;

	if (has_bad_frames(w)) {
		snprintf(says, SAYS_TEXT, "bad cable: %.0f bad frames at %.40s", w->errors, w->to->name);
	} else if (isnan(missing) || fmax(w->sent, w->received) < FRAMES_LEAST) {
		snprintf(says, SAYS_TEXT, "%s", isnan(missing) ? "not counted at both ends" : "few frames");
		return false;
	} else if (missing - discards > w->slack) {
		snprintf(says, SAYS_TEXT, "%.0f frames were lost in between", missing - discards);
	} else if (-missing > w->slack) {
		snprintf(says, SAYS_TEXT, "%.0f frames more were received than sent", -missing);
	}
	return *says != '\0';
}

/* Samples are held against the counters of their own end. The other end's may agree with its own: then the fault is here. */
static bool
say_all(const struct way *w, char says[SAYS_TEXT])
{
	char counters[SAYS_TEXT] = "", samples[SAYS_TEXT] = "";
	bool is_fault;

	is_fault = say_counters(w, counters);
	if (is_wrong(w->receiver.check))
		snprintf(samples, sizeof(samples), "wrong rate at %.40s: %s", w->to->name, w->receiver.check);
	snprintf(says, SAYS_TEXT, "%.70s%s%.80s", counters, *counters && *samples ? "; " : "", samples);
	if (!*says)
		snprintf(says, SAYS_TEXT, "ok");
	return is_fault || *samples;
}

static int
read_way(const struct links *l, const struct query_port *from, const struct query_port *to, struct way *w)
{
	int err;

	*w = (struct way){.from = from, .to = to};
	err = load_judge(l->query, from, l->skip, &w->sender);
	if (err == 0)
		err = load_judge(l->query, to, l->skip, &w->receiver);
	if (err == 0)
		fill_way(w, (double)(l->query->range.to_us - l->query->range.from_us) / 1e6);
	return err;
}

static int
add_way(struct links *l, const struct query_port *from, const struct query_port *to, uint64_t seen_us)
{
	struct report_value *row = result_add_row(l->result);
	char says[SAYS_TEXT];
	struct way w;
	int err = row ? read_way(l, from, to, &w) : -ENOMEM;

	if (err)
		return err;
	row[COLUMN_DISAGREES] = cell_number(say_all(&w, says));
	row[COLUMN_FROM_AGENT] = cell_text(from->agent->name);
	row[COLUMN_FROM_PORT] = cell_text(from->name);
	row[COLUMN_TO_AGENT] = cell_text(to->agent->name);
	row[COLUMN_TO_PORT] = cell_text(to->name);
	row[COLUMN_SENT] = cell_number(round(w.sent));
	row[COLUMN_RECEIVED] = cell_number(round(w.received));
	row[COLUMN_SENT_RATE] = cell_number(w.sent / w.sender.load.seconds);
	row[COLUMN_RECEIVED_RATE] = cell_number(w.received / w.receiver.load.seconds);
	if (w.receiver.has_samples)
		row[COLUMN_SAMPLED] = cell_figure(w.receiver.by_samples);
	row[COLUMN_ERRORS] = cell_number(round(w.errors));
	row[COLUMN_DISCARDS] = cell_number(round(w.discards));
	row[COLUMN_MISSING] = cell_number(round(missing_of(&w)));
	row[COLUMN_CHECK] = cell_text(w.receiver.check);
	row[COLUMN_SAYS] = cell_text(says);
	row[COLUMN_SEEN] = cell_time(seen_us);
	return 0;
}

static int
judge_link(const struct links *l, struct link *link)
{
	char says[SAYS_TEXT];
	struct way w;
	int err = read_way(l, link->a, link->b, &w);

	if (err)
		return err;
	link->disagrees = say_all(&w, says);
	err = read_way(l, link->b, link->a, &w);
	if (err == 0)
		link->disagrees |= say_all(&w, says);
	return err;
}

static int
add_links_that(struct links *l, bool disagree)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < l->n; i++) {
		const struct link *link = &l->items[i];

		if (link->disagrees != disagree)
			continue;
		err = add_way(l, link->a, link->b, link->seen_us);
		if (err == 0)
			err = add_way(l, link->b, link->a, link->seen_us);
	}
	return err;
}

/* Those that disagree first, so that whoever takes only the first rows has them. */
static int
add_links(struct links *l)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < l->n; i++)
		err = judge_link(l, &l->items[i]);
	if (err == 0)
		err = add_links_that(l, true);
	return err == 0 ? add_links_that(l, false) : err;
}

/* ---- faults alone ---- */

/* After query_windows: what ports are judged by. */
static int
read_more(struct links *l)
{
	int err = oddities_read_refusals(l->query);

	if (err == 0)
		err = query_read_stated(l->query);
	l->skip = load_mean_skip(l->query);
	return err;
}

static int
judge_way(const struct links *l, const struct query_port *from, const struct query_port *to, links_fault_fn *take, void *arg)
{
	char says[SAYS_TEXT];
	struct way w;
	int err = read_way(l, from, to, &w);

	if (err == 0 && say_all(&w, says))
		take(arg, to, says);
	return err;
}

int
links_judge(struct query *query, links_fault_fn *take, void *arg)
{
	struct links l = {.query = query};
	int err = read_links(&l);

	if (err == 0 && l.n > 0)
		err = read_more(&l);
	for (size_t i = 0; err == 0 && i < l.n; i++) {
		err = judge_way(&l, l.items[i].a, l.items[i].b, take, arg);
		if (err == 0)
			err = judge_way(&l, l.items[i].b, l.items[i].a, take, arg);
	}
	free(l.items);
	return err;
}

/* ---- the report ---- */

static int
read_counted(struct links *l)
{
	int err = query_windows(l->query);

	if (err == 0)
		err = read_more(l);
	for (size_t i = 0; err == 0 && i < l->query->n_ports; i++)
		if (l->query->ports[i].chosen)
			result_count_port(l->result, &l->query->ports[i]);
	result_finish(l->result, l->query);
	return err;
}

static int
fill_report(struct links *l, const struct report_options *options, uint64_t now_us)
{
	int err = query_begin(l->query, options, now_us);

	if (err)
		return err;
	result_begin(l->result, "links", link_columns, N_COLUMNS, l->query);
	err = read_counted(l);
	if (err == 0)
		err = read_links(l);
	if (err == 0)
		err = add_links(l);
	if (err == 0 && l->result->n_rows == 0)
		note_of(l->result, NOTE_ID_NO_LINKS);
	result_leave_out(l->result, 2 * l->n_left_out + (options->has_top ? result_cut(l->result, options->top) : 0));
	return err;
}

/* A link of a switch that is asked for has its other end at one that is not. */
int
report_links(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	struct links l = {.query = query, .result = result};
	int err;

	query->fetches_all = true;
	err = fill_report(&l, options, now_us);
	query->fetches_all = false;
	free(l.items);
	return err;
}
