/*
 * What drivers tell by ethtool's netlink. Messages built here as the kernel builds them
 * (net/ethtool/stats.c, pause.c, eee.c, linkmodes.c): what they say, what they leave out, and that one
 * with wrong lengths is refused. Then the device with a driver that has statistics: no kernel of a
 * test machine has one, so questions about one link are answered here in the kernel's place, and
 * all others by the kernel.
 */
#include "agent/linux/ethtool.h"
#include "agent/linux/netlink.h"
#include "common/clock.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

static uint8_t octets[8192] __attribute__((aligned(8)));

/* ---- messages, as the kernel makes them ---- */

static struct nlmsghdr *
begin(uint8_t command)
{
	struct genlmsghdr head = {.cmd = command, .version = ETHTOOL_GENL_VERSION};
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);

	message->nlmsg_type = 0x20;
	memcpy(mnl_nlmsg_put_extra_header(message, sizeof(head)), &head, sizeof(head));
	return message;
}

static void
put_header(struct nlmsghdr *message, uint16_t type, uint32_t kernel_index)
{
	struct nlattr *nest = mnl_attr_nest_start(message, type);

	mnl_attr_put_u32(message, ETHTOOL_A_HEADER_DEV_INDEX, kernel_index);
	mnl_attr_put_strz(message, ETHTOOL_A_HEADER_DEV_NAME, "p0");
	mnl_attr_nest_end(message, nest);
}

struct stat {
	uint32_t group;
	uint16_t number;
	uint64_t value;
};
struct bucket {
	uint32_t low, high;
	uint64_t pkts;
};

static void
put_stat(struct nlmsghdr *message, const struct stat *stat)
{
	struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP_STAT);

	mnl_attr_put_u64(message, stat->number, stat->value);
	mnl_attr_nest_end(message, nest);
}

static void
put_bucket(struct nlmsghdr *message, uint16_t type, const struct bucket *bucket)
{
	struct nlattr *nest = mnl_attr_nest_start(message, type);

	mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_HIST_BKT_LOW, bucket->low);
	mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_HIST_BKT_HI, bucket->high);
	mnl_attr_put(message, ETHTOOL_A_STATS_GRP_PAD, 0, NULL);
	mnl_attr_put_u64(message, ETHTOOL_A_STATS_GRP_HIST_VAL, bucket->pkts);
	mnl_attr_nest_end(message, nest);
}

/* stats in order of their groups; buckets belong to RMON. */
static struct nlmsghdr *
stats_message(const struct stat *stats, size_t n, const struct bucket *buckets, size_t n_buckets)
{
	struct nlmsghdr *message = begin(ETHTOOL_MSG_STATS_GET_REPLY);

	put_header(message, ETHTOOL_A_STATS_HEADER, 5);
	for (uint32_t group = 0; group <= ETHTOOL_STATS_RMON; group++) {
		struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_STATS_GRP);

		mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_ID, group);
		mnl_attr_put_u32(message, ETHTOOL_A_STATS_GRP_SS_ID, 17 + group);
		for (size_t i = 0; i < n; i++)
			if (stats[i].group == group)
				put_stat(message, &stats[i]);
		for (size_t i = 0; i < n_buckets && group == ETHTOOL_STATS_RMON; i++) {
			put_bucket(message, ETHTOOL_A_STATS_GRP_HIST_RX, &buckets[i]);
			put_bucket(message, ETHTOOL_A_STATS_GRP_HIST_TX,
			    &(struct bucket){buckets[i].low, buckets[i].high, 1u << 30});
		}
		mnl_attr_nest_end(message, nest);
	}
	return message;
}

static struct nlmsghdr *
pause_message(uint8_t autoneg, uint8_t rx, uint8_t tx, bool counts)
{
	struct nlmsghdr *message = begin(ETHTOOL_MSG_PAUSE_GET_REPLY);
	struct nlattr *nest;

	put_header(message, ETHTOOL_A_PAUSE_HEADER, 5);
	mnl_attr_put_u8(message, ETHTOOL_A_PAUSE_AUTONEG, autoneg);
	mnl_attr_put_u8(message, ETHTOOL_A_PAUSE_RX, rx);
	mnl_attr_put_u8(message, ETHTOOL_A_PAUSE_TX, tx);
	if (!counts)
		return message;
	nest = mnl_attr_nest_start(message, ETHTOOL_A_PAUSE_STATS);
	mnl_attr_put_u64(message, ETHTOOL_A_PAUSE_STAT_TX_FRAMES, 41);
	mnl_attr_put_u64(message, ETHTOOL_A_PAUSE_STAT_RX_FRAMES, 43);
	mnl_attr_nest_end(message, nest);
	return message;
}

static void
put_offer(struct nlmsghdr *message, uint16_t type, unsigned bits, bool with_mask)
{
	uint32_t value[3] = {bits << ETHTOOL_LINK_MODE_Pause_BIT, 1, 0}, mask[3] = {~0u, ~0u, ~0u};
	struct nlattr *nest = mnl_attr_nest_start(message, type);

	if (!with_mask)
		mnl_attr_put(message, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(message, ETHTOOL_A_BITSET_SIZE, 92);
	mnl_attr_put(message, ETHTOOL_A_BITSET_VALUE, sizeof(value), value);
	if (with_mask)
		mnl_attr_put(message, ETHTOOL_A_BITSET_MASK, sizeof(mask), mask);
	mnl_attr_nest_end(message, nest);
}

enum { PAUSE = 1, ASYMMETRIC = 2, NOTHING_TOLD = 4 }; /* of an offer */

static struct nlmsghdr *
modes_message(uint8_t autoneg, uint32_t mbit, uint8_t duplex, unsigned ours, unsigned peers)
{
	struct nlmsghdr *message = begin(ETHTOOL_MSG_LINKMODES_GET_REPLY);

	put_header(message, ETHTOOL_A_LINKMODES_HEADER, 5);
	mnl_attr_put_u8(message, ETHTOOL_A_LINKMODES_AUTONEG, autoneg);
	put_offer(message, ETHTOOL_A_LINKMODES_OURS, ours, true);
	if (peers != NOTHING_TOLD)
		put_offer(message, ETHTOOL_A_LINKMODES_PEER, peers, false);
	mnl_attr_put_u32(message, ETHTOOL_A_LINKMODES_SPEED, mbit);
	mnl_attr_put_u8(message, ETHTOOL_A_LINKMODES_DUPLEX, duplex);
	return message;
}

static struct nlmsghdr *
eee_message(uint8_t enabled, uint8_t active)
{
	struct nlmsghdr *message = begin(ETHTOOL_MSG_EEE_GET_REPLY);

	put_header(message, ETHTOOL_A_EEE_HEADER, 5);
	mnl_attr_put_u8(message, ETHTOOL_A_EEE_ACTIVE, active);
	mnl_attr_put_u8(message, ETHTOOL_A_EEE_ENABLED, enabled);
	mnl_attr_put_u8(message, ETHTOOL_A_EEE_TX_LPI_ENABLED, 1);
	mnl_attr_put_u32(message, ETHTOOL_A_EEE_TX_LPI_TIMER, 20);
	return message;
}

/* ---- what they say ---- */

#define BIT(figure) (1ull << (figure))

/* All there are, each with a value of its own: the number by which IEEE 802.3 clause 30 (30.3.1.1.N
 * and 30.3.2.1.5, 30.3.3.N) or RFC 2819 (etherStats column N) calls it. */
static const struct {
	struct stat stat;
	enum hal_figure figure; /* HAL_N_FIGURES: none of ours */
} all[] = {
    {{ETHTOOL_STATS_ETH_PHY, ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, 2105}, HAL_SYMBOL_ERRORS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT, 1102}, HAL_POOL_OUT_PKTS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_3_SINGLE_COL, 1103}, HAL_SINGLE_COLLISIONS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_4_MULTI_COL, 1104}, HAL_MULTIPLE_COLLISIONS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT, 1105}, HAL_POOL_IN_PKTS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, 1106}, HAL_FCS_ERRORS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_7_ALIGN_ERR, 1107}, HAL_ALIGNMENT_ERRORS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES, 1108}, HAL_OUT_OCTETS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES, 1114}, HAL_IN_OCTETS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_9_TX_DEFER, 1109}, HAL_DEFERRED},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_10_LATE_COL, 1110}, HAL_LATE_COLLISIONS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_11_XS_COL, 1111}, HAL_EXCESSIVE_COLLISIONS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_12_TX_INT_ERR, 1112}, HAL_MAC_TX_ERRORS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_13_CS_ERR, 1113}, HAL_CARRIER_SENSE_ERRORS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_15_RX_INT_ERR, 1115}, HAL_MAC_RX_ERRORS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_18_TX_MCAST, 1118}, HAL_OUT_MCAST_PKTS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_19_TX_BCAST, 1119}, HAL_OUT_BCAST_PKTS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_20_XS_DEFER, 1120}, HAL_N_FIGURES},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_21_RX_MCAST, 1121}, HAL_IN_MCAST_PKTS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_22_RX_BCAST, 1122}, HAL_IN_BCAST_PKTS},
    {{ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_25_TOO_LONG_ERR, 1125}, HAL_FRAME_TOO_LONGS},
    {{ETHTOOL_STATS_ETH_CTRL, ETHTOOL_A_STATS_ETH_CTRL_3_TX, 3303}, HAL_N_FIGURES},
    {{ETHTOOL_STATS_ETH_CTRL, ETHTOOL_A_STATS_ETH_CTRL_5_RX_UNSUP, 3305}, HAL_IN_UNKNOWN_OPCODES},
    {{ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_UNDERSIZE, 9}, HAL_RMON_UNDERSIZE},
    {{ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_OVERSIZE, 10}, HAL_RMON_OVERSIZE},
    {{ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_FRAG, 11}, HAL_RMON_FRAGMENTS},
    {{ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_JABBER, 12}, HAL_RMON_JABBERS},
};
enum { N_ALL = sizeof(all) / sizeof(all[0]) };

START_TEST(each_statistic_is_its_figure)
{
	struct hal_counters whole = {0};
	struct stat stats[N_ALL];

	for (size_t i = 0; i < N_ALL; i++) {
		struct hal_counters alone = {0};

		stats[i] = all[i].stat;
		ck_assert_int_eq(ethtool_parse_stats(stats_message(&stats[i], 1, NULL, 0), &alone), 0);
		ck_assert_uint_eq(alone.known, all[i].figure == HAL_N_FIGURES ? 0 : BIT(all[i].figure));
	}
	ck_assert_int_eq(ethtool_parse_stats(stats_message(stats, N_ALL, NULL, 0), &whole), 0);
	for (size_t i = 0; i < N_ALL; i++)
		if (all[i].figure != HAL_N_FIGURES)
			ck_assert_uint_eq(whole.value[all[i].figure], all[i].stat.value);
	/* With RMON there is more of it that these say: RFC 2819 columns 6, 7, 8. */
	ck_assert_uint_eq(whole.value[HAL_RMON_BCAST_PKTS], 1122);
	ck_assert_uint_eq(whole.value[HAL_RMON_MCAST_PKTS], 1121);
	ck_assert_uint_eq(whole.value[HAL_RMON_CRC_ALIGN], 1106 + 1107);
	/* What was not reported is not there. */
	ck_assert(!(whole.known & (BIT(HAL_RMON_PKTS) | BIT(HAL_RMON_OCTETS) | BIT(HAL_RMON_64) |
	    BIT(HAL_SQE_TEST_ERRORS) | BIT(HAL_RMON_COLLISIONS) | BIT(HAL_RMON_DROP_EVENTS))));
}
END_TEST

START_TEST(a_driver_without_statistics_tells_nothing)
{
	struct hal_counters figures = {0};

	ck_assert_int_eq(ethtool_parse_stats(stats_message(NULL, 0, NULL, 0), &figures), 0);
	ck_assert_uint_eq(figures.known, 0);
	/* Nothing in all the groups, as veth has it. */
	put_header(begin(ETHTOOL_MSG_STATS_GET_REPLY), ETHTOOL_A_STATS_HEADER, 5);
	ck_assert_int_eq(ethtool_parse_stats((struct nlmsghdr *)octets, &figures), 0);
	ck_assert_uint_eq(figures.known, 0);
}
END_TEST

START_TEST(sizes_are_rmons_or_left_out)
{
	/* As drivers have them: from 0; finer ones; one that goes beyond 1518; one twice. */
	static const struct bucket buckets[] = {{0, 64, 1}, {65, 127, 20}, {128, 191, 300},
	    {192, 255, 4000}, {256, 511, 5}, {256, 511, 6}, {512, 1023, 7}, {1024, 1522, 80}};
	static const struct bucket end[] = {{1024, 1518, 9}, {1519, UINT32_MAX, 100}};
	struct hal_counters figures = {0};

	ck_assert_int_eq(ethtool_parse_stats(stats_message(NULL, 0, buckets, 8), &figures), 0);
	ck_assert_uint_eq(figures.known, BIT(HAL_RMON_64) | BIT(HAL_RMON_65_127) |
	    BIT(HAL_RMON_128_255) | BIT(HAL_RMON_512_1023));
	ck_assert_uint_eq(figures.value[HAL_RMON_64], 1);
	ck_assert_uint_eq(figures.value[HAL_RMON_65_127], 20);
	ck_assert_uint_eq(figures.value[HAL_RMON_128_255], 4300);
	figures = (struct hal_counters){0};
	ck_assert_int_eq(ethtool_parse_stats(stats_message(NULL, 0, end, 2), &figures), 0);
	ck_assert_uint_eq(figures.known, BIT(HAL_RMON_1024_MAX));
	ck_assert_uint_eq(figures.value[HAL_RMON_1024_MAX], 9);
}
END_TEST

/* RFC 2819: etherStatsPkts = the six classes + undersize + oversize + fragments + jabbers. */
START_TEST(packets_are_counted_if_every_size_is)
{
	static const struct bucket buckets[] = {{0, 64, 1}, {65, 127, 20}, {128, 255, 300},
	    {256, 511, 4000}, {512, 1023, 50000}, {1024, 1518, 600000}, {1519, 9216, 7000000}};
	static const struct stat odd[] = {{ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_UNDERSIZE, 9},
	    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_OVERSIZE, 90},
	    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_FRAG, 900},
	    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_JABBER, 9000}};
	struct hal_counters figures = {0};

	ck_assert_int_eq(ethtool_parse_stats(stats_message(odd, 4, buckets, 6), &figures), 0);
	ck_assert_uint_eq(figures.value[HAL_RMON_PKTS], 654321 + 9999);
	figures = (struct hal_counters){0};
	ck_assert_int_eq(ethtool_parse_stats(stats_message(odd, 4, buckets, 7), &figures), 0);
	ck_assert_uint_eq(figures.value[HAL_RMON_PKTS], 7654321 + 909); /* the long ones once */
	figures = (struct hal_counters){0};
	ck_assert_int_eq(ethtool_parse_stats(stats_message(odd, 4, buckets + 1, 6), &figures), 0);
	ck_assert(!(figures.known & BIT(HAL_RMON_PKTS)));
}
END_TEST

START_TEST(flow_control_as_configured)
{
	static const uint8_t modes[2][2] = {{HAL_PAUSE_DISABLED, HAL_PAUSE_XMIT},
	    {HAL_PAUSE_RCV, HAL_PAUSE_BOTH}};
	struct ethtool_pause pause = {0};
	struct hal_counters figures = {0};

	ck_assert_uint_eq(ethtool_pause_admin(&pause), HAL_PAUSE_NOT_KNOWN);
	for (int i = 0; i < 4; i++) {
		uint8_t rx = i & 1, tx = i >> 1 & 1;

		ck_assert_int_eq(
		    ethtool_parse_pause(pause_message(0, rx, tx, false), &pause, &figures), 0);
		ck_assert_uint_eq(ethtool_pause_admin(&pause), modes[rx][tx]);
		ck_assert_uint_eq(
		    ethtool_pause_oper(&pause, &(struct ethtool_modes){0}, true), modes[rx][tx]);
		ck_assert_uint_eq(figures.known, 0);
	}
	ck_assert_int_eq(ethtool_parse_pause(pause_message(1, 1, 1, true), &pause, &figures), 0);
	ck_assert_uint_eq(figures.known, BIT(HAL_IN_PAUSE_PKTS) | BIT(HAL_OUT_PAUSE_PKTS));
	ck_assert_uint_eq(figures.value[HAL_IN_PAUSE_PKTS], 43);
	ck_assert_uint_eq(figures.value[HAL_OUT_PAUSE_PKTS], 41);
}
END_TEST

/* IEEE 802.3-2018 table 28B-3, row by row: ours, the partner's, what we then do. */
START_TEST(flow_control_as_agreed)
{
	static const struct {
		unsigned ours, peers;
		uint8_t mode;
	} rows[] = {
	    {0, 0, HAL_PAUSE_DISABLED}, {0, PAUSE | ASYMMETRIC, HAL_PAUSE_DISABLED},
	    {ASYMMETRIC, 0, HAL_PAUSE_DISABLED}, {ASYMMETRIC, PAUSE, HAL_PAUSE_DISABLED},
	    {ASYMMETRIC, ASYMMETRIC, HAL_PAUSE_DISABLED},
	    {ASYMMETRIC, PAUSE | ASYMMETRIC, HAL_PAUSE_XMIT},
	    {PAUSE, 0, HAL_PAUSE_DISABLED}, {PAUSE, ASYMMETRIC, HAL_PAUSE_DISABLED},
	    {PAUSE, PAUSE, HAL_PAUSE_BOTH}, {PAUSE, PAUSE | ASYMMETRIC, HAL_PAUSE_BOTH},
	    {PAUSE | ASYMMETRIC, 0, HAL_PAUSE_DISABLED},
	    {PAUSE | ASYMMETRIC, ASYMMETRIC, HAL_PAUSE_RCV},
	    {PAUSE | ASYMMETRIC, PAUSE, HAL_PAUSE_BOTH},
	    {PAUSE | ASYMMETRIC, PAUSE | ASYMMETRIC, HAL_PAUSE_BOTH},
	    {PAUSE, NOTHING_TOLD, HAL_PAUSE_NOT_KNOWN},
	};
	struct ethtool_pause pause = {.known = true, .autoneg = true, .rx = true, .tx = true};
	struct ethtool_modes modes;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(ethtool_parse_modes(modes_message(AUTONEG_ENABLE, 1000, DUPLEX_FULL,
		    rows[i].ours, rows[i].peers), &modes), 0);
		ck_assert_msg(ethtool_pause_oper(&pause, &modes, true) == rows[i].mode, "row %zu", i);
		ck_assert_uint_eq(ethtool_pause_oper(&pause, &modes, false), HAL_PAUSE_DISABLED);
	}
	/* Half duplex has none; without agreement it is what is configured. */
	ethtool_parse_modes(modes_message(AUTONEG_ENABLE, 10, DUPLEX_HALF, PAUSE, PAUSE), &modes);
	ck_assert_uint_eq(ethtool_pause_oper(&pause, &modes, true), HAL_PAUSE_DISABLED);
	ethtool_parse_modes(modes_message(AUTONEG_DISABLE, 1000, DUPLEX_FULL, 0, 0), &modes);
	ck_assert_uint_eq(ethtool_pause_oper(&pause, &modes, true), HAL_PAUSE_BOTH);
}
END_TEST

START_TEST(speed_known_and_not)
{
	struct ethtool_modes modes;

	ethtool_parse_modes(begin(ETHTOOL_MSG_LINKMODES_GET_REPLY), &modes);
	ck_assert_uint_eq(modes.speed_bps, 0);
	ck_assert_uint_eq(modes.duplex, EASE_DUPLEX_UNKNOWN);
	ethtool_parse_modes(modes_message(0, 2500, DUPLEX_HALF, 0, 0), &modes);
	ck_assert_uint_eq(modes.speed_bps, 2500000000ull);
	ck_assert_uint_eq(modes.duplex, EASE_DUPLEX_HALF);
	ethtool_parse_modes(modes_message(0, (uint32_t)SPEED_UNKNOWN, DUPLEX_UNKNOWN, 0, 0), &modes);
	ck_assert_uint_eq(modes.speed_bps, 0);
	ck_assert_uint_eq(modes.duplex, EASE_DUPLEX_UNKNOWN);
}
END_TEST

START_TEST(low_power_idle_is_a_state)
{
	uint8_t state = HAL_EEE_NOT_KNOWN;

	ck_assert_int_eq(ethtool_parse_eee(eee_message(0, 1), &state), 0);
	ck_assert_uint_eq(state, HAL_EEE_DISABLED);
	ck_assert_int_eq(ethtool_parse_eee(eee_message(1, 0), &state), 0);
	ck_assert_uint_eq(state, HAL_EEE_ENABLED);
	ck_assert_int_eq(ethtool_parse_eee(eee_message(1, 1), &state), 0);
	ck_assert_uint_eq(state, HAL_EEE_ACTIVE);
}
END_TEST

START_TEST(notices_name_their_link)
{
	struct nlmsghdr *message = begin(ETHTOOL_MSG_EEE_NTF);
	uint32_t kernel_index = 0;

	ck_assert_int_eq(ethtool_parse_notice(message, &kernel_index), -EPROTO);
	put_header(message, ETHTOOL_A_EEE_HEADER, 77);
	ck_assert_int_eq(ethtool_parse_notice(message, &kernel_index), 0);
	ck_assert_uint_eq(kernel_index, 77);
	ck_assert_int_eq(
	    ethtool_parse_notice(begin(ETHTOOL_MSG_RINGS_NTF), &kernel_index), -ENOMSG);
}
END_TEST

/* Wherever an answer is cut, and whatever length one attribute claims. */
START_TEST(what_is_damaged_leaves_what_was_known)
{
	struct stat stats[N_ALL];
	struct hal_counters before = {.known = BIT(HAL_RMON_64), .value[HAL_RMON_64] = 5}, after;
	static const struct bucket bucket = {65, 127, 1};
	struct ethtool_pause pause;
	struct nlmsghdr *message;
	uint32_t whole;

	for (size_t i = 0; i < N_ALL; i++)
		stats[i] = all[i].stat;
	message = stats_message(stats, N_ALL, &bucket, 1);
	whole = message->nlmsg_len;
	for (uint32_t n = NLMSG_HDRLEN; n < whole; n++) {
		int rc;

		message->nlmsg_len = n;
		after = before;
		rc = ethtool_parse_stats(message, &after);
		ck_assert(rc == 0 || rc == -EPROTO);
		ck_assert_uint_eq(after.value[HAL_RMON_64], 5);
		ck_assert(rc == 0 || memcmp(&after, &before, sizeof(after)) == 0);
	}
	message = pause_message(1, 1, 1, true);
	mnl_attr_put_u32(message, ETHTOOL_A_PAUSE_RX, 1); /* it has one octet */
	after = before;
	ck_assert_int_eq(ethtool_parse_pause(message, &pause, &after), -EPROTO);
	ck_assert_mem_eq(&after, &before, sizeof(after));
	ck_assert_int_eq(ethtool_parse_stats(begin(ETHTOOL_MSG_PAUSE_GET_REPLY), &after), -ENOMSG);
}
END_TEST

/* ---- a driver that has them, on a link of the kernel's ---- */

static struct linux_rig rig;
static struct {
	uint32_t kernel_index; /* of the link it drives; 0: there is none */
	struct netlink *generic;
	bool rx, tx; /* flow control, as was set */
	bool deaf;   /* to that */
	struct stat stats[N_ALL];
	size_t n_stats;
	unsigned n_asked; /* for statistics */
	uint32_t takes_us; /* to answer that */
	int kernel_said[ETHTOOL_MSG_USER_MAX + 1]; /* to the newest question of each sort */
} driver;
static struct clock stepped = {.manual = true};

int __real_netlink_open(int protocol, struct netlink **netlink);
int __wrap_netlink_open(int protocol, struct netlink **netlink);
int __real_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take,
    void *ctx);
int __wrap_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take,
    void *ctx);

int
__wrap_netlink_open(int protocol, struct netlink **netlink)
{
	int rc = __real_netlink_open(protocol, netlink);

	if (rc == 0 && protocol == NETLINK_GENERIC)
		driver.generic = *netlink;
	return rc;
}

static uint32_t
asked_index(const struct nlmsghdr *question)
{
	const struct nlattr *header, *attr;

	mnl_attr_for_each(header, question, sizeof(struct genlmsghdr)) {
		mnl_attr_for_each_nested(attr, header)
			if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_DEV_INDEX)
				return mnl_attr_get_u32(attr);
		break; /* the header stands first */
	}
	return 0;
}

static void
set_pause(const struct nlmsghdr *question)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, question, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_RX)
			driver.rx = mnl_attr_get_u8(attr);
		if (mnl_attr_get_type(attr) == ETHTOOL_A_PAUSE_TX)
			driver.tx = mnl_attr_get_u8(attr);
	}
}

int
__wrap_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take, void *ctx)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(question);

	if (netlink != driver.generic || driver.kernel_index == 0 ||
	    question->nlmsg_type == GENL_ID_CTRL)
		return __real_netlink_request(netlink, question, take, ctx);
	if (asked_index(question) != driver.kernel_index)
		return driver.kernel_said[head->cmd] =
			   __real_netlink_request(netlink, question, take, ctx);
	switch (head->cmd) {
	case ETHTOOL_MSG_LINKMODES_GET:
		return take(ctx, modes_message(AUTONEG_ENABLE, 1000, DUPLEX_FULL, PAUSE, PAUSE));
	case ETHTOOL_MSG_PAUSE_GET:
		return take(ctx, pause_message(0, driver.rx, driver.tx, true));
	case ETHTOOL_MSG_PAUSE_SET:
		if (!driver.deaf)
			set_pause(question);
		return 0;
	case ETHTOOL_MSG_EEE_GET:
		return take(ctx, eee_message(1, 1));
	case ETHTOOL_MSG_STATS_GET:
		driver.n_asked++;
		clock_step_us(&stepped, driver.takes_us);
		return take(ctx, stats_message(driver.stats, driver.n_stats, NULL, 0));
	default:
		return -EOPNOTSUPP;
	}
}

/* br0 with p0, which the driver has, and p1, which has a driver of the kernel's that counts nothing. */
static bool
set_up(const char *test)
{
	if (!linux_rig_enter(test))
		return false;
	linux_rig_sh("ip link add br0 type bridge mcast_snooping 0");
	for (int i = 0; i < 2; i++)
		linux_rig_sh("ip link add p%d type veth peer name h%d; ip link set p%d master br0 up; "
			     "ip link set h%d up", i, i, i, i);
	linux_rig_sh("ip link set br0 up");
	driver.kernel_index = if_nametoindex("p0");
	for (size_t i = 0; i < N_ALL; i++)
		driver.stats[i] = all[i].stat;
	driver.n_stats = N_ALL;
	stepped.manual_mono_us = stepped.manual_wall_us = 1000000;
	rig.config.clock = &stepped;
	linux_rig_start(&rig);
	return true;
}

static void
forget(void)
{
	rig = (struct linux_rig){0};
	memset(&driver, 0, sizeof(driver));
}

START_TEST(a_port_has_what_its_driver_tells)
{
	const struct hal_port *port;
	struct hal_energy energy;

	if (!set_up(__func__))
		return;
	port = linux_rig_port(&rig, "p0");
	for (size_t i = 0; i < N_ALL; i++) {
		/* All frames and octets are the kernel's to tell of a link that is no port of a switch chip. */
		if (all[i].figure == HAL_N_FIGURES ||
		    BIT(all[i].figure) & (BIT(HAL_POOL_IN_PKTS) | BIT(HAL_POOL_OUT_PKTS) | BIT(HAL_IN_OCTETS) | BIT(HAL_OUT_OCTETS)))
			continue;
		ck_assert(port->counters.known & BIT(all[i].figure));
		ck_assert_uint_eq(port->counters.value[all[i].figure], all[i].stat.value);
	}
	ck_assert_uint_eq(port->counters.value[HAL_IN_PAUSE_PKTS], 43);
	ck_assert_uint_eq(port->speed_bps, 1000000000);
	ck_assert_uint_eq(port->duplex, EASE_DUPLEX_FULL);
	ck_assert_uint_eq(port->pause_admin, HAL_PAUSE_DISABLED);
	ck_assert_int_eq(hal_read_energy(rig.hal, port->if_index, &energy), 0);
	ck_assert_uint_eq(energy.state, HAL_EEE_ACTIVE);
	ck_assert(!energy.counts);
	linux_rig_stop(&rig);
}
END_TEST

/* On veth, in the same switch. */
START_TEST(a_port_has_nothing_that_its_driver_does_not_tell)
{
	const struct hal_port *port;
	struct hal_energy energy;

	if (!set_up(__func__))
		return;
	port = linux_rig_port(&rig, "p1");
	ck_assert(!(port->counters.known & (HAL_DOT3_FIGURES | HAL_CONTROL_FIGURES |
	    HAL_RMON_FIGURES | BIT(HAL_IN_BCAST_PKTS) | BIT(HAL_OUT_MCAST_PKTS) |
	    BIT(HAL_OUT_BCAST_PKTS))));
	ck_assert(port->counters.known & BIT(HAL_IN_UCAST_PKTS));
	ck_assert_uint_eq(port->pause_admin, HAL_PAUSE_NOT_KNOWN);
	ck_assert_uint_eq(port->pause_oper, HAL_PAUSE_NOT_KNOWN);
	ck_assert_int_eq(hal_read_energy(rig.hal, port->if_index, &energy), -ENODEV);
	/* It was asked in words that the kernel knows (-EINVAL otherwise). */
	ck_assert_int_eq(driver.kernel_said[ETHTOOL_MSG_LINKMODES_GET], 0);
	ck_assert_int_eq(driver.kernel_said[ETHTOOL_MSG_STATS_GET], 0);
	ck_assert_int_eq(driver.kernel_said[ETHTOOL_MSG_PAUSE_GET], -EOPNOTSUPP);
	ck_assert_int_eq(driver.kernel_said[ETHTOOL_MSG_EEE_GET], -EOPNOTSUPP);
	linux_rig_stop(&rig);
}
END_TEST

/* The three kinds make up all frames at any moment, also while the driver is not asked. */
START_TEST(kinds_of_frames_add_up)
{
	static const uint8_t to_p0[6] = {0x02, 0x99, 0, 0, 0, 1};
	const struct hal_port *port;
	const uint64_t *value;

	if (!set_up(__func__))
		return;
	driver.stats[0] = (struct stat){ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_21_RX_MCAST, 3};
	driver.stats[1] = (struct stat){ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_22_RX_BCAST, 20};
	driver.n_stats = 2;
	linux_rig_send("h0", to_p0, 100, 100, 1);
	clock_step_us(&stepped, 1000000);
	port = linux_rig_port(&rig, "p0");
	value = port->counters.value;
	ck_assert_uint_eq(value[HAL_IN_UCAST_PKTS], 77);
	ck_assert_uint_eq(value[HAL_IN_MCAST_PKTS], 3);
	ck_assert_uint_eq(value[HAL_IN_BCAST_PKTS], 20);
	ck_assert_uint_eq(value[HAL_IN_OCTETS], 104 * 100);
	linux_rig_send("h0", to_p0, 100, 50, 1); /* octets are new, kinds wait for the driver */
	driver.stats[1].value = 60;
	port = linux_rig_port(&rig, "p0");
	ck_assert_uint_eq(value[HAL_IN_OCTETS], 104 * 150);
	ck_assert_uint_eq(value[HAL_IN_UCAST_PKTS] + value[HAL_IN_BCAST_PKTS] + 3, 100);
	clock_step_us(&stepped, 1000000);
	port = linux_rig_port(&rig, "p0");
	ck_assert_uint_eq(value[HAL_IN_BCAST_PKTS], 60);
	ck_assert_uint_eq(value[HAL_IN_UCAST_PKTS], 87);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(drivers_are_asked_a_few_times_a_second)
{
	unsigned before;

	if (!set_up(__func__))
		return;
	linux_rig_port(&rig, "p0");
	before = driver.n_asked;
	for (int i = 0; i < 1000; i++) {
		linux_rig_port(&rig, "p0");
		clock_step_us(&stepped, 1000);
	}
	ck_assert_uint_ge(driver.n_asked - before, 3);
	ck_assert_uint_le(driver.n_asked - before, 5);
	linux_rig_stop(&rig);
}
END_TEST

/* While it answers nobody is served. */
START_TEST(a_slow_driver_is_asked_less_often)
{
	uint64_t end_us;
	unsigned before;

	if (!set_up(__func__))
		return;
	for (int i = 0; i < 2; i++) /* the first finds out which drivers count */
		ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	driver.takes_us = 500000;
	before = driver.n_asked;
	end_us = stepped.manual_mono_us + 60000000;
	while (stepped.manual_mono_us < end_us) {
		linux_rig_port(&rig, "p0");
		clock_step_us(&stepped, 10000);
	}
	ck_assert_uint_ge(driver.n_asked - before, 10);
	ck_assert_uint_le(driver.n_asked - before, 60 / 5 * 2); /* of 500 ms each: a fifth of the time */
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(flow_control_is_set_through_the_driver)
{
	uint32_t p0, p1;

	if (!set_up(__func__))
		return;
	p0 = linux_rig_port(&rig, "p0")->if_index;
	p1 = linux_rig_port(&rig, "p1")->if_index;
	ck_assert_int_eq(hal_set_pause(rig.hal, p0, HAL_PAUSE_RCV), 0);
	ck_assert(driver.rx && !driver.tx);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->pause_admin, HAL_PAUSE_RCV);
	ck_assert_int_eq(hal_set_pause(rig.hal, p0, HAL_PAUSE_XMIT), 0);
	ck_assert(!driver.rx && driver.tx);
	ck_assert_int_eq(hal_set_pause(rig.hal, p0, HAL_PAUSE_BOTH), 0);
	ck_assert(driver.rx && driver.tx);
	ck_assert_int_eq(hal_set_pause(rig.hal, p1, HAL_PAUSE_BOTH), -ENODEV);
	driver.deaf = true;
	ck_assert_int_eq(hal_set_pause(rig.hal, p0, HAL_PAUSE_DISABLED), -EIO);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->pause_admin, HAL_PAUSE_BOTH);
	linux_rig_stop(&rig);
}
END_TEST

/* A tap's speed is whatever it is told, without any notice of the link itself. */
START_TEST(changes_are_heard_from_the_driver)
{
	if (!linux_rig_enter(__func__))
		return;
	if (!linux_rig_can("ip tuntap add tap0 mode tap && ethtool -s tap0 speed 10 duplex full")) {
		printf("SKIP %s: no tap, or none that takes a speed\n", __func__);
		return;
	}
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "tap0")->speed_bps, 10000000);
	linux_rig_sh("ethtool -s tap0 speed 2500 duplex half");
	linux_rig_settle(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "tap0")->speed_bps, 2500000000ull);
	ck_assert_uint_eq(linux_rig_port(&rig, "tap0")->duplex, EASE_DUPLEX_HALF);
	ck_assert_uint_eq(rig.n_changes, 1);
	linux_rig_stop(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ethtool");
	TCase *messages = tcase_create("messages"), *device = tcase_create("a driver");

	tcase_add_test(messages, each_statistic_is_its_figure);
	tcase_add_test(messages, a_driver_without_statistics_tells_nothing);
	tcase_add_test(messages, sizes_are_rmons_or_left_out);
	tcase_add_test(messages, packets_are_counted_if_every_size_is);
	tcase_add_test(messages, flow_control_as_configured);
	tcase_add_test(messages, flow_control_as_agreed);
	tcase_add_test(messages, speed_known_and_not);
	tcase_add_test(messages, low_power_idle_is_a_state);
	tcase_add_test(messages, notices_name_their_link);
	tcase_add_test(messages, what_is_damaged_leaves_what_was_known);
	suite_add_tcase(suite, messages);
	tcase_set_timeout(device, 60);
	tcase_add_checked_fixture(device, forget, NULL);
	tcase_add_test(device, a_port_has_what_its_driver_tells);
	tcase_add_test(device, a_port_has_nothing_that_its_driver_does_not_tell);
	tcase_add_test(device, kinds_of_frames_add_up);
	tcase_add_test(device, drivers_are_asked_a_few_times_a_second);
	tcase_add_test(device, a_slow_driver_is_asked_less_often);
	tcase_add_test(device, flow_control_is_set_through_the_driver);
	tcase_add_test(device, changes_are_heard_from_the_driver);
	suite_add_tcase(suite, device);
	return suite_run(suite);
}
