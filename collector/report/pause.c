/*
 * Pause: back pressure on each port, frames dropped for lack of buffers, and PAUSE frames. Ports
 * whose device counts none of these are left out.
 */
#include "collector/report/ports.h"
#include "collector/report/reports.h"

enum {
	COLUMN_PRESSED = PORTS_OWN,
	COLUMN_EPISODES,
	COLUMN_DROPS,
	COLUMN_PAUSES_RX,
	COLUMN_PAUSES_TX,
	COLUMN_PAUSE_RATE_RX,
	COLUMN_PAUSE_RATE_TX,
	COLUMN_PRESSED_S,
	COLUMN_SECONDS,
	N_COLUMNS,
};

static const struct report_column columns[N_COLUMNS] = {
	PORTS_COLUMNS,
	[COLUMN_PRESSED] = {"back_pressure", "PRESSED%", REPORT_PERCENT},
	[COLUMN_EPISODES] = {"episodes", "EPISODES", REPORT_COUNT},
	[COLUMN_DROPS] = {"ingress_drops", "DROPS", REPORT_COUNT},
	[COLUMN_PAUSES_RX] = {"pauses_rx", "PAUSES rx", REPORT_COUNT},
	[COLUMN_PAUSES_TX] = {"pauses_tx", "tx", REPORT_COUNT},
	[COLUMN_PAUSE_RATE_RX] = {"pauses_per_s_rx", "pause/s rx", REPORT_RATE},
	[COLUMN_PAUSE_RATE_TX] = {"pauses_per_s_tx", "tx", REPORT_RATE},
	[COLUMN_PRESSED_S] = {"back_pressure_s", NULL, REPORT_COUNT},
	[COLUMN_SECONDS] = {"seconds", NULL, REPORT_COUNT},
};

#define BUFFERS(as, field) PORTS_FIGURE(EASE_HAS_BUFFERS, as, field)
#define PAUSES(as, field) PORTS_FIGURE(EASE_HAS_PAUSE, as, field)

static const struct ports_figure figures[N_COLUMNS] = {
	[COLUMN_PRESSED] = BUFFERS(PORTS_AS_PERCENT, pressed_us),
	[COLUMN_EPISODES] = BUFFERS(PORTS_AS_TOTAL, pressed_episodes),
	[COLUMN_DROPS] = BUFFERS(PORTS_AS_TOTAL, ingress_drops),
	[COLUMN_PAUSES_RX] = PAUSES(PORTS_AS_TOTAL, pauses_in),
	[COLUMN_PAUSES_TX] = PAUSES(PORTS_AS_TOTAL, pauses_out),
	[COLUMN_PAUSE_RATE_RX] = PAUSES(PORTS_AS_RATE, pauses_in),
	[COLUMN_PAUSE_RATE_TX] = PAUSES(PORTS_AS_RATE, pauses_out),
	[COLUMN_PRESSED_S] = BUFFERS(PORTS_AS_SECONDS, pressed_us),
	[COLUMN_SECONDS] = {EASE_HAS_BUFFERS | EASE_HAS_PAUSE, PORTS_AS_COVERED, 0},
};

int
report_pause(struct query *query, const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	static const struct ports_report pause = {.name = "pause", .columns = columns,
	    .n_columns = N_COLUMNS, .add = ports_add_resources, .figures = figures,
	    .any_of = EASE_HAS_BUFFERS | EASE_HAS_PAUSE};

	return ports_report(query, &pause, options, now_us, result);
}
