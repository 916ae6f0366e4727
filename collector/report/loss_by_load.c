#include "collector/report/loss_by_load.h"

#include "collector/query/query_private.h"
#include "collector/report/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CELLS_MAX = 1440, /* a day's minutes */
	PLACES_MAX = 256, /* ports and agents that are looked at: some 9 MB of cells */
	LOST_MIN = 20,
	ENTRIES_MAX = 2000000, /* ports by cells, that a list may read beside its own: a fraction of a second */
};
/* A place with less loss is not looked at, nor is a list. */
static const double COMPLETE = 0.99;
/* The level is exceeded threefold where runs of 50 numbers meet rare bursts (check_load_loss.c). */
static const double LEVEL = 0.001 / 3;

struct tally {
	struct query *query;
	struct query_port *last; /* that was added to */
	struct loss_by_load *found;
	uint64_t from_us, span_us;
	size_t n_cells, n_places;
	size_t *of_port, *of_agent; /* place + 1; 0: none */
	double *more_lost; /* of each port: the part that it loses, less the part that its agent loses; NAN: not wanted */
	struct load_loss_cell *cells;
};

static bool
is_lossy(double expected, double received)
{
	return expected - received >= LOST_MIN && received < COMPLETE * expected;
}

static bool
loss_is_wanted(const struct report_options *options, const struct query_port *port)
{
	return options ? port_is_counted(options, port) : port->chosen;
}

/* Agents first: what is lost on the way is lost of all ports. */
static void
choose_places(const struct query *query, const struct report_options *options, struct tally *t)
{
	for (size_t a = 0, p = 0; a < query->n_agents; a++) {
		const size_t first = p;
		double expected = 0, received = 0;
		size_t with_numbers = 0;

		for (; p < query->n_ports && query->ports[p].agent == &query->agents[a]; p++) {
			if (!loss_is_wanted(options, &query->ports[p]))
				continue;
			expected += (double)query->ports[p].expected;
			received += (double)query->ports[p].received;
			with_numbers += query->ports[p].expected > 0;
		}
		if (with_numbers > 1 && is_lossy(expected, received) && t->n_places < PLACES_MAX)
			t->of_agent[a] = ++t->n_places;
		for (size_t i = first; i < p; i++) {
			double numbers = (double)query->ports[i].expected, came = (double)query->ports[i].received;

			if (!loss_is_wanted(options, &query->ports[i]))
				t->more_lost[i] = NAN;
			else if (numbers > 0)
				t->more_lost[i] = received / expected - came / numbers;
			if (!isnan(t->more_lost[i]) && is_lossy(numbers, came) && t->n_places < PLACES_MAX)
				t->of_port[i] = ++t->n_places;
		}
	}
}

/* Of the time that has data. The edge cuts the last cell, and its counters are not complete. */
static void
choose_cells(const struct query *query, struct tally *t)
{
	uint64_t from_us = query->range.to_us, to_us = query->range.to_us, most = ENTRIES_MAX;

	if (query->store->is_remote && query->limits.keys > 0 && query->limits.keys / 4 < most) /* two directions; half of them */
		most = query->limits.keys / 4;
	for (size_t i = 0; i < query->n_agents; i++)
		if (query->agents[i].chosen && query->agents[i].first_us < from_us)
			from_us = query->agents[i].first_us;
	from_us = from_us > query->range.from_us ? from_us : query->range.from_us;
	to_us = query->newest_us > from_us && query->newest_us < to_us ? query->newest_us : to_us;
	for (int l = LEVEL_1_MIN; l <= LEVEL_1_D; l++) {
		uint64_t n = (to_us - from_us) / store_levels[l].span_us;

		t->span_us = store_levels[l].span_us;
		if (t->span_us >= query_finest_us(query, from_us) && n <= CELLS_MAX && n * query->n_ports <= most)
			break;
	}
	t->from_us = store_window_start(from_us, t->span_us);
	t->n_cells = (size_t)((to_us - t->from_us) / t->span_us + (query->edge_us > 0 ? 0 : 1));
}

/* The samples that what a port counted stands for: of the directions that it samples. */
static double
load_of(const struct query_port *port, uint8_t direction, double pkts)
{
	const struct estimate_sums *in = &port->side[EASE_IN].all, *out = &port->side[EASE_OUT].all;
	double w = in->w + out->w;

	return port->side[direction].all.n > 0 && w > 0 ? pkts * (double)(in->n + out->n) / w : 0;
}

static void
add_cell(const struct tally *t, size_t place, size_t cell, const struct load_loss_cell *more)
{
	struct load_loss_cell *to = place > 0 ? &t->cells[(place - 1) * t->n_cells + cell] : NULL;

	if (!to)
		return;
	to->expected += more->expected;
	to->lost += more->lost;
	to->load += more->load;
}

/* Of an agent as a whole: as if each port lost as much as all do. A port that loses more than others, busy or not, is
 * no loss by load when it has more of what passes. */
static void
add_to_agent(const struct tally *t, size_t place, size_t cell, double more_lost, struct load_loss_cell more)
{
	if (isnan(more_lost))
		return;
	more.lost -= more_lost * more.expected;
	add_cell(t, place, cell, &more);
}

static void
loss_add_totals(void *arg, const struct query_totals *totals)
{
	struct tally *t = arg;
	struct query *query = t->query;
	struct query_port *port = query_port_of(query, totals->key, t->last);
	uint8_t direction = pack_direction(totals->key);
	size_t cell = (size_t)((totals->start_us - t->from_us) / t->span_us);
	struct load_loss_cell more = {.expected = totals->expected, .lost = totals->expected - totals->received};

	if (!port || totals->start_us < t->from_us || cell >= t->n_cells || (direction != EASE_IN && direction != EASE_OUT))
		return;
	t->last = port;
	more.load = load_of(port, direction, totals->pool_pkts);
	add_cell(t, t->of_port[port - query->ports], cell, &more);
	add_to_agent(t, t->of_agent[port->agent - query->agents], cell, t->more_lost[port - query->ports], more);
}

static int
judge_tally(const struct tally *t, size_t place, struct load_loss *result)
{
	return place == 0 ? 0 : load_loss_judge(t->cells + (place - 1) * t->n_cells, t->n_cells,
	    LEVEL / (double)t->n_places, result);
}

static int
judge_places(const struct query *query, const struct tally *t)
{
	int err = 0;

	for (size_t a = 0; err == 0 && a < query->n_agents; a++)
		err = judge_tally(t, t->of_agent[a], &t->found->agents[a]);
	for (size_t p = 0; err == 0 && p < query->n_ports; p++) {
		const struct load_loss *agent = &t->found->agents[query->ports[p].agent - query->agents];

		err = judge_tally(t, t->of_port[p], &t->found->ports[p]);
		if (t->of_port[p] > 0 && !t->found->ports[p].told && agent->told)
			t->found->ports[p] = *agent;
	}
	return err;
}

int
loss_by_load_find(struct query *query, const struct report_options *options, struct loss_by_load *found)
{
	struct tally t = {.query = query, .found = found};
	int err = 0;

	found->ports = calloc(query->n_ports + 1, sizeof(*found->ports));
	found->agents = calloc(query->n_agents + 1, sizeof(*found->agents));
	t.of_port = calloc(query->n_ports + query->n_agents + 1, sizeof(*t.of_port));
	t.more_lost = calloc(query->n_ports + 1, sizeof(*t.more_lost));
	if (!found->ports || !found->agents || !t.of_port || !t.more_lost)
		err = query_fail(query, -ENOMEM, "no memory");
	if (err == 0 && query->range.to_us > query->range.from_us) {
		t.of_agent = t.of_port + query->n_ports;
		choose_places(query, options, &t);
		choose_cells(query, &t);
	}
	if (err == 0 && t.n_places > 0 && t.n_cells >= LOAD_LOSS_CELLS_MIN) {
		t.cells = calloc(t.n_places * t.n_cells + 1, sizeof(*t.cells));
		err = t.cells ? query_totals_by_step(query, t.span_us, loss_add_totals, &t) : query_fail(query, -ENOMEM, "no memory");
		if (err == 0)
			err = judge_places(query, &t);
	}
	free(t.cells);
	free(t.of_port);
	free(t.more_lost);
	return err;
}

void
loss_by_load_free(struct loss_by_load *found)
{
	free(found->ports);
	free(found->agents);
}

static void
loss_add_name(struct report_result *result, const char *agent, const char *port, const struct load_loss *loss)
{
	struct note_values *place = loss->told ? note_item(result, NOTE_ID_LOST_BY_LOAD) : NULL;
	char name[REPORT_NAME_TEXT];

	snprintf(name, sizeof(name), "%.*s", REPORT_NAME_TEXT - 1, port);
	note_text(place, "agent", agent);
	note_text(place, "port", name);
	note_count(place, "lost_quiet_percent", 100 * loss->quiet);
	note_count(place, "lost_busy_percent", 100 * loss->busy);
}

int
loss_by_load_name(struct query *query, const struct report_options *options, struct report_result *result)
{
	struct loss_by_load found = {0};
	int err;

	if ((double)result->samples >= COMPLETE * (double)result->expected)
		return 0;
	err = loss_by_load_find(query, options, &found);
	for (size_t a = 0; err == 0 && a < query->n_agents; a++)
		loss_add_name(result, query->agents[a].name, "", &found.agents[a]);
	for (size_t p = 0; err == 0 && p < query->n_ports; p++)
		if (!found.agents[query->ports[p].agent - query->agents].told)
			loss_add_name(result, query->ports[p].agent->name, query->ports[p].name, &found.ports[p]);
	loss_by_load_free(&found);
	return err;
}
