#include "tests/make_capture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
put(struct made_capture *c, const void *octets, size_t n)
{
	assert(n <= sizeof(c->octets) - c->n);
	if (n > 0)
		memcpy(c->octets + c->n, octets, n);
	c->n += n;
}

static void
put_number(struct made_capture *c, uint32_t value, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t octet = (uint8_t)(value >> 8 * (c->big_endian ? n - 1 - i : i));

		put(c, &octet, 1);
	}
}

void
made_begin(struct made_capture *c, bool big_endian, bool nanoseconds, uint32_t link_type)
{
	c->n = 0;
	c->big_endian = big_endian;
	c->nanoseconds = nanoseconds;
	put_number(c, nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4, 4);
	put_number(c, 2, 2);
	put_number(c, 4, 2);
	put_number(c, 0, 4);
	put_number(c, 0, 4);
	put_number(c, 65535, 4);
	put_number(c, link_type, 4);
}

void
made_record(struct made_capture *c, uint64_t time_us, uint32_t captured, uint32_t length,
    const uint8_t *octets)
{
	put_number(c, (uint32_t)(time_us / 1000000), 4);
	put_number(c, (uint32_t)(time_us % 1000000) * (c->nanoseconds ? 1000 : 1), 4);
	put_number(c, captured, 4);
	put_number(c, length, 4);
	put(c, octets, captured);
}

void
made_frame(struct made_capture *c, uint64_t time_us, uint64_t destination, uint64_t source,
    uint32_t length)
{
	uint8_t octets[1600];

	assert(length >= 14 && length <= sizeof(octets));
	for (size_t i = 0; i < 6; i++) {
		octets[i] = (uint8_t)(destination >> 8 * (5 - i));
		octets[6 + i] = (uint8_t)(source >> 8 * (5 - i));
	}
	octets[12] = 8;
	octets[13] = 0;
	for (uint32_t i = 14; i < length; i++)
		octets[i] = (uint8_t)i;
	made_record(c, time_us, length, length, octets);
}

FILE *
made_open(struct made_capture *c)
{
	FILE *file = fmemopen(c->octets, c->n, "rb");

	assert(file);
	return file;
}

void
made_write(const struct made_capture *c, char *path, size_t path_size)
{
	const char *directory = getenv("TMPDIR");
	ssize_t done;
	int fd;

	snprintf(path, path_size, "%s/ease-capture-XXXXXX", directory ? directory : "/tmp");
	fd = mkstemp(path);
	assert(fd >= 0);
	done = write(fd, c->octets, c->n);
	assert(done == (ssize_t)c->n);
	(void)done;
	close(fd);
}
