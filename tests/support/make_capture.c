#include "tests/support/make_capture.h"

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

/* --- pcapng --- */

static size_t
begin_block(struct made_capture *c, uint32_t type)
{
	put_number(c, type, 4);
	put_number(c, 0, 4);
	return c->n - 8;
}

/* Fills up to a multiple of 4 and writes both lengths of the block that began at `begin`. */
static void
end_block(struct made_capture *c, size_t begin)
{
	size_t end, octets;

	while ((c->n - begin) % 4)
		put(c, "", 1);
	octets = c->n - begin + 4;
	put_number(c, (uint32_t)octets, 4);
	end = c->n;
	c->n = begin + 4;
	put_number(c, (uint32_t)octets, 4);
	c->n = end;
}

void
made_begin_ng(struct made_capture *c, bool big_endian)
{
	size_t begin;

	c->n = 0;
	c->big_endian = big_endian;
	begin = begin_block(c, 0x0a0d0d0a);
	put_number(c, 0x1a2b3c4d, 4);
	put_number(c, 1, 2);
	put_number(c, 0, 2);
	put_number(c, UINT32_MAX, 4); /* section length unknown */
	put_number(c, UINT32_MAX, 4);
	end_block(c, begin);
}

static void
put_option(struct made_capture *c, uint16_t code, const void *value, size_t octets)
{
	put_number(c, code, 2);
	put_number(c, (uint32_t)octets, 2);
	put(c, value, octets);
	put(c, "\0\0\0", (4 - octets % 4) % 4);
}

void
made_interface(struct made_capture *c, uint16_t link_type, uint32_t snap_octets,
    uint8_t resolution, const char *name)
{
	size_t begin = begin_block(c, 1);

	put_number(c, link_type, 2);
	put_number(c, 0, 2);
	put_number(c, snap_octets, 4);
	put_option(c, 2, name, strlen(name));
	put_option(c, 9, &resolution, 1);
	put_option(c, 0, "", 0);
	end_block(c, begin);
}

void
made_packet(struct made_capture *c, uint32_t interface, uint64_t ticks, uint32_t captured,
    uint32_t length, const uint8_t *octets)
{
	size_t begin = begin_block(c, 6);

	put_number(c, interface, 4);
	put_number(c, (uint32_t)(ticks >> 32), 4);
	put_number(c, (uint32_t)ticks, 4);
	put_number(c, captured, 4);
	put_number(c, length, 4);
	put(c, octets, captured);
	end_block(c, begin);
}

void
made_block(struct made_capture *c, uint32_t type, const uint8_t *body, size_t octets)
{
	size_t begin = begin_block(c, type);

	put(c, body, octets);
	end_block(c, begin);
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
