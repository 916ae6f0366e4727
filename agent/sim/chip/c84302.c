#include "agent/sim/chip/c84302.h"

#include <errno.h>
#include <stdlib.h>

struct c84302 {
	struct c84302_config config;
};

/* A read gives the count modulo 2^32, but a read of the maximum resets the counter to 0. */
#define ROW_WITH(n, text, more_flags)                                                              \
	[(n) - 1] = {.name = (text), .address = C84302_COUNTER(n), .width_bits = 32,               \
	    .flags = HAL_COUNTER_ZERO_AFTER_MAX | (more_flags)}
#define ROW(n, text) ROW_WITH(n, text, 0) /* samples carry figures of it */
#define MIB_ROW(n, text) ROW_WITH(n, text, HAL_COUNTER_NOT_SAMPLED)

const struct hal_counter_row c84302_counter_rows[C84302_COUNTERS] = {
    ROW(C84302_DROP_EVENTS, "etherStatsDropEvents"),
    MIB_ROW(C84302_CRC_ALIGN_ERRORS, "etherStatsCRCAlignErrors"),
    MIB_ROW(C84302_UNDERSIZE_PKTS, "etherStatsUndersizePkts"),
    ROW(C84302_OVERSIZE_PKTS, "etherStatsOversizePkts"),
    MIB_ROW(C84302_FRAGMENTS, "etherStatsFragments"),
    MIB_ROW(C84302_JABBERS, "etherStatsJabber"),
    MIB_ROW(C84302_RX_OCTETS, "etherStatsOctets"),
    MIB_ROW(C84302_RX_PKTS, "etherStatsPkts"),
    ROW(C84302_RX_BCAST, "etherStatsBroadcastPkts"),
    ROW(C84302_RX_MCAST, "etherStatsMulticastPkts"),
    MIB_ROW(C84302_RX_64, "etherStatsPkts64Octets"),
    MIB_ROW(C84302_RX_65_127, "etherStatsPkts65to127Octets"),
    MIB_ROW(C84302_RX_128_255, "etherStatsPkts128to255Octets"),
    MIB_ROW(C84302_RX_256_511, "etherStatsPkts256to511Octets"),
    MIB_ROW(C84302_RX_512_1023, "etherStatsPkts512to1023Octets"),
    MIB_ROW(C84302_RX_1024_MAX, "etherStatsPkts1024to1518Octets"),
    MIB_ROW(C84302_TX_OCTETS, "etherStatsOctets_TX"),
    MIB_ROW(C84302_TX_PKTS, "etherStatsPkts_TX"),
    ROW(C84302_TX_BCAST, "etherStatsBroadcastPkts_TX"),
    ROW(C84302_TX_MCAST, "etherStatsMulticastPkts_TX"),
    MIB_ROW(C84302_TX_64, "etherStatsPkts64Octets_TX"),
    MIB_ROW(C84302_TX_65_127, "etherStatsPkts65to127Octets_TX"),
    MIB_ROW(C84302_TX_128_255, "etherStatsPkts128to255Octets_TX"),
    MIB_ROW(C84302_TX_256_511, "etherStatsPkts256to511Octets_TX"),
    MIB_ROW(C84302_TX_512_1023, "etherStatsPkts512to1023Octets_TX"),
    MIB_ROW(C84302_TX_1024_MAX, "etherStatsPkts1024to1518Octets_TX"),
    MIB_ROW(C84302_COLLISIONS, "etherStatsCollisions"),
    ROW(C84302_OUT_DISCARDS, "ifOutDiscards"),
    MIB_ROW(C84302_OUT_ERRORS, "ifOutErrors"),
    MIB_ROW(C84302_IN_OCTETS_PREAMBLE, "ifInOctets"),
    MIB_ROW(C84302_OUT_OCTETS_PREAMBLE, "ifOutOctets"),
    ROW(C84302_RX_UCAST, "ifInUcastPkts"),
    ROW(C84302_TX_UCAST, "ifOutUcastPkts"),
    MIB_ROW(C84302_SINGLE_COLLISION, "aSingleCollisionFrames"),
    MIB_ROW(C84302_MULTIPLE_COLLISION, "aMultipleCollisionFrames"),
    ROW(C84302_FCS_ERRORS, "aFrameCheckSequenceErrors"),
    ROW(C84302_ALIGNMENT_ERRORS, "aAlignmentErrors"),
    ROW(C84302_TX_GOOD_OCTETS, "aOctetsTransmittedOK"),
    MIB_ROW(C84302_DEFERRED, "aFramesWithDeferredXmissions"),
    ROW(C84302_LATE_COLLISIONS, "aLateCollisions"),
    ROW(C84302_EXCESSIVE_COLLISIONS, "aFrameAbortedDueToXSCollisions"),
    ROW(C84302_CARRIER_SENSE_ERRORS, "aCarrierSenseErrors"),
    ROW(C84302_RX_GOOD_OCTETS, "aOctetsReceivedOK"),
    MIB_ROW(C84302_EXCESSIVE_DEFERRAL, "aFramesWithExcessiveDeferral"),
    MIB_ROW(C84302_IN_RANGE_LENGTH, "aInRangeLengthErrors"),
    MIB_ROW(C84302_OUT_OF_RANGE_LENGTH, "aOutOfRangeLengthField"),
    ROW(C84302_SYMBOL_ERRORS, "aSymbolErrorDuringCarrier"),
    ROW(C84302_TX_PAUSE, "aPauseMACCtrlFramesTransmitted"),
    ROW(C84302_RX_PAUSE, "aPauseMACCtrlFramesReceived"),
    ROW(C84302_RX_UNKNOWN_OPCODE, "aUnsupportedOpcodesReceived"),
    ROW(C84302_SQE_TEST_ERRORS, "aSQETestErrors"),
};

/* A figure is the sum of some counters minus the sum of others; 0 ends a list. A figure without counters is
 * always 0: the MAC itself discards no good frame that it received, and a bridge port demultiplexes no
 * protocols (RFC 2863). The manual calls counter 28 both ifOutDiscards and an internal MAC error (pages
 * 60 and 64), but a discard is not an error (RFC 2863). *assumed*: it is ifOutDiscards, because behind
 * a store-and-forward switch the FIFO does not run dry, and frames are lost there when their port's
 * queue is full. */
struct derivation {
	uint8_t figure; /* enum hal_figure */
	uint8_t plus[5], minus[2];
};

static const struct derivation derivations[] = {
    {HAL_IN_OCTETS, {C84302_RX_GOOD_OCTETS}, {0}},
    {HAL_IN_UCAST_PKTS, {C84302_RX_UCAST}, {0}},
    {HAL_IN_MCAST_PKTS, {C84302_RX_MCAST}, {C84302_RX_PAUSE, C84302_RX_UNKNOWN_OPCODE}},
    {HAL_IN_BCAST_PKTS, {C84302_RX_BCAST}, {0}},
    {HAL_IN_DISCARDS, {0}, {0}},
    /* RFC 3635 section 3.2.6; the FIFO overflow is an internal MAC error, not a discard. */
    {HAL_IN_ERRORS,
	{C84302_ALIGNMENT_ERRORS, C84302_FCS_ERRORS, C84302_OVERSIZE_PKTS, C84302_DROP_EVENTS,
	    C84302_SYMBOL_ERRORS},
	{0}},
    {HAL_IN_UNKNOWN_PROTOS, {0}, {0}},
    {HAL_OUT_OCTETS, {C84302_TX_GOOD_OCTETS}, {0}},
    {HAL_OUT_UCAST_PKTS, {C84302_TX_UCAST}, {0}},
    {HAL_OUT_MCAST_PKTS, {C84302_TX_MCAST}, {C84302_TX_PAUSE}},
    {HAL_OUT_BCAST_PKTS, {C84302_TX_BCAST}, {0}},
    {HAL_OUT_DISCARDS, {C84302_OUT_DISCARDS}, {0}},
    {HAL_OUT_ERRORS,
	{C84302_SQE_TEST_ERRORS, C84302_LATE_COLLISIONS, C84302_EXCESSIVE_COLLISIONS,
	    C84302_CARRIER_SENSE_ERRORS},
	{0}},
    {HAL_POOL_IN_PKTS, {C84302_RX_UCAST, C84302_RX_BCAST, C84302_RX_MCAST}, {0}},
    /* The MAC itself sends PAUSE frames: no EASE counter counts them. */
    {HAL_POOL_OUT_PKTS, {C84302_TX_UCAST, C84302_TX_BCAST, C84302_TX_MCAST}, {C84302_TX_PAUSE}},
    {HAL_ALIGNMENT_ERRORS, {C84302_ALIGNMENT_ERRORS}, {0}},
    {HAL_FCS_ERRORS, {C84302_FCS_ERRORS}, {0}},
    {HAL_SINGLE_COLLISIONS, {C84302_SINGLE_COLLISION}, {0}},
    {HAL_MULTIPLE_COLLISIONS, {C84302_MULTIPLE_COLLISION}, {0}},
    {HAL_SQE_TEST_ERRORS, {C84302_SQE_TEST_ERRORS}, {0}},
    {HAL_DEFERRED, {C84302_DEFERRED}, {0}},
    {HAL_LATE_COLLISIONS, {C84302_LATE_COLLISIONS}, {0}},
    {HAL_EXCESSIVE_COLLISIONS, {C84302_EXCESSIVE_COLLISIONS}, {0}},
    {HAL_MAC_TX_ERRORS, {0}, {0}},
    {HAL_CARRIER_SENSE_ERRORS, {C84302_CARRIER_SENSE_ERRORS}, {0}},
    {HAL_FRAME_TOO_LONGS, {C84302_OVERSIZE_PKTS}, {0}},
    {HAL_MAC_RX_ERRORS, {C84302_DROP_EVENTS}, {0}},
    {HAL_SYMBOL_ERRORS, {C84302_SYMBOL_ERRORS}, {0}},
    {HAL_IN_PAUSE_PKTS, {C84302_RX_PAUSE}, {0}},
    {HAL_OUT_PAUSE_PKTS, {C84302_TX_PAUSE}, {0}},
    {HAL_IN_UNKNOWN_OPCODES, {C84302_RX_UNKNOWN_OPCODE}, {0}},
    {HAL_RMON_DROP_EVENTS, {C84302_DROP_EVENTS}, {0}},
    {HAL_RMON_OCTETS, {C84302_RX_OCTETS}, {0}},
    {HAL_RMON_PKTS, {C84302_RX_PKTS}, {0}},
    {HAL_RMON_BCAST_PKTS, {C84302_RX_BCAST}, {0}},
    {HAL_RMON_MCAST_PKTS, {C84302_RX_MCAST}, {0}},
    {HAL_RMON_CRC_ALIGN, {C84302_CRC_ALIGN_ERRORS}, {0}},
    {HAL_RMON_UNDERSIZE, {C84302_UNDERSIZE_PKTS}, {0}},
    {HAL_RMON_OVERSIZE, {C84302_OVERSIZE_PKTS}, {0}},
    {HAL_RMON_FRAGMENTS, {C84302_FRAGMENTS}, {0}},
    {HAL_RMON_JABBERS, {C84302_JABBERS}, {0}},
    {HAL_RMON_COLLISIONS, {C84302_COLLISIONS}, {0}},
    {HAL_RMON_64, {C84302_RX_64}, {0}},
    {HAL_RMON_65_127, {C84302_RX_65_127}, {0}},
    {HAL_RMON_128_255, {C84302_RX_128_255}, {0}},
    {HAL_RMON_256_511, {C84302_RX_256_511}, {0}},
    {HAL_RMON_512_1023, {C84302_RX_512_1023}, {0}},
    {HAL_RMON_1024_MAX, {C84302_RX_1024_MAX}, {0}},
};

enum { N_DERIVATIONS = sizeof(derivations) / sizeof(derivations[0]) };
_Static_assert((int)N_DERIVATIONS == (int)HAL_N_FIGURES, "the chip provides every figure");

static uint64_t
sum_counters(const uint64_t *totals, const uint8_t *counters, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n && counters[i] != 0; i++)
		total += totals[counters[i] - 1];
	return total;
}

void
c84302_derive(const uint64_t *totals, struct hal_counters *counters)
{
	for (size_t i = 0; i < N_DERIVATIONS; i++) {
		const struct derivation *d = &derivations[i];
		uint64_t plus = sum_counters(totals, d->plus, sizeof(d->plus));
		uint64_t minus = sum_counters(totals, d->minus, sizeof(d->minus));

		counters->value[d->figure] = plus > minus ? plus - minus : 0;
		counters->known |= 1ull << d->figure;
	}
}

static uint32_t
c84302_address_of(const struct c84302 *chip, unsigned port, uint32_t offset)
{
	return chip->config.base + port * C84302_PORT_STRIDE + offset;
}

/* The chip freezes the counter while its parts are read; no other register may be read in between. */
int
c84302_read(struct c84302 *chip, unsigned port, size_t row, uint64_t *raw)
{
	uint32_t address = c84302_address_of(chip, port, c84302_counter_rows[row].address);
	unsigned bits = chip->config.bus_is_8_bits ? 8 : 16;
	uint32_t part, value = 0;

	for (unsigned i = 0; i < 32 / bits; i++) {
		int rc = bus_read(chip->config.bus, address, &part);

		if (rc < 0)
			return rc;
		value = value << bits | part;
	}
	*raw = value;
	return 0;
}

/* Reads one port's status, which clears it; *any tells whether a counter is half full. */
static int
read_status(struct c84302 *chip, unsigned port, bool *any)
{
	for (unsigned i = 0; i < C84302_STATUS_REGS; i++) {
		uint32_t bits;
		int rc = bus_read(chip->config.bus,
		    c84302_address_of(chip, port, C84302_STATUS_0 + 2 * i), &bits);

		if (rc < 0)
			return rc;
		*any = *any || bits != 0;
	}
	return 0;
}

int
c84302_dispatch(struct c84302 *chip, struct hal *hal)
{
	int reported = 0;

	for (unsigned port = 0; port < C84302_PORTS; port++) {
		bool any = false;
		int rc;

		if (chip->config.if_index[port] == 0)
			continue;
		rc = read_status(chip, port, &any);
		if (rc < 0)
			return rc;
		if (any)
			hal_report_counters_due(hal, chip->config.if_index[port]);
		reported += any;
	}
	return reported;
}

static int
set_max_octets(struct c84302 *chip, unsigned port)
{
	uint32_t extra = chip->config.max_octets - C84302_MAX_OCTETS;
	int rc = bus_update(chip->config.bus, c84302_address_of(chip, port, C84302_CONFIG_5),
	    C84302_CONFIG_5_MAX_SIZE, extra);

	if (rc < 0)
		return rc;
	return bus_update(chip->config.bus, c84302_address_of(chip, port, C84302_CONFIG_4),
	    C84302_CONFIG_4_MAX_SELECT, extra > 0 ? C84302_CONFIG_4_MAX_SELECT : 0);
}

/* Clears the counter reset bit last: then the port counts. */
static int
start_port(struct c84302 *chip, unsigned port)
{
	int rc = set_max_octets(chip, port);

	for (unsigned i = 0; i < C84302_STATUS_REGS && rc == 0; i++)
		rc = bus_write(chip->config.bus, c84302_address_of(chip, port, C84302_INT_ENABLE_1 + 2 * i), 0);
	if (rc < 0)
		return rc;
	return bus_update(chip->config.bus, c84302_address_of(chip, port, C84302_CONFIG_4),
	    C84302_CONFIG_4_COUNTER_RESET, 0);
}

int
c84302_create(const struct c84302_config *config, struct c84302 **chip)
{
	struct c84302 *c;
	int rc = 0;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->config = *config;
	if (c->config.max_octets == 0)
		c->config.max_octets = C84302_MAX_OCTETS;
	if (c->config.max_octets < C84302_MAX_OCTETS ||
	    c->config.max_octets > C84302_MAX_OCTETS + C84302_CONFIG_5_MAX_SIZE)
		rc = -EINVAL;
	for (unsigned port = 0; port < C84302_PORTS && rc == 0; port++)
		if (config->if_index[port] != 0)
			rc = start_port(c, port);
	if (rc < 0) {
		free(c);
		return rc;
	}
	*chip = c;
	return 0;
}

void
c84302_destroy(struct c84302 *chip)
{
	free(chip);
}
