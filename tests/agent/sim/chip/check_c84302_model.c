/*
 * The 84302 against plain counts, in random scenarios. First the chip's registers against the slow,
 * obvious chip (reference_mac.h): events, frames, reads whole and broken off, modes, masks, resets,
 * both bus widths. Then chip, driver and HAL together against 64-bit sums of events: what the
 * hardware kept, the totals have.
 */
#include "agent/sim/chip/c84302.h"
#include "agent/sim/chip/c84302_model.h"
#include "tests/agent/sim/chip/reference_mac.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

enum { BASE = 0x4000000, LINE = 5, SCENARIOS = 2000, STEPS = 200, PARTS = 10 };

static struct {
	unsigned scenario;
	uint64_t random;
	struct bus_model *board;
	struct c84302_model *model;
	struct bus cpu;
	struct reference_mac reference[C84302_PORTS];
} t;

static uint64_t
random_word(void)
{
	t.random ^= t.random << 13;
	t.random ^= t.random >> 7;
	t.random ^= t.random << 17;
	return t.random * 0x2545f4914f6cdd1dull >> 16;
}

static uint32_t
below(uint32_t n)
{
	return (uint32_t)(random_word() % n);
}

static bool
one_in(uint32_t n)
{
	return below(n) == 0;
}

static void
expect_same(uint64_t chip, uint64_t plain, const char *what, unsigned where)
{
	if (chip != plain) /* check notes every assertion in a file: too slow for these */
		ck_abort_msg("scenario %u: %s %u: the chip has %#llx, plain counting %#llx",
		    t.scenario, what, where, (unsigned long long)chip,
		    (unsigned long long)plain);
}

static void
begin(unsigned scenario)
{
	struct c84302_model_config config = {.base = BASE, .line = LINE};

	t.scenario = scenario;
	t.random = (scenario + 1) * 0x9e3779b97f4a7c15ull;
	config.bus_is_8_bits = one_in(4);
	ck_assert_int_eq(bus_model_create(&t.board), 0);
	config.bus = t.board;
	ck_assert_int_eq(c84302_model_create(&config, &t.model), 0);
	t.cpu = bus_model_cpu(t.board);
	for (unsigned port = 0; port < C84302_PORTS; port++) {
		t.reference[port].bus_is_8_bits = config.bus_is_8_bits;
		reference_mac_reset(&t.reference[port]);
	}
}

static void
end(void)
{
	c84302_model_destroy(t.model);
	bus_model_destroy(t.board);
}

static uint32_t
address_of(unsigned port, uint32_t offset)
{
	return BASE + port * C84302_PORT_STRIDE + offset;
}

/* Amounts that come near the thresholds soon. */
static uint32_t
some_amount(void)
{
	switch (below(4)) {
	case 0:
		return 1 + below(3);
	case 1:
		return 0x7fffffff - below(3);
	case 2:
		return 0x40000000;
	default:
		return 1 + below(0x7fffffff);
	}
}

/* --- registers against the reference --- */

static void
read_both(unsigned port, uint32_t offset)
{
	uint32_t chip = 0, plain = 0;
	int rc = bus_read(&t.cpu, address_of(port, offset), &chip);

	expect_same((uint64_t)-rc,
	    (uint64_t)-reference_mac_read(&t.reference[port], offset, &plain), "result at",
	    offset);
	expect_same(chip, plain, "value read at", offset);
}

static void
write_both(unsigned port, uint32_t offset, uint32_t value)
{
	int rc = bus_write(&t.cpu, address_of(port, offset), value);

	expect_same((uint64_t)-rc,
	    (uint64_t)-reference_mac_write(&t.reference[port], offset, value), "result at",
	    offset);
}

static void
expect_same_interrupts(void)
{
	bool any = false;

	for (unsigned port = 0; port < C84302_PORTS; port++) {
		bool plain = reference_mac_interrupt(&t.reference[port]);

		expect_same(c84302_model_int(t.model, port), plain, "INT of port", port);
		any = any || plain;
	}
	expect_same(bus_model_lines(t.board), any ? 1u << LINE : 0, "line", LINE);
}

static void
count_both(unsigned port)
{
	unsigned n = 1 + below(C84302_COUNTERS);
	uint32_t amount = some_amount();

	c84302_model_event(t.model, port, n, amount);
	reference_mac_events(&t.reference[port], n, amount);
}

static void
receive_both(unsigned port)
{
	static const uint64_t destinations[] = {0x020000000001, 0x01005e000001, 0xffffffffffff};
	static const uint32_t lengths[] = {63, 64, 65, 127, 128, 1023, 1024, 1518, 1519, 1525, 1533,
	    1534};
	static const uint16_t types[] = {0x0800, 0x8808, 46, 1500, 1501, 1535, 1536, 10};
	unsigned kind = below(3), faults = one_in(2) ? 0 : below(16);
	struct c84302_frame f = {.octets = lengths[below(12)], .kind = (uint8_t)kind,
	    .faults = (uint8_t)faults, .length_type = types[below(8)]};
	struct reference_mac_frame r = {.octets = f.octets, .destination = destinations[kind],
	    .length_type = f.length_type, .opcode = (uint16_t)below(3), .has_header = true,
	    .bad_fcs = faults & C84302_FAULT_FCS, .broken_octet = faults & C84302_FAULT_ALIGNMENT,
	    .symbol_error = faults & C84302_FAULT_SYMBOL,
	    .fifo_overflow = faults & C84302_FAULT_OVERFLOW};

	if (f.length_type == 0x8808)
		f.control = r.opcode == 1 ? C84302_PAUSE : C84302_UNKNOWN_OPCODE;
	expect_same(c84302_model_receive(t.model, port, &f),
	    reference_mac_receive(&t.reference[port], &r), "good frame of octets", f.octets);
}

static void
configure_both(unsigned port)
{
	switch (below(4)) {
	case 0:
		write_both(port, C84302_CONFIG_3, below(4));
		break;
	case 1:
		write_both(port, C84302_CONFIG_4, one_in(10) ? below(65536) : below(2) * 2);
		break;
	case 2:
		write_both(port, C84302_CONFIG_5, below(65536));
		break;
	default:
		write_both(port, C84302_INT_ENABLE_1 + 2 * below(7), one_in(2) ? 0 : below(65536));
	}
}

static void
register_step(void)
{
	unsigned port = below(C84302_PORTS);

	switch (below(8)) {
	case 0:
	case 1:
		count_both(port);
		break;
	case 2:
		receive_both(port);
		break;
	case 3:
		configure_both(port);
		break;
	case 4: /* any register, also between the parts of a counter */
		read_both(port, 2 * below(0x50));
		break;
	case 5:
		if (one_in(40)) {
			c84302_model_reset(t.model);
			for (unsigned i = 0; i < C84302_PORTS; i++)
				reference_mac_reset(&t.reference[i]);
		}
		break;
	default:
		for (unsigned n = 1 + below(C84302_COUNTERS), part = 0; part < 4; part++)
			read_both(port, C84302_COUNTER(n));
	}
	expect_same_interrupts();
}

START_TEST(registers_do_as_the_reference)
{
	for (unsigned i = (unsigned)_i; i < (unsigned)suite_effort(SCENARIOS); i += PARTS) {
		begin(i);
		for (unsigned port = 0; port < C84302_PORTS; port++)
			write_both(port, C84302_CONFIG_4, 0);
		for (unsigned step = 0; step < STEPS; step++)
			register_step();
		for (unsigned port = 0; port < C84302_PORTS; port++)
			for (uint32_t offset = 0; offset < 0xa0; offset++)
				for (int twice = 0; twice < 2; twice++)
					read_both(port, offset);
		end();
	}
}
END_TEST

/* --- chip, driver and HAL against sums of events --- */

enum { N_PORTS = 2 };

/* Every event, and what the chip's 32 bits can have of it. */
static struct {
	uint64_t events[N_PORTS][C84302_COUNTERS]; /* all */
	uint64_t lost[N_PORTS][C84302_COUNTERS];   /* no longer in the chip when it was read */
	uint64_t unread[N_PORTS][C84302_COUNTERS];
	uint64_t at_read[N_PORTS][C84302_COUNTERS]; /* what the last read left in the counter */
	bool freezes, clears;
	bool prompt;	  /* the CPU comes in time */
	unsigned busiest; /* first of three counters that have half of the events */
	struct c84302 *driver;
	struct hal *hal;
	struct hal_counter_row rows[C84302_COUNTERS];
	struct hal_counters_ops counters_ops;
	struct hal_device device;
} c;

#define MAX_COUNT 0xffffffffull

/* What a counter has lost by the time it is read: wrapped, whole rounds; frozen, all behind the
 * maximum. A CPU in time loses nothing, but where a frozen counter keeps its value at a read. */
static void
account_for_counter(unsigned port, unsigned i)
{
	uint64_t reached = c.at_read[port][i] + c.unread[port][i];
	uint64_t lost = c.unread[port][i] & ~MAX_COUNT, value = reached & MAX_COUNT;

	if (c.freezes) {
		value = reached < MAX_COUNT ? reached : MAX_COUNT;
		lost = reached - value;
	}
	if (c.prompt && (c.clears || !c.freezes))
		expect_same(lost, 0, "loss of counter", i + 1);
	c.lost[port][i] += lost;
	c.at_read[port][i] = c.clears || value == MAX_COUNT ? 0 : value;
	c.unread[port][i] = 0;
}

static void
account_for_read(unsigned port)
{
	for (unsigned i = 0; i < C84302_COUNTERS; i++)
		account_for_counter(port, i);
}

static int
counters_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	(void)ctx;
	if (row == 0)
		account_for_read(if_index - 1);
	return c84302_read(c.driver, if_index - 1, row, raw);
}

static size_t
ports_count(void *ctx)
{
	(void)ctx;
	return N_PORTS;
}

static uint32_t
ports_if_index(void *ctx, size_t i)
{
	(void)ctx;
	return (uint32_t)i + 1;
}

static int
ports_get(void *ctx, uint32_t if_index, struct hal_port *port)
{
	(void)ctx;
	port->if_index = if_index;
	return 0;
}

static const struct hal_ports_ops ports_ops = {
    .name = "test", .count = ports_count, .if_index = ports_if_index, .get = ports_get};

static int
device_start(void *ctx, struct hal *hal)
{
	(void)ctx;
	(void)hal;
	return 0;
}

static int
device_dispatch(void *ctx, unsigned budget)
{
	(void)ctx;
	(void)budget;
	return c84302_dispatch(c.driver, c.hal) < 0 ? -1 : 0;
}

static uint64_t
device_now_us(void *ctx)
{
	(void)ctx;
	return 1;
}

static const struct hal_device_ops device_ops = {
    .kind = "test", .start = device_start, .dispatch = device_dispatch, .now_us = device_now_us};

static void
begin_driver(void)
{
	struct c84302_config config = {.bus = &t.cpu, .base = BASE, .if_index = {1, 2}};

	config.bus_is_8_bits = t.reference[0].bus_is_8_bits;
	ck_assert_int_eq(c84302_create(&config, &c.driver), 0);
}

static void
set_mode(bool freezes, bool clears)
{
	uint32_t config_3 = (freezes ? C84302_CONFIG_3_STOP_AT_MAX : 0) |
	    (clears ? C84302_CONFIG_3_RESET_ON_READ : 0);

	for (unsigned port = 0; port < N_PORTS; port++)
		ck_assert_int_eq(
		    bus_write(&t.cpu, address_of(port, C84302_CONFIG_3), config_3), 0);
	c.freezes = freezes;
	c.clears = clears;
	for (unsigned i = 0; i < C84302_COUNTERS; i++)
		c.rows[i].flags =
		    clears ? HAL_COUNTER_CLEARS_ON_READ : c84302_counter_rows[i].flags;
}

static void
begin_totals(unsigned scenario)
{
	memset(&c, 0, sizeof(c));
	begin(scenario);
	begin_driver();
	memcpy(c.rows, c84302_counter_rows, sizeof(c.rows));
	c.counters_ops = (struct hal_counters_ops){.name = "c84302", .rows = c.rows,
	    .n_rows = C84302_COUNTERS, .read = counters_read, .derive = c84302_derive};
	c.device = (struct hal_device){
	    .ops = &device_ops, .ports = &ports_ops, .counters = &c.counters_ops};
	ck_assert_int_eq(hal_create(&c.device, &clock_system, &c.hal), 0);
	ck_assert_int_eq(hal_start(c.hal), 0);
	set_mode(one_in(2), one_in(2));
	c.busiest = below(C84302_COUNTERS - 2);
}

static void
read_port(unsigned port)
{
	struct hal_counters figures;

	ck_assert_int_eq(hal_read_counters(c.hal, port + 1, &figures), 0);
}

static void
read_all(void)
{
	for (unsigned port = 0; port < N_PORTS; port++)
		read_port(port);
}

static void
count_some(unsigned port)
{
	unsigned i = one_in(2) ? c.busiest + below(3) : below(C84302_COUNTERS);
	uint32_t amount = some_amount();

	c84302_model_event(t.model, port, i + 1, amount);
	c.events[port][i] += amount;
	c.unread[port][i] += amount;
}

/* A reset, of one port or by the pin. What was not read by then is gone from the chip. */
static void
reset(bool by_pin)
{
	for (unsigned port = 0; port < N_PORTS; port++) {
		for (unsigned i = 0; i < C84302_COUNTERS; i++) {
			c.lost[port][i] += c.unread[port][i];
			c.unread[port][i] = c.at_read[port][i] = 0;
		}
		if (!by_pin) {
			bus_write(&t.cpu, address_of(port, C84302_CONFIG_4),
			    C84302_CONFIG_4_COUNTER_RESET);
			bus_write(&t.cpu, address_of(port, C84302_CONFIG_4), 0);
		}
		hal_report_counters_reset(c.hal, port + 1);
	}
	if (!by_pin)
		return;
	c84302_model_reset(t.model);
	c84302_destroy(c.driver);
	begin_driver();
	set_mode(c.freezes, c.clears);
}

/* Between keeping and clearing on read the meaning of a reading changes: read, zero, then change. */
static void
change_mode(void)
{
	bool clears = one_in(2);

	read_all();
	if (clears != c.clears)
		reset(false);
	set_mode(one_in(2), clears);
}

static void
expect_totals(void)
{
	read_all();
	for (unsigned port = 0; port < N_PORTS; port++) {
		uint64_t totals[C84302_COUNTERS];
		size_t n;

		hal_save_totals(c.hal, port + 1, totals, C84302_COUNTERS, &n);
		for (unsigned i = 0; i < C84302_COUNTERS; i++)
			expect_same(totals[i], c.events[port][i] - c.lost[port][i],
			    "total of counter", i + 1);
	}
}

/* The CPU handles interrupts at once; where a read clears, that is enough. Else it polls, too: past
 * half full a counter that keeps its value goes round in silence. */
static void
prompt_step(void)
{
	unsigned port = below(N_PORTS);

	count_some(port);
	if (bus_model_lines(t.board))
		ck_assert_int_eq(hal_dispatch(c.hal, 0), 0);
	if (one_in(10))
		read_port(port);
	for (unsigned i = 0; i < C84302_COUNTERS; i++)
		if (!c.clears && c.unread[port][i] > 0x7fffffff)
			read_port(port);
	if (one_in(20))
		change_mode();
	else if (one_in(50)) {
		read_all();
		reset(one_in(2));
	}
}

/* The CPU comes when it likes. */
static void
late_step(void)
{
	count_some(below(N_PORTS));
	if (one_in(10) && bus_model_lines(t.board))
		ck_assert_int_eq(hal_dispatch(c.hal, 0), 0);
	if (one_in(20))
		read_port(below(N_PORTS));
	if (one_in(40))
		change_mode();
	else if (one_in(50))
		reset(one_in(2));
}

START_TEST(totals_have_what_the_chip_kept)
{
	for (unsigned i = (unsigned)_i; i < (unsigned)suite_effort(SCENARIOS); i += PARTS) {
		begin_totals(i);
		c.prompt = i / PARTS % 2;
		for (unsigned step = 0; step < STEPS; step++) {
			if (c.prompt)
				prompt_step();
			else
				late_step();
			if (one_in(50))
				expect_totals();
		}
		expect_totals();
		hal_stop(c.hal);
		hal_destroy(c.hal);
		c84302_destroy(c.driver);
		end();
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("c84302 model");
	TCase *all = tcase_create("scenarios");

	tcase_set_timeout(all, 120);
	tcase_add_loop_test(all, registers_do_as_the_reference, 0, PARTS);
	tcase_add_loop_test(all, totals_have_what_the_chip_kept, 0, PARTS);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
