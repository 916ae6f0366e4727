#include "common/sflow_wire.h"

#include <assert.h>
#include <errno.h>

/* Enterprise 0 in the upper 20 bits of a data format. */
enum sample_format {
	FORMAT_FLOW = 1,
	FORMAT_COUNTERS = 2,
	FORMAT_FLOW_EXPANDED = 3,
	FORMAT_COUNTERS_EXPANDED = 4,
	FORMAT_DISCARD = 5,
};
enum flow_record {
	FLOW_HEADER = 1,
	FLOW_ETHERNET = 2,
	FLOW_IP4 = 3,
	FLOW_IP6 = 4,
	FLOW_SWITCH = 1001,
	FLOW_GATEWAY = 1003,
	FLOW_VLAN_TUNNEL = 1012,
	FLOW_EGRESS_QUEUE = 1036,
	FLOW_FUNCTION = 1038,
	FLOW_TRANSIT_DELAY = 1039,
	FLOW_QUEUE_DEPTH = 1040,
	FLOW_HW_TRAP = 1041,
	FLOW_LINUX_REASON = 1042,
	FLOW_TIMESTAMP = 1043,
};
enum counter_record {
	COUNTER_INTERFACE = 1,
	COUNTER_ETHERNET = 2,
	COUNTER_LACP = 7,
	COUNTER_PORT_NAME = 1005,
};

enum {
	RECORD_MIN_OCTETS = 8,	  /* format and length, of samples and records alike */
	HEADER_FIXED_OCTETS = 16, /* sampled_header without the header's octets */
	LACP_OCTETS = 56, /* two system identifiers in 8 octets each, the aggregate, states, counters */
	LACP_AGGREGATE = 16,
	LACP_COUNTERS = 24,
};

static const char *const verdict_texts[SFLOW_N_VERDICTS] = {
    [SFLOW_OK] = "good",
    [SFLOW_END] = "at its end",
    [SFLOW_BAD_SAMPLE] = "a sample ends within its own fields",
    [SFLOW_BAD_VERSION] = "not sFlow version 5",
    [SFLOW_BAD_ADDRESS] = "the type of the agent's address is unknown",
    [SFLOW_BAD_SHORT] = "it ends within a field",
    [SFLOW_BAD_SAMPLE_LENGTH] = "it ends before all samples that it announces",
};

const char *
sflow_verdict_text(enum sflow_verdict verdict)
{
	return verdict_texts[verdict];
}

static size_t
sflow_padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static size_t
sflow_wire_address_octets(uint32_t type)
{
	return type == SFLOW_ADDRESS_IP4 ? 4 : type == SFLOW_ADDRESS_IP6 ? 16 : 0;
}

/* ---- counter records as tables of fields, for reading and writing ---- */

struct field {
	uint16_t offset;
	uint16_t octets;
};

#define WORD(type, member)  {offsetof(struct type, member), 4}
#define HYPER(type, member) {offsetof(struct type, member), 8}

static const struct field interface_fields[] = {
    WORD(sflow_if_counters, if_index), WORD(sflow_if_counters, if_type),
    HYPER(sflow_if_counters, speed_bps), WORD(sflow_if_counters, direction),
    WORD(sflow_if_counters, status), HYPER(sflow_if_counters, in_octets),
    WORD(sflow_if_counters, in_ucast_pkts), WORD(sflow_if_counters, in_mcast_pkts),
    WORD(sflow_if_counters, in_bcast_pkts), WORD(sflow_if_counters, in_discards),
    WORD(sflow_if_counters, in_errors), WORD(sflow_if_counters, in_unknown_protos),
    HYPER(sflow_if_counters, out_octets), WORD(sflow_if_counters, out_ucast_pkts),
    WORD(sflow_if_counters, out_mcast_pkts), WORD(sflow_if_counters, out_bcast_pkts),
    WORD(sflow_if_counters, out_discards), WORD(sflow_if_counters, out_errors),
    WORD(sflow_if_counters, promiscuous), {0, 0}};

static const struct field ethernet_fields[] = {
    WORD(sflow_ethernet_counters, alignment_errors), WORD(sflow_ethernet_counters, fcs_errors),
    WORD(sflow_ethernet_counters, single_collisions),
    WORD(sflow_ethernet_counters, multiple_collisions),
    WORD(sflow_ethernet_counters, sqe_test_errors), WORD(sflow_ethernet_counters, deferred),
    WORD(sflow_ethernet_counters, late_collisions),
    WORD(sflow_ethernet_counters, excessive_collisions),
    WORD(sflow_ethernet_counters, mac_tx_errors),
    WORD(sflow_ethernet_counters, carrier_sense_errors),
    WORD(sflow_ethernet_counters, frame_too_longs), WORD(sflow_ethernet_counters, mac_rx_errors),
    WORD(sflow_ethernet_counters, symbol_errors), {0, 0}};

static size_t
fields_octets(const struct field *fields)
{
	size_t octets = 0;

	for (; fields->octets; fields++)
		octets += fields->octets;
	return octets;
}

static void
get_fields(struct rbuf *r, const struct field *fields, void *record)
{
	for (; fields->octets; fields++) {
		uint64_t hyper = rbuf_be(r, fields->octets);
		uint32_t word = (uint32_t)hyper;
		const void *value = fields->octets == 8 ? (const void *)&hyper : &word;

		memcpy((uint8_t *)record + fields->offset, value, fields->octets);
	}
}

static void
put_fields(struct wbuf *w, const struct field *fields, const void *record)
{
	for (; fields->octets; fields++) {
		const uint8_t *at = (const uint8_t *)record + fields->offset;
		uint64_t hyper;
		uint32_t word;

		if (fields->octets == 8) {
			memcpy(&hyper, at, 8);
			wbuf_be64(w, hyper);
		} else {
			memcpy(&word, at, 4);
			wbuf_be32(w, word);
		}
	}
}

/* ---- reading ---- */

enum sflow_verdict
sflow_open(struct sflow_datagram *d, const void *octets, size_t n)
{
	struct rbuf r = rbuf_of(octets, n);
	const uint8_t *address;
	uint32_t version = rbuf_be32(&r);

	*d = (struct sflow_datagram){0};
	if (r.failed)
		return SFLOW_BAD_SHORT;
	if (version != SFLOW_VERSION)
		return SFLOW_BAD_VERSION;
	d->agent.type = rbuf_be32(&r);
	if (d->agent.type > SFLOW_ADDRESS_IP6)
		return SFLOW_BAD_ADDRESS;
	address = rbuf_take(&r, sflow_wire_address_octets(d->agent.type));
	if (address)
		memcpy(d->agent.address, address, sflow_wire_address_octets(d->agent.type));
	d->agent.sub_agent = rbuf_be32(&r);
	d->sequence = rbuf_be32(&r);
	d->uptime_ms = rbuf_be32(&r);
	d->n_samples = rbuf_be32(&r);
	if (r.failed)
		return SFLOW_BAD_SHORT;
	d->samples = r;
	return SFLOW_OK;
}

/* Of words that were taken at once. */
static uint32_t
sflow_wire_next_word(const uint8_t **at)
{
	uint32_t word;

	memcpy(&word, *at, sizeof(word));
	*at += sizeof(word);
	return be32toh(word);
}

/* Returns a reader over the next opaque data, and steps over them with their padding, which may be missing at an end. */
static struct rbuf
get_opaque(struct rbuf *r)
{
	uint32_t length = rbuf_be32(r);
	size_t left = rbuf_left(r);
	struct rbuf whole = rbuf_sub(r, length <= left && sflow_padded(length) > left ? left : sflow_padded(length));

	if (!whole.failed)
		whole.size = length;
	return whole;
}

/* Each reader of a record returns false if the record is shorter than its format. */

static bool
get_header(struct rbuf *r, struct sflow_flow *flow)
{
	const uint8_t *at = rbuf_take(r, HEADER_FIXED_OCTETS);
	uint32_t kept;

	if (!at)
		return false;
	flow->header_protocol = sflow_wire_next_word(&at);
	flow->frame_octets = sflow_wire_next_word(&at);
	flow->stripped_octets = sflow_wire_next_word(&at);
	kept = sflow_wire_next_word(&at);
	/* Some agents leave the FCS out of frame_octets and still count it as stripped, so we do
	 * not check the stripped octets against the frame's length. */
	flow->kept_octets = kept < rbuf_left(r) ? kept : (uint32_t)rbuf_left(r);
	flow->header = rbuf_take(r, flow->kept_octets);
	flow->has_header = true;
	return kept == flow->kept_octets;
}

static bool
get_switch(struct rbuf *r, struct sflow_flow *flow)
{
	uint32_t vlans[4];

	for (int i = 0; i < 4; i++)
		vlans[i] = rbuf_be32(r);
	if (r->failed)
		return false;
	flow->src_vlan = vlans[0];
	flow->src_priority = vlans[1];
	flow->dst_vlan = vlans[2];
	flow->dst_priority = vlans[3];
	flow->has_switch = true;
	return true;
}

/* A record of fixed length, which whoever uses it reads. */
static bool
get_body(struct rbuf *r, size_t octets, const uint8_t **body)
{
	const uint8_t *all = rbuf_take(r, octets);

	if (all)
		*body = all;
	return all != NULL;
}

static bool
get_ethernet(struct rbuf *r, struct sflow_flow *flow)
{
	flow->is_packed = rbuf_left(r) < SFLOW_SAMPLED_ETHERNET;
	return get_body(r, flow->is_packed ? SFLOW_PACKED_ETHERNET : SFLOW_SAMPLED_ETHERNET, &flow->ethernet);
}

/* extended_gateway up to the path. The last of several in a set is not the last of the path, and an empty path is of a
 * destination that the router has without BGP. */
static bool
get_gateway(struct rbuf *r, struct sflow_flow *flow)
{
	enum { AS_SET = 1 };
	uint32_t type = rbuf_be32(r), src_as, dst_as = 0, n_segments;

	if (type > SFLOW_ADDRESS_IP6 || !rbuf_take(r, sflow_wire_address_octets(type) + 4)) /* next hop, and the router's own AS */
		return false;
	src_as = rbuf_be32(r);
	rbuf_be32(r); /* where it came from to the router */
	for (n_segments = rbuf_be32(r); n_segments > 0 && !r->failed; n_segments--) {
		bool is_set = rbuf_be32(r) == AS_SET;
		uint32_t n = rbuf_be32(r);

		if (n > rbuf_left(r) / 4)
			return false;
		if (n == 0)
			continue;
		rbuf_take(r, 4 * (size_t)(n - 1));
		dst_as = rbuf_be32(r);
		if (is_set && n > 1)
			dst_as = 0;
	}
	if (r->failed)
		return false;
	flow->src_as = src_as;
	flow->dst_as = dst_as;
	return true;
}

/* Layers are listed from the outermost on. */
static bool
get_vlan_tunnel(struct rbuf *r, struct sflow_flow *flow)
{
	uint32_t n = rbuf_be32(r);

	if (r->failed || n > rbuf_left(r) / 4)
		return false;
	if (n > 0)
		flow->outer_tag = rbuf_be32(r);
	return true;
}

static bool
get_text(struct rbuf *r, struct sflow_text *text)
{
	struct rbuf octets = get_opaque(r);

	if (!octets.failed)
		*text = (struct sflow_text){(const char *)octets.data, (uint32_t)octets.size};
	return !octets.failed;
}

static void
note_format(uint32_t format, uint32_t *n, uint32_t formats[static SFLOW_UNREAD_MAX])
{
	if (*n < SFLOW_UNREAD_MAX)
		formats[*n] = format;
	++*n;
}

static bool
step_over(struct sflow_sample *s, uint32_t format)
{
	note_format(format, &s->n_unread, s->unread);
	return true;
}

/* Of records that only samples have. No switch has a queue with a number beyond 16 bits. */
static bool
get_way_record(uint32_t format, struct rbuf *r, struct sflow_sample *s)
{
	struct ease_way *way = &s->flow.way;
	uint32_t value = rbuf_be32(r);

	if (r->failed)
		return false;
	if (format == FLOW_EGRESS_QUEUE && value <= UINT16_MAX) {
		way->known |= EASE_WAY_QUEUE;
		way->queue = (uint16_t)value;
	} else if (format == FLOW_TRANSIT_DELAY) {
		way->known |= EASE_WAY_DELAY;
		way->delay_ns = value;
	} else if (format == FLOW_QUEUE_DEPTH) {
		way->known |= EASE_WAY_DEPTH;
		way->depth_octets = value;
	}
	return true;
}

/* Of records that only events of discarded packets have. */
static bool
get_discard_record(uint32_t format, struct rbuf *r, struct sflow_sample *s)
{
	struct sflow_discard *d = &s->discard;

	switch (s->kind == SFLOW_DISCARD ? format : 0) {
	case FLOW_FUNCTION:
		return get_text(r, &d->function);
	case FLOW_HW_TRAP:
		return get_text(r, &d->group) && get_text(r, &d->trap);
	case FLOW_LINUX_REASON:
		return get_text(r, &d->cause);
	}
	return step_over(s, format);
}

static bool
get_flow_record(uint32_t format, struct rbuf *r, struct sflow_sample *s)
{
	switch (format) {
	case FLOW_HEADER:
		return get_header(r, &s->flow);
	case FLOW_ETHERNET:
		return get_ethernet(r, &s->flow);
	case FLOW_IP4:
		return get_body(r, SFLOW_SAMPLED_IP4, &s->flow.ip4);
	case FLOW_IP6:
		return get_body(r, SFLOW_SAMPLED_IP6, &s->flow.ip6);
	case FLOW_SWITCH:
		return get_switch(r, &s->flow);
	case FLOW_GATEWAY:
		return get_gateway(r, &s->flow);
	case FLOW_VLAN_TUNNEL:
		return get_vlan_tunnel(r, &s->flow);
	case FLOW_EGRESS_QUEUE:
	case FLOW_TRANSIT_DELAY:
	case FLOW_QUEUE_DEPTH:
		return s->kind == SFLOW_FLOW ? get_way_record(format, r, s) : step_over(s, format);
	}
	return get_discard_record(format, r, s);
}

/* The record of the source's own ifIndex stands first. */
static bool
get_interface(struct rbuf *r, struct sflow_sample *s)
{
	struct sflow_counters *c = &s->counters;
	struct sflow_if_counters one;

	get_fields(r, interface_fields, &one);
	if (r->failed)
		return false;
	if (!c->has_interface) {
		c->has_interface = true;
		c->interface = one;
	} else if (c->n_others == SFLOW_OTHERS_MAX) {
		return step_over(s, COUNTER_INTERFACE);
	} else if (one.if_index == c->source.index && c->interface.if_index != one.if_index) {
		c->others[c->n_others++] = c->interface;
		c->interface = one;
	} else {
		c->others[c->n_others++] = one;
	}
	return true;
}

static bool
get_ethernet_counters(struct rbuf *r, struct sflow_counters *c)
{
	struct sflow_ethernet_counters all;

	get_fields(r, ethernet_fields, &all);
	if (r->failed)
		return false;
	c->ethernet = all;
	c->has_ethernet = true;
	return true;
}

static bool
get_lacp(struct rbuf *r, struct sflow_counters *c)
{
	const uint8_t *body = rbuf_take(r, LACP_OCTETS);
	struct rbuf at;

	if (!body)
		return false;
	at = rbuf_of(body + LACP_AGGREGATE, 4);
	c->aggregate = rbuf_be32(&at);
	return true;
}

static bool
get_counter_record(uint32_t format, struct rbuf *r, struct sflow_sample *s)
{
	switch (format) {
	case COUNTER_INTERFACE:
		return get_interface(r, s);
	case COUNTER_ETHERNET:
		return get_ethernet_counters(r, &s->counters);
	case COUNTER_LACP:
		return get_lacp(r, &s->counters);
	case COUNTER_PORT_NAME:
		return get_text(r, &s->counters.name);
	}
	return step_over(s, format);
}

/* What stands behind the last record is stepped over with the sample. */
static enum sflow_verdict
get_records(struct rbuf *r, struct sflow_sample *s, bool (*get)(uint32_t, struct rbuf *, struct sflow_sample *))
{
	uint32_t n = rbuf_be32(r);

	if (r->failed)
		return SFLOW_BAD_SAMPLE;
	while (n-- > 0) {
		uint32_t format = rbuf_be32(r);
		struct rbuf record = get_opaque(r);

		if (r->failed) {
			s->is_cut = true;
			break;
		}
		if (!get(format, &record, s))
			note_format(format, &s->n_spoiled, s->spoiled);
	}
	return SFLOW_OK;
}

static struct sflow_source
next_source(const uint8_t **at, bool expanded)
{
	uint32_t word = sflow_wire_next_word(at);

	if (expanded)
		return (struct sflow_source){word, sflow_wire_next_word(at)};
	return (struct sflow_source){word >> 24, word & SFLOW_COMPACT_INDEX_MAX};
}

static struct sflow_if
next_if(const uint8_t **at, bool expanded)
{
	uint32_t word = sflow_wire_next_word(at);

	if (expanded)
		return (struct sflow_if){word, sflow_wire_next_word(at)};
	return (struct sflow_if){word >> 30, word & SFLOW_COMPACT_VALUE_MAX};
}

static enum sflow_verdict
get_flow(struct rbuf *r, struct sflow_sample *s, bool expanded)
{
	enum { WORDS = 7, EXPANDED_WORDS = 10 };
	const uint8_t *at = rbuf_take(r, 4 * (expanded ? EXPANDED_WORDS : WORDS));
	struct sflow_flow *flow = &s->flow;

	if (!at)
		return SFLOW_BAD_SAMPLE;
	/* Field by field, which takes a fifth of the time that clearing the whole does. */
	flow->expanded = expanded;
	flow->is_record = flow->is_sent = false;
	flow->has_header = flow->has_switch = flow->is_packed = false;
	flow->header_protocol = flow->frame_octets = flow->stripped_octets = flow->kept_octets = 0;
	flow->header = flow->ethernet = flow->ip4 = flow->ip6 = NULL;
	flow->src_vlan = flow->src_priority = flow->dst_vlan = flow->dst_priority = flow->outer_tag = 0;
	flow->src_as = flow->dst_as = 0;
	flow->reason = 0;
	flow->way.known = 0;
	flow->sequence = sflow_wire_next_word(&at);
	flow->source = next_source(&at, expanded);
	flow->rate = sflow_wire_next_word(&at);
	flow->pool_pkts = sflow_wire_next_word(&at);
	flow->drops = sflow_wire_next_word(&at);
	flow->input = next_if(&at, expanded);
	flow->output = next_if(&at, expanded);
	return get_records(r, s, get_flow_record);
}

static enum sflow_verdict
get_discard(struct rbuf *r, struct sflow_sample *s)
{
	enum { WORDS = 7 };
	const uint8_t *at = rbuf_take(r, 4 * WORDS);
	struct sflow_flow *flow = &s->flow;

	if (!at)
		return SFLOW_BAD_SAMPLE;
	*flow = (struct sflow_flow){.expanded = true};
	s->discard = (struct sflow_discard){{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
	flow->sequence = sflow_wire_next_word(&at);
	flow->source = next_source(&at, true);
	flow->drops = sflow_wire_next_word(&at);
	flow->input.value = sflow_wire_next_word(&at);
	flow->output.value = sflow_wire_next_word(&at);
	flow->reason = sflow_wire_next_word(&at);
	return get_records(r, s, get_flow_record);
}

static enum sflow_verdict
get_counters(struct rbuf *r, struct sflow_sample *s, bool expanded)
{
	const uint8_t *at = rbuf_take(r, expanded ? 12 : 8);

	if (!at)
		return SFLOW_BAD_SAMPLE;
	s->counters = (struct sflow_counters){.expanded = expanded};
	s->counters.sequence = sflow_wire_next_word(&at);
	s->counters.source = next_source(&at, expanded);
	return get_records(r, s, get_counter_record);
}

enum sflow_verdict
sflow_next(struct sflow_datagram *d, struct sflow_sample *sample)
{
	struct rbuf body;
	uint32_t format;

	if (d->n_samples == 0)
		return SFLOW_END;
	d->n_samples--;
	sample->n_unread = sample->n_spoiled = 0;
	sample->is_cut = false;
	format = rbuf_be32(&d->samples);
	body = get_opaque(&d->samples);
	if (d->samples.failed)
		return SFLOW_BAD_SAMPLE_LENGTH;
	switch (format) {
	case FORMAT_FLOW:
	case FORMAT_FLOW_EXPANDED:
		sample->kind = SFLOW_FLOW;
		return get_flow(&body, sample, format == FORMAT_FLOW_EXPANDED);
	case FORMAT_COUNTERS:
	case FORMAT_COUNTERS_EXPANDED:
		sample->kind = SFLOW_COUNTERS;
		return get_counters(&body, sample, format == FORMAT_COUNTERS_EXPANDED);
	case FORMAT_DISCARD:
		sample->kind = SFLOW_DISCARD;
		return get_discard(&body, sample);
	}
	sample->kind = SFLOW_OTHER;
	return SFLOW_OK;
}

/* ---- writing ---- */

static void
patch_be32(struct wbuf *w, size_t at, uint32_t value)
{
	struct wbuf word = wbuf_of(w->data + at, 4);

	assert(w->failed || at + 4 <= w->len);
	if (!w->failed)
		wbuf_be32(&word, value);
}

/* Begins opaque data with a length that end_opaque fills in. */
static size_t
begin_opaque(struct wbuf *w, uint32_t format)
{
	wbuf_be32(w, format);
	wbuf_be32(w, 0);
	return w->len;
}

static void
end_opaque(struct wbuf *w, size_t start)
{
	patch_be32(w, start - 4, (uint32_t)(w->len - start));
}

void
sflow_begin(struct sflow_writer *w, void *octets, size_t limit, const struct sflow_agent *agent,
    uint32_t sequence, uint32_t uptime_ms)
{
	w->out = wbuf_of(octets, limit);
	w->n_samples = 0;
	wbuf_be32(&w->out, SFLOW_VERSION);
	wbuf_be32(&w->out, agent->type);
	wbuf_put(&w->out, agent->address, sflow_wire_address_octets(agent->type));
	wbuf_be32(&w->out, agent->sub_agent);
	wbuf_be32(&w->out, sequence);
	wbuf_be32(&w->out, uptime_ms);
	w->n_samples_at = w->out.len;
	wbuf_be32(&w->out, 0);
}

bool
sflow_source_fits_compact(const struct sflow_source *source)
{
	return source->class <= 0xff && source->index <= SFLOW_COMPACT_INDEX_MAX;
}

bool
sflow_if_fits_compact(const struct sflow_if *interface)
{
	return interface->format <= 3 && interface->value <= SFLOW_COMPACT_VALUE_MAX;
}

static void
put_source(struct wbuf *w, const struct sflow_source *source, bool expanded)
{
	wbuf_be32(w, expanded ? source->class : source->class << 24 | source->index);
	if (expanded)
		wbuf_be32(w, source->index);
}

static void
put_if(struct wbuf *w, const struct sflow_if *interface, bool expanded)
{
	wbuf_be32(w, expanded ? interface->format : interface->format << 30 | interface->value);
	if (expanded)
		wbuf_be32(w, interface->value);
}

static const uint8_t zeros[3];

static void
sflow_wire_put_header(struct wbuf *w, const struct sflow_flow *flow)
{
	size_t record = begin_opaque(w, FLOW_HEADER);

	wbuf_be32(w, flow->header_protocol);
	wbuf_be32(w, flow->frame_octets);
	wbuf_be32(w, flow->stripped_octets);
	wbuf_be32(w, flow->kept_octets);
	wbuf_put(w, flow->header, flow->kept_octets);
	wbuf_put(w, zeros, sflow_padded(flow->kept_octets) - flow->kept_octets);
	end_opaque(w, record);
}

static void
put_switch(struct wbuf *w, const struct sflow_flow *flow)
{
	size_t record = begin_opaque(w, FLOW_SWITCH);

	wbuf_be32(w, flow->src_vlan);
	wbuf_be32(w, flow->src_priority);
	wbuf_be32(w, flow->dst_vlan);
	wbuf_be32(w, flow->dst_priority);
	end_opaque(w, record);
}

static uint32_t
at_most_u32(uint64_t value)
{
	return value < EASE_WAY_MOST ? (uint32_t)value : EASE_WAY_MOST;
}

static void
sflow_wire_put_number(struct wbuf *w, enum flow_record format, uint32_t value)
{
	size_t record = begin_opaque(w, format);

	wbuf_be32(w, value);
	end_opaque(w, record);
}

/* EASE_WAY_MOST stands for that or more. */
static void
put_way(struct wbuf *w, const struct ease_way *way)
{
	size_t record;

	if (way->known & EASE_WAY_QUEUE)
		sflow_wire_put_number(w, FLOW_EGRESS_QUEUE, way->queue);
	if (way->known & EASE_WAY_DELAY)
		sflow_wire_put_number(w, FLOW_TRANSIT_DELAY, at_most_u32(way->delay_ns));
	if (way->known & EASE_WAY_DEPTH)
		sflow_wire_put_number(w, FLOW_QUEUE_DEPTH, at_most_u32(way->depth_octets));
	if (!(way->known & EASE_WAY_TIME))
		return;
	record = begin_opaque(w, FLOW_TIMESTAMP);
	wbuf_be64(w, way->time_ns);
	end_opaque(w, record);
}

static void
put_counter_record(struct wbuf *w, enum counter_record format, const struct field *fields, const void *record)
{
	wbuf_be32(w, format);
	wbuf_be32(w, (uint32_t)fields_octets(fields));
	put_fields(w, fields, record);
}

/* Only the aggregate is known: LACP's systems and states are 0, its counters all ones. */
static void
put_lacp(struct wbuf *w, uint32_t aggregate)
{
	wbuf_be32(w, COUNTER_LACP);
	wbuf_be32(w, LACP_OCTETS);
	for (size_t at = 0; at < LACP_OCTETS; at += 4)
		wbuf_be32(w, at == LACP_AGGREGATE ? aggregate : at < LACP_COUNTERS ? 0 : SFLOW_UNKNOWN32);
}

/* Ends the sample if it fitted, else removes it. */
static int
close_sample(struct sflow_writer *w, size_t before, size_t sample)
{
	if (w->out.failed) {
		w->out.failed = false;
		w->out.len = before;
		return -EMSGSIZE;
	}
	end_opaque(&w->out, sample);
	patch_be32(&w->out, w->n_samples_at, ++w->n_samples);
	return 0;
}

int
sflow_add_flow(struct sflow_writer *w, const struct sflow_flow *flow)
{
	bool expanded = flow->expanded;
	struct wbuf *out = &w->out;
	size_t before = out->len;
	size_t sample = begin_opaque(out, expanded ? FORMAT_FLOW_EXPANDED : FORMAT_FLOW);

	wbuf_be32(out, flow->sequence);
	put_source(out, &flow->source, expanded);
	wbuf_be32(out, flow->rate);
	wbuf_be32(out, flow->pool_pkts);
	wbuf_be32(out, flow->drops);
	put_if(out, &flow->input, expanded);
	put_if(out, &flow->output, expanded);
	wbuf_be32(out, (uint32_t)flow->has_header + flow->has_switch + (uint32_t)__builtin_popcount(flow->way.known));
	if (flow->has_header)
		sflow_wire_put_header(out, flow);
	if (flow->has_switch)
		put_switch(out, flow);
	put_way(out, &flow->way);
	return close_sample(w, before, sample);
}

static void
sflow_wire_put_text(struct wbuf *w, const struct sflow_text *text)
{
	uint32_t n = text->n < SFLOW_TEXT_MAX ? text->n : SFLOW_TEXT_MAX;

	wbuf_be32(w, n);
	wbuf_put(w, text->octets, n);
	wbuf_put(w, zeros, sflow_padded(n) - n);
}

static void
put_texts(struct wbuf *w, enum flow_record format, const struct sflow_text *first, const struct sflow_text *second)
{
	size_t record = begin_opaque(w, format);

	sflow_wire_put_text(w, first);
	if (second)
		sflow_wire_put_text(w, second);
	end_opaque(w, record);
}

int
sflow_add_discard(struct sflow_writer *w, const struct sflow_flow *flow, const struct sflow_discard *d)
{
	bool has_function = d->function.n > 0, has_trap = d->trap.n > 0, has_cause = d->cause.n > 0;
	struct wbuf *out = &w->out;
	size_t before = out->len;
	size_t sample = begin_opaque(out, FORMAT_DISCARD);

	wbuf_be32(out, flow->sequence);
	put_source(out, &flow->source, true);
	wbuf_be32(out, flow->drops);
	wbuf_be32(out, flow->input.value);
	wbuf_be32(out, flow->output.value);
	wbuf_be32(out, flow->reason);
	wbuf_be32(out, (uint32_t)flow->has_header + has_function + has_trap + has_cause);
	if (flow->has_header)
		sflow_wire_put_header(out, flow);
	if (has_function)
		put_texts(out, FLOW_FUNCTION, &d->function, NULL);
	if (has_trap)
		put_texts(out, FLOW_HW_TRAP, &d->group, &d->trap);
	if (has_cause)
		put_texts(out, FLOW_LINUX_REASON, &d->cause, NULL);
	return close_sample(w, before, sample);
}

int
sflow_add_counters(struct sflow_writer *w, const struct sflow_counters *counters)
{
	bool expanded = counters->expanded;
	struct wbuf *out = &w->out;
	size_t before = out->len;
	size_t sample = begin_opaque(out, expanded ? FORMAT_COUNTERS_EXPANDED : FORMAT_COUNTERS);

	wbuf_be32(out, counters->sequence);
	put_source(out, &counters->source, expanded);
	wbuf_be32(out, (uint32_t)counters->has_interface + counters->has_ethernet + (counters->aggregate != 0));
	if (counters->has_interface)
		put_counter_record(out, COUNTER_INTERFACE, interface_fields, &counters->interface);
	if (counters->has_ethernet)
		put_counter_record(out, COUNTER_ETHERNET, ethernet_fields, &counters->ethernet);
	if (counters->aggregate != 0)
		put_lacp(out, counters->aggregate);
	return close_sample(w, before, sample);
}
