/*
 * The calls by which taps reach the kernel, as faults_wrap.c has the others: libbpf's that the agent
 * calls, and bpf(2) itself, which it calls for tcx. What libbpf does inside one of them is not touched.
 */
#include "tests/faults/faults_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* As libbpf 1.x fails: NULL and errno. */
#define WRAP_MAKER(type, name, parameters, arguments, error)                                    \
	type __real_##name parameters;                                                          \
	type __wrap_##name parameters;                                                          \
	type __wrap_##name parameters                                                           \
	{                                                                                       \
		if (faults_hit(FAULT_EBPF, #name)) {                                            \
			errno = error;                                                          \
			return NULL;                                                            \
		}                                                                               \
		return __real_##name arguments;                                                 \
	}

/* And where it gives a number: -errno. */
#define WRAP_DOER(name, parameters, arguments, first, second)                                   \
	int __real_##name parameters;                                                           \
	int __wrap_##name parameters;                                                           \
	int __wrap_##name parameters                                                            \
	{                                                                                       \
		if (faults_hit(FAULT_EBPF, #name))                                              \
			return faults_way(2) ? -first : -second;                                \
		return __real_##name arguments;                                                 \
	}

WRAP_MAKER(struct bpf_object *, bpf_object__open_mem,
    (const void *octets, size_t n, const struct bpf_object_open_opts *options),
    (octets, n, options), ENOMEM)
WRAP_MAKER(struct bpf_map *, bpf_object__find_map_by_name,
    (const struct bpf_object *object, const char *name), (object, name), ENOENT)
WRAP_MAKER(struct bpf_program *, bpf_object__find_program_by_name,
    (const struct bpf_object *object, const char *name), (object, name), ENOENT)
WRAP_MAKER(struct ring_buffer *, ring_buffer__new,
    (int fd, ring_buffer_sample_fn take, void *ctx, const struct ring_buffer_opts *options),
    (fd, take, ctx, options), EMFILE)
WRAP_DOER(bpf_object__load, (struct bpf_object *object), (object), EPERM, ENOMEM)
WRAP_DOER(bpf_map__reuse_fd, (struct bpf_map *map, int fd), (map, fd), EMFILE, ENOMEM)
WRAP_DOER(bpf_object__find_map_fd_by_name, (const struct bpf_object *object, const char *name),
    (object, name), ENOENT, ENOENT)
WRAP_DOER(bpf_tc_attach, (const struct bpf_tc_hook *hook, struct bpf_tc_opts *options),
    (hook, options), ENOBUFS, ENOMEM)
WRAP_DOER(bpf_tc_detach, (const struct bpf_tc_hook *hook, const struct bpf_tc_opts *options),
    (hook, options), ENOBUFS, EINTR)
WRAP_DOER(ring_buffer__consume, (struct ring_buffer *ring), (ring), EINTR, EIO)

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
	va_list arguments;
	int command;
	union bpf_attr *attr;
	unsigned size;

	va_start(arguments, number);
	command = va_arg(arguments, int);
	attr = va_arg(arguments, union bpf_attr *);
	size = va_arg(arguments, unsigned);
	va_end(arguments);
	if (number == SYS_bpf && faults_hit(FAULT_EBPF, "bpf")) {
		errno = faults_way(2) ? EPERM : ENOMEM;
		return -1;
	}
	return __real_syscall(number, command, attr, size);
}
