#include "tests/agent/sim/reference_private.h"

#include "agent/sim/board_regs.h"

#include <errno.h>

/* Full: a value is waiting in the shadow. */
static uint32_t
ease_status(const struct chip *c)
{
	uint32_t bits = 0;

	for (unsigned port = 0; port < c->n_ports; port++)
		if ((c->shadow[port] == EMPTY) == (GALNET_EASE_BIT_WHEN_EMPTY == 1))
			bits |= 1u << port;
	return bits;
}

static uint32_t
ease_events(const struct chip *c)
{
	uint32_t bits = 0;

	for (unsigned port = 0; port < c->n_ports; port++)
		if (c->ease_event[port])
			bits |= 1u << port;
	return bits;
}

static void
acknowledge(struct chip *c, uint32_t bits)
{
	for (unsigned port = 0; port < c->n_ports; port++)
		if (bits >> port & 1)
			c->ease_event[port] = false;
}

static bool
chip_interrupts(const struct chip *c)
{
	if (is_48002a(c))
		return ((c->cause | ease_events(c) << 16) & c->mask) != 0;
	return (c->cause & c->mask) != 0 || (ease_events(c) & c->ease_mask) != 0;
}

static void
write_ease(struct chip *c, unsigned port, uint32_t value)
{
	if (c->count[port] == EMPTY)
		c->count[port] = (int32_t)(value & 0xfffff);
	else
		c->shadow[port] = (int32_t)(value & 0xfffff);
}

static void
write_control(struct chip *c, uint32_t value)
{
	c->control = value &
	    (1u << 6 | 1u << 7 | 1u << 10 | 1u << 22 | 1u << 30 | GALNET_CONTROL_EASE_ENABLE |
		GALNET_CONTROL_SPAN_ENABLE | GALNET_CONTROL_MULTICAST_TO_CPU);
	for (unsigned port = 0; port < 8 && !(value & GALNET_CONTROL_EASE_ENABLE); port++) {
		c->count[port] = c->shadow[port] = EMPTY;
		c->ease_event[port] = false;
	}
}

static void
write_buffer_base(struct chip *c, uint32_t value)
{
	c->last_base = value;
	if (c->has_cba) {
		c->cbas = value;
		c->has_cbas = true;
	} else {
		c->cba = value;
		c->has_cba = true;
		c->block = 0;
	}
}

/* Index of the port whose word lies at this offset of a row of them, or -1. */
static int
port_word(const struct chip *c, uint32_t offset, uint32_t first)
{
	if (offset < first || offset >= first + 4 * c->n_ports || (offset - first) % 4 != 0)
		return -1;
	return (int)(offset - first) / 4;
}

static uint32_t *
table_word(struct chip *c, uint32_t offset)
{
	uint32_t at = offset - GALNET_ADDRESS_TABLE;

	if (offset < GALNET_ADDRESS_TABLE || at >= 8 * GALNET_TABLE_ENTRIES || at % 4 != 0)
		return NULL;
	return &c->table[at / 8][at / 4 % 2];
}

/* What a plain register holds; NULL if it does more than hold, or is not there. */
static uint32_t *
plain_register(struct chip *c, uint32_t offset)
{
	int port = port_word(c, offset, GALNET_PORT_CONTROL);
	int command = port_word(c, offset, GALNET_COMMAND);

	switch (offset) {
	case GALNET_CPU_NUMBERS:
		return &c->cpu_numbers;
	case GALNET_MASK:
		return &c->mask;
	case GT48001A_EASE_MASK:
		return is_48002a(c) ? NULL : &c->ease_mask;
	case GALNET_NEW_ADDRESS_BASE:
		return &c->new_address_base;
	case GALNET_ERROR_SOURCE_BASE:
		return &c->error_source_base;
	}
	if (port >= 0)
		return &c->port_control[port];
	return command >= 0 ? &c->command[command] : table_word(c, offset);
}

static uint32_t
take(uint32_t *counter)
{
	uint32_t value = *counter;

	*counter = 0;
	return value;
}

/* What the counters that a read zeroes hold; NULL for other registers. */
static uint32_t *
lost_counter(struct chip *c, uint32_t offset)
{
	switch (offset) {
	case GALNET_NEW_ADDRESS_LOST:
		return &c->new_address_lost;
	case GALNET_ADDRESS_DISCARDS:
		return &c->address_discards;
	case GALNET_PACKETS_LOST:
		return &c->packets_lost;
	case GALNET_ERROR_SOURCE_LOST:
		return &c->error_source_lost;
	}
	return NULL;
}

/* Events that a MIB counter counts, all there have been. */
static uint32_t
mib_events(const struct reference_mac *mac, unsigned which)
{
	switch (which) {
	case GALNET_MIB_BYTES_RECEIVED:
		return mac->events[C84302_RX_GOOD_OCTETS];
	case GALNET_MIB_BYTES_SENT:
		return mac->events[C84302_TX_GOOD_OCTETS];
	case GALNET_MIB_FRAMES_RECEIVED:
		return mac->events[C84302_RX_UCAST] + mac->events[C84302_RX_MCAST] +
		    mac->events[C84302_RX_BCAST];
	case GALNET_MIB_FRAMES_SENT:
		return mac->events[C84302_TX_UCAST] + mac->events[C84302_TX_MCAST] +
		    mac->events[C84302_TX_BCAST];
	case GALNET_MIB_TOTAL_BYTES_RECEIVED:
		return mac->events[C84302_RX_OCTETS];
	case GALNET_MIB_TOTAL_FRAMES_RECEIVED:
		return mac->events[C84302_RX_PKTS];
	case GALNET_MIB_MULTICAST_RECEIVED:
		return mac->events[C84302_RX_MCAST];
	case GALNET_MIB_BROADCAST_RECEIVED:
		return mac->events[C84302_RX_BCAST];
	case GALNET_MIB_CRC_ERROR:
		return mac->events[C84302_CRC_ALIGN_ERRORS];
	case GALNET_MIB_OVERSIZE:
		return mac->events[C84302_OVERSIZE_PKTS];
	case GALNET_MIB_FRAGMENTS:
		return mac->events[C84302_UNDERSIZE_PKTS] + mac->events[C84302_FRAGMENTS];
	case GALNET_MIB_JABBER:
		return mac->events[C84302_JABBERS];
	case GALNET_MIB_COLLISION:
		return mac->events[C84302_COLLISIONS];
	case GALNET_MIB_LATE_COLLISION:
		return mac->events[C84302_LATE_COLLISIONS];
	case GALNET_MIB_RECEIVE_ERROR:
		return mac->events[C84302_SYMBOL_ERRORS];
	case GALNET_MIB_DROPPED:
		return mac->events[C84302_DROP_EVENTS];
	}
	return mac->events[C84302_RX_64 + (which - GALNET_MIB_64)];
}

/* True if there is a MIB counter at this offset. */
static bool
read_mib(struct chip *c, const struct reference_mac *macs, uint32_t offset, uint32_t *value)
{
	unsigned per_port = is_48002a(c) ? 22 : 16;
	unsigned port = (offset - GALNET_MIB) / 4 / per_port;
	unsigned which = (offset - GALNET_MIB) / 4 % per_port;
	uint32_t events;

	if (offset < GALNET_MIB || offset % 4 != 0 || port >= c->n_ports)
		return false;
	events = mib_events(&macs[c->first_port + port], which);
	*value = events - c->mib_zero[port][which];
	if (!(c->control & 1u << 30))
		c->mib_zero[port][which] = events;
	return true;
}

static int
read_chip(struct chip *c, const struct reference_mac *macs, uint32_t offset, uint32_t *value)
{
	const uint32_t *plain = plain_register(c, offset);
	int ease = port_word(c, offset, GALNET_EASE_REGISTER);
	int status = port_word(c, offset, GALNET_PORT_STATUS);

	if (plain)
		*value = *plain;
	else if (offset == GALNET_CAUSE)
		*value = is_48002a(c) ? c->cause | ease_status(c) << 16 : c->cause;
	else if (offset == GT48001A_EASE_CAUSE)
		*value = is_48002a(c) ? 0 : ease_status(c);
	else if (offset == GT48001A_EASE_MASK)
		*value = 0;
	else if (ease >= 0)
		*value = c->count[ease] == EMPTY ? 0 : (uint32_t)c->count[ease];
	else if (offset == GALNET_GLOBAL_CONTROL)
		*value = c->control;
	else if (offset == GALNET_BUFFER_BASE)
		*value = c->last_base;
	else if (lost_counter(c, offset))
		*value = take(lost_counter(c, offset));
	else if (status >= 0)
		*value = c->link[status];
	else
		return read_mib(c, macs, offset, value) ? 0 : -ENXIO;
	return 0;
}

/* Which bits of a plain register exist. */
static uint32_t
writable(const struct chip *c, uint32_t offset)
{
	if (offset == GALNET_MASK)
		return is_48002a(c) ? 0x3003f : 0x3f;
	if (offset == GT48001A_EASE_MASK)
		return 0xff;
	if (port_word(c, offset, GALNET_PORT_CONTROL) >= 0)
		return GALNET_PORT_CONTROL_ENABLE | GALNET_PORT_CONTROL_SPAN |
		    GALNET_PORT_CONTROL_NO_BROADCAST | (is_48002a(c) ? 1u << 2 : 1u << 4);
	if (port_word(c, offset, GALNET_COMMAND) >= 0)
		return 1u << 4;
	if (offset == GALNET_CPU_NUMBERS)
		return GALNET_NUMBERS_BITS;
	return 0xffffffff;
}

static bool
is_read_only(const struct chip *c, uint32_t offset)
{
	uint32_t mib_words = is_48002a(c) ? 2 * 22 : 8 * 16;

	if (offset % 4 != 0)
		return false;
	return offset == GALNET_NEW_ADDRESS_LOST || offset == GALNET_ADDRESS_DISCARDS ||
	    offset == GALNET_PACKETS_LOST || offset == GALNET_ERROR_SOURCE_LOST ||
	    port_word(c, offset, GALNET_PORT_STATUS) >= 0 ||
	    (offset >= GALNET_MIB && offset < GALNET_MIB + 4 * mib_words) ||
	    (is_48002a(c) && (offset == GT48001A_EASE_CAUSE || offset == GT48001A_EASE_MASK));
}

static int
write_chip(struct chip *c, uint32_t offset, uint32_t value)
{
	uint32_t *plain = plain_register(c, offset);
	int ease = port_word(c, offset, GALNET_EASE_REGISTER);

	if (plain) {
		*plain = value & writable(c, offset);
	} else if (offset == GALNET_CAUSE) {
		c->cause &= ~value;
		if (is_48002a(c))
			acknowledge(c, value >> 16);
	} else if (offset == GT48001A_EASE_CAUSE && !is_48002a(c)) {
		acknowledge(c, value);
	} else if (ease >= 0) {
		write_ease(c, (unsigned)ease, value);
	} else if (offset == GALNET_GLOBAL_CONTROL) {
		write_control(c, value);
	} else if (offset == GALNET_BUFFER_BASE) {
		write_buffer_base(c, value);
	} else if (!is_read_only(c, offset)) {
		return -ENXIO;
	}
	return 0;
}

static unsigned
n_mac_chips(const struct reference *ref)
{
	return (ref->n_ports + C84302_PORTS - 1) / C84302_PORTS;
}

uint32_t
reference_lines(const struct reference *ref)
{
	uint32_t lines = 0;

	for (unsigned i = 0; i < ref->n_chips; i++)
		if (chip_interrupts(&ref->chips[i]))
			lines |= 1u << i % BOARD_SWITCH_LINES;
	for (unsigned i = 0; i < n_mac_chips(ref) * C84302_PORTS; i++)
		if (reference_mac_interrupt(&ref->macs[i]))
			lines |= 1u << (BOARD_LINE_MAC + i / C84302_PORTS);
	return lines;
}

/* The MAC whose window an address lies in, or NULL. */
static struct reference_mac *
mac_at(struct reference *ref, uint32_t address)
{
	uint32_t i = (address - BOARD_MAC_BASE) / C84302_PORT_STRIDE;

	if (address < BOARD_MAC_BASE || i >= n_mac_chips(ref) * C84302_PORTS)
		return NULL;
	return &ref->macs[i];
}

static struct chip *
chip_at(struct reference *ref, uint32_t address)
{
	uint32_t i = (address - GALNET_REGION) / GALNET_SLICE;

	return address < GALNET_REGION || i >= ref->n_chips ? NULL : &ref->chips[i];
}

int
reference_read(struct reference *ref, uint32_t address, uint32_t *value)
{
	struct reference_mac *mac = mac_at(ref, address);
	struct chip *c = chip_at(ref, address);

	if (mac)
		return reference_mac_read(mac, (address - BOARD_MAC_BASE) % C84302_PORT_STRIDE, value);
	if (c)
		return read_chip(c, ref->macs, (address - GALNET_REGION) % GALNET_SLICE, value);
	if (address != BOARD_GLUE_BASE + BOARD_GLUE_LINES)
		return -ENXIO;
	*value = reference_lines(ref);
	return 0;
}

int
reference_write(struct reference *ref, uint32_t address, uint32_t value)
{
	struct reference_mac *mac = mac_at(ref, address);
	struct chip *c = chip_at(ref, address);

	if (mac)
		return reference_mac_write(
		    mac, (address - BOARD_MAC_BASE) % C84302_PORT_STRIDE, value);
	if (c)
		return write_chip(c, (address - GALNET_REGION) % GALNET_SLICE, value);
	return address == BOARD_GLUE_BASE + BOARD_GLUE_LINES ? 0 : -ENXIO;
}
