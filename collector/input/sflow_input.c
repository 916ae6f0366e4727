#include "collector/input/sflow_input.h"
#include "collector/input/foreign_flow.h"
#include "collector/input/sflow_frame.h"
#include "collector/input/sflow_state.h"
#include "collector/input/sflow_unread.h"
#include "collector/source_port.h"
#include "common/log.h"
#include "common/utf8.h"

#include <errno.h>
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
    [SFLOW_STAT_DISCARDS] = {"sflow.discards", "events of discarded packets accepted"},
    [SFLOW_STAT_DISCARDS_AGAIN] = {"sflow.discards_again",
	"events of discarded packets that had come before, or came too late to tell"},
    [SFLOW_STAT_UNKNOWN] = {"sflow.unknown",
	"samples of unknown formats and counters of no interface, not used"},
    [SFLOW_STAT_NO_INTERFACE] = {"sflow.no_interface",
	"samples whose source has a number that nothing has, not used"},
    [SFLOW_STAT_NO_HEADER] = {"sflow.no_header",
	"flow samples that say nothing of the frame that we can read, not used: their numbers count as lost"},
    [SFLOW_STAT_NO_RATE] = {"sflow.no_rate",
	"flow samples of rate 0, not used: their numbers count as lost"},
    [SFLOW_STAT_RATE_DIFFERS] = {"sflow.rate_differs",
	"flow samples weighted by the measured rate, as it differs from the stated one"},
    [SFLOW_STAT_FCS_ADDED] = {"sflow.fcs_added",
	"flow samples to which 4 octets were added, as their agent leaves out the FCS"},
    [SFLOW_STAT_AGENT_RESTARTS] = {"sflow.agent_restarts", "restarts of agents"},
    [SFLOW_STAT_SOURCE_RESTARTS] = {"sflow.source_restarts",
	"restarts of a source's sample numbers"},
    [SFLOW_STAT_REFUSED_RESTART] = {"sflow.refused_restart",
	"samples and datagrams of an agent that seems to have restarted twice within a minute"},
    [SFLOW_STAT_FOREIGN_SOURCE] = {"sflow.foreign_source",
	"datagrams refused because their sender may not speak for their agent"},
    [SFLOW_STAT_REFUSED_VERSION] = {"sflow.refused_version", "datagrams that are not sFlow v5"},
    [SFLOW_STAT_REFUSED_DATAGRAM] = {"sflow.refused_datagram",
	"datagrams with a mistake in their structure, used up to the mistake"},
    [SFLOW_STAT_REFUSED_SAMPLE] = {"sflow.refused_sample", "samples with a mistake, not used"},
    [SFLOW_STAT_AGENTS_FULL] = {"sflow.agents_full",
	"datagrams refused because the table of agents is full, and their sender has its part of it"},
    [SFLOW_STAT_PORTS_FULL] = {"sflow.ports_full",
	"samples refused because the table of ports is full, and their sender has its part of it"},
    [SFLOW_STAT_AGENTS_LEFT] = {"sflow.agents_left",
	"agents that left the table, because they were silent or made room"},
    [SFLOW_STAT_PORTS_LEFT] = {"sflow.ports_left",
	"ports that left the table, because they were silent or made room"},
    [SFLOW_STAT_TOO_MANY] = {"sflow.too_many", "samples beyond 256 in one datagram, not used"},
};

struct sflow_input {
	struct sflow_state *state;
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
	struct sflow_peer stranger; /* the agent of the newest datagram, where its sender may not speak for it: records
				       name it until the next one */
};

static const char began_anew[] = "sFlow of an agent or a data source that began anew twice within a minute";

/* The datagram that is being handled. */
struct taking {
	struct sflow_input *in;
	struct sflow_peer *peer;
	bool newer;
	const struct decode_origin *origin;
	struct decode_result *result;
};

int
sflow_input_new(struct sflow_input **out, uint64_t seed,
    const struct sflow_accounting *accounting)
{
	struct sflow_input *in = calloc(1, sizeof(*in));

	if (!in || sflow_state_new(&in->state, seed) < 0) {
		free(in);
		return -ENOMEM;
	}
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
	sflow_state_free(in->state);
	free(in);
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
count(const struct sflow_input *in, enum sflow_stat_id which)
{
	stat_add_own(&in->stats, which, 1);
}

static struct ease_record *
add_record(struct taking *t, enum ease_part kind)
{
	struct ease_record *r;

	if (t->result->n == DECODE_RECORDS_MAX) {
		count(t->in, SFLOW_STAT_TOO_MANY);
		return NULL;
	}
	r = &t->result->records[t->result->n++];
	r->kind = kind;
	r->boot = t->peer->boot;
	r->loose_numbers = true;
	r->source_port = 0;
	r->sender = t->peer->address;
	r->source = t->origin->sender;
	r->received_us = t->origin->received_us;
	memcpy(r->agent_id, t->peer->id, sizeof(r->agent_id));
	return r;
}

static bool
is_interface(const struct sflow_source *source)
{
	return source->class == SFLOW_SOURCE_IF && source->index > 0 && source->index < SOURCE_PORT;
}

/* What is remembered of a data source, at this port of it. */
static struct sflow_port *
find_port(struct taking *t, const struct sflow_source *source, uint32_t if_index)
{
	struct sflow_port *p = sflow_port_of(t->in->state, t->peer, if_index, t->origin->received_us);

	if (!p) {
		count(t->in, SFLOW_STAT_PORTS_FULL);
		log_warn_limited(ROOM,
		    "samples of data source %u:%u of agent %s ignored: there is room for %d sFlow ports, all are "
		    "heard, and its sender %s has no fewer than anybody else",
		    source->class, source->index, t->peer->address, SFLOW_MAX_PORTS, t->origin->sender);
	}
	return p;
}

/* The port of an interface, or that of the numbers of another source. */
static struct sflow_port *
port_of(struct taking *t, const struct sflow_source *source)
{
	if (!is_interface(source) && !source_port_is_possible(source->class, source->index)) {
		count(t->in, SFLOW_STAT_NO_INTERFACE);
		log_warn_limited(ROOM, "sample of agent %s ignored: its data source is %u:%u, and none has such a "
		    "class or index", t->peer->address, source->class, source->index);
		return NULL;
	}
	return find_port(t, source,
	    is_interface(source) ? source->index : source_port_of_numbers(source->class, source->index));
}

/* ---- flow samples ---- */

/* One that is no interface samples what comes in somewhere. */
static uint8_t
direction_of(struct sflow_port *p, const struct sflow_flow *f)
{
	return is_interface(&f->source) ? sflow_direction(p, f) : EASE_IN;
}

/* The interface in the form of EASE; a value that has no room in its compact form is unknown. */
static uint32_t
ease_if(const struct sflow_if *interface)
{
	uint32_t value = interface->value;

	switch (interface->format) {
	case SFLOW_IF_INDEX:
		return value <= EASE_IF_LOCAL ? value : EASE_IF_UNKNOWN;
	case SFLOW_IF_MANY:
		return EASE_IF_MANY + (value < EASE_IF_LOCAL ? value : 0);
	}
	return EASE_IF_UNKNOWN;
}

static uint32_t
weight_of(const struct taking *t, const struct sflow_port *p)
{
	bool differs;
	uint32_t weight = sflow_weight(p, &differs);

	if (differs)
		count(t->in, SFLOW_STAT_RATE_DIFFERS);
	return weight;
}

static void
add_fcs(const struct taking *t, const struct sflow_port *p, const struct sflow_flow *f, struct ease_sample *s)
{
	if (!sflow_frame_is_ethernet(f) || !sflow_lacks_fcs(p))
		return;
	count(t->in, SFLOW_STAT_FCS_ADDED);
	s->frame_octets += FRAME_FCS_OCTETS;
}

/* The ifIndex of the port at which a sample lies: the source, or where the frame came in. */
static uint32_t
place_of(const struct sflow_flow *f)
{
	uint32_t input = f->input.format == SFLOW_IF_INDEX ? f->input.value : 0;

	if (is_interface(&f->source))
		return f->source.index;
	return input > 0 && input != SFLOW_IF_LOCAL && input < SOURCE_PORT
	    ? input : source_port_of(f->source.class, f->source.index);
}

/* What passed a port is not known of what passed its bridge. */
static uint64_t
pool_of(const struct sflow_port *p, const struct sflow_flow *f)
{
	return is_interface(&f->source) && sflow_pool_is_real(p) ? p->pool_pkts : EASE_COUNT_UNKNOWN;
}

static void
add_sample(struct taking *t, struct sflow_port *p, const struct sflow_flow *f)
{
	struct ease_record *r = add_record(t, EASE_PART_SAMPLE);

	if (!r)
		return;
	r->sample = (struct ease_sample){.direction = direction_of(p, f)};
	if (!sflow_frame_fill(f, t->in->made[t->result->n - 1], &r->sample)) {
		count(t->in, SFLOW_STAT_NO_HEADER);
		t->result->n--;
		return;
	}
	r->source_port = is_interface(&f->source) ? 0 : p->if_index;
	r->sample.time_us = r->received_us;
	r->sample.if_index = place_of(f);
	r->sample.sequence = f->sequence;
	r->sample.input_if = ease_if(&f->input);
	r->sample.output_if = ease_if(&f->output);
	r->sample.mean_skip = weight_of(t, p);
	r->sample.pool_pkts = pool_of(p, f);
	r->sample.drops = f->drops;
	add_fcs(t, p, f, &r->sample);
	r->sample.skip = f->rate - 1; /* sFlow does not carry the drawn value, but the rate that is stated */
	count(t->in, SFLOW_STAT_SAMPLES);
}

static void
take_flow(struct taking *t, const struct sflow_flow *f)
{
	struct sflow_port *p = port_of(t, &f->source);

	if (!p)
		return;
	switch (sflow_take_flow(p, f, t->newer, t->origin->received_us)) {
	case SFLOW_FLOW_RESTARTED:
		count(t->in, SFLOW_STAT_SOURCE_RESTARTS);
		break;
	case SFLOW_FLOW_REFUSED:
		count(t->in, SFLOW_STAT_REFUSED_RESTART);
		t->in->refusal = began_anew;
		log_warn_limited(ROOM,
		    "sample of data source %u:%u of agent %s refused: its numbers began anew twice within a minute (sent"
		    " by %s)", f->source.class, f->source.index, t->peer->address, t->origin->sender);
		return;
	case SFLOW_FLOW_TAKEN:
		break;
	}
	if (f->rate == 0)
		count(t->in, SFLOW_STAT_NO_RATE);
	else
		add_sample(t, p, f);
}

/* Texts come from devices: what is kept of one steers nothing wherever it is shown. */
static void
clean_text(const struct sflow_text *text, char *clean, size_t size)
{
	char given[EASE_NAME_MAX + 1] = "";
	size_t n = text->n < EASE_NAME_MAX ? text->n : EASE_NAME_MAX;

	if (n > 0)
		memcpy(given, text->octets, n);
	utf8_printable(given, clean, size);
}

/* ---- discarded packets ---- */

/* The port where it came in, else where it was to leave, else that of its source. */
static uint32_t
place_of_discard(const struct sflow_flow *f)
{
	const uint32_t interfaces[] = {f->input.value, f->output.value};

	for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++)
		if (interfaces[i] > 0 && interfaces[i] != SFLOW_IF_LOCAL && interfaces[i] < SOURCE_PORT)
			return interfaces[i];
	return is_interface(&f->source) ? f->source.index : source_port_of(f->source.class, f->source.index);
}

/* hsflowd, sflowtool and nfdump have two numbers that lack their last digit. */
static uint32_t
reason_of(uint32_t reason)
{
	enum { DEV_HDR = 332, TC_EGRESS = 366 };

	return reason == DEV_HDR / 10 ? DEV_HDR : reason == TC_EGRESS / 10 ? TC_EGRESS : reason;
}

static struct ease_record *
add_discard(struct taking *t, const struct sflow_sample *s)
{
	const struct sflow_flow *f = &s->flow;
	const struct sflow_discard *why = &s->discard;
	struct ease_record *r = add_record(t, EASE_PART_DISCARD);
	struct ease_discard *d;
	struct texts *texts;
	size_t i;

	if (!r)
		return NULL;
	d = &r->discard;
	i = t->result->n - 1;
	texts = &t->in->texts[i];
	*d = (struct ease_discard){.frame.direction = EASE_IN, .reason = reason_of(f->reason)};
	sflow_frame_fill(f, t->in->made[i], &d->frame); /* an event without a frame is one as well */
	d->frame.mean_skip = 1;
	d->frame.time_us = r->received_us;
	d->frame.if_index = place_of_discard(f);
	d->frame.sequence = f->sequence;
	d->frame.input_if = ease_if(&f->input);
	d->frame.output_if = ease_if(&f->output);
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
add_untold(struct taking *t, const struct sflow_flow *f, const struct sflow_discard_step *step)
{
	struct ease_record *r = step->not_sent > 0 || step->lost != 0 ? add_record(t, EASE_PART_DISCARD) : NULL;

	if (!r)
		return;
	r->discard = (struct ease_discard){.not_sent = step->not_sent, .lost = step->lost, .detail = "", .place = "",
	    .group = ""};
	r->discard.frame.time_us = r->received_us;
	r->discard.frame.if_index =
	    is_interface(&f->source) ? f->source.index : source_port_of_numbers(f->source.class, f->source.index);
}

/* Where the numbers of a source's events are remembered: apart from those of its samples. */
static uint32_t
port_of_discards(const struct sflow_source *source)
{
	return is_interface(source) ? SOURCE_PORT | (source->index & (SOURCE_PORT_NUMBERS - 1))
				    : source_port_of(source->class, source->index);
}

static void
take_discard(struct taking *t, const struct sflow_sample *s)
{
	const struct sflow_flow *f = &s->flow;
	struct sflow_discard_step step;
	struct sflow_port *p;

	if (!is_interface(&f->source) && !source_port_is_possible(f->source.class, f->source.index)) {
		count(t->in, SFLOW_STAT_NO_INTERFACE);
		return;
	}
	p = find_port(t, &f->source, port_of_discards(&f->source));
	if (!p)
		return;
	step = sflow_take_discard(p, f, t->newer);
	if (!step.is_new) {
		count(t->in, SFLOW_STAT_DISCARDS_AGAIN);
		return;
	}
	if (add_discard(t, s))
		count(t->in, SFLOW_STAT_DISCARDS);
	add_untold(t, f, &step);
}

/* ---- counters ---- */

static uint8_t
status_of(const struct sflow_if_counters *i, uint32_t bit)
{
	return i->status & bit ? EASE_IF_UP : EASE_IF_DOWN;
}

/* Without a name, where this sample brings none, and without an aggregate, where it brings none of another
 * number. */
static void
add_state(struct taking *t, const struct sflow_port *p, const struct sflow_counters *c)
{
	const struct sflow_if_counters *i = &c->interface;
	static const uint8_t duplexes[] = {[1] = EASE_DUPLEX_FULL, [2] = EASE_DUPLEX_HALF};
	struct ease_record *r = add_record(t, EASE_PART_STATE);

	if (!r)
		return;
	r->state = (struct ease_state){
	    .if_index = p->if_index,
	    .time_us = r->received_us,
	    .speed_bps = i->speed_bps == SFLOW_UNKNOWN64 ? 0 : i->speed_bps,
	    .duplex = i->direction == 1 || i->direction == 2 ? duplexes[i->direction]
							     : EASE_DUPLEX_UNKNOWN,
	    .admin_status = status_of(i, SFLOW_STATUS_ADMIN_UP),
	    .oper_status = status_of(i, SFLOW_STATUS_OPER_UP),
	    .lag_parent = c->aggregate == p->if_index || c->aggregate >= SOURCE_PORT ? 0 : c->aggregate,
	    .edge = true,
	};
	clean_text(&c->name, r->state.name, sizeof(r->state.name));
}

static void
take_counters(struct taking *t, const struct sflow_counters *c)
{
	const struct sflow_source interface = {SFLOW_SOURCE_IF, c->interface.if_index};
	struct ease_record *r;
	struct sflow_port *p;

	if (!c->has_interface) {
		count(t->in, SFLOW_STAT_UNKNOWN);
		return;
	}
	p = port_of(t, is_interface(&c->source) ? &c->source : &interface);
	if (!p)
		return;
	if (!sflow_take_counters(p, c, t->newer, t->origin->received_us)) {
		count(t->in, SFLOW_STAT_COUNTERS_OLD);
		return;
	}
	r = add_record(t, EASE_PART_SNAPSHOT);
	if (!r)
		return;
	sflow_snapshot(p, r->received_us, &r->snapshot);
	add_state(t, p, c);
	count(t->in, SFLOW_STAT_COUNTERS);
}

/* ---- datagrams ---- */

static void
take_one(struct taking *t, const struct sflow_sample *s)
{
	if (s->n_unread > 0)
		sflow_unread_count(&t->in->unread, s);
	switch (s->kind) {
	case SFLOW_FLOW:
		take_flow(t, &s->flow);
		break;
	case SFLOW_COUNTERS:
		take_counters(t, &s->counters);
		break;
	case SFLOW_DISCARD:
		take_discard(t, s);
		break;
	case SFLOW_OTHER:
		count(t->in, SFLOW_STAT_UNKNOWN);
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
			take_one(t, &s);
		else if (!sflow_spoils_sample_only(verdict))
			return verdict;
		else {
			count(t->in, SFLOW_STAT_REFUSED_SAMPLE);
			t->in->refusal = sflow_verdict_text(verdict);
			log_warn_limited(ROOM, "sample of agent %s ignored: %s", t->peer->address,
			    sflow_verdict_text(verdict));
		}
	}
}

/* Returns whether the datagram is to be taken. */
static bool
arrive(struct taking *t, const struct sflow_datagram *d)
{
	struct sflow_input *in = t->in;
	const struct sflow_accounting *a = &in->accounting;
	struct sflow_arrival arrival = {.newer = true};

	if (!t->peer->met)
		sflow_meet(t->peer, d, t->origin->received_us,
		    a->known_boot ? a->known_boot(a->arg, t->peer->id) : 0);
	else
		arrival = sflow_arrive(t->peer, d, t->origin->received_us);
	if (arrival.refused) {
		count(in, SFLOW_STAT_REFUSED_RESTART);
		in->refusal = began_anew;
		log_warn_limited(ROOM, "datagram of agent %s refused: the agent began anew twice within a minute (sent by %s)",
		    t->peer->address, t->origin->sender);
		return false;
	}
	sflow_hear_peer(in->state, t->peer, t->origin->received_us);
	t->newer = arrival.newer;
	stat_add(&in->stats, SFLOW_STAT_DATAGRAMS_MISSING, arrival.missing);
	if (!arrival.newer)
		count(in, SFLOW_STAT_DATAGRAMS_LATE);
	if (arrival.restarted)
		count(in, SFLOW_STAT_AGENT_RESTARTS);
	return true;
}

static bool
may_speak(const struct taking *t, const struct sflow_peer *peer)
{
	const struct sflow_accounting *a = &t->in->accounting;
	struct ease_record who = {
	    .loose_numbers = true, .sender = peer->address, .source = t->origin->sender};

	memcpy(who.agent_id, peer->id, sizeof(who.agent_id));
	return !a->admits || a->admits(a->arg, &who);
}

/* Sets the peer, or leaves NULL; what is refused is counted. */
static void
find_peer(struct taking *t, const struct sflow_agent *agent)
{
	struct sflow_input *in = t->in;
	const char *sender = t->origin->sender;
	struct sflow_peer *known = sflow_find_peer(in->state, agent, sender);

	t->peer = known;
	if (known && strcmp(known->source, sender) == 0)
		return;
	t->in->stranger = (struct sflow_peer){.met = false};
	sflow_name_peer(&t->in->stranger, agent, sender);
	if (!may_speak(t, &t->in->stranger)) {
		count(in, SFLOW_STAT_FOREIGN_SOURCE);
		t->peer = &t->in->stranger;
		return;
	}
	if (!known)
		t->peer = sflow_add_peer(in->state, &t->in->stranger, sender, t->origin->received_us);
	if (t->peer) {
		snprintf(t->peer->source, sizeof(t->peer->source), "%s", sender);
		return;
	}
	count(in, SFLOW_STAT_AGENTS_FULL);
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
	    ? add_record(t, is_flow ? EASE_PART_SAMPLE : EASE_PART_SNAPSHOT) : NULL;

	if (!r)
		return;
	if (is_flow)
		r->sample = (struct ease_sample){
		    .time_us = r->received_us,
		    .if_index = place_of(&s->flow),
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

	while ((verdict = sflow_next(d, &s)) == SFLOW_OK || sflow_spoils_sample_only(verdict))
		if (verdict == SFLOW_OK)
			refuse_one(t, &s);
	return verdict;
}

static enum sflow_verdict
take_datagram(struct taking *t, const void *octets, size_t n)
{
	struct sflow_datagram d;
	enum sflow_verdict verdict = sflow_open(&d, octets, n);

	if (verdict != SFLOW_OK)
		return verdict;
	find_peer(t, &d.agent);
	if (!t->peer)
		return SFLOW_END;
	if (t->peer == &t->in->stranger)
		return refuse_all(t, &d);
	return arrive(t, &d) ? take_all(t, &d) : SFLOW_END;
}

static void
note_left(struct sflow_input *in)
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
	count(in, SFLOW_STAT_DATAGRAMS);
	in->refusal = NULL;
	verdict = take_datagram(&t, octets, n);
	note_left(in);
	if (verdict == SFLOW_END)
		return verdict;
	in->refusal = verdict == SFLOW_BAD_VERSION ? foreign_flow_text(foreign_flow_of(octets, n))
						   : sflow_verdict_text(verdict);
	count(in, verdict == SFLOW_BAD_VERSION ? SFLOW_STAT_REFUSED_VERSION
					       : SFLOW_STAT_REFUSED_DATAGRAM);
	log_warn_limited(ROOM, "datagram from %s%s%s %s: %s", origin->sender,
	    origin->listener ? " to " : "", origin->listener ? origin->listener : "",
	    t.peer ? "used only in part" : "refused", in->refusal);
	return verdict;
}
