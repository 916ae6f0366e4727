#include "agent/device/line.h"

#include <errno.h>
#include <string.h>

enum { BITS_AN_OCTET = 8 };
#define NEVER_SLEEPS (UINT64_MAX / 2) /* an idle time: twice that never comes */

static inline uint64_t
slot_ns(const struct line_kind *kind)
{
	return (uint64_t)LINE_SLOT_BITS / BITS_AN_OCTET * kind->octet_ns;
}

static inline unsigned
first_port(uint64_t ports)
{
	return (unsigned)__builtin_ctzll(ports);
}

static inline uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t
lines_free_ns(const struct lines *l, unsigned port)
{
	const struct line_kind *kind = l->port[port].kind;

	return kind->in_step >> port & 1 ? kind->free_ns : l->port[port].free_ns;
}

/* --- frames that leave --- */

void
lines_note_half_duplex(struct lines *l, unsigned port, uint64_t start, uint64_t now)
{
	struct line *line = &l->port[port];

	if (line->rx_free_ns > now && line->rx_free_ns == start)
		l->count(l->ctx, port, C84302_DEFERRED, 1);
	line->last_start_ns = start;
}

/* The ports in step send it, all at the same time. */
static uint64_t
send_in_step(struct lines *l, struct line_kind *kind, uint32_t octets, uint64_t now)
{
	uint64_t start = kind->free_ns, asleep = start + kind->idle_ns;

	if (start < now)
		start = now;
	if (asleep < now) {
		eee_calendar_model_sleep_many(l->eee, EEE_TX, kind->in_step, asleep, now);
		start += kind->wake_ns;
	}
	kind->free_ns = start + line_serial_ns(kind, octets);
	return kind->free_ns;
}

/* By a port out of step, which is in step again if its queue has become equal to the others'. */
static uint64_t
send_out_of_step(struct lines *l, struct line_kind *kind, unsigned port, uint32_t octets,
    uint64_t now)
{
	const struct line *line = &l->port[port];
	uint64_t done = line_send_alone(l, port, octets, now);

	if (line->free_ns == kind->free_ns && line->awake_until_ns <= now &&
	    line->paused_until_ns <= now)
		kind->in_step |= 1ull << port;
	return done;
}

/* A flooded frame at the ports of one kind. */
static uint64_t
flood_kind(struct lines *l, struct line_kind *kind, uint64_t except, uint32_t octets,
    uint64_t now, uint64_t *full)
{
	uint64_t slowest = 0, alone;

	for (uint64_t left = kind->in_step & except; left != 0; left &= left - 1)
		line_fall_out_of_step(l, first_port(left));
	alone = kind->ports & ~kind->in_step & ~except;
	if (kind->free_ns > now + kind->limit_ns)
		*full |= kind->in_step;
	else if (kind->in_step != 0)
		slowest = send_in_step(l, kind, octets, now);
	else if (alone != 0)
		send_in_step(l, kind, octets, now); /* as they will, if they come into step */
	for (; alone != 0; alone &= alone - 1) {
		uint64_t done = send_out_of_step(l, kind, first_port(alone), octets, now);

		if (done == LINE_FULL)
			*full |= alone & -alone;
		else
			slowest = later(slowest, done);
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

	line_fall_out_of_step(l, port);
	before = line->free_ns;
	waiting = before > held ? before - held : 0;
	line->paused_until_ns = now + quanta * slot_ns(line->kind);
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
	uint64_t slot = slot_ns(l->port[port].kind), lost = 0;
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
	uint64_t slot = slot_ns(line->kind);

	line_fall_out_of_step(l, port);
	if (begin >= line->free_ns)
		return begin;
	if (begin >= line->last_start_ns && begin - line->last_start_ns < slot)
		line->free_ns += back_off(l, port);
	return line->free_ns;
}

uint64_t
lines_receive_half_duplex(struct lines *l, unsigned port, uint64_t begin, uint64_t serial)
{
	struct line *line = &l->port[port];

	line->rx_free_ns = share_medium(l, port, begin) + serial;
	line->free_ns = line->rx_free_ns;
	return line->rx_free_ns;
}

/* --- telling, links --- */

void
lines_tell_sleep(struct lines *l, unsigned entry, uint64_t now)
{
	unsigned port = entry / EEE_DIRECTIONS;
	const struct line *line = &l->port[port];
	const struct line_kind *kind = line->kind;
	uint64_t idle = entry % EEE_DIRECTIONS == EEE_TX ? lines_free_ns(l, port) : line->rx_free_ns;
	uint64_t asleep = line_sleep_ns(kind, line, idle);

	if (kind->ports >> port & 1 && asleep < now)
		eee_calendar_model_sleep(l->eee, entry, asleep, now);
}

void
lines_set_link(struct lines *l, unsigned port, bool up, uint64_t now, uint64_t awake_until)
{
	struct line *line = &l->port[port];
	struct line_kind *kind = line->kind;
	uint64_t bit = 1ull << port;

	if (up == (kind->ports >> port & 1))
		return;
	for (unsigned direction = 0; direction < EEE_DIRECTIONS && !up; direction++)
		lines_tell_sleep(l, EEE_ENTRY(port, direction), now);
	line_fall_out_of_step(l, port);
	kind->ports = up ? kind->ports | bit : kind->ports & ~bit;
	line->free_ns = line->rx_free_ns = line->paused_until_ns = now;
	line->awake_until_ns = awake_until;
}

static void
set_up_kind(struct line_kind *kind, const struct line_config *config)
{
	kind->config = *config;
	kind->full_duplex = config->full_duplex;
	kind->octet_ns = BITS_AN_OCTET * 1000 / config->speed_mbps;
	kind->limit_ns = (uint64_t)LINE_QUEUE_OCTETS * kind->octet_ns;
	kind->idle_ns = NEVER_SLEEPS;
	if (config->eee && config->full_duplex)
		kind->idle_ns = config->idle_us * 1000ull;
	kind->wake_ns = config->speed_mbps >= 1000 ? LINE_WAKE_1G_NS : LINE_WAKE_NS;
	if (config->wake_us > 0)
		kind->wake_ns = config->wake_us * 1000ull;
}

static bool
is_alike(const struct line_config *kind, const struct line_config *port)
{
	return kind->speed_mbps == port->speed_mbps && kind->full_duplex == port->full_duplex &&
	    kind->eee == port->eee && kind->idle_us == port->idle_us &&
	    kind->wake_us == port->wake_us;
}

/* The kind of a port, made if it is the first of its kind; NULL: there are too many. */
static struct line_kind *
find_kind(struct lines *l, const struct line_config *config)
{
	unsigned i;

	for (i = 0; i < l->n_kinds; i++)
		if (is_alike(&l->kinds[i].config, config))
			return &l->kinds[i];
	if (i == LINE_MAX_KINDS)
		return NULL;
	set_up_kind(&l->kinds[i], config);
	l->n_kinds++;
	return &l->kinds[i];
}

int
lines_init(struct lines *l, const struct line_config *ports, unsigned n)
{
	memset(l, 0, sizeof(*l));
	l->random = 1;
	for (unsigned i = 0; i < n; i++) {
		l->port[i].kind = find_kind(l, &ports[i]);
		if (!l->port[i].kind)
			return -EINVAL;
	}
	return 0;
}
