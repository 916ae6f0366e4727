/*
 * Load: what each port counted, without any estimate, and whether the samples agree with the
 * counters. The report tells a port that is down from one that is quiet and from one whose agent is
 * no longer heard. A link aggregate has the sum of what its members counted.
 */
#include "collector/report/load_judge.h"
#include "collector/report/oddities.h"
#include "collector/report/reports.h"
#include "collector/report/result.h"
#include "collector/source_port.h"
#include "common/number_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Preamble, start delimiter and the least gap between frames (IEEE 802.3), for utilisation. */
enum { FRAME_OVERHEAD_OCTETS = 20 };

/* Counters come every 2 s from our agents, every 20 s or 30 s from others. */
#define SILENT_AFTER_US 60000000u

enum {
	CHECK_FEW_SAMPLES = 10, /* fewer prove nothing about the sampler */
	CHECK_DEVIATIONS = 4,	/* one false alarm in 16,000 checks of a port */
};

/* Counters so far from both ends, as a part of the range, tell little of it. *assumed* */
#define CHECK_OFF_PART 0.5

#define MIXED_BEYOND 1e-9 /* what rounding can make of sums of equal weights */

enum {
	COLUMN_SITE,
	COLUMN_AGENT,
	COLUMN_PORT,
	COLUMN_IF_INDEX,
	COLUMN_ALIAS,
	COLUMN_STATUS,
	COLUMN_SPEED,
	COLUMN_SPEED_TEXT,
	COLUMN_UTIL_RX,
	COLUMN_UTIL_TX,
	COLUMN_BPS_RX,
	COLUMN_BPS_TX,
	COLUMN_FPS,
	COLUMN_BCAST,
	COLUMN_MCAST,
	COLUMN_ERRORS,
	COLUMN_RX_OCTETS,
	COLUMN_TX_OCTETS,
	COLUMN_RX_PKTS,
	COLUMN_TX_PKTS,
	COLUMN_DISCARDS,
	COLUMN_SAMPLES,
	COLUMN_SECONDS,
	COLUMN_MEAN_SKIP,
	COLUMN_SKIP,
	COLUMN_RATE,
	COLUMN_SKIPS,
	COLUMN_CHECK,
	N_COLUMNS,
};

static const struct report_column load_columns[N_COLUMNS] = {
	[COLUMN_SITE] = {"site", "SITE", REPORT_TEXT},
	[COLUMN_AGENT] = {"agent", "AGENT", REPORT_TEXT},
	[COLUMN_PORT] = {"port", "PORT", REPORT_TEXT},
	[COLUMN_IF_INDEX] = {"if_index", NULL, REPORT_COUNT},
	[COLUMN_ALIAS] = {"alias", "ALIAS", REPORT_TEXT},
	[COLUMN_STATUS] = {"status", NULL, REPORT_TEXT},
	[COLUMN_SPEED] = {"speed_bps", NULL, REPORT_COUNT},
	[COLUMN_SPEED_TEXT] = {NULL, "SPEED", REPORT_TEXT},
	[COLUMN_UTIL_RX] = {"utilization_rx", "UTIL% rx", REPORT_PERCENT},
	[COLUMN_UTIL_TX] = {"utilization_tx", "tx", REPORT_PERCENT},
	[COLUMN_BPS_RX] = {"rx_bps", "bit/s rx", REPORT_BITRATE},
	[COLUMN_BPS_TX] = {"tx_bps", "tx", REPORT_BITRATE},
	[COLUMN_FPS] = {"frames_per_s", "pps", REPORT_RATE},
	[COLUMN_BCAST] = {"broadcasts_per_s", "bcast", REPORT_RATE},
	[COLUMN_MCAST] = {"multicasts_per_s", "mcast", REPORT_RATE},
	[COLUMN_ERRORS] = {"errors_per_s", "err/s", REPORT_RATE},
	[COLUMN_RX_OCTETS] = {"rx_octets", NULL, REPORT_COUNT},
	[COLUMN_TX_OCTETS] = {"tx_octets", NULL, REPORT_COUNT},
	[COLUMN_RX_PKTS] = {"rx_packets", NULL, REPORT_COUNT},
	[COLUMN_TX_PKTS] = {"tx_packets", NULL, REPORT_COUNT},
	[COLUMN_DISCARDS] = {"discards", NULL, REPORT_COUNT},
	[COLUMN_SAMPLES] = {"samples", NULL, REPORT_COUNT},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
	[COLUMN_MEAN_SKIP] = {"mean_skip", NULL, REPORT_COUNT}, /* frames per sample */
	[COLUMN_SKIP] = {"skip_in_force", NULL, REPORT_COUNT},
	[COLUMN_RATE] = {NULL, "RATE", REPORT_TEXT},
	[COLUMN_SKIPS] = {"skips", "RATES", REPORT_TEXT},
	[COLUMN_CHECK] = {"check", "CHECK", REPORT_TEXT},
};

enum { TEXT_ROOM = LOAD_CHECK_TEXT };

struct port_load {
	const struct query_port *port;
	struct query_load load;
	bool silent;
	double silent_s;
	double skip;	   /* mean skip of its samples, or of its last one; 0 not known */
	double skip_in_force; /* of its last sample; 0 not known */
	bool mixed; /* its samples were taken at several mean skips */
	double other_skip; /* mean skip of all ports; 0 not known */
	bool is_stated;	   /* its samples have what they state beside their weights, */
	struct query_stated stated; /* which is this */
	double range_s;
	unsigned n_members; /* of an aggregate: load is the sum of theirs */
};

static void
format_speed(const struct query_port *port, char *text)
{
	static const struct {
		double bps;
		char unit;
	} units[] = {{1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}};

	*text = '\0';
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if ((double)port->speed_bps >= units[i].bps) {
			snprintf(text, TEXT_ROOM, "%.4g%c", (double)port->speed_bps / units[i].bps, units[i].unit);
			return;
		}
}

static void
format_age(double seconds, char *text)
{
	if (seconds < 120)
		snprintf(text, TEXT_ROOM, "silent %.0fs", seconds);
	else if (seconds < 7200)
		snprintf(text, TEXT_ROOM, "silent %.0fm", floor(seconds / 60));
	else if (seconds < 172800)
		snprintf(text, TEXT_ROOM, "silent %.0fh", floor(seconds / 3600));
	else
		snprintf(text, TEXT_ROOM, "silent %.0fd", floor(seconds / 86400));
}

/* There is no sample: did too few frames pass, or is the port not sampled? Where no frame passed
 * that could have been sampled, there is nothing to check. */
static const char *
check_without_samples(const struct port_load *p, double pool_pkts)
{
	const double UNKNOWN_SKIP = 10000; /* no sample of any port tells one: that of a port of 10 Gb/s. *assumed* */
	double skip = p->skip > 0 ? p->skip : p->other_skip;

	if (p->port->refused > 0)
		return oddities_refusal(p->port->refused_kind);
	if (pool_pkts < 1)
		return "";
	return pool_pkts / (skip > 0 ? skip : UNKNOWN_SKIP) < CHECK_FEW_SAMPLES ? "few" : "not sampling";
}

/* What the port counted where its agent samples at all: in one direction, or in both. */
static double
sampled_pool(const struct port_load *p)
{
	const uint64_t *samples = p->port->agent->samples;
	double cut = 0, pool = 0;

	for (int d = EASE_IN; d <= EASE_OUT; d++)
		if (samples[d] > 0 || samples[EASE_IN] + samples[EASE_OUT] == 0) {
			cut += p->port->cut[d].pkts;
			pool += p->port->side[d].pool_pkts + p->port->cut[d].pkts;
		}
	return fmax(0, pool - fmax(cut, p->load.stalled_pkts));
}

/* Samples of what was counted: how many, and sums of their skips and of the squares. Where samples state them, these
 * are summed: weights may be measured by what passed, and would prove nothing. */
struct tally {
	double n, w, w2;
};

/* Some sample what they receive at one rate and what they send at another. Both are stated, as what is measured is one. */
static bool
load_has_rate_by_direction(const struct query_port *port)
{
	const double spread = 1.25, apart = 1.5; /* the rates are learned from the first samples; no chance makes such means */
	double mean[2];

	for (int d = EASE_IN; d <= EASE_OUT; d++) {
		const struct estimate_sums *all = &port->side[d].all;

		if (all->n < CHECK_FEW_SAMPLES || all->w2 * (double)all->n > spread * all->w * all->w)
			return false;
		mean[d == EASE_OUT] = all->w / (double)all->n;
	}
	return fmax(mean[0], mean[1]) > apart * fmin(mean[0], mean[1]);
}

static struct tally
tally_of(const struct port_load *p)
{
	const struct estimate_stratum *in = &p->port->side[EASE_IN], *out = &p->port->side[EASE_OUT];
	double all = in->all.w + out->all.w, beside = in->beside[ESTIMATE_PKTS] + out->beside[ESTIMATE_PKTS];
	double part = all > 0 ? 1 - beside / all : 1, n = part * (double)(in->all.n + out->all.n);

	if (p->stated.rate > 0 && !load_has_rate_by_direction(p->port))
		return (struct tally){.n = n, .w = n * p->stated.rate, .w2 = n * p->stated.rate_square};
	return (struct tally){.n = n, .w = part * all, .w2 = part * (in->all.w2 + out->all.w2)};
}

/*
 * Compares samples x skip, scaled up by the samples that were lost, with the counted pools of the directions
 * that are sampled, without what passed while samples were lost or the skip counter was stalled (windows of
 * earlier versions have only the latter). The sum of weights of independently taken samples has the
 * variance sum of w (w - 1).
 */
static void
check_samples(const struct port_load *p, char *text)
{
	struct tally t = tally_of(p);
	double pool = sampled_pool(p), arrived = (1 - p->port->side[EASE_IN].lost) / (1 + p->stated.dropped);
	double excess = t.w / arrived - pool, sd;

	if (t.n < 1 || arrived <= 0) {
		snprintf(text, TEXT_ROOM, "%s", check_without_samples(p, pool));
		return;
	}
	sd = sqrt(fmax(t.w2 - t.w, pool * (t.w / t.n - 1)) / arrived);
	if (fabs(excess) > CHECK_DEVIATIONS * sd + t.w / t.n)
		snprintf(text, TEXT_ROOM, pool > 0 ? "mismatch %+.0f%%" : "mismatch",
		    100 * excess / (pool > 0 ? pool : 1));
	else
		snprintf(text, TEXT_ROOM, "%s", t.n < CHECK_FEW_SAMPLES ? "few"
		    : p->is_stated && p->stated.rate <= 0 ? "not kept" : "ok");
}

/* Where counters are too far from the ends of the range, what passed within it is a guess. */
static void
load_check_port(const struct port_load *p, char *text)
{
	if (port_is_uncounted(p->port))
		snprintf(text, TEXT_ROOM, "no counters");
	else if (p->load.off_s > CHECK_OFF_PART * p->range_s && sampled_pool(p) >= 1)
		snprintf(text, TEXT_ROOM, "few counters");
	else
		check_samples(p, text);
}

static double
port_utilization(double octets, double pkts, double seconds, uint64_t speed_bps)
{
	return 100 * 8 * (octets + FRAME_OVERHEAD_OCTETS * pkts) / seconds / (double)speed_bps;
}

static void
fill_counted(const struct port_load *p, struct report_value *row)
{
	const struct query_load *l = &p->load;
	double rx_pkts = query_rx_pkts(l), tx_pkts = query_tx_pkts(l), s = l->seconds;

	row[COLUMN_BPS_RX] = cell_number(8 * l->in_octets / s);
	row[COLUMN_BPS_TX] = cell_number(8 * l->out_octets / s);
	row[COLUMN_FPS] = cell_number((rx_pkts + tx_pkts) / s);
	row[COLUMN_BCAST] = cell_number((l->in_bcast + l->out_bcast) / s);
	row[COLUMN_MCAST] = cell_number((l->in_mcast + l->out_mcast) / s);
	row[COLUMN_ERRORS] = cell_number((l->in_errors + l->out_errors) / s);
	row[COLUMN_RX_OCTETS] = cell_number(round(l->in_octets));
	row[COLUMN_TX_OCTETS] = cell_number(round(l->out_octets));
	row[COLUMN_RX_PKTS] = cell_number(round(rx_pkts));
	row[COLUMN_TX_PKTS] = cell_number(round(tx_pkts));
	row[COLUMN_DISCARDS] = cell_number(round(l->in_discards + l->out_discards));
	row[COLUMN_SECONDS] = cell_number(s);
	if (p->port->speed_bps == 0)
		return;
	row[COLUMN_UTIL_RX] = cell_number(port_utilization(l->in_octets, rx_pkts, s, p->port->speed_bps));
	row[COLUMN_UTIL_TX] = cell_number(port_utilization(l->out_octets, tx_pkts, s, p->port->speed_bps));
}

static void
load_fill_port(const struct query_port *port, struct report_value *row)
{
	char text[TEXT_ROOM];

	row[COLUMN_SITE] = cell_site(port->site);
	row[COLUMN_AGENT] = cell_text(port->agent->name);
	row[COLUMN_PORT] = cell_text(port->name);
	row[COLUMN_IF_INDEX] = cell_number(port->if_index);
	row[COLUMN_ALIAS] = cell_label(port->alias);
	if (port->oper_status != EASE_IF_STATUS_NOT_KNOWN)
		row[COLUMN_STATUS] = cell_text(port_is_down(port) ? "down"
		    : port->oper_status == EASE_IF_UP ? "up" : "other");
	if (port->speed_bps > 0)
		row[COLUMN_SPEED] = cell_number((double)port->speed_bps);
	format_speed(port, text);
	row[COLUMN_SPEED_TEXT] = cell_text(port_is_down(port) ? "down" : text);
	row[COLUMN_SAMPLES] = cell_number((double)port->received);
}

static void
fill_skip(const struct port_load *p, struct report_value *row)
{
	char mean[TEXT_ROOM], text[2 * TEXT_ROOM];

	if (p->skip <= 0)
		return;
	row[COLUMN_MEAN_SKIP] = cell_number(p->skip);
	if (p->skip_in_force > 0) {
		row[COLUMN_SKIP] = cell_number(p->skip_in_force);
		number_format_count(round(p->skip_in_force), mean);
		snprintf(text, sizeof(text), "1 in %s", mean);
		row[COLUMN_RATE] = cell_text(text);
	}
	if (!p->mixed)
		return;
	number_format_count(round(p->skip), mean);
	snprintf(text, sizeof(text), "mixed, mean %s", mean);
	row[COLUMN_SKIPS] = cell_text(text);
}

/* A port that was down all the time, or whose agent is silent, shows no figures: none are known. */
static int
load_add_port(struct report_result *result, const struct port_load *p)
{
	struct report_value *row = result_add_row(result);
	bool down = port_is_down(p->port) && !(query_rx_pkts(&p->load) + query_tx_pkts(&p->load) >= 1);
	char check[TEXT_ROOM] = "";

	if (!row)
		return -ENOMEM;
	load_fill_port(p->port, row);
	if (p->silent)
		format_age(p->silent_s, check);
	else if (down)
		snprintf(check, sizeof(check), "down");
	else if (p->n_members > 0)
		snprintf(check, sizeof(check), "sum of %u", p->n_members);
	else if (p->load.known || port_is_uncounted(p->port))
		load_check_port(p, check);
	if (p->load.known && !p->silent && !down)
		fill_counted(p, row);
	fill_skip(p, row);
	row[COLUMN_CHECK] = cell_text(check);
	return 0;
}

double
load_mean_skip(const struct query *query)
{
	double n = 0, w = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++) {
			n += (double)query->ports[i].side[d].all.n;
			w += query->ports[i].side[d].all.w;
		}
	return n > 0 ? w / n : 0;
}

/* The samples of the range tell its skip. If they were taken at several, or there are none, the newest
 * that is kept tells which is in force. Weights w are all the same if n times the sum of w^2 is the square
 * of the sum of w. */
static void
find_skips(struct query *query, struct port_load *p)
{
	const struct query_port *port = p->port;
	const struct estimate_sums *in = &port->side[EASE_IN].all, *out = &port->side[EASE_OUT].all;
	double n = (double)(in->n + out->n), w = in->w + out->w, w2 = in->w2 + out->w2;

	p->skip = n > 0 ? w / n : 0;
	p->mixed = n > 0 && n * w2 > w * w * (1 + MIXED_BEYOND);
	p->skip_in_force = p->skip;
	if (n == 0 || p->mixed)
		p->skip_in_force = query_last_skip(query, port);
	if (n == 0)
		p->skip = p->skip_in_force;
}

static void
add_load(struct query_load *sum, const struct query_load *load)
{
	sum->in_octets += load->in_octets;
	sum->in_ucast += load->in_ucast;
	sum->in_mcast += load->in_mcast;
	sum->in_bcast += load->in_bcast;
	sum->in_discards += load->in_discards;
	sum->in_errors += load->in_errors;
	sum->out_octets += load->out_octets;
	sum->out_ucast += load->out_ucast;
	sum->out_mcast += load->out_mcast;
	sum->out_bcast += load->out_bcast;
	sum->out_discards += load->out_discards;
	sum->out_errors += load->out_errors;
	sum->seconds = fmax(sum->seconds, load->seconds);
	sum->known |= load->known;
	if (load->newest_us > sum->newest_us)
		sum->newest_us = load->newest_us;
}

static int
add_members(struct query *query, struct port_load *p)
{
	int err = 0;

	for (size_t i = 0; i < query->n_ports && err == 0; i++) {
		const struct query_port *member = &query->ports[i];
		struct query_load load;

		if (member->agent != p->port->agent || member->lag_parent != p->port->if_index)
			continue;
		err = query_load(query, member, &load);
		if (err == 0 && load.known)
			add_load(&p->load, &load);
		p->n_members++;
	}
	return err;
}

/* What the port counted in the range, and all that its samples are checked with. */
static int
read_load(struct query *query, const struct query_port *port, double other_skip, struct port_load *p)
{
	int err;

	*p = (struct port_load){.port = port, .other_skip = other_skip,
	    .range_s = (double)(query->range.to_us - query->range.from_us) / 1e6,
	    .is_stated = port->agent->boot >= QUERY_SFLOW_BOOTS && port->received > 0 &&
		(!query->store->stated || port->stated.rate > 0)};
	err = query_load(query, port, &p->load);
	if (err == 0 && p->load.newest_us == 0) /* an aggregate sends no counters of its own */
		err = add_members(query, p);
	if (err)
		return err;
	find_skips(query, p);
	return p->is_stated ? query_stated(query, port, p->mixed ? 0 : p->skip, &p->stated) : 0;
}

/* Frames that came in, by samples times what they state: of ports that are sampled in that direction alone. */
static bool
estimate_received(const struct port_load *p, struct estimate_figure *figure)
{
	struct tally t = tally_of(p);
	double arrived = (1 - p->port->side[EASE_IN].lost) / (1 + p->stated.dropped), sd;

	if (p->port->side[EASE_OUT].all.n > 0 || t.n < CHECK_FEW_SAMPLES || arrived <= 0)
		return false;
	sd = sqrt(fmax(t.w2 - t.w, 0)) / arrived;
	figure->estimate = t.w / arrived;
	figure->low = fmax(0, figure->estimate - 1.96 * sd);
	figure->high = figure->estimate + 1.96 * sd;
	return true;
}

int
load_judge(struct query *query, const struct query_port *port, double other_skip, struct load_judgement *judged)
{
	struct port_load p;
	int err = read_load(query, port, other_skip, &p);

	*judged = (struct load_judgement){.load = p.load};
	if (err || !(p.load.known || port_is_uncounted(port)) || p.n_members > 0)
		return err;
	load_check_port(&p, judged->check);
	judged->has_samples = estimate_received(&p, &judged->by_samples);
	return 0;
}

static void
note_unsampled(struct report_result *result, const struct port_load *p)
{
	const struct query_port *port = p->port;
	struct note_values *item;
	double all = 0; /* frames that could have been sampled: a port may count packets of several */

	for (int d = EASE_IN; d <= EASE_OUT; d++)
		all += port->side[d].pool_pkts + port->cut[d].pkts;

	if (!p->load.known || !(all > 0) || !(p->load.stalled_pkts > REPORT_STALLS_TOLD * all))
		return;
	item = note_item(result, NOTE_ID_UNSAMPLED);
	note_text(item, "agent", port->agent->name);
	note_text(item, "port", port->name);
	note_count(item, "percent", round(100 * fmin(1, p->load.stalled_pkts / all)));
}

static int
load_port(struct query *query, const struct report_options *options, struct report_result *result,
    const struct query_port *port, double other_skip)
{
	struct port_load p;
	int err = read_load(query, port, other_skip, &p);
	double age_us;
	bool live = query->edge_us > 0 && port->counters_us > 0;

	if (err)
		return err;
	age_us = (double)query->range.to_us - (double)(live ? port->counters_us : p.load.newest_us);
	p.silent = live ? port->silent : p.load.newest_us > 0 && age_us > SILENT_AFTER_US;
	p.silent_s = age_us / 1e6;
	note_unsampled(result, &p);
	if (port_is_counted(options, port)) /* what lists count: sections of the page have one sum */
		result_count_port(result, port);
	return load_add_port(result, &p);
}

static void
hide_empty_columns(struct report_result *result, const struct query *query)
{
	bool any = false, mixed = false;

	for (size_t i = 0; i < query->n_ports; i++)
		any |= query->ports[i].chosen && *query->ports[i].alias != '\0';
	for (size_t r = 0; r < result->n_rows; r++)
		mixed |= report_cell(result, r, COLUMN_SKIPS)->known;
	result->hidden |= (any ? 0 : 1u << COLUMN_ALIAS) | (mixed ? 0 : 1u << COLUMN_SKIPS);
}

/* ---- order ---- */

static double
load_number_of(const struct report_value *row, size_t column)
{
	return row[column].known ? row[column].number : -1;
}

/* What the rows are sorted by; -1 where it is unknown. */
static double
size_of(const struct report_value *row, enum report_port_sort sort)
{
	switch (sort) {
	case REPORT_PORTS_BY_OCTETS:
		return load_number_of(row, COLUMN_BPS_RX) + load_number_of(row, COLUMN_BPS_TX);
	case REPORT_PORTS_BY_PACKETS:
		return load_number_of(row, COLUMN_FPS);
	case REPORT_PORTS_BY_UTILIZATION:
		return fmax(load_number_of(row, COLUMN_UTIL_RX), load_number_of(row, COLUMN_UTIL_TX));
	case REPORT_PORTS_BY_ERRORS:
		return load_number_of(row, COLUMN_ERRORS);
	case REPORT_PORTS_IN_ORDER:
		break;
	}
	return 0;
}

/* Largest first; ports of one size stay in their order, which is that of their place in memory. */
static int
compare_sizes(const void *a, const void *b, void *arg)
{
	const struct report_value *x = *(const struct report_value *const *)a;
	const struct report_value *y = *(const struct report_value *const *)b;
	double of_x = size_of(x, *(enum report_port_sort *)arg);
	double of_y = size_of(y, *(enum report_port_sort *)arg);

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return (x > y) - (x < y);
}

static int
sort_rows(struct report_result *result, enum report_port_sort sort)
{
	const struct report_value **rows = calloc(result->n_rows + 1, sizeof(*rows));
	struct report_value *values = calloc(result->n_rows + 1, N_COLUMNS * sizeof(*values));

	if (!rows || !values) {
		free(rows);
		free(values);
		return -ENOMEM;
	}
	for (size_t r = 0; r < result->n_rows; r++)
		rows[r] = report_cell(result, r, 0);
	qsort_r(rows, result->n_rows, sizeof(*rows), compare_sizes, &sort);
	for (size_t r = 0; r < result->n_rows; r++)
		memcpy(values + r * N_COLUMNS, rows[r], N_COLUMNS * sizeof(*values));
	if (result->n_rows > 0)
		memcpy(result->values, values, result->n_rows * N_COLUMNS * sizeof(*values));
	free(rows);
	free(values);
	return 0;
}

/* What most sFlow does not say. */
static void
note_nameless(const struct query *query, struct report_result *result)
{
	unsigned nameless = 0;
	char number[SOURCE_PORT_NAME];

	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		source_port_name(port->if_index, number, sizeof(number));
		nameless += port->chosen && port->if_index <= UINT32_MAX && strcmp(port->name, number) == 0;
	}
	if (nameless > 0)
		note_count(note_of(result, NOTE_ID_NAMELESS), "ports", nameless);
}

int
report_load(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	int err = query_begin(query, options, now_us);
	double skip;

	if (err)
		return err;
	result_begin(result, "load", load_columns, N_COLUMNS, query);
	err = query_windows(query);
	if (err == 0)
		err = oddities_read_refusals(query);
	if (err == 0)
		err = query_read_stated(query);
	skip = load_mean_skip(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			err = load_port(query, options, result, &query->ports[i], skip);
	if (err == 0)
		note_nameless(query, result);
	if (err == 0 && options->port_sort != REPORT_PORTS_IN_ORDER)
		err = sort_rows(result, options->port_sort);
	if (options->has_top)
		result_leave_out(result, result_cut(result, options->top));
	result_hide_agent(result, query, COLUMN_AGENT);
	hide_empty_columns(result, query);
	result_finish(result, query);
	return err;
}
