#include "collector/report/uplink_search.h"

#include "collector/query/query_private.h"
#include "collector/store/levels.h"
#include "collector/store/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A station is seen at the ports of the switches that its frames cross; more ports than these are no path. */
enum { PLACES_OF_ONE = 64, ELSEWHERE_MIN = 2 };

struct seen_at {
	size_t port; /* number in the query */
	uint64_t frames;
};

struct search {
	struct query *query;
	struct uplink_sight *sights;
	size_t *leads; /* of each port: the first one of its link aggregate, or itself */
	uint8_t address[8];
	int n_octets;
	struct seen_at at[PLACES_OF_ONE];
	size_t n;
};

static uint64_t
uplink_aggregate_of(const struct query_port *port)
{
	return port->lag_parent > 0 ? port->lag_parent : port->if_index;
}

static int
find_leads(struct search *s)
{
	const struct query_port *ports = s->query->ports;
	size_t n = s->query->n_ports;
	bool any = false;

	s->leads = calloc(n + 1, sizeof(*s->leads));
	if (!s->leads)
		return query_fail(s->query, -ENOMEM, "no memory");
	for (size_t i = 0; i < n; i++) {
		s->leads[i] = i;
		any |= ports[i].lag_parent > 0;
	}
	for (size_t i = 0; any && i < n; i++)
		for (size_t k = i; k-- > 0 && ports[k].agent == ports[i].agent;)
			if (uplink_aggregate_of(&ports[k]) == uplink_aggregate_of(&ports[i]))
				s->leads[i] = k;
	return 0;
}

static void
add_sighting(struct search *s, sqlite3_stmt *stmt, size_t port, void (*end)(struct search *s))
{
	const void *octets = sqlite3_column_blob(stmt, 0);
	int n_octets = sqlite3_column_bytes(stmt, 0);
	size_t i = 0;

	if (!octets || n_octets > (int)sizeof(s->address))
		return;
	if (n_octets != s->n_octets || memcmp(octets, s->address, (size_t)n_octets) != 0) {
		end(s);
		s->n = 0;
		memcpy(s->address, octets, (size_t)n_octets);
		s->n_octets = n_octets;
	}
	while (i < s->n && s->at[i].port != port)
		i++;
	if (i == PLACES_OF_ONE)
		return;
	if (i == s->n)
		s->at[s->n++] = (struct seen_at){port, 0};
	s->at[i].frames += query_u64(stmt, 3);
}

/* Calls end when s->at has all ports of an address. */
static int
uplink_read_places(struct search *s, void (*end)(struct search *s))
{
	struct query *query = s->query;
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(query, QUERY_ALL_ROWS, query->range.from_us, query->range.to_us);
	stmt = query_prepare(query, "SELECT address, agent, if_index, seen FROM place WHERE layer = :layer"
	    " AND last_us >= :from AND first_us < :to ORDER BY address");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int(stmt, sqlite3_bind_parameter_index(stmt, ":layer"), STORE_PLACE_ETH);
	while ((err = query_step(query, stmt)) == 1) {
		const struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 1),
		    (uint64_t)sqlite3_column_int64(stmt, 2));

		if (port)
			add_sighting(s, stmt, s->leads[port - query->ports], end);
	}
	sqlite3_finalize(stmt);
	end(s);
	s->n = 0;
	return err;
}

static void
count_station(struct search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		s->sights[s->at[i].port].stations++;
		s->sights[s->at[i].port].frames += s->at[i].frames;
	}
}

/* A port to a host sees few stations, and all that these send. */
static bool
is_nearer(const struct search *s, const struct seen_at *a, const struct seen_at *b)
{
	uint64_t of_a = s->sights[a->port].stations, of_b = s->sights[b->port].stations;

	return of_a != of_b ? of_a < of_b : a->frames > b->frames;
}

/* The port where the address is at home; the others of other agents see it pass. Where two are equally near nothing is
 * said. */
static void
find_home(struct search *s)
{
	const struct query_port *ports = s->query->ports;
	const struct seen_at *home = s->at; /* of none, too: then no loop runs */

	for (size_t i = 1; i < s->n; i++)
		if (is_nearer(s, &s->at[i], home))
			home = &s->at[i];
	for (size_t i = 0; i < s->n; i++) {
		const struct seen_at *at = &s->at[i];

		if (ports[at->port].agent != ports[home->port].agent && is_nearer(s, home, at)) {
			s->sights[at->port].elsewhere++;
			s->sights[at->port].frames_elsewhere += at->frames;
		}
	}
}

int
uplink_search(struct query *query, struct uplink_sight **sights)
{
	struct search s = {.query = query, .sights = calloc(query->n_ports + 1, sizeof(**sights))};
	int err = s.sights ? find_leads(&s) : query_fail(query, -ENOMEM, "no memory");

	/* At a single switch nothing is at home elsewhere, however many places there are to read. */
	if (err == 0 && query->n_agents > 1)
		err = uplink_read_places(&s, count_station);
	if (err == 0 && query->n_agents > 1)
		err = uplink_read_places(&s, find_home);
	for (size_t i = 0; err == 0 && i < query->n_ports; i++)
		s.sights[i] = s.sights[s.leads[i]];
	free(s.leads);
	*sights = s.sights;
	return err;
}

bool
uplink_is_likely(const struct uplink_sight *sight)
{
	return sight->elsewhere >= ELSEWHERE_MIN && 2 * sight->elsewhere >= sight->stations;
}
