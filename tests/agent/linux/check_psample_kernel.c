/*
 * Sampling by psample, against a kernel that has it (tests/agent/linux/check_psample.sh boots one where this
 * machine's does not): filters come and go as they should, a rate changes, very many samples are
 * distributed as independent draws, and every sample that finds no room is told as lost.
 */
#include "agent/sampling/sampling.h"
#include "tests/agent/linux/distances.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES_MAX = 1 << 18, FRAME_OCTETS = 200, NUMBER_AT = 14 };

static const uint8_t to_nobody[6] = {0x02, 0x99, 0, 0, 0, 1};
static struct linux_rig rig;

static struct {
	uint32_t if_index; /* of the port looked at */
	uint8_t direction;
	size_t n;
	uint64_t position[SAMPLES_MAX]; /* of the frame, among all sent */
	uint64_t sent_before;		/* frames, before this batch */
	uint64_t lost;
	struct hal_sample_event last;
} seen;
static struct sampling *sampling; /* NULL: the test sets rates itself */

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	uint32_t number;

	(void)ctx;
	if (event->if_index == seen.if_index && event->direction == seen.direction) {
		ck_assert_uint_ge(event->kept_octets, NUMBER_AT + 4);
		memcpy(&number, event->octets + NUMBER_AT, sizeof(number));
		ck_assert_uint_lt(seen.n, SAMPLES_MAX);
		seen.position[seen.n++] = seen.sent_before + ntohl(number);
		seen.last = *event;
	}
	return sampling ? sampling_on_sample(sampling, event) : HAL_NO_SKIP;
}

static void
on_samples_lost(void *ctx, uint32_t if_index, uint32_t n)
{
	(void)ctx;
	if (if_index == seen.if_index)
		seen.lost += n;
	if (sampling)
		sampling_on_samples_lost(sampling, if_index, n);
}

static void
set_up(const char *test)
{
	rig = (struct linux_rig){0};
	memset(&seen, 0, sizeof(seen));
	ck_assert(linux_rig_enter(test));
	linux_rig_sh("ip link add p0 type veth peer name h0; ip link set p0 up; ip link set h0 up");
	linux_rig_sh("ethtool -K p0 gro off tso off gso off >/dev/null 2>&1 || true");
	rig.config.sampling = LINUX_SAMPLING_PSAMPLE;
	rig.listener.sample = on_sample;
	rig.listener.samples_lost = on_samples_lost;
	linux_rig_start(&rig);
	ck_assert(hal_has_sampling(rig.hal));
	seen.if_index = linux_rig_port(&rig, "p0")->if_index;
	seen.direction = EASE_IN;
}

static void
set_rate(uint32_t rate)
{
	ck_assert_int_eq(hal_set_sampling_rate(rig.hal, seen.if_index, rate), 0);
}

static void
send_and_settle(unsigned n)
{
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, n, 1);
	linux_rig_settle(&rig);
	seen.sent_before += n;
}

static bool
has_filters(const char *link, const char *what)
{
	return linux_rig_can("tc filter show dev %s ingress | grep -q '%s'", link, what) &&
	    linux_rig_can("tc filter show dev %s egress | grep -q '%s'", link, what);
}

static bool
has_hook(const char *link)
{
	return linux_rig_can("tc qdisc show dev %s | grep -q clsact", link);
}

START_TEST(a_rate_makes_filters_and_another_changes_them)
{
	set_up(__func__);
	ck_assert(!has_hook("p0"));
	ck_assert_int_eq(hal_load_skip(rig.hal, seen.if_index, 4), -ENODEV); /* it draws itself */
	set_rate(100);
	ck_assert(has_filters("p0", "sample rate 1/100 .*trunc_size 256"));
	ck_assert(!has_hook("h0"));
	set_rate(1);
	ck_assert(has_filters("p0", "sample rate 1/1 "));
	ck_assert(!has_filters("p0", "sample rate 1/100 "));
	send_and_settle(5);
	ck_assert_uint_eq(seen.n, 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(seen.position[i], i);
	ck_assert_uint_eq(seen.last.rate, 1);
	ck_assert_uint_eq(seen.last.pool_pkts, 5);
	ck_assert_uint_eq(seen.last.frame_octets, FRAME_OCTETS + 4);
	ck_assert_uint_eq(seen.last.kept_octets, FRAME_OCTETS);
	ck_assert_uint_eq(seen.last.input_if, seen.if_index);
	set_rate(0);
	ck_assert(!has_filters("p0", "sample"));
	send_and_settle(5);
	ck_assert_uint_eq(seen.n, 5);
	ck_assert_uint_eq(seen.lost, 0);
	linux_rig_stop(&rig);
	ck_assert(!has_hook("p0"));
}
END_TEST

START_TEST(other_filters_stay_and_see_every_frame)
{
	set_up(__func__);
	linux_rig_sh("tc qdisc add dev p0 clsact");
	linux_rig_sh("tc filter add dev p0 ingress prio 9 matchall action pass");
	set_rate(2);
	send_and_settle(1000);
	ck_assert(linux_rig_can("tc -s filter show dev p0 ingress prio 9 | grep -q ' 1000 pkt'"));
	linux_rig_stop(&rig);
	ck_assert(linux_rig_can("tc filter show dev p0 ingress | grep -q 'action pass'"));
	ck_assert(!linux_rig_can("tc filter show dev p0 ingress | grep -q sample"));
}
END_TEST

START_TEST(what_a_killed_agent_left_is_removed)
{
	pid_t child;
	int status;

	set_up(__func__);
	linux_rig_stop(&rig);
	linux_rig_sh("tc qdisc add dev h0 clsact"); /* a sampler of another program, configured as ours is */
	linux_rig_sh("tc filter add dev h0 ingress prio 1 handle 0xea5e matchall action sample rate 9 "
		     "group 5");
	child = fork();
	if (child == 0) {
		linux_rig_start(&rig);
		_exit(hal_set_sampling_rate(rig.hal, seen.if_index, 100) < 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert(has_filters("p0", "sample rate 1/100 "));
	rig.config.sampling = LINUX_SAMPLING_NONE; /* even one that does not sample cleans up */
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_cleaned"), 1);
	ck_assert(!has_hook("p0"));
	ck_assert(linux_rig_can("tc filter show dev h0 ingress | grep -q 'group 5'"));
	linux_rig_stop(&rig);
}
END_TEST

/* It says nothing; that the link counts and no sample comes tells. */
START_TEST(filters_that_another_removed_are_put_back)
{
	set_up(__func__);
	set_rate(8);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 100, 1);
	linux_rig_settle(&rig);
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	linux_rig_sh("tc qdisc del dev p0 clsact");
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 100, 1); /* too few to tell */
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	ck_assert(!has_hook("p0"));
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 100, 1);
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	ck_assert(has_filters("p0", "sample rate 1/8 "));
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_renewed"), 1);
	seen.n = 0;
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 200, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_gt(seen.n, 0);
	set_rate(1 << 20); /* none comes, and nobody has removed them */
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, 400, 1);
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.taps_renewed"), 1);
	linux_rig_sh("tc filter del dev p0 egress"); /* one side alone */
	set_rate(4);
	linux_rig_stop(&rig);
	ck_assert(!has_hook("p0"));
}
END_TEST

START_TEST(its_own_notifications_are_not_sampled)
{
	set_up(__func__);
	linux_rig_stop(&rig);
	rig.config.own_ports[0] = 10162;
	rig.config.n_own_ports = 1;
	linux_rig_sh("ip address add 192.0.2.1/24 dev p0; ip neigh add 192.0.2.2 lladdr "
		     "02:99:00:00:00:01 dev p0");
	linux_rig_start(&rig);
	seen.direction = EASE_OUT;
	set_rate(1);
	for (int i = 0; i < 2; i++) {
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

/* More samples come than the socket's buffer holds, and nothing reads it: the number lost is reported exactly. */
START_TEST(what_finds_no_room_is_told_as_lost)
{
	enum { MANY = 30000, MORE = 20 };

	set_up(__func__);
	set_rate(1);
	linux_rig_send("h0", to_nobody, FRAME_OCTETS, MANY, 1);
	linux_rig_settle(&rig);
	ck_assert_uint_lt(seen.n, MANY);
	ck_assert_uint_gt(linux_rig_stat(&rig, "linux.psample_overflows"), 0);
	send_and_settle(MORE); /* whose numbers show the gap */
	ck_assert_uint_eq(seen.n + seen.lost, MANY + MORE);
	ck_assert_uint_eq(linux_rig_stat(&rig, "linux.psample_lost"), seen.lost);
	printf("%zu of %d samples came, %llu were told as lost\n", seen.n, MANY + MORE,
	    (unsigned long long)seen.lost);
	fflush(stdout);
	linux_rig_stop(&rig);
}
END_TEST

/* ---- very many frames ---- */

static int
ignore_sample(void *ctx, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	(void)ctx;
	(void)snapshot;
	ck_assert_uint_eq(sample->skip + 1, sample->mean_skip);
	return 0;
}

static uint64_t
packets_of(const char *link)
{
	json_t *links = linux_rig_json("ip -s -j link show %s", link);
	uint64_t packets = (uint64_t)json_integer_value(json_object_get(json_object_get(
	    json_object_get(json_array_get(links, 0), "stats64"), "rx"), "packets"));

	json_decref(links);
	return packets;
}

static void
sample_many(unsigned mean, unsigned n)
{
	double expected = (double)n / mean;
	double slack = 3.2905 * sqrt(expected * (1 - 1.0 / mean)), chi; /* 99.9 % of binomial draws */
	unsigned classes;

	for (unsigned sent = 0; sent < n; sent += 2048)
		send_and_settle(2048);
	ck_assert_msg(fabs((double)seen.n - expected) < slack, "%zu samples of %u at 1 in %u",
	    seen.n, n, mean);
	ck_assert_uint_eq(seen.lost, 0);
	chi = distances_chi_square(seen.position, seen.n, mean, &classes);
	ck_assert_msg(chi < distances_limit(classes), "chi-square %.1f of %zu samples at 1 in %u",
	    chi, seen.n, mean);
	ck_assert_uint_eq(
	    linux_rig_port(&rig, "p0")->counters.value[HAL_POOL_IN_PKTS], packets_of("p0"));
	ck_assert_uint_eq(packets_of("p0"), n);
	printf("1 in %u: %zu samples of %u frames (%.0f +- %.0f), chi-square %.1f (limit %.1f)\n",
	    mean, seen.n, n, expected, slack, chi, distances_limit(classes));
	fflush(stdout);
}

START_TEST(samples_are_distributed_as_independent_draws)
{
	static const struct {
		unsigned mean, n;
	} rows[] = {{10, 1 << 17}, {100, 1 << 18}, {1000, 1 << 20}};
	struct sampling_options options = {.has_seed = true, .seed = 7, .defaults = {
	    .enabled = true, .mean_skip = rows[_i].mean, .header_octets = 128, .edge = true}};
	struct sampling_sink sink = {NULL, ignore_sample};

	set_up(__func__);
	ck_assert_int_eq(sampling_create(rig.hal, &options, &sink, &sampling), 0);
	ck_assert_int_eq(sampling_start(sampling), 0);
	sample_many(rows[_i].mean, rows[_i].n);
	sampling_destroy(sampling);
	sampling = NULL;
	linux_rig_stop(&rig);
}
END_TEST

/* As tc sees it, in a namespace that is gone then. */
static bool
kernel_has_psample(void)
{
	return system("unshare -n sh -c 'ip link add p0 type veth peer name h0 && "
		      "tc qdisc add dev p0 clsact && tc filter add dev p0 ingress matchall "
		      "action sample rate 1 group 1' >/dev/null 2>&1") == 0;
}

static int
run_all(void)
{
	Suite *suite = suite_create("psample in the kernel");
	TCase *life = tcase_create("coming and going"), *many = tcase_create("very many frames");

	tcase_set_timeout(life, 100);
	tcase_add_test(life, a_rate_makes_filters_and_another_changes_them);
	tcase_add_test(life, other_filters_stay_and_see_every_frame);
	tcase_add_test(life, what_a_killed_agent_left_is_removed);
	tcase_add_test(life, its_own_notifications_are_not_sampled);
	tcase_add_test(life, filters_that_another_removed_are_put_back);
	tcase_add_test(life, what_finds_no_room_is_told_as_lost);
	suite_add_tcase(suite, life);
	tcase_set_timeout(many, 600);
	tcase_add_loop_test(many, samples_are_distributed_as_independent_draws, 0, 3);
	suite_add_tcase(suite, many);
	return suite_run(suite);
}

int
main(void)
{
	if (!kernel_has_psample()) {
		printf("SKIP psample: this kernel has none, or it is not permitted\n");
		return EXIT_SUCCESS;
	}
	return run_all();
}
