#include "agent/sim/chip/galnet_model.h"

#include "agent/sim/chip/galnet_ease_model.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum galnet_row {
	ROW_CAUSE,
	ROW_MASK,
	ROW_EASE_CAUSE, /* GT-48002A: reserved words */
	ROW_EASE_MASK,
	ROW_MIB,
	ROW_EASE,
	ROW_CONTROL,
	ROW_BUFFER_BASE,
	ROW_NEW_ADDRESS_BASE,
	ROW_ERROR_SOURCE_BASE,
	ROW_NEW_ADDRESS_LOST,
	ROW_ADDRESS_DISCARDS,
	ROW_PACKETS_LOST,
	ROW_ERROR_SOURCE_LOST,
	ROW_CPU_NUMBERS,
	ROW_PORT_CONTROL,
	ROW_PORT_STATUS,
	ROW_COMMAND,
	ROW_TABLE,
	GALNET_N_ROWS
};

struct chip_info {
	const struct regmodel_row *rows;
	unsigned n_ports;
	bool ease_in_common_cause;
	unsigned ease_shift;
	uint32_t port_control_monitor;
	unsigned n_mib; /* counters a port */
};

#define NO_COUNT UINT32_MAX /* the value of an empty counter */

/* A counter runs, in the bank, while it has a value, EASE is enabled and its port forwards. */
struct ease {
	uint32_t left[GALNET_MAX_PORTS]; /* while it does not run */
	uint32_t shadow[GALNET_MAX_PORTS];
	uint8_t running;     /* a bit a port, as the next two */
	uint8_t shadow_full;
	uint8_t event;	     /* registers that became empty, not acknowledged */
};

struct galnet_model {
	struct galnet_model_config config;
	const struct chip_info *info;
	struct regmodel regs;
	uint32_t *table; /* two words an entry */
	bool pulls_line; /* its interrupt */
	/* Ports, a bit each, decoded from registers: */
	uint32_t ports_up;
	uint32_t forwarding; /* up, and not blocked by the spanning tree */
	uint32_t takes_unknown, monitored, no_broadcast;
	bool spanning_tree;  /* SpanEn, the global one */
	/* Table entries that send to the CPU: by their device (beyond all devices if none), or by a flag. */
	uint32_t cpu_device, cpu_flags;
	struct galnet_ease *bank; /* with the running counters */
	struct galnet_ease own_bank;
	struct ease ease;
	/* receive buffers: CBA and CBAS */
	uint32_t buffer_base, buffer_shadow;
	bool has_buffer, has_shadow;
	unsigned block;
	unsigned next_new_address, next_error_source;
	uint64_t packets_lost;
	uint32_t mib_zero[GALNET_MAX_PORTS][GALNET_N_MIB]; /* events when it was last zeroed */
};

static inline uint32_t *
register_at(struct galnet_model *m, enum galnet_row row)
{
	return regmodel_value(&m->regs, row, 0);
}

/* Whether all these Global Control bits are set. */
static inline bool
control_has(struct galnet_model *m, uint32_t bits)
{
	return (*register_at(m, ROW_CONTROL) & bits) == bits;
}

static inline uint32_t
all_ports(const struct galnet_model *m)
{
	return (1u << m->info->n_ports) - 1;
}

static inline bool
is_group(uint64_t mac)
{
	return mac >> 40 & 1;
}

/* 01-80-C2-00-00-00 to -0F: for the bridge itself (IEEE 802.1D). */
static inline bool
is_reserved(uint64_t mac)
{
	return mac >> 4 == 0x0180c200000ull;
}

/* --- interrupt --- */

static void
galnet_model_update_line(struct galnet_model *m)
{
	uint32_t mask = *register_at(m, m->info->ease_in_common_cause ? ROW_MASK : ROW_EASE_MASK);
	bool up = (*register_at(m, ROW_CAUSE) & *register_at(m, ROW_MASK)) ||
	    ((uint32_t)m->ease.event << m->info->ease_shift & mask);

	bus_model_pull_line(m->config.bus, m->config.line, &m->pulls_line, up);
}

/* Sets Cause bits. */
static void
raise_cause(struct galnet_model *m, uint32_t bits)
{
	*register_at(m, ROW_CAUSE) |= bits;
	galnet_model_update_line(m);
}

/* --- what the chip writes into the memory of the CPU: messages in rings, packets in receive buffers --- */

/* Data must be visible before the mark that makes it valid, because the CPU reads without the lock. */
static void
galnet_model_store_word(uint8_t *memory, uint32_t value)
{
	uint32_t word = htole32(value);

	__atomic_store((uint32_t *)(void *)memory, &word, __ATOMIC_RELEASE);
}

static uint32_t
galnet_model_load_word(const uint8_t *memory)
{
	uint32_t word;

	__atomic_load((const uint32_t *)(const void *)memory, &word, __ATOMIC_ACQUIRE);
	return le32toh(word);
}

/* Writes an entry of a message ring; false if the CPU has not read the old one yet. */
static bool
post_message(struct galnet_model *m, enum galnet_row base, unsigned *next, uint32_t word_0, uint32_t word_1)
{
	uint8_t *entry = bus_model_memory(m->config.bus,
	    *register_at(m, base) + *next * GALNET_RING_ENTRY_OCTETS, GALNET_RING_ENTRY_OCTETS);

	if (!entry || galnet_model_load_word(entry + 4) & GALNET_ENTRY_VALID)
		return false;
	*next = (*next + 1) % GALNET_RING_ENTRIES;
	galnet_model_store_word(entry, word_0);
	galnet_model_store_word(entry + 4, word_1 | GALNET_ENTRY_VALID);
	return true;
}

/* Writes the message to the CPU, or counts it as lost. */
static void
write_new_address(struct galnet_model *m, uint64_t mac, unsigned port)
{
	if (!control_has(m, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_NEW_ADDRESS_TO_CPU))
		return;
	if (!post_message(m, ROW_NEW_ADDRESS_BASE, &m->next_new_address, galnet_entry_word_0(mac),
		galnet_entry_word_1(mac, m->config.device, port, 0)))
		*register_at(m, ROW_NEW_ADDRESS_LOST) += 1;
	raise_cause(m, GALNET_CAUSE_NEW_ADDRESS);
}

void
galnet_model_error_source(struct galnet_model *m, unsigned port, uint64_t source, bool too_long)
{
	if (!control_has(m, GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE) ||
	    *register_at(m, ROW_ERROR_SOURCE_BASE) == 0)
		return;
	if (!post_message(m, ROW_ERROR_SOURCE_BASE, &m->next_error_source,
		galnet_entry_word_0(source),
		galnet_entry_word_1(source, m->config.device, port,
		    too_long ? GALNET_ENTRY_TOO_LONG : 0)))
		*register_at(m, ROW_ERROR_SOURCE_LOST) += 1;
	raise_cause(m, GALNET_CAUSE_ERROR_SOURCE);
}

/* After sixteen packets CBA is loaded from CBAS. If CBAS is empty there is no buffer for the next. */
static void
next_block(struct galnet_model *m)
{
	if (++m->block < GALNET_AREA_BLOCKS)
		return;
	m->block = 0;
	m->buffer_base = m->buffer_shadow;
	m->has_buffer = m->has_shadow;
	m->has_shadow = false;
	raise_cause(m, GALNET_CAUSE_BUF_WRAP);
}

static void
galnet_model_write_packet(uint8_t *block, const struct galnet_frame *f, uint32_t word_0)
{
	uint32_t data = f->data_octets, captured = f->captured_octets;

	if (data > GALNET_BLOCK_DATA_MAX)
		data = GALNET_BLOCK_DATA_MAX;
	if (captured > data)
		captured = data;
	memcpy(block + GALNET_BLOCK_DATA, f->octets, captured);
	memset(block + GALNET_BLOCK_DATA + captured, 0, data - captured);
	if (data + GALNET_FCS_OCTETS < f->wire_octets)
		galnet_model_store_word(block + GALNET_BLOCK_REAL_OCTETS, data);
	galnet_model_store_word(block, word_0);
}

/* Writes one copy of a packet that these ports sampled, a bit each. arrival is the port that received it,
 * or -1; marks are further bits of word 0. */
static void
deliver_block(struct galnet_model *m, uint32_t ports, int arrival, const struct galnet_frame *f, uint32_t marks)
{
	uint32_t word_0 = GALNET_WORD0_VALID | marks | ports << GALNET_WORD0_EASE_SHIFT |
	    (f->wire_octets & GALNET_WORD0_COUNT_MASK) << GALNET_WORD0_COUNT_SHIFT;
	uint8_t *block = NULL;

	if (arrival >= 0)
		word_0 |= GALNET_WORD0_ORIGINAL | (uint32_t)arrival << GALNET_WORD0_SOURCE_SHIFT;
	if (m->has_buffer)
		block = bus_model_memory(m->config.bus,
		    m->buffer_base + m->block * GALNET_BLOCK_OCTETS, GALNET_BLOCK_OCTETS);
	if (!block) {
		*register_at(m, ROW_PACKETS_LOST) += 1;
		m->packets_lost++;
		return;
	}
	galnet_model_write_packet(block, f, word_0);
	next_block(m);
	raise_cause(m, GALNET_CAUSE_PACKET);
}

/* --- EASE --- */

static unsigned
counter_of(const struct galnet_model *m, unsigned port)
{
	return galnet_ease_counter(m->config.device, port);
}

/* Starts or stops a counter according to its value, the enable bits and the port's state. */
static void
update_running(struct galnet_model *m, unsigned port)
{
	bool enabled =
	    control_has(m, GALNET_CONTROL_EASE_ENABLE | GALNET_CONTROL_CPU_PRESENT);
	bool running = m->ease.running >> port & 1;

	if (running) {
		m->ease.left[port] = galnet_ease_stop(m->bank, counter_of(m, port));
		m->ease.running &= (uint8_t)~(1u << port);
	}
	if (enabled && m->forwarding >> port & 1 && m->ease.left[port] != NO_COUNT) {
		galnet_ease_run(m->bank, counter_of(m, port), m->ease.left[port]);
		m->ease.running |= (uint8_t)(1u << port);
	}
}

static uint32_t
ease_left(const struct galnet_model *m, unsigned port)
{
	if (m->ease.running >> port & 1)
		return galnet_ease_left(m->bank, counter_of(m, port));
	return m->ease.left[port];
}

static void
empty_ease(struct galnet_model *m)
{
	for (unsigned port = 0; port < GALNET_MAX_PORTS; port++)
		galnet_ease_stop(m->bank, counter_of(m, port));
	m->ease = (struct ease){0};
	for (unsigned i = 0; i < GALNET_MAX_PORTS; i++)
		m->ease.left[i] = NO_COUNT;
	galnet_model_update_line(m);
}

/* Counts a good packet on this port's segment. Returns the port's bit if it is the sample. */
static inline uint32_t
count_packet(struct galnet_model *m, unsigned port)
{
	return (uint32_t)galnet_ease_count(m->bank, counter_of(m, port)) << port;
}

/* Counts one good packet on each of these segments. Returns the ports that sample it. */
static uint32_t
count_packets(struct galnet_model *m, uint32_t ports)
{
	uint32_t sampled = 0;

	for (; ports != 0; ports &= ports - 1)
		sampled |= count_packet(m, (unsigned)__builtin_ctz(ports));
	return sampled;
}

/* After a sample: loads each of these ports' counters from its register if that has a value, and empties the
 * register. */
static void
reload_counters(struct galnet_model *m, uint32_t sampled)
{
	struct ease *e = &m->ease;

	for (; sampled != 0; sampled &= sampled - 1) {
		unsigned port = (unsigned)__builtin_ctz(sampled);

		galnet_ease_stop(m->bank, counter_of(m, port));
		e->running &= (uint8_t)~(1u << port);
		e->left[port] = NO_COUNT;
		if (e->shadow_full & 1u << port) {
			e->left[port] = e->shadow[port];
			e->shadow_full &= (uint8_t)~(1u << port);
			e->event |= (uint8_t)(1u << port);
		}
		update_running(m, port);
		galnet_model_update_line(m);
	}
}

/* --- address table --- */

static inline uint32_t *
galnet_model_bucket_of(struct galnet_model *m, uint64_t mac)
{
	return m->table + galnet_bucket(mac) * GALNET_BUCKET_ENTRIES * 2;
}

/* Both words of an entry, to compare them together. */
static inline uint64_t
both_words(const uint32_t *entry)
{
	uint64_t both;

	memcpy(&both, entry, sizeof(both));
	return both;
}

/* The address's entry or NULL. */
static inline uint32_t *
galnet_model_find_entry(struct galnet_model *m, uint64_t mac)
{
	static const uint32_t address_and_valid[] = {UINT32_MAX, 0xffff0000 | GALNET_ENTRY_VALID};
	uint32_t *entry = galnet_model_bucket_of(m, mac), *end = entry + GALNET_BUCKET_ENTRIES * 2;
	uint32_t wanted[] = {galnet_entry_word_0(mac),
	    galnet_entry_word_1(mac, 0, 0, GALNET_ENTRY_VALID)};

	for (; entry < end; entry += 2)
		if ((both_words(entry) & both_words(address_and_valid)) == both_words(wanted))
			return entry;
	return NULL;
}

/* An unused entry in the bucket of an address, or NULL. */
static uint32_t *
find_unused(struct galnet_model *m, uint64_t mac)
{
	uint32_t *entry = galnet_model_bucket_of(m, mac), *end = entry + GALNET_BUCKET_ENTRIES * 2;

	for (; entry < end; entry += 2)
		if (!(entry[1] & GALNET_ENTRY_VALID))
			return entry;
	return NULL;
}

static void
table_full(struct galnet_model *m)
{
	*register_at(m, ROW_ADDRESS_DISCARDS) += 1;
	raise_cause(m, GALNET_CAUSE_RECOGNITION);
}

/* The source is new, or its entry differs, or it was not used since the CPU cleared its aging bit. */
static __attribute__((noinline)) void
learn_anew(struct galnet_model *m, uint64_t mac, unsigned port)
{
	uint32_t *entry = galnet_model_find_entry(m, mac);
	unsigned device = m->config.device;

	if (entry && (entry[1] & GALNET_ENTRY_STATIC ||
		(galnet_entry_device(entry[1]) == device && galnet_entry_port(entry[1]) == port))) {
		entry[1] |= GALNET_ENTRY_AGING;
		return;
	}
	entry = entry ? entry : find_unused(m, mac);
	if (!entry) {
		table_full(m);
		return;
	}
	entry[0] = galnet_entry_word_0(mac);
	entry[1] = galnet_entry_word_1(mac, device, port, GALNET_ENTRY_VALID | GALNET_ENTRY_AGING);
	if (m->config.new_address)
		m->config.new_address(m->config.ctx, device, mac, port);
	write_new_address(m, mac, port);
}

static inline void
learn_source(struct galnet_model *m, uint64_t mac, unsigned port)
{
	const uint32_t *entry = galnet_model_bucket_of(m, mac), *end = entry + GALNET_BUCKET_ENTRIES * 2;
	uint32_t wanted[] = {galnet_entry_word_0(mac),
	    galnet_entry_word_1(
		mac, m->config.device, port, GALNET_ENTRY_VALID | GALNET_ENTRY_AGING)};

	for (; entry < end; entry += 2)
		if (both_words(entry) == both_words(wanted))
			return; /* the entry would not change */
	if (!is_group(mac) && mac != 0)
		learn_anew(m, mac, port);
}

void
galnet_model_learn_remote(struct galnet_model *m, unsigned device, uint64_t mac, unsigned port)
{
	uint32_t *entry = galnet_model_find_entry(m, mac);

	if (entry && entry[1] & GALNET_ENTRY_STATIC)
		return;
	entry = entry ? entry : find_unused(m, mac);
	if (!entry) {
		table_full(m);
		return;
	}
	entry[0] = galnet_entry_word_0(mac);
	entry[1] = galnet_entry_word_1(mac, device, port, GALNET_ENTRY_VALID);
}

bool
galnet_model_owns(struct galnet_model *m, uint64_t mac, unsigned *port)
{
	const uint32_t *entry = galnet_model_find_entry(m, mac);

	if (!entry || galnet_entry_device(entry[1]) != m->config.device)
		return false;
	*port = galnet_entry_port(entry[1]);
	return true;
}

/* --- where a packet goes --- */

static inline struct galnet_route
route_unicast(struct galnet_model *m, unsigned port, uint64_t destination)
{
	struct galnet_route to = {.verdict = GALNET_DISCARD};
	const uint32_t *entry = galnet_model_find_entry(m, destination);

	if (!entry) {
		to.verdict = GALNET_FLOOD;
		if (m->config.request_owner) /* the recovery process (GT-48001A page 16) */
			m->config.request_owner(m->config.ctx, m->config.device, destination);
		return to;
	}
	to.device = galnet_entry_device(entry[1]);
	to.port = galnet_entry_port(entry[1]);
	if (to.device == m->cpu_device || entry[1] & m->cpu_flags)
		to.verdict = GALNET_TO_CPU;
	else if (to.device != m->config.device)
		to.verdict = GALNET_TO_DEVICE;
	else if (to.port != port && m->forwarding & 1u << to.port)
		to.verdict = GALNET_TO_PORT;
	return to;
}

/* --- modes that few boards use ---
 * Ports that do not send unknown packets, packets for the CPU other than samples, spanning tree, broadcast filter
 * and sniffer. While a chip of the bus is in such a mode, no packet is counted by the common count: each chip
 * decides which of its ports send it. */

#define BROADCAST 0xffffffffffffull
#define BPDU	  0x0180c2000000ull

/* Whether this control bit sends packets to the CPU, and there is a CPU. */
static bool
cpu_wants(struct galnet_model *m, uint32_t bit)
{
	return control_has(m, GALNET_CONTROL_CPU_PRESENT | bit);
}

static bool
bpdu_for_cpu(struct galnet_model *m, const struct galnet_frame *f)
{
	return f->destination == BPDU && m->spanning_tree && cpu_wants(m, 0);
}

static uint32_t
ports_that_take(const struct galnet_model *m, bool unknown)
{
	return unknown ? m->forwarding & m->takes_unknown : m->forwarding;
}

static struct galnet_route
spread_route(const struct galnet_model *m, unsigned port, bool unknown)
{
	return (struct galnet_route){.verdict = GALNET_SPREAD, .unknown = unknown,
	    .ports = ports_that_take(m, unknown) & ~(1u << port)};
}

static struct galnet_route
route_group(struct galnet_model *m, unsigned port, const struct galnet_frame *f, bool *to_cpu)
{
	struct galnet_route nowhere = {.verdict = GALNET_DISCARD};

	*to_cpu = bpdu_for_cpu(m, f);
	if (is_reserved(f->destination) || (f->destination == BROADCAST && m->no_broadcast >> port & 1))
		return nowhere;
	*to_cpu = cpu_wants(m, GALNET_CONTROL_MULTICAST_TO_CPU) ||
	    cpu_wants(m, GALNET_CONTROL_MULTICAST_ONLY_TO_CPU);
	return cpu_wants(m, GALNET_CONTROL_MULTICAST_ONLY_TO_CPU) ? nowhere
								  : spread_route(m, port, false);
}

static struct galnet_route
route_in_mode(struct galnet_model *m, unsigned port, const struct galnet_frame *f, bool *to_cpu)
{
	struct galnet_route to = {.verdict = GALNET_DISCARD};

	*to_cpu = false;
	if (f->control)
		return to;
	if (is_group(f->destination))
		return route_group(m, port, f, to_cpu);
	to = route_unicast(m, port, f->destination);
	*to_cpu = to.verdict == GALNET_TO_CPU;
	if (to.verdict != GALNET_FLOOD)
		return to;
	*to_cpu = cpu_wants(m, GALNET_CONTROL_UNKNOWN_TO_CPU);
	return spread_route(m, port, true);
}

/* Sends the packet to the sniffer. True if that is the CPU. */
static bool
galnet_model_send_to_sniffer(struct galnet_model *m, const struct galnet_frame *f)
{
	uint32_t numbers = *register_at(m, ROW_CPU_NUMBERS);
	uint32_t cpu = numbers & GALNET_NUMBERS_CPU_MASK;
	uint32_t device = numbers >> GALNET_NUMBERS_SNIFFER_SHIFT & GALNET_ENTRY_DEVICE_MASK;
	uint32_t port = numbers >> GALNET_NUMBERS_SNIFFER_PORT_SHIFT & GALNET_ENTRY_PORT_MASK;

	if (device == cpu)
		return cpu_wants(m, 0);
	if (m->config.sniff)
		m->config.sniff(m->config.ctx, device, port, f);
	return false;
}

/* After a packet has passed these ports: counts it for EASE, writes one copy for the CPU if needed, and
 * sends a copy to the sniffer if one of the ports is monitored. */
static void
finish_in_mode(struct galnet_model *m, uint32_t ports, int arrival, bool to_cpu, const struct galnet_frame *f)
{
	uint32_t sampled = count_packets(m, ports), marks = 0;

	reload_counters(m, sampled);
	if (ports & m->monitored && !f->control && galnet_model_send_to_sniffer(m, f))
		marks = GALNET_WORD0_SNIFFER;
	if (sampled || to_cpu || marks)
		deliver_block(m, sampled, arrival, f, marks);
}

/* galnet_model_receive while such a mode is on somewhere on the bus. */
static struct galnet_route
receive_in_mode(struct galnet_model *m, unsigned port, const struct galnet_frame *f)
{
	uint32_t ports = 1u << port;
	struct galnet_route to;
	bool to_cpu;

	if (!(m->forwarding & ports)) { /* the spanning tree blocks it */
		if (bpdu_for_cpu(m, f))
			deliver_block(m, 0, (int)port, f, 0);
		return (struct galnet_route){.verdict = GALNET_DISCARD};
	}
	learn_source(m, f->source, port);
	to = route_in_mode(m, port, f, &to_cpu);
	if (to.verdict == GALNET_TO_PORT)
		ports |= 1u << to.port;
	else if (to.verdict == GALNET_SPREAD)
		ports |= to.ports;
	finish_in_mode(m, ports, (int)port, to_cpu, f);
	return to;
}

uint32_t
galnet_model_receive_spread(struct galnet_model *m, bool unknown, const struct galnet_frame *f)
{
	uint32_t ports = ports_that_take(m, unknown);

	finish_in_mode(m, ports, -1, false, f);
	return ports;
}

/* --- the path of a frame --- */

static __attribute__((noinline)) void
galnet_model_take_sample(struct galnet_model *m, uint32_t sampled, int arrival, const struct galnet_frame *f)
{
	reload_counters(m, sampled);
	deliver_block(m, sampled, arrival, f, 0);
}

static inline struct galnet_route
route_frame(struct galnet_model *m, unsigned port, const struct galnet_frame *f)
{
	struct galnet_route to = {.verdict = GALNET_FLOOD};

	if (!is_group(f->destination) && !f->control)
		return route_unicast(m, port, f->destination);
	if (f->control || is_reserved(f->destination))
		to.verdict = GALNET_DISCARD;
	return to;
}

_Static_assert(GALNET_EASE_COUNTS_LOCAL_EGRESS, "a flooded packet counts on every segment");

struct galnet_route
galnet_model_receive(struct galnet_model *m, unsigned port, const struct galnet_frame *frame)
{
	struct galnet_route to;
	uint32_t sampled;

	if (__builtin_expect(m->bank->special_devices != 0, 0))
		return receive_in_mode(m, port, frame);
	learn_source(m, frame->source, port);
	to = route_frame(m, port, frame);
	if (to.verdict == GALNET_FLOOD) {
		sampled = galnet_ease_flood(m->bank)
		    ? galnet_ease_collect(m->bank, m->config.device) : 0;
	} else {
		sampled = count_packet(m, port);
		if (to.verdict == GALNET_TO_PORT)
			sampled |= count_packet(m, to.port);
	}
	if (sampled != 0 || to.verdict == GALNET_TO_CPU)
		galnet_model_take_sample(m, sampled, (int)port, frame);
	return to;
}

void
galnet_model_receive_flooded(struct galnet_model *m, const struct galnet_frame *frame)
{
	uint32_t sampled = galnet_ease_collect(m->bank, m->config.device);

	if (sampled)
		galnet_model_take_sample(m, sampled, -1, frame);
}

uint32_t
galnet_model_receive_pci(struct galnet_model *m, uint32_t ports, const struct galnet_frame *frame)
{
	uint32_t sampled;

	ports &= m->forwarding;
	if (__builtin_expect((ports & m->monitored) != 0, 0)) {
		finish_in_mode(m, ports, -1, false, frame);
		return ports;
	}
	sampled = count_packets(m, ports);
	if (sampled)
		galnet_model_take_sample(m, sampled, -1, frame);
	return ports;
}

/* --- ports --- */

/* Whether the chip is in a mode that the fast path does not handle. */
static bool
modes_are_on(struct galnet_model *m)
{
	uint32_t cpu = GALNET_CONTROL_UNKNOWN_TO_CPU | GALNET_CONTROL_MULTICAST_TO_CPU |
	    GALNET_CONTROL_MULTICAST_ONLY_TO_CPU;

	return m->spanning_tree || m->monitored || m->no_broadcast ||
	    m->takes_unknown != all_ports(m) || *register_at(m, ROW_CONTROL) & cpu;
}

/* Ports whose register in a row has all these bits set. */
static uint32_t
ports_with(struct galnet_model *m, enum galnet_row row, uint32_t bits)
{
	uint32_t ports = 0;

	for (unsigned port = 0; port < m->info->n_ports; port++)
		if ((*regmodel_value(&m->regs, row, port) & bits) == bits)
			ports |= 1u << port;
	return ports;
}

/* Called when control or link registers have changed: updates the state of every port. */
static void
update_ports(struct galnet_model *m)
{
	uint32_t this_chip = 1u << m->config.device;

	if (m->config.ports_changing)
		m->config.ports_changing(m->config.ctx, m->config.device);
	m->ports_up = ports_with(m, ROW_PORT_CONTROL, GALNET_PORT_CONTROL_ENABLE) &
	    ports_with(m, ROW_PORT_STATUS, GALNET_PORT_STATUS_LINK);
	m->spanning_tree = control_has(m, GALNET_CONTROL_SPAN_ENABLE);
	m->forwarding = m->ports_up;
	if (m->spanning_tree)
		m->forwarding &= ~ports_with(m, ROW_PORT_CONTROL, GALNET_PORT_CONTROL_SPAN);
	m->takes_unknown = ports_with(m, ROW_COMMAND, GALNET_COMMAND_TAKES_UNKNOWN);
	m->monitored = ports_with(m, ROW_PORT_CONTROL, m->info->port_control_monitor);
	m->no_broadcast = ports_with(m, ROW_PORT_CONTROL, GALNET_PORT_CONTROL_NO_BROADCAST);
	m->cpu_device = GALNET_MAX_DEVICES;
	m->cpu_flags = 0;
	if (control_has(m, GALNET_CONTROL_CPU_PRESENT)) {
		m->cpu_device = *register_at(m, ROW_CPU_NUMBERS) & GALNET_NUMBERS_CPU_MASK;
		m->cpu_flags = GALNET_ENTRY_INTERVENTION;
	}
	m->bank->special_devices &= ~this_chip;
	if (modes_are_on(m))
		m->bank->special_devices |= this_chip;
	for (unsigned port = 0; port < m->info->n_ports; port++)
		update_running(m, port);
}

void
galnet_model_set_link(struct galnet_model *m, unsigned port, bool up)
{
	*regmodel_value(&m->regs, ROW_PORT_STATUS, port) = up ? GALNET_PORT_STATUS_LINK : 0;
	update_ports(m);
	raise_cause(m, GALNET_CAUSE_LINK);
}

uint32_t
galnet_model_ports_up(const struct galnet_model *m)
{
	return m->ports_up;
}

uint32_t
galnet_model_forwarding(const struct galnet_model *m)
{
	return m->forwarding;
}

/* --- registers: rows, and the effects of reading and writing them --- */

/* The status bits as in the register, with the chosen polarity. */
static uint32_t
ease_status(const struct galnet_model *m)
{
	uint32_t bits = GALNET_EASE_BIT_WHEN_EMPTY ? ~m->ease.shadow_full : m->ease.shadow_full;

	return (bits & all_ports(m)) << m->info->ease_shift;
}

static void
acknowledge_ease(struct galnet_model *m, uint32_t written)
{
	m->ease.event &= (uint8_t)~(written >> m->info->ease_shift);
	galnet_model_update_line(m);
}

static uint32_t
read_cause(void *chip, unsigned index, uint32_t stored)
{
	struct galnet_model *m = chip;

	(void)index;
	return m->info->ease_in_common_cause ? stored | ease_status(m) : stored;
}

static void
cause_written(void *chip, unsigned index, uint32_t written)
{
	struct galnet_model *m = chip;

	(void)index;
	if (m->info->ease_in_common_cause)
		acknowledge_ease(m, written);
	galnet_model_update_line(m);
}

static uint32_t
read_ease_cause(void *chip, unsigned index, uint32_t stored)
{
	(void)index;
	(void)stored;
	return ease_status(chip);
}

static void
ease_cause_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	acknowledge_ease(chip, written);
}

static void
galnet_model_mask_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	galnet_model_update_line(chip);
}

static void
ease_written(void *chip, unsigned port, uint32_t written)
{
	struct galnet_model *m = chip;
	struct ease *e = &m->ease;

	if (ease_left(m, port) == NO_COUNT) {
		e->left[port] = written & GALNET_EASE_COUNT_MASK;
		if (GALNET_EASE_STRAIGHT_THROUGH_INTERRUPTS)
			e->event |= (uint8_t)(1u << port);
		update_running(m, port);
	} else {
		e->shadow[port] = written & GALNET_EASE_COUNT_MASK;
		e->shadow_full |= (uint8_t)(1u << port);
	}
	galnet_model_update_line(m);
}

static uint32_t
read_ease(void *chip, unsigned port, uint32_t stored)
{
	uint32_t left = ease_left(chip, port);

	(void)stored;
	return left != NO_COUNT ? left : 0;
}

static void
buffer_base_written(void *chip, unsigned index, uint32_t written)
{
	struct galnet_model *m = chip;

	(void)index;
	if (m->has_buffer) {
		m->buffer_shadow = written;
		m->has_shadow = true;
	} else {
		m->buffer_base = written;
		m->has_buffer = true;
		m->block = 0;
	}
}

static void
galnet_model_control_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	if (!(written & GALNET_CONTROL_EASE_ENABLE))
		empty_ease(chip);
	update_ports(chip);
}

static void
mode_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	(void)written;
	update_ports(chip);
}

static uint32_t
read_mib(void *chip, unsigned index, uint32_t stored)
{
	struct galnet_model *m = chip;
	const struct galnet_model_config *c = &m->config;
	unsigned port = index / m->info->n_mib, which = index % m->info->n_mib;
	uint32_t events = c->mib_events ? c->mib_events(c->ctx, c->device, port, which) : 0;
	uint32_t value = events - m->mib_zero[port][which];

	(void)stored;
	if (!control_has(m, GALNET_CONTROL_MIB_KEEP))
		m->mib_zero[port][which] = events;
	return value;
}

#define EASE_BITS(ports, shift) (((1u << (ports)) - 1) << (shift))
#define CAUSE_BITS  0x3fu
#define CONTROL_BITS                                                                               \
	(GALNET_CONTROL_UNKNOWN_TO_CPU | GALNET_CONTROL_NEW_ADDRESS_TO_CPU |                       \
	    GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_EASE_ENABLE |                              \
	    GALNET_CONTROL_SPAN_ENABLE | GALNET_CONTROL_MULTICAST_TO_CPU |                         \
	    GALNET_CONTROL_MULTICAST_ONLY_TO_CPU | GALNET_CONTROL_MIB_KEEP)
#define PORT_CONTROL_BITS(monitor)                                                                 \
	(GALNET_PORT_CONTROL_ENABLE | GALNET_PORT_CONTROL_SPAN |                                   \
	    GALNET_PORT_CONTROL_NO_BROADCAST | (monitor))

#define COMMON_ROWS(ports, n_mib, monitor)                                                         \
	[ROW_MIB] = {.name = "Port MIB Counters", .offset = GALNET_MIB,                            \
	    .count = (ports) * (n_mib), .stride = 4, .reserved = UINT32_MAX, .read = read_mib},    \
	[ROW_EASE] = {.name = "Ease_Register", .offset = GALNET_EASE_REGISTER, .count = (ports),   \
	    .stride = 4, .reserved = ~GALNET_EASE_COUNT_MASK, .read = read_ease,                   \
	    .written = ease_written},                                                              \
	[ROW_CONTROL] = {.name = "Global Control", .offset = GALNET_GLOBAL_CONTROL,                \
	    .reset = GALNET_CONTROL_RESET, .writable = CONTROL_BITS, .reserved = ~CONTROL_BITS,    \
	    .written = galnet_model_control_written},                                                           \
	[ROW_BUFFER_BASE] = {.name = "CPU Buffer Base Address", .offset = GALNET_BUFFER_BASE,      \
	    .writable = UINT32_MAX, .written = buffer_base_written},                               \
	[ROW_NEW_ADDRESS_BASE] = {.name = "CPU NEW_ADDRESS Base Address",                          \
	    .offset = GALNET_NEW_ADDRESS_BASE, .writable = UINT32_MAX},                            \
	[ROW_ERROR_SOURCE_BASE] = {.name = "CPU Error Source Base Address",                        \
	    .offset = GALNET_ERROR_SOURCE_BASE, .writable = UINT32_MAX},                           \
	[ROW_NEW_ADDRESS_LOST] = {.name = "NEW_ADDRESS lost", .offset = GALNET_NEW_ADDRESS_LOST,   \
	    .read_clears = UINT32_MAX, .reserved = UINT32_MAX},                                    \
	[ROW_ADDRESS_DISCARDS] = {.name = "Address discards", .offset = GALNET_ADDRESS_DISCARDS,   \
	    .read_clears = UINT32_MAX, .reserved = UINT32_MAX},                                    \
	[ROW_PACKETS_LOST] = {.name = "Packets lost", .offset = GALNET_PACKETS_LOST,               \
	    .read_clears = UINT32_MAX, .reserved = UINT32_MAX},                                    \
	[ROW_ERROR_SOURCE_LOST] = {.name = "Error_Source lost",                                    \
	    .offset = GALNET_ERROR_SOURCE_LOST, .read_clears = UINT32_MAX,                         \
	    .reserved = UINT32_MAX},                                                               \
	[ROW_CPU_NUMBERS] = {.name = "CPU and Sniffer Numbers", .offset = GALNET_CPU_NUMBERS,      \
	    .reset = GALNET_NUMBERS_RESET, .writable = GALNET_NUMBERS_BITS,                        \
	    .reserved = ~GALNET_NUMBERS_BITS, .written = mode_written},                            \
	[ROW_PORT_CONTROL] = {.name = "Port Control", .offset = GALNET_PORT_CONTROL,               \
	    .count = (ports), .stride = 4, .reset = GALNET_PORT_CONTROL_ENABLE,                    \
	    .writable = PORT_CONTROL_BITS(monitor), .reserved = ~PORT_CONTROL_BITS(monitor),       \
	    .written = mode_written},                                                              \
	[ROW_PORT_STATUS] = {.name = "Port Status", .offset = GALNET_PORT_STATUS,                  \
	    .count = (ports), .stride = 4, .reserved = UINT32_MAX},                                \
	[ROW_COMMAND] = {.name = "Command", .offset = GALNET_COMMAND, .count = (ports),            \
	    .stride = 4, .reset = GALNET_COMMAND_TAKES_UNKNOWN,                                    \
	    .writable = GALNET_COMMAND_TAKES_UNKNOWN,                                              \
	    .reserved = ~GALNET_COMMAND_TAKES_UNKNOWN, .written = mode_written},                   \
	[ROW_TABLE] = {.name = "Address table", .offset = GALNET_ADDRESS_TABLE,                    \
	    .count = GALNET_TABLE_ENTRIES * 2, .stride = 4, .writable = UINT32_MAX}

static const struct regmodel_row gt48001a_rows[GALNET_N_ROWS] = {
    [ROW_CAUSE] = {.name = "Interrupt Cause", .offset = GALNET_CAUSE,
	.write_1_clears = CAUSE_BITS, .reserved = ~CAUSE_BITS, .read = read_cause,
	.written = cause_written},
    [ROW_MASK] = {.name = "Interrupt Mask", .offset = GALNET_MASK, .writable = CAUSE_BITS,
	.reserved = ~CAUSE_BITS, .written = galnet_model_mask_written},
    [ROW_EASE_CAUSE] = {.name = "EASE Interrupt Cause", .offset = GT48001A_EASE_CAUSE,
	.reserved = ~EASE_BITS(GT48001A_PORTS, GT48001A_EASE_SHIFT), .read = read_ease_cause,
	.written = ease_cause_written},
    [ROW_EASE_MASK] = {.name = "EASE Interrupt Mask", .offset = GT48001A_EASE_MASK,
	.writable = EASE_BITS(GT48001A_PORTS, GT48001A_EASE_SHIFT),
	.reserved = ~EASE_BITS(GT48001A_PORTS, GT48001A_EASE_SHIFT), .written = galnet_model_mask_written},
    COMMON_ROWS(GT48001A_PORTS, GT48001A_N_MIB, GT48001A_PORT_CONTROL_MONITOR),
};

/* The GT-48002A has its two EASE bits in Cause and Mask. */
#define GT48002A_EASE_BITS EASE_BITS(GT48002A_PORTS, GT48002A_EASE_SHIFT)

static const struct regmodel_row gt48002a_rows[GALNET_N_ROWS] = {
    [ROW_CAUSE] = {.name = "Interrupt Cause", .offset = GALNET_CAUSE,
	.write_1_clears = CAUSE_BITS, .reserved = ~(CAUSE_BITS | GT48002A_EASE_BITS),
	.read = read_cause, .written = cause_written},
    [ROW_MASK] = {.name = "Interrupt Mask", .offset = GALNET_MASK,
	.writable = CAUSE_BITS | GT48002A_EASE_BITS,
	.reserved = ~(CAUSE_BITS | GT48002A_EASE_BITS), .written = galnet_model_mask_written},
    [ROW_EASE_CAUSE] = {.name = "reserved", .offset = GT48001A_EASE_CAUSE,
	.reserved = UINT32_MAX},
    [ROW_EASE_MASK] = {.name = "reserved", .offset = GT48001A_EASE_MASK, .reserved = UINT32_MAX},
    COMMON_ROWS(GT48002A_PORTS, GALNET_N_MIB, GT48002A_PORT_CONTROL_MONITOR),
};

static const struct chip_info chip_infos[] = {
    [GALNET_GT48001A] = {.rows = gt48001a_rows, .n_ports = GT48001A_PORTS,
	.ease_shift = GT48001A_EASE_SHIFT,
	.port_control_monitor = GT48001A_PORT_CONTROL_MONITOR, .n_mib = GT48001A_N_MIB},
    [GALNET_GT48002A] = {.rows = gt48002a_rows, .n_ports = GT48002A_PORTS,
	.ease_in_common_cause = true, .ease_shift = GT48002A_EASE_SHIFT,
	.port_control_monitor = GT48002A_PORT_CONTROL_MONITOR, .n_mib = GALNET_N_MIB},
};

/* --- life --- */

int
galnet_model_create(const struct galnet_model_config *config, struct galnet_model **model)
{
	struct galnet_model *m;
	int rc;

	if (config->device >= GALNET_MAX_DEVICES)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->config = *config;
	m->info = &chip_infos[config->chip];
	m->bank = config->ease ? config->ease : &m->own_bank;
	if (!config->ease)
		galnet_ease_init(m->bank);
	rc = regmodel_init(&m->regs, m->info->rows, GALNET_N_ROWS, m);
	if (rc == 0)
		rc = bus_model_attach(config->bus,
		    GALNET_REGION + config->device * GALNET_SLICE, GALNET_SLICE, &m->regs);
	if (rc < 0) {
		galnet_model_destroy(m);
		return rc;
	}
	m->table = register_at(m, ROW_TABLE);
	empty_ease(m);
	update_ports(m);
	*model = m;
	return 0;
}

void
galnet_model_destroy(struct galnet_model *model)
{
	if (!model)
		return;
	regmodel_free(&model->regs);
	free(model);
}

unsigned
galnet_model_n_ports(const struct galnet_model *model)
{
	return model->info->n_ports;
}

uint64_t
galnet_model_packets_lost(const struct galnet_model *model)
{
	return model->packets_lost;
}
