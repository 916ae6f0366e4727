#include "tests/collector/estimate/model.h"

#include "agent/sampling/skip.h"
#include "common/frame.h"
#include "tests/support/captures.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
uniform(struct skip_stream *stream) /* 0 < u < 1 */
{
	return ((double)(skip_stream_next(stream) >> 11) + 0.5) * 0x1p-53;
}

static void *
zeros(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	ck_assert_ptr_nonnull(p);
	return p;
}

/* What each key sent at each port. A port's frames lie together, so a key's cells are by port. */
static void
fill_cells(struct model *m)
{
	uint32_t *port_of = zeros(m->n_keys, sizeof(*port_of)); /* that a key's newest cell is of, from 1 */
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		memset(port_of, 0, m->n_keys * sizeof(*port_of));
		for (size_t k = 0; k < m->n_keys && pass == 1; k++) {
			m->keys[k].first_cell = n;
			n += m->keys[k].n_cells;
			m->keys[k].n_cells = 0;
		}
		if (pass == 1)
			m->cells = zeros(n, sizeof(*m->cells));
		for (size_t p = 0; p < m->n_ports; p++)
			for (size_t i = m->ports[p].first; i < m->ports[p].first + m->ports[p].n; i++) {
				struct model_key *key = &m->keys[m->frames[i].key];
				struct model_cell *cell;

				key->n_cells += port_of[m->frames[i].key] != p + 1;
				port_of[m->frames[i].key] = (uint32_t)p + 1;
				if (pass == 0)
					continue;
				cell = &m->cells[key->first_cell + key->n_cells - 1];
				cell->port = (uint32_t)p;
				cell->truth[ESTIMATE_PKTS] += 1;
				cell->truth[ESTIMATE_OCTETS] += m->frames[i].octets;
			}
	}
	free(port_of);
}

/* Ports' skips, and what is true of ports and keys. Frames lie by port. */
static void
finish(struct model *m, const struct model_sampling *sampling)
{
	size_t n_skips = 0;

	while (n_skips < MODEL_SKIPS && sampling->skips[n_skips] > 0)
		n_skips++;
	m->keys = zeros(m->n_keys, sizeof(*m->keys));
	for (size_t p = 0; p < m->n_ports; p++) {
		struct model_port *port = &m->ports[p];

		port->skip = sampling->skips[p % n_skips];
		port->counted = sampling->uncounted == 0 || p % sampling->uncounted != 0;
		port->skip_after = port->skip * (sampling->factor > 0 ? sampling->factor : 1);
		port->change = sampling->until > 0 ? (size_t)(sampling->until * (double)port->n) : port->n;
		for (size_t i = 0; i < port->n; i++) {
			const struct model_frame *frame = &m->frames[port->first + i];
			const double y[ESTIMATE_N_UNITS] = {1, frame->octets};
			struct model_key *key = &m->keys[frame->key];

			key->expected += 1 / (i < port->change ? port->skip : port->skip_after);
			for (int u = 0; u < ESTIMATE_N_UNITS; u++) {
				key->truth[u] += y[u];
				port->total[u] += y[u];
				m->total[u] += y[u];
			}
		}
	}
	fill_cells(m);
}

/* ---- made traffic ---- */

struct made_key {
	uint32_t octets[2];
	double long_part; /* of the second length */
	double size;	  /* frames at each of its ports */
	size_t port;	  /* the first one */
};

static struct made_key *
make_keys(const struct model_shape *shape, struct skip_stream *stream)
{
	static const uint32_t lengths[] = {64, 64, 90, 128, 594, 1518};
	struct made_key *keys = zeros(shape->n_keys, sizeof(*keys));
	double all = 0, frames = shape->pkts * (double)shape->n_ports;
	size_t at = shape->at_ports ? shape->at_ports : shape->n_ports;

	for (size_t k = shape->first > 0; k < shape->n_keys; k++)
		all += pow((double)k + 1, -shape->zipf);
	for (size_t k = 0; k < shape->n_keys; k++) {
		double share = pow((double)k + 1, -shape->zipf) / all * (1 - shape->first);

		if (k == 0 && shape->first > 0)
			share = shape->first;
		keys[k] = (struct made_key){
			.octets = {lengths[(size_t)(6 * uniform(stream))], lengths[(size_t)(6 * uniform(stream))]},
			.long_part = uniform(stream),
			.size = frames * share / (double)at,
			.port = (size_t)(uniform(stream) * (double)shape->n_ports),
		};
	}
	return keys;
}

static void
shuffle(struct model_frame *frames, size_t n, struct skip_stream *stream)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)(uniform(stream) * (double)i);
		struct model_frame frame = frames[j];

		frames[j] = frames[i - 1];
		frames[i - 1] = frame;
	}
}

static bool
is_at(const struct model_shape *shape, const struct made_key *key, size_t port)
{
	return shape->at_ports == 0 || (port + shape->n_ports - key->port) % shape->n_ports < shape->at_ports;
}

void
model_make(struct model *model, const struct model_shape *shape, const struct model_sampling *sampling)
{
	size_t room = (size_t)(shape->pkts * (double)shape->n_ports) + shape->n_keys * shape->n_ports;
	struct skip_stream stream;
	struct made_key *keys;

	skip_stream_seed(&stream, shape->seed);
	keys = make_keys(shape, &stream);
	*model = (struct model){.n_ports = shape->n_ports, .n_keys = shape->n_keys};
	model->ports = zeros(model->n_ports, sizeof(*model->ports));
	model->frames = zeros(room, sizeof(*model->frames));
	for (size_t p = 0; p < shape->n_ports; p++) {
		struct model_port *port = &model->ports[p];

		port->first = model->n_frames;
		for (size_t k = 0; k < shape->n_keys; k++) {
			size_t n = is_at(shape, &keys[k], p) ? (size_t)(keys[k].size + uniform(&stream)) : 0;

			for (size_t i = 0; i < n; i++)
				model->frames[model->n_frames++] = (struct model_frame){(uint32_t)k,
				    keys[k].octets[uniform(&stream) < keys[k].long_part]};
		}
		port->n = model->n_frames - port->first;
		shuffle(&model->frames[port->first], port->n, &stream);
	}
	ck_assert_uint_le(model->n_frames, room);
	free(keys);
	finish(model, sampling);
}

/* ---- a capture's ---- */

enum { KEY_OCTETS = 2 * FRAME_IP_LEN + 1 };

struct captured {
	size_t place; /* in the capture */
	uint32_t octets, port;
	uint8_t key[KEY_OCTETS];
};

static bool
key_of_frame(const struct frame_keys *f, enum model_by by, uint8_t *key)
{
	memset(key, 0, KEY_OCTETS);
	switch (by) {
	case MODEL_BY_MAC_PAIR:
		memcpy(key + FRAME_MAC_LEN, f->dst_mac, FRAME_MAC_LEN);
		/* fall through */
	case MODEL_BY_MAC_SRC:
		memcpy(key, f->src_mac, FRAME_MAC_LEN);
		return f->has_macs;
	case MODEL_BY_IP_PAIR:
		memcpy(key + 1 + FRAME_IP_LEN, f->dst_ip, FRAME_IP_LEN);
		/* fall through */
	case MODEL_BY_IP_SRC:
		key[0] = f->ip_version;
		memcpy(key + 1, f->src_ip, FRAME_IP_LEN);
		return f->ip_version != 0;
	default:
		key[0] = f->has_ip_proto;
		key[1] = f->has_ip_proto ? f->ip_proto : (uint8_t)(f->ethertype >> 8);
		key[2] = f->has_ip_proto ? 0 : (uint8_t)f->ethertype;
		return f->has_ethertype && (f->has_ip_proto || f->ethertype >= 0x600);
	}
}

/* The same port for both directions between two stations. */
static uint32_t
port_of_frame(const struct frame_keys *f, size_t n_ports)
{
	uint64_t hash = 0;

	for (int i = 0; i < FRAME_MAC_LEN; i++)
		hash = hash * 1000003 + (uint64_t)f->src_mac[i] * f->dst_mac[i] + f->src_mac[i] + f->dst_mac[i];
	return (uint32_t)((hash ^ hash >> 29) * 0x9e3779b97f4a7c15u >> 32) % (uint32_t)n_ports;
}

static struct captured *
read_frames(const char *path, enum model_by by, size_t n_ports, size_t *n)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, error);
	struct captured *all = NULL;
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	size_t room = 0;

	*n = 0;
	while (pcap && pcap_next_ex(pcap, &header, &octets) == 1) {
		struct frame_keys keys;

		if (*n == room) {
			room = room ? 2 * room : 1 << 12;
			all = realloc(all, room * sizeof(*all));
			ck_assert_ptr_nonnull(all);
		}
		frame_parse(octets, header->caplen, &keys);
		all[*n].place = *n;
		all[*n].octets = frame_wire_octets(header->len);
		all[*n].port = port_of_frame(&keys, n_ports);
		*n += all[*n].octets <= FRAME_MAX_OCTETS && key_of_frame(&keys, by, all[*n].key);
	}
	if (pcap)
		pcap_close(pcap);
	return all;
}

static int
by_key(const void *a, const void *b)
{
	const struct captured *x = a, *y = b;
	int order = memcmp(x->key, y->key, KEY_OCTETS);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* 0, or -errno if the file cannot be read. */
static int
read_capture(struct model *model, const char *path, enum model_by by, size_t n_ports,
    const struct model_sampling *sampling)
{
	size_t n, at = 0;
	struct captured *all = read_frames(path, by, n_ports, &n);
	uint32_t *key, *octets, *port;

	*model = (struct model){.n_ports = n_ports};
	if (!all)
		return -ENOENT;
	key = zeros(n, sizeof(*key));
	octets = zeros(n, sizeof(*octets));
	port = zeros(n, sizeof(*port));
	qsort(all, n, sizeof(*all), by_key);
	for (size_t i = 0; i < n; i++) {
		model->n_keys += i == 0 || memcmp(all[i].key, all[i - 1].key, KEY_OCTETS) != 0;
		key[all[i].place] = (uint32_t)model->n_keys - 1;
		octets[all[i].place] = all[i].octets;
		port[all[i].place] = all[i].port;
	}
	free(all);
	model->n_frames = n;
	model->ports = zeros(n_ports, sizeof(*model->ports));
	model->frames = zeros(n, sizeof(*model->frames));
	for (size_t p = 0; p < n_ports; p++) {
		model->ports[p].first = at;
		for (size_t i = 0; i < n; i++)
			if (port[i] == p)
				model->frames[at++] = (struct model_frame){key[i], octets[i]};
		model->ports[p].n = at - model->ports[p].first;
	}
	free(key);
	free(octets);
	free(port);
	finish(model, sampling);
	return 0;
}

bool
model_of(struct model *model, const char *what, const char *capture, enum model_by by,
    const struct model_shape *shape, const struct model_sampling *sampling)
{
	char path[512];

	if (!capture) {
		model_make(model, shape, sampling);
		return true;
	}
	if (!captures_dir()) {
		captures_skip(what);
		return false;
	}
	snprintf(path, sizeof(path), "%s/%s", captures_dir(), capture);
	ck_assert_int_eq(read_capture(model, path, by, shape->n_ports, sampling), 0);
	return true;
}

void
model_free(struct model *model)
{
	free(model->ports);
	free(model->keys);
	free(model->frames);
	free(model->cells);
}

/* ---- sampling ---- */

/* Sums of keys at the port that is being sampled. */
struct parts {
	struct estimate_sums *sums;
	uint32_t *keys; /* that have any, in the order of their first sample */
	size_t n;
};

static void
sample_frames(const struct model *m, size_t first, size_t end, double skip, struct skip_stream *stream,
    struct estimate_sums *all, struct parts *parts)
{
	double log_rest = skip > 1 ? log1p(-1 / skip) : -INFINITY;
	double at = (double)first;

	for (;;) {
		const struct model_frame *frame;
		struct estimate_sums *sums;

		at += floor(log(uniform(stream)) / log_rest);
		if (at >= (double)end)
			return;
		frame = &m->frames[(size_t)at++];
		sums = &parts->sums[frame->key];
		if (sums->n == 0)
			parts->keys[parts->n++] = frame->key;
		estimate_add_sample(sums, skip, frame->octets);
		estimate_add_sample(all, skip, frame->octets);
	}
}

/* Keys' parts at all ports, because the range must be known before any is added. */
static void
sample_ports(const struct model *m, struct model_run *run, struct skip_stream *stream)
{
	struct parts here = {zeros(m->n_keys, sizeof(*here.sums)), zeros(m->n_keys, sizeof(*here.keys)), 0};
	size_t room = 0;

	for (size_t p = 0; p < m->n_ports; p++) {
		const struct model_port *port = &m->ports[p];
		struct estimate_stratum *s = &run->strata[p];

		s->pool_pkts = port->counted ? port->total[ESTIMATE_PKTS] : 0;
		s->pool_octets = port->counted ? port->total[ESTIMATE_OCTETS] : 0;
		s->w_max = fmax(port->skip, port->skip_after);
		sample_frames(m, port->first, port->first + port->change, port->skip, stream, &s->all, &here);
		sample_frames(m, port->first + port->change, port->first + port->n, port->skip_after, stream,
		    &s->all, &here);
		if (run->n_parts + here.n > room) {
			room = 2 * room + here.n;
			run->parts = realloc(run->parts, room * sizeof(*run->parts));
			ck_assert_ptr_nonnull(run->parts);
		}
		while (here.n > 0) {
			uint32_t key = here.keys[--here.n];

			run->parts[run->n_parts++] = (struct model_part){key, (uint32_t)p, here.sums[key]};
			here.sums[key] = (struct estimate_sums){0};
		}
	}
	free(here.sums);
	free(here.keys);
}

void
model_sample(const struct model *model, uint64_t seed, struct model_run *run)
{
	struct skip_stream stream;

	skip_stream_seed(&stream, seed);
	*run = (struct model_run){.all_ports = true};
	run->strata = zeros(model->n_ports, sizeof(*run->strata));
	run->keys = zeros(model->n_keys, sizeof(*run->keys));
	sample_ports(model, run, &stream);
	for (size_t p = 0; p < model->n_ports; p++)
		run->all_ports &= run->strata[p].all.n > 0 || model->ports[p].n == 0;
	ck_assert_int_eq(estimate_range_create(run->strata, model->n_ports, &run->range), 0);
	for (size_t k = 0; k < model->n_keys; k++)
		estimate_key_begin(&run->keys[k]);
	for (size_t i = 0; i < run->n_parts; i++) {
		const struct model_part *part = &run->parts[i];

		estimate_key_add(run->range, &run->keys[part->key], part->port, &part->sums);
	}
	for (size_t k = 0; k < model->n_keys; k++) {
		if (run->keys[k].sums.n == 0)
			continue;
		estimate_key_end(run->range, &run->keys[k]);
		estimate_told_add(&run->told, &run->keys[k]);
	}
	estimate_range_set_lengths(run->range, &run->told.lengths);
}

void
model_run_free(struct model_run *run)
{
	estimate_range_destroy(run->range);
	free(run->strata);
	free(run->parts);
	free(run->keys);
}

double
model_truth(const struct model *model, const struct model_run *run, size_t key, enum estimate_unit unit)
{
	const struct model_key *k = &model->keys[key];
	double truth = 0;

	if (run->all_ports)
		return k->truth[unit];
	for (size_t i = 0; i < k->n_cells; i++) {
		const struct model_cell *cell = &model->cells[k->first_cell + i];

		truth += run->strata[cell->port].all.n > 0 ? cell->truth[unit] : 0;
	}
	return truth;
}

/* ---- lists ---- */

struct place {
	size_t key;
	double estimate;
};

static int
largest_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->estimate != y->estimate)
		return x->estimate < y->estimate ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

void
model_list_make(const struct model *model, const struct model_run *run, enum estimate_unit unit,
    struct model_list *list)
{
	struct place *places = zeros(model->n_keys, sizeof(*places));

	*list = (struct model_list){0};
	for (size_t k = 0; k < model->n_keys; k++)
		if (run->keys[k].sums.n > 0)
			places[list->n++] = (struct place){k, run->keys[k].unit[unit].estimate};
	qsort(places, list->n, sizeof(*places), largest_first);
	list->key = zeros(list->n, sizeof(*list->key));
	list->estimate = zeros(list->n, sizeof(*list->estimate));
	list->own_variance = zeros(list->n, sizeof(*list->own_variance));
	list->samples = zeros(list->n, sizeof(*list->samples));
	for (size_t i = 0; i < list->n; i++) {
		const struct estimate_key *key = &run->keys[places[i].key];

		list->key[i] = places[i].key;
		list->estimate[i] = places[i].estimate;
		list->own_variance[i] = key->unit[unit].own_variance;
		list->samples[i] = key->sums.n;
	}
	free(places);
}

void
model_list_free(struct model_list *list)
{
	free(list->key);
	free(list->estimate);
	free(list->own_variance);
	free(list->samples);
}
