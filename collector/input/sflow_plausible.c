#include "collector/input/sflow_plausible.h"

#include "common/frame.h"

#include <math.h>

#define BIT(kind) (1u << (kind))

/* ---- how many frames a sample stands for ---- */

enum {
	/* The rate is measured in blocks of so many steps: as skips are drawn, two blocks differ by a factor of
	 * BLOCK_ALIKE, and one step has BLOCK_LEAP times what the others have, about once in a million. */
	BLOCK_STEPS = 32,
	BLOCK_ALIKE = 3,
	BLOCK_LEAP = 20,
	/* A measured rate replaces the stated one after so many numbers, if it differs by so many standard errors (for
	 * geometric skips: 1/sqrt(n)) and at least one part in so many; after one block if it is so many times that. */
	MEASURE_NUMBERS = 256,
	MEASURE_ERRORS = 5,
	MEASURE_LEAST = 50,
	MEASURE_GROSS = 4,
	MEASURE_MOST = 64, /* no agent is known that takes so many times fewer; pools of other things are */
	MEASURE_FORGET = 65536, /* after so many numbers earlier ones count half */
	RATE_GAIN = 5, /* logarithm of how much better a new rate must explain the pool: by chance once in 148 lies */
	GUESS_NUMBERS = 8, /* where no rate is stated */
	/* A pool that rose so often in a row by a multiple of the rate is computed from it; by chance that comes once in
	 * rate^16. */
	MADE_UP_RISES = 16,
	/* One leap is a pool that began anew; three within some samples are no count. */
	LEAP = 16,
	LEAPS_REAL = 3 * LEAP,
	DIRECTION_TURNS = 6, /* so often in a row by chance never; and soon */
};

static uint8_t
more_of(uint8_t level, unsigned more)
{
	return level + more < UINT8_MAX ? (uint8_t)(level + more) : UINT8_MAX;
}

static double
ratio_of(double a, double b)
{
	return a > b ? a / b : b / a;
}

static bool
are_alike(uint64_t pkts, uint64_t numbers, uint64_t other_pkts, uint64_t other_numbers)
{
	if (pkts == 0 || other_pkts == 0)
		return pkts == other_pkts;
	return ratio_of((double)pkts / (double)numbers, (double)other_pkts / (double)other_numbers) < BLOCK_ALIKE;
}

static bool
has_leap(const struct rate_block *b)
{
	uint64_t rest = b->pkts - b->most_pkts;
	uint32_t rest_numbers = b->numbers - b->most_numbers;

	return (double)b->most_pkts * rest_numbers > (double)BLOCK_LEAP * (double)rest * b->most_numbers;
}

/* A block that disagrees with those before may be by chance or a lie; two that agree with each other are a new rate. */
static void
plausible_take_block(struct rate_check *c, const struct rate_block *b)
{
	if (c->numbers == 0 || are_alike(b->pkts, b->numbers, c->pkts, c->numbers)) {
		c->pkts += b->pkts;
		c->numbers += b->numbers;
	} else if (c->odd.steps > 0 && are_alike(b->pkts, b->numbers, c->odd.pkts, c->odd.numbers)) {
		c->pkts = c->odd.pkts + b->pkts;
		c->numbers = c->odd.numbers + b->numbers;
	} else {
		c->odd = *b;
		return;
	}
	c->odd.steps = 0;
	if (c->numbers >= MEASURE_FORGET) {
		c->pkts /= 2;
		c->numbers /= 2;
	}
}

static uint32_t
measure_step(struct rate_check *c, uint32_t numbers, uint32_t pkts)
{
	struct rate_block *b = &c->open;
	uint32_t odd = 0;

	b->pkts += pkts;
	b->numbers += numbers;
	if ((uint64_t)pkts * b->most_numbers >= b->most_pkts * numbers) {
		b->most_pkts = pkts;
		b->most_numbers = numbers;
	}
	if (++b->steps < BLOCK_STEPS)
		return 0;
	if (has_leap(b)) {
		c->leaps = more_of(c->leaps, LEAP);
		odd = BIT(EASE_ODD_POOL);
	} else {
		plausible_take_block(c, b);
	}
	*b = (struct rate_block){.steps = 0};
	return odd;
}

static void
measure_anew(struct rate_check *c)
{
	c->open = c->odd = (struct rate_block){.steps = 0};
	c->pkts = c->numbers = c->counted_pkts = c->counted_numbers = 0;
	c->is_denied = false;
}

/* A new rate is believed if the frames that passed before its samples are better explained by it than by the old one
 * (skips are drawn, so they are exponential). The old one holds meanwhile, which is right, too, for the first sample
 * after a change: its skip was drawn at the old rate. Where the pool says nothing, a rate is believed once it was stated
 * twice, so that two may take turns. */
static uint32_t
note_rate(struct rate_check *c, uint32_t rate, uint32_t numbers, uint32_t pkts)
{
	bool is_new = rate != c->other, tells = pkts > 0 && rate_check_pool_is_real(c);
	uint32_t before = c->stated;
	double gain;

	if (rate == before && rate != 0)
		return 0;
	if (rate == 0 || rate > EASE_MEAN_SKIP_MAX)
		return BIT(EASE_ODD_RATE);
	if (is_new)
		c->other_numbers = c->other_pkts = 0;
	c->other = rate;
	c->other_numbers += numbers;
	c->other_pkts += pkts;
	gain = before == 0 ? 0 : (double)c->other_numbers * log((double)before / rate) +
		(double)c->other_pkts * (1.0 / before - 1.0 / rate);
	if (before > 0 && !tells && is_new)
		return 0;
	if (before > 0 && tells && gain <= RATE_GAIN) /* in between nothing is refuted yet */
		return gain < -RATE_GAIN ? BIT(EASE_ODD_RATE) : 0;
	c->other = before;
	c->other_numbers = c->other_pkts = 0;
	c->stated = rate;
	measure_anew(c);
	return 0;
}

/* Returns the line that the sample goes on from; NULL: none. Of several it is the one whose number is below by least, as
 * the least rise of a pool would favour small ones. */
static struct rate_line *
plausible_line_of(struct rate_check *c, const struct sflow_flow *f)
{
	struct rate_line *best = NULL;

	if (!c->is_split)
		return c->n_samples > 0 && (int32_t)(f->pool_pkts - c->lines->pool) >= 0 ? c->lines : NULL;
	for (int i = 0; i < RATE_LINES; i++) {
		struct rate_line *l = &c->lines[i];

		if (l->used > 0 && (int32_t)(f->sequence - l->number) > 0 && (int32_t)(f->pool_pkts - l->pool) >= 0 &&
		    (!best || f->sequence - l->number < f->sequence - best->number))
			best = l;
	}
	return best;
}

static struct rate_line *
oldest_line(struct rate_check *c)
{
	struct rate_line *oldest = c->lines;

	for (int i = 1; i < RATE_LINES; i++)
		if (c->lines[i].used < oldest->used)
			oldest = &c->lines[i];
	return oldest;
}

static uint32_t
plausible_note_pool(struct rate_check *c, const struct sflow_flow *f, uint32_t numbers, uint32_t pkts)
{
	if (c->leaps > 0)
		c->leaps--;
	c->made_up = f->rate > 1 && (pkts % f->rate == 0 || pkts == numbers) ? c->made_up + 1 : 0;
	return measure_step(c, numbers, pkts);
}

/* The pool goes on from none. One that does so all the time may be of several samplers. */
static void
note_leap(struct rate_check *c)
{
	c->leaps = more_of(c->leaps, LEAP);
	c->open = (struct rate_block){.steps = 0};
	if (c->leaps < LEAPS_REAL || c->is_split)
		return;
	c->is_split = true;
	c->leaps = 0;
	measure_anew(c);
}

static bool
plausible_has_rate_by_direction(const struct rate_check *c)
{
	return c->turns >= DIRECTION_TURNS;
}

/* Some sample what they receive at one rate, and what they send at another (Junos: sample-rate ingress, egress), with one
 * pool or two: each sample then has the rate that it states. */
static void
note_direction(struct rate_check *c, const struct sflow_flow *f)
{
	bool came_in = f->input.value == f->source.index, is_sent = f->output.value == f->source.index;
	bool was_so = plausible_has_rate_by_direction(c);

	if (came_in == is_sent)
		return;
	if (f->rate != c->by_direction[is_sent] || f->rate == c->by_direction[!is_sent] || f->rate == 0 ||
	    f->rate > EASE_MEAN_SKIP_MAX)
		c->turns = 0;
	else if (is_sent != c->is_sent && c->by_direction[!is_sent] > 0)
		c->turns = more_of(c->turns, 1);
	c->by_direction[is_sent] = f->rate;
	c->is_sent = is_sent;
	if (plausible_has_rate_by_direction(c) != was_so)
		measure_anew(c);
}

uint32_t
rate_check_sample(struct rate_check *c, const struct sflow_flow *f, uint32_t numbers, uint32_t *rise)
{
	struct rate_line *l = plausible_line_of(c, f);
	uint32_t odd, of_line = l && c->is_split ? f->sequence - l->number : numbers;
	bool is_first = c->n_samples++ == 0;

	c->numbers_since += numbers;
	note_direction(c, f);
	if (plausible_has_rate_by_direction(c)) {
		c->stated = f->rate;
		*rise = 0;
		return 0;
	}
	if (l && !c->is_split && f->rate == c->stated && c->stated > 0) { /* as most */
		*rise = f->pool_pkts - l->pool;
		*l = (struct rate_line){f->sequence, f->pool_pkts, c->n_samples};
		return plausible_note_pool(c, f, numbers, *rise);
	}
	*rise = l ? f->pool_pkts - l->pool : 0;
	odd = note_rate(c, f->rate, of_line, *rise);
	if (l) {
		odd |= plausible_note_pool(c, f, of_line, *rise);
	} else if (!is_first) {
		odd |= BIT(EASE_ODD_POOL);
		note_leap(c);
	}
	if (!l)
		l = c->is_split ? oldest_line(c) : c->lines;
	*l = (struct rate_line){f->sequence, f->pool_pkts, c->n_samples};
	c->line = (uint8_t)(l - c->lines);
	return odd;
}

bool
rate_check_pool_is_real(const struct rate_check *c)
{
	return c->made_up < MADE_UP_RISES && c->leaps < LEAPS_REAL && !c->is_shared && !c->is_denied &&
	    !plausible_has_rate_by_direction(c);
}

static double
measured_rate(const struct rate_check *c, uint32_t least)
{
	return c->numbers >= least && c->pkts > 0 && rate_check_pool_is_real(c) ? (double)c->pkts / (double)c->numbers : 0;
}

/* Whether what the port counted agrees with the pool rather than with the stated rate. */
static bool
is_counted_so(const struct rate_check *c, double measured)
{
	double counted = (double)c->counted_pkts / (double)(c->counted_numbers > 0 ? c->counted_numbers : 1);

	return c->counted_numbers >= BLOCK_STEPS && counted > 0 && ratio_of(measured, counted) <= ratio_of(c->stated, counted);
}

static bool
differs_clearly(const struct rate_check *c, double measured)
{
	double off = measured / c->stated;

	if (off >= MEASURE_MOST && !is_counted_so(c, measured))
		return false;
	if (c->is_split)
		return true;
	if (off >= MEASURE_GROSS || off <= 1.0 / MEASURE_GROSS)
		return true;
	return c->numbers >= MEASURE_NUMBERS && fabs(off - 1) >= 1.0 / MEASURE_LEAST &&
	    (off - 1) * (off - 1) * (double)c->numbers >= MEASURE_ERRORS * MEASURE_ERRORS;
}

static uint32_t
whole_rate(double rate)
{
	return rate < 1 ? 1 : rate > EASE_MEAN_SKIP_MAX ? EASE_MEAN_SKIP_MAX : (uint32_t)(rate + 0.5);
}

/* Where no rate is stated: what the port counted, what the pool rose by, or pool and number since the agent began. */
static uint32_t
guessed_rate(const struct rate_check *c)
{
	uint64_t pkts = c->pkts + c->open.pkts, numbers = c->numbers + c->open.numbers;
	const struct rate_line *l = &c->lines[c->line];
	double measured = measured_rate(c, BLOCK_STEPS);

	if (c->counted_numbers >= BLOCK_STEPS && c->counted_pkts > 0)
		return whole_rate((double)c->counted_pkts / (double)c->counted_numbers);
	if (measured > 0)
		return whole_rate(measured);
	if (!rate_check_pool_is_real(c))
		return 0;
	if (l->number >= GUESS_NUMBERS && l->pool > l->number && l->pool / l->number <= EASE_MEAN_SKIP_MAX &&
	    (numbers < GUESS_NUMBERS || are_alike(l->pool, l->number, pkts, numbers)))
		return l->pool / l->number;
	return numbers >= GUESS_NUMBERS && pkts > 0 ? whole_rate((double)pkts / (double)numbers) : 0;
}

/* What most sources are, told without a division: as near to the stated rate as chance allows, or too few to tell. */
static bool
is_as_stated(const struct rate_check *c)
{
	uint64_t stated = c->numbers * c->stated;
	double off = (double)c->pkts - (double)stated, error = (double)MEASURE_ERRORS * c->stated;

	if (c->is_split || c->pkts >= MEASURE_GROSS * stated || c->pkts * MEASURE_GROSS <= stated)
		return false;
	return c->numbers < MEASURE_NUMBERS || off * off < error * error * (double)c->numbers;
}

uint32_t
rate_check_weight(const struct rate_check *c, bool *differs)
{
	double measured;

	*differs = c->stated == 0;
	if (c->stated == 0)
		return guessed_rate(c);
	if (c->numbers < BLOCK_STEPS || is_as_stated(c))
		return c->stated;
	measured = measured_rate(c, BLOCK_STEPS);
	*differs = measured > 0 && differs_clearly(c, measured);
	return *differs ? whole_rate(measured) : c->stated;
}

uint32_t
rate_check_counted(struct rate_check *c, uint64_t pkts)
{
	uint64_t numbers = c->numbers_since;
	bool was_denied = c->is_denied;
	double counted, measured;

	c->numbers_since = 0;
	if (pkts == 0 || numbers == 0)
		return 0;
	c->counted_pkts += pkts;
	c->counted_numbers += numbers;
	if (c->counted_numbers >= MEASURE_FORGET) {
		c->counted_pkts /= 2;
		c->counted_numbers /= 2;
	}
	c->is_denied = false;
	measured = measured_rate(c, BLOCK_STEPS);
	if (c->counted_numbers < BLOCK_STEPS || measured <= 0 || c->stated == 0) {
		c->is_denied = was_denied;
		return 0;
	}
	counted = (double)c->counted_pkts / (double)c->counted_numbers;
	c->is_denied = differs_clearly(c, measured) && ratio_of(c->stated, counted) < ratio_of(measured, counted);
	return c->is_denied ? BIT(EASE_ODD_POOL_DENIED) : 0;
}

/* ---- numbers of samples, and drops ---- */

enum {
	ODD_NUMBER = 8,
	ODD_LINE = 4 * ODD_NUMBER, /* from here on numbers do not tell of losses */
	MOST_LEAST = 8, /* samples that a datagram may hold, if none was larger yet */
	DROPS_SMALL = 64, /* a larger rise needs the next sample to confirm it */
};

/* The rise of the agent's drops that is believed; *shared knows the newest of all of its sources. */
static uint32_t
drops_told(struct number_line *l, uint32_t drops, struct drops_shared *shared, uint32_t *odd)
{
	uint32_t rise = drops - l->drops, of_all = drops - shared->newest, told;

	if (!l->has_drops) {
		l->has_drops = true;
		l->drops = drops;
		rise = 0;
	} else if (rise > INT32_MAX) { /* back: a lie of the sample before, of this one, or a new beginning */
		*odd |= BIT(EASE_ODD_DROPS);
		if (l->drops_pending > 0 || l->drops_back)
			l->drops = drops;
		l->drops_back = l->drops_pending == 0 && !l->drops_back;
		l->drops_pending = 0;
		return 0;
	}
	shared->is_apart |= of_all > INT32_MAX;
	if (of_all <= INT32_MAX)
		shared->newest = drops;
	if (!shared->is_apart && of_all < rise)
		rise = of_all;
	l->drops_back = false;
	l->drops = drops;
	told = l->drops_pending;
	l->drops_pending = rise > DROPS_SMALL ? rise : 0;
	return told + (rise > DROPS_SMALL ? 0 : rise);
}

/* Of the numbers that a step leaves out, those that can be lost: in datagrams that are missing, or dropped. */
static uint32_t
lost_of(struct number_line *l, uint32_t gap, const struct number_context *c, struct number_step *step)
{
	uint64_t missing = c->missing - l->missing;
	uint64_t most = missing * (c->most > MOST_LEAST ? c->most : MOST_LEAST);
	uint32_t left, of_told;

	if (gap <= most)
		return gap;
	left = gap - (uint32_t)most;
	if (left > step->dropped_apart + (uint64_t)l->drops_pending) {
		step->odd |= BIT(EASE_ODD_NUMBERS);
		return missing < gap ? (uint32_t)missing : gap;
	}
	of_told = left < step->dropped_apart ? left : step->dropped_apart;
	step->dropped = left;
	step->dropped_apart -= of_told;
	l->drops_pending -= left - of_told;
	return gap;
}

static void
take_newer(struct number_line *l, uint32_t sequence, const struct number_context *c, struct number_step *step)
{
	int32_t ahead = (int32_t)(sequence - l->sequence);
	bool is_line = l->odd < ODD_LINE;

	step->advance = 1;
	if (ahead <= 0)
		step->odd |= BIT(EASE_ODD_NUMBERS);
	else if (ahead > 1 && is_line)
		step->advance += lost_of(l, (uint32_t)ahead - 1, c, step);
	else if (ahead > 1)
		step->odd |= BIT(EASE_ODD_NUMBERS);
	if (step->odd & BIT(EASE_ODD_NUMBERS))
		l->odd = more_of(l->odd, ODD_NUMBER);
	else if (l->odd > 0)
		l->odd--;
	if (is_line && l->odd >= ODD_LINE && l->known > 0 && (int32_t)(l->known - l->own) > 0)
		l->own = l->known; /* so that nothing of ours comes again */
}

void
number_line_take(struct number_line *l, const struct sflow_flow *f, const struct number_context *c,
    struct drops_shared *shared, bool is_used, struct number_step *step)
{
	int32_t ahead = (int32_t)(f->sequence - l->sequence);

	*step = (struct number_step){.odd = 0};
	if (c->newer && ahead == 1 && l->odd == 0 && f->drops == l->drops && l->drops_pending == 0 && is_used) { /* as most */
		l->sequence = f->sequence;
		l->missing = c->missing;
		l->drops_back = false;
		step->advance = 1;
		step->number = ++l->own;
		return;
	}
	if (!c->newer && ahead <= 0 && l->odd < ODD_LINE) { /* overtaken, or twice */
		step->number = l->own + (uint32_t)ahead;
		return;
	}
	if (!c->newer && c->again) {
		step->is_again = true;
		return;
	}
	step->dropped_apart = drops_told(l, f->drops, shared, &step->odd);
	take_newer(l, f->sequence, c, step);
	l->sequence = f->sequence;
	l->missing = c->missing;
	l->own += step->advance - !is_used;
	step->number = l->own;
}

void
number_line_begin(struct number_line *l, const struct sflow_flow *f, uint32_t after, const struct number_context *c,
    struct drops_shared *shared, bool is_used)
{
	uint32_t odd = 0;

	l->started = true;
	l->sequence = f->sequence;
	l->own = (after > 0 ? after + 1 : f->sequence) - !is_used;
	l->missing = c->missing;
	l->odd = 0;
	l->has_drops = l->drops_back = false;
	l->drops_pending = 0;
	drops_told(l, f->drops, shared, &odd);
}

/* ---- time ---- */

enum {
	OVERTAKEN_MS = 2000, /* a datagram that was overtaken is at most so much older */
	UPTIME_SLACK_MS = 60000,
};

enum uptime_verdict
uptime_judge(uint32_t before_ms, uint32_t now_ms, uint64_t elapsed_us, bool goes_on, bool begins)
{
	int32_t rise_ms = (int32_t)(now_ms - before_ms);
	uint64_t elapsed_ms = elapsed_us / 1000;

	if (rise_ms >= (begins ? 1 : -OVERTAKEN_MS))
		return rise_ms > (int64_t)(elapsed_ms + elapsed_ms / 8 + UPTIME_SLACK_MS) ? UPTIME_REFUTED : UPTIME_GOES_ON;
	/* it has begun since, or has not begun anew */
	return !goes_on && now_ms <= elapsed_ms + elapsed_ms / 8 + OVERTAKEN_MS ? UPTIME_RESTARTED : UPTIME_REFUTED;
}

/* ---- counters ---- */

#define SPEED_MOST_BPS 3200000000000ull /* of an interface, or an aggregate of some. *assumed* */
#define TWO_TO_32      (1ull << 32)

enum {
	SPEED_UNIT = 1000, /* all speeds are multiples of this, and what was cut to 32 bits of this: */
	SPEED_CUT_UNIT = 1000000000,
	FRAME_LEAST = 42, /* octets of a frame that is not padded yet, without FCS */
	FRAME_MOST = 65600, /* of one that a host hands to its network card in one piece */
};

uint64_t
speed_judge(uint64_t stated_bps, bool *odd)
{
	*odd = false;
	if (stated_bps == SFLOW_UNKNOWN64 || stated_bps == 0)
		return 0;
	if (stated_bps > SPEED_MOST_BPS || stated_bps == UINT32_MAX) { /* the latter: ifHighSpeed has it (RFC 2863) */
		*odd = true;
		return 0;
	}
	if (stated_bps > UINT32_MAX || stated_bps % SPEED_UNIT == 0)
		return stated_bps;
	for (uint64_t bps = stated_bps + TWO_TO_32; bps <= SPEED_MOST_BPS; bps += TWO_TO_32)
		if (bps % SPEED_CUT_UNIT == 0) {
			*odd = true;
			return bps;
		}
	return stated_bps;
}

static bool
are_octets_of(uint64_t octets, uint64_t pkts, uint64_t least)
{
	return octets >= pkts * least && octets <= pkts * FRAME_MOST;
}

enum octets_verdict
octets_judge(uint64_t before, uint64_t now, uint64_t pkts, uint64_t expected, bool is_32, uint64_t elapsed_us,
    uint64_t *rise)
{
	uint64_t most = SPEED_MOST_BPS / 8 * (elapsed_us / 1000000 + 10); /* counters may be read late */
	bool fits_32 = before < TWO_TO_32 && now < TWO_TO_32;

	*rise = now - before;
	if (now < before) {
		*rise = now + TWO_TO_32 - before;
		if (!fits_32 || pkts == UINT64_MAX || !are_octets_of(*rise, pkts, FRAME_LEAST))
			return OCTETS_BEGIN_ANEW;
		is_32 = true;
	} else if (*rise > most || (pkts != UINT64_MAX && *rise > (pkts + 1) * FRAME_MOST)) {
		return OCTETS_REFUTED;
	}
	if (!is_32 || !fits_32)
		return OCTETS_GO_ON;
	while (expected > *rise + TWO_TO_32 / 2) /* it wrapped more than once */
		*rise += TWO_TO_32;
	return OCTETS_WRAPPED;
}

/* ---- a frame's length ---- */

enum {
	ADDRESSES = 2 * FRAME_MAC_LEN,
	TAG = 4,
	TAGS_MOST = 3,
	IP4_HEADER = 20,
	IP6_HEADER = 40,
	LENGTH_EACH = 4, /* one in so many ordinary samples is looked at */
	LENGTH_JUMBO = 1600, /* up to here a frame may have anything behind its packet */
	LENGTH_TRAILER = 256, /* octets behind a packet: padding, tags that were stripped, a FCS; or so many missing */
};

/* Returns where a frame's packet begins; 0: it has no IP, or that is not kept. */
static uint32_t
packet_at(const uint8_t *header, uint32_t kept_octets)
{
	uint32_t at = ADDRESSES;

	for (int tags = 0; at + 2 <= kept_octets; tags++, at += TAG) {
		uint16_t type = (uint16_t)(header[at] << 8 | header[at + 1]);

		if (type == 0x0800 || type == 0x86dd)
			return at + 2;
		if ((type != 0x8100 && type != 0x88a8 && type != 0x9100) || tags == TAGS_MOST)
			break;
	}
	return 0;
}

/* Octets of the packet, as its header says; 0: it does not. */
static uint32_t
packet_octets(const uint8_t *header, uint32_t kept_octets)
{
	uint32_t octets = 0;

	if (kept_octets >= IP4_HEADER && header[0] >> 4 == 4)
		octets = (uint32_t)(header[2] << 8 | header[3]);
	else if (kept_octets >= IP6_HEADER && header[0] >> 4 == 6 && (header[4] | header[5]) != 0)
		octets = (uint32_t)(header[4] << 8 | header[5]) + IP6_HEADER;
	return octets >= IP4_HEADER ? octets : 0;
}

/* A sender chooses what its IP header says, so that is believed only where the stated length is the lie. */
uint32_t
frame_length_judge(
    struct length_check *c, uint32_t stated_octets, bool is_packet, const uint8_t *header, uint32_t kept_octets)
{
	uint32_t at, own = 0;

	if (!c->is_of_packets && stated_octets > 0 && stated_octets <= LENGTH_JUMBO && ++c->n_seen % LENGTH_EACH != 0)
		return stated_octets;
	at = is_packet ? 0 : packet_at(header, kept_octets);
	if ((is_packet || at > 0) && kept_octets > at)
		own = packet_octets(header + at, kept_octets - at);
	if (own > 0)
		own = frame_wire_octets(own + (is_packet ? ADDRESSES + 2 : at));
	if (own > 0 && (stated_octets == 0 || (stated_octets > LENGTH_JUMBO && stated_octets > own + LENGTH_TRAILER)))
		return own;
	if (stated_octets == 0 || stated_octets > FRAME_MOST)
		return 0;
	if (own > 0 && (own > stated_octets + LENGTH_TRAILER || stated_octets > own + LENGTH_TRAILER))
		c->n_off = more_of(c->n_off, 1);
	else if (c->n_off > 0)
		c->n_off--;
	c->n++;
	c->stated_octets += stated_octets;
	c->packet_octets += own > stated_octets ? own : stated_octets;
	return c->is_of_packets && own > stated_octets + LENGTH_TRAILER ? own : stated_octets;
}

void
length_check_counted(struct length_check *c, uint64_t octets, uint64_t pkts)
{
	double n = c->n, counted;

	c->counted_octets += octets;
	c->counted_pkts += pkts;
	if (c->n < BLOCK_STEPS || c->counted_pkts == 0 || c->counted_octets == 0)
		return;
	counted = (double)c->counted_octets / (double)c->counted_pkts;
	c->is_of_packets = (double)c->packet_octets > 1.5 * (double)c->stated_octets &&
	    ratio_of((double)c->packet_octets / n, counted) < ratio_of((double)c->stated_octets / n, counted);
	c->stated_octets = c->packet_octets = c->counted_octets = c->counted_pkts = c->n = 0;
}
