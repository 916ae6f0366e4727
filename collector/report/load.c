/*
 * Load: what every port counted, with no estimate in it, and whether the samples agree with the
 * counters. A port that is down, one that only is quiet and one that is no longer heard of are told
 * apart. A link aggregate is what its members counted.
 */
#include "collector/report/result.h"
#include "collector/report/reports.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* Preamble, start delimiter and the least gap between frames (IEEE 802.3), for utilisation. */
enum { FRAME_OVERHEAD_OCTETS = 20 };

/* easeCounters come every 20 s: three missing ones are silence. */
#define SILENT_AFTER_US 60000000u

enum {
	CHECK_FEW_SAMPLES = 10, /* fewer prove nothing about the sampler */
	CHECK_DEVIATIONS = 4,	/* one false alarm in 16,000 looks at a port */
};

enum {
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
	COLUMN_CHECK,
	N_COLUMNS,
};

static const struct report_column load_columns[N_COLUMNS] = {
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
	[COLUMN_FPS] = {"frames_per_s", "frame/s", REPORT_RATE},
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
	[COLUMN_CHECK] = {"check", "CHECK", REPORT_TEXT},
};

enum { TEXT_ROOM = 32 };

struct port_load {
	const struct query_port *port;
	struct query_load load;
	bool silent;
	double silent_s;
	double other_skip; /* mean skip of all other ports; 0 not known */
	unsigned n_members; /* of an aggregate: load is theirs */
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
			snprintf(text, TEXT_ROOM, "%.4g%c", (double)port->speed_bps / units[i].bps,
			    units[i].unit);
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

static bool
is_down(const struct query_port *port)
{
	return port->oper_status == EASE_IF_DOWN || port->oper_status == EASE_IF_NOT_PRESENT ||
	    port->oper_status == EASE_IF_LOWER_LAYER_DOWN;
}

/* No sample came although frames passed: too few frames, or no sampling? */
static const char *
check_without_samples(struct query *query, const struct port_load *p, double pool_pkts)
{
	double skip = query_last_skip(query, p->port);

	if (pool_pkts < 1)
		return "ok";
	if (skip <= 0)
		skip = p->other_skip;
	if (skip <= 0)
		return "skip off";
	return pool_pkts / skip < CHECK_FEW_SAMPLES ? "few" : "skip off";
}

/*
 * Samples x skip, scaled up by those that were lost, beside the counted pools of both directions,
 * without the frames that passed while the skip counter ran empty. The sum of weights of
 * independently taken samples has the variance sum of w (w - 1).
 */
static void
check_samples(struct query *query, const struct port_load *p, char *text)
{
	const struct query_port *port = p->port;
	const struct estimate_stratum *in = &port->side[EASE_IN], *out = &port->side[EASE_OUT];
	double n = (double)(in->all.n + out->all.n), w = in->all.w + out->all.w;
	double w2 = in->all.w2 + out->all.w2;
	double pool = fmax(0, in->pool_pkts + out->pool_pkts - p->load.stalled_pkts);
	double arrived = port->expected > 0 ? (double)port->received / (double)port->expected : 1;
	double sd, excess;

	if (n < 1 || arrived <= 0) {
		snprintf(text, TEXT_ROOM, "%s", check_without_samples(query, p, pool));
		return;
	}
	excess = w / arrived - pool;
	sd = sqrt(fmax(w2 - w, pool * (w / n - 1)) / arrived);
	if (fabs(excess) > CHECK_DEVIATIONS * sd + w / n)
		snprintf(text, TEXT_ROOM, pool > 0 ? "mismatch %+.0f%%" : "mismatch",
		    100 * excess / (pool > 0 ? pool : 1));
	else
		snprintf(text, TEXT_ROOM, "%s", n < CHECK_FEW_SAMPLES ? "few" : "ok");
}

static double
utilization(double octets, double pkts, double seconds, uint64_t speed_bps)
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
	row[COLUMN_UTIL_RX] = cell_number(utilization(l->in_octets, rx_pkts, s,
	    p->port->speed_bps));
	row[COLUMN_UTIL_TX] = cell_number(utilization(l->out_octets, tx_pkts, s,
	    p->port->speed_bps));
}

static void
fill_port(const struct query_port *port, struct report_value *row)
{
	char text[TEXT_ROOM];

	row[COLUMN_AGENT] = cell_text(port->agent->name);
	row[COLUMN_PORT] = cell_text(port->name);
	row[COLUMN_IF_INDEX] = cell_number(port->if_index);
	row[COLUMN_ALIAS] = cell_label(port->alias);
	if (port->oper_status != EASE_IF_STATUS_NOT_KNOWN)
		row[COLUMN_STATUS] = cell_text(is_down(port) ? "down"
		    : port->oper_status == EASE_IF_UP ? "up" : "other");
	if (port->speed_bps > 0)
		row[COLUMN_SPEED] = cell_number((double)port->speed_bps);
	format_speed(port, text);
	row[COLUMN_SPEED_TEXT] = cell_text(is_down(port) ? "down" : text);
	row[COLUMN_SAMPLES] = cell_number((double)port->received);
}

/* A port down the whole time, or not heard of, shows nothing: what it carries is not known. */
static int
add_port(struct query *query, struct report_result *result, const struct port_load *p)
{
	struct report_value *row = result_add_row(result);
	bool down = is_down(p->port) && query_rx_pkts(&p->load) + query_tx_pkts(&p->load) < 1;
	char check[TEXT_ROOM] = "";

	if (!row)
		return -ENOMEM;
	fill_port(p->port, row);
	if (p->silent)
		format_age(p->silent_s, check);
	else if (down)
		snprintf(check, sizeof(check), "down");
	else if (p->n_members > 0)
		snprintf(check, sizeof(check), "sum of %u", p->n_members);
	else if (p->load.known)
		check_samples(query, p, check);
	if (p->load.known && !p->silent && !down)
		fill_counted(p, row);
	row[COLUMN_CHECK] = cell_text(check);
	return 0;
}

static double
mean_skip(const struct query *query)
{
	double n = 0, w = 0;

	for (size_t i = 0; i < query->n_ports; i++)
		for (int d = EASE_IN; d <= EASE_OUT; d++) {
			n += (double)query->ports[i].side[d].all.n;
			w += query->ports[i].side[d].all.w;
		}
	return n > 0 ? w / n : 0;
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

static int
load_port(struct query *query, struct report_result *result, const struct query_port *port,
    double other_skip)
{
	struct port_load p = {.port = port, .other_skip = other_skip};
	int err = query_load(query, port, &p.load);
	double age_us;

	if (err == 0 && p.load.newest_us == 0) /* an aggregate sends no counters of its own */
		err = add_members(query, &p);
	if (err)
		return err;
	age_us = (double)query->range.to_us - (double)p.load.newest_us;
	p.silent = p.load.newest_us > 0 && age_us > SILENT_AFTER_US;
	p.silent_s = age_us / 1e6;
	result_count_port(result, port);
	return add_port(query, result, &p);
}

static void
hide_empty_aliases(struct report_result *result, const struct query *query)
{
	bool any = false;

	for (size_t i = 0; i < query->n_ports; i++)
		any |= query->ports[i].chosen && *query->ports[i].alias != '\0';
	result->hidden |= any ? 0 : 1u << COLUMN_ALIAS;
}

int
report_load(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	int err = query_begin(query, options, now_us);
	double skip;

	if (err)
		return err;
	result_begin(result, "load", load_columns, N_COLUMNS, query);
	err = query_windows(query);
	skip = mean_skip(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			err = load_port(query, result, &query->ports[i], skip);
	result_hide_agent(result, query, COLUMN_AGENT);
	hide_empty_aliases(result, query);
	result_finish(result, query);
	return err;
}
