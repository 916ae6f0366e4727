#include "collector/store/stored_tables.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* A column of the struct ROW, and what more there is to say of it. */
#define C(name_, form_, member, ...)                                                               \
	{.name = (name_), .form = STORED_##form_, .at = offsetof(ROW, member),                     \
	    .room = sizeof(((ROW *)0)->member), ##__VA_ARGS__}
#define FLAG(when_, member) .when = STORED_##when_, .flag = offsetof(ROW, member)
#define LOCAL .is_local = true

#define ROW struct store_agent
static const struct stored_column agent_columns[] = {
    C("id", AGENT, id),
    C("agent_id", OCTETS, agent_id, LOCAL),
    C("boot", UINT, boot),
    C("address", TEXT, address),
    C("first_us", UINT, first_us),
    C("last_us", UINT, last_us),
    C("last_received_us", UINT, last_received_us),
    /* boot less the easeBoot that the agent itself tells; not 0 once its boots went back or jumped, as those of a
     * restored machine do */
    C("boot_shift", UINT, boot_shift, LOCAL, .otherwise = "0"),
};
#undef ROW

/* The source that an agent is bound to (window/agent_identity.h). */
#define ROW struct store_agent_source
static const struct stored_column agent_source_columns[] = {
    C("agent", AGENT, agent),
    C("source", TEXT, source),
    C("since_us", UINT, since_us),
};
#undef ROW

/* How many records in the agent's name were refused, with source and reason (enum store_refusal) of the newest. */
#define ROW struct store_agent_refusal
static const struct stored_column agent_refusal_columns[] = {
    C("agent", AGENT, agent),
    C("records", UINT, records),
    C("source", TEXT, source),
    C("reason", UINT, reason),
    C("first_us", UINT, first_us),
    C("last_us", UINT, last_us),
};
#undef ROW

/* What is added to the times of an agent, because its clock is wrong (window/device_clock.h). Its own time is that
 * much less. */
#define ROW struct store_agent_clock
static const struct stored_column agent_clock_columns[] = {
    C("agent", AGENT, agent),
    C("offset_us", INT, offset_us),
    C("since_us", UINT, since_us),
};
#undef ROW

/* What switches said of themselves that were asked by SNMP, and when; of those who do not answer since when. */
#define ROW struct store_polled
static const struct stored_column polled_columns[] = {
    C("agent", AGENT, agent),
    C("name", TEXT, name),
    C("names_us", UINT, names_us),
    C("counters_us", UINT, counters_us),
    C("silent_us", UINT, silent_us),
    C("reason", UINT, reason),
};
#undef ROW

/* What precision on request found of ports, and did. */
#define ROW struct store_precision
static const struct stored_column precision_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, if_index),
    C("decided_us", UINT, decided_us),
    C("goal", TEXT, goal),
    C("wanted_per_s", UINT, wanted_per_s),
    C("had_per_s", UINT, had_per_s),
    C("width_wanted", UINT, width_wanted),
    C("width_reached", UINT, width_reached),
    C("n_rows", UINT, n_rows),
    C("configured_skip", UINT, configured_skip),
    C("requested_skip", UINT, requested_skip),
    C("skip_in_force", UINT, skip_in_force),
    C("reason", TEXT, reason),
};
#undef ROW

/* Links between two switches that are asked, each once from either end (collector/poll/poll_links.h). */
#define ROW struct store_link
static const struct stored_column link_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, if_index),
    C("other_agent", AGENT, other_agent),
    C("other_if_index", UINT, other_if_index),
    C("seen_us", UINT, seen_us),
};
#undef ROW

/* Whose datagrams were refused unread, how many, and why the newest was (input/refused_senders.h). */
#define ROW struct store_refused_sender
static const struct stored_column refused_sender_columns[] = {
    C("address", TEXT, address),
    C("reason", TEXT, reason),
    C("datagrams", UINT, datagrams),
    C("first_us", UINT, first_us),
    C("last_us", UINT, last_us),
};
#undef ROW

/* What sFlow agents stated that cannot be, by port (0: none) and kind (enum ease_oddity), and how often. */
#define ROW struct store_oddity
static const struct stored_column oddity_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, if_index),
    C("kind", UINT, kind),
    C("n", UINT, n),
    C("first_us", UINT, first_us),
    C("last_us", UINT, last_us),
};
#undef ROW

/* One row per change; the row with the newest since_us <= t is the state at time t. */
#define ROW struct store_port
static const struct stored_column port_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, state.if_index),
    C("since_us", UINT, state.time_us),
    C("boot", UINT, boot),
    C("name", TEXT, state.name),
    C("alias", TEXT, state.alias),
    C("speed_bps", UINT, state.speed_bps),
    C("duplex", UINT, state.duplex),
    C("admin_status", UINT, state.admin_status),
    C("oper_status", UINT, state.oper_status),
    C("lag_parent", UINT, state.lag_parent),
    C("edge", BOOL, state.edge),
};
#undef ROW

#define ROW struct store_sample
static const struct stored_column sample_columns[] = {
    C("agent", AGENT, agent),
    C("boot", UINT, boot),
    C("if_index", UINT, sample.if_index),
    C("sequence", UINT, sample.sequence),
    C("time_us", UINT, sample.time_us),
    C("direction", UINT, sample.direction),
    C("input_if", UINT, sample.input_if),
    C("output_if", UINT, sample.output_if),
    C("skip", UINT, sample.skip),
    C("mean_skip", UINT, sample.mean_skip),
    C("pool_pkts", UINT, sample.pool_pkts),
    C("frame_octets", UINT, sample.frame_octets),
    C("src_mac", OCTETS, keys.src_mac, FLAG(IF, keys.has_macs)),
    C("dst_mac", OCTETS, keys.dst_mac, FLAG(IF, keys.has_macs)),
    C("vlan", UINT, keys.vlan[0], FLAG(IF, keys.n_vlans)),
    C("ethertype", UINT, keys.ethertype, FLAG(IF, keys.has_ethertype)),
    C("src_ip", OCTETS, keys.src_ip, FLAG(IF_IP, keys.ip_version)),
    C("dst_ip", OCTETS, keys.dst_ip, FLAG(IF_IP, keys.ip_version)),
    C("ip_proto", UINT, keys.ip_proto, FLAG(IF, keys.has_ip_proto)),
    C("src_port", UINT, keys.src_port, FLAG(IF, keys.has_ports)),
    C("dst_port", UINT, dst_port, FLAG(IF, has_dst_port)),
    /* at high rates only a random one of stands_for samples has a row (window/sample_thinning.h); its weight is
     * mean_skip * stands_for */
    C("stands_for", UINT, stands_for, .otherwise = "1"),
    /* of the innermost IP header in a tunnel; NULL: there is none in the sampled octets */
    C("inner_src_ip", OCTETS, inner.src_ip, FLAG(IF_IP, inner.ip_version)),
    C("inner_dst_ip", OCTETS, inner.dst_ip, FLAG(IF_IP, inner.ip_version)),
    C("vni", UINT, keys.carries_at, FLAG(IF, keys.carries)),
    /* what was sampled, for headers in keep */
    C("header", BLOB, sample.header, FLAG(LENGTH_U16, sample.kept_octets), .may_be_null = true, LOCAL),
    C("src_as", UINT, sample.src_as, .when = STORED_IF_SET),
    C("dst_as", UINT, sample.dst_as, .when = STORED_IF_SET),
    /* of the frame's way through the switch, where that told: EASE_WAY_MOST is that or more */
    C("queue", UINT, sample.queue, FLAG(IF, sample.has_queue)),
    C("depth_octets", UINT, sample.depth_octets, FLAG(IF, sample.has_depth)),
    C("delay_ns", UINT, sample.delay_ns, FLAG(IF, sample.has_delay)),
};
#undef ROW

/* Counter snapshots: at most one per port and second of the device's time, and the newest at each transaction;
 * values are totals since the agent began to count. */
#define ROW struct store_counter
static const struct stored_column counter_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, snapshot.if_index),
    C("time_us", UINT, snapshot.time_us),
    C("boot", UINT, boot),
    C("received_us", UINT, received_us),
    C("in_octets", COUNT, snapshot.in.octets),
    C("in_ucast", COUNT, snapshot.in.ucast_pkts),
    C("in_mcast", COUNT, snapshot.in.mcast_pkts),
    C("in_bcast", COUNT, snapshot.in.bcast_pkts),
    C("in_discards", COUNT, snapshot.in.discards),
    C("in_errors", COUNT, snapshot.in.errors),
    C("out_octets", COUNT, snapshot.out.octets),
    C("out_ucast", COUNT, snapshot.out.ucast_pkts),
    C("out_mcast", COUNT, snapshot.out.mcast_pkts),
    C("out_bcast", COUNT, snapshot.out.bcast_pkts),
    C("out_discards", COUNT, snapshot.out.discards),
    C("out_errors", COUNT, snapshot.out.errors),
    C("discontinuity_us", UINT, snapshot.discontinuity_us),
    C("samples", UINT, snapshot.samples),
    C("last_sequence", UINT, snapshot.last_sequence),
    C("pool_in", UINT, snapshot.pool_in_pkts),
    C("pool_out", UINT, snapshot.pool_out_pkts),
    C("drops", UINT, snapshot.drops),
    C("stalls", UINT, snapshot.stalls),
    C("stalled_pkts", UINT, snapshot.stalled_pkts),
};
#undef ROW

/* The accounting of one boot of a port. tracker: the state of window/sequence_tracker.h. base_us: time_us of the
 * counter row from which totals go on; it is not the newest one after a device's clock was set back. */
#define ROW struct store_account
static const struct stored_column account_columns[] = {
    C("agent", AGENT, agent),
    C("boot", UINT, boot),
    C("if_index", UINT, if_index),
    C("expected", UINT, expected),
    C("received", UINT, received),
    C("duplicates", UINT, duplicates),
    C("reordered", UINT, reordered),
    C("late", UINT, late),
    C("agent_drops", UINT, agent_drops),
    C("stalls", UINT, stalls),
    C("stalled_pkts", UINT, stalled_pkts),
    C("first_us", UINT, first_us),
    C("last_us", UINT, last_us),
    C("tracker", OCTETS, tracker, FLAG(LENGTH_U16, tracker_octets), LOCAL, .may_be_null = true),
    C("base_us", UINT, base_us, .when = STORED_IF_SET),
    C("dropped_apart", UINT, dropped_apart, LOCAL, .otherwise = "0"),
};
#undef ROW

/* identity: by which a repeated event is recognized; NULL: by its other columns. text: what it says beyond them:
 * "easePortMeanSkip from 400 to 100". */
#define ROW struct store_event
static const struct stored_column event_columns[] = {
    {.name = "id", .form = STORED_ID},
    C("time_us", UINT, time_us),
    C("agent", AGENT, agent),
    C("boot", UINT, boot),
    C("kind", UINT, kind),
    C("if_index", UINT, if_index),
    C("mac", OCTETS, mac, FLAG(IF, has_mac)),
    C("vlan", UINT, vlan, FLAG(IF, has_mac)),
    C("identity", INT, identity, .when = STORED_IF_SET),
    C("text", TEXT, text, .when = STORED_IF_SET),
};
#undef ROW

/* Engines that sent SNMPv3 traps: boots and time of the newest accepted one, written together with its data. */
#define ROW struct store_engine
static const struct stored_column engine_columns[] = {
    C("engine_id", OCTETS, engine_id, FLAG(LENGTH_U8, octets)),
    C("boots", UINT, boots),
    C("time_s", UINT, time_s),
};
#undef ROW

/* What only some devices count, beside each counter row (known: enum ease_resource). */
#define ROW struct store_resource
static const struct stored_column resource_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, resources.if_index),
    C("time_us", UINT, resources.time_us),
    C("boot", UINT, boot),
    C("known", UINT, resources.known),
    C("in_events", UINT, resources.in.events),
    C("in_asleep_us", UINT, resources.in.asleep_us),
    C("out_events", UINT, resources.out.events),
    C("out_asleep_us", UINT, resources.out.asleep_us),
    C("charged", UINT, resources.charged_buffers),
    C("pressed_episodes", UINT, resources.pressed_episodes),
    C("pressed_us", UINT, resources.pressed_us),
    C("ingress_drops", UINT, resources.ingress_drops),
    C("pauses_in", UINT, resources.pauses_in),
    C("pauses_out", UINT, resources.pauses_out),
};
#undef ROW

/* Sources of bad frames, each as it was last reported. */
#define ROW struct store_error_source
static const struct stored_column error_source_columns[] = {
    C("agent", AGENT, agent),
    C("if_index", UINT, source.if_index),
    C("mac", OCTETS, source.mac),
    C("kind", UINT, source.kind),
    C("boot", UINT, boot),
    C("frames", UINT, source.count),
    C("first_us", UINT, source.first_us),
    C("last_us", UINT, source.time_us),
};
#undef ROW

/* Packets that devices discarded and told of, summed by minute and everything that reports ask; received_us: when
 * one was added last. */
#define ROW struct store_discard
static const struct stored_column discard_columns[] = {
    C("agent", AGENT, agent),
    C("start_us", UINT, start_us),
    C("if_index", UINT, if_index),
    C("kind", UINT, kind),
    C("output_if", UINT, output_if),
    C("reason", UINT, reason),
    C("detail", TEXT, detail),
    C("place", TEXT, place),
    C("trap_group", TEXT, group),
    C("src", OCTETS, src, FLAG(LENGTH_U8, src_octets)),
    C("dst", OCTETS, dst, FLAG(LENGTH_U8, dst_octets)),
    C("n", INT, n),
    C("received_us", UINT, received_us),
};
#undef ROW

/* Samples that arrived, were lost with a crash before they were stored, and have not arrived again: in
 * account.expected, and not in account.received. */
#define ROW struct store_crash_lost
static const struct stored_column gone_columns[] = {
    C("agent", AGENT, agent),
    C("boot", UINT, boot),
    C("if_index", UINT, if_index),
    C("samples", UINT, samples),
};
#undef ROW

/* Times, by the collector's clock, in which nothing was stored (kind: enum store_outage_kind; samples NULL: not
 * known). */
#define ROW struct store_outage
static const struct stored_column outage_columns[] = {
    {.name = "id", .form = STORED_ID},
    C("since_us", UINT, since_us),
    C("until_us", UINT, until_us),
    C("kind", UINT, kind),
    C("samples", UINT, samples, FLAG(IF, counted)),
};
#undef ROW

/* What a port counted between two snapshots that are more than a few minutes apart (window/port_totals.h), in frames
 * of the pool and octets of both directions, and how much of it passed while samples were lost (window/cut_totals.h).
 * It is in no part: whoever adds up a range adds its share, evenly by time (port_totals_share). */
#define ROW struct store_gap
static const struct stored_column gap_columns[] = {
    {.name = "id", .form = STORED_ID, LOCAL},
    C("agent", AGENT, agent),
    C("if_index", UINT, if_index),
    C("from_us", UINT, from_us),
    C("until_us", UINT, until_us),
    C("received_us", UINT, received_us),
    C("in_pkts", UINT, in_pkts),
    C("in_octets", UINT, in_octets),
    C("out_pkts", UINT, out_pkts),
    C("out_octets", UINT, out_octets),
    C("in_cut_pkts", UINT, in_cut_pkts),
    C("in_cut_octets", UINT, in_cut_octets),
    C("out_cut_pkts", UINT, out_cut_pkts),
    C("out_cut_octets", UINT, out_cut_octets),
};
#undef ROW

/* The collector's own counters since its start. */
#define ROW struct store_stat
static const struct stored_column stat_columns[] = {
    C("name", NAME, name),
    C("value", UINT, value),
};
#undef ROW

/* The rows of the file of device names (naming.h), from line 1 on; line 0 is there once any were written. version: of
 * all of them together. collector: 0; a mirror of a cluster has rows of several. */
static const struct stored_column naming_columns[] = {
    {.name = "collector", .form = STORED_INT, LOCAL, .otherwise = "0"},
    {.name = "line", .form = STORED_UINT},
    {.name = "version", .form = STORED_UINT},
    {.name = "text", .form = STORED_TEXT},
};

#define TABLE(name_, prefix, row, key_)                                                            \
	.name = (name_), .columns = prefix##_columns, .n_columns = N(prefix##_columns),            \
	.row_octets = sizeof(struct row), .key = (key_)

const struct stored_table stored_tables[STORE_N_TABLES] = {
    [STORE_AGENTS] = {TABLE("agent", agent, store_agent, "id"), .has_rowid = true},
    [STORE_AGENT_SOURCES] = {TABLE("agent_source", agent_source, store_agent_source, "agent"), .has_rowid = true},
    [STORE_AGENT_REFUSALS] = {TABLE("agent_refused", agent_refusal, store_agent_refusal, "agent"), .has_rowid = true},
    [STORE_AGENT_CLOCKS] = {TABLE("agent_clock", agent_clock, store_agent_clock, "agent"), .has_rowid = true},
    [STORE_POLLED] = {TABLE("polled", polled, store_polled, "agent"), .has_rowid = true},
    [STORE_PRECISION] = {TABLE("precision", precision, store_precision, "agent, if_index")},
    [STORE_LINKS] = {TABLE("link", link, store_link, "agent, if_index")},
    [STORE_REFUSED_SENDERS] = {TABLE("refused_sender", refused_sender, store_refused_sender, "address")},
    [STORE_ODDITIES] = {TABLE("oddity", oddity, store_oddity, "agent, if_index, kind")},
    [STORE_PORTS] = {TABLE("port", port, store_port, "agent, if_index, since_us")},
    [STORE_SAMPLES] = {TABLE("sample", sample, store_sample, "agent, boot, if_index, sequence")},
    [STORE_COUNTERS] = {TABLE("counter", counter, store_counter, "agent, if_index, time_us")},
    [STORE_ACCOUNTS] = {TABLE("account", account, store_account, "agent, boot, if_index")},
    [STORE_EVENTS] = {TABLE("event", event, store_event, "id"), .has_rowid = true},
    [STORE_ENGINES] = {TABLE("engine", engine, store_engine, "engine_id")},
    [STORE_RESOURCES] = {TABLE("resource", resource, store_resource, "agent, if_index, time_us")},
    [STORE_ERROR_SOURCES] = {TABLE("error_source", error_source, store_error_source, "agent, if_index, mac, kind")},
    [STORE_DISCARDS] = {TABLE("discard", discard, store_discard, STORE_DISCARD_KEY)},
    [STORE_CRASH_LOST] = {TABLE("gone", gone, store_crash_lost, "agent, boot, if_index")},
    [STORE_OUTAGES] = {TABLE("outage", outage, store_outage, "id"), .has_rowid = true},
    [STORE_GAPS] = {TABLE("gap", gap, store_gap, "id"), .has_rowid = true},
    [STORE_STATS] = {TABLE("stat", stat, store_stat, "name")},
};

const struct stored_table stored_naming = {
    .name = "naming", .columns = naming_columns, .n_columns = N(naming_columns), .key = "collector, line"};

bool
stored_may_be_null(const struct stored_column *column)
{
	return column->may_be_null || column->when == STORED_IF_SET || column->when == STORED_IF ||
	    column->when == STORED_IF_IP;
}

/* Writing */

static uint64_t
uint_at(const void *at, size_t octets)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (octets) {
	case sizeof(u16):
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case sizeof(u32):
		memcpy(&u32, at, sizeof(u32));
		return u32;
	case sizeof(u64):
		memcpy(&u64, at, sizeof(u64));
		return u64;
	default:
		return *(const uint8_t *)at;
	}
}

static bool
is_null(const struct stored_column *c, const uint8_t *row)
{
	if (c->when == STORED_IF_SET)
		return c->form == STORED_TEXT ? row[c->at] == '\0' : uint_at(row + c->at, c->room) == 0;
	return (c->when == STORED_IF || c->when == STORED_IF_IP) && row[c->flag] == 0;
}

static size_t
stored_octets_of(const struct stored_column *c, const uint8_t *row)
{
	if (c->when == STORED_LENGTH_U8 || c->when == STORED_LENGTH_U16)
		return uint_at(row + c->flag, c->when == STORED_LENGTH_U8 ? 1 : 2);
	return c->when == STORED_IF_IP && row[c->flag] == 4 ? 4 : c->room;
}

static void
bind_value(const struct stored_column *c, const uint8_t *row, sqlite3_stmt *statement, int at)
{
	const uint8_t *value = row + c->at;
	const void *octets;
	const char *name;
	uint64_t v;

	switch (c->form) {
	case STORED_TEXT:
		sqlite3_bind_text(statement, at, (const char *)value, -1, SQLITE_STATIC);
		return;
	case STORED_NAME:
		memcpy(&name, value, sizeof(name));
		sqlite3_bind_text(statement, at, name, -1, SQLITE_STATIC);
		return;
	case STORED_BLOB:
		memcpy(&octets, value, sizeof(octets));
		sqlite3_bind_blob(statement, at, octets, (int)stored_octets_of(c, row), SQLITE_STATIC);
		return;
	case STORED_OCTETS:
		sqlite3_bind_blob(statement, at, value, (int)stored_octets_of(c, row), SQLITE_STATIC);
		return;
	default:
		v = uint_at(value, c->room);
		if ((c->form == STORED_UINT || c->form == STORED_COUNT) && v > INT64_MAX)
			v = INT64_MAX; /* SQLite's integers are signed */
		sqlite3_bind_int64(statement, at, (sqlite3_int64)v);
	}
}

void
stored_bind(const struct stored_table *table, const void *row, sqlite3_stmt *statement)
{
	int at = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct stored_column *c = &table->columns[i];

		if (c->form == STORED_ID)
			continue;
		if (is_null(c, row))
			sqlite3_bind_null(statement, ++at);
		else
			bind_value(c, row, statement, ++at);
	}
}

/* Reading */

static void
put_uint(void *at, size_t octets, uint64_t v)
{
	const uint8_t u8 = (uint8_t)v;
	const uint16_t u16 = (uint16_t)v;
	const uint32_t u32 = (uint32_t)v;
	const void *from = octets == 8 ? (const void *)&v : octets == 4 ? (const void *)&u32
	    : octets == 2						? (const void *)&u16
									: (const void *)&u8;

	memcpy(at, from, octets);
}

static void
read_octets(const struct stored_column *c, sqlite3_stmt *statement, int at, uint8_t *row)
{
	const void *octets = sqlite3_column_blob(statement, at);
	size_t n = (size_t)sqlite3_column_bytes(statement, at);

	if (!octets || n > c->room)
		n = 0;
	if (n > 0)
		memcpy(row + c->at, octets, n);
	if (c->when == STORED_LENGTH_U8 || c->when == STORED_LENGTH_U16)
		put_uint(row + c->flag, c->when == STORED_LENGTH_U8 ? 1 : 2, n);
}

static void
stored_read_value(const struct stored_column *c, sqlite3_stmt *statement, int at, uint8_t *row)
{
	int64_t v = sqlite3_column_int64(statement, at);
	const unsigned char *text;

	if (c->form == STORED_OCTETS) {
		read_octets(c, statement, at, row);
	} else if (c->form == STORED_TEXT) {
		text = sqlite3_column_text(statement, at);
		snprintf((char *)row + c->at, c->room, "%s", text ? (const char *)text : "");
	} else {
		if (c->form == STORED_COUNT && v == INT64_MAX)
			v = -1; /* EASE_COUNT_UNKNOWN, 2^64 - 1 */
		if (c->form == STORED_BOOL)
			v = v != 0;
		put_uint(row + c->at, c->room, (uint64_t)v);
	}
}

int
stored_read(const struct stored_table *table, sqlite3_stmt *statement, void *row)
{
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].form != STORED_ID)
			stored_read_value(&table->columns[i], statement, (int)i, row);
	return (int)table->n_columns;
}
