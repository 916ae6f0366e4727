#include "tests/reference_switch.h"

#include "agent/chip/c84302_regs.h"
#include "agent/chip/galnet_regs.h"
#include "agent/device/board_regs.h"
#include "tests/reference_mac.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AREAS = 128, EMPTY = -1 };

/* A GalNet chip, as its registers and its DRAM. */
struct chip {
	unsigned device, n_ports, first_port;
	uint32_t cause, mask, ease_mask, control;
	/* EASE: "a counter and a shadow for every port"; EMPTY or 0..0xfffff. */
	int32_t count[8], shadow[8];
	bool ease_event[8]; /* Ease_Register became empty; not acknowledged */
	bool has_cba, has_cbas;
	uint32_t cba, cbas, last_base; /* the last base written is what a read gives */
	unsigned block;
	uint32_t new_address_base, error_source_base;
	unsigned next_new_address, next_error_source;
	uint32_t new_address_lost, address_discards;
	uint32_t port_control[8];
	bool link[8];
	uint32_t table[GALNET_TABLE_ENTRIES][2];
};

struct area {
	uint32_t bus_address;
	size_t octets;
	uint8_t *memory;
};

struct reference {
	unsigned n_chips, n_ports;
	struct chip chips[REFERENCE_MAX_CHIPS];
	struct reference_mac macs[REFERENCE_MAX_PORTS + C84302_PORTS];
	uint64_t sent[REFERENCE_MAX_PORTS];
	struct area areas[MAX_AREAS];
	unsigned n_areas;
};

/* A frame on its way through the board. */
struct packet {
	const struct reference_frame *frame;
	struct reference_mac_frame mac;
	uint64_t destination, source;
};

/* --- memory of the CPU --- */

uint8_t *
reference_add_memory(struct reference *ref, uint32_t bus_address, size_t octets)
{
	struct area *a = &ref->areas[ref->n_areas++];

	*a = (struct area){bus_address, octets, calloc(1, octets)};
	return a->memory;
}

static uint8_t *
memory(struct reference *ref, uint32_t bus_address, size_t octets)
{
	for (unsigned i = 0; i < ref->n_areas; i++) {
		struct area *a = &ref->areas[i];

		if (bus_address >= a->bus_address &&
		    (uint64_t)bus_address + octets <= (uint64_t)a->bus_address + a->octets)
			return a->memory + (bus_address - a->bus_address);
	}
	return NULL;
}

/* Little-endian. */
static void
put_word(uint8_t *at, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(word >> 8 * i);
}

static uint32_t
get_word(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Writes into a 32-entry area; false if the CPU has not taken the entry's last message yet. */
static bool
write_message(struct reference *ref, uint32_t base, unsigned *next, uint64_t mac,
    unsigned device, unsigned port, uint32_t flags)
{
	uint8_t *entry = memory(ref, base + 16 * *next, 16);

	if (!entry || get_word(entry + 4) & GALNET_ENTRY_VALID)
		return false;
	put_word(entry, (uint32_t)(mac / 65536));
	put_word(entry + 4,
	    (uint32_t)(mac % 65536) * 65536 + device * 256 + port * 16 + flags +
		GALNET_ENTRY_VALID);
	*next = *next == 31 ? 0 : *next + 1;
	return true;
}

static bool
cpu_present(const struct chip *c)
{
	return (c->control & 1u << 10) != 0;
}

static bool
ease_enabled(const struct chip *c)
{
	return cpu_present(c) && c->control & GALNET_CONTROL_EASE_ENABLE;
}

/* --- packets to the CPU --- */

static void
copy_packet(uint8_t *block, const struct reference_frame *f)
{
	uint32_t room = GALNET_BLOCK_OCTETS - 32;
	uint32_t n = f->data_octets < room ? f->data_octets : room;

	for (uint32_t i = 0; i < n; i++)
		block[32 + i] = i < f->captured_octets ? f->octets[i] : 0;
	if (n + 4 < f->wire_octets)
		put_word(block + GALNET_BLOCK_REAL_OCTETS, n);
}

/* Into the next of the sixteen blocks at CBA. After sixteen packets CBAS moves into CBA. */
static void
deliver(struct reference *ref, struct chip *c, const struct packet *p, uint32_t word_0)
{
	uint8_t *block;

	if (!c->has_cba)
		return;
	block = memory(ref, c->cba + c->block * GALNET_BLOCK_OCTETS, GALNET_BLOCK_OCTETS);
	if (!block)
		return;
	copy_packet(block, p->frame);
	put_word(block, word_0 | (p->frame->wire_octets % 2048) << 1 | 1);
	c->cause |= GALNET_CAUSE_PACKET;
	c->block++;
	if (c->block == 16) {
		c->block = 0;
		c->cba = c->cbas;
		c->has_cba = c->has_cbas;
		c->has_cbas = false;
		c->cause |= GALNET_CAUSE_BUF_WRAP;
	}
}

/* --- EASE (GT-48002A page 61) --- */

/* "When the counter has reached zero, the next packet on the segment is captured." */
static bool
count_down(struct chip *c, unsigned port)
{
	if (!ease_enabled(c) || c->count[port] == EMPTY)
		return false;
	if (c->count[port] > 0) {
		c->count[port]--;
		return false;
	}
	c->count[port] = c->shadow[port];
	if (c->shadow[port] != EMPTY)
		c->ease_event[port] = true;
	c->shadow[port] = EMPTY;
	return true;
}

/* Counts a packet on some ports of a chip; one copy names all whose counter took it. arrival is
 * the port it came in by, -1 if it came over PCI. */
static void
sample(struct reference *ref, struct chip *c, const bool on[8], int arrival,
    const struct packet *p)
{
	uint32_t word_0 = 0;

	for (unsigned port = 0; port < c->n_ports; port++)
		if (on[port] && count_down(c, port))
			word_0 |= 1u << (16 + port);
	if (word_0 == 0)
		return;
	if (arrival >= 0)
		word_0 |= 1u << 15 | (uint32_t)arrival << 12;
	deliver(ref, c, p, word_0);
}

/* --- address table --- */

static bool
is_group(uint64_t mac)
{
	return (mac & 0x010000000000) != 0;
}

static uint32_t *
look_up(struct chip *c, uint64_t mac)
{
	unsigned bucket = galnet_bucket(mac);

	for (unsigned i = 8 * bucket; i < 8 * bucket + 8; i++)
		if (c->table[i][1] & GALNET_ENTRY_VALID && c->table[i][0] == mac / 65536 &&
		    c->table[i][1] / 65536 == mac % 65536)
			return c->table[i];
	return NULL;
}

static uint32_t *
free_entry(struct chip *c, uint64_t mac)
{
	unsigned bucket = galnet_bucket(mac);

	for (unsigned i = 8 * bucket; i < 8 * bucket + 8; i++)
		if (!(c->table[i][1] & GALNET_ENTRY_VALID))
			return c->table[i];
	return NULL;
}

static unsigned
device_of(const uint32_t *entry)
{
	return entry[1] >> 8 & 31;
}

static unsigned
port_of(const uint32_t *entry)
{
	return entry[1] >> 4 & 7;
}

/* Puts an address where it is or where there is room; false if there is none. */
static bool
enter(struct chip *c, uint64_t mac, unsigned device, unsigned port, uint32_t flags)
{
	uint32_t *entry = look_up(c, mac);

	if (!entry)
		entry = free_entry(c, mac);
	if (!entry) {
		c->address_discards++;
		c->cause |= GALNET_CAUSE_RECOGNITION;
		return false;
	}
	entry[0] = (uint32_t)(mac / 65536);
	entry[1] = (uint32_t)(mac % 65536) * 65536 + device * 256 + port * 16 + flags +
	    GALNET_ENTRY_VALID;
	return true;
}

static void
announce(struct reference *ref, struct chip *c, uint64_t mac, unsigned port)
{
	for (unsigned i = 0; i < ref->n_chips; i++) {
		struct chip *other = &ref->chips[i];
		uint32_t *entry = look_up(other, mac);

		if (other == c || (entry && entry[1] & GALNET_ENTRY_STATIC))
			continue;
		enter(other, mac, c->device, port, 0);
	}
	if (!cpu_present(c) || !(c->control & 1u << 7))
		return;
	if (!write_message(ref, c->new_address_base, &c->next_new_address, mac, c->device, port, 0))
		c->new_address_lost++;
	c->cause |= GALNET_CAUSE_NEW_ADDRESS;
}

/* The table of GT-48001A page 16. */
static void
learn(struct reference *ref, struct chip *c, uint64_t mac, unsigned port)
{
	uint32_t *entry;

	if (is_group(mac) || mac == 0)
		return;
	entry = look_up(c, mac);
	if (entry)
		entry[1] |= GALNET_ENTRY_AGING;
	if (entry && entry[1] & GALNET_ENTRY_STATIC)
		return;
	if (entry && device_of(entry) == c->device && port_of(entry) == port)
		return;
	if (enter(c, mac, c->device, port, GALNET_ENTRY_AGING))
		announce(ref, c, mac, port);
}

/* --- the path of a frame --- */

static bool
port_is_up(const struct chip *c, unsigned port)
{
	return port < c->n_ports && c->link[port] &&
	    c->port_control[port] & GALNET_PORT_CONTROL_ENABLE;
}

static void
transmit(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	unsigned board_port = c->first_port + port;

	reference_mac_send(&ref->macs[board_port], &p->mac);
	ref->sent[board_port]++;
}

/* A packet comes over PCI for these ports. */
static void
receive_pci(struct reference *ref, struct chip *c, const bool to[8], const struct packet *p)
{
	bool on[8] = {false};

	for (unsigned port = 0; port < 8; port++) {
		if (!to[port] || !port_is_up(c, port))
			continue;
		transmit(ref, c, port, p);
		on[port] = true;
	}
	sample(ref, c, on, -1, p);
}

/* To all local ports but the arrival port, and to all other devices. */
static void
flood(struct reference *ref, struct chip *c, unsigned arrival, const struct packet *p)
{
	static const bool all[8] = {true, true, true, true, true, true, true, true};
	bool on[8] = {false};

	for (unsigned port = 0; port < c->n_ports; port++) {
		on[port] = port == arrival || port_is_up(c, port);
		if (on[port] && port != arrival)
			transmit(ref, c, port, p);
	}
	sample(ref, c, on, (int)arrival, p);
	for (unsigned i = 0; i < ref->n_chips; i++)
		if (&ref->chips[i] != c)
			receive_pci(ref, &ref->chips[i], all, p);
}

/* A unicast whose destination is known. */
static void
forward(struct reference *ref, struct chip *c, unsigned arrival, const uint32_t *entry,
    const struct packet *p)
{
	unsigned device = device_of(entry), port = port_of(entry);
	bool on[8] = {false}, to[8] = {false};

	on[arrival] = true;
	to[port] = true;
	if (device == c->device && port != arrival && port_is_up(c, port)) {
		transmit(ref, c, port, p);
		on[port] = true;
	}
	sample(ref, c, on, (int)arrival, p);
	if (device != c->device && device < ref->n_chips)
		receive_pci(ref, &ref->chips[device], to, p);
}

/* A good frame has come in: Ethernet control frames and reserved groups end here. */
static void
receive_good(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	bool stays = p->mac.length_type == 0x8808 ||
	    (p->destination >= 0x0180c2000000 && p->destination <= 0x0180c200000f);
	bool on[8] = {false};
	const uint32_t *entry = NULL;

	learn(ref, c, p->source, port);
	if (stays) {
		on[port] = true;
		sample(ref, c, on, (int)port, p);
		return;
	}
	if (!is_group(p->destination))
		entry = look_up(c, p->destination);
	if (entry)
		forward(ref, c, port, entry, p);
	else
		flood(ref, c, port, p);
}

/* "FCS error and frame too long": the source and its port go to the CPU. */
static void
receive_bad(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	if (!ease_enabled(c) || c->error_source_base == 0)
		return;
	write_message(ref, c->error_source_base, &c->next_error_source, p->source, c->device, port,
	    GALNET_ENTRY_TOO_LONG);
	c->cause |= GALNET_CAUSE_ERROR_SOURCE;
}

static uint64_t
address_at(const uint8_t *octets)
{
	uint64_t mac = 0;

	for (int i = 0; i < 6; i++)
		mac = mac * 256 + octets[i];
	return mac;
}

static struct packet
packet_of(const struct reference_frame *f)
{
	struct packet p = {.frame = f, .mac = {.octets = f->wire_octets}};

	if (f->captured_octets < 14)
		return p;
	p.destination = p.mac.destination = address_at(f->octets);
	p.source = address_at(f->octets + 6);
	p.mac.has_header = true;
	p.mac.length_type = (uint16_t)(f->octets[12] * 256 + f->octets[13]);
	if (f->captured_octets >= 16)
		p.mac.opcode = (uint16_t)(f->octets[14] * 256 + f->octets[15]);
	return p;
}

static struct chip *
chip_of(struct reference *ref, unsigned board_port)
{
	struct chip *c = ref->chips;

	while (board_port >= c->first_port + c->n_ports)
		c++;
	return c;
}

void
reference_frame(struct reference *ref, const struct reference_frame *frame)
{
	struct chip *c = chip_of(ref, frame->port);
	unsigned port = frame->port - c->first_port;
	struct packet p = packet_of(frame);

	if (!port_is_up(c, port))
		return;
	if (reference_mac_receive(&ref->macs[frame->port], &p.mac))
		receive_good(ref, c, port, &p);
	else if (frame->wire_octets >= 64)
		receive_bad(ref, c, port, &p);
}

void
reference_set_link(struct reference *ref, unsigned board_port, bool up)
{
	struct chip *c = chip_of(ref, board_port);

	c->link[board_port - c->first_port] = up;
	c->cause |= GALNET_CAUSE_LINK;
}

uint64_t
reference_sent(const struct reference *ref, unsigned port)
{
	return ref->sent[port];
}

/* --- registers --- */

static bool
is_48002a(const struct chip *c)
{
	return c->n_ports == 2;
}

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
	c->control = value & (1u << 7 | 1u << 10 | GALNET_CONTROL_EASE_ENABLE);
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

	switch (offset) {
	case GALNET_MASK:
		return &c->mask;
	case GT48001A_EASE_MASK:
		return is_48002a(c) ? NULL : &c->ease_mask;
	case GALNET_NEW_ADDRESS_BASE:
		return &c->new_address_base;
	case GALNET_ERROR_SOURCE_BASE:
		return &c->error_source_base;
	}
	return port >= 0 ? &c->port_control[port] : table_word(c, offset);
}

static uint32_t
take(uint32_t *counter)
{
	uint32_t value = *counter;

	*counter = 0;
	return value;
}

static int
read_chip(struct chip *c, uint32_t offset, uint32_t *value)
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
	else if (offset == GALNET_NEW_ADDRESS_LOST)
		*value = take(&c->new_address_lost);
	else if (offset == GALNET_ADDRESS_DISCARDS)
		*value = take(&c->address_discards);
	else if (status >= 0)
		*value = c->link[status];
	else
		return -ENXIO;
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
		return GALNET_PORT_CONTROL_ENABLE;
	return 0xffffffff;
}

static int
write_chip(struct chip *c, uint32_t offset, uint32_t value)
{
	uint32_t *plain = plain_register(c, offset);
	int ease = port_word(c, offset, GALNET_EASE_REGISTER);
	uint32_t unused;

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
	} else if (offset == GALNET_NEW_ADDRESS_LOST || offset == GALNET_ADDRESS_DISCARDS) {
		return 0; /* read only */
	} else {
		return read_chip(c, offset, &unused);
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
			lines |= 1u << (BOARD_LINE_SWITCH + i);
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
		return read_chip(c, (address - GALNET_REGION) % GALNET_SLICE, value);
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

/* --- life --- */

static void
add_chip(struct reference *ref, unsigned n_ports)
{
	struct chip *c = &ref->chips[ref->n_chips];

	c->device = ref->n_chips;
	c->n_ports = n_ports;
	c->first_port = ref->n_ports;
	for (unsigned port = 0; port < 8; port++) {
		c->count[port] = c->shadow[port] = EMPTY;
		c->port_control[port] = GALNET_PORT_CONTROL_ENABLE;
	}
	ref->n_ports += n_ports;
	ref->n_chips++;
}

struct reference *
reference_create(const struct reference_plan *plan)
{
	struct reference *ref = calloc(1, sizeof(*ref));

	if (!ref)
		return NULL;
	for (unsigned i = 0; i < plan->n_chips; i++)
		add_chip(ref, plan->ports[i]);
	for (unsigned i = 0; i < n_mac_chips(ref) * C84302_PORTS; i++)
		reference_mac_reset(&ref->macs[i]);
	for (unsigned port = 0; port < ref->n_ports; port++)
		reference_set_link(ref, port, plan->link_up[port]);
	return ref;
}

void
reference_destroy(struct reference *ref)
{
	if (!ref)
		return;
	for (unsigned i = 0; i < ref->n_areas; i++)
		free(ref->areas[i].memory);
	free(ref);
}
