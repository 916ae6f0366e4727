#include "agent/sim/savefile_private.h"

#include "agent/sim/file_mapping.h"

#include <errno.h>
#include <stdlib.h>

/* --- pcap: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-05.html --- */
enum {
	PCAP_HEADER_OCTETS = 24,
	PCAP_RECORD_OCTETS = 16,
	PCAP_LINK_BITS = 0x03ffffff, /* above: FCS length and reserved */
};

#define PCAP_MAGIC_US 0xa1b2c3d4u
#define PCAP_MAGIC_NS 0xa1b23c4du

/* --- pcap records --- */

static inline uint64_t
pcap_time(const struct savefile *sf, uint64_t seconds, uint64_t fraction)
{
	if (fraction >= sf->fraction_limit)
		return SAVEFILE_NO_TIME;
	/* Dividing by a constant is a multiplication. */
	return seconds * SAVEFILE_US_PER_S + (sf->divisor == 1 ? fraction : fraction / 1000);
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

		sf->needed = PCAP_RECORD_OCTETS;
		if ((size_t)(end - p) < sf->needed)
			break;
		captured = u32_at(sf, p + 8);
		length = u32_at(sf, p + 12);
		if (sf->minor_version < 4)
			settle_lengths(sf, &captured, &length);
		if (captured > SAVEFILE_MAX_CAPTURED_OCTETS) {
			savefile_mark_damaged(sf, "a record claims %u captured octets", captured);
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
		savefile_prefetch(sf, p, sf->needed);
		p += sf->needed;
	}
	sf->begin = (size_t)(p - sf->buffer);
	return n;
}

/* Drops records behind the place where a mapped file was truncated or became unreadable. */
static size_t
keep_good(struct savefile *sf, const struct savefile_record *records, size_t n)
{
	bool suspicious = sf->damaged || (n > 0 && records[n - 1].length_octets == 0);
	size_t good;

	if (!file_mapping_lost(sf->mapping, suspicious, &good))
		return n;
	savefile_mark_damaged(sf, "it was truncated or cannot be read any more");
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
	n = sf->is_pcapng ? savefile_read_pcapng(sf, records, max) : read_pcap(sf, records, max);
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

static int
start_pcap(struct savefile *sf)
{
	const uint8_t *header = sf->buffer;
	uint32_t magic = u32_at(sf, header);
	uint16_t major = u16_at(sf, header + 4), link;

	sf->minor_version = u16_at(sf, header + 6);
	if (major != 2 || sf->minor_version > 4) {
		savefile_mark_damaged(sf, "pcap version %u.%u is unknown", major, sf->minor_version);
		return -EINVAL;
	}
	sf->divisor = magic == PCAP_MAGIC_NS ? 1000 : 1;
	sf->fraction_limit = SAVEFILE_US_PER_S * sf->divisor;
	link = (uint16_t)(u32_at(sf, header + 20) & PCAP_LINK_BITS);
	sf->interfaces[0] = (struct savefile_interface){.link = link,
	    .ethernet = link == SAVEFILE_LINK_ETHERNET,
	    .snap_octets = savefile_snap(u32_at(sf, header + 16))};
	sf->interfaces[0].wanted =
	    sf->interfaces[0].ethernet && savefile_wants(sf, &sf->interfaces[0]);
	sf->n_interfaces = 1;
	sf->begin = PCAP_HEADER_OCTETS;
	return 0;
}

/* Pcap or pcapng, and in which byte order. */
static int
start(struct savefile *sf)
{
	uint32_t magic;

	sf->needed = PCAP_HEADER_OCTETS;
	savefile_fill(sf);
	if (sf->end < PCAP_HEADER_OCTETS) {
		savefile_mark_damaged(sf, ferror(sf->file) ? "it cannot be read" : "it is too short");
		return -EINVAL;
	}
	memcpy(&magic, sf->buffer, sizeof(magic));
	sf->is_pcapng = savefile_is_pcapng(sf->buffer);
	if (sf->is_pcapng)
		return savefile_start_pcapng(sf);
	sf->swapped = bswap_32(magic) == PCAP_MAGIC_US || bswap_32(magic) == PCAP_MAGIC_NS;
	if (sf->swapped || magic == PCAP_MAGIC_US || magic == PCAP_MAGIC_NS)
		return start_pcap(sf);
	savefile_mark_damaged(sf, "it is neither pcap nor pcapng");
	return -EINVAL;
}

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
		savefile_mark_damaged(sf, "link type %u (%s) is not Ethernet", sf->interfaces[0].link,
		    savefile_link_name(sf->interfaces[0].link));
		return -EPROTONOSUPPORT;
	}
	savefile_mark_damaged(sf, "it has no Ethernet interface \"%s\"", sf->only);
	return -ENOENT;
}

/* Maps the file if it is a regular file at its beginning, else reads it. */
static int
choose_way(struct savefile *sf)
{
	if (ftello(sf->file) == 0 && file_mapping_open(fileno(sf->file), &sf->mapping) == 0)
		return 0;
	sf->read_buffer = malloc(SAVEFILE_BUFFER_OCTETS);
	sf->buffer = sf->read_buffer;
	return sf->read_buffer ? 0 : -ENOMEM;
}

static int
prepare(struct savefile *sf, const char *path, const char *interface)
{
	int rc;

	sf->path = strdup(path);
	sf->only = interface && interface[0] ? strdup(interface) : NULL;
	sf->interfaces = calloc(SAVEFILE_MAX_INTERFACES, sizeof(*sf->interfaces));
	if (!sf->path || !sf->interfaces || (interface && interface[0] && !sf->only)) {
		savefile_mark_damaged(sf, "out of memory");
		return -ENOMEM;
	}
	if (!sf->file)
		sf->file = fopen(path, "rbe");
	if (!sf->file) {
		rc = -errno;
		savefile_mark_damaged(sf, "%s", strerror(-rc));
		return rc;
	}
	rc = choose_way(sf);
	if (rc < 0) {
		savefile_mark_damaged(sf, "out of memory");
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
	sf->mapped_from = 0;
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
	file_mapping_close(sf->mapping);
	if (sf->file)
		fclose(sf->file);
	free(sf->interfaces);
	free(sf->read_buffer);
	free(sf->only);
	free(sf->path);
	free(sf);
}
