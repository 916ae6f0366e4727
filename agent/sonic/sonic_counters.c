/*
 * What COUNTERS_DB says: which SAI object an interface is, what the chip counts of it, and the facet of counters.
 *
 * SONiC writes what SAI counts, 64-bit totals. *assumed*, for SAI's headers do not tell: octets include the FCS; and
 * ETHER_STATS fields are of received frames (some chips count both directions in them). A LAG has no
 * counters: what its members count while they are members is added up. A VLAN interface has those of its router
 * interface, which counts routed packets alone and no kinds of them.
 */
#include "agent/sonic/sonic_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- rows ---- */

#define ROW(text, figure)                                                                          \
	{.name = text, .address = figure, .width_bits = 64,                                        \
	    .flags = HAL_COUNTER_IS_TOTAL |                                                        \
		(HAL_SAMPLE_FIGURES >> (figure) & 1 ? 0 : HAL_COUNTER_NOT_SAMPLED)}

/* Names of fields, without SAI_PORT_STAT_. Packets that are not unicast stand in for multicasts and broadcasts in the
 * pool where the chip does not tell these apart; no figure is theirs. */
static const struct hal_counter_row rows[SONIC_N_ROWS] = {
    [ROW_IN_OCTETS] = ROW("IF_IN_OCTETS", HAL_IN_OCTETS),
    [ROW_IN_UCAST] = ROW("IF_IN_UCAST_PKTS", HAL_IN_UCAST_PKTS),
    [ROW_IN_NON_UCAST] = ROW("IF_IN_NON_UCAST_PKTS", HAL_POOL_IN_PKTS),
    [ROW_IN_MCAST] = ROW("IF_IN_MULTICAST_PKTS", HAL_IN_MCAST_PKTS),
    [ROW_IN_BCAST] = ROW("IF_IN_BROADCAST_PKTS", HAL_IN_BCAST_PKTS),
    [ROW_IN_DISCARDS] = ROW("IF_IN_DISCARDS", HAL_IN_DISCARDS),
    [ROW_IN_ERRORS] = ROW("IF_IN_ERRORS", HAL_IN_ERRORS),
    [ROW_IN_UNKNOWN_PROTOS] = ROW("IF_IN_UNKNOWN_PROTOS", HAL_IN_UNKNOWN_PROTOS),
    [ROW_OUT_OCTETS] = ROW("IF_OUT_OCTETS", HAL_OUT_OCTETS),
    [ROW_OUT_UCAST] = ROW("IF_OUT_UCAST_PKTS", HAL_OUT_UCAST_PKTS),
    [ROW_OUT_NON_UCAST] = ROW("IF_OUT_NON_UCAST_PKTS", HAL_POOL_OUT_PKTS),
    [ROW_OUT_MCAST] = ROW("IF_OUT_MULTICAST_PKTS", HAL_OUT_MCAST_PKTS),
    [ROW_OUT_BCAST] = ROW("IF_OUT_BROADCAST_PKTS", HAL_OUT_BCAST_PKTS),
    [ROW_OUT_DISCARDS] = ROW("IF_OUT_DISCARDS", HAL_OUT_DISCARDS),
    [ROW_OUT_ERRORS] = ROW("IF_OUT_ERRORS", HAL_OUT_ERRORS),
    [ROW_PAUSE_IN] = ROW("PAUSE_RX_PKTS", HAL_IN_PAUSE_PKTS),
    [ROW_PAUSE_OUT] = ROW("PAUSE_TX_PKTS", HAL_OUT_PAUSE_PKTS),
    [ROW_RMON_DROP_EVENTS] = ROW("ETHER_STATS_DROP_EVENTS", HAL_RMON_DROP_EVENTS),
    [ROW_RMON_OCTETS] = ROW("ETHER_STATS_OCTETS", HAL_RMON_OCTETS),
    [ROW_RMON_PKTS] = ROW("ETHER_STATS_PKTS", HAL_RMON_PKTS),
    [ROW_RMON_BCAST] = ROW("ETHER_STATS_BROADCAST_PKTS", HAL_RMON_BCAST_PKTS),
    [ROW_RMON_MCAST] = ROW("ETHER_STATS_MULTICAST_PKTS", HAL_RMON_MCAST_PKTS),
    [ROW_RMON_CRC_ALIGN] = ROW("ETHER_STATS_CRC_ALIGN_ERRORS", HAL_RMON_CRC_ALIGN),
    [ROW_RMON_UNDERSIZE] = ROW("ETHER_STATS_UNDERSIZE_PKTS", HAL_RMON_UNDERSIZE),
    [ROW_RMON_OVERSIZE] = ROW("ETHER_STATS_OVERSIZE_PKTS", HAL_RMON_OVERSIZE),
    [ROW_RMON_FRAGMENTS] = ROW("ETHER_STATS_FRAGMENTS", HAL_RMON_FRAGMENTS),
    [ROW_RMON_JABBERS] = ROW("ETHER_STATS_JABBERS", HAL_RMON_JABBERS),
    [ROW_RMON_COLLISIONS] = ROW("ETHER_STATS_COLLISIONS", HAL_RMON_COLLISIONS),
    [ROW_RMON_64] = ROW("ETHER_IN_PKTS_64_OCTETS", HAL_RMON_64),
    [ROW_RMON_65_127] = ROW("ETHER_IN_PKTS_65_TO_127_OCTETS", HAL_RMON_65_127),
    [ROW_RMON_128_255] = ROW("ETHER_IN_PKTS_128_TO_255_OCTETS", HAL_RMON_128_255),
    [ROW_RMON_256_511] = ROW("ETHER_IN_PKTS_256_TO_511_OCTETS", HAL_RMON_256_511),
    [ROW_RMON_512_1023] = ROW("ETHER_IN_PKTS_512_TO_1023_OCTETS", HAL_RMON_512_1023),
    [ROW_RMON_1024_MAX] = ROW("ETHER_IN_PKTS_1024_TO_1518_OCTETS", HAL_RMON_1024_MAX),
};
_Static_assert((int)SONIC_N_ROWS <= 64, "a bit for each row fits in a word");

enum { PREFIX_OCTETS = 64, N_WORDS = 2 + SONIC_N_ROWS };
#define FIELD_PREFIX "SAI_PORT_STAT_"

/* ---- SAI objects ---- */

/* An interface whose object is another one now, or none, has other counters. */
static void
sonic_set_object(struct sonic_interface *interface, uint64_t object)
{
	if (interface->object == object)
		return;
	interface->object = object;
	interface->counted_us = 0;
	interface->has = 0;
}

/* The answer is name, object, name, object, … in any order. Of the interfaces of this kind, subject->other, it names all
 * that have an object. */
static void
sonic_take_names(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	if (reply->type != REDIS_REPLY_ARRAY) {
		stat_add(&d->stats, SONIC_STAT_DAMAGED, 1);
		return;
	}
	for (size_t i = 0; i < d->interfaces.n; i++)
		d->interfaces.all[i]->named_object = 0;
	for (size_t i = 0; i + 1 < reply->elements; i += 2) {
		const redisReply *name = answer_string(reply, i), *object = answer_string(reply, i + 1);
		struct sonic_interface *interface;
		enum sonic_kind kind;
		uint32_t number;

		if (!name || !object)
			continue;
		interface = interfaces_find(&d->interfaces, interface_number(name->str, name->len, &kind, &number));
		if (interface && strcmp(interface->name, name->str) == 0)
			(void)sai_object_parse(object->str, object->len, &interface->named_object);
	}
	for (size_t i = 0; i < d->interfaces.n; i++)
		if (d->interfaces.all[i]->kind == subject->other)
			sonic_set_object(d->interfaces.all[i], d->interfaces.all[i]->named_object);
}

void
sonic_begin_names(struct sonic_device *d)
{
	static const struct {
		enum sonic_kind kind;
		const char *map;
	} maps[] = {
	    {SONIC_PORT, "COUNTERS_PORT_NAME_MAP"},
	    {SONIC_LAG, "COUNTERS_LAG_NAME_MAP"},
	    {SONIC_VLAN, "COUNTERS_RIF_NAME_MAP"},
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		const struct sonic_subject subject = {.other = maps[i].kind};

		sonic_ask(d, JOB_NAMES, sonic_take_names, &subject, "HGETALL", maps[i].map, NULL);
	}
}

/* ---- readings ---- */

/* A field that is not there, or no number, is not known. */
static void
sonic_take_counters(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);

	if (!interface || interface->object != subject->object)
		return;
	interface->has = 0;
	for (size_t row = 0; row < SONIC_N_ROWS; row++)
		if (answer_number(answer_string(reply, row), &interface->values[row]))
			interface->has |= 1ull << row;
	interface->counted_us = clock_mono_us(d->clock);
}

static const struct router_field {
	const char *name;
	enum sonic_row row;
} router_fields[] = {
    {"SAI_ROUTER_INTERFACE_STAT_IN_OCTETS", ROW_IN_OCTETS},
    {"SAI_ROUTER_INTERFACE_STAT_IN_PACKETS", ROW_IN_UCAST},
    {"SAI_ROUTER_INTERFACE_STAT_IN_ERROR_PACKETS", ROW_IN_ERRORS},
    {"SAI_ROUTER_INTERFACE_STAT_OUT_OCTETS", ROW_OUT_OCTETS},
    {"SAI_ROUTER_INTERFACE_STAT_OUT_PACKETS", ROW_OUT_UCAST},
    {"SAI_ROUTER_INTERFACE_STAT_OUT_ERROR_PACKETS", ROW_OUT_ERRORS},
};
enum { N_ROUTER_FIELDS = sizeof(router_fields) / sizeof(router_fields[0]) };

static void
take_router_counters(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	struct sonic_interface *interface = interfaces_find(&d->interfaces, subject->if_index);

	if (!interface || interface->object != subject->object)
		return;
	interface->has = 0;
	for (size_t i = 0; i < N_ROUTER_FIELDS; i++)
		if (answer_number(answer_string(reply, i), &interface->values[router_fields[i].row]))
			interface->has |= 1ull << router_fields[i].row;
	interface->counted_us = clock_mono_us(d->clock);
}

/* The words of HMGET, of which only the key differs between interfaces. */
struct question {
	const char *words[N_WORDS];
	size_t octets[N_WORDS];
	int n;
	char key[PREFIX_OCTETS];
	char fields[SONIC_N_ROWS][PREFIX_OCTETS];
};

static void
add_word(struct question *q, const char *word)
{
	q->words[q->n] = word;
	q->octets[q->n++] = strlen(word);
}

static void
begin_question(struct question *q)
{
	q->n = 0;
	add_word(q, "HMGET");
	add_word(q, q->key);
}

static void
ask_counters(struct sonic_device *d, struct question *q, const struct sonic_interface *interface, sonic_take *take)
{
	const struct sonic_subject subject = {.if_index = interface->if_index, .object = interface->object};

	q->octets[1] = (size_t)snprintf(q->key, sizeof(q->key), "COUNTERS:oid:0x%jx", (uintmax_t)interface->object);
	sonic_ask_words(d, JOB_COUNTERS, take, &subject, q->n, q->words, q->octets);
}

void
sonic_begin_counters(struct sonic_device *d)
{
	struct question port = {0}, router = {0};

	begin_question(&port);
	for (size_t row = 0; row < SONIC_N_ROWS; row++) {
		snprintf(port.fields[row], sizeof(port.fields[row]), FIELD_PREFIX "%s", rows[row].name);
		add_word(&port, port.fields[row]);
	}
	begin_question(&router);
	for (size_t i = 0; i < N_ROUTER_FIELDS; i++)
		add_word(&router, router_fields[i].name);
	for (size_t i = 0; i < d->interfaces.n; i++) {
		const struct sonic_interface *interface = d->interfaces.all[i];

		if (interface->object != 0 && interface->kind == SONIC_PORT)
			ask_counters(d, &port, interface, sonic_take_counters);
		else if (interface->object != 0 && interface->kind == SONIC_VLAN)
			ask_counters(d, &router, interface, take_router_counters);
	}
}

/* ---- LAGs ---- */

/* Adds what a member has counted since the last reading, if it was a member then and its counters were known. One that
 * counts anew adds nothing. */
static void
add_member(struct sonic_interface *lag, struct sonic_interface *member)
{
	for (size_t row = 0; row < SONIC_N_IF_ROWS; row++) {
		if (member->before_lag == lag->if_index && member->before_has >> row & 1 &&
		    member->values[row] > member->before[row])
			lag->values[row] += member->values[row] - member->before[row];
		member->before[row] = member->values[row];
	}
	member->before_lag = lag->if_index;
	member->before_has = member->has;
	lag->has &= member->has;
	if (member->counted_us < lag->counted_us)
		lag->counted_us = member->counted_us;
}

/* What a LAG counts is known if it is of each of its members. */
void
sonic_end_counters(struct sonic_device *d, bool whole)
{
	(void)whole;
	for (size_t i = 0; i < d->interfaces.n; i++) {
		struct sonic_interface *lag = d->interfaces.all[i];

		if (lag->kind != SONIC_LAG)
			continue;
		lag->has = (1ull << SONIC_N_IF_ROWS) - 1;
		lag->counted_us = UINT64_MAX;
	}
	for (size_t i = 0; i < d->interfaces.n; i++) {
		struct sonic_interface *member = d->interfaces.all[i];
		struct sonic_interface *lag = member->lag ? interfaces_find(&d->interfaces, member->lag) : NULL;

		if (lag && lag->kind == SONIC_LAG)
			add_member(lag, member);
		else
			member->before_lag = 0;
	}
	for (size_t i = 0; i < d->interfaces.n; i++)
		if (d->interfaces.all[i]->counted_us == UINT64_MAX) /* it has no members */
			d->interfaces.all[i]->counted_us = 0;
}

/* ---- the facet of counters ---- */

static int
sonic_counter_read(void *ctx, uint32_t if_index, size_t row, uint64_t *raw)
{
	const struct sonic_device *d = ctx;
	const struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);

	if (!interface)
		return -ENODEV;
	*raw = interface->values[row];
	return 0;
}

static void
put_sonic_figure(struct hal_counters *counters, enum hal_figure figure, uint64_t value)
{
	counters->value[figure] = value;
	counters->known |= 1ull << figure;
}

static uint64_t
sonic_pool_of(uint64_t ucast, uint64_t mcast, uint64_t bcast, uint64_t non_ucast)
{
	return ucast + (mcast + bcast > non_ucast ? mcast + bcast : non_ucast);
}

static void
sonic_counter_derive(const uint64_t *total, struct hal_counters *counters)
{
	for (size_t row = 0; row < SONIC_N_ROWS; row++)
		put_sonic_figure(counters, (enum hal_figure)rows[row].address, total[row]);
	put_sonic_figure(counters, HAL_POOL_IN_PKTS, sonic_pool_of(total[ROW_IN_UCAST], total[ROW_IN_MCAST], total[ROW_IN_BCAST],
	    total[ROW_IN_NON_UCAST]));
	put_sonic_figure(counters, HAL_POOL_OUT_PKTS, sonic_pool_of(total[ROW_OUT_UCAST], total[ROW_OUT_MCAST],
	    total[ROW_OUT_BCAST], total[ROW_OUT_NON_UCAST]));
	put_sonic_figure(counters, HAL_FCS_ERRORS, total[ROW_RMON_CRC_ALIGN]);
}

/* At 1 Gb/s and above no frame has an alignment error alone (RFC 3635, dot3StatsAlignmentErrors), so what RMON counts
 * as CRC and alignment errors are FCS errors. */
static uint64_t
sonic_counter_known(void *ctx, uint32_t if_index)
{
	const struct sonic_device *d = ctx;
	const struct sonic_interface *interface = interfaces_find(&d->interfaces, if_index);
	uint64_t known = 0;

	if (!interface || interface->counted_us == 0 ||
	    clock_mono_us(d->clock) - interface->counted_us >= SONIC_STALE_US)
		return 0;
	for (size_t row = 0; row < SONIC_N_ROWS; row++)
		if (interface->has >> row & 1)
			known |= 1ull << rows[row].address;
	known &= ~(1ull << HAL_POOL_IN_PKTS | 1ull << HAL_POOL_OUT_PKTS);
	if (interface->has >> ROW_IN_UCAST & 1)
		known |= 1ull << HAL_POOL_IN_PKTS;
	if (interface->has >> ROW_OUT_UCAST & 1)
		known |= 1ull << HAL_POOL_OUT_PKTS;
	if ((interface->has >> ROW_RMON_CRC_ALIGN & 1) && interface->speed_bps >= 1000000000)
		known |= 1ull << HAL_FCS_ERRORS;
	return known;
}

const struct hal_counters_ops sonic_counters_ops = {
    .name = "COUNTERS_DB",
    .rows = rows,
    .n_rows = SONIC_N_ROWS,
    .read = sonic_counter_read,
    .derive = sonic_counter_derive,
    .known = sonic_counter_known,
};
