/*
 * Names and sites of devices: the rows that the store has of the user's file (device_names.h), for the agents and ports
 * of a question. In a cluster each collector has rows of its own, and those of the collector that heard an agent last
 * count; if it has none, those of the others. Part of query.h.
 */
#include "collector/report/device_names.h"
#include "collector/report/query_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct query_names {
	size_t n;
	struct set {
		int64_t collector;
		struct device_names *names;
	} *sets; /* by collector */
	struct device_names_agent *agents; /* one for each of the query's */
	size_t *set_of;			   /* of each agent */
};

/* ---- reading ---- */

static struct set *
add_set(struct query_names *names, int64_t collector)
{
	struct set *sets = realloc(names->sets, (names->n + 1) * sizeof(*sets));

	if (!sets)
		return NULL;
	names->sets = sets;
	sets[names->n] = (struct set){collector, device_names_create()};
	return sets[names->n].names ? &sets[names->n++] : NULL;
}

/* Rows that this version does not understand were written by a newer one, whose schema is newer, or by hand. */
static int
add_row(struct query *query, sqlite3_stmt *stmt)
{
	struct query_names *names = query->names;
	int64_t collector = sqlite3_column_int64(stmt, 0);
	const char *text = (const char *)sqlite3_column_text(stmt, 2);
	char error[DEVICE_NAMES_ERROR];
	struct set *set = names->n > 0 ? &names->sets[names->n - 1] : NULL;
	int err;

	if (!set || set->collector != collector)
		set = add_set(names, collector);
	if (!set || !text)
		return query_fail(query, -ENOMEM, "no memory");
	err = device_names_add(set->names, (unsigned)sqlite3_column_int64(stmt, 1), text, error);
	return err ? query_fail(query, err, "%s: device names: row %s", query->path, error) : 0;
}

int
query_load_names(struct query *query)
{
	struct query_names *names = query->names = calloc(1, sizeof(*names));
	char error[DEVICE_NAMES_ERROR];
	int err = names ? query_rows(query, "SELECT collector, line, text FROM naming WHERE line > 0"
					    " ORDER BY collector, line", add_row)
			: query_fail(query, -ENOMEM, "no memory");

	for (size_t i = 0; err == 0 && i < names->n; i++) {
		err = device_names_finish(names->sets[i].names, error);
		if (err)
			query_fail(query, err, "%s: device names: row %s", query->path, error);
	}
	if (err || names->n == 0)
		return err;
	names->agents = calloc(query->n_agents + 1, sizeof(*names->agents));
	names->set_of = calloc(query->n_agents + 1, sizeof(*names->set_of));
	return names->agents && names->set_of ? 0 : query_fail(query, -ENOMEM, "no memory");
}

void
query_forget_names(struct query *query)
{
	struct query_names *names = query->names;

	for (size_t i = 0; names && i < names->n; i++)
		device_names_destroy(names->sets[i].names);
	if (names) {
		free(names->sets);
		free(names->agents);
		free(names->set_of);
	}
	free(names);
	query->names = NULL;
}

/* ---- agents ---- */

static void
read_id(const char *text, uint8_t id[EASE_AGENT_ID_LEN])
{
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		id[i] = (uint8_t)strtoul((const char[]){text[2 * i], text[2 * i + 1], 0}, NULL, 16);
}

static void
place_agent(const struct query_names *names, size_t i, struct query_agent *agent)
{
	struct device_names_agent *found = &names->agents[i];
	uint8_t id[EASE_AGENT_ID_LEN];
	size_t set = 0;
	bool has_own = false;

	read_id(agent->id_text, id);
	for (size_t s = 0; s < names->n && !has_own; s++)
		if (names->sets[s].collector == agent->collector) {
			set = s;
			has_own = true;
		}
	do {
		device_names_of_agent(names->sets[set].names, id, agent->address, found);
	} while (!has_own && !found->name && !found->site && found->n_ranges == 0 && ++set < names->n);
	names->set_of[i] = set < names->n ? set : 0;
	agent->is_named = found->name != NULL;
	agent->site = found->site;
	agent->has_port_sites = found->has_port_sites;
}

/* What it is called if no other is called so. */
static const char *
base_name(const struct query *query, const struct query_agent *agent)
{
	const struct query_names *names = query->names;
	const char *given = names->n > 0 ? names->agents[agent - query->agents].name : NULL;

	return given ? given : agent->address;
}

/* True if a switch that came later has the name: it replaced this one, or both send from one address. */
static bool
has_successor(const struct query *query, const struct query_agent *agent, const char *name)
{
	for (const struct query_agent *a = query->agents; a < query->agents + query->n_agents; a++)
		if ((a->first_us > agent->first_us || (a->first_us == agent->first_us && a > agent)) &&
		    strcmp(base_name(query, a), name) == 0)
			return true;
	return false;
}

/* Names stay as they are when a switch is replaced: the newest at an address is called by it, those before it
 * by the address and a part of their id. */
static void
name_agent(const struct query *query, struct query_agent *agent)
{
	const char *name = base_name(query, agent);

	if (!*name)
		snprintf(agent->name, sizeof(agent->name), "%.8s", agent->id_text);
	else if (has_successor(query, agent, name))
		snprintf(agent->name, sizeof(agent->name), "%.*s#%.4s", QUERY_AGENT_TEXT - 6, name, agent->id_text);
	else
		snprintf(agent->name, sizeof(agent->name), "%s", name);
}

void
query_name_agents(struct query *query)
{
	for (size_t i = 0; query->names->n > 0 && i < query->n_agents; i++)
		place_agent(query->names, i, &query->agents[i]);
	for (size_t i = 0; i < query->n_agents; i++)
		name_agent(query, &query->agents[i]);
}

/* ---- ports ---- */

void
query_name_ports(struct query *query)
{
	const struct query_names *names = query->names;

	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];
		size_t agent = (size_t)(port->agent - query->agents);

		*port->name = '\0';
		if (names->n > 0)
			device_names_of_port(names->sets[names->set_of[agent]].names, &names->agents[agent],
			    port->if_index, port->sent_name, port->name, &port->site);
		if (!*port->name)
			memcpy(port->name, port->sent_name, sizeof(port->name));
		if (!port->site)
			port->site = port->agent->site;
	}
}

bool
query_names_have_site(const struct query *query, const char *site)
{
	for (size_t i = 0; i < query->names->n; i++)
		if (device_names_has_site(query->names->sets[i].names, site))
			return true;
	return false;
}
