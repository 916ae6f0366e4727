#include "agent/sim/wire.h"

#include <errno.h>
#include <string.h>

enum { BITS_AN_OCTET = 8 };
#define NEVER_SLEEPS (UINT64_MAX / 2) /* an idle time so long that adding to it does not overflow */

static inline uint64_t
slot_ns(const struct wire_class *class)
{
	return (uint64_t)WIRE_SLOT_BITS / BITS_AN_OCTET * class->octet_ns;
}

static inline unsigned
first_port(uint64_t ports)
{
	return (unsigned)__builtin_ctzll(ports);
}

static inline uint64_t
later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t
wires_free_ns(const struct wires *l, unsigned port)
{
	const struct wire_class *class = l->port[port].class;

	return class->in_step >> port & 1 ? class->free_ns : l->port[port].free_ns;
}

/* --- sending --- */

void
wires_note_half_duplex(struct wires *l, unsigned port, uint64_t start, uint64_t now)
{
	struct wire *wire = &l->port[port];

	if (wire->rx_free_ns > now && wire->rx_free_ns == start)
		l->count(l->ctx, port, C84302_DEFERRED, 1);
	wire->last_start_ns = start;
}

/* The ports in step send a frame, all at the same time. */
static uint64_t
send_in_step(struct wires *l, struct wire_class *class, uint32_t octets, uint64_t now)
{
	uint64_t start = class->free_ns, asleep = start + class->idle_ns;

	if (start < now)
		start = now;
	if (asleep < now) {
		eee_calendar_model_sleep_many(l->eee, EEE_TX, class->in_step, asleep, now);
		start += class->wake_ns;
	}
	class->free_ns = start + wire_serial_ns(class, octets);
	return class->free_ns;
}

/* A port out of step sends a frame. It is in step again if its queue has become equal to the class's. */
static uint64_t
send_out_of_step(struct wires *l, struct wire_class *class, unsigned port, uint32_t octets, uint64_t now)
{
	const struct wire *wire = &l->port[port];
	uint64_t done = wire_send_alone(l, port, octets, now);

	if (wire->free_ns == class->free_ns && wire->awake_until_ns <= now && wire->paused_until_ns <= now)
		class->in_step |= 1ull << port;
	return done;
}

/* A flooded frame at the ports of one class. */
static uint64_t
flood_class(struct wires *l, struct wire_class *class, uint64_t except, uint32_t octets, uint64_t now, uint64_t *full)
{
	uint64_t slowest = 0, alone;

	for (uint64_t left = class->in_step & except; left != 0; left &= left - 1)
		wire_leave_step(l, first_port(left));
	alone = class->ports & ~class->in_step & ~except;
	if (class->free_ns > now + class->limit_ns)
		*full |= class->in_step;
	else if (class->in_step != 0)
		slowest = send_in_step(l, class, octets, now);
	else if (alone != 0)
		send_in_step(l, class, octets, now); /* so that these ports can come into step */
	for (; alone != 0; alone &= alone - 1) {
		uint64_t done = send_out_of_step(l, class, first_port(alone), octets, now);

		if (done == WIRE_QUEUE_FULL)
			*full |= alone & -alone;
		else
			slowest = later_of(slowest, done);
	}
	return slowest;
}

uint64_t
wires_flood(struct wires *l, uint64_t except, uint32_t octets, uint64_t now, uint64_t *full)
{
	uint64_t slowest = 0;

	*full = 0;
	for (unsigned i = 0; i < l->n_classes; i++) {
		uint64_t done = flood_class(l, &l->classes[i], except, octets, now, full);

		slowest = later_of(slowest, done);
	}
	return slowest;
}

int64_t
wires_pause(struct wires *l, unsigned port, uint32_t quanta, uint64_t now)
{
	struct wire *wire = &l->port[port];
	uint64_t held = later_of(wire->paused_until_ns, now), waiting, before;

	wire_leave_step(l, port);
	before = wire->free_ns;
	waiting = before > held ? before - held : 0;
	wire->paused_until_ns = now + quanta * slot_ns(wire->class);
	wire->free_ns = wire->paused_until_ns + waiting;
	return (int64_t)(wire->free_ns - later_of(before, now));
}

/* --- receiving --- */

static uint32_t
draw_slots(struct wires *l, unsigned attempt)
{
	unsigned bits = attempt < 10 ? attempt : 10;

	l->random = l->random * 1664525u + 1013904223u;
	return l->random >> (32 - bits);
}

/* Two frames have collided: both back off until they draw different numbers of slots. Returns for how
 * long the medium carried neither. */
static uint64_t
back_off(struct wires *l, unsigned port)
{
	uint64_t slot = slot_ns(l->port[port].class), lost = 0;
	unsigned attempt = 0;
	uint32_t ours, theirs;

	do {
		attempt++;
		ours = draw_slots(l, attempt);
		theirs = draw_slots(l, attempt);
		lost += slot * (1 + (ours < theirs ? ours : theirs));
	} while (ours == theirs && attempt < WIRE_MAX_ATTEMPTS - 1);
	l->count(l->ctx, port, C84302_COLLISIONS, attempt);
	l->count(l->ctx, port, attempt == 1 ? C84302_SINGLE_COLLISION
					     : C84302_MULTIPLE_COLLISION, 1);
	return lost;
}

/* Half duplex: this port may be sending. Returns the time when the received frame can begin. */
static uint64_t
share_medium(struct wires *l, unsigned port, uint64_t begin)
{
	struct wire *wire = &l->port[port];
	uint64_t slot = slot_ns(wire->class);

	wire_leave_step(l, port);
	if (begin >= wire->free_ns)
		return begin;
	if (begin >= wire->last_start_ns && begin - wire->last_start_ns < slot)
		wire->free_ns += back_off(l, port);
	return wire->free_ns;
}

uint64_t
wires_receive_half_duplex(struct wires *l, unsigned port, uint64_t begin, uint64_t serial)
{
	struct wire *wire = &l->port[port];

	wire->rx_free_ns = share_medium(l, port, begin) + serial;
	wire->free_ns = wire->rx_free_ns;
	return wire->rx_free_ns;
}

/* --- sleep, links --- */

void
wires_report_sleep(struct wires *l, unsigned entry, uint64_t now)
{
	unsigned port = entry / EEE_DIRECTIONS;
	const struct wire *wire = &l->port[port];
	const struct wire_class *class = wire->class;
	uint64_t idle = entry % EEE_DIRECTIONS == EEE_TX ? wires_free_ns(l, port) : wire->rx_free_ns;
	uint64_t asleep = wire_sleep_ns(class, wire, idle);

	if (class->ports >> port & 1 && asleep < now)
		eee_calendar_model_sleep(l->eee, entry, asleep, now);
}

void
wires_set_link(struct wires *l, unsigned port, bool up, uint64_t now, uint64_t awake_until)
{
	struct wire *wire = &l->port[port];
	struct wire_class *class = wire->class;
	uint64_t bit = 1ull << port;

	if (up == (class->ports >> port & 1))
		return;
	for (unsigned direction = 0; direction < EEE_DIRECTIONS && !up; direction++)
		wires_report_sleep(l, EEE_ENTRY(port, direction), now);
	wire_leave_step(l, port);
	class->ports = up ? class->ports | bit : class->ports & ~bit;
	wire->free_ns = wire->rx_free_ns = wire->paused_until_ns = now;
	wire->awake_until_ns = awake_until;
}

static void
set_up_class(struct wire_class *class, const struct wire_config *config)
{
	class->config = *config;
	class->full_duplex = config->full_duplex;
	class->octet_ns = BITS_AN_OCTET * 1000 / config->speed_mbps;
	class->limit_ns = (uint64_t)WIRE_QUEUE_OCTETS * class->octet_ns;
	class->idle_ns = NEVER_SLEEPS;
	if (config->eee && config->full_duplex)
		class->idle_ns = config->idle_us * 1000ull;
	class->wake_ns = config->speed_mbps >= 1000 ? WIRE_WAKE_1G_NS : WIRE_WAKE_NS;
	if (config->wake_us > 0)
		class->wake_ns = config->wake_us * 1000ull;
}

static bool
is_alike(const struct wire_config *class, const struct wire_config *port)
{
	return class->speed_mbps == port->speed_mbps && class->full_duplex == port->full_duplex &&
	    class->eee == port->eee && class->idle_us == port->idle_us &&
	    class->wake_us == port->wake_us;
}

/* The class of a port, created for its first port; NULL: there are too many classes. */
static struct wire_class *
find_class(struct wires *l, const struct wire_config *config)
{
	unsigned i;

	for (i = 0; i < l->n_classes; i++)
		if (is_alike(&l->classes[i].config, config))
			return &l->classes[i];
	if (i == WIRE_MAX_CLASSES)
		return NULL;
	set_up_class(&l->classes[i], config);
	l->n_classes++;
	return &l->classes[i];
}

int
wires_init(struct wires *l, const struct wire_config *ports, unsigned n)
{
	memset(l, 0, sizeof(*l));
	l->random = 1;
	for (unsigned i = 0; i < n; i++) {
		l->port[i].class = find_class(l, &ports[i]);
		if (!l->port[i].class)
			return -EINVAL;
	}
	return 0;
}
