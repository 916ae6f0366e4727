#include "agent/linux/tap.h"

#include "agent/linux/clsact.h"
#include "agent/linux/netlink.h"
#include "agent/linux/tap_object.h"
#include "common/log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	TAP_HANDLE = 0xea5e, /* identifies our tap, and an earlier agent's, at a hook */
	TAP_PRIORITY = 1,    /* before filters that end the processing of a frame */
	SPARE_FILES = 128,   /* for what else this process opens */
};

/* BPF_TCX_INGRESS and BPF_TCX_EGRESS of linux/bpf.h since 6.6; older headers lack them. */
enum { TCX_INGRESS = 46, TCX_EGRESS = 47 };

struct taps {
	bool classic;
	int last_fd; /* that a tap may keep open */
	struct bpf_object *first; /* a program that is at no hook and owns the ring */
	int ring_fd;
	struct ring_buffer *ring;
	taps_handler take; /* during taps_read */
	void *take_ctx;
	unsigned left;
};

struct tap {
	struct bpf_object *object; /* while it is attached to the hooks */
	struct tap_registers *registers; /* mapped, shared with the kernel */
	uint32_t kernel_index;
	int link_fd[2]; /* tcx: the program is attached as long as this is open; -1: none */
	bool made_hook; /* of clsact */
	bool attached[2];
};

static const struct {
	enum bpf_tc_attach_point point;
	uint32_t tcx;
	const char *program;
} hooks[2] = {
    [TAP_IN] = {BPF_TC_INGRESS, TCX_INGRESS, "ease_tap_in"},
    [TAP_OUT] = {BPF_TC_EGRESS, TCX_EGRESS, "ease_tap_out"},
};

static int __attribute__((format(printf, 2, 0)))
log_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char text[512];

	if (level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(text, sizeof(text), format, arguments);
	text[strcspn(text, "\n")] = '\0';
	log_debug("linux", "%s", text);
	return 0;
}

/* ---- programs ---- */

/* Loads a copy of the program. ring_fd: the ring that it shares; -1: it creates the ring. */
static int
load_program(int ring_fd, struct bpf_object **result)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "ease_tap");
	struct bpf_object *object = bpf_object__open_mem(tap_object, sizeof(tap_object), &options);
	struct bpf_map *ring;
	int rc = -ENOENT;

	if (!object)
		return -errno;
	ring = bpf_object__find_map_by_name(object, "ring");
	if (ring)
		rc = ring_fd < 0 ? 0 : bpf_map__reuse_fd(ring, ring_fd);
	if (rc == 0)
		rc = bpf_object__load(object);
	if (rc < 0) {
		bpf_object__close(object);
		return rc;
	}
	*result = object;
	return 0;
}

static int
on_record(void *ctx, void *data, size_t size)
{
	struct taps *taps = ctx;

	if (size >= sizeof(struct tap_record))
		taps->take(taps->take_ctx, data);
	return --taps->left == 0 ? -ECANCELED : 0; /* below 0 ends the reading after this sample */
}

static const char *
what_fails(int rc)
{
	switch (rc) {
	case -EPERM:
		return "it needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON outside of any user namespace";
	case -EACCES:
		return "the kernel's verifier rejects the eBPF program";
	case -ENOSYS:
	case -EINVAL:
	case -EOPNOTSUPP:
		return "it needs a kernel with eBPF atomic operations and ring buffers (5.12 or later)";
	default:
		return strerror(-rc);
	}
}

/* A tap keeps two files open as long as it is there, and the usual limit of 1,024 is for programs that know no higher
 * number. */
static int
last_fd(void)
{
	struct rlimit files;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return INT_MAX;
	before = files.rlim_cur;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		files.rlim_cur = before;
	return files.rlim_cur > INT_MAX ? INT_MAX : (int)files.rlim_cur - SPARE_FILES;
}

int
taps_open(bool classic, struct taps **result, char *reason, size_t reason_size)
{
	struct taps *taps = calloc(1, sizeof(*taps));
	int rc = -ENOMEM;

	if (!taps)
		goto fail;
	taps->classic = classic;
	taps->last_fd = last_fd();
	libbpf_set_print(log_libbpf);
	rc = load_program(-1, &taps->first);
	if (rc < 0)
		goto fail;
	taps->ring_fd = bpf_object__find_map_fd_by_name(taps->first, "ring");
	taps->ring = ring_buffer__new(taps->ring_fd, on_record, taps, NULL);
	rc = taps->ring ? 0 : -errno;
	if (rc < 0)
		goto fail;
	*result = taps;
	return 0;
fail:
	snprintf(reason, reason_size, "%s", what_fails(rc));
	taps_close(taps);
	return rc;
}

void
taps_close(struct taps *taps)
{
	if (!taps)
		return;
	ring_buffer__free(taps->ring);
	bpf_object__close(taps->first);
	free(taps);
}

int
taps_fd(const struct taps *taps)
{
	return ring_buffer__epoll_fd(taps->ring);
}

int
taps_read(struct taps *taps, unsigned max, taps_handler take, void *ctx)
{
	unsigned before = max ? max : INT_MAX;
	int rc;

	taps->take = take;
	taps->take_ctx = ctx;
	taps->left = before;
	rc = ring_buffer__consume(taps->ring);
	return rc < 0 && rc != -ECANCELED ? rc : (int)(before - taps->left);
}

/* ---- hooks ---- */

static int
attach_hook(struct tap *tap, unsigned direction)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)tap->kernel_index,
	    .attach_point = hooks[direction].point);
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = TAP_HANDLE, .priority = TAP_PRIORITY,
	    .flags = BPF_TC_F_REPLACE);
	struct bpf_program *program =
	    bpf_object__find_program_by_name(tap->object, hooks[direction].program);
	int rc;

	if (!program)
		return -ENOENT;
	options.prog_fd = bpf_program__fd(program);
	rc = bpf_tc_attach(&hook, &options);
	tap->attached[direction] = rc == 0;
	return rc;
}

/* Recognizes our filter by its name in a dump of the filters at a hook, because reading its program
 * needs more privilege. */
static int
find_tap(void *ctx, const struct nlmsghdr *message)
{
	static const char ours[] = "ease_tap";
	const struct tcmsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr, *option;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head) || head->tcm_handle != TAP_HANDLE)
		return 0;
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		if (mnl_attr_get_type(attr) != TCA_OPTIONS)
			continue;
		mnl_attr_for_each_nested(option, attr)
			if (mnl_attr_get_type(option) == TCA_BPF_NAME &&
			    mnl_attr_get_payload_len(option) >= sizeof(ours) - 1 &&
			    memcmp(mnl_attr_get_payload(option), ours, sizeof(ours) - 1) == 0)
				*(bool *)ctx = true;
	}
	return 0;
}

/* Whether one of our taps is at the hook: 1, 0, or -errno. */
static int
hook_has_tap(uint32_t kernel_index, unsigned direction)
{
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct nlmsghdr *request =
	    netlink_begin(octets, RTM_GETTFILTER, NLM_F_DUMP, sizeof(struct tcmsg));
	struct tcmsg *head = mnl_nlmsg_get_payload(request);
	struct netlink *netlink;
	bool found = false;
	int rc = netlink_open_retry(NETLINK_ROUTE, &netlink);

	if (rc < 0)
		return rc;
	head->tcm_ifindex = (int)kernel_index;
	head->tcm_parent = clsact_parent(direction == TAP_OUT);
	rc = netlink_request_retry(netlink, request, find_tap, &found);
	netlink_close(netlink);
	return found ? 1 : netlink_reply_lost(rc) ? rc : 0;
}

static int
detach_hook(uint32_t kernel_index, unsigned direction)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)kernel_index,
	    .attach_point = hooks[direction].point);
	LIBBPF_OPTS(bpf_tc_opts, options, .handle = TAP_HANDLE, .priority = TAP_PRIORITY);

	int rc = hook_has_tap(kernel_index, direction);

	if (rc <= 0)
		return rc < 0 ? rc : -ENOENT;
	rc = bpf_tc_detach(&hook, &options);
	for (int tries = 1; tries < NETLINK_TRIES && rc < 0 && rc != -ENOENT; tries++)
		rc = bpf_tc_detach(&hook, &options);
	return rc;
}

static int
make_hook(struct tap *tap)
{
	struct netlink *netlink;
	int rc = netlink_open(NETLINK_ROUTE, &netlink);

	if (rc < 0)
		return rc;
	rc = clsact_make(netlink, tap->kernel_index, &tap->made_hook);
	netlink_close(netlink);
	return rc;
}

static void
remove_hook(uint32_t kernel_index)
{
	struct netlink *netlink;

	if (netlink_open_retry(NETLINK_ROUTE, &netlink) < 0)
		return;
	clsact_remove_unused(netlink, kernel_index);
	netlink_close(netlink);
}

bool
taps_clean(uint32_t kernel_index)
{
	bool in, out;

	libbpf_set_print(log_libbpf); /* else libbpf logs for most links that they have no hook */
	in = detach_hook(kernel_index, TAP_IN) == 0;
	out = detach_hook(kernel_index, TAP_OUT) == 0;
	if (in || out)
		remove_hook(kernel_index);
	return in || out;
}

static int
attach_clsact(struct tap *tap)
{
	int rc = make_hook(tap);

	if (rc == 0)
		rc = attach_hook(tap, TAP_IN);
	if (rc == 0)
		rc = attach_hook(tap, TAP_OUT);
	return rc;
}

/* The hook of newer kernels takes half the time per frame, and detaches when the descriptor closes,
 * however the agent ends. libbpf supports it from 1.3 on. */
static int
attach_tcx(const struct taps *taps, struct tap *tap, unsigned direction)
{
	struct bpf_program *program =
	    bpf_object__find_program_by_name(tap->object, hooks[direction].program);
	union bpf_attr attr;
	long fd;

	if (!program)
		return -ENOENT;
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)bpf_program__fd(program);
	attr.link_create.target_ifindex = tap->kernel_index;
	attr.link_create.attach_type = hooks[direction].tcx;
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	tap->link_fd[direction] = (int)fd;
	return fd > taps->last_fd ? -EMFILE : 0;
}

static void
detach_tcx(struct tap *tap)
{
	for (unsigned direction = 0; direction < 2; direction++) {
		if (tap->link_fd[direction] >= 0)
			close(tap->link_fd[direction]);
		tap->link_fd[direction] = -1;
	}
}

static int
attach_hooks(const struct taps *taps, struct tap *tap)
{
	if (!taps->classic && attach_tcx(taps, tap, TAP_IN) == 0 && attach_tcx(taps, tap, TAP_OUT) == 0)
		return 0;
	detach_tcx(tap);
	return attach_clsact(tap);
}

/* ---- taps ---- */

static int
map_registers(struct tap *tap)
{
	struct bpf_map *map = bpf_object__find_map_by_name(tap->object, ".bss");
	void *memory;

	if (!map)
		return -ENOENT;
	memory = mmap(NULL, sizeof(*tap->registers), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return -errno;
	tap->registers = memory;
	return 0;
}

int
taps_attach(struct taps *taps, uint32_t kernel_index, uint64_t pool_in, uint64_t pool_out, struct tap **result)
{
	struct tap *tap = calloc(1, sizeof(*tap));
	int rc;

	if (!tap)
		return -ENOMEM;
	tap->kernel_index = kernel_index;
	tap->link_fd[TAP_IN] = tap->link_fd[TAP_OUT] = -1;
	rc = load_program(taps->ring_fd, &tap->object);
	if (rc == 0)
		rc = map_registers(tap);
	if (rc < 0)
		goto fail;
	tap->registers->due = TAP_NOTHING_DUE;
	tap->registers->pool[TAP_IN] = pool_in;
	tap->registers->pool[TAP_OUT] = pool_out;
	rc = attach_hooks(taps, tap);
	if (rc < 0)
		goto fail;
	bpf_object__close(tap->object); /* the hooks keep the programs, and the mapping the registers */
	tap->object = NULL;
	*result = tap;
	return 0;
fail:
	tap_detach(tap);
	return rc;
}

void
tap_detach(struct tap *tap)
{
	if (!tap)
		return;
	detach_tcx(tap);
	for (unsigned direction = 0; direction < 2; direction++)
		if (tap->attached[direction])
			(void)detach_hook(tap->kernel_index, direction);
	if (tap->made_hook)
		remove_hook(tap->kernel_index);
	if (tap->registers)
		munmap(tap->registers, sizeof(*tap->registers));
	bpf_object__close(tap->object);
	free(tap);
}

/* A hook of tcx is held by its link. */
bool
tap_is_attached(const struct tap *tap)
{
	return tap->link_fd[TAP_IN] >= 0 ||
	    (hook_has_tap(tap->kernel_index, TAP_IN) != 0 && hook_has_tap(tap->kernel_index, TAP_OUT) != 0);
}

int
taps_renew(struct taps *taps, struct tap **tap)
{
	struct tap *old = *tap;
	int rc = taps_attach(taps, old->kernel_index, tap_pool(old, TAP_IN), tap_pool(old, TAP_OUT), tap);

	if (rc < 0)
		return rc;
	old->attached[TAP_IN] = old->attached[TAP_OUT] = old->made_hook = false; /* what is there now is another's */
	tap_detach(old);
	tap_clear(*tap); /* samples of the old one are outdated */
	return 0;
}

/* ---- registers ---- */

/* Until the kernel's half, on another processor, has the next skip: some ten instructions, of which nothing keeps it. */
static __u64
tap_due(const struct tap *tap)
{
	__u64 due;

	do
		due = __atomic_load_n(&tap->registers->due, __ATOMIC_SEQ_CST);
	while (due == TAP_BEING_SET);
	return due;
}

/* A skip that is loaded while sampling is stalled begins now. */
int
tap_load(struct tap *tap, uint32_t skip)
{
	struct tap_registers *r = tap->registers;
	__u64 end = r->end;

	if (end - __atomic_load_n(&r->first, __ATOMIC_SEQ_CST) == TAP_SKIPS)
		return -EBUSY;
	r->shadow[end % TAP_SKIPS] = (__u64)skip + 1;
	__atomic_store_n(&r->end, end + 1, __ATOMIC_SEQ_CST);
	if (tap_due(tap) == TAP_NOTHING_DUE) { /* only the agent ends that */
		__u64 next = r->shadow[r->first++ % TAP_SKIPS];

		__atomic_store_n(&r->due, next + tap_pool(tap, TAP_IN) + tap_pool(tap, TAP_OUT), __ATOMIC_SEQ_CST);
	}
	return 0;
}

void
tap_clear(struct tap *tap)
{
	struct tap_registers *r = tap->registers;
	__u64 due = tap_due(tap);

	while (!__atomic_compare_exchange_n(&r->due, &due, TAP_NOTHING_DUE, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		due = tap_due(tap);
	r->first = r->end;
	__atomic_fetch_add(&r->epoch, 1, __ATOMIC_SEQ_CST);
}

uint32_t
tap_epoch(const struct tap *tap)
{
	return __atomic_load_n(&tap->registers->epoch, __ATOMIC_SEQ_CST);
}

bool
tap_is_stalled(const struct tap *tap)
{
	return __atomic_load_n(&tap->registers->due, __ATOMIC_SEQ_CST) == TAP_NOTHING_DUE;
}

uint64_t
tap_pool(const struct tap *tap, unsigned direction)
{
	return __atomic_load_n(&tap->registers->pool[direction], __ATOMIC_RELAXED);
}
