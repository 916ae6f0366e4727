#include "agent/sim/savefile_private.h"

#include "common/buf.h"
#include "common/log.h"

#include <errno.h>

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

/* --- pcapng blocks --- */

static uint64_t
pcapng_time(const struct savefile_interface *i, uint64_t ticks)
{
	uint64_t seconds, fraction;

	if (i->ticks_per_s == SAVEFILE_US_PER_S && i->offset_s == 0)
		return ticks / SAVEFILE_US_PER_S <= MAX_SECONDS ? ticks : SAVEFILE_NO_TIME;
	seconds = ticks / i->ticks_per_s + (uint64_t)i->offset_s;
	fraction = ticks % i->ticks_per_s;
	if (seconds > MAX_SECONDS)
		return SAVEFILE_NO_TIME;
	return seconds * SAVEFILE_US_PER_S +
	    (uint64_t)((unsigned __int128)fraction * SAVEFILE_US_PER_S / i->ticks_per_s);
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

/* Reads the record of a packet block. False: it is left out, or damaged. */
static bool
read_packet(struct savefile *sf, const struct packet_layout *layout, const uint8_t *body,
    size_t octets, struct savefile_record *record)
{
	const struct savefile_interface *i;
	uint32_t id;

	if (octets < layout->fixed_octets)
		return savefile_mark_damaged(sf, "a packet block is too short");
	id = interface_of(sf, layout->type, body);
	if (id >= sf->n_interfaces)
		return savefile_mark_damaged(sf, "a packet belongs to interface %u, which is not described", id);
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
		return savefile_mark_damaged(sf, "a packet has %u octets, more than the snap length of %u",
		    record->captured_octets, i->snap_octets);
	if (record->captured_octets > octets - layout->fixed_octets)
		return savefile_mark_damaged(sf, "a packet is larger than its block");
	return true;
}

/* if_tsresol: a power of 10, or of 2 with the top bit set. */
static bool
read_resolution(struct savefile *sf, struct savefile_interface *i, uint8_t option)
{
	unsigned power = option & 0x7f;

	if (power > (option & 0x80 ? 63 : 19))
		return savefile_mark_damaged(
		    sf, "an interface's time resolution is too fine (%u)", option);
	i->ticks_per_s = option & 0x80 ? 1ull << power : 1;
	for (unsigned k = 0; !(option & 0x80) && k < power; k++)
		i->ticks_per_s *= 10;
	return true;
}

static bool
read_option(struct savefile *sf, struct savefile_interface *i, uint16_t code, const uint8_t *value,
    uint16_t octets)
{
	switch (code) {
	case OPTION_IF_NAME:
		snprintf(i->name, sizeof(i->name), "%.*s", (int)octets, (const char *)value);
		return true;
	case OPTION_IF_TSRESOL:
		if (octets != 1)
			return savefile_mark_damaged(
			    sf, "an interface's time resolution has %u octets", octets);
		return read_resolution(sf, i, value[0]);
	case OPTION_IF_TSOFFSET:
		if (octets != 8)
			return savefile_mark_damaged(
			    sf, "an interface's time offset has %u octets", octets);
		i->offset_s = (int64_t)u64_at(sf, value);
		return true;
	default:
		return true;
	}
}

static bool
read_options(struct savefile *sf, struct savefile_interface *i, struct rbuf options)
{
	while (rbuf_left(&options) > 0) {
		const uint8_t *head = rbuf_take(&options, 4), *value;
		uint16_t code, octets;

		if (!head)
			return savefile_mark_damaged(sf, "an interface's options are cut");
		code = u16_at(sf, head);
		octets = u16_at(sf, head + 2);
		value = rbuf_take(&options, (octets + 3u) & ~3u);
		if (!value)
			return savefile_mark_damaged(sf, "an interface's options are cut");
		if (code == OPTION_END)
			return octets == 0 ||
			    savefile_mark_damaged(sf, "an interface's options end with %u octets", octets);
		if (!read_option(sf, i, code, value, octets))
			return false;
	}
	return true;
}

static bool
read_interface(struct savefile *sf, const uint8_t *body, size_t octets)
{
	struct savefile_interface *i = &sf->interfaces[sf->n_interfaces];

	if (octets < 8)
		return savefile_mark_damaged(sf, "an interface's block is too short");
	if (sf->n_interfaces == SAVEFILE_MAX_INTERFACES)
		return savefile_mark_damaged(sf, "more than %d interfaces", SAVEFILE_MAX_INTERFACES);
	*i = (struct savefile_interface){.link = u16_at(sf, body),
	    .snap_octets = savefile_snap(u32_at(sf, body + 4)),
	    .ticks_per_s = SAVEFILE_US_PER_S};
	if (!read_options(sf, i, rbuf_of(body + 8, octets - 8)))
		return false;
	i->ethernet = i->link == SAVEFILE_LINK_ETHERNET;
	i->wanted = i->ethernet && savefile_wants(sf, i);
	if (!i->ethernet)
		log_info("feed", "%s: interface %u is left out: link type %u (%s) is not Ethernet",
		    sf->path, sf->n_interfaces, i->link, savefile_link_name(i->link));
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
		return savefile_mark_damaged(sf, "a section has no byte order");
	sf->swapped = magic != BYTE_ORDER_MAGIC;
	return true;
}

static bool
begin_section(struct savefile *sf, const uint8_t *body, size_t octets)
{
	uint16_t major, minor;

	if (octets < SECTION_MIN_OCTETS - BLOCK_MIN_OCTETS)
		return savefile_mark_damaged(sf, "a section's header is too short");
	major = u16_at(sf, body + 4);
	minor = u16_at(sf, body + 6);
	if (major != 1 || (minor != 0 && minor != 2))
		return savefile_mark_damaged(sf, "pcapng version %u.%u is unknown", major, minor);
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
		savefile_mark_damaged(sf, "a block of %u octets", octets);
		return 0;
	}
	return octets;
}

static bool
is_read(uint32_t type)
{
	return type == BLOCK_SECTION || type == BLOCK_INTERFACE || packet_layout(type);
}

/* A block that does not fit into memory is skipped if it is of a type that is not read. */
static bool
pass_over(struct savefile *sf, uint32_t type, uint32_t octets)
{
	if (is_read(type))
		return savefile_mark_damaged(sf, "a block of %u octets", octets);
	sf->skip = octets - (sf->end - sf->begin);
	sf->begin = sf->end;
	sf->needed = 1;
	return false;
}

/* Takes the next block if it is completely in memory, and moves begin behind it. */
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
		if (octets > SAVEFILE_RECORD_MAX_OCTETS)
			pass_over(sf, *type, octets);
		return NULL;
	}
	if (u32_at(sf, block + octets - 4) != octets) {
		savefile_mark_damaged(sf, "a block's two lengths differ");
		return NULL;
	}
	savefile_prefetch(sf, block, octets);
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

size_t
savefile_read_pcapng(struct savefile *sf, struct savefile_record *records, size_t max)
{
	enum block_result result = BLOCK_NO_RECORD;
	size_t n = 0;

	while (n < max && !sf->damaged && result != BLOCK_NOT_THERE) {
		result = read_block(sf, &records[n]);
		n += result == BLOCK_RECORD;
	}
	return n;
}

/* --- opening --- */

bool
savefile_is_pcapng(const uint8_t *octets)
{
	uint32_t type, order;

	memcpy(&type, octets, sizeof(type));
	memcpy(&order, octets + 8, sizeof(order));
	return type == BLOCK_SECTION &&
	    (order == BYTE_ORDER_MAGIC || bswap_32(order) == BYTE_ORDER_MAGIC);
}

int
savefile_start_pcapng(struct savefile *sf)
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
		return 0; /* later damage is reported when it is reached */
	if (!sf->damaged)
		savefile_mark_damaged(sf, "it describes no interface");
	return -EINVAL;
}
