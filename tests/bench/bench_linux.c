/*
 * What sampling costs on a path between two interfaces of Linux: processor time a frame from
 * sending it at one end of a veth pair to its end at the other, without sampling, with a program at
 * the receiving end's hook that does nothing (what the hook itself takes), with our program there and nothing that it
 * has to sample, with our tap, with a tap that samples one in OFTEN (of which what a sample costs is derived),
 * with the kernel's `tc ... action sample` (where the kernel has it, as that of tests/support/qemu.sh), and
 * with a sampler of libpcap's (a filter that takes one frame in N at random, the usual way without
 * either). The ways take turns in short rounds; what a way adds is the median of its differences to
 * the round without sampling just before, which other work on the machine leaves alone. What our program adds to
 * the hook is the median of the differences of its rounds to those of the empty program. Printed as one
 * JSON object. Needs root; works in a network namespace of its own.
 *   bench_linux [FRAMES [SKIP [ROUNDS [OCTETS]]]]    OCTETS: a frame's, without its FCS
 * The hook is tcx where the kernel has it, with BENCH_CLASSIC=1 clsact. With BENCH_BESIDE=1 another processor sends
 * frames to the same port all the time.
 */
#include "agent/linux/netlink.h"
#include "agent/linux/psample.h"
#include "agent/linux/tap.h"
#include "tests/bench/bench_hook.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/psample.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	BATCH = 32,
	FRAME_OCTETS = 60,
	FRAME_OCTETS_MAX = 1514,
	OFTEN = BATCH, /* one in so many: each sample wakes who reads, as on a quiet port */
	KEPT_OCTETS = 128,
	ROUNDS_MAX = 1001,
	EAR_OCTETS = 8 << 20,
};

#define RANDOM_WORD 0xfffff038u /* SKF_AD_OFF + SKF_AD_RANDOM; in an enum it would make the others unsigned (C23) */

struct bench {
	int sender;
	unsigned frames, skip, octets;
	bool classic;
	struct taps *taps;
	uint64_t samples; /* of the tap */
	struct netlink *route; /* for the kernel's sampling; NULL: it has none */
	int ear;
	int empty_program; /* at no hook yet; -1: there is none */
};

enum way { WAY_NONE, WAY_HOOK, WAY_PROGRAM, WAY_TAP, WAY_OFTEN, WAY_TC_SAMPLE, WAY_PCAP, N_WAYS };

static void
die(const char *what)
{
	fprintf(stderr, "bench_linux: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int
open_sender(const char *interface)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
	    .sll_ifindex = (int)if_nametoindex(interface)};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die(interface);
	return fd;
}

static void
send_batch(const struct bench *b)
{
	static uint8_t frame[FRAME_OCTETS_MAX] = {2, 0x99, 0, 0, 0, 1, 2, 0x10, 0, 0, 0, 1, 0x88, 0xb5};
	struct iovec part = {frame, b->octets};
	struct mmsghdr messages[BATCH];

	memset(messages, 0, sizeof(messages));
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
	if (sendmmsg(b->sender, messages, BATCH, 0) != BATCH)
		die("sending");
}

/* Of this processor's thread: the frame is received in the sender's context. */
static double
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void
count_record(void *ctx, const struct tap_record *record)
{
	(void)record;
	(*(uint64_t *)ctx)++;
}

static void
count_packet(u_char *ctx, const struct pcap_pkthdr *head, const u_char *octets)
{
	(void)head;
	(void)octets;
	(*(uint64_t *)(void *)ctx)++;
}

static double
round_without(struct bench *b)
{
	double start = cpu_ns();

	for (unsigned n = 0; n < b->frames; n += BATCH)
		send_batch(b);
	return (cpu_ns() - start) / b->frames;
}

static double
round_with_hook(struct bench *b)
{
	int link = bench_hook_attach(b->empty_program, if_nametoindex("p0"), b->classic);
	double ns;

	if (link < 0)
		die("hook");
	ns = round_without(b);
	bench_hook_detach(link, if_nametoindex("p0"), b->classic);
	return ns;
}

/* Has the kernel such hooks? */
static bool
open_hook(struct bench *b)
{
	int link;

	b->empty_program = bench_hook_load();
	link = bench_hook_attach(b->empty_program, if_nametoindex("p0"), b->classic);
	if (link >= 0)
		bench_hook_detach(link, if_nametoindex("p0"), b->classic);
	return link >= 0;
}

static double
round_with_program(struct bench *b)
{
	struct tap *tap;
	double ns;

	if (taps_attach(b->taps, if_nametoindex("p0"), 0, 0, &tap) < 0)
		die("tap");
	if (tap_load(tap, UINT32_MAX) < 0)
		die("skip");
	ns = round_without(b);
	tap_detach(tap);
	return ns;
}

static double
round_sampled(struct bench *b, unsigned skip, uint64_t *samples)
{
	struct tap *tap;
	double start, ns;

	if (taps_attach(b->taps, if_nametoindex("p0"), 0, 0, &tap) < 0)
		die("tap");
	start = cpu_ns();
	for (unsigned n = 0; n < b->frames; n += BATCH) {
		while (tap_load(tap, skip - 1) == 0)
			;
		send_batch(b);
		taps_read(b->taps, 0, count_record, samples);
	}
	ns = (cpu_ns() - start) / b->frames;
	tap_detach(tap);
	return ns;
}

static double
round_with_tap(struct bench *b)
{
	return round_sampled(b, b->skip, &b->samples);
}

static double
round_often(struct bench *b)
{
	uint64_t samples = 0;

	return round_sampled(b, OFTEN, &samples);
}

static int
count_message(void *ctx, const struct nlmsghdr *message)
{
	(void)message;
	(*(uint64_t *)ctx)++;
	return 0;
}

static double
round_with_tc_sample(struct bench *b)
{
	struct psample_filter filter = {.kernel_index = if_nametoindex("p0")};
	uint64_t samples = 0;
	double start, ns;

	if (psample_filter_set(b->route, &filter, b->skip) < 0)
		die("action sample");
	start = cpu_ns();
	for (unsigned n = 0; n < b->frames; n += BATCH) {
		send_batch(b);
		while (netlink_receive(b->ear, count_message, &samples) > 0)
			;
	}
	ns = (cpu_ns() - start) / b->frames;
	psample_filter_remove(b->route, &filter);
	return ns;
}

/* Does the kernel have psample? */
static bool
open_tc_sample(struct bench *b)
{
	unsigned groups[2] = {0};
	struct netlink *generic = NULL;
	int rc = netlink_open(NETLINK_ROUTE, &b->route);

	if (rc == 0)
		rc = psample_filter_try(b->route, if_nametoindex("p0"), false);
	if (rc == 0)
		rc = netlink_open(NETLINK_GENERIC, &generic);
	if (rc == 0)
		rc = netlink_group(generic, PSAMPLE_GENL_NAME, PSAMPLE_NL_MCGRP_SAMPLE_NAME,
		    &groups[0]);
	if (rc == 0)
		rc = netlink_listen(NETLINK_GENERIC, groups, EAR_OCTETS, &b->ear);
	netlink_close(generic);
	return rc == 0;
}

static pcap_t *
open_pcap(unsigned skip)
{
	struct bpf_insn code[] = {
	    {BPF_LD | BPF_W | BPF_ABS, 0, 0, RANDOM_WORD},
	    {BPF_ALU | BPF_MOD | BPF_K, 0, 0, skip},
	    {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0},
	    {BPF_RET | BPF_K, 0, 0, KEPT_OCTETS},
	    {BPF_RET | BPF_K, 0, 0, 0},
	};
	struct bpf_program program = {sizeof(code) / sizeof(code[0]), code};
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_create("p0", error);

	if (!pcap || pcap_set_snaplen(pcap, KEPT_OCTETS) != 0 || pcap_set_timeout(pcap, 10) != 0 ||
	    pcap_activate(pcap) < 0 || pcap_setnonblock(pcap, 1, error) < 0 ||
	    pcap_setfilter(pcap, &program) < 0)
		die("libpcap");
	return pcap;
}

static double
round_with_pcap(struct bench *b)
{
	pcap_t *pcap = open_pcap(b->skip);
	uint64_t samples = 0;
	double start = cpu_ns(), ns;

	for (unsigned n = 0; n < b->frames; n += BATCH) {
		send_batch(b);
		pcap_dispatch(pcap, -1, count_packet, (u_char *)&samples);
	}
	ns = (cpu_ns() - start) / b->frames;
	pcap_close(pcap);
	return ns;
}

static int
compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return values[n / 2];
}

static const struct {
	const char *name;
	double (*round)(struct bench *b);
	bool (*open)(struct bench *b); /* NULL: it is there */
} ways[N_WAYS] = {
    [WAY_NONE] = {"path", round_without, NULL},
    [WAY_HOOK] = {"hook", round_with_hook, open_hook},
    [WAY_PROGRAM] = {"program", round_with_program, NULL},
    [WAY_TAP] = {"tap", round_with_tap, NULL},
    [WAY_OFTEN] = {"often", round_often, NULL},
    [WAY_TC_SAMPLE] = {"tc_sample", round_with_tc_sample, open_tc_sample},
    [WAY_PCAP] = {"libpcap", round_with_pcap, NULL},
};

static void
run(struct bench *b, unsigned rounds)
{
	static double ns[N_WAYS][ROUNDS_MAX], adds[N_WAYS][ROUNDS_MAX], over_hook[ROUNDS_MAX],
	    a_sample[ROUNDS_MAX];
	bool there[N_WAYS];

	for (int way = 0; way < N_WAYS; way++)
		there[way] = !ways[way].open || ways[way].open(b);
	for (unsigned round = 0; round < rounds; round++) {
		for (int way = WAY_NONE + 1; way < N_WAYS; way++) {
			if (!there[way])
				continue;
			ns[WAY_NONE][round] = round_without(b); /* just before, to compare with */
			ns[way][round] = ways[way].round(b);
			adds[way][round] = ns[way][round] - ns[WAY_NONE][round];
		}
		over_hook[round] = ns[WAY_PROGRAM][round] - ns[WAY_HOOK][round];
		a_sample[round] = (ns[WAY_OFTEN][round] - ns[WAY_PROGRAM][round]) * OFTEN;
	}
	printf("{\"bench\":\"linux_sampling\",\"frames\":%u,\"skip\":%u,\"rounds\":%u,\"octets\":%u", b->frames,
	    b->skip, rounds, b->octets);
	for (int way = 0; way < N_WAYS; way++) {
		if (!there[way])
			continue;
		printf(",\"%s_ns\":%.1f", ways[way].name, median(ns[way], rounds));
		if (way != WAY_NONE)
			printf(",\"%s_adds_ns\":%.1f", ways[way].name, median(adds[way], rounds));
	}
	if (there[WAY_HOOK])
		printf(",\"program_over_hook_ns\":%.1f", median(over_hook, rounds));
	printf(",\"sample_ns\":%.0f", median(a_sample, rounds));
	printf(",\"samples\":%llu}\n", (unsigned long long)b->samples / rounds);
}

/* A process on another processor that sends to the same port until it is ended, or we end. */
static pid_t
begin_beside(const struct bench *b)
{
	cpu_set_t set;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	CPU_ZERO(&set);
	CPU_SET(pid == 0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("a second processor");
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		send_batch(b);
}

static unsigned
argument(int argc, char **argv, int i, unsigned otherwise)
{
	return argc > i ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int
main(int argc, char **argv)
{
	struct bench b = {.frames = argument(argc, argv, 1, 32000),
	    .skip = argument(argc, argv, 2, 1000)};
	unsigned rounds = argument(argc, argv, 3, 101);
	char reason[128];
	pid_t beside = 0;

	b.octets = argument(argc, argv, 4, FRAME_OCTETS);
	b.classic = getenv("BENCH_CLASSIC") != NULL;
	if (b.frames < BATCH || b.skip < 1 || rounds < 1 || rounds > ROUNDS_MAX || b.octets < FRAME_OCTETS ||
	    b.octets > FRAME_OCTETS_MAX) {
		fprintf(stderr, "usage: bench_linux [FRAMES [SKIP [ROUNDS [OCTETS]]]]\n");
		return 2;
	}
	if (unshare(CLONE_NEWNET) < 0 || system("PATH=$PATH:/usr/sbin; ip link add p0 type veth peer "
		"name h0 && ip link set p0 up && ip link set h0 up") != 0) {
		fprintf(stderr, "bench_linux: left out: no network namespace\n");
		return 0;
	}
	if (taps_open(b.classic, &b.taps, reason, sizeof(reason)) < 0) {
		fprintf(stderr, "bench_linux: left out: %s\n", reason);
		return 0;
	}
	b.sender = open_sender("h0");
	if (getenv("BENCH_BESIDE"))
		beside = begin_beside(&b);
	run(&b, rounds);
	if (beside > 0) {
		kill(beside, SIGKILL);
		waitpid(beside, NULL, 0);
	}
	netlink_close(b.route);
	taps_close(b.taps);
	return 0;
}
