#include "tests/agent/sim/chip/reference_mac.h"

#include "agent/sim/chip/c84302_regs.h"

#include <errno.h>
#include <string.h>

uint32_t
reference_mac_longest(const struct reference_mac *mac)
{
	if (mac->config_4 & C84302_CONFIG_4_MAX_SELECT)
		return 1518 + (mac->config_5 & C84302_CONFIG_5_MAX_SIZE);
	return 1518;
}

static bool
counts(const struct reference_mac *mac)
{
	return !(mac->config_4 & C84302_CONFIG_4_COUNTER_RESET);
}

/* "Each counter has one status bit, set when the counter reaches 0x80000000"; "at maximum: roll
 * over", or stop. */
void
reference_mac_events(struct reference_mac *mac, unsigned n, uint32_t how_many)
{
	uint64_t before = mac->counter[n], after = before + how_many;

	if (!counts(mac))
		return;
	mac->events[n] += how_many;
	if (before < 0x80000000 && after >= 0x80000000)
		mac->status[C84302_STATUS_REG(n)] |= C84302_STATUS_BIT(n);
	if (after > 0xffffffff && mac->config_3 & C84302_CONFIG_3_STOP_AT_MAX)
		mac->counter[n] = 0xffffffff;
	else
		mac->counter[n] = (uint32_t)(after % 0x100000000);
}

static void
event(struct reference_mac *mac, unsigned n)
{
	reference_mac_events(mac, n, 1);
}

bool
reference_mac_interrupt(const struct reference_mac *mac)
{
	for (unsigned i = 0; i < 7; i++)
		if (mac->status[i] & ~mac->mask[i])
			return true;
	return false;
}

static bool
is_broadcast(uint64_t destination)
{
	return destination == 0xffffffffffff;
}

static bool
is_multicast(uint64_t destination)
{
	return (destination & 0x010000000000) != 0 && !is_broadcast(destination);
}

/* Which of the six counters from the 64-octet one on; -1 for none. */
static int
size_bin(uint32_t octets, uint32_t max)
{
	if (octets == 64)
		return 0;
	if (octets >= 65 && octets <= 127)
		return 1;
	if (octets >= 128 && octets <= 255)
		return 2;
	if (octets >= 256 && octets <= 511)
		return 3;
	if (octets >= 512 && octets <= 1023)
		return 4;
	if (octets >= 1024 && octets <= max)
		return 5;
	return -1;
}

/* Length and control fields of a good frame (counters 45, 46, 49, 50). */
static void
receive_fields(struct reference_mac *mac, const struct reference_mac_frame *f)
{
	uint32_t data = f->octets - 18;

	if (f->length_type <= 1500) {
		bool padded = data == 46 && f->length_type < 46;

		if (f->length_type != data && !padded)
			event(mac, C84302_IN_RANGE_LENGTH);
	} else if (f->length_type < 1536) {
		event(mac, C84302_OUT_OF_RANGE_LENGTH);
	}
	if (f->length_type == 0x8808 && f->opcode == 1)
		event(mac, C84302_RX_PAUSE);
	else if (f->length_type == 0x8808)
		event(mac, C84302_RX_UNKNOWN_OPCODE);
}

static void
receive_good(struct reference_mac *mac, const struct reference_mac_frame *f)
{
	if (is_broadcast(f->destination))
		event(mac, C84302_RX_BCAST);
	else if (is_multicast(f->destination))
		event(mac, C84302_RX_MCAST);
	else
		event(mac, C84302_RX_UCAST);
	reference_mac_events(mac, C84302_RX_GOOD_OCTETS, f->octets);
	receive_fields(mac, f);
}

static void
receive_bad(struct reference_mac *mac, const struct reference_mac_frame *f)
{
	bool damaged = f->bad_fcs || f->broken_octet;

	if (f->octets < 64 && damaged)
		event(mac, C84302_FRAGMENTS);
	else if (f->octets < 64)
		event(mac, C84302_UNDERSIZE_PKTS);
	else if (f->octets > reference_mac_longest(mac) && damaged)
		event(mac, C84302_JABBERS);
	else if (f->octets > reference_mac_longest(mac))
		event(mac, C84302_OVERSIZE_PKTS);
	else if (damaged) {
		event(mac, C84302_CRC_ALIGN_ERRORS);
		event(mac, f->broken_octet ? C84302_ALIGNMENT_ERRORS : C84302_FCS_ERRORS);
	}
}

bool
reference_mac_receive(struct reference_mac *mac, const struct reference_mac_frame *f)
{
	bool good = f->octets >= 64 && f->octets <= reference_mac_longest(mac) && !f->bad_fcs &&
	    !f->broken_octet && !f->symbol_error && !f->fifo_overflow;
	int bin = size_bin(f->octets, reference_mac_longest(mac));

	if (f->fifo_overflow) {
		event(mac, C84302_DROP_EVENTS);
		return false;
	}
	event(mac, C84302_RX_PKTS);
	reference_mac_events(mac, C84302_RX_OCTETS, f->octets);
	reference_mac_events(mac, C84302_IN_OCTETS_PREAMBLE, f->octets + 8);
	if (bin >= 0)
		event(mac, C84302_RX_64 + (unsigned)bin);
	if (good)
		receive_good(mac, f);
	else
		receive_bad(mac, f);
	if (f->symbol_error)
		event(mac, C84302_SYMBOL_ERRORS);
	return good;
}

void
reference_mac_send(struct reference_mac *mac, const struct reference_mac_frame *f)
{
	int bin = size_bin(f->octets, 1533);

	event(mac, C84302_TX_PKTS);
	reference_mac_events(mac, C84302_TX_OCTETS, f->octets);
	reference_mac_events(mac, C84302_TX_GOOD_OCTETS, f->octets);
	reference_mac_events(mac, C84302_OUT_OCTETS_PREAMBLE, f->octets + 8);
	if (is_broadcast(f->destination))
		event(mac, C84302_TX_BCAST);
	else if (is_multicast(f->destination))
		event(mac, C84302_TX_MCAST);
	else
		event(mac, C84302_TX_UCAST);
	if (bin >= 0)
		event(mac, C84302_TX_64 + (unsigned)bin);
}

/* --- registers --- */

void
reference_mac_reset(struct reference_mac *mac)
{
	bool narrow = mac->bus_is_8_bits;

	memset(mac, 0, sizeof(*mac));
	mac->bus_is_8_bits = narrow;
	mac->config_4 = C84302_CONFIG_4_COUNTER_RESET;
	for (unsigned i = 0; i < 7; i++)
		mac->mask[i] = C84302_MASK_RESET;
}

/* The counter at an offset, 0 if there is none there. */
static unsigned
counter_at(uint32_t offset)
{
	for (unsigned n = 1; n <= 51; n++)
		if (offset == 2 * (n + 22))
			return n;
	return 0;
}

/* The register at an offset that is not a counter, or NULL. */
static uint32_t *
register_at(struct reference_mac *mac, uint32_t offset)
{
	if (offset == C84302_CONFIG_3)
		return &mac->config_3;
	if (offset == C84302_CONFIG_4)
		return &mac->config_4;
	if (offset == C84302_CONFIG_5)
		return &mac->config_5;
	for (unsigned i = 0; i < 7; i++) {
		if (offset == C84302_STATUS_0 + 2 * i)
			return &mac->status[i];
		if (offset == C84302_INT_ENABLE_1 + 2 * i)
			return &mac->mask[i];
	}
	return NULL;
}

static bool
is_status(const struct reference_mac *mac, const uint32_t *reg)
{
	return reg >= mac->status && reg < mac->status + 7;
}

static uint32_t
read_counter(struct reference_mac *mac, unsigned n, uint32_t offset)
{
	unsigned bits = mac->bus_is_8_bits ? 8 : 16, parts = 32 / bits;
	uint32_t part;

	if (mac->reading != offset) {
		mac->reading = offset;
		mac->accesses_done = 0;
		mac->holding = mac->counter[n];
		if (mac->counter[n] == 0xffffffff ||
		    mac->config_3 & C84302_CONFIG_3_RESET_ON_READ)
			mac->counter[n] = 0;
	}
	mac->accesses_done++;
	part = mac->holding >> (32 - bits * mac->accesses_done);
	if (mac->accesses_done == parts)
		mac->reading = 0;
	return part & (bits == 8 ? 0xff : 0xffff);
}

int
reference_mac_read(struct reference_mac *mac, uint32_t offset, uint32_t *value)
{
	unsigned n = counter_at(offset);
	uint32_t *reg = register_at(mac, offset);

	if (n != 0) {
		*value = read_counter(mac, n, offset);
		return 0;
	}
	if (!reg)
		return -ENXIO;
	mac->reading = 0;
	*value = *reg;
	if (is_status(mac, reg))
		*reg = 0;
	return 0;
}

int
reference_mac_write(struct reference_mac *mac, uint32_t offset, uint32_t value)
{
	uint32_t *reg = register_at(mac, offset);

	if (!reg && counter_at(offset) == 0)
		return -ENXIO;
	if (offset != mac->reading)
		mac->reading = 0;
	if (!reg || is_status(mac, reg))
		return 0;
	if (offset == C84302_CONFIG_3 || offset == C84302_CONFIG_4)
		*reg = value & 3;
	else if (offset == C84302_CONFIG_5)
		*reg = value & 15;
	else
		*reg = value & 0xff;
	if (!counts(mac))
		memset(mac->counter, 0, sizeof(mac->counter));
	return 0;
}
