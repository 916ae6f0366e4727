/* The register engine, shared memory, the interrupt line, and the recording bus. */
#include "agent/sim/bus/bus_model.h"
#include "tests/agent/sim/bus/bus_record.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

struct toy {
	struct regmodel regs;
	uint32_t last_written;
	unsigned reads_done;
};

static uint32_t
toy_read(void *chip, unsigned index, uint32_t stored)
{
	(void)chip;
	return stored + index;
}

static void
toy_read_done(void *chip, unsigned index)
{
	(void)index;
	((struct toy *)chip)->reads_done++;
}

static void
toy_written(void *chip, unsigned index, uint32_t written)
{
	(void)index;
	((struct toy *)chip)->last_written = written;
}

static const struct regmodel_row toy_rows[] = {
    {.name = "control", .offset = 0x00, .reset = 0x10, .writable = 0x0f, .reserved = 0xf00,
	.written = toy_written},
    {.name = "cause", .offset = 0x04, .write_1_clears = 0xff},
    {.name = "status", .offset = 0x08, .read_clears = 0x0f, .read_done = toy_read_done},
    {.name = "array", .offset = 0x10, .count = 4, .stride = 8, .reset = 100, .read = toy_read},
};

enum { TOY_BASE = 0x1000 };

static struct bus_model *model;
static struct toy toy;
static struct bus cpu;

static void
set_up(void)
{
	ck_assert_int_eq(bus_model_create(&model), 0);
	memset(&toy, 0, sizeof(toy));
	ck_assert_int_eq(regmodel_init(&toy.regs, toy_rows, 4, &toy), 0);
	ck_assert_int_eq(bus_model_attach(model, TOY_BASE, 0x100, &toy.regs), 0);
	cpu = bus_model_cpu(model);
}

static void
tear_down(void)
{
	regmodel_free(&toy.regs);
	bus_model_destroy(model);
}

static uint32_t
get(uint32_t offset)
{
	uint32_t value = 0xdead;

	ck_assert_int_eq(bus_read(&cpu, TOY_BASE + offset, &value), 0);
	return value;
}

START_TEST(masks_decide_what_a_write_does)
{
	ck_assert_uint_eq(get(0), 0x10);
	ck_assert_int_eq(bus_write(&cpu, TOY_BASE, 0x4ff), 0);
	ck_assert_uint_eq(get(0), 0x1f);
	ck_assert_uint_eq(toy.last_written, 0x4ff);
	ck_assert_uint_eq(toy.regs.reserved_writes, 1);
	ck_assert_int_eq(bus_update(&cpu, TOY_BASE, 0x03, 0x01), 0);
	ck_assert_uint_eq(get(0), 0x1d);
}
END_TEST

START_TEST(written_ones_and_reads_clear)
{
	*regmodel_value(&toy.regs, 1, 0) = 0x33;
	ck_assert_int_eq(bus_write(&cpu, TOY_BASE + 4, 0x30), 0);
	ck_assert_uint_eq(get(4), 0x03);
	*regmodel_value(&toy.regs, 2, 0) = 0xff;
	ck_assert_uint_eq(get(8), 0xff);
	ck_assert_uint_eq(get(8), 0xf0);
	ck_assert_uint_eq(toy.reads_done, 2);
}
END_TEST

START_TEST(arrays_are_found_by_stride)
{
	ck_assert_uint_eq(get(0x10), 100);
	ck_assert_uint_eq(get(0x28), 103);
	regmodel_reset(&toy.regs);
	ck_assert_uint_eq(get(0x18), 101);
}
END_TEST

START_TEST(addresses_without_a_register_are_refused_and_counted)
{
	static const uint32_t nowhere[] = {
	    TOY_BASE + 0x02, TOY_BASE + 0x0c, TOY_BASE + 0x14, TOY_BASE + 0x30, TOY_BASE + 0x100, 0,
	    UINT32_MAX};
	uint32_t value = 7;

	for (size_t i = 0; i < 7; i++) {
		ck_assert_int_eq(bus_read(&cpu, nowhere[i], &value), -ENXIO);
		ck_assert_int_eq(bus_write(&cpu, nowhere[i], 1), -ENXIO);
	}
	ck_assert_uint_eq(value, 7);
	ck_assert_uint_eq(bus_model_refused(model), 14);
	ck_assert_uint_eq(toy.regs.unknown_accesses, 8);
}
END_TEST

START_TEST(windows_and_rows_must_not_overlap)
{
	static const struct regmodel_row overlapping[] = {
	    {.name = "a", .offset = 0, .count = 4, .stride = 4},
	    {.name = "b", .offset = 8},
	};
	struct regmodel regs;

	ck_assert_int_eq(regmodel_init(&regs, overlapping, 2, NULL), -EINVAL);
	ck_assert_int_eq(bus_model_attach(model, TOY_BASE + 0xff, 1, &toy.regs), -EINVAL);
	ck_assert_int_eq(bus_model_attach(model, TOY_BASE - 4, 0x1000, &toy.regs), -EINVAL);
	ck_assert_int_eq(bus_model_attach(model, 0xffffff00, 0x101, &toy.regs), -EINVAL);
	ck_assert_int_eq(bus_model_attach(model, TOY_BASE + 0x100, 4, &toy.regs), 0);
}
END_TEST

START_TEST(shared_memory_is_bounded_for_the_model)
{
	uint32_t a, b;
	uint8_t *first = cpu.ops->alloc_shared(cpu.ctx, 100, &a);
	uint8_t *second = cpu.ops->alloc_shared(cpu.ctx, 4096, &b);

	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_eq(bus_model_memory(model, a, 100), first);
	ck_assert_ptr_eq(bus_model_memory(model, b + 4000, 96), second + 4000);
	ck_assert_ptr_null(bus_model_memory(model, a, 101));
	ck_assert_ptr_null(bus_model_memory(model, a + 100, 1));
	ck_assert_ptr_null(bus_model_memory(model, a - 1, 1));
	ck_assert_ptr_null(bus_model_memory(model, b + 4096, 1));
	ck_assert_ptr_null(bus_model_memory(model, b, SIZE_MAX));
	ck_assert_uint_eq(bus_model_refused(model), 5);
	ck_assert_ptr_null(cpu.ops->alloc_shared(cpu.ctx, BUS_MODEL_SHARED_OCTETS, &b));
	ck_assert_ptr_null(cpu.ops->alloc_shared(cpu.ctx, 0, &b));
}
END_TEST

static bool
readable(void)
{
	struct pollfd fd = {.fd = bus_model_fd(model), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

START_TEST(the_descriptor_is_readable_while_a_line_is_up)
{
	ck_assert(!readable());
	bus_model_set_line(model, 3, true);
	bus_model_set_line(model, 3, true);
	bus_model_set_line(model, 31, true);
	ck_assert(readable());
	ck_assert_uint_eq(bus_model_lines(model), 1u << 31 | 1u << 3);
	bus_model_set_line(model, 3, false);
	ck_assert(readable());
	bus_model_set_line(model, 31, false);
	ck_assert(!readable());
}
END_TEST

START_TEST(a_shared_line_is_up_while_anyone_pulls)
{
	bool pulls[2] = {false, false};

	bus_model_pull_line(model, 7, &pulls[0], false);
	ck_assert_uint_eq(bus_model_lines(model), 0);
	bus_model_pull_line(model, 7, &pulls[0], true);
	bus_model_pull_line(model, 7, &pulls[0], true);
	bus_model_pull_line(model, 7, &pulls[1], true);
	bus_model_pull_line(model, 7, &pulls[0], false);
	ck_assert_uint_eq(bus_model_lines(model), 1u << 7);
	bus_model_pull_line(model, 7, &pulls[1], false);
	ck_assert_uint_eq(bus_model_lines(model), 0);
}
END_TEST

START_TEST(a_recording_holds_what_passed)
{
	static struct bus_record record;
	struct bus recorded;
	uint32_t value;

	record.below = &cpu;
	bus_record_clear(&record);
	recorded = bus_record_bus(&record);
	ck_assert_int_eq(bus_write(&recorded, TOY_BASE, 5), 0);
	ck_assert_int_eq(bus_read(&recorded, TOY_BASE, &value), 0);
	ck_assert_int_eq(bus_read(&recorded, 0, &value), -ENXIO);
	ck_assert_uint_eq(record.n, 3);
	ck_assert(record.accesses[0].write);
	ck_assert_uint_eq(record.accesses[1].value, 0x15);
	ck_assert_int_eq(record.accesses[2].rc, -ENXIO);
	ck_assert_uint_eq(bus_record_count(&record, TOY_BASE, false), 1);
	for (int i = 0; i < BUS_RECORD_MAX; i++)
		bus_read(&recorded, TOY_BASE, &value);
	ck_assert_uint_eq(record.n_lost, 3);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("bus");
	TCase *all = tcase_create("bus");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, masks_decide_what_a_write_does);
	tcase_add_test(all, written_ones_and_reads_clear);
	tcase_add_test(all, arrays_are_found_by_stride);
	tcase_add_test(all, addresses_without_a_register_are_refused_and_counted);
	tcase_add_test(all, windows_and_rows_must_not_overlap);
	tcase_add_test(all, shared_memory_is_bounded_for_the_model);
	tcase_add_test(all, the_descriptor_is_readable_while_a_line_is_up);
	tcase_add_test(all, a_shared_line_is_up_while_anyone_pulls);
	tcase_add_test(all, a_recording_holds_what_passed);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
