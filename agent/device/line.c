#include "agent/device/line.h"

#include <errno.h>
#include <string.h>

enum { BITS_AN_OCTET = 8, PS_A_NS = 1000 };

static inline uint64_t
serial_ns(const struct line_kind *kind, uint32_t octets)
{
	return (uint64_t)(octets + LINE_OVERHEAD_OCTETS) * kind->octet_ps / PS_A_NS;
}

static inline uint64_t
slot_ns(const struct line_kind *kind)
{
	return (uint64_t)LINE_SLOT_BITS / BITS_AN_OCTET * kind->octet_ps / PS_A_NS;
}

static inline struct line_kind *
kind_of(struct lines *l, unsigned port)
{
	return &l->kinds[l->port[port].kind];
}

static inline unsigned
first_port(uint64_t ports)
{
	return (unsigned)__builtin_ctzll(ports);
}

/* The port is about to do something that the others of its kind do not. */
static inline void
fall_out_of_step(struct lines *l, unsigned port)
{
	struct line_kind *kind = kind_of(l, port);

	if (!(kind->in_step >> port & 1))
		return;
	kind->in_step &= ~(1ull << port);
	l->port[port].free_ns = kind->free_ns;
}

uint64_t
lines_free_ns(const struct lines *l, unsigned port)
{
	const struct line_kind *kind = &l->kinds[l->port[port].kind];

	return kind->in_step >> port & 1 ? kind->free_ns : l->port[port].free_ns;
}

/* --- low-power idle --- */

/* A direction of a line, idle since `idle`, that is to be awake at now: whether it fell asleep. */
static inline bool
falls_asleep(const struct line_kind *kind, uint64_t idle, uint64_t now)
{
	return kind->config.eee && idle + kind->idle_ns < now;
}

/* It sleeps until now; what was told of it before is not told again. */
static inline void
tell(struct lines *l, const struct line_kind *kind, unsigned entry, uint64_t idle, uint64_t now)
{
	uint64_t from = idle + kind->idle_ns;

	if (from < l->told_ns)
		from = l->told_ns;
	if (l->eee && from < now)
		eee_calendar_model_sleep(l->eee, entry, from, now);
}

/* When a frame that is there at now can go out of a port that is free from `free` on. */
static inline uint64_t
start_of(const struct line_kind *kind, uint64_t free, uint64_t now)
{
	if (free >= now)
		return free;
	return falls_asleep(kind, free, now) ? now + kind->wake_ns : now;
}

/* --- frames that leave --- */

/* What is queued began or begins to leave at now; paused, later. */
static inline bool
is_full(const struct line_kind *kind, uint64_t free, uint64_t now)
{
	return free > now + kind->limit_ns;
}

static inline uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Sends by a port that is out of step: when it is done, or LINE_FULL. */
static uint64_t
send_alone(struct lines *l, unsigned port, uint32_t octets, uint64_t now)
{
	struct line_kind *kind = kind_of(l, port);
	struct line *line = &l->port[port];
	uint64_t start;

	if (is_full(kind, line->free_ns, later(now, line->paused_until_ns)))
		return LINE_FULL;
	if (falls_asleep(kind, line->free_ns, now) && line->settled_ns <= now)
		tell(l, kind, EEE_ENTRY(port, EEE_TX), line->free_ns, now);
	start = start_of(kind, line->free_ns, now);
	if (!kind->config.full_duplex && line->rx_free_ns > now && line->rx_free_ns == start)
		l->count(l->ctx, port, C84302_DEFERRED, 1);
	line->last_start_ns = start;
	line->free_ns = start + serial_ns(kind, octets);
	return line->free_ns;
}

uint64_t
lines_send(struct lines *l, unsigned port, uint32_t octets, uint64_t now)
{
	fall_out_of_step(l, port);
	return send_alone(l, port, octets, now);
}

/* The ports in step send it, all at the same time. */
static uint64_t
send_in_step(struct lines *l, struct line_kind *kind, uint64_t ports, uint32_t octets,
    uint64_t now)
{
	if (l->eee && falls_asleep(kind, kind->free_ns, now))
		for (uint64_t left = ports; left != 0; left &= left - 1)
			tell(l, kind, EEE_ENTRY(first_port(left), EEE_TX), kind->free_ns, now);
	kind->free_ns = start_of(kind, kind->free_ns, now) + serial_ns(kind, octets);
	return kind->free_ns;
}

static inline void
note(uint64_t done, unsigned port, uint64_t *slowest, uint64_t *full)
{
	if (done == LINE_FULL)
		*full |= 1ull << port;
	else if (done > *slowest)
		*slowest = done;
}

/* A flooded frame at the ports of one kind. */
static uint64_t
flood_kind(struct lines *l, struct line_kind *kind, uint64_t except, uint32_t octets,
    uint64_t now, uint64_t *full)
{
	uint64_t slowest = 0, in_step, alone;

	for (uint64_t left = kind->in_step & except; left != 0; left &= left - 1)
		fall_out_of_step(l, first_port(left));
	in_step = kind->in_step;
	alone = kind->ports & ~in_step & ~except;
	if (is_full(kind, kind->free_ns, now))
		*full |= in_step;
	else if (in_step != 0 || alone != 0)
		slowest = send_in_step(l, kind, in_step, octets, now);
	if (in_step == 0)
		slowest = 0;
	for (; alone != 0; alone &= alone - 1) {
		unsigned port = first_port(alone);
		struct line *line = &l->port[port];

		note(send_alone(l, port, octets, now), port, &slowest, full);
		if (line->free_ns == kind->free_ns && line->settled_ns <= now &&
		    line->paused_until_ns <= now)
			kind->in_step |= 1ull << port;
	}
	return slowest;
}

uint64_t
lines_flood(struct lines *l, uint64_t except, uint32_t octets, uint64_t now, uint64_t *full)
{
	uint64_t slowest = 0;

	*full = 0;
	for (unsigned i = 0; i < l->n_kinds; i++) {
		uint64_t done = flood_kind(l, &l->kinds[i], except, octets, now, full);

		slowest = later(slowest, done);
	}
	return slowest;
}

int64_t
lines_pause(struct lines *l, unsigned port, uint32_t quanta, uint64_t now)
{
	struct line *line = &l->port[port];
	uint64_t held = later(line->paused_until_ns, now), waiting, before;

	fall_out_of_step(l, port);
	before = line->free_ns;
	waiting = before > held ? before - held : 0;
	line->paused_until_ns = now + quanta * slot_ns(kind_of(l, port));
	line->free_ns = line->paused_until_ns + waiting;
	return (int64_t)(line->free_ns - later(before, now));
}

/* --- frames that come in --- */

static uint32_t
draw(struct lines *l, unsigned attempt)
{
	unsigned bits = attempt < 10 ? attempt : 10;

	l->random = l->random * 1664525u + 1013904223u;
	return l->random >> (32 - bits);
}

/* Two frames have met: both back off until they draw different numbers of slots. Returns for how
 * long the medium carried neither. */
static uint64_t
back_off(struct lines *l, unsigned port)
{
	uint64_t slot = slot_ns(kind_of(l, port)), lost = 0;
	unsigned attempt = 0;
	uint32_t ours, theirs;

	do {
		attempt++;
		ours = draw(l, attempt);
		theirs = draw(l, attempt);
		lost += slot * (1 + (ours < theirs ? ours : theirs));
	} while (ours == theirs && attempt < LINE_MAX_ATTEMPTS - 1);
	l->count(l->ctx, port, C84302_COLLISIONS, attempt);
	l->count(l->ctx, port, attempt == 1 ? C84302_SINGLE_COLLISION
					     : C84302_MULTIPLE_COLLISION, 1);
	return lost;
}

/* The medium may be taken by what this port sends. Returns when the frame can begin. */
static uint64_t
share_medium(struct lines *l, unsigned port, uint64_t begin)
{
	struct line *line = &l->port[port];
	uint64_t slot = slot_ns(kind_of(l, port));

	fall_out_of_step(l, port);
	if (begin >= line->free_ns)
		return begin;
	if (begin >= line->last_start_ns && begin - line->last_start_ns < slot)
		line->free_ns += back_off(l, port);
	return line->free_ns;
}

uint64_t
lines_receive(struct lines *l, unsigned port, uint32_t octets, uint64_t now)
{
	struct line_kind *kind = kind_of(l, port);
	struct line *line = &l->port[port];
	uint64_t serial = serial_ns(kind, octets), idle = line->rx_free_ns;
	uint64_t begin = now > serial ? now - serial : 0;

	if (begin < idle)
		begin = idle;
	else if (falls_asleep(kind, idle + kind->wake_ns, begin) && line->settled_ns <= now)
		tell(l, kind, EEE_ENTRY(port, EEE_RX), idle, begin - kind->wake_ns);
	if (!kind->config.full_duplex)
		begin = share_medium(l, port, begin);
	line->rx_free_ns = begin + serial;
	if (!kind->config.full_duplex)
		line->free_ns = line->rx_free_ns;
	return line->rx_free_ns;
}

/* --- telling, links --- */

static void
tell_port(struct lines *l, const struct line_kind *kind, unsigned port, uint64_t now)
{
	const struct line *line = &l->port[port];

	if (!kind->config.eee || line->settled_ns > now)
		return;
	tell(l, kind, EEE_ENTRY(port, EEE_TX), lines_free_ns(l, port), now);
	tell(l, kind, EEE_ENTRY(port, EEE_RX), line->rx_free_ns, now);
}

void
lines_tell_sleep(struct lines *l, uint64_t now)
{
	if (!l->eee || now <= l->told_ns)
		return;
	for (unsigned i = 0; i < l->n_kinds && l->told_ns != 0; i++)
		for (uint64_t left = l->kinds[i].ports; left != 0; left &= left - 1)
			tell_port(l, &l->kinds[i], first_port(left), now);
	l->told_ns = now;
}

void
lines_set_link(struct lines *l, unsigned port, bool up, uint64_t now)
{
	struct line_kind *kind = kind_of(l, port);
	struct line *line = &l->port[port];
	uint64_t bit = 1ull << port;

	if (up == (kind->ports >> port & 1))
		return;
	if (!up && l->told_ns != 0)
		tell_port(l, kind, port, now);
	fall_out_of_step(l, port);
	kind->ports = up ? kind->ports | bit : kind->ports & ~bit;
	line->free_ns = line->rx_free_ns = line->paused_until_ns = now;
	line->settled_ns = now == 0 ? 0 : now + LINE_SETTLE_NS;
}

static void
set_up_kind(struct line_kind *kind, const struct line_config *config)
{
	kind->config = *config;
	kind->config.eee = config->eee && config->full_duplex;
	kind->octet_ps = BITS_AN_OCTET * 1000000u / config->speed_mbps;
	kind->limit_ns = (uint64_t)LINE_QUEUE_OCTETS * kind->octet_ps / PS_A_NS;
	kind->idle_ns = config->idle_us * 1000ull;
	kind->wake_ns = config->speed_mbps >= 1000 ? LINE_WAKE_1G_NS : LINE_WAKE_NS;
	if (config->wake_us > 0)
		kind->wake_ns = config->wake_us * 1000ull;
}

static bool
is_alike(const struct line_config *kind, const struct line_config *port)
{
	return kind->speed_mbps == port->speed_mbps && kind->full_duplex == port->full_duplex &&
	    kind->eee == (port->eee && port->full_duplex) && kind->idle_us == port->idle_us &&
	    kind->wake_us == port->wake_us;
}

/* The kind of a port, made if it is the first of its kind; LINE_MAX_KINDS: there are too many. */
static unsigned
find_kind(struct lines *l, const struct line_config *config)
{
	unsigned i;

	for (i = 0; i < l->n_kinds; i++)
		if (is_alike(&l->kinds[i].config, config))
			return i;
	if (i < LINE_MAX_KINDS) {
		set_up_kind(&l->kinds[i], config);
		l->n_kinds++;
	}
	return i;
}

int
lines_init(struct lines *l, const struct line_config *ports, unsigned n)
{
	memset(l, 0, sizeof(*l));
	l->random = 1;
	for (unsigned i = 0; i < n; i++) {
		unsigned kind = find_kind(l, &ports[i]);

		if (kind == LINE_MAX_KINDS)
			return -EINVAL;
		l->port[i].kind = (uint8_t)kind;
	}
	return 0;
}
