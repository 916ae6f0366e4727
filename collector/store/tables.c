#include "collector/store/tables.h"

/* SQLite's integers are signed: a value of 2^63 or more is stored as 2^63 - 1, not as a negative.
 */
static void
put_u64(struct binder *b, uint64_t v)
{
	sqlite3_bind_int64(b->statement, b->next++, v > INT64_MAX ? INT64_MAX : (sqlite3_int64)v);
}

static void
put_i64(struct binder *b, int64_t v)
{
	sqlite3_bind_int64(b->statement, b->next++, v);
}

static void
put_text(struct binder *b, const char *text)
{
	sqlite3_bind_text(b->statement, b->next++, text, -1, SQLITE_STATIC);
}

static void
put_blob(struct binder *b, const void *octets, size_t n)
{
	sqlite3_bind_blob(b->statement, b->next++, octets, (int)n, SQLITE_STATIC);
}

static void
put_null(struct binder *b)
{
	sqlite3_bind_null(b->statement, b->next++);
}

static void
put_blob_if(struct binder *b, bool present, const void *octets, size_t n)
{
	if (present)
		put_blob(b, octets, n);
	else
		put_null(b);
}

static void
put_u64_if(struct binder *b, bool present, uint64_t v)
{
	if (present)
		put_u64(b, v);
	else
		put_null(b);
}

static void
bind_agent(struct binder *b, const void *row)
{
	const struct store_agent *a = row;

	put_i64(b, a->id);
	put_blob(b, a->agent_id, sizeof(a->agent_id));
	put_u64(b, a->boot);
	put_text(b, a->address);
	put_u64(b, a->first_us);
	put_u64(b, a->last_us);
	put_u64(b, a->last_received_us);
	put_u64(b, a->boot_shift);
}

static void
bind_agent_source(struct binder *b, const void *row)
{
	const struct store_agent_source *s = row;

	put_i64(b, s->agent);
	put_text(b, s->source);
	put_u64(b, s->since_us);
}

static void
bind_agent_refusal(struct binder *b, const void *row)
{
	const struct store_agent_refusal *r = row;

	put_i64(b, r->agent);
	put_u64(b, r->records);
	put_text(b, r->source);
	put_u64(b, r->reason);
	put_u64(b, r->first_us);
	put_u64(b, r->last_us);
}

static void
bind_refused_sender(struct binder *b, const void *row)
{
	const struct store_refused_sender *r = row;

	put_text(b, r->address);
	put_text(b, r->reason);
	put_u64(b, r->datagrams);
	put_u64(b, r->first_us);
	put_u64(b, r->last_us);
}

static void
bind_agent_clock(struct binder *b, const void *row)
{
	const struct store_agent_clock *c = row;

	put_i64(b, c->agent);
	put_i64(b, c->offset_us);
	put_u64(b, c->since_us);
}

static void
bind_port(struct binder *b, const void *row)
{
	const struct store_port *p = row;
	const struct ease_state *s = &p->state;

	put_i64(b, p->agent);
	put_u64(b, s->if_index);
	put_u64(b, s->time_us);
	put_u64(b, p->boot);
	put_text(b, s->name);
	put_text(b, s->alias);
	put_u64(b, s->speed_bps);
	put_u64(b, s->duplex);
	put_u64(b, s->admin_status);
	put_u64(b, s->oper_status);
	put_u64(b, s->lag_parent);
	put_u64(b, s->edge);
}

static void
put_ip_pair(struct binder *b, uint8_t ip_version, const uint8_t *src, const uint8_t *dst)
{
	size_t octets = ip_version == 4 ? 4 : FRAME_IP_LEN;

	put_blob_if(b, ip_version != 0, src, octets);
	put_blob_if(b, ip_version != 0, dst, octets);
}

static void
bind_frame(struct binder *b, const struct frame_keys *k)
{
	put_blob_if(b, k->has_macs, k->src_mac, FRAME_MAC_LEN);
	put_blob_if(b, k->has_macs, k->dst_mac, FRAME_MAC_LEN);
	put_u64_if(b, k->n_vlans > 0, k->vlan[0]);
	put_u64_if(b, k->has_ethertype, k->ethertype);
	put_ip_pair(b, k->ip_version, k->src_ip, k->dst_ip);
	put_u64_if(b, k->has_ip_proto, k->ip_proto);
	put_u64_if(b, k->has_ports, k->src_port);
	put_u64_if(b, k->has_ports || k->has_icmp, k->has_icmp ? frame_icmp_message(k) : k->dst_port);
}

static void
bind_sample(struct binder *b, const void *row)
{
	const struct store_sample *r = row;
	const struct ease_sample *s = &r->sample;

	put_i64(b, r->agent);
	put_u64(b, r->boot);
	put_u64(b, s->if_index);
	put_u64(b, s->sequence);
	put_u64(b, s->time_us);
	put_u64(b, s->direction);
	put_u64(b, s->input_if);
	put_u64(b, s->output_if);
	put_u64(b, s->skip);
	put_u64(b, s->mean_skip);
	put_u64(b, s->pool_pkts);
	put_u64(b, s->frame_octets);
	bind_frame(b, &r->keys);
	put_u64(b, r->stands_for);
	put_ip_pair(b, r->inner.ip_version, r->inner.src_ip, r->inner.dst_ip);
}

static void
put_side(struct binder *b, const struct ease_side *s)
{
	put_u64(b, s->octets);
	put_u64(b, s->ucast_pkts);
	put_u64(b, s->mcast_pkts);
	put_u64(b, s->bcast_pkts);
	put_u64(b, s->discards);
	put_u64(b, s->errors);
}

static void
bind_counter(struct binder *b, const void *row)
{
	const struct store_counter *c = row;
	const struct ease_snapshot *s = &c->snapshot;

	put_i64(b, c->agent);
	put_u64(b, s->if_index);
	put_u64(b, s->time_us);
	put_u64(b, c->boot);
	put_u64(b, c->received_us);
	put_side(b, &s->in);
	put_side(b, &s->out);
	put_u64(b, s->discontinuity_us);
	put_u64(b, s->samples);
	put_u64(b, s->last_sequence);
	put_u64(b, s->pool_in_pkts);
	put_u64(b, s->pool_out_pkts);
	put_u64(b, s->drops);
	put_u64(b, s->stalls);
	put_u64(b, s->stalled_pkts);
}

static void
bind_account(struct binder *b, const void *row)
{
	const struct store_account *a = row;

	put_i64(b, a->agent);
	put_u64(b, a->boot);
	put_u64(b, a->if_index);
	put_u64(b, a->expected);
	put_u64(b, a->received);
	put_u64(b, a->duplicates);
	put_u64(b, a->reordered);
	put_u64(b, a->late);
	put_u64(b, a->agent_drops);
	put_u64(b, a->stalls);
	put_u64(b, a->stalled_pkts);
	put_u64(b, a->first_us);
	put_u64(b, a->last_us);
	put_blob(b, a->tracker, a->tracker_octets);
	put_u64_if(b, a->base_us != 0, a->base_us);
}

static void
bind_event(struct binder *b, const void *row)
{
	const struct store_event *e = row;

	put_u64(b, e->time_us);
	put_i64(b, e->agent);
	put_u64(b, e->boot);
	put_u64(b, e->kind);
	put_u64(b, e->if_index);
	put_blob_if(b, e->has_mac, e->mac, sizeof(e->mac));
	put_u64_if(b, e->has_mac, e->vlan);
	if (e->identity != 0)
		put_i64(b, (int64_t)e->identity);
	else
		put_null(b);
	if (e->text[0] != '\0')
		put_text(b, e->text);
	else
		put_null(b);
}

static void
bind_engine(struct binder *b, const void *row)
{
	const struct store_engine *e = row;

	put_blob(b, e->engine_id, e->octets);
	put_u64(b, e->boots);
	put_u64(b, e->time_s);
}

static void
bind_resource(struct binder *b, const void *row)
{
	const struct store_resource *r = row;
	const struct ease_resources *s = &r->resources;

	put_i64(b, r->agent);
	put_u64(b, s->if_index);
	put_u64(b, s->time_us);
	put_u64(b, r->boot);
	put_u64(b, s->known);
	put_u64(b, s->in.events);
	put_u64(b, s->in.asleep_us);
	put_u64(b, s->out.events);
	put_u64(b, s->out.asleep_us);
	put_u64(b, s->charged_buffers);
	put_u64(b, s->pressed_episodes);
	put_u64(b, s->pressed_us);
	put_u64(b, s->ingress_drops);
	put_u64(b, s->pauses_in);
	put_u64(b, s->pauses_out);
}

static void
bind_error_source(struct binder *b, const void *row)
{
	const struct store_error_source *r = row;
	const struct ease_error_source *s = &r->source;

	put_i64(b, r->agent);
	put_u64(b, s->if_index);
	put_blob(b, s->mac, sizeof(s->mac));
	put_u64(b, s->kind);
	put_u64(b, r->boot);
	put_u64(b, s->count);
	put_u64(b, s->first_us);
	put_u64(b, s->time_us);
}

static void
bind_crash_lost(struct binder *b, const void *row)
{
	const struct store_crash_lost *g = row;

	put_i64(b, g->agent);
	put_u64(b, g->boot);
	put_u64(b, g->if_index);
	put_u64(b, g->samples);
}

static void
bind_discard(struct binder *b, const void *row)
{
	const struct store_discard *d = row;

	put_i64(b, d->agent);
	put_u64(b, d->start_us);
	put_u64(b, d->if_index);
	put_u64(b, d->kind);
	put_u64(b, d->output_if);
	put_u64(b, d->reason);
	put_text(b, d->detail);
	put_text(b, d->place);
	put_text(b, d->group);
	sqlite3_bind_blob(b->statement, b->next++, d->src, d->src_octets, SQLITE_STATIC);
	sqlite3_bind_blob(b->statement, b->next++, d->dst, d->dst_octets, SQLITE_STATIC);
	put_i64(b, d->n);
	put_u64(b, d->received_us);
}

static void
bind_outage(struct binder *b, const void *row)
{
	const struct store_outage *o = row;

	put_u64(b, o->since_us);
	put_u64(b, o->until_us);
	put_u64(b, o->kind);
	put_u64_if(b, o->counted, o->samples);
}

static void
bind_gap(struct binder *b, const void *row)
{
	const struct store_gap *g = row;

	put_i64(b, g->agent);
	put_u64(b, g->if_index);
	put_u64(b, g->from_us);
	put_u64(b, g->until_us);
	put_u64(b, g->received_us);
	put_u64(b, g->in_pkts);
	put_u64(b, g->in_octets);
	put_u64(b, g->out_pkts);
	put_u64(b, g->out_octets);
	put_u64(b, g->in_cut_pkts);
	put_u64(b, g->in_cut_octets);
	put_u64(b, g->out_cut_pkts);
	put_u64(b, g->out_cut_octets);
}

static void
bind_stat(struct binder *b, const void *row)
{
	const struct store_stat *s = row;

	put_text(b, s->name);
	put_u64(b, s->value);
}

/* Limits: how many rows an agent or a port has at most, of the tables whose rows are not deleted
 * with a time that reports still show. The newest stay. */
#define BOOTS_A_PORT "8"
#define REFUSED_SENDERS "1024"
#define REFUSED_SENDERS_A_LIMIT "256"
#define REFUSED_AGE_US (30 * 86400000000ull)
#define STATES_A_PORT "256"
#define ERROR_SOURCES_A_PORT "256"
#define EVENTS_AN_AGENT "100000"
#define DISCARDS_AN_AGENT "100000"
#define OUTAGES "1000"

enum { EVENTS_A_LIMIT = 256 }; /* finding the oldest one costs as much as so many events */

static bool
is_new_account(const void *row, sqlite3_int64 id)
{
	const struct store_account *a = row;

	(void)id;
	return a->is_new;
}

static struct store_place
port_of_account(const void *row)
{
	const struct store_account *a = row;

	return (struct store_place){a->agent, a->if_index};
}

static struct store_place
port_of_state(const void *row)
{
	const struct store_port *p = row;

	return (struct store_place){p->agent, p->state.if_index};
}

static struct store_place
port_of_error_source(const void *row)
{
	const struct store_error_source *r = row;

	return (struct store_place){r->agent, r->source.if_index};
}

static struct store_place
port_of_crash_lost(const void *row)
{
	const struct store_crash_lost *g = row;

	return (struct store_place){g->agent, g->if_index};
}

static bool
is_limit_event(const void *row, sqlite3_int64 id)
{
	(void)row;
	return id % EVENTS_A_LIMIT == 0;
}

static void
bind_event_limit(struct binder *b, const void *row)
{
	const struct store_event *e = row;

	put_i64(b, e->agent);
}

static bool
is_first_discard(const void *row, sqlite3_int64 id)
{
	const struct store_discard *d = row;

	(void)id;
	return d->is_first;
}

static void
bind_discard_limit(struct binder *b, const void *row)
{
	const struct store_discard *d = row;

	put_i64(b, d->agent);
}

static void
bind_refused_limit(struct binder *b, const void *row)
{
	const struct store_refused_sender *r = row;

	put_u64(b, r->last_us > REFUSED_AGE_US ? r->last_us - REFUSED_AGE_US : 0);
}

static void
bind_nothing(struct binder *b, const void *row)
{
	(void)b;
	(void)row;
}

const struct store_statement store_statements[STORE_N_TABLES] = {
    [STORE_AGENTS] = {.sql = "INSERT INTO agent VALUES(?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET"
		      " boot=excluded.boot, address=excluded.address, last_us=excluded.last_us,"
		      " last_received_us=excluded.last_received_us,"
		      " boot_shift=excluded.boot_shift"
		      /* another number for the same id is a fault of ours; the rows that come have it */
		      " ON CONFLICT(agent_id) DO UPDATE SET id=excluded.id, boot=excluded.boot,"
		      " address=excluded.address, last_us=excluded.last_us,"
		      " last_received_us=excluded.last_received_us, boot_shift=excluded.boot_shift",
	.row_octets = sizeof(struct store_agent), .bind = bind_agent},
    [STORE_AGENT_SOURCES] = {.sql = "INSERT OR REPLACE INTO agent_source VALUES(?,?,?)",
	.row_octets = sizeof(struct store_agent_source), .bind = bind_agent_source},
    [STORE_AGENT_REFUSALS] = {.sql = "INSERT OR REPLACE INTO agent_refused VALUES(?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_agent_refusal), .bind = bind_agent_refusal},
    [STORE_AGENT_CLOCKS] = {.sql = "INSERT OR REPLACE INTO agent_clock VALUES(?,?,?)",
	.row_octets = sizeof(struct store_agent_clock), .bind = bind_agent_clock},
    [STORE_REFUSED_SENDERS] = {.sql = "INSERT INTO refused_sender VALUES(?,?,?,?,?) ON CONFLICT DO UPDATE SET"
			      " reason=excluded.reason, datagrams=datagrams+excluded.datagrams,"
			      " last_us=max(last_us, excluded.last_us)",
	.row_octets = sizeof(struct store_refused_sender), .bind = bind_refused_sender,
	/* who sent least leaves: who sends under many addresses, and not who is refused again and again */
	.limit_sql = "DELETE FROM refused_sender WHERE last_us < ?1 OR ((SELECT count(*) FROM refused_sender) > "
	REFUSED_SENDERS " AND address IN (SELECT address FROM refused_sender ORDER BY datagrams, last_us LIMIT "
	REFUSED_SENDERS_A_LIMIT "))", .bind_limit = bind_refused_limit},
    [STORE_PORTS] = {.sql = "INSERT OR REPLACE INTO port VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_port), .bind = bind_port,
	.limit_sql =
	    "DELETE FROM port WHERE agent = ?1 AND if_index = ?2 AND since_us <= (SELECT since_us FROM"
	" port WHERE agent = ?1 AND if_index = ?2 ORDER BY since_us DESC LIMIT 1"
	" OFFSET " STATES_A_PORT ")", .port_of = port_of_state},
    [STORE_SAMPLES] =
	{.sql = "INSERT OR IGNORE INTO sample VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	    .row_octets = sizeof(struct store_sample), .bind = bind_sample},
    /* if a device's time was set back (or a capture is played again), the newer counters stay */
    [STORE_COUNTERS] = {.sql = "INSERT OR REPLACE INTO counter"
			" VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_counter), .bind = bind_counter},
    [STORE_ACCOUNTS] = {.sql = "INSERT OR REPLACE INTO account VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_account), .bind = bind_account,
	.limit_sql =
	    "DELETE FROM account WHERE agent = ?1 AND if_index = ?2 AND boot <= (SELECT boot FROM"
	" account WHERE agent = ?1 AND if_index = ?2 ORDER BY boot DESC LIMIT 1"
	" OFFSET " BOOTS_A_PORT ")", .is_due = is_new_account, .port_of = port_of_account},
    /* a notification may arrive twice; an event has no number, so all of its columns are compared
     */
    [STORE_EVENTS] =
	{.sql = "INSERT INTO event(time_us, agent, boot, kind, if_index, mac, vlan, identity,"
	 " text) SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9 WHERE NOT EXISTS(SELECT 1 FROM event WHERE time_us=?1"
	 " AND agent=?2 AND boot=?3 AND kind=?4 AND if_index=?5 AND mac IS ?6 AND vlan IS ?7"
	 " AND text IS ?9)",
	    .row_octets = sizeof(struct store_event), .bind = bind_event,
	    .limit_sql =
	    "DELETE FROM event WHERE agent = ?1 AND id <= (SELECT id FROM event WHERE agent = ?1"
	    " ORDER BY id DESC LIMIT 1 OFFSET " EVENTS_AN_AGENT ")", .is_due = is_limit_event,
	    .bind_limit = bind_event_limit},
    [STORE_ENGINES] = {.sql = "INSERT OR REPLACE INTO engine VALUES(?,?,?)",
	.row_octets = sizeof(struct store_engine), .bind = bind_engine},
    [STORE_RESOURCES] = {.sql = "INSERT OR REPLACE INTO resource VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_resource), .bind = bind_resource},
    [STORE_ERROR_SOURCES] = {.sql = "INSERT OR REPLACE INTO error_source VALUES(?,?,?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_error_source), .bind = bind_error_source,
	.limit_sql =
	    "DELETE FROM error_source WHERE (agent, if_index, mac, kind) IN (SELECT agent, if_index,"
	" mac, kind FROM error_source WHERE agent = ?1 AND if_index = ?2 ORDER BY last_us DESC"
	" LIMIT -1 OFFSET " ERROR_SOURCES_A_PORT ")",
	.port_of = port_of_error_source},
    [STORE_DISCARDS] = {.sql = "INSERT INTO discard VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
			" n = n + excluded.n, received_us = excluded.received_us",
	.row_octets = sizeof(struct store_discard), .bind = bind_discard,
	.limit_sql =
	    "DELETE FROM discard WHERE agent = ?1 AND start_us <= (SELECT start_us FROM discard WHERE agent = ?1"
	    " ORDER BY start_us DESC LIMIT 1 OFFSET " DISCARDS_AN_AGENT ")", .is_due = is_first_discard,
	.bind_limit = bind_discard_limit},
    [STORE_CRASH_LOST] = {.sql = "INSERT OR REPLACE INTO gone VALUES(?,?,?,?)",
	.row_octets = sizeof(struct store_crash_lost), .bind = bind_crash_lost,
	.limit_sql =
	    "DELETE FROM gone WHERE agent = ?1 AND if_index = ?2 AND boot <= (SELECT boot FROM account"
	" WHERE agent = ?1 AND if_index = ?2 ORDER BY boot DESC LIMIT 1 OFFSET " BOOTS_A_PORT ")",
	.port_of = port_of_crash_lost},
    [STORE_OUTAGES] = {.sql = "INSERT INTO outage(since_us, until_us, kind, samples) VALUES(?,?,?,?)",
	.row_octets = sizeof(struct store_outage), .bind = bind_outage,
	.limit_sql =
	    "DELETE FROM outage WHERE id <= (SELECT max(id) FROM outage) - " OUTAGES,
	.bind_limit = bind_nothing},
    [STORE_GAPS] = {.sql = "INSERT INTO gap(agent, if_index, from_us, until_us, received_us, in_pkts,"
		    " in_octets, out_pkts, out_octets, in_cut_pkts, in_cut_octets, out_cut_pkts,"
		    " out_cut_octets) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
	.row_octets = sizeof(struct store_gap), .bind = bind_gap},
    [STORE_STATS] = {.sql = "INSERT OR REPLACE INTO stat VALUES(?,?)",
	.row_octets = sizeof(struct store_stat), .bind = bind_stat},
};
