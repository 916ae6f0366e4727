#include "agent/sampling/skip.h"

#include <assert.h>
#include <math.h>

static uint64_t
next_splitmix64(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void
skip_stream_seed(struct skip_stream *stream, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		stream->state[i] = next_splitmix64(&seed);
}

static uint64_t
rotate_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

uint64_t
skip_stream_next(struct skip_stream *stream)
{
	uint64_t *s = stream->state;
	uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

/* Returns a number in (0, 1] with 53 random bits. It is never 0, so that its logarithm is finite. */
static double
unit_interval(struct skip_stream *stream)
{
	return (double)((skip_stream_next(stream) >> 11) + 1) * 0x1p-53;
}

static uint32_t
draw_geometric(struct skip_stream *stream, uint32_t mean, uint32_t max_skip, bool *partial)
{
	double k;

	if (mean <= 1)
		return 0;
	k = floor(log(unit_interval(stream)) / log1p(-1.0 / mean));
	*partial = k > max_skip;
	return *partial ? max_skip : (uint32_t)k;
}

/* By rejection: a 32-bit number that would favour low values is drawn again. */
static uint32_t
draw_uniform(struct skip_stream *stream, uint32_t mean)
{
	uint64_t span = 2 * ((uint64_t)mean - 1) + 1;
	uint64_t limit = (1ull << 32) - (1ull << 32) % span;
	uint64_t r;

	do
		r = skip_stream_next(stream) >> 32;
	while (r >= limit);
	return (uint32_t)(r % span);
}

uint32_t
skip_draw(struct skip_stream *stream, enum sampling_draw draw, uint32_t mean, uint32_t max_skip, bool *partial)
{
	assert(mean >= 1 && (draw != SAMPLING_UNIFORM || max_skip >= 2 * (mean - 1)));
	*partial = false;
	if (draw == SAMPLING_UNIFORM)
		return draw_uniform(stream, mean);
	return draw_geometric(stream, mean, max_skip, partial);
}
