/*
 * Replaces tap.c in a build without libbpf, or without a compiler for eBPF: opening taps fails.
 */
#include "agent/linux/tap.h"

#include <errno.h>
#include <stdio.h>

int
taps_open(bool classic, struct taps **taps, char *reason, size_t reason_size)
{
	(void)classic;
	*taps = NULL;
	snprintf(reason, reason_size, "this program was built without eBPF");
	return -EOPNOTSUPP;
}

void
taps_close(struct taps *taps)
{
	(void)taps;
}

int
taps_fd(const struct taps *taps)
{
	(void)taps;
	return -1;
}

int
taps_read(struct taps *taps, unsigned max, taps_handler take, void *ctx)
{
	(void)taps;
	(void)max;
	(void)take;
	(void)ctx;
	return 0;
}

int
taps_attach(struct taps *taps, uint32_t kernel_index, uint64_t pool_in, uint64_t pool_out, struct tap **tap)
{
	(void)taps;
	(void)kernel_index;
	(void)pool_in;
	(void)pool_out;
	*tap = NULL;
	return -EOPNOTSUPP;
}

void
tap_detach(struct tap *tap)
{
	(void)tap;
}

bool
tap_is_attached(const struct tap *tap)
{
	(void)tap;
	return true;
}

int
taps_renew(struct taps *taps, struct tap **tap)
{
	(void)taps;
	(void)tap;
	return -EOPNOTSUPP;
}

bool
taps_clean(uint32_t kernel_index)
{
	(void)kernel_index;
	return false;
}

int
tap_load(struct tap *tap, uint32_t skip)
{
	(void)tap;
	(void)skip;
	return -ENODEV;
}

void
tap_clear(struct tap *tap)
{
	(void)tap;
}

uint32_t
tap_epoch(const struct tap *tap)
{
	(void)tap;
	return 0;
}

bool
tap_is_stalled(const struct tap *tap)
{
	(void)tap;
	return true;
}

uint64_t
tap_pool(const struct tap *tap, unsigned direction)
{
	(void)tap;
	(void)direction;
	return 0;
}
