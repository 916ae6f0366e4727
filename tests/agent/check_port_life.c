/*
 * A simulated year (without EASE_LONG four months) of a container host: 100,000 interfaces come and go, each with
 * a name of its own or with a few names in turn, through the table of links, the HAL, sampling, state, sFlow, link
 * traps and events, as the agent joins them. Memory is at the end what it was at half time, and the state's file is
 * small; the last interface is sampled, exported and kept like the first.
 */
#include "agent/event_monitor.h"
#include "agent/hal/hal_provider.h"
#include "agent/linux/links.h"
#include "agent/sampling/sflow_export.h"
#include "agent/standard_monitor.h"
#include "agent/state.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	INTERFACES = SUITE_SANITIZES ? 10000 : 100000, /* in a year */
	MONTHS = 30000, /* in four months: half of them are more than state and links remember */
	FEWER = SUITE_SANITIZES ? 5000 : 20000, /* and in some months, for what else may grow */
	PRESENT = 20, /* at any time */
	NAMES = 50,   /* of a host that uses names again */
};
#define STEP_US (365ull * 24 * 3600 * 1000000 / INTERFACES)

static struct links links;
static struct clock year;
static struct hal_device device;
static struct hal *hal;
static struct sampling *sampling;
static struct sflow_export *sflow;
static struct packer *packer;
static struct standard_monitor *monitor;
static struct event_monitor *events;
static struct state *state;
static struct settings_owners owners;
static char dir[64];
static unsigned n_sampled, n_forgotten;
static uint32_t last_sampled;
static int collector;

/* ---- a device over the table of links ---- */

static size_t
count(void *ctx)
{
	(void)ctx;
	return links.n;
}

static uint32_t
if_index_of(void *ctx, size_t i)
{
	(void)ctx;
	return links.ports[i].if_index;
}

static int
get_port(void *ctx, uint32_t if_index, struct hal_port *port)
{
	const struct links_port *link = links_find(&links, if_index);

	(void)ctx;
	if (!link)
		return -ENODEV;
	snprintf(port->name, sizeof(port->name), "%s", link->link.name);
	port->if_index = if_index;
	port->oper_status = EASE_IF_UP;
	port->speed_bps = 10000000000;
	return 0;
}

static void
forget(void *ctx, const char *name)
{
	(void)ctx;
	links_forget(&links, name);
}

static int
read_counter(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	(void)ctx;
	(void)row;
	*raw = if_index;
	return 0;
}

static void
derive(const uint64_t *totals, struct hal_counters *counters)
{
	counters->value[HAL_POOL_IN_PKTS] = totals[0];
	counters->known = 1ull << HAL_POOL_IN_PKTS | 1ull << HAL_POOL_OUT_PKTS;
}

static int
load_skip(void *ctx, uint32_t if_index, uint32_t skip)
{
	(void)ctx;
	(void)skip;
	return links_find(&links, if_index) ? 0 : -ENODEV;
}

static uint64_t
now_us(void *ctx)
{
	(void)ctx;
	return clock_wall_us(&year);
}

static uint64_t
steady_us(void *ctx)
{
	(void)ctx;
	return clock_mono_us(&year);
}

static int
start(void *ctx, struct hal *with)
{
	(void)ctx;
	(void)with;
	return 0;
}

static const struct hal_counter_row rows[] = {{.name = "frames", .width_bits = 64}};
static const struct hal_device_ops device_ops = {
    .kind = "test", .now_us = now_us, .steady_us = steady_us, .start = start};
static const struct hal_ports_ops ports_ops = {
    .name = "test", .count = count, .if_index = if_index_of, .get = get_port, .forget = forget};
static const struct hal_counters_ops counters_ops = {
    .name = "test", .rows = rows, .n_rows = 1, .read = read_counter, .derive = derive};
static const struct hal_sampling_ops sampling_ops = {
    .name = "test", .max_skip = 0xfffff, .skip_depth = 2, .load_skip = load_skip};

/* ---- the agent ---- */

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	(void)ctx;
	return sampling_on_sample(sampling, event);
}

static void
on_port(void *ctx, const struct hal_port_event *event)
{
	(void)ctx;
	sampling_on_port(sampling, event);
	state_restore_port(state, &owners, event);
	if (event->happening == HAL_PORT_CAME)
		sflow_export_port_came(sflow, event->if_index,
		    sampling_last_sequence(sampling, event->if_index));
	if (event->happening == HAL_PORT_LEFT)
		sflow_export_port_left(sflow, event->if_index);
	standard_monitor_port(monitor, event);
	event_monitor_port(events, event);
	n_forgotten += event->happening == HAL_PORT_FORGOTTEN;
}

static void
on_forgotten(void *ctx, const char *name, uint32_t if_index)
{
	(void)ctx;
	hal_forget_port(hal, name, if_index);
}

static int
take(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	sflow_export_sample(sflow, sample, snapshot);
	last_sampled = sample->if_index;
	n_sampled++;
	return 0;
}

static int
push(void *ctx, const struct ease_notification *n)
{
	(void)ctx;
	(void)n;
	return 0;
}

static void
lost(void *ctx, uint32_t if_index, unsigned n)
{
	(void)ctx;
	ck_abort_msg("%u samples of port %u are lost", n, if_index);
}

static void
open_collector(char *address, size_t size)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);

	collector = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(collector, (struct sockaddr *)&to, len), 0);
	ck_assert_int_eq(getsockname(collector, (struct sockaddr *)&to, &len), 0);
	snprintf(address, size, "127.0.0.1:%u", ntohs(to.sin_port));
}

static void
set_up(enum links_numbers numbers)
{
	const struct sampling_options options = {.has_seed = true, .skip_by_speed = true,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 64}};
	const struct sampling_sink sink = {NULL, take};
	const struct packer_sink out = {NULL, push, lost};
	const struct hal_listener listener = {.sample = on_sample, .port = on_port};
	const struct state_options kept = {.dir = dir, .clock = &year, .keep_departed_days = 30, .forgot = on_forgotten};
	char address[32], error[512];

	year = (struct clock){.manual = true, .manual_mono_us = 1, .manual_wall_us = 1700000000000000};
	strcpy(dir, "/tmp/ease-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	open_collector(address, sizeof(address));
	ck_assert_int_eq(links_init(&links, numbers, NULL, 0), 0);
	device = (struct hal_device){.ops = &device_ops, .ports = &ports_ops,
	    .counters = &counters_ops, .sampling = &sampling_ops};
	ck_assert_int_eq(hal_create(&device, &year, &hal), 0);
	hal_set_listener(hal, &listener);
	ck_assert_int_eq(hal_start(hal), 0);
	ck_assert_int_eq(sampling_create(hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(packer_create(1400, &out, &packer), 0);
	ck_assert_int_eq(sflow_export_create(&(struct sflow_export_options){.collectors = &(char *){address}, .n_collectors = 1,
	    .clock = &year, .lost = lost}, &sflow, error, sizeof(error)), 0);
	ck_assert_int_eq(standard_monitor_create(&(struct standard_monitor_options){.hal = hal,
	    .clock = &year, .push = push}, &monitor), 0);
	ck_assert_int_eq(event_monitor_create(&(struct event_monitor_config){.hal = hal,
	    .sampling = sampling, .packer = packer, .rate_per_s = 10, .stall_percent = 1}, &events), 0);
	ck_assert_msg(state_open(&kept, &state, error, sizeof(error)) == 0, "%s", error);
	owners = (struct settings_owners){.hal = hal, .sampling = sampling};
	state_started(state);
}

static void
tear_down(void)
{
	char command[128];

	event_monitor_destroy(events);
	standard_monitor_destroy(monitor);
	sflow_export_destroy(sflow);
	packer_destroy(packer);
	sampling_destroy(sampling);
	hal_destroy(hal);
	state_close(state);
	links_free(&links);
	close(collector);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* ---- the year ---- */

static void
comes(unsigned i, unsigned n_names)
{
	struct rtnl_link link = {.kernel_index = 100 + i, .hardware_type = ARPHRD_ETHER, .kind = "veth"};
	struct links_port *port;

	snprintf(link.name, sizeof(link.name), "veth%u", i % n_names);
	ck_assert_int_eq(links_add(&links, &link, &port), 0);
	hal_report_port_changed(hal, port->if_index);
}

static void
leaves(unsigned i)
{
	struct links_port *port = links_find_kernel(&links, 100 + i);
	uint32_t if_index = port->if_index;

	links_remove(&links, port);
	hal_report_port_changed(hal, if_index);
}

static void
is_sampled(unsigned i)
{
	static const uint8_t octets[64];
	uint32_t if_index = links_find_kernel(&links, 100 + i)->if_index;
	struct hal_sample_event event = {.if_index = if_index, .direction = EASE_IN,
	    .time_us = clock_wall_us(&year), .frame_octets = 68, .octets = octets,
	    .kept_octets = sizeof(octets), .pool_pkts = HAL_POOL_UNKNOWN};
	unsigned before = n_sampled;

	ck_assert_int_ge(hal_report_sample(hal, &event), 0);
	ck_assert_uint_eq(n_sampled, before + 1);
	ck_assert_uint_eq(last_sampled, if_index);
}

/* Twice a second in the agent; here every some hours. What is kept is written once in four days, so that the
 * test does not wait for the disk. */
static void
tick(unsigned i)
{
	uint8_t octets[9216];

	while (hal_refresh(hal, 0) > 0)
		;
	ck_assert_int_eq(sampling_publish(sampling), 0);
	event_monitor_poll(events);
	packer_flush(packer);
	sflow_export_flush(sflow);
	while (recv(collector, octets, sizeof(octets), MSG_DONTWAIT) > 0)
		;
	if (i % 1000 == 999)
		state_tick(state);
}

/* Of the file, when it is closed. */
static uint64_t
state_octets(void)
{
	struct stat file;
	char path[128];

	snprintf(path, sizeof(path), "%s/easeagentd.db", dir);
	ck_assert_int_eq(stat(path, &file), 0);
	ck_assert_int_gt(file.st_size, 0);
	return (uint64_t)file.st_size;
}

/* All that happens to n ports, and memory at half time. */
static void
live(unsigned n, unsigned n_names, size_t *memory)
{
	for (unsigned i = 0; i < n; i++) {
		comes(i, n_names);
		is_sampled(i);
		if (i >= PRESENT)
			leaves(i - PRESENT);
		clock_step_us(&year, STEP_US);
		if (i % 200 == 199)
			tick(i);
		if (i + 1 == n / 2)
			*memory = mallinfo2().uordblks;
	}
}

static const struct {
	enum links_numbers numbers;
	unsigned n_names, n;
} years[] = {
    {LINKS_KERNEL_NUMBERS, INTERFACES, INTERFACES}, /* every name and every number is new */
    {LINKS_KERNEL_NUMBERS, NAMES, FEWER},	    /* names come again, numbers do not */
    {LINKS_STABLE_NUMBERS, INTERFACES, FEWER},	    /* numbers come again when names are forgotten */
};

START_TEST(nothing_of_the_departed_stays)
{
	const unsigned n = getenv("EASE_LONG") || years[_i].n < MONTHS ? years[_i].n : MONTHS;
	size_t memory = 0;

	n_sampled = n_forgotten = 0;
	set_up(years[_i].numbers);
	live(n, years[_i].n_names, &memory);
	ck_assert_uint_eq(n_sampled, n);
	ck_assert_uint_ge(n_forgotten, n - PRESENT - STATE_DEPARTED_MAX);
	ck_assert_uint_le(state_n_names(state), PRESENT + STATE_DEPARTED_MAX);
	ck_assert_uint_le(links.n_names, LINKS_NAMES_MAX);
	ck_assert_uint_le(mallinfo2().uordblks, memory + memory / 8);
	/* sFlow had room for each. */
	for (unsigned stat = 0; stat < SFLOW_EXPORT_N_STATS; stat++)
		if (stat == SFLOW_EXPORT_NO_PORT || stat == SFLOW_EXPORT_SAMPLES_LOST)
			ck_assert_uint_eq(stat_get(sflow_export_stats(sflow), stat), 0);
	sflow_export_flush(sflow);
	ck_assert_uint_eq(stat_get(sflow_export_stats(sflow), SFLOW_EXPORT_SAMPLES), n);
	printf("%u interfaces: %u forgotten, %zu octets in use at half time, %zu at the end", n, n_forgotten,
	    memory, mallinfo2().uordblks);
	ck_assert_int_eq(state_commit(state), 0);
	state_close(state);
	state = NULL;
	printf(", and %llu in the state's file\n", (unsigned long long)state_octets());
	fflush(stdout);
	ck_assert_uint_le(state_octets(), 1 << 20);
	tear_down();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("port_life");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 300);
	tcase_add_loop_test(all, nothing_of_the_departed_stays, 0, sizeof(years) / sizeof(years[0]));
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
