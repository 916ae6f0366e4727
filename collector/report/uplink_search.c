#include "collector/report/uplink_search.h"

#include "collector/report/query_private.h"
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
	uint8_t address[8];
	int n_octets;
	struct seen_at at[PLACES_OF_ONE];
	size_t n;
};

static int
read_places(struct search *s, void (*take)(struct search *s, sqlite3_stmt *stmt, size_t port))
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
		    (uint32_t)sqlite3_column_int64(stmt, 2));

		if (port)
			take(s, stmt, (size_t)(port - query->ports));
	}
	sqlite3_finalize(stmt);
	return err;
}

static void
count_station(struct search *s, sqlite3_stmt *stmt, size_t port)
{
	s->sights[port].stations++;
	s->sights[port].frames += query_u64(stmt, 3);
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
end_address(struct search *s)
{
	const struct query_port *ports = s->query->ports;
	const struct seen_at *home = s->at;

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
	s->n = 0;
}

static void
add_sighting(struct search *s, sqlite3_stmt *stmt, size_t port)
{
	const void *octets = sqlite3_column_blob(stmt, 0);
	int n_octets = sqlite3_column_bytes(stmt, 0);

	if (!octets || n_octets > (int)sizeof(s->address))
		return;
	if (n_octets != s->n_octets || memcmp(octets, s->address, (size_t)n_octets) != 0) {
		end_address(s);
		memcpy(s->address, octets, (size_t)n_octets);
		s->n_octets = n_octets;
	}
	if (s->n < PLACES_OF_ONE)
		s->at[s->n++] = (struct seen_at){port, query_u64(stmt, 3)};
}

int
uplink_search(struct query *query, struct uplink_sight **sights)
{
	struct search s = {.query = query, .sights = calloc(query->n_ports + 1, sizeof(**sights))};
	int err = s.sights ? read_places(&s, count_station) : query_fail(query, -ENOMEM, "no memory");

	if (err == 0)
		err = read_places(&s, add_sighting);
	if (err == 0)
		end_address(&s);
	*sights = s.sights;
	return err;
}

bool
uplink_is_likely(const struct uplink_sight *sight)
{
	return sight->elsewhere >= ELSEWHERE_MIN && 2 * sight->elsewhere >= sight->stations;
}
