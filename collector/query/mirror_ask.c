#include "collector/query/mirror_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	AGENTS_LISTED_MAX = 1000,
	/* Pairs of a month of a large fleet are too many for any memory: beyond, a server groups on
	 * its disk. A quarter of what a server of 4 GB can spare for one question. */
	GROUPED_IN_MEMORY = 1 << 30,
	/* ClickHouse's ErrorCodes.cpp */
	UNKNOWN_TABLE = 60,
	UNKNOWN_DATABASE = 81,
	TIMEOUT_EXCEEDED = 159,
	TOO_SLOW = 160,
	UNKNOWN_USER = 192,
	WRONG_PASSWORD = 193,
	REQUIRED_PASSWORD = 194,
	MEMORY_LIMIT_EXCEEDED = 241,
	AUTHENTICATION_FAILED = 516,
};

const struct cluster_place *
mirror_place(const struct mirror *mirror)
{
	return &mirror->place;
}

/* ---- asking ---- */

/* The server's message is mostly for its operator; what the user can do comes first. */
static int
fail_refused(struct query *query)
{
	struct mirror *m = query->mirror;
	const char *says = cluster_http_error(m->http);

	switch (cluster_http_code(m->http)) {
	case UNKNOWN_TABLE:
	case UNKNOWN_DATABASE:
		return query_fail(query, -EPROTO, "clickhouse: no tables of easecapd in database %s"
		    " (its option clickhouse makes them): %s", m->place.database, says);
	case UNKNOWN_USER:
	case WRONG_PASSWORD:
	case REQUIRED_PASSWORD:
	case AUTHENTICATION_FAILED:
		return query_fail(query, -EACCES, "clickhouse: wrong user or password: %s", says);
	case TIMEOUT_EXCEEDED:
	case TOO_SLOW:
		return query_fail(query, -ETIMEDOUT, "the question takes too long: ask for a"
		    " shorter range or for one switch");
	case MEMORY_LIMIT_EXCEEDED:
		return query_fail(query, -E2BIG, "clickhouse: too much for the servers' memory: ask"
		    " for a shorter range or one switch (%s)", says);
	default:
		return query_fail(query, -EIO, "clickhouse: %s", says);
	}
}

static int
fail_ask(struct query *query, int err)
{
	if (*query->error) /* the function that refused a row has set it */
		return err;
	if (err == -EREMOTEIO)
		return fail_refused(query);
	if (err == -ECANCELED || query_is_over_limit(query))
		return query_fail(query, -ETIMEDOUT, "the question takes too long: ask for a"
		    " shorter range or for one switch");
	return query_fail(query, err, "clickhouse: %s", cluster_http_error(query->mirror->http));
}

/* Two more milliseconds than are left: libcurl counts whole ones and may end one early, which would
 * look as if the server did not answer. */
static uint32_t
time_left_ms(const struct query_limits *limits)
{
	uint64_t now_us = limits->deadline_us ? clock_mono_us(limits->clock) : 0;

	if (!limits->deadline_us)
		return MIRROR_ASK_MS;
	return now_us < limits->deadline_us ? (uint32_t)((limits->deadline_us - now_us) / 1000) + 2
					    : 1;
}

static int
mirror_ask_take_octets(void *arg, const void *octets, size_t n)
{
	return row_stream_take(arg, octets, n);
}

static int
ask_text(struct query *query, const char *text, const enum cluster_type *types, size_t n_types, row_fn *row, void *arg)
{
	struct mirror *m = query->mirror;
	uint32_t left_ms = time_left_ms(&query->limits);
	struct row_stream stream;
	char settings[256];
	int err;

	/* the server sends only complete answers: a failure in the middle becomes an error */
	snprintf(settings, sizeof(settings), "wait_end_of_query=1&max_execution_time=%u&"
	    "distributed_product_mode=global&join_use_nulls=0&"
	    "distributed_aggregation_memory_efficient=1&max_bytes_before_external_group_by=%u",
	    (left_ms + 999) / 1000, GROUPED_IN_MEMORY);
	cluster_http_set_timeout(m->http, left_ms);
	row_stream_init(&stream, types, n_types, row, arg);
	*query->error = '\0';
	err = cluster_http_ask(m->http, &(struct cluster_question){.sql = text,
	    .settings = settings, .server = CLUSTER_ANY_SERVER, .take = mirror_ask_take_octets,
	    .arg = &stream});
	if (err)
		err = fail_ask(query, err);
	else if (!row_stream_is_done(&stream))
		err = query_fail(query, -EBADMSG, "%s: the answer ends within a row", query->path);
	row_stream_free(&stream);
	return err;
}

int
mirror_ask(struct query *query, const struct sql *sql, const enum cluster_type *types, size_t n_types, row_fn *row,
    void *arg)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = out ? 0 : -ENOMEM;

	if (out) {
		sql_write(out, sql);
		fputs(" FORMAT RowBinary", out);
		err = fclose(out) == 0 ? 0 : -ENOMEM;
	}
	err = err ? query_fail(query, err, "no memory") : ask_text(query, text, types, n_types, row, arg);
	free(text);
	return err;
}

/* ---- agents ---- */

static int
compare_agents(const void *a, const void *b)
{
	return memcmp(a, b, EASE_AGENT_ID_LEN);
}

int64_t
mirror_agent(const struct mirror *mirror, const uint8_t *agent_id)
{
	const uint8_t(*found)[EASE_AGENT_ID_LEN] = mirror->n_agents == 0 ? NULL
	    : bsearch(agent_id, mirror->agents, mirror->n_agents, EASE_AGENT_ID_LEN,
		  compare_agents);

	return found ? found - mirror->agents + 1 : 0;
}

/* Agents come in the order of their ids, and SQLite numbers them from 1. */
int
mirror_add_agent(struct query *query, const struct row_cell *id)
{
	struct mirror *m = query->mirror;
	uint8_t(*agents)[EASE_AGENT_ID_LEN] =
	    realloc(m->agents, (m->n_agents + 1) * sizeof(*agents));

	if (!agents)
		return query_fail(query, -ENOMEM, "no memory");
	m->agents = agents;
	memcpy(agents[m->n_agents++], id->text, EASE_AGENT_ID_LEN);
	return 0;
}

void
mirror_write_agents(FILE *sql, const void *of)
{
	const struct query *query = of;
	size_t n = 0;

	for (size_t i = 0; i < query->n_agents; i++)
		n += query->agents[i].chosen;
	if (query->fetches_all || n == query->n_agents || n == 0 || n > AGENTS_LISTED_MAX)
		return;
	for (size_t i = 0, listed = 0; i < query->n_agents; i++)
		if (query->agents[i].chosen)
			fprintf(sql, "%stoFixedString(unhex('%s'), %d)",
			    listed++ > 0 ? ", " : " AND agent IN (", query->agents[i].id_text,
			    EASE_AGENT_ID_LEN);
	fputs(")", sql);
}
