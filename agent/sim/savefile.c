#include "agent/sim/savefile.h"

#include "agent/sim/file_mapping.h"
#include "common/buf.h"
#include "common/log.h"

#include <byteswap.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	RECORD_MAX_OCTETS = 512 * 1024, /* a pcap record; a pcapng block with options */
	LINK_ETHERNET = 1,
	/* Of a file that cannot be mapped: a pipe, or a file in memory. What one call copies stays in
	 * the second-level cache. */
	READ_OCTETS = 128 * 1024,
	BUFFER_OCTETS = RECORD_MAX_OCTETS + READ_OCTETS,
	REASON_OCTETS = 160,
};
#define US_PER_S 1000000ull

struct interface {
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
	bool pcapng, swapped, at_end, damaged;
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
	struct interface *interfaces;
	uint32_t n_interfaces;
	uint64_t other_links;
	char reason[REASON_OCTETS];
};

/* Prefetches octets a little behind those just parsed: in a mapped file they are not in the cache yet. */
static inline void
prefetch_ahead(const struct savefile *sf, const uint8_t *octets, size_t n)
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

/* --- damage --- */

/* Marks the file as damaged from here on, for this reason. Returns false. */
static __attribute__((format(printf, 2, 3))) bool
mark_damaged(struct savefile *sf, const char *format, ...)
{
	va_list args;

	sf->damaged = true;
	va_start(args, format);
	vsnprintf(sf->reason, sizeof(sf->reason), format, args);
	va_end(args);
	return false;
}

/* --- interfaces --- */

/* As libpcap understands a snap length. */
static uint32_t
snap_limit(uint32_t snap_octets)
{
	return snap_octets == 0 || snap_octets > INT32_MAX ? SAVEFILE_MAX_CAPTURED_OCTETS
							    : snap_octets;
}

/* Whether this interface of the table is one to read. */
static bool
savefile_is_wanted(const struct savefile *sf, const struct interface *i)
{
	char number[16];

	if (!sf->only)
		return true;
	snprintf(number, sizeof(number), "%u", (unsigned)(i - sf->interfaces));
	return strcmp(sf->only, number) == 0 || strcmp(sf->only, i->name) == 0;
}

/* libpcap's name of a link type. Its numbers differ from those in files in a few old cases. */
static const char *
link_name(uint16_t link)
{
	static const struct {
		uint16_t link;
		int dlt;
	} differing[] = {{100, DLT_ATM_RFC1483}, {101, DLT_RAW}, {102, DLT_SLIP_BSDOS},
	    {103, DLT_PPP_BSDOS}, {106, DLT_ATM_CLIP}};

	for (size_t k = 0; k < sizeof(differing) / sizeof(differing[0]); k++)
		if (differing[k].link == link)
			return pcap_datalink_val_to_description_or_dlt(differing[k].dlt);
	return pcap_datalink_val_to_description_or_dlt(link);
}

/* --- the file --- */

/* Moves the rest to the front and reads behind it. */
static void
read_on(struct savefile *sf)
{
	size_t n;

	memmove(sf->read_buffer, sf->read_buffer + sf->begin, sf->end - sf->begin);
	sf->end -= sf->begin;
	sf->begin = 0;
	n = fread(sf->read_buffer + sf->end, 1, READ_OCTETS, sf->file);
	sf->at_end = n < READ_OCTETS;
	if (n <= sf->skip) {
		sf->skip -= n;
		return;
	}
	/* Nothing is left before octets that are skipped. */
	sf->begin = sf->skip;
	sf->skip = 0;
	sf->end += n;
}

/* Maps the window that begins with the rest. */
static void
map_on(struct savefile *sf)
{
	uint64_t at = sf->mapped_from + sf->begin + sf->skip;
	int rc = file_mapping_move(
	    sf->mapping, at, &sf->buffer, &sf->mapped_from, &sf->end, &sf->at_end);

	if (rc < 0) {
		sf->begin = sf->end = 0;
		mark_damaged(sf, rc == -ENODATA ? "it ends inside a record" : "it cannot be read");
		return;
	}
	sf->begin = (size_t)(at - sf->mapped_from);
	sf->skip = 0;
}

enum savefile_state
savefile_fill(struct savefile *sf)
{
	if (sf->damaged)
		return SAVEFILE_DAMAGED;
	do {
		if (sf->at_end)
			break;
		if (sf->mapping)
			map_on(sf);
		else
			read_on(sf);
	} while (!sf->damaged && (sf->end - sf->begin < sf->needed || sf->skip > 0));
	if (sf->damaged)
		return SAVEFILE_DAMAGED;
	if (sf->end - sf->begin >= sf->needed && sf->end > sf->begin && sf->skip == 0)
		return SAVEFILE_MORE;
	if (sf->end == sf->begin && sf->skip == 0 && !ferror(sf->file))
		return SAVEFILE_END;
	mark_damaged(
	    sf, ferror(sf->file) ? "it cannot be read" : "it ends inside a record");
	return SAVEFILE_DAMAGED;
}

/* --- pcap: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html --- */
enum {
	PCAP_HEADER_OCTETS = 24,
	PCAP_RECORD_OCTETS = 16,
	PCAP_LINK_BITS = 0x03ffffff, /* above: FCS length and reserved */
};

#define PCAP_MAGIC_US 0xa1b2c3d4u
#define PCAP_MAGIC_NS 0xa1b23c4du

static inline uint64_t
pcap_time(const struct savefile *sf, uint64_t seconds, uint64_t fraction)
{
	if (fraction >= sf->fraction_limit)
		return SAVEFILE_NO_TIME;
	/* Dividing by a constant is a multiplication. */
	return seconds * US_PER_S + (sf->divisor == 1 ? fraction : fraction / 1000);
}

/* Before version 2.3 the two lengths had the opposite order, and in 2.3 sometimes. */
static void
settle_lengths(const struct savefile *sf, uint32_t *captured, uint32_t *length)
{
	uint32_t first = *captured;

	if (sf->minor_version == 3 && *captured <= *length)
		return;
	*captured = *length;
	*length = first;
}

static size_t
read_pcap(struct savefile *sf, struct savefile_record *records, size_t max)
{
	const uint8_t *p = sf->buffer + sf->begin, *end = sf->buffer + sf->end;
	uint32_t snap_octets = sf->interfaces[0].snap_octets;
	size_t n = 0;

	while (n < max) {
		uint32_t captured, length;

		/* needed is what must be in the buffer to go on, also for who fills it. */
		sf->needed = PCAP_RECORD_OCTETS;
		if ((size_t)(end - p) < sf->needed)
			break;
		captured = u32_at(sf, p + 8);
		length = u32_at(sf, p + 12);
		if (sf->minor_version < 4)
			settle_lengths(sf, &captured, &length);
		if (captured > SAVEFILE_MAX_CAPTURED_OCTETS) {
			mark_damaged(sf, "a record claims %u captured octets", captured);
			break;
		}
		sf->needed += captured;
		if ((size_t)(end - p) < sf->needed)
			break;
		records[n++] = (struct savefile_record){
		    .time_us = pcap_time(sf, u32_at(sf, p), u32_at(sf, p + 4)),
		    .octets = p + PCAP_RECORD_OCTETS,
		    .captured_octets = captured < snap_octets ? captured : snap_octets,
		    .length_octets = length,
		};
		prefetch_ahead(sf, p, sf->needed);
		p += sf->needed;
	}
	sf->begin = (size_t)(p - sf->buffer);
	return n;
}

static int
start_pcap(struct savefile *sf)
{
	const uint8_t *header = sf->buffer;
	uint32_t magic = u32_at(sf, header);
	uint16_t major = u16_at(sf, header + 4), link;

	sf->minor_version = u16_at(sf, header + 6);
	if (major != 2 || sf->minor_version > 4) {
		mark_damaged(sf, "pcap version %u.%u is unknown", major, sf->minor_version);
		return -EINVAL;
	}
	sf->divisor = magic == PCAP_MAGIC_NS ? 1000 : 1;
	sf->fraction_limit = US_PER_S * sf->divisor;
	link = (uint16_t)(u32_at(sf, header + 20) & PCAP_LINK_BITS);
	sf->interfaces[0] = (struct interface){.link = link,
	    .ethernet = link == LINK_ETHERNET,
	    .snap_octets = snap_limit(u32_at(sf, header + 16))};
	sf->interfaces[0].wanted =
	    sf->interfaces[0].ethernet && savefile_is_wanted(sf, &sf->interfaces[0]);
	sf->n_interfaces = 1;
	sf->begin = PCAP_HEADER_OCTETS;
	return 0;
}

/* --- pcapng: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-03.html --- */
enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* obsolete */
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_ENHANCED_PACKET = 6,
	BLOCK_MIN_OCTETS = 12, /* type, length, and length again */
	SECTION_MIN_OCTETS = 28,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	OPTION_END = 0,
	OPTION_IF_NAME = 2,
	OPTION_IF_TSRESOL = 9,
	OPTION_IF_TSOFFSET = 14,
};

#define SKIP_MAX_OCTETS (16u << 20) /* a block that is skipped: libpcap's limit */
#define MAX_SECONDS	253402300799ull /* the year 9999: later ones are damage */

static uint64_t
pcapng_time(const struct interface *i, uint64_t ticks)
{
	uint64_t seconds, fraction;

	if (i->ticks_per_s == US_PER_S && i->offset_s == 0)
		return ticks / US_PER_S <= MAX_SECONDS ? ticks : SAVEFILE_NO_TIME;
	seconds = ticks / i->ticks_per_s + (uint64_t)i->offset_s;
	fraction = ticks % i->ticks_per_s;
	if (seconds > MAX_SECONDS)
		return SAVEFILE_NO_TIME;
	return seconds * US_PER_S + (uint64_t)((unsigned __int128)fraction * US_PER_S / i->ticks_per_s);
}

/* A packet block's fixed part, by type. */
struct packet_layout {
	uint32_t type;
	uint8_t fixed_octets; /* behind type and length */
	uint8_t time, captured, length; /* offsets in it */
};

static const struct packet_layout packet_layouts[] = {
    {BLOCK_ENHANCED_PACKET, 20, 4, 12, 16},
    {BLOCK_PACKET, 20, 4, 12, 16},
    {BLOCK_SIMPLE_PACKET, 4, 0, 0, 0},
};

static const struct packet_layout *
packet_layout(uint32_t type)
{
	for (size_t i = 0; i < sizeof(packet_layouts) / sizeof(packet_layouts[0]); i++)
		if (packet_layouts[i].type == type)
			return &packet_layouts[i];
	return NULL;
}

/* Reads the record of a packet block. False: it is left out, or damaged. */
static bool
savefile_read_packet(struct savefile *sf, const struct packet_layout *layout, const uint8_t *body,
    size_t octets, struct savefile_record *record)
{
	const struct interface *i;
	uint32_t id;

	if (octets < layout->fixed_octets)
		return mark_damaged(sf, "a packet block is too short");
	id = layout->type == BLOCK_SIMPLE_PACKET ? 0 : layout->type == BLOCK_PACKET ? u16_at(sf, body) : u32_at(sf, body);
	if (id >= sf->n_interfaces)
		return mark_damaged(sf, "a packet belongs to interface %u, which is not described", id);
	i = &sf->interfaces[id];
	if (!i->wanted) {
		sf->other_links += !i->ethernet;
		return false;
	}
	record->interface = id;
	record->length_octets = u32_at(sf, body + layout->length);
	record->octets = body + layout->fixed_octets;
	/* A simple block has no time, and does not say how much was captured. */
	if (layout->type == BLOCK_SIMPLE_PACKET) {
		record->captured_octets = record->length_octets < i->snap_octets
		    ? record->length_octets
		    : i->snap_octets;
		record->time_us = SAVEFILE_NO_TIME;
	} else {
		record->captured_octets = u32_at(sf, body + layout->captured);
		record->time_us = pcapng_time(i,
		    (uint64_t)u32_at(sf, body + layout->time) << 32 |
			u32_at(sf, body + layout->time + 4));
	}
	if (record->captured_octets > i->snap_octets)
		return mark_damaged(sf, "a packet has %u octets, more than the snap length of %u",
		    record->captured_octets, i->snap_octets);
	if (record->captured_octets > octets - layout->fixed_octets)
		return mark_damaged(sf, "a packet is larger than its block");
	return true;
}

/* if_tsresol: a power of 10, or of 2 with the top bit set. */
static bool
read_resolution(struct savefile *sf, struct interface *i, uint8_t option)
{
	unsigned power = option & 0x7f;

	if (power > (option & 0x80 ? 63 : 19))
		return mark_damaged(sf, "an interface's time resolution is too fine (%u)", option);
	i->ticks_per_s = option & 0x80 ? 1ull << power : 1;
	for (unsigned k = 0; !(option & 0x80) && k < power; k++)
		i->ticks_per_s *= 10;
	return true;
}

static bool
read_option(struct savefile *sf, struct interface *i, uint16_t code, const uint8_t *value, uint16_t octets)
{
	switch (code) {
	case OPTION_IF_NAME:
		snprintf(i->name, sizeof(i->name), "%.*s", (int)octets, (const char *)value);
		return true;
	case OPTION_IF_TSRESOL:
		if (octets != 1)
			return mark_damaged(sf, "an interface's time resolution has %u octets", octets);
		return read_resolution(sf, i, value[0]);
	case OPTION_IF_TSOFFSET:
		if (octets != 8)
			return mark_damaged(sf, "an interface's time offset has %u octets", octets);
		i->offset_s = (int64_t)u64_at(sf, value);
		return true;
	default:
		return true;
	}
}

static bool
read_options(struct savefile *sf, struct interface *i, struct rbuf options)
{
	while (rbuf_left(&options) > 0) {
		const uint8_t *head = rbuf_take(&options, 4), *value;
		uint16_t code, octets;

		if (!head)
			return mark_damaged(sf, "an interface's options are cut");
		code = u16_at(sf, head);
		octets = u16_at(sf, head + 2);
		value = rbuf_take(&options, (octets + 3u) & ~3u);
		if (!value)
			return mark_damaged(sf, "an interface's options are cut");
		if (code == OPTION_END)
			return octets == 0 || mark_damaged(sf, "an interface's options end with %u octets", octets);
		if (!read_option(sf, i, code, value, octets))
			return false;
	}
	return true;
}

static bool
read_interface(struct savefile *sf, const uint8_t *body, size_t octets)
{
	struct interface *i = &sf->interfaces[sf->n_interfaces];

	if (octets < 8)
		return mark_damaged(sf, "an interface's block is too short");
	if (sf->n_interfaces == SAVEFILE_MAX_INTERFACES)
		return mark_damaged(sf, "more than %d interfaces", SAVEFILE_MAX_INTERFACES);
	*i = (struct interface){.link = u16_at(sf, body),
	    .snap_octets = snap_limit(u32_at(sf, body + 4)),
	    .ticks_per_s = US_PER_S};
	if (!read_options(sf, i, rbuf_of(body + 8, octets - 8)))
		return false;
	i->ethernet = i->link == LINK_ETHERNET;
	i->wanted = i->ethernet && savefile_is_wanted(sf, i);
	if (!i->ethernet)
		log_info("feed", "%s: interface %u is left out: link type %u (%s) is not Ethernet",
		    sf->path, sf->n_interfaces, i->link, link_name(i->link));
	sf->n_interfaces++;
	return true;
}

/* A section's first 16 octets decide the byte order of all of it. */
static bool
read_section_order(struct savefile *sf, const uint8_t *block)
{
	uint32_t magic;

	memcpy(&magic, block + 8, sizeof(magic));
	if (magic != BYTE_ORDER_MAGIC && bswap_32(magic) != BYTE_ORDER_MAGIC)
		return mark_damaged(sf, "a section has no byte order");
	sf->swapped = magic != BYTE_ORDER_MAGIC;
	return true;
}

static bool
begin_section(struct savefile *sf, const uint8_t *body, size_t octets)
{
	uint16_t major, minor;

	if (octets < SECTION_MIN_OCTETS - BLOCK_MIN_OCTETS)
		return mark_damaged(sf, "a section's header is too short");
	major = u16_at(sf, body + 4);
	minor = u16_at(sf, body + 6);
	if (major != 1 || (minor != 0 && minor != 2))
		return mark_damaged(sf, "pcapng version %u.%u is unknown", major, minor);
	sf->n_interfaces = 0;
	return true;
}

/* The length of the block at begin; 0 if its header is not in memory yet or is damaged. */
static uint32_t
block_octets(struct savefile *sf)
{
	const uint8_t *block = sf->buffer + sf->begin;
	uint32_t octets;

	sf->needed = BLOCK_MIN_OCTETS;
	if (sf->end - sf->begin < sf->needed)
		return 0;
	if (u32_at(sf, block) == BLOCK_SECTION && !read_section_order(sf, block))
		return 0;
	octets = u32_at(sf, block + 4);
	if (octets < BLOCK_MIN_OCTETS || octets % 4 != 0 || octets > SKIP_MAX_OCTETS) {
		mark_damaged(sf, "a block of %u octets", octets);
		return 0;
	}
	return octets;
}

/* Takes the next block if it is completely in memory, and moves begin behind it. */
static const uint8_t *
savefile_take_block(struct savefile *sf, uint32_t *type, size_t *body_octets)
{
	const uint8_t *block = sf->buffer + sf->begin;
	uint32_t octets = block_octets(sf);

	if (octets == 0)
		return NULL;
	*type = u32_at(sf, block);
	sf->needed = octets;
	if (sf->end - sf->begin < octets) {
		if (octets <= RECORD_MAX_OCTETS)
			return NULL;
		/* It will not fit into memory: it is skipped if it is of a type that is not read. */
		if (*type == BLOCK_SECTION || *type == BLOCK_INTERFACE || packet_layout(*type)) {
			mark_damaged(sf, "a block of %u octets", octets);
			return NULL;
		}
		sf->skip = octets - (sf->end - sf->begin);
		sf->begin = sf->end;
		sf->needed = 1;
		return NULL;
	}
	if (u32_at(sf, block + octets - 4) != octets) {
		mark_damaged(sf, "a block's two lengths differ");
		return NULL;
	}
	prefetch_ahead(sf, block, octets);
	sf->begin += octets;
	*body_octets = octets - BLOCK_MIN_OCTETS;
	return block + 8;
}

enum block_result { BLOCK_NOT_THERE, BLOCK_NO_RECORD, BLOCK_RECORD };

static enum block_result
savefile_read_block(struct savefile *sf, struct savefile_record *record)
{
	const struct packet_layout *layout;
	size_t octets;
	uint32_t type;
	const uint8_t *body = savefile_take_block(sf, &type, &octets);

	if (!body)
		return BLOCK_NOT_THERE;
	layout = packet_layout(type);
	if (layout && savefile_read_packet(sf, layout, body, octets, record))
		return BLOCK_RECORD;
	if (type == BLOCK_INTERFACE)
		read_interface(sf, body, octets);
	else if (type == BLOCK_SECTION)
		begin_section(sf, body, octets);
	return BLOCK_NO_RECORD;
}

static size_t
read_pcapng(struct savefile *sf, struct savefile_record *records, size_t max)
{
	enum block_result result = BLOCK_NO_RECORD;
	size_t n = 0;

	while (n < max && !sf->damaged && result != BLOCK_NOT_THERE) {
		result = savefile_read_block(sf, &records[n]);
		n += result == BLOCK_RECORD;
	}
	return n;
}

/* Whether these 12 octets are the start of a pcapng. */
static bool
is_pcapng(const uint8_t *octets)
{
	uint32_t type, order;

	memcpy(&type, octets, sizeof(type));
	memcpy(&order, octets + 8, sizeof(order));
	return type == BLOCK_SECTION && (order == BYTE_ORDER_MAGIC || bswap_32(order) == BYTE_ORDER_MAGIC);
}

/* Reads up to the first packet or the end, because interfaces are described before packets. */
static int
start_pcapng(struct savefile *sf)
{
	struct savefile_record none;

	for (;;) {
		size_t before = sf->begin;
		uint32_t octets = block_octets(sf);

		if (octets && packet_layout(u32_at(sf, sf->buffer + before)))
			break;
		if (octets && savefile_read_block(sf, &none) == BLOCK_NO_RECORD && !sf->damaged)
			continue;
		if (savefile_fill(sf) != SAVEFILE_MORE)
			break;
	}
	if (sf->n_interfaces > 0)
		return 0; /* later damage is reported when it is reached */
	if (!sf->damaged)
		mark_damaged(sf, "it describes no interface");
	return -EINVAL;
}

/* --- reading --- */

/* Drops records behind the place where a mapped file was truncated or became unreadable. */
static size_t
keep_good(struct savefile *sf, const struct savefile_record *records, size_t n)
{
	bool suspicious = sf->damaged || (n > 0 && records[n - 1].length_octets == 0);
	size_t good;

	if (!file_mapping_lost(sf->mapping, suspicious, &good))
		return n;
	mark_damaged(sf, "it was truncated or cannot be read any more");
	while (n > 0 && records[n - 1].octets + records[n - 1].captured_octets > sf->buffer + good)
		n--;
	return n;
}

size_t
savefile_read(struct savefile *sf, struct savefile_record *records, size_t max)
{
	size_t n;

	if (sf->damaged)
		return 0;
	n = sf->pcapng ? read_pcapng(sf, records, max) : read_pcap(sf, records, max);
	return sf->mapping ? keep_good(sf, records, n) : n;
}

const char *
savefile_damage(const struct savefile *sf)
{
	return sf->reason;
}

uint64_t
savefile_other_links(const struct savefile *sf)
{
	return sf->other_links;
}

/* --- opening --- */

/* There must be an interface to read. */
static int
check_interfaces(struct savefile *sf)
{
	bool ethernet = false;

	for (uint32_t k = 0; k < sf->n_interfaces; k++) {
		if (sf->interfaces[k].wanted)
			return 0;
		ethernet = ethernet || sf->interfaces[k].ethernet;
	}
	if (!ethernet) {
		mark_damaged(sf, "link type %u (%s) is not Ethernet", sf->interfaces[0].link,
		    link_name(sf->interfaces[0].link));
		return -EPROTONOSUPPORT;
	}
	mark_damaged(sf, "it has no Ethernet interface \"%s\"", sf->only);
	return -ENOENT;
}

/* Pcap or pcapng, and in which byte order; with an interface to read. */
static int
start_reading(struct savefile *sf)
{
	uint32_t magic;
	int rc;

	sf->needed = PCAP_HEADER_OCTETS;
	savefile_fill(sf);
	if (sf->end < PCAP_HEADER_OCTETS) {
		mark_damaged(sf, ferror(sf->file) ? "it cannot be read" : "it is too short");
		return -EINVAL;
	}
	memcpy(&magic, sf->buffer, sizeof(magic));
	sf->pcapng = is_pcapng(sf->buffer);
	sf->swapped = !sf->pcapng && (bswap_32(magic) == PCAP_MAGIC_US || bswap_32(magic) == PCAP_MAGIC_NS);
	if (sf->pcapng) {
		rc = start_pcapng(sf);
	} else if (sf->swapped || magic == PCAP_MAGIC_US || magic == PCAP_MAGIC_NS) {
		rc = start_pcap(sf);
	} else {
		mark_damaged(sf, "it is neither pcap nor pcapng");
		rc = -EINVAL;
	}
	return rc < 0 ? rc : check_interfaces(sf);
}

int
savefile_open(const char *path, FILE *file, const char *interface, struct savefile **savefile,
    char *error, size_t error_size)
{
	bool one = interface && interface[0];
	struct savefile *sf = calloc(1, sizeof(*sf));
	int rc;

	if (!sf) {
		if (file)
			fclose(file);
		snprintf(error, error_size, "%s: out of memory", path);
		return -ENOMEM;
	}
	sf->file = file ? file : fopen(path, "rbe");
	if (!sf->file) {
		rc = -errno;
		mark_damaged(sf, "%s", strerror(-rc));
		goto fail;
	}
	/* A regular file at its beginning is mapped, any other is read. */
	if (ftello(sf->file) != 0 || file_mapping_open(fileno(sf->file), &sf->mapping) < 0)
		sf->buffer = sf->read_buffer = malloc(BUFFER_OCTETS);
	sf->path = strdup(path);
	sf->only = one ? strdup(interface) : NULL;
	sf->interfaces = calloc(SAVEFILE_MAX_INTERFACES, sizeof(*sf->interfaces));
	if ((!sf->mapping && !sf->read_buffer) || !sf->path || (one && !sf->only) || !sf->interfaces) {
		mark_damaged(sf, "out of memory");
		rc = -ENOMEM;
		goto fail;
	}
	rc = start_reading(sf);
	if (rc < 0)
		goto fail;
	*savefile = sf;
	return 0;
fail:
	snprintf(error, error_size, "%s: %s", path, sf->reason);
	savefile_close(sf);
	return rc;
}

int
savefile_rewind(struct savefile *sf)
{
	if (fseek(sf->file, 0, SEEK_SET) < 0)
		return -errno;
	sf->begin = sf->end = sf->skip = 0;
	sf->mapped_from = 0;
	sf->n_interfaces = 0;
	sf->at_end = sf->damaged = false;
	return start_reading(sf);
}

void
savefile_close(struct savefile *sf)
{
	if (!sf)
		return;
	file_mapping_close(sf->mapping);
	if (sf->file)
		fclose(sf->file);
	free(sf->interfaces);
	free(sf->read_buffer);
	free(sf->only);
	free(sf->path);
	free(sf);
}
