/*
 * The values of a report's options: their defaults, how they are read from text, and what they mean for an
 * address. report.h declares them.
 */
#include "collector/query/options.h"

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
		[REPORT_BY_VNI] = "vni",
		[REPORT_BY_ETHERTYPE] = "ethertype", [REPORT_BY_PROTO] = "proto",
		[REPORT_BY_SERVICE] = "service", [REPORT_BY_SERVER] = "server",
		[REPORT_BY_LAG] = "lag",	[REPORT_BY_SITE] = "site",
		[REPORT_BY_NETWORK] = "network", [REPORT_BY_DST_NETWORK] = "dst-network",
		[REPORT_BY_NETWORK_PAIR] = "network-pair", [REPORT_BY_AS] = "as",
		[REPORT_BY_DST_AS] = "dst-as",	[REPORT_BY_AS_PAIR] = "as-pair",
		[REPORT_BY_COUNTRY] = "country", [REPORT_BY_DST_COUNTRY] = "dst-country",
		[REPORT_BY_COUNTRY_PAIR] = "country-pair",
		[REPORT_BY_PORT] = "port",	[REPORT_BY_REASON] = "reason",
		[REPORT_BY_QUEUE] = "queue",	[REPORT_BY_PORT_PAIR] = "port-pair",
		[REPORT_BY_PLACE] = "place",	[REPORT_BY_GROUP] = "group",
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
		.last_us = 5ull * 60 * 1000000,
		.top = 10,
		.mask4 = 24,
		.mask6 = 64,
	};
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
