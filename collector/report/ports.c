#include "collector/report/ports.h"

#include <errno.h>
#include <math.h>

struct report_value *
ports_row(struct report_result *result, const struct query_port *port)
{
	struct report_value *row = result_add_row(result);

	if (!row)
		return NULL;
	row[PORTS_SITE] = cell_site(port->site);
	row[PORTS_AGENT] = cell_text(port->agent->name);
	row[PORTS_NAME] = cell_text(port->name);
	row[PORTS_IF_INDEX] = cell_number(port->if_index);
	return row;
}

int
ports_report(struct query *query, const struct ports_report *report,
    const struct report_options *options, uint64_t now_us, struct report_result *result)
{
	int err = query_begin(query, options, now_us);

	if (err)
		return err;
	result_begin(result, report->name, report->columns, report->n_columns, query);
	err = query_windows(query);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		if (query->ports[i].chosen) {
			result_count_port(result, &query->ports[i]);
			err = report->add(query, report, &query->ports[i], result);
		}
	result_hide_agent(result, query, PORTS_AGENT);
	result_finish(result, query);
	return err;
}

/* ---- resources ---- */

static double
figure(const struct ports_figure *f, const struct query_resources *r)
{
	double value = *(const double *)(const void *)((const char *)r + f->field);

	switch ((enum ports_as)f->as) {
	case PORTS_AS_RATE:
		return value / r->seconds;
	case PORTS_AS_SECONDS:
		return value / 1e6;
	case PORTS_AS_PERCENT: /* the hardware's unit and the time of reading may add a little */
		return fmin(100, value / 1e4 / r->seconds);
	case PORTS_AS_COVERED:
		return r->seconds;
	case PORTS_AS_TOTAL:
	case PORTS_AS_NOTHING:
		break;
	}
	return value;
}

int
ports_add_resources(struct query *query, const struct ports_report *report,
    const struct query_port *port, struct report_result *result)
{
	struct query_resources resources;
	struct report_value *row;
	int err = query_resources(query, port, &resources);

	if (err || !(resources.known & report->any_of))
		return err;
	row = ports_row(result, port);
	if (!row)
		return -ENOMEM;
	for (size_t i = PORTS_OWN; i < report->n_columns && resources.seconds > 0; i++) {
		const struct ports_figure *f = &report->figures[i];

		if (f->as != PORTS_AS_NOTHING && resources.known & f->needs)
			row[i] = cell_number(figure(f, &resources));
	}
	return 0;
}
