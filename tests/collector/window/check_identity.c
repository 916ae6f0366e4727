/*
 * Who may speak for an agent: each source judged by rule; what a stranger says in an agent's name
 * changes nothing of the agent, also after a restart; a move is allowed by rule or by hand; an
 * agent that moved without either is never complete; and boots and numbers that jump.
 */
#include "collector/store/agent_sources.h"
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGENT	   "0102030405060708"
#define SFLOW	   "0005030405060708"
#define OWN_ENGINE "0x80001f8805" AGENT
#define HERE	   "192.0.2.1"
#define STRANGER   "192.0.2.66"

enum { RULES_MAX = 2, SILENT_S = 60 };

/* ---- judging ---- */

static const struct {
	const char *bound, *rules[RULES_MAX];
	enum { BY_EASE, BY_SFLOW, EASE_AS_SFLOW, SFLOW_AS_EASE } by; /* the latter two with an id of the other */
	const char *sender, *source; /* source NULL: as sender */
	enum agent_identity_verdict verdict;
} cases[] = {
    /* the first is bound, and only that one is known */
    {"", {NULL}, BY_EASE, HERE, NULL, AGENT_IDENTITY_BIND},
    {HERE, {NULL}, BY_EASE, HERE, NULL, AGENT_IDENTITY_KNOWN},
    {HERE, {NULL}, BY_EASE, STRANGER, NULL, AGENT_IDENTITY_FOREIGN},
    {"192.0.2.10", {NULL}, BY_EASE, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {"0x8000000001", {NULL}, BY_EASE, STRANGER, "0x8000000001", AGENT_IDENTITY_KNOWN},
    {"0x8000000001", {NULL}, BY_EASE, HERE, "0x8000000002", AGENT_IDENTITY_FOREIGN},
    {"0x8000000001", {NULL}, BY_EASE, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {"switch@" HERE, {NULL}, BY_EASE, HERE, "switch@" HERE, AGENT_IDENTITY_KNOWN},
    {"switch@" HERE, {NULL}, BY_EASE, HERE, "other@" HERE, AGENT_IDENTITY_FOREIGN},
    {"switch@" HERE, {NULL}, BY_EASE, STRANGER, "switch@" STRANGER, AGENT_IDENTITY_FOREIGN},
    /* SNMPv3 from the address that is bound */
    {HERE, {NULL}, BY_EASE, HERE, "0x8000000001", AGENT_IDENTITY_BIND},
    {HERE, {NULL}, BY_EASE, HERE, "switch@" HERE, AGENT_IDENTITY_BIND},
    {HERE, {NULL}, BY_EASE, STRANGER, "0x8000000001", AGENT_IDENTITY_FOREIGN},
    {HERE, {NULL}, BY_EASE, STRANGER, "switch@" STRANGER, AGENT_IDENTITY_FOREIGN},
    /* the engine ID that has the agent's id in it, and that of another agent */
    {"0x8000000001", {NULL}, BY_EASE, STRANGER, OWN_ENGINE, AGENT_IDENTITY_BIND},
    {OWN_ENGINE, {NULL}, BY_EASE, STRANGER, OWN_ENGINE, AGENT_IDENTITY_KNOWN},
    {"", {NULL}, BY_EASE, HERE, "0x80001f88050102030405060709", AGENT_IDENTITY_FOREIGN},
    {HERE, {NULL}, BY_EASE, HERE, "0x80001f88050102030405060709", AGENT_IDENTITY_FOREIGN},
    /* sFlow: the sender is the agent itself, or it is not */
    {"", {NULL}, BY_SFLOW, HERE, "192.0.2.9", AGENT_IDENTITY_BIND},
    {"192.0.2.9", {NULL}, BY_SFLOW, HERE, "192.0.2.9", AGENT_IDENTITY_KNOWN},
    {"192.0.2.9", {NULL}, BY_SFLOW, HERE, STRANGER, AGENT_IDENTITY_FOREIGN},
    {STRANGER, {NULL}, BY_SFLOW, HERE, HERE, AGENT_IDENTITY_CLAIMED},
    {HERE, {NULL}, BY_SFLOW, HERE, HERE, AGENT_IDENTITY_KNOWN},
    /* rules for all: what they allow is bound */
    {HERE, {"any 192.0.2.64/27"}, BY_EASE, STRANGER, NULL, AGENT_IDENTITY_BIND},
    {HERE, {"any 192.0.2.64/27"}, BY_EASE, "192.0.2.128", NULL, AGENT_IDENTITY_FOREIGN},
    {HERE, {"any 192.0.2.64/27"}, BY_SFLOW, HERE, STRANGER, AGENT_IDENTITY_BIND},
    {HERE, {"any 0x8000000001"}, BY_EASE, STRANGER, "0x8000000001", AGENT_IDENTITY_BIND},
    {HERE, {"any 2001:db8::/32"}, BY_EASE, "2001:db8::7", NULL, AGENT_IDENTITY_BIND},
    /* rules for this agent: only what they allow, whatever was bound; it is bound, so that reports tell who it is */
    {HERE, {AGENT " 192.0.2.66"}, BY_EASE, STRANGER, NULL, AGENT_IDENTITY_BIND},
    {HERE, {AGENT " 192.0.2.66"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {HERE, {AGENT " 192.0.2.66", AGENT " 192.0.2.1"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_KNOWN},
    {HERE, {AGENT " 192.0.2.66", "any 192.0.2.1"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_KNOWN},
    {HERE, {AGENT " switch@192.0.2.1"}, BY_EASE, HERE, "switch@192.0.2.1", AGENT_IDENTITY_BIND},
    {HERE, {AGENT " switch@192.0.2.1"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {"", {AGENT " 192.0.2.66"}, BY_EASE, STRANGER, "0x8000000001", AGENT_IDENTITY_BIND},
    {"", {AGENT " 0x8000000001"}, BY_EASE, STRANGER, "0x8000000001", AGENT_IDENTITY_BIND},
    {"", {AGENT " 192.0.2.66"}, BY_EASE, HERE, OWN_ENGINE, AGENT_IDENTITY_BIND},
    /* also of an sFlow agent that sends from its own address */
    {"", {SFLOW " 192.0.2.66"}, BY_SFLOW, HERE, HERE, AGENT_IDENTITY_FOREIGN},
    {HERE, {SFLOW " 192.0.2.66"}, BY_SFLOW, HERE, HERE, AGENT_IDENTITY_FOREIGN},
    {HERE, {SFLOW " 192.0.2.66"}, BY_SFLOW, HERE, STRANGER, AGENT_IDENTITY_BIND},
    {STRANGER, {SFLOW " 192.0.2.66", SFLOW " 192.0.2.1"}, BY_SFLOW, HERE, HERE, AGENT_IDENTITY_BIND},
    /* no rule for all replaces SNMPv3 by an address */
    {OWN_ENGINE, {"any 192.0.2.0/24"}, BY_EASE, STRANGER, NULL, AGENT_IDENTITY_FOREIGN},
    {OWN_ENGINE, {"any 192.0.2.0/24"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {"switch@" HERE, {"any 192.0.2.0/24"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {"switch@" HERE, {"any 192.0.2.0/24"}, BY_EASE, STRANGER, "switch@" STRANGER, AGENT_IDENTITY_BIND},
    {HERE, {"any 192.0.2.0/24"}, BY_EASE, STRANGER, "0x8000000001", AGENT_IDENTITY_BIND},
    {"", {AGENT " 0x8000000001", "any 192.0.2.0/24"}, BY_EASE, STRANGER, NULL, AGENT_IDENTITY_FOREIGN},
    {"", {AGENT " 0x8000000001", "any 192.0.2.0/24"}, BY_EASE, HERE, OWN_ENGINE, AGENT_IDENTITY_BIND},
    /* EASE in the name of an sFlow agent, and sFlow in that of an EASE agent, whatever proves or allows them */
    {"", {NULL}, EASE_AS_SFLOW, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {HERE, {NULL}, EASE_AS_SFLOW, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {HERE, {SFLOW " 192.0.2.1"}, EASE_AS_SFLOW, HERE, NULL, AGENT_IDENTITY_FOREIGN},
    {"", {NULL}, EASE_AS_SFLOW, HERE, "0x80001f8805" SFLOW, AGENT_IDENTITY_FOREIGN},
    {HERE, {NULL}, SFLOW_AS_EASE, HERE, HERE, AGENT_IDENTITY_FOREIGN},
    {HERE, {AGENT " 192.0.2.1"}, SFLOW_AS_EASE, HERE, HERE, AGENT_IDENTITY_FOREIGN},
    /* rules for another agent */
    {HERE, {"0102030405060709 192.0.2.66"}, BY_EASE, STRANGER, NULL, AGENT_IDENTITY_FOREIGN},
    {HERE, {"0102030405060709 192.0.2.66"}, BY_EASE, HERE, NULL, AGENT_IDENTITY_KNOWN},
};

START_TEST(each_source_is_judged)
{
	struct agent_source_rule rules[RULES_MAX];
	struct agent_source_rules all = {rules, 0};
	struct agent_identity identity = {.bound_us = 1};
	struct ease_record r = rig_record(EASE_PART_SAMPLE, 1);
	const char *reason;

	for (; all.n < RULES_MAX && cases[_i].rules[all.n]; all.n++)
		ck_assert_int_eq(
		    agent_source_parse(cases[_i].rules[all.n], &rules[all.n], &reason), 0);
	snprintf(identity.bound, sizeof(identity.bound), "%s", cases[_i].bound);
	if (cases[_i].by == BY_SFLOW || cases[_i].by == EASE_AS_SFLOW)
		rig_by_sflow(&r);
	r.loose_numbers = cases[_i].by == BY_SFLOW || cases[_i].by == SFLOW_AS_EASE;
	r.sender = cases[_i].sender;
	r.source = cases[_i].source;
	ck_assert_int_eq(agent_identity_judge(&identity, &all, &r), cases[_i].verdict);
}
END_TEST

START_TEST(rules_are_checked)
{
	static const char *const good[] = {AGENT " 192.0.2.7", "any 0.0.0.0/0", "any 2001:db8::/32",
	    "ABCDEF0123456789\t0x80001F88", "any switch 7@192.0.2.7"};
	static const char *const bad[] = {"", "192.0.2.7", "any", "any ", "some 192.0.2.7",
	    "01020304 192.0.2.7", AGENT "9 192.0.2.7", AGENT " 192.0.2.300", AGENT " 0x",
	    AGENT " 0x12g4", AGENT " switch@", AGENT " switch@here"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(!agent_source_check(good[i]), "%s: %s", good[i],
		    agent_source_check(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(agent_source_check(bad[i]), "%s", bad[i]);
}
END_TEST

/* ---- in the accounting ---- */

static void
tell(struct accounting_rig *f, struct ease_record r, const char *sender)
{
	r.sender = sender;
	r.received_us = f->clock.manual_wall_us;
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

static void
send_samples(struct accounting_rig *f, const char *sender, uint32_t boot, uint32_t from,
    uint32_t to)
{
	uint8_t header[BOOKS_HEADER];

	if (from == 1) /* the base of the totals */
		tell(f, rig_snapshot(boot, 0), sender);
	for (uint32_t i = from; i <= to; i++) {
		rig_header(i, header);
		tell(f, rig_sample(boot, i, header), sender);
		if (i % PER_SNAPSHOT == 0)
			tell(f, rig_snapshot(boot, i), sender);
	}
}

static void
wait_s(struct accounting_rig *f, uint64_t seconds)
{
	f->clock.manual_wall_us += seconds * 1000000;
	f->clock.manual_mono_us += seconds * 1000000;
}

static uint64_t
counter(const struct accounting_rig *f, enum accounting_stat_id which)
{
	return stat_get(accounting_stats(f->accounting), which);
}

static void
restart(struct accounting_rig *f)
{
	rig_flush(f);
	rig_close(f);
	rig_open(f);
}

/* All that the finding lists: boots that jump, numbers that jump, samples, counters and states. */
static void
attack(struct accounting_rig *f, const char *sender)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record state = rig_record(EASE_PART_STATE, 1);

	rig_header(1, header);
	state.state = (struct ease_state){.if_index = 3, .time_us = NOON_US, .name = "evil"};
	tell(f, rig_snapshot(0xffffffff, 1), sender);
	tell(f, rig_snapshot(0xfffffffe, 1), sender);
	tell(f, rig_sample(1, 0x7fffffff, header), sender);
	tell(f, rig_snapshot(1, 5000000), sender);
	tell(f, state, sender);
}
enum { ATTACK_RECORDS = 5 };

START_TEST(a_stranger_changes_nothing)
{
	const struct ease_event event = {.kind = 77, .has_agent_id = true,
	    .agent_id = {1, 2, 3, 4, 5, 6, 7, 8}, .boot = 1, .sender = STRANGER,
	    .received_us = NOON_US};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	send_samples(&f, HERE, 1, 1, 1000);
	attack(&f, STRANGER);
	ck_assert(!accounting_add_event(f.accounting, f.batch, &event));
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), ATTACK_RECORDS + 1);
	send_samples(&f, HERE, 1, 1001, 2000);
	restart(&f);
	attack(&f, STRANGER);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), ATTACK_RECORDS);
	send_samples(&f, HERE, 1, 2001, 3000);
	rig_flush(&f);
	rig_check_all(&f, 3000);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM port"), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM event"), 0);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent_source"
					  " WHERE source = '" HERE "'"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT records FROM agent_refused"
					  " WHERE source = '" STRANGER "' AND reason = 1"),
	    2 * ATTACK_RECORDS + 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(a_move_is_allowed_by_rule)
{
	struct agent_source_rule rule;
	struct agent_source_rules rules = {&rule, 1};
	struct accounting_rig f;
	const char *reason;

	rig_make(&f);
	rig_open(&f);
	send_samples(&f, HERE, 1, 1, 1000);
	send_samples(&f, STRANGER, 1, 1001, 1001);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 1);
	ck_assert_int_eq(agent_source_parse("any 192.0.2.0/24", &rule, &reason), 0);
	accounting_set_sources(f.accounting, &rules);
	send_samples(&f, STRANGER, 1, 1001, 2000);
	rules.n = 0;
	accounting_set_sources(f.accounting, &rules); /* the rule goes, the agent stays bound */
	send_samples(&f, HERE, 1, 2001, 2009);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 1 + 9);
	restart(&f);
	send_samples(&f, STRANGER, 1, 2001, 3000);
	rig_flush(&f);
	rig_check_all(&f, 3000);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent"
					  " WHERE address = '" STRANGER "'"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Of two sFlow agents whose addresses give one id only the first is that agent, as of an EASE agent and an sFlow agent. */
static const struct {
	bool sflow;		     /* who has the id */
	const char *sender, *source; /* who comes later */
	bool later_sflow;
} others[] = {
    {false, HERE, NULL, true}, /* from that address itself */
    {false, STRANGER, STRANGER, true},
    {true, HERE, NULL, false},
    {true, STRANGER, OWN_ENGINE, false},
    {true, STRANGER, STRANGER, true}, /* a collision */
};

START_TEST(what_sflow_claims_meets_no_other)
{
	struct accounting_rig f;
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 20; i++) {
		rig_header(i, header);
		r = rig_sample(1, i, header);
		if (others[_i].sflow)
			rig_by_sflow(&r);
		tell(&f, r, HERE);
		r.source = others[_i].source;
		r.loose_numbers = others[_i].later_sflow;
		r.boot = 1000 + i;
		tell(&f, r, others[_i].sender);
		if (i == 10)
			restart(&f);
	}
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_SAMPLES), 10);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 10);
	wait_s(&f, 2 * SILENT_S); /* what another sends is not expected of it, also where it is silent */
	tell(&f, r, others[_i].sender);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM account"), 20);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent WHERE boot = 1 AND address = '" HERE "'"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT records FROM agent_refused"), 21);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent_source WHERE source = '" HERE "'"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Of an agent that was first heard just before a crash the journal has the id alone. */
START_TEST(an_sflow_agent_without_address_gets_it)
{
	struct accounting_rig f;
	struct ease_record r = rig_snapshot(1, 1);

	rig_make(&f);
	rig_open(&f);
	rig_close(&f);
	rig_sql(&f, "INSERT INTO agent VALUES(1, x'" SFLOW "', 1, '', 1, 2, 3, 0)");
	rig_open(&f);
	rig_by_sflow(&r);
	tell(&f, r, HERE);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 0);
	tell(&f, r, STRANGER);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 1);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent WHERE address = '" HERE "'"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* Nobody takes the id of an sFlow agent, or of a sender of events, before it is heard itself. */
START_TEST(no_ease_agent_has_an_id_of_the_collector)
{
	struct ease_event event = {.kind = 77, .has_agent_id = true, .boot = 1, .sender = STRANGER,
	    .received_us = NOON_US};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	for (uint8_t kind = 3; kind <= 6; kind++) {
		struct ease_record r = rig_snapshot(1, 1);

		memcpy(r.agent_id, (const uint8_t[]){0, kind}, 2);
		tell(&f, r, STRANGER);
		memcpy(event.agent_id, r.agent_id, sizeof(event.agent_id));
		ck_assert(!accounting_add_event(f.accounting, f.batch, &event));
	}
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 8);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent"), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* A standard notification is of the agent that sends from its address, whoever states that address beside it; and not of
 * one that only states it. */
START_TEST(events_are_of_whose_the_address_is)
{
	const struct ease_event event = {.kind = EASE_EVENT_LINK_DOWN, .if_index = 3, .sender = HERE,
	    .source_id = {0, 4, 0, 0, 192, 0, 2, 1}, .received_us = NOON_US};
	struct accounting_rig f;
	uint8_t header[BOOKS_HEADER];
	struct ease_record r;

	rig_make(&f);
	rig_open(&f);
	rig_header(1, header);
	if (_i == 0)
		tell(&f, rig_sample(1, 1, header), HERE);
	r = rig_sample(1, 1, header);
	rig_by_sflow(&r);
	r.source = _i == 2 ? HERE : STRANGER;
	tell(&f, r, HERE);
	ck_assert(accounting_add_event(f.accounting, f.batch, &event));
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, _i == 0 ? "SELECT count(*) FROM event JOIN agent a ON a.id = agent WHERE"
						    " hex(agent_id) = '" AGENT "'"
		: _i == 1 ? "SELECT count(*) FROM event JOIN agent a ON a.id = agent WHERE hex(agent_id) = '00040000C0000201'"
			  : "SELECT count(*) FROM event JOIN agent a ON a.id = agent WHERE hex(agent_id) = '" SFLOW "'"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

static void
bind_as_stored(struct accounting_rig *f)
{
	struct store_agent_source *sources;
	size_t n;

	ck_assert_int_eq(
	    agent_sources_read(f->path, &sources, &n, f->error, sizeof(f->error)), 0);
	accounting_bind_sources(f->accounting, sources, n);
	free(sources);
}

START_TEST(a_move_is_allowed_by_hand)
{
	static const uint8_t agent_id[EASE_AGENT_ID_LEN] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	send_samples(&f, HERE, 1, 1, 1000);
	rig_flush(&f);
	bind_as_stored(&f); /* SIGHUP changes nothing by itself */
	send_samples(&f, STRANGER, 1, 1001, 1009);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 9);
	ck_assert_int_eq(agent_sources_forget(f.path, agent_id, f.error, sizeof(f.error)), 0);
	ck_assert_int_lt(agent_sources_forget(f.path, agent_id, f.error, sizeof(f.error)), 0);
	bind_as_stored(&f);
	send_samples(&f, STRANGER, 1, 1001, 3000);
	send_samples(&f, HERE, 1, 3001, 3009);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), 18);
	rig_flush(&f);
	rig_check_all(&f, 3000);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- an attacker who is heard first ---- */

static void
tell_from(struct accounting_rig *f, struct ease_record r, const char *sender, const char *source, bool sflow)
{
	r.sender = sender;
	r.source = source;
	if (sflow)
		rig_by_sflow(&r);
	r.received_us = f->clock.manual_wall_us;
	accounting_add_records(f->accounting, f->batch, &r, 1);
}

/* How the switch itself is known, and what agent_sources has. */
static const struct {
	const char *source, *rule;
	bool sflow, wins;
} real[] = {
    {OWN_ENGINE, NULL, false, true}, /* the engine ID that has the agent's id in it */
    {HERE, NULL, true, false},	     /* sFlow from the agent's own address: it is another agent, by its sender (sflow_input.c) */
    {NULL, AGENT " " HERE, false, true}, /* as the refusal tells to add */
    {NULL, NULL, false, false},	     /* an address is as good as another: both are told */
};

/* Its boot is the highest that there is; the switch's counts all the same once that is silent. */
START_TEST(who_was_heard_first_gives_way_to_who_proves_it)
{
	enum { SENT_S = 200, UNTIL_FOLLOWED_S = 62 };
	struct agent_source_rule rule;
	struct agent_source_rules rules = {&rule, 1};
	struct accounting_rig f;
	const char *reason;
	uint8_t header[BOOKS_HEADER];
	uint64_t used;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 10; i++) {
		rig_header(i, header);
		tell_from(&f, rig_sample(0xffffffff, i, header), real[_i].sflow ? HERE : STRANGER, STRANGER,
		    real[_i].sflow);
	}
	used = counter(&f, ACCOUNTING_STAT_SAMPLES);
	ck_assert_uint_eq(used, 10);
	if (real[_i].rule) {
		ck_assert_int_eq(agent_source_parse(real[_i].rule, &rule, &reason), 0);
		accounting_set_sources(f.accounting, &rules);
	}
	for (uint32_t i = 1; i <= SENT_S; i++) {
		wait_s(&f, 1);
		rig_header(i, header);
		tell_from(&f, rig_sample(4, i, header), HERE, real[_i].source, real[_i].sflow);
		tell_from(&f, rig_snapshot(0xffffffff, i), real[_i].sflow ? HERE : STRANGER, STRANGER,
		    real[_i].sflow);
	}
	used = counter(&f, ACCOUNTING_STAT_SAMPLES) - used;
	if (real[_i].wins)
		ck_assert_uint_ge(used, SENT_S - UNTIL_FOLLOWED_S);
	else
		ck_assert_uint_eq(used, 0);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_FOREIGN_SOURCE), SENT_S);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, real[_i].wins
		? "SELECT count(*) FROM agent_refused WHERE source = '" STRANGER "'"
		: "SELECT count(*) FROM agent_refused JOIN agent_source USING(agent) WHERE agent_refused.source = '"
		  HERE "' AND agent_source.source = '" STRANGER "'"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* An agent that moved without leave: while it is refused and nothing else comes of it, its samples
 * are expected, also those of the first minute; so the hour is not complete. What a stranger sends
 * beside the agent itself is not expected. */
START_TEST(who_moved_is_not_complete)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	for (uint32_t i = 1; i <= 1000; i++) { /* both speak */
		send_samples(&f, HERE, 1, i, i);
		send_samples(&f, STRANGER, 1, 100000 + i, 100000 + i);
		wait_s(&f, 1);
	}
	rig_flush(&f);
	rig_check_all(&f, 1000);
	for (uint32_t i = 1001; i <= 1000 + 2 * SILENT_S; i++) {
		send_samples(&f, STRANGER, 1, i, i);
		wait_s(&f, 1);
	}
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"),
	    1000 + 2 * SILENT_S);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM window_port"), 1000);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* ---- boots and numbers that jump, from the right source ---- */

/* One sample each second, with its counters every tenth. */
static void
send_slowly(struct accounting_rig *f, uint32_t boot, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++) {
		wait_s(f, 1);
		send_samples(f, HERE, boot, i, i);
	}
}

START_TEST(boots_that_jump_are_not_believed)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	send_slowly(&f, 1, 1, 100);
	tell(&f, rig_snapshot(0xffffffff, 1), HERE);
	tell(&f, rig_snapshot(0xfffffffe, 1), HERE);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_OLD_BOOT), 2);
	send_slowly(&f, 1, 101, 200);
	restart(&f);
	send_slowly(&f, 1, 201, 300);
	rig_flush(&f);
	rig_check_all(&f, 300);
	ck_assert_double_eq(rig_query(&f, "SELECT count(*) FROM agent_refused"
					  " WHERE records = 2 AND reason = 2"), 1);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* How the machine goes on: with an earlier boot, with one far ahead, or with the same boot and
 * earlier numbers. In each case it says so within a minute, and what comes from then on counts. */
static const struct {
	uint32_t boot;
	uint32_t refused_most; /* samples until then */
} restored[] = {{5, 60}, {5000, 60}, {0xffffffff, 60}, {9, 3}};

START_TEST(a_restored_machine_is_followed_within_a_minute)
{
	const uint32_t boot = restored[_i].boot;
	struct accounting_rig f;
	uint8_t header[BOOKS_HEADER];
	uint32_t taken = 0;
	uint64_t used;

	rig_make(&f);
	rig_open(&f);
	send_slowly(&f, 9, 1, 300);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_SAMPLES), 300);
	for (uint32_t i = 1; i <= 200; i++) { /* its clock goes on, its numbers begin again */
		struct ease_record r;

		wait_s(&f, 1);
		rig_header(i, header);
		r = rig_sample(boot, i, header);
		r.sample.time_us = NOON_US + (300 + i) * 1000000ull;
		used = counter(&f, ACCOUNTING_STAT_SAMPLES);
		tell(&f, r, HERE);
		if (counter(&f, ACCOUNTING_STAT_SAMPLES) > used && taken++ == 0)
			ck_assert_uint_le(i, restored[_i].refused_most + 1);
		if (i == 100) /* what was learned is kept */
			restart(&f);
	}
	ck_assert_uint_ge(taken, 200 - restored[_i].refused_most);
	rig_flush(&f);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT count(*) FROM event WHERE kind = 4001 AND boot = 10"), 1);
	ck_assert_double_eq(rig_query(&f, "SELECT boot FROM agent"), 10);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM account"), 300 + taken);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(received) FROM window_port"), 300 + taken);
	ck_assert_double_eq(
	    rig_query(&f, "SELECT expected - received FROM account WHERE boot = 10"), 200 - taken);
	if (boot != 9) /* its refused samples were expected */
		ck_assert_double_eq(
		    rig_query(&f, "SELECT sum(expected) FROM window_port"), 500);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

START_TEST(a_usual_restart_is_followed_at_once)
{
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	send_slowly(&f, 1, 1, 100);
	send_samples(&f, HERE, 2, 101, 200);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_SAMPLES), 200);
	send_samples(&f, HERE, 1, 101, 101); /* was in transit */
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_SAMPLES), 201);
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_BOOTS_FOLLOWED), 0);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

/* One number of the present boot, 2^31 - 1 ahead: it is not used, and nothing is lost. */
START_TEST(one_number_far_ahead_changes_nothing)
{
	uint8_t header[BOOKS_HEADER];
	struct ease_record counters, sample;
	struct accounting_rig f;

	rig_make(&f);
	rig_open(&f);
	send_samples(&f, HERE, 1, 1, 1000);
	for (int i = 0; i < 3; i++) { /* each time the same */
		rig_header(1, header);
		sample = rig_sample(1, 1000, header);
		sample.sample.sequence += 0x7fffffff - 300;
		tell(&f, sample, HERE);
		send_samples(&f, HERE, 1, 1001 + 100 * (uint32_t)i, 1100 + 100 * (uint32_t)i);
		counters = rig_snapshot(1, 1100 + 100 * (uint32_t)i);
		counters.snapshot.time_us++;
		counters.snapshot.last_sequence = 5000000;
		tell(&f, counters, HERE);
	}
	ck_assert_uint_eq(counter(&f, ACCOUNTING_STAT_JUMPED), 3);
	send_samples(&f, HERE, 1, 1301, 2000);
	rig_flush(&f);
	ck_assert_double_eq(rig_query(&f, "SELECT expected FROM account"), 2000);
	ck_assert_double_eq(rig_query(&f, "SELECT received FROM account"), 2000);
	ck_assert_double_eq(rig_query(&f, "SELECT sum(expected) FROM window_port"), 2000);
	rig_close(&f);
	rig_remove(&f);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("identity");
	TCase *tc = tcase_create("identity");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, each_source_is_judged, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, rules_are_checked);
	tcase_add_test(tc, a_stranger_changes_nothing);
	tcase_add_loop_test(tc, what_sflow_claims_meets_no_other, 0, sizeof(others) / sizeof(others[0]));
	tcase_add_test(tc, an_sflow_agent_without_address_gets_it);
	tcase_add_test(tc, no_ease_agent_has_an_id_of_the_collector);
	tcase_add_loop_test(tc, events_are_of_whose_the_address_is, 0, 3);
	tcase_add_test(tc, a_move_is_allowed_by_rule);
	tcase_add_test(tc, a_move_is_allowed_by_hand);
	tcase_add_test(tc, who_moved_is_not_complete);
	tcase_add_loop_test(tc, who_was_heard_first_gives_way_to_who_proves_it, 0,
	    sizeof(real) / sizeof(real[0]));
	tcase_add_test(tc, boots_that_jump_are_not_believed);
	tcase_add_loop_test(tc, a_restored_machine_is_followed_within_a_minute, 0,
	    sizeof(restored) / sizeof(restored[0]));
	tcase_add_test(tc, a_usual_restart_is_followed_at_once);
	tcase_add_test(tc, one_number_far_ahead_changes_nothing);
	return suite_run(suite);
}
