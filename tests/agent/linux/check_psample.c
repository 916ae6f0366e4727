/*
 * Messages of psample made by hand, as linux/psample.h describes them, and the account of their numbers
 * against a model that knows what was lost; groups and a driver's features as they are told.
 */
#include "agent/linux/ethtool.h"
#include "agent/linux/psample.h"
#include "tests/suite.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/psample.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE = 31, OCTETS_MAX = 1024 };

static uint8_t octets[OCTETS_MAX] __attribute__((aligned(8)));
static const uint8_t frame[20] = {0x02, 0x99, 0, 0, 0, 1, 0x02, 0x10, 0, 0, 0, 2, 8, 0, 0x45};

static struct nlmsghdr *
begin(uint8_t command)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);
	struct genlmsghdr *head;

	message->nlmsg_type = TYPE;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->cmd = command;
	head->version = 1;
	return message;
}

/* A sample that has everything, but for one attribute (-1: none is left out). */
static struct nlmsghdr *
sample_without(int left_out)
{
	struct nlmsghdr *m = begin(PSAMPLE_CMD_SAMPLE);

#define PUT(attr, put)                                                                             \
	do {                                                                                       \
		if (left_out != (attr))                                                            \
			put;                                                                       \
	} while (0)
	PUT(PSAMPLE_ATTR_IIFINDEX, mnl_attr_put_u16(m, PSAMPLE_ATTR_IIFINDEX, 7));
	PUT(PSAMPLE_ATTR_OIFINDEX, mnl_attr_put_u16(m, PSAMPLE_ATTR_OIFINDEX, 9));
	PUT(PSAMPLE_ATTR_OUT_TC, mnl_attr_put_u16(m, PSAMPLE_ATTR_OUT_TC, 3));
	PUT(PSAMPLE_ATTR_OUT_TC_OCC, mnl_attr_put_u64(m, PSAMPLE_ATTR_OUT_TC_OCC, 7ull << 32));
	PUT(PSAMPLE_ATTR_LATENCY, mnl_attr_put_u64(m, PSAMPLE_ATTR_LATENCY, 5ull << 33));
	PUT(PSAMPLE_ATTR_SAMPLE_RATE, mnl_attr_put_u32(m, PSAMPLE_ATTR_SAMPLE_RATE, 1000));
	PUT(PSAMPLE_ATTR_ORIGSIZE, mnl_attr_put_u32(m, PSAMPLE_ATTR_ORIGSIZE, 1514));
	PUT(PSAMPLE_ATTR_SAMPLE_GROUP, mnl_attr_put_u32(m, PSAMPLE_ATTR_SAMPLE_GROUP, 0xe0000071));
	PUT(PSAMPLE_ATTR_GROUP_SEQ, mnl_attr_put_u32(m, PSAMPLE_ATTR_GROUP_SEQ, 41));
	PUT(PSAMPLE_ATTR_PAD, mnl_attr_put(m, PSAMPLE_ATTR_PAD, 0, NULL));
	PUT(PSAMPLE_ATTR_TIMESTAMP, mnl_attr_put_u64(m, PSAMPLE_ATTR_TIMESTAMP, 1234567890123ull));
	PUT(PSAMPLE_ATTR_PROTO, mnl_attr_put_u16(m, PSAMPLE_ATTR_PROTO, 0x0800));
	PUT(PSAMPLE_ATTR_DATA, mnl_attr_put(m, PSAMPLE_ATTR_DATA, sizeof(frame), frame));
	return m;
}

START_TEST(a_sample_says_all_of_it)
{
	struct psample_record record;

	ck_assert_int_eq(psample_parse(sample_without(-1), TYPE, &record), 0);
	ck_assert_uint_eq(record.group, 0xe0000071);
	ck_assert_uint_eq(record.number, 41);
	ck_assert_uint_eq(record.rate, 1000);
	ck_assert_uint_eq(record.frame_octets, 1514);
	ck_assert(record.has_input);
	ck_assert_uint_eq(record.input_index, 7);
	ck_assert_uint_eq(record.output_index, 9);
	ck_assert_uint_eq(record.way.known, EASE_WAY_QUEUE | EASE_WAY_DEPTH | EASE_WAY_DELAY);
	ck_assert_uint_eq(record.way.queue, 3);
	ck_assert_uint_eq(record.way.depth_octets, 7ull << 32);
	ck_assert_uint_eq(record.way.delay_ns, 5ull << 33);
	ck_assert_uint_eq(record.time_ns, 1234567890123ull);
	ck_assert_uint_eq(record.kept_octets, sizeof(frame));
	ck_assert_mem_eq(record.octets, frame, sizeof(frame));
}
END_TEST

START_TEST(what_need_not_be_there_may_be_missing)
{
	static const int attrs[] = {
	    PSAMPLE_ATTR_IIFINDEX, PSAMPLE_ATTR_OIFINDEX, PSAMPLE_ATTR_TIMESTAMP, PSAMPLE_ATTR_PROTO};
	struct psample_record record;

	ck_assert_int_eq(psample_parse(sample_without(attrs[_i]), TYPE, &record), 0);
	/* The attribute of type 0 tells what came in from what this machine sends. */
	ck_assert_uint_eq(record.has_input, attrs[_i] != PSAMPLE_ATTR_IIFINDEX);
	ck_assert_uint_eq(record.time_ns == 0, attrs[_i] == PSAMPLE_ATTR_TIMESTAMP);
}
END_TEST

START_TEST(what_must_be_there_is_missed)
{
	static const int attrs[] = {PSAMPLE_ATTR_ORIGSIZE, PSAMPLE_ATTR_SAMPLE_GROUP,
	    PSAMPLE_ATTR_GROUP_SEQ, PSAMPLE_ATTR_SAMPLE_RATE, PSAMPLE_ATTR_DATA};
	struct psample_record record;

	ck_assert_int_eq(psample_parse(sample_without(attrs[_i]), TYPE, &record), -EPROTO);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
	struct psample_record record;
	struct nlmsghdr *message = sample_without(PSAMPLE_ATTR_SAMPLE_RATE);

	mnl_attr_put_u32(message, PSAMPLE_ATTR_SAMPLE_RATE, 0);
	ck_assert_int_eq(psample_parse(message, TYPE, &record), -EPROTO);
	message = sample_without(PSAMPLE_ATTR_GROUP_SEQ);
	mnl_attr_put_u16(message, PSAMPLE_ATTR_GROUP_SEQ, 41);
	ck_assert_int_eq(psample_parse(message, TYPE, &record), -EPROTO);
	message = sample_without(-1);
	ck_assert_int_eq(psample_parse(message, TYPE + 1, &record), -ENOMSG);
	ck_assert_int_eq(psample_parse(begin(PSAMPLE_CMD_NEW_GROUP), TYPE, &record), -ENOMSG);
	message = sample_without(-1);
	message->nlmsg_len = sizeof(struct nlmsghdr) + 2;
	ck_assert_int_eq(psample_parse(message, TYPE, &record), -EPROTO);
}
END_TEST

/* ---- numbers ---- */

START_TEST(a_gap_is_lost_when_its_time_has_gone)
{
	struct psample_sequence sequence = {0};
	uint32_t lost = 0;

	ck_assert_uint_eq(psample_sequence_update(&sequence, 0), 0);
	ck_assert_uint_eq(psample_sequence_update(&sequence, 3), 0); /* 1 and 2 may be late */
	for (uint32_t number = 4; number <= PSAMPLE_WINDOW; number++)
		ck_assert_uint_eq(psample_sequence_update(&sequence, number), 0);
	ck_assert_uint_eq(psample_sequence_update(&sequence, PSAMPLE_WINDOW + 1), 1);
	ck_assert_uint_eq(psample_sequence_update(&sequence, PSAMPLE_WINDOW + 2), 1);
	for (uint32_t number = PSAMPLE_WINDOW + 3; number < 100; number++)
		lost += psample_sequence_update(&sequence, number);
	ck_assert_uint_eq(lost + psample_sequence_finish(&sequence), 0);
}
END_TEST

START_TEST(the_first_ones_and_very_many_may_be_lost)
{
	struct psample_sequence sequence = {0};
	uint32_t lost = psample_sequence_update(&sequence, 4);

	ck_assert_uint_eq(lost + psample_sequence_finish(&sequence), 4);
	lost = psample_sequence_update(&sequence, 1000004);
	ck_assert_uint_eq(lost + psample_sequence_finish(&sequence), 999999);
	sequence = (struct psample_sequence){.next = UINT32_MAX - 1}; /* over the end of 32 bits */
	lost = psample_sequence_update(&sequence, UINT32_MAX - 1);
	lost += psample_sequence_update(&sequence, 2);
	ck_assert_uint_eq(lost + psample_sequence_finish(&sequence), 3);
}
END_TEST

START_TEST(one_that_comes_late_or_twice_is_not_lost)
{
	struct psample_sequence sequence = {0};
	uint32_t lost = psample_sequence_update(&sequence, 0) + psample_sequence_update(&sequence, 2) +
	    psample_sequence_update(&sequence, 1) + psample_sequence_update(&sequence, 3) +
	    psample_sequence_update(&sequence, 3) + psample_sequence_update(&sequence, 0);

	ck_assert_uint_eq(lost + psample_sequence_finish(&sequence), 0);
}
END_TEST

/* Numbers in order or two neighbours exchanged, some lost: the account comes to what was lost. */
START_TEST(what_is_lost_is_counted)
{
	struct psample_sequence sequence = {0};
	uint32_t lost = 0, truth = 0, n = 200000;
	unsigned seed = 20261121u + (unsigned)_i;

	for (uint32_t number = 0; number < n; number += 2) {
		uint32_t pair[2] = {number, number + 1};
		bool exchanged = rand_r(&seed) % 4 == 0;

		for (int i = 0; i < 2; i++) {
			bool gone = rand_r(&seed) % 100 < 10 * _i;

			/* The last one arrives, or the loss of those before it would not be noticed. */
			if (gone && number + 2 < n)
				truth++;
			else
				lost += psample_sequence_update(&sequence, pair[exchanged ? 1 - i : i]);
		}
	}
	ck_assert_uint_eq(lost + psample_sequence_finish(&sequence), truth);
}
END_TEST

/* ---- groups and features ---- */

START_TEST(a_group_names_its_port_and_direction)
{
	static const uint32_t indexes[] = {1, 7, 65536, (1 << 24) - 1};
	struct psample_filter filter = {.epoch = 6};
	uint32_t kernel_index, earlier;
	bool out;

	filter.kernel_index = indexes[_i];
	for (int side = 0; side < 2; side++) {
		earlier = psample_filter_group(&filter, side);
		ck_assert(psample_filter_of_group(earlier, &kernel_index, &out));
		ck_assert_uint_eq(kernel_index, indexes[_i]);
		ck_assert_int_eq(out, side);
		filter.epoch++;
		ck_assert_uint_ne(psample_filter_group(&filter, side), earlier);
	}
	ck_assert(!psample_filter_of_group(5, &kernel_index, &out)); /* somebody else's */
}
END_TEST

START_TEST(a_feature_is_found_where_it_is_active)
{
	static const char *const names[] = {"rx-checksum", "hw-tc-offload"};
	struct nlmsghdr *m = begin(ETHTOOL_MSG_FEATURES_GET_REPLY);

	for (int part = 0; part < 2; part++) { /* wanted: both; active: the first */
		struct nlattr *set = mnl_attr_nest_start(
		    m, part ? ETHTOOL_A_FEATURES_ACTIVE : ETHTOOL_A_FEATURES_WANTED);
		struct nlattr *bits = mnl_attr_nest_start(m, ETHTOOL_A_BITSET_BITS);

		for (int i = 0; i < 2 - part; i++) {
			struct nlattr *bit = mnl_attr_nest_start(m, ETHTOOL_A_BITSET_BITS_BIT);

			mnl_attr_put_strz(m, ETHTOOL_A_BITSET_BIT_NAME, names[i]);
			mnl_attr_nest_end(m, bit);
		}
		mnl_attr_nest_end(m, bits);
		mnl_attr_nest_end(m, set);
	}
	ck_assert_int_eq(ethtool_parse_feature(m, "rx-checksum"), 1);
	ck_assert_int_eq(ethtool_parse_feature(m, "hw-tc-offload"), 0);
	ck_assert_int_eq(ethtool_parse_feature(m, "rx"), 0);
	m->nlmsg_len = sizeof(struct nlmsghdr);
	ck_assert_int_eq(ethtool_parse_feature(m, "rx"), -EPROTO);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("psample");
	TCase *messages = tcase_create("messages"), *numbers = tcase_create("numbers");
	TCase *names = tcase_create("groups and features");

	tcase_add_test(messages, a_sample_says_all_of_it);
	tcase_add_loop_test(messages, what_need_not_be_there_may_be_missing, 0, 4);
	tcase_add_loop_test(messages, what_must_be_there_is_missed, 0, 5);
	tcase_add_test(messages, what_makes_no_sense_is_refused);
	suite_add_tcase(suite, messages);
	tcase_add_test(numbers, a_gap_is_lost_when_its_time_has_gone);
	tcase_add_test(numbers, the_first_ones_and_very_many_may_be_lost);
	tcase_add_test(numbers, one_that_comes_late_or_twice_is_not_lost);
	tcase_add_loop_test(numbers, what_is_lost_is_counted, 0, 4);
	suite_add_tcase(suite, numbers);
	tcase_add_loop_test(names, a_group_names_its_port_and_direction, 0, 4);
	tcase_add_test(names, a_feature_is_found_where_it_is_active);
	suite_add_tcase(suite, names);
	return suite_run(suite);
}
