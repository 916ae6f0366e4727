/*
 * Reads back what the collector needs to continue where it stopped: agents, the accounts of each
 * agent's newest two boots, each port's newest counters and state, the time of each SNMPv3 engine,
 * and the identities of recent events.
 */
#include "collector/store/private.h"
#include "collector/store/store.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROOM "store"

/* Reads the columns of a row one after another. */
struct columns {
	sqlite3_stmt *statement;
	int next;
};

static uint64_t
get_u64(struct columns *c)
{
	return (uint64_t)sqlite3_column_int64(c->statement, c->next++);
}

static size_t
get_blob(struct columns *c, void *octets, size_t size)
{
	const void *blob = sqlite3_column_blob(c->statement, c->next);
	size_t n = (size_t)sqlite3_column_bytes(c->statement, c->next++);

	if (!blob || n > size)
		return 0;
	memcpy(octets, blob, n);
	return n;
}

static void
get_text(struct columns *c, char *text, size_t size)
{
	const unsigned char *t = sqlite3_column_text(c->statement, c->next++);

	snprintf(text, size, "%s", t ? (const char *)t : "");
}

static void
load_agent(struct columns *c, const struct store_loader *loader)
{
	struct store_agent a = {.id = (int64_t)get_u64(c)};

	get_blob(c, a.agent_id, sizeof(a.agent_id));
	a.boot = (uint32_t)get_u64(c);
	get_text(c, a.address, sizeof(a.address));
	a.first_us = get_u64(c);
	a.last_us = get_u64(c);
	a.last_received_us = get_u64(c);
	a.boot_shift = (uint32_t)get_u64(c);
	loader->agent(loader->arg, &a);
}

static void
load_agent_source(struct columns *c, const struct store_loader *loader)
{
	struct store_agent_source s = {.agent = (int64_t)get_u64(c)};

	get_text(c, s.source, sizeof(s.source));
	s.since_us = get_u64(c);
	loader->agent_source(loader->arg, &s);
}

static void
load_agent_refusal(struct columns *c, const struct store_loader *loader)
{
	struct store_agent_refusal r = {.agent = (int64_t)get_u64(c), .records = get_u64(c)};

	get_text(c, r.source, sizeof(r.source));
	r.reason = (uint8_t)get_u64(c);
	r.first_us = get_u64(c);
	r.last_us = get_u64(c);
	loader->agent_refusal(loader->arg, &r);
}

static void
load_account(struct columns *c, const struct store_loader *loader)
{
	struct store_account a = {.agent = (int64_t)get_u64(c)};

	a.boot = (uint32_t)get_u64(c);
	a.if_index = (uint32_t)get_u64(c);
	a.expected = get_u64(c);
	a.received = get_u64(c);
	a.duplicates = get_u64(c);
	a.reordered = get_u64(c);
	a.late = get_u64(c);
	a.agent_drops = get_u64(c);
	a.stalls = get_u64(c);
	a.stalled_pkts = get_u64(c);
	a.first_us = get_u64(c);
	a.last_us = get_u64(c);
	a.tracker_octets = (uint16_t)get_blob(c, a.tracker, sizeof(a.tracker));
	loader->account(loader->arg, &a);
}

static void
load_crash_lost(struct columns *c, const struct store_loader *loader)
{
	struct store_crash_lost g = {.agent = (int64_t)get_u64(c)};

	g.boot = (uint32_t)get_u64(c);
	g.if_index = (uint32_t)get_u64(c);
	g.samples = get_u64(c);
	loader->crash_lost(loader->arg, &g);
}

/* SQLite's integers are signed, so EASE_COUNT_UNKNOWN (2^64 - 1) is stored as the largest one. */
static uint64_t
get_count(struct columns *c)
{
	uint64_t v = get_u64(c);

	return v == INT64_MAX ? EASE_COUNT_UNKNOWN : v;
}

static void
get_side(struct columns *c, struct ease_side *s)
{
	s->octets = get_count(c);
	s->ucast_pkts = get_count(c);
	s->mcast_pkts = get_count(c);
	s->bcast_pkts = get_count(c);
	s->discards = get_count(c);
	s->errors = get_count(c);
}

static void
load_counter(struct columns *c, const struct store_loader *loader)
{
	struct store_counter r = {.agent = (int64_t)get_u64(c)};
	struct ease_snapshot *s = &r.snapshot;

	s->if_index = (uint32_t)get_u64(c);
	s->time_us = get_u64(c);
	r.boot = (uint32_t)get_u64(c);
	r.received_us = get_u64(c);
	get_side(c, &s->in);
	get_side(c, &s->out);
	s->discontinuity_us = get_u64(c);
	s->samples = get_u64(c);
	s->last_sequence = (uint32_t)get_u64(c);
	s->pool_in_pkts = get_u64(c);
	s->pool_out_pkts = get_u64(c);
	s->drops = get_u64(c);
	s->stalls = get_u64(c);
	s->stalled_pkts = get_u64(c);
	loader->counter(loader->arg, &r);
}

static void
load_port(struct columns *c, const struct store_loader *loader)
{
	struct store_port p = {.agent = (int64_t)get_u64(c)};
	struct ease_state *s = &p.state;

	s->if_index = (uint32_t)get_u64(c);
	s->time_us = get_u64(c);
	p.boot = (uint32_t)get_u64(c);
	get_text(c, s->name, sizeof(s->name));
	get_text(c, s->alias, sizeof(s->alias));
	s->speed_bps = get_u64(c);
	s->duplex = (uint8_t)get_u64(c);
	s->admin_status = (uint8_t)get_u64(c);
	s->oper_status = (uint8_t)get_u64(c);
	s->lag_parent = (uint32_t)get_u64(c);
	s->edge = get_u64(c) != 0;
	loader->port(loader->arg, &p);
}

static void
load_engine(struct columns *c, const struct store_loader *loader)
{
	struct store_engine e = {.octets = 0};

	e.octets = (uint8_t)get_blob(c, e.engine_id, sizeof(e.engine_id));
	e.boots = (uint32_t)get_u64(c);
	e.time_s = (uint32_t)get_u64(c);
	if (loader->engine)
		loader->engine(loader->slow_path_arg, &e);
}

static void
load_event(struct columns *c, const struct store_loader *loader)
{
	if (loader->event)
		loader->event(loader->slow_path_arg, get_u64(c));
}

/* The SQL of each load. Counters: of each port the row of its newest boot from which totals go on.
 * account.base_us names it, because it is not the newest by time if a device's clock was set back.
 */
static const struct {
	const char *sql;
	void (*load)(struct columns *c, const struct store_loader *loader);
} loads[] = {
    {"SELECT * FROM agent ORDER BY id", load_agent},
    {"SELECT * FROM agent_source", load_agent_source},
    {"SELECT * FROM agent_refused", load_agent_refusal},
    {"SELECT a.* FROM agent g JOIN account a ON a.agent = g.id AND a.boot >= ifnull((SELECT"
     " max(boot) FROM account WHERE agent = g.id AND boot < g.boot), 0)"
     " ORDER BY a.agent, a.boot, a.if_index",
	load_account},
    {"SELECT * FROM gone", load_crash_lost},
    {"SELECT c.* FROM (SELECT agent, if_index, max(boot) AS boot, ifnull(base_us, last_us) AS"
     " base_us FROM account GROUP BY agent, if_index) a JOIN counter c ON c.agent = a.agent AND"
     " c.if_index = a.if_index AND c.time_us = (SELECT time_us FROM counter d WHERE"
     " d.agent = a.agent AND d.if_index = a.if_index AND d.time_us <= a.base_us AND"
     " d.boot = a.boot ORDER BY d.time_us DESC LIMIT 1)",
	load_counter},
    {"SELECT p.* FROM (SELECT DISTINCT agent, if_index FROM port) q JOIN port p ON"
     " p.agent = q.agent AND p.if_index = q.if_index AND p.since_us = (SELECT max(since_us)"
     " FROM port WHERE agent = q.agent AND if_index = q.if_index)",
	load_port},
    {"SELECT * FROM engine", load_engine},
    {"SELECT identity FROM (SELECT id, identity FROM event ORDER BY id DESC LIMIT 4096)"
     " WHERE identity IS NOT NULL ORDER BY id",
	load_event},
};

/* Returns 0 or -EIO. */
static int
load_rows(struct store *store, size_t which, const struct store_loader *loader)
{
	struct columns c = {.next = 0};
	int code = sqlite3_prepare_v2(store->db, loads[which].sql, -1, &c.statement, NULL);

	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(c.statement);
		c.next = 0;
		if (code == SQLITE_ROW)
			loads[which].load(&c, loader);
	}
	sqlite3_finalize(c.statement);
	return code == SQLITE_DONE ? 0 : -EIO;
}

int
store_load(struct store *store, const struct store_loader *loader, char *error, size_t error_size)
{
	bool damaged = false;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (load_rows(store, i, loader) == 0)
			continue;
		snprintf(error, error_size, "cannot read the store: %s", sqlite3_errmsg(store->db));
		if (!store_is_damaged(store))
			return -EIO;
		log_error(ROOM, "%s", error);
		damaged = true;
	}
	return damaged ? store_set_aside(store, error, error_size) : 0;
}
