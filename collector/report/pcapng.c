#include "collector/report/pcapng.h"

#include <string.h>

enum {
	SECTION = 0x0a0d0d0a,
	INTERFACE = 1,
	PACKET = 6,
	BYTE_ORDER = 0x1a2b3c4d,
	/* options, of sections, interfaces and packets each */
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SECTION_PROGRAM = 4,
	INTERFACE_NAME = 2,
	PACKET_FLAGS = 2,
	AROUND = 12, /* octets of a block's type and of its length before and behind it */
	OPTION_HEAD = 4,
};

static size_t
block_padded(size_t n)
{
	return (n + 3) / 4 * 4;
}

static void
put_in_file(FILE *out, const void *octets, size_t n)
{
	static const uint8_t zeros[4];

	fwrite(octets, 1, n, out);
	fwrite(zeros, 1, block_padded(n) - n, out);
}

static void
put_u32(FILE *out, uint32_t v)
{
	put_in_file(out, &v, sizeof(v));
}

static void
put_option(FILE *out, uint16_t code, const void *octets, size_t n)
{
	const uint16_t head[] = {code, (uint16_t)n};

	put_in_file(out, head, sizeof(head));
	put_in_file(out, octets, n);
}

/* What an option of that text takes, with the end of options. */
static size_t
text_octets(const char *text)
{
	return OPTION_HEAD + block_padded(strlen(text)) + OPTION_HEAD;
}

static void
pcapng_put_text(FILE *out, uint16_t code, const char *text)
{
	put_option(out, code, text, strlen(text));
	put_option(out, OPTION_END, "", 0);
}

void
pcapng_begin(FILE *out, const char *program)
{
	const uint16_t version[] = {1, 0};
	const int64_t unknown = -1; /* the section's length */
	uint32_t octets = (uint32_t)(AROUND + 4 + sizeof(version) + sizeof(unknown) + text_octets(program));

	put_u32(out, SECTION);
	put_u32(out, octets);
	put_u32(out, BYTE_ORDER);
	put_in_file(out, version, sizeof(version));
	put_in_file(out, &unknown, sizeof(unknown));
	pcapng_put_text(out, SECTION_PROGRAM, program);
	put_u32(out, octets);
}

void
pcapng_interface(FILE *out, uint16_t link_type, uint32_t most_octets, const char *name)
{
	const uint16_t type[] = {link_type, 0};
	uint32_t octets = (uint32_t)(AROUND + sizeof(type) + sizeof(most_octets) + text_octets(name));

	put_u32(out, INTERFACE);
	put_u32(out, octets);
	put_in_file(out, type, sizeof(type));
	put_u32(out, most_octets);
	pcapng_put_text(out, INTERFACE_NAME, name);
	put_u32(out, octets);
}

/* Times are in microseconds, as is said where nothing else is. */
void
pcapng_packet(FILE *out, const struct pcapng_packet *p)
{
	const uint32_t head[] = {p->interface, (uint32_t)(p->time_us >> 32), (uint32_t)p->time_us, (uint32_t)p->n,
	    p->wire_octets};
	uint32_t octets = (uint32_t)(AROUND + sizeof(head) + block_padded(p->n) + OPTION_HEAD + sizeof(p->direction) +
	    text_octets(p->comment));

	put_u32(out, PACKET);
	put_u32(out, octets);
	put_in_file(out, head, sizeof(head));
	put_in_file(out, p->octets, p->n);
	put_option(out, PACKET_FLAGS, &p->direction, sizeof(p->direction));
	pcapng_put_text(out, OPTION_COMMENT, p->comment);
	put_u32(out, octets);
}
