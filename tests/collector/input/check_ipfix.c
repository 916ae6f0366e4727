/* IPFIX messages that are hostile, stale or of other things than samples; what makes send is in tests/collector/dialects. */
#include "collector/input/sflow_input.h"
#include "collector/input/ipfix.h"
#include "collector/input/sflow_state.h"
#include "common/buf.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

#define NOW_US	  1700000000000000ull
#define SENDER	  "192.0.2.7"
#define ATTACKER  "192.0.2.66"
#define ETHERNET  2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 0, 10, 8, 0
#define IP4	  0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2

enum { DOMAIN_ID = 9, TEMPLATE = 300, OPTIONS = 301, FLOWS = 302, SET_TEMPLATES = 2, SET_OPTIONS = 3, RATE = 500 };

static const uint8_t frame[64] = {ETHERNET, IP4};
static struct sflow_input *in;
static struct decode_result result;
static uint8_t octets[65535];
static struct wbuf w;
static size_t set_at;
static uint32_t export_s, sequence;
static uint64_t now_us;
static uint32_t known;

static uint32_t
known_boot(void *arg, const uint8_t *agent_id)
{
	(void)arg;
	(void)agent_id;
	return known;
}

static void
begin_input(void)
{
	const struct sflow_accounting accounting = {.known_boot = known_boot};

	ck_assert_int_eq(sflow_input_new(&in, 1, &accounting), 0);
	now_us = NOW_US;
	export_s = sequence = known = 0;
}

static void
end_input(void)
{
	sflow_input_free(in);
}

static uint64_t
count_of(enum sflow_stat_id which)
{
	return stat_get(sflow_input_stats(in), which);
}

static void
words(size_t n, const uint16_t *numbers)
{
	for (size_t i = 0; i < n; i++)
		wbuf_be16(&w, numbers[i]);
}
#define WORDS(...) words(sizeof((const uint16_t[]){__VA_ARGS__}) / 2, (const uint16_t[]){__VA_ARGS__})

static void
begin(uint32_t domain)
{
	w = wbuf_of(octets, sizeof(octets));
	WORDS(10, 0);
	wbuf_be32(&w, export_s);
	wbuf_be32(&w, sequence);
	wbuf_be32(&w, domain);
}

static void
begin_set(uint16_t id)
{
	set_at = w.len;
	WORDS(id, 0);
}

static void
set_length(size_t at, size_t n)
{
	octets[at + 2] = (uint8_t)(n >> 8);
	octets[at + 3] = (uint8_t)n;
}

static void
end_set(void)
{
	set_length(set_at, w.len - set_at);
}

static enum sflow_verdict
deliver_from(const char *sender)
{
	const struct decode_origin origin = {.sender = sender, .received_us = now_us};

	set_length(0, w.len);
	return sflow_input_take(in, octets, w.len, &origin, &result);
}

/* Ingress, frame size, the frame; and as options the rate of all. */
static void
put_template(uint16_t id)
{
	begin_set(SET_TEMPLATES);
	WORDS(id, 3, 10, 4, 312, 2, 315, 65535);
	end_set();
}

static void
put_rate(uint32_t rate)
{
	begin_set(SET_OPTIONS);
	WORDS(OPTIONS, 2, 1, 149, 4, 34, 4);
	end_set();
	begin_set(OPTIONS);
	wbuf_be32(&w, DOMAIN_ID);
	wbuf_be32(&w, rate);
	end_set();
}

static void
put_samples(int n)
{
	begin_set(TEMPLATE);
	for (; n > 0; n--) {
		wbuf_be32(&w, 5);
		wbuf_be16(&w, sizeof(frame));
		wbuf_u8(&w, sizeof(frame));
		wbuf_put(&w, frame, sizeof(frame));
	}
	end_set();
}

/* Templates and the rate, and then one message of n samples. */
static void
know_all(void)
{
	begin(DOMAIN_ID);
	put_template(TEMPLATE);
	put_rate(RATE);
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
	sequence++;
}

static void
take_samples(int n)
{
	begin(DOMAIN_ID);
	put_samples(n);
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
}

START_TEST(a_sample_is_as_sflow_would_say_it)
{
	const struct ease_sample *s = &result.records[1].sample;

	know_all();
	take_samples(2);
	ck_assert_uint_eq(result.n, 2);
	ck_assert_int_eq(result.records[1].kind, EASE_PART_SAMPLE);
	ck_assert_str_eq(result.records[1].sender, SENDER);
	ck_assert_uint_eq(s->if_index, 5);
	ck_assert_uint_eq(s->mean_skip, RATE);
	ck_assert_uint_eq(s->frame_octets, sizeof(frame));
	ck_assert_mem_eq(s->header, frame, sizeof(frame));
	ck_assert_uint_eq(s->sequence, result.records[0].sample.sequence + 1);
	ck_assert_uint_eq(s->pool_pkts, EASE_COUNT_UNKNOWN);
	ck_assert_uint_eq(count_of(SFLOW_STAT_ODD), 0);
}
END_TEST

/* Of missing records each counts; of those that come late none twice; after a restart none. */
START_TEST(numbers_tell_what_is_lost)
{
	uint32_t first;

	know_all();
	take_samples(2);
	first = result.records[0].sample.sequence;
	sequence += 2 + 6; /* three messages are missing */
	take_samples(2);
	ck_assert_uint_eq(result.records[0].sample.sequence, first + 8);
	ck_assert_uint_eq(count_of(SFLOW_STAT_DATAGRAMS_MISSING), 3);
	sequence -= 2;
	take_samples(2); /* one of them, late */
	ck_assert_uint_eq(result.records[0].sample.sequence, first + 6);
	ck_assert_uint_eq(count_of(SFLOW_STAT_DATAGRAMS_LATE), 1);
	sequence = 0;
	export_s += 5;
	take_samples(1);
	ck_assert_uint_eq(count_of(SFLOW_STAT_AGENT_RESTARTS), 1);
	ck_assert_uint_eq(result.records[0].sample.sequence, 1);
	ck_assert_uint_eq(count_of(SFLOW_STAT_ODD), 0);
}
END_TEST

/* A collector that restarts goes on with the boot that its store knows. */
START_TEST(a_domain_keeps_its_boot)
{
	known = 1600000000;
	know_all();
	take_samples(1);
	ck_assert_uint_eq(result.records[0].boot, known);
}
END_TEST

START_TEST(without_a_template_nothing_is_read)
{
	take_samples(3);
	ck_assert_uint_eq(result.n, 0);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_NO_TEMPLATE), 1);
	ck_assert_ptr_null(sflow_input_refusal(in));
	know_all();
	now_us += IPFIX_TEMPLATE_LASTS_US + 1000000;
	take_samples(3); /* it was not sent again for too long */
	ck_assert_uint_eq(result.n, 0);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_NO_TEMPLATE), 2);
	begin(DOMAIN_ID + 1); /* that of another domain is no help */
	put_samples(1);
	deliver_from(SENDER);
	begin(DOMAIN_ID); /* nor of another sender */
	put_samples(1);
	deliver_from(ATTACKER);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_NO_TEMPLATE), 4);
}
END_TEST

START_TEST(a_withdrawal_changes_nothing)
{
	know_all();
	begin(DOMAIN_ID);
	begin_set(SET_TEMPLATES);
	WORDS(TEMPLATE, 0, SET_TEMPLATES, 0);
	end_set();
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
	take_samples(1);
	ck_assert_uint_eq(result.n, 1);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_TEMPLATES_REFUSED), 0);
}
END_TEST

/* Flows are told of by name; where they come beside samples these count, and the flows' numbers are no losses. */
START_TEST(flows_are_refused_with_what_to_do)
{
	know_all();
	begin(DOMAIN_ID);
	begin_set(SET_TEMPLATES);
	WORDS(FLOWS, 4, 8, 4, 12, 4, 1, 8, 2, 8);
	end_set();
	begin_set(FLOWS);
	for (int i = 0; i < 2 * 24; i++)
		wbuf_u8(&w, 1);
	end_set();
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
	ck_assert_uint_eq(result.n, 0);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_FLOWS), 2);
	ck_assert_str_eq(sflow_input_refusal(in),
	    "IPFIX's flows, which are no samples; have the switch send packets' first octets (element 315), or sFlow version 5");
	sequence += 2;
	take_samples(1);
	ck_assert_ptr_null(sflow_input_refusal(in));
	ck_assert_uint_eq(result.n, 1);
	ck_assert_uint_eq(count_of(SFLOW_STAT_DATAGRAMS_MISSING), 0);
}
END_TEST

/* Juniper samples discarded packets in the same way, but not one in so many. */
START_TEST(exceptions_are_no_traffic)
{
	know_all();
	begin(DOMAIN_ID);
	begin_set(SET_TEMPLATES);
	WORDS(TEMPLATE, 2, 0x8000 | 137, 2, 0, 2636, 315, 65535);
	end_set();
	begin_set(TEMPLATE);
	for (uint16_t code = 0; code < 2; code++) {
		wbuf_be16(&w, (uint16_t)(2 << 10 | code));
		wbuf_u8(&w, sizeof(frame));
		wbuf_put(&w, frame, sizeof(frame));
	}
	end_set();
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_EXCEPTIONS), 1);
	ck_assert_uint_eq(result.n, 1);
}
END_TEST

START_TEST(without_a_rate_a_sample_is_refused)
{
	begin(DOMAIN_ID);
	put_template(TEMPLATE);
	put_rate(0);
	deliver_from(SENDER);
	sequence++;
	take_samples(2);
	ck_assert_uint_eq(count_of(SFLOW_STAT_NO_RATE), 2);
	ck_assert_uint_eq(count_of(SFLOW_STAT_SAMPLES), 0);
}
END_TEST

/* Rates of more samplers than a domain may have: those kept are not forgotten for them. */
START_TEST(samplers_without_end)
{
	begin(DOMAIN_ID);
	begin_set(SET_TEMPLATES);
	WORDS(TEMPLATE, 4, 302, 2, 10, 4, 312, 2, 315, 65535);
	end_set();
	begin_set(SET_OPTIONS);
	WORDS(OPTIONS, 2, 1, 302, 2, 34, 4);
	end_set();
	begin_set(OPTIONS);
	for (uint16_t i = 1; i <= 100; i++) {
		wbuf_be16(&w, i);
		wbuf_be32(&w, RATE + i);
	}
	end_set();
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_SAMPLERS_FULL), 100 - IPFIX_SAMPLERS_MAX);
	sequence += 100;
	begin(DOMAIN_ID);
	begin_set(TEMPLATE);
	wbuf_be16(&w, 3);
	wbuf_be32(&w, 5);
	wbuf_be16(&w, sizeof(frame));
	wbuf_u8(&w, sizeof(frame));
	wbuf_put(&w, frame, sizeof(frame));
	end_set();
	deliver_from(SENDER);
	ck_assert_uint_eq(result.n, 1);
	ck_assert_uint_eq(result.records[0].sample.mean_skip, RATE + 3);
}
END_TEST

/* Who fills the table finds the door closed, and others do not. */
START_TEST(templates_without_end_are_their_senders)
{
	know_all();
	for (uint32_t domain = 0; domain < 20; domain++) {
		begin(domain);
		for (uint16_t id = 256; id < 256 + 1000; id++)
			put_template(id);
		ck_assert_int_eq(deliver_from(ATTACKER), SFLOW_END);
	}
	ck_assert_uint_gt(count_of(SFLOW_STAT_IPFIX_TEMPLATES_FULL), 20 * 1000 - IPFIX_TEMPLATES_MAX);
	take_samples(1);
	ck_assert_uint_eq(result.n, 1);
	begin(DOMAIN_ID);
	put_template(TEMPLATE);
	deliver_from("192.0.2.8"); /* a newcomer has a place as well */
	begin(DOMAIN_ID);
	put_samples(1);
	deliver_from("192.0.2.8");
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_NO_TEMPLATE), 0);
}
END_TEST

START_TEST(what_ends_too_early_is_refused)
{
	static const uint16_t set_lengths[] = {0, 3, 5, 6, 40, 65535};

	know_all();
	for (size_t i = 0; i < sizeof(set_lengths) / sizeof(set_lengths[0]); i++) {
		begin(DOMAIN_ID);
		put_samples(1);
		w.len = set_at + 24;
		set_length(set_at, set_lengths[i]);
		deliver_from(SENDER);
		ck_assert_uint_eq(result.n, 0);
	}
	ck_assert_uint_eq(count_of(SFLOW_STAT_REFUSED_DATAGRAM), 6);
	begin(DOMAIN_ID); /* a frame that is longer than its set */
	put_samples(2);
	octets[set_at + 4 + 7 + sizeof(frame) + 6] = 200;
	ck_assert_int_eq(deliver_from(SENDER), SFLOW_END);
	ck_assert_uint_eq(result.n, 1);
	ck_assert_uint_eq(count_of(SFLOW_STAT_REFUSED_SAMPLE), 1);
	begin(DOMAIN_ID);
	begin_set(SET_TEMPLATES);
	WORDS(TEMPLATE + 1, 60);
	for (uint16_t i = 0; i < 60; i++)
		WORDS(i % 2 ? 10 : 315, 65535);
	WORDS(TEMPLATE + 2, 2, 10, 0, 14, 0, TEMPLATE + 3, 9, 10);
	end_set();
	deliver_from(SENDER);
	ck_assert_uint_eq(count_of(SFLOW_STAT_IPFIX_TEMPLATES_REFUSED), 3);
}
END_TEST

/* What it does not send can be asked for by SNMP, at the interface where its samples lie. */
START_TEST(its_interfaces_may_be_asked)
{
	struct polled_port polled = {.if_index = 5, .parts = POLLED_COUNTERS, .read_us = NOW_US + 1000000,
	    .in = {6400, 100, 0, 0, 0, 0}, .out = {0, 0, 0, 0, 0, 0}};
	struct polled_place place;
	uint32_t at = 0;

	know_all();
	take_samples(1);
	while (at < SFLOW_MAX_PORTS && !sflow_input_place(in, at, now_us, &place))
		at++;
	ck_assert_uint_lt(at, SFLOW_MAX_PORTS);
	ck_assert_uint_eq(place.if_index, 5);
	ck_assert_str_eq(place.address, SENDER);
	polled.place = place.place;
	polled.number = place.number;
	ck_assert(sflow_input_take_polled(in, &polled, now_us + 1500000, &result));
	ck_assert_int_eq(result.records[0].kind, EASE_PART_SNAPSHOT);
	ck_assert_uint_eq(result.records[0].snapshot.if_index, 5);
	ck_assert_uint_eq(result.records[0].snapshot.in.octets, 6400);
	ck_assert_uint_eq(count_of(SFLOW_STAT_ODD), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ipfix");
	TCase *tc = tcase_create("messages");

	tcase_add_checked_fixture(tc, begin_input, end_input);
	tcase_add_test(tc, a_sample_is_as_sflow_would_say_it);
	tcase_add_test(tc, numbers_tell_what_is_lost);
	tcase_add_test(tc, a_domain_keeps_its_boot);
	tcase_add_test(tc, without_a_template_nothing_is_read);
	tcase_add_test(tc, a_withdrawal_changes_nothing);
	tcase_add_test(tc, flows_are_refused_with_what_to_do);
	tcase_add_test(tc, exceptions_are_no_traffic);
	tcase_add_test(tc, its_interfaces_may_be_asked);
	tcase_add_test(tc, without_a_rate_a_sample_is_refused);
	tcase_add_test(tc, samplers_without_end);
	tcase_add_test(tc, templates_without_end_are_their_senders);
	tcase_add_test(tc, what_ends_too_early_is_refused);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
