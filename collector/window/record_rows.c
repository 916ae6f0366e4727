#include "collector/window/record_rows.h"
#include "collector/source_port.h"

#include <string.h>

static bool
record_add_address(struct store_batch *batch, int64_t agent, const struct ease_record *r)
{
	struct store_event *row = store_batch_add(batch, STORE_EVENTS);

	if (!row)
		return false;
	row->time_us = r->address.time_us;
	row->agent = agent;
	row->boot = r->boot;
	row->kind = EASE_NOTIFY_NEW_ADDRESS;
	row->if_index = r->address.if_index;
	row->has_mac = true;
	memcpy(row->mac, r->address.mac, sizeof(row->mac));
	row->vlan = r->address.vlan;
	return true;
}

static bool
record_add_resources(struct store_batch *batch, int64_t agent, const struct ease_record *r)
{
	struct store_resource *row = store_batch_add(batch, STORE_RESOURCES);

	if (!row)
		return false;
	*row = (struct store_resource){agent, r->boot, r->resources};
	return true;
}

static bool
add_error_source(struct store_batch *batch, int64_t agent, const struct ease_record *r)
{
	struct store_error_source *row = store_batch_add(batch, STORE_ERROR_SOURCES);

	if (!row)
		return false;
	*row = (struct store_error_source){agent, r->boot, r->error_source};
	return true;
}

bool
record_rows_add(struct store_batch *batch, int64_t agent, const struct ease_record *record)
{
	switch (record->kind) {
	case EASE_PART_ADDRESS:
		return record_add_address(batch, agent, record);
	case EASE_PART_RESOURCES:
		return record_add_resources(batch, agent, record);
	case EASE_PART_ERROR_SOURCE:
		return add_error_source(batch, agent, record);
	default:
		return true;
	}
}

static void
fill_inner(struct store_sample *row, const struct ease_sample *s, const struct frame_keys *keys)
{
	struct frame_inner opened = {.keys = *keys};
	struct frame_keys inner;

	row->keys.carries = false;
	if (keys->carries == FRAME_NO_TUNNEL)
		return;
	while (!opened.has_vni && frame_open(s->header, s->kept_octets, &opened.keys, &opened))
		;
	row->keys.carries = opened.has_vni;
	row->keys.carries_at = opened.vni;
	if (!frame_open_innermost_ip(s->header, s->kept_octets, keys, &inner))
		return;
	row->inner.ip_version = inner.ip_version;
	memcpy(row->inner.src_ip, inner.src_ip, sizeof(row->inner.src_ip));
	memcpy(row->inner.dst_ip, inner.dst_ip, sizeof(row->inner.dst_ip));
}

bool
record_rows_add_sample(struct store_batch *batch, int64_t agent, const struct ease_record *r, const struct frame_keys *keys,
    uint32_t stands_for)
{
	const struct ease_sample *sample = &r->sample;
	struct store_sample *row = store_batch_add(batch, STORE_SAMPLES);
	size_t n = sample->kept_octets;

	if (!row)
		return false;
	row->agent = agent;
	row->boot = r->boot;
	row->sample = *sample;
	/* Several sub-agents may sample a port, and begin at 1 each: a row of each number of each. */
	if (r->source_port & SOURCE_PORT_FURTHER)
		row->sample.sequence += (uint32_t)(r->source_port * UINT64_C(0x9e3779b97f4a7c15) >> 32);
	row->sample.header = store_batch_add_more(batch, STORE_SAMPLES, sample->header, &n);
	row->sample.kept_octets = (uint16_t)n;
	row->keys = *keys;
	row->has_dst_port = keys->has_ports || keys->has_icmp;
	row->dst_port = keys->has_icmp ? frame_icmp_message(keys) : keys->dst_port;
	fill_inner(row, sample, keys);
	row->stands_for = stands_for;
	return true;
}
