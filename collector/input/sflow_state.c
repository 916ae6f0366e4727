#include "collector/input/sflow_state.h"

#include "collector/input/sflow_frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A datagram that was overtaken is at most so much older; after a restart the uptime is smaller. */
#define OVERTAKEN_MS 2000
/* The least time between two restarts of an agent, or of one of its sources. */
#define RESTART_LEAST_US 60000000ull
/* A step of more than this is not a gap, but a sequence that restarted. */
#define SEQUENCE_JUMP 65536
/* Of so many events before the newest it is known whether they came: bits of sflow_port.came. */
#define DISCARDS_REMEMBERED 64
/* Arrival less uptime may be so far from a known start and still be the same start: this allows for
 * the network, and for clocks of 100 ppm at both ends, one part in 5,000 of the uptime. */
#define SAME_START_S  60
#define DRIFT_DIVISOR 5000
/* If an agent samples the frames that it sends, they are part of its pool. Its first such sample
 * shows that it does; frames before that are remembered for so long. */
#define SENT_WAIT_US 300000000ull

/* A measured rate replaces the stated one if there are so many samples, and it differs by so many
 * standard errors (for geometric skips: 1/sqrt(n)) and by at least one part in so many. */
#define MEASURE_SAMPLES 256
#define MEASURE_ERRORS	5.0
#define MEASURE_LEAST	50
#define MEASURE_FORGET	65536 /* after so many samples earlier ones count half */

/* A pool that rose so often in a row by a multiple of the rate is computed from it; by chance that comes
 * once in rate^16. */
#define MADE_UP_RISES 16

/* After so many frames of 60 octets and none shorter, these are minimum frames without FCS. */
#define FCS_FRAMES 8

struct sflow_state {
	uint64_t seed;
	struct sflow_peer peers[SFLOW_MAX_AGENTS];
	struct sflow_port ports[SFLOW_MAX_PORTS];
	struct lru_table peer_places, port_places;
	uint32_t last_number; /* of a peer */
	uint64_t left_peers, left_ports;
	uint32_t peer_buckets[2 * SFLOW_MAX_AGENTS]; /* index + 1, or 0 */
	uint32_t port_buckets[2 * SFLOW_MAX_PORTS];
};

/* Polling intervals of counters are five minutes at most. *assumed* */
#define LEAST_SILENT_US 900000000ll
enum { LEAVE_AT_ONCE = 64 };

int
sflow_state_new(struct sflow_state **out, uint64_t seed)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->seed = seed;
	if (lru_table_init(&(*out)->peer_places, SFLOW_MAX_AGENTS, &(*out)->peers->link,
		sizeof(*(*out)->peers)) == 0 &&
	    lru_table_init(&(*out)->port_places, SFLOW_MAX_PORTS, &(*out)->ports->link,
		sizeof(*(*out)->ports)) == 0)
		return 0;
	sflow_state_free(*out);
	*out = NULL;
	return -ENOMEM;
}

void
sflow_state_free(struct sflow_state *s)
{
	if (!s)
		return;
	lru_table_free(&s->port_places);
	lru_table_free(&s->peer_places);
	free(s);
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t
hash_octets(uint64_t h, const void *octets, size_t n)
{
	for (const uint8_t *p = octets; n-- > 0; p++)
		h = (h ^ *p) * 0x100000001b3ull;
	return h;
}
#define HASH_START 0xcbf29ce484222325ull

static uint64_t
spread_bits(uint64_t h)
{
	h = (h ^ h >> 31) * 0x9e3779b97f4a7c15ull;
	return h >> 32;
}

void
sflow_agent_id(const struct sflow_agent *agent, const char *sender,
    uint8_t id[static EASE_AGENT_ID_LEN])
{
	uint64_t h = hash_octets(HASH_START, &agent->type, sizeof(agent->type));

	if (agent->type == SFLOW_ADDRESS_UNKNOWN)
		h = hash_octets(h, sender, strlen(sender));
	else
		h = hash_octets(h, agent->address, sizeof(agent->address));
	h = hash_octets(h, &agent->sub_agent, sizeof(agent->sub_agent));
	memcpy(id, &h, EASE_AGENT_ID_LEN);
}

void
sflow_name_peer(struct sflow_peer *peer, const struct sflow_agent *agent, const char *sender)
{
	sflow_agent_id(agent, sender, peer->id);
	if (agent->type == SFLOW_ADDRESS_UNKNOWN)
		snprintf(peer->address, sizeof(peer->address), "%.*s", FRAME_IP_TEXT - 1, sender);
	else
		frame_format_ip(agent->type == SFLOW_ADDRESS_IP4 ? 4 : 6, agent->address,
		    peer->address);
}

void
sflow_forget_sources(struct sflow_state *s)
{
	for (uint32_t i = 0; i < s->peer_places.end; i++)
		*s->peers[i].source = '\0';
}

static uint32_t *
peer_bucket(const struct sflow_state *s, const uint8_t id[EASE_AGENT_ID_LEN])
{
	uint64_t h = spread_bits(hash_octets(HASH_START ^ s->seed, id, EASE_AGENT_ID_LEN));

	return (uint32_t *)(uintptr_t)&s->peer_buckets[h % (2 * SFLOW_MAX_AGENTS)];
}

struct sflow_peer *
sflow_find_peer(const struct sflow_state *s, const struct sflow_agent *agent, const char *sender)
{
	uint8_t id[EASE_AGENT_ID_LEN];
	const struct sflow_peer *peer;

	sflow_agent_id(agent, sender, id);
	for (uint32_t i = *peer_bucket(s, id); i != 0; i = peer->next) {
		peer = &s->peers[i - 1];
		if (memcmp(peer->id, id, sizeof(id)) == 0)
			return (struct sflow_peer *)(uintptr_t)peer;
	}
	return NULL;
}

static uint32_t *
port_bucket(struct sflow_state *s, uint32_t peer_number, uint32_t if_index)
{
	uint64_t h = spread_bits(s->seed ^ ((uint64_t)peer_number << 32 | if_index));

	return &s->port_buckets[h % (2 * SFLOW_MAX_PORTS)];
}

static void
drop_port(struct sflow_state *s, uint32_t place)
{
	struct sflow_port *p = &s->ports[place];
	uint32_t *at = port_bucket(s, p->peer_number, p->if_index);

	while (*at != place + 1)
		at = &s->ports[*at - 1].next;
	*at = p->next;
	lru_table_give(&s->port_places, place);
	*p = (struct sflow_port){.link = p->link};
	s->left_ports++;
}

/* Its ports are not found any more, so they go next. */
static void
drop_peer(struct sflow_state *s, uint32_t place)
{
	struct sflow_peer *peer = &s->peers[place];
	uint32_t *at = peer_bucket(s, peer->id);

	while (*at != place + 1)
		at = &s->peers[*at - 1].next;
	*at = peer->next;
	lru_table_give(&s->peer_places, place);
	*peer = (struct sflow_peer){.link = peer->link};
	s->left_peers++;
}

static void
make_room(struct sflow_state *s, struct lru_table *t, uint64_t received_us,
    void (*drop)(struct sflow_state *s, uint32_t place))
{
	for (int i = 0; i < LEAVE_AT_ONCE; i++) {
		uint32_t place = lru_table_next_victim(t, (int64_t)received_us, LEAST_SILENT_US, 0);

		if (place == LRU_NONE)
			break;
		drop(s, place);
	}
}

struct sflow_peer *
sflow_add_peer(struct sflow_state *s, const struct sflow_peer *named, const char *sender,
    uint64_t received_us)
{
	uint64_t owner = hash_octets(HASH_START ^ s->seed, sender, strlen(sender));
	uint32_t place, *bucket;
	struct sflow_peer *peer;
	struct lru_link link;

	make_room(s, &s->peer_places, received_us, drop_peer);
	place = lru_table_admits(&s->peer_places, owner)
	    ? lru_table_take(&s->peer_places, owner, (int64_t)received_us) : LRU_NONE;
	if (place == LRU_NONE)
		return NULL;
	peer = &s->peers[place];
	link = peer->link;
	bucket = peer_bucket(s, named->id);
	*peer = *named;
	peer->link = link;
	peer->number = ++s->last_number;
	peer->next = *bucket;
	*bucket = place + 1;
	return peer;
}

void
sflow_hear_peer(struct sflow_state *s, const struct sflow_peer *peer, uint64_t received_us)
{
	lru_table_heard(&s->peer_places, (uint32_t)(peer - s->peers), (int64_t)received_us);
}

static struct sflow_port *
add_port(struct sflow_state *s, struct sflow_peer *peer, uint32_t if_index, uint64_t received_us)
{
	uint64_t owner = lru_table_owner(&s->peer_places, (uint32_t)(peer - s->peers));
	uint32_t place, *bucket;
	struct sflow_port *p;

	make_room(s, &s->port_places, received_us, drop_port);
	place = lru_table_admits(&s->port_places, owner)
	    ? lru_table_take(&s->port_places, owner, (int64_t)received_us) : LRU_NONE;
	if (place == LRU_NONE)
		return NULL;
	p = &s->ports[place];
	bucket = port_bucket(s, peer->number, if_index);
	p->peer = peer;
	p->peer_number = peer->number;
	p->if_index = if_index;
	p->generation = peer->generation;
	p->next = *bucket;
	*bucket = place + 1;
	return p;
}

struct sflow_port *
sflow_port_of(struct sflow_state *s, struct sflow_peer *peer, uint32_t if_index, uint64_t received_us)
{
	struct sflow_port *p;

	for (uint32_t i = *port_bucket(s, peer->number, if_index); i != 0; i = p->next) {
		p = &s->ports[i - 1];
		if (p->peer_number != peer->number || p->if_index != if_index)
			continue;
		lru_table_heard(&s->port_places, i - 1, (int64_t)received_us);
		return p;
	}
	return add_port(s, peer, if_index, received_us);
}

void
sflow_count_left(const struct sflow_state *s, uint64_t *agents, uint64_t *ports)
{
	*agents = s->left_peers;
	*ports = s->left_ports;
}

/* ---- agents ---- */

/* The second at which the agent started, if its uptime has not wrapped. */
static uint32_t
start_of(const struct sflow_datagram *d, uint64_t received_us)
{
	return (uint32_t)((received_us - d->uptime_ms * 1000ull) / 1000000);
}

/* Uptime wraps after 2^32 ms, so a start is known only modulo that. */
static bool
same_start(uint32_t boot, const struct sflow_datagram *d, uint64_t received_us)
{
	const double wrap_s = 4294967.296;
	double now_s = (double)received_us / 1e6;
	double off_s = now_s - d->uptime_ms / 1e3 - boot;
	double wraps = (double)(int64_t)(off_s / wrap_s + 0.5);
	double allowed_s = SAME_START_S + (now_s - boot) / DRIFT_DIVISOR;

	off_s -= wraps * wrap_s;
	return off_s >= -allowed_s && off_s <= allowed_s;
}

static uint32_t
later_boot(uint32_t before, uint32_t start)
{
	return start > before ? start : before + 1;
}

void
sflow_meet(struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us,
    uint32_t known_boot)
{
	peer->met = true;
	peer->met_us = received_us;
	peer->sequence = d->sequence;
	peer->uptime_ms = d->uptime_ms;
	if (known_boot && same_start(known_boot, d, received_us))
		peer->boot = known_boot;
	else
		peer->boot = later_boot(known_boot, start_of(d, received_us));
}

/* Begins a new boot, unless the present one has just begun. */
static bool
begin_boot(struct sflow_peer *peer, uint32_t boot, uint64_t received_us)
{
	if (peer->restarted_us > 0 && received_us < peer->restarted_us + RESTART_LEAST_US)
		return false;
	peer->restarted_us = received_us;
	peer->boot = boot;
	return true;
}

struct sflow_arrival
sflow_arrive(struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us)
{
	int32_t uptime_ms = (int32_t)(d->uptime_ms - peer->uptime_ms);
	int32_t step = (int32_t)(d->sequence - peer->sequence);
	struct sflow_arrival arrival = {
	    .restarted = uptime_ms < -OVERTAKEN_MS,
	    .newer = step > 0 || step < -SEQUENCE_JUMP,
	};

	if (arrival.restarted) {
		if (!begin_boot(peer, later_boot(peer->boot, start_of(d, received_us)), received_us))
			return (struct sflow_arrival){.refused = true};
		arrival.newer = true;
		peer->generation++;
	} else if (step > 0 && step < SEQUENCE_JUMP) {
		arrival.missing = (uint32_t)step - 1;
	}
	if (arrival.newer) {
		peer->sequence = d->sequence;
		peer->uptime_ms = d->uptime_ms;
	}
	return arrival;
}

/* If the agent restarted since the port's last record, the port restarts, too. */
static void
follow_restart(struct sflow_port *p)
{
	if (p->generation == p->peer->generation)
		return;
	p->generation = p->peer->generation;
	p->has_flow = false;
	p->counters_again = p->has_counters;
	p->measured_pkts = p->measured_samples = 0;
}

/* ---- flow samples ---- */

static void
measure(struct sflow_port *p, uint32_t samples, uint32_t pkts)
{
	p->pool_pkts += pkts;
	p->made_up = p->rate > 1 && pkts % p->rate == 0 ? p->made_up + 1 : 0;
	p->measured_samples += samples;
	p->measured_pkts += pkts;
	if (p->measured_samples >= MEASURE_FORGET) {
		p->measured_samples /= 2;
		p->measured_pkts /= 2;
	}
}

static void
begin_measuring(struct sflow_port *p, uint32_t rate)
{
	p->rate = rate;
	p->measured_pkts = p->measured_samples = 0;
}

static void
note_length(struct sflow_port *p, uint32_t octets)
{
	p->frames_short += octets < 60;
	p->frames_60 += octets == 60;
	p->frames_64 += octets == 64;
}

/* A source restarted its numbers. If another one of its agent did, too, the boot is there already. */
static bool
restart_source(struct sflow_port *p, uint64_t received_us)
{
	if (p->flow_boot == p->peer->boot && !begin_boot(p->peer, p->peer->boot + 1, received_us))
		return false;
	p->has_flow = false;
	return true;
}

enum sflow_flow_verdict
sflow_take_flow(
    struct sflow_port *p, const struct sflow_flow *f, bool newer, uint64_t received_us)
{
	enum sflow_flow_verdict verdict = SFLOW_FLOW_TAKEN;
	int32_t step;

	follow_restart(p);
	step = (int32_t)(f->sequence - p->sequence);
	if (p->has_flow && newer && step < 0) {
		if (!restart_source(p, received_us))
			return SFLOW_FLOW_REFUSED;
		verdict = SFLOW_FLOW_RESTARTED;
	}
	if (p->has_flow && step > 0)
		measure(p, (uint32_t)step, f->pool_pkts - p->pool);
	if (f->rate != p->rate)
		begin_measuring(p, f->rate);
	if (!p->has_flow)
		p->pool_pkts = f->pool_pkts;
	if (!p->has_flow || step > 0) {
		p->has_flow = true;
		p->flow_boot = p->peer->boot;
		p->sequence = f->sequence;
		p->pool = f->pool_pkts;
	}
	if (sflow_frame_is_ethernet(f))
		note_length(p, f->frame_octets);
	return verdict;
}

static bool
is_if(const struct sflow_if *interface, uint32_t if_index)
{
	return interface->format == SFLOW_IF_INDEX && interface->value == if_index;
}

uint8_t
sflow_direction(struct sflow_port *p, const struct sflow_flow *f)
{
	bool is_input = is_if(&f->input, f->source.index), is_output = is_if(&f->output, f->source.index);
	bool came_in = is_input || (is_if(&f->input, 0) && !is_output);

	bool known = p->samples_in || p->samples_out;
	bool in = known ? p->samples_in : p->peer->samples_received, out = known ? p->samples_out : p->peer->samples_sent;

	if (is_input && is_output)
		return out && (!in || f->sequence % 2 == 0) ? EASE_OUT : EASE_IN;
	*(came_in ? &p->samples_in : &p->samples_out) = true;
	*(came_in ? &p->peer->samples_received : &p->peer->samples_sent) = true;
	return came_in ? EASE_IN : EASE_OUT;
}

uint32_t
sflow_weight(const struct sflow_port *p, bool *differs)
{
	const uint64_t n = p->measured_samples, stated = n * p->rate;
	const uint64_t off = p->measured_pkts > stated ? p->measured_pkts - stated
						       : stated - p->measured_pkts;
	double part_off, measured;

	*differs = false;
	if (n < MEASURE_SAMPLES || p->measured_pkts == 0 || off < stated / MEASURE_LEAST)
		return p->rate;
	part_off = (double)off / (double)stated; /* compared squared, to avoid a root */
	if (part_off * part_off * (double)n < MEASURE_ERRORS * MEASURE_ERRORS)
		return p->rate;
	*differs = true;
	measured = (double)p->measured_pkts / (double)n;
	return measured < 1 ? 1 : (uint32_t)(measured + 0.5);
}

bool
sflow_pool_is_real(const struct sflow_port *p)
{
	return p->made_up < MADE_UP_RISES;
}

bool
sflow_lacks_fcs(const struct sflow_port *p)
{
	return p->frames_60 >= FCS_FRAMES && p->frames_short == 0 &&
	    p->frames_64 < p->frames_60 / 4;
}

/* ---- discarded packets ---- */

/* The first event, and one whose numbers have begun anew, tells nothing of those before: as if all of them had
 * come. */
struct sflow_discard_step
sflow_take_discard(struct sflow_port *p, const struct sflow_flow *f, bool newer)
{
	int32_t step = (int32_t)(f->sequence - p->sequence);
	uint64_t bit;

	if (p->generation != p->peer->generation)
		p->has_flow = false;
	p->generation = p->peer->generation;
	if (!p->has_flow || (newer && (step < -DISCARDS_REMEMBERED || step > SEQUENCE_JUMP))) {
		p->has_flow = true;
		p->sequence = f->sequence;
		p->pool = f->drops;
		p->came = UINT64_MAX;
		return (struct sflow_discard_step){.is_new = true};
	}
	if (step > 0) {
		uint32_t not_sent = f->drops - p->pool;

		p->came = step < DISCARDS_REMEMBERED ? p->came << step | 1 : 1;
		p->sequence = f->sequence;
		p->pool = f->drops;
		return (struct sflow_discard_step){true, not_sent > INT32_MAX ? 0 : not_sent, step - 1};
	}
	bit = step > -DISCARDS_REMEMBERED ? 1ull << -step : 0;
	if (bit == 0 || p->came & bit)
		return (struct sflow_discard_step){.is_new = false};
	p->came |= bit;
	return (struct sflow_discard_step){.is_new = true, .lost = -1};
}

/* ---- counters ---- */

/* The errors that an interface received. Where it does not count them in one, Ethernet's kinds of them make the
 * sum (ifInErrors of RFC 3635, section 3.2.6). */
static uint32_t
in_errors_of(const struct sflow_counters *c)
{
	const struct sflow_ethernet_counters *e = &c->ethernet;
	const uint32_t kinds[] = {e->alignment_errors, e->fcs_errors, e->frame_too_longs, e->mac_rx_errors,
	    e->symbol_errors};
	uint32_t sum = 0, n_known = 0;

	if (c->interface.in_errors != SFLOW_UNKNOWN32 || !c->has_ethernet)
		return c->interface.in_errors;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i] != SFLOW_UNKNOWN32) {
			sum += kinds[i];
			n_known++;
		}
	return n_known > 0 && sum != SFLOW_UNKNOWN32 ? sum : SFLOW_UNKNOWN32;
}

static void
raw_counters(const struct sflow_counters *counters, uint32_t raw[static SFLOW_N_TOTALS])
{
	const struct sflow_if_counters *c = &counters->interface;
	const uint32_t values[SFLOW_N_TOTALS] = {
	    [SFLOW_IN_UCAST] = c->in_ucast_pkts,
	    [SFLOW_IN_MCAST] = c->in_mcast_pkts,
	    [SFLOW_IN_BCAST] = c->in_bcast_pkts,
	    [SFLOW_IN_DISCARDS] = c->in_discards,
	    [SFLOW_IN_ERRORS] = in_errors_of(counters),
	    [SFLOW_OUT_UCAST] = c->out_ucast_pkts,
	    [SFLOW_OUT_MCAST] = c->out_mcast_pkts,
	    [SFLOW_OUT_BCAST] = c->out_bcast_pkts,
	    [SFLOW_OUT_DISCARDS] = c->out_discards,
	    [SFLOW_OUT_ERRORS] = c->out_errors,
	};

	memcpy(raw, values, sizeof(values));
}

static uint64_t
known64(uint64_t octets)
{
	return octets == SFLOW_UNKNOWN64 ? 0 : octets;
}

static uint64_t
sent_total(const struct sflow_port *p)
{
	return p->totals[SFLOW_OUT_UCAST] + p->totals[SFLOW_OUT_MCAST] +
	    p->totals[SFLOW_OUT_BCAST];
}

/* Adds the difference modulo 32 bits, so a wrap is no step back. A new base is the counter
 * itself. */
static void
extend_totals(struct sflow_port *p, const uint32_t raw[static SFLOW_N_TOTALS], bool base)
{
	for (int i = 0; i < SFLOW_N_TOTALS; i++) {
		if (raw[i] == SFLOW_UNKNOWN32)
			continue;
		if (base)
			p->totals[i] = raw[i];
		else
			p->totals[i] += (uint32_t)(raw[i] - p->raw[i]);
		p->raw[i] = raw[i];
	}
}

static void
count_sent(struct sflow_port *p, uint64_t pkts, uint64_t received_us)
{
	p->waiting_pkts += pkts;
	if (p->peer->samples_sent) {
		p->sent_pkts += p->waiting_pkts;
		p->waiting_pkts = 0;
	} else if (received_us - p->peer->met_us > SENT_WAIT_US) {
		p->waiting_pkts = 0;
	}
}

bool
sflow_take_counters(struct sflow_port *p, const struct sflow_counters *c, bool newer,
    uint64_t received_us)
{
	const struct sflow_if_counters *i = &c->interface;
	int32_t step = (int32_t)(c->sequence - p->counters_sequence);
	uint64_t in_octets = known64(i->in_octets), out_octets = known64(i->out_octets);
	bool known = p->has_counters;
	uint32_t raw[SFLOW_N_TOTALS];
	uint64_t sent = sent_total(p);

	follow_restart(p);
	if (known && !p->counters_again && !newer && step <= 0)
		return false;
	raw_counters(c, raw);
	if (known && (p->counters_again || step < 0 || in_octets < p->in_octets ||
			 out_octets < p->out_octets)) {
		p->discontinuity_us = received_us;
		p->waiting_pkts = 0;
		p->counters_again = known = false;
	}
	extend_totals(p, raw, !known);
	p->has_counters = true;
	p->counters_sequence = c->sequence;
	p->in_octets = in_octets;
	p->out_octets = out_octets;
	count_sent(p, known ? sent_total(p) - sent : 0, received_us);
	return true;
}

void
sflow_snapshot(const struct sflow_port *p, uint64_t time_us, struct ease_snapshot *snapshot)
{
	const uint64_t *t = p->totals;

	*snapshot = (struct ease_snapshot){
	    .if_index = p->if_index,
	    .time_us = time_us,
	    .in = {p->in_octets, t[SFLOW_IN_UCAST], t[SFLOW_IN_MCAST], t[SFLOW_IN_BCAST],
		t[SFLOW_IN_DISCARDS], t[SFLOW_IN_ERRORS]},
	    .out = {p->out_octets, t[SFLOW_OUT_UCAST], t[SFLOW_OUT_MCAST], t[SFLOW_OUT_BCAST],
		t[SFLOW_OUT_DISCARDS], t[SFLOW_OUT_ERRORS]},
	    .discontinuity_us = p->discontinuity_us,
	    .last_sequence = p->has_flow ? p->sequence : 0,
	    .pool_in_pkts = t[SFLOW_IN_UCAST] + t[SFLOW_IN_MCAST] + t[SFLOW_IN_BCAST],
	    .pool_out_pkts = p->sent_pkts,
	};
}
