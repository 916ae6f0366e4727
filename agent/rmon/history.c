/*
 * The history group: each active control row fills one bucket in each interval with the growth of
 * the port's etherStats figures (RFC 2819 section 5, RFC 3273).
 */
#include "agent/rmon/rmon_private.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const enum hal_figure figures[RMON_N_HISTORY_FIGURES] = {
    [RMON_DROP_EVENTS] = HAL_RMON_DROP_EVENTS,
    [RMON_OCTETS] = HAL_RMON_OCTETS,
    [RMON_PKTS] = HAL_RMON_PKTS,
    [RMON_BCAST_PKTS] = HAL_RMON_BCAST_PKTS,
    [RMON_MCAST_PKTS] = HAL_RMON_MCAST_PKTS,
    [RMON_CRC_ALIGN] = HAL_RMON_CRC_ALIGN,
    [RMON_UNDERSIZE] = HAL_RMON_UNDERSIZE,
    [RMON_OVERSIZE] = HAL_RMON_OVERSIZE,
    [RMON_FRAGMENTS] = HAL_RMON_FRAGMENTS,
    [RMON_JABBERS] = HAL_RMON_JABBERS,
    [RMON_COLLISIONS] = HAL_RMON_COLLISIONS,
};

/* A frame's time on the wire includes 20 octets of preamble and gap (RFC 2819,
 * etherHistoryUtilization: 9.6 + 6.4 us for each packet at 10 Mb/s). */
enum { FRAMING_BITS = 160 };

/* Returns the port of a data source, or 0 if the source is not ifIndex.N. */
static uint32_t
source_port(const struct mib_oid *source)
{
	static const uint32_t if_index[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 1};
	enum { N = sizeof(if_index) / sizeof(if_index[0]) };

	if (source->n != N + 1 || memcmp(source->arcs, if_index, sizeof(if_index)) != 0)
		return 0;
	return source->arcs[N];
}

/* A history needs at least the packets; a driver may count no more than some of the others. On failure
 * nothing is known. */
static int
history_read_totals(struct rmon *rmon, uint32_t if_index, struct history_totals *totals)
{
	struct hal_counters counters;
	int rc = hal_read_counters(rmon->options.hal, if_index, &counters);

	if (rc == 0 && !(counters.known >> HAL_RMON_PKTS & 1))
		rc = -ENOENT;
	totals->known = 0;
	if (rc < 0)
		return rc;
	totals->discontinuity_us = hal_discontinuity_us(rmon->options.hal, if_index);
	for (size_t i = 0; i < RMON_N_HISTORY_FIGURES; i++) {
		totals->figures[i] = counters.value[figures[i]];
		totals->known |= (uint32_t)(counters.known >> figures[i] & 1) << i;
	}
	return 0;
}

int
history_ready(struct rmon *rmon, const struct rmon_control *row)
{
	uint32_t if_index = source_port(&row->source);
	struct history_totals totals;

	return if_index != 0 && history_read_totals(rmon, if_index, &totals) == 0 ? 0 : -EBUSY;
}

void
history_explain(const struct rmon_control *row)
{
	log_warn_limited("rmon", "historyControlEntry %u was refused: its historyControlDataSource must be ifIndex.N "
	    "(1.3.6.1.2.1.2.2.1.1.N) of a port whose packets etherStatsTable counts", row->index);
}

/* ---- buckets ---- */

static void
begin_bucket(struct rmon *rmon, struct history *h, uint64_t start_us)
{
	h->start_us = start_us;
	h->next_us = start_us + h->row.interval_s * 1000000ull;
	h->start_mono_us = clock_mono_us(rmon->options.clock);
}

static uint32_t
utilization_of(struct rmon *rmon, const struct history *h, const struct rmon_bucket *b)
{
	struct hal_port port;
	double bits = 8.0 * (double)b->counts[RMON_OCTETS] +
	    FRAMING_BITS * (double)b->counts[RMON_PKTS];
	double share;

	if (hal_port_info(rmon->options.hal, h->if_index, &port) < 0 || port.speed_bps == 0)
		return 0;
	share = bits / ((double)port.speed_bps * h->row.interval_s);
	return share >= 1 ? 10000 : (uint32_t)(10000 * share + 0.5);
}

static struct rmon_bucket *
next_in_ring(struct history *h)
{
	assert(h->granted > 0 && h->n <= h->granted && h->oldest < h->granted);
	if (h->n < h->granted)
		return &h->ring[(h->oldest + h->n++) % h->granted];
	h->oldest = (h->oldest + 1) % h->granted;
	return &h->ring[(h->oldest + h->n - 1) % h->granted];
}

/* Nothing is known of an interval at whose beginning or end the port was away, or in which its counters
 * began anew (because it left and came back, or its driver was reset): its bucket is left out. */
static void
end_bucket(struct rmon *rmon, struct history *h)
{
	const struct history_totals base = h->base;
	uint32_t sample = h->next_sample++;
	struct rmon_bucket *b;

	if (history_read_totals(rmon, h->if_index, &h->base) < 0 || base.known == 0 ||
	    h->base.discontinuity_us != base.discontinuity_us) {
		stat_add(&rmon->stats, RMON_STAT_READ_FAILED, 1);
		return;
	}
	b = next_in_ring(h);
	*b = (struct rmon_bucket){.control = h->row.index, .sample = sample,
	    .start_mono_us = h->start_mono_us, .known = base.known & h->base.known};
	for (size_t i = 0; i < RMON_N_HISTORY_FIGURES; i++)
		b->counts[i] = h->base.figures[i] - base.figures[i];
	b->utilization = utilization_of(rmon, h, b);
	stat_add(&rmon->stats, RMON_STAT_BUCKETS, 1);
	rmon->dirty = true;
}

/* The clock has stepped over whole intervals, which cannot be measured any more. */
static void
skip_missed(struct rmon *rmon, struct history *h, uint64_t steady_us)
{
	uint64_t interval_us = h->row.interval_s * 1000000ull;
	uint64_t missed = (steady_us - h->next_us) / interval_us + 1;

	stat_add(&rmon->stats, RMON_STAT_BUCKETS_MISSED, missed);
	h->next_sample += (uint32_t)missed;
	begin_bucket(rmon, h, h->next_us + (missed - 1) * interval_us);
	history_read_totals(rmon, h->if_index, &h->base);
}

void
history_run(struct rmon *rmon, uint64_t steady_us)
{
	for (size_t i = 0; i < rmon->n_histories; i++) {
		struct history *h = rmon->histories[i];

		if (h->next_us > steady_us)
			continue;
		end_bucket(rmon, h);
		begin_bucket(rmon, h, h->next_us);
		if (h->next_us <= steady_us)
			skip_missed(rmon, h, steady_us);
	}
}

uint64_t
history_next_us(const struct rmon *rmon)
{
	uint64_t next = RMON_NEVER;

	for (size_t i = 0; i < rmon->n_histories; i++) {
		if (rmon->histories[i]->next_us < next)
			next = rmon->histories[i]->next_us;
	}
	return next;
}

/* ---- starting and stopping ---- */

static void
stop_history(struct rmon *rmon, size_t i)
{
	struct history *h = rmon->histories[i];

	assert(i < rmon->n_histories && h->granted <= rmon->n_granted);
	rmon->n_granted -= h->granted;
	free(h->ring);
	free(h);
	rmon->n_histories--;
	memmove(&rmon->histories[i], &rmon->histories[i + 1], (rmon->n_histories - i) * sizeof(*rmon->histories));
}

static uint32_t
grant_buckets(const struct rmon *rmon, uint32_t requested)
{
	size_t left = RMON_BUCKETS_TOTAL - rmon->n_granted;
	uint32_t granted = requested < RMON_BUCKETS_MAX ? requested : RMON_BUCKETS_MAX;

	assert(rmon->n_granted <= RMON_BUCKETS_TOTAL);
	return granted < left ? granted : (uint32_t)left;
}

static int
start_history(struct rmon *rmon, struct rmon_control *row, uint64_t steady_us)
{
	uint32_t granted = grant_buckets(rmon, row->buckets_requested);
	struct history *h = calloc(1, sizeof(*h)), **list;

	if (!h)
		return -ENOMEM;
	h->ring = calloc(granted + 1u, sizeof(*h->ring));
	list = reallocarray(rmon->histories, rmon->n_histories + 1, sizeof(struct history *));
	if (list)
		rmon->histories = list;
	row->buckets_granted = granted;
	h->row = *row;
	h->granted = granted;
	h->if_index = source_port(&row->source);
	h->next_sample = 1;
	if (!h->ring || !list || granted == 0 || history_read_totals(rmon, h->if_index, &h->base) < 0) {
		free(h->ring);
		free(h);
		return -ENOSPC;
	}
	begin_bucket(rmon, h, steady_us);
	rmon->histories[rmon->n_histories++] = h;
	rmon->n_granted += granted;
	return 0;
}

static struct history *
history_of(const struct rmon *rmon, uint32_t index)
{
	for (size_t i = 0; i < rmon->n_histories; i++) {
		if (rmon->histories[i]->row.index == index)
			return rmon->histories[i];
	}
	return NULL;
}

static bool
history_still_configured(struct rmon *rmon, const struct history *h)
{
	struct managed_table *rows = rmon->managed[MANAGED_CONTROL];
	const struct rmon_control *row = managed_find(rows, &h->row.index, 1);

	return row && managed_is_active(rows, row) && row->interval_s == h->row.interval_s &&
	    row->buckets_requested == h->row.buckets_requested &&
	    source_port(&row->source) == h->if_index;
}

void
history_changed(struct rmon *rmon, uint64_t steady_us)
{
	struct managed_table *managed = rmon->managed[MANAGED_CONTROL];
	struct rmon_control *rows;
	void *first;
	size_t n;

	for (size_t i = rmon->n_histories; i-- > 0;) {
		if (!history_still_configured(rmon, rmon->histories[i]))
			stop_history(rmon, i);
	}
	n = managed_rows(managed, &first);
	rows = first;
	for (size_t i = 0; i < n; i++) {
		if (managed_is_active(managed, &rows[i]) && !history_of(rmon, rows[i].index) &&
		    start_history(rmon, &rows[i], steady_us) < 0)
			log_warn_limited("rmon", "history %u collects nothing: no bucket is left, "
			    "or its port has no RMON counters", rows[i].index);
	}
}

void
history_port_forgotten(struct rmon *rmon, uint32_t if_index)
{
	struct managed_table *managed = rmon->managed[MANAGED_CONTROL];
	void *first;

	for (size_t i = managed_rows(managed, &first); i-- > 0; managed_rows(managed, &first)) {
		const struct rmon_control *row = &((const struct rmon_control *)first)[i];

		if (source_port(&row->source) == if_index)
			remove_row(rmon, MANAGED_CONTROL, row);
	}
}

void
history_free(struct rmon *rmon)
{
	while (rmon->n_histories > 0)
		stop_history(rmon, rmon->n_histories - 1);
	free(rmon->histories);
}
