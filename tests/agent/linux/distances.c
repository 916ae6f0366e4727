#include "tests/agent/linux/distances.h"

#include <math.h>
#include <stdbool.h>

enum { CLASSES = 20 };

double
distances_limit(unsigned classes)
{
	double z = 3.0902, k = classes - 1.0, a = 2 / (9 * k);

	return k * pow(1 - a + z * sqrt(a), 3);
}

/* The longest distance of each class, and the share of all that draws put there. */
static void
set_classes(unsigned mean, uint64_t *bound, double *share)
{
	double log_q = log1p(-1.0 / mean), below = 0;

	for (int c = 0; c < CLASSES; c++) {
		bool last = c == CLASSES - 1;
		double up_to;

		bound[c] = last ? UINT64_MAX : (uint64_t)ceil(log1p(-(c + 1.0) / CLASSES) / log_q);
		up_to = last ? 1 : -expm1((double)bound[c] * log_q);
		share[c] = up_to - below;
		below = up_to;
	}
}

double
distances_chi_square(const uint64_t *positions, size_t n, unsigned mean, unsigned *classes)
{
	size_t filled[CLASSES] = {0};
	uint64_t bound[CLASSES];
	double share[CLASSES], chi = 0;

	*classes = 0;
	set_classes(mean, bound, share);
	for (size_t i = 1; i < n; i++) {
		int c = 0;

		while (positions[i] - positions[i - 1] > bound[c])
			c++;
		filled[c]++;
	}
	for (int c = 0; c < CLASSES && n > 1; c++) {
		double expected = share[c] * (double)(n - 1);

		if (expected <= 0)
			continue; /* at a short mean, no whole number of frames lies there */
		chi += pow((double)filled[c] - expected, 2) / expected;
		++*classes;
	}
	return chi;
}
