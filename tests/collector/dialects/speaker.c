#include "tests/collector/dialects/ipfix_form.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
	ROOM = 8192,
	ETHERNET = 14,
	IP4 = 20,
	KEPT = 64,
	FCS = 4,
	TICKS_S = 100,	/* points of time in a second */
	WAIT_TICKS = 50, /* a sample waits half a second at most for others */
	HOST_OF_TEN = 7, /* frames in ten are the first host's */
	UPTIME_MS = 1000000,
	COUNTERS_LINE = 1, /* beside IPFIX */
	TEMPLATES_EVERY = 64, /* messages */
};

static const uint32_t host_octets[SPEAKER_HOSTS] = {1518, 517};

struct port {
	uint64_t frames; /* of the next sampled one: its place in the stream */
	uint32_t samples, snapshots;
};

struct line { /* of datagrams of one sub-agent */
	uint8_t octets[ROOM];
	struct wbuf samples;
	uint32_t n_samples, n_flows, number, first_tick;
	uint32_t n_records; /* of IPFIX, so far */
	bool has_flow;
};

struct held {
	uint8_t octets[ROOM];
	size_t n;
	uint32_t sender;
};

struct run {
	struct traffic traffic;
	const struct speech *speech;
	speaker_send *send;
	void *arg;
	struct passed *passed;
	uint64_t random;
	uint32_t tick;
	uint32_t all_samples[SPEAKER_SWITCHES];
	struct port ports[SPEAKER_SWITCHES][SPEAKER_PORTS];
	struct line lines[SPEAKER_SWITCHES][SPEAKER_SUB_AGENTS];
	struct held held; /* a datagram that the next one overtakes */
};

/* ---- chance: splitmix64 ---- */

static double
draw(struct run *r)
{
	uint64_t x = r->random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

static uint32_t
one_in(const struct run *r)
{
	return r->tick < r->traffic.seconds * TICKS_S / 2 ? r->traffic.one_in : r->traffic.later_one_in;
}

/* Geometric: each frame is sampled with the same chance. */
static uint64_t
next_gap(struct run *r)
{
	return 1 + (uint64_t)(log(draw(r)) / log1p(-1.0 / one_in(r)));
}

/* ---- writing ---- */

void
speaker_words(struct wbuf *w, size_t n, const uint32_t *words)
{
	for (size_t i = 0; i < n; i++)
		wbuf_be32(w, words[i]);
}

size_t
speaker_begin(struct wbuf *w, uint32_t format)
{
	wbuf_be32(w, format);
	wbuf_be32(w, 0);
	return w->len;
}

void
speaker_end(struct wbuf *w, size_t began)
{
	struct wbuf length = wbuf_of(w->data + began - 4, 4);

	wbuf_be32(&length, (uint32_t)(w->len - began));
}

static void
put_zeros(struct wbuf *w, size_t n)
{
	while (n-- > 0)
		wbuf_u8(w, 0);
}

uint32_t
speaker_header_record(struct wbuf *w, const struct flow *f)
{
	size_t began = speaker_begin(w, 1);

	speaker_words(w, 4, (const uint32_t[]){f->protocol, f->frame_octets, f->stripped, f->kept});
	wbuf_put(w, f->header, f->kept);
	put_zeros(w, -f->kept & 3);
	speaker_end(w, began);
	return 1;
}

static void
put_source(struct wbuf *w, bool expanded, uint32_t class, uint32_t index)
{
	if (expanded)
		speaker_words(w, 2, (const uint32_t[]){class, index});
	else
		wbuf_be32(w, class << 24 | index);
}

static void
put_flow(struct wbuf *w, const struct flow *f, const struct speech *speech)
{
	size_t began = speaker_begin(w, f->expanded ? 3 : 1), count_at;
	struct wbuf count;

	wbuf_be32(w, f->number);
	put_source(w, f->expanded, f->class, f->index);
	speaker_words(w, 3, (const uint32_t[]){f->rate, f->pool, f->drops});
	if (f->expanded)
		speaker_words(w, 4, (const uint32_t[]){f->in_format, f->input, f->out_format, f->output});
	else
		speaker_words(w, 2, (const uint32_t[]){f->in_format << 30 | f->input, f->out_format << 30 | f->output});
	count_at = w->len;
	wbuf_be32(w, 0);
	count = wbuf_of(w->data + count_at, 4);
	wbuf_be32(&count, speech->records ? speech->records(w, f) : speaker_header_record(w, f));
	put_zeros(w, speech->flow_tail);
	speaker_end(w, began);
}

uint32_t
speaker_counters_record(struct wbuf *w, const struct counters *c, uint32_t more_octets)
{
	size_t began = speaker_begin(w, 1);

	speaker_words(w, 2, (const uint32_t[]){c->if_index, c->if_type});
	wbuf_be64(w, c->speed_bps);
	speaker_words(w, 2, (const uint32_t[]){c->direction, c->status});
	wbuf_be64(w, c->in_octets);
	speaker_words(w, 6, (const uint32_t[]){c->in_pkts, [5] = 0});
	wbuf_be64(w, c->out_octets);
	speaker_words(w, 6, (const uint32_t[]){c->out_pkts, [5] = 2});
	put_zeros(w, more_octets);
	speaker_end(w, began);
	return 1;
}

static void
put_counters(struct wbuf *w, const struct counters *c, const struct speech *speech)
{
	size_t began = speaker_begin(w, c->expanded ? 4 : 2), count_at;
	struct wbuf count;

	wbuf_be32(w, c->number);
	put_source(w, c->expanded, c->class, c->index);
	count_at = w->len;
	wbuf_be32(w, 0);
	count = wbuf_of(w->data + count_at, 4);
	wbuf_be32(&count, speech->counter_records ? speech->counter_records(w, c) : speaker_counters_record(w, c, 0));
	put_zeros(w, speech->counters_tail);
	speaker_end(w, began);
}

/* ---- datagrams ---- */

static double
now_s(const struct run *r)
{
	return (double)r->tick / TICKS_S;
}

static uint64_t
now_us(const struct run *r)
{
	return SPEAKER_START_US + (uint64_t)r->tick * (1000000 / TICKS_S);
}

static bool
is_ipfix(const struct run *r, const struct line *line, uint32_t at_switch)
{
	return r->speech->ipfix && line == &r->lines[at_switch][0];
}

/* Templates go ahead in a message of their own, which is never lost. */
static size_t
write_ipfix(struct run *r, const struct datagram *d, struct line *line, uint8_t octets[ROOM])
{
	const struct ipfix_form *form = r->speech->ipfix;
	uint32_t every = form->every ? form->every : TEMPLATES_EVERY, export_s = (uint32_t)(now_us(r) / 1000000), n = 0;
	struct wbuf w = wbuf_of(octets, ROOM);

	if (form->begins_anew > 0 && d->nth == form->begins_anew)
		line->n_records = 0;
	if (d->nth > form->first && (d->nth - form->first) % every == 1) {
		ipfix_put_templates(&w, form, export_s, line->n_records, one_in(r), &n);
		r->send(r->arg, d->sender, now_us(r), octets, w.len);
		w = wbuf_of(octets, ROOM);
		line->n_records += n;
	}
	ipfix_put_message(&w, form, export_s, line->n_records, line->samples.data, line->samples.len);
	line->n_records += line->n_flows;
	assert(!w.failed);
	return w.len;
}

static size_t
write_datagram(const struct run *r, const struct datagram *d, const struct line *line, uint8_t octets[ROOM])
{
	struct wbuf w = wbuf_of(octets, ROOM);

	speaker_words(&w, 2, (const uint32_t[]){d->version, d->address_type});
	wbuf_put(&w, d->address, d->address_type == 1 ? 4 : d->address_type == 2 ? 16 : 0);
	speaker_words(&w, 4, (const uint32_t[]){d->sub_agent, d->number, d->uptime_ms, line->n_samples});
	wbuf_put(&w, line->samples.data, line->samples.len);
	put_zeros(&w, r->speech->datagram_tail);
	assert(!w.failed);
	return w.len;
}

static void
send_one(struct run *r, const struct datagram *d, struct line *line)
{
	uint64_t at_us = now_us(r);
	uint8_t octets[ROOM];
	size_t n = is_ipfix(r, line, d->at_switch) ? write_ipfix(r, d, line, octets) : write_datagram(r, d, line, octets);

	if (d->lost)
		return;

	if (d->late && r->held.n == 0) {
		memcpy(r->held.octets, octets, n);
		r->held.n = n;
		r->held.sender = d->sender;
		return;
	}
	for (int times = d->twice ? 2 : 1; times > 0; times--)
		r->send(r->arg, d->sender, at_us, octets, n);
	if (r->held.n > 0)
		r->send(r->arg, r->held.sender, at_us, r->held.octets, r->held.n);
	r->held.n = 0;
}

static void
empty(struct line *line)
{
	line->samples = wbuf_of(line->octets, sizeof(line->octets));
	line->n_samples = line->n_flows = 0;
}

static void
flush(struct run *r, uint32_t at_switch, uint32_t sub_agent)
{
	struct line *line = &r->lines[at_switch][sub_agent];
	uint32_t sender = SPEAKER_SENDER + 10 * at_switch;
	struct datagram d = {.version = 5, .address_type = 1, .sub_agent = sub_agent, .number = line->number + 1,
	    .uptime_ms = UPTIME_MS + 10 * r->tick, .sender = sender, .at_switch = at_switch, .nth = line->number + 1,
	    .at_s = now_s(r), .address = {sender >> 24, sender >> 16 & 0xff, sender >> 8 & 0xff, sender & 0xff}};

	if (line->n_samples == 0)
		return;
	line->number++;
	d.lost = r->traffic.lose_every > 0 && d.nth % r->traffic.lose_every == 0;
	if (r->speech->datagram)
		r->speech->datagram(&d);
	assert(!line->samples.failed);
	*(d.lost ? &r->passed->lost : &r->passed->flows) += d.unread ? 0 : line->n_flows;
	send_one(r, &d, line);
	empty(line);
}

/* ---- samples ---- */

static void
fill_header(struct flow *f)
{
	struct wbuf w = wbuf_of(f->header, sizeof(f->header));
	const uint8_t macs[12] = {2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 0, (uint8_t)(10 + f->host)};

	wbuf_put(&w, macs, sizeof(macs));
	wbuf_be16(&w, 0x0800);
	wbuf_be16(&w, 0x4500);
	wbuf_be16(&w, (uint16_t)f->ip_octets);
	wbuf_be32(&w, f->nth << 16);
	wbuf_be32(&w, 0x40060000);
	wbuf_be32(&w, 0x0a000001 + f->host);
	wbuf_be32(&w, 0x0a090909);
	wbuf_be16(&w, (uint16_t)(40000 + f->nth % 1000));
	wbuf_be16(&w, 443);
	speaker_words(&w, 2, (const uint32_t[]){f->nth, 0});
	wbuf_be32(&w, 0x50100000);
}

void
speaker_cut_ethernet(struct flow *f, uint32_t protocol, size_t n, const uint8_t *before)
{
	memmove(f->header + n, f->header + ETHERNET, f->kept - ETHERNET);
	if (n > 0)
		memcpy(f->header, before, n);
	f->kept = f->kept - ETHERNET + (uint32_t)n;
	f->protocol = protocol;
	f->stripped = (uint32_t)(ETHERNET + FCS - n);
}

static uint64_t
all_frames(const struct run *r, uint64_t frames)
{
	return frames * r->traffic.ports;
}

static void
take_sample(struct run *r, uint32_t at_switch, uint32_t port)
{
	struct port *p = &r->ports[at_switch][port];
	uint32_t host = draw(r) * 10 < HOST_OF_TEN ? 0 : 1, if_index = SPEAKER_FIRST_IF + port;
	bool sent = draw(r) < r->traffic.sent_part;
	struct flow f = {.index = if_index, .rate = one_in(r), .pool = (uint32_t)p->frames, .input = if_index,
	    .output = 50, .protocol = 1, .frame_octets = host_octets[host], .stripped = FCS, .kept = KEPT,
	    .at_switch = at_switch, .nth = ++p->samples, .nth_of_all = ++r->all_samples[at_switch], .port = port,
	    .host = host, .frames = p->frames, .all_frames = all_frames(r, p->frames),
	    .ip_octets = host_octets[host] - ETHERNET - FCS, .at_s = now_s(r), .sent = sent};
	struct line *line;

	f.number = f.nth;
	if (sent) {
		f.input = 50;
		f.output = if_index;
	}
	fill_header(&f);
	if (r->speech->flow)
		r->speech->flow(&f);
	line = &r->lines[f.at_switch][f.sub_agent];
	if (r->speech->ipfix)
		ipfix_put_record(&line->samples, r->speech->ipfix, &f);
	else
		put_flow(&line->samples, &f, r->speech);
	if (line->n_flows == 0)
		line->first_tick = r->tick;
	line->n_samples++;
	line->n_flows++;
	if (line->n_samples >= r->traffic.samples_a_datagram)
		flush(r, f.at_switch, f.sub_agent);
}

static double
octets_of(double frames)
{
	return frames * (HOST_OF_TEN * host_octets[0] + (10 - HOST_OF_TEN) * host_octets[1]) / 10;
}

static void
count_port(struct run *r, uint32_t at_switch, uint32_t port)
{
	struct port *p = &r->ports[at_switch][port];
	double frames = now_s(r) * r->traffic.frames_s;
	uint64_t in = (uint64_t)(frames * (1 - r->traffic.sent_part)), out = (uint64_t)(frames * r->traffic.sent_part);
	struct counters c = {.number = p->snapshots + 1, .index = SPEAKER_FIRST_IF + port,
	    .if_index = SPEAKER_FIRST_IF + port, .if_type = 6, .direction = 1, .status = 3,
	    .speed_bps = r->traffic.speed_bps, .in_octets = (uint64_t)octets_of((double)in),
	    .out_octets = (uint64_t)octets_of((double)out), .in_pkts = (uint32_t)in, .out_pkts = (uint32_t)out,
	    .at_switch = at_switch, .nth = ++p->snapshots, .port = port, .at_s = now_s(r),
	    .sub_agent = r->speech->ipfix ? COUNTERS_LINE : 0};
	struct line *line;

	if (r->speech->counters)
		r->speech->counters(&c);
	line = &r->lines[c.at_switch][c.sub_agent];
	put_counters(&line->samples, &c, r->speech);
	line->n_samples++;
	if (r->speech->more_samples)
		r->speech->more_samples(&line->samples, &c, &line->n_samples);
	flush(r, c.at_switch, c.sub_agent);
}

/* ---- time ---- */

static bool
counts_now(const struct run *r)
{
	const struct traffic *t = &r->traffic;

	if (t->poll_s == SPEAKER_NO_COUNTERS)
		return false;
	return r->tick % (t->poll_s * TICKS_S) == 0 || (!t->ends_uncounted && r->tick + 1 == t->seconds * TICKS_S);
}

static void
serve_port(struct run *r, uint32_t at_switch, uint32_t port)
{
	struct port *p = &r->ports[at_switch][port];

	while ((double)p->frames < now_s(r) * r->traffic.frames_s) {
		take_sample(r, at_switch, port);
		p->frames += next_gap(r);
	}
	if (counts_now(r))
		count_port(r, at_switch, port);
}

static void
serve_lines(struct run *r, uint32_t at_switch, bool is_last)
{
	for (uint32_t i = 0; i < SPEAKER_SUB_AGENTS; i++)
		if (is_last || r->tick >= r->lines[at_switch][i].first_tick + WAIT_TICKS)
			flush(r, at_switch, i);
}

static void
begin(struct run *r)
{
	for (uint32_t s = 0; s < SPEAKER_SWITCHES; s++) {
		for (uint32_t i = 0; i < SPEAKER_SUB_AGENTS; i++)
			empty(&r->lines[s][i]);
		for (uint32_t p = 0; p < r->traffic.ports; p++)
			r->ports[s][p].frames = next_gap(r);
	}
}

static struct traffic
complete(const struct traffic *given)
{
	struct traffic t = *given;

	t.switches = t.switches ? t.switches : 1;
	t.ports = t.ports ? t.ports : 1;
	t.seconds = t.seconds ? t.seconds : 300;
	t.frames_s = t.frames_s > 0 ? t.frames_s : 1000;
	t.one_in = t.one_in ? t.one_in : 100;
	t.later_one_in = t.later_one_in ? t.later_one_in : t.one_in;
	t.poll_s = t.poll_s ? t.poll_s : 20;
	t.speed_bps = t.speed_bps ? t.speed_bps : 1000000000;
	t.samples_a_datagram = t.samples_a_datagram ? t.samples_a_datagram : 4;
	return t;
}

static void
tell_truth(const struct traffic *t, struct passed *passed)
{
	double all = octets_of(t->frames_s) * t->seconds * t->ports * t->switches;

	passed->seconds = t->seconds;
	passed->received_octets = all * (1 - t->sent_part);
	passed->sent_octets = all * t->sent_part;
	passed->host_part[0] = HOST_OF_TEN * host_octets[0] / octets_of(10);
	passed->host_part[1] = 1 - passed->host_part[0];
}

void
speaker_run(const struct traffic *traffic, const struct speech *speech, speaker_send *send, void *arg,
    struct passed *passed)
{
	static struct run r; /* its buffers are large for a stack */
	uint32_t last;

	*passed = (struct passed){.flows = 0};
	memset(&r, 0, sizeof(r));
	r.traffic = complete(traffic);
	r.speech = speech;
	r.send = send;
	r.arg = arg;
	r.passed = passed;
	r.random = 20261127;
	last = r.traffic.seconds * TICKS_S - 1;
	begin(&r);
	for (r.tick = 0; r.tick <= last; r.tick++)
		for (uint32_t s = 0; s < r.traffic.switches; s++) {
			for (uint32_t p = 0; p < r.traffic.ports; p++)
				serve_port(&r, s, p);
			serve_lines(&r, s, r.tick == last);
		}
	tell_truth(&r.traffic, passed);
}
