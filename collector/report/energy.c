/*
 * Energy: how much of the time each direction of a port was in low-power idle, and how often it
 * entered it. Ports whose device does not count this are left out.
 */
#include "collector/report/ports.h"
#include "collector/report/reports.h"

enum {
	COLUMN_SHARE_RX = PORTS_OWN,
	COLUMN_SHARE_TX,
	COLUMN_EVENTS_RX,
	COLUMN_EVENTS_TX,
	COLUMN_EVENT_RATE_RX,
	COLUMN_EVENT_RATE_TX,
	COLUMN_ASLEEP_RX,
	COLUMN_ASLEEP_TX,
	COLUMN_SECONDS,
	N_COLUMNS,
};

static const struct report_column columns[N_COLUMNS] = {
	PORTS_COLUMNS,
	[COLUMN_SHARE_RX] = {"asleep_rx", "ASLEEP% rx", REPORT_PERCENT},
	[COLUMN_SHARE_TX] = {"asleep_tx", "tx", REPORT_PERCENT},
	[COLUMN_EVENTS_RX] = {"events_rx", "EVENTS rx", REPORT_COUNT},
	[COLUMN_EVENTS_TX] = {"events_tx", "tx", REPORT_COUNT},
	[COLUMN_EVENT_RATE_RX] = {"events_per_s_rx", "event/s rx", REPORT_RATE},
	[COLUMN_EVENT_RATE_TX] = {"events_per_s_tx", "tx", REPORT_RATE},
	[COLUMN_ASLEEP_RX] = {"asleep_s_rx", NULL, REPORT_COUNT},
	[COLUMN_ASLEEP_TX] = {"asleep_s_tx", NULL, REPORT_COUNT},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
};

#define LOW_POWER(as, field) PORTS_FIGURE(EASE_HAS_LOW_POWER, as, field)

static const struct ports_figure figures[N_COLUMNS] = {
	[COLUMN_SHARE_RX] = LOW_POWER(PORTS_AS_PERCENT, in_asleep_us),
	[COLUMN_SHARE_TX] = LOW_POWER(PORTS_AS_PERCENT, out_asleep_us),
	[COLUMN_EVENTS_RX] = LOW_POWER(PORTS_AS_TOTAL, in_events),
	[COLUMN_EVENTS_TX] = LOW_POWER(PORTS_AS_TOTAL, out_events),
	[COLUMN_EVENT_RATE_RX] = LOW_POWER(PORTS_AS_RATE, in_events),
	[COLUMN_EVENT_RATE_TX] = LOW_POWER(PORTS_AS_RATE, out_events),
	[COLUMN_ASLEEP_RX] = LOW_POWER(PORTS_AS_SECONDS, in_asleep_us),
	[COLUMN_ASLEEP_TX] = LOW_POWER(PORTS_AS_SECONDS, out_asleep_us),
	[COLUMN_SECONDS] = {EASE_HAS_LOW_POWER, PORTS_AS_COVERED, 0},
};

int
report_energy(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result)
{
	static const struct ports_report energy = {.name = "energy", .columns = columns,
	    .n_columns = N_COLUMNS, .add = ports_add_resources, .figures = figures,
	    .any_of = EASE_HAS_LOW_POWER};

	return ports_report(query, &energy, options, now_us, result);
}
