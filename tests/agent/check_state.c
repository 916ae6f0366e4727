/*
 * What the agent keeps over a restart (agent/state.h): after a thousand power cuts, on a full disk, with
 * a damaged file, with links where its files should be, with and a second agent.
 */
#include "agent/rmon/rmon.h"
#include "agent/state.h"
#include "common/log.h"
#include "mibs/mib_set.h"
#include "mibs/mibs.h"
#include "tests/agent/hal/fake_device.h"
#include "tests/agent/power_cut_vfs.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CUTS = 1000, PORTS = 12, N_VALUES = 3 };
#define DAY_US 86400000000ull

static struct clock test_clock;
static char dir[64], error[512];
static char forgotten[64];
static struct state *state;
static uint64_t random_state;

static uint64_t
draw(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return random_state >> 33;
}

static void
port_forgot(void *ctx, const char *name, uint32_t if_index)
{
	(void)ctx;
	(void)if_index;
	if (name)
		snprintf(forgotten, sizeof(forgotten), "%s", name);
}

static int
try_open(const char *at, struct state **to)
{
	const struct state_options options = {.dir = at, .clock = &test_clock,
	    .keep_departed_days = 30, .vfs = POWER_CUT_VFS, .forgot = port_forgot};

	return state_open(&options, to, error, sizeof(error));
}

static void
open_state(void)
{
	ck_assert_msg(try_open(dir, &state) == 0, "%s", error);
}

static void
close_state(void)
{
	state_close(state);
	state = NULL;
}

static void
set_up(void)
{
	test_clock = (struct clock){.manual = true, .manual_wall_us = 1700000000000000,
	    .manual_mono_us = 77};
	strcpy(dir, "/tmp/ease-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	power_cut_after(POWER_CUT_NEVER);
	power_cut_fill(false);
	forgotten[0] = '\0';
	log_set_most(LOG_LEVEL_ERROR);
}

static void
tear_down(void)
{
	char command[128];

	close_state();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static const char *
path_of(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
write_file(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static bool
is_there(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static void
keep(uint32_t if_index, unsigned kind, int64_t number, const char *text)
{
	struct mib_set set = {.kind = kind, .if_index = if_index, .number = number};

	if (text)
		strcpy(set.text, text);
	state_keep(state, &set, 1);
}

struct wanted {
	uint32_t if_index;
	unsigned kind;
	bool found;
	int64_t number;
	char text[EASE_NAME_MAX + 1];
};

static void
look(void *ctx, const struct mib_set *set)
{
	struct wanted *wanted = ctx;

	if (set->kind != wanted->kind || set->if_index != wanted->if_index)
		return;
	wanted->found = true;
	wanted->number = set->number;
	strcpy(wanted->text, set->text);
}

static bool
kept(uint32_t if_index, unsigned kind, int64_t *number)
{
	struct wanted wanted = {.if_index = if_index, .kind = kind};

	state_settings(state, if_index, look, &wanted);
	*number = wanted.number;
	return wanted.found;
}

static uint32_t
number_of(const char *name)
{
	const char *known;
	uint32_t if_index;

	for (size_t i = 0; state_name(state, i, &known, &if_index); i++) {
		if (strcmp(known, name) == 0)
			return if_index;
	}
	return 0;
}

/* ---- identity ---- */

START_TEST(identity_stays_and_starts_are_counted)
{
	uint8_t first[EASE_AGENT_ID_LEN], later[EASE_AGENT_ID_LEN];

	for (uint32_t boot = 1; boot <= 3; boot++) {
		open_state();
		ck_assert_uint_eq(state_boot(state), boot);
		ck_assert(!state_was_clean(state));
		state_agent_id(state, boot == 1 ? first : later);
		close_state();
	}
	ck_assert_mem_eq(first, later, sizeof(first));
}
END_TEST

static size_t
give_changes(void *ctx, uint32_t if_index, uint64_t *numbers)
{
	(void)ctx;
	for (uint64_t i = 0; i < 3; i++)
		numbers[i] = 1000 * if_index + i;
	return 3;
}

static int
give_none(void *ctx, uint32_t if_index, uint64_t *totals, size_t max, size_t *n, uint64_t *discontinuity_us)
{
	(void)ctx, (void)if_index, (void)totals, (void)max, (void)n, (void)discontinuity_us;
	return -ENODEV;
}

static void
take_change(void *ctx, uint32_t if_index, const uint64_t *numbers, size_t n)
{
	char *taken = ctx;

	snprintf(taken + strlen(taken), 64, "%u:%zu,%llu ", (unsigned)if_index, n, (unsigned long long)numbers[1]);
}

/* Of the ports that are still here, whatever number they have now; the agent's last. */
START_TEST(changes_are_kept_over_a_clean_stop)
{
	static const struct state_totals_source source = {.read = give_none, .changes = give_changes};
	char taken[256] = "";

	open_state();
	state_port_here(state, "p0", 7);
	state_port_here(state, "p1", 8);
	ck_assert_int_eq(state_stop(state, &source), 0);
	close_state();
	open_state();
	state_port_here(state, "p0", 9);
	state_changes(state, take_change, taken);
	ck_assert_str_eq(taken, "9:3,7001 0:3,1 ");
	state_started(state);
	close_state();
	open_state(); /* after a crash nobody knows what changed before it */
	state_port_here(state, "p0", 9);
	taken[0] = '\0';
	state_changes(state, take_change, taken);
	ck_assert_str_eq(taken, "");
}
END_TEST

START_TEST(a_second_agent_is_refused_by_name)
{
	struct state *second;
	char process[32];

	open_state();
	ck_assert_int_eq(try_open(dir, &second), -EBUSY);
	snprintf(process, sizeof(process), "process %d)", (int)getpid());
	ck_assert_msg(strstr(error, process) && strstr(error, dir), "%s", error);
	close_state();
	open_state();
	ck_assert_uint_eq(state_boot(state), 2);
}
END_TEST

/* ---- settings ---- */

/* Only what a manager has set is kept, and an undone request leaves nothing. */
START_TEST(what_nobody_has_set_is_not_kept)
{
	struct mib_set sets[2] = {
	    {.kind = MIB_SET_MEAN_SKIP, .if_index = 7, .number = 33},
	    {.kind = MIB_SET_MEAN_SKIP, .if_index = 7, .number = 44},
	};
	int64_t number;

	open_state();
	state_port_here(state, "seven", 7);
	state_started(state);
	ck_assert(!kept(7, MIB_SET_MEAN_SKIP, &number));
	state_keep(state, sets, 2);
	ck_assert(kept(7, MIB_SET_MEAN_SKIP, &number) && number == 44);
	state_keep_undone(state, sets, 2);
	ck_assert(!kept(7, MIB_SET_MEAN_SKIP, &number));
	state_keep(state, sets, 1);
	state_keep(state, &sets[1], 0); /* a request that failed */
	state_keep_undone(state, sets, 1);
	keep(0, MIB_SET_AGEING, 600, NULL);
	close_state();
	open_state();
	state_port_here(state, "seven", 7);
	ck_assert(kept(7, MIB_SET_MEAN_SKIP, &number) && number == 33);
	ck_assert(!kept(7, MIB_SET_HEADER_OCTETS, &number));
	ck_assert(kept(0, MIB_SET_AGEING, &number) && number == 600);
}
END_TEST

START_TEST(a_renamed_port_keeps_number_and_settings)
{
	struct wanted wanted = {.if_index = 7, .kind = MIB_SET_ALIAS};

	open_state();
	state_port_here(state, "eth0", 7);
	state_started(state);
	keep(7, MIB_SET_ALIAS, 0, "to the roof");
	state_port_here(state, "lan1", 7);
	ck_assert_int_eq(state_commit(state), 0);
	close_state();
	open_state();
	ck_assert_uint_eq(number_of("lan1"), 7);
	ck_assert_uint_eq(number_of("eth0"), 0);
	state_port_here(state, "lan1", 7);
	state_settings(state, 7, look, &wanted);
	ck_assert_str_eq(wanted.text, "to the roof");
}
END_TEST

/* A name is known for its days of running time, whatever the clock on the wall does. */
START_TEST(departed_ports_leave_by_age)
{
	open_state();
	state_port_here(state, "stays", 1);
	state_port_here(state, "goes", 2);
	state_started(state);
	state_port_gone(state, 2);
	test_clock.manual_wall_us += 1000 * DAY_US;
	test_clock.manual_mono_us += 10 * DAY_US;
	state_tick(state);
	test_clock.manual_mono_us += DAY_US;
	state_tick(state);
	close_state();
	open_state(); /* ten days count */
	state_port_here(state, "stays", 1);
	state_started(state);
	ck_assert_uint_eq(number_of("goes"), 2);
	test_clock.manual_wall_us -= 1000 * DAY_US;
	test_clock.manual_mono_us += 18 * DAY_US;
	state_tick(state);
	ck_assert_uint_eq(number_of("goes"), 2);
	test_clock.manual_mono_us += 2 * DAY_US;
	state_tick(state);
	ck_assert_uint_eq(number_of("goes"), 0);
	ck_assert_str_eq(forgotten, "goes");
	ck_assert_uint_eq(number_of("stays"), 1);
	test_clock.manual_mono_us += 10000000;
	state_tick(state);
	close_state();
	open_state();
	ck_assert_uint_eq(state_n_names(state), 1);
}
END_TEST

/* As many as there can be are known with their settings, and as many again that left. Above that, those
 * without settings go first. */
START_TEST(all_ports_have_room)
{
	char name[32];
	int64_t number;

	open_state();
	for (uint32_t i = 1; i <= HAL_MAX_PORTS; i++) {
		snprintf(name, sizeof(name), "veth%u", i);
		state_port_here(state, name, i);
	}
	state_started(state);
	for (uint32_t i = 1; i <= HAL_MAX_PORTS; i += 17)
		keep(i, MIB_SET_MEAN_SKIP, i, NULL);
	keep(3, MIB_SET_ALIAS, 0, "kept");
	for (uint32_t i = 1; i <= HAL_MAX_PORTS; i++)
		state_port_gone(state, i);
	for (uint32_t i = 1; i <= HAL_MAX_PORTS; i++) {
		snprintf(name, sizeof(name), "new%u", i);
		state_port_here(state, name, HAL_MAX_PORTS + i);
	}
	ck_assert_int_eq(state_commit(state), 0);
	close_state();
	open_state();
	ck_assert_uint_eq(state_n_names(state), HAL_MAX_PORTS + STATE_DEPARTED_MAX);
	ck_assert_uint_eq(number_of("veth4096"), 4096);
	ck_assert_uint_eq(number_of("new4096"), 8192);
	for (uint32_t i = 1; i <= HAL_MAX_PORTS; i++) {
		snprintf(name, sizeof(name), "new%u", i);
		state_port_here(state, name, HAL_MAX_PORTS + i);
	}
	state_started(state);
	state_port_gone(state, HAL_MAX_PORTS + 1);
	ck_assert_uint_eq(state_n_names(state), HAL_MAX_PORTS + STATE_DEPARTED_MAX - 1);
	ck_assert_uint_eq(number_of("veth1"), 1); /* it has a setting */
	state_port_here(state, "veth1", 1);
	ck_assert(kept(1, MIB_SET_MEAN_SKIP, &number) && number == 1);
}
END_TEST

/* ---- power cuts ---- */

/* What the test knows to be on the disk, and beside it what was being written when the power went. */
struct truth {
	bool has_id;
	uint8_t id[EASE_AGENT_ID_LEN];
	uint32_t boot; /* the newest that anybody was given */
	struct {
		uint32_t if_index, other_if_index;
		bool set[N_VALUES], other_set[N_VALUES];
		int64_t value[N_VALUES], other[N_VALUES];
	} ports[PORTS];
	struct {
		bool made, other;
	} rows[PORTS];
};
static const unsigned value_kinds[N_VALUES] = {MIB_SET_MEAN_SKIP, MIB_SET_EDGE, MIB_SET_ADMIN_STATUS};

static struct fake_device fake;
static struct hal *hal;
static struct rmon *rmon;

static void
create_rmon(void)
{
	struct rmon_options options = {.clock = &test_clock, .event_table = &rmon_mib_event_table,
	    .control_table = &rmon_mib_history_control_table, .alarm_table = &rmon_mib_alarm_table,
	    .hc_alarm_table = &hc_alarm_mib_table};

	fake_init(&fake, 1);
	ck_assert_int_eq(hal_create(&fake.device, &test_clock, &hal), 0);
	options.hal = hal;
	ck_assert_int_eq(rmon_create(&options, &rmon), 0);
}

static void
destroy_rmon(void)
{
	rmon_destroy(rmon);
	hal_destroy(hal);
}

static const char *
port_name(unsigned i)
{
	static char name[16];

	snprintf(name, sizeof(name), "port-%u", i);
	return name;
}

static void
name_ports(const struct truth *truth)
{
	for (unsigned i = 0; i < PORTS; i++) {
		uint32_t known = number_of(port_name(i));

		state_port_here(state, port_name(i), known ? known : truth->ports[i].other_if_index);
	}
}

/* The disk has the new value now, if the power is still on; else it may have either. */
static void
settle(struct truth *truth)
{
	if (power_cut_is_off())
		return;
	for (unsigned i = 0; i < PORTS; i++) {
		truth->ports[i].if_index = truth->ports[i].other_if_index;
		for (unsigned v = 0; v < N_VALUES; v++) {
			truth->ports[i].set[v] = truth->ports[i].other_set[v];
			truth->ports[i].value[v] = truth->ports[i].other[v];
		}
		truth->rows[i].made = truth->rows[i].other;
	}
}

static void
change_value(struct truth *truth)
{
	unsigned i = (unsigned)(draw() % PORTS), v = (unsigned)(draw() % N_VALUES);
	bool undone = draw() % 4 == 0;
	struct mib_set set = {.kind = value_kinds[v], .if_index = truth->ports[i].if_index,
	    .number = (int64_t)(draw() % 100000) + 1};

	truth->ports[i].other_set[v] = true;
	truth->ports[i].other[v] = set.number;
	state_keep(state, &set, 1);
	if (!undone || power_cut_is_off()) {
		settle(truth);
		return;
	}
	/* Now the disk has it; when it is undone it has what it had before. */
	bool set_before = truth->ports[i].set[v];
	int64_t before = truth->ports[i].value[v];

	settle(truth);
	truth->ports[i].other_set[v] = set_before;
	truth->ports[i].other[v] = before;
	state_keep_undone(state, &set, 1);
	settle(truth);
}

static void
change_row(struct truth *truth)
{
	struct managed_table *events = rmon_managed(rmon)[2];
	unsigned i = (unsigned)(draw() % PORTS);
	struct rmon_event event = {.index = i + 1, .type = RMON_EVENT_LOG, .description = "tested",
	    .owner = "power cut", .status = ENTRY_VALID};
	struct mib_set set = {.kind = MIB_SET_ROW, .table = &rmon_mib_event_table, .n_index = 1,
	    .index = {i + 1}};

	truth->rows[i].other = !truth->rows[i].made;
	if (truth->rows[i].other)
		(void)managed_add(events, &event);
	else
		managed_remove(events, &event);
	state_keep(state, &set, 1);
	settle(truth);
}

/* Ports swap their numbers: both names are written in one transaction. */
static void
swap_numbers(struct truth *truth)
{
	unsigned i = (unsigned)(draw() % PORTS), j = (unsigned)(draw() % PORTS);
	uint32_t number = truth->ports[i].if_index;

	if (i == j)
		return;
	truth->ports[i].other_if_index = truth->ports[j].if_index;
	truth->ports[j].other_if_index = number;
	state_port_gone(state, truth->ports[i].if_index);
	state_port_gone(state, truth->ports[j].if_index);
	state_port_here(state, port_name(i), truth->ports[i].other_if_index);
	state_port_here(state, port_name(j), truth->ports[j].other_if_index);
	(void)state_commit(state);
	settle(truth);
}

static int
give_totals(void *ctx, uint32_t if_index, uint64_t *totals, size_t max, size_t *n,
    uint64_t *discontinuity_us)
{
	(void)ctx;
	(void)max;
	for (*n = 0; *n < 8; ++*n)
		totals[*n] = if_index * 1000 + *n;
	*discontinuity_us = 0;
	return 0;
}

static void
run_until_the_cut(struct truth *truth)
{
	static const struct state_totals_source totals = {.read = give_totals};
	unsigned steps = 1 + (unsigned)(draw() % 12);

	if (try_open(dir, &state) < 0) {
		ck_assert_msg(power_cut_is_off(), "refused to start: %s", error);
		return;
	}
	if (power_cut_is_off()) /* the process is dead, and nobody was given this boot */
		return;
	state_agent_id(state, truth->id);
	truth->has_id = true;
	truth->boot = state_boot(state);
	state_set_tables(state, rmon_managed(rmon), RMON_N_MANAGED);
	for (size_t i = 0; i < RMON_N_MANAGED; i++)
		state_restore_rows(state, rmon_managed(rmon)[i]);
	name_ports(truth);
	state_started(state);
	settle(truth);
	for (unsigned i = 0; i < steps && !power_cut_is_off(); i++) {
		switch (draw() % 8) {
		case 0:
			swap_numbers(truth);
			break;
		case 1:
		case 2:
			change_row(truth);
			break;
		default:
			change_value(truth);
			break;
		}
	}
	if (!power_cut_is_off())
		(void)state_stop(state, &totals);
}

static void
verify_port(struct truth *truth, unsigned i)
{
	uint32_t if_index = number_of(port_name(i));

	ck_assert_msg(if_index == truth->ports[i].if_index ||
	    if_index == truth->ports[i].other_if_index, "port %u has number %u, not %u or %u", i, if_index,
	    truth->ports[i].if_index, truth->ports[i].other_if_index);
	truth->ports[i].if_index = if_index;
	if (if_index == 0)
		return;
	truth->ports[i].other_if_index = if_index;
	for (unsigned v = 0; v < N_VALUES; v++) {
		int64_t value;
		bool set = kept(if_index, value_kinds[v], &value);

		ck_assert_msg((set == truth->ports[i].set[v] &&
		    (!set || value == truth->ports[i].value[v])) ||
		    (set == truth->ports[i].other_set[v] &&
			(!set || value == truth->ports[i].other[v])),
		    "port %u, kind %u: %d %lld", i, value_kinds[v], set, (long long)value);
		truth->ports[i].set[v] = truth->ports[i].other_set[v] = set;
		truth->ports[i].value[v] = truth->ports[i].other[v] = value;
	}
}

static bool
verify_rows(struct truth *truth)
{
	bool both = true;

	for (uint32_t i = 0; i < PORTS; i++) {
		uint32_t index = i + 1;
		const struct rmon_event *event = managed_find(rmon_managed(rmon)[2], &index, 1);

		ck_assert((event != NULL) == truth->rows[i].made ||
		    (event != NULL) == truth->rows[i].other);
		if (event)
			ck_assert_str_eq(event->description, "tested");
		truth->rows[i].made = truth->rows[i].other = event != NULL;
	}
	return both;
}

/* The next start finds all that was on the disk, and of what was under way all or nothing. */
static void
verify(struct truth *truth)
{
	uint8_t id[EASE_AGENT_ID_LEN];

	destroy_rmon();
	create_rmon();
	open_state();
	state_agent_id(state, id);
	if (truth->has_id)
		ck_assert_mem_eq(id, truth->id, sizeof(id));
	ck_assert_uint_gt(state_boot(state), truth->boot);
	memcpy(truth->id, id, sizeof(id));
	truth->has_id = true;
	truth->boot = state_boot(state);
	ck_assert(!is_there("easeagentd.db.damaged"));
	state_set_tables(state, rmon_managed(rmon), RMON_N_MANAGED);
	for (size_t i = 0; i < RMON_N_MANAGED; i++)
		state_restore_rows(state, rmon_managed(rmon)[i]);
	for (unsigned i = 0; i < PORTS; i++) {
		if (number_of(port_name(i)))
			state_port_here(state, port_name(i), number_of(port_name(i)));
	}
	for (unsigned i = 0; i < PORTS; i++)
		verify_port(truth, i);
	verify_rows(truth);
	close_state();
	destroy_rmon();
	create_rmon();
}

/* The power goes at any write, truncation or sync of a start, of changes and of a stop. In half of the
 * cases the copy of the identity is lost as well, so that the database alone must have it. */
START_TEST(power_cuts)
{
	struct truth truth = {0};
	int cuts = suite_effort_at_most(CUTS), off = 0;

	random_state = (uint64_t)_i + 1;
	log_set_most(LOG_LEVEL_ERROR - 1);
	for (unsigned i = 0; i < PORTS; i++)
		truth.ports[i].other_if_index = i + 1;
	create_rmon();
	for (int cut = 0; cut < cuts / 4; cut++) {
		power_cut_after(1 + draw() % (cut < 20 ? 20 : 90));
		run_until_the_cut(&truth);
		off += power_cut_is_off();
		close_state();
		power_cut_restore(draw);
		if (draw() % 2)
			(void)unlink(path_of("easeagentd.lock"));
		verify(&truth);
	}
	ck_assert_int_gt(off, cuts / 4 / 3);
	destroy_rmon();
}
END_TEST

/* ---- a full disk ---- */

START_TEST(a_full_disk_costs_persistence_only)
{
	int64_t number;

	open_state();
	for (uint32_t i = 1; i <= 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		state_port_here(state, name, i);
	}
	state_started(state);
	close_state();
	power_cut_fill(true);
	open_state(); /* the log has room for this */
	ck_assert_uint_eq(state_boot(state), 2);
	ck_assert_uint_eq(stat_get(state_stats(state), 1), 0);
	for (uint32_t i = 1; i <= 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		state_port_here(state, name, i);
	}
	state_started(state);
	for (uint32_t i = 1; i <= 200; i++)
		keep(i, MIB_SET_ALIAS, 0, "a text that makes the file grow as long as it is full");
	ck_assert_uint_gt(stat_get(state_stats(state), 1), 0); /* state.failures */
	keep(5, MIB_SET_MEAN_SKIP, 55, NULL);
	ck_assert(kept(5, MIB_SET_MEAN_SKIP, &number) && number == 55);
	power_cut_fill(false);
	test_clock.manual_mono_us += 11000000;
	state_tick(state);
	close_state();
	open_state();
	ck_assert_uint_eq(state_boot(state), 3);
	state_port_here(state, "p5", 5);
	ck_assert(kept(5, MIB_SET_MEAN_SKIP, &number) && number == 55);
}
END_TEST

/* The disk is full from the first start on: the agent serves, and has an identity when there is room. */
START_TEST(a_first_start_on_a_full_disk)
{
	uint8_t first[EASE_AGENT_ID_LEN], later[EASE_AGENT_ID_LEN];

	power_cut_fill(true);
	open_state();
	ck_assert_uint_eq(state_boot(state), 1);
	state_agent_id(state, first);
	state_port_here(state, "p1", 1);
	state_started(state);
	keep(1, MIB_SET_MEAN_SKIP, 7, NULL);
	power_cut_fill(false);
	test_clock.manual_mono_us += 11000000;
	state_tick(state);
	close_state();
	(void)unlink(path_of("easeagentd.lock"));
	open_state();
	ck_assert_uint_eq(state_boot(state), 2);
	state_agent_id(state, later);
	ck_assert_mem_eq(first, later, sizeof(first));
	ck_assert_uint_eq(number_of("p1"), 1);
}
END_TEST

/* ---- damage ---- */

static void
overwrite(const char *name, long offset, size_t n)
{
	FILE *file = fopen(path_of(name), "r+");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, offset, SEEK_SET), 0);
	for (size_t i = 0; i < n; i++)
		fputc((int)(draw() % 256), file);
	fclose(file);
}

/* Wherever the file is damaged, the agent starts, is the same one, and never counts a start twice. */
START_TEST(a_damaged_file_is_set_aside)
{
	static const struct {
		long offset;
		size_t n;
	} damages[] = {{0, 100}, {4096, 4096}, {8192, 4096}, {0, 40000}};
	uint8_t first[EASE_AGENT_ID_LEN], later[EASE_AGENT_ID_LEN];
	uint32_t boot;
	struct stat st;

	random_state = 7;
	log_set_most(LOG_LEVEL_ERROR - 1);
	open_state();
	state_agent_id(state, first);
	for (uint32_t i = 1; i <= 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		state_port_here(state, name, i);
	}
	state_started(state);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		boot = state_boot(state);
		close_state();
		(void)unlink(path_of("easeagentd.db.damaged"));
		ck_assert_int_eq(truncate(path_of("easeagentd.db-wal"), 0), 0);
		overwrite("easeagentd.db", damages[i].offset, damages[i].n);
		open_state();
		ck_assert_uint_gt(state_boot(state), boot);
		state_agent_id(state, later);
		ck_assert_mem_eq(first, later, sizeof(first));
		ck_assert_int_eq(stat(path_of("easeagentd.db"), &st), 0);
		ck_assert_uint_eq(st.st_mode & 07777, 0600);
		state_port_here(state, "p1", 1);
		state_started(state);
	}
	ck_assert(is_there("easeagentd.db.damaged"));
	close_state();
	/* Without the copy it is another agent, which no receiver takes for this one. */
	ck_assert_int_eq(truncate(path_of("easeagentd.db-wal"), 0), 0);
	overwrite("easeagentd.db", 0, 100);
	(void)unlink(path_of("easeagentd.lock"));
	open_state();
	state_agent_id(state, later);
	ck_assert(memcmp(first, later, sizeof(first)) != 0);
	ck_assert_uint_eq(state_boot(state), 1);
}
END_TEST

/* ---- links ---- */

START_TEST(no_link_is_followed)
{
	static const char *const files[] = {"easeagentd.db", "easeagentd.lock"};
	struct stat st;
	char target[160];

	snprintf(target, sizeof(target), "%s", path_of("precious"));
	for (size_t i = 0; i < 2; i++) {
		write_file("precious", "root's");
		(void)unlink(path_of(files[i]));
		ck_assert_int_eq(symlink(target, path_of(files[i])), 0);
		ck_assert_int_lt(try_open(dir, &state), 0);
		ck_assert_msg(strstr(error, files[i]) != NULL, "%s", error);
		ck_assert_int_eq(stat(target, &st), 0);
		ck_assert_int_eq(st.st_size, 6);
		ck_assert_int_eq(unlink(path_of(files[i])), 0);
		state = NULL;
	}
	/* The directory itself may be one. */
	ck_assert_int_eq(symlink(dir, path_of("link")), 0);
	ck_assert_msg(try_open(path_of("link"), &state) == 0, "%s", error);
}
END_TEST

/* Somebody reads the database while the agent starts. */
START_TEST(a_file_that_is_open_elsewhere_is_told_of)
{
	sqlite3 *db;

	open_state();
	close_state();
	ck_assert_int_eq(sqlite3_open(path_of("easeagentd.db"), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM port", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(try_open(dir, &state), -EBUSY);
	ck_assert_msg(strstr(error, "another program has it open") != NULL, "%s", error);
	sqlite3_close(db);
	state = NULL;
	open_state();
	ck_assert_uint_eq(state_boot(state), 2);
}
END_TEST

START_TEST(a_directory_that_others_can_write_is_refused)
{
	ck_assert_int_eq(chmod(dir, 0777), 0);
	ck_assert_int_eq(try_open(dir, &state), -EPERM);
	ck_assert_msg(strstr(error, dir) && strstr(error, "0750"), "%s", error);
	ck_assert_int_eq(state_check(dir, geteuid(), error, sizeof(error)), -EPERM);
	ck_assert_int_eq(chmod(dir, 0700), 0);
	open_state();
}
END_TEST

/* The check finds what a start would find, and writes nothing. */
START_TEST(the_directory_is_checked)
{
	char path[200];

	snprintf(path, sizeof(path), "%s", path_of("absent"));
	ck_assert_int_eq(state_check(path, geteuid(), error, sizeof(error)), 0);
	ck_assert(!is_there("absent"));
	snprintf(path, sizeof(path), "%s", path_of("absent/below"));
	ck_assert_int_eq(state_check(path, geteuid(), error, sizeof(error)), -ENOENT);
	ck_assert_msg(strstr(error, path) != NULL, "%s", error);
	ck_assert_int_eq(try_open(path, &state), -ENOENT);
	ck_assert_msg(strstr(error, path) != NULL, "%s", error);
	state = NULL;
}
END_TEST

/* Ids of the form that collectors make are no agent's (common/made_id.h); earlier versions drew some. */
START_TEST(an_id_of_collectors_is_drawn_anew)
{
	uint8_t ids[2][EASE_AGENT_ID_LEN];

	write_file("easeagentd.lock", "         0         41 0005223344556677         \n");
	for (int starts = 0; starts < 2; starts++) {
		open_state();
		state_agent_id(state, ids[starts]);
		ck_assert(ids[starts][0] != 0 || ids[starts][1] != 5);
		ck_assert_uint_eq(state_boot(state), 42 + (unsigned)starts);
		close_state();
	}
	ck_assert_mem_eq(ids[0], ids[1], sizeof(ids[0]));
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {identity_stays_and_starts_are_counted,
	    changes_are_kept_over_a_clean_stop, a_second_agent_is_refused_by_name, what_nobody_has_set_is_not_kept,
	    a_renamed_port_keeps_number_and_settings, departed_ports_leave_by_age, all_ports_have_room,
	    a_full_disk_costs_persistence_only, a_first_start_on_a_full_disk,
	    a_damaged_file_is_set_aside, no_link_is_followed,
	    a_file_that_is_open_elsewhere_is_told_of,
	    a_directory_that_others_can_write_is_refused, the_directory_is_checked,
	    an_id_of_collectors_is_drawn_anew};
	Suite *suite = suite_create("state");
	TCase *all = tcase_create("all");

	if (power_cut_register() < 0)
		return EXIT_FAILURE;
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_set_timeout(all, 300);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(all, tests[i]);
	tcase_add_loop_test(all, power_cuts, 0, 4); /* a quarter of the cuts each */
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
