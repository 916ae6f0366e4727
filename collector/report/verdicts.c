#include "collector/report/verdicts.h"

#include "collector/estimate/audit.h"
#include "collector/record.h"
#include "collector/report/audit_reader.h"
#include "collector/report/result.h"
#include "collector/report/uplink_search.h"

#include <errno.h>
#include <stdlib.h>

/* The graver first. */
static const struct {
	enum audit_fault fault;
	const char *says;
} verdicts[] = {
	{AUDIT_FILTERED, "samples only a part of its frames"},
	{AUDIT_SMALL_LEFT_OUT, "leaves out small frames"},
	{AUDIT_LARGE_LEFT_OUT, "leaves out large frames"},
	{AUDIT_LESS_UNDER_LOAD, "takes fewer samples when more passes"},
	{AUDIT_MORE_UNDER_LOAD, "takes more samples when more passes"},
	{AUDIT_RATE_OFF, "does not sample at the rate that it says"},
	{AUDIT_IN_STEP, "takes every Nth frame, or repeats its skips"},
};

/* ---- reading ---- */

static void
verdicts_name_port(struct report_result *result, const struct query_port *port, unsigned faults)
{
	size_t i = 0;

	while (i < ARRAY_LEN(verdicts) && !(faults & verdicts[i].fault))
		i++;
	if (i < ARRAY_LEN(verdicts))
		note_text(result_note_port(result, NOTE_ID_AUDITED, port), "says", verdicts[i].says);
}

int
verdicts_read(struct query *query, const struct report_options *options, struct report_result *result)
{
	uint64_t from_us = query->range.from_us;
	unsigned n_uplinks = 0;
	sqlite3_stmt *stmt;
	int more;

	stmt = query_prepare(query, "SELECT agent, if_index, TOTAL(1 << (kind - ?1)) FROM oddity WHERE kind >= ?1"
	    " AND last_us > ?2 AND first_us < ?3 GROUP BY agent, if_index");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int(stmt, 1, EASE_ODD_VERDICTS);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)(from_us > VERDICT_RANGE_US ? from_us - VERDICT_RANGE_US : 0));
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)(query->range.to_us + VERDICT_RANGE_US));
	while ((more = query_step(query, stmt)) == 1) {
		const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0),
		    (uint64_t)sqlite3_column_int64(stmt, 1));

		unsigned faults = (unsigned)sqlite3_column_int64(stmt, 2);

		if (!port || !port_is_counted(options, port))
			continue;
		n_uplinks += (faults & VERDICT_UPLINK) && port->edge && !(options->filter && options->filter->asks_for_ports);
		if (query_listed(port)->all.n > 0)
			verdicts_name_port(result, port, faults);
	}
	sqlite3_finalize(stmt);
	if (n_uplinks > 0)
		note_count(note_of(result, NOTE_ID_UPLINKS), "ports", n_uplinks);
	return more < 0 ? more : 0;
}

/* ---- judging ---- */

/* The part of turns that accuse a sound sampler. */
#define FALSE_VERDICTS 1e-5

static unsigned
named_faults(unsigned faults)
{
	unsigned named = 0;

	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
		named |= faults & verdicts[i].fault;
	return named;
}

static bool
verdicts_is_sampled(const struct query_port *port)
{
	return port->side[EASE_IN].all.n + port->side[EASE_OUT].all.n >= AUDIT_ENOUGH_SAMPLES;
}

/* Of the ports in their order, which is by agent and interface, the first behind the one that was judged last. */
static size_t
verdicts_first_of(const struct query *query, const struct verdict_turn *turn)
{
	for (size_t i = 0; i < query->n_ports; i++) {
		const struct query_port *port = &query->ports[i];

		if (port->agent->id > turn->agent ||
		    (port->agent->id == turn->agent && port->if_index > turn->if_index))
			return i;
	}
	return 0;
}

static int
verdicts_judge_port(struct audit_reader *reader, const struct query_port *port, double error, bool is_uplink,
    struct verdict_turn *turn)
{
	struct audit_result result;
	struct audit_input input;
	int err = audit_read(reader, port, &input);

	input.error = error;
	if (err == 0)
		err = audit_judge(&input, &result);
	if (err)
		return err;
	turn->judged(turn->arg, port->agent->id, port->if_index,
	    named_faults(result.faults) | (is_uplink ? VERDICT_UPLINK : 0));
	turn->agent = port->agent->id;
	turn->if_index = port->if_index;
	return 0;
}

static int
verdicts_judge_ports(struct query *query, struct verdict_turn *turn)
{
	size_t first = verdicts_first_of(query, turn), n_sampled = 0;
	struct audit_reader reader;
	struct uplink_sight *sights;
	int err = uplink_search(query, &sights);

	if (err == 0)
		err = audit_reader_begin(&reader, query);
	if (err) {
		free(sights);
		return err;
	}
	for (size_t i = 0; i < query->n_ports; i++)
		n_sampled += verdicts_is_sampled(&query->ports[i]);
	for (size_t i = 0; err == 0 && i < query->n_ports && clock_mono_us(&clock_system) < turn->until_us; i++) {
		size_t at = (first + i) % query->n_ports;
		const struct query_port *port = &query->ports[at];
		bool is_uplink = port->edge && uplink_is_likely(&sights[at]);

		if (verdicts_is_sampled(port))
			err = verdicts_judge_port(&reader, port, FALSE_VERDICTS / (double)(AUDIT_TESTS * n_sampled), is_uplink, turn);
		else if (is_uplink)
			turn->judged(turn->arg, port->agent->id, port->if_index, VERDICT_UPLINK);
	}
	audit_reader_end(&reader);
	free(sights);
	return err;
}

int
verdicts_judge(struct query *query, uint64_t now_us, struct verdict_turn *turn)
{
	struct report_options options = report_default_options();
	int err;

	options.last_us = VERDICT_RANGE_US;
	err = query_begin(query, &options, now_us);
	if (err == 0)
		err = query_windows(query);
	return err == 0 ? verdicts_judge_ports(query, turn) : err;
}
