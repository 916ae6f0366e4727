/*
 * Names and sites of devices: the rows that the store has of the user's file (device_names.h), for the agents and ports
 * of a question. In a cluster each collector has rows of its own, and those of the collector that heard an agent last
 * count; if it has none, those of the others. Part of query.h.
 */
#include "collector/filter/device_names.h"
#include "collector/filter/filter.h"
#include "collector/query/query_private.h"

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
names_add_row(struct query *query, sqlite3_stmt *stmt)
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
					    " ORDER BY collector, line", names_add_row)
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
names_read_id(const char *text, uint8_t id[EASE_AGENT_ID_LEN])
{
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		id[i] = (uint8_t)strtoul((const char[]){text[2 * i], text[2 * i + 1], 0}, NULL, 16);
}

static void
names_place_agent(const struct query_names *names, size_t i, struct query_agent *agent)
{
	struct device_names_agent *found = &names->agents[i];
	uint8_t id[EASE_AGENT_ID_LEN];
	size_t set = 0;
	bool has_own = false;

	names_read_id(agent->id_text, id);
	for (size_t s = 0; s < names->n && !has_own; s++)
		if (names->sets[s].collector == agent->collector) {
			set = s;
			has_own = true;
		}
	do {
		device_names_of_agent(names->sets[set].names, id, agent->lacks_address ? "" : agent->address, found);
	} while (!has_own && !found->name && !found->site && found->n_ranges == 0 && ++set < names->n);
	names->set_of[i] = set < names->n ? set : 0;
	agent->is_named = found->name != NULL;
	agent->site = found->site;
	agent->has_port_sites = found->has_port_sites;
}

/* Whether a rather than b has the address or name of both: who sends from its address before who only states it. Of those
 * who send from it the later one, which replaced the other, or both are behind one address. Of those who only state it the
 * first one, unless one sender sends both. */
static bool
names_goes_before(const struct query_agent *a, const struct query_agent *b)
{
	bool is_later = a->first_us > b->first_us || (a->first_us == b->first_us && a > b);

	if (!*a->sender != !*b->sender)
		return !*a->sender;
	return is_later == (strcmp(a->sender, b->sender) == 0);
}

static bool
lacks_address(const struct query *query, const struct query_agent *agent)
{
	for (const struct query_agent *a = query->agents; a < query->agents + query->n_agents && *agent->sender; a++)
		if (strcmp(a->sender, agent->sender) != 0 && strcmp(a->address, agent->address) == 0 && names_goes_before(a, agent))
			return true;
	return false;
}

/* What a switch calls itself; NULL: nothing, or what could be taken for another switch. */
static const char *
own_name(const struct query_agent *agent)
{
	struct filter_prefix prefix;

	return *agent->system_name && filter_parse_prefix(agent->system_name, &prefix) != 0 ? agent->system_name : NULL;
}

/* What it is called if no other is called so. */
static void
names_set_base(const struct query *query, struct query_agent *agent)
{
	const struct query_names *names = query->names;
	const char *given = names->n > 0 ? names->agents[agent - query->agents].name : NULL;

	agent->names_itself = !given && own_name(agent);
	if (agent->names_itself)
		given = own_name(agent);

	if (agent->lacks_address && !given)
		snprintf(agent->name, sizeof(agent->name), "%s for %.*s", agent->sender, FRAME_IP_TEXT - 1, agent->address);
	else
		snprintf(agent->name, sizeof(agent->name), "%.*s", DEVICE_NAME_MAX, given ? given : agent->address);
}

static uint8_t
n_same_digits(const char *a, const char *b)
{
	uint8_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* How many digits of its id tell it from the others that are called so; 0: the name is its own. */
static uint8_t
digits_needed(const struct query *query, const struct query_agent *agent)
{
	enum { LEAST = 4, FORM = 4 /* which many ids have that the collector made */ };
	uint8_t digits = *agent->name ? LEAST : 2 * LEAST;
	bool lacks_name = !*agent->name;

	for (const struct query_agent *a = query->agents; a < query->agents + query->n_agents; a++)
		if (a != agent && strcmp(a->name, agent->name) == 0) {
			uint8_t same = n_same_digits(a->id_text, agent->id_text);

			lacks_name = lacks_name || (a->names_itself == agent->names_itself ? names_goes_before(a, agent) : !a->names_itself);
			digits = digits > same ? digits : same + 1;
		}
	if (!lacks_name)
		return 0;
	return strncmp(agent->id_text, "000", 3) == 0 && digits < FORM + LEAST ? FORM + LEAST : digits;
}

/* Names stay as they are when a switch is replaced, or when another states its address. Who does not have the name
 * has a part of its id behind it. */
void
query_name_agents(struct query *query)
{
	struct query_agent *end;

	if (query->n_agents == 0) /* of a store without any there is no list */
		return;
	end = query->agents + query->n_agents;
	for (struct query_agent *a = query->agents; a < end; a++)
		a->lacks_address = lacks_address(query, a);
	for (size_t i = 0; query->names->n > 0 && i < query->n_agents; i++)
		names_place_agent(query->names, i, &query->agents[i]);
	for (struct query_agent *a = query->agents; a < end; a++)
		names_set_base(query, a);
	for (struct query_agent *a = query->agents; a < end; a++)
		a->digits = digits_needed(query, a);
	for (struct query_agent *a = query->agents; a < end; a++)
		if (a->digits > 0)
			snprintf(a->name + strlen(a->name), sizeof(a->name) - strlen(a->name), "%s%.*s", *a->name ? "#" : "",
			    a->digits, a->id_text);
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
