/*
 * What a row of a list stands for, as data: an address, network, VLAN, protocol, service or
 * conversation. A dimension says of which halves of a kind of key (store/key_layout.h) it is made, and how these are
 * printed. A new dimension is one row of dimension.c.
 */
#ifndef EASE_COLLECTOR_REPORT_DIMENSION_H
#define EASE_COLLECTOR_REPORT_DIMENSION_H

#include "collector/report/query.h"
#include "collector/report/report.h"
#include "collector/store/levels.h"
#include "collector/store/pack.h"

/* The columns behind the key in each list. */
enum dimension_tail {
	TAIL_SITE,
	TAIL_AGENT,
	TAIL_PORT,
	TAIL_PORTS,
	TAIL_PORT_TEXT,
	TAIL_PKTS,
	TAIL_OCTETS,
	TAIL_SHARE,
	TAIL_SAMPLES,
	TAIL_UNCOUNTED,
	N_TAIL,
};

/* Columns of a list: the rank, the key's own, and N_TAIL. */
struct dimension_layout {
	const struct report_column *columns;
	size_t n_columns;
};

struct dimension {
	enum report_by by;
	enum report_layer layer; /* if has_layer */
	bool has_layer;
	const struct key_layout *key; /* of these halves: */
	bool key1, key2;
	bool subnet; /* of the first half, its host bits cut off */
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

/* The dimension that the options ask for; NULL: there is none. */
const struct dimension *dimension_find(const struct report_options *options);

/* The dimension as the filter's question is best answered: as it is, summed from conversations where these say what
 * the filter looks at and the dimension's own keys do not, or of kept samples alone. */
struct dimension dimension_for(const struct dimension *d, const struct filter *filter);

/* Column of the i-th of the tail. */
static inline size_t
dimension_tail(const struct dimension *d, enum dimension_tail i)
{
	return d->layout->n_columns - N_TAIL + i;
}

#endif
