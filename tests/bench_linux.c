/*
 * What sampling costs on a path between two interfaces of Linux: processor time a frame from
 * sending it at one end of a veth pair to its end at the other, without sampling, with our tap at
 * the receiving end, and with a sampler of libpcap's there (a filter that takes one frame in N at
 * random, the usual way without eBPF). Rounds take turns; the medians and their differences are
 * printed as one JSON object. Needs root; works in a network namespace of its own.
 *   bench_linux [FRAMES [SKIP [ROUNDS]]]
 */
#include "agent/linux/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	BATCH = 32,
	FRAME_OCTETS = 60,
	KEPT_OCTETS = 128,
	ROUNDS_MAX = 101,
	RANDOM_WORD = 0xfffff038, /* SKF_AD_OFF + SKF_AD_RANDOM */
};

struct bench {
	int sender;
	unsigned frames, skip;
	struct taps *taps;
	uint64_t samples;
};

enum way { WAY_NONE, WAY_TAP, WAY_PCAP, N_WAYS };

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
send_batch(int fd)
{
	static uint8_t frame[FRAME_OCTETS] = {2, 0x99, 0, 0, 0, 1, 2, 0x10, 0, 0, 0, 1, 0x88, 0xb5};
	struct iovec part = {frame, sizeof(frame)};
	struct mmsghdr messages[BATCH];

	memset(messages, 0, sizeof(messages));
	for (int i = 0; i < BATCH; i++)
		messages[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
	if (sendmmsg(fd, messages, BATCH, 0) != BATCH)
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
		send_batch(b->sender);
	return (cpu_ns() - start) / b->frames;
}

static double
round_with_tap(struct bench *b)
{
	struct tap *tap;
	double start, ns;

	if (taps_attach(b->taps, if_nametoindex("p0"), 0, 0, &tap) < 0)
		die("tap");
	start = cpu_ns();
	for (unsigned n = 0; n < b->frames; n += BATCH) {
		while (tap_load(tap, b->skip - 1) == 0)
			;
		send_batch(b->sender);
		taps_read(b->taps, 0, count_record, &b->samples);
	}
	ns = (cpu_ns() - start) / b->frames;
	tap_detach(tap);
	return ns;
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
		send_batch(b->sender);
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

static void
run(struct bench *b, unsigned rounds)
{
	static double (*const ways[N_WAYS])(struct bench *) = {
	    round_without, round_with_tap, round_with_pcap};
	static double ns[N_WAYS][ROUNDS_MAX];

	for (unsigned round = 0; round < rounds; round++)
		for (int way = 0; way < N_WAYS; way++)
			ns[way][round] = ways[way](b);
	for (int way = 0; way < N_WAYS; way++)
		qsort(ns[way], rounds, sizeof(ns[way][0]), compare_doubles);
	printf("{\"bench\":\"linux_sampling\",\"frames\":%u,\"skip\":%u,\"rounds\":%u,"
	       "\"path_ns\":%.1f,\"tap_ns\":%.1f,\"libpcap_ns\":%.1f,\"tap_adds_ns\":%.1f,"
	       "\"libpcap_adds_ns\":%.1f,\"samples\":%llu}\n",
	    b->frames, b->skip, rounds, ns[WAY_NONE][rounds / 2], ns[WAY_TAP][rounds / 2],
	    ns[WAY_PCAP][rounds / 2], ns[WAY_TAP][rounds / 2] - ns[WAY_NONE][rounds / 2],
	    ns[WAY_PCAP][rounds / 2] - ns[WAY_NONE][rounds / 2],
	    (unsigned long long)b->samples / rounds);
}

static unsigned
argument(int argc, char **argv, int i, unsigned otherwise)
{
	return argc > i ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int
main(int argc, char **argv)
{
	struct bench b = {.frames = argument(argc, argv, 1, 320000),
	    .skip = argument(argc, argv, 2, 1000)};
	unsigned rounds = argument(argc, argv, 3, 11);
	char reason[128];

	if (b.frames < BATCH || b.skip < 1 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: bench_linux [FRAMES [SKIP [ROUNDS]]]\n");
		return 2;
	}
	if (unshare(CLONE_NEWNET) < 0 || system("PATH=$PATH:/usr/sbin; ip link add p0 type veth peer "
		"name h0 && ip link set p0 up && ip link set h0 up") != 0) {
		fprintf(stderr, "bench_linux: left out: no network namespace\n");
		return 0;
	}
	if (taps_open(getenv("BENCH_CLASSIC") != NULL, &b.taps, reason, sizeof(reason)) < 0) {
		fprintf(stderr, "bench_linux: left out: %s\n", reason);
		return 0;
	}
	b.sender = open_sender("h0");
	run(&b, rounds);
	taps_close(b.taps);
	return 0;
}
