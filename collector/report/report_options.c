/*
 * The values of a report's options: their defaults, how they are read from text, and what they mean for an
 * address. report.h declares them.
 */
#include "collector/report/protocol_names.h"
#include "collector/report/report.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

const char *
report_by_name(enum report_by by)
{
	static const char *const names[] = {
		[REPORT_BY_DEFAULT] = "",	[REPORT_BY_SRC] = "src",
		[REPORT_BY_DST] = "dst",	[REPORT_BY_PAIR] = "pair",
		[REPORT_BY_SUBNET] = "subnet",	[REPORT_BY_VLAN] = "vlan",
		[REPORT_BY_ETHERTYPE] = "ethertype", [REPORT_BY_PROTO] = "proto",
		[REPORT_BY_SERVICE] = "service", [REPORT_BY_SERVER] = "server",
		[REPORT_BY_CONVERSATION] = "conversation",
	};

	return names[by];
}

struct report_options
report_default_options(void)
{
	return (struct report_options){
		.by = REPORT_BY_DEFAULT,
		.layer = REPORT_LAYER_IP,
		.sort = ESTIMATE_OCTETS,
		.vlan = REPORT_ANY,
		.ip_proto = REPORT_ANY,
		.ethertype = REPORT_ANY,
		.last_us = 5ull * 60 * 1000000,
		.top = 10,
		.mask4 = 24,
		.mask6 = 64,
	};
}

/* Two to six pairs of hex digits with colons; the octets read, or -EINVAL. */
static int
parse_mac(const char *text, uint8_t *octets)
{
	int n = 0;

	for (; n < FRAME_MAC_LEN; text += 3) {
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return -EINVAL;
		octets[n++] = (uint8_t)strtoul((const char[]){text[0], text[1], 0}, NULL, 16);
		if (text[2] == '\0')
			return n > 1 ? n : -EINVAL;
		if (text[2] != ':')
			return -EINVAL;
	}
	return -EINVAL;
}

static int
parse_bits(const char *text, uint8_t max, uint8_t *bits)
{
	char *end;
	unsigned long value;

	if (!text) {
		*bits = max;
		return 0;
	}
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || value > max)
		return -EINVAL;
	*bits = (uint8_t)value;
	return 0;
}

int
report_parse_prefix(const char *text, struct report_prefix *prefix)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	char address[FRAME_IP_TEXT];
	int n;

	*prefix = (struct report_prefix){0};
	if (len >= sizeof(address))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)len, text);
	if (inet_pton(AF_INET, address, prefix->octets) == 1)
		prefix->n_octets = 4;
	else if (inet_pton(AF_INET6, address, prefix->octets) == 1)
		prefix->n_octets = FRAME_IP_LEN;
	if (prefix->n_octets > 0)
		return parse_bits(slash ? slash + 1 : NULL, (uint8_t)(8 * prefix->n_octets),
		    &prefix->bits);
	n = slash ? -EINVAL : parse_mac(address, prefix->octets);
	if (n < 0)
		return n;
	prefix->n_octets = FRAME_MAC_LEN;
	prefix->bits = (uint8_t)(8 * n);
	return 0;
}

void
report_cut(const uint8_t *octets, unsigned bits, uint8_t cut[FRAME_IP_LEN])
{
	memset(cut, 0, FRAME_IP_LEN);
	memcpy(cut, octets, bits / 8);
	if (bits % 8)
		cut[bits / 8] = (uint8_t)(octets[bits / 8] & 0xff << (8 - bits % 8));
}

bool
report_in_prefix(const struct report_prefix *prefix, size_t n_octets, const uint8_t *octets)
{
	uint8_t of_prefix[FRAME_IP_LEN], of_address[FRAME_IP_LEN];

	if (n_octets != prefix->n_octets)
		return false;
	report_cut(prefix->octets, prefix->bits, of_prefix);
	report_cut(octets, prefix->bits, of_address);
	return memcmp(of_prefix, of_address, sizeof(of_prefix)) == 0;
}

const char *
report_direction_name(enum report_direction direction)
{
	static const char *const names[] = {
		[REPORT_NOT_SETTLED] = "not settled", [REPORT_UP] = "up", [REPORT_DOWN] = "down"};

	return names[direction];
}

int
report_parse_proto(const char *text, struct report_options *options)
{
	bool hex = strncasecmp(text, "0x", 2) == 0;
	unsigned long value;
	char *end;

	if (protocol_names_find_proto(text, &options->ip_proto, &options->ethertype) == 0)
		return 0;
	value = strtoul(text, &end, hex ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || value > (hex ? 0xffffu : 255u))
		return -EINVAL;
	options->ip_proto = hex ? REPORT_ANY : (int32_t)value;
	options->ethertype = hex ? (int32_t)value : REPORT_ANY;
	return 0;
}

int
report_parse_span(const char *text, uint64_t *span_us)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	unsigned long value;
	char *end;

	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || value == 0 || value > 100000000 || strlen(end) != 1)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (units[i].unit == *end) {
			*span_us = value * units[i].seconds * 1000000;
			return 0;
		}
	return -EINVAL;
}

int
report_parse_last(const char *text, struct report_options *options)
{
	options->all = strcmp(text, "all") == 0;
	return options->all ? 0 : report_parse_span(text, &options->last_us);
}

int
report_parse_rate(const char *text, double *rate)
{
	static const char units[] = "kMGT";
	char *end;
	const char *unit;

	*rate = strtod(text, &end);
	if (!isdigit((unsigned char)*text) || !isfinite(*rate) || *rate <= 0)
		return -EINVAL;
	unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1]))
		return -EINVAL;
	*rate *= unit ? pow(1000, (double)(unit - units) + 1) : 1;
	return 0;
}

unsigned
report_mask_bits(const struct report_options *options, size_t n_octets)
{
	return n_octets == 4 ? options->mask4 : options->mask6;
}

int
report_parse_mask(const char *text, struct report_options *options)
{
	char *end;
	unsigned long bits4 = strtoul(text, &end, 10), bits6 = options->mask6;

	if (!isdigit((unsigned char)*text) || bits4 > 32)
		return -EINVAL;
	if (*end == ',') {
		text = end + 1;
		bits6 = strtoul(text, &end, 10);
		if (!isdigit((unsigned char)*text) || bits6 > 128)
			return -EINVAL;
	}
	if (*end)
		return -EINVAL;
	options->mask4 = (uint8_t)bits4;
	options->mask6 = (uint8_t)bits6;
	return 0;
}
