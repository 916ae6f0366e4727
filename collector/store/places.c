#include "collector/store/places.h"
#include "collector/store/schema.h"
#include "collector/store/sql.h"
#include "common/hash.h"
#include "common/trap_wire.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	WAYS = 4, /* entries where an address may be */
	SETS = 8192,
	TRIM_EVERY = 1024, /* new places of a port */
	TRIM_COUNTS = 4096,
};

/* An address at a port. */
struct place_key {
	uint64_t if_index;
	uint32_t agent;
	uint8_t layer; /* enum store_place_layer; 0: the entry is empty */
	uint8_t n_octets, octets[FRAME_IP_LEN];
	uint8_t zero[2]; /* no padding: keys are compared as octets */
};
_Static_assert(sizeof(struct place_key) == 32, "hash_octets takes blocks of 16");

struct entry {
	struct place_key key;
	uint64_t first_us, last_us; /* of the sightings that wait */
	int32_t vlan;		    /* of the last; -1: untagged */
	uint32_t waiting;	    /* sightings that are not written; 0: none, and the entry may go */
	bool is_written;	    /* the place has a row, unless that was deleted */
};

struct places {
	sqlite3 *db;
	sqlite3_stmt *upsert, *trim;
	uint64_t seed; /* random, so that nobody can choose addresses that crowd each other out */
	struct entry entries[SETS * WAYS];
	size_t hand;	       /* the entry that is looked at next */
	unsigned room;	       /* rows that this batch may still write */
	uint16_t new_places[TRIM_COUNTS]; /* by a hash of the port, since it was trimmed */
	struct places_counts counts;
};

static const char upsert_sql[] =
    "INSERT INTO place VALUES(?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT DO UPDATE SET"
    " vlan = CASE WHEN excluded.last_us >= last_us THEN excluded.vlan ELSE vlan END,"
    " first_us = min(first_us, excluded.first_us), last_us = max(last_us, excluded.last_us),"
    " seen = seen + excluded.seen";

/* By the whole key: addresses that were seen at one moment, as those of a datagram are, do not all go with one of them. */
static const char trim_sql[] =
    "DELETE FROM place WHERE agent = ?1 AND if_index = ?2 AND (last_us, layer, address) <= (SELECT last_us, layer,"
    " address FROM place WHERE agent = ?1 AND if_index = ?2 ORDER BY last_us DESC, layer DESC, address DESC LIMIT 1"
    " OFFSET ?3)";

int
places_open(struct places **places, sqlite3 *db)
{
	struct places *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->db = db;
	sqlite3_randomness(sizeof(p->seed), &p->seed);
	*places = p;
	if (sqlite3_prepare_v3(db, upsert_sql, -1, SQLITE_PREPARE_PERSISTENT, &p->upsert, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v3(db, trim_sql, -1, SQLITE_PREPARE_PERSISTENT, &p->trim, NULL) != SQLITE_OK)
		return -EIO;
	return 0;
}

void
places_close(struct places *p)
{
	if (!p)
		return;
	sqlite3_finalize(p->upsert);
	sqlite3_finalize(p->trim);
	free(p);
}

struct places_counts
places_counts(const struct places *p)
{
	return p->counts;
}

void
places_rolled_back(struct places *p)
{
	memset(p->entries, 0, sizeof(p->entries));
}

/* ---- rows ---- */

static int
run_statement(sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	sqlite3_reset(statement);
	return code == SQLITE_DONE ? 0 : -EIO;
}

/* After so many new places of a port those beyond its number go. Ports with one hash are counted together,
 * and the one that comes last is trimmed: mostly the one that has most. */
static int
count_new(struct places *p, const struct place_key *key)
{
	uint16_t *n = &p->new_places[hash_pair(p->seed, (uint64_t)key->agent, key->if_index) % TRIM_COUNTS];

	if (++*n < TRIM_EVERY)
		return 0;
	*n = 0;
	sqlite3_bind_int64(p->trim, 1, key->agent);
	sqlite3_bind_int64(p->trim, 2, key->if_index);
	sqlite3_bind_int(p->trim, 3, PLACES_A_PORT);
	if (run_statement(p->trim) < 0)
		return -EIO;
	p->counts.beyond_limit += (uint64_t)sqlite3_changes(p->db);
	p->counts.beyond_agent = key->agent;
	return 0;
}

static int
write_entry(struct places *p, struct entry *e)
{
	assert(e->waiting > 0 && e->first_us <= e->last_us);
	sqlite3_bind_int(p->upsert, 1, e->key.layer);
	sqlite3_bind_blob(p->upsert, 2, e->key.octets, e->key.n_octets, SQLITE_STATIC);
	sqlite3_bind_int64(p->upsert, 3, e->key.agent);
	sqlite3_bind_int64(p->upsert, 4, e->key.if_index);
	if (e->vlan < 0)
		sqlite3_bind_null(p->upsert, 5);
	else
		sqlite3_bind_int(p->upsert, 5, e->vlan);
	sqlite3_bind_int64(p->upsert, 6, (sqlite3_int64)e->first_us);
	sqlite3_bind_int64(p->upsert, 7, (sqlite3_int64)e->last_us);
	sqlite3_bind_int64(p->upsert, 8, e->waiting);
	if (run_statement(p->upsert) < 0)
		return -EIO;
	e->waiting = 0;
	if (e->is_written)
		return 0;
	e->is_written = true;
	return count_new(p, &e->key);
}

/* ---- sightings ---- */

/* The entry of a key, or one of its set for it: an empty one, or the one seen longest ago of those that
 * do not wait, else of all. */
static struct entry *
places_find_entry(struct places *p, const struct place_key *key)
{
	uint64_t set = hash_octets(p->seed, key, sizeof(*key)) % SETS;
	struct entry *e = &p->entries[set * WAYS], *best = e;

	for (unsigned i = 0; i < WAYS; i++) {
		bool waits = e[i].waiting > 0, best_waits = best->waiting > 0;

		if (memcmp(&e[i].key, key, sizeof(*key)) == 0)
			return &e[i];
		if (waits != best_waits ? best_waits : e[i].last_us < best->last_us)
			best = &e[i];
	}
	return best;
}

static int
note_seen(struct places *p, const struct place_key *key, uint64_t time_us, int32_t vlan)
{
	struct entry *e = places_find_entry(p, key);

	if (memcmp(&e->key, key, sizeof(*key)) != 0) {
		if (e->waiting > 0 && p->room == 0) {
			p->counts.crowded_out++;
			return 0;
		}
		if (e->waiting > 0) {
			p->room--;
			if (write_entry(p, e) < 0)
				return -EIO;
		}
		*e = (struct entry){.key = *key, .vlan = vlan};
	}
	if (e->waiting++ == 0)
		e->first_us = e->last_us = time_us;
	if (time_us >= e->last_us)
		e->vlan = vlan;
	e->first_us = time_us < e->first_us ? time_us : e->first_us;
	e->last_us = time_us > e->last_us ? time_us : e->last_us;
	return 0;
}

static struct place_key
key_of(enum store_place_layer layer, int64_t agent, uint64_t if_index, const uint8_t *octets, size_t n)
{
	struct place_key key = {.agent = (uint32_t)agent, .if_index = if_index, .layer = (uint8_t)layer,
	    .n_octets = (uint8_t)n};

	assert(n <= sizeof(key.octets) && layer != 0);
	memcpy(key.octets, octets, n);
	return key;
}

static size_t
ip_octets(uint8_t version)
{
	return version == 4 ? 4 : version == 6 ? FRAME_IP_LEN : 0;
}

static int
see_sample(struct places *p, const struct store_sample *s)
{
	const struct frame_keys *k = &s->keys;
	const struct {
		enum store_place_layer layer;
		const uint8_t *octets;
		size_t n;
	} sources[] = {
		{STORE_PLACE_ETH, k->src_mac, k->has_macs ? FRAME_MAC_LEN : 0},
		{STORE_PLACE_IP, k->src_ip, ip_octets(k->ip_version)},
		{STORE_PLACE_INNER, s->inner.src_ip, ip_octets(s->inner.ip_version)},
	};
	int err = 0;

	if (s->sample.direction != EASE_IN)
		return 0;
	for (size_t i = 0; err == 0 && i < sizeof(sources) / sizeof(sources[0]); i++)
		if (sources[i].n > 0) {
			const struct place_key key = key_of(sources[i].layer, s->agent, s->sample.if_index,
			    sources[i].octets, sources[i].n);

			err = note_seen(p, &key, s->sample.time_us, k->n_vlans > 0 ? k->vlan[0] : -1);
		}
	return err;
}

static int
see_event(struct places *p, const struct store_event *e)
{
	const struct place_key key = key_of(STORE_PLACE_ETH, e->agent, e->if_index, e->mac, FRAME_MAC_LEN);

	if (e->kind != EASE_NOTIFY_NEW_ADDRESS || !e->has_mac)
		return 0;
	return note_seen(p, &key, e->time_us, e->vlan > 0 ? e->vlan : -1);
}

/* Writes entries that wait, while there is room for rows. */
static int
write_waiting(struct places *p)
{
	for (size_t looked = 0; p->room > 0 && looked < SETS * WAYS; looked++) {
		struct entry *e = &p->entries[p->hand];

		p->hand = (p->hand + 1) % (SETS * WAYS);
		if (e->waiting == 0)
			continue;
		p->room--;
		if (write_entry(p, e) < 0)
			return -EIO;
	}
	return 0;
}

int
places_write(struct places *p, const struct store_batch *batch)
{
	const struct store_rows *samples = &batch->rows[STORE_SAMPLES], *events = &batch->rows[STORE_EVENTS];
	int err = 0;

	p->room = PLACES_A_BATCH;
	for (size_t i = 0; err == 0 && i < samples->n; i++)
		err = see_sample(p, (const struct store_sample *)samples->items + i);
	for (size_t i = 0; err == 0 && i < events->n; i++)
		err = see_event(p, (const struct store_event *)events->items + i);
	return err == 0 ? write_waiting(p) : err;
}

int
places_end(struct places *p)
{
	int err = store_sql_run(p->db, "BEGIN IMMEDIATE");

	p->room = SETS * WAYS;
	if (err == 0)
		err = write_waiting(p);
	if (err == 0)
		err = store_sql_run(p->db, "COMMIT");
	if (err < 0 && !sqlite3_get_autocommit(p->db))
		store_sql_run(p->db, "ROLLBACK");
	return err;
}
