/*
 * The 84302: the thirteen test vectors derived from its data sheet (SEEQ MD400171/C page 4-32),
 * one test each, against the model's registers; then the driver over the model.
 */
#include "agent/sim/chip/c84302.h"
#include "agent/sim/chip/c84302_model.h"
#include "tests/agent/hal/fake_hal.h"
#include "tests/agent/sim/bus/bus_record.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>

enum { BASE = 0x4000000, LINE = 5, TX_OCTETS_AT = C84302_COUNTER(C84302_TX_OCTETS) };

static struct bus_model *board;
static struct c84302_model *model;
static struct bus cpu;
static struct hal hal;

static void
create(bool bus_is_8_bits)
{
	struct c84302_model_config config = {
	    .base = BASE, .line = LINE, .bus_is_8_bits = bus_is_8_bits};

	ck_assert_int_eq(bus_model_create(&board), 0);
	config.bus = board;
	ck_assert_int_eq(c84302_model_create(&config, &model), 0);
	cpu = bus_model_cpu(board);
	hal = (struct hal){0};
}

static void
set_up(void)
{
	create(false);
}

static void
set_up_narrow(void)
{
	create(true);
}

static void
tear_down(void)
{
	c84302_model_destroy(model);
	bus_model_destroy(board);
}

static uint32_t
at(unsigned port, uint32_t offset)
{
	return BASE + port * C84302_PORT_STRIDE + offset;
}

static uint32_t
get(unsigned port, uint32_t offset)
{
	uint32_t value = 0xdeadbeef;

	ck_assert_int_eq(bus_read(&cpu, at(port, offset), &value), 0);
	return value;
}

static void
put(unsigned port, uint32_t offset, uint32_t value)
{
	ck_assert_int_eq(bus_write(&cpu, at(port, offset), value), 0);
}

static void
start_counting(unsigned port)
{
	put(port, C84302_CONFIG_4, 0);
}

static void
expect_pair(unsigned port, unsigned counter, uint32_t high, uint32_t low)
{
	ck_assert_uint_eq(get(port, C84302_COUNTER(counter)), high);
	ck_assert_uint_eq(get(port, C84302_COUNTER(counter)), low);
}

static void
receive(unsigned port, uint32_t octets)
{
	struct c84302_frame frame = {.octets = octets, .length_type = 0x800};

	c84302_model_receive(model, port, &frame);
}

static const unsigned C = C84302_COLLISIONS;

START_TEST(vector_1_two_reads_give_high_then_low)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, 0x00012345);
	expect_pair(0, C, 0x0001, 0x2345);
	expect_pair(0, C, 0x0001, 0x2345);
}
END_TEST

START_TEST(vector_2_four_reads_on_the_8_bit_bus)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, 0x00012345);
	for (int twice = 0; twice < 2; twice++) {
		ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0x00);
		ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0x01);
		ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0x23);
		ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0x45);
	}
}
END_TEST

START_TEST(vector_3_the_value_is_held_during_a_read)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, 0x0000ffff);
	ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0x0000);
	c84302_model_event(model, 0, C, 1);
	ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0xffff);
	expect_pair(0, C, 0x0001, 0x0000);
}
END_TEST

START_TEST(vector_4_reset_on_read)
{
	start_counting(0);
	put(0, C84302_CONFIG_3, C84302_CONFIG_3_RESET_ON_READ);
	c84302_model_preset(model, 0, C, 7);
	expect_pair(0, C, 0, 7);
	expect_pair(0, C, 0, 0);
}
END_TEST

START_TEST(vector_5_a_read_of_the_maximum_zeroes_in_any_mode)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, UINT32_MAX);
	expect_pair(0, C, 0xffff, 0xffff);
	c84302_model_event(model, 0, C, 1);
	expect_pair(0, C, 0, 1);
}
END_TEST

START_TEST(vector_6_rolls_over_by_default)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, UINT32_MAX);
	c84302_model_event(model, 0, C, 1);
	expect_pair(0, C, 0, 0);
}
END_TEST

START_TEST(vector_7_freezes_at_the_maximum_when_set)
{
	start_counting(0);
	put(0, C84302_CONFIG_3, C84302_CONFIG_3_STOP_AT_MAX);
	c84302_model_preset(model, 0, C, UINT32_MAX);
	for (int i = 0; i < 3; i++)
		c84302_model_event(model, 0, C, 1);
	expect_pair(0, C, 0xffff, 0xffff);
	expect_pair(0, C, 0, 0);
}
END_TEST

START_TEST(freezes_when_an_amount_passes_the_maximum)
{
	start_counting(0);
	put(0, C84302_CONFIG_3, C84302_CONFIG_3_STOP_AT_MAX);
	c84302_model_preset(model, 0, C84302_RX_OCTETS, UINT32_MAX - 10);
	receive(0, 64);
	expect_pair(0, C84302_RX_OCTETS, 0xffff, 0xffff);
}
END_TEST

static void
go_half_full(void)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, 0x7fffffff);
	c84302_model_event(model, 0, C, 1);
}

static uint32_t
status_register(void)
{
	return C84302_STATUS_0 + 2 * C84302_STATUS_REG(C);
}

START_TEST(vector_8_half_full_sets_status_and_interrupt)
{
	put(0, C84302_INT_ENABLE_1 + 2 * C84302_STATUS_REG(C), 0);
	go_half_full();
	ck_assert(c84302_model_int(model, 0));
	ck_assert(!c84302_model_int(model, 1));
	ck_assert_uint_eq(bus_model_lines(board), 1u << LINE);
	ck_assert_uint_eq(get(0, status_register()), C84302_STATUS_BIT(C));
}
END_TEST

START_TEST(vector_9_reading_status_clears_it_and_the_interrupt)
{
	put(0, C84302_INT_ENABLE_1 + 2 * C84302_STATUS_REG(C), 0);
	go_half_full();
	ck_assert_uint_eq(get(0, status_register()), C84302_STATUS_BIT(C));
	ck_assert_uint_eq(get(0, status_register()), 0);
	ck_assert(!c84302_model_int(model, 0));
	ck_assert_uint_eq(bus_model_lines(board), 0);
	c84302_model_event(model, 0, C, 1);
	ck_assert_uint_eq(get(0, status_register()), 0);
}
END_TEST

START_TEST(vector_10_a_set_mask_bit_suppresses_the_interrupt)
{
	put(0, C84302_INT_ENABLE_1 + 2 * C84302_STATUS_REG(C), C84302_STATUS_BIT(C));
	go_half_full();
	ck_assert(!c84302_model_int(model, 0));
	ck_assert_uint_eq(get(0, status_register()), C84302_STATUS_BIT(C));
}
END_TEST

START_TEST(vector_11_nothing_counts_after_reset)
{
	for (int i = 0; i < 5; i++)
		receive(0, 64);
	for (unsigned n = 1; n <= C84302_COUNTERS; n++)
		expect_pair(0, n, 0, 0);
}
END_TEST

START_TEST(vector_12_the_counter_reset_bit_is_a_port_s_own)
{
	start_counting(2);
	for (unsigned port = 0; port < C84302_PORTS; port++)
		for (int i = 0; i < 5; i++)
			receive(port, 64);
	for (unsigned port = 0; port < C84302_PORTS; port++)
		expect_pair(port, C84302_RX_PKTS, 0, port == 2 ? 5 : 0);
	put(2, C84302_CONFIG_4, C84302_CONFIG_4_COUNTER_RESET);
	put(2, C84302_CONFIG_4, 0);
	expect_pair(2, C84302_RX_PKTS, 0, 0);
}
END_TEST

START_TEST(vector_13_the_maximum_length_can_be_raised)
{
	start_counting(0);
	receive(0, 1520);
	expect_pair(0, C84302_OVERSIZE_PKTS, 0, 1);
	expect_pair(0, C84302_RX_1024_MAX, 0, 0);
	put(0, C84302_CONFIG_5, 4);
	put(0, C84302_CONFIG_4, C84302_CONFIG_4_MAX_SELECT);
	receive(0, 1520);
	expect_pair(0, C84302_OVERSIZE_PKTS, 0, 1);
	expect_pair(0, C84302_RX_1024_MAX, 0, 1);
}
END_TEST

START_TEST(another_access_ends_a_read_in_progress)
{
	start_counting(0);
	c84302_model_preset(model, 0, C, 0x00012345);
	ck_assert_uint_eq(get(0, C84302_COUNTER(C)), 0x0001);
	get(0, C84302_CONFIG_3);
	expect_pair(0, C, 0x0001, 0x2345);
}
END_TEST

/* Every length and fault lands in the counters that RFC 2819 names for it. */
START_TEST(received_frames_count_by_length_and_fault)
{
	static const struct {
		uint32_t octets;
		uint8_t faults;
		unsigned counter;
	} cases[] = {
	    {63, 0, C84302_UNDERSIZE_PKTS},
	    {63, C84302_FAULT_FCS, C84302_FRAGMENTS},
	    {64, 0, C84302_RX_64},
	    {65, 0, C84302_RX_65_127},
	    {127, 0, C84302_RX_65_127},
	    {128, 0, C84302_RX_128_255},
	    {255, 0, C84302_RX_128_255},
	    {256, 0, C84302_RX_256_511},
	    {511, 0, C84302_RX_256_511},
	    {512, 0, C84302_RX_512_1023},
	    {1023, 0, C84302_RX_512_1023},
	    {1024, 0, C84302_RX_1024_MAX},
	    {1518, 0, C84302_RX_1024_MAX},
	    {1519, 0, C84302_OVERSIZE_PKTS},
	    {1519, C84302_FAULT_ALIGNMENT, C84302_JABBERS},
	    {100, C84302_FAULT_FCS, C84302_FCS_ERRORS},
	    {100, C84302_FAULT_ALIGNMENT, C84302_ALIGNMENT_ERRORS},
	    {100, C84302_FAULT_FCS, C84302_CRC_ALIGN_ERRORS},
	    {100, C84302_FAULT_OVERFLOW, C84302_DROP_EVENTS},
	};
	struct c84302_frame frame = {
	    .octets = cases[_i].octets, .faults = cases[_i].faults, .length_type = 0x800};
	bool good = frame.faults == 0 && frame.octets >= 64 && frame.octets <= 1518;

	start_counting(1);
	ck_assert_int_eq(c84302_model_receive(model, 1, &frame), good);
	expect_pair(1, cases[_i].counter, 0, 1);
	expect_pair(1, C84302_RX_UCAST, 0, good);
	expect_pair(1, C84302_RX_PKTS, 0, !(frame.faults & C84302_FAULT_OVERFLOW));
}
END_TEST
enum { RECEIVED_CASES = 19 };

START_TEST(length_fields_are_checked)
{
	static const struct {
		uint16_t length_type;
		uint32_t octets;
		bool in_range, out_of_range;
	} cases[] = {{46, 64, 0, 0}, {7, 64, 0, 0}, {47, 64, 1, 0}, {100, 118, 0, 0},
	    {99, 118, 1, 0}, {1501, 118, 0, 1}, {0x600, 118, 0, 0}};
	struct c84302_frame frame = {
	    .octets = cases[_i].octets, .length_type = cases[_i].length_type};

	start_counting(0);
	ck_assert(c84302_model_receive(model, 0, &frame));
	expect_pair(0, C84302_IN_RANGE_LENGTH, 0, cases[_i].in_range);
	expect_pair(0, C84302_OUT_OF_RANGE_LENGTH, 0, cases[_i].out_of_range);
}
END_TEST
enum { LENGTH_CASES = 7 };

/* --- the driver over the model --- */

static struct c84302 *
driver(bool bus_is_8_bits)
{
	struct c84302_config config = {.bus = &cpu, .base = BASE, .if_index = {11, 12, 0, 14},
	    .bus_is_8_bits = bus_is_8_bits};
	struct c84302 *chip;

	ck_assert_int_eq(c84302_create(&config, &chip), 0);
	return chip;
}

static void
driver_reads_whole(bool bus_is_8_bits)
{
	struct c84302 *chip = driver(bus_is_8_bits);
	uint64_t raw;

	for (unsigned n = 1; n <= C84302_COUNTERS; n++)
		c84302_model_preset(model, 3, n, 0x01020304 * n);
	for (unsigned n = 1; n <= C84302_COUNTERS; n++) {
		ck_assert_int_eq(c84302_read(chip, 3, n - 1, &raw), 0);
		ck_assert_uint_eq(raw, 0x01020304 * n);
	}
	c84302_destroy(chip);
}

START_TEST(driver_reads_every_counter)
{
	driver_reads_whole(false);
}
END_TEST

START_TEST(driver_reads_every_counter_on_the_8_bit_bus)
{
	driver_reads_whole(true);
}
END_TEST

START_TEST(driver_starts_only_wired_ports)
{
	struct c84302 *chip = driver(false);

	for (unsigned port = 0; port < C84302_PORTS; port++)
		receive(port, 64);
	for (unsigned port = 0; port < C84302_PORTS; port++)
		expect_pair(port, C84302_RX_PKTS, 0, port != 2);
	c84302_destroy(chip);
}
END_TEST

START_TEST(driver_reports_half_full_ports_once)
{
	struct c84302 *chip = driver(false);

	c84302_model_preset(model, 1, C84302_RX_OCTETS, 0x7fffffff);
	receive(1, 64);
	ck_assert_uint_ne(bus_model_lines(board), 0);
	ck_assert_int_eq(c84302_dispatch(chip, &hal), 1);
	ck_assert_uint_eq(hal.n_due, 1);
	ck_assert_uint_eq(hal.due[0], 12);
	ck_assert_uint_eq(bus_model_lines(board), 0);
	ck_assert_int_eq(c84302_dispatch(chip, &hal), 0);
	c84302_destroy(chip);
}
END_TEST

START_TEST(driver_refuses_a_wrong_maximum)
{
	struct c84302_config config = {.bus = &cpu, .base = BASE, .max_octets = 1534};
	struct c84302 *chip;

	ck_assert_int_eq(c84302_create(&config, &chip), -EINVAL);
	config.max_octets = 1500;
	ck_assert_int_eq(c84302_create(&config, &chip), -EINVAL);
	config.max_octets = 1533;
	config.if_index[0] = 1;
	ck_assert_int_eq(c84302_create(&config, &chip), 0);
	receive(0, 1533);
	expect_pair(0, C84302_RX_1024_MAX, 0, 1);
	c84302_destroy(chip);
}
END_TEST

START_TEST(driver_stops_at_a_bus_error)
{
	struct c84302_config config = {.bus = &cpu, .base = BASE + C84302_WINDOW, .if_index = {1}};
	struct c84302 *chip;

	ck_assert_int_eq(c84302_create(&config, &chip), -ENXIO);
}
END_TEST

/* Two accesses a counter at one address, and nothing in between. */
START_TEST(driver_reads_a_counter_in_one_go)
{
	static struct bus_record record;
	struct bus recorded = bus_record_bus(&record);
	struct c84302_config config = {.bus = &recorded, .base = BASE, .if_index = {1}};
	struct c84302 *chip;
	uint64_t raw;

	record.below = &cpu;
	ck_assert_int_eq(c84302_create(&config, &chip), 0);
	bus_record_clear(&record);
	ck_assert_int_eq(c84302_read(chip, 0, C84302_TX_OCTETS - 1, &raw), 0);
	ck_assert_uint_eq(record.n, 2);
	ck_assert_uint_eq(bus_record_count(&record, at(0, TX_OCTETS_AT), false), 2);
	c84302_destroy(chip);
}
END_TEST

/* Figures as RFC 3635 and 2819 define them, from totals that differ in every counter. */
START_TEST(figures_follow_the_rfcs)
{
	uint64_t totals[C84302_COUNTERS];
	struct hal_counters c = {0};

	for (unsigned i = 0; i < C84302_COUNTERS; i++)
		totals[i] = 1ull << 40 | 1000 * (i + 1);
	totals[C84302_RX_PAUSE - 1] = 3;
	totals[C84302_RX_UNKNOWN_OPCODE - 1] = 4;
	totals[C84302_TX_PAUSE - 1] = 5;
	c84302_derive(totals, &c);
	ck_assert_uint_eq(c.known, HAL_N_FIGURES == 64 ? UINT64_MAX : (1ull << HAL_N_FIGURES) - 1);
	ck_assert_uint_eq(c.value[HAL_IN_OCTETS], totals[42]);
	ck_assert_uint_eq(c.value[HAL_OUT_OCTETS], totals[37]);
	ck_assert_uint_eq(c.value[HAL_IN_ERRORS],
	    totals[36] + totals[35] + totals[3] + totals[0] + totals[46]);
	ck_assert_uint_eq(c.value[HAL_OUT_ERRORS],
	    totals[50] + totals[39] + totals[40] + totals[41]);
	ck_assert_uint_eq(c.value[HAL_OUT_DISCARDS], totals[27]);
	ck_assert_uint_eq(c.value[HAL_MAC_TX_ERRORS], 0);
	ck_assert_uint_eq(c.value[HAL_IN_MCAST_PKTS], totals[9] - 7);
	ck_assert_uint_eq(c.value[HAL_OUT_MCAST_PKTS], totals[19] - 5);
	ck_assert_uint_eq(c.value[HAL_POOL_IN_PKTS], totals[31] + totals[8] + totals[9]);
	ck_assert_uint_eq(c.value[HAL_POOL_OUT_PKTS], totals[32] + totals[18] + totals[19] - 5);
	ck_assert_uint_eq(c.value[HAL_RMON_OCTETS], totals[6]);
	ck_assert_uint_eq(c.value[HAL_RMON_1024_MAX], totals[15]);
	ck_assert_uint_eq(c.value[HAL_IN_DISCARDS], 0);
}
END_TEST

static void
add_vectors(TCase *wide)
{
	tcase_add_test(wide, vector_1_two_reads_give_high_then_low);
	tcase_add_test(wide, vector_3_the_value_is_held_during_a_read);
	tcase_add_test(wide, vector_4_reset_on_read);
	tcase_add_test(wide, vector_5_a_read_of_the_maximum_zeroes_in_any_mode);
	tcase_add_test(wide, vector_6_rolls_over_by_default);
	tcase_add_test(wide, vector_7_freezes_at_the_maximum_when_set);
	tcase_add_test(wide, vector_8_half_full_sets_status_and_interrupt);
	tcase_add_test(wide, vector_9_reading_status_clears_it_and_the_interrupt);
	tcase_add_test(wide, vector_10_a_set_mask_bit_suppresses_the_interrupt);
	tcase_add_test(wide, vector_11_nothing_counts_after_reset);
	tcase_add_test(wide, vector_12_the_counter_reset_bit_is_a_port_s_own);
	tcase_add_test(wide, vector_13_the_maximum_length_can_be_raised);
	tcase_add_test(wide, freezes_when_an_amount_passes_the_maximum);
	tcase_add_test(wide, another_access_ends_a_read_in_progress);
	tcase_add_loop_test(wide, received_frames_count_by_length_and_fault, 0, RECEIVED_CASES);
	tcase_add_loop_test(wide, length_fields_are_checked, 0, LENGTH_CASES);
}

int
main(void)
{
	Suite *suite = suite_create("c84302");
	TCase *wide = tcase_create("16-bit bus"), *narrow = tcase_create("8-bit bus");

	tcase_add_checked_fixture(wide, set_up, tear_down);
	add_vectors(wide);
	tcase_add_test(wide, driver_reads_every_counter);
	tcase_add_test(wide, driver_starts_only_wired_ports);
	tcase_add_test(wide, driver_reports_half_full_ports_once);
	tcase_add_test(wide, driver_refuses_a_wrong_maximum);
	tcase_add_test(wide, driver_stops_at_a_bus_error);
	tcase_add_test(wide, driver_reads_a_counter_in_one_go);
	tcase_add_test(wide, figures_follow_the_rfcs);
	tcase_add_checked_fixture(narrow, set_up_narrow, tear_down);
	tcase_add_test(narrow, vector_2_four_reads_on_the_8_bit_bus);
	tcase_add_test(narrow, driver_reads_every_counter_on_the_8_bit_bus);
	suite_add_tcase(suite, wide);
	suite_add_tcase(suite, narrow);
	return suite_run(suite);
}
