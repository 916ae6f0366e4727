#include "agent/device/savefile.h"

#include "common/buf.h"
#include "common/log.h"

#include <byteswap.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdlib.h>

enum {
	READ_OCTETS = 128 * 1024, /* at a time: what is copied stays in the second-level cache */
	RECORD_MAX_OCTETS = 512 * 1024, /* a pcap record; a pcapng block with its options */
	BUFFER_OCTETS = RECORD_MAX_OCTETS + READ_OCTETS,
	SKIP_MAX_OCTETS = 16 << 20, /* a block of no interest: libpcap's limit */
	REASON_OCTETS = 160,
};

/* --- pcap: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html --- */
enum {
	PCAP_HEADER_OCTETS = 24,
	PCAP_RECORD_OCTETS = 16,
	PCAP_LINK_BITS = 0x03ffffff, /* above: FCS length and reserved */
};

#define PCAP_MAGIC_US 0xa1b2c3d4u
#define PCAP_MAGIC_NS 0xa1b23c4du

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

enum { LINK_ETHERNET = 1 };
#define US_PER_S    1000000ull
#define MAX_SECONDS 253402300799ull /* the year 9999: later ones are damage */

struct interface {
	bool wanted; /* Ethernet, and the one that was asked for */
	bool ethernet;
	uint16_t link;
	uint32_t snap_octets;
	uint64_t ticks_per_s;
	int64_t offset_s;
	char name[SAVEFILE_NAME_OCTETS];
};

struct savefile {
	char *path;
	char *only; /* interface by number or name; NULL: all */
	FILE *file;
	bool is_pcapng, swapped, at_end, damaged;
	uint8_t *buffer;
	size_t begin, end; /* of what is not read yet */
	size_t needed;	   /* octets from begin for the next record */
	size_t skip;	   /* octets behind end that nobody wants */
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

static bool __attribute__((format(printf, 2, 3)))
damage(struct savefile *sf, const char *format, ...)
{
	va_list args;

	sf->damaged = true;
	va_start(args, format);
	vsnprintf(sf->reason, sizeof(sf->reason), format, args);
	va_end(args);
	return false;
}

/* --- pcap records --- */

static inline uint64_t
pcap_time(const struct savefile *sf, uint64_t seconds, uint64_t fraction)
{
	if (fraction >= sf->fraction_limit)
		return SAVEFILE_NO_TIME;
	/* Dividing by a constant is a multiplication. */
	return seconds * US_PER_S + (sf->divisor == 1 ? fraction : fraction / 1000);
}

/* Before version 2.3 the lengths stood the other way round, in 2.3 sometimes. */
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

		sf->needed = PCAP_RECORD_OCTETS;
		if ((size_t)(end - p) < sf->needed)
			break;
		captured = u32_at(sf, p + 8);
		length = u32_at(sf, p + 12);
		if (sf->minor_version < 4)
			settle_lengths(sf, &captured, &length);
		if (captured > SAVEFILE_MAX_CAPTURED_OCTETS) {
			damage(sf, "a record claims %u captured octets", captured);
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
		p += sf->needed;
	}
	sf->begin = (size_t)(p - sf->buffer);
	return n;
}

/* --- pcapng blocks --- */

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
	return seconds * US_PER_S +
	    (uint64_t)((unsigned __int128)fraction * US_PER_S / i->ticks_per_s);
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

static uint32_t
interface_of(const struct savefile *sf, uint32_t type, const uint8_t *body)
{
	if (type == BLOCK_SIMPLE_PACKET)
		return 0;
	return type == BLOCK_PACKET ? u16_at(sf, body) : u32_at(sf, body);
}

/* A packet block's record. False: left out, or damage. */
static bool
read_packet(struct savefile *sf, const struct packet_layout *layout, const uint8_t *body,
    size_t octets, struct savefile_record *record)
{
	const struct interface *i;
	uint32_t id;

	if (octets < layout->fixed_octets)
		return damage(sf, "a packet block is too short");
	id = interface_of(sf, layout->type, body);
	if (id >= sf->n_interfaces)
		return damage(sf, "a packet of interface %u, which is not described", id);
	i = &sf->interfaces[id];
	if (!i->wanted) {
		sf->other_links += !i->ethernet;
		return false;
	}
	record->interface = id;
	record->length_octets = u32_at(sf, body + layout->length);
	record->octets = body + layout->fixed_octets;
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
		return damage(sf, "a packet of %u octets, more than the snap length %u",
		    record->captured_octets, i->snap_octets);
	if (record->captured_octets > octets - layout->fixed_octets)
		return damage(sf, "a packet is larger than its block");
	return true;
}

/* if_tsresol: a power of 10, or of 2 with the top bit set. */
static bool
read_resolution(struct savefile *sf, struct interface *i, uint8_t option)
{
	unsigned power = option & 0x7f;

	if (power > (option & 0x80 ? 63 : 19))
		return damage(sf, "an interface's time resolution is too fine (%u)", option);
	i->ticks_per_s = option & 0x80 ? 1ull << power : 1;
	for (unsigned k = 0; !(option & 0x80) && k < power; k++)
		i->ticks_per_s *= 10;
	return true;
}

static bool
read_option(struct savefile *sf, struct interface *i, uint16_t code, const uint8_t *value,
    uint16_t octets)
{
	switch (code) {
	case OPTION_IF_NAME:
		snprintf(i->name, sizeof(i->name), "%.*s", (int)octets, (const char *)value);
		return true;
	case OPTION_IF_TSRESOL:
		if (octets != 1)
			return damage(sf, "an interface's time resolution has %u octets", octets);
		return read_resolution(sf, i, value[0]);
	case OPTION_IF_TSOFFSET:
		if (octets != 8)
			return damage(sf, "an interface's time offset has %u octets", octets);
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
			return damage(sf, "an interface's options are cut");
		code = u16_at(sf, head);
		octets = u16_at(sf, head + 2);
		value = rbuf_take(&options, (octets + 3u) & ~3u);
		if (!value)
			return damage(sf, "an interface's options are cut");
		if (code == OPTION_END)
			return octets == 0 ||
			    damage(sf, "an interface's options end with %u octets", octets);
		if (!read_option(sf, i, code, value, octets))
			return false;
	}
	return true;
}

static uint32_t
adjusted_snap(uint32_t snap_octets)
{
	return snap_octets == 0 || snap_octets > INT32_MAX ? SAVEFILE_MAX_CAPTURED_OCTETS
							    : snap_octets;
}

/* By number, or by name. */
static bool
is_asked_for(const struct savefile *sf, const struct interface *i)
{
	char number[16];

	if (!sf->only)
		return true;
	snprintf(number, sizeof(number), "%u", (unsigned)(i - sf->interfaces));
	return strcmp(sf->only, number) == 0 || strcmp(sf->only, i->name) == 0;
}

/* The link layer in words: libpcap's, whose numbers differ from the file's in a few old cases. */
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

static bool
read_interface(struct savefile *sf, const uint8_t *body, size_t octets)
{
	struct interface *i = &sf->interfaces[sf->n_interfaces];

	if (octets < 8)
		return damage(sf, "an interface's block is too short");
	if (sf->n_interfaces == SAVEFILE_MAX_INTERFACES)
		return damage(sf, "more than %d interfaces", SAVEFILE_MAX_INTERFACES);
	*i = (struct interface){.link = u16_at(sf, body),
	    .snap_octets = adjusted_snap(u32_at(sf, body + 4)),
	    .ticks_per_s = US_PER_S};
	if (!read_options(sf, i, rbuf_of(body + 8, octets - 8)))
		return false;
	i->ethernet = i->link == LINK_ETHERNET;
	i->wanted = i->ethernet && is_asked_for(sf, i);
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
		return damage(sf, "a section has no byte order");
	sf->swapped = magic != BYTE_ORDER_MAGIC;
	return true;
}

static bool
begin_section(struct savefile *sf, const uint8_t *body, size_t octets)
{
	uint16_t major, minor;

	if (octets < SECTION_MIN_OCTETS - BLOCK_MIN_OCTETS)
		return damage(sf, "a section's header is too short");
	major = u16_at(sf, body + 4);
	minor = u16_at(sf, body + 6);
	if (major != 1 || (minor != 0 && minor != 2))
		return damage(sf, "pcapng version %u.%u is unknown", major, minor);
	sf->n_interfaces = 0;
	return true;
}

/* The block at begin: its length once its header is in memory and believable, else 0. */
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
		damage(sf, "a block of %u octets", octets);
		return 0;
	}
	return octets;
}

static bool
is_read(uint32_t type)
{
	return type == BLOCK_SECTION || type == BLOCK_INTERFACE || packet_layout(type);
}

/* A block that does not fit is passed over if nobody wants it. */
static bool
pass_over(struct savefile *sf, uint32_t type, uint32_t octets)
{
	if (is_read(type))
		return damage(sf, "a block of %u octets", octets);
	sf->skip = octets - (sf->end - sf->begin);
	sf->begin = sf->end;
	sf->needed = 1;
	return false;
}

/* The next block, if all of it is in memory; begin moves behind it. */
static const uint8_t *
take_block(struct savefile *sf, uint32_t *type, size_t *body_octets)
{
	const uint8_t *block = sf->buffer + sf->begin;
	uint32_t octets = block_octets(sf);

	if (octets == 0)
		return NULL;
	*type = u32_at(sf, block);
	sf->needed = octets;
	if (sf->end - sf->begin < octets) {
		if (octets > RECORD_MAX_OCTETS)
			pass_over(sf, *type, octets);
		return NULL;
	}
	if (u32_at(sf, block + octets - 4) != octets) {
		damage(sf, "a block's two lengths differ");
		return NULL;
	}
	sf->begin += octets;
	*body_octets = octets - BLOCK_MIN_OCTETS;
	return block + 8;
}

enum block_result { BLOCK_NOT_THERE, BLOCK_NO_RECORD, BLOCK_RECORD };

static enum block_result
read_block(struct savefile *sf, struct savefile_record *record)
{
	const struct packet_layout *layout;
	size_t octets;
	uint32_t type;
	const uint8_t *body = take_block(sf, &type, &octets);

	if (!body)
		return BLOCK_NOT_THERE;
	layout = packet_layout(type);
	if (layout && read_packet(sf, layout, body, octets, record))
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
		result = read_block(sf, &records[n]);
		n += result == BLOCK_RECORD;
	}
	return n;
}

size_t
savefile_read(struct savefile *sf, struct savefile_record *records, size_t max)
{
	if (sf->damaged)
		return 0;
	return sf->is_pcapng ? read_pcapng(sf, records, max) : read_pcap(sf, records, max);
}

/* --- the file --- */

/* Moves what is left to the front and reads on. */
static void
read_on(struct savefile *sf)
{
	size_t n;

	memmove(sf->buffer, sf->buffer + sf->begin, sf->end - sf->begin);
	sf->end -= sf->begin;
	sf->begin = 0;
	n = fread(sf->buffer + sf->end, 1, READ_OCTETS, sf->file);
	sf->at_end = n < READ_OCTETS;
	if (n <= sf->skip) {
		sf->skip -= n;
		return;
	}
	/* What is skipped stands directly behind what is left, which then is nothing. */
	sf->begin = sf->skip;
	sf->skip = 0;
	sf->end += n;
}

enum savefile_state
savefile_fill(struct savefile *sf)
{
	if (sf->damaged)
		return SAVEFILE_DAMAGED;
	do {
		if (sf->at_end)
			break;
		read_on(sf);
	} while (sf->end - sf->begin < sf->needed || sf->skip > 0);
	if (sf->end - sf->begin >= sf->needed && sf->end > sf->begin && sf->skip == 0)
		return SAVEFILE_MORE;
	if (sf->end == sf->begin && sf->skip == 0 && !ferror(sf->file))
		return SAVEFILE_END;
	damage(sf, ferror(sf->file) ? "it cannot be read" : "it is cut off inside a record");
	return SAVEFILE_DAMAGED;
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

static int
start_pcap(struct savefile *sf)
{
	const uint8_t *header = sf->buffer;
	uint32_t magic = u32_at(sf, header);
	uint16_t major = u16_at(sf, header + 4), link;

	sf->minor_version = u16_at(sf, header + 6);
	if (major != 2 || sf->minor_version > 4) {
		damage(sf, "pcap version %u.%u is unknown", major, sf->minor_version);
		return -EINVAL;
	}
	sf->divisor = magic == PCAP_MAGIC_NS ? 1000 : 1;
	sf->fraction_limit = US_PER_S * sf->divisor;
	link = (uint16_t)(u32_at(sf, header + 20) & PCAP_LINK_BITS);
	sf->interfaces[0] = (struct interface){.link = link,
	    .ethernet = link == LINK_ETHERNET,
	    .snap_octets = adjusted_snap(u32_at(sf, header + 16))};
	sf->interfaces[0].wanted =
	    sf->interfaces[0].ethernet && is_asked_for(sf, &sf->interfaces[0]);
	sf->n_interfaces = 1;
	sf->begin = PCAP_HEADER_OCTETS;
	return 0;
}

/* Reads on to the first packet or the end: a writer describes its interfaces first. */
static int
start_pcapng(struct savefile *sf)
{
	struct savefile_record none;

	for (;;) {
		size_t before = sf->begin;
		uint32_t octets = block_octets(sf);

		if (octets && packet_layout(u32_at(sf, sf->buffer + before)))
			break;
		if (octets && read_block(sf, &none) == BLOCK_NO_RECORD && !sf->damaged)
			continue;
		if (savefile_fill(sf) != SAVEFILE_MORE)
			break;
	}
	if (sf->n_interfaces > 0)
		return 0; /* damage further on is told when it is reached */
	if (!sf->damaged)
		damage(sf, "it describes no interface");
	return -EINVAL;
}

/* Pcap or pcapng, and in which byte order. */
static int
start(struct savefile *sf)
{
	uint32_t magic, order;

	sf->needed = PCAP_HEADER_OCTETS;
	savefile_fill(sf);
	if (sf->end < PCAP_HEADER_OCTETS) {
		damage(sf, ferror(sf->file) ? "it cannot be read" : "it is too short");
		return -EINVAL;
	}
	memcpy(&magic, sf->buffer, sizeof(magic));
	memcpy(&order, sf->buffer + 8, sizeof(order));
	sf->is_pcapng = magic == BLOCK_SECTION &&
	    (order == BYTE_ORDER_MAGIC || bswap_32(order) == BYTE_ORDER_MAGIC);
	if (sf->is_pcapng)
		return start_pcapng(sf);
	sf->swapped = bswap_32(magic) == PCAP_MAGIC_US || bswap_32(magic) == PCAP_MAGIC_NS;
	if (sf->swapped || magic == PCAP_MAGIC_US || magic == PCAP_MAGIC_NS)
		return start_pcap(sf);
	damage(sf, "it is neither pcap nor pcapng");
	return -EINVAL;
}

/* Something must be left to read. */
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
		damage(sf, "link type %u (%s) is not Ethernet", sf->interfaces[0].link,
		    link_name(sf->interfaces[0].link));
		return -EPROTONOSUPPORT;
	}
	damage(sf, "it has no Ethernet interface \"%s\"", sf->only);
	return -ENOENT;
}

static int
prepare(struct savefile *sf, const char *path, const char *interface)
{
	int rc;

	sf->path = strdup(path);
	sf->only = interface && interface[0] ? strdup(interface) : NULL;
	sf->buffer = malloc(BUFFER_OCTETS);
	sf->interfaces = calloc(SAVEFILE_MAX_INTERFACES, sizeof(*sf->interfaces));
	if (!sf->path || !sf->buffer || !sf->interfaces ||
	    (interface && interface[0] && !sf->only)) {
		damage(sf, "out of memory");
		return -ENOMEM;
	}
	if (!sf->file)
		sf->file = fopen(path, "rbe");
	if (!sf->file) {
		rc = -errno;
		damage(sf, "%s", strerror(-rc));
		return rc;
	}
	rc = start(sf);
	return rc < 0 ? rc : check_interfaces(sf);
}

int
savefile_open(const char *path, FILE *file, const char *interface, struct savefile **savefile,
    char *error, size_t error_size)
{
	struct savefile *sf = calloc(1, sizeof(*sf));
	int rc;

	if (!sf) {
		if (file)
			fclose(file);
		snprintf(error, error_size, "%s: out of memory", path);
		return -ENOMEM;
	}
	sf->file = file;
	rc = prepare(sf, path, interface);
	if (rc < 0) {
		snprintf(error, error_size, "%s: %s", path, sf->reason);
		savefile_close(sf);
		return rc;
	}
	*savefile = sf;
	return 0;
}

int
savefile_rewind(struct savefile *sf)
{
	int rc;

	if (fseek(sf->file, 0, SEEK_SET) < 0)
		return -errno;
	sf->begin = sf->end = sf->skip = 0;
	sf->n_interfaces = 0;
	sf->at_end = sf->damaged = false;
	rc = start(sf);
	return rc < 0 ? rc : check_interfaces(sf);
}

void
savefile_close(struct savefile *sf)
{
	if (!sf)
		return;
	if (sf->file)
		fclose(sf->file);
	free(sf->interfaces);
	free(sf->buffer);
	free(sf->only);
	free(sf->path);
	free(sf);
}
