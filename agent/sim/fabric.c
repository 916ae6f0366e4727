#include "agent/sim/fabric_private.h"

#include <endian.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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
kind_of(uint64_t destination)
{
	if (!(destination >> 40 & 1))
		return C84302_UCAST;
	return destination == BROADCAST ? C84302_BCAST : C84302_MCAST;
}

static inline void
classify(struct c84302_frame *mac, uint64_t destination)
{
	mac->kind = kind_of(destination);
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
		classify(mac, 0);
		return;
	}
	source_and_type = word_at(f->octets + 6);
	frame->destination = word_at(f->octets) >> 16;
	frame->source = source_and_type >> 16;
	mac->length_type = (uint16_t)source_and_type;
	classify(mac, frame->destination);
	if (mac->length_type != TYPE_MAC_CONTROL)
		return;
	mac->control = control_of(f);
	frame->control = true;
}

/* Adds n frames like this one; n may be negative. */
static inline void
add_sums(struct c84302_sums *sums, const struct c84302_frame *frame, uint32_t n)
{
	sums->octets += n * frame->octets;
	sums->pkts[frame->sum] += n;
}

/* --- sending --- */

/* Corrects the counts: the port does not send a frame that was counted as sent. */
static void
take_back(struct fabric *f, unsigned port)
{
	const struct wiring *out = &f->ports[port];

	galnet_ease_uncount(&f->ease, galnet_ease_counter(out->device, out->channel));
}

FEW_FRAMES void
discard(struct fabric *f, unsigned port)
{
	const struct wiring *out = &f->ports[port];

	take_back(f, port);
	c84302_model_event(out->mac, out->mac_port, C84302_OUT_DISCARDS, 1);
}

/* Returns the time when the port will have sent it; 0: its queue was full. */
EVERY_FRAME uint64_t
send(struct fabric *f, unsigned port, const struct c84302_frame *mac, uint64_t at)
{
	uint64_t done = wires_send(&f->wires, port, mac->octets, at);

	if (__builtin_expect(done == WIRE_QUEUE_FULL, 0)) {
		discard(f, port);
		return 0;
	}
	add_sums(&f->sums[port].sent, mac, 1);
	return done;
}

/* Corrects the counts for ports that do not send a flooded frame: limited ones have too many waiting
 * multicasts, full ones a full queue. */
FEW_FRAMES void
leave_out(struct fabric *f, uint64_t limited, uint64_t full, const struct c84302_frame *mac)
{
	for (uint64_t left = limited | full; left != 0; left &= left - 1) {
		unsigned port = (unsigned)__builtin_ctzll(left);

		add_sums(&f->sums[port].sent, mac, UINT32_MAX);
		if (full >> port & 1)
			discard(f, port);
		else
			take_back(f, port);
	}
}

/* Sends by all ports of all chips except the input port; returns when the slowest will have sent it. */
FEW_FRAMES uint64_t
flood(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *frame, uint64_t at)
{
	bool counts_multicasts = f->buffers.n_pools > 0 && mac->kind != C84302_UCAST;
	uint64_t own = 1ull << port, limited = 0, full, done;

	if (counts_multicasts)
		limited = buffers_leave_out(&f->buffers, f->links_up & ~own);
	done = wires_flood(&f->wires, limited | own, mac->octets, at, &full);
	if (counts_multicasts)
		buffers_queue_multicast(&f->buffers, &f->wires, f->links_up & ~(own | limited | full));
	add_sums(&f->flooded, mac, 1);
	add_sums(&f->sums[port].sent, mac, UINT32_MAX);
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
	if (to.device >= f->n_chips ||
	    galnet_model_receive_pci(f->chips[to.device], 1u << to.port, frame) == 0)
		return 0;
	*port = f->first_port[to.device] + to.port;
	return send(f, *port, mac, at);
}

/* Sends by these ports of a chip, a bit each; returns when the slowest will have sent it. */
static uint64_t
send_by(struct fabric *f, unsigned device, uint32_t ports, const struct c84302_frame *mac,
    uint64_t at)
{
	uint64_t last = 0;

	for (; ports != 0; ports &= ports - 1) {
		uint64_t done =
		    send(f, f->first_port[device] + (unsigned)__builtin_ctz(ports), mac, at);

		last = done > last ? done : last;
	}
	return last;
}

/* Floods where some chip has its own rules: each chip decides by itself. */
FEW_FRAMES uint64_t
spread(struct fabric *f, unsigned device, const struct galnet_route *to,
    const struct c84302_frame *mac, const struct galnet_frame *frame, uint64_t at)
{
	uint64_t last = send_by(f, device, to->ports, mac, at);

	for (unsigned i = 0; i < f->n_chips; i++) {
		uint64_t done;

		if (i == device)
			continue;
		done = send_by(f, i,
		    galnet_model_receive_spread(f->chips[i], to->unknown, frame), mac, at);
		last = done > last ? done : last;
	}
	return last;
}

void
fabric_send_to_sniffer(void *ctx, unsigned device, unsigned channel,
    const struct galnet_frame *frame)
{
	struct fabric *f = ctx;
	struct c84302_frame mac = {.octets = frame->wire_octets};
	unsigned port;

	classify(&mac, frame->destination);
	if (device >= f->n_chips || !(galnet_model_forwarding(f->chips[device]) >> channel & 1))
		return;
	port = f->first_port[device] + channel;
	if (wires_send(&f->wires, port, mac.octets, f->now_ns) != WIRE_QUEUE_FULL)
		add_sums(&f->sums[port].sent, &mac, 1);
	else
		c84302_model_event(
		    f->ports[port].mac, f->ports[port].mac_port, C84302_OUT_DISCARDS, 1);
}

/* Returns the time when the last port will have sent it; 0: no port sends it. */
EVERY_FRAME uint64_t
forward(struct fabric *f, unsigned port, const struct c84302_frame *mac,
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
		return send(f, *slowest, mac, at);
	case GALNET_TO_DEVICE:
		return send_over_pci(f, to, mac, frame, at, slowest);
	case GALNET_FLOOD:
		return flood(f, port, mac, frame, at);
	case GALNET_SPREAD:
		return spread(f, in->device, &to, mac, frame, at);
	}
	return 0;
}

/* --- receiving --- */

/* Counts it as received; true if it is good. */
EVERY_FRAME bool
receive(struct fabric *f, unsigned port, const struct c84302_frame *mac, bool plain)
{
	const struct wiring *in = &f->ports[port];

	if (__builtin_expect(!plain, 0))
		return c84302_model_receive(in->mac, in->mac_port, mac);
	add_sums(&f->sums[port].received, mac, 1);
	return true;
}

/* The partner sends PAUSE: the port stops, or continues. */
FEW_FRAMES void
pause(struct fabric *f, unsigned port, const struct feed_frame *frame, uint64_t at)
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
report_error(struct fabric *f, unsigned port, const struct c84302_frame *mac,
    const struct galnet_frame *seen)
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
	if (__builtin_expect(!receive(f, port, mac, plain), 0)) {
		report_error(f, port, mac, seen);
		return 0;
	}
	if (__builtin_expect(mac->control == C84302_PAUSE, 0))
		pause(f, port, frame, at);
	return forward(f, port, mac, seen, at, slowest);
}

/* The sender keeps the frame until it is let in. */
static void
hold(struct fabric *f, const struct feed_frame *frame)
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
	return mac->octets >= C84302_MIN_OCTETS && mac->octets <= max_octets &&
	    (mac->control | mac->faults) == 0;
}

FEW_FRAMES void
count_collision(struct fabric *f, unsigned port)
{
	const struct wiring *in = &f->ports[port];

	c84302_model_event(in->mac, in->mac_port, C84302_COLLISIONS, 1);
}

/* The pool has dropped and counted the frame; the MAC still has received it. */
FEW_FRAMES void
drop(struct fabric *f, unsigned port, const struct c84302_frame *mac, bool plain)
{
	wires_receive(&f->wires, port, mac->octets, f->now_ns);
	receive(f, port, mac, plain);
	f->frames++;
}

/* A frame at a port whose link is up. False if its sender must try again. */
EVERY_FRAME bool
pass(struct fabric *f, const struct feed_frame *frame)
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
			drop(f, frame->port, &mac, plain);
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
	return pass(f, frame);
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

void
fabric_release(struct fabric *f, uint64_t now_ns)
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

/* Time never goes back. */
static inline void
set_time(struct fabric *f, uint64_t now_us)
{
	uint64_t now_ns = now_us * 1000;

	if (f->buffers.eager && buffers_next_ns(&f->buffers) <= now_ns)
		fabric_release(f, now_ns);
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
		fabric_follow_links(f);
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
	if (__builtin_expect(sender_waits(f, frame->port), 0) || !pass(f, frame))
		hold(f, frame);
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
		fabric_follow_links(f);
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
add_flooded(struct c84302_sums *sent, const struct c84302_sums *now,
    const struct c84302_sums *before)
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
	add_sums(&f->sums[port].sent, &pause, n);
	c84302_model_event(w->mac, w->mac_port, C84302_TX_PAUSE, n);
}

void
fabric_settle_port(struct fabric *f, unsigned port)
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

void
fabric_ports_changing(void *ctx, unsigned device)
{
	struct fabric *f = ctx;

	f->links_changed = true;
	f->ready = 0;
	for (unsigned i = 0; i < f->n_ports; i++)
		if (f->ports[i].device == device && f->ports[i].mac)
			fabric_settle_port(f, i);
}

void
fabric_follow_links(struct fabric *f)
{
	static const struct tnetx4090_partner gone = {0};
	/* At the start of a board its links have been up for a long time. */
	uint64_t awake_until = f->now_ns + (f->links_known ? WIRE_SETTLE_NS : 0);

	fabric_release(f, f->now_ns);
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

void
fabric_settle(struct fabric *f)
{
	if (f->frames == 0)
		return;
	stat_add(&f->stats, FABRIC_STAT_FRAMES, f->frames);
	f->frames = 0;
	for (unsigned i = 0; i < f->n_ports; i++)
		fabric_settle_port(f, i);
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
