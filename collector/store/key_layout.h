/*
 * The kinds of keys, as data: of which fields of a frame a key is made, and where they lie in its two halves. Whoever
 * makes, reads, ranks, filters, watches, keeps, rolls up or ships keys takes it from here, so a new kind is a row of
 * key_layouts, and a row of collector/report/dimensions.c that lists it (conf/guide/new-key.md). No state.
 *
 * A half is an address, or none, and behind it numbers in network order. How long an address is follows from how long the
 * half is.
 */
#ifndef EASE_COLLECTOR_STORE_KEY_LAYOUT_H
#define EASE_COLLECTOR_STORE_KEY_LAYOUT_H

#include "collector/store/schema.h"

#include <stddef.h>

enum key_field {
	KEY_NO_FIELD, /* behind the last of a half */
	KEY_SRC_MAC,
	KEY_DST_MAC,
	KEY_SRC_IP,
	KEY_DST_IP,
	KEY_INNER_SRC_IP, /* in a tunnel; no stored key has these two */
	KEY_INNER_DST_IP,
	KEY_N_ADDRESSES,
	KEY_VLAN = KEY_N_ADDRESSES, /* id of the outermost tag */
	KEY_ETHERTYPE,		    /* after all tags; 0: a length field */
	/* 0: none, or not known. Of ICMP and ICMPv6: STORE_ICMP_MARK, and type and code. */
	KEY_SRC_PORT,
	KEY_DST_PORT,
	KEY_SERVER_PORT, /* the lower of the two; of ICMP, type and code */
	KEY_IP_PROTO,
	KEY_VNI, /* of the outermost VXLAN or GENEVE; no stored key has it, nor the next two */
	KEY_SRC_AS, /* as a router states them */
	KEY_DST_AS,
	KEY_N_FIELDS,
};

enum { KEY_HALF_FIELDS = 3 };
_Static_assert((int)KEY_N_FIELDS <= 16, "bits of struct key_reader");

/* Indices into key_layouts, which is in the order in which keys are rolled up and shipped; stores remember it, so a new
 * kind comes last. */
enum {
	KIND_ETH_PAIR,
	KIND_IP_PAIR,
	KIND_VLAN,
	KIND_ETHERTYPE,
	KIND_IP_PROTO,
	KIND_SERVER_PORT,
	KIND_CONVERSATION,
	KIND_SYN,
	KEY_N_KINDS,
};

struct key_layout {
	enum store_key_kind kind;
	uint8_t halves[2][KEY_HALF_FIELDS]; /* enum key_field */
	/* Both halves begin with an address. Of pairs of samples of one notification, those with the same first address and
	 * those with the same second one are summed up, too (PACK_PAIR). */
	bool is_pair;
	bool has_many; /* eight days have about as many as all of them together: they have no level of their own */
	bool of_syns;  /* TCP SYNs without ACK alone have one */
	/* Of a kind without a feature of its own in window/sample_pairs.c (KINDS_PAIRED): the index of the one whose pairs
	 * of samples are taken for its own, which must be as many at least. */
	uint8_t pairs_of;
};

static const struct key_layout key_layouts[KEY_N_KINDS] = {
    [KIND_ETH_PAIR] = {STORE_KEY_ETH_PAIR, {{KEY_SRC_MAC}, {KEY_DST_MAC}}, .is_pair = true, .has_many = true},
    [KIND_IP_PAIR] = {STORE_KEY_IP_PAIR, {{KEY_SRC_IP}, {KEY_DST_IP}}, .is_pair = true, .has_many = true},
    [KIND_VLAN] = {.kind = STORE_KEY_VLAN, .halves = {{KEY_VLAN}}},
    [KIND_ETHERTYPE] = {.kind = STORE_KEY_ETHERTYPE, .halves = {{KEY_ETHERTYPE}}},
    [KIND_IP_PROTO] = {.kind = STORE_KEY_IP_PROTO, .halves = {{KEY_IP_PROTO}}},
    [KIND_SERVER_PORT] = {.kind = STORE_KEY_SERVER_PORT, .halves = {{KEY_IP_PROTO, KEY_SERVER_PORT}}},
    [KIND_CONVERSATION] = {STORE_KEY_CONVERSATION, {{KEY_SRC_IP, KEY_SRC_PORT, KEY_IP_PROTO}, {KEY_DST_IP, KEY_DST_PORT,
	KEY_IP_PROTO}}, .has_many = true},
    /* more pairs than of SYNs alone: limits under loss are no narrower */
    [KIND_SYN] = {STORE_KEY_SYN, {{KEY_SRC_IP}, {KEY_DST_IP, KEY_DST_PORT}}, .is_pair = true, .has_many = true,
	.of_syns = true, .pairs_of = KIND_IP_PAIR},
};

/* part.kind is one of these, an enum store_key_kind, or STORE_PART_FOLDED + enum store_key_kind for
 * folded samples: those counted without their key of this kind. */
enum store_part_kind {
	STORE_PART_TOTALS = 0,
	STORE_PART_ETH_SRC = 8,
	STORE_PART_ETH_DST = 9,
	STORE_PART_IP_SRC = 10,
	STORE_PART_IP_DST = 11,
	STORE_PART_FOLDED = 64,
};

/* Parts whose keys are one half of a pair, at levels that have them (levels.h); it stands in the key's first half. */
struct key_single {
	enum store_part_kind kind;
	enum store_key_kind of;
	uint8_t half; /* 1, 2 */
	bool has_many;
};
static const struct key_single key_singles[] = {
    {STORE_PART_ETH_SRC, STORE_KEY_ETH_PAIR, 1, false},
    {STORE_PART_ETH_DST, STORE_KEY_ETH_PAIR, 2, true},
    {STORE_PART_IP_SRC, STORE_KEY_IP_PAIR, 1, false},
    {STORE_PART_IP_DST, STORE_KEY_IP_PAIR, 2, true},
};
enum { KEY_N_SINGLES = sizeof(key_singles) / sizeof(key_singles[0]) };

/* NULL: the kind is no key's; no part of single halves. */
static inline const struct key_layout *
key_layout_of(unsigned kind)
{
	for (size_t i = 0; i < KEY_N_KINDS; i++)
		if (key_layouts[i].kind == kind)
			return &key_layouts[i];
	return NULL;
}

static inline const struct key_single *
key_single_of(unsigned kind)
{
	for (size_t i = 0; i < KEY_N_SINGLES; i++)
		if (key_singles[i].kind == kind)
			return &key_singles[i];
	return NULL;
}

/* Octets of a field; 0: an address, whose length varies. */
static inline uint8_t
key_field_octets(enum key_field field)
{
	return field < KEY_N_ADDRESSES ? 0 : field == KEY_IP_PROTO ? 1 : field == KEY_VNI ? 3 :
	    field == KEY_SRC_AS || field == KEY_DST_AS ? 4 : 2;
}

/* The octets of a half behind its address, if it has one. */
uint8_t key_octets_behind(const struct key_layout *layout, unsigned half);

/* Where the fields of a key are; octets of what it does not have are not set. */
struct key_fields {
	struct {
		const uint8_t *octets;
		uint8_t n;
	} of[KEY_N_FIELDS];
};

/* Reads the keys of a kind of part; made once for many of them. */
struct key_reader {
	const struct key_layout *layout; /* NULL: the parts have no keys */
	uint8_t half;			 /* this one alone, in the place of the first; 0: both */
	uint8_t behind[2];		 /* octets behind the address */
	uint16_t has;			 /* bits 1 << enum key_field */
	uint16_t wanted;		 /* the reader's user's: those of them that he takes */
};
struct key_reader key_reader_of(unsigned kind);

/* Sets the fields of a half (1, 2), which stay in these octets. False: the half is too short, and nothing is set. */
static inline bool
key_read_half(const struct key_reader *r, unsigned half, const uint8_t *octets, uint8_t n, struct key_fields *fields)
{
	const uint8_t *field = r->layout->halves[half - 1];
	uint8_t behind = r->behind[half - 1];

	if (n < behind + (*field != KEY_NO_FIELD && *field < KEY_N_ADDRESSES))
		return false;
	for (const uint8_t *end = field + KEY_HALF_FIELDS; field < end && *field != KEY_NO_FIELD; field++) {
		uint8_t size = *field < KEY_N_ADDRESSES ? (uint8_t)(n - behind) : key_field_octets(*field);

		fields->of[*field].octets = octets;
		fields->of[*field].n = size;
		octets += size;
	}
	return true;
}

/* A field's number; 0 where there is none. */
static inline unsigned
key_number(const struct key_fields *fields, enum key_field field)
{
	const uint8_t *octets = fields->of[field].octets;

	return !octets ? 0 : fields->of[field].n == 1 ? octets[0] : (unsigned)octets[0] << 8 | octets[1];
}

#endif
