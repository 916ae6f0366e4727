#include "tests/agent/sim/reference_private.h"

#include <stdlib.h>

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

uint8_t *
reference_memory(struct reference *ref, uint32_t bus_address, size_t octets)
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
	uint8_t *entry = reference_memory(ref, base + 16 * *next, 16);

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

static bool
is_control(const struct packet *p)
{
	return p->mac.length_type == 0x8808;
}

static bool
port_is_up(const struct chip *c, unsigned port)
{
	return port < c->n_ports && c->link[port] &&
	    c->port_control[port] & GALNET_PORT_CONTROL_ENABLE;
}

static bool
spanning_tree(const struct chip *c)
{
	return (c->control & GALNET_CONTROL_SPAN_ENABLE) != 0;
}

/* Up, and not blocked by the spanning tree. */
static bool
sends(const struct chip *c, unsigned port)
{
	return port_is_up(c, port) &&
	    !(spanning_tree(c) && c->port_control[port] & GALNET_PORT_CONTROL_SPAN);
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
	uint8_t *block = NULL;

	if (c->has_cba)
		block = reference_memory(
		    ref, c->cba + c->block * GALNET_BLOCK_OCTETS, GALNET_BLOCK_OCTETS);
	if (!block) {
		c->packets_lost++;
		return;
	}
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

/* --- what passes some ports of a chip --- */

static void
transmit(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	unsigned board_port = c->first_port + port;

	reference_mac_send(&ref->macs[board_port], &p->mac);
	ref->sent[board_port]++;
}

static bool
monitored(const struct chip *c, unsigned port)
{
	return (c->port_control[port] & (is_48002a(c) ? 1u << 2 : 1u << 4)) != 0;
}

/* A copy for who sniffs; true if that is the CPU. */
static bool
sniff(struct reference *ref, struct chip *c, const struct packet *p)
{
	unsigned cpu = c->cpu_numbers & 31, device = c->cpu_numbers >> 8 & 31;
	unsigned port = c->cpu_numbers >> 16 & 7;

	if (device == cpu)
		return cpu_present(c);
	if (device < ref->n_chips && sends(&ref->chips[device], port))
		transmit(ref, &ref->chips[device], port, p);
	return false;
}

/* Counts a packet on some ports of a chip and gives the CPU the one copy it gets. arrival is the
 * port it came in by, -1 if it came over PCI. */
static void
pass(struct reference *ref, struct chip *c, const bool on[8], int arrival, bool to_cpu,
    const struct packet *p)
{
	bool is_monitored = false;
	uint32_t word_0 = 0;

	for (unsigned port = 0; port < c->n_ports; port++) {
		if (on[port] && count_down(c, port))
			word_0 |= 1u << (16 + port);
		is_monitored = is_monitored || (on[port] && monitored(c, port));
	}
	if (is_monitored && !is_control(p) && sniff(ref, c, p))
		word_0 |= 1u << 31;
	if (word_0 == 0 && !to_cpu)
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

/* The recovery process of GT-48001A page 16: "only the owner answers". */
static void
recover(struct reference *ref, struct chip *c, uint64_t mac)
{
	for (unsigned i = 0; i < ref->n_chips; i++) {
		struct chip *other = &ref->chips[i];
		const uint32_t *entry = look_up(other, mac);

		if (other != c && entry && device_of(entry) == other->device)
			enter(c, mac, other->device, port_of(entry), 0);
	}
}

/* A packet comes over PCI for these ports. */
static void
receive_pci(struct reference *ref, struct chip *c, const bool to[8], const struct packet *p)
{
	bool on[8] = {false};

	for (unsigned port = 0; port < 8; port++) {
		if (!to[port] || !sends(c, port))
			continue;
		transmit(ref, c, port, p);
		on[port] = true;
	}
	pass(ref, c, on, -1, false, p);
}

/* Ports that take a packet for all, or one whose destination is unknown. */
static void
ports_for(const struct chip *c, bool unknown, bool to[8])
{
	for (unsigned port = 0; port < c->n_ports; port++)
		to[port] = !unknown || c->command[port] & GALNET_COMMAND_TAKES_UNKNOWN;
}

/* To all local ports but the arrival port, and to all other devices. */
static void
flood(struct reference *ref, struct chip *c, unsigned arrival, bool unknown, bool to_cpu,
    const struct packet *p)
{
	bool on[8] = {false};

	ports_for(c, unknown, on);
	for (unsigned port = 0; port < c->n_ports; port++) {
		on[port] = on[port] && sends(c, port);
		if (on[port] && port != arrival)
			transmit(ref, c, port, p);
	}
	on[arrival] = true;
	pass(ref, c, on, (int)arrival, to_cpu, p);
	for (unsigned i = 0; i < ref->n_chips; i++) {
		bool to[8] = {false};

		ports_for(&ref->chips[i], unknown, to);
		if (&ref->chips[i] != c)
			receive_pci(ref, &ref->chips[i], to, p);
	}
}

static void
only_pass(struct reference *ref, struct chip *c, unsigned arrival, bool to_cpu,
    const struct packet *p)
{
	bool on[8] = {false};

	on[arrival] = true;
	pass(ref, c, on, (int)arrival, to_cpu, p);
}

/* A unicast whose destination is known. */
static void
forward(struct reference *ref, struct chip *c, unsigned arrival, const uint32_t *entry,
    const struct packet *p)
{
	unsigned device = device_of(entry), port = port_of(entry);
	bool on[8] = {false}, to[8] = {false};

	if (cpu_present(c) &&
	    (entry[1] & GALNET_ENTRY_INTERVENTION || device == (c->cpu_numbers & 31))) {
		only_pass(ref, c, arrival, true, p);
		return;
	}
	on[arrival] = true;
	to[port] = true;
	if (device == c->device && port != arrival && sends(c, port)) {
		transmit(ref, c, port, p);
		on[port] = true;
	}
	pass(ref, c, on, (int)arrival, false, p);
	if (device != c->device && device < ref->n_chips)
		receive_pci(ref, &ref->chips[device], to, p);
}

static bool
is_bpdu_for_cpu(const struct chip *c, const struct packet *p)
{
	return spanning_tree(c) && cpu_present(c) && p->destination == 0x0180c2000000 &&
	    !is_control(p);
}

static void
receive_group(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	bool reserved = p->destination >= 0x0180c2000000 && p->destination <= 0x0180c200000f;
	bool filtered = p->destination == 0xffffffffffff &&
	    c->port_control[port] & GALNET_PORT_CONTROL_NO_BROADCAST;
	bool only_cpu = cpu_present(c) && c->control & 1u << 22;
	bool to_cpu = only_cpu ||
	    (cpu_present(c) && c->control & GALNET_CONTROL_MULTICAST_TO_CPU);

	if (reserved)
		only_pass(ref, c, port, is_bpdu_for_cpu(c, p), p);
	else if (filtered)
		only_pass(ref, c, port, false, p);
	else if (only_cpu)
		only_pass(ref, c, port, true, p);
	else
		flood(ref, c, port, false, to_cpu, p);
}

static void
receive_unicast(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	const uint32_t *entry = look_up(c, p->destination);

	if (entry) {
		forward(ref, c, port, entry, p);
		return;
	}
	recover(ref, c, p->destination);
	flood(ref, c, port, true, cpu_present(c) && c->control & 1u << 6, p);
}

/* A good frame has come in. Of a port that the spanning tree blocks only BPDUs are taken. */
static void
receive_good(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	if (!sends(c, port)) {
		if (is_bpdu_for_cpu(c, p))
			deliver(ref, c, p, 1u << 15 | port << 12);
		return;
	}
	learn(ref, c, p->source, port);
	if (is_control(p))
		only_pass(ref, c, port, false, p);
	else if (is_group(p->destination))
		receive_group(ref, c, port, p);
	else
		receive_unicast(ref, c, port, p);
}

/* "FCS error and frame too long": the source and its port go to the CPU. */
static void
receive_bad(struct reference *ref, struct chip *c, unsigned port, const struct packet *p)
{
	bool bad_fcs = p->mac.bad_fcs || p->mac.broken_octet;
	bool too_long = p->mac.octets > reference_mac_longest(&ref->macs[c->first_port + port]);

	if (!ease_enabled(c) || c->error_source_base == 0 || p->mac.fifo_overflow)
		return;
	if (p->mac.octets < 64 || (!bad_fcs && !too_long))
		return;
	if (!write_message(ref, c->error_source_base, &c->next_error_source, p->source, c->device,
		port, bad_fcs ? 0 : GALNET_ENTRY_TOO_LONG))
		c->error_source_lost++;
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
	struct packet p = {.frame = f, .mac = {.octets = f->wire_octets, .bad_fcs = f->bad_fcs,
	    .broken_octet = f->broken_octet, .symbol_error = f->symbol_error,
	    .fifo_overflow = f->fifo_overflow}};

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
	else
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

/* --- life --- */

static void
add_chip(struct reference *ref, unsigned n_ports)
{
	struct chip *c = &ref->chips[ref->n_chips];

	c->device = ref->n_chips;
	c->n_ports = n_ports;
	c->first_port = ref->n_ports;
	c->cpu_numbers = GALNET_NUMBERS_RESET;
	for (unsigned port = 0; port < 8; port++) {
		c->count[port] = c->shadow[port] = EMPTY;
		c->port_control[port] = GALNET_PORT_CONTROL_ENABLE;
		c->command[port] = GALNET_COMMAND_TAKES_UNKNOWN;
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
	for (unsigned i = 0; i < REFERENCE_MAX_PORTS + C84302_PORTS; i++)
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
