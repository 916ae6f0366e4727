#include "collector/input/ipfix.h"

#include "common/hash.h"
#include "common/lru_table.h"
#include "common/sample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	VERSION = 10,
	SET_TEMPLATES = 2,
	SET_OPTIONS = 3,
	SET_DATA = 256,
	SET_HEAD = 4,
	VARIABLE = 65535, /* length of a field in a template */
	LONG = 255,	  /* of such a field: two octets of length follow */
	ENTERPRISE = 0x8000,
	JUNIPER = 2636,
	OWN_FRAMES = 1, /* data link frame type of Ethernet (RFC 7133) */
	/* Juniper's common properties (its guide on resiliency exceptions): six bits say of what, ten which */
	EXCEPTION = 2,
	EXCEPTION_BITS = 10,
};

/* What is read of a record. */
enum field_kind {
	SKIPPED,
	IN_IF, OUT_IF, IN_PHYSICAL, OUT_PHYSICAL, DIRECTION,
	FRAME, PACKET, FRAME_OCTETS, FRAME_TYPE, SECTION_OFFSET,
	SELECTOR,
	RATE,		  /* one in so many */
	INTERVAL, SPACE,  /* so many in a row, then so many not */
	SIZE, POPULATION, /* so many of so many */
	PROBABILITY,
	PROPERTIES,
	N_FIELD_KINDS,
};

/* IANA's IPFIX Information Elements. */
static const struct {
	uint16_t id;
	uint32_t enterprise;
	enum field_kind kind;
} elements[] = {
	{10, 0, IN_IF},
	{14, 0, OUT_IF},
	{252, 0, IN_PHYSICAL},
	{253, 0, OUT_PHYSICAL},
	{61, 0, DIRECTION}, /* 1: egress */
	{315, 0, FRAME},
	{313, 0, PACKET},
	{312, 0, FRAME_OCTETS},
	{408, 0, FRAME_TYPE},
	{409, 0, SECTION_OFFSET},
	{302, 0, SELECTOR},
	{48, 0, SELECTOR}, /* samplerId */
	{34, 0, RATE}, /* samplingInterval */
	{50, 0, RATE}, /* samplerRandomInterval */
	{305, 0, INTERVAL},
	{306, 0, SPACE},
	{309, 0, SIZE},
	{310, 0, POPULATION},
	{311, 0, PROBABILITY},
	{137, JUNIPER, PROPERTIES},
};

struct ipfix_template {
	uint64_t session;
	uint32_t next; /* in its bucket: index + 1, 0 at the end */
	struct lru_link link;
	uint64_t came_us;
	uint16_t id;
	uint8_t n_fields;
	bool is_options, has_section;
	uint32_t octets_least; /* of a record */
	struct field {
		uint16_t octets;
		uint8_t kind;
	} fields[IPFIX_FIELDS_MAX];
};

struct ipfix_templates {
	uint64_t seed;
	struct lru_table places;
	struct ipfix_template all[IPFIX_TEMPLATES_MAX];
	uint32_t buckets[2 * IPFIX_TEMPLATES_MAX]; /* index + 1, or 0 */
};

/* A record, by kind of field. */
struct record {
	uint32_t has; /* bits of field_kind */
	uint64_t values[N_FIELD_KINDS];
	double probability;
	const uint8_t *section;
	size_t section_octets;
	bool is_exception;
};

int
ipfix_templates_new(struct ipfix_templates **out, uint64_t seed)
{
	struct ipfix_templates *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->seed = seed;
	if (lru_table_init(&t->places, IPFIX_TEMPLATES_MAX, &t->all->link, sizeof(*t->all)) < 0) {
		free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void
ipfix_templates_free(struct ipfix_templates *t)
{
	if (!t)
		return;
	lru_table_free(&t->places);
	free(t);
}

/* ---- templates ---- */

static uint32_t *
ipfix_bucket_of(struct ipfix_templates *t, uint64_t session, uint16_t id)
{
	return &t->buckets[hash_pair(t->seed, (uint32_t)session, id) % (2 * IPFIX_TEMPLATES_MAX)];
}

static struct ipfix_template *
find_template(struct ipfix_templates *t, const struct ipfix_message *m, uint16_t id)
{
	for (uint32_t i = *ipfix_bucket_of(t, m->session, id); i != 0; i = t->all[i - 1].next)
		if (t->all[i - 1].session == m->session && t->all[i - 1].id == id)
			return &t->all[i - 1];
	return NULL;
}

static void
drop_template(struct ipfix_templates *t, uint32_t place)
{
	uint32_t *at = ipfix_bucket_of(t, t->all[place].session, t->all[place].id);

	while (*at != place + 1)
		at = &t->all[*at - 1].next;
	*at = t->all[place].next;
	lru_table_give(&t->places, place);
}

/* The template of that number, an old one or a place for a new one; NULL: this sender gets none. */
static struct ipfix_template *
place_template(struct ipfix_templates *t, const struct ipfix_message *m, uint16_t id)
{
	struct ipfix_template *found = find_template(t, m, id);
	int64_t now_us = (int64_t)m->received_us;
	uint32_t place, *bucket;

	if (found) {
		lru_table_heard(&t->places, (uint32_t)(found - t->all), now_us);
		return found;
	}
	while ((place = lru_table_next_victim(&t->places, now_us, IPFIX_TEMPLATE_LASTS_US, IPFIX_TEMPLATE_LASTS_US)) !=
	    LRU_NONE)
		drop_template(t, place);
	place = lru_table_admits(&t->places, m->owner) ? lru_table_take(&t->places, m->owner, now_us) : LRU_NONE;
	if (place == LRU_NONE)
		return NULL;
	bucket = ipfix_bucket_of(t, m->session, id);
	found = &t->all[place];
	found->session = m->session;
	found->id = id;
	found->next = *bucket;
	*bucket = place + 1;
	return found;
}

static enum field_kind
ipfix_kind_of(uint16_t id, uint32_t enterprise, uint16_t octets)
{
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (elements[i].id == id && elements[i].enterprise == enterprise) {
			bool is_section = elements[i].kind == FRAME || elements[i].kind == PACKET;

			/* a number of another length than any has is not read */
			return is_section || (octets > 0 && octets <= 8) ? elements[i].kind : SKIPPED;
		}
	return SKIPPED;
}

static bool
ipfix_add_field(struct ipfix_template *t, enum field_kind kind, uint16_t octets)
{
	struct field *last = t->n_fields > 0 ? &t->fields[t->n_fields - 1] : NULL;

	t->octets_least += octets == VARIABLE ? 1 : octets;
	if (kind == SKIPPED && octets != VARIABLE && last && last->kind == SKIPPED && last->octets != VARIABLE &&
	    last->octets + octets < VARIABLE) {
		last->octets = (uint16_t)(last->octets + octets);
		return true;
	}
	if (t->n_fields == IPFIX_FIELDS_MAX)
		return false;
	t->has_section |= kind == FRAME || kind == PACKET;
	t->fields[t->n_fields++] = (struct field){octets, (uint8_t)kind};
	return true;
}

/* Reads one template record into *t; false: it cannot be used. *r fails where nothing follows. */
static bool
read_template(struct rbuf *r, bool is_options, struct ipfix_template *t)
{
	uint16_t n;
	bool fits = true;

	*t = (struct ipfix_template){.is_options = is_options};
	t->id = rbuf_be16(r);
	n = rbuf_be16(r);
	if (is_options && n > 0)
		rbuf_be16(r); /* of how many is the scope: a selector may be in it */
	for (; n > 0 && !r->failed; n--) {
		uint16_t id = rbuf_be16(r), octets = rbuf_be16(r);
		uint32_t enterprise = id & ENTERPRISE ? rbuf_be32(r) : 0;

		id &= ENTERPRISE - 1;
		fits = ipfix_add_field(t, ipfix_kind_of(id, enterprise, octets), octets) && fits;
	}
	return fits && !r->failed && t->octets_least > 0;
}

static void
keep_template(struct ipfix_templates *t, struct ipfix_message *m, const struct ipfix_template *read)
{
	struct ipfix_template *kept = place_template(t, m, read->id);
	struct ipfix_template old;

	if (!kept) {
		m->counts[IPFIX_COUNT_TEMPLATES_FULL]++;
		return;
	}
	old = *kept;
	*kept = *read;
	kept->session = old.session;
	kept->next = old.next;
	kept->link = old.link;
	kept->came_us = m->received_us;
	m->counts[IPFIX_COUNT_TEMPLATES]++;
}

static void
take_templates(struct ipfix_templates *t, struct ipfix_message *m, struct rbuf set, bool is_options)
{
	enum { TEMPLATE_LEAST = 4 }; /* what is shorter is padding */
	struct ipfix_template read;

	while (rbuf_left(&set) >= TEMPLATE_LEAST) {
		bool is_good = read_template(&set, is_options, &read);

		if (is_good && read.id >= SET_DATA)
			keep_template(t, m, &read);
		else if (read.n_fields > 0 || set.failed) /* without a field: a withdrawal, or padding */
			m->counts[IPFIX_COUNT_TEMPLATES_REFUSED]++;
		if (set.failed)
			return;
	}
}

/* ---- records ---- */

static void
take_field(struct record *record, enum field_kind kind, const uint8_t *octets, size_t n)
{
	uint64_t value = 0;
	float single;

	if (kind == FRAME || kind == PACKET) {
		record->section = octets;
		record->section_octets = n;
		record->has |= 1u << kind;
		return;
	}
	if (n == 0 || n > sizeof(value))
		return;
	for (size_t i = 0; i < n; i++)
		value = value << 8 | octets[i];
	if (kind == PROBABILITY && n == sizeof(single)) {
		memcpy(&single, &(uint32_t){(uint32_t)value}, sizeof(single));
		record->probability = (double)single;
	} else if (kind == PROBABILITY) {
		memcpy(&record->probability, &value, sizeof(value));
	} else if (kind == PROPERTIES) { /* there are several of them */
		record->is_exception |= n == 2 && value >> EXCEPTION_BITS == EXCEPTION &&
		    (value & ((1u << EXCEPTION_BITS) - 1)) != 0;
	}
	record->values[kind] = value;
	record->has |= 1u << kind;
}

/* False, and the set has failed, if the record ends beyond it. */
static bool
read_record(struct rbuf *set, const struct ipfix_template *t, struct record *record)
{
	*record = (struct record){.has = 0};
	for (size_t i = 0; i < t->n_fields && !set->failed; i++) {
		const struct field *f = &t->fields[i];
		size_t n = f->octets;
		const uint8_t *octets;

		if (n == VARIABLE) {
			n = rbuf_u8(set);
			n = n == LONG ? rbuf_be16(set) : n;
		}
		octets = rbuf_take(set, n);
		if (octets && f->kind != SKIPPED)
			take_field(record, (enum field_kind)f->kind, octets, n);
	}
	return !set->failed;
}

static bool
record_has(const struct record *r, enum field_kind kind)
{
	return r->has & 1u << kind;
}

/* One frame in how many; 0: the record does not say, or nothing that can be. */
static uint32_t
rate_of(const struct record *r)
{
	double rate = 0;

	if (record_has(r, RATE))
		rate = (double)r->values[RATE];
	else if (record_has(r, INTERVAL) && r->values[INTERVAL] > 0)
		rate = ((double)r->values[INTERVAL] + (double)r->values[SPACE]) / (double)r->values[INTERVAL];
	else if (record_has(r, SIZE) && r->values[SIZE] > 0)
		rate = (double)r->values[POPULATION] / (double)r->values[SIZE];
	else if (record_has(r, PROBABILITY) && r->probability > 0)
		rate = 1 / r->probability;
	return rate >= 1 && rate <= EASE_MEAN_SKIP_MAX ? (uint32_t)(rate + 0.5) : 0;
}

static const struct ipfix_sampler *
sampler_of(const struct ipfix_domain *d, uint64_t selector)
{
	for (size_t i = 0; i < d->n_samplers; i++)
		if (d->samplers[i].selector == selector)
			return &d->samplers[i];
	return NULL;
}

static void
ipfix_take_options(struct ipfix_message *m, const struct record *r)
{
	struct ipfix_domain *d = m->state;
	const struct ipfix_sampler *known = sampler_of(d, r->values[SELECTOR]);
	size_t at = known ? (size_t)(known - d->samplers) : d->n_samplers;
	uint32_t rate = rate_of(r);

	if (rate == 0)
		return;
	if (at == IPFIX_SAMPLERS_MAX) {
		m->counts[IPFIX_COUNT_SAMPLERS_FULL]++;
		return;
	}
	d->samplers[at] = (struct ipfix_sampler){r->values[SELECTOR], rate};
	d->n_samplers += !known;
}

static uint32_t
told_rate(const struct ipfix_domain *d, const struct record *r)
{
	const struct ipfix_sampler *sampler = sampler_of(d, r->values[SELECTOR]);
	uint32_t rate = rate_of(r);

	if (rate == 0 && !sampler)
		sampler = sampler_of(d, 0);
	if (rate == 0 && !sampler && !record_has(r, SELECTOR) && d->n_samplers == 1)
		sampler = d->samplers; /* there is no other */
	return rate > 0 || !sampler ? rate : sampler->rate;
}

static struct sflow_if
ipfix_interface_of(const struct record *r, enum field_kind logical, enum field_kind physical)
{
	uint64_t index = r->values[logical] > 0 ? r->values[logical] : r->values[physical];

	return (struct sflow_if){SFLOW_IF_INDEX, index <= UINT32_MAX ? (uint32_t)index : 0};
}

static void
make_sample(const struct ipfix_message *m, const struct record *r, struct sflow_flow *f)
{
	bool is_packet = !record_has(r, FRAME), is_readable = r->section_octets > 0 && r->values[SECTION_OFFSET] == 0 &&
	    (is_packet || !record_has(r, FRAME_TYPE) || r->values[FRAME_TYPE] == OWN_FRAMES);
	uint64_t octets = r->values[FRAME_OCTETS];

	*f = (struct sflow_flow){
	    .is_record = true,
	    .is_sent = record_has(r, DIRECTION) && r->values[DIRECTION] == 1,
	    .sequence = m->sequence + m->n_records - m->state->n_others,
	    .source = {SFLOW_SOURCE_LOGICAL, m->domain},
	    .rate = told_rate(m->state, r),
	    .input = ipfix_interface_of(r, IN_IF, IN_PHYSICAL),
	    .output = ipfix_interface_of(r, OUT_IF, OUT_PHYSICAL),
	    .has_header = is_readable,
	    .header_protocol = is_packet ? SFLOW_IP4 : SFLOW_ETHERNET, /* the packet itself says which version */
	    .frame_octets = octets <= UINT32_MAX ? (uint32_t)octets : UINT32_MAX,
	    .header = r->section,
	    .kept_octets = (uint32_t)r->section_octets,
	};
	/* A section of fixed length is filled up. */
	if (!is_packet && f->frame_octets > 0 && f->kept_octets > f->frame_octets)
		f->kept_octets = f->frame_octets;
}

/* Takes one record; true if it is a sample, which is then in *flow. */
static bool
ipfix_take_record(struct ipfix_message *m, const struct record *r, struct sflow_flow *flow)
{
	m->n_records++;
	if (m->template->has_section && !m->template->is_options && !r->is_exception) {
		make_sample(m, r, flow);
		return true;
	}
	m->state->n_others++;
	if (m->template->is_options)
		ipfix_take_options(m, r);
	else
		m->counts[r->is_exception ? IPFIX_COUNT_EXCEPTIONS : IPFIX_COUNT_FLOWS]++;
	return false;
}

/* ---- messages ---- */

bool
ipfix_is(const void *octets, size_t n)
{
	struct rbuf r = rbuf_of(octets, n);
	uint16_t version = rbuf_be16(&r), length = rbuf_be16(&r);

	return !r.failed && version == VERSION && length == n;
}

bool
ipfix_open(struct ipfix_message *m, const void *octets, size_t n)
{
	struct rbuf r = rbuf_of(octets, n);

	*m = (struct ipfix_message){.n_records = 0};
	rbuf_take(&r, SET_HEAD); /* version and length */
	m->export_s = rbuf_be32(&r);
	m->sequence = rbuf_be32(&r);
	m->domain = rbuf_be32(&r);
	m->sets = r;
	return ipfix_is(octets, n) && !r.failed;
}

/* Begins the next set; false: the message ends within it. */
static bool
next_set(struct ipfix_templates *t, struct ipfix_message *m)
{
	uint16_t id = rbuf_be16(&m->sets), octets = rbuf_be16(&m->sets);
	struct ipfix_template *found;

	m->template = NULL;
	m->set = rbuf_sub(&m->sets, octets >= SET_HEAD ? octets - (size_t)SET_HEAD : SIZE_MAX);
	if (m->sets.failed)
		return false;
	if (id == SET_TEMPLATES || id == SET_OPTIONS)
		take_templates(t, m, m->set, id == SET_OPTIONS);
	if (id < SET_DATA)
		return true;
	found = find_template(t, m, id);
	if (found && m->received_us - found->came_us > IPFIX_TEMPLATE_LASTS_US && m->received_us > found->came_us)
		found = NULL;
	m->template = found;
	m->state->is_incomplete |= !found;
	m->counts[IPFIX_COUNT_NO_TEMPLATE] += !found;
	return true;
}

enum sflow_verdict
ipfix_next(struct ipfix_templates *t, struct ipfix_message *m, struct sflow_flow *flow)
{
	struct record record;

	for (;;) {
		while (!m->template || rbuf_left(&m->set) < m->template->octets_least) {
			if (rbuf_left(&m->sets) < SET_HEAD)
				return SFLOW_END;
			if (!next_set(t, m)) {
				m->state->is_incomplete = true;
				return SFLOW_BAD_SAMPLE_LENGTH;
			}
		}
		if (!read_record(&m->set, m->template, &record)) {
			m->template = NULL;
			m->state->is_incomplete = true;
			return SFLOW_BAD_SAMPLE;
		}
		if (ipfix_take_record(m, &record, flow))
			return SFLOW_OK;
	}
}
