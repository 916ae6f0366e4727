/*
 * The Linux device against the kernel, in network namespaces: at every step of adding, removing,
 * renaming and flapping interfaces its ports and counters are what ip says; numbers stay with
 * names; lost notices are made up for; changes asked for arrive or are refused with the kernel's
 * reason.
 */
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const uint8_t to_all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static struct linux_rig rig;

/* Each test begins anew, also where all run in one process. */
static void
forget(void)
{
	rig = (struct linux_rig){0};
}

/* br0 with ports p0..p3, whose other ends are h0..h3. */
static void
make_bridge(void)
{
	linux_rig_sh("ip link add br0 type bridge mcast_snooping 0");
	for (int i = 0; i < 4; i++) {
		linux_rig_sh("ip link add p%d type veth peer name h%d", i, i);
		linux_rig_sh("ip link set p%d master br0 up; ip link set h%d up", i, i);
	}
	linux_rig_sh("ip link set br0 up");
}

/* Ports and addresses. */
static void
expect_as_kernel(void)
{
	linux_rig_expect_as_ip(&rig);
	linux_rig_expect_as_bridge(&rig);
}

START_TEST(ports_are_what_ip_says_at_every_step)
{
	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	ck_assert_uint_eq(hal_n_ports(rig.hal), 10);
	expect_as_kernel();

	linux_rig_send("h0", to_all, 60, 1000, 10);
	linux_rig_send("h1", to_all, 1514, 500, 10);
	expect_as_kernel();
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->counters.value[HAL_IN_OCTETS], 64 * 1000);
	ck_assert_uint_eq(linux_rig_port(&rig, "p0")->counters.value[HAL_OUT_OCTETS], 1518 * 500);

	linux_rig_sh("ip link add p4 type veth peer name h4"); /* plugged in */
	linux_rig_sh("ip link set p4 master br0 up; ip link set h4 up");
	linux_rig_send("h0", to_all, 100, 77, 1);
	expect_as_kernel();
	ck_assert_uint_gt(linux_rig_port(&rig, "p4")->discontinuity_us, 0);

	linux_rig_sh("ip link set p1 down; ip link set p1 name uplink; ip link set uplink up");
	expect_as_kernel();

	linux_rig_sh("ip link set h2 down"); /* the wire is pulled */
	linux_rig_expect_oper_status(&rig, "p2", EASE_IF_DOWN);
	expect_as_kernel();
	linux_rig_sh("ip link set h2 up");
	linux_rig_expect_oper_status(&rig, "p2", EASE_IF_UP);
	expect_as_kernel();
	ck_assert_uint_gt(linux_rig_port(&rig, "p2")->last_change_mono_us, 0);

	linux_rig_sh("ip link set p0 mtu 1400; ip link set p0 alias 'to the server room'");
	linux_rig_sh("ip link set p0 address 02:00:5e:10:00:77");
	expect_as_kernel();

	linux_rig_sh("ip link del p4; ip link del p3");
	expect_as_kernel();
	ck_assert_uint_eq(hal_n_ports(rig.hal), 8);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(an_idle_port_says_that_nothing_changed)
{
	const struct hal_counters_ops *counters;
	uint32_t p0;
	void *ctx;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	counters = rig.device->counters;
	ctx = rig.device->counters_ctx;
	p0 = if_nametoindex("p0");
	for (unsigned i = 0; i < 100 && counters->fetch(ctx, p0) != 0; i++)
		linux_rig_sh("sleep 0.05"); /* until the bridge has said all that it has to say */
	ck_assert_int_eq(counters->fetch(ctx, p0), 0);
	linux_rig_send("h0", to_all, 60, 1, 1);
	ck_assert_int_eq(counters->fetch(ctx, p0), 1);
	ck_assert_int_eq(counters->fetch(ctx, 9999), -ENODEV);
	linux_rig_stop(&rig);
}
END_TEST

/* As `tc -s qdisc` says. */
static uint64_t
queue_dropped(const char *interface)
{
	json_t *queues = linux_rig_json("tc -s -j qdisc show dev %s root", interface);
	uint64_t n = (uint64_t)json_integer_value(json_object_get(json_array_get(queues, 0), "drops"));

	json_decref(queues);
	return n;
}

static uint64_t
out_discards(const char *interface)
{
	ck_assert_int_eq(hal_refresh_all(rig.hal), 0); /* queues are read with all ports */
	return linux_rig_port(&rig, interface)->counters.value[HAL_OUT_DISCARDS];
}

/* The link's own counters lack them. */
START_TEST(what_a_queue_drops_is_discarded)
{
	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	if (!linux_rig_can("tc qdisc add dev p1 root handle 1: pfifo limit 0")) {
		printf("SKIP queues: no tc, or this kernel has no pfifo\n");
		return;
	}
	linux_rig_send("h0", to_all, 60, 7, 1); /* before the device begins */
	linux_rig_start(&rig);
	ck_assert_uint_eq(out_discards("p1"), 7);
	linux_rig_send("h0", to_all, 60, 1000, 1);
	ck_assert_uint_eq(queue_dropped("p1"), 1007);
	ck_assert_uint_eq(out_discards("p1"), 1007);
	ck_assert_uint_eq(out_discards("p2"), 0);
	linux_rig_sh("tc qdisc delete dev p1 root");
	linux_rig_send("h0", to_all, 60, 5, 1);
	ck_assert_uint_eq(out_discards("p1"), 1007);
	linux_rig_sh("tc qdisc add dev p1 root handle 1: pfifo limit 0"); /* counts from 0, with the handle that it had */
	linux_rig_send("h0", to_all, 60, 2000, 1);
	ck_assert_uint_eq(out_discards("p1"), 3007);
	linux_rig_sh("tc qdisc replace dev p1 root handle 2: pfifo limit 0");
	linux_rig_send("h0", to_all, 60, 3, 1);
	ck_assert_uint_eq(queue_dropped("p1"), 3);
	ck_assert_uint_eq(out_discards("p1"), 3010);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(speed_and_duplex_are_the_drivers)
{
	const struct hal_port *port;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	port = linux_rig_port(&rig, "p0");
	if (!linux_rig_can("ethtool p0 | grep -q 'Speed: 10000Mb/s'")) {
		printf("SKIP speed: no ethtool, or veth has another speed here\n");
	} else {
		ck_assert_uint_eq(port->speed_bps, 10000000000ull);
		ck_assert_uint_eq(port->duplex, EASE_DUPLEX_FULL);
	}
	ck_assert_uint_eq(port->if_type, 6);
	ck_assert(!port->has_connector);
	ck_assert(!port->off_bridge);
	ck_assert(linux_rig_port(&rig, "h0")->off_bridge && linux_rig_port(&rig, "br0")->off_bridge);
	ck_assert_uint_eq(linux_rig_port(&rig, "br0")->if_type, 209);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(numbers_stay_with_names)
{
	static const struct links_name kept[] = {{"p1", 700}, {"p2", 3}, {"gone", 4}};
	uint32_t p0, p1, p3;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	rig.config.kept = kept;
	rig.config.n_kept = 3;
	linux_rig_start(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "p1")->if_index, 700);
	ck_assert_uint_eq(linux_rig_port(&rig, "p2")->if_index, 3);
	p0 = linux_rig_port(&rig, "p0")->if_index;
	p3 = linux_rig_port(&rig, "p3")->if_index;
	ck_assert_uint_ne(p0, 4); /* another name's */

	/* Renamed while it lives, it is the same port; taken out and put in again, too. */
	linux_rig_sh("ip link set p0 down; ip link set p0 name wan; ip link set wan up");
	linux_rig_sh("ip link del p3; ip link add p3 type veth peer name h3; ip link set p3 up");
	linux_rig_expect_as_ip(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "wan")->if_index, p0);
	ck_assert_uint_eq(linux_rig_port(&rig, "p3")->if_index, p3);

	/* Both in one breath: names that change places. */
	p1 = linux_rig_port(&rig, "p1")->if_index;
	linux_rig_sh("ip link set p1 down; ip link set wan down; ip link set p1 name x;"
		     "ip link set wan name p1; ip link set x name wan");
	linux_rig_expect_as_ip(&rig);
	ck_assert_uint_eq(linux_rig_port(&rig, "wan")->if_index, p1);
	ck_assert_uint_eq(linux_rig_port(&rig, "p1")->if_index, p0);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(lost_notices_are_made_up_for)
{
	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	rig.config.notice_buffer_octets = 4096;
	linux_rig_start(&rig);
	linux_rig_sh("for i in $(seq 20 60); do ip link add v$i type veth peer name w$i; done");
	linux_rig_sh("ip link del p2; ip link add p2 type veth peer name h2");
	linux_rig_sh("ip link set p1 down; ip link set p1 name uplink");
	linux_rig_expect_as_ip(&rig);
	ck_assert_uint_ge(linux_rig_stat(&rig, "linux.overflows"), 1);
	ck_assert_uint_eq(hal_n_ports(rig.hal), 10 + 82);
	linux_rig_stop(&rig);
}
END_TEST

/* What the process holds: descriptors, and memory that is allocated. */
struct held {
	size_t descriptors, octets;
};

static struct held
now_held(void)
{
	struct held held = {.octets = mallinfo2().uordblks + mallinfo2().hblkhd};
	DIR *dir = opendir("/proc/self/fd");

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		held.descriptors++;
	closedir(dir);
	return held;
}

enum { LEAK_OCTETS = 20000 }; /* ten for each interface that came and went */

/* Interfaces come and go; every other time the notification arrives after they are gone. */
static void
storm(int n, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		linux_rig_sh("seq %d | sed 's/.*/link add s& group 7 type ifb/' | ip -batch -", n);
		if (i % 2)
			linux_rig_settle(&rig);
		linux_rig_sh("ip link del group 7");
	}
	linux_rig_expect_as_ip(&rig);
}

START_TEST(a_storm_of_interfaces_leaves_nothing)
{
	struct held before, after;
	int n = suite_effort(2000) / 10;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	/* after it names are known, and tables as large as they need be, for reading all again, too */
	storm(n, 4);
	before = now_held();
	storm(n, 10);
	ck_assert_uint_eq(hal_n_ports(rig.hal), 10);
	after = now_held();
	ck_assert_uint_eq(after.descriptors, before.descriptors);
	ck_assert_msg(after.octets < before.octets + LEAK_OCTETS, "%zu octets more",
	    after.octets - before.octets);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(what_a_manager_sets_reaches_the_kernel)
{
	uint32_t p0;
	json_t *links;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	p0 = linux_rig_port(&rig, "p0")->if_index;
	ck_assert_int_eq(hal_set_alias(rig.hal, p0, "rack 7"), 0);
	ck_assert_int_eq(hal_set_admin_status(rig.hal, p0, EASE_IF_DOWN), 0);
	links = linux_rig_json("ip -j link show p0");
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(links, 0), "ifalias")),
	    "rack 7");
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(links, 0), "operstate")),
	    "DOWN");
	json_decref(links);
	linux_rig_expect_as_ip(&rig);
	ck_assert_int_eq(hal_set_admin_status(rig.hal, p0, EASE_IF_UP), 0);
	ck_assert_int_eq(hal_set_alias(rig.hal, p0, ""), 0);
	linux_rig_expect_as_ip(&rig);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(without_privilege_it_reads_and_refuses_to_set)
{
	int status;
	pid_t child;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	child = fork();
	if (child == 0) {
		uint32_t p0;

		if (setresuid(65534, 65534, 65534) < 0)
			_exit(3);
		linux_rig_start(&rig);
		linux_rig_expect_as_ip(&rig);
		p0 = linux_rig_port(&rig, "p0")->if_index;
		if (hal_set_admin_status(rig.hal, p0, EASE_IF_DOWN) != -EPERM)
			_exit(1);
		if (hal_set_alias(rig.hal, p0, "mine") != -EPERM)
			_exit(2);
		linux_rig_stop(&rig);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- addresses ---- */

START_TEST(addresses_are_what_bridge_says)
{
	static const uint8_t source_0[6] = {0x02, 0x10, 0, 0, 0, 0};
	uint32_t p1;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_send("h0", to_all, 60, 100, 100);
	linux_rig_start(&rig);
	linux_rig_expect_as_bridge(&rig); /* known before it started, and not new */
	ck_assert_uint_eq(rig.n_new_addresses, 0);

	linux_rig_send("h1", to_all, 60, 1, 1); /* one moves from p0 to p1 */
	linux_rig_expect_new_addresses(&rig, 1);
	linux_rig_expect_as_bridge(&rig);
	p1 = linux_rig_port(&rig, "p1")->if_index;
	ck_assert_uint_eq(rig.n_new_addresses, 1);
	ck_assert_uint_eq(rig.newest.if_index, p1);
	ck_assert_mem_eq(rig.newest.mac, source_0, 6);

	linux_rig_sh("bridge fdb add 02:77:00:00:00:01 dev p2 master static");
	linux_rig_sh("bridge fdb add 02:77:00:00:00:02 dev p3 master");
	linux_rig_expect_as_bridge(&rig);
	linux_rig_sh("bridge fdb del 02:77:00:00:00:01 dev p2 master");
	linux_rig_expect_as_bridge(&rig);

	linux_rig_sh("ip link set p0 down"); /* and what was learned there is gone */
	linux_rig_expect_as_bridge(&rig);
	linux_rig_sh("ip link del p1");
	linux_rig_expect_as_bridge(&rig);
	linux_rig_sh("ip link del br0");
	linux_rig_expect_as_bridge(&rig);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(addresses_are_tied_to_ports)
{
	static const uint8_t station[6] = {0x02, 0x10, 0, 0, 0, 0};
	uint32_t p1, p2, br0;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	p1 = linux_rig_port(&rig, "p1")->if_index;
	p2 = linux_rig_port(&rig, "p2")->if_index;
	br0 = linux_rig_port(&rig, "br0")->if_index;
	ck_assert_int_eq(hal_set_static(rig.hal, station, p1), 0);
	ck_assert(linux_rig_can("bridge fdb show dev p1 | grep -q '02:10:00:00:00:00.* static'"));
	linux_rig_expect_as_bridge(&rig);
	linux_rig_send("h0", to_all, 60, 10, 1); /* it sends at another port, and stays there */
	linux_rig_expect_as_bridge(&rig);
	ck_assert(linux_rig_can("bridge fdb show dev p1 | grep -q 02:10:00:00:00:00"));
	ck_assert_int_eq(hal_set_static(rig.hal, station, p2), 0);
	ck_assert(linux_rig_can("bridge fdb show dev p2 | grep -q '02:10:00:00:00:00.* static'"));
	ck_assert(!linux_rig_can("bridge fdb show dev p1 | grep -q 02:10:00:00:00:00"));
	linux_rig_expect_as_bridge(&rig);
	ck_assert_int_eq(hal_set_static(rig.hal, station, br0), -ENODEV); /* no bridge's port */
	ck_assert_int_eq(hal_set_static(rig.hal, station, 0), 0);
	ck_assert(!linux_rig_can("bridge fdb show | grep -q 02:10:00:00:00:00"));
	linux_rig_expect_as_bridge(&rig);
	ck_assert_int_eq(hal_set_static(rig.hal, station, 0), 0); /* gone is gone */
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(without_a_bridge_there_is_no_table)
{
	const struct hal_snapshot *snapshot;

	if (!linux_rig_enter(__func__))
		return;
	linux_rig_sh("ip link add p0 type veth peer name h0");
	linux_rig_start(&rig);
	ck_assert_int_eq(hal_refresh(rig.hal, 0), 0);
	snapshot = hal_snapshot_hold(rig.hal);
	ck_assert(!snapshot->has_addresses);
	hal_snapshot_release(snapshot);
	ck_assert_int_eq(hal_set_ageing_s(rig.hal, 60), -ENODEV);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(ageing_is_the_bridges)
{
	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	ck_assert_uint_eq(hal_ageing_s(rig.hal), 300);
	ck_assert_int_eq(hal_set_ageing_s(rig.hal, 60), 0);
	linux_rig_sh("ip -d -j link show br0 | grep -q '\"ageing_time\":6000,'");
	linux_rig_sh("ip link set br0 type bridge ageing_time 100"); /* a second */
	linux_rig_settle(&rig);
	ck_assert_uint_eq(hal_ageing_s(rig.hal), 1);
	linux_rig_send("h0", to_all, 60, 50, 50);
	linux_rig_expect_as_bridge(&rig);
	/* When the kernel looks at them is its affair: after seconds, or a minute where it has much to do. */
	for (int tries = 0; tries < 3000 && linux_rig_can("bridge fdb | grep -q ^02:10:"); tries++)
		usleep(20000);
	linux_rig_expect_as_bridge(&rig);
	if (linux_rig_can("bridge fdb | grep -q ^02:10:"))
		printf("SKIP addresses that leave: the kernel's bridge kept them for more than a minute\n");
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(addresses_by_vlan)
{
	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	if (!linux_rig_can("ip link set br0 type bridge vlan_filtering 1")) {
		printf("SKIP addresses by VLAN: this kernel's bridge knows no VLANs\n");
		return;
	}
	linux_rig_start(&rig);
	linux_rig_sh("bridge vlan add dev p0 vid 30; bridge vlan add dev p1 vid 40");
	linux_rig_sh("bridge fdb add 02:77:00:00:00:01 dev p0 master static vlan 30");
	linux_rig_sh("bridge fdb add 02:77:00:00:00:01 dev p1 master static vlan 40");
	linux_rig_expect_as_bridge(&rig);
	linux_rig_stop(&rig);
}
END_TEST

START_TEST(lost_address_notices_are_made_up_for)
{
	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	rig.config.notice_buffer_octets = 4096;
	linux_rig_start(&rig);
	linux_rig_send("h0", to_all, 60, 5000, 5000);
	linux_rig_send("h1", to_all, 60, 500, 500);
	linux_rig_expect_as_bridge(&rig);
	ck_assert_uint_ge(linux_rig_stat(&rig, "linux.overflows"), 1);
	linux_rig_stop(&rig);
}
END_TEST

/* Processor time of this thread: what a turn of the agent's main loop takes, on a busy machine too. */
static double
spent_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
keep_longest(double since_ms, double *longest_ms)
{
	double ms = spent_ms() - since_ms;

	if (ms > *longest_ms)
		*longest_ms = ms;
}

/* Dispatches and refreshes as the main loop does, until no message waits. */
static void
run_turns(double *dispatch_ms, double *refresh_ms)
{
	struct pollfd fd = {.fd = hal_fd(rig.hal), .events = POLLIN};
	double since;
	int rc;

	while (poll(&fd, 1, 0) > 0) {
		since = spent_ms();
		ck_assert_int_ge(hal_dispatch(rig.hal, 64), 0);
		keep_longest(since, dispatch_ms);
	}
	do {
		since = spent_ms();
		rc = hal_refresh(rig.hal, 64);
		keep_longest(since, refresh_ms);
	} while (rc > 0);
	ck_assert_int_eq(rc, 0);
}

START_TEST(a_hundred_thousand_addresses)
{
	unsigned n = suite_is_slow() ? 2500 : 100000, limit_ms = SUITE_SANITIZES ? 1000 : 100;
	double dispatch_ms = 0, refresh_ms = 0, again_ms = 0;

	if (!linux_rig_enter(__func__))
		return;
	make_bridge();
	linux_rig_start(&rig);
	for (unsigned have = 1000; have < n; have *= 2) { /* learned while they come */
		linux_rig_send("h0", to_all, 60, have, have);
		run_turns(&dispatch_ms, &refresh_ms);
	}
	linux_rig_send("h0", to_all, 60, n, n);
	run_turns(&dispatch_ms, &refresh_ms);
	linux_rig_expect_as_bridge(&rig);
	run_turns(&dispatch_ms, &refresh_ms);
	run_turns(&again_ms, &again_ms);
	printf("%u addresses: longest turn %.1f ms to hear, %.1f ms to publish, %.1f ms when nothing "
	       "has changed\n", n, dispatch_ms, refresh_ms, again_ms);
	fflush(stdout);
	/* No turn keeps samples and SETs waiting: a fraction of the time in which SNMP asks again. */
	ck_assert_double_lt(dispatch_ms, limit_ms);
	ck_assert_double_lt(refresh_ms, limit_ms);
	ck_assert_double_lt(again_ms, limit_ms / 5);
	linux_rig_expect_as_bridge(&rig); /* nevertheless */
	linux_rig_stop(&rig);
}
END_TEST

static int
run_all(void)
{
	Suite *suite = suite_create("linux");
	TCase *tc = tcase_create("kernel"), *many = tcase_create("very many");

	tcase_set_timeout(tc, 120);
	tcase_set_timeout(many, getenv("EASE_LONG") ? 600 : 60); /* the kernel takes its time */
	tcase_add_checked_fixture(tc, forget, NULL);
	tcase_add_checked_fixture(many, forget, NULL);
	tcase_add_test(tc, ports_are_what_ip_says_at_every_step);
	tcase_add_test(tc, an_idle_port_says_that_nothing_changed);
	tcase_add_test(tc, what_a_queue_drops_is_discarded);
	tcase_add_test(tc, speed_and_duplex_are_the_drivers);
	tcase_add_test(tc, numbers_stay_with_names);
	tcase_add_test(many, lost_notices_are_made_up_for);
	tcase_add_test(many, a_storm_of_interfaces_leaves_nothing);
	tcase_add_test(tc, what_a_manager_sets_reaches_the_kernel);
	tcase_add_test(tc, without_privilege_it_reads_and_refuses_to_set);
	tcase_add_test(tc, addresses_are_what_bridge_says);
	tcase_add_test(tc, addresses_are_tied_to_ports);
	tcase_add_test(tc, without_a_bridge_there_is_no_table);
	tcase_add_test(tc, ageing_is_the_bridges);
	tcase_add_test(tc, addresses_by_vlan);
	tcase_add_test(many, lost_address_notices_are_made_up_for);
	tcase_add_test(many, a_hundred_thousand_addresses);
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, many);
	return suite_run(suite);
}

int
main(void)
{
	if (getenv("EASE_QUICK")) {
		printf("SKIP linux: valgrind takes what libbpf reads of the kernel for uninitialised\n");
		return EXIT_SUCCESS;
	}
	return run_all();
}
