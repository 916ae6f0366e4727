/*
 * Static addresses by SET (dot1dStaticTable, RFC 4188), over a fake device with room for two: rows
 * are made, moved and deleted; a request is carried out as a whole, or not at all if the device
 * refuses; and permanent rows survive a restart.
 */
#include "agent/settings.h"
#include "agent/static_addresses.h"
#include "mibs/mib_snapshot.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/agent/state_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

enum { ALLOWED = 3, STATUS = 4, DELETE_ON_TIMEOUT = 5 };

static struct fake_device fake;
static struct clock test_clock;
static struct hal *hal;
static struct static_addresses *static_addresses;
static struct mib_transaction t;
static struct state_rig rig;
static bool keeps; /* requests in the rig's state */

static void
set_up_with(size_t n_ports)
{
	test_clock = (struct clock){.manual = true, .manual_mono_us = 1};
	fake_init(&fake, n_ports);
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(static_addresses_create(hal, &static_addresses), 0);
	mib_transaction_begin(&t);
}

static void
set_up(void)
{
	set_up_with(FAKE_PORTS);
}

static void
tear_down(void)
{
	static_addresses_destroy(static_addresses);
	hal_destroy(hal);
}

static int
apply(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase, size_t *failed)
{
	struct managed_table *managed = static_addresses_managed(static_addresses);
	const struct settings_owners owners = {.hal = hal, .managed = &managed, .n_managed = 1};
	int rc;

	(void)ctx;
	rc = settings_carry_out(&owners, sets, n, phase, failed);
	if (rc == 0 && phase == MIB_PHASE_COMMIT && keeps)
		state_keep(rig.state, sets, n);
	return rc;
}
static const struct mib_setter setter = {NULL, apply};

/* The station's address is 02:00:00:00:00:station. */
static enum mib_error
add(uint32_t column, uint32_t station, uint32_t receive_port, struct mib_value value)
{
	const uint32_t oid[] = {1, 3, 6, 1, 2, 1, 17, 5, 1, 1, column, 2, 0, 0, 0, 0, station,
	    receive_port};
	struct mib_snapshot snapshot = {
	    .static_addresses = static_addresses_hold(static_addresses)};
	const struct mib_context context = {.snapshot = &snapshot};
	enum mib_error error = mib_transaction_add(&t, &bridge_mib_static_table, &context, oid,
	    sizeof(oid) / sizeof(oid[0]), &value);

	static_addresses_release(snapshot.static_addresses);
	return error;
}

static struct mib_value
status(int64_t number)
{
	return (struct mib_value){.syntax = MIB_INTEGER, .integer = number};
}

/* Returns a PortList with these two ports; 0 is no port. */
static struct mib_value
ports(uint32_t one, uint32_t other)
{
	struct mib_value value = {.syntax = MIB_STRING, .len = 4};

	for (uint32_t port = 1; port <= 32; port++) {
		if (port == one || port == other)
			value.octets[(port - 1) / 8] |= (uint8_t)(0x80 >> (port - 1) % 8);
	}
	return value;
}

/* Carries out the settings that were added. Returns the error of the phase that failed. */
static enum mib_error
carry_out(void)
{
	enum mib_error error = mib_transaction_test(&t, &setter);

	if (!error)
		error = mib_transaction_commit(&t, &setter);
	mib_transaction_begin(&t);
	static_addresses_publish(static_addresses);
	return error;
}

static enum mib_error
set_static(uint32_t station, uint32_t port, int64_t how)
{
	ck_assert_int_eq(add(ALLOWED, station, 0, ports(port, 0)), MIB_NO_ERROR);
	ck_assert_int_eq(add(STATUS, station, 0, status(how)), MIB_NO_ERROR);
	return carry_out();
}

static size_t
n_rows(void)
{
	const struct mib_static_address_table *table = static_addresses_hold(static_addresses);
	size_t n = table ? table->n : 0;

	static_addresses_release(table);
	return n;
}

START_TEST(rows_are_made_moved_and_deleted)
{
	ck_assert_int_eq(set_static(7, 20, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_uint_eq(fake.n_static_addresses, 1);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 20);
	ck_assert_uint_eq(fake.static_addresses[0].mac[5], 7);
	ck_assert_uint_eq(n_rows(), 1);
	ck_assert_int_eq(add(ALLOWED, 7, 0, ports(30, 0)), MIB_NO_ERROR);
	ck_assert_int_eq(carry_out(), MIB_NO_ERROR);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 30);
	ck_assert_int_eq(add(STATUS, 7, 0, status(STATIC_INVALID)), MIB_NO_ERROR);
	ck_assert_int_eq(carry_out(), MIB_NO_ERROR);
	ck_assert_uint_eq(fake.n_static_addresses, 0);
	ck_assert_uint_eq(n_rows(), 0);
}
END_TEST

START_TEST(what_a_chip_cannot_do_is_refused)
{
	ck_assert_int_eq(add(STATUS, 7, 0, status(DELETE_ON_TIMEOUT)), MIB_WRONG_VALUE);
	ck_assert_int_eq(add(STATUS, 7, 10, status(STATIC_PERMANENT)), MIB_NO_CREATION);
	ck_assert_int_eq(add(ALLOWED, 7, 0, ports(10, 0)), MIB_NO_ERROR);
	ck_assert_int_eq(carry_out(), MIB_INCONSISTENT_NAME); /* no such row */
	ck_assert_int_eq(set_static(7, 0, STATIC_PERMANENT), MIB_INCONSISTENT_VALUE);
	ck_assert_int_eq(set_static(7, 11, STATIC_PERMANENT), MIB_INCONSISTENT_VALUE);
	ck_assert_int_eq(add(ALLOWED, 7, 0, ports(10, 20)), MIB_NO_ERROR);
	ck_assert_int_eq(add(STATUS, 7, 0, status(STATIC_PERMANENT)), MIB_NO_ERROR);
	ck_assert_int_eq(carry_out(), MIB_INCONSISTENT_VALUE);
	fake.device.addresses = &(const struct hal_addresses_ops){.name = "cannot"};
	ck_assert_int_eq(set_static(7, 10, STATIC_PERMANENT), MIB_NOT_WRITABLE);
	ck_assert_uint_eq(fake.n_static_addresses + n_rows(), 0);
}
END_TEST

/* The device has room for two. A request for a second and a third address changes nothing. */
START_TEST(all_or_none_with_the_device)
{
	ck_assert_int_eq(set_static(1, 10, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_int_eq(add(ALLOWED, 1, 0, ports(20, 0)), MIB_NO_ERROR);
	for (uint32_t station = 2; station <= 3; station++) {
		ck_assert_int_eq(add(ALLOWED, station, 0, ports(10, 0)), MIB_NO_ERROR);
		ck_assert_int_eq(add(STATUS, station, 0, status(STATIC_PERMANENT)), MIB_NO_ERROR);
	}
	ck_assert_int_eq(carry_out(), MIB_COMMIT_FAILED);
	ck_assert_uint_eq(n_rows(), 1);
	ck_assert_uint_eq(fake.n_static_addresses, 1);
	ck_assert_uint_eq(fake.static_addresses[0].mac[5], 1);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 10);
}
END_TEST

START_TEST(undo_brings_the_device_back)
{
	ck_assert_int_eq(set_static(1, 10, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_int_eq(add(ALLOWED, 1, 0, ports(20, 0)), MIB_NO_ERROR);
	ck_assert_int_eq(mib_transaction_test(&t, &setter), MIB_NO_ERROR);
	ck_assert_int_eq(mib_transaction_commit(&t, &setter), MIB_NO_ERROR);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 20);
	ck_assert_int_eq(mib_transaction_undo(&t, &setter), MIB_NO_ERROR);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 10);
}
END_TEST

/* Each request writes its own row, and the stop writes none that ends with it. */
START_TEST(permanent_rows_survive_a_restart)
{
	struct managed_table *managed = static_addresses_managed(static_addresses);

	state_rig_open(&rig, &managed, 1);
	keeps = true;
	ck_assert_int_eq(set_static(1, 10, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_int_eq(set_static(2, 20, STATIC_DELETE_ON_RESET), MIB_NO_ERROR);
	keeps = false;
	state_close(rig.state); /* as if it were killed */
	for (int starts = 0; starts < 2; starts++) {
		tear_down();
		set_up();
		managed = static_addresses_managed(static_addresses);
		state_rig_start(&rig, &managed, 1);
		static_addresses_publish(static_addresses);
		ck_assert_uint_eq(n_rows(), 1);
		ck_assert_uint_eq(fake.n_static_addresses, 1);
		ck_assert_uint_eq(fake.static_addresses[0].if_index, 10);
		state_rig_stop(&rig);
	}
	state_rig_close(&rig);
}
END_TEST

static void
tell_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	static_addresses_port(static_addresses, event);
}

/* A kernel forgets a static address with its port. */
START_TEST(a_port_that_comes_back_has_its_addresses)
{
	const struct hal_listener listener = {.port = tell_port};

	hal_set_listener(hal, &listener);
	ck_assert_int_eq(set_static(1, 30, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_int_eq(set_static(2, 10, STATIC_PERMANENT), MIB_NO_ERROR);
	fake.n_static_addresses = 0;
	fake.n_ports = 2;
	hal_report_port_changed(hal, 30);
	ck_assert_uint_eq(fake.n_static_addresses, 0);
	fake.n_ports = 3;
	hal_report_port_changed(hal, 30);
	ck_assert_uint_eq(fake.n_static_addresses, 1); /* and no more than that port's */
	ck_assert_uint_eq(fake.static_addresses[0].mac[5], 1);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 30);
}
END_TEST

/* A port that is not there at a start takes nothing from the file. */
START_TEST(a_row_that_cannot_be_made_waits)
{
	struct managed_table *managed = static_addresses_managed(static_addresses);

	state_rig_open(&rig, &managed, 1);
	ck_assert_int_eq(set_static(1, 30, STATIC_PERMANENT), MIB_NO_ERROR);
	state_rig_stop(&rig);
	for (size_t n_ports = 2; n_ports <= 3; n_ports++) {
		tear_down();
		set_up_with(n_ports);
		managed = static_addresses_managed(static_addresses);
		state_rig_start(&rig, &managed, 1);
		static_addresses_publish(static_addresses);
		ck_assert_uint_eq(n_rows(), n_ports - 2);
		state_rig_stop(&rig);
	}
	state_rig_close(&rig);
}
END_TEST

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	static_addresses_port(static_addresses, event);
	if (event->happening == HAL_PORT_CAME)
		state_retry_rows(rig.state, static_addresses_managed(static_addresses));
	static_addresses_publish(static_addresses);
}

static void
plug(size_t n_ports)
{
	fake.n_ports = n_ports;
	hal_report_port_changed(hal, 30);
}

/* It is made when its port comes, once, and put back when the port comes again. */
START_TEST(a_row_is_put_back_when_its_port_comes)
{
	const struct hal_listener listener = {.port = on_port};
	struct managed_table *managed = static_addresses_managed(static_addresses);

	state_rig_open(&rig, &managed, 1);
	ck_assert_int_eq(set_static(1, 30, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_int_eq(set_static(2, 10, STATIC_PERMANENT), MIB_NO_ERROR);
	state_rig_stop(&rig);
	tear_down();
	set_up_with(2);
	hal_set_listener(hal, &listener);
	managed = static_addresses_managed(static_addresses);
	state_rig_start(&rig, &managed, 1);
	static_addresses_publish(static_addresses);
	ck_assert_uint_eq(n_rows(), 1);
	for (int round = 0; round < 3; round++) {
		plug(3);
		ck_assert_uint_eq(n_rows(), 2);
		ck_assert_uint_eq(fake.n_static_addresses, 2);
		ck_assert_uint_eq(fake.static_addresses[1].if_index, 30);
		fake.n_static_addresses = 1; /* the card takes its entries along */
		plug(2);
		ck_assert_uint_eq(n_rows(), 2);
		ck_assert_uint_eq(fake.n_static_addresses, 1);
	}
	/* While it is away the others can be set. */
	ck_assert_int_eq(set_static(2, 20, STATIC_PERMANENT), MIB_NO_ERROR);
	ck_assert_uint_eq(fake.static_addresses[0].if_index, 20);
	plug(3);
	ck_assert_uint_eq(fake.n_static_addresses, 2);
	state_rig_stop(&rig);
	state_rig_close(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("static_addresses");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_test(all, rows_are_made_moved_and_deleted);
	tcase_add_test(all, what_a_chip_cannot_do_is_refused);
	tcase_add_test(all, all_or_none_with_the_device);
	tcase_add_test(all, undo_brings_the_device_back);
	tcase_add_test(all, permanent_rows_survive_a_restart);
	tcase_add_test(all, a_row_that_cannot_be_made_waits);
	tcase_add_test(all, a_port_that_comes_back_has_its_addresses);
	tcase_add_test(all, a_row_is_put_back_when_its_port_comes);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
