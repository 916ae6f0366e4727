#include "collector/report/verdicts.h"

#include "collector/estimate/audit.h"
#include "collector/record.h"
#include "collector/report/audit_reader.h"
#include "collector/report/result.h"

#include <errno.h>

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
name_port(struct report_result *result, const struct query_port *port, unsigned faults)
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

		if (port && port_is_counted(options, port) && query_listed(port)->all.n > 0)
			name_port(result, port, (unsigned)sqlite3_column_int64(stmt, 2));
	}
	sqlite3_finalize(stmt);
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
is_sampled(const struct query_port *port)
{
	return port->side[EASE_IN].all.n + port->side[EASE_OUT].all.n >= AUDIT_ENOUGH_SAMPLES;
}

/* Of the ports in their order, which is by agent and interface, the first behind the one that was judged last. */
static size_t
first_of(const struct query *query, const struct verdict_turn *turn)
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
judge_port(struct audit_reader *reader, const struct query_port *port, double error, struct verdict_turn *turn)
{
	struct audit_result result;
	struct audit_input input;
	int err = audit_read(reader, port, &input);

	input.error = error;
	if (err == 0)
		err = audit_judge(&input, &result);
	if (err)
		return err;
	turn->judged(turn->arg, port->agent->id, port->if_index, named_faults(result.faults));
	turn->agent = port->agent->id;
	turn->if_index = port->if_index;
	return 0;
}

static int
judge_ports(struct query *query, struct verdict_turn *turn)
{
	size_t first = first_of(query, turn), n_sampled = 0;
	struct audit_reader reader;
	int err = audit_reader_begin(&reader, query);

	for (size_t i = 0; i < query->n_ports; i++)
		n_sampled += is_sampled(&query->ports[i]);
	for (size_t i = 0; err == 0 && i < query->n_ports && clock_mono_us(&clock_system) < turn->until_us; i++) {
		const struct query_port *port = &query->ports[(first + i) % query->n_ports];

		if (is_sampled(port))
			err = judge_port(&reader, port, FALSE_VERDICTS / (double)(AUDIT_TESTS * n_sampled), turn);
	}
	audit_reader_end(&reader);
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
	return err == 0 ? judge_ports(query, turn) : err;
}
