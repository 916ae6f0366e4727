/*
 * The calls that the linker hands to faults.c: each asks whether it is to fail, and is else the
 * system's. What it says when it fails is what its manual page names.
 */
#include "tests/faults/faults_private.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* One of the errors. The first is none that goes away by itself: nobody is interrupted for ever. */
static int
pick(const int *errors, size_t n)
{
	int error = errors[faults_way((unsigned)n)];

	return error == EINTR && faults_go_on() ? errors[0] : error;
}

/* Declares __real_name and defines __wrap_name, which fails with one of the errors. */
#define ERRORS(...) ((const int[]){__VA_ARGS__})
#define PICK(errors) pick(errors, sizeof(errors) / sizeof((errors)[0]))
#define WRAP(type, name, class, failure, parameters, arguments, ...)                            \
	type __real_##name parameters;                                                          \
	type __wrap_##name parameters;                                                          \
	type __wrap_##name parameters                                                           \
	{                                                                                       \
		if (faults_hit(class, #name)) {                                                 \
			errno = PICK(ERRORS(__VA_ARGS__));                                      \
			return failure;                                                         \
		}                                                                               \
		return __real_##name arguments;                                                 \
	}

/* ---- memory ---- */

WRAP(void *, malloc, FAULT_MEMORY, NULL, (size_t n), (n), ENOMEM)
WRAP(void *, calloc, FAULT_MEMORY, NULL, (size_t n, size_t size), (n, size), ENOMEM)
WRAP(void *, realloc, FAULT_MEMORY, NULL, (void *p, size_t n), (p, n), ENOMEM)
WRAP(void *, reallocarray, FAULT_MEMORY, NULL, (void *p, size_t n, size_t size),
    (p, n, size), ENOMEM)
WRAP(void *, aligned_alloc, FAULT_MEMORY, NULL, (size_t align, size_t n), (align, n), ENOMEM)
WRAP(char *, strdup, FAULT_MEMORY, NULL, (const char *s), (s), ENOMEM)
WRAP(FILE *, open_memstream, FAULT_MEMORY, NULL, (char **p, size_t *n), (p, n), ENOMEM)
WRAP(FILE *, fmemopen, FAULT_MEMORY, NULL, (void *p, size_t n, const char *mode), (p, n, mode),
    ENOMEM)
WRAP(FILE *, fdopen, FAULT_MEMORY, NULL, (int fd, const char *mode), (fd, mode), ENOMEM)
WRAP(void *, mmap, FAULT_MEMORY, MAP_FAILED,
    (void *at, size_t n, int protection, int flags, int fd, off_t offset),
    (at, n, protection, flags, fd, offset), ENOMEM)

int __real_posix_memalign(void **p, size_t align, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
int
__wrap_posix_memalign(void **p, size_t align, size_t n)
{
	return faults_hit(FAULT_MEMORY, "posix_memalign") ? ENOMEM
							  : __real_posix_memalign(p, align, n);
}

/* ---- descriptors ---- */

WRAP(FILE *, fopen, FAULT_OPENING, NULL, (const char *path, const char *mode), (path, mode), EMFILE,
    ENFILE, ENOMEM, EACCES)
WRAP(int, socket, FAULT_OPENING, -1, (int domain, int type, int protocol), (domain, type, protocol),
    EMFILE, ENFILE, ENOBUFS)
WRAP(int, eventfd, FAULT_OPENING, -1, (unsigned initial, int flags), (initial, flags),
    EMFILE, ENFILE)
WRAP(int, timerfd_create, FAULT_OPENING, -1, (int clock, int flags), (clock, flags), EMFILE, ENFILE)
WRAP(int, epoll_create1, FAULT_OPENING, -1, (int flags), (flags), EMFILE, ENOMEM)
WRAP(int, epoll_ctl, FAULT_OPENING, -1, (int fd, int op, int of, struct epoll_event *event),
    (fd, op, of, event), ENOMEM, ENOSPC)
WRAP(int, pipe2, FAULT_OPENING, -1, (int ends[2], int flags), (ends, flags), EMFILE, ENFILE)
WRAP(int, signalfd, FAULT_OPENING, -1, (int fd, const sigset_t *set, int flags), (fd, set, flags),
    EMFILE, ENODEV)
WRAP(struct mnl_socket *, mnl_socket_open2, FAULT_OPENING, NULL, (int bus, int flags), (bus, flags),
    EMFILE, ENFILE)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode = 0;

	va_start(arguments, flags);
	if (flags & O_CREAT)
		mode = va_arg(arguments, mode_t);
	va_end(arguments);
	if (faults_hit(FAULT_OPENING, "open")) {
		errno = PICK(ERRORS(EMFILE, EACCES, ENOSPC));
		return -1;
	}
	return __real_open(path, flags, mode);
}

/* ---- disk ---- */

WRAP(int, fsync, FAULT_DISK, -1, (int fd), (fd), EIO, ENOSPC)
WRAP(int, ftruncate, FAULT_DISK, -1, (int fd, off_t n), (fd, n), EIO, ENOSPC)
WRAP(int, rename, FAULT_DISK, -1, (const char *from, const char *to), (from, to), EIO,
    ENOSPC, EROFS)
WRAP(int, fflush, FAULT_DISK, EOF, (FILE *file), (file), ENOSPC, EIO)

int __real_posix_fallocate(int fd, off_t at, off_t n);
int __wrap_posix_fallocate(int fd, off_t at, off_t n);
int
__wrap_posix_fallocate(int fd, off_t at, off_t n)
{
	return faults_hit(FAULT_DISK, "posix_fallocate") ? PICK(ERRORS(ENOSPC, EIO))
							 : __real_posix_fallocate(fd, at, n);
}

/* The file is closed in any case. */
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int
__wrap_fclose(FILE *file)
{
	bool fail = faults_hit(FAULT_DISK, "fclose");
	int rc = __real_fclose(file);

	if (!fail)
		return rc;
	errno = PICK(ERRORS(ENOSPC, EIO));
	return EOF;
}

/* A write that is to fail writes half, where it can, or nothing. */
static ssize_t
write_less(size_t n)
{
	if (n > 1 && faults_way(2) == 0)
		return (ssize_t)(n / 2);
	errno = PICK(ERRORS(ENOSPC, EIO, EINTR));
	return -1;
}

ssize_t __real_write(int fd, const void *octets, size_t n);
ssize_t __wrap_write(int fd, const void *octets, size_t n);
ssize_t
__wrap_write(int fd, const void *octets, size_t n)
{
	if (faults_hit(FAULT_DISK, "write")) {
		ssize_t less = write_less(n);

		return less < 0 ? less : __real_write(fd, octets, (size_t)less);
	}
	return __real_write(fd, octets, n);
}

ssize_t __real_pwrite(int fd, const void *octets, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *octets, size_t n, off_t at);
ssize_t
__wrap_pwrite(int fd, const void *octets, size_t n, off_t at)
{
	if (faults_hit(FAULT_DISK, "pwrite")) {
		ssize_t less = write_less(n);

		return less < 0 ? less : __real_pwrite(fd, octets, (size_t)less, at);
	}
	return __real_pwrite(fd, octets, n, at);
}

/* ---- reading ---- */

/* Half of what was asked for, where it is more than an eventfd's count, or nothing. */
static ssize_t
read_less(size_t n)
{
	if (n > sizeof(uint64_t) && faults_way(2) == 0)
		return (ssize_t)(n / 2);
	errno = PICK(ERRORS(EIO, EINTR));
	return -1;
}

ssize_t __real_read(int fd, void *octets, size_t n);
ssize_t __wrap_read(int fd, void *octets, size_t n);
ssize_t
__wrap_read(int fd, void *octets, size_t n)
{
	if (faults_hit(FAULT_READING, "read")) {
		ssize_t less = read_less(n);

		return less < 0 ? less : __real_read(fd, octets, (size_t)less);
	}
	return __real_read(fd, octets, n);
}

ssize_t __real_pread(int fd, void *octets, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *octets, size_t n, off_t at);
ssize_t
__wrap_pread(int fd, void *octets, size_t n, off_t at)
{
	if (faults_hit(FAULT_READING, "pread")) {
		ssize_t less = read_less(n);

		return less < 0 ? less : __real_pread(fd, octets, (size_t)less, at);
	}
	return __real_pread(fd, octets, n, at);
}

size_t __real_fread(void *octets, size_t size, size_t n, FILE *file);
size_t __wrap_fread(void *octets, size_t size, size_t n, FILE *file);
size_t
__wrap_fread(void *octets, size_t size, size_t n, FILE *file)
{
	if (faults_hit(FAULT_READING, "fread"))
		n /= 2;
	return __real_fread(octets, size, n, file);
}

/* ---- sockets ---- */

WRAP(ssize_t, send, FAULT_SOCKET, -1, (int fd, const void *octets, size_t n, int flags),
    (fd, octets, n, flags), ENOBUFS, EAGAIN, EINTR, ECONNREFUSED, ENETUNREACH)
WRAP(ssize_t, sendto, FAULT_SOCKET, -1,
    (int fd, const void *octets, size_t n, int flags, const struct sockaddr *to, socklen_t size),
    (fd, octets, n, flags, to, size), ENOBUFS, EAGAIN, EINTR, EPERM, ENETUNREACH)
WRAP(int, connect, FAULT_SOCKET, -1, (int fd, const struct sockaddr *to, socklen_t size),
    (fd, to, size), ENETUNREACH, EADDRNOTAVAIL, EINTR)
WRAP(int, bind, FAULT_SOCKET, -1, (int fd, const struct sockaddr *at, socklen_t size),
    (fd, at, size),
    EADDRINUSE, EACCES)
WRAP(int, setsockopt, FAULT_SOCKET, -1,
    (int fd, int level, int name, const void *value, socklen_t size),
    (fd, level, name, value, size),
    EPERM, ENOPROTOOPT, ENOMEM)
WRAP(int, getsockopt, FAULT_SOCKET, -1, (int fd, int level, int name, void *value, socklen_t *size),
    (fd, level, name, value, size), ENOPROTOOPT, ENOMEM)
WRAP(int, getsockname, FAULT_SOCKET, -1, (int fd, struct sockaddr *at, socklen_t *size),
    (fd, at, size), ENOBUFS)
WRAP(ssize_t, recv, FAULT_SOCKET, -1, (int fd, void *octets, size_t n, int flags),
    (fd, octets, n, flags), ENOMEM, EINTR, ENOBUFS)
WRAP(ssize_t, recvfrom, FAULT_SOCKET, -1,
    (int fd, void *octets, size_t n, int flags, struct sockaddr *from, socklen_t *size),
    (fd, octets, n, flags, from, size), ENOMEM, EINTR, ENOBUFS)
WRAP(int, recvmmsg, FAULT_SOCKET, -1,
    (int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *wait),
    (fd, messages, n, flags, wait), ENOMEM, EINTR, ECONNREFUSED)

/* ---- netlink ---- */

WRAP(ssize_t, mnl_socket_sendto, FAULT_NETLINK, -1,
    (const struct mnl_socket *socket, const void *octets, size_t n), (socket, octets, n), ENOBUFS,
    EINTR, ENOMEM)
WRAP(int, mnl_socket_bind, FAULT_NETLINK, -1,
    (struct mnl_socket *socket, unsigned groups, pid_t id),
    (socket, groups, id), EADDRINUSE, ENOMEM)
WRAP(int, mnl_socket_setsockopt, FAULT_NETLINK, -1,
    (const struct mnl_socket *socket, int name, void *value, socklen_t size),
    (socket, name, value, size), EPERM, ENOPROTOOPT)

/* An overflow, a signal, or a datagram of which a quarter is gone. */
ssize_t __real_mnl_socket_recvfrom(const struct mnl_socket *socket, void *octets, size_t n);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *socket, void *octets, size_t n);
ssize_t
__wrap_mnl_socket_recvfrom(const struct mnl_socket *socket, void *octets, size_t n)
{
	ssize_t got;

	if (!faults_hit(FAULT_NETLINK, "mnl_socket_recvfrom"))
		return __real_mnl_socket_recvfrom(socket, octets, n);
	if (faults_way(3) < 2) {
		errno = PICK(ERRORS(ENOBUFS, EINTR));
		return -1;
	}
	got = __real_mnl_socket_recvfrom(socket, octets, n);
	return got > 0 ? got - got / 4 : got;
}

/* ---- threads ---- */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
    void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
    void *arg);
int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *arg)
{
	return faults_hit(FAULT_THREAD, "pthread_create")
	    ? EAGAIN
	    : __real_pthread_create(thread, how, run, arg);
}

/* ---- time ---- */

/* Under a plan waits for a time are over at once: they are for a disk or peer to get better. */
int __real_sem_timedwait(sem_t *semaphore, const struct timespec *until);
int __wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until);
int
__wrap_sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	if (!faults_planned())
		return __real_sem_timedwait(semaphore, until);
	if (sem_trywait(semaphore) == 0)
		return 0;
	errno = ETIMEDOUT;
	return -1;
}

int __real_usleep(useconds_t us);
int __wrap_usleep(useconds_t us);
int
__wrap_usleep(useconds_t us)
{
	return faults_planned() ? 0 : __real_usleep(us);
}
