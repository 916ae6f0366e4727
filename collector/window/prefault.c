#include "collector/window/prefault.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	HUGE_PAGE = 2 << 20, /* x86-64; arm64 with pages of 4 KiB */
	CACHE_LINE = 64,
	/* For smaller tables the alignment costs more memory than huge pages gain. */
	LARGE = 4 * HUGE_PAGE,
};

void *
prefault_alloc(size_t n, size_t octets, int fill)
{
	size_t whole = n * octets;
	void *p;

	if (posix_memalign(&p, whole < LARGE ? CACHE_LINE : HUGE_PAGE, whole) != 0)
		return NULL;
	if (whole >= LARGE) /* if this fails, the table has small pages */
		madvise(p, whole / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	return memset(p, fill, whole);
}

size_t
prefault_octets(size_t n, size_t octets)
{
	size_t whole = n * octets;

	return whole < LARGE ? whole + CACHE_LINE : whole + HUGE_PAGE;
}
