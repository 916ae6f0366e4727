#include "agent/sim/file_mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTHING_LOST SIZE_MAX

struct file_mapping {
	int fd;
	size_t page_octets;
	uint8_t *window; /* NULL: none */
	uint64_t from;	 /* where in the file it begins */
	size_t n;
	_Atomic size_t good; /* octets before the first lost one, or NOTHING_LOST */
};

/* All mappings, so that the signal handler can find the one of an address. NULL: a free place. */
static _Atomic(struct file_mapping *) mappings[FILE_MAPPING_MAX];
static struct sigaction before; /* the handler before ours */

/* Replaces the window by zeros from the page of this octet on. False if the kernel has no memory. */
static bool
lose_rest(struct file_mapping *m, size_t at)
{
	size_t page = at / m->page_octets * m->page_octets;
	void *zeros = mmap(m->window + page, m->n - page, PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page < atomic_load_explicit(&m->good, memory_order_relaxed))
		atomic_store_explicit(&m->good, page, memory_order_relaxed);
	return zeros != MAP_FAILED;
}

/* Runs in the thread that made the access, which owns the mapping. */
static void
on_bus_error(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)context;
	for (unsigned i = 0; i < FILE_MAPPING_MAX; i++) {
		struct file_mapping *m = atomic_load_explicit(&mappings[i], memory_order_acquire);

		if (m && m->window && address - (uintptr_t)m->window < m->n &&
		    lose_rest(m, address - (uintptr_t)m->window))
			return;
	}
	sigaction(number, &before, NULL); /* the access is repeated, and the handler before gets the signal */
}

static void
take_signal(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

static int
enter_mapping(struct file_mapping *m)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, take_signal);
	for (unsigned i = 0; i < FILE_MAPPING_MAX; i++) {
		struct file_mapping *none = NULL;

		if (atomic_compare_exchange_strong(&mappings[i], &none, m))
			return 0;
	}
	return -EMFILE;
}

int
file_mapping_open(int fd, struct file_mapping **mapping)
{
	struct file_mapping *m;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -ENODEV;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->fd = fd;
	m->page_octets = (size_t)sysconf(_SC_PAGESIZE);
	atomic_init(&m->good, NOTHING_LOST);
	if (enter_mapping(m) < 0) {
		free(m);
		return -EMFILE;
	}
	*mapping = m;
	return 0;
}

static void
mapping_close_window(struct file_mapping *m)
{
	if (m->window)
		munmap(m->window, m->n);
	m->window = NULL;
}

void
file_mapping_close(struct file_mapping *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < FILE_MAPPING_MAX; i++) {
		struct file_mapping *this = m;

		atomic_compare_exchange_strong(&mappings[i], &this, NULL);
	}
	mapping_close_window(m);
	free(m);
}

int
file_mapping_move(struct file_mapping *m, uint64_t at, const uint8_t **octets, uint64_t *from, size_t *n,
    bool *at_end)
{
	uint64_t begin = at / m->page_octets * m->page_octets, left;
	struct stat st;
	void *window;

	mapping_close_window(m);
	atomic_store_explicit(&m->good, NOTHING_LOST, memory_order_relaxed);
	if (fstat(m->fd, &st) < 0)
		return -errno;
	if (at > (uint64_t)st.st_size)
		return -ENODATA;
	left = (uint64_t)st.st_size - begin;
	*at_end = left <= FILE_MAPPING_WINDOW_OCTETS;
	*n = *at_end ? (size_t)left : FILE_MAPPING_WINDOW_OCTETS;
	*from = begin;
	*octets = (const uint8_t *)"";
	if (*n == 0)
		return 0;
	window = mmap(NULL, *n, PROT_READ, MAP_SHARED, m->fd, (off_t)begin);
	if (window == MAP_FAILED)
		return -errno;
	madvise(window, *n, MADV_SEQUENTIAL); /* reads far ahead; optional */
	m->from = begin;
	m->n = *n;
	m->window = window;
	*octets = window;
	return 0;
}

bool
file_mapping_lost(const struct file_mapping *m, bool closely, size_t *good)
{
	uint64_t size;
	struct stat st;

	*good = atomic_load_explicit(&m->good, memory_order_relaxed);
	if (!m->window || (*good == NOTHING_LOST && !closely) || fstat(m->fd, &st) < 0)
		return *good != NOTHING_LOST;
	size = (uint64_t)st.st_size;
	size = size > m->from ? size - m->from : 0;
	if (size < m->n && size < *good)
		*good = (size_t)size;
	return *good != NOTHING_LOST;
}
