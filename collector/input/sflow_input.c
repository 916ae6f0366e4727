#include "collector/input/sflow_input.h"
#include "collector/input/foreign_flow.h"
#include "collector/input/ipfix.h"
#include "collector/input/sflow_frame.h"
#include "collector/input/sflow_state.h"
#include "collector/input/sflow_unread.h"
#include "collector/source_port.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/utf8.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "sflow"

static const struct stat_name stat_names[SFLOW_N_STATS] = {
    [SFLOW_STAT_DATAGRAMS] = {"sflow.datagrams", "sFlow datagrams read"},
    [SFLOW_STAT_DATAGRAMS_MISSING] = {"sflow.datagrams_missing",
	"datagrams that were missing when a later one arrived"},
    [SFLOW_STAT_DATAGRAMS_LATE] = {"sflow.datagrams_late",
	"datagrams that arrived after a later one, or twice"},
    [SFLOW_STAT_SAMPLES] = {"sflow.samples", "flow samples accepted"},
    [SFLOW_STAT_COUNTERS] = {"sflow.counters", "interface counters accepted"},
    [SFLOW_STAT_COUNTERS_OLD] = {"sflow.counters_old",
	"interface counters not used, because newer ones had arrived"},
    [SFLOW_STAT_COUNTERS_TWICE] = {"sflow.counters_twice",
	"interface counters not used, because another source's of the same interface are"},
    [SFLOW_STAT_DISCARDS] = {"sflow.discards", "events of discarded packets accepted"},
    [SFLOW_STAT_DISCARDS_AGAIN] = {"sflow.discards_again",
	"events of discarded packets that had come before, or came too late to tell"},
    [SFLOW_STAT_UNKNOWN] = {"sflow.unknown",
	"samples of unknown formats and counters of no interface, not used"},
    [SFLOW_STAT_NO_INTERFACE] = {"sflow.no_interface",
	"samples whose source has a number that nothing has, not used"},
    [SFLOW_STAT_NO_HEADER] = {"sflow.no_header",
	"flow samples that say nothing of the frame that we can read, refused"},
    [SFLOW_STAT_NO_LENGTH] = {"sflow.no_length",
	"flow samples with a frame length that no frame has, and no IP header with another one, refused"},
    [SFLOW_STAT_NO_RATE] = {"sflow.no_rate",
	"flow samples of rate 0 or beyond 2^23, where neither pool nor counters say another one, refused"},
    [SFLOW_STAT_LENGTH_MENDED] = {"sflow.length_mended",
	"flow samples whose frame length is that of their IP header, as none has the stated one"},
    [SFLOW_STAT_RATE_DIFFERS] = {"sflow.rate_differs",
	"flow samples weighted by the measured rate, as it differs from the stated one"},
    [SFLOW_STAT_FCS_ADDED] = {"sflow.fcs_added",
	"flow samples to which 4 octets were added, as their agent leaves out the FCS"},
    [SFLOW_STAT_AGENT_RESTARTS] = {"sflow.agent_restarts", "restarts of agents"},
    [SFLOW_STAT_AGAIN] = {"sflow.again", "flow samples of datagrams that came twice, of agents whose numbers do not tell"},
    [SFLOW_STAT_ODD] = {"sflow.odd", "things that agents state and that cannot be, which easetop agents names"},
    [SFLOW_STAT_FOREIGN_SOURCE] = {"sflow.foreign_source",
	"datagrams refused because their sender may not speak for their agent"},
    [SFLOW_STAT_REFUSED_VERSION] = {"sflow.refused_version", "datagrams that are not sFlow v5"},
    [SFLOW_STAT_REFUSED_DATAGRAM] = {"sflow.refused_datagram",
	"datagrams with a mistake in their structure, used up to the mistake"},
    [SFLOW_STAT_REFUSED_SAMPLE] = {"sflow.refused_sample", "samples that end within their own fields, not used"},
    [SFLOW_STAT_AGENTS_FULL] = {"sflow.agents_full",
	"datagrams refused because the table of agents is full, and their sender has its part of it"},
    [SFLOW_STAT_PORTS_FULL] = {"sflow.ports_full",
	"samples refused because the table of ports is full, and their sender has its part of it"},
    [SFLOW_STAT_AGENTS_LEFT] = {"sflow.agents_left",
	"agents that left the table, because they were silent or made room"},
    [SFLOW_STAT_PORTS_LEFT] = {"sflow.ports_left",
	"ports that left the table, because they were silent or made room"},
    [SFLOW_STAT_IPFIX_TEMPLATES] = {"ipfix.templates", "templates of IPFIX read"},
    [SFLOW_STAT_IPFIX_TEMPLATES_REFUSED] = {"ipfix.templates_refused",
	"templates of IPFIX not used: with too many fields, or without octets, or with the number of another thing"},
    [SFLOW_STAT_IPFIX_TEMPLATES_FULL] = {"ipfix.templates_full",
	"templates of IPFIX refused because the table is full, and their sender has its part of it"},
    [SFLOW_STAT_IPFIX_NO_TEMPLATE] = {"ipfix.no_template",
	"sets of IPFIX not read, because their template has not come yet, or not for two hours"},
    [SFLOW_STAT_IPFIX_FLOWS] = {"ipfix.flows", "records of flows, not used: they are no samples of packets"},
    [SFLOW_STAT_IPFIX_EXCEPTIONS] = {"ipfix.exceptions",
	"samples of packets that a device discarded and chose for that, not used: they are not one in so many"},
    [SFLOW_STAT_IPFIX_SAMPLERS_FULL] = {"ipfix.samplers_full",
	"rates of samplers not kept, because the domain has sixteen of them"},
    [SFLOW_STAT_TOO_MANY] = {"sflow.too_many", "samples beyond 256 in one datagram, not used"},
};

struct sflow_input {
	struct sflow_state *state;
	struct ipfix_templates *templates;
	uint64_t seed;
	struct sflow_accounting accounting;
	struct stat_set stats;
	_Atomic uint64_t values[SFLOW_N_STATS];
	const char *refusal; /* of the newest datagram, see sflow_input_refusal */
	struct sflow_unread unread;
	/* Of each record: a header that fields were made into, and texts */
	uint8_t made[DECODE_RECORDS_MAX][SFLOW_FRAME_MADE];
	struct texts {
		char detail[EASE_DISCARD_TEXT], place[EASE_DISCARD_TEXT], group[EASE_DISCARD_TEXT];
	} texts[DECODE_RECORDS_MAX];
	struct { /* of the datagram before: many come of one agent in a row */
		struct sflow_agent agent;
		struct sflow_peer *peer;
		uint32_t number;
	} last;
	struct sflow_peer stranger; /* the agent of the newest datagram, where its sender may not speak for it: records
				       name it until the next one */
};

/* The datagram that is being handled. */
struct taking {
	struct sflow_input *in;
	struct sflow_peer *peer;
	struct sflow_arrival arrival;
	const struct decode_origin *origin;
	struct decode_result *result;
};

int
sflow_input_new(struct sflow_input **out, uint64_t seed, const struct sflow_accounting *accounting)
{
	struct sflow_input *in = calloc(1, sizeof(*in));

	if (!in)
		return -ENOMEM;
	if (sflow_state_new(&in->state, seed) < 0 || ipfix_templates_new(&in->templates, seed) < 0) {
		sflow_input_free(in);
		return -ENOMEM;
	}
	in->seed = seed;
	in->accounting = *accounting;
	in->stats = (struct stat_set){stat_names, SFLOW_N_STATS, in->values};
	sflow_unread_init(&in->unread);
	*out = in;
	return 0;
}

void
sflow_input_free(struct sflow_input *in)
{
	if (!in)
		return;
	ipfix_templates_free(in->templates);
	sflow_state_free(in->state);
	free(in);
}

void
sflow_input_clock_set(struct sflow_input *in, int64_t by_us, uint64_t now_us)
{
	sflow_clock_set(in->state, by_us, now_us);
}

void
sflow_input_forget_sources(struct sflow_input *in)
{
	sflow_forget_sources(in->state);
}

const struct stat_set *
sflow_input_stats(const struct sflow_input *in)
{
	return &in->stats;
}

const char *
sflow_input_refusal(const struct sflow_input *in)
{
	return in->refusal;
}

const struct stat_set *
sflow_input_unread_stats(const struct sflow_input *in)
{
	return &in->unread.stats;
}

static void
count_sflow(const struct sflow_input *in, enum sflow_stat_id which)
{
	stat_add_own(&in->stats, which, 1);
}

static struct ease_record *
sflow_add_record(struct taking *t, enum ease_part kind)
{
	struct ease_record *r;

	if (t->result->n == DECODE_RECORDS_MAX) {
		count_sflow(t->in, SFLOW_STAT_TOO_MANY);
		return NULL;
	}
	r = &t->result->records[t->result->n++];
	r->kind = kind;
	r->boot = t->peer->boot;
	r->loose_numbers = true;
	r->source_port = r->dropped = r->dropped_apart = 0;
	r->polled = 0;
	r->sender = t->peer->address;
	r->source = t->origin->sender;
	r->received_us = t->origin->received_us;
	memcpy(r->agent_id, t->peer->id, sizeof(r->agent_id));
	return r;
}

static bool
is_interface(const struct sflow_source *source)
{
	return source->class == SFLOW_SOURCE_IF && source->index > 0;
}

/* What is remembered of a data source, at this port of it. */
static struct sflow_port *
sflow_find_port(struct taking *t, const struct sflow_source *source, uint64_t if_index)
{
	struct sflow_port *p = sflow_port_of(t->in->state, t->peer, if_index, t->origin->received_us);

	if (!p) {
		count_sflow(t->in, SFLOW_STAT_PORTS_FULL);
		log_warn_limited(ROOM,
		    "samples of data source %u:%u of agent %s ignored: there is room for %d sFlow ports, all are "
		    "heard, and its sender %s has no fewer than anybody else",
		    source->class, source->index, t->peer->address, SFLOW_MAX_PORTS, t->origin->sender);
	}
	return p;
}

/* The port of an interface, or that of the numbers of another source. */
static struct sflow_port *
input_port_of(struct taking *t, const struct sflow_source *source)
{
	if (source->class > SOURCE_PORT_CLASS_MAX) {
		count_sflow(t->in, SFLOW_STAT_NO_INTERFACE);
		log_warn_limited(ROOM, "sample of agent %s ignored: its data source is %u:%u, and none has such a "
		    "class", t->peer->address, source->class, source->index);
		return NULL;
	}
	return sflow_find_port(t, source,
	    is_interface(source) ? source->index : source_port_of_numbers(source->class, source->index));
}

/* ---- oddities ---- */

/* Tells n times one of what cannot be, at a port; 0: at none. */
static void
tell_odd(struct taking *t, uint64_t if_index, enum ease_oddity kind, uint32_t n)
{
	struct ease_record *r = sflow_add_record(t, EASE_PART_ODD);

	stat_add_own(&t->in->stats, SFLOW_STAT_ODD, n);
	if (!(t->peer->odd_logged >> kind & 1)) /* once: reports count the rest */
		log_warn_limited(ROOM, "agent %s, sent by %s, states at ifIndex %" PRIu64 ": %s (easetop agents counts how often, and"
		    " says what is done)", t->peer->address, t->origin->sender, if_index, ease_oddity_text(kind));
	t->peer->odd_logged |= UINT32_C(1) << kind;
	if (r)
		r->odd = (struct ease_odd){if_index, r->received_us, kind, n};
}

static void
tell_bits(struct taking *t, uint64_t if_index, uint32_t bits)
{
	for (; bits != 0; bits &= bits - 1)
		tell_odd(t, if_index, (enum ease_oddity)__builtin_ctz(bits), 1);
}

/* What was found at a port by this datagram's sample, and lies at if_index for users. */
static void
sflow_tell_port(struct taking *t, struct sflow_port *p, uint64_t if_index)
{
	tell_bits(t, if_index, p->odd);
	p->odd = 0;
}

/* ---- flow samples ---- */

/* One that is no interface samples what comes in somewhere, if it does not say that the frame left. */
static uint8_t
sflow_direction_of(struct sflow_port *p, const struct sflow_flow *f)
{
	return is_interface(&f->source) ? sflow_direction(p, f) : f->is_sent ? EASE_OUT : EASE_IN;
}

static uint32_t
input_of(const struct sflow_flow *f)
{
	return f->input.format == SFLOW_IF_INDEX ? f->input.value : EASE_IF_UNKNOWN;
}

static uint64_t
sflow_output_of(const struct sflow_flow *f)
{
	switch (f->output.format) {
	case SFLOW_IF_INDEX:
		return f->output.value;
	case SFLOW_IF_MANY:
		return EASE_IF_MANY + (f->output.value < EASE_IF_LOCAL ? f->output.value : 0);
	}
	return EASE_IF_UNKNOWN;
}

static void
add_fcs(const struct taking *t, const struct sflow_port *p, const struct sflow_flow *f, struct ease_sample *s)
{
	if (!sflow_frame_is_ethernet(f) || !sflow_lacks_fcs(p))
		return;
	count_sflow(t->in, SFLOW_STAT_FCS_ADDED);
	s->frame_octets += FRAME_FCS_OCTETS;
}

/* Whether a frame came in there, or left there. */
static bool
is_place(uint32_t if_index)
{
	return if_index > 0 && if_index != SFLOW_IF_LOCAL && if_index != SFLOW_UNKNOWN32;
}

/* The ifIndex of the port at which a sample lies: the source, or where the frame came in, or was sampled as it left. */
static uint64_t
sflow_place_of(const struct sflow_flow *f)
{
	const struct sflow_if *passed = f->is_sent ? &f->output : &f->input;

	if (is_interface(&f->source))
		return f->source.index;
	return passed->format == SFLOW_IF_INDEX && is_place(passed->value)
	    ? passed->value : source_port_of(f->source.class, f->source.index);
}

/* What passed a port is not known of what passed its bridge. */
static uint64_t
sflow_pool_of(const struct sflow_port *p, const struct sflow_flow *f)
{
	return is_interface(&f->source) && rate_check_pool_is_real(&p->rate) ? p->pool_pkts : EASE_COUNT_UNKNOWN;
}

/* The port whose numbers a sample has; 0: its own. */
static uint64_t
numbers_port(const struct taking *t, const struct sflow_port *p, const struct sflow_flow *f)
{
	if (!is_interface(&f->source))
		return p->if_index;
	return p->is_further ? source_port_of_further(t->peer->sub_agent, t->peer->slot, p->if_index) : 0;
}

static uint32_t
input_known_number(const struct taking *t, const struct sflow_port *p, const struct sflow_flow *f)
{
	const struct sflow_accounting *a = &t->in->accounting;
	uint64_t port;

	if (!a->known_number || !sflow_begins_line(p))
		return 0;
	port = numbers_port(t, p, f);
	return a->known_number(a->arg, t->peer->id, t->peer->boot, port ? port : p->if_index);
}

/* Returns why a sample cannot be used, as far as its frame tells; 0: it can. */
static enum ease_oddity
fill_frame(struct taking *t, struct sflow_port *p, const struct sflow_flow *f, uint8_t made[static SFLOW_FRAME_MADE],
    struct ease_sample *s)
{
	enum { HEADER_LEAST = 34 }; /* octets of Ethernet and IPv4 */
	uint32_t octets;

	*s = (struct ease_sample){.direction = sflow_direction_of(p, f)};
	if (!sflow_frame_fill(f, made, s))
		return EASE_ODD_NO_HEADER;
	if (f->has_header && s->kept_octets < HEADER_LEAST && s->kept_octets < s->frame_octets)
		p->odd |= 1u << EASE_ODD_HEADER;
	octets = frame_length_judge(&p->lengths, s->frame_octets, s->is_packet, s->header, s->kept_octets);
	if (octets == 0)
		return EASE_ODD_NO_LENGTH;
	if (f->is_record && s->frame_octets == 0) { /* it states none */
		s->frame_octets = octets;
		return 0;
	}
	if (octets != s->frame_octets || length_check_is_odd(&p->lengths))
		p->odd |= 1u << EASE_ODD_LENGTH;
	if (octets != s->frame_octets)
		count_sflow(t->in, SFLOW_STAT_LENGTH_MENDED);
	s->frame_octets = octets;
	return 0;
}

static void
refuse_sample(struct taking *t, const struct sflow_flow *f, enum ease_oddity why)
{
	static const enum sflow_stat_id stats[EASE_N_ODDITIES] = {[EASE_ODD_NO_RATE] = SFLOW_STAT_NO_RATE,
	    [EASE_ODD_NO_LENGTH] = SFLOW_STAT_NO_LENGTH, [EASE_ODD_NO_HEADER] = SFLOW_STAT_NO_HEADER};

	count_sflow(t->in, stats[why]);
	tell_odd(t, sflow_place_of(f), why, 1);
}

/* An interface whose samples have the numbers of a domain of IPFIX is a port all the same: it may be asked for what is not
 * sent (collector/polled.h). */
static void
note_interface(struct taking *t, uint64_t if_index)
{
	struct sflow_port *p = if_index <= UINT32_MAX
	    ? sflow_port_of(t->in->state, t->peer, if_index, t->origin->received_us) : NULL;

	if (p)
		p->has_flow = true;
}

static void
fill_sample(struct taking *t, struct sflow_port *p, const struct sflow_flow *f, struct ease_record *r,
    const struct number_step *step, uint32_t weight)
{
	r->source_port = numbers_port(t, p, f);
	r->dropped = step->dropped;
	r->dropped_apart = step->dropped_apart;
	r->sample.time_us = r->received_us;
	r->sample.if_index = sflow_place_of(f);
	r->sample.sequence = step->number;
	r->sample.input_if = input_of(f);
	r->sample.output_if = sflow_output_of(f);
	r->sample.src_as = f->src_as;
	r->sample.dst_as = f->dst_as;
	r->sample.has_queue = f->way.known & EASE_WAY_QUEUE;
	r->sample.has_depth = f->way.known & EASE_WAY_DEPTH;
	r->sample.has_delay = f->way.known & EASE_WAY_DELAY;
	r->sample.queue = r->sample.has_queue ? f->way.queue : 0;
	r->sample.depth_octets = r->sample.has_depth ? (uint32_t)f->way.depth_octets : 0;
	r->sample.delay_ns = r->sample.has_delay ? (uint32_t)f->way.delay_ns : 0;
	r->sample.mean_skip = weight;
	r->sample.pool_pkts = sflow_pool_of(p, f);
	r->sample.skip = p->rate.stated > 0 && !f->is_record ? p->rate.stated - 1 : weight - 1; /* sFlow does not carry the drawn value */
	add_fcs(t, p, f, &r->sample);
	sflow_note_sampled(p, r->sample.direction, r->sample.frame_octets, weight);
	if (f->is_record)
		note_interface(t, r->sample.if_index);
	count_sflow(t->in, SFLOW_STAT_SAMPLES);
}

/* Notes a sample that can be used at its port, and fills in the record, unless it comes again or nothing says its weight.
 * Returns whether it did, else *why, which is 0 of one that comes again. */
static bool
use_sample(struct taking *t, struct sflow_port *p, const struct sflow_flow *f, struct ease_record *r, enum ease_oddity *why)
{
	struct number_step step;
	uint32_t weight;
	bool differs;

	sflow_take_flow(p, f, &t->arrival.place, input_known_number(t, p, f), *why == 0, &step);
	if (p->is_further && step.advance > 0)
		p->odd |= 1u << EASE_ODD_SUB_AGENTS;
	if (step.is_again)
		count_sflow(t->in, SFLOW_STAT_AGAIN);
	if (step.is_again || *why != 0)
		return false;
	differs = false;
	weight = f->is_record ? f->rate : rate_check_weight(&p->rate, &differs);
	if (weight == 0) {
		sflow_give_back(p);
		p->odd &= ~(1u << EASE_ODD_RATE);
		*why = EASE_ODD_NO_RATE;
		return false;
	}
	if (differs)
		count_sflow(t->in, SFLOW_STAT_RATE_DIFFERS);
	fill_sample(t, p, f, r, &step, weight);
	return true;
}

static void
take_flow_of(struct taking *t, const struct sflow_flow *f)
{
	struct sflow_port *p = input_port_of(t, &f->source);
	struct ease_record *r = p ? sflow_add_record(t, EASE_PART_SAMPLE) : NULL;
	enum ease_oddity why;

	if (!r)
		return;
	if (!p->has_flow && is_interface(&f->source))
		sflow_find_further(t->in->state, p);
	why = fill_frame(t, p, f, t->in->made[t->result->n - 1], &r->sample);
	if (!use_sample(t, p, f, r, &why))
		t->result->n--;
	if (why != 0)
		refuse_sample(t, f, why);
	if (p->odd != 0)
		sflow_tell_port(t, p, sflow_place_of(f));
}

static void
take_flow(struct taking *t, const struct sflow_flow *f)
{
	struct sflow_port *by_number = f->source.class == SFLOW_SOURCE_IF && f->input.value != f->source.index
	    ? sflow_port_by_number(t->in->state, t->peer, f) : NULL;
	struct sflow_flow mended;

	if (by_number) {
		by_number->odd |= 1u << EASE_ODD_SOURCE;
		mended = *f;
		mended.source.index = (uint32_t)by_number->if_index;
		f = &mended;
	}
	take_flow_of(t, f);
}

/* Texts come from devices: what is kept of one steers nothing wherever it is shown. */
static void
clean_text(const struct sflow_text *text, char *clean, size_t size)
{
	utf8_printable_octets(text->octets, text->n, clean, size);
}

/* ---- discarded packets ---- */

/* The port where it came in, else where it was to leave, else that of its source. */
static uint64_t
place_of_discard(const struct sflow_flow *f)
{
	const uint32_t interfaces[] = {f->input.value, f->output.value};

	for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++)
		if (is_place(interfaces[i]))
			return interfaces[i];
	return is_interface(&f->source) ? f->source.index : source_port_of(f->source.class, f->source.index);
}

/* hsflowd, sflowtool and nfdump have two numbers that lack their last digit. */
static uint32_t
sflow_reason_of(uint32_t reason)
{
	enum { DEV_HDR = 332, TC_EGRESS = 366 };

	return reason == DEV_HDR / 10 ? DEV_HDR : reason == TC_EGRESS / 10 ? TC_EGRESS : reason;
}

static struct ease_record *
add_discard(struct taking *t, const struct sflow_sample *s)
{
	const struct sflow_flow *f = &s->flow;
	const struct sflow_discard *why = &s->discard;
	struct ease_record *r = sflow_add_record(t, EASE_PART_DISCARD);
	struct ease_discard *d;
	struct texts *texts;
	size_t i;

	if (!r)
		return NULL;
	d = &r->discard;
	i = t->result->n - 1;
	texts = &t->in->texts[i];
	*d = (struct ease_discard){.frame.direction = EASE_IN, .reason = sflow_reason_of(f->reason)};
	sflow_frame_fill(f, t->in->made[i], &d->frame); /* an event without a frame is one as well */
	d->frame.mean_skip = 1;
	d->frame.time_us = r->received_us;
	d->frame.if_index = place_of_discard(f);
	d->frame.sequence = f->sequence;
	d->frame.input_if = input_of(f);
	d->frame.output_if = sflow_output_of(f);
	clean_text(why->trap.n > 0 ? &why->trap : &why->cause, texts->detail, sizeof(texts->detail));
	clean_text(&why->function, texts->place, sizeof(texts->place));
	clean_text(&why->group, texts->group, sizeof(texts->group));
	d->detail = texts->detail;
	d->place = texts->place;
	d->group = texts->group;
	return r;
}

/* What was not sent, or was lost on the way, is the source's, whatever port this event is of. */
static void
sflow_add_untold(struct taking *t, const struct sflow_flow *f, const struct sflow_discard_step *step)
{
	struct ease_record *r = step->not_sent > 0 || step->lost != 0 ? sflow_add_record(t, EASE_PART_DISCARD) : NULL;

	if (!r)
		return;
	r->discard = (struct ease_discard){.not_sent = step->not_sent, .lost = step->lost, .detail = "", .place = "",
	    .group = ""};
	r->discard.frame.time_us = r->received_us;
	r->discard.frame.if_index =
	    is_interface(&f->source) ? f->source.index : source_port_of_numbers(f->source.class, f->source.index);
}

/* Where the numbers of a source's events are remembered: apart from those of its samples. */
#define DISCARDS (1ull << 63)
static uint64_t
port_of_discards(const struct sflow_source *source)
{
	return DISCARDS | source_port_of(source->class, source->index);
}

static void
take_discard(struct taking *t, const struct sflow_sample *s)
{
	const struct sflow_flow *f = &s->flow;
	struct sflow_discard_step step;
	struct sflow_port *p;

	if (f->source.class > SOURCE_PORT_CLASS_MAX) {
		count_sflow(t->in, SFLOW_STAT_NO_INTERFACE);
		return;
	}
	p = sflow_find_port(t, &f->source, port_of_discards(&f->source));
	if (!p)
		return;
	step = sflow_take_discard(p, f, t->arrival.place.newer);
	if (!step.is_new) {
		count_sflow(t->in, SFLOW_STAT_DISCARDS_AGAIN);
		return;
	}
	if (add_discard(t, s))
		count_sflow(t->in, SFLOW_STAT_DISCARDS);
	sflow_add_untold(t, f, &step);
}

/* ---- counters ---- */

static uint8_t
sflow_status_of(const struct sflow_if_counters *i, uint32_t bit)
{
	return i->status & bit ? EASE_IF_UP : EASE_IF_DOWN;
}

/* Without a name, where this sample brings none, and without an aggregate, where it brings none of another
 * number. */
static void
add_state(struct taking *t, const struct sflow_port *p, const struct sflow_counters *c,
    const struct sflow_if_counters *i, bool is_own)
{
	static const uint8_t duplexes[] = {[1] = EASE_DUPLEX_FULL, [2] = EASE_DUPLEX_HALF};
	struct ease_record *r = sflow_add_record(t, EASE_PART_STATE);

	if (!r)
		return;
	r->state = (struct ease_state){
	    .if_index = p->if_index,
	    .time_us = r->received_us,
	    .speed_bps = p->speed_bps,
	    .duplex = i->direction == 1 || i->direction == 2 ? duplexes[i->direction]
							     : EASE_DUPLEX_UNKNOWN,
	    .admin_status = sflow_status_of(i, SFLOW_STATUS_ADMIN_UP),
	    .oper_status = sflow_status_of(i, SFLOW_STATUS_OPER_UP),
	    .lag_parent = !is_own || c->aggregate == p->if_index ? 0 : c->aggregate,
	    /* what passes a part of a port passes the port as well, and counts there */
	    .edge = is_own && !sflow_is_counted_elsewhere(t->in->state, p, c->aggregate),
	};
	if (is_own)
		clean_text(&c->name, r->state.name, sizeof(r->state.name));
}

/* Each record of counters is of its own ifIndex. One without is the source's. */
static struct sflow_port *
port_of_counters(struct taking *t, const struct sflow_counters *c, const struct sflow_if_counters *i, bool *is_own)
{
	struct sflow_source interface = {SFLOW_SOURCE_IF, i->if_index};

	*is_own = true;
	if (!is_interface(&interface) || !is_interface(&c->source))
		return input_port_of(t, is_interface(&interface) ? &interface : &c->source);
	return sflow_port_of_counters(t->in->state, t->peer, c->source.index, i, c->n_others == 0, t->origin->received_us,
	    is_own);
}

static void
take_counters_of(struct taking *t, struct sflow_port *p, const struct sflow_counters *c,
    const struct sflow_if_counters *i, bool is_own)
{
	struct ease_record *r;

	switch (sflow_take_counters(t->in->state, p, c, i, &t->arrival.place, t->origin->received_us)) {
	case SFLOW_COUNTERS_OLD:
		count_sflow(t->in, SFLOW_STAT_COUNTERS_OLD);
		return;
	case SFLOW_COUNTERS_SHADOWED:
		count_sflow(t->in, SFLOW_STAT_COUNTERS_TWICE);
		break;
	case SFLOW_COUNTERS_REFUTED:
		break;
	case SFLOW_COUNTERS_TAKEN:
		r = sflow_add_record(t, EASE_PART_SNAPSHOT);
		if (!r)
			return;
		sflow_snapshot(p, r->received_us, r);
		add_state(t, p, c, i, is_own);
		count_sflow(t->in, SFLOW_STAT_COUNTERS);
	}
	sflow_tell_port(t, p, p->if_index);
}

static void
take_interface(struct taking *t, const struct sflow_counters *c, const struct sflow_if_counters *i)
{
	bool is_own;
	struct sflow_port *p = port_of_counters(t, c, i, &is_own);

	if (p)
		take_counters_of(t, p, c, i, is_own);
}

static void
input_take_counters(struct taking *t, const struct sflow_counters *c)
{
	if (!c->has_interface) {
		count_sflow(t->in, SFLOW_STAT_UNKNOWN);
		return;
	}
	take_interface(t, c, &c->interface);
	for (uint32_t i = 0; i < c->n_others; i++)
		take_interface(t, c, &c->others[i]);
}

/* ---- what was asked ---- */

static uint32_t
low_of(uint64_t counter)
{
	return counter == EASE_COUNT_UNKNOWN ? SFLOW_UNKNOWN32 : (uint32_t)counter;
}

static uint32_t
high_of(uint64_t counter)
{
	return (uint32_t)(counter >> 32);
}

static uint32_t
status_bits(const struct polled_port *polled)
{
	return (polled->admin_status == EASE_IF_UP ? SFLOW_STATUS_ADMIN_UP : 0u) |
	    (polled->oper_status == EASE_IF_UP ? SFLOW_STATUS_OPER_UP : 0u);
}

static struct sflow_counters
polled_counters(const struct polled_port *polled, uint32_t sequence)
{
	const struct ease_side *in = &polled->in, *out = &polled->out;

	return (struct sflow_counters){
	    .sequence = polled->began_anew ? sequence - 1 : sequence,
	    .source = {SFLOW_SOURCE_IF, polled->if_index},
	    .has_interface = true,
	    .is_polled = true,
	    .high = {high_of(in->ucast_pkts), high_of(in->mcast_pkts), high_of(in->bcast_pkts), high_of(out->ucast_pkts),
		high_of(out->mcast_pkts), high_of(out->bcast_pkts)},
	    .interface = {.if_index = polled->if_index,
		.speed_bps = polled->speed_bps,
		.status = status_bits(polled),
		.in_octets = in->octets,
		.in_ucast_pkts = low_of(in->ucast_pkts),
		.in_mcast_pkts = low_of(in->mcast_pkts),
		.in_bcast_pkts = low_of(in->bcast_pkts),
		.in_discards = low_of(in->discards),
		.in_errors = low_of(in->errors),
		.in_unknown_protos = SFLOW_UNKNOWN32,
		.out_octets = out->octets,
		.out_ucast_pkts = low_of(out->ucast_pkts),
		.out_mcast_pkts = low_of(out->mcast_pkts),
		.out_bcast_pkts = low_of(out->bcast_pkts),
		.out_discards = low_of(out->discards),
		.out_errors = low_of(out->errors)},
	};
}

static void
add_polled_state(struct taking *t, const struct sflow_port *p, const struct polled_port *polled)
{
	struct ease_record *r = sflow_add_record(t, EASE_PART_STATE);

	if (!r)
		return;
	r->polled = (uint8_t)polled->parts;
	r->state = (struct ease_state){.if_index = polled->if_index, .time_us = polled->read_us,
	    .duplex = EASE_DUPLEX_UNKNOWN, .lag_parent = polled->lag_parent, .edge = !polled->is_uplink};
	memcpy(r->state.name, polled->name, sizeof(r->state.name));
	memcpy(r->state.alias, polled->alias, sizeof(r->state.alias));
	sflow_is_counted_elsewhere(t->in->state, p, polled->lag_parent);
}

bool
sflow_input_place(const struct sflow_input *in, uint32_t place, uint64_t now_us, struct polled_place *to)
{
	return sflow_place(in->state, place, now_us, to);
}

bool
sflow_input_agent_of(const struct sflow_input *in, const struct polled_agent *polled, uint8_t id[EASE_AGENT_ID_LEN])
{
	const struct sflow_port *p = sflow_port_at(in->state, polled->place, polled->number, polled->if_index);

	if (p)
		memcpy(id, p->peer->id, EASE_AGENT_ID_LEN);
	return p != NULL;
}

bool
sflow_input_take_polled(
    struct sflow_input *in, const struct polled_port *polled, uint64_t now_us, struct decode_result *result)
{
	struct sflow_port *p = sflow_port_at(in->state, polled->place, polled->number, polled->if_index);
	struct decode_origin origin = {.received_us = polled->read_us};
	struct taking t = {.in = in, .origin = &origin, .result = result, .arrival.place.newer = true};
	struct sflow_counters counters;

	result->n = result->n_ignored = 0;
	if (!p)
		return false;
	t.peer = p->peer;
	origin.sender = p->peer->source;
	counters = polled_counters(polled, p->counters_sequence);
	if ((polled->parts & POLLED_COUNTERS) && !sflow_sends_counters(p, now_us) && polled->read_us > p->counters_us)
		take_counters_of(&t, p, &counters, &counters.interface, true);
	for (size_t i = 0; i < result->n; i++)
		result->records[i].polled = POLLED_COUNTERS;
	if (polled->parts & (POLLED_NAMES | POLLED_UPLINK))
		add_polled_state(&t, p, polled);
	for (size_t i = 0; i < result->n; i++)
		result->records[i].received_us = now_us;
	return true;
}

/* ---- datagrams ---- */

/* Where a sample lies whose records are odd; 0: at no interface. */
static uint64_t
port_of_spoiled(const struct sflow_sample *s)
{
	if (s->kind == SFLOW_COUNTERS)
		return is_interface(&s->counters.source) ? s->counters.source.index : 0;
	return s->kind == SFLOW_FLOW ? sflow_place_of(&s->flow) : 0;
}

static void
sflow_take_one(struct taking *t, const struct sflow_sample *s)
{
	if (s->n_unread > 0 || s->n_spoiled > 0)
		sflow_unread_count(&t->in->unread, s);
	if (s->n_spoiled > 0 || s->is_cut)
		tell_odd(t, port_of_spoiled(s), EASE_ODD_RECORD, s->n_spoiled + s->is_cut);
	switch (s->kind) {
	case SFLOW_FLOW:
		take_flow(t, &s->flow);
		break;
	case SFLOW_COUNTERS:
		input_take_counters(t, &s->counters);
		break;
	case SFLOW_DISCARD:
		take_discard(t, s);
		break;
	case SFLOW_OTHER:
		count_sflow(t->in, SFLOW_STAT_UNKNOWN);
		t->result->n_ignored++;
		break;
	}
}

static enum sflow_verdict
take_all(struct taking *t, struct sflow_datagram *d)
{
	enum sflow_verdict verdict;
	struct sflow_sample s;

	for (;;) {
		verdict = sflow_next(d, &s);
		if (verdict == SFLOW_OK)
			sflow_take_one(t, &s);
		else if (verdict != SFLOW_BAD_SAMPLE)
			return verdict;
		else {
			count_sflow(t->in, SFLOW_STAT_REFUSED_SAMPLE);
			t->in->refusal = sflow_verdict_text(verdict);
			log_warn_limited(ROOM, "sample of agent %s ignored: %s", t->peer->address,
			    sflow_verdict_text(verdict));
		}
	}
}

static void
note_arrival(struct taking *t)
{
	struct sflow_input *in = t->in;

	sflow_hear_peer(in->state, t->peer, t->origin->received_us);
	stat_add(&in->stats, SFLOW_STAT_DATAGRAMS_MISSING, t->arrival.missing);
	if (!t->arrival.place.newer)
		count_sflow(in, SFLOW_STAT_DATAGRAMS_LATE);
	if (t->arrival.restarted)
		count_sflow(in, SFLOW_STAT_AGENT_RESTARTS);
	tell_bits(t, 0, t->arrival.odd);
}

static void
take_arrival(struct taking *t, const struct sflow_datagram *d)
{
	struct sflow_input *in = t->in;
	const struct sflow_accounting *a = &in->accounting;
	uint64_t received_us = t->origin->received_us;

	if (!t->peer->met)
		t->arrival = sflow_meet(in->state, t->peer, d, received_us,
		    a->known_boot ? a->known_boot(a->arg, t->peer->id) : 0);
	else
		t->arrival = sflow_arrive(in->state, t->peer, d, received_us);
	note_arrival(t);
}

static bool
is_shared(const struct sflow_input *in, const struct sflow_agent *agent, const char *sender)
{
	char address[FRAME_IP_TEXT];

	if (in->accounting.n_shared == 0 || sflow_address_is_shared(agent, sender))
		return sflow_address_is_shared(agent, sender);
	frame_format_ip(agent->type == SFLOW_ADDRESS_IP4 ? 4 : 6, agent->address, address);
	for (size_t i = 0; i < in->accounting.n_shared; i++)
		if (prefix_holds_text(&in->accounting.shared[i], address))
			return true;
	return false;
}

static enum sflow_admission
admission_of(const struct taking *t, const struct sflow_peer *peer)
{
	const struct sflow_accounting *a = &t->in->accounting;
	struct ease_record who = {
	    .loose_numbers = true, .sender = peer->address, .source = t->origin->sender};

	memcpy(who.agent_id, peer->id, sizeof(who.agent_id));
	return a->admits ? a->admits(a->arg, &who) : SFLOW_ADMITTED;
}

/* Sets the peer, if there is one; true if it is known by this sender. */
static bool
sflow_find_known(struct taking *t, const struct sflow_agent *agent, bool shared)
{
	struct sflow_input *in = t->in;

	t->peer = sflow_find_peer(in->state, agent, t->origin->sender, shared);
	if (!t->peer || strcmp(t->peer->source, t->origin->sender) != 0)
		return false;
	in->last.agent = *agent;
	in->last.peer = t->peer;
	in->last.number = t->peer->number;
	return true;
}

/* Sets the peer, or leaves NULL; what is refused is counted. */
static void
find_peer(struct taking *t, const struct sflow_agent *agent)
{
	struct sflow_input *in = t->in;
	const char *sender = t->origin->sender;
	struct sflow_peer *known = in->last.peer;
	enum sflow_admission admission;
	bool shared;

	if (known && known->number == in->last.number && memcmp(&in->last.agent, agent, sizeof(*agent)) == 0 &&
	    strcmp(known->source, sender) == 0) {
		t->peer = known;
		return;
	}
	shared = is_shared(in, agent, sender);
	do {
		if (sflow_find_known(t, agent, shared))
			return;
		in->stranger = (struct sflow_peer){.met = false};
		sflow_name_peer(&in->stranger, agent, sender, shared);
		admission = admission_of(t, &in->stranger);
		if (admission == SFLOW_CLAIMED && t->peer)
			t->peer->source[0] = '\0'; /* it is judged again */
	} while (admission == SFLOW_CLAIMED && !shared && (shared = true));
	if (admission != SFLOW_ADMITTED) {
		count_sflow(in, SFLOW_STAT_FOREIGN_SOURCE);
		t->peer = &in->stranger;
		return;
	}
	if (!t->peer)
		t->peer = sflow_add_peer(in->state, &t->in->stranger, sender, t->origin->received_us);
	if (t->peer) {
		snprintf(t->peer->source, sizeof(t->peer->source), "%s", sender);
		return;
	}
	count_sflow(in, SFLOW_STAT_AGENTS_FULL);
	log_warn_limited(ROOM,
	    "datagram from %s ignored: its agent is new, there is room for %d sFlow agents, all are heard, "
	    "and this sender has no fewer than anybody else",
	    sender, SFLOW_MAX_AGENTS);
}

static void
refuse_one(struct taking *t, const struct sflow_sample *s)
{
	bool is_flow = s->kind == SFLOW_FLOW;
	struct ease_record *r = is_flow || s->kind == SFLOW_COUNTERS
	    ? sflow_add_record(t, is_flow ? EASE_PART_SAMPLE : EASE_PART_SNAPSHOT) : NULL;

	if (!r)
		return;
	if (is_flow)
		r->sample = (struct ease_sample){
		    .time_us = r->received_us,
		    .if_index = sflow_place_of(&s->flow),
		    .sequence = s->flow.sequence,
		    .frame_octets = s->flow.frame_octets,
		    .kept_octets = s->flow.has_header ? (uint16_t)s->flow.kept_octets : 0,
		    .header = s->flow.header,
		};
	else
		r->snapshot = (struct ease_snapshot){
		    .time_us = r->received_us, .if_index = s->counters.source.index};
}

/* Passes the samples and counters of a stranger on, for the accounting to refuse. */
static enum sflow_verdict
refuse_all(struct taking *t, struct sflow_datagram *d)
{
	enum sflow_verdict verdict;
	struct sflow_sample s;

	while ((verdict = sflow_next(d, &s)) == SFLOW_OK || verdict == SFLOW_BAD_SAMPLE)
		if (verdict == SFLOW_OK)
			refuse_one(t, &s);
	return verdict;
}

/* ---- IPFIX ---- */

/* A domain is a sub-agent of the device that sends it. Those of sFlow have small numbers. */
#define IPFIX_SUB_AGENT 0x80000000u

static bool
domain_of(const struct ipfix_message *m, const char *sender, struct sflow_agent *agent)
{
	*agent = (struct sflow_agent){.type = SFLOW_ADDRESS_IP4, .sub_agent = m->domain ^ IPFIX_SUB_AGENT};
	if (inet_pton(AF_INET, sender, agent->address) == 1)
		return true;
	agent->type = SFLOW_ADDRESS_IP6;
	return inet_pton(AF_INET6, sender, agent->address) == 1;
}

static void
arrive_ipfix(struct taking *t, const struct ipfix_message *m)
{
	const struct sflow_accounting *a = &t->in->accounting;
	uint32_t boot = !t->peer->met && a->known_boot ? a->known_boot(a->arg, t->peer->id) : 0;

	t->arrival = sflow_arrive_ipfix(t->in->state, t->peer, m, boot);
	note_arrival(t);
}

/* Templates of who may not speak for the device are not kept, so that nothing of it can be read. */
static enum sflow_verdict
take_ipfix(struct taking *t, const void *octets, size_t n)
{
	struct ipfix_message m;
	struct sflow_agent agent;
	enum sflow_verdict verdict;
	struct sflow_flow f;
	bool has_samples = false;

	if (!ipfix_open(&m, octets, n) || !domain_of(&m, t->origin->sender, &agent))
		return SFLOW_BAD_SHORT;
	find_peer(t, &agent);
	if (!t->peer || t->peer == &t->in->stranger)
		return SFLOW_END;
	m.session = t->peer->number;
	m.owner = hash_octets(t->in->seed, agent.address, sizeof(agent.address));
	m.received_us = t->origin->received_us;
	m.state = &t->peer->ipfix;
	arrive_ipfix(t, &m);
	while ((verdict = ipfix_next(t->in->templates, &m, &f)) == SFLOW_OK || verdict == SFLOW_BAD_SAMPLE)
		if (verdict == SFLOW_OK) {
			has_samples = true;
			take_flow_of(t, &f);
		} else {
			count_sflow(t->in, SFLOW_STAT_REFUSED_SAMPLE);
		}
	sflow_end_ipfix(t->peer, &m, t->arrival.place.newer);
	for (int i = 0; i < IPFIX_N_COUNTS; i++)
		stat_add(&t->in->stats, SFLOW_STAT_IPFIX_TEMPLATES + (unsigned)i, m.counts[i]);
	if (m.counts[IPFIX_COUNT_FLOWS] > 0 && !has_samples)
		t->in->refusal = foreign_flow_text(FOREIGN_IPFIX);
	return verdict;
}

static enum sflow_verdict
sflow_take_datagram(struct taking *t, const void *octets, size_t n)
{
	struct sflow_datagram d;
	enum sflow_verdict verdict;

	if (ipfix_is(octets, n))
		return take_ipfix(t, octets, n);
	verdict = sflow_open(&d, octets, n);
	if (verdict != SFLOW_OK)
		return verdict;
	find_peer(t, &d.agent);
	if (!t->peer)
		return SFLOW_END;
	if (t->peer == &t->in->stranger)
		return refuse_all(t, &d);
	take_arrival(t, &d);
	return take_all(t, &d);
}

static void
sflow_note_left(struct sflow_input *in)
{
	uint64_t agents, ports;

	sflow_count_left(in->state, &agents, &ports);
	stat_raise(&in->stats, SFLOW_STAT_AGENTS_LEFT, agents);
	stat_raise(&in->stats, SFLOW_STAT_PORTS_LEFT, ports);
}

enum sflow_verdict
sflow_input_take(struct sflow_input *in, const void *octets, size_t n,
    const struct decode_origin *origin, struct decode_result *result)
{
	struct taking t = {.in = in, .origin = origin, .result = result};
	enum sflow_verdict verdict;

	result->n = result->n_ignored = 0;
	count_sflow(in, SFLOW_STAT_DATAGRAMS);
	in->refusal = NULL;
	verdict = sflow_take_datagram(&t, octets, n);
	sflow_note_left(in);
	if (verdict == SFLOW_END)
		return verdict;
	in->refusal = verdict == SFLOW_BAD_VERSION ? foreign_flow_text(foreign_flow_of(octets, n))
						   : sflow_verdict_text(verdict);
	count_sflow(in, verdict == SFLOW_BAD_VERSION ? SFLOW_STAT_REFUSED_VERSION
					       : SFLOW_STAT_REFUSED_DATAGRAM);
	log_warn_limited(ROOM, "datagram from %s%s%s %s: %s", origin->sender,
	    origin->listener ? " to " : "", origin->listener ? origin->listener : "",
	    t.peer ? "used only in part" : "refused", in->refusal);
	return verdict;
}
