#include "tests/collector/estimate/transit.h"

#include "agent/sampling/packer.h"
#include "agent/sampling/skip.h"
#include "collector/window/accounting.h"
#include "common/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US 1000000ull
#define START_US  (1700000040 * SECOND_US) /* a whole minute */

enum {
	IF_INDEX = 1,
	BOOT = 1,
	COMPANY_WAIT_US = 50000,  /* the agent's default: how long a sample waits for others */
	COUNTERS_EVERY_US = 20 * SECOND_US,
	PARTS_MAX = 64,
	FCS_OCTETS = 4,
	DELIVERIES_A_CUT = 32,
};

static const uint8_t agent_id[EASE_AGENT_ID_LEN] = {0x80, 1, 2, 3, 4, 5, 6, 7};

/* ---- the switch: samples and counters become notifications ---- */

struct note {
	size_t at; /* in the pile's octets */
	uint32_t len;
	uint16_t n_parts, n_samples;
	bool arrived, lost; /* lost: in a run or in the outage */
};

struct pile {
	struct note *notes;
	size_t n, room;
	uint8_t *octets;
	size_t n_octets, octets_room;
	int err;
};

struct sender {
	const struct transit_traffic *traffic;
	double us_a_frame;
	struct packer *packer;
	struct pile pile;
	uint64_t waiting_since_us, next_counters_us;
	uint32_t sequence;
};

static int
make_room(void **items, size_t *room, size_t least, size_t item_octets)
{
	size_t more = 2 * least;
	void *grown;

	if (least <= *room)
		return 0;
	grown = realloc(*items, more * item_octets);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*room = more;
	return 0;
}

static int
put_on_pile(void *ctx, const struct ease_notification *n)
{
	struct pile *p = ctx;

	if (make_room((void **)&p->notes, &p->room, p->n + 1, sizeof(*p->notes)) != 0 ||
	    make_room((void **)&p->octets, &p->octets_room, p->n_octets + n->len, 1) != 0) {
		p->err = -ENOMEM;
		return 0;
	}
	p->notes[p->n++] = (struct note){p->n_octets, (uint32_t)n->len, n->n_parts, n->n_samples,
	    false, false};
	memcpy(p->octets + p->n_octets, n->data, n->len);
	p->n_octets += n->len;
	return 0;
}

static void
nothing_is_lost_here(void *ctx, uint32_t if_index, unsigned n_samples)
{
	(void)if_index;
	(void)n_samples;
	((struct pile *)ctx)->err = -EBADMSG;
}

static uint64_t
time_of_frame(const struct sender *s, size_t frame)
{
	return START_US + (uint64_t)((double)(frame + 1) * s->us_a_frame);
}

static size_t
frames_until(const struct sender *s, uint64_t time_us)
{
	size_t n = (size_t)((double)(time_us - START_US) / s->us_a_frame);

	return n < s->traffic->n_frames ? n : s->traffic->n_frames;
}

static struct ease_snapshot
snapshot_at(const struct sender *s, uint64_t time_us, size_t n_frames)
{
	return (struct ease_snapshot){
		.if_index = IF_INDEX,
		.time_us = time_us,
		.in.octets = s->traffic->octets_before[n_frames],
		.in.ucast_pkts = n_frames,
		.samples = s->sequence,
		.last_sequence = s->sequence,
		.pool_in_pkts = n_frames,
	};
}

static void
send_counters(struct sender *s, uint64_t time_us, size_t n_frames)
{
	struct ease_snapshot snapshot = snapshot_at(s, time_us, n_frames);

	packer_counters(s->packer, &snapshot);
	packer_flush(s->packer);
	s->next_counters_us = time_us + COUNTERS_EVERY_US;
}

/* What the agent's timers do until then. */
static void
pass_time(struct sender *s, uint64_t time_us)
{
	while (s->next_counters_us <= time_us)
		send_counters(s, s->next_counters_us, frames_until(s, s->next_counters_us));
	if (packer_waits(s->packer) && time_us > s->waiting_since_us + COMPANY_WAIT_US)
		packer_flush(s->packer);
}

static void
send_sample(struct sender *s, const struct transit_sample *drawn)
{
	uint32_t octets = s->traffic->octets[drawn->frame];
	uint64_t time_us = time_of_frame(s, drawn->frame);
	uint8_t header[EASE_HEADER_DEFAULT_OCTETS] = {0};
	struct wbuf w = wbuf_of(header, sizeof(header));
	struct ease_snapshot snapshot;
	struct ease_sample sample = {
		.time_us = time_us,
		.if_index = IF_INDEX,
		.sequence = ++s->sequence,
		.direction = EASE_IN,
		.input_if = IF_INDEX,
		.skip = drawn->skip,
		.mean_skip = drawn->mean_skip,
		.pool_pkts = drawn->frame + 1,
		.frame_octets = octets,
		.kept_octets = (uint16_t)(octets < sizeof(header) + FCS_OCTETS
			? octets - FCS_OCTETS : sizeof(header)),
		.header = header,
	};

	pass_time(s, time_us);
	wbuf_be16(&w, 0x0200); /* to a local address, from one that is the key */
	wbuf_be32(&w, 0);
	wbuf_be16(&w, 0x0200);
	wbuf_be32(&w, s->traffic->key[drawn->frame]);
	wbuf_be16(&w, 0x88b5); /* IEEE 802's local experimental ethertype */
	if (!packer_waits(s->packer))
		s->waiting_since_us = time_us;
	snapshot = snapshot_at(s, time_us, drawn->frame + 1);
	packer_sample(s->packer, &sample, &snapshot);
}

static int
send_all(struct sender *s, const struct transit_sample *samples, size_t n)
{
	uint64_t end_us = time_of_frame(s, s->traffic->n_frames) + COMPANY_WAIT_US;

	send_counters(s, START_US, 0);
	for (size_t i = 0; i < n; i++)
		send_sample(s, &samples[i]);
	pass_time(s, end_us);
	send_counters(s, end_us, s->traffic->n_frames);
	return s->pile.err;
}

/* ---- the network ---- */

struct delivery {
	uint64_t rank; /* order of arrival */
	uint64_t note;
};

struct network {
	const struct transit_impairment *impairment;
	struct skip_stream fate, order;
	struct delivery *deliveries;
	size_t n;
};

static bool
happens(struct skip_stream *stream, double probability)
{
	return (double)(skip_stream_next(stream) >> 11) * 0x1p-53 < probability;
}

static uint64_t
later(struct network *net)
{
	return 1 + skip_stream_next(&net->order) % TRANSIT_DISORDER;
}

static int
compare_deliveries(const void *a, const void *b)
{
	const struct delivery *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : (x->note > y->note) - (x->note < y->note);
}

static void
deliver(struct network *net, struct pile *pile, size_t note, uint64_t rank, bool is_safe)
{
	const struct transit_impairment *how = net->impairment;

	int copies = happens(&net->fate, how->duplicate) ? 2 : 1;

	for (int copy = 0; copy < copies; copy++) {
		bool is_late = happens(&net->order, how->reorder) || copy == 1;
		uint64_t delay = later(net);

		if (((how->run == 0 && happens(&net->fate, how->lose)) || pile->notes[note].lost) && !is_safe)
			continue;
		if (is_late && !is_safe)
			rank += delay;
		net->deliveries[net->n++] = (struct delivery){rank, note};
		pile->notes[note].arrived = true;
	}
}

/* Runs begin so often that the part `lose` is lost; the outage is anywhere. */
static void
lose_in_a_row(struct network *net, struct pile *pile)
{
	const struct transit_impairment *how = net->impairment;
	size_t n = (size_t)(how->outage * (double)pile->n), left = 0;
	size_t first = (size_t)((double)(skip_stream_next(&net->fate) >> 11) * 0x1p-53 * (double)(pile->n - n));
	double begins = how->run > 0 ? how->lose / ((1 - how->lose) * how->run) : 0;

	for (size_t i = 0; i < pile->n; i++) {
		if (left == 0 && happens(&net->fate, begins))
			left = how->run;
		pile->notes[i].lost = left > 0 || (i >= first && i < first + n);
		left -= left > 0;
	}
}

/* When one copy of a notification would arrive: the first before and the last after all others,
 * interleaved copies as far apart as reordered notifications. */
static uint64_t
rank_of(struct network *net, size_t n, size_t note, uint32_t copy)
{
	const struct transit_impairment *how = net->impairment;

	if (how->copies_come == TRANSIT_IN_A_ROW)
		return copy * (n + 4 * TRANSIT_DISORDER) + note +
		    (note + 1 == n ? 2 * TRANSIT_DISORDER : 0);
	if (note == 0 || note + 1 == n)
		return note + (note > 0 ? 2 * TRANSIT_DISORDER : 0);
	return note + (how->copies > 1 ? later(net) : 0);
}

static int
pass_network(struct network *net, struct pile *pile)
{
	uint32_t copies = net->impairment->copies ? net->impairment->copies : 1;

	net->deliveries = calloc(2 * copies * pile->n + 1, sizeof(*net->deliveries));
	if (!net->deliveries)
		return -ENOMEM;
	if (net->impairment->run > 0 || net->impairment->outage > 0)
		lose_in_a_row(net, pile);
	for (uint32_t copy = 0; copy < copies; copy++)
		for (size_t i = 0; i < pile->n; i++)
			deliver(net, pile, i, rank_of(net, pile->n, i, copy),
			    i == 0 || i + 1 == pile->n);
	qsort(net->deliveries, net->n, sizeof(*net->deliveries), compare_deliveries);
	return 0;
}

/* ---- the collector ---- */

struct collector {
	struct accounting *accounting;
	struct clock clock;
	struct store_batch batch;
	struct transit_books *books;
	uint32_t n_keys;
};

static int
unpack_part(const struct trap_part *part, struct ease_record *record)
{
	record->kind = part->part;
	if (part->part == EASE_PART_SAMPLE) {
		record->sample.if_index = part->if_index;
		record->sample.sequence = part->sequence;
		return trap_wire_get_sample(part->octets, part->len, &record->sample);
	}
	record->snapshot.if_index = part->if_index;
	return trap_wire_get_snapshot(part->octets, part->len, &record->snapshot);
}

static int
take_note(struct collector *c, const struct pile *pile, const struct note *note)
{
	struct ease_notification n = {
		.n_parts = note->n_parts, .n_samples = note->n_samples, .len = note->len};
	struct ease_record records[PARTS_MAX];
	struct trap_part part;
	size_t pos = 0, n_records = 0;

	memcpy(n.data, pile->octets + note->at, note->len);
	clock_step_us(&c->clock, 1000);
	while (trap_wire_next(&n, &pos, &part)) {
		struct ease_record *r = &records[n_records++];

		*r = (struct ease_record){.boot = BOOT, .sender = "192.0.2.1",
		    .received_us = clock_wall_us(&c->clock)};
		memcpy(r->agent_id, agent_id, sizeof(agent_id));
		if (n_records == PARTS_MAX || unpack_part(&part, r) != 0)
			return -EBADMSG;
	}
	if (n_records != note->n_parts)
		return -EBADMSG;
	accounting_add_records(c->accounting, &c->batch, records, n_records);
	return 0;
}

static void
add_sums(struct estimate_sums *to, const struct store_sums *s, const struct store_pairs *same,
    const struct store_pairs *any)
{
	struct estimate_sums sums = {s->n, s->w, s->w2, s->wb, s->wb2, s->w2b2,
	    {same->pkts, same->octets}, {any->pkts, any->octets}};

	estimate_add_sums(to, &sums);
}

static size_t
minute_of(uint64_t start_us)
{
	size_t minute = (start_us - START_US) / STORE_WINDOW_US;

	return minute < TRANSIT_MINUTES ? minute : TRANSIT_MINUTES;
}

static void
add_window(struct estimate_stratum *to, const struct store_window *row)
{
	to->pool_pkts += (double)(row->pool_pkts - row->cut_pkts);
	to->pool_octets += (double)(row->pool_octets - row->cut_octets);
	to->w_max = row->w_max > to->w_max ? row->w_max : to->w_max;
	add_sums(&to->all, &row->sums, &row->any, &row->any);
}

static void
add_key(struct collector *c, const struct store_key *row)
{
	struct rbuf r = rbuf_of(row->key1 + 2, 4);
	uint32_t key = rbuf_be32(&r);

	if (row->kind == STORE_KEY_ETH_PAIR && key < c->n_keys)
		add_sums(&c->books->keys[key], &row->sums, &row->same, &row->any);
}

/* As the store adds rows up, and reports sum them. */
static void
add_rows(struct collector *c)
{
	const struct store_rows *rows = c->batch.rows;

	for (size_t i = 0; i < rows[STORE_WINDOWS].n; i++) {
		const struct store_window *row = &((struct store_window *)
		    rows[STORE_WINDOWS].items)[i];

		add_window(&c->books->minute[minute_of(row->start_us)], row);
		add_window(&c->books->whole, row);
		c->books->cut[ESTIMATE_PKTS] += (double)row->cut_pkts;
		c->books->cut[ESTIMATE_OCTETS] += (double)row->cut_octets;
	}
	for (size_t i = 0; i < rows[STORE_KEYS].n; i++)
		add_key(c, &((struct store_key *)rows[STORE_KEYS].items)[i]);
	for (size_t i = 0; i < rows[STORE_WINDOW_PORTS].n; i++) {
		const struct store_window_port *row = &((struct store_window_port *)
		    rows[STORE_WINDOW_PORTS].items)[i];

		c->books->expected[minute_of(row->start_us)] += row->expected;
		c->books->received[minute_of(row->start_us)] += row->received;
		c->books->cut_numbers += row->cut_numbers;
	}
	if (rows[STORE_ACCOUNTS].n > 0)
		c->books->account = ((struct store_account *)
		    rows[STORE_ACCOUNTS].items)[rows[STORE_ACCOUNTS].n - 1];
	store_batch_clear(&c->batch);
}

static int
cut(struct collector *c)
{
	int err = accounting_flush(c->accounting, &c->batch);

	if (err == 0)
		add_rows(c);
	return err;
}

static int
open_collector(struct collector *c)
{
	struct accounting_limits limits = accounting_default_limits;
	struct store_room room[STORE_N_TABLES] = {0};

	limits.agents = limits.ports = 1;
	limits.windows.windows = 2 * TRANSIT_MINUTES;
	limits.windows.keys_per_window = c->n_keys + 1;
	limits.windows.keys = 4 * limits.windows.windows * (c->n_keys + 1);
	c->books->keys = calloc(c->n_keys + 1, sizeof(*c->books->keys));
	if (!c->books->keys)
		return -ENOMEM;
	accounting_room(&limits, room);
	if (store_batch_init(&c->batch, room) < 0)
		return -ENOMEM;
	return accounting_new(&c->accounting, &limits, &c->clock, 1);
}

static uint64_t
refused_rows(const struct collector *c)
{
	const struct stat_set *windows = accounting_window_stats(c->accounting);

	return stat_get(windows, WINDOW_STAT_NO_WINDOW) +
	    stat_get(windows, WINDOW_STAT_KEYS_WINDOW_FULL) +
	    stat_get(windows, WINDOW_STAT_KEYS_TABLE_FULL);
}

static int
collect(struct collector *c, const struct network *net, const struct pile *pile)
{
	int err = open_collector(c);

	for (size_t i = 0; err == 0 && i < net->n; i++) {
		err = take_note(c, pile, &pile->notes[net->deliveries[i].note]);
		if (err == 0 && i % DELIVERIES_A_CUT == DELIVERIES_A_CUT - 1)
			err = cut(c);
	}
	accounting_count_held(c->accounting, &c->batch, true);
	if (err == 0)
		err = cut(c);
	if (err == 0)
		c->books->refused = refused_rows(c);
	accounting_free(c->accounting);
	store_batch_free(&c->batch);
	return err;
}

/* ---- all of it ---- */

static void
count_loss(const struct pile *pile, struct transit_result *result)
{
	double given_out = 0, arrived = 0, expected = 0, received = 0;

	for (size_t i = 0; i < pile->n; i++) {
		given_out += pile->notes[i].n_samples;
		arrived += pile->notes[i].arrived ? pile->notes[i].n_samples : 0;
	}
	for (int m = 0; m <= TRANSIT_MINUTES; m++) {
		expected += (double)result->books.expected[m];
		received += (double)result->books.received[m];
	}
	result->loss_true = given_out > 0 ? 1 - arrived / given_out : 0;
	result->loss_reported = expected > 0 ? 1 - received / expected : 0;
	expected -= (double)result->books.cut_numbers;
	result->books.whole.lost = expected > received ? 1 - received / expected : 0;
}

/* Samples that arrived, in their order; each note has the ones that follow those of the note before. */
struct arrivals {
	const struct transit_sample *samples;
	size_t next;	      /* the first sample of the note */
	size_t missing;	      /* right before it */
	uint32_t from;	      /* frame behind the last one that arrived */
	unsigned in_one_note; /* most so far */
};

static void
cover_note(const struct note *note, struct arrivals *a, float *covered)
{
	unsigned n = note->n_samples < 64 ? note->n_samples : 64;

	if (!note->arrived) {
		a->missing += note->n_samples;
	} else if (n > 0) {
		uint32_t frame = a->samples[a->next].frame;
		/* The first sample of a note is judged before the others of it are seen. */
		bool cut = a->missing > (a->in_one_note > 1 ? a->in_one_note : 1);

		for (uint32_t f = a->from; cut && f <= frame; f++)
			covered[f] = 1 / (float)(a->missing + 1);
		if (n > a->in_one_note)
			a->in_one_note = n;
		a->from = a->samples[a->next + note->n_samples - 1].frame + 1;
		a->missing = 0;
	}
	a->next += note->n_samples;
}

static int
cover(const struct pile *pile, const struct transit_sample *samples, size_t n_frames, struct transit_result *result)
{
	struct arrivals a = {.samples = samples};

	result->covered = calloc(n_frames + 1, sizeof(*result->covered));
	if (!result->covered)
		return -ENOMEM;
	for (size_t f = 0; f < n_frames; f++)
		result->covered[f] = 1;
	for (size_t i = 0; i < pile->n; i++)
		cover_note(&pile->notes[i], &a, result->covered);
	return 0;
}

static double
us_a_frame(const struct transit_traffic *traffic, const struct transit_impairment *impairment)
{
	if (impairment->pps > 0)
		return (double)SECOND_US / impairment->pps;
	return (double)(TRANSIT_MINUTES * STORE_WINDOW_US) / (double)(traffic->n_frames + 1);
}

int
transit_run(const struct transit_traffic *traffic, const struct transit_sample *samples,
    size_t n_samples, const struct transit_impairment *impairment, uint64_t seed,
    struct transit_result *result)
{
	struct sender sender = {.traffic = traffic, .us_a_frame = us_a_frame(traffic, impairment)};
	struct packer_sink sink = {&sender.pile, put_on_pile, nothing_is_lost_here};
	struct network net = {.impairment = impairment};
	struct collector collector = {.clock = {.manual = true, .manual_wall_us = START_US},
	    .books = &result->books, .n_keys = traffic->n_keys};
	int err = packer_create(TRAP_WIRE_MESSAGE_DEFAULT, &sink, &sender.packer);

	*result = (struct transit_result){0};
	skip_stream_seed(&net.fate, seed);
	skip_stream_seed(&net.order, ~seed + impairment->order);
	if (err == 0)
		err = send_all(&sender, samples, n_samples);
	if (err == 0)
		err = pass_network(&net, &sender.pile);
	if (err == 0)
		err = collect(&collector, &net, &sender.pile);
	if (err == 0)
		count_loss(&sender.pile, result);
	if (err == 0)
		err = cover(&sender.pile, samples, traffic->n_frames, result);
	if (err)
		transit_free(result);
	packer_destroy(sender.packer);
	free(net.deliveries);
	free(sender.pile.notes);
	free(sender.pile.octets);
	return err;
}

void
transit_free(struct transit_result *result)
{
	free(result->books.keys);
	free(result->covered);
	result->books.keys = NULL;
	result->covered = NULL;
}
