#include "tests/attacks/attacks.h"

#include "common/made_id.h"

#include <stdio.h>
#include <string.h>

/* Whom an attacker speaks for. */
enum { VICTIM_V3 = 3, VICTIM_SFLOW = 12, VICTIM = 50 };

static struct trap_message m;
static struct sflow_builder b;

static void
start(struct attack_rig *r, enum ease_notification_kind kind, const uint8_t id[8], uint32_t boot)
{
	(void)r;
	trap_start(&m, FLEET_COMMUNITY, kind, id, boot);
}

static const uint8_t *
id_of(uint32_t i)
{
	static uint8_t id[8] = {0x66, 0x66, 0, 0, 0, 0, 0, 0};

	for (int k = 0; k < 4; k++)
		id[4 + k] = (uint8_t)(i >> 8 * k);
	return id;
}

static struct ease_snapshot
snapshot_of(const struct attack_rig *r, uint32_t if_index, uint64_t later_us, uint64_t octets)
{
	return (struct ease_snapshot){.if_index = if_index,
	    .time_us = r->clock.manual_wall_us + later_us, .in = {.octets = octets, .ucast_pkts = octets / 500},
	    .pool_in_pkts = octets / 500};
}

static struct ease_sample
sample_of(const struct attack_rig *r, uint32_t if_index, uint32_t sequence)
{
	struct ease_sample s = fleet_sample(r, &r->fleet[VICTIM], 0, sequence);

	s.if_index = if_index;
	s.time_us = r->clock.manual_wall_us;
	return s;
}

static void
send_snapshot(struct attack_rig *r, struct ease_snapshot s)
{
	trap_add_snapshot(&m, &s);
	attack_send_trap(r, ATTACKER, &m);
}

static void
send_sample(struct attack_rig *r, const struct ease_sample *s)
{
	struct ease_snapshot counters = snapshot_of(r, s->if_index, 0, s->pool_pkts * 500);

	trap_add_sample(&m, s);
	trap_add_snapshot(&m, &counters);
	attack_send_trap(r, ATTACKER, &m);
}

/* ---- times ---- */

static void
days_in_a_datagram(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_COUNTERS, id_of(0), 1);
	for (unsigned day = 0; day < 41; day++) {
		struct ease_snapshot s = snapshot_of(r, 1 + i % 8, (day + 41ull * (i / 8)) * DAY_US,
		    (day + 41ull * i) * 1000000);

		trap_add_snapshot(&m, &s);
	}
	attack_send_trap(r, ATTACKER, &m);
}

static void
a_day_a_datagram(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_COUNTERS, id_of(0), 1);
	send_snapshot(r, snapshot_of(r, 1, i * (DAY_US - SECOND_US), i * 1000000ull));
}

static void
clocks_of_any_year(struct attack_rig *r, uint32_t i)
{
	struct ease_sample s = sample_of(r, 1, i + 1);

	s.time_us = attack_draw(r, 1ull << 31) * attack_draw(r, 1u << 21);
	start(r, EASE_NOTIFY_SAMPLES, id_of(i % 4), 1);
	send_sample(r, &s);
}

static void
a_sample_of_2097(struct attack_rig *r, uint32_t i)
{
	struct ease_sample s = sample_of(r, 1, i + 1);

	s.time_us = 4000000000ull * SECOND_US + i * 100000ull;
	start(r, EASE_NOTIFY_SAMPLES, id_of(0), 1);
	send_sample(r, &s);
}

/* ---- speaking for others ---- */

static void
boots_for_another(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_COUNTERS, r->fleet[VICTIM].id, UINT32_MAX - i % 2);
	send_snapshot(r, snapshot_of(r, 1, 0, i));
}

static void
numbers_for_another(struct attack_rig *r, uint32_t i)
{
	const struct fleet_switch *victim = &r->fleet[VICTIM];
	struct ease_sample s = fleet_sample(r, victim, 0, victim->ports[0].sequence + 0x7fffffff - i);

	start(r, EASE_NOTIFY_SAMPLES, victim->id, victim->boot);
	send_sample(r, &s);
}

static void
counters_for_another(struct attack_rig *r, uint32_t i)
{
	const struct fleet_switch *victim = &r->fleet[VICTIM];
	struct ease_snapshot s = fleet_snapshot(r, victim, 0);

	s.time_us += 1000 * (i + 1);
	s.in.octets += 1ull << 40;
	start(r, EASE_NOTIFY_COUNTERS, victim->id, victim->boot);
	send_snapshot(r, s);
}

/* An authentic user of another engine. */
static void
a_user_for_another(struct attack_rig *r, uint32_t i)
{
	const struct fleet_switch *victim = &r->fleet[i % 2 ? VICTIM : VICTIM_V3];
	struct ease_sample s = fleet_sample(r, victim, 0, victim->ports[0].sequence + 1000 + i);
	struct ease_snapshot counters = fleet_snapshot(r, victim, 0);

	start(r, EASE_NOTIFY_SAMPLES, victim->id, victim->boot + i % 3);
	trap_add_sample(&m, &s);
	trap_add_snapshot(&m, &counters);
	attack_send_v3(r, ATTACKER, &r->other, 1, 1000 + (uint32_t)r->second, &m);
}

static void
sflow_for_another(struct attack_rig *r, uint32_t i)
{
	b.n = 0;
	built_begin(&b, r->fleet[VICTIM_SFLOW].address, 0, 5000 + i, 1000 * i, 1);
	built_add_flow(&b, &(struct built_flow){.sequence = 100000 + 7 * i, .index = 1, .rate = 1000,
	    .pool = 1000 * i, .input = 1, .frame_octets = 1500, .stripped = 4});
	attack_send_sflow(r, ATTACKER, &b);
}

/* The address is stated before the switch itself is heard. */
static void
sflow_before_another(struct attack_rig *r, uint32_t i)
{
	b.n = 0;
	built_begin(&b, r->fleet[FLEET_V3 + FLEET_SFLOW - 1].address, 0, 1 + i, 1000 * i, 2);
	built_add_flow(&b, &(struct built_flow){.sequence = 1 + i, .index = 1, .rate = 1000, .pool = 1000 * i, .input = 1,
	    .frame_octets = 1500, .stripped = 4});
	built_add_counters(&b, &(struct built_counters){.sequence = 1 + i, .index = 1, .speed_bps = 1000, .status = 3,
	    .in_octets = (uint64_t)i << 30});
	attack_send_sflow(r, ATTACKER, &b);
}

/* The agent address is that of a switch that sends by SNMPv2c, by SNMPv3, and by SNMPv2c later on, in turn. */
static void
sflow_at_an_address(struct attack_rig *r, uint32_t i)
{
	static const int victims[] = {VICTIM, VICTIM_V3, FLEET_SWITCHES - 1};

	b.n = 0;
	built_begin(&b, r->fleet[victims[i % 3]].address, 7, 1 + i / 3, 1000 * (i / 3), 1);
	built_add_flow(&b, &(struct built_flow){.sequence = 1 + i / 3, .index = 1, .rate = 1000, .pool = 1000 * (1 + i / 3),
	    .input = 1, .frame_octets = 1500, .stripped = 4});
	attack_send_sflow(r, ATTACKER, &b);
}

/* From its own address, one whose hash was another's id; the uptime is of a start in the future. */
static void
hashed_sflow(struct attack_rig *r, uint32_t i, uint32_t from)
{
	b.n = 0;
	built_begin(&b, from, 0, 1 + i, 1000 * i, 3);
	for (uint32_t k = 0; k < 2; k++)
		built_add_flow(&b, &(struct built_flow){.sequence = 0x60000000 + i, .index = 1, .rate = k ? 0 : 1000,
		    .pool = 1000 * i, .input = 1, .frame_octets = 1500, .stripped = 4});
	built_add_counters(&b, &(struct built_counters){.sequence = i, .index = 1, .in_octets = (uint64_t)i << 40,
	    .status = 3, .speed_bps = 1000});
	attack_send_sflow(r, from, &b);
}

static void
sflow_with_the_hash(struct attack_rig *r, uint32_t i)
{
	hashed_sflow(r, i, ATTACKER);
}

static void
sflow_with_the_hash_v3(struct attack_rig *r, uint32_t i)
{
	hashed_sflow(r, i, ATTACKER + 1);
}

/* Of one of them before it is heard itself. */
static void
ease_for_sflow(struct attack_rig *r, uint32_t i)
{
	const struct sflow_agent victim = {.type = SFLOW_ADDRESS_IP4,
	    .address = {10, 0, i % 2 ? VICTIM_SFLOW : FLEET_V3 + FLEET_SFLOW - 1, 1}};
	uint8_t id[8];

	made_id_of_sflow(&victim, NULL, id);
	start(r, EASE_NOTIFY_COUNTERS, id, UINT32_MAX - i);
	send_snapshot(r, snapshot_of(r, 1, 0, 1ull << 40));
}

/* ---- filling tables ---- */

static void
agents_without_end(struct attack_rig *r, uint32_t i)
{
	for (uint32_t k = 3 * i; k < 3 * (i + 1); k++) { /* more than there is room for, also in a minute */
		start(r, EASE_NOTIFY_COUNTERS, id_of(k), 1);
		send_snapshot(r, snapshot_of(r, 1, 0, k));
	}
}

static void
ports_without_end(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_COUNTERS, id_of(0), 1);
	for (uint32_t k = 0; k < 40; k++) {
		struct ease_snapshot s = snapshot_of(r, 1 + 40 * i + k, 0, 0);

		trap_add_snapshot(&m, &s);
	}
	attack_send_trap(r, ATTACKER, &m);
}

static void
boots_without_end(struct attack_rig *r, uint32_t i)
{
	struct ease_sample s = sample_of(r, 1, 1);

	start(r, EASE_NOTIFY_SAMPLES, id_of(0), i + 1);
	send_sample(r, &s);
}

static void
data_sources_without_end(struct attack_rig *r, uint32_t i)
{
	static const uint8_t frame[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};

	b.n = 0;
	built_begin(&b, ATTACKER, i % 64, i, 1000 * i, 50);
	for (uint32_t k = 0; k < 50; k++) /* interfaces, VLANs, bridges, … */
		built_add_flow(&b, &(struct built_flow){.sequence = 1, .class = k % 4, .index = 1 + 50 * i + k,
		    .input = k % 8 < 4 ? 1 + 50 * i + k : 0, .rate = 100, .pool = 100, .frame_octets = 500,
		    .stripped = 4, .kept = sizeof(frame), .header = frame});
	attack_send_sflow(r, ATTACKER, &b);
}

/* Each number lower than the one before: a data source that begins anew, as often as it says. */
static void
sources_that_begin_anew(struct attack_rig *r, uint32_t i)
{
	b.n = 0;
	built_begin(&b, ATTACKER, 0, i, 1000 * i, 80);
	for (uint32_t k = 0; k < 80; k++)
		built_add_flow(&b, &(struct built_flow){.sequence = 0x70000000 - 10000 * k, .index = 1 + i % 8,
		    .rate = 100, .pool = 100, .frame_octets = 500, .stripped = 4});
	attack_send_sflow(r, ATTACKER, &b);
}

/* What cannot be is stored by port: at another port each time. */
static void
oddities_without_end(struct attack_rig *r, uint32_t i)
{
	b.n = 0;
	built_begin(&b, ATTACKER, 0, i, 1000 * i, 80);
	for (uint32_t k = 0; k < 80; k++)
		built_add_flow(&b, &(struct built_flow){.sequence = i, .index = 1 + (80 * i + k) % 0xfffff0, .frame_octets = 500,
		    .stripped = 4});
	attack_send_sflow(r, ATTACKER, &b);
}

static void
sources_of_errors(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_ERROR_SOURCE, id_of(0), 1);
	for (uint32_t k = 0; k < 40; k++) {
		struct ease_error_source e = {.if_index = 1, .kind = EASE_ERROR_FCS, .count = 1,
		    .mac = {2, (uint8_t)k, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 1},
		    .first_us = r->clock.manual_wall_us, .time_us = r->clock.manual_wall_us};

		trap_add_error_source(&m, &e);
	}
	attack_send_trap(r, ATTACKER, &m);
}

static void
states_that_change(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_PORT_STATE, id_of(0), 1);
	for (uint32_t k = 0; k < 30; k++) {
		struct ease_state s = {.if_index = 1, .time_us = r->clock.manual_wall_us + 30 * i + k,
		    .name = "flap", .speed_bps = 1000 * (k + 1), .duplex = EASE_DUPLEX_FULL,
		    .admin_status = EASE_IF_UP, .oper_status = k % 2 ? EASE_IF_UP : EASE_IF_DOWN, .edge = true};

		trap_add_state(&m, &s);
	}
	attack_send_trap(r, ATTACKER, &m);
}

static void
addresses_of_one_moment(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_NEW_ADDRESS, id_of(0), 1);
	for (uint32_t k = 0; k < 40; k++) {
		struct ease_address a = {.if_index = 1, .time_us = NOON_US, .vlan = 1,
		    .mac = {2, (uint8_t)k, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 2}};

		trap_add_address(&m, &a);
	}
	attack_send_trap(r, ATTACKER, &m);
}

static void
informs(struct attack_rig *r, uint32_t i)
{
	for (uint32_t k = 150 * i; k < 150 * (i + 1); k++) { /* more than may wait for the store */
		struct ease_sample s = sample_of(r, 1, k + 1);

		start(r, EASE_NOTIFY_SAMPLES, id_of(0), 1);
		m.pdu = 0xa6;
		send_sample(r, &s);
	}
}

/* ---- strangers ---- */

static void
a_wrong_community(struct attack_rig *r, uint32_t i)
{
	struct ease_sample s = fleet_sample(r, &r->fleet[VICTIM], 0, i);

	trap_start(&m, "guess", EASE_NOTIFY_SAMPLES, r->fleet[VICTIM].id, r->fleet[VICTIM].boot);
	send_sample(r, &s);
}

static void
an_address_that_is_not_allowed(struct attack_rig *r, uint32_t i)
{
	struct ease_sample s = fleet_sample(r, &r->fleet[VICTIM], 0, i);

	start(r, EASE_NOTIFY_SAMPLES, r->fleet[VICTIM].id, r->fleet[VICTIM].boot);
	trap_add_sample(&m, &s);
	attack_send_trap(r, 0xc0000201 + i % 16, &m);
}

static void
a_wrong_key(struct attack_rig *r, uint32_t i)
{
	struct fleet_switch *victim = &r->fleet[VICTIM_V3];
	struct attack_v3_user user = victim->user;
	struct ease_sample s = fleet_sample(r, victim, 0, i);

	user.auth_key[0] ^= 1;
	start(r, EASE_NOTIFY_SAMPLES, victim->id, victim->boot);
	trap_add_sample(&m, &s);
	attack_send_v3(r, ATTACKER, &user, victim->boot, 90000 + (uint32_t)r->second, &m);
}

/* An authentic message, heard once and sent again and again. */
static void
a_replay(struct attack_rig *r, uint32_t i)
{
	static uint8_t kept[ATTACK_MESSAGE_MAX], v2c[ATTACK_MESSAGE_MAX];
	static size_t n;

	if (i == 0) {
		struct ease_snapshot s = snapshot_of(r, 1, 0, 1000000);

		start(r, EASE_NOTIFY_COUNTERS, r->other.engine_id + 5, 1);
		trap_add_snapshot(&m, &s);
		n = attack_v3_message(&r->other, 1, 1000 + (uint32_t)r->second, v2c,
		    trap_build(&m, v2c, sizeof(v2c)), kept, sizeof(kept));
	}
	attack_send(r, ATTACKER, kept, n);
}

/* A good message of somebody's with octets changed, cut or repeated. */
static void
broken_octets(struct attack_rig *r, uint32_t i)
{
	static uint8_t octets[ATTACK_MESSAGE_MAX];
	struct ease_sample s = sample_of(r, 1, i + 1);
	size_t n;

	start(r, EASE_NOTIFY_SAMPLES, id_of(0), 1);
	trap_add_sample(&m, &s);
	n = trap_build(&m, octets, sizeof(octets));
	for (uint64_t k = 1 + attack_draw(r, 8); k > 0; k--)
		octets[attack_draw(r, n)] = (uint8_t)attack_draw(r, 256);
	if (i % 3 == 0)
		n = attack_draw(r, n);
	attack_send(r, ATTACKER, octets, n);
}

static void
broken_sflow(struct attack_rig *r, uint32_t i)
{
	b.n = 0;
	built_begin(&b, ATTACKER, 0, i, 1000 * i, 4);
	for (uint32_t k = 0; k < 4; k++)
		built_add_flow(&b, &(struct built_flow){.sequence = 4 * i + k, .index = 1, .rate = 100, .pool = 100,
		    .frame_octets = 500, .stripped = 4});
	for (uint64_t k = 1 + attack_draw(r, 4); k > 0; k--)
		built_patch(&b, attack_draw(r, b.n / 4) * 4, (uint32_t)attack_draw(r, 1ull << 32));
	attack_send_sflow(r, ATTACKER, &b);
}

/* Records that we read, with any contents, among a hundred that we do not. */
static void
records_of_any_kind(struct attack_rig *r, uint32_t i)
{
	static const struct {
		uint32_t format, octets;
	} kinds[] = {{2, 24}, {3, 32}, {4, 56}, {1001, 16}, {1003, 40}, {1036, 4}, {1039, 4}, {1040, 4}};
	size_t length_at, count_at;
	uint32_t n = 0;

	b.n = 0;
	built_begin(&b, ATTACKER, 0, i, 1000 * i, 1);
	length_at = b.n + 4;
	built_add_flow(&b, &(struct built_flow){.sequence = i + 1, .index = 1, .rate = 100, .pool = 100 * i, .input = 1});
	count_at = b.n - 4;
	for (; n < 100; n++) {
		size_t k = attack_draw(r, 2 * sizeof(kinds) / sizeof(kinds[0]));
		bool is_read = k < sizeof(kinds) / sizeof(kinds[0]);

		built_word(&b, is_read ? kinds[k].format : (uint32_t)attack_draw(r, 1u << 31));
		built_word(&b, is_read ? kinds[k].octets : 4);
		for (uint32_t word = is_read ? kinds[k].octets / 4 : 1; word > 0; word--)
			built_word(&b, (uint32_t)attack_draw(r, i % 2 ? 1ull << 32 : 4));
	}
	built_patch(&b, count_at, n);
	built_patch(&b, length_at, (uint32_t)(b.n - length_at - 4));
	attack_send_sflow(r, ATTACKER, &b);
}

/* AS paths whose segments and numbers have no end, or are all empty; and numbers that no other sample has. */
static void
as_paths(struct attack_rig *r, uint32_t i)
{
	static const uint8_t frame[64] = {[12] = 8, [14] = 0x45, [23] = 17, [26] = 10, [30] = 10};
	enum { SAMPLE_AT = 28, PATH_WORDS = 300 }; /* behind the datagram's own fields */

	built_begin(&b, ATTACKER, 0, i, 1000 * i, 1);
	built_add_flow(&b, &(struct built_flow){.sequence = i + 1, .index = 1, .rate = 100, .pool = 100 * i, .input = 1,
	    .frame_octets = 68, .stripped = 4, .kept = sizeof(frame), .header = frame});
	built_patch(&b, SAMPLE_AT + 4, (uint32_t)(b.n - SAMPLE_AT - 8 + 8 + 4 * PATH_WORDS));
	built_patch(&b, SAMPLE_AT + 36, 2); /* records */
	built_word(&b, 1003);
	built_word(&b, 4 * PATH_WORDS);
	for (uint32_t word = 0; word < PATH_WORDS; word++)
		built_word(&b, word == 0 ? 0 : word < 4 ? i + word : word == 4 && i % 4 == 0 ? 1 :
		    (uint32_t)attack_draw(r, i % 2 ? 1ull << 32 : 2));
	attack_send_sflow(r, ATTACKER, &b);
}

/* Delays, depths and numbers of queues as large as can be said, of frames that leave at ports without end. */
static void
ways_without_end(struct attack_rig *r, uint32_t i)
{
	static const uint8_t frame[64] = {[12] = 8, [14] = 0x45, [23] = 17, [26] = 10, [30] = 10};
	static const uint32_t formats[] = {1036, 1039, 1040};
	enum { SAMPLE_AT = 28, WAY_WORDS = 9 }; /* behind the datagram's own fields */

	b.n = 0;
	built_begin(&b, ATTACKER, 0, i, 1000 * i, 1);
	built_add_flow(&b, &(struct built_flow){.sequence = i + 1, .index = 1, .rate = 100, .pool = 100 * i, .input = 1,
	    .output = i, .frame_octets = 68, .stripped = 4, .kept = sizeof(frame), .header = frame});
	built_patch(&b, SAMPLE_AT + 4, (uint32_t)(b.n - SAMPLE_AT - 8 + 4 * WAY_WORDS));
	built_patch(&b, SAMPLE_AT + 36, 4); /* records */
	for (int k = 0; k < 3; k++) {
		built_word(&b, formats[k]);
		built_word(&b, 4);
		built_word(&b, i % 2 ? UINT32_MAX : (uint32_t)attack_draw(r, 1ull << 32));
	}
	attack_send_sflow(r, ATTACKER, &b);
}

/* IPFIX: a template of its own and eight samples, at ports without end; of domain and template id. */
static void
ipfix_message(uint32_t domain, uint32_t id, uint32_t i)
{
	enum { SAMPLES = 8, FRAME_WORDS = 16, WORDS = 3 + FRAME_WORDS };
	const uint32_t head[] = {10 << 16 | (16 + 24 + 4 + 4 * SAMPLES * WORDS), i, SAMPLES * i, domain, 2 << 16 | 24,
	    id << 16 | 4, 34 << 16 | 4, 10 << 16 | 4, 312 << 16 | 4, 315 << 16 | 4 * FRAME_WORDS,
	    id << 16 | (4 + 4 * SAMPLES * WORDS)};

	b.n = 0;
	for (size_t w = 0; w < sizeof(head) / sizeof(head[0]); w++)
		built_word(&b, head[w]);
	for (uint32_t k = 0; k < SAMPLES; k++) {
		built_word(&b, 100);
		built_word(&b, 1 + SAMPLES * i + k);
		built_word(&b, 500);
		for (uint32_t w = 0; w < FRAME_WORDS; w++)
			built_word(&b, w * 0x01010101);
	}
}

static void
ipfix_without_end(struct attack_rig *r, uint32_t i)
{
	ipfix_message(i, 256 + i % 50000, i);
	attack_send_sflow(r, ATTACKER, &b);
}

static void
broken_ipfix(struct attack_rig *r, uint32_t i)
{
	ipfix_message(1, 256 + i % 4, i);
	for (uint64_t k = 1 + attack_draw(r, 4); k > 0; k--)
		built_patch(&b, 4 + attack_draw(r, b.n / 4 - 1) * 4, (uint32_t)attack_draw(r, 1ull << 32));
	attack_send_sflow(r, ATTACKER, &b);
}

static void
names_that_change(struct attack_rig *r, uint32_t i)
{
	size_t length_at;
	char name[32];

	b.n = 0;
	built_begin(&b, ATTACKER, 0, i, 1000 * i, 1);
	length_at = b.n + 4;
	built_add_counters(&b, &(struct built_counters){.sequence = i, .index = 1, .in_octets = i, .status = 3});
	built_patch(&b, length_at + 4 + 8, 2); /* records */
	snprintf(name, sizeof(name), "\033[2J port %u", i);
	built_word(&b, 1005);
	built_word(&b, 4 + ((uint32_t)strlen(name) + 3) / 4 * 4);
	built_word(&b, (uint32_t)strlen(name));
	built_octets(&b, name, strlen(name));
	built_patch(&b, length_at, (uint32_t)(b.n - length_at - 4));
	attack_send_sflow(r, ATTACKER, &b);
}

/* Of any port, reason and address, with texts and losses as large as can be said; the i-th of so many agents. */
static void
discards_of(struct attack_rig *r, uint32_t i, uint32_t agents)
{
	b.n = 0;
	built_begin(&b, ATTACKER + i % agents, 0, i / agents, 1000 * i, 20);
	for (uint32_t k = 0; k < 20; k++) {
		size_t length_at = b.n + 4;
		const uint32_t words[] = {5, 0, (20 * i + k) * 1000, 0, 0, (20 * i + k) * 0x1000000, 1 + k % 4,
		    (uint32_t)attack_draw(r, 1ull << 32), (uint32_t)attack_draw(r, 400), 2, 3, 32, 500, 17,
		    (uint32_t)attack_draw(r, 1ull << 32), (uint32_t)attack_draw(r, 1ull << 32), 1, 2, 0, 0, 1038, 64, 60};
		char text[60];

		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
			built_word(&b, words[w]);
		for (size_t c = 0; c < sizeof(text); c++)
			text[c] = (char)attack_draw(r, 256);
		built_octets(&b, text, sizeof(text));
		built_patch(&b, length_at, (uint32_t)(b.n - length_at - 4));
	}
	attack_send_sflow(r, ATTACKER, &b);
}

static void
discards_without_end(struct attack_rig *r, uint32_t i)
{
	discards_of(r, i, 1);
}

/* ---- filling small tables, in the names of many agents ---- */

enum { NAMES = 150 };

static void
discards_of_many(struct attack_rig *r, uint32_t i)
{
	discards_of(r, i, NAMES);
}

static void
addresses_of_many(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_NEW_ADDRESS, id_of(i % NAMES), 1);
	for (uint32_t k = 0; k < 40; k++) {
		struct ease_address a = {.if_index = 1 + k % 2, .time_us = r->clock.manual_wall_us, .vlan = 1,
		    .mac = {2, (uint8_t)k, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 3}};

		trap_add_address(&m, &a);
	}
	attack_send_trap(r, ATTACKER, &m);
}

static void
errors_of_many(struct attack_rig *r, uint32_t i)
{
	start(r, EASE_NOTIFY_ERROR_SOURCE, id_of(i % NAMES), 1);
	for (uint32_t k = 0; k < 40; k++) {
		struct ease_error_source e = {.if_index = 1 + k % 20, .kind = EASE_ERROR_FCS, .count = 1,
		    .mac = {2, (uint8_t)k, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 4},
		    .first_us = r->clock.manual_wall_us, .time_us = r->clock.manual_wall_us};

		trap_add_error_source(&m, &e);
	}
	attack_send_trap(r, ATTACKER, &m);
}

const struct attack attacks[] = {
    {"a port's counters of 41 days in one datagram", days_in_a_datagram, "accounting.snapshots_repeated", NULL, 0},
    {"a port's counters of another day in each datagram", a_day_a_datagram, "accounting.clock_corrected", NULL, 0},
    {"clocks of any year", clocks_of_any_year, "accounting.clock_corrected|accounting.bad_time", NULL, 0},
    {"samples of the year 2097", a_sample_of_2097, "accounting.clock_corrected", NULL, 0},
    {"boots of the far future in another's name", boots_for_another, "accounting.foreign_source", NULL, 0},
    {"numbers of the far future in another's name", numbers_for_another, "accounting.foreign_source", NULL, 0},
    {"counters in another's name", counters_for_another, "accounting.foreign_source", NULL, 0},
    {"an SNMPv3 user in another's name", a_user_for_another, "accounting.foreign_source",
	"0x80001f88050606060606060606", 0},
    {"sFlow in another's name", sflow_for_another, "sflow.foreign_source", NULL, 0},
    {"sFlow in another's name before it is heard", sflow_before_another, "sflow.samples", NULL, 0},
    {"sFlow that had the id of an SNMPv2c switch", sflow_with_the_hash, "sflow.samples", NULL, 0},
    {"sFlow that had the id of an SNMPv3 switch", sflow_with_the_hash_v3, "sflow.samples", "10.66.0.2", 0},
    {"sFlow that states the address of a switch", sflow_at_an_address, "sflow.samples", NULL, 0},
    {"SNMPv2c in the name of sFlow switches", ease_for_sflow, "accounting.foreign_source", NULL, 0},
    {"agents without end", agents_without_end, "accounting.agents_full", NULL, 0},
    {"ports without end", ports_without_end, "accounting.ports_full", NULL, 0},
    {"boots without end", boots_without_end, "accounting.samples", NULL, 0},
    {"data sources without end", data_sources_without_end, "accounting.ports_full|sflow.ports_full", NULL, 0},
    {"data sources that begin anew", sources_that_begin_anew, "sflow.odd", NULL, 0},
    {"what cannot be, at ports without end", oddities_without_end, "sflow.odd", NULL, 0},
    {"sources of errors without end", sources_of_errors, "accounting.rows", NULL, 0},
    {"a port that changes its state all the time", states_that_change, "accounting.states", NULL, 0},
    {"new addresses, all of one moment", addresses_of_one_moment, "accounting.rows", NULL, 0},
    {"informs", informs, "inform.full|inform.over_share", NULL, 0},
    {"a wrong community", a_wrong_community, "input.refused_community", NULL, 0},
    {"an address that is not allowed", an_address_that_is_not_allowed, "input.refused_sender",
	"192.0.2.2", 0},
    {"a wrong key", a_wrong_key, "v3.wrong_digest", NULL, 0},
    {"an authentic message again and again", a_replay, "accounting.snapshots_old", NULL, 0},
    {"messages with broken octets", broken_octets, "input.refused_parse", NULL, 0},
    {"sFlow with broken words", broken_sflow, "sflow.refused_datagram|sflow.refused_sample|sflow.no_rate|sflow.unknown", NULL, 0},
    {"sFlow records of any kind", records_of_any_kind, "sflow.unread_flow_other", NULL, 0},
    {"AS paths without end", as_paths, "sflow.spoiled_flow_1003", NULL, 0},
    {"delays and depths without end", ways_without_end, "sflow.samples", NULL, 0},
    {"IPFIX domains, templates and ports without end", ipfix_without_end, "sflow.agents_left", NULL, 0},
    {"IPFIX with broken words", broken_ipfix, "ipfix.no_template|sflow.refused_datagram", NULL, 0},
    {"discarded packets without end", discards_without_end, "accounting.discards_folded", NULL, 0},
    {"a port of sFlow that changes its name", names_that_change, "accounting.states", NULL, 0},
    {"discarded packets of many agents", discards_of_many, "store.folded_discards|accounting.discards_folded", NULL, 3},
    {"new addresses of many agents", addresses_of_many, "store.room_events", NULL, 3},
    {"sources of errors of many agents", errors_of_many, "store.room_error_sources", NULL, 3},
};
const size_t n_attacks = sizeof(attacks) / sizeof(attacks[0]);
