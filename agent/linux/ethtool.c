#include "agent/linux/ethtool.h"

#include "agent/linux/attribute.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

/* Whether the message is this answer, or the notice with the same attributes. */
static int
ethtool_check_command(const struct nlmsghdr *message, uint8_t reply, uint8_t notice)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(message);

	if (message->nlmsg_type < NLMSG_MIN_TYPE)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	return head->cmd == reply || head->cmd == notice ? 0 : -ENOMSG;
}

static void
put_ethtool_figure(struct hal_counters *figures, enum hal_figure figure, uint64_t value)
{
	figures->value[figure] = value;
	figures->known |= 1ull << figure;
}

static bool
has_ethtool_figure(const struct hal_counters *figures, enum hal_figure figure)
{
	return figures->known >> figure & 1;
}

/* ---- speed, duplex, and what both sides advertise ---- */

static uint8_t
duplex_of(uint8_t ethtool_duplex)
{
	switch (ethtool_duplex) {
	case DUPLEX_HALF:
		return EASE_DUPLEX_HALF;
	case DUPLEX_FULL:
		return EASE_DUPLEX_FULL;
	default:
		return EASE_DUPLEX_UNKNOWN;
	}
}

/* Link modes are requested as compact bit sets: words of 32 bits, the lowest first. */
static int
take_offer(const struct nlattr *bitset, struct ethtool_offer *offer)
{
	const struct nlattr *attr;
	uint32_t first;

	mnl_attr_for_each_nested(attr, bitset) {
		if (mnl_attr_get_type(attr) != ETHTOOL_A_BITSET_VALUE)
			continue;
		if (mnl_attr_get_payload_len(attr) < sizeof(first))
			return -EPROTO;
		memcpy(&first, mnl_attr_get_payload(attr), sizeof(first));
		*offer = (struct ethtool_offer){
		    .known = true,
		    .pause = first >> ETHTOOL_LINK_MODE_Pause_BIT & 1,
		    .asymmetric = first >> ETHTOOL_LINK_MODE_Asym_Pause_BIT & 1,
		};
	}
	return 0;
}

static int
take_mode(const struct nlattr *attr, struct ethtool_modes *modes)
{
	uint32_t mbit;
	uint8_t octet = 0;
	int rc = 0;

	switch (mnl_attr_get_type(attr)) {
	case ETHTOOL_A_LINKMODES_SPEED:
		rc = attribute_u32(attr, &mbit);
		if (rc == 0 && mbit != (uint32_t)SPEED_UNKNOWN)
			modes->speed_bps = mbit * 1000000ull;
		return rc;
	case ETHTOOL_A_LINKMODES_DUPLEX:
		rc = attribute_u8(attr, &octet);
		if (rc == 0)
			modes->duplex = duplex_of(octet);
		return rc;
	case ETHTOOL_A_LINKMODES_AUTONEG:
		rc = attribute_u8(attr, &octet);
		modes->autoneg = rc == 0 && octet == AUTONEG_ENABLE;
		return rc;
	case ETHTOOL_A_LINKMODES_OURS:
		return take_offer(attr, &modes->ours);
	case ETHTOOL_A_LINKMODES_PEER:
		return take_offer(attr, &modes->peers);
	default:
		return 0;
	}
}

int
ethtool_parse_modes(const struct nlmsghdr *message, struct ethtool_modes *modes)
{
	struct ethtool_modes parsed = {.duplex = EASE_DUPLEX_UNKNOWN};
	const struct nlattr *attr;
	int rc = ethtool_check_command(message, ETHTOOL_MSG_LINKMODES_GET_REPLY, ETHTOOL_MSG_LINKMODES_NTF);

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (rc == 0)
			rc = take_mode(attr, &parsed);
	if (rc == 0)
		*modes = parsed;
	return rc;
}

/* ---- flow control ---- */

static int
take_pause_counts(const struct nlattr *stats, struct hal_counters *figures)
{
	const struct nlattr *attr;
	uint64_t frames;

	mnl_attr_for_each_nested(attr, stats) {
		unsigned type = mnl_attr_get_type(attr);

		if (type != ETHTOOL_A_PAUSE_STAT_TX_FRAMES && type != ETHTOOL_A_PAUSE_STAT_RX_FRAMES)
			continue;
		if (attribute_u64(attr, &frames) < 0)
			return -EPROTO;
		put_ethtool_figure(figures, type == ETHTOOL_A_PAUSE_STAT_TX_FRAMES ? HAL_OUT_PAUSE_PKTS
								    : HAL_IN_PAUSE_PKTS, frames);
	}
	return 0;
}

static int
ethtool_take_pause(const struct nlattr *attr, struct ethtool_pause *pause, struct hal_counters *figures)
{
	switch (mnl_attr_get_type(attr)) {
	case ETHTOOL_A_PAUSE_AUTONEG:
		return attribute_bool(attr, &pause->autoneg);
	case ETHTOOL_A_PAUSE_RX:
		return attribute_bool(attr, &pause->rx);
	case ETHTOOL_A_PAUSE_TX:
		return attribute_bool(attr, &pause->tx);
	case ETHTOOL_A_PAUSE_STATS:
		return take_pause_counts(attr, figures);
	default:
		return 0;
	}
}

int
ethtool_parse_pause(const struct nlmsghdr *message, struct ethtool_pause *pause, struct hal_counters *figures)
{
	struct ethtool_pause parsed = {.known = true};
	struct hal_counters counted = *figures;
	const struct nlattr *attr;
	int rc = ethtool_check_command(message, ETHTOOL_MSG_PAUSE_GET_REPLY, ETHTOOL_MSG_PAUSE_NTF);

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (rc == 0)
			rc = ethtool_take_pause(attr, &parsed, &counted);
	if (rc < 0)
		return rc;
	*pause = parsed;
	*figures = counted;
	return 0;
}

static uint8_t
pause_mode(bool rx, bool tx)
{
	if (rx && tx)
		return HAL_PAUSE_BOTH;
	return rx ? HAL_PAUSE_RCV : tx ? HAL_PAUSE_XMIT : HAL_PAUSE_DISABLED;
}

uint8_t
ethtool_pause_admin(const struct ethtool_pause *pause)
{
	return pause->known ? pause_mode(pause->rx, pause->tx) : HAL_PAUSE_NOT_KNOWN;
}

/* IEEE 802.3 table 28B-3. */
static uint8_t
agreed_pause(const struct ethtool_offer *ours, const struct ethtool_offer *peers)
{
	bool one_way = ours->asymmetric && peers->asymmetric;

	if (ours->pause && peers->pause)
		return HAL_PAUSE_BOTH;
	return pause_mode(one_way && ours->pause, one_way && peers->pause);
}

uint8_t
ethtool_pause_oper(const struct ethtool_pause *pause, const struct ethtool_modes *modes, bool link_up)
{
	if (!pause->known)
		return HAL_PAUSE_NOT_KNOWN;
	if (!link_up || modes->duplex == EASE_DUPLEX_HALF)
		return HAL_PAUSE_DISABLED;
	if (!pause->autoneg || !modes->autoneg)
		return ethtool_pause_admin(pause);
	if (!modes->ours.known || !modes->peers.known)
		return HAL_PAUSE_NOT_KNOWN;
	return agreed_pause(&modes->ours, &modes->peers);
}

/* ---- Energy Efficient Ethernet ---- */

int
ethtool_parse_eee(const struct nlmsghdr *message, uint8_t *state)
{
	bool enabled = false, active = false;
	const struct nlattr *attr;
	int rc = ethtool_check_command(message, ETHTOOL_MSG_EEE_GET_REPLY, ETHTOOL_MSG_EEE_NTF);

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == ETHTOOL_A_EEE_ENABLED)
			rc = attribute_bool(attr, &enabled);
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_EEE_ACTIVE)
			rc = attribute_bool(attr, &active);
		if (rc < 0)
			return rc;
	}
	*state = !enabled ? HAL_EEE_DISABLED : active ? HAL_EEE_ACTIVE : HAL_EEE_ENABLED;
	return 0;
}

/* ---- statistics ---- */

/* Statistics are numbered from 0 in each group. */
static const struct known_stat {
	uint32_t group;
	uint16_t number;
	enum hal_figure figure;
} known_stats[] = {
    {ETHTOOL_STATS_ETH_PHY, ETHTOOL_A_STATS_ETH_PHY_5_SYM_ERR, HAL_SYMBOL_ERRORS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_2_TX_PKT, HAL_POOL_OUT_PKTS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT, HAL_POOL_IN_PKTS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_8_TX_BYTES, HAL_OUT_OCTETS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_14_RX_BYTES, HAL_IN_OCTETS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_3_SINGLE_COL, HAL_SINGLE_COLLISIONS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_4_MULTI_COL, HAL_MULTIPLE_COLLISIONS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_6_FCS_ERR, HAL_FCS_ERRORS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_7_ALIGN_ERR, HAL_ALIGNMENT_ERRORS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_9_TX_DEFER, HAL_DEFERRED},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_10_LATE_COL, HAL_LATE_COLLISIONS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_11_XS_COL, HAL_EXCESSIVE_COLLISIONS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_12_TX_INT_ERR, HAL_MAC_TX_ERRORS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_13_CS_ERR, HAL_CARRIER_SENSE_ERRORS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_15_RX_INT_ERR, HAL_MAC_RX_ERRORS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_18_TX_MCAST, HAL_OUT_MCAST_PKTS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_19_TX_BCAST, HAL_OUT_BCAST_PKTS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_21_RX_MCAST, HAL_IN_MCAST_PKTS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_22_RX_BCAST, HAL_IN_BCAST_PKTS},
    {ETHTOOL_STATS_ETH_MAC, ETHTOOL_A_STATS_ETH_MAC_25_TOO_LONG_ERR, HAL_FRAME_TOO_LONGS},
    {ETHTOOL_STATS_ETH_CTRL, ETHTOOL_A_STATS_ETH_CTRL_5_RX_UNSUP, HAL_IN_UNKNOWN_OPCODES},
    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_UNDERSIZE, HAL_RMON_UNDERSIZE},
    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_OVERSIZE, HAL_RMON_OVERSIZE},
    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_FRAG, HAL_RMON_FRAGMENTS},
    {ETHTOOL_STATS_RMON, ETHTOOL_A_STATS_RMON_JABBER, HAL_RMON_JABBERS},
};

/* The size classes of RFC 2819. A driver's classes may be finer, and its first may begin at 0. */
static const struct size_class {
	uint32_t low, high;
	enum hal_figure figure;
} size_classes[] = {
    {64, 64, HAL_RMON_64}, {65, 127, HAL_RMON_65_127}, {128, 255, HAL_RMON_128_255},
    {256, 511, HAL_RMON_256_511}, {512, 1023, HAL_RMON_512_1023},
    {1024, 1518, HAL_RMON_1024_MAX},
};
enum { N_SIZE_CLASSES = sizeof(size_classes) / sizeof(size_classes[0]) };

struct sizes {
	uint64_t beyond_pkts; /* of sizes above the last class */
	bool beyond;	      /* the driver counts such sizes */
	uint32_t covered[N_SIZE_CLASSES]; /* how many of the sizes in each class the driver's classes contain */
	uint64_t pkts[N_SIZE_CLASSES];
};

static void
add_sizes(struct sizes *sizes, uint32_t low, uint32_t high, uint64_t pkts)
{
	if (low < size_classes[0].low)
		low = size_classes[0].low;
	if (low > size_classes[N_SIZE_CLASSES - 1].high) {
		sizes->beyond = true;
		sizes->beyond_pkts += pkts;
	}
	for (size_t i = 0; i < N_SIZE_CLASSES; i++) {
		if (low > high || low < size_classes[i].low || high > size_classes[i].high)
			continue;
		sizes->covered[i] += high - low + 1;
		sizes->pkts[i] += pkts;
	}
}

static int
take_sizes(const struct nlattr *nest, struct sizes *sizes)
{
	uint32_t low = 0, high = 0;
	const struct nlattr *attr;
	uint64_t pkts = 0;
	bool counted = false;
	int rc = 0;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_HIST_BKT_LOW)
			rc = attribute_u32(attr, &low);
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_HIST_BKT_HI)
			rc = attribute_u32(attr, &high);
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_HIST_VAL) {
			rc = attribute_u64(attr, &pkts);
			counted = true;
		}
		if (rc < 0)
			return rc;
	}
	if (counted)
		add_sizes(sizes, low, high, pkts);
	return 0;
}

static int
take_stat(uint32_t group, const struct nlattr *nest, struct hal_counters *figures)
{
	const struct nlattr *attr;
	uint64_t value;

	mnl_attr_for_each_nested(attr, nest)
		for (size_t i = 0; i < sizeof(known_stats) / sizeof(known_stats[0]); i++) {
			if (known_stats[i].group != group || known_stats[i].number != mnl_attr_get_type(attr))
				continue;
			if (attribute_u64(attr, &value) < 0)
				return -EPROTO;
			put_ethtool_figure(figures, known_stats[i].figure, value);
		}
	return 0;
}

static int
ethtool_take_group(const struct nlattr *nest, struct hal_counters *figures, struct sizes *sizes)
{
	uint32_t group = UINT32_MAX;
	const struct nlattr *attr;
	int rc = 0;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_ID)
			rc = attribute_u32(attr, &group);
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_STAT)
			rc = take_stat(group, attr, figures);
		else if (mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_HIST_RX)
			rc = take_sizes(attr, sizes);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static uint64_t
ethtool_value_of(const struct hal_counters *figures, enum hal_figure figure)
{
	return has_ethtool_figure(figures, figure) ? figures->value[figure] : 0;
}

/* etherStatsPkts: every frame is in one class of size, or too short or too long for any (RFC 2819). A
 * driver whose classes go on for long frames counts those there. */
static void
put_sizes(const struct sizes *sizes, struct hal_counters *figures)
{
	uint64_t pkts = sizes->beyond_pkts;
	bool all = true;

	for (size_t i = 0; i < N_SIZE_CLASSES; i++) {
		if (sizes->covered[i] == size_classes[i].high - size_classes[i].low + 1)
			put_ethtool_figure(figures, size_classes[i].figure, sizes->pkts[i]);
		else
			all = false;
		pkts += sizes->pkts[i];
	}
	pkts += ethtool_value_of(figures, HAL_RMON_UNDERSIZE) + ethtool_value_of(figures, HAL_RMON_FRAGMENTS);
	if (!sizes->beyond)
		pkts += ethtool_value_of(figures, HAL_RMON_OVERSIZE) + ethtool_value_of(figures, HAL_RMON_JABBERS);
	if (all)
		put_ethtool_figure(figures, HAL_RMON_PKTS, pkts);
}

/* For a driver with RMON counters, adds those that it counts only under clause 30 (RFC 2819,
 * RFC 3635). */
static void
put_rmon_twins(struct hal_counters *figures)
{
	if (has_ethtool_figure(figures, HAL_FCS_ERRORS) && has_ethtool_figure(figures, HAL_ALIGNMENT_ERRORS))
		put_ethtool_figure(figures, HAL_RMON_CRC_ALIGN,
		    figures->value[HAL_FCS_ERRORS] + figures->value[HAL_ALIGNMENT_ERRORS]);
	if (has_ethtool_figure(figures, HAL_IN_MCAST_PKTS))
		put_ethtool_figure(figures, HAL_RMON_MCAST_PKTS, figures->value[HAL_IN_MCAST_PKTS]);
	if (has_ethtool_figure(figures, HAL_IN_BCAST_PKTS))
		put_ethtool_figure(figures, HAL_RMON_BCAST_PKTS, figures->value[HAL_IN_BCAST_PKTS]);
}

int
ethtool_parse_stats(const struct nlmsghdr *message, struct hal_counters *figures)
{
	struct hal_counters parsed = *figures;
	struct sizes sizes = {0};
	const struct nlattr *attr;
	int rc = ethtool_check_command(message, ETHTOOL_MSG_STATS_GET_REPLY, ETHTOOL_MSG_STATS_GET_REPLY);

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (rc == 0 && mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP)
			rc = ethtool_take_group(attr, &parsed, &sizes);
	if (rc < 0)
		return rc;
	put_sizes(&sizes, &parsed);
	if (parsed.known & HAL_RMON_FIGURES)
		put_rmon_twins(&parsed);
	*figures = parsed;
	return 0;
}

/* ---- notices ---- */

static int
take_header(const struct nlattr *header, uint32_t *kernel_index)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, header)
		if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_DEV_INDEX)
			return attribute_u32(attr, kernel_index);
	return -EPROTO;
}

int
ethtool_parse_module(const struct nlmsghdr *message, uint8_t *octets, size_t n)
{
	int rc = ethtool_check_command(message, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY);
	const struct nlattr *attr;

	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == ETHTOOL_A_MODULE_EEPROM_DATA && mnl_attr_get_payload_len(attr) == n) {
			memcpy(octets, mnl_attr_get_payload(attr), n);
			return 0;
		}
	return -EPROTO;
}

int
ethtool_parse_notice(const struct nlmsghdr *message, uint32_t *kernel_index)
{
	/* In each of these notices the header is the first attribute. */
	static const uint8_t notices[] = {ETHTOOL_MSG_LINKINFO_NTF, ETHTOOL_MSG_LINKMODES_NTF,
	    ETHTOOL_MSG_PAUSE_NTF, ETHTOOL_MSG_EEE_NTF};
	const struct nlattr *attr;
	int rc = -ENOMSG;

	for (size_t i = 0; i < sizeof(notices) && rc == -ENOMSG; i++)
		rc = ethtool_check_command(message, notices[i], notices[i]);
	if (rc < 0)
		return rc;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == ETHTOOL_A_LINKMODES_HEADER)
			return take_header(attr, kernel_index);
	return -EPROTO;
}

/* ---- features ---- */

static bool
text_is(const struct nlattr *attr, const char *text)
{
	size_t size = strlen(text);

	return mnl_attr_get_payload_len(attr) >= size &&
	    strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)) == size &&
	    memcmp(mnl_attr_get_payload(attr), text, size) == 0;
}

/* A list without a mask contains only the bits that are set. */
static bool
bits_have(const struct nlattr *bits, const char *feature)
{
	const struct nlattr *bit, *attr;

	mnl_attr_for_each_nested(bit, bits)
		mnl_attr_for_each_nested(attr, bit)
			if (mnl_attr_get_type(attr) == ETHTOOL_A_BITSET_BIT_NAME && text_is(attr, feature))
				return true;
	return false;
}

int
ethtool_parse_feature(const struct nlmsghdr *message, const char *feature)
{
	const struct nlattr *attr, *part;
	bool found = false;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
		return -EPROTO;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != ETHTOOL_A_FEATURES_ACTIVE)
			continue;
		mnl_attr_for_each_nested(part, attr)
			if (mnl_attr_get_type(part) == ETHTOOL_A_BITSET_BITS)
				found |= bits_have(part, feature);
	}
	return found;
}
