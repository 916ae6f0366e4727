/*
 * The Linux device's sampling with each thing that it asks of the kernel failing once, and from there
 * on: taps at both kinds of hooks with libbpf's calls among them, what ethtool's netlink tells, and
 * psample, whose family no kernel of a test machine has and which is therefore played here, answers
 * and samples made by hand. Each fault at the start, while samples come and at the end must be
 * refused or show in a counter, leave no program, filter or hook at the link, and be over when it is.
 */
#include "agent/linux/netlink.h"
#include "agent/linux/psample.h"
#include "common/log.h"
#include "tests/faults/faults.h"
#include "tests/faults/faults_private.h"
#include "tests/agent/linux/linux_rig.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/pkt_cls.h>
#include <linux/psample.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	RUNS = 12, /* of faults drawn from all of a scenario's calls */
	NETLINK_RUNS = 30,
	FRAMES = 3,
	FRAME_OCTETS = 100,
	TURNS = 50,
	RATE = 100,
	FAKE_TYPE = 0x7e,
	FAKE_GROUP = 0x7ea5e,
};
#define AT_RUN (FAULT_ALL & ~FAULT_BIT(FAULT_READING))

static const uint8_t to_nobody[6] = {0x02, 0x99, 0, 0, 0, 1};

/* ---- psample, as the kernel has it ---- */

static struct {
	bool plays;
	bool filters[2];  /* received, sent: at p0 */
	uint32_t group[2];
	uint32_t number;
	int ear;	  /* the device's, which it closes; readable: a sample */
} kernel;

int __real_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take,
    void *ctx);
int __wrap_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take,
    void *ctx);
int __real_netlink_family(struct netlink *netlink, const char *name, uint16_t *type);
int __wrap_netlink_family(struct netlink *netlink, const char *name, uint16_t *type);
int __real_netlink_group(struct netlink *netlink, const char *family, const char *name,
    unsigned *group);
int __wrap_netlink_group(struct netlink *netlink, const char *family, const char *name,
    unsigned *group);
int __real_netlink_listen(int protocol, const unsigned *groups, int octets, int *fd);
int __wrap_netlink_listen(int protocol, const unsigned *groups, int octets, int *fd);
int __real_netlink_receive(int fd, netlink_handler take, void *ctx);
int __wrap_netlink_receive(int fd, netlink_handler take, void *ctx);

static bool
is_matchall(const struct nlmsghdr *question)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, question, sizeof(struct tcmsg))
		if (mnl_attr_get_type(attr) == TCA_KIND)
			return strcmp(mnl_attr_get_str(attr), "matchall") == 0;
	return false;
}

/* A change of filters: refused, or done, or done and the answer lost. */
static int
change_filter(const struct nlmsghdr *question)
{
	const struct tcmsg *head = mnl_nlmsg_get_payload(question);
	bool out = TC_H_MIN(head->tcm_parent) == TC_H_MIN(TC_H_MIN_EGRESS);
	bool puts = question->nlmsg_type == RTM_NEWTFILTER;
	unsigned way = faults_hit(FAULT_NETLINK, "a change of filters") ? 1 + faults_way(3) : 0;

	if (way == 1)
		return -ENOMEM;
	if (kernel.filters[out] == puts)
		return way == 2 ? -ENOBUFS : puts ? -EEXIST : -ENOENT;
	kernel.filters[out] = puts;
	return way == 0 ? 0 : way == 2 ? -ENOBUFS : -EINTR;
}

int
__wrap_netlink_request(struct netlink *netlink, struct nlmsghdr *question, netlink_handler take, void *ctx)
{
	uint16_t type = question->nlmsg_type;

	if (!kernel.plays || (type != RTM_NEWTFILTER && type != RTM_DELTFILTER) ||
	    !is_matchall(question))
		return __real_netlink_request(netlink, question, take, ctx);
	if (((struct tcmsg *)mnl_nlmsg_get_payload(question))->tcm_ifindex !=
	    (int)if_nametoindex("p0"))
		return -EOPNOTSUPP;
	return change_filter(question);
}

int
__wrap_netlink_family(struct netlink *netlink, const char *name, uint16_t *type)
{
	if (!kernel.plays || strcmp(name, PSAMPLE_GENL_NAME) != 0)
		return __real_netlink_family(netlink, name, type);
	*type = FAKE_TYPE;
	return faults_hit(FAULT_NETLINK, "the family") ? -ENOBUFS : 0;
}

int
__wrap_netlink_group(struct netlink *netlink, const char *family, const char *name, unsigned *group)
{
	if (!kernel.plays || strcmp(family, PSAMPLE_GENL_NAME) != 0)
		return __real_netlink_group(netlink, family, name, group);
	*group = FAKE_GROUP;
	return faults_hit(FAULT_NETLINK, "the group") ? -ENOBUFS : 0;
}

int
__wrap_netlink_listen(int protocol, const unsigned *groups, int octets, int *fd)
{
	if (groups[0] != FAKE_GROUP)
		return __real_netlink_listen(protocol, groups, octets, fd);
	if (faults_hit(FAULT_OPENING, "the ear"))
		return -EMFILE;
	faults_spare(true);
	*fd = kernel.ear = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
	faults_spare(false);
	return kernel.ear < 0 ? -errno : 0;
}

/* What the filter for received frames would send. */
static struct nlmsghdr *
sample(void)
{
	static uint8_t octets[1024] __attribute__((aligned(8)));
	static const uint8_t frame[FRAME_OCTETS] = {0x02, 0x99};
	struct nlmsghdr *message = mnl_nlmsg_put_header(octets);
	struct psample_filter filter = {.kernel_index = if_nametoindex("p0"), .epoch = 1};
	struct genlmsghdr *head;

	message->nlmsg_type = FAKE_TYPE;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->cmd = PSAMPLE_CMD_SAMPLE;
	mnl_attr_put_u32(message, PSAMPLE_ATTR_SAMPLE_RATE, RATE);
	mnl_attr_put_u32(message, PSAMPLE_ATTR_ORIGSIZE, FRAME_OCTETS);
	mnl_attr_put_u32(message, PSAMPLE_ATTR_SAMPLE_GROUP, psample_filter_group(&filter, false));
	mnl_attr_put_u32(message, PSAMPLE_ATTR_GROUP_SEQ, kernel.number++);
	mnl_attr_put(message, PSAMPLE_ATTR_DATA, sizeof(frame), frame);
	return message;
}

int
__wrap_netlink_receive(int fd, netlink_handler take, void *ctx)
{
	uint64_t one;

	if (!kernel.plays || fd != kernel.ear)
		return __real_netlink_receive(fd, take, ctx);
	if (eventfd_read(fd, &one) < 0)
		return 0;
	if (faults_hit(FAULT_SOCKET, "a sample")) /* gone, as its number tells */
		return kernel.number++, faults_way(2) ? -ENOBUFS : -EPROTO;
	return take(ctx, sample()) == 0 ? 1 : -EPROTO;
}

/* ---- one life of the device ---- */

struct life {
	int sampling; /* enum linux_sampling */
	bool classic;
	struct linux_rig rig;
	unsigned n_samples;
};

static int64_t
on_sample(void *ctx, const struct hal_sample_event *event)
{
	struct life *life = ctx;

	(void)event;
	life->n_samples++;
	return HAL_NO_SKIP;
}

/* Without faults, what is under test has no part in it. */
static void
expect_nothing_left(void)
{
	faults_spare(true);
	faults_assert(!linux_rig_can("tc qdisc show | grep clsact"), "a hook is left (%s failed)",
	    faults_last());
	faults_assert(!kernel.filters[0] && !kernel.filters[1], "a filter is left (%s failed)",
	    faults_last());
	faults_spare(false);
}

/* Who can ask for nothing any more can remove nothing. Programs and filters, which the next start
 * knows for ours, must go then; of a hook with nothing at it nobody can tell whose it is. */
static void
remove_bare_hooks(void)
{
	faults_spare(true);
	linux_rig_sh("for d in p0 h0; do { tc filter show dev $d ingress; tc filter show dev $d egress; }"
		     " 2>/dev/null | grep -q . || tc qdisc del dev $d clsact 2>/dev/null; done; true");
	kernel.filters[0] = kernel.filters[1] = false; /* a real one's: check_psample_kernel */
	faults_spare(false);
}

static uint64_t
count_of(struct life *life, const char *name)
{
	uint64_t n;

	faults_spare(true);
	n = linux_rig_stat(&life->rig, name);
	faults_spare(false);
	return n;
}

static void
dispatch(struct life *life)
{
	struct pollfd fd = {.fd = hal_fd(life->rig.hal), .events = POLLIN};

	for (unsigned i = 0; i < TURNS && poll(&fd, 1, 0) > 0; i++)
		hal_dispatch(life->rig.hal, 64);
}

/* One frame to be sampled comes by. */
static void
let_one_come(struct life *life, uint32_t if_index)
{
	static const uint64_t one = 1;

	if (life->sampling == LINUX_SAMPLING_EBPF)
		(void)hal_load_skip(life->rig.hal, if_index, 0);
	faults_spare(true);
	if (life->sampling == LINUX_SAMPLING_EBPF)
		linux_rig_send("h0", to_nobody, FRAME_OCTETS, 1, 1);
	else if (kernel.ear >= 0 && kernel.filters[0] && write(kernel.ear, &one, sizeof(one)) < 0)
		ck_abort_msg("%s", strerror(errno));
	faults_spare(false);
	dispatch(life);
}

/* By its name, without asking anybody; 0: there is none. */
static uint32_t
port_p0(struct life *life)
{
	uint32_t if_index;
	const struct hal_port *port;

	faults_spare(true);
	port = linux_rig_port(&life->rig, "p0");
	if_index = port ? port->if_index : 0;
	faults_spare(false);
	return if_index;
}

static int
sample_frames(struct life *life)
{
	uint32_t if_index = port_p0(life);
	struct hal_counters counters;
	int rc = 0;

	if (!hal_has_sampling(life->rig.hal) || if_index == 0)
		return -EOPNOTSUPP;
	if (life->sampling == LINUX_SAMPLING_PSAMPLE)
		rc = hal_set_sampling_rate(life->rig.hal, if_index, RATE);
	for (unsigned i = 0; i < FRAMES; i++)
		let_one_come(life, if_index);
	(void)hal_read_counters(life->rig.hal, if_index, &counters);
	return rc;
}

/* Frames that were not sampled are no secret. */
static bool
is_told(struct life *life)
{
	static const char *const counters[] = {"linux.taps_refused", "linux.psample_lost",
	    "linux.psample_overflows", "linux.damaged", "linux.samples_outdated",
	    "linux.ring_errors"};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (count_of(life, counters[i]) > 0)
			return true;
	return false;
}

static int
live(struct life *life)
{
	int rc = hal_start(life->rig.hal);

	if (rc == 0)
		rc = sample_frames(life);
	if (rc == 0 && life->n_samples < FRAMES) {
		faults_assert(is_told(life), "%u samples came (%s failed), and nothing says why",
		    life->n_samples, faults_last());
		rc = -ENODATA;
	}
	return rc;
}

static int
run_device(void *arg)
{
	struct life *life = arg;
	char error[256] = "";
	int rc;

	kernel.ear = -1;
	kernel.number = 0;
	life->n_samples = 0;
	life->rig = (struct linux_rig){
	    .config = {.clock = &clock_system, .sampling = life->sampling,
		.classic_hooks = life->classic},
	    .listener = {.ctx = life, .sample = on_sample}};
	rc = linux_create(&life->rig.config, &life->rig.device, error, sizeof(error));
	faults_assert((rc < 0) == (error[0] != '\0'), "%d: %s", rc, error);
	if (rc == 0)
		rc = hal_create(life->rig.device, &clock_system, &life->rig.hal);
	if (rc == 0) {
		hal_set_listener(life->rig.hal, &life->rig.listener);
		rc = live(life);
		hal_destroy(life->rig.hal);
	}
	if (faults_planned() && faults_go_on())
		remove_bare_hooks();
	else
		expect_nothing_left();
	return rc;
}

/* ---- the tests ---- */

static bool
set_up(const char *test, struct life *life)
{
	int rc;

	log_set_most(LOG_LEVEL_ERROR);
	if (!linux_rig_enter(test))
		return false;
	linux_rig_sh("ip link add p0 type veth peer name h0; ip link set p0 up; ip link set h0 up");
	kernel.plays = life->sampling == LINUX_SAMPLING_PSAMPLE;
	rc = run_device(life);
	if (rc < 0) {
		printf("SKIP %s: nothing can be sampled here: %s\n", test, strerror(-rc));
		fflush(stdout);
		return false;
	}
	return true;
}

START_TEST(taps_are_there_or_not)
{
	struct life life = {.sampling = LINUX_SAMPLING_EBPF, .classic = _i};

	if (getenv("EASE_QUICK")) {
		printf("SKIP taps: valgrind takes what libbpf hands to bpf(2) for uninitialised\n");
		return;
	}
	if (!set_up(__func__, &life))
		return;
	faults_exhaust(_i ? "taps at clsact, eBPF" : "taps at tcx, eBPF", FAULT_BIT(FAULT_EBPF),
	    FAULTS_EVERY, run_device, &life);
	faults_exhaust(_i ? "taps at clsact, all" : "taps at tcx, all", AT_RUN, RUNS, run_device,
	    &life);
	life.rig.hal = NULL; /* destroyed: what is to go is the socket that sends into this namespace */
	linux_rig_stop(&life.rig);
}
END_TEST

START_TEST(psample_is_heard_or_not)
{
	struct life life = {.sampling = LINUX_SAMPLING_PSAMPLE};

	if (!set_up(__func__, &life))
		return;
	faults_exhaust("psample, netlink", FAULT_BIT(FAULT_NETLINK), NETLINK_RUNS, run_device,
	    &life);
	faults_exhaust("psample, all", AT_RUN, RUNS, run_device, &life);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("faults_linux");
	TCase *tcase = tcase_create("sampling");

	tcase_set_timeout(tcase, getenv("EASE_LONG") ? 900 : 120);
	tcase_add_loop_test(tcase, taps_are_there_or_not, 0, 2);
	tcase_add_test(tcase, psample_is_heard_or_not);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
