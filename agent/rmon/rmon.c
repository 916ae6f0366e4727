#include "agent/rmon/rmon.h"

#include "agent/rmon/rmon_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name stat_names[RMON_N_STATS] = {
    [RMON_STAT_BUCKETS] = {"rmon.buckets", "history buckets filled"},
    [RMON_STAT_BUCKETS_MISSED] = {"rmon.buckets_missed",
	"history buckets left out because a board's clock stepped over them"},
    [RMON_STAT_READ_FAILED] = {"rmon.read_failed",
	"history buckets left out because the port was away, or its counters began anew or could not be read"},
    [RMON_STAT_ALARMS_GONE] = {"rmon.alarms_gone",
	"alarm rows deleted because their object no longer exists"},
    [RMON_STAT_READINGS_FAILED] = {"rmon.readings_failed",
	"readings of hcAlarm rows that found no value (hcAlarmValueFailedAttempts)"},
    [RMON_STAT_EVENTS] = {"rmon.events", "events that alarms generated"},
    [RMON_STAT_LOGS_DROPPED] = {"rmon.logs_dropped", "log rows replaced by newer ones"},
};

/* ---- rows that managers make ---- */

static void
control_defaults(void *ctx, void *row)
{
	struct rmon_control *control = row;

	(void)ctx;
	control->buckets_requested = 50;
	control->interval_s = 1800;
}

static int
control_ready(void *ctx, const void *row)
{
	return history_ready(ctx, row);
}

static void
control_explain(void *ctx, const void *row)
{
	(void)ctx;
	history_explain(row);
}

static void
alarm_row_explain(void *ctx, const void *row)
{
	alarm_explain(ctx, row);
}

static void
hc_alarm_row_explain(void *ctx, const void *row)
{
	alarm_hc_explain(ctx, row);
}

static void
alarm_defaults(void *ctx, void *row)
{
	struct rmon_alarm *alarm = row;

	(void)ctx;
	alarm->interval_s = 1;
	alarm->sample_type = RMON_ABSOLUTE;
	alarm->startup = RMON_STARTUP_EITHER;
}

static int
alarm_row_ready(void *ctx, const void *row)
{
	return alarm_ready(ctx, row);
}

static void
hc_alarm_defaults(void *ctx, void *row)
{
	struct rmon_hc_alarm *alarm = row;

	(void)ctx;
	alarm->interval_s = 1;
	alarm->sample_type = RMON_ABSOLUTE;
	alarm->startup = RMON_STARTUP_EITHER;
	alarm->value_sign = RMON_NOT_AVAILABLE;
	alarm->rising.sign = alarm->falling.sign = RMON_POSITIVE;
	alarm->storage = RMON_NONVOLATILE;
}

static int
hc_alarm_row_ready(void *ctx, const void *row)
{
	return alarm_hc_ready(ctx, row);
}

static bool
hc_alarm_kept(const void *row)
{
	return ((const struct rmon_hc_alarm *)row)->storage != RMON_VOLATILE;
}

static void
event_defaults(void *ctx, void *row)
{
	(void)ctx;
	((struct rmon_event *)row)->type = RMON_EVENT_NONE;
}

static int
event_row_ready(void *ctx, const void *row)
{
	(void)ctx;
	(void)row;
	return 0;
}

static const struct managed_type types[RMON_N_MANAGED] = {
    [MANAGED_CONTROL] = {.kind = MANAGED_ENTRY_STATUS, .status_column = 7,
	.status_offset = offsetof(struct rmon_control, status), .max_rows = RMON_CONTROLS_MAX,
	.defaults = control_defaults, .ready = control_ready,
	.explain = control_explain},
    [MANAGED_ALARM] = {.kind = MANAGED_ENTRY_STATUS, .status_column = 12,
	.status_offset = offsetof(struct rmon_alarm, status), .max_rows = RMON_ALARMS_MAX,
	.defaults = alarm_defaults, .ready = alarm_row_ready,
	.explain = alarm_row_explain},
    [MANAGED_EVENT] = {.kind = MANAGED_ENTRY_STATUS, .status_column = 7,
	.status_offset = offsetof(struct rmon_event, status), .max_rows = RMON_EVENTS_MAX,
	.defaults = event_defaults, .ready = event_row_ready},
    [MANAGED_HC_ALARM] = {.kind = MANAGED_ROW_STATUS, .status_column = 19,
	.status_offset = offsetof(struct rmon_hc_alarm, status), .max_rows = RMON_ALARMS_MAX,
	.defaults = hc_alarm_defaults, .ready = hc_alarm_row_ready,
	.explain = hc_alarm_row_explain, .kept = hc_alarm_kept},
};

struct managed_table *const *
rmon_managed(struct rmon *rmon)
{
	return rmon->managed;
}

static void
add_default_control(struct rmon *rmon, uint32_t if_index, uint32_t index, uint32_t interval_s)
{
	struct rmon_control row = {.index = index, .buckets_requested = 50,
	    .interval_s = interval_s, .owner = "monitor", .status = ENTRY_VALID,
	    .source = MIB_OID(1, 3, 6, 1, 2, 1, 2, 2, 1, 1, if_index)};

	if (index <= RMON_INDEX_MAX && history_ready(rmon, &row) == 0)
		managed_add(rmon->managed[MANAGED_CONTROL], &row);
}

void
rmon_add_default_controls(struct rmon *rmon)
{
	size_t n = hal_n_ports(rmon->options.hal);

	for (size_t i = 0; i < n && 2 * n <= RMON_CONTROLS_MAX; i++) {
		uint32_t if_index = hal_port_if_index(rmon->options.hal, i);
		struct hal_port port;

		if (hal_port_info(rmon->options.hal, if_index, &port) == 0 && port.not_ethernet)
			continue;
		add_default_control(rmon, if_index, 2 * if_index - 1, 30);
		add_default_control(rmon, if_index, 2 * if_index, 1800);
	}
}

/* ---- running ---- */

void
rmon_changed(struct rmon *rmon, uint64_t steady_us)
{
	alarm_events_changed(rmon);
	history_changed(rmon, steady_us);
	alarm_changed(rmon, steady_us);
	rmon->dirty = true;
}

void
rmon_port(struct rmon *rmon, const struct hal_port_event *event)
{
	if (event->happening == HAL_PORT_FORGOTTEN)
		history_port_forgotten(rmon, event->if_index);
}

void
rmon_ports_moved(struct rmon *rmon, uint64_t steady_us)
{
	alarm_ports_moved(rmon);
	rmon_changed(rmon, steady_us);
}

uint64_t
rmon_next_us(const struct rmon *rmon)
{
	uint64_t history = history_next_us(rmon), alarm = alarm_next_us(rmon);

	return history < alarm ? history : alarm;
}

void
rmon_run(struct rmon *rmon, uint64_t steady_us)
{
	history_run(rmon, steady_us);
	alarm_run(rmon, steady_us);
}

/* ---- published tables ---- */

static int
order_logs(const void *a, const void *b)
{
	const struct rmon_log *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static size_t
copy_logs(const struct rmon *rmon, struct rmon_log *to)
{
	for (size_t i = 0; i < rmon->n_logs; i++)
		to[i] = rmon->logs[(rmon->oldest_log + i) % RMON_LOGS_MAX];
	qsort(to, rmon->n_logs, sizeof(*to), order_logs);
	return rmon->n_logs;
}

static int
order_histories(const void *a, const void *b)
{
	const struct history *x = *(struct history *const *)a, *y = *(struct history *const *)b;

	return x->row.index < y->row.index ? -1 : x->row.index > y->row.index;
}

static size_t
copy_buckets(struct rmon *rmon, struct rmon_bucket *to)
{
	size_t n = 0;

	if (rmon->n_histories > 1)
		qsort(rmon->histories, rmon->n_histories, sizeof(*rmon->histories), order_histories);
	for (size_t i = 0; i < rmon->n_histories; i++) {
		const struct history *h = rmon->histories[i];

		for (uint32_t k = 0; k < h->n; k++)
			to[n++] = h->ring[(h->oldest + k) % h->granted];
	}
	return n;
}

static size_t
count_buckets(const struct rmon *rmon)
{
	size_t n = 0;

	for (size_t i = 0; i < rmon->n_histories; i++)
		n += rmon->histories[i]->n;
	return n;
}

static const void *
copy_managed(struct managed_table *managed, size_t row_size, uint8_t **to, size_t *n)
{
	const void *copy = *to;
	void *rows;

	*n = managed_rows(managed, &rows);
	if (*n > 0)
		memcpy(*to, rows, *n * row_size);
	*to += *n * row_size;
	return copy;
}

/* Arrays with the strictest alignment come first, so that no padding is needed between them. */
static void
fill_tables(struct rmon *rmon, struct rmon_tables *tables, uint8_t *block)
{
	tables->buckets = (struct rmon_bucket *)(void *)block;
	tables->n_buckets = copy_buckets(rmon, (struct rmon_bucket *)(void *)block);
	block += tables->n_buckets * sizeof(struct rmon_bucket);
	tables->events = copy_managed(
	    rmon->managed[MANAGED_EVENT], sizeof(struct rmon_event), &block, &tables->n_events);
	tables->hc_alarms = copy_managed(rmon->managed[MANAGED_HC_ALARM],
	    sizeof(struct rmon_hc_alarm), &block, &tables->n_hc_alarms);
	tables->logs = (struct rmon_log *)(void *)block;
	tables->n_logs = copy_logs(rmon, (struct rmon_log *)(void *)block);
	block += tables->n_logs * sizeof(struct rmon_log);
	tables->alarms = copy_managed(
	    rmon->managed[MANAGED_ALARM], sizeof(struct rmon_alarm), &block, &tables->n_alarms);
	tables->controls = copy_managed(rmon->managed[MANAGED_CONTROL], sizeof(struct rmon_control),
	    &block, &tables->n_controls);
}

static size_t
view_octets(struct rmon *rmon)
{
	void *rows;

	return count_buckets(rmon) * sizeof(struct rmon_bucket) +
	    rmon->n_logs * sizeof(struct rmon_log) +
	    managed_rows(rmon->managed[MANAGED_EVENT], &rows) * sizeof(struct rmon_event) +
	    managed_rows(rmon->managed[MANAGED_CONTROL], &rows) * sizeof(struct rmon_control) +
	    managed_rows(rmon->managed[MANAGED_HC_ALARM], &rows) * sizeof(struct rmon_hc_alarm) +
	    managed_rows(rmon->managed[MANAGED_ALARM], &rows) * sizeof(struct rmon_alarm);
}

/* If there is no memory, the old tables remain published and the next call tries again. */
void
rmon_publish(struct rmon *rmon)
{
	struct published_tables *fresh;

	if (!rmon->dirty)
		return;
	fresh = malloc(sizeof(*fresh) + view_octets(rmon));
	if (!fresh)
		return;
	fill_tables(rmon, &fresh->tables, fresh->block);
	rmon->dirty = false;
	publication_replace(&rmon->publication, &fresh->head);
}

const struct rmon_tables *
rmon_tables_hold(struct rmon *rmon)
{
	struct published *held = publication_hold(&rmon->publication);

	return held ? &((struct published_tables *)(void *)held)->tables : NULL;
}

void
rmon_tables_release(const struct rmon_tables *tables)
{
	published_release(PUBLISHED_OF(tables, struct published_tables, tables));
}

/* ---- life cycle ---- */

int
rmon_create(const struct rmon_options *options, struct rmon **rmon)
{
	const struct mib_table *tables[RMON_N_MANAGED] = {
	    [MANAGED_CONTROL] = options->control_table,
	    [MANAGED_ALARM] = options->alarm_table,
	    [MANAGED_EVENT] = options->event_table,
	    [MANAGED_HC_ALARM] = options->hc_alarm_table,
	};
	struct rmon *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r)
		return -ENOMEM;
	r->options = *options;
	r->stats = (struct stat_set){stat_names, RMON_N_STATS, r->stat_values};
	r->dirty = true;
	publication_init(&r->publication);
	for (size_t i = 0; i < RMON_N_MANAGED && rc == 0; i++)
		rc = managed_create(tables[i], &types[i], r, &r->managed[i]);
	if (rc < 0)
		rmon_destroy(r);
	else
		*rmon = r;
	return rc;
}

void
rmon_destroy(struct rmon *rmon)
{
	if (!rmon)
		return;
	history_free(rmon);
	free(rmon->running_alarms);
	for (size_t i = 0; i < RMON_N_MANAGED; i++)
		managed_destroy(rmon->managed[i]);
	publication_end(&rmon->publication);
	free(rmon);
}

const struct stat_set *
rmon_stats(const struct rmon *rmon)
{
	return &rmon->stats;
}
