/*
 * Inside the reader of capture files. savefile.c opens a file and reads pcap, savefile_pcapng.c reads
 * pcapng, and both use savefile_common.c, which holds the part of the file in memory.
 */
#ifndef EASE_AGENT_SIM_SAVEFILE_PRIVATE_H
#define EASE_AGENT_SIM_SAVEFILE_PRIVATE_H

#include "agent/sim/savefile.h"

#include <byteswap.h>
#include <stdbool.h>
#include <string.h>

enum {
	SAVEFILE_RECORD_MAX_OCTETS = 512 * 1024, /* a pcap record; a pcapng block with options */
	SAVEFILE_LINK_ETHERNET = 1,
	/* Of a file that cannot be mapped: a pipe, or a file in memory. What one call copies stays in
	 * the second-level cache. */
	SAVEFILE_READ_OCTETS = 128 * 1024,
	SAVEFILE_BUFFER_OCTETS = SAVEFILE_RECORD_MAX_OCTETS + SAVEFILE_READ_OCTETS,
	SAVEFILE_REASON_OCTETS = 160,
};
#define SAVEFILE_US_PER_S 1000000ull

struct savefile_interface {
	bool wanted; /* Ethernet, and its records are to be read */
	bool ethernet;
	uint16_t link;
	uint32_t snap_octets;
	uint64_t ticks_per_s;
	int64_t offset_s;
	char name[SAVEFILE_NAME_OCTETS];
};

struct savefile {
	char *path;
	char *only; /* number or name of the interface to read; NULL: all */
	FILE *file;
	bool is_pcapng, swapped, at_end, damaged;
	struct file_mapping *mapping; /* NULL: the file is read */
	uint64_t mapped_from;	 /* file position of the window, or of the first one */
	uint8_t *read_buffer;	 /* NULL while the file is mapped */
	const uint8_t *buffer;	 /* the window, or what was read */
	size_t begin, end;	 /* of the octets in the buffer that are not parsed yet */
	size_t needed;	   /* octets from begin for the next record */
	size_t skip;	   /* octets behind end to skip */
	/* pcap */
	uint64_t divisor; /* of the fraction of a second, to microseconds */
	uint64_t fraction_limit;
	unsigned minor_version;
	/* pcapng: of this section; pcap: one */
	struct savefile_interface *interfaces;
	uint32_t n_interfaces;
	uint64_t other_links;
	char reason[SAVEFILE_REASON_OCTETS];
};

/* Prefetches octets a little behind those just parsed: in a mapped file they are not in the cache yet. */
static inline void
savefile_prefetch(const struct savefile *sf, const uint8_t *octets, size_t n)
{
	enum { AHEAD_OCTETS = 4096, CACHE_LINE_OCTETS = 64 };

	for (size_t i = 0; sf->mapping && i < n; i += CACHE_LINE_OCTETS)
		__builtin_prefetch((const void *)((uintptr_t)octets + AHEAD_OCTETS + i));
}

/* --- numbers of the file's byte order --- */

static inline uint32_t
u32_at(const struct savefile *sf, const uint8_t *octets)
{
	uint32_t value;

	memcpy(&value, octets, sizeof(value));
	return sf->swapped ? bswap_32(value) : value;
}

static inline uint16_t
u16_at(const struct savefile *sf, const uint8_t *octets)
{
	uint16_t value;

	memcpy(&value, octets, sizeof(value));
	return sf->swapped ? bswap_16(value) : value;
}

static inline uint64_t
u64_at(const struct savefile *sf, const uint8_t *octets)
{
	uint64_t value;

	memcpy(&value, octets, sizeof(value));
	return sf->swapped ? bswap_64(value) : value;
}

/* Whether these 12 octets are the start of a pcapng. */
bool savefile_is_pcapng(const uint8_t *octets);
/* Reads up to the first packet or the end, because interfaces are described before packets. */
int savefile_start_pcapng(struct savefile *sf);
size_t savefile_read_pcapng(struct savefile *sf, struct savefile_record *records, size_t max);

/* Marks the file as damaged from here on, for this reason. Returns false. */
bool savefile_mark_damaged(struct savefile *sf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The snap length as libpcap interprets it. */
uint32_t savefile_snap(uint32_t snap_octets);
/* Whether this interface of the table is the one to read. */
bool savefile_wants(const struct savefile *sf, const struct savefile_interface *interface);
/* The name of a link type. */
const char *savefile_link_name(uint16_t link);

#endif
