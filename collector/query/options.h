/*
 * What can be asked of a store: which keys, of which frames, in which range. Parsers of what users write for it.
 */
#ifndef EASE_COLLECTOR_QUERY_OPTIONS_H
#define EASE_COLLECTOR_QUERY_OPTIONS_H

#include "collector/estimate/estimate.h"
#include "collector/estimate/estimate_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum report_by {
	REPORT_BY_DEFAULT, /* the report's own default */
	REPORT_BY_SRC,
	REPORT_BY_DST,
	REPORT_BY_PAIR,
	REPORT_BY_SUBNET, /* of the source */
	REPORT_BY_VLAN,
	REPORT_BY_VNI,
	REPORT_BY_ETHERTYPE,
	REPORT_BY_PROTO,
	REPORT_BY_SERVICE,
	REPORT_BY_SERVER, /* address and port */
	/* of drops alone */
	REPORT_BY_PORT,
	REPORT_BY_REASON,
	REPORT_BY_PLACE,
	REPORT_BY_GROUP,
	/* of delay alone, which has ports and addresses, too */
	REPORT_BY_QUEUE,
	REPORT_BY_PORT_PAIR, /* where a frame came in, and where it left */
	/* of billing alone, which has ports, too */
	REPORT_BY_LAG,
	REPORT_BY_SITE,
	/* groups of addresses (address_databases.h): of the source, of the destination, of both */
	REPORT_BY_NETWORK,
	REPORT_BY_DST_NETWORK,
	REPORT_BY_NETWORK_PAIR,
	REPORT_BY_AS,
	REPORT_BY_DST_AS,
	REPORT_BY_AS_PAIR,
	REPORT_BY_COUNTRY,
	REPORT_BY_DST_COUNTRY,
	REPORT_BY_COUNTRY_PAIR,
	REPORT_BY_CONVERSATION, /* the last one */
};

/* The value of --by; "conversation" has none. Static storage. */
const char *report_by_name(enum report_by by);

/* The order of ports in `load`, the largest first. */
enum report_port_sort {
	REPORT_PORTS_IN_ORDER, /* by agent and ifIndex */
	REPORT_PORTS_BY_OCTETS,
	REPORT_PORTS_BY_PACKETS,
	REPORT_PORTS_BY_UTILIZATION, /* of the busier direction */
	REPORT_PORTS_BY_ERRORS,
};

enum report_layer {
	REPORT_LAYER_ETH,
	REPORT_LAYER_IP,
	REPORT_LAYER_INNER, /* IP addresses inside tunnels */
	REPORT_LAYER_SYN,   /* IP addresses of TCP SYNs without ACK: what `connections` is made of */
};

/* A range as it was resolved once for several reports, so that they are all of the same time. */
struct report_moment {
	uint64_t now_us; /* when that was; 0: none */
	uint64_t from_us, to_us;
	bool at_edge; /* the range ends at the live edge */
};

struct address_names;
struct query_key;
struct filter;
struct report_options {
	enum report_by by;
	enum report_layer layer;
	enum estimate_unit sort; /* of lists */
	enum report_port_sort port_sort;
	const struct filter *filter; /* borrowed; NULL: all */
	bool has_from, has_to, all;
	uint64_t from_us, to_us; /* with has_from, has_to; else the last `last_us` before now */
	uint64_t last_us;
	struct report_moment moment; /* in place of the five above, and of the time that the report is asked at */
	uint64_t step_us; /* of a history; 0: the shortest that makes no more than 120 rows */
	uint8_t mask4, mask6; /* bits of a subnet */
	struct address_names *names; /* borrowed; NULL: no names */
	uint32_t top;	  /* rows at most */
	bool has_top;	  /* top was asked for: a report of ports has all without it */
	bool per_site;	  /* --per: a key is one row at each site */
	bool fold_few;	  /* keys of fewer than REPORT_FEW_SAMPLES go to the others */
	bool all_at_once; /* --sure: limits that hold all at once in 95 of 100 lists */
	/* For the reports themselves: errors of each limit, in place of the list's; 0: the list's. */
	double error;
	/* Of a grid, whose rows are the cells: what a list of all pairs told, where only these are asked for; 0 and
	 * NULL: the list's own. */
	bool as_grid;
	size_t n_ranked;
	const struct estimate_told *told;
	const struct query_key *only; /* lists have these keys alone, borrowed: up to QUERY_ONLY_MAX a cluster sends no
				       * others; NULL: all */
	size_t n_only;
	bool wants_change, wants_alarm; /* fills in extremes of the result */
};

/* How often a look raises a false alarm for a key that stands exactly at the threshold. */
#define REPORT_ALARM_ERROR 1e-6

enum { REPORT_FEW_SAMPLES = 5 };
#define REPORT_FEW_NAME "with < 5 samples"

/* A total whose limits are further from it than this part of it is "about" so much. */
#define REPORT_ABOUT_PART 0.01

/* Default: the last five minutes, IP, octets, top 10, subnets of 24 and 64 bits. */
struct report_options report_default_options(void);

/* 90s, 5m, 1h, 30d, all. 0 or -EINVAL. */
int report_parse_last(const char *text, struct report_options *options);

/* 90s, 5m, 1h, 30d. 0 or -EINVAL. */
int report_parse_span(const char *text, uint64_t *span_us);

/* 500, 20k, 1.5G: powers of 1,000, above 0. 0 or -EINVAL. */
int report_parse_rate(const char *text, double *rate);

/* "24", or "24,56": IPv4's and IPv6's bits of a subnet. 0 or -EINVAL. */
int report_parse_mask(const char *text, struct report_options *options);

/* Those of addresses of so many octets. */
unsigned report_mask_bits(const struct report_options *options, size_t n_octets);

#endif
