/*
 * The files of the page, built into the program (embed.sh generates the table).
 */
#ifndef EASE_COLLECTOR_WEB_PAGE_H
#define EASE_COLLECTOR_WEB_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct page_file {
	const char *name, *content_type;
	const char *etag;   /* with its quotes */
	const char *keep;   /* Cache-Control */
	const uint8_t *octets, *gzip; /* as it is, and compressed */
	size_t n_octets, n_gzip;
};
extern const struct page_file page_files[]; /* ended by a row without name */

#endif
