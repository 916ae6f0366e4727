/*
 * The agent with each thing that it asks of the system failing once, and from there on: memory,
 * descriptors, disk, sockets, netlink (faults.h). Each must be refused cleanly or be counted as
 * lost, leave nothing behind, and be over when the fault is.
 */
#include "agent/agent.h"
#include "agent/sim/emulated.h"
#include "agent/hal/hal.h"
#include "agent/sampling/packer.h"
#include "agent/sampling/sampling.h"
#include "agent/sampling/sflow_export.h"
#include "agent/snmp/notify.h"
#include "agent/snmp/trap_sinks.h"
#include "agent/state.h"
#include "common/log.h"
#include "mibs/mibs.h"
#include "tests/agent/agent_rig.h"
#include "tests/support/fate.h"
#include "tests/faults/faults.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/support/make_capture.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	RUNS = 150,	 /* of faults of one kind in what takes long */
	FRAMES = 200,
	ERROR_TEXT = 512,
};

static char dir[64];
static char capture[256];

static void
make_capture_file(void)
{
	static struct made_capture made;

	made_begin(&made, false, false, 1);
	for (uint64_t i = 0; i < FRAMES; i++)
		made_frame(&made, 1700000000000000 + i * 1000000, 0x020000000001 + i % 5,
		    0x020000000001 + i * 3 % 7, 60 + (uint32_t)i);
	made_write(&made, capture, sizeof(capture));
}

static void
set_up(void)
{
	log_set_most(LOG_LEVEL_ERROR);
	strcpy(dir, "/tmp/ease-faults-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	make_capture_file();
}

static void
tear_down(void)
{
	char command[128];

	unlink(capture);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static const char *
in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void
write_config(const char *device)
{
	const char *top = getenv("srcdir");
	FILE *file = fopen(in_dir("agent.conf"), "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "device = %s\nboard = \"%s/conf/boards/gt48001a-8port.conf\"\n"
		      "capture = \"%s\"\ndummy_ports = 3\ndummy_addresses = 5\nmean_skip = 7\n"
		      "agentx_socket = \"unix:%s/master\"\nstate_dir = \"%s/state\"\n"
		      "sflow_collector = \"127.0.0.1:9\"\n"
		      "trap_sink \"127.0.0.1:9\" { community = \"public\" }\n"
		      "trap_sink \"127.0.0.1:10\" { user = \"me\" auth_passphrase = \"12345678\" "
		      "priv_passphrase = \"12345678\" }\n",
	    device, top ? top : "..", capture, dir, dir);
	ck_assert_int_eq(fclose(file), 0);
}

/* ---- the parts put together ---- */

static int
make_agent(void *arg)
{
	struct agent_config config = {0};
	char error[ERROR_TEXT] = "";
	struct agent *agent;
	int rc = agent_config_load(in_dir("agent.conf"), &config, error, sizeof(error));

	(void)arg;
	faults_assert((rc < 0) == (error[0] != '\0'), "%d: %s", rc, error);
	if (rc == 0) {
		rc = agent_create(&config, in_dir("agent.conf"), &agent, error, sizeof(error));
		faults_assert((rc < 0) == (error[0] != '\0'), "%d: %s", rc, error);
		if (rc == 0)
			faults_assert(agent_destroy(agent), "the SNMP thread hangs");
	}
	options_free(agent_options, &config);
	return rc;
}

START_TEST(an_agent_is_made_or_not)
{
	static const char *const devices[] = {"dummy", "emulated", "linux"};
	char name[64];

	write_config(devices[_i]);
	if (_i == 2 && !linux_rig_enter("an_agent_is_made_or_not"))
		return;
	snprintf(name, sizeof(name), "%s agent", devices[_i]);
	faults_exhaust(name, FAULT_ALL & ~FAULT_BIT(FAULT_READING), 2 * RUNS, make_agent, NULL);
}
END_TEST

static int
draw_board(void *arg)
{
	struct agent_config config = {0};
	char error[ERROR_TEXT] = "", picture[8192];
	FILE *out = arg;
	int rc = agent_config_load(in_dir("agent.conf"), &config, error, sizeof(error));

	(void)picture;
	if (rc == 0)
		rc = agent_check(&config, out, error, sizeof(error));
	options_free(agent_options, &config);
	return rc;
}

START_TEST(a_configuration_is_checked_or_not)
{
	FILE *out = fopen("/dev/null", "w");

	ck_assert_ptr_nonnull(out);
	write_config("emulated");
	faults_exhaust("check", FAULT_ALL & ~FAULT_BIT(FAULT_READING), RUNS / 2, draw_board, out);
	fclose(out);
}
END_TEST

/* ---- tables and settings ---- */

static struct agent_rig rig;
static struct cells cells;

/* One GETNEXT in each table. */
static void
ask_anything(struct fate *fate)
{
	static struct varbind varbinds[FATE_VARBINDS_MAX];
	struct mib_context context = agent_rig_open(&rig);
	size_t n = fate_set(fate, varbinds);

	for (size_t i = 0; context.snapshot != NULL && i < mibs_n_tables; i++) {
		uint32_t next[MIB_OID_MAX];
		struct mib_value value;
		size_t n_next;

		mib_get_next(mibs_tables[i], &context, varbinds[0].oid, n ? varbinds[0].n : 0, next,
		    &n_next, &value);
	}
	if (context.snapshot != NULL)
		agent_rig_close(&rig, &context);
}

/* A request of one varbind for everything that can be set, through its phases. */
static void
set_anything(struct fate *fate)
{
	const struct mib_setter setter = {&rig, agent_rig_apply};
	static struct mib_transaction transaction;
	static struct varbind varbinds[FATE_VARBINDS_MAX];
	struct mib_context context = agent_rig_open(&rig);
	size_t n = fate_set(fate, varbinds);
	enum mib_error error = MIB_NO_ERROR;

	mib_transaction_begin(&transaction);
	for (size_t i = 0; context.snapshot != NULL && i < n && !error; i++)
		error = mib_transaction_add(&transaction, varbinds[i].table, &context,
		    varbinds[i].oid, varbinds[i].n, &varbinds[i].value);
	if (context.snapshot != NULL)
		agent_rig_close(&rig, &context);
	if (!error && !mib_transaction_test(&transaction, &setter) &&
	    mib_transaction_commit(&transaction, &setter))
		mib_transaction_undo(&transaction, &setter);
}

static int
run_rig(void *arg)
{
	struct fate fate = {.seed = 1, .cells = arg};
	int rc = agent_rig_create(&rig);

	if (rc < 0)
		return rc;
	for (int i = 0; i < 40; i++) {
		ask_anything(&fate);
		set_anything(&fate);
		agent_rig_step(&rig, 1000000);
	}
	agent_rig_destroy(&rig);
	return 0;
}

START_TEST(tables_are_answered_or_not)
{
	struct mib_context context;

	ck_assert_int_eq(agent_rig_create(&rig), 0);
	context = agent_rig_open(&rig);
	cells_walk(mibs_tables, mibs_n_tables, &context, &cells);
	agent_rig_close(&rig, &context);
	agent_rig_destroy(&rig);
	faults_exhaust("tables", FAULT_ALL, RUNS, run_rig, &cells);
	cells_free(&cells);
}
END_TEST

/* ---- frames through the switch, and what is made of them ---- */

struct run {
	struct hal *hal;
	struct sampling *sampling;
	struct packer *packer;
	struct notify_ring *ring;
	struct trap_sinks *sinks;
	struct sflow_export *sflow;
	bool ended;
	uint64_t taken, packed, lost; /* samples */
};

static int
push(void *ctx, const struct ease_notification *notification)
{
	struct run *run = ctx;

	trap_sinks_push(run->sinks, notification);
	return notify_ring_push(run->ring, notification);
}

static void
lost(void *ctx, uint32_t if_index, unsigned n)
{
	struct run *run = ctx;

	run->lost += n;
	sampling_count_drops(run->sampling, if_index, n);
}

static int
take_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	struct run *run = ctx;

	run->taken++;
	packer_sample(run->packer, sample, snapshot);
	sflow_export_sample(run->sflow, sample, snapshot);
	return 0;
}

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	return sampling_on_sample(((struct run *)ctx)->sampling, event);
}

static void
on_skips_lost(void *ctx, uint32_t if_index)
{
	sampling_on_skips_lost(((struct run *)ctx)->sampling, if_index);
}

static void
on_ended(void *ctx)
{
	((struct run *)ctx)->ended = true;
}

static int
open_run(struct run *run, const struct agent_config *config, char *error)
{
	static const struct notify_source source = {{1, 2, 3, 4, 5, 6, 7, 8}, 1};
	const struct emulated_config emulated = {.board_file = config->board, .capture = capture,
	    .pace = EMULATED_PACE_LOCK_STEP, .clock = &clock_system};
	const struct sampling_options options = {.has_seed = true, .seed = 1,
	    .defaults = {.enabled = true, .mean_skip = 2, .header_octets = 64, .edge = true}};
	const struct sampling_sink sink = {run, take_sample};
	const struct packer_sink out = {run, push, lost};
	const struct sflow_export_options sflow = {.collectors = &(char *){(char[]){"127.0.0.1:9"}}, .n_collectors = 1,
	    .clock = &clock_system};
	struct hal_device *device;
	int rc = emulated_create(&emulated, &device, error, ERROR_TEXT);

	if (rc == 0)
		rc = hal_create(device, &clock_system, &run->hal);
	if (rc == 0)
		rc = sampling_create(run->hal, &options, &sink, &run->sampling);
	if (rc == 0)
		rc = packer_create(1400, &out, &run->packer);
	if (rc == 0)
		rc = notify_ring_create(64, &run->ring);
	if (rc == 0)
		rc = trap_sinks_create(config->trap_sinks.items, config->trap_sinks.n, &source,
		    &clock_system, &run->sinks, error, ERROR_TEXT);
	if (rc == 0)
		rc = sflow_export_create(&sflow, &run->sflow, error, ERROR_TEXT);
	return rc;
}

static void
close_run(struct run *run)
{
	packer_destroy(run->packer);
	sflow_export_destroy(run->sflow);
	trap_sinks_destroy(run->sinks);
	sampling_destroy(run->sampling);
	hal_destroy(run->hal);
	notify_ring_destroy(run->ring);
}

static int
take_samples(struct run *run)
{
	const struct hal_listener listener = {.ctx = run, .sample = on_sample, .skips_lost = on_skips_lost,
	    .ended = on_ended};
	struct pollfd fd = {.fd = hal_fd(run->hal), .events = POLLIN};
	int rc;

	hal_set_listener(run->hal, &listener);
	rc = hal_start(run->hal);
	if (rc < 0)
		return rc;
	sampling_start(run->sampling);
	hal_dispatch(run->hal, 0);
	while (!run->ended) {
		faults_assert(poll(&fd, 1, 10000) == 1, "the switch stands still after %s failed",
		    faults_last());
		hal_dispatch(run->hal, 0);
	}
	hal_stop(run->hal);
	packer_flush(run->packer);
	sflow_export_flush(run->sflow);
	return 0;
}

static int
sample_a_capture(void *arg)
{
	struct run run = {0};
	char error[ERROR_TEXT];
	int rc = open_run(&run, arg, error);

	if (rc == 0)
		rc = take_samples(&run);
	if (rc == 0)
		faults_assert(run.taken > 0, "no sample");
	close_run(&run);
	return rc;
}

START_TEST(samples_are_taken_or_not)
{
	struct agent_config config = {0};
	char error[ERROR_TEXT];

	write_config("emulated");
	ck_assert_int_eq(agent_config_load(in_dir("agent.conf"), &config, error, sizeof(error)), 0);
	faults_exhaust("samples", FAULT_ALL & ~FAULT_BIT(FAULT_READING), RUNS, sample_a_capture,
	    &config);
	options_free(agent_options, &config);
}
END_TEST

/* ---- the kernel's notices ---- */

enum { CHANGES = 60, LINKS = 6 };

/* Something that a machine's administrator does; it need not be possible. (No alias: the kernel
 * does not tell of one at a link that is down.) */
static void
change_links(struct fate *fate)
{
	static const char *const what[] = {"ip link add $d type veth peer name p$d", "ip link del $d",
	    "ip link set $d up", "ip link set $d down", "ip link set $d mtu 1400",
	    "ip link set $d master br0", "ip link set $d name x$d && ip link set x$d name $d"};
	const char *change = what[fate_below(fate, sizeof(what) / sizeof(what[0]))];

	faults_spare(true);
	linux_rig_can("d=d%u; { %s; }", (unsigned)fate_below(fate, LINKS), change);
	faults_spare(false);
}

/* As the main loop does: what fails is tried again when there is more to hear. */
static void
hear(struct linux_rig *kernel)
{
	struct pollfd fd = {.fd = hal_fd(kernel->hal), .events = POLLIN};

	for (int i = 0; i < 100 && poll(&fd, 1, 0) > 0; i++)
		hal_dispatch(kernel->hal, 64);
	hal_refresh(kernel->hal, 0);
}

START_TEST(the_kernel_is_followed_through_faults)
{
	static const unsigned one_in[FAULT_N_CLASSES] = {[FAULT_NETLINK] = 6, [FAULT_SOCKET] = 6,
	    [FAULT_MEMORY] = 50, [FAULT_READING] = 20};
	struct fate fate = {.seed = faults_seed("the kernel")};
	struct linux_rig kernel = {.n_changes = 0};
	size_t descriptors;

	if (!linux_rig_enter("the_kernel_is_followed_through_faults"))
		return;
	linux_rig_sh("ip link add br0 type bridge");
	linux_rig_start(&kernel);
	descriptors = faults_descriptors();
	faults_draw(fate.seed, one_in, one_in);
	for (int i = 0; i < CHANGES; i++) {
		change_links(&fate);
		hear(&kernel);
	}
	faults_stop();
	printf("the kernel: %" PRIu64 " of %" PRIu64 " calls failed\n", faults_failed(),
	    faults_calls());
	linux_rig_sh("ip link add last type veth peer name other");
	linux_rig_settle(&kernel);
	linux_rig_expect_as_ip(&kernel);
	ck_assert_uint_eq(faults_descriptors(), descriptors);
	linux_rig_stop(&kernel);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_agent");
	TCase *all = tcase_create("all"), *kernel = tcase_create("kernel");

	tcase_set_timeout(all, getenv("EASE_LONG") ? 1800 : 120);
	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, an_agent_is_made_or_not, 0, 3);
	tcase_add_test(all, a_configuration_is_checked_or_not);
	tcase_add_test(all, tables_are_answered_or_not);
	tcase_add_test(all, samples_are_taken_or_not);
	tcase_set_timeout(kernel, 120);
	tcase_add_checked_fixture(kernel, set_up, tear_down);
	tcase_add_test(kernel, the_kernel_is_followed_through_faults);
	suite_add_tcase(suite, kernel);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
