/*
 * Sampling by eBPF, against the kernel: which frames are taken is what the skips loaded say, frame
 * by frame; pools are the interface's counters; the registers stand still when nobody fills them;
 * taps go when the agent does, also after it was killed, and leave others' filters alone; and over
 * very many frames, counts and skips are distributed as drawn.
 */
#include "agent/sampling/sampling.h"
#include "collector/estimate/estimate.h"
#include "tests/agent/linux/distances.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES_MAX = 1 << 17, FRAME_OCTETS = 200, NUMBER_AT = 14 };

static const uint8_t to_nobody[6] = {0x02, 0x99, 0, 0, 0, 1};
static struct linux_rig rig;

/* What came, of the port looked at. */
static struct {
	uint32_t if_index;
	uint8_t direction;
	size_t n;
	uint32_t number[SAMPLES_MAX]; /* of the frame, as its octets say */
	uint64_t pool[SAMPLES_MAX];
	size_t stalls;
	struct hal_sample_event last;
} seen;
static struct sampling *sampling; /* NULL: the test loads skips itself */
static size_t n_skips_lost;

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	uint32_t number;

	(void)ctx;
	if (event->if_index == seen.if_index && event->direction == seen.direction) {
		ck_assert_uint_ge(event->kept_octets, NUMBER_AT + 4);
		memcpy(&number, event->octets + NUMBER_AT, sizeof(number));
		ck_assert_uint_lt(seen.n, SAMPLES_MAX);
		seen.number[seen.n] = ntohl(number);
		seen.pool[seen.n++] = event->pool_pkts;
		seen.stalls += event->counter_empty;
		seen.last = *event;
	}
	return sampling ? sampling_on_sample(sampling, event) : HAL_NO_SKIP;
}

static void
on_skips_lost(void *ctx, uint32_t if_index)
{
	(void)ctx;
	n_skips_lost++;
	if (sampling)
		sampling_on_skips_lost(sampling, if_index);
}

/* Each test begins anew, also where all run in one process. */
static void
forget(void)
{
	rig = (struct linux_rig){0};
	memset(&seen, 0, sizeof(seen));
	n_skips_lost = 0;
}

/* A namespace with a pair of links, and a device that samples at p0. */
static bool
set_up(const char *test)
{
	if (!linux_rig_enter(test))
		return false;
	linux_rig_sh("ip link add p0 type veth peer name h0; ip link set p0 up; ip link set h0 up");
	linux_rig_sh("ethtool -K p0 gro off tso off gso off >/dev/null 2>&1 || true");
	rig.config.sampling = LINUX_SAMPLING_EBPF;
	rig.listener.sample = on_sample;
	rig.listener.skips_lost = on_skips_lost;
	linux_rig_start(&rig);
	if (!hal_has_sampling(rig.hal)) {
		printf("SKIP %s: no eBPF here\n", test);
		fflush(stdout);
		linux_rig_stop(&rig);
		return false;
	}
	seen.if_index = linux_rig_port(&rig, "p0")->if_index;
	seen.direction = EASE_IN;
	return true;
}

static void
send_one(void)
{
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 1, 1);
	linux_rig_settle(&rig);
}

START_TEST(every_frame_that_is_due_and_no_other)
{
	static const uint32_t skips[] = {0, 0, 3, 1, 0, 7, 100, 2, 0, 31, 5, 0, 0, 1, 64};
	size_t n_skips = 6 * sizeof(skips) / sizeof(skips[0]), loaded = 0, due = 0;
	uint32_t left = skips[0];
#define SKIP(i) skips[(i) % (sizeof(skips) / sizeof(skips[0]))]

	if (!set_up(__func__))
		return;
	while (loaded < hal_skip_depth(rig.hal)) {
		ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, SKIP(loaded)), 0);
		loaded++;
	}
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 9), -EBUSY);
	for (unsigned frame = 1; due < n_skips; frame++) {
		send_one();
		if (left-- > 0) {
			ck_assert_uint_eq(seen.n, due);
			continue;
		}
		ck_assert_uint_eq(seen.n, ++due);
		ck_assert_uint_eq(seen.pool[due - 1], frame);
		ck_assert_uint_eq(seen.last.frame_octets, FRAME_OCTETS + 4);
		ck_assert_uint_eq(seen.last.kept_octets, FRAME_OCTETS);
		ck_assert_uint_eq(seen.last.input_if, seen.if_index);
		ck_assert_uint_eq(seen.last.counter_empty, due == n_skips);
		left = due < n_skips ? SKIP(due) : 0;
		if (loaded < n_skips) {
			ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, SKIP(loaded)), 0);
			loaded++;
		}
	}
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(it_stands_still_and_goes_on_counting)
{
	const struct hal_port *port;

	if (!set_up(__func__))
		return;
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 9), 0);
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 19), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 5000, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(seen.number[0], 9);
	ck_assert_uint_eq(seen.number[1], 29);
	ck_assert(seen.last.counter_empty);
	port = linux_rig_port(&rig, "p0");
	ck_assert_uint_eq(port->counters.value[HAL_POOL_IN_PKTS], 5000);
	/* A skip loaded now begins with the next frame, whatever passed. */
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 3), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 10, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert_uint_eq(seen.number[2], 3);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(one_counter_runs_over_both_directions)
{
	if (!set_up(__func__))
		return;
	seen.direction = EASE_OUT;
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 9), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 6, 1);
	linux_rig_send("p0", to_nobody, FRAME_OCTETS, 20, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.number[0], 3);
	ck_assert_uint_eq(seen.pool[0], 4);
	ck_assert_uint_eq(seen.last.output_if, seen.if_index);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(emptied_it_forgets_and_asks_anew)
{
	if (!set_up(__func__))
		return;
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 4), 0);
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 4), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 5, 1); /* its sample waits to be read */
	ck_assert_int_eq(hal_restart_sampling(rig.hal, seen.if_index), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 50, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 0);
	ck_assert_uint_eq(n_skips_lost, 1);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.samples_outdated"), 1);
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	ck_assert_uint_eq(hal_device_drops(rig.hal), 1);
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 1), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 50, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.number[0], 1);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(a_bridge_is_counted_and_its_ports_are_sampled)
{
	if (!set_up(__func__))
		return;
	linux_rig_sh("ip link add br0 type bridge; ip link set p0 master br0; ip link set br0 up");
	linux_rig_settle(&rig);
	ck_assert_int_eq(
	    hal_load_skip(rig.hal, linux_rig_port(&rig, "br0")->if_index, 4), -ENODEV);
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 0), 0);
	send_one();
	ck_assert_uint_eq(seen.n, 1);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(its_own_notifications_are_not_sampled)
{
	if (!set_up(__func__))
		return;
	linux_rig_stop(&rig);
	rig.config.own_ports[0] = 10162;
	rig.config.n_own_ports = 1;
	linux_rig_sh("ip address add 192.0.2.1/24 dev p0; ip neigh add 192.0.2.2 lladdr "
		     "02:99:00:00:00:01 dev p0");
	linux_rig_start(&rig);
	seen.direction = EASE_OUT;
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 0), 0);
		linux_rig_sh("bash -c 'echo x >/dev/udp/192.0.2.2/%d'", i ? 10163 : 10162);
		linux_rig_settle(&rig);
		ck_assert_uint_eq(seen.n, (size_t)i + 1);
		ck_assert_uint_eq(seen.last.own, i == 0);
		ck_assert_uint_eq(seen.last.input_if, EASE_IF_LOCAL);
	}
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.own_frames"), 1);
	linux_rig_stop(&rig);
}
END_TEST

/* ---- coming and going, by the classic hooks, which tc shows ---- */

static bool
set_up_classic(const char *test)
{
	rig.config.classic_hooks = true;
	return set_up(test);
}

static bool
has_tap(const char *link)
{
	return linux_rig_can("tc filter show dev %s ingress | grep -q ease_tap", link) &&
	    linux_rig_can("tc filter show dev %s egress | grep -q ease_tap", link);
}

static bool
has_hook(const char *link)
{
	return linux_rig_can("tc qdisc show dev %s | grep -q clsact", link);
}

START_TEST(nothing_stays_behind)
{
	if (!set_up_classic(__func__))
		return;
	ck_assert(has_tap("p0") && has_tap("h0"));
	linux_rig_sh("ip link add p1 type veth peer name h1");
	linux_rig_settle(&rig);
	ck_assert(has_tap("p1"));
	linux_rig_sh("ip link del p1");
	linux_rig_settle(&rig);
	linux_rig_stop(&rig);
	ck_assert(!has_hook("p0") && !has_hook("h0"));
}
END_TEST

static size_t
descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Programs, maps and links are descriptors, all of them; of a tap that is there the two links are left, or none. */
START_TEST(a_storm_of_interfaces_leaves_no_tap)
{
	size_t before;

	if (!set_up(__func__))
		return;
	before = descriptors();
	for (int round = 0; round < 3; round++) {
		linux_rig_sh("for i in $(seq 40); do echo link add s$i group 7 type veth peer name t$i; "
			     "done | ip -batch -");
		linux_rig_settle(&rig);
		ck_assert_uint_eq(descriptors(), before + (has_hook("s1") ? 0 : 2 * 80));
		linux_rig_sh("for i in $(seq 40); do echo link del s$i; done | ip -batch -");
		linux_rig_settle(&rig);
	}
	ck_assert_uint_eq(descriptors(), before);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_refused"), 0);
	send_one(); /* and the others go on */
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->counters.value[HAL_POOL_IN_PKTS], 1);
	linux_rig_stop(&rig);
}
END_TEST

/* 82 ports, for which 90 files are not enough, nor what may be had of 180: the others are sampled at the older hooks.
 * The limit stays. */
START_TEST(more_interfaces_than_files)
{
	static const struct rlimit few = {.rlim_cur = 90, .rlim_max = 180};

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	if (!set_up(__func__))
		return;
	linux_rig_sh("for i in $(seq 40); do echo link add s$i type veth peer name t$i; done | ip -batch -");
	linux_rig_settle(&rig);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_refused"), 0);
	ck_assert_uint_lt(descriptors(), 90); /* there is room for others */
	send_one();
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->counters.value[HAL_POOL_IN_PKTS], 1);
	linux_rig_stop(&rig);
}
END_TEST

/* Where the kernel has tcx, the link is the descriptor: a killed agent leaves nothing at all. */
START_TEST(newer_hooks_go_with_the_agent)
{
	pid_t child;
	int status;

	if (!set_up(__func__))
		return;
	if (has_hook("p0")) {
		printf("SKIP %s: this kernel has no tcx\n", __func__);
		linux_rig_stop(&rig);
		return;
	}
	linux_rig_stop(&rig);
	child = fork();
	if (child == 0) {
		linux_rig_start(&rig);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_cleaned"), 0);
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 4), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 10, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.pool[0], 5); /* one tap counts, not two */
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(others_filters_stay)
{
	if (!set_up_classic(__func__))
		return;
	linux_rig_stop(&rig);
	/* One that is there before, and one that comes while the agent runs. */
	linux_rig_sh("tc qdisc add dev h0 clsact");
	linux_rig_sh("tc filter add dev h0 ingress prio 9 u32 match u32 0 0 classid 1:1");
	linux_rig_start(&rig);
	linux_rig_sh("tc filter add dev p0 egress prio 9 u32 match u32 0 0 classid 1:1");
	ck_assert(has_tap("p0") && has_tap("h0"));
	linux_rig_stop(&rig);
	ck_assert(linux_rig_can("tc filter show dev h0 ingress | grep -q u32"));
	ck_assert(linux_rig_can("tc filter show dev p0 egress | grep -q u32"));
	ck_assert(!has_tap("p0") && !has_tap("h0"));
}
END_TEST

/* It says nothing; that the link counts and the pool does not tells. */
START_TEST(a_tap_that_another_removed_is_put_back)
{
	uint64_t pool;

	if (!set_up_classic(__func__))
		return;
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 4), 0);
	send_one();
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	linux_rig_sh("tc qdisc del dev p0 clsact");
	linux_rig_sh("tc qdisc add dev p0 clsact"); /* for filters of its own */
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 150, 1);
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	linux_rig_settle(&rig);
	ck_assert(has_tap("p0"));
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_renewed"), 1);
	ck_assert_uint_eq(n_skips_lost, 1);
	pool = linux_rig_port(&rig, "p0")->counters.value[HAL_POOL_IN_PKTS];
	ck_assert_uint_eq(pool, 1);
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 2), 0);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 10, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.pool[0], pool + 3);
	linux_rig_stop(&rig);
	ck_assert(has_hook("p0") && !has_tap("p0")); /* the other's hook stays */
}
END_TEST

START_TEST(what_a_killed_agent_left_is_removed)
{
	pid_t child;
	int status;

	if (!set_up_classic(__func__))
		return;
	linux_rig_stop(&rig);
	child = fork();
	if (child == 0) {
		linux_rig_start(&rig);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert(has_tap("p0")); /* and samples nothing, as no skip is loaded */
	rig.config.sampling = LINUX_SAMPLING_NONE; /* even one that does not sample cleans up */
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_cleaned"), 2);
	ck_assert(!hal_has_sampling(rig.hal));
	ck_assert(!has_hook("p0") && !has_hook("h0"));
	linux_rig_expect_as_ip(&rig);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(without_privilege_counters_go_on)
{
	pid_t child;
	int status;

	if (!set_up(__func__))
		return;
	linux_rig_stop(&rig);
	child = fork();
	if (child == 0) {
		if (setresuid(65534, 65534, 65534) < 0)
			_exit(3);
		linux_rig_start(&rig);
		if (hal_has_sampling(rig.hal))
			_exit(1);
		linux_rig_expect_as_ip(&rig);
		linux_rig_stop(&rig);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- very many frames ---- */

static int
ignore_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)sample;
	(void)snapshot;
	return 0;
}

START_TEST(without_settings_a_port_is_sampled_by_its_speed)
{
	struct sampling_options options = {.has_seed = true, .seed = 7, .skip_by_speed = true,
	    .defaults = {.enabled = true, .mean_skip = 400, .header_octets = 128, .edge = true}};
	struct sampling_sink sink = {NULL, ignore_sample};
	struct sampling_port_config config;
	const struct sampling_table *table;
	const struct hal_port *port;
	uint32_t br0;

	if (!set_up(__func__))
		return;
	linux_rig_sh("ip link add br0 type bridge");
	linux_rig_settle(&rig);
	br0 = linux_rig_port(&rig, "br0")->if_index;
	ck_assert_int_eq(sampling_create(rig.hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	port = linux_rig_port(&rig, "p0");
	ck_assert_int_eq(sampling_get_port(sampling, port->if_index, &config), 0);
	ck_assert_uint_eq(config.mean_skip, port->speed_bps ? port->speed_bps / 1000000 : 400);
	ck_assert(!port->over_others);
	/* A bridge has no skip counter, and no row among those that have. */
	ck_assert(linux_rig_port(&rig, "br0")->over_others);
	ck_assert_int_eq(sampling_publish(sampling), 0);
	table = sampling_table_hold(sampling);
	ck_assert_uint_eq(table->n_ports, 2);
	ck_assert_ptr_null(sampling_table_port(table, br0));
	sampling_table_release(table);
	sampling_destroy(sampling);
	sampling = NULL;
	linux_rig_stop(&rig);
}
END_TEST

/* Talkers of many sizes: in turn the first 1, 2, 3, … of them send, each the same. */
enum { TALKERS = 24, SOURCE_AT = 8 };
static struct {
	struct estimate_sums sums[TALKERS], all;
	uint64_t sent[TALKERS];
} talk;

static int
keep_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	uint32_t talker;

	(void)ctx;
	(void)snapshot;
	memcpy(&talker, sample->header + SOURCE_AT, sizeof(talker));
	talker = ntohl(talker);
	ck_assert_uint_lt(talker, TALKERS);
	estimate_add_sample(&talk.sums[talker], sample->mean_skip, sample->frame_octets);
	estimate_add_sample(&talk.all, sample->mean_skip, sample->frame_octets);
	return 0;
}

static int
drop_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)sample;
	(void)snapshot;
	return 0;
}

/* While nobody reads, as many frames are sampled as skips are loaded, and the others pass. All are read together. */
START_TEST(standstills_are_counted_exactly)
{
	enum { STANDSTILLS = 10, FRAMES = 5000 };
	struct sampling_options options = {.draw = SAMPLING_UNIFORM, .has_seed = true,
	    .defaults = {.enabled = true, .mean_skip = 1, .header_octets = 128, .edge = true}};
	struct sampling_sink sink = {NULL, drop_sample};
	struct ease_snapshot snapshot;
	unsigned ahead;

	if (!set_up(__func__))
		return;
	ahead = hal_skip_depth(rig.hal);
	ck_assert_int_eq(sampling_create(rig.hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	for (unsigned i = 1; i <= STANDSTILLS; i++) {
		linux_rig_send("h0", to_nobody, FRAME_OCTETS, FRAMES, 1);
		linux_rig_settle(&rig);
		ck_assert_int_eq(sampling_snapshot(sampling, seen.if_index, &snapshot), 0);
		ck_assert_uint_eq(snapshot.samples, ahead * i);
		ck_assert_uint_eq(snapshot.stalls, i);
		ck_assert_uint_eq(snapshot.stalled_pkts, i * (FRAMES - ahead));
		ck_assert_uint_eq(snapshot.pool_in_pkts + snapshot.pool_out_pkts, i * FRAMES);
	}
	send_one();
	ck_assert_int_eq(sampling_snapshot(sampling, seen.if_index, &snapshot), 0);
	ck_assert_uint_eq(snapshot.samples, ahead * STANDSTILLS + 1);
	ck_assert_uint_eq(snapshot.stalls, STANDSTILLS);
	sampling_destroy(sampling);
	sampling = NULL;
	linux_rig_stop(&rig);
}
END_TEST

static void
send_batch(unsigned batch, unsigned turn)
{
	unsigned n_talkers = 1 + turn % (batch < TALKERS ? batch : TALKERS);

	linux_rig_send("h0", to_nobody, 60, batch, n_talkers);
	for (unsigned i = 0; i < batch; i++)
		talk.sent[i % n_talkers]++;
}

/* How many of the talkers' 95 % intervals hold what they sent, of those with 10 samples or more. */
static unsigned
intervals_that_hold(double pool, unsigned *n)
{
	struct estimate_stratum stratum = {.all = talk.all, .pool_pkts = pool,
	    .pool_octets = 64 * pool};
	struct estimate_range *range;
	unsigned held = 0;

	ck_assert_int_eq(estimate_range_create(&stratum, 1, &range), 0);
	*n = 0;
	for (unsigned i = 0; i < TALKERS; i++) {
		struct estimate_figure figure;
		struct estimate_key key;
		double truth = (double)talk.sent[i];

		if (talk.sums[i].n < 10)
			continue;
		estimate_key_begin(&key);
		estimate_key_add(range, &key, 0, &talk.sums[i]);
		estimate_key_end(range, &key);
		figure = estimate_key_figure(range, &key, ESTIMATE_PKTS, &estimate_claim_95);
		++*n;
		held += figure.low <= truth && truth <= figure.high;
	}
	estimate_range_destroy(range);
	return held;
}

static void
sample_many(unsigned mean, unsigned batch, unsigned n)
{
	struct sampling_options options = {.has_seed = true, .seed = 20261121, .defaults = {
	    .enabled = true, .mean_skip = mean, .header_octets = 128, .edge = true}};
	struct sampling_sink sink = {NULL, keep_sample};
	const struct hal_port *port;
	double expected = (double)n / mean, slack = 3.2905 * sqrt(expected), chi;
	unsigned classes, held, talkers;
	json_t *links;

	ck_assert_int_eq(sampling_create(rig.hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	memset(&talk, 0, sizeof(talk));
	for (unsigned turn = 0; turn < n / batch; turn++) {
		send_batch(batch, turn);
		linux_rig_settle(&rig);
	}
	ck_assert_msg(fabs((double)seen.n - expected) < slack, "%zu samples of %u at 1 in %u",
	    seen.n, n, mean);
	chi = distances_chi_square(seen.pool, seen.n, mean, &classes);
	ck_assert_msg(chi < distances_limit(classes), "chi-square %.1f of %zu samples at 1 in %u",
	    chi, seen.n, mean);
	port = linux_rig_port(&rig, "p0");
	links = linux_rig_json("ip -s -j link show p0");
	ck_assert_uint_eq(port->counters.value[HAL_POOL_IN_PKTS],
	    (uint64_t)json_integer_value(json_object_get(json_object_get(json_object_get(
		json_array_get(links, 0), "stats64"), "rx"), "packets")));
	json_decref(links);
	held = intervals_that_hold((double)port->counters.value[HAL_POOL_IN_PKTS], &talkers);
	printf("1 in %u: %zu samples of %u frames, chi-square %.1f (limit %.1f), %zu standstills, "
	       "%u of %u talkers' intervals hold\n", mean, seen.n, n, chi, distances_limit(classes),
	    seen.stalls, held, talkers);
	/* 95 % each: fewer than these once in a thousand runs, for 24 of them or a few. */
	ck_assert_uint_ge(held + (talkers > 8 ? 5 : 3), talkers);
	fflush(stdout);
	sampling_destroy(sampling);
	sampling = NULL;
}

START_TEST(samples_are_distributed_as_drawn)
{
	/* Few enough at once that a third sample seldom falls due before the next skip is loaded. */
	static const struct {
		unsigned mean, batch;
	} rows[] = {{100, 8}, {1000, 64}, {10000, 512}};

	if (!set_up(__func__))
		return;
	sample_many(rows[_i].mean, rows[_i].batch, (unsigned)suite_effort(1024000));
	linux_rig_stop(&rig);
}
END_TEST

static int
run_all(void)
{
	Suite *suite = suite_create("tap");
	TCase *registers = tcase_create("registers"), *life = tcase_create("coming and going");
	TCase *many = tcase_create("very many frames");

	tcase_set_timeout(registers, 60);
	tcase_add_checked_fixture(registers, forget, NULL);
	tcase_add_checked_fixture(life, forget, NULL);
	tcase_add_checked_fixture(many, forget, NULL);
	tcase_add_test(registers, every_frame_that_is_due_and_no_other);
	tcase_add_test(registers, it_stands_still_and_goes_on_counting);
	tcase_add_test(registers, standstills_are_counted_exactly);
	tcase_add_test(registers, one_counter_runs_over_both_directions);
	tcase_add_test(registers, emptied_it_forgets_and_asks_anew);
	tcase_add_test(registers, a_bridge_is_counted_and_its_ports_are_sampled);
	tcase_add_test(registers, its_own_notifications_are_not_sampled);
	suite_add_tcase(suite, registers);
	tcase_set_timeout(life, 60);
	tcase_add_test(life, nothing_stays_behind);
	tcase_add_test(life, a_storm_of_interfaces_leaves_no_tap);
	tcase_add_test(life, newer_hooks_go_with_the_agent);
	tcase_add_test(life, others_filters_stay);
	tcase_add_test(life, a_tap_that_another_removed_is_put_back);
	tcase_add_test(life, what_a_killed_agent_left_is_removed);
	tcase_add_test(life, without_privilege_counters_go_on);
	tcase_add_test(life, more_interfaces_than_files);
	suite_add_tcase(suite, life);
	tcase_set_timeout(many, 200);
	tcase_add_test(registers, without_settings_a_port_is_sampled_by_its_speed);
	tcase_add_loop_test(many, samples_are_distributed_as_drawn, 0, 3);
	suite_add_tcase(suite, many);
	return suite_run(suite);
}

int
main(void)
{
	if (getenv("EASE_QUICK")) {
		printf("SKIP taps: valgrind takes what libbpf hands to bpf(2) for uninitialised\n");
		return EXIT_SUCCESS;
	}
	return run_all();
}
