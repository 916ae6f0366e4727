#include "tests/bench/bench_hook.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TCX_INGRESS = 46 }; /* BPF_TCX_INGRESS of linux/bpf.h since 6.6 */

int
bench_hook_load(void)
{
	const struct bpf_insn leave_to_others[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uintptr_t)leave_to_others;
	attr.insn_cnt = sizeof(leave_to_others) / sizeof(leave_to_others[0]);
	attr.license = (uintptr_t)"GPL";
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int
attach_clsact(int program, unsigned kernel_index)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)kernel_index, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .prog_fd = program);
	int rc = bpf_tc_hook_create(&hook);

	return rc < 0 && rc != -EEXIST ? rc : bpf_tc_attach(&hook, &filter);
}

void
bench_hook_detach(int attached, unsigned kernel_index, bool classic)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)kernel_index, .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	if (classic)
		(void)bpf_tc_hook_destroy(&hook);
	else
		close(attached);
}

int
bench_hook_attach(int program, unsigned kernel_index, bool classic)
{
	union bpf_attr attr;

	if (classic)
		return attach_clsact(program, kernel_index);
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.target_ifindex = kernel_index;
	attr.link_create.attach_type = TCX_INGRESS;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}
