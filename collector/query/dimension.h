/*
 * What a row of a list stands for, as data: an address, network, VLAN, protocol, service or
 * conversation. A dimension says of which halves of a kind of key (store/key_layout.h) it is made. Which there are, and
 * how they are printed: report/dimensions.h.
 */
#ifndef EASE_COLLECTOR_QUERY_DIMENSION_H
#define EASE_COLLECTOR_QUERY_DIMENSION_H

#include "collector/filter/address_databases.h"
#include "collector/query/options.h"
#include "collector/store/levels.h"
#include "collector/store/pack.h"

struct dimension_layout;
struct query_key;
struct report_value;

/* What the IP addresses of keys become in rows. */
enum dimension_fold {
	FOLD_NOTHING, /* themselves */
	FOLD_SUBNET,  /* without their host bits */
	FOLD_GROUP,   /* the number of the group that they are of (address_names_group), 4 octets in network order */
};

struct dimension {
	enum report_by by;
	enum report_layer layer; /* if has_layer */
	bool has_layer;
	const struct key_layout *key; /* of these halves: */
	bool key1, key2;
	enum dimension_fold fold; /* of both halves */
	enum address_group group; /* of FOLD_GROUP */
	bool has_two; /* a column for the source, and one for the destination */
	const struct dimension_layout *layout;
	/* Fills the columns behind the rank. */
	void (*fill)(const struct report_options *options, const struct query_key *key,
	    struct report_value *row);
	const char *noun;   /* "source": what a row is */
	const char *unseen; /* completes "Any … fewer than N frames" */
	/* Name of the row of samples without a key; the second if the memory for keys was full. */
	const char *rest, *rest_or_folded;

	/* How a question is answered (dimension_for): */
	enum store_key_kind kind; /* from which sums; 0: from kept samples */
	bool from_conversations;  /* kind is theirs: each is a part of this dimension's key */
	/* Kind of parts with that half alone, at the levels that have them (levels.h); 0: none. */
	enum store_part_kind single;
	/* In kind's packs: the sums over pairs of samples of one notification with the same key. */
	enum pack_column same;
};

#endif
