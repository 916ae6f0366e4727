#include "tests/collector/estimate/model.h"

#include "agent/sampling/skip.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

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

/* How many of n frames are sampled when each is with probability 1/skip: the gaps are geometric. */
static uint64_t
sampled_of(struct skip_stream *stream, double n, double skip)
{
	uint64_t sampled = 0;
	double at = 0, log_rest = skip > 1 ? log1p(-1 / skip) : -INFINITY;

	for (;;) {
		at += 1 + floor(log(uniform(stream)) / log_rest);
		if (at > n)
			return sampled;
		sampled++;
	}
}

static double *
cell(const struct model *m, size_t key, size_t port, int half)
{
	return &m->pkts[(key * m->n_ports + port) * 2 + (size_t)half];
}

static void
give_lengths(struct model_key *key, struct skip_stream *stream)
{
	static const uint32_t lengths[] = {64, 64, 90, 128, 594, 1518};

	key->octets[0] = lengths[(size_t)(6 * uniform(stream))];
	key->octets[1] = lengths[(size_t)(6 * uniform(stream))];
	key->long_part = uniform(stream);
}

void
model_make(struct model *model, const struct model_shape *shape)
{
	struct skip_stream stream;
	double all = 0;
	size_t n_skips = 0;

	skip_stream_seed(&stream, shape->seed);
	*model = (struct model){.n_ports = shape->n_ports, .n_keys = shape->n_keys};
	model->ports = zeros(model->n_ports, sizeof(*model->ports));
	model->keys = zeros(model->n_keys, sizeof(*model->keys));
	model->pkts = zeros(model->n_keys * model->n_ports * 2, sizeof(*model->pkts));
	while (n_skips < 4 && shape->skips[n_skips] > 0)
		n_skips++;
	for (size_t p = 0; p < model->n_ports; p++) {
		model->ports[p].skip = shape->skips[p % n_skips];
		model->ports[p].skip_factor = shape->skip_factor > 0 ? shape->skip_factor : 1;
	}
	for (size_t k = 0; k < model->n_keys; k++)
		all += pow((double)k + 1, -shape->zipf);
	for (size_t k = 0; k < model->n_keys; k++) {
		struct model_key *key = &model->keys[k];
		size_t at = shape->at_ports ? shape->at_ports : shape->n_ports;
		double size = shape->pkts * (double)shape->n_ports / (double)at *
		    pow((double)k + 1, -shape->zipf) / all;
		size_t first = (size_t)(uniform(&stream) * (double)shape->n_ports);

		give_lengths(key, &stream);
		for (size_t i = 0; i < at; i++) {
			size_t p = (first + i) % shape->n_ports;

			for (int half = 0; half < 2; half++)
				*cell(model, k, p, half) = floor(size / 2 + uniform(&stream));
		}
	}
}

void
model_free(struct model *model)
{
	free(model->ports);
	free(model->keys);
	free(model->pkts);
}

/* A key's frames at one port in one half are of two lengths, the same number each time; so its truth is known. */
static void
sample_cell(const struct model *m, struct model_run *run, size_t k, size_t p, int half,
    struct skip_stream *stream, struct estimate_sums *sums)
{
	const struct model_key *key = &m->keys[k];
	double n = *cell(m, k, p, half), second = floor(n * key->long_part);
	double skip = m->ports[p].skip * (half ? m->ports[p].skip_factor : 1);
	const double of_length[2] = {n - second, second};

	for (int i = 0; i < 2; i++) {
		uint64_t sampled = sampled_of(stream, of_length[i], skip);

		for (uint64_t j = 0; j < sampled; j++) {
			estimate_add_sample(sums, skip, key->octets[i]);
			estimate_add_sample(&run->strata[p].all, skip, key->octets[i]);
		}
		run->strata[p].pool_pkts += of_length[i];
		run->strata[p].pool_octets += of_length[i] * key->octets[i];
		m->keys[k].pkts += of_length[i];
		m->keys[k].octets_sum += of_length[i] * key->octets[i];
	}
}

void
model_sample(const struct model *model, uint64_t seed, struct model_run *run)
{
	struct skip_stream stream;
	struct estimate_sums *sums = zeros(model->n_keys * model->n_ports, sizeof(*sums));
	struct estimate_lengths lengths = {0};

	skip_stream_seed(&stream, seed);
	run->strata = zeros(model->n_ports, sizeof(*run->strata));
	run->keys = zeros(model->n_keys, sizeof(*run->keys));
	for (size_t k = 0; k < model->n_keys; k++) {
		model->keys[k].pkts = model->keys[k].octets_sum = 0;
		for (size_t p = 0; p < model->n_ports; p++)
			for (int half = 0; half < 2; half++)
				sample_cell(model, run, k, p, half, &stream, &sums[k * model->n_ports + p]);
	}
	ck_assert_int_eq(estimate_range_create(run->strata, model->n_ports, &run->range), 0);
	for (size_t k = 0; k < model->n_keys; k++) {
		estimate_key_begin(&run->keys[k]);
		for (size_t p = 0; p < model->n_ports; p++)
			estimate_key_add(run->range, &run->keys[k], p, &sums[k * model->n_ports + p]);
		estimate_key_end(run->range, &run->keys[k]);
		estimate_lengths_add(&lengths, &run->keys[k]);
	}
	estimate_range_set_lengths(run->range, &lengths);
	free(sums);
}

void
model_run_free(struct model_run *run)
{
	estimate_range_destroy(run->range);
	free(run->strata);
	free(run->keys);
}

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

void
model_judge(struct model_tally *tally, const struct estimate_figure *figure, double truth)
{
	tally->trials++;
	tally->low += truth < figure->low * (1 - 1e-9) - 1e-6;
	tally->high += truth > figure->high * (1 + 1e-9) + 1e-6;
}

double
model_held(const struct model_tally *tally)
{
	return 1 - (double)(tally->low + tally->high) / (double)tally->trials;
}
