/*
 * Alarms as a whole: the words of rules, and rules over ports whose frames are sampled by the agent's own
 * generator on a stepped clock: what is raised, once, in which order, what is not, and when it is over.
 */
#include "agent/sampling/skip.h"
#include "collector/alarm/alarms.h"
#include "tests/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PORTS = 8, TOLD_MAX = 64 };

/* ---- rules ---- */

START_TEST(rules_are_read)
{
	static const struct {
		const char *text;
		enum alarm_kind kind;
		enum alarm_unit unit;
		double limit, burst_s;
		bool of_all;
	} good[] = {
	    {"talker above 10000 packets/s of each port", ALARM_TALKER, ALARM_PACKETS, 10000, 1, false},
	    {"talker above 10k frame/s of each port", ALARM_TALKER, ALARM_PACKETS, 10000, 1, false},
	    {"talker above 2 Mbit/s of each port", ALARM_TALKER, ALARM_BITS, 2e6, 1, false},
	    {"destination above 200 Mb/s of all ports burst 10s", ALARM_DESTINATION, ALARM_BITS, 2e8, 10, true},
	    {"connections above 500/s of each port", ALARM_CONNECTIONS, ALARM_PACKETS, 500, 1, false},
	    {"pair above 20% of each port burst 0.1s", ALARM_PAIR, ALARM_SHARE, 0.2, 0.1, false},
	    {" service  above 10k packets/s of all ports ", ALARM_SERVICE, ALARM_PACKETS, 10000, 1, true},
	    {"protocol above 1.5Gb/s of each port", ALARM_PROTOCOL, ALARM_BITS, 1.5e9, 1, false},
	    {"port above 90 % of each port", ALARM_PORT, ALARM_SHARE, 0.9, 1, false},
	    {"talker above 5 pps of all ports in 10.0.0.0/8,2001:db8::/32 , 192.0.2.7 except 10.1.0.0/16, 10.2.0.1 burst 2s",
		ALARM_TALKER, ALARM_PACKETS, 5, 2, true},
	    {"pair above 5 b/s of each port except ::/0", ALARM_PAIR, ALARM_BITS, 5, 1, false},
	};
	static const char *const bad[] = {"", "talkers above 1 packets/s of each port", "talker over 5 packets/s of each port",
	    "talker above packets/s of each port", "talker above 0 packets/s of each port", "talker above -5 b/s of each port",
	    "talker above nan b/s of each port", "talker above 5 frames of each port", "talker above 101% of each port",
	    "talker above 5 packets/s", "talker above 5 packets/s of every port", "talker above 5% of all ports",
	    "port above 5 b/s of all ports", "talker above 5 b/s of each port burst", "talker above 5 b/s of each port burst 0s",
	    "talker above 5 b/s of each port burst 61s", "talker above 5 b/s of each port burst 5",
	    "talker above 5 b/s of each port now", "talker above 1e16 b/s of each port",
	    "talker above 5 b/s of each port in", "talker above 5 b/s of each port in 10.0.0.0/8,", "talker above 5 b/s of each port in 10.0.0.1/8",
	    "talker above 5 b/s of each port in 10.0.0.0/33", "talker above 5 b/s of each port in host.example",
	    "talker above 5 b/s of each port except 10.0.0.0/8 in 10.0.0.0/16", "talker above 5 b/s of each port burst 1s in 10.0.0.0/8",
	    "port above 5 b/s of each port in 10.0.0.0/8", "protocol above 5 b/s of each port except 10.0.0.0/8",
	    "talker above 5 b/s of each port in 10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9",
	    "talker above 5 b/s of each port in 1:2:3:4:5:6:7:8:1:2:3:4:5:6:7:8:1:2:3:4:5:6:7:8:1:2:3:4:5:6:7:8:1:2:3:4:5:6:7:8"};
	char long_rule[ALARM_RULE_TEXT + 1] = "talker above 10000 pps of each port";
	struct alarm_rule rule;
	const char *reason;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(alarm_rule_parse(good[i].text, &rule, &reason) == 0, "%s: %s", good[i].text, reason);
		ck_assert_int_eq(rule.kind, good[i].kind);
		ck_assert_int_eq(rule.unit, good[i].unit);
		ck_assert_double_eq_tol(rule.limit, good[i].limit, good[i].limit * 1e-12);
		ck_assert_double_eq(rule.burst_s, good[i].burst_s);
		ck_assert(rule.of_all_ports == good[i].of_all);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(alarm_rule_check(bad[i]) != NULL, "\"%s\" was taken", bad[i]);
	memset(long_rule + strlen(long_rule), ' ', ALARM_RULE_TEXT - strlen(long_rule));
	ck_assert_ptr_nonnull(alarm_rule_check(long_rule));
	long_rule[ALARM_RULE_TEXT - 1] = '\0';
	ck_assert_ptr_null(alarm_rule_check(long_rule));
}
END_TEST

/* ---- a switch ---- */

struct told_of {
	bool is_over, stands;
	uint32_t if_index;
	char key[ALARM_KEY_TEXT], rule[ALARM_RULE_TEXT];
};

static struct {
	struct alarms *alarms;
	struct skip_stream stream;
	struct told_of told[TOLD_MAX];
	size_t n_told;
	uint64_t mono_us, wall_us;
	uint64_t pool[PORTS];
	uint32_t to_go[PORTS]; /* frames before the next sample */
	bool agent_away;
	int ahead_ms; /* the second port is of another agent, whose clock is so much ahead; 0: it is not */
} rig;

static void
tell(void *arg, const struct alarm_told *told)
{
	struct told_of *t = &rig.told[rig.n_told++];

	(void)arg;
	ck_assert_uint_le(rig.n_told, TOLD_MAX);
	t->is_over = told->news == ALARM_IS_OVER;
	t->stands = told->news == ALARM_STANDS;
	t->if_index = told->if_index;
	snprintf(t->key, sizeof(t->key), "%s", told->key);
	snprintf(t->rule, sizeof(t->rule), "%s", told->rule->text);
}

static void
use_rules(const char *first, const char *second)
{
	struct alarm_rule rules[2];
	const char *reason;

	ck_assert_int_eq(alarm_rule_parse(first, &rules[0], &reason), 0);
	ck_assert(!second || alarm_rule_parse(second, &rules[1], &reason) == 0);
	ck_assert_int_eq(alarms_set_rules(rig.alarms, rules, second ? 2 : 1, rig.mono_us), 0);
}

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	skip_stream_seed(&rig.stream, 20261123);
	rig.mono_us = 5000000;
	rig.wall_us = 1800000000000000ull;
	ck_assert_int_eq(alarms_new(&rig.alarms, PORTS, 2000000, 42, tell, NULL), 0);
}

static void
teardown(void)
{
	alarms_free(rig.alarms);
}

/* Frames of one second from a host to another at a port. */
struct flow {
	uint32_t place;
	uint8_t src, dst;
	uint16_t dst_port;
	bool is_syn;
	double pkts;
	uint32_t octets, skip;
};

static void
frame_of(const struct flow *f, struct frame_keys *keys)
{
	*keys = (struct frame_keys){.has_macs = true, .has_ethertype = true, .ethertype = 0x0800, .ip_version = 4,
	    .src_ip = {10, 0, 0, f->src}, .dst_ip = {10, 0, 1, f->dst}, .has_ip_proto = true, .ip_proto = 6,
	    .has_ports = true, .src_port = 50000, .dst_port = f->dst_port, .is_syn = f->is_syn};
}

static void
pass_frame(const struct flow *f, uint64_t missing)
{
	int ahead_ms = f->place == 1 ? rig.ahead_ms : 0;
	struct ease_sample sample = {.time_us = rig.wall_us + (uint64_t)(ahead_ms * INT64_C(1000)), .if_index = f->place + 1,
	    .direction = EASE_IN, .mean_skip = f->skip, .pool_pkts = ++rig.pool[f->place], .frame_octets = f->octets};
	struct frame_keys keys;
	bool partial;

	if (rig.to_go[f->place]-- > 0)
		return;
	rig.to_go[f->place] = skip_draw(&rig.stream, SAMPLING_GEOMETRIC, f->skip, UINT32_MAX, &partial);
	frame_of(f, &keys);
	alarms_sample(rig.alarms, &(struct watched_sample){&sample, &keys, ahead_ms ? 2 : 1, f->place, 1000000000, true, true, missing, rig.mono_us});
}

/* Lets so many seconds pass; flows send evenly, side by side. */
static void
pass(int seconds, const struct flow *flows, size_t n)
{
	for (int i = 0; i < seconds; i++) {
		double sent[4] = {0};

		alarms_tick(rig.alarms, rig.mono_us);
		for (int ms = 0; ms < 1000; ms++, rig.wall_us += 1000)
			for (size_t j = 0; j < n; j++)
				for (; sent[j] < flows[j].pkts * (ms + 1) / 1000; sent[j]++)
					pass_frame(&flows[j], 0);
		for (uint32_t place = 0; place < PORTS && !rig.agent_away; place++)
			alarms_heard(rig.alarms, 1, place + 1, place, rig.mono_us);
		rig.mono_us += 1000000;
	}
	alarms_tick(rig.alarms, rig.mono_us);
}

static void
expect_told(size_t i, bool is_over, uint32_t if_index, const char *key)
{
	ck_assert_uint_gt(rig.n_told, i);
	ck_assert(rig.told[i].is_over == is_over);
	ck_assert_uint_eq(rig.told[i].if_index, if_index);
	ck_assert_str_eq(rig.told[i].key, key);
}

static uint64_t
stat(enum alarm_stat_id which)
{
	return stat_get(alarms_stats(rig.alarms), which);
}

static const struct flow calm = {2, 7, 1, 443, false, 400, 500, 50}, flood = {2, 66, 2, 443, false, 20000, 64, 50};

START_TEST(a_flood_is_raised_once_and_cleared_once)
{
	const struct flow both[] = {calm, flood};

	use_rules("talker above 2000 packets/s of each port", "destination above 2000 packets/s of all ports");
	pass(20, both, 1);
	ck_assert_uint_eq(rig.n_told, 0);
	pass(5, both, 2);
	ck_assert_uint_eq(rig.n_told, 2);
	expect_told(0, false, 0, "10.0.1.2"); /* first: frames that pass before the gate opens are not tested */
	expect_told(1, false, 3, "10.0.0.66");
	ck_assert_str_eq(rig.told[0].rule, "destination above 2000 packets/s of all ports");
	pass(60, both, 2);
	ck_assert_uint_eq(rig.n_told, 2);
	ck_assert_uint_eq(alarms_standing(rig.alarms), 2);
	pass(90, both, 1); /* silence of the key, and a minute in which it may come again */
	ck_assert_uint_eq(rig.n_told, 4);
	ck_assert(rig.told[2].is_over && rig.told[3].is_over);
	ck_assert_uint_eq(alarms_standing(rig.alarms), 0);
	ck_assert_uint_eq(stat(ALARM_STAT_RAISED), 2);
	ck_assert_uint_eq(stat(ALARM_STAT_CLEARED), 2);
}
END_TEST

/* A quarter of the rate is below half of it, and is told by samples, not by silence. */
START_TEST(what_goes_on_at_a_quarter_of_the_rate_is_over)
{
	struct flow f = flood;

	use_rules("talker above 2000 packets/s of each port", NULL);
	pass(5, &f, 1);
	expect_told(0, false, 3, "10.0.0.66");
	f.pkts = 500;
	pass(200, &f, 1);
	ck_assert_uint_eq(rig.n_told, 2);
	expect_told(1, true, 3, "10.0.0.66");
}
END_TEST

START_TEST(what_comes_again_within_a_minute_is_the_same_alarm)
{
	use_rules("talker above 2000 packets/s of each port", NULL);
	pass(12, &flood, 1);
	pass(30, &calm, 1);
	pass(5, &flood, 1);
	pass(10, &calm, 1);
	ck_assert_uint_eq(rig.n_told, 1);
	ck_assert_uint_eq(stat(ALARM_STAT_RAISED_AGAIN), 1);
	ck_assert_uint_eq(alarms_standing(rig.alarms), 1);
}
END_TEST

START_TEST(an_agent_that_is_away_ends_no_alarm)
{
	use_rules("talker above 2000 packets/s of each port", NULL);
	pass(15, &flood, 1);
	rig.agent_away = true;
	pass(600, &calm, 0);
	ck_assert_uint_eq(rig.n_told, 1);
	rig.agent_away = false;
	pass(90, &calm, 0); /* its counters come again, and the talker is silent */
	ck_assert_uint_eq(rig.n_told, 2);
	expect_told(1, true, 3, "10.0.0.66");
}
END_TEST

/* The port itself conforms: nothing of it is tested; and where it does not, the others' samples are. */
/* So that who reads events of a day knows that it stands. */
START_TEST(what_stands_is_told_each_day)
{
	use_rules("talker above 5000 packets/s of each port", NULL);
	pass(2, &flood, 1);
	ck_assert_uint_eq(rig.n_told, 1);
	rig.agent_away = true;
	for (int hour = 0; hour < 49; hour++, rig.mono_us += 3600000000ull)
		alarms_tick(rig.alarms, rig.mono_us);
	ck_assert_uint_eq(rig.n_told, 3);
	ck_assert(rig.told[1].stands && rig.told[2].stands);
	ck_assert_uint_eq(stat(ALARM_STAT_RAISED), 1);
}
END_TEST

START_TEST(a_quiet_port_is_not_tested)
{
	use_rules("talker above 2000 packets/s of each port", NULL);
	pass(60, &calm, 1);
	ck_assert_uint_le(stat(ALARM_STAT_TESTED), 1); /* before the first pool there is none to compare with */
	ck_assert_uint_gt(stat(ALARM_STAT_GATED), 60 * 400 / 50 / 2);
	pass(5, &flood, 1);
	ck_assert_uint_gt(stat(ALARM_STAT_TESTED), 100);
	ck_assert_uint_eq(rig.n_told, 1);
}
END_TEST

/* Traffic that is just what the bucket allows, on all ports, for long: the rate is stated as 1 a month. */
START_TEST(what_conforms_is_not_told)
{
	const struct flow flows[] = {{0, 1, 1, 80, false, 2000, 64, 20}, {1, 2, 1, 80, false, 1990, 1518, 100},
	    {2, 3, 1, 80, true, 1900, 64, 10}};

	use_rules("talker above 2000 packets/s of each port", "connections above 2000/s of each port");
	pass(suite_effort(60) / (suite_effort(60) > 60 ? 5 : 1) + 60, flows, 3);
	ck_assert_uint_eq(rig.n_told, 0);
	ck_assert_double_gt(alarms_risk(rig.alarms), 0);
	ck_assert_double_le(alarms_risk(rig.alarms), ALARM_FALSE_A_MONTH);
}
END_TEST

START_TEST(kinds_and_units)
{
	static const struct {
		const char *rule;
		struct flow flow;
		const char *key; /* NULL: no alarm */
	} cases[] = {
	    {"pair above 2000 packets/s of each port", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.0.1 to 10.0.1.2"},
	    {"service above 2000 packets/s of each port", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.1.2 tcp/443"},
	    {"connections above 500/s of all ports", {0, 1, 2, 443, true, 9000, 64, 50}, "10.0.1.2 tcp/443"},
	    {"connections above 500/s of all ports", {0, 1, 2, 443, false, 9000, 64, 50}, NULL},
	    {"protocol above 2000 packets/s of each port", {0, 1, 2, 443, false, 9000, 64, 50}, "IP protocol 6"},
	    {"port above 2000 packets/s of each port", {0, 1, 2, 443, false, 9000, 64, 50}, ""},
	    {"talker above 20 Mb/s of each port", {0, 1, 2, 443, false, 9000, 1518, 50}, "10.0.0.1"},
	    {"talker above 20 Mb/s of each port", {0, 1, 2, 443, false, 9000, 64, 50}, NULL}, /* 4.6 Mb/s */
	    {"talker above 5% of each port", {0, 1, 2, 443, false, 9000, 1518, 50}, "10.0.0.1"}, /* 11 % of 1 Gb/s */
	    {"talker above 20% of each port", {0, 1, 2, 443, false, 9000, 1518, 50}, NULL},
	    /* of whom a rule is: the flow's addresses are 10.0.0.1 and 10.0.1.2 */
	    {"talker above 2000 pps of each port in 10.0.0.0/24", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.0.1"},
	    {"talker above 2000 pps of each port in 10.0.1.0/24, ::/0", {0, 1, 2, 443, false, 9000, 64, 50}, NULL},
	    {"destination above 2000 pps of each port in 10.0.1.0/24", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.1.2"},
	    {"destination above 2000 pps of each port in 10.0.0.0/24", {0, 1, 2, 443, false, 9000, 64, 50}, NULL},
	    {"destination above 2000 pps of each port except 10.0.0.0/24", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.1.2"},
	    {"destination above 2000 pps of each port in 10.0.0.0/8 except 10.0.1.2", {0, 1, 2, 443, false, 9000, 64, 50}, NULL},
	    {"pair above 2000 pps of each port in 10.0.1.0/24", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.0.1 to 10.0.1.2"},
	    {"pair above 2000 pps of each port in 10.0.1.0/24 except 10.0.0.1", {0, 1, 2, 443, false, 9000, 64, 50}, NULL},
	    {"service above 2000 pps of all ports in 10.0.1.2", {0, 1, 2, 443, false, 9000, 64, 50}, "10.0.1.2 tcp/443"},
	    {"connections above 500/s of all ports except 10.0.1.2", {0, 1, 2, 443, true, 9000, 64, 50}, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		teardown();
		setup();
		use_rules(cases[i].rule, NULL);
		pass(10, &cases[i].flow, 1);
		ck_assert_msg(rig.n_told == (cases[i].key ? 1 : 0), "%s: %zu alarms", cases[i].rule, rig.n_told);
		if (cases[i].key)
			ck_assert_str_eq(rig.told[0].key, cases[i].key);
	}
}
END_TEST

/* Rules that go take their alarms with them, the others' stay. */
START_TEST(rules_come_and_go)
{
	use_rules("talker above 2000 packets/s of each port", "destination above 2000 packets/s of each port");
	pass(5, &flood, 1);
	ck_assert_uint_eq(rig.n_told, 2);
	use_rules("talker above 2000 packets/s of each port", "port above 90% of each port");
	ck_assert_uint_eq(rig.n_told, 3);
	expect_told(2, true, 3, "10.0.1.2");
	pass(20, &flood, 1);
	ck_assert_uint_eq(rig.n_told, 3);
	ck_assert_uint_eq(alarms_standing(rig.alarms), 1);
	ck_assert_int_eq(alarms_set_rules(rig.alarms, NULL, 0, rig.mono_us), 0);
	ck_assert_uint_eq(alarms_standing(rig.alarms), 0);
	pass(5, &flood, 1);
	ck_assert_uint_eq(rig.n_told, 4);
}
END_TEST

/* A made-up source in each frame takes all places of runs that it can; the flood beside it is told all the same. */
START_TEST(invented_sources_cannot_hide_a_flood)
{
	struct flow spoofed = {0, 0, 9, 80, false, 0, 64, 2};

	use_rules("talker above 2000 packets/s of each port", NULL);
	for (int second = 0; second < 3; second++) {
		for (uint32_t i = 0; i < 200000; i++) {
			struct ease_sample sample = {.time_us = rig.wall_us, .if_index = 1, .direction = EASE_IN, .mean_skip = 2,
			    .pool_pkts = EASE_COUNT_UNKNOWN, .frame_octets = 64};
			struct frame_keys keys;

			frame_of(&spoofed, &keys);
			memcpy(keys.src_ip, &(uint32_t){second * 200000u + i + 1}, 4);
			alarms_sample(rig.alarms, &(struct watched_sample){&sample, &keys, 1, 0, 0, true, false, 0, rig.mono_us});
			if (i % 50 == 0)
				for (int k = 0; k < 4; k++)
					pass_frame(&flood, 0);
			rig.wall_us += i % 200 == 0; /* so near to each other that their runs are open at once */
		}
		rig.mono_us += 1000000;
		alarms_tick(rig.alarms, rig.mono_us);
	}
	ck_assert_uint_ge(stat(ALARM_STAT_RUNS_PUSHED), 1);
	ck_assert_uint_eq(rig.n_told, 1);
	expect_told(0, false, 3, "10.0.0.66");
}
END_TEST

static void
flood_of_host(uint32_t host, uint32_t place)
{
	for (int i = 0; i < 60; i++) {
		struct ease_sample sample = {.time_us = rig.wall_us, .if_index = place + 1, .direction = EASE_IN, .mean_skip = 10,
		    .pool_pkts = EASE_COUNT_UNKNOWN, .frame_octets = 64};
		struct frame_keys keys;

		frame_of(&flood, &keys);
		memcpy(keys.src_ip, &host, 4);
		alarms_sample(rig.alarms,
		    &(struct watched_sample){&sample, &keys, 1, place, 0, true, false, 0, rig.mono_us});
	}
}

/* Only so many stand, and a port that raises without end takes the room of no other. */
START_TEST(alarms_have_a_number_and_ports_a_share)
{
	use_rules("talker above 1 packets/s of each port burst 0.1s", NULL);
	for (uint32_t host = 1; host <= 2 * ALARM_STANDING; host++, rig.n_told = 0) {
		flood_of_host(host, host % (PORTS - 1));
		if (host % 100 == 0)
			alarms_tick(rig.alarms, rig.mono_us);
	}
	ck_assert_uint_gt(stat(ALARM_STAT_NO_ROOM), 100);
	ck_assert_uint_le(alarms_standing(rig.alarms), ALARM_STANDING * 3 / 4);
	flood_of_host(1, PORTS - 1);
	ck_assert_uint_eq(rig.n_told, 1);
	expect_told(0, false, PORTS, "1.0.0.0");
}
END_TEST

/* The same, one port behind the other: each would have the share of so many ports as there were before it. */
START_TEST(ports_that_raise_one_behind_the_other_leave_room)
{
	for (int each_second = 0; each_second < 2; each_second++) {
		teardown();
		setup();
		use_rules("talker above 1 packets/s of each port burst 0.1s", NULL);
		for (uint32_t place = 0; place < PORTS - 1; place++)
			for (uint32_t host = 1; host <= ALARM_STANDING; host++, rig.n_told = 0) {
				flood_of_host(host, place);
				if (each_second && host % 100 == 0)
					alarms_tick(rig.alarms, rig.mono_us);
			}
		flood_of_host(1, PORTS - 1);
		ck_assert_uint_eq(rig.n_told, 1);
		expect_told(0, false, PORTS, "1.0.0.0");
	}
}
END_TEST

/* The time that a flood of ten times the rate took to be told, in ms; 0: it was not, in 30 s. */
static unsigned
told_after_ms(bool beside_another)
{
	static const struct flow of_ten = {2, 66, 2, 443, false, 10000, 64, 10};
	struct frame_keys keys;
	unsigned ms = 0;

	teardown();
	setup();
	use_rules("talker above 1000 packets/s of all ports", NULL);
	for (; ms < 135000; ms++, rig.wall_us += 1000) {
		struct ease_sample other = {.time_us = rig.wall_us, .if_index = 1, .direction = EASE_IN,
		    .mean_skip = 1u << (ms % 10000 ? 31 : 3), .pool_pkts = EASE_COUNT_UNKNOWN, .frame_octets = 64};

		frame_of(&(struct flow){.src = 9}, &keys);
		if (beside_another && ms % 5000 == 0)
			alarms_sample(rig.alarms,
			    &(struct watched_sample){&other, &keys, 7, 0, 0, true, false, 0, rig.mono_us});
		for (int i = 0; ms >= 105000 && i < 10; i++)
			pass_frame(&of_ten, 0);
		if (ms >= 105000 && rig.n_told > 0 && strcmp(rig.told[rig.n_told - 1].key, "10.0.0.66") == 0)
			return ms - 105000;
		if (ms % 1000 == 999) {
			rig.mono_us += 1000000;
			alarms_tick(rig.alarms, rig.mono_us);
		}
	}
	return 0;
}

/* A sender's own skips, however large or small, are in nobody else's runs. */
START_TEST(skips_of_others_hide_no_flood)
{
	unsigned alone_ms = told_after_ms(false), beside_ms = told_after_ms(true);

	ck_assert_uint_gt(alone_ms, 0);
	ck_assert_uint_gt(beside_ms, 0);
	ck_assert_uint_le(beside_ms, alone_ms + 1000); /* what clocks may differ by: 6 s of the rate, nine times as fast */
}
END_TEST

/* Over all ports of switches whose clocks differ by what is believed, nothing is told of what conforms. */
START_TEST(clocks_that_differ_raise_nothing)
{
	static const struct {
		int ahead_ms;
		double pkts, other_pkts;
	} cases[] = {{1900, 8000, 1}, {-2000, 8000, 50}, {4000, 9000, 1}, {2000, 5000, 4900}, {-4000, 9800, 1}};
	const struct flow flows[] = {{0, 1, 1, 80, false, cases[_i].pkts, 64, 10},
	    {1, 1, 1, 80, false, cases[_i].other_pkts, 64, 1}};

	rig.ahead_ms = cases[_i].ahead_ms;
	use_rules("talker above 10000 packets/s of all ports burst 0.1s", NULL);
	pass(suite_is_slow() ? 100 : 600, flows, 2);
	ck_assert_uint_eq(rig.n_told, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("alarms");
	TCase *tests = tcase_create("alarms");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, rules_are_read);
	tcase_add_test(tests, a_flood_is_raised_once_and_cleared_once);
	tcase_add_test(tests, what_goes_on_at_a_quarter_of_the_rate_is_over);
	tcase_add_test(tests, what_comes_again_within_a_minute_is_the_same_alarm);
	tcase_add_test(tests, an_agent_that_is_away_ends_no_alarm);
	tcase_add_test(tests, what_stands_is_told_each_day);
	tcase_add_test(tests, a_quiet_port_is_not_tested);
	tcase_add_test(tests, what_conforms_is_not_told);
	tcase_add_test(tests, kinds_and_units);
	tcase_add_test(tests, rules_come_and_go);
	tcase_add_test(tests, invented_sources_cannot_hide_a_flood);
	tcase_add_test(tests, alarms_have_a_number_and_ports_a_share);
	tcase_add_test(tests, ports_that_raise_one_behind_the_other_leave_room);
	tcase_add_test(tests, skips_of_others_hide_no_flood);
	tcase_add_loop_test(tests, clocks_that_differ_raise_nothing, 0, 5);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
