/*
 * A pack: sums by key, sorted by key, in few octets. It is the body of a row of the table part. Of
 * each key only what differs from the previous key is written. Each column of sums is written in
 * the narrowest form that reproduces every value exactly, to the last bit.
 *
 * Layout of a body: format and number of columns (1 octet each), number of entries (2), octets of
 * all keys (4), the keys, the columns. A key is the number of octets that it shares with the
 * previous key, and its other octets. A column is its form (enum pack_form in pack.c) and its
 * values. Numbers of the head are in network order, values little-endian, on any machine.
 */
#ifndef EASE_COLLECTOR_STORE_PACK_H
#define EASE_COLLECTOR_STORE_PACK_H

#include "collector/source_port.h"
#include "collector/store/batch.h"
#include "common/buf.h"

enum {
	PACK_PLACE = 9, /* agent (4), ifIndex (4), direction in 2 bits and the port's kind in 6, in network order */
	PACK_HEAD = 11, /* and the length of each half of the key (1, 1) */
	PACK_KEY_MAX = PACK_HEAD + 2 * STORE_KEY_HALF,
	PACK_KEY_ROOM = 56,
	PACK_ENTRIES = 4096, /* the most: some 80 kB, a few milliseconds of work */
	PACK_BLOCK = 64,
};

/* Columns of a pack, by what its part is about. */
enum pack_column {
	PACK_N,
	PACK_W,
	PACK_W2,
	PACK_WB,
	PACK_WB2,
	PACK_W2B2,
	PACK_ANY_PKTS,
	PACK_ANY_OCTETS,
	PACK_COMMON, /* keys and totals have the columns up to here in common */
	/* further columns of keys */
	PACK_SAME_PKTS = PACK_COMMON,
	PACK_SAME_OCTETS,
	PACK_SINGLE, /* number of columns of keys that are no pair of addresses */
	PACK_SAME1_PKTS = PACK_SINGLE,
	PACK_SAME1_OCTETS,
	PACK_SAME2_PKTS,
	PACK_SAME2_OCTETS,
	PACK_PAIR, /* number of columns of pairs */
	/* further columns of totals of a port and direction; expected, received and cut_numbers are
	 * of the port, and stand in the entry of the receiving direction */
	PACK_POOL_PKTS = PACK_COMMON,
	PACK_POOL_OCTETS,
	PACK_EXPECTED,
	PACK_RECEIVED,
	PACK_CUT_PKTS,
	PACK_CUT_OCTETS,
	PACK_CUT_NUMBERS,
	PACK_W_MAX, /* not a sum: the larger value counts */
	PACK_TOTALS,
	PACK_COLUMNS = PACK_TOTALS, /* the most columns of any pack */
	/* columns of folded samples: n, and the most that any one key can lack */
	PACK_MOST_N = 1,
	PACK_FOLDED,
};

/* Returns a column of two entries of the same key put together. */
static inline double
pack_merged(unsigned column, double a, double b)
{
	if (column == PACK_W_MAX) /* only totals have so many columns */
		return a > b ? a : b;
	return a + b;
}

/* Keys are compared by memcmp over all octets; unused octets are zeros. */
struct pack_key {
	_Alignas(8) uint8_t octets[PACK_KEY_ROOM];
};

/* Makes a key. Without halves it stands for the port and direction itself. */
struct pack_key pack_key_of(int64_t agent, uint64_t if_index, uint8_t direction,
    const uint8_t *key1, uint8_t octets1, const uint8_t *key2, uint8_t octets2);

static inline uint32_t
pack_agent(const struct pack_key *key)
{
	uint32_t agent;

	memcpy(&agent, key->octets, sizeof(agent));
	return be32toh(agent);
}

static inline uint64_t
pack_if_index(const struct pack_key *key)
{
	uint32_t index;

	memcpy(&index, key->octets + 4, sizeof(index));
	return (uint64_t)(key->octets[8] >> 2) << SOURCE_PORT_KIND | be32toh(index);
}

static inline uint8_t
pack_direction(const struct pack_key *key)
{
	return key->octets[8] & 3;
}

static inline const uint8_t *
pack_half1(const struct pack_key *key, uint8_t *octets)
{
	*octets = key->octets[PACK_PLACE];
	return key->octets + PACK_HEAD;
}

static inline const uint8_t *
pack_half2(const struct pack_key *key, uint8_t *octets)
{
	*octets = key->octets[PACK_PLACE + 1];
	return key->octets + PACK_HEAD + key->octets[PACK_PLACE];
}

static inline int
pack_compare(const struct pack_key *a, const struct pack_key *b)
{
	return memcmp(a->octets, b->octets, PACK_KEY_ROOM);
}

/* A pack to be written: entries in the order of their keys, no key twice. */
struct pack {
	unsigned n, n_columns;
	struct pack_key keys[PACK_ENTRIES];
	double columns[PACK_COLUMNS][PACK_ENTRIES];
};

/* The octets that a body has at most. */
enum {
	PACK_OCTETS_MAX = 8 + PACK_ENTRIES * (1 + PACK_KEY_MAX) +
	    PACK_COLUMNS * (9 + PACK_ENTRIES * 8),
};

/* Writes a pack of one entry or more into a body with room for PACK_OCTETS_MAX; returns its octets.
 */
size_t pack_write(const struct pack *pack, uint8_t *body);

/* Reads entry by entry. */
struct pack_reader {
	struct rbuf keys;
	unsigned n, n_columns;
	unsigned i; /* entries read */
	bool failed;
	struct {
		uint8_t form;
		const uint8_t *values;
		double factor;
	} columns[PACK_COLUMNS];
	struct pack_key key;			/* of the entry read last */
	double block[PACK_COLUMNS][PACK_BLOCK]; /* values of all entries of its block */
};

/* The body must live as long as the reader. Returns 0, or -EBADMSG if it is no pack. */
int pack_open(struct pack_reader *reader, const void *body, size_t octets);

/* Reads the next entry. Returns false at the end, and with .failed set if the body is damaged. */
bool pack_next(struct pack_reader *reader);

/* Returns a value of an entry of the current block, by the entry's number; 0 for a column that the
 * pack does not have. */
static inline double
pack_value_of(const struct pack_reader *reader, unsigned entry, unsigned column)
{
	return column < reader->n_columns ? reader->block[column][entry % PACK_BLOCK] : 0;
}

/* Returns a value of the entry read last. */
static inline double
pack_value(const struct pack_reader *reader, unsigned column)
{
	return pack_value_of(reader, reader->i - 1, column);
}

/* Returns true if that entry was the last of its block; reading the next one replaces the values.
 */
static inline bool
pack_ends_block(const struct pack_reader *reader)
{
	return reader->i % PACK_BLOCK == 0 || reader->i == reader->n;
}

#endif
