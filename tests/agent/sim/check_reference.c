/*
 * The emulated board against the slow, obvious one (reference_switch.h): random boards of various
 * chips and random frames, links, register accesses and CPUs, early and late. After every step both
 * must have pulled the same interrupt lines and answer every access alike; now and then all
 * registers and all memory of the CPU are compared. Half of the scenarios are driven by accesses of
 * a CPU that does anything, half by the real driver.
 *
 * EASE_REFERENCE_SCENARIO=n runs scenario n alone and shows its steps. All 10,000 are
 * run only if EASE_LONG is set, else fewer; with AddressSanitizer, valgrind and ThreadSanitizer few.
 */
#include "agent/sim/chip/c84302_model.h"
#include "agent/sim/chip/galnet.h"
#include "agent/sim/board_regs.h"
#include "agent/sim/fabric.h"
#include "tests/agent/hal/fake_hal.h"
#include "tests/agent/sim/reference_switch.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SCENARIOS = 4000,
	SCENARIOS_LONG = 10000,
	SCENARIOS_SLOW = 1000, /* when a sanitizer looks on */
	SCENARIOS_FEW = 200,   /* when everything is slow */
	PARTS = 20, /* each a check of its own */
	MAX_CHIPS = 31,
	MAX_PORTS = 64,
	MAX_AREAS = 3 * MAX_CHIPS,
	STEPS_MAX = 120,
	N_STATIONS = 40,
	MAX_FRAME = 2200,
	FRAME_GAP_US = 20000, /* every port has sent what it had */
};

struct area {
	uint32_t bus_address;
	size_t octets;
	uint8_t *fast, *slow;
};

static struct {
	unsigned scenario;
	uint64_t random;
	bool verbose;
	struct reference_plan plan;
	unsigned n_ports;
	struct board_plan board;
	struct bus_model *bus_model;
	struct bus fast, both;
	struct fabric *fabric;
	struct reference *reference;
	struct area areas[MAX_AREAS];
	unsigned n_areas;
	uint64_t stations[N_STATIONS];
	uint64_t now_us;
	uint64_t frames_of_all; /* over all scenarios: the test must have tested something */
	uint64_t sent_of_all;
	/* a CPU with the real driver */
	struct galnet *chips[MAX_CHIPS]; /* NULL: a CPU that does anything */
	struct hal hal;
	uint8_t octets[64 + MAX_FRAME];
} t;

/* --- random choices --- */

static uint32_t
below(uint32_t n)
{
	t.random ^= t.random << 13;
	t.random ^= t.random >> 7;
	t.random ^= t.random << 17;
	return (uint32_t)((t.random >> 32) % n);
}

static bool
one_in(uint32_t n)
{
	return below(n) == 0;
}

#define STEP(...)                                                                                  \
	do {                                                                                       \
		if (t.verbose)                                                                     \
			printf(__VA_ARGS__);                                                       \
	} while (0)

/* --- both boards on one bus --- */

static void
expect_same(uint64_t fast, uint64_t slow, const char *what, uint32_t address)
{
	if (fast != slow) /* check notes every assertion in a file: too slow for these */
		ck_abort_msg("scenario %u: %s at %#x: the board has %#llx, the reference %#llx",
		    t.scenario, what, address, (unsigned long long)fast, (unsigned long long)slow);
}

static int
both_read(void *ctx, uint32_t address, uint32_t *value)
{
	uint32_t slow = 0;
	int rc, slow_rc;

	(void)ctx;
	*value = 0;
	rc = bus_read(&t.fast, address, value);
	slow_rc = reference_read(t.reference, address, &slow);
	STEP("  read %#x: %#x\n", address, *value);
	expect_same((uint64_t)-rc, (uint64_t)-slow_rc, "result of a read", address);
	expect_same(*value, slow, "value read", address);
	return rc;
}

static void
expect_same_lines(void)
{
	expect_same(bus_model_lines(t.bus_model), reference_lines(t.reference), "lines", 0);
}

static int
both_write(void *ctx, uint32_t address, uint32_t value)
{
	int rc = bus_write(&t.fast, address, value);

	(void)ctx;
	STEP("  write %#x: %#x\n", address, value);
	expect_same((uint64_t)-rc, (uint64_t)-reference_write(t.reference, address, value),
	    "result of a write", address);
	expect_same_lines();
	return rc;
}

static void *
both_alloc_shared(void *ctx, size_t octets, uint32_t *bus_address)
{
	struct area *a = &t.areas[t.n_areas++];

	(void)ctx;
	ck_assert_uint_le(t.n_areas, MAX_AREAS);
	a->octets = octets;
	a->fast = t.fast.ops->alloc_shared(t.fast.ctx, octets, bus_address);
	ck_assert_ptr_nonnull(a->fast);
	a->bus_address = *bus_address;
	a->slow = reference_add_memory(t.reference, *bus_address, octets);
	return a->fast;
}

static const struct bus_ops both_ops = {
    .name = "both",
    .read = both_read,
    .write = both_write,
    .alloc_shared = both_alloc_shared,
};

static void
compare_memory(void)
{
	for (unsigned i = 0; i < t.n_areas; i++) {
		struct area *a = &t.areas[i];
		size_t at = 0;

		if (memcmp(a->fast, a->slow, a->octets) == 0)
			continue;
		while (a->fast[at] == a->slow[at])
			at++;
		expect_same(a->fast[at], a->slow[at], "memory", a->bus_address + (uint32_t)at);
	}
}

/* What the CPU has changed in its memory since both were last equal. */
static void
take_over_memory(void)
{
	for (unsigned i = 0; i < t.n_areas; i++)
		memcpy(t.areas[i].slow, t.areas[i].fast, t.areas[i].octets);
}

static uint32_t
slice(unsigned device)
{
	return GALNET_REGION + device * GALNET_SLICE;
}

static uint32_t
read_both(uint32_t address)
{
	uint32_t value;

	both_read(NULL, address, &value);
	return value;
}

static void
compare_chip(unsigned device)
{
	static const uint32_t registers[] = {GALNET_CAUSE, GALNET_MASK, GT48001A_EASE_CAUSE,
	    GT48001A_EASE_MASK, GALNET_GLOBAL_CONTROL, GALNET_BUFFER_BASE,
	    GALNET_NEW_ADDRESS_BASE, GALNET_ERROR_SOURCE_BASE, GALNET_NEW_ADDRESS_LOST,
	    GALNET_ADDRESS_DISCARDS, GALNET_PACKETS_LOST, GALNET_ERROR_SOURCE_LOST,
	    GALNET_CPU_NUMBERS};

	for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		read_both(slice(device) + registers[i]);
	for (unsigned port = 0; port < t.plan.ports[device]; port++) {
		read_both(slice(device) + GALNET_EASE_REGISTER + 4 * port);
		read_both(slice(device) + GALNET_PORT_CONTROL + 4 * port);
		read_both(slice(device) + GALNET_PORT_STATUS + 4 * port);
		read_both(slice(device) + GALNET_COMMAND + 4 * port);
	}
}

static uint32_t
mac_window(unsigned port)
{
	return BOARD_MAC_BASE + port * C84302_PORT_STRIDE;
}

static void
compare_mib(unsigned device)
{
	unsigned n = t.plan.ports[device] == 8 ? 8 * GT48001A_N_MIB : 2 * GALNET_N_MIB;

	for (unsigned i = 0; i < n; i++)
		read_both(slice(device) + GALNET_MIB + 4 * i);
}

/* Both parts of every counter, and in a few cases also what a read of them changes. */
static void
compare_mac(unsigned port, bool status)
{
	for (unsigned n = 1; n <= C84302_COUNTERS; n++)
		for (int part = 0; part < 2; part++)
			read_both(mac_window(port) + C84302_COUNTER(n));
	for (unsigned i = 0; i < C84302_STATUS_REGS && status; i++)
		read_both(mac_window(port) + C84302_STATUS_0 + 2 * i);
}

/* The buckets of all stations; in a few scenarios the whole table. */
static void
compare_table(unsigned device)
{
	uint32_t table = slice(device) + GALNET_ADDRESS_TABLE;

	for (unsigned i = 0; i < N_STATIONS; i++) {
		uint32_t bucket = galnet_bucket(t.stations[i]) * GALNET_BUCKET_ENTRIES *
		    GALNET_ENTRY_OCTETS;

		for (unsigned k = 0; k < GALNET_BUCKET_ENTRIES * GALNET_ENTRY_OCTETS; k += 4)
			read_both(table + bucket + k);
	}
	for (uint32_t at = 0; at < GALNET_TABLE_ENTRIES * 8 && t.scenario % 100 == 0; at += 4)
		read_both(table + at);
}

static void
compare_all(void)
{
	compare_memory();
	for (unsigned device = 0; device < t.plan.n_chips; device++) {
		compare_chip(device);
		compare_mib(device);
		compare_table(device);
	}
	for (unsigned port = 0; port < t.n_ports; port++)
		compare_mac(port, true);
	expect_same_lines();
}

/* --- the hardware's steps --- */

static void
put_address(uint8_t *at, uint64_t mac)
{
	for (int i = 5; i >= 0; i--, mac >>= 8)
		at[i] = (uint8_t)mac;
}

static uint64_t
some_address(void)
{
	static const uint64_t groups[] = {0xffffffffffff, 0x01005e000001, 0x0180c2000000,
	    0x0180c2000001, 0x0180c200000f, 0x0180c2000010, 0x333300000001, 0};

	if (one_in(5))
		return groups[below(sizeof(groups) / sizeof(groups[0]))];
	return t.stations[below(N_STATIONS)];
}

static uint32_t
some_length(void)
{
	static const uint32_t lengths[] = {64, 65, 127, 128, 255, 256, 511, 512, 1023, 1024, 1518,
	    1519, 1533, 1534, 63, 20, 2047, 2048, 2100};

	return one_in(3) ? lengths[below(sizeof(lengths) / sizeof(lengths[0]))] : 64 + below(1455);
}

static uint16_t
some_type(uint32_t wire_octets)
{
	static const uint16_t types[] = {0x0800, 0x0800, 0x0800, 0x8808, 0x86dd, 1500, 1501, 1535,
	    1536, 46, 45, 1};

	if (one_in(10) && wire_octets >= 18)
		return (uint16_t)(wire_octets - 18);
	return types[below(sizeof(types) / sizeof(types[0]))];
}

/* A frame as a feed gives it: cut by the capture, padded, or short of a header. */
static struct feed_frame
some_frame(uint8_t *octets)
{
	struct feed_frame f = {.port = below(t.n_ports), .octets = octets,
	    .wire_octets = some_length(), .time_us = t.now_us += FRAME_GAP_US};
	uint16_t type = some_type(f.wire_octets);
	uint32_t real;

	if (one_in(10))
		f.faults = (uint8_t)(1u << below(4)) | (one_in(4) ? C84302_FAULT_FCS : 0);
	put_address(octets, some_address());
	put_address(octets + 6, some_address());
	octets[12] = (uint8_t)(type >> 8);
	octets[13] = (uint8_t)type;
	octets[14] = 0;
	octets[15] = (uint8_t)below(3);
	real = f.wire_octets - 4;
	octets[16] = 0; /* a pause of moments */
	f.captured_octets = f.data_octets = real;
	if (one_in(8))
		f.captured_octets = f.data_octets = below(real + 1);
	else if (real == 60 && one_in(2))
		f.captured_octets = 14 + below(46);
	return f;
}

static void
put_frame(void)
{
	uint8_t *octets = t.octets + below(64); /* never the same data twice in a row */
	struct feed_frame f = some_frame(octets);
	struct reference_frame r = {.port = f.port, .octets = octets,
	    .captured_octets = f.captured_octets, .data_octets = f.data_octets,
	    .wire_octets = f.wire_octets, .bad_fcs = f.faults & C84302_FAULT_FCS,
	    .broken_octet = f.faults & C84302_FAULT_ALIGNMENT,
	    .symbol_error = f.faults & C84302_FAULT_SYMBOL,
	    .fifo_overflow = f.faults & C84302_FAULT_OVERFLOW};

	STEP("  frame: port %u, %02x%02x < %02x%02x, %u octets\n", f.port, octets[4], octets[5],
	    octets[10], octets[11], f.wire_octets);
	fabric_frame(t.fabric, &f);
	reference_frame(t.reference, &r);
}

static void
put_frames(void)
{
	unsigned n = one_in(4) ? 1 : 1 + below(30);

	bus_model_lock(t.bus_model);
	for (unsigned i = 0; i < n; i++)
		put_frame();
	fabric_settle(t.fabric);
	bus_model_unlock(t.bus_model);
	t.frames_of_all += n;
	expect_same_lines();
}

static void
change_link(void)
{
	unsigned port = below(t.n_ports);
	bool up = !one_in(3);

	STEP("  link of port %u: %d\n", port, up);
	bus_model_lock(t.bus_model);
	fabric_set_link(t.fabric, port, up);
	bus_model_unlock(t.bus_model);
	reference_set_link(t.reference, port, up);
	expect_same_lines();
}

/* --- a CPU that does anything --- */

static uint32_t
some_base(void)
{
	if (t.n_areas == 0 || one_in(10))
		return one_in(2) ? 0 : below(UINT32_MAX);
	return t.areas[below(t.n_areas)].bus_address;
}

static uint32_t
some_control(void)
{
	uint32_t value = GALNET_CONTROL_CPU_PRESENT | GALNET_CONTROL_NEW_ADDRESS_TO_CPU |
	    GALNET_CONTROL_EASE_ENABLE;

	for (int i = 0; i < 4 && one_in(3); i++)
		value ^= 1u << below(32);
	return value;
}

/* A CPU and a sniffer that are most likely there. */
static uint32_t
some_numbers(void)
{
	uint32_t cpu = one_in(3) ? below(t.plan.n_chips) : 31;
	uint32_t sniffer = one_in(2) ? cpu : below(t.plan.n_chips);

	return cpu | sniffer << GALNET_NUMBERS_SNIFFER_SHIFT |
	    below(8) << GALNET_NUMBERS_SNIFFER_PORT_SHIFT;
}

static uint32_t
some_port_control(void)
{
	if (one_in(2))
		return !one_in(4);
	return 1 | 1u << below(12);
}

static void
write_some_register(uint32_t base)
{
	switch (below(11)) {
	case 0:
		both_write(NULL, base + GALNET_CAUSE, one_in(2) ? UINT32_MAX : 1u << below(32));
		break;
	case 1:
		both_write(NULL, base + GALNET_MASK, one_in(2) ? UINT32_MAX : below(1u << 20));
		break;
	case 2:
		both_write(NULL, base + (one_in(2) ? GT48001A_EASE_CAUSE : GT48001A_EASE_MASK),
		    below(0x200));
		break;
	case 3:
		both_write(NULL, base + GALNET_GLOBAL_CONTROL, some_control());
		break;
	case 4:
		both_write(NULL, base + GALNET_BUFFER_BASE, some_base());
		break;
	case 5:
		both_write(NULL,
		    base + (one_in(2) ? GALNET_NEW_ADDRESS_BASE : GALNET_ERROR_SOURCE_BASE),
		    some_base());
		break;
	case 6:
		both_write(NULL, base + GALNET_PORT_CONTROL + 4 * below(8), some_port_control());
		break;
	case 7:
		both_write(NULL, base + GALNET_PORT_STATUS + 4 * below(8), below(4));
		break;
	case 8:
		both_write(NULL, base + GALNET_COMMAND + 4 * below(8), one_in(3) ? 0 : below(64));
		break;
	case 9:
		both_write(NULL, base + GALNET_CPU_NUMBERS,
		    one_in(2) ? below(UINT32_MAX) : some_numbers());
		break;
	default:
		read_both(base + 4 * below(0x140120 / 4));
	}
}

/* Skips small enough to be used up, of one port or many. */
static void
load_some_skips(uint32_t base)
{
	unsigned n = one_in(2) ? 1 : below(20);

	for (unsigned i = 0; i < n; i++) {
		uint32_t skip = one_in(20) ? below(UINT32_MAX) : below(6);

		both_write(NULL, base + GALNET_EASE_REGISTER + 4 * below(9), skip);
	}
}

/* The place of a station's address in a table, by entry; 0 if it is not there. */
static uint32_t
entry_of(unsigned device, uint64_t mac)
{
	uint32_t at = slice(device) + GALNET_ADDRESS_TABLE +
	    galnet_bucket(mac) * GALNET_BUCKET_ENTRIES * GALNET_ENTRY_OCTETS;

	for (unsigned i = 0; i < GALNET_BUCKET_ENTRIES; i++, at += GALNET_ENTRY_OCTETS)
		if (read_both(at + 4) & GALNET_ENTRY_VALID &&
		    read_both(at) == galnet_entry_word_0(mac) &&
		    read_both(at + 4) >> 16 == (mac & 0xffff))
			return at;
	return 0;
}

/* Makes an entry static or not, ages it, removes it, or sends it anywhere. */
static void
change_entry(unsigned device)
{
	uint64_t mac = t.stations[below(N_STATIONS)];
	uint32_t at = entry_of(device, mac);

	if (at == 0)
		return;
	switch (below(4)) {
	case 0:
		both_write(NULL, at + 4, read_both(at + 4) ^ GALNET_ENTRY_STATIC);
		break;
	case 1:
		both_write(NULL, at + 4, read_both(at + 4) & ~(uint32_t)GALNET_ENTRY_AGING);
		break;
	case 2:
		both_write(NULL, at + 4, 0);
		break;
	default:
		both_write(NULL, at + 4,
		    galnet_entry_word_1(mac, one_in(3) ? below(32) : below(t.plan.n_chips),
			below(8),
			GALNET_ENTRY_VALID | (one_in(3) ? GALNET_ENTRY_INTERVENTION : 0)));
	}
}

/* As a CPU ages: what was not used goes from all chips, what was is marked unused. */
static void
sweep(unsigned device)
{
	for (unsigned i = 0; i < N_STATIONS; i++) {
		uint32_t at = entry_of(device, t.stations[i]), word_1, other;

		if (at == 0)
			continue;
		word_1 = read_both(at + 4);
		if (galnet_entry_device(word_1) != device || word_1 & GALNET_ENTRY_STATIC)
			continue;
		if (word_1 & GALNET_ENTRY_AGING) {
			both_write(NULL, at + 4, word_1 & ~(uint32_t)GALNET_ENTRY_AGING);
			continue;
		}
		for (unsigned k = 0; k < t.plan.n_chips; k++)
			if ((other = entry_of(k, t.stations[i])) != 0)
				both_write(NULL, other + 4, 0);
	}
}

static void
configure_some_mac(void)
{
	uint32_t window = mac_window(below(t.n_ports));

	switch (below(6)) {
	case 0:
		both_write(NULL, window + C84302_CONFIG_3, below(4));
		break;
	case 1:
		both_write(NULL, window + C84302_CONFIG_4, one_in(4) ? below(4) : 2);
		break;
	case 2:
		both_write(NULL, window + C84302_CONFIG_5, below(16));
		break;
	case 3:
		both_write(NULL, window + C84302_INT_ENABLE_1 + 2 * below(7), below(0x100));
		break;
	default: /* a read in two parts, or broken off */
		read_both(window + 2 * below(0x50));
	}
}

/* Takes messages and packets out of the memory, some or all. */
static void
clear_memory(void)
{
	struct area *a;

	if (t.n_areas == 0)
		return;
	a = &t.areas[below(t.n_areas)];
	if (one_in(2)) {
		memset(a->fast, 0, a->octets);
	} else {
		for (size_t at = 4; at < a->octets; at += GALNET_RING_ENTRY_OCTETS)
			if (one_in(2))
				memset(a->fast + at, 0, 4);
	}
	take_over_memory();
}

static void
anything_step(void)
{
	unsigned device = below(t.plan.n_chips);

	switch (below(8)) {
	case 0:
		write_some_register(slice(device));
		break;
	case 1:
	case 2:
	case 3:
		load_some_skips(slice(device));
		break;
	case 4:
		change_entry(device);
		break;
	case 5:
		if (one_in(4))
			sweep(device);
		break;
	case 6:
		configure_some_mac();
		break;
	default:
		compare_memory();
		clear_memory();
	}
}

/* Gives every chip of the board areas, most of them at once. */
static void
begin_anything(void)
{
	uint32_t address;

	for (unsigned device = 0; device < t.plan.n_chips; device++) {
		static const uint32_t bases[] = {
		    GALNET_BUFFER_BASE, GALNET_NEW_ADDRESS_BASE, GALNET_ERROR_SOURCE_BASE};

		for (unsigned i = 0; i < 3; i++) {
			size_t octets = i == 0 ? GALNET_AREA_OCTETS : GALNET_RING_OCTETS;

			both_alloc_shared(NULL, octets, &address);
			if (!one_in(5))
				both_write(NULL, slice(device) + bases[i], address);
		}
		both_write(NULL, slice(device) + GALNET_GLOBAL_CONTROL, some_control());
	}
	for (unsigned port = 0; port < t.n_ports; port++)
		both_write(NULL, mac_window(port) + C84302_CONFIG_4, 0);
}

/* --- a CPU with the real driver --- */

static int64_t
refill(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	(void)event;
	return below(12);
}

static void
remove_everywhere(void *arg, uint64_t mac)
{
	(void)arg;
	for (unsigned i = 0; i < t.plan.n_chips; i++)
		ck_assert_int_eq(galnet_remove_address(t.chips[i], mac), 0);
}

static void
begin_driver(void)
{
	t.hal = (struct hal){.on_sample = refill};
	for (unsigned device = 0; device < t.plan.n_chips; device++) {
		struct galnet_config config = {.bus = &t.both, .device = device,
		    .info = t.plan.ports[device] == 8 ? &galnet_gt48001a : &galnet_gt48002a};

		for (unsigned port = 0; port < t.plan.ports[device]; port++)
			config.if_index[port] = 1 + device * GALNET_MAX_PORTS + port;
		ck_assert_int_eq(galnet_create(&config, &t.chips[device]), 0);
		for (unsigned port = 0; port < t.plan.ports[device]; port++)
			for (unsigned i = 0; i < below(3); i++)
				galnet_load_skip(t.chips[device], port, below(12));
	}
	for (unsigned port = 0; port < t.n_ports; port++)
		both_write(NULL, mac_window(port) + C84302_CONFIG_4, 0);
}

static void
driver_step(void)
{
	unsigned device = below(t.plan.n_chips);
	struct galnet *chip = t.chips[device];
	unsigned port = below(t.plan.ports[device]);
	bool more;

	compare_memory();
	switch (below(8)) {
	case 0:
		ck_assert_int_eq(galnet_enable_port(chip, port, !one_in(4)), 0);
		break;
	case 1:
		galnet_restart(chip, port);
		break;
	case 2:
		if (one_in(10)) /* reads the whole table */
			ck_assert_int_eq(galnet_age(chip, remove_everywhere, NULL), 0);
		break;
	default:
		ck_assert_int_ge(galnet_dispatch(chip, &t.hal, 0, below(20), &more), 0);
	}
	take_over_memory();
}

/* --- a scenario --- */

/* Some of them share a bucket, so that it can be overfull. */
static void
make_stations(void)
{
	unsigned n_crowded = below(20), bucket;
	uint64_t mac = 0x020000000000 + below(1u << 20);

	bucket = galnet_bucket(mac);
	for (unsigned i = 0; i < N_STATIONS; mac++)
		if (i >= n_crowded || galnet_bucket(mac) == bucket)
			t.stations[i++] = mac;
}

static void
plan_board(void)
{
	char text[8192];
	size_t n = 0;
	unsigned first_port = 0;
	unsigned max_chips = one_in(30) ? MAX_CHIPS : one_in(3) ? 1 + below(8) : 1 + below(3);

	t.plan = (struct reference_plan){0};
	while (t.plan.n_chips < max_chips && first_port + 2 <= MAX_PORTS) {
		bool eight = one_in(max_chips > 8 ? 20 : 2) && first_port + 8 <= MAX_PORTS;
		unsigned ports = eight ? 8 : 2, i = t.plan.n_chips++;

		t.plan.ports[i] = ports;
		first_port += ports;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "chip \"c%u\" { type = %s }\n", i,
		    ports == 8 ? "gt48001a" : "gt48002a");
	}
	t.n_ports = first_port;
	for (unsigned i = 0; i < (t.n_ports + 3) / 4; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "chip \"m%u\" { type = c84302 }\n", i);
	for (unsigned i = 0; i < t.n_ports; i++) {
		t.plan.link_up[i] = !one_in(8);
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "port \"p%u\" { link = %s capture = none }\n", i, t.plan.link_up[i] ? "up" : "down");
	}
	ck_assert_msg(board_parse("scenario", text, &t.board, text, sizeof(text)) == 0, "%s", text);
}

static void
begin_scenario(unsigned scenario)
{
	t.scenario = scenario;
	t.random = (scenario + 1) * 0x9e3779b97f4a7c15ull;
	t.n_areas = 0;
	memset(t.chips, 0, sizeof(t.chips));
	for (size_t i = 0; i < sizeof(t.octets); i++)
		t.octets[i] = (uint8_t)below(256);
	plan_board();
	make_stations();
	ck_assert_int_eq(bus_model_create(&t.bus_model), 0);
	t.fast = bus_model_cpu(t.bus_model);
	t.both = (struct bus){.ops = &both_ops};
	ck_assert_int_eq(fabric_create(t.bus_model, &t.board, &t.fabric), 0);
	t.reference = reference_create(&t.plan);
	ck_assert_ptr_nonnull(t.reference);
	expect_same_lines();
	if (one_in(2))
		begin_driver();
	else
		begin_anything();
}

static void
end_scenario(void)
{
	compare_all();
	for (unsigned port = 0; port < t.n_ports; port++)
		t.sent_of_all += reference_sent(t.reference, port);
	for (unsigned i = 0; i < t.plan.n_chips; i++)
		galnet_destroy(t.chips[i]);
	fabric_destroy(t.fabric);
	bus_model_destroy(t.bus_model);
	reference_destroy(t.reference);
	board_free(&t.board);
}

/* In one of eight, ports are watched after every step: which ports frames have left by. */
static void
run_scenario(unsigned scenario)
{
	unsigned n_steps;
	bool watched;

	begin_scenario(scenario);
	watched = one_in(8);
	n_steps = 10 + below(STEPS_MAX);
	for (unsigned i = 0; i < n_steps; i++) {
		if (one_in(2))
			put_frames();
		else if (one_in(30))
			change_link();
		else if (t.chips[0])
			driver_step();
		else
			anything_step();
		for (unsigned port = 0; port < t.n_ports && watched; port++)
			for (int part = 0; part < 2; part++)
				read_both(mac_window(port) + C84302_COUNTER(C84302_TX_PKTS));
		if (one_in(60))
			compare_all();
	}
	end_scenario();
}

static unsigned
n_scenarios(void)
{
	if (suite_is_slow())
		return SCENARIOS_FEW;
	if (getenv("EASE_LONG"))
		return SCENARIOS_LONG;
	return SUITE_SANITIZES ? SCENARIOS_SLOW : SCENARIOS;
}

START_TEST(board_does_as_the_reference)
{
	const char *one = getenv("EASE_REFERENCE_SCENARIO");

	if (one) {
		t.verbose = true;
		run_scenario((unsigned)strtoul(one, NULL, 10));
		return;
	}
	for (unsigned i = (unsigned)_i; i < n_scenarios(); i += PARTS)
		run_scenario(i);
	ck_assert_uint_gt(t.frames_of_all, n_scenarios() / PARTS * 100);
	ck_assert_uint_gt(t.sent_of_all, t.frames_of_all);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("reference");
	TCase *scenarios = tcase_create("scenarios");

	tcase_set_timeout(scenarios, 120);
	tcase_add_loop_test(scenarios, board_does_as_the_reference, 0, PARTS);
	suite_add_tcase(suite, scenarios);
	return suite_run(suite);
}
