/*
 * The agent's state, settings and configuration, over a fake device: settings and totals are restored
 * over clean and unclean restarts (check_state.c has the file itself), and the settings of a request
 * are carried out all or none across threads.
 */
#include "agent/config.h"
#include "agent/standard_monitor.h"
#include "agent/settings.h"
#include "agent/state.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fake_device fake;
static struct clock test_clock;
static struct hal *hal;
static struct sampling *sampling;
static char dir[64];
static char error[512];
static uint32_t mean_skip; /* by configuration */

static int
ignore_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)sample;
	(void)snapshot;
	return 0;
}

static void
start(void)
{
	struct sampling_options options = {.has_seed = true, .seed = 1,
	    .least_requested_skip = 16,
	    .defaults = {.enabled = true, .mean_skip = mean_skip, .header_octets = 128, .edge = true}};
	struct sampling_sink sink = {NULL, ignore_sample};

	test_clock = (struct clock){.manual = true, .manual_wall_us = 1700000000000000,
	    .manual_mono_us = 77};
	fake_init(&fake, FAKE_PORTS);
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_create(hal, &options, &sink, &sampling), 0);
}

static void
stop(void)
{
	sampling_destroy(sampling);
	hal_destroy(hal);
}

static void
set_up(void)
{
	strcpy(dir, "/tmp/ease-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	mean_skip = 400;
	start();
}

static void
tear_down(void)
{
	char command[128];

	stop();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- state ---- */

static struct state *state;

static void
open_state(void)
{
	const struct state_options options = {.dir = dir, .clock = &test_clock, .keep_departed_days = 30};

	ck_assert_msg(state_open(&options, &state, error, sizeof(error)) == 0, "%s", error);
}

static void
restore(void)
{
	const struct settings_owners owners = {.hal = hal, .sampling = sampling};

	state_restore(state, &owners);
	state_started(state);
}

/* Carries out and keeps a request, as the agent does. */
static void
set(const struct mib_set *sets, size_t n)
{
	const struct settings_owners owners = {.hal = hal, .sampling = sampling};
	size_t failed;

	ck_assert_int_eq(settings_carry_out(&owners, sets, n, MIB_PHASE_COMMIT, &failed), 0);
	state_keep(state, sets, n);
}

START_TEST(settings_and_totals_survive_a_clean_stop)
{
	static const struct mib_set sets[] = {
	    {.kind = MIB_SET_SAMPLING_ADMIN, .if_index = 20, .number = 0},
	    {.kind = MIB_SET_MEAN_SKIP, .if_index = 20, .number = 33},
	    {.kind = MIB_SET_HEADER_OCTETS, .if_index = 20, .number = 64},
	    {.kind = MIB_SET_MAX_SAMPLES, .if_index = 20, .number = 9},
	    {.kind = MIB_SET_EDGE, .if_index = 20, .number = 0},
	    {.kind = MIB_SET_ALIAS, .if_index = 20, .text = "up \"link\" \\ #1 {'x'}"},
	};
	struct sampling_port_config config;
	struct hal_counters counters;
	struct hal_port info;

	open_state();
	restore();
	set(sets, 6);
	fake.ports[1].raw[FAKE_WRAPS] = 1234;
	hal_read_counters(hal, 20, &counters);
	ck_assert_int_eq(state_save_totals(state, hal), 0);
	state_close(state);
	stop();

	start();
	open_state();
	ck_assert(state_was_clean(state));
	restore();
	ck_assert_int_eq(sampling_get_port(sampling, 20, &config), 0);
	ck_assert_uint_eq(config.mean_skip, 33);
	ck_assert_uint_eq(config.header_octets, 64);
	ck_assert_uint_eq(config.max_samples_per_s, 9);
	ck_assert(!config.enabled && !config.edge);
	ck_assert_int_eq(hal_port_info(hal, 20, &info), 0);
	ck_assert_str_eq(info.alias, "up \"link\" \\ #1 {'x'}");
	ck_assert_uint_eq(info.discontinuity_mono_us, 0);
	ck_assert_int_eq(hal_read_counters(hal, 20, &counters), 0);
	ck_assert_uint_eq(counters.value[HAL_IN_OCTETS], 1234);
	state_close(state);
}
END_TEST

/* A port that no manager has touched follows the configuration, however often the agent stopped. */
START_TEST(an_edited_configuration_is_in_force)
{
	static const struct mib_set one = {.kind = MIB_SET_MEAN_SKIP, .if_index = 20, .number = 33};
	struct sampling_port_config config;

	for (unsigned i = 0; i < 3; i++) {
		if (i > 0) {
			stop();
			mean_skip = 1000 * i;
			start();
		}
		open_state();
		restore();
		if (i == 0)
			set(&one, 1);
		ck_assert_int_eq(sampling_get_port(sampling, 10, &config), 0);
		ck_assert_uint_eq(config.mean_skip, mean_skip);
		ck_assert_int_eq(sampling_get_port(sampling, 20, &config), 0);
		ck_assert_uint_eq(config.mean_skip, 33);
		ck_assert_int_eq(state_save_totals(state, hal), 0);
		state_close(state);
	}
}
END_TEST

/* Does what the agent does when something happens to a port. */
static void
on_port(void *ctx, const struct hal_port_event *event)
{
	const struct settings_owners owners = {.hal = hal, .sampling = sampling};

	(void)ctx;
	sampling_on_port(sampling, event);
	state_restore_port(state, &owners, event);
}

static void
port_changed(uint32_t if_index)
{
	const struct hal_listener listener = {.port = on_port};

	hal_set_listener(hal, &listener);
	hal_report_port_changed(hal, if_index);
}

/* A port that is unplugged and plugged in again has the settings of this run, and counters that begin
 * anew. The other ports continue. */
START_TEST(a_port_comes_and_goes)
{
	static const struct mib_set sets[] = {
	    {.kind = MIB_SET_ALIAS, .if_index = 30, .text = "uplink"},
	    {.kind = MIB_SET_LINK_TRAPS, .if_index = 30, .number = 0},
	};
	struct sampling_port_config config;
	const struct sampling_table *table;
	struct hal_counters counters;
	struct hal_port info;

	open_state();
	restore();
	fake.ports[0].raw[FAKE_WRAPS] = 5;
	fake.ports[2].raw[FAKE_WRAPS] = 1000;
	hal_read_counters(hal, 30, &counters);
	set(sets, 2);
	fake.n_ports = 2;
	port_changed(30);
	ck_assert_int_eq(hal_port_info(hal, 30, &info), -ENODEV);
	ck_assert_int_eq(sampling_get_port(sampling, 30, &config), -ENODEV);
	ck_assert_int_eq(sampling_publish(sampling), 0);
	table = sampling_table_hold(sampling);
	ck_assert_uint_eq(table->n_ports, 2);
	sampling_table_release(table);
	clock_step_us(&test_clock, 1000);
	fake.n_ports = 3;
	fake.ports[2].raw[FAKE_WRAPS] = 7; /* another card, or the same: it counts anew */
	port_changed(30);
	ck_assert_int_eq(hal_port_info(hal, 30, &info), 0);
	ck_assert_str_eq(info.alias, "uplink");
	ck_assert(!info.link_traps);
	ck_assert_uint_eq(info.discontinuity_mono_us, 1077);
	ck_assert_uint_eq(info.last_change_mono_us, 1077);
	ck_assert_int_eq(hal_read_counters(hal, 30, &counters), 0);
	ck_assert_uint_eq(counters.value[HAL_IN_OCTETS], 7);
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 0);
	ck_assert_int_eq(hal_read_counters(hal, 10, &counters), 0);
	ck_assert_uint_eq(counters.value[HAL_IN_OCTETS], 5);
	state_close(state);
}
END_TEST

static int
count_push(void *told, const struct ease_notification *notification)
{
	(void)notification;
	++*(unsigned *)told;
	return 0;
}

/* entConfigChange is sent once for all changes within five seconds, and never for a link. */
START_TEST(changed_parts_are_reported)
{
	unsigned pushed = 0;
	struct standard_monitor_options options = {.hal = hal, .clock = &test_clock, .ctx = &pushed,
	    .push = count_push};
	static const uint64_t steps_us[] = {0, 1000000, 1000000, 5000000, 1000000};
	static const size_t n_ports[] = {3, 2, 3, 3, 3};
	static const unsigned told[] = {0, 1, 1, 2, 2};
	struct standard_monitor *monitor;

	ck_assert_int_eq(standard_monitor_create(&options, &monitor), 0);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		clock_step_us(&test_clock, steps_us[i]);
		fake.n_ports = n_ports[i];
		fake.ports[0].oper_status = i % 2 ? EASE_IF_DOWN : EASE_IF_UP;
		hal_report_port_changed(hal, i % 2 ? 30 : 10);
		ck_assert_int_eq(hal_refresh(hal, 0), 0);
		standard_monitor_publish(monitor);
		ck_assert_uint_eq(pushed, told[i]);
	}
	standard_monitor_destroy(monitor);
}
END_TEST

/* sysUpTime belongs to the master and continues while the agent restarts, so the time of a
 * discontinuity must continue, too. */
START_TEST(a_discontinuity_keeps_its_time)
{
	struct hal_port info;

	open_state();
	restore();
	clock_step_us(&test_clock, 5000000);
	hal_mark_discontinuity(hal, 10);
	clock_step_us(&test_clock, 1000000);
	ck_assert_int_eq(state_save_totals(state, hal), 0);
	state_close(state);
	stop();
	start();
	clock_step_us(&test_clock, 8000000);
	open_state();
	restore();
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 5000077);
	ck_assert_int_eq(hal_port_info(hal, 20, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 0);
	state_close(state);
}
END_TEST

START_TEST(crash_is_a_discontinuity)
{
	struct hal_port info;

	open_state();
	restore();
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 0); /* the first start continues nothing */
	ck_assert_int_eq(state_save_totals(state, hal), 0);
	state_close(state);
	/* started, then killed: the totals of the stop before are not to be used a second time */
	open_state();
	state_close(state);
	open_state();
	ck_assert(!state_was_clean(state));
	restore();
	ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
	ck_assert_uint_eq(info.discontinuity_mono_us, 77);
	state_close(state);
}
END_TEST

/* A kernel counts on while no agent runs. */
START_TEST(a_crash_is_none_where_the_kernel_keeps_the_totals)
{
	static struct hal_counter_row rows[FAKE_N_ROWS];
	static struct hal_counters_ops counters;
	struct hal_port info;

	counters = *fake.device.counters;
	for (size_t i = 0; i < FAKE_N_ROWS; i++) {
		rows[i] = counters.rows[i];
		rows[i].flags = HAL_COUNTER_IS_TOTAL;
	}
	counters.rows = rows;
	ck_assert(!hal_totals_go_on(hal));
	fake.device.counters = &counters;
	ck_assert(hal_totals_go_on(hal));
	for (int life = 0; life < 3; life++) { /* none of them ends cleanly */
		open_state();
		restore();
		ck_assert_int_eq(hal_port_info(hal, 10, &info), 0);
		ck_assert_uint_eq(info.discontinuity_mono_us, 0);
		state_close(state);
	}
}
END_TEST

/* ---- settings ---- */

static int n_changed;

static void
count_change(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase, int result)
{
	(void)ctx;
	(void)sets;
	(void)n;
	ck_assert_int_eq(phase, MIB_PHASE_COMMIT);
	ck_assert_int_eq(result, 0);
	n_changed++;
}

static int
carry_out(const struct mib_set *sets, size_t n, enum mib_phase phase)
{
	struct settings_owners owners = {.hal = hal, .sampling = sampling};
	size_t failed;

	return settings_carry_out(&owners, sets, n, phase, &failed);
}

static int
create(struct settings **settings)
{
	struct settings_owners owners = {.hal = hal, .sampling = sampling};

	return settings_create(&owners, count_change, NULL, settings);
}

START_TEST(all_or_none)
{
	struct mib_set sets[] = {
	    {.kind = MIB_SET_MEAN_SKIP, .if_index = 10, .number = 50},
	    {.kind = MIB_SET_HEADER_OCTETS, .if_index = 10, .number = 5000},
	};
	struct sampling_port_config config;

	ck_assert_int_eq(carry_out(sets, 2, MIB_PHASE_COMMIT), -EINVAL);
	sampling_get_port(sampling, 10, &config);
	ck_assert_uint_eq(config.mean_skip, 400);
	sets[1].number = 64;
	ck_assert_int_eq(carry_out(sets, 2, MIB_PHASE_TEST), 0);
	sampling_get_port(sampling, 10, &config);
	ck_assert_uint_eq(config.mean_skip, 400);
	ck_assert_int_eq(carry_out(sets, 2, MIB_PHASE_COMMIT), 0);
	sampling_get_port(sampling, 10, &config);
	ck_assert_uint_eq(config.mean_skip, 50);
	ck_assert_uint_eq(config.header_octets, 64);
	sets[0].if_index = 11;
	ck_assert_int_eq(carry_out(sets, 2, MIB_PHASE_COMMIT), -ENODEV);
}
END_TEST

/* A request needs its owner's name in the same PDU; a skip set by hand ends it, and holds the port over restarts until
 * somebody says otherwise. The request itself is not kept. */
START_TEST(requests_of_a_station)
{
	enum { OWNER, TTL, SKIP, N };
	struct mib_set sets[N] = {
	    [OWNER] = {.kind = MIB_SET_REQUEST_OWNER, .text = "station"},
	    [TTL] = {.kind = MIB_SET_REQUEST_TTL, .number = 300},
	    [SKIP] = {.kind = MIB_SET_REQUESTED_SKIP, .if_index = 10, .number = 64},
	};
	struct mib_set by_hand = {.kind = MIB_SET_MEAN_SKIP, .if_index = 10, .number = 50};
	struct mib_set old = {.kind = MIB_SET_MEAN_SKIP, .if_index = 10, .number = 400};
	struct mib_set released = {.kind = MIB_SET_REQUESTS_HELD, .if_index = 10, .number = 0};
	struct sampling_port_config config;

	open_state();
	restore();
	ck_assert_int_eq(carry_out(&sets[SKIP], 1, MIB_PHASE_COMMIT), -EBUSY);
	ck_assert_int_eq(carry_out(&sets[TTL], 1, MIB_PHASE_COMMIT), -EBUSY);
	ck_assert_int_eq(carry_out(&sets[OWNER], 1, MIB_PHASE_COMMIT), -EBUSY);
	set(sets, N);
	sampling_get_port(sampling, 10, &config);
	ck_assert_uint_eq(config.request.mean_skip, 64);
	sets[OWNER].text[0] = 'S';
	ck_assert_int_eq(carry_out(sets, N, MIB_PHASE_COMMIT), -EBUSY);
	sets[OWNER].text[0] = 's';
	/* What is undone holds nothing. */
	ck_assert_int_eq(carry_out(&by_hand, 1, MIB_PHASE_COMMIT), 0);
	ck_assert_int_eq(carry_out(&old, 1, MIB_PHASE_UNDO), 0);
	sampling_get_port(sampling, 10, &config);
	ck_assert(!config.request.is_held);
	ck_assert_uint_eq(config.request.mean_skip, 64);
	set(&by_hand, 1);
	sampling_get_port(sampling, 10, &config);
	ck_assert(config.request.is_held);
	ck_assert_uint_eq(config.request.mean_skip, 0);
	ck_assert_int_eq(carry_out(sets, N, MIB_PHASE_COMMIT), -EBUSY);
	for (int life = 0; life < 2; life++) {
		state_close(state);
		stop();
		start();
		open_state();
		restore();
		sampling_get_port(sampling, 10, &config);
		ck_assert_uint_eq(config.mean_skip, 50);
		ck_assert_int_eq(config.request.is_held, life == 0);
		ck_assert_uint_eq(config.request.mean_skip, 0);
		set(&released, 1);
		set(sets, N);
	}
	state_close(state);
}
END_TEST

struct asked {
	struct settings *settings;
	struct mib_set set;
	int result;
	size_t failed;
};

static void *
ask(void *arg)
{
	struct asked *asked = arg;

	asked->result = settings_apply(asked->settings, &asked->set, 1, MIB_PHASE_COMMIT,
	    &asked->failed);
	return NULL;
}

START_TEST(crosses_to_the_main_loop)
{
	struct asked asked = {.set = {.kind = MIB_SET_EDGE, .if_index = 30, .number = 0}};
	struct sampling_port_config config;
	struct pollfd ready;
	pthread_t thread;

	n_changed = 0;
	ck_assert_int_eq(create(&asked.settings), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, ask, &asked), 0);
	ready = (struct pollfd){.fd = settings_fd(asked.settings), .events = POLLIN};
	ck_assert_int_eq(poll(&ready, 1, 10000), 1);
	settings_dispatch(asked.settings);
	pthread_join(thread, NULL);
	ck_assert_int_eq(asked.result, 0);
	ck_assert_int_eq(n_changed, 1);
	sampling_get_port(sampling, 30, &config);
	ck_assert(!config.edge);
	settings_destroy(asked.settings);
}
END_TEST

/* The main loop does not answer: the request is given up in time, and never carried out. */
START_TEST(given_up_is_given_up)
{
	struct asked asked = {.set = {.kind = MIB_SET_MEAN_SKIP, .if_index = 10, .number = 3}};
	struct sampling_port_config config;

	n_changed = 0;
	ck_assert_int_eq(create(&asked.settings), 0);
	ask(&asked);
	ck_assert_int_eq(asked.result, -ETIMEDOUT);
	settings_dispatch(asked.settings);
	ck_assert_int_eq(n_changed, 0);
	sampling_get_port(sampling, 10, &config);
	ck_assert_uint_eq(config.mean_skip, 400);
	settings_destroy(asked.settings);
}
END_TEST

/* ---- configuration ---- */

/* An error that is found when a value is used names the value's place, too. */
START_TEST(an_error_at_use_names_file_line_and_option)
{
	static const struct {
		const char *error, *says;
	} found[] = {
	    {"/nope.conf: No such file or directory", ":3: board: /nope.conf: No such"},
	    {"/nope.conf:7: mac: reason", "/nope.conf:7: mac: reason"},
	    {"run_as: there is no user x", ":5: run_as: there is no user x"},
	    {"/var/lib/easeswitch/easeagentd.db: disk I/O error",
		"agent.conf: state_dir: /var/lib/easeswitch/easeagentd.db: disk"},
	    {"start: Cannot allocate memory", "start: Cannot allocate memory"},
	};
	struct agent_config config = {0};
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/agent.conf", dir);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("# board = \"no\"\ncapture = \"board = 1\"\nboard = \"/nope.conf\"\n"
	      "trap_sink \"127.0.0.1:162\" {\n run_as = x }\n", file);
	fclose(file);
	ck_assert_uint_eq(options_line(path, "board"), 3);
	ck_assert_uint_eq(options_line(path, "run_as"), 0); /* that one is a section's */
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("device = linux\n\nboard = \"/nope.conf\"\n\nrun_as = x\n", file);
	fclose(file);
	ck_assert_int_eq(agent_config_load(path, &config, error, sizeof(error)), 0);
	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		snprintf(error, sizeof(error), "%s", found[i].error);
		agent_config_locate(path, &config, error, sizeof(error));
		ck_assert_msg(strstr(error, found[i].says) != NULL, "%s", error);
	}
	options_free(agent_options, &config);
}
END_TEST

START_TEST(wrong_configuration_names_file_and_line)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
	    {"device = linux\nmean_skip = 0\n", ":2:"},
	    {"device = linux\n\nmean_skipp = 10\n", ":3:"},
	    {"device = toaster\n", ":1:"},
#ifdef WITHOUT_SIM
	    {"device = emulated\n", ":1: device: this build has no emulated switch"},
	    {"\ndevice = dummy\n", ":2: device: this build has no emulated switch"},
#else
	    {"device = emulated\n", "board"},
#endif
	    {"device = linux\nloop = maybe\n", ":2:"},
	    {"device = linux\nheader_octets = 9999\n", "256"},
	};
	char path[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct agent_config config = {0};
		FILE *file;

		snprintf(path, sizeof(path), "%s/agent.conf", dir);
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fputs(wrong[i].text, file);
		fclose(file);
		ck_assert_int_lt(agent_config_load(path, &config, error, sizeof(error)), 0);
		ck_assert_msg(strstr(error, wrong[i].says) != NULL, "%s", error);
		ck_assert_msg(strstr(error, "agent.conf") != NULL, "%s", error);
		options_free(agent_options, &config);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {settings_and_totals_survive_a_clean_stop,
	    an_edited_configuration_is_in_force, a_port_comes_and_goes, changed_parts_are_reported,
	    a_discontinuity_keeps_its_time, crash_is_a_discontinuity,
	    a_crash_is_none_where_the_kernel_keeps_the_totals, all_or_none, requests_of_a_station,
	    crosses_to_the_main_loop, given_up_is_given_up, an_error_at_use_names_file_line_and_option,
	    wrong_configuration_names_file_and_line};
	Suite *suite = suite_create("agent");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
