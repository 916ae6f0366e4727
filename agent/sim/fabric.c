#include "agent/sim/fabric.h"

#include "agent/sim/board_regs.h"
#include "agent/sim/buffers.h"
#include "agent/sim/chip/c84302_model.h"
#include "agent/sim/chip/galnet_model.h"
#include "agent/sim/wire.h"

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name stat_names[FABRIC_N_STATS] = {
    [FABRIC_STAT_FRAMES] = {"board.frames", "frames received by ports that were up"},
    [FABRIC_STAT_PORT_DOWN] = {"board.port_down", "frames dropped: their port was down"},
    [FABRIC_STAT_HELD] = {"board.held", "frames delayed by flow control: their senders were told to wait"},
    [FABRIC_STAT_HELD_LOST] = {"board.held_lost", "frames dropped: too many were delayed by flow control"},
};

/* The chips and channels that a port is wired to. */
struct wiring {
	struct galnet_model *chip;
	unsigned device, channel;
	struct c84302_model *mac;
	unsigned mac_port;
	const uint32_t *max_octets; /* longest good frame, a setting of the MAC */
	struct tnetx4090_partner partner; /* valid while the link is up; pause is for both directions */
};

/* Good frames since a port's sums were last added to its counters, modulo 2^32: those received, those
 * sent other than flooded ones (minus the flooded ones that it received), and the value of
 * fabric.flooded at that time. */
struct port_sums {
	struct c84302_sums received, sent, flooded_before;
};

struct fabric {
	struct bus_model *bus;
	struct regmodel glue;
	struct galnet_model *chips[BOARD_MAX_SWITCH_CHIPS]; /* by device number */
	struct galnet_ease ease;
	unsigned first_port[BOARD_MAX_SWITCH_CHIPS];
	unsigned n_chips;
	struct c84302_model *macs[BOARD_MAX_MAC_CHIPS];
	unsigned n_macs;
	struct eee_calendar_model *eee; /* NULL: the board has none */
	struct wiring ports[BOARD_MAX_PORTS];
	unsigned n_ports;
	uint64_t now_ns; /* board time */
	bool links_changed; /* ports may have come up or gone down since wires was updated */
	bool links_known;   /* wires was updated at least once */
	bool eee_read;	    /* the CPU has accessed the EEE unit since its counts were last updated */
	uint64_t links_up;  /* ports that were up at that update, a bit each */
	uint64_t ready;	    /* links_up if no link has changed since, else 0 */
	struct wires wires;
	struct buffers buffers;
	struct c84302_sums flooded; /* since create */
	struct port_sums sums[BOARD_MAX_PORTS];
	uint64_t frames; /* since the sums of all ports were last added */
	_Atomic uint64_t stat_values[FABRIC_N_STATS];
	struct stat_set stats;
};

/* The sums of all ports are added to the counters at least this often: at 65,535 octets each, so many
 * frames are below 2^31, the most that a MAC's counter can be increased by at once. */
enum { SETTLE_FRAMES = 16384 };

/* --- the path of a frame ---
 *
 * The steps of every frame are inlined into one function: */
#define EVERY_FRAME static inline __attribute__((always_inline))
/* the steps of few frames are not. */
#define FEW_FRAMES static __attribute__((noinline))

enum { HEADER_OCTETS = 14, TYPE_MAC_CONTROL = 0x8808, OPCODE_PAUSE = 1 };
#define BROADCAST 0xffffffffffffull

static inline uint64_t
word_at(const uint8_t *octets)
{
	uint64_t word;

	memcpy(&word, octets, sizeof(word));
	return be64toh(word);
}

static inline uint8_t
fabric_kind_of(uint64_t destination)
{
	if (!(destination >> 40 & 1))
		return C84302_UCAST;
	return destination == BROADCAST ? C84302_BCAST : C84302_MCAST;
}

static inline void
classify_frame(struct c84302_frame *mac, uint64_t destination)
{
	mac->kind = fabric_kind_of(destination);
	mac->sum = (uint8_t)c84302_sum_of(mac->kind, mac->octets);
}

static uint8_t
control_of(const struct feed_frame *f)
{
	if (f->captured_octets < HEADER_OCTETS + 2)
		return C84302_UNKNOWN_OPCODE;
	return f->octets[14] == 0 && f->octets[15] == OPCODE_PAUSE ? C84302_PAUSE
								   : C84302_UNKNOWN_OPCODE;
}

/* Describes the frame for the two chips. A frame without a whole header is a runt without addresses. */
EVERY_FRAME void
look_at(const struct feed_frame *f, struct c84302_frame *mac, struct galnet_frame *frame)
{
	uint64_t source_and_type;

	*mac = (struct c84302_frame){.octets = f->wire_octets, .faults = f->faults};
	*frame = (struct galnet_frame){.octets = f->octets, .captured_octets = f->captured_octets,
	    .data_octets = f->data_octets, .wire_octets = f->wire_octets};
	if (__builtin_expect(f->captured_octets < HEADER_OCTETS, 0)) {
		classify_frame(mac, 0);
		return;
	}
	source_and_type = word_at(f->octets + 6);
	frame->destination = word_at(f->octets) >> 16;
	frame->source = source_and_type >> 16;
	mac->length_type = (uint16_t)source_and_type;
	classify_frame(mac, frame->destination);
	if (mac->length_type != TYPE_MAC_CONTROL)
		return;
	mac->control = control_of(f);
	frame->control = true;
}

/* Adds n frames like this one; n may be negative. */
static inline void
fabric_add_sums(struct c84302_sums *sums, const struct c84302_frame *frame, uint32_t n)
{
	sums->octets += n * frame->octets;
	sums->pkts[frame->sum] += n;
}

/* --- sending --- */

/* Corrects the counts: the port does not send a frame that was counted as sent. */
static void
fabric_take_back(struct fabric *f, unsigned port)
{
	const struct wiring *out = &f->ports[port];

	galnet_ease_uncount(&f->ease, galnet_ease_counter(out->device, out->channel));
}

FEW_FRAMES void
discard_at(struct fabric *f, unsigned port)
{
	const struct wiring *out = &f->ports[port];

	fabric_take_back(f, port);
	c84302_model_event(out->mac, out->mac_port, C84302_OUT_DISCARDS, 1);
}

/* Returns the time when the port will have sent it; 0: its queue was full. */
EVERY_FRAME uint64_t
send_frame(struct fabric *f, unsigned port, const struct c84302_frame *mac, uint64_t at)
{
	uint64_t done = wires_send(&f->wires, port, mac->octets, at);

	if (__builtin_expect(done == WIRE_QUEUE_FULL, 0)) {
		discard_at(f, port);
		return 0;
	}
	fabric_add_sums(&f->sums[port].sent, mac, 1);
	return done;
}

/* Corrects the counts for ports that do not send a flooded frame: limited ones have too many waiting
 * multicasts, full ones a full queue. */
FEW_FRAMES void
leave_out(struct fabric *f, uint64_t limited, uint64_t full, const struct c84302_frame *mac)
{
	for (uint64_t left = limited | full; left != 0; left &= left - 1) {
		unsigned port = (unsigned)__builtin_ctzll(left);

		fabric_add_sums(&f->sums[port].sent, mac, UINT32_MAX);
		if (full >> port & 1)
			discard_at(f, port);
		else
			fabric_take_back(f, port);
	}
}

/* Sends by all ports of all chips except the input port; returns when the slowest will have sent it. */
FEW_FRAMES uint64_t
flood_frame(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *frame, uint64_t at)
{
	bool counts_multicasts = f->buffers.n_pools > 0 && mac->kind != C84302_UCAST;
	uint64_t own = 1ull << port, limited = 0, full, done;

	if (counts_multicasts)
		limited = buffers_leave_out(&f->buffers, f->links_up & ~own);
	done = wires_flood(&f->wires, limited | own, mac->octets, at, &full);
	if (counts_multicasts)
		buffers_queue_multicast(&f->buffers, &f->wires, f->links_up & ~(own | limited | full));
	fabric_add_sums(&f->flooded, mac, 1);
	fabric_add_sums(&f->sums[port].sent, mac, UINT32_MAX);
	if (__builtin_expect((limited | full) != 0, 0))
		leave_out(f, limited, full, mac);
	for (unsigned i = 0; f->ease.sampled_devices != 0 && i < f->n_chips; i++)
		if (f->ease.sampled_devices >> i & 1)
			galnet_model_receive_flooded(f->chips[i], frame);
	return done;
}

/* Sends over PCI to a port of another chip, if there is such a chip. */
EVERY_FRAME uint64_t
send_over_pci(struct fabric *f, struct galnet_route to, const struct c84302_frame *mac,
    const struct galnet_frame *frame, uint64_t at, unsigned *port)
{
	if (to.device >= f->n_chips || galnet_model_receive_pci(f->chips[to.device], 1u << to.port, frame) == 0)
		return 0;
	*port = f->first_port[to.device] + to.port;
	return send_frame(f, *port, mac, at);
}

/* Sends by these ports of a chip, a bit each; returns when the slowest will have sent it. */
static uint64_t
send_by(struct fabric *f, unsigned device, uint32_t ports, const struct c84302_frame *mac, uint64_t at)
{
	uint64_t last = 0;

	for (; ports != 0; ports &= ports - 1) {
		uint64_t done =
		    send_frame(f, f->first_port[device] + (unsigned)__builtin_ctz(ports), mac, at);

		last = done > last ? done : last;
	}
	return last;
}

/* Floods where some chip has its own rules: each chip decides by itself. */
FEW_FRAMES uint64_t
spread_to_chips(struct fabric *f, unsigned device, const struct galnet_route *to,
    const struct c84302_frame *mac, const struct galnet_frame *frame, uint64_t at)
{
	uint64_t last = send_by(f, device, to->ports, mac, at);

	for (unsigned i = 0; i < f->n_chips; i++) {
		uint64_t done;

		if (i == device)
			continue;
		done = send_by(f, i, galnet_model_receive_spread(f->chips[i], to->unknown, frame), mac, at);
		last = done > last ? done : last;
	}
	return last;
}

/* Also sends a packet of a monitored port by a port of the board. */
static void
fabric_send_to_sniffer(void *ctx, unsigned device, unsigned channel, const struct galnet_frame *frame)
{
	struct fabric *f = ctx;
	struct c84302_frame mac = {.octets = frame->wire_octets};
	unsigned port;

	classify_frame(&mac, frame->destination);
	if (device >= f->n_chips || !(galnet_model_forwarding(f->chips[device]) >> channel & 1))
		return;
	port = f->first_port[device] + channel;
	if (wires_send(&f->wires, port, mac.octets, f->now_ns) != WIRE_QUEUE_FULL)
		fabric_add_sums(&f->sums[port].sent, &mac, 1);
	else
		c84302_model_event(
		    f->ports[port].mac, f->ports[port].mac_port, C84302_OUT_DISCARDS, 1);
}

/* Returns the time when the last port will have sent it; 0: no port sends it. */
EVERY_FRAME uint64_t
forward_frame(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *frame, uint64_t at, unsigned *slowest)
{
	struct wiring *in = &f->ports[port];
	struct galnet_route to = galnet_model_receive(in->chip, in->channel, frame);

	*slowest = BUFFERS_MANY;
	switch (to.verdict) {
	case GALNET_DISCARD:
	case GALNET_TO_CPU:
		break;
	case GALNET_TO_PORT:
		*slowest = f->first_port[to.device] + to.port;
		return send_frame(f, *slowest, mac, at);
	case GALNET_TO_DEVICE:
		return send_over_pci(f, to, mac, frame, at, slowest);
	case GALNET_FLOOD:
		return flood_frame(f, port, mac, frame, at);
	case GALNET_SPREAD:
		return spread_to_chips(f, in->device, &to, mac, frame, at);
	}
	return 0;
}

/* --- receiving --- */

/* Counts it as received; true if it is good. */
EVERY_FRAME bool
receive_at(struct fabric *f, unsigned port, const struct c84302_frame *mac, bool plain)
{
	const struct wiring *in = &f->ports[port];

	if (__builtin_expect(!plain, 0))
		return c84302_model_receive(in->mac, in->mac_port, mac);
	fabric_add_sums(&f->sums[port].received, mac, 1);
	return true;
}

/* The partner sends PAUSE: the port stops, or continues. */
FEW_FRAMES void
pause_port(struct fabric *f, unsigned port, const struct feed_frame *frame, uint64_t at)
{
	enum { QUANTA = 16 };
	uint32_t quanta;
	int64_t by;

	if (!f->ports[port].partner.pause || frame->captured_octets < QUANTA + 2)
		return;
	quanta = (uint32_t)frame->octets[QUANTA] << 8 | frame->octets[QUANTA + 1];
	by = wires_pause(&f->wires, port, quanta, at);
	if (f->buffers.n_pools > 0)
		buffers_shift(&f->buffers, port, by, f->wires.port[port].paused_until_ns, at);
}

/* Reports the source of a bad frame, for the two errors that the chip reports. */
FEW_FRAMES void
report_error(struct fabric *f, unsigned port, const struct c84302_frame *mac, const struct galnet_frame *seen)
{
	const struct wiring *in = &f->ports[port];
	bool bad_fcs = mac->faults & (C84302_FAULT_FCS | C84302_FAULT_ALIGNMENT);

	if (mac->octets < C84302_MIN_OCTETS || mac->faults & C84302_FAULT_OVERFLOW)
		return;
	if (bad_fcs || mac->octets > *in->max_octets)
		galnet_model_error_source(in->chip, in->channel, seen->source, !bad_fcs);
}

/* A frame that was received and admitted to the buffers. *slowest is the port that sends it last.
 * Returns when that port will have sent it; 0: no port sends it. */
EVERY_FRAME uint64_t
take_in(struct fabric *f, const struct feed_frame *frame, const struct c84302_frame *mac,
    bool plain, const struct galnet_frame *seen, unsigned *slowest)
{
	unsigned port = frame->port;
	uint64_t at = wires_receive(&f->wires, port, mac->octets, f->now_ns);

	f->frames++;
	if (__builtin_expect(!receive_at(f, port, mac, plain), 0)) {
		report_error(f, port, mac, seen);
		return 0;
	}
	if (__builtin_expect(mac->control == C84302_PAUSE, 0))
		pause_port(f, port, frame, at);
	return forward_frame(f, port, mac, seen, at, slowest);
}

/* The sender keeps the frame until it is let in. */
static void
hold_frame(struct fabric *f, const struct feed_frame *frame)
{
	if (buffers_hold(&f->buffers, frame) < 0)
		stat_add(&f->stats, FABRIC_STAT_HELD_LOST, 1);
	else
		stat_add(&f->stats, FABRIC_STAT_HELD, 1);
}

/* Bad frames and MAC control frames end at the MAC and take no buffers. */
FEW_FRAMES bool
takes_buffers(const struct c84302_frame *mac, uint32_t max_octets)
{
	return mac->octets >= C84302_MIN_OCTETS && mac->octets <= max_octets && (mac->control | mac->faults) == 0;
}

FEW_FRAMES void
count_collision(struct fabric *f, unsigned port)
{
	const struct wiring *in = &f->ports[port];

	c84302_model_event(in->mac, in->mac_port, C84302_COLLISIONS, 1);
}

/* The pool has dropped and counted the frame; the MAC still has received it. */
FEW_FRAMES void
drop_at(struct fabric *f, unsigned port, const struct c84302_frame *mac, bool plain)
{
	wires_receive(&f->wires, port, mac->octets, f->now_ns);
	receive_at(f, port, mac, plain);
	f->frames++;
}

/* A frame at a port whose link is up. False if its sender must try again. */
EVERY_FRAME bool
pass_frame(struct fabric *f, const struct feed_frame *frame)
{
	struct c84302_frame mac;
	struct galnet_frame seen;
	unsigned slowest = BUFFERS_MANY;
	uint32_t n_buffers = 0;
	uint64_t done;
	uint32_t max_octets = *f->ports[frame->port].max_octets;
	bool plain, buffered;

	look_at(frame, &mac, &seen);
	plain = c84302_model_is_plain(&mac, max_octets);
	buffered = f->buffers.n_pools > 0 && (plain || takes_buffers(&mac, max_octets));
	if (buffered) {
		switch (buffers_admit(
		    &f->buffers, frame->port, mac.octets, f->now_ns, &n_buffers)) {
		case TNETX4090_COLLIDE: /* also counted by the MAC of the port */
			count_collision(f, frame->port);
			return false;
		case TNETX4090_PAUSE:
			return false;
		case TNETX4090_DROP:
			drop_at(f, frame->port, &mac, plain);
			return true;
		case TNETX4090_ACCEPT:
			break;
		}
	}
	done = take_in(f, frame, &mac, plain, &seen, &slowest);
	if (buffered)
		buffers_keep(&f->buffers, frame->port, n_buffers, done ? done : f->now_ns, slowest);
	return true;
}

/* Tries again for a frame that has waited. */
FEW_FRAMES bool
try_again(struct fabric *f, const struct feed_frame *frame)
{
	return pass_frame(f, frame);
}

/* Lets waiting senders try again, in the order of their ports. */
static void
retry_held(struct fabric *f)
{
	for (unsigned port = 0; f->buffers.n_held > 0 && port < f->n_ports; port++) {
		const struct feed_frame *first;

		while ((first = buffers_first_held(&f->buffers, port)) && try_again(f, first))
			free(buffers_pop_held(&f->buffers, port));
	}
}

/* Releases the buffers of frames whose time has come, and lets waiting frames in. */
static void
release_buffers(struct fabric *f, uint64_t now_ns)
{
	while (f->buffers.n_held > 0 && buffers_next_ns(&f->buffers) <= now_ns) {
		uint64_t at = buffers_next_ns(&f->buffers);

		if (at > f->now_ns)
			f->now_ns = at;
		buffers_release_next(&f->buffers);
		retry_held(f);
	}
	if (f->buffers.n_pools > 0)
		buffers_release(&f->buffers, now_ns); /* no sender waits for these */
}

/* After ports may have come up or gone down. */
static void
follow_links(struct fabric *f)
{
	static const struct tnetx4090_partner gone = {0};
	/* At the start of a board its links have been up for a long time. */
	uint64_t awake_until = f->now_ns + (f->links_known ? WIRE_SETTLE_NS : 0);

	release_buffers(f, f->now_ns);
	f->links_known = true;
	f->links_changed = false;
	f->links_up = 0;
	for (unsigned i = 0; i < f->n_ports; i++) {
		const struct wiring *w = &f->ports[i];
		bool up = galnet_model_ports_up(w->chip) >> w->channel & 1;

		wires_set_link(&f->wires, i, up, f->now_ns, awake_until);
		if (f->buffers.n_pools > 0)
			tnetx4090_model_set_partner(f->buffers.places[i].pool,
			    f->buffers.places[i].port, up ? &w->partner : &gone, f->now_ns);
		f->links_up |= (uint64_t)up << i;
	}
	f->ready = f->links_up;
}

/* Time never goes back. */
static inline void
set_time(struct fabric *f, uint64_t now_us)
{
	uint64_t now_ns = now_us * 1000;

	if (f->buffers.eager && buffers_next_ns(&f->buffers) <= now_ns)
		release_buffers(f, now_ns);
	if (now_ns > f->now_ns)
		f->now_ns = now_ns;
}

void
fabric_set_time(struct fabric *f, uint64_t now_us)
{
	set_time(f, now_us);
}

/* Handles everything except a frame at a port that is up. True if the event is handled completely. */
FEW_FRAMES bool
handle_rare(struct fabric *f, const struct feed_frame *frame)
{
	const struct wiring *in = &f->ports[frame->port];

	if (f->links_changed)
		follow_links(f);
	if (frame->event != FEED_FRAME) {
		fabric_set_link(f, frame->port, frame->event == FEED_LINK_UP);
		return true;
	}
	if (!(galnet_model_ports_up(in->chip) >> in->channel & 1)) {
		stat_add(&f->stats, FABRIC_STAT_PORT_DOWN, 1);
		return true;
	}
	return false;
}

static inline bool
is_rare(const struct fabric *f, const struct feed_frame *frame)
{
	return frame->event != FEED_FRAME || !(f->ready >> frame->port & 1);
}

static inline bool
sender_waits(const struct fabric *f, unsigned port)
{
	return f->buffers.n_held > 0 && buffers_first_held(&f->buffers, port);
}

EVERY_FRAME void
put_through(struct fabric *f, const struct feed_frame *frame)
{
	set_time(f, frame->time_us);
	if (__builtin_expect(is_rare(f, frame), 0) && handle_rare(f, frame))
		return;
	if (__builtin_expect(sender_waits(f, frame->port), 0) || !pass_frame(f, frame))
		hold_frame(f, frame);
}

static inline uint32_t
lines_now(const _Atomic uint32_t *lines)
{
	return atomic_load_explicit(lines, memory_order_relaxed);
}

size_t
fabric_frames(struct fabric *f, const struct feed_frame *frames, size_t n)
{
	const _Atomic uint32_t *lines = bus_model_lines_word(f->bus);
	uint32_t before = lines_now(lines);
	size_t i = 0;

	do {
		if (i + FABRIC_HEADERS_AHEAD < n)
			fabric_prefetch(&frames[i + FABRIC_HEADERS_AHEAD]);
		put_through(f, &frames[i++]);
	} while (i < n && lines_now(lines) == before && f->buffers.n_held == 0);
	if (f->frames >= SETTLE_FRAMES)
		fabric_settle(f);
	return i;
}

void
fabric_frame(struct fabric *f, const struct feed_frame *frame)
{
	fabric_frames(f, frame, 1);
}

/* --- time --- */

uint64_t
fabric_advance(struct fabric *f, uint64_t now_us)
{
	uint64_t due;

	set_time(f, now_us);
	if (f->links_changed)
		follow_links(f);
	f->eee_read = false;
	due = f->eee ? eee_calendar_model_settle(f->eee, f->now_ns) : UINT64_MAX;
	if (f->buffers.n_held > 0 && buffers_next_ns(&f->buffers) < due)
		due = buffers_next_ns(&f->buffers);
	return due == UINT64_MAX ? due : due / 1000 + 1;
}

bool
fabric_deadline_changed(const struct fabric *f)
{
	return f->eee_read;
}

bool
fabric_has_waiting(const struct fabric *f)
{
	return f->buffers.n_held > 0 && f->buffers.n_flights > 0;
}

/* --- the sums --- */

/* Adds the frames flooded since the port's sums were last added. */
static void
add_flooded(struct c84302_sums *sent, const struct c84302_sums *now, const struct c84302_sums *before)
{
	sent->octets += now->octets - before->octets;
	for (unsigned i = 0; i < C84302_KINDS * C84302_SIZE_CLASSES; i++)
		sent->pkts[i] += now->pkts[i] - before->pkts[i];
}

/* Adds the PAUSE frames that flow control made the port send. */
static void
add_pauses(struct fabric *f, unsigned port)
{
	static const struct c84302_frame pause = {.octets = C84302_MIN_OCTETS, .kind = C84302_MCAST,
	    .sum = C84302_MCAST * C84302_SIZE_CLASSES};
	struct tnetx4090_model *pool = f->buffers.places[port].pool;
	const struct wiring *w = &f->ports[port];
	uint32_t n;

	tnetx4090_model_settle(pool, f->now_ns);
	n = tnetx4090_model_collect_pauses(pool, f->buffers.places[port].port);
	if (n == 0)
		return;
	fabric_add_sums(&f->sums[port].sent, &pause, n);
	c84302_model_event(w->mac, w->mac_port, C84302_TX_PAUSE, n);
}

/* Adds a port's sums to its MAC's counters. */
static void
settle_port(struct fabric *f, unsigned port)
{
	const struct wiring *w = &f->ports[port];
	struct port_sums *sums = &f->sums[port];

	if (f->buffers.n_pools > 0)
		add_pauses(f, port);
	if (galnet_model_ports_up(w->chip) >> w->channel & 1)
		add_flooded(&sums->sent, &f->flooded, &sums->flooded_before);
	c84302_model_receive_sums(w->mac, w->mac_port, &sums->received);
	c84302_model_send(w->mac, w->mac_port, &sums->sent);
	*sums = (struct port_sums){.flooded_before = f->flooded};
}

/* Before links or enable bits of a switch chip change: adds the sums of all its ports. */
static void
ports_changing(void *ctx, unsigned device)
{
	struct fabric *f = ctx;

	f->links_changed = true;
	f->ready = 0;
	for (unsigned i = 0; i < f->n_ports; i++)
		if (f->ports[i].device == device && f->ports[i].mac)
			settle_port(f, i);
}

void
fabric_settle(struct fabric *f)
{
	if (f->frames == 0)
		return;
	stat_add(&f->stats, FABRIC_STAT_FRAMES, f->frames);
	f->frames = 0;
	for (unsigned i = 0; i < f->n_ports; i++)
		settle_port(f, i);
}

void
fabric_set_link(struct fabric *f, unsigned port, bool up)
{
	fabric_settle(f);
	galnet_model_set_link(f->ports[port].chip, f->ports[port].channel, up);
}

const struct stat_set *
fabric_stats(const struct fabric *fabric)
{
	return &fabric->stats;
}

/* --- updates before the CPU reads --- */

static void
sync_mac(void *ctx, unsigned chip, unsigned port)
{
	struct fabric *f = ctx;
	unsigned i = chip * C84302_PORTS + port;

	if (i < f->n_ports)
		settle_port(f, i);
}

static void
sync_eee(void *ctx)
{
	struct fabric *f = ctx;

	f->eee_read = true;
	eee_calendar_model_settle(f->eee, f->now_ns);
}

static void
report_sleep(void *ctx, unsigned entry)
{
	struct fabric *f = ctx;

	wires_report_sleep(&f->wires, entry, f->now_ns);
}

static void
sync_pools(void *ctx)
{
	struct fabric *f = ctx;

	release_buffers(f, f->now_ns);
	buffers_be_eager(&f->buffers);
	for (unsigned i = 0; i < f->buffers.n_pools; i++)
		tnetx4090_model_settle(f->buffers.pools[i], f->now_ns);
}

/* --- building: chips, and how they are wired --- */

/* Sends a NEW_ADDRESS message of one chip to all others. */
static void
send_to_other_chips(void *ctx, unsigned device, uint64_t mac, unsigned port)
{
	struct fabric *f = ctx;

	for (unsigned i = 0; i < f->n_chips; i++)
		if (i != device)
			galnet_model_learn_remote(f->chips[i], device, mac, port);
}

/* A chip does not know an address: the chip that owns it, if any, answers with a NEW_ADDRESS. */
static void
request_from_other_chips(void *ctx, unsigned device, uint64_t mac)
{
	struct fabric *f = ctx;
	unsigned port;

	for (unsigned i = 0; i < f->n_chips; i++)
		if (i != device && galnet_model_owns(f->chips[i], mac, &port))
			galnet_model_learn_remote(f->chips[device], i, mac, port);
}

/* The MAC's counters that add up to each MIB counter of the switch chip, which sees the same frames; 0
 * ends a list. */
static const uint8_t mib_sources[GALNET_N_MIB][3] = {
    [GALNET_MIB_BYTES_RECEIVED] = {C84302_RX_GOOD_OCTETS},
    [GALNET_MIB_BYTES_SENT] = {C84302_TX_OCTETS},
    [GALNET_MIB_FRAMES_RECEIVED] = {C84302_RX_UCAST, C84302_RX_MCAST, C84302_RX_BCAST},
    [GALNET_MIB_FRAMES_SENT] = {C84302_TX_PKTS},
    [GALNET_MIB_TOTAL_BYTES_RECEIVED] = {C84302_RX_OCTETS},
    [GALNET_MIB_TOTAL_FRAMES_RECEIVED] = {C84302_RX_PKTS},
    [GALNET_MIB_MULTICAST_RECEIVED] = {C84302_RX_MCAST},
    [GALNET_MIB_BROADCAST_RECEIVED] = {C84302_RX_BCAST},
    [GALNET_MIB_CRC_ERROR] = {C84302_CRC_ALIGN_ERRORS},
    [GALNET_MIB_OVERSIZE] = {C84302_OVERSIZE_PKTS},
    [GALNET_MIB_FRAGMENTS] = {C84302_UNDERSIZE_PKTS, C84302_FRAGMENTS},
    [GALNET_MIB_JABBER] = {C84302_JABBERS},
    [GALNET_MIB_COLLISION] = {C84302_COLLISIONS},
    [GALNET_MIB_LATE_COLLISION] = {C84302_LATE_COLLISIONS},
    [GALNET_MIB_64] = {C84302_RX_64},
    [GALNET_MIB_65_127] = {C84302_RX_65_127},
    [GALNET_MIB_128_255] = {C84302_RX_128_255},
    [GALNET_MIB_256_511] = {C84302_RX_256_511},
    [GALNET_MIB_512_1023] = {C84302_RX_512_1023},
    [GALNET_MIB_1024_MAX] = {C84302_RX_1024_MAX},
    [GALNET_MIB_RECEIVE_ERROR] = {C84302_SYMBOL_ERRORS},
    [GALNET_MIB_DROPPED] = {C84302_DROP_EVENTS},
};

static uint32_t
mib_events(void *ctx, unsigned device, unsigned channel, enum galnet_mib which)
{
	struct fabric *f = ctx;
	unsigned port = f->first_port[device] + channel;
	const struct wiring *w = &f->ports[port];
	uint32_t events = 0;

	settle_port(f, port);
	for (unsigned i = 0; i < 3 && mib_sources[which][i] != 0; i++)
		events += c84302_model_events(w->mac, w->mac_port, mib_sources[which][i]);
	return events;
}

static int
fabric_add_switch_chip(struct fabric *f, const struct board_plan *plan, int type)
{
	struct galnet_model_config config = {
	    .chip = type == BOARD_GT48001A ? GALNET_GT48001A : GALNET_GT48002A,
	    .bus = f->bus,
	    .device = f->n_chips,
	    .line = BOARD_SWITCH_LINE(f->n_chips),
	    .new_address = send_to_other_chips,
	    .request_owner = request_from_other_chips,
	    .sniff = fabric_send_to_sniffer,
	    .mib_events = mib_events,
	    .ports_changing = ports_changing,
	    .ctx = f,
	    .ease = &f->ease,
	};
	unsigned n_ports = board_chip_ports(type);
	int rc = galnet_model_create(&config, &f->chips[f->n_chips]);

	if (rc < 0)
		return rc;
	f->first_port[f->n_chips] = f->n_ports;
	for (unsigned i = 0; i < n_ports && f->n_ports < plan->ports.n; i++)
		f->ports[f->n_ports++] = (struct wiring){
		    .chip = f->chips[f->n_chips], .device = f->n_chips, .channel = i};
	f->n_chips++;
	return 0;
}

static int
fabric_add_mac_chip(struct fabric *f)
{
	struct c84302_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_MAC_BASE + f->n_macs * C84302_WINDOW,
	    .line = BOARD_LINE_MAC + f->n_macs,
	    .sync = sync_mac,
	    .ctx = f,
	    .chip = f->n_macs,
	};
	int rc = c84302_model_create(&config, &f->macs[f->n_macs]);

	f->n_macs += rc == 0;
	return rc;
}

/* Width of the counts in SRAM. Half of the range is 84 s of sleep at 10 us a unit, so that a board that
 * runs through idle days in seconds does not spend its time on emptying SRAM. */
enum { EEE_COUNT_BITS = 24 };

/* The shortest time between two sleeps of a direction. */
static uint64_t
min_cycle_ns(const struct board_plan *plan)
{
	uint32_t least_us = UINT32_MAX;

	for (size_t i = 0; i < plan->ports.n; i++)
		if (board_port(plan, i)->eee && board_port(plan, i)->eee_idle_us < least_us)
			least_us = board_port(plan, i)->eee_idle_us;
	return least_us * 1000ull;
}

static int
fabric_add_eee(struct fabric *f, const struct board_plan *plan)
{
	struct eee_calendar_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_EEE_BASE,
	    .line = BOARD_LINE_EEE,
	    .n_ports = (unsigned)plan->ports.n,
	    .event_bits = EEE_COUNT_BITS,
	    .duration_bits = EEE_COUNT_BITS,
	    .min_cycle_ns = min_cycle_ns(plan),
	    .sync = sync_eee,
	    .report_sleep = report_sleep,
	    .ctx = f,
	};

	return eee_calendar_model_create(&config, &f->eee);
}

static struct tnetx4090_partner
partner_of(const struct board_port *port)
{
	return (struct tnetx4090_partner){
	    .speed_mbps = port->speed_mbps,
	    .full_duplex = port->duplex == BOARD_FULL,
	    .pause = port->pause && port->duplex == BOARD_FULL,
	};
}

static int
fabric_add_pool(struct fabric *f, const struct board_plan *plan)
{
	unsigned first = f->buffers.n_pools * TNETX4090_PORTS;
	struct tnetx4090_model_config config = {
	    .bus = f->bus,
	    .base = BOARD_POOL_BASE + f->buffers.n_pools * TNETX4090_WINDOW,
	    .n_buffers = plan->buffers.n,
	    .buffer_octets = plan->buffers.octets,
	    .sync = sync_pools,
	    .ctx = f,
	};
	struct tnetx4090_model *pool;
	int rc;

	for (unsigned i = 0; i < TNETX4090_PORTS && first + i < plan->ports.n; i++)
		if (board_port(plan, first + i)->link == BOARD_LINK_UP)
			config.partners[i] = partner_of(board_port(plan, first + i));
	rc = tnetx4090_model_create(&config, &pool);
	if (rc < 0)
		return rc;
	rc = buffers_add_pool(&f->buffers, pool, pool->free);
	if (rc < 0)
		tnetx4090_model_destroy(pool);
	return rc;
}

static void
count_event(void *ctx, unsigned port, enum c84302_counter counter, uint32_t n)
{
	struct fabric *f = ctx;

	c84302_model_event(f->ports[port].mac, f->ports[port].mac_port, counter, n);
}

static uint32_t
fabric_read_lines(void *chip, unsigned index, uint32_t stored)
{
	const struct fabric *f = chip;

	(void)index;
	(void)stored;
	return bus_model_lines(f->bus);
}

static const struct regmodel_row glue_rows[] = {
    {.name = "Interrupt lines", .offset = BOARD_GLUE_LINES, .reserved = UINT32_MAX,
	.read = fabric_read_lines},
};

int
fabric_create(struct bus_model *bus, const struct board_plan *plan, struct fabric **fabric)
{
	struct fabric *f = calloc(1, sizeof(*f));
	struct wire_config lines[BOARD_MAX_PORTS];
	int rc;

	if (!f)
		return -ENOMEM;
	f->bus = bus;
	galnet_ease_init(&f->ease);
	f->stats = (struct stat_set){stat_names, FABRIC_N_STATS, f->stat_values};
	/* The board's own register. */
	rc = regmodel_init(&f->glue, glue_rows, 1, f);
	if (rc == 0)
		rc = bus_model_attach(f->bus, BOARD_GLUE_BASE, 4, &f->glue);
	/* The chips, in the order of the board file; those that switch bring the ports. */
	for (size_t i = 0; i < plan->chips.n && rc == 0; i++) {
		int type = board_chip(plan, i)->type;
		enum board_role role = board_chip_role(type);

		rc = role == BOARD_ROLE_SWITCH ? fabric_add_switch_chip(f, plan, type)
		    : role == BOARD_ROLE_MAC ? fabric_add_mac_chip(f)
		    : role == BOARD_ROLE_BUFFERS ? fabric_add_pool(f, plan) : fabric_add_eee(f, plan);
	}
	/* The ports' lines, then each port to its MAC. */
	for (unsigned i = 0; i < f->n_ports && rc == 0; i++)
		lines[i] = (struct wire_config){
		    .speed_mbps = board_port(plan, i)->speed_mbps,
		    .full_duplex = board_port(plan, i)->duplex == BOARD_FULL,
		    .eee = board_port(plan, i)->eee,
		    .idle_us = board_port(plan, i)->eee_idle_us,
		    .wake_us = board_port(plan, i)->eee_wake_us,
		};
	if (rc == 0)
		rc = wires_init(&f->wires, lines, f->n_ports);
	if (rc < 0) {
		fabric_destroy(f);
		return rc;
	}
	f->wires.eee = f->eee;
	f->wires.count = count_event;
	f->wires.ctx = f;
	for (unsigned i = 0; i < f->n_ports; i++) {
		struct wiring *port = &f->ports[i];

		port->mac = f->macs[i / C84302_PORTS];
		port->mac_port = i % C84302_PORTS;
		port->max_octets = c84302_model_max_octets(port->mac, port->mac_port);
		port->partner = partner_of(board_port(plan, i));
		galnet_model_set_link(port->chip, port->channel, board_port(plan, i)->link == BOARD_LINK_UP);
	}
	f->links_changed = true;
	*fabric = f;
	return 0;
}

void
fabric_destroy(struct fabric *fabric)
{
	if (!fabric)
		return;
	for (unsigned i = 0; i < fabric->n_chips; i++)
		galnet_model_destroy(fabric->chips[i]);
	for (unsigned i = 0; i < fabric->n_macs; i++)
		c84302_model_destroy(fabric->macs[i]);
	for (unsigned i = 0; i < fabric->buffers.n_pools; i++)
		tnetx4090_model_destroy(fabric->buffers.pools[i]);
	buffers_free(&fabric->buffers);
	eee_calendar_model_destroy(fabric->eee);
	regmodel_free(&fabric->glue);
	free(fabric);
}
