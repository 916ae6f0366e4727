/*
 * Packets that devices discarded and told of: each becomes one in the sum of its minute, port, reason, place and
 * addresses (the store adds rows of the same columns up). An agent has so many rows a minute; what it tells
 * beyond them is only counted, by port, as is what finds no room in the batch. So a sum of all rows is exact
 * whatever anybody sends.
 */
#include "collector/window/accounting_private.h"

#include <string.h>

enum { TOLD_A_MINUTE = 1024 }; /* of an agent */

static struct store_discard *
discards_add_row(struct accounting *acc, const struct port *p, uint64_t time_us, enum store_discard_kind kind,
    struct store_batch *batch)
{
	struct store_discard *row = store_batch_add(batch, STORE_DISCARDS);

	if (!row)
		return NULL;
	row->start_us = time_us - time_us % STORE_WINDOW_US;
	row->agent = p->agent->row.id;
	row->if_index = p->if_index;
	row->kind = kind;
	row->received_us = acc->received_us;
	return row;
}

/* Returns whether the agent has rows left this minute. */
static bool
discards_may_tell(struct agent *a, uint64_t time_us)
{
	uint64_t start_us = time_us - time_us % STORE_WINDOW_US;

	if (a->discards.start_us != start_us) {
		a->discards.start_us = start_us;
		a->discards.told = 0;
	}
	if (a->discards.told == TOLD_A_MINUTE)
		return false;
	a->discards.told++;
	return true;
}

static uint8_t
put_address(uint8_t key[FRAME_IP_LEN], const struct frame_keys *k, const uint8_t *ip, const uint8_t *mac)
{
	uint8_t octets = k->ip_version == 4 ? 4 : k->ip_version == 6 ? FRAME_IP_LEN : k->has_macs ? FRAME_MAC_LEN : 0;

	memcpy(key, k->ip_version != 0 ? ip : mac, octets);
	return octets;
}

/* Returns what is left of a count: 0, or all of it without room. */
static int64_t
flush_count(struct accounting *acc, const struct port *p, enum store_discard_kind kind, int64_t n,
    struct store_batch *batch)
{
	struct store_discard *row = n != 0 ? discards_add_row(acc, p, p->discards.time_us, kind, batch) : NULL;

	if (!row)
		return n;
	row->n = n;
	return 0;
}

void
accounting_flush_discards(struct accounting *acc, struct port *p, struct store_batch *batch)
{
	p->discards.counted = (uint64_t)flush_count(
	    acc, p, STORE_DISCARD_COUNTED, (int64_t)p->discards.counted, batch);
	p->discards.not_sent = (uint64_t)flush_count(
	    acc, p, STORE_DISCARD_NOT_SENT, (int64_t)p->discards.not_sent, batch);
	p->discards.lost = flush_count(acc, p, STORE_DISCARD_LOST, p->discards.lost, batch);
}

void
accounting_add_discard(
    struct accounting *acc, struct port *p, const struct ease_record *r, struct store_batch *batch)
{
	const struct ease_discard *d = &r->discard;
	uint64_t time_us = d->frame.time_us;
	struct store_discard *row;

	if (time_us - time_us % STORE_WINDOW_US != p->discards.time_us - p->discards.time_us % STORE_WINDOW_US)
		accounting_flush_discards(acc, p, batch); /* of another minute, if there is room */
	p->discards.time_us = time_us;
	p->discards.not_sent += d->not_sent;
	p->discards.lost += d->lost;
	if (d->frame.mean_skip == 0)
		return;
	accounting_count(acc, ACCOUNTING_STAT_DISCARDS);
	row = discards_may_tell(p->agent, time_us) ? discards_add_row(acc, p, time_us, STORE_DISCARD_EVENT, batch) : NULL;
	if (row) {
		struct frame_keys keys;

		accounting_parse_frame(&d->frame, &keys);
		row->output_if = d->frame.output_if;
		row->reason = d->reason;
		memcpy(row->detail, d->detail, strlen(d->detail) + 1);
		memcpy(row->place, d->place, strlen(d->place) + 1);
		memcpy(row->group, d->group, strlen(d->group) + 1);
		row->src_octets = put_address(row->src, &keys, keys.src_ip, keys.src_mac);
		row->dst_octets = put_address(row->dst, &keys, keys.dst_ip, keys.dst_mac);
		row->n = 1;
		return;
	}
	accounting_count(acc, ACCOUNTING_STAT_DISCARDS_FOLDED);
	p->discards.counted++;
}
