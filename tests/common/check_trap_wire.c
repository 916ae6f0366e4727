/*
 * The values in notifications: layouts octet by octet, strict decoders, names, and the upper bound
 * of a message's size, which is compared with Net-SNMP's encoding of the same notification.
 */
#include "common/buf.h"
#include "common/trap_wire.h"
#include "tests/suite.h"

#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint8_t frame[EASE_HEADER_MAX_OCTETS];

/* The largest values of every field, so that BER lengths are the longest too. */
static struct ease_sample
full_sample(uint16_t kept)
{
	memset(frame, 0xa5, sizeof(frame));
	return (struct ease_sample){
	    .time_us = 0x0102030405060708,
	    .if_index = 0x7fffffff,
	    .sequence = UINT32_MAX,
	    .direction = EASE_OUT,
	    .input_if = 0x11121314,
	    .output_if = EASE_IF_MANY + 3,
	    .skip = 399,
	    .mean_skip = 400,
	    .pool_pkts = 0x2122232425262728,
	    .drops = 0x3132333435363738,
	    .delay_us = 0x41424344,
	    .frame_octets = 1518,
	    .kept_octets = kept,
	    .header = frame,
	};
}

static struct ease_snapshot
full_snapshot(void)
{
	struct ease_snapshot s = {.if_index = 0x7fffffff, .time_us = 1, .last_sequence = 15,
	    .discontinuity_us = 14, .samples = 16, .pool_in_pkts = 17, .pool_out_pkts = 18,
	    .drops = 19, .stalls = 20, .stalled_pkts = 21};

	s.in = (struct ease_side){2, 3, 4, 5, 6, 7};
	s.out = (struct ease_side){8, 9, 10, 11, 12, 13};
	return s;
}

static struct ease_state
full_state(void)
{
	struct ease_state s = {.if_index = 0x7fffffff, .time_us = 9, .speed_bps = 10000000,
	    .duplex = EASE_DUPLEX_HALF, .admin_status = EASE_IF_UP,
	    .oper_status = EASE_IF_LOWER_LAYER_DOWN, .lag_parent = 7, .edge = true,
	    .forwarding = EASE_FORWARDING_MIXED, .sampled_by = EASE_SAMPLED_BY_CHIP};

	memset(s.name, 'n', EASE_NAME_MAX);
	memset(s.alias, 'a', EASE_NAME_MAX);
	return s;
}

START_TEST(a_sample_octet_by_octet)
{
	static const uint8_t fixed[TRAP_WIRE_SAMPLE_FIXED_OCTETS] = {1, 2, 1, 2, 3, 4, 5, 6, 7, 8,
	    0x11, 0x12, 0x13, 0x14, 0x80, 0, 0, 3, 0, 0, 1, 0x8f, 0, 0, 1, 0x90, 0x21, 0x22, 0x23,
	    0x24, 0x25, 0x26, 0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x41,
	    0x42, 0x43, 0x44, 0, 0, 0x05, 0xee, 0, 20};
	struct ease_sample s = full_sample(20), back = {.if_index = 3, .sequence = 4};
	uint8_t octets[400];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_sample(&w, &s);
	ck_assert(!w.failed);
	ck_assert_uint_eq(w.len, TRAP_WIRE_SAMPLE_FIXED_OCTETS + 20);
	ck_assert_mem_eq(octets, fixed, sizeof(fixed));
	ck_assert_mem_eq(octets + sizeof(fixed), frame, 20);
	ck_assert_int_eq(trap_wire_get_sample(octets, w.len, &back), 0);
	/* The name's fields are left alone. */
	ck_assert_uint_eq(back.if_index, 3);
	ck_assert_uint_eq(back.sequence, 4);
	ck_assert_uint_eq(back.time_us, s.time_us);
	ck_assert_uint_eq(back.pool_pkts, s.pool_pkts);
	ck_assert_uint_eq(back.drops, s.drops);
	ck_assert_uint_eq(back.delay_us, s.delay_us);
	ck_assert_uint_eq(back.mean_skip, 400);
	ck_assert_ptr_eq(back.header, octets + sizeof(fixed));
}
END_TEST

START_TEST(a_snapshot_octet_by_octet)
{
	struct ease_snapshot s = full_snapshot(), back = {.if_index = s.if_index};
	uint8_t octets[400];
	struct wbuf w = wbuf_of(octets, sizeof(octets));
	struct rbuf r;

	trap_wire_put_snapshot(&w, &s);
	ck_assert_uint_eq(w.len, TRAP_WIRE_SNAPSHOT_OCTETS);
	r = rbuf_of(octets, w.len);
	ck_assert_uint_eq(rbuf_u8(&r), TRAP_WIRE_LAYOUT);
	/* The fields were numbered in the order of the layout, but for one of 32 bits. */
	for (uint64_t i = 1; i <= 14; i++)
		ck_assert_uint_eq(rbuf_be64(&r), i);
	ck_assert_uint_eq(rbuf_be64(&r), 16);
	ck_assert_uint_eq(rbuf_be32(&r), 15);
	for (uint64_t i = 17; i <= 21; i++)
		ck_assert_uint_eq(rbuf_be64(&r), i);
	ck_assert(rbuf_done(&r));
	ck_assert_int_eq(trap_wire_get_snapshot(octets, w.len, &back), 0);
	ck_assert_mem_eq(&back, &s, sizeof(s));
}
END_TEST

START_TEST(state_and_address_come_back)
{
	struct ease_state s = full_state(), s2 = {.if_index = s.if_index};
	struct ease_address a = {.if_index = 4, .time_us = 77, .mac = {2, 1, 2, 3, 4, 5},
	    .vlan = 4095}, a2 = {.if_index = 4};
	uint8_t octets[400];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_state(&w, &s);
	ck_assert_uint_eq(w.len, 29 + 2 * EASE_NAME_MAX);
	ck_assert_uint_eq(octets[0], 2);
	ck_assert_int_eq(trap_wire_get_state(octets, w.len, &s2), 0);
	ck_assert_str_eq(s2.name, s.name);
	ck_assert_str_eq(s2.alias, s.alias);
	ck_assert_uint_eq(s2.speed_bps, s.speed_bps);
	ck_assert_uint_eq(s2.oper_status, s.oper_status);
	ck_assert_uint_eq(s2.lag_parent, 7);
	ck_assert(s2.edge);
	ck_assert_uint_eq(s2.forwarding, EASE_FORWARDING_MIXED);
	ck_assert_uint_eq(s2.sampled_by, EASE_SAMPLED_BY_CHIP);
	s.forwarding = EASE_FORWARDING_NOT_KNOWN; /* of a device that does not tell */
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_state(&w, &s);
	ck_assert_uint_eq(w.len, 27 + 2 * EASE_NAME_MAX);
	ck_assert_uint_eq(octets[0], 1);
	ck_assert_int_eq(trap_wire_get_state(octets, w.len, &s2), 0);
	ck_assert_uint_eq(s2.forwarding, EASE_FORWARDING_NOT_KNOWN);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_address(&w, &a);
	ck_assert_uint_eq(w.len, 17);
	ck_assert_int_eq(trap_wire_get_address(octets, w.len, &a2), 0);
	ck_assert_mem_eq(a2.mac, a.mac, 6);
	ck_assert_uint_eq(a2.vlan, 4095);
}
END_TEST

/* Fields numbered in the order of the layout in mibs/EASE-SAMPLING-MIB.txt. */
START_TEST(resources_octet_by_octet)
{
	const struct ease_resources s = {.if_index = 9, .time_us = 1,
	    .known = EASE_HAS_LOW_POWER | EASE_HAS_PAUSE, .in = {3, 4}, .out = {5, 6},
	    .charged_buffers = 7, .pressed_episodes = 8, .pressed_us = 9, .ingress_drops = 10,
	    .pauses_in = 11, .pauses_out = 12};
	struct ease_resources back = {.if_index = 9};
	uint8_t octets[100], again[100];
	struct wbuf w = wbuf_of(octets, sizeof(octets));
	struct rbuf r;

	trap_wire_put_resources(&w, &s);
	ck_assert_uint_eq(w.len, 86);
	r = rbuf_of(octets, w.len);
	ck_assert_uint_eq(rbuf_u8(&r), 2);
	ck_assert_uint_eq(rbuf_be64(&r), 1);
	ck_assert_uint_eq(rbuf_u8(&r), 5);
	for (uint64_t i = 3; i <= 6; i++)
		ck_assert_uint_eq(rbuf_be64(&r), i);
	ck_assert_uint_eq(rbuf_be32(&r), 7);
	for (uint64_t i = 8; i <= 12; i++)
		ck_assert_uint_eq(rbuf_be64(&r), i);
	ck_assert(rbuf_done(&r));
	ck_assert_int_eq(trap_wire_get_resources(octets, w.len, &back), 0);
	ck_assert_uint_eq(back.if_index, s.if_index);
	w = wbuf_of(again, sizeof(again));
	trap_wire_put_resources(&w, &back);
	ck_assert_mem_eq(again, octets, w.len);
}
END_TEST

START_TEST(error_source_octet_by_octet)
{
	static const uint8_t expected[32] = {1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 5,
	    2, 1, 2, 3, 4, 5, 2, 0, 0, 0, 0, 0, 0, 1, 0};
	const struct ease_error_source s = {.if_index = 9, .first_us = 5, .time_us = 7,
	    .mac = {2, 1, 2, 3, 4, 5}, .kind = EASE_ERROR_TOO_LONG, .count = 256};
	struct ease_error_source back = {.if_index = 9};
	uint8_t octets[100];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_error_source(&w, &s);
	ck_assert_uint_eq(w.len, sizeof(expected));
	ck_assert_mem_eq(octets, expected, sizeof(expected));
	ck_assert_int_eq(trap_wire_get_error_source(octets, w.len, &back), 0);
	ck_assert_uint_eq(back.if_index, s.if_index);
	w = wbuf_of(octets, sizeof(octets));
	trap_wire_put_error_source(&w, &back);
	ck_assert_mem_eq(octets, expected, sizeof(expected));
}
END_TEST

START_TEST(change_octet_by_octet)
{
	static const uint8_t expected[] = {1, 0, 0, 0, 0, 0, 0, 1, 2, 16, 'e', 'a', 's', 'e', 'P', 'o', 'r',
	    't', 'M', 'e', 'a', 'n', 'S', 'k', 'i', 'p', 3, '4', '0', '0', 2, '9', '9'};
	const struct ease_change c = {.if_index = 9, .time_us = 258, .object = "easePortMeanSkip",
	    .before = "400", .after = "99"};
	struct ease_change back = {.if_index = 9};
	uint8_t octets[100];
	struct wbuf w = wbuf_of(octets, sizeof(octets));

	trap_wire_put_change(&w, &c);
	ck_assert_uint_eq(w.len, sizeof(expected));
	ck_assert_mem_eq(octets, expected, sizeof(expected));
	ck_assert_int_eq(trap_wire_get_change(octets, w.len, &back), 0);
	ck_assert_uint_eq(back.time_us, 258);
	ck_assert_str_eq(back.object, c.object);
	ck_assert_str_eq(back.before, "400");
	ck_assert_str_eq(back.after, "99");
}
END_TEST

/* easeSnapshot has two layouts: the name stands for the first until the value is seen. */
START_TEST(one_name_two_layouts)
{
	const struct trap_part snapshot = {.part = EASE_PART_SNAPSHOT, .if_index = 4};
	const struct trap_part resources = {.part = EASE_PART_RESOURCES, .if_index = 4};
	uint32_t oid[TRAP_WIRE_OID_MAX], same[TRAP_WIRE_OID_MAX];
	size_t n = trap_wire_part_oid(&resources, oid);
	struct trap_part parsed;

	ck_assert_uint_eq(n, trap_wire_part_oid(&snapshot, same));
	ck_assert_mem_eq(oid, same, n * sizeof(oid[0]));
	ck_assert_int_eq(trap_wire_parse_oid(oid, n, &parsed), 0);
	ck_assert_int_eq(parsed.part, EASE_PART_SNAPSHOT);
	ck_assert_int_eq(trap_wire_part_of(parsed.part, "\2", 1), EASE_PART_RESOURCES);
	ck_assert_int_eq(trap_wire_part_of(parsed.part, "\1", 1), EASE_PART_SNAPSHOT);
	ck_assert_int_eq(trap_wire_part_of(parsed.part, "", 0), EASE_PART_SNAPSHOT);
	ck_assert_int_eq(trap_wire_part_of(EASE_PART_STATE, "\2", 1), EASE_PART_STATE);
}
END_TEST

/* One value of each part and its decoder, reduced to "is it good?". */
static int
decode(enum ease_part part, const uint8_t *octets, size_t len)
{
	union {
		struct ease_sample sample;
		struct ease_snapshot snapshot;
		struct ease_state state;
		struct ease_address address;
		struct ease_resources resources;
		struct ease_error_source error_source;
		struct ease_change change;
	} u = {0};

	switch (part) {
	case EASE_PART_SAMPLE:
		return trap_wire_get_sample(octets, len, &u.sample);
	case EASE_PART_SNAPSHOT:
		return trap_wire_get_snapshot(octets, len, &u.snapshot);
	case EASE_PART_STATE:
		return trap_wire_get_state(octets, len, &u.state);
	case EASE_PART_ADDRESS:
		return trap_wire_get_address(octets, len, &u.address);
	case EASE_PART_RESOURCES:
		return trap_wire_get_resources(octets, len, &u.resources);
	case EASE_PART_ERROR_SOURCE:
		return trap_wire_get_error_source(octets, len, &u.error_source);
	case EASE_PART_CHANGE:
		return trap_wire_get_change(octets, len, &u.change);
	case EASE_PART_DISCARD: /* comes by sFlow alone */
	case EASE_PART_ODD:
		break;
	}
	return -EINVAL;
}

static size_t
encode(enum ease_part part, uint8_t *octets, size_t size)
{
	struct ease_sample sample = full_sample(64);
	struct ease_snapshot snapshot = full_snapshot();
	struct ease_state state = full_state();
	struct ease_address address = {.vlan = 1};
	struct ease_resources resources = {.known = EASE_HAS_BUFFERS};
	struct ease_error_source source = {.kind = EASE_ERROR_FCS};
	struct ease_change change = {.object = "easePortEdge", .before = "true", .after = "false"};
	struct wbuf w = wbuf_of(octets, size);

	if (part == EASE_PART_SAMPLE)
		trap_wire_put_sample(&w, &sample);
	else if (part == EASE_PART_SNAPSHOT)
		trap_wire_put_snapshot(&w, &snapshot);
	else if (part == EASE_PART_STATE)
		trap_wire_put_state(&w, &state);
	else if (part == EASE_PART_RESOURCES)
		trap_wire_put_resources(&w, &resources);
	else if (part == EASE_PART_ERROR_SOURCE)
		trap_wire_put_error_source(&w, &source);
	else if (part == EASE_PART_CHANGE)
		trap_wire_put_change(&w, &change);
	else
		trap_wire_put_address(&w, &address);
	return w.len;
}

START_TEST(short_long_and_unknown_values_are_refused)
{
	uint8_t octets[400] = {0}, *exact;

	for (enum ease_part part = EASE_PART_SAMPLE; part <= EASE_PART_CHANGE; part++) {
		size_t len = encode(part, octets, sizeof(octets));

		ck_assert_int_eq(decode(part, octets, len), 0);
		ck_assert_int_eq(decode(part, octets, len + 1), -EBADMSG);
		for (size_t cut = 0; cut < len; cut++) {
			exact = malloc(cut ? cut : 1);
			memcpy(exact, octets, cut);
			ck_assert_int_eq(decode(part, exact, cut), -EBADMSG);
			free(exact);
		}
		octets[0] ^= 3; /* 1 and 2 change places */
		ck_assert_int_eq(decode(part, octets, len), -EBADMSG);
	}
}
END_TEST

/* One octet changed to a value out of its field's range. */
static const struct {
	const char *what;
	enum ease_part part;
	size_t at;
	uint8_t value;
} out_of_range[] = {
    {"direction 0", EASE_PART_SAMPLE, 1, 0},
    {"direction 3", EASE_PART_SAMPLE, 1, 3},
    {"skip over 24 bits", EASE_PART_SAMPLE, 18, 0x01},
    {"mean skip over its limit", EASE_PART_SAMPLE, 23, 0x81},
    {"kept more than are there", EASE_PART_SAMPLE, 51, 65},
    {"kept fewer than are there", EASE_PART_SAMPLE, 51, 63},
    {"frame shorter than what was kept", EASE_PART_SAMPLE, 48, 0},
    {"duplex 0", EASE_PART_STATE, 17, 0},
    {"duplex 4", EASE_PART_STATE, 17, 4},
    {"admin status 4", EASE_PART_STATE, 18, 4},
    {"oper status 8", EASE_PART_STATE, 19, 8},
    {"edge 2", EASE_PART_STATE, 20, 2},
    {"name of 65 octets", EASE_PART_STATE, 27, 65},
    {"NUL in the name", EASE_PART_STATE, 28, 0},
    {"forwarding 0 in layout 2", EASE_PART_STATE, 25, 0},
    {"forwarding 4", EASE_PART_STATE, 25, 4},
    {"sampled by 4", EASE_PART_STATE, 26, 4},
    {"VLAN of 13 bits", EASE_PART_ADDRESS, 9, 0x10},
    {"a resource there is not", EASE_PART_RESOURCES, 9, 0x08},
    {"kind 0", EASE_PART_ERROR_SOURCE, 23, 0},
    {"kind 3", EASE_PART_ERROR_SOURCE, 23, 3},
};

START_TEST(fields_out_of_range_are_refused)
{
	uint8_t octets[400];

	for (size_t i = 0; i < sizeof(out_of_range) / sizeof(out_of_range[0]); i++) {
		size_t len = encode(out_of_range[i].part, octets, sizeof(octets));

		octets[out_of_range[i].at] = out_of_range[i].value;
		if (i == 6) /* 0x05ee becomes 0x00ee: let less than 64 remain */
			octets[49] = 63;
		ck_assert_msg(decode(out_of_range[i].part, octets, len) == -EBADMSG, "%s",
		    out_of_range[i].what);
	}
	size_t len = encode(EASE_PART_SAMPLE, octets, sizeof(octets));

	memset(octets + 22, 0, 4);
	ck_assert_int_eq(decode(EASE_PART_SAMPLE, octets, len), -EBADMSG); /* mean skip 0 */
}
END_TEST

START_TEST(parts_come_back_in_their_order)
{
	static struct ease_notification n;
	struct ease_sample s = full_sample(128);
	struct ease_snapshot snap = full_snapshot();
	struct trap_part part, parsed;
	uint32_t oid[TRAP_WIRE_OID_MAX];
	size_t pos = 0, arcs;

	trap_wire_begin(&n, EASE_NOTIFY_SAMPLES);
	for (uint32_t i = 1; i <= 3; i++) {
		s.sequence = i;
		ck_assert_int_eq(trap_wire_add_sample(&n, &s, TRAP_WIRE_MESSAGE_DEFAULT), 0);
	}
	ck_assert_int_eq(trap_wire_add_snapshot(&n, &snap, TRAP_WIRE_MESSAGE_DEFAULT), 0);
	ck_assert_uint_eq(n.n_parts, 4);
	ck_assert_uint_eq(n.n_samples, 3);
	for (uint32_t i = 1; i <= 3; i++) {
		ck_assert(trap_wire_next(&n, &pos, &part));
		ck_assert_uint_eq(part.sequence, i);
		ck_assert_uint_eq(part.len, TRAP_WIRE_SAMPLE_FIXED_OCTETS + 128);
		arcs = trap_wire_part_oid(&part, oid);
		ck_assert_uint_eq(arcs, TRAP_WIRE_OID_MAX);
		ck_assert_int_eq(trap_wire_parse_oid(oid, arcs, &parsed), 0);
		ck_assert_int_eq(parsed.part, EASE_PART_SAMPLE);
		ck_assert_uint_eq(parsed.if_index, s.if_index);
		ck_assert_uint_eq(parsed.sequence, i);
	}
	ck_assert(trap_wire_next(&n, &pos, &part));
	ck_assert_int_eq(part.part, EASE_PART_SNAPSHOT);
	ck_assert(!trap_wire_next(&n, &pos, &part));
}
END_TEST

START_TEST(names_that_are_not_ours)
{
	static const uint32_t uptime[] = {1, 3, 6, 1, 2, 1, 1, 3, 0};
	static const uint32_t sample[] = {EASE_SAMPLE_ENTRY, EASE_COL_SAMPLE_DATAGRAM, 5, 6};
	static const uint32_t other_column[] = {EASE_PORT_INFO_ENTRY, 6, 5};
	static const uint32_t state[] = {EASE_PORT_INFO_ENTRY, EASE_COL_STATE, 5};
	static const uint32_t no_port[] = {EASE_PORT_INFO_ENTRY, EASE_COL_STATE, 0};
	struct trap_part part;

	ck_assert_int_eq(trap_wire_parse_oid(uptime, 9, &part), -ENOENT);
	ck_assert_int_eq(trap_wire_parse_oid(sample, 16, &part), -ENOENT);
	ck_assert_int_eq(trap_wire_parse_oid(sample, 17, &part), 0);
	ck_assert_int_eq(trap_wire_parse_oid(other_column, 16, &part), -ENOENT);
	ck_assert_int_eq(trap_wire_parse_oid(no_port, 16, &part), -ENOENT);
	ck_assert_int_eq(trap_wire_parse_oid(state, 16, &part), 0);
	ck_assert_int_eq(part.part, EASE_PART_STATE);
	ck_assert_uint_eq(part.if_index, 5);
}
END_TEST

START_TEST(the_limit_holds)
{
	static struct ease_notification n, before;
	struct ease_sample s = full_sample(EASE_HEADER_MAX_OCTETS);
	struct ease_snapshot snap = full_snapshot();

	trap_wire_begin(&n, EASE_NOTIFY_SAMPLES);
	ck_assert_int_eq(trap_wire_add_sample(&n, &s, TRAP_WIRE_MESSAGE_MIN), 0);
	ck_assert_int_eq(trap_wire_add_snapshot(&n, &snap, TRAP_WIRE_MESSAGE_MIN), 0);
	before = n;
	ck_assert_int_eq(trap_wire_add_sample(&n, &s, TRAP_WIRE_MESSAGE_MIN), -EMSGSIZE);
	ck_assert_uint_eq(n.len, before.len);
	ck_assert_uint_eq(n.n_parts, before.n_parts);
	ck_assert_uint_eq(n.message_octets, before.message_octets);
	while (trap_wire_add_sample(&n, &s, 4 * TRAP_WIRE_MESSAGE_MAX) == 0)
		;
	ck_assert_uint_le(n.len, sizeof(n.data));
	s.kept_octets = EASE_HEADER_MAX_OCTETS + 1;
	trap_wire_begin(&n, EASE_NOTIFY_SAMPLES);
	ck_assert_int_eq(trap_wire_add_sample(&n, &s, TRAP_WIRE_MESSAGE_MAX), -EMSGSIZE);
}
END_TEST

static void
add_varbind(netsnmp_pdu *pdu, const uint32_t *arcs, size_t n, u_char type, const void *value,
    size_t len)
{
	oid name[MAX_OID_LEN];

	for (size_t i = 0; i < n; i++)
		name[i] = arcs[i];
	ck_assert_ptr_nonnull(snmp_pdu_add_variable(pdu, name, n, type, value, len));
}

static netsnmp_pdu *
pdu_of(const struct ease_notification *n)
{
	static const uint32_t uptime[] = {1, 3, 6, 1, 2, 1, 1, 3, 0};
	static const uint32_t trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};
	static const uint32_t agent_id[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_AGENT_ID,
	    0};
	static const uint32_t boot_name[] = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_BOOT, 0};
	static const oid kind[] = {EASE_ROOT, 0, EASE_NOTIFY_SAMPLES};
	uint32_t most = UINT32_MAX, oid32[TRAP_WIRE_OID_MAX];
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_TRAP2);
	struct trap_part part;
	size_t pos = 0;

	pdu->version = SNMP_VERSION_2c;
	pdu->community = (u_char *)strdup("12345678901234567890123456789012");
	pdu->community_len = 32;
	pdu->reqid = INT32_MAX;
	add_varbind(pdu, uptime, 9, ASN_TIMETICKS, &(u_long){most}, sizeof(u_long));
	add_varbind(pdu, trap_oid, 11, ASN_OBJECT_ID, kind, sizeof(kind));
	add_varbind(pdu, agent_id, EASE_ROOT_LEN + 4, ASN_OCTET_STR, "\1\2\3\4\5\6\7\10", 8);
	add_varbind(pdu, boot_name, EASE_ROOT_LEN + 4, ASN_UNSIGNED, &(u_long){most},
	    sizeof(u_long));
	while (trap_wire_next(n, &pos, &part))
		add_varbind(pdu, oid32, trap_wire_part_oid(&part, oid32), ASN_OCTET_STR,
		    part.octets, part.len);
	return pdu;
}

/* Octets of the message as Net-SNMP encodes it. */
static size_t
net_snmp_octets(const struct ease_notification *n, bool reverse)
{
	netsnmp_session session;
	netsnmp_pdu *pdu = pdu_of(n);
	size_t room = 65536, octets = 0;
	u_char *buf = malloc(room);

	snmp_sess_init(&session);
	session.version = SNMP_VERSION_2c;
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_REVERSE_ENCODE, reverse);
	ck_assert_int_eq(snmp_build(&buf, &room, &octets, &session, pdu), 0);
	if (!reverse) /* this way round it says so in the other argument */
		octets = room;
	snmp_free_pdu(pdu);
	free(buf);
	return octets;
}

static void
check_bound(const struct ease_notification *n)
{
	size_t reverse = net_snmp_octets(n, true), forward = net_snmp_octets(n, false);

	ck_assert_msg(reverse <= n->message_octets && forward <= n->message_octets,
	    "%zu and %zu encoded, bound %u", reverse, forward, n->message_octets);
	/* And it is no waste: 4 octets a varbind and 16 for the envelope are what it may cost. */
	ck_assert_uint_le(n->message_octets, forward + 16 + 4u * (n->n_parts + 4u));
}

START_TEST(the_bound_holds_for_what_net_snmp_encodes)
{
	static const uint16_t kept[] = {0, 14, 64, 75, 76, 77, 128, 203, 204, 205, 256};
	static struct ease_notification n;
	struct ease_snapshot snap = full_snapshot();
	struct ease_state state = full_state();
	struct ease_address address = {.if_index = 0x7fffffff};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		struct ease_sample s = full_sample(kept[i]);

		trap_wire_begin(&n, EASE_NOTIFY_SAMPLES);
		while (trap_wire_add_sample(&n, &s, TRAP_WIRE_MESSAGE_DEFAULT) == 0)
			check_bound(&n);
	}
	trap_wire_begin(&n, EASE_NOTIFY_COUNTERS);
	while (trap_wire_add_snapshot(&n, &snap, TRAP_WIRE_MESSAGE_MAX) == 0)
		check_bound(&n);
	trap_wire_begin(&n, EASE_NOTIFY_PORT_STATE);
	while (trap_wire_add_state(&n, &state, TRAP_WIRE_MESSAGE_MAX) == 0)
		check_bound(&n);
	trap_wire_begin(&n, EASE_NOTIFY_NEW_ADDRESS);
	while (trap_wire_add_address(&n, &address, TRAP_WIRE_MESSAGE_MAX) == 0)
		check_bound(&n);
}
END_TEST

START_TEST(part_octets_is_what_a_part_adds)
{
	static struct ease_notification n;
	struct ease_sample s = full_sample(128);
	struct ease_state state = full_state();
	struct ease_snapshot snap = full_snapshot();
	struct ease_address address = {.if_index = 1};
	uint32_t at;

	trap_wire_begin(&n, EASE_NOTIFY_SAMPLES);
	at = n.message_octets;
	ck_assert_int_eq(trap_wire_add_sample(&n, &s, TRAP_WIRE_MESSAGE_MAX), 0);
	ck_assert_uint_eq(n.message_octets - at, trap_wire_part_octets(EASE_PART_SAMPLE, 128));
	at = n.message_octets;
	ck_assert_int_eq(trap_wire_add_snapshot(&n, &snap, TRAP_WIRE_MESSAGE_MAX), 0);
	ck_assert_uint_eq(n.message_octets - at, trap_wire_part_octets(EASE_PART_SNAPSHOT, 0));
	at = n.message_octets;
	ck_assert_int_eq(trap_wire_add_state(&n, &state, TRAP_WIRE_MESSAGE_MAX), 0);
	ck_assert_uint_eq(n.message_octets - at, trap_wire_part_octets(EASE_PART_STATE, 0));
	at = n.message_octets;
	ck_assert_int_eq(trap_wire_add_address(&n, &address, TRAP_WIRE_MESSAGE_MAX), 0);
	ck_assert_uint_eq(n.message_octets - at, trap_wire_part_octets(EASE_PART_ADDRESS, 0));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("trap_wire");
	TCase *tc = tcase_create("trap_wire");

	/* Debian's snmp.conf would print of modules that are not there. */
	setenv("MIBS", "", 1);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, a_sample_octet_by_octet);
	tcase_add_test(tc, a_snapshot_octet_by_octet);
	tcase_add_test(tc, state_and_address_come_back);
	tcase_add_test(tc, resources_octet_by_octet);
	tcase_add_test(tc, error_source_octet_by_octet);
	tcase_add_test(tc, change_octet_by_octet);
	tcase_add_test(tc, one_name_two_layouts);
	tcase_add_test(tc, short_long_and_unknown_values_are_refused);
	tcase_add_test(tc, fields_out_of_range_are_refused);
	tcase_add_test(tc, parts_come_back_in_their_order);
	tcase_add_test(tc, names_that_are_not_ours);
	tcase_add_test(tc, the_limit_holds);
	tcase_add_test(tc, the_bound_holds_for_what_net_snmp_encodes);
	tcase_add_test(tc, part_octets_is_what_a_part_adds);
	return suite_run(suite);
}
