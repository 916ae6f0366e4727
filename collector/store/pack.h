/*
 * A pack: sums by key, sorted, in few octets. One is the body of a row of the table part. Keys are
 * written as what differs from the key before; each column of sums has the narrowest form that
 * gives back every value exactly, so what is read is what was written, to the last bit.
 *
 * Body: format, number of columns (1 octet each), number of entries (2), octets of keys (4), keys,
 * columns. A key: how many octets it shares with the one before, and the others. A column: its
 * form (enum pack_form in pack.c), its values. Numbers of the head in network order, values as
 * little-endian words, on any machine.
 */
#ifndef EASE_COLLECTOR_STORE_PACK_H
#define EASE_COLLECTOR_STORE_PACK_H

#include "collector/store/batch.h"
#include "common/buf.h"

enum {
	PACK_PLACE = 9, /* agent (4), ifIndex (4), direction: in network order, so sorted */
	PACK_HEAD = 11, /* and the octets of each half of the key */
	PACK_KEY_MAX = PACK_HEAD + 2 * STORE_KEY_HALF,
	PACK_KEY_ROOM = 56,
	PACK_ENTRIES = 4096, /* at most: some 80 kB, a few milliseconds of work */
	PACK_BLOCK = 64,
};

/* Columns of a part, by what it is about. */
enum pack_column {
	PACK_N,
	PACK_W,
	PACK_W2,
	PACK_WB,
	PACK_WB2,
	PACK_W2B2,
	PACK_ANY_PKTS,
	PACK_ANY_OCTETS,
	PACK_COMMON, /* up to here keys' and totals' columns are the same */
	/* of keys */
	PACK_SAME_PKTS = PACK_COMMON,
	PACK_SAME_OCTETS,
	PACK_SINGLE, /* those of keys that are no pair */
	PACK_SAME1_PKTS = PACK_SINGLE,
	PACK_SAME1_OCTETS,
	PACK_SAME2_PKTS,
	PACK_SAME2_OCTETS,
	PACK_COLUMNS, /* of pairs, and the most there are */
	/* of totals of a port and direction; the last two are of the port, with what it received */
	PACK_POOL_PKTS = PACK_COMMON,
	PACK_POOL_OCTETS,
	PACK_EXPECTED,
	PACK_RECEIVED,
	PACK_TOTALS,
	/* of samples without a key */
	PACK_MOST_N = 1,
	PACK_FOLDED,
};

/* Keys compare by memcmp over all octets; those behind the key are zero. */
struct pack_key {
	_Alignas(8) uint8_t octets[PACK_KEY_ROOM];
};

/* Without halves: of the port and direction itself. */
struct pack_key pack_key_of(int64_t agent, uint32_t if_index, uint8_t direction,
    const uint8_t *key1, uint8_t octets1, const uint8_t *key2, uint8_t octets2);

static inline uint32_t
pack_agent(const struct pack_key *key)
{
	uint32_t agent;

	memcpy(&agent, key->octets, sizeof(agent));
	return be32toh(agent);
}

static inline uint32_t
pack_if_index(const struct pack_key *key)
{
	uint32_t if_index;

	memcpy(&if_index, key->octets + 4, sizeof(if_index));
	return be32toh(if_index);
}

static inline uint8_t
pack_direction(const struct pack_key *key)
{
	return key->octets[8];
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

/* What is written: entries in the order of their keys, no key twice. */
struct pack {
	unsigned n, n_columns;
	struct pack_key keys[PACK_ENTRIES];
	double columns[PACK_COLUMNS][PACK_ENTRIES];
};

/* Octets that a body has at most. */
enum {
	PACK_OCTETS_MAX = 8 + PACK_ENTRIES * (1 + PACK_KEY_MAX) +
	    PACK_COLUMNS * (9 + PACK_ENTRIES * 8),
};

/* Writes a pack of one entry or more; body has room for PACK_OCTETS_MAX. Gives its octets. */
size_t pack_write(const struct pack *pack, uint8_t *body);

/* Reads entry by entry. */
struct pack_reader {
	struct rbuf keys;
	unsigned n, n_columns;
	unsigned i; /* entries taken */
	bool failed;
	struct {
		uint8_t form;
		const uint8_t *values;
		double factor;
	} columns[PACK_COLUMNS];
	struct pack_key key;			  /* of the entry taken last */
	double block[PACK_COLUMNS][PACK_BLOCK]; /* values of the entries around it */
};

/* The body must live as long as the reader. 0, or -EBADMSG if it is no pack. */
int pack_open(struct pack_reader *reader, const void *body, size_t octets);

/* Takes the next entry; false at the end, and with .failed where the body is damaged. */
bool pack_next(struct pack_reader *reader);

/* A value of an entry of the block at hand, by its number; columns that the pack has not are 0. */
static inline double
pack_value_of(const struct pack_reader *reader, unsigned entry, unsigned column)
{
	return column < reader->n_columns ? reader->block[column][entry % PACK_BLOCK] : 0;
}

/* A value of the entry taken last. */
static inline double
pack_value(const struct pack_reader *reader, unsigned column)
{
	return pack_value_of(reader, reader->i - 1, column);
}

/* True if that one was the last of its block: the next one's values take their place. */
static inline bool
pack_ends_block(const struct pack_reader *reader)
{
	return reader->i % PACK_BLOCK == 0 || reader->i == reader->n;
}

#endif
