#include "collector/input/sflow_state.h"

#include "collector/input/sflow_frame.h"
#include "common/frame.h"
#include "common/hash.h"
#include "common/made_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The least time between two boots of an agent. */
#define RESTART_LEAST_US 60000000ull
/* A step of more than this is not a gap, but a sequence that restarted; unless so much time has passed for each
 * datagram. *assumed* */
#define SEQUENCE_JUMP  65536
#define LEAST_APART_US 20
/* Of so many before the newest it is known whether they came: bits of sflow_peer.came, sflow_port.came. */
#define REMEMBERED 64
/* What is above is no ifIndex (collector/source_port.h). */
#define SFLOW_IF_INDEX_MAX INT32_MAX
/* So many datagrams in a row begin a new line of numbers, or of uptimes. */
#define NEW_LINE 8
/* Arrival less uptime may be so far from a known start and still be the same start: this allows for
 * the network, and for clocks of 100 ppm at both ends, one part in 5,000 of the uptime. */
#define SAME_START_S  60
#define DRIFT_DIVISOR 5000
/* A boot that begins so much later than now tells of no start. *assumed* */
#define AHEAD_S (30 * 86400.)
/* If an agent samples the frames that it sends, they are part of its pool. Its first such sample
 * shows that it does; frames before that are remembered for so long. */
#define SENT_WAIT_US 300000000ull

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
enum { LEAVE_AT_ONCE = 64, SUB_AGENTS_MOST = 64, SAMPLES_MOST = 256 /* that a datagram really holds */ };

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

/* 0 stays: never. What came between the setting and now is by the new time already. */
static void
move_time(uint64_t *time_us, int64_t by_us, uint64_t now_us)
{
	if (*time_us == 0)
		return;
	*time_us = by_us < 0 && *time_us <= (uint64_t)-by_us ? 1 : *time_us + (uint64_t)by_us;
	*time_us = *time_us < now_us ? *time_us : now_us;
}

void
sflow_clock_set(struct sflow_state *s, int64_t by_us, uint64_t now_us)
{
	for (size_t i = 0; i < SFLOW_MAX_AGENTS; i++) {
		struct sflow_peer *peer = &s->peers[i];

		move_time(&peer->heard_us, by_us, now_us);
		move_time(&peer->met_us, by_us, now_us);
		move_time(&peer->restarted_us, by_us, now_us);
		peer->link.heard_us += by_us;
	}
	for (size_t i = 0; i < SFLOW_MAX_PORTS; i++) {
		move_time(&s->ports[i].counters_us, by_us, now_us);
		s->ports[i].link.heard_us += by_us;
	}
}

/* Addresses that makers set, or that devices have inside: Juniper's 128.0.0.0/24, SONiC's 240.127.1.1; and those that
 * are none. */
bool
sflow_address_is_shared(const struct sflow_agent *agent, const char *sender)
{
	static const uint8_t sonic[] = {240, 127, 1, 1}, juniper[] = {128, 0, 0};
	const uint8_t *a = agent->address;
	bool is_here = strncmp(sender, "127.", 4) == 0 || strcmp(sender, "::1") == 0;
	uint8_t before_last = 0;

	if (agent->type == SFLOW_ADDRESS_IP4)
		return a[0] == 0 || (a[0] == 127 && !is_here) || memcmp(a, juniper, sizeof(juniper)) == 0 ||
		    memcmp(a, sonic, sizeof(sonic)) == 0;
	for (size_t i = 0; i < SFLOW_ADDRESS_MAX - 1; i++)
		before_last |= a[i];
	return agent->type == SFLOW_ADDRESS_UNKNOWN || (before_last == 0 && a[SFLOW_ADDRESS_MAX - 1] <= !is_here);
}

static struct sflow_device
device_of(const struct sflow_agent *agent, const char *sender, bool is_shared)
{
	struct sflow_device d = {.type = agent->type};

	if (agent->type != SFLOW_ADDRESS_UNKNOWN)
		memcpy(d.address, agent->address, sizeof(d.address));
	if (is_shared)
		snprintf(d.sender, sizeof(d.sender), "%s", sender);
	return d;
}

void
sflow_name_peer(struct sflow_peer *peer, const struct sflow_agent *agent, const char *sender, bool is_shared)
{
	peer->device = device_of(agent, sender, is_shared);
	made_id_of_sflow(agent, is_shared ? sender : NULL, peer->id);
	peer->sub_agent = agent->sub_agent;
	if (is_shared)
		snprintf(peer->address, sizeof(peer->address), "%.*s", FRAME_IP_TEXT - 1, sender);
	else
		frame_format_ip(agent->type == SFLOW_ADDRESS_IP4 ? 4 : 6, agent->address, peer->address);
}

void
sflow_forget_sources(struct sflow_state *s)
{
	for (uint32_t i = 0; i < s->peer_places.end; i++)
		*s->peers[i].source = '\0';
}

static uint32_t *
peer_bucket(const struct sflow_state *s, const struct sflow_device *device)
{
	uint64_t h = hash_octets(s->seed, device, sizeof(*device));

	return (uint32_t *)(uintptr_t)&s->peer_buckets[h % (2 * SFLOW_MAX_AGENTS)];
}

/* Returns the first of a device's sub-agents, or the next one after peer; NULL: there is none. They are in one bucket. */
static struct sflow_peer *
next_of_device(const struct sflow_state *s, const struct sflow_device *device, const struct sflow_peer *peer)
{
	const struct sflow_peer *found;

	for (uint32_t i = peer ? peer->next : *peer_bucket(s, device); i != 0; i = found->next) {
		found = &s->peers[i - 1];
		if (memcmp(&found->device, device, sizeof(*device)) == 0)
			return (struct sflow_peer *)(uintptr_t)found;
	}
	return NULL;
}

struct sflow_peer *
sflow_find_peer(const struct sflow_state *s, const struct sflow_agent *agent, const char *sender, bool is_shared)
{
	struct sflow_device device = device_of(agent, sender, is_shared);
	struct sflow_peer *peer = next_of_device(s, &device, NULL);

	while (peer && peer->sub_agent != agent->sub_agent)
		peer = next_of_device(s, &device, peer);
	return peer;
}

static uint32_t *
sflow_state_port_bucket(struct sflow_state *s, uint32_t peer_number, uint64_t if_index)
{
	uint64_t h = hash_pair(s->seed, peer_number, if_index);

	return &s->port_buckets[h % (2 * SFLOW_MAX_PORTS)];
}

static void
drop_port(struct sflow_state *s, uint32_t place)
{
	struct sflow_port *p = &s->ports[place];
	uint32_t *at = sflow_state_port_bucket(s, p->peer_number, p->if_index);

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
	uint32_t *at = peer_bucket(s, &peer->device);

	while (*at != place + 1)
		at = &s->peers[*at - 1].next;
	*at = peer->next;
	lru_table_give(&s->peer_places, place);
	*peer = (struct sflow_peer){.link = peer->link};
	s->left_peers++;
}

static void
sflow_state_make_room(struct sflow_state *s, struct lru_table *t, uint64_t received_us,
    void (*drop)(struct sflow_state *s, uint32_t place))
{
	for (int i = 0; i < LEAVE_AT_ONCE; i++) {
		uint32_t place = lru_table_next_victim(t, (int64_t)received_us, LEAST_SILENT_US, 0);

		if (place == LRU_NONE)
			break;
		drop(s, place);
	}
}

/* The sub-agents of a device are found one by one, so of too many the one that was silent longest leaves. */
static void
limit_sub_agents(struct sflow_state *s, const struct sflow_device *device)
{
	const struct sflow_peer *silent = NULL;
	int n = 0;

	for (const struct sflow_peer *p = next_of_device(s, device, NULL); p; p = next_of_device(s, device, p), n++)
		if (!silent || p->heard_us < silent->heard_us)
			silent = p;
	if (n >= SUB_AGENTS_MOST)
		drop_peer(s, (uint32_t)(silent - s->peers));
}

struct sflow_peer *
sflow_add_peer(struct sflow_state *s, const struct sflow_peer *named, const char *sender, uint64_t received_us)
{
	char text[ENDPOINT_TEXT] = ""; /* hash_octets takes blocks of 16 */
	uint32_t place, *bucket;
	struct sflow_peer *peer;
	struct lru_link link;
	uint64_t owner;

	snprintf(text, sizeof(text), "%s", sender);
	owner = hash_octets(s->seed, text, sizeof(text));

	sflow_state_make_room(s, &s->peer_places, received_us, drop_peer);
	limit_sub_agents(s, &named->device);
	place = lru_table_admits(&s->peer_places, owner)
	    ? lru_table_take(&s->peer_places, owner, (int64_t)received_us) : LRU_NONE;
	if (place == LRU_NONE)
		return NULL;
	peer = &s->peers[place];
	link = peer->link;
	bucket = peer_bucket(s, &named->device);
	*peer = *named;
	peer->link = link;
	peer->number = ++s->last_number;
	for (const struct sflow_peer *p = next_of_device(s, &named->device, NULL); p; p = next_of_device(s, &named->device, p))
		if (p->slot >= peer->slot)
			peer->slot = p->slot + 1;
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
sflow_state_add_port(struct sflow_state *s, struct sflow_peer *peer, uint64_t if_index, uint64_t received_us)
{
	uint64_t owner = lru_table_owner(&s->peer_places, (uint32_t)(peer - s->peers));
	uint32_t place, *bucket;
	struct sflow_port *p;

	sflow_state_make_room(s, &s->port_places, received_us, drop_port);
	place = lru_table_admits(&s->port_places, owner)
	    ? lru_table_take(&s->port_places, owner, (int64_t)received_us) : LRU_NONE;
	if (place == LRU_NONE)
		return NULL;
	p = &s->ports[place];
	bucket = sflow_state_port_bucket(s, peer->number, if_index);
	p->peer = peer;
	p->peer_number = peer->number;
	p->if_index = if_index;
	p->generation = peer->generation;
	p->next = *bucket;
	*bucket = place + 1;
	return p;
}

static struct sflow_port *
sflow_state_find_port(struct sflow_state *s, const struct sflow_peer *peer, uint64_t if_index)
{
	for (uint32_t i = *sflow_state_port_bucket(s, peer->number, if_index); i != 0; i = s->ports[i - 1].next)
		if (s->ports[i - 1].peer_number == peer->number && s->ports[i - 1].if_index == if_index)
			return &s->ports[i - 1];
	return NULL;
}

/* Returns whether another sub-agent of the device has such a port that samples, or that has counters and is heard. */
static bool
is_elsewhere(struct sflow_state *s, const struct sflow_port *p, bool with_counters, uint64_t received_us)
{
	const struct sflow_peer *peer = next_of_device(s, &p->peer->device, NULL);

	for (; peer; peer = next_of_device(s, &p->peer->device, peer)) {
		const struct sflow_port *other = peer == p->peer ? NULL : sflow_state_find_port(s, peer, p->if_index);

		if (other && (with_counters ? other->has_counters && !other->is_shadowed &&
				     received_us - other->counters_us < LEAST_SILENT_US : other->has_flow))
			return true;
	}
	return false;
}

struct sflow_port *
sflow_port_of(struct sflow_state *s, struct sflow_peer *peer, uint64_t if_index, uint64_t received_us)
{
	struct sflow_port *p = sflow_state_find_port(s, peer, if_index);

	if (p)
		lru_table_heard(&s->port_places, (uint32_t)(p - s->ports), (int64_t)received_us);
	else
		p = sflow_state_add_port(s, peer, if_index, received_us);
	return p;
}

bool
sflow_sends_counters(const struct sflow_port *p, uint64_t now_us)
{
	return p->has_counters && !p->counters_are_polled && (int64_t)(now_us - p->counters_us) < LEAST_SILENT_US;
}

static bool
sflow_state_is_there(const struct sflow_port *p)
{
	return p->link.state == LRU_HELD && p->peer->number == p->peer_number && p->peer->source[0] != '\0';
}

bool
sflow_place(struct sflow_state *s, uint32_t place, uint64_t now_us, struct polled_place *to)
{
	const struct sflow_port *p = &s->ports[place];

	if (!sflow_state_is_there(p) || !p->has_flow || p->if_index > SFLOW_IF_INDEX_MAX ||
	    (int64_t)now_us - p->peer->link.heard_us > LEAST_SILENT_US)
		return false;
	*to = (struct polled_place){
	    .place = place,
	    .number = p->peer_number,
	    .agent = (uint32_t)(p->peer - s->peers),
	    .if_index = (uint32_t)p->if_index,
	    .address = p->peer->address,
	    .sends_counters = sflow_sends_counters(p, now_us) || is_elsewhere(s, p, true, now_us),
	};
	return true;
}

struct sflow_port *
sflow_port_at(struct sflow_state *s, uint32_t place, uint32_t number, uint32_t if_index)
{
	struct sflow_port *p = place < SFLOW_MAX_PORTS ? &s->ports[place] : NULL;

	return p && sflow_state_is_there(p) && p->peer_number == number && p->if_index == if_index ? p : NULL;
}

void
sflow_count_left(const struct sflow_state *s, uint64_t *agents, uint64_t *ports)
{
	*agents = s->left_peers;
	*ports = s->left_ports;
}

/* ---- agents ---- */

/* The second at which the agent started, if its uptime has not wrapped; 0 where our clock, in 1970, says before that. */
static uint32_t
start_of(const struct sflow_datagram *d, uint64_t received_us)
{
	uint64_t uptime_us = d->uptime_ms * 1000ull;

	return received_us > uptime_us ? (uint32_t)((received_us - uptime_us) / 1000000) : 0;
}

/* Uptime wraps after 2^32 ms, so a start is known only modulo that; and not at all where our clock was years ahead when the
 * boot began: then it goes on. */
static bool
same_start(uint32_t boot, const struct sflow_datagram *d, uint64_t received_us)
{
	const double wrap_s = 4294967.296;
	double now_s = (double)received_us / 1e6;
	double off_s = now_s - d->uptime_ms / 1e3 - boot;
	double wraps = (double)(int64_t)(off_s / wrap_s + 0.5);
	double allowed_s = SAME_START_S + (now_s - boot) / DRIFT_DIVISOR;

	off_s -= wraps * wrap_s;
	if (boot > now_s + AHEAD_S)
		return true;
	return off_s >= -allowed_s && off_s <= allowed_s;
}

static uint32_t
later_boot(uint32_t before, uint32_t start)
{
	return start > before ? start : before + 1;
}

struct sflow_arrival
sflow_meet(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us,
    uint32_t known_boot)
{
	const struct sflow_peer *other = next_of_device(s, &peer->device, NULL);

	while (other && (other == peer || !other->met))
		other = next_of_device(s, &peer->device, other);
	peer->met = true;
	peer->met_us = peer->heard_us = received_us;
	peer->sequence = d->sequence;
	peer->uptime_ms = d->uptime_ms;
	peer->most_samples = d->n_samples;
	peer->came = 1;
	if (other)
		peer->boot = other->boot;
	else if (known_boot && same_start(known_boot, d, received_us))
		peer->boot = known_boot;
	else
		peer->boot = later_boot(known_boot, start_of(d, received_us));
	return (struct sflow_arrival){.place = {.newer = true, .most = peer->most_samples}};
}

/* What of a sub-agent's ports is known begins anew. A new boot begins if it is the only one, and the present boot has
 * not just begun. */
static void
restart_peer(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us)
{
	const struct sflow_peer *first = next_of_device(s, &peer->device, NULL);

	peer->generation++;
	peer->drops = (struct drops_shared){.newest = 0};
	peer->n_pools_on = 0;
	if (first != peer || next_of_device(s, &peer->device, peer) ||
	    (peer->restarted_us > 0 && received_us < peer->restarted_us + RESTART_LEAST_US))
		return;
	peer->restarted_us = received_us;
	peer->boot = later_boot(peer->boot, start_of(d, received_us));
}

/* Numbers of datagrams behind the newest whose uptime is newer than its are another line, or one that began anew. */
static void
note_other_line(struct sflow_peer *peer, uint32_t sequence)
{
	peer->n_others = sequence == peer->other + 1 ? peer->n_others + 1 : 0;
	peer->other = sequence;
	if (peer->n_others < NEW_LINE)
		return;
	peer->sequence = sequence;
	peer->came = 1;
	peer->n_others = 0;
}

/* Places the datagram among those before. */
static void
place_datagram(struct sflow_peer *peer, const struct sflow_datagram *d, bool has_newer_uptime, uint64_t elapsed_us,
    struct sflow_arrival *a)
{
	int32_t step = (int32_t)(d->sequence - peer->sequence);
	bool is_jump = step <= -SEQUENCE_JUMP || (step >= SEQUENCE_JUMP && (uint32_t)step > elapsed_us / LEAST_APART_US);
	uint64_t bit = step <= 0 && step > -REMEMBERED ? 1ull << -step : 0;

	a->place.newer = step > 0 || is_jump || a->restarted || has_newer_uptime;
	if (step > 0 || is_jump || a->restarted) {
		a->missing = is_jump || a->restarted ? 0 : (uint32_t)step - 1;
		peer->came = step > 0 && step < REMEMBERED ? peer->came << step | 1 : 1;
		peer->sequence = d->sequence;
		peer->n_others = 0;
	} else if (has_newer_uptime) {
		a->odd |= 1u << EASE_ODD_DATAGRAMS;
		note_other_line(peer, d->sequence);
	} else {
		a->place.again = (peer->came & bit) != 0;
		peer->came |= bit;
	}
}

struct sflow_arrival
sflow_arrive(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_datagram *d, uint64_t received_us)
{
	uint64_t elapsed_us = received_us > peer->heard_us ? received_us - peer->heard_us : 0;
	int32_t step = (int32_t)(d->sequence - peer->sequence);
	bool goes_on = step > 0 && step <= NEW_LINE && d->sequence > 2 * NEW_LINE; /* few were numbered since a start */
	bool begins = d->sequence == 1 && step <= -REMEMBERED; /* so many do not overtake the first one */
	enum uptime_verdict verdict = uptime_judge(peer->uptime_ms, d->uptime_ms, elapsed_us, goes_on, begins);
	bool is_risen = verdict == UPTIME_GOES_ON && (int32_t)(d->uptime_ms - peer->uptime_ms) > 0;
	struct sflow_arrival arrival = {.restarted = verdict == UPTIME_RESTARTED};

	if (arrival.restarted)
		restart_peer(s, peer, d, received_us);
	if (verdict == UPTIME_REFUTED)
		arrival.odd |= 1u << EASE_ODD_UPTIME;
	place_datagram(peer, d, is_risen, elapsed_us, &arrival);
	peer->missing += arrival.missing;
	if (d->n_samples > peer->most_samples && d->n_samples <= SAMPLES_MOST)
		peer->most_samples = d->n_samples;
	peer->uptimes_odd = verdict == UPTIME_REFUTED ? peer->uptimes_odd + 1 : 0;
	if (arrival.place.newer && (verdict != UPTIME_REFUTED || peer->uptimes_odd == NEW_LINE)) {
		peer->uptime_ms = d->uptime_ms;
		peer->uptimes_odd = 0;
	}
	if (arrival.place.newer && received_us > peer->heard_us)
		peer->heard_us = received_us;
	arrival.place.missing = peer->missing;
	arrival.place.most = peer->most_samples;
	return arrival;
}

/* ---- observation domains of IPFIX ---- */

static bool
has_come(const struct ipfix_domain *d, uint32_t sequence)
{
	for (int i = 0; i < IPFIX_RECENT; i++)
		if (d->recent[i] == sequence)
			return true;
	return false;
}

/* A domain keeps the boot that the accounting knows, as nothing tells when it began. */
static void
meet_ipfix(struct sflow_state *s, struct sflow_peer *peer, const struct ipfix_message *m, uint32_t known_boot)
{
	const struct sflow_datagram began_now = {.sequence = m->sequence};

	sflow_meet(s, peer, &began_now, m->received_us, 0);
	if (known_boot != 0)
		peer->boot = known_boot;
	peer->ipfix.export_s = m->export_s;
}

struct sflow_arrival
sflow_arrive_ipfix(
    struct sflow_state *s, struct sflow_peer *peer, const struct ipfix_message *m, uint32_t known_boot)
{
	uint64_t elapsed_us = m->received_us > peer->heard_us ? m->received_us - peer->heard_us : 0;
	struct ipfix_domain *d = &peer->ipfix;
	struct sflow_arrival a = {.restarted = false};
	uint32_t most, missing;
	bool is_later;
	int32_t step;

	if (!peer->met)
		meet_ipfix(s, peer, m, known_boot);
	step = (int32_t)(m->sequence - peer->sequence);
	is_later = (int32_t)(m->export_s - d->export_s) > 0;
	a.restarted = step < 0 && (is_later || (step < -(int32_t)(REMEMBERED * (peer->most_samples + 1)) &&
		    m->export_s == d->export_s));
	a.place.newer = step >= 0 || a.restarted;
	a.place.again = !a.place.newer && has_come(d, m->sequence);
	if (a.restarted) {
		restart_peer(s, peer, &(struct sflow_datagram){.sequence = m->sequence}, m->received_us);
		d->n_others = 0;
	}
	if (step > 0 && (step < SEQUENCE_JUMP || (uint32_t)step <= elapsed_us / LEAST_APART_US)) {
		most = peer->most_samples > 0 ? peer->most_samples : 1;
		missing = ((uint32_t)step + most - 1) / most;
		peer->missing += missing;
		a.missing = d->is_incomplete ? 0 : missing;
	}
	if (a.place.newer) {
		d->export_s = m->export_s;
		d->is_incomplete = false;
		peer->heard_us = m->received_us > peer->heard_us ? m->received_us : peer->heard_us;
	}
	a.place.missing = peer->missing;
	a.place.most = peer->most_samples;
	return a;
}

void
sflow_end_ipfix(struct sflow_peer *peer, const struct ipfix_message *m, bool newer)
{
	if (m->n_records > 0)
		peer->ipfix.recent[peer->ipfix.n_recent++ % IPFIX_RECENT] = m->sequence;
	if (m->n_records > peer->most_samples && m->n_records <= SAMPLES_MOST)
		peer->most_samples = m->n_records;
	if (newer)
		peer->sequence = m->sequence + m->n_records;
}

/* What passed before the counters that began anew was told with them. */
static void
forget_told(struct sflow_port *p)
{
	if (p->began_anew)
		memset(p->untold, 0, sizeof(p->untold));
	p->began_anew = false;
}

/* Should counters begin anew here, none of them tells what passed before: then samples stand for it. */
static void
set_untold(struct sflow_port *p)
{
	forget_told(p);
	for (int d = 0; d < 2; d++) {
		p->untold[d].pkts += p->sampled[d].pkts;
		p->untold[d].octets += p->sampled[d].octets;
	}
	memset(p->sampled, 0, sizeof(p->sampled));
}

/* If the agent restarted since the port's last record, the port restarts, too. */
static void
follow_restart(struct sflow_port *p)
{
	if (p->generation == p->peer->generation)
		return;
	p->generation = p->peer->generation;
	p->has_flow = p->line.started = false;
	p->counters_again = p->has_counters;
	set_untold(p);
	p->rate = (struct rate_check){.stated = p->rate.stated};
}

/* ---- flow samples ---- */

static void
note_length(struct sflow_port *p, uint32_t octets)
{
	p->frames_short += octets < 60;
	p->frames_60 += octets == 60;
	p->frames_64 += octets == 64;
}

void
sflow_find_further(struct sflow_state *s, struct sflow_port *p)
{
	p->is_further = is_elsewhere(s, p, false, 0);
}

void
sflow_give_back(struct sflow_port *p)
{
	p->line.own--;
}

bool
sflow_begins_line(const struct sflow_port *p)
{
	return !p->line.started || p->generation != p->peer->generation;
}

/* One pool for all sources of an agent rises from each sample to the next, whatever source it is of. */
static void
note_shared_pool(struct sflow_port *p, uint32_t pool)
{
	enum { ON = 32 /* frames between two samples, in rates: nearly all are below */, STEPS = 16, MOST = 64, BACK = 4 };
	struct sflow_peer *peer = p->peer;
	bool goes_on = pool - peer->pool <= (uint64_t)ON * p->rate.stated;

	if (peer->pool_if_index != p->if_index && goes_on && peer->n_pools_on < MOST)
		peer->n_pools_on++;
	else if (peer->pool_if_index != p->if_index && !goes_on)
		peer->n_pools_on = peer->n_pools_on > BACK ? peer->n_pools_on - BACK : 0;
	peer->pool = pool;
	peer->pool_if_index = p->if_index;
	p->rate.is_shared = peer->n_pools_on >= STEPS;
	if (p->rate.is_shared)
		p->odd |= 1u << EASE_ODD_POOL_SHARED;
}

/* In a new boot numbers are the agent's own again; in the same boot ours go on. */
static uint32_t
number_before(const struct sflow_port *p, const struct sflow_flow *f, uint32_t known_number)
{
	int32_t off = (int32_t)(f->sequence - known_number);

	if (p->flow_boot == p->peer->boot && p->line.own > 0)
		return p->line.own;
	return known_number > 0 && off < -SEQUENCE_JUMP ? known_number : 0; /* ahead is what passed unheard */
}

void
sflow_take_flow(struct sflow_port *p, const struct sflow_flow *f, const struct number_context *place,
    uint32_t known_number, bool is_used, struct number_step *step)
{
	uint32_t rise;

	follow_restart(p);
	if (!p->line.started) {
		p->line.known = known_number;
		number_line_begin(&p->line, f, number_before(p, f, known_number), place, &p->peer->drops, is_used);
		*step = (struct number_step){.number = p->line.own};
	} else {
		number_line_take(&p->line, f, place, &p->peer->drops, is_used, step);
	}
	p->odd |= step->odd;
	if (step->is_again)
		return;
	if (sflow_frame_is_ethernet(f))
		note_length(p, f->frame_octets);
	if (p->has_flow && step->advance == 0)
		return;
	if (!f->is_record) {
		p->odd |= rate_check_sample(&p->rate, f, step->advance, &rise);
		p->pool_pkts = p->has_flow ? p->pool_pkts + rise : f->pool_pkts;
		if (rate_check_may_be_shared(&p->rate))
			note_shared_pool(p, f->pool_pkts);
	}
	p->has_flow = true;
	p->flow_boot = p->peer->boot;
}

static bool
is_if(const struct sflow_if *interface, uint64_t if_index)
{
	return interface->format == SFLOW_IF_INDEX && interface->value == if_index;
}

static bool
is_next_of(const struct sflow_port *p, uint32_t sequence)
{
	enum { NEAR = 64 };

	return p && p->has_flow && p->line.started && sequence - p->line.sequence - 1 < NEAR;
}

/* Members of an aggregate state it as input or output, so that neither need be the source. But then its numbers are. */
struct sflow_port *
sflow_port_by_number(struct sflow_state *s, struct sflow_peer *peer, const struct sflow_flow *f)
{
	struct sflow_port *input, *source;

	if (is_if(&f->input, f->source.index) || is_if(&f->output, f->source.index) || f->input.format != SFLOW_IF_INDEX)
		return NULL;
	input = sflow_state_find_port(s, peer, f->input.value);
	if (!is_next_of(input, f->sequence))
		return NULL;
	source = sflow_state_find_port(s, peer, f->source.index);
	return !is_next_of(source, f->sequence) || f->sequence - input->line.sequence < f->sequence - source->line.sequence
	    ? input : NULL;
}

uint8_t
sflow_direction(struct sflow_port *p, const struct sflow_flow *f)
{
	bool is_input = is_if(&f->input, f->source.index), is_output = is_if(&f->output, f->source.index);
	bool came_in = is_input || (is_if(&f->input, 0) && !is_output);

	bool known = p->samples_in || p->samples_out;
	bool in = known ? p->samples_in : p->peer->samples_received, out = known ? p->samples_out : p->peer->samples_sent;

	if (!is_input && !is_output && f->output.format == SFLOW_IF_INDEX && f->output.value != 0 && !is_if(&f->input, 0))
		return out && !in ? EASE_OUT : EASE_IN;
	if (is_input && is_output)
		return out && (!in || f->sequence % 2 == 0) ? EASE_OUT : EASE_IN;
	*(came_in ? &p->samples_in : &p->samples_out) = true;
	*(came_in ? &p->peer->samples_received : &p->peer->samples_sent) = true;
	return came_in ? EASE_IN : EASE_OUT;
}

bool
sflow_lacks_fcs(const struct sflow_port *p)
{
	return p->frames_60 >= FCS_FRAMES && p->frames_short == 0 && p->frames_64 < p->frames_60 / 4;
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
	if (!p->has_flow || (newer && (step < -REMEMBERED || step > SEQUENCE_JUMP))) {
		p->has_flow = true;
		p->sequence = f->sequence;
		p->not_sent = f->drops;
		p->came = UINT64_MAX;
		return (struct sflow_discard_step){.is_new = true};
	}
	if (step > 0) {
		uint32_t not_sent = f->drops - p->not_sent;

		p->came = step < REMEMBERED ? p->came << step | 1 : 1;
		p->sequence = f->sequence;
		p->not_sent = f->drops;
		return (struct sflow_discard_step){true, not_sent > INT32_MAX ? 0 : not_sent, step - 1};
	}
	bit = step > -REMEMBERED ? 1ull << -step : 0;
	if (bit == 0 || p->came & bit)
		return (struct sflow_discard_step){.is_new = false};
	p->came |= bit;
	return (struct sflow_discard_step){.is_new = true, .lost = -1};
}

/* ---- counters ---- */

/* The errors that an interface received. Where it does not count them in one, Ethernet's kinds of them make the
 * sum (ifInErrors of RFC 3635, section 3.2.6). */
static uint32_t
in_errors_of(const struct sflow_counters *c, const struct sflow_if_counters *interface)
{
	const struct sflow_ethernet_counters *e = &c->ethernet;
	const uint32_t kinds[] = {e->alignment_errors, e->fcs_errors, e->frame_too_longs, e->mac_rx_errors,
	    e->symbol_errors};
	uint32_t sum = 0, n_known = 0;

	if (interface->in_errors != SFLOW_UNKNOWN32 || !c->has_ethernet || interface != &c->interface)
		return interface->in_errors;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i] != SFLOW_UNKNOWN32) {
			sum += kinds[i];
			n_known++;
		}
	return n_known > 0 && sum != SFLOW_UNKNOWN32 ? sum : SFLOW_UNKNOWN32;
}

static void
raw_counters(const struct sflow_counters *counters, const struct sflow_if_counters *c,
    uint64_t raw[static SFLOW_N_TOTALS])
{
	const uint32_t values[SFLOW_N_TOTALS] = {
	    [SFLOW_IN_UCAST] = c->in_ucast_pkts,
	    [SFLOW_IN_MCAST] = c->in_mcast_pkts,
	    [SFLOW_IN_BCAST] = c->in_bcast_pkts,
	    [SFLOW_IN_DISCARDS] = c->in_discards,
	    [SFLOW_IN_ERRORS] = in_errors_of(counters, c),
	    [SFLOW_OUT_UCAST] = c->out_ucast_pkts,
	    [SFLOW_OUT_MCAST] = c->out_mcast_pkts,
	    [SFLOW_OUT_BCAST] = c->out_bcast_pkts,
	    [SFLOW_OUT_DISCARDS] = c->out_discards,
	    [SFLOW_OUT_ERRORS] = c->out_errors,
	};

	for (int i = 0; i < SFLOW_N_TOTALS; i++)
		raw[i] = values[i] == SFLOW_UNKNOWN32 ? EASE_COUNT_UNKNOWN : values[i];
	for (int i = 0; counters->is_polled && i < 3; i++) {
		raw[SFLOW_IN_UCAST + i] = (uint64_t)counters->high[i] << 32 | values[SFLOW_IN_UCAST + i];
		raw[SFLOW_OUT_UCAST + i] = (uint64_t)counters->high[3 + i] << 32 | values[SFLOW_OUT_UCAST + i];
	}
}

/* Modulo 32 bits, so a wrap is no step back; of counters of 64 bits as they are. */
static uint64_t
rise_of(const struct sflow_port *p, const uint64_t raw[static SFLOW_N_TOTALS], int i)
{
	return p->counters_are_polled && raw[i] >= p->raw[i] ? raw[i] - p->raw[i] : (uint32_t)(raw[i] - p->raw[i]);
}

static uint64_t
sent_total(const struct sflow_port *p)
{
	return p->totals[SFLOW_OUT_UCAST] + p->totals[SFLOW_OUT_MCAST] + p->totals[SFLOW_OUT_BCAST];
}

/* A counter that goes back, while octets go on, rises by nearly 2^32: no port discards or spoils so many frames between
 * two counters, and frames have octets. It goes on from where it is. */
static void
follow_back(struct sflow_port *p, const uint64_t raw[static SFLOW_N_TOTALS], const uint64_t octets[static 2])
{
	for (int i = 0; i < SFLOW_N_TOTALS; i++) {
		bool is_rare = i == SFLOW_IN_DISCARDS || i == SFLOW_IN_ERRORS || i == SFLOW_OUT_DISCARDS || i == SFLOW_OUT_ERRORS;
		uint64_t rise = raw[i] == EASE_COUNT_UNKNOWN ? 0 : rise_of(p, raw, i);

		if (rise <= INT32_MAX || (!is_rare && rise <= octets[i >= SFLOW_OUT_UCAST] / (FRAME_MIN_OCTETS / 2)))
			continue;
		p->odd |= 1u << EASE_ODD_COUNTERS;
		p->raw[i] = raw[i];
	}
}

/* Adds the difference. A new base is the counter itself. */
static void
extend_totals(struct sflow_port *p, const uint64_t raw[static SFLOW_N_TOTALS], bool base)
{
	for (int i = 0; i < SFLOW_N_TOTALS; i++) {
		if (raw[i] == EASE_COUNT_UNKNOWN)
			continue;
		p->totals[i] = base ? raw[i] : p->totals[i] + rise_of(p, raw, i);
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

void
sflow_note_sampled(struct sflow_port *p, uint8_t direction, uint32_t frame_octets, uint32_t weight)
{
	p->sampled[direction == EASE_OUT].pkts += weight;
	p->sampled[direction == EASE_OUT].octets += (uint64_t)frame_octets * weight;
	p->n_sampled++;
}

/* Frames of a direction since the counters before; UINT64_MAX: the agent does not count them. */
static uint64_t
frames_since(const struct sflow_port *p, const uint64_t raw[static SFLOW_N_TOTALS], int out)
{
	int first = out ? SFLOW_OUT_UCAST : SFLOW_IN_UCAST;
	uint64_t pkts = 0;

	if (raw[first] == EASE_COUNT_UNKNOWN)
		return UINT64_MAX;
	for (int i = first; i < first + 3; i++)
		pkts += raw[i] == EASE_COUNT_UNKNOWN ? 0 : rise_of(p, raw, i);
	return pkts;
}

/* Extends octets by what is plausible; false: they begin anew. */
static bool
sflow_state_take_octets(struct sflow_port *p, const struct sflow_if_counters *i, const uint64_t raw[static SFLOW_N_TOTALS],
    uint64_t elapsed_us)
{
	enum { ENOUGH = 64 }; /* samples to know a mean length by */
	const uint64_t now[2] = {i->in_octets, i->out_octets};
	uint64_t rise[2] = {0, 0};

	for (int d = 0; d < 2; d++) {
		if (now[d] == SFLOW_UNKNOWN64 || p->raw_octets[d] == SFLOW_UNKNOWN64)
			continue;
		switch (octets_judge(p->raw_octets[d], now[d], frames_since(p, raw, d),
		    p->n_sampled < ENOUGH ? 0 : p->sampled[d].octets, p->is_octets_32, elapsed_us, &rise[d])) {
		case OCTETS_GO_ON:
			break;
		case OCTETS_WRAPPED:
			p->odd |= p->is_octets_32 ? 0 : 1u << EASE_ODD_OCTETS_32;
			p->is_octets_32 = true;
			break;
		case OCTETS_REFUTED:
			p->odd |= 1u << EASE_ODD_COUNTERS;
			return false;
		case OCTETS_BEGIN_ANEW:
			return false;
		}
	}
	p->octets[0] += rise[0];
	p->octets[1] += rise[1];
	return true;
}

/* Counters of a device that began anew count from 0, when its uptime did, or when they were 0: what passed since then is
 * added to that of before. False: neither says so, or they cannot have counted so much since. */
static bool
take_from_zero(struct sflow_port *p, const struct sflow_if_counters *i, const uint64_t raw[static SFLOW_N_TOTALS],
    uint64_t received_us)
{
	enum { LATE_S = 10 }; /* counters may have begun before the agent did */
	const uint64_t now[2] = {i->in_octets, i->out_octets};
	uint64_t up_us = p->counters_again ? p->peer->uptime_ms * UINT64_C(1000) : received_us - p->counters_us;

	if ((!p->counters_again && !p->was_zero) || received_us < p->counters_us + up_us)
		return false;
	for (int d = 0; d < 2 && p->speed_bps > 0; d++)
		if (now[d] != SFLOW_UNKNOWN64 && now[d] / (up_us / 1000000 + LATE_S) > p->speed_bps / 8)
			return false;
	memset(p->raw, 0, sizeof(p->raw));
	memset(p->raw_octets, 0, sizeof(p->raw_octets));
	return sflow_state_take_octets(p, i, raw, up_us);
}

/* What passed from the newest counters of before until then none has counted: it is what its samples stand for. */
static void
sflow_state_add_untold(struct sflow_port *p)
{
	static const enum sflow_total of[2] = {SFLOW_IN_UCAST, SFLOW_OUT_UCAST};

	for (int d = 0; d < 2; d++) {
		p->totals[of[d]] += p->untold[d].pkts;
		p->octets[d] += p->untold[d].octets;
	}
}

struct sflow_port *
sflow_port_of_counters(struct sflow_state *s, struct sflow_peer *peer, uint32_t source_index,
    const struct sflow_if_counters *i, bool is_alone, uint64_t received_us, bool *is_own)
{
	struct sflow_port *source = sflow_port_of(s, peer, source_index, received_us), *named;

	*is_own = source_index == i->if_index;
	if (!source || *is_own) {
		if (source)
			source->has_own_counters = true;
		return source;
	}
	named = sflow_state_find_port(s, peer, i->if_index);
	if (is_alone && !source->has_own_counters && !(named && (named->has_flow || named->has_own_counters)) &&
	    (source->alias == 0 || source->alias == i->if_index)) {
		source->alias = i->if_index;
		*is_own = true;
		return source;
	}
	return sflow_port_of(s, peer, i->if_index, received_us);
}

bool
sflow_is_counted_elsewhere(struct sflow_state *s, const struct sflow_port *p, uint32_t aggregate)
{
	struct sflow_port *whole = aggregate != 0 && aggregate != p->if_index ? sflow_state_find_port(s, p->peer, aggregate) : NULL;

	if (whole)
		whole->has_members = true;
	return !p->has_flow && (p->has_members || (whole && whole->has_flow));
}

/* More than the stated speed allows is no lie of the octets: frames agree with these. Some state megabits. */
static void
hold_speed(struct sflow_port *p, uint64_t stated_bps, uint64_t octets, uint64_t elapsed_us)
{
	enum { SLACK_US = 2000000, MEGA = 1000000 };
	double bits, seconds = (double)(elapsed_us + SLACK_US) / 1e6;
	bool is_odd;

	p->speed_bps = speed_judge(stated_bps, &is_odd);
	if (stated_bps != p->stated_bps) { /* some of it may have passed at another one */
		p->is_speed_denied = false;
		octets = 0;
	}
	p->stated_bps = stated_bps;
	bits = 8.0 * (double)octets;
	p->is_speed_denied |= p->speed_bps > 0 && elapsed_us > SLACK_US && bits > 1.1 * (double)p->speed_bps * seconds;
	if (p->is_speed_denied)
		p->speed_bps = p->speed_bps < MEGA ? p->speed_bps * MEGA : 0;
	p->odd |= is_odd || p->is_speed_denied ? 1u << EASE_ODD_SPEED : 0;
}

/* How many frames it counted in the directions that it samples; a source that is sampled elsewhere, too, does not say. */
static void
sflow_state_hold_samples(struct sflow_state *s, struct sflow_port *p, const uint64_t raw[static SFLOW_N_TOTALS],
    const uint64_t octets[static 2], uint64_t received_us)
{
	uint64_t in = frames_since(p, raw, 0), out = frames_since(p, raw, 1);
	bool is_both = p->samples_in == p->samples_out;

	if (!p->has_flow || in == UINT64_MAX || out == UINT64_MAX || is_elsewhere(s, p, false, received_us))
		return;
	p->odd |= rate_check_counted(&p->rate, is_both ? in + out : p->samples_in ? in : out);
	length_check_counted(&p->lengths, is_both || p->samples_in ? octets[0] : octets[1], is_both || p->samples_in ? in : out);
}

/* Zeros all over, between counters that go on: agents send them where their driver could not be read just then. Zeros
 * twice, or less than before them, are counters that began anew. */
static bool
is_unread(const struct sflow_port *p, const struct sflow_if_counters *i, const uint64_t raw[static SFLOW_N_TOTALS])
{
	uint64_t all = i->in_octets | i->out_octets;

	for (int t = 0; t < SFLOW_N_TOTALS; t++)
		all |= raw[t] == EASE_COUNT_UNKNOWN ? 0 : raw[t];
	return all == 0 && !p->was_zero && !p->counters_again && (p->raw_octets[0] | p->raw_octets[1]) != 0;
}

enum sflow_counters_verdict
sflow_take_counters(struct sflow_state *s, struct sflow_port *p, const struct sflow_counters *c,
    const struct sflow_if_counters *i, const struct number_context *place, uint64_t received_us)
{
	int32_t step = (int32_t)(c->sequence - p->counters_sequence);
	uint64_t elapsed_us = received_us > p->counters_us ? received_us - p->counters_us : 0, sent = sent_total(p);
	uint64_t before[2] = {p->octets[0], p->octets[1]}, rise[2] = {0, 0};
	bool known = p->has_counters, from_zero = false;
	uint64_t raw[SFLOW_N_TOTALS];

	follow_restart(p);
	if (known && !p->counters_again && !place->newer && step <= 0)
		return SFLOW_COUNTERS_OLD;
	p->is_shadowed = is_elsewhere(s, p, true, received_us);
	if (p->is_shadowed) {
		p->odd |= 1u << EASE_ODD_COUNTERS_TWICE;
		p->has_counters = false;
		return SFLOW_COUNTERS_SHADOWED;
	}
	raw_counters(c, i, raw);
	forget_told(p);
	if (known && is_unread(p, i, raw)) {
		p->was_zero = true;
		p->odd |= 1u << EASE_ODD_COUNTERS;
		set_untold(p);
		return SFLOW_COUNTERS_REFUTED;
	}
	/* An agent that began anew need not be a device that did: its counters say. */
	if (known && ((step < 0 && !p->counters_again) ||
	    (!sflow_state_take_octets(p, i, raw, elapsed_us) && !(from_zero = take_from_zero(p, i, raw, received_us))))) {
		p->discontinuity_us = received_us;
		p->waiting_pkts = 0;
		known = false;
		set_untold(p);
		p->began_anew = true;
	}
	p->counters_again = p->was_zero = false;
	for (int d = 0; known && d < 2; d++)
		rise[d] = p->octets[d] - before[d];
	if (known) {
		follow_back(p, raw, rise);
		sflow_state_hold_samples(s, p, raw, rise, received_us);
	}
	if (!known) {
		p->rate.numbers_since = 0;
		p->octets[0] = i->in_octets == SFLOW_UNKNOWN64 ? 0 : i->in_octets;
		p->octets[1] = i->out_octets == SFLOW_UNKNOWN64 ? 0 : i->out_octets;
	}
	hold_speed(p, i->speed_bps, rise[0] > rise[1] ? rise[0] : rise[1], elapsed_us);
	extend_totals(p, raw, !known);
	if (from_zero)
		sflow_state_add_untold(p);
	p->has_counters = true;
	p->counters_are_polled = c->is_polled; /* behind all that looks back at those before */
	p->counters_sequence = c->sequence;
	p->counters_us = received_us;
	p->raw_octets[0] = i->in_octets;
	p->raw_octets[1] = i->out_octets;
	p->n_sampled = 0;
	memset(p->sampled, 0, sizeof(p->sampled));
	if (!p->began_anew)
		memset(p->untold, 0, sizeof(p->untold));
	count_sent(p, known ? sent_total(p) - sent : 0, received_us);
	return SFLOW_COUNTERS_TAKEN;
}

void
sflow_snapshot(const struct sflow_port *p, uint64_t time_us, struct ease_record *record)
{
	const uint64_t *t = p->totals;

	for (int d = 0; d < 2; d++)
		record->uncounted[d] = p->began_anew ? p->untold[d] : (struct ease_uncounted){0};
	record->snapshot = (struct ease_snapshot){
	    .if_index = p->if_index,
	    .time_us = time_us,
	    .in = {p->octets[0], t[SFLOW_IN_UCAST], t[SFLOW_IN_MCAST], t[SFLOW_IN_BCAST],
		t[SFLOW_IN_DISCARDS], t[SFLOW_IN_ERRORS]},
	    .out = {p->octets[1], t[SFLOW_OUT_UCAST], t[SFLOW_OUT_MCAST], t[SFLOW_OUT_BCAST],
		t[SFLOW_OUT_DISCARDS], t[SFLOW_OUT_ERRORS]},
	    .discontinuity_us = p->discontinuity_us,
	    .last_sequence = p->has_flow ? p->line.own : 0,
	    .pool_in_pkts = t[SFLOW_IN_UCAST] + t[SFLOW_IN_MCAST] + t[SFLOW_IN_BCAST],
	    .pool_out_pkts = p->sent_pkts,
	};
}
