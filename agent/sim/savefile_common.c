/*
 * What both formats of capture files need: the part of the file in memory, damage, interfaces.
 */
#include "agent/sim/savefile_private.h"

#include "agent/sim/file_mapping.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdarg.h>

bool
savefile_mark_damaged(struct savefile *sf, const char *format, ...)
{
	va_list args;

	sf->damaged = true;
	va_start(args, format);
	vsnprintf(sf->reason, sizeof(sf->reason), format, args);
	va_end(args);
	return false;
}

/* --- interfaces --- */

uint32_t
savefile_snap(uint32_t snap_octets)
{
	return snap_octets == 0 || snap_octets > INT32_MAX ? SAVEFILE_MAX_CAPTURED_OCTETS
							    : snap_octets;
}

bool
savefile_wants(const struct savefile *sf, const struct savefile_interface *i)
{
	char number[16];

	if (!sf->only)
		return true;
	snprintf(number, sizeof(number), "%u", (unsigned)(i - sf->interfaces));
	return strcmp(sf->only, number) == 0 || strcmp(sf->only, i->name) == 0;
}

/* libpcap's name of a link type. Its numbers differ from those in files in a few old cases. */
const char *
savefile_link_name(uint16_t link)
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
	n = fread(sf->read_buffer + sf->end, 1, SAVEFILE_READ_OCTETS, sf->file);
	sf->at_end = n < SAVEFILE_READ_OCTETS;
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
		savefile_mark_damaged(sf,
		    rc == -ENODATA ? "it ends inside a record" : "it cannot be read");
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
	savefile_mark_damaged(
	    sf, ferror(sf->file) ? "it cannot be read" : "it ends inside a record");
	return SAVEFILE_DAMAGED;
}
