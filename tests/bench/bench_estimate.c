/*
 * bench_estimate [ROUNDS]: milliseconds of a processor that a list costs beyond reading and sorting its keys: 100 rows of 100,000
 * keys over 200 ports. keys: each key's estimate and variance; rows: limits of the rows in both units; ranks: with the
 * limits and bounds that they need; account: what no row shows. Medians of ROUNDS passes. One JSON line.
 */
#include "collector/estimate/estimate_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { KEYS = 100000, PORTS = 200, ROWS = 100, ROUNDS = 31, STEPS = 4 };
static const char *const step_names[STEPS] = {"keys_ms", "rows_ms", "ranks_ms", "account_ms"};

/* Each tenth key is at two ports; the keys fall as rank^-1. */
struct made {
	struct estimate_stratum strata[PORTS];
	struct estimate_sums parts[KEYS][2];
	size_t ports[KEYS][2];
	double estimate[KEYS], own_variance[KEYS], row_low[ROWS];
	uint64_t samples[KEYS];
	size_t rows[ROWS];
	struct estimate_rank ranks[ROWS];
	struct estimate_figure figures[ROWS][2];
	struct estimate_account account[2];
};

static void
make(struct made *m)
{
	for (size_t k = 0; k < KEYS; k++)
		for (size_t i = 0; i < 1 + (k % 10 == 0); i++) {
			size_t port = m->ports[k][i] = (k * 7 + i * 101) % PORTS;
			size_t n = 1 + 50000 / (k + 1);

			for (size_t s = 0; s < n; s++)
				estimate_add_sample(&m->parts[k][i], 100, s % 3 ? 64 : 1518);
			estimate_add_sums(&m->strata[port].all, &m->parts[k][i]);
		}
	for (size_t p = 0; p < PORTS; p++) {
		m->strata[p].pool_pkts = m->strata[p].all.w * 1.01;
		m->strata[p].pool_octets = m->strata[p].all.wb * 1.01;
		m->strata[p].w_max = 100;
	}
	for (size_t r = 0; r < ROWS; r++)
		m->rows[r] = r;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
sum_key(const struct made *m, const struct estimate_range *range, size_t k, struct estimate_key *key)
{
	estimate_key_begin(key);
	for (size_t i = 0; i < 1 + (k % 10 == 0); i++)
		estimate_key_add(range, key, m->ports[k][i], &m->parts[k][i]);
	estimate_key_end(range, key);
}

static void
sum_keys(struct made *m, struct estimate_range *range, struct estimate_told *told)
{
	for (size_t k = 0; k < KEYS; k++) {
		struct estimate_key key;

		sum_key(m, range, k, &key);
		estimate_told_add(told, &key);
		m->estimate[k] = key.unit[ESTIMATE_OCTETS].estimate;
		m->own_variance[k] = key.unit[ESTIMATE_OCTETS].own_variance;
		m->samples[k] = key.sums.n;
	}
	estimate_range_set_lengths(range, &told->lengths);
}

static void
limit_rows(struct made *m, const struct estimate_range *range)
{
	for (size_t r = 0; r < ROWS; r++) {
		struct estimate_claim claim = estimate_claim_of_row(r + 1, KEYS);
		struct estimate_key key;

		sum_key(m, range, r, &key);
		for (int u = 0; u < ESTIMATE_N_UNITS; u++)
			m->figures[r][u] = estimate_key_figure(range, &key, (enum estimate_unit)u, &claim);
		(void)estimate_key_own_high(range, &key, ESTIMATE_OCTETS, &claim);
	}
}

static void
rank_rows(struct made *m, const struct estimate_range *range, const struct estimate_told *told)
{
	const struct estimate_order order = {KEYS, m->estimate, m->own_variance, m->samples, 0};
	const struct estimate_claim claim = {0.01 / KEYS, 0.025, true};
	const struct estimate_unseen_bounds bounds = {9234 * estimate_any_unseen_pkts(range, 0.01),
	    estimate_not_seen_figure(range, &told->not_seen, ESTIMATE_OCTETS, 0.005).high};

	for (size_t r = 0; r < ROWS; r++) {
		struct estimate_key key;

		sum_key(m, range, r, &key);
		m->row_low[r] = estimate_key_figure(range, &key, ESTIMATE_OCTETS, &claim).low;
	}
	if (estimate_ranks(&order, m->rows, ROWS, m->row_low, &bounds, m->ranks) != 0)
		abort();
}

static void
fill_account(struct made *m, const struct estimate_range *range, const struct estimate_told *told)
{
	const struct estimate_order order = {KEYS, m->estimate, m->own_variance, m->samples, 0};
	struct estimate_sum choosing = estimate_choosing(&order, ROWS, 5);
	static struct estimate_sums sums[2][PORTS];
	struct estimate_key keys[2];

	for (size_t p = 0; p < PORTS; p++)
		sums[0][p] = sums[1][p] = (struct estimate_sums){0};
	for (size_t k = 0; k < KEYS; k++)
		for (size_t i = 0; i < 1 + (k % 10 == 0); i++)
			estimate_add_sums(&sums[k >= ROWS][m->ports[k][i]], &m->parts[k][i]);
	for (size_t i = 0; i < 2; i++) {
		estimate_key_begin(&keys[i]);
		for (size_t p = 0; p < PORTS; p++)
			estimate_key_add(range, &keys[i], p, &sums[i][p]);
		estimate_key_end(range, &keys[i]);
	}
	for (int u = 0; u < ESTIMATE_N_UNITS; u++)
		estimate_account(range, (enum estimate_unit)u, &keys[0], &keys[1], &choosing, &told->not_seen,
		    &m->account[u]);
	(void)estimate_any_unseen_pkts(range, 0.05);
}

static void
pass(struct made *m, double ms[STEPS])
{
	struct estimate_range *range;
	struct estimate_told told = {{{{0, 0}, {0, 0}}}, {0, 0, 0, 0, 0}};
	double at[STEPS + 1];

	at[0] = now_ms();
	if (estimate_range_create(m->strata, PORTS, &range) != 0)
		abort();
	sum_keys(m, range, &told);
	at[1] = now_ms();
	limit_rows(m, range);
	at[2] = now_ms();
	rank_rows(m, range, &told);
	at[3] = now_ms();
	fill_account(m, range, &told);
	at[4] = now_ms();
	estimate_range_destroy(range);
	for (int s = 0; s < STEPS; s++)
		ms[s] = at[s + 1] - at[s];
}

static int
compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
	struct made *m = calloc(1, sizeof(*m));
	double *ms[STEPS + 1];

	if (!m || rounds == 0)
		return 1;
	for (int s = 0; s <= STEPS; s++)
		if (!(ms[s] = calloc(rounds, sizeof(*ms[s]))))
			return 1;
	make(m);
	for (size_t i = 0; i < rounds; i++) {
		double of[STEPS];

		pass(m, of);
		for (int s = 0; s < STEPS; s++) {
			ms[s][i] = of[s];
			ms[STEPS][i] += of[s];
		}
	}
	printf("{\"bench\":\"estimate\",\"keys\":%d,\"ports\":%d,\"rows\":%d", KEYS, PORTS, ROWS);
	for (int s = 0; s <= STEPS; s++) {
		qsort(ms[s], rounds, sizeof(*ms[s]), compare_doubles);
		printf(",\"%s\":%.2f", s < STEPS ? step_names[s] : "all_ms", ms[s][rounds / 2]);
		free(ms[s]);
	}
	printf("}\n");
	free(m);
	return 0;
}
