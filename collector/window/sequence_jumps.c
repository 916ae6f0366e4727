#include "collector/window/sequence_jumps.h"

#include <string.h>

enum {
	/* So many numbers in a row where a jump went show that the sequence is there. */
	IN_PLACE = 16,
	/* Where the sequence may go on after a false jump: so far behind or beyond its end. */
	UNDO_BEFORE = SEQUENCE_TRACKER_NUMBERS,
	UNDO_BEYOND = 1 << 20,
	RISING = SEQUENCE_TRACKER_NUMBERS, /* numbers of a sequence are no further apart */
};

static void
believe_jump(struct sequence_jumps *j, const struct sequence_tracker *t)
{
	j->held = false;
	j->from = t->highest;
	j->received = t->received;
	j->in_place = 0;
}

/* A jump over numbers that the agent dropped, as it says with the record itself, is believed at once. */
static bool
is_told(const struct sequence_tracker *t, uint64_t n, uint64_t drops)
{
	uint64_t missing = sequence_tracker_expected(t) - t->received + (n - t->highest);

	return missing <= drops + SEQUENCE_TRACKER_NUMBERS;
}

static bool
goes_on_before_jump(const struct sequence_jumps *j, uint64_t n)
{
	return j->from > 0 && n + UNDO_BEFORE > j->from && n < j->from + UNDO_BEYOND;
}

/* What arrived where the jump went stays received and expected. Which of the numbers before the
 * jump had arrived is no longer known, so none of them is used again. */
static void
undo_jump(struct sequence_jumps *j, struct sequence_tracker *t)
{
	uint64_t kept = t->received - j->received;

	t->highest = j->from;
	t->first -= kept;
	t->contact -= kept;
	memset(t->bits, 0xff, sizeof(t->bits));
	*j = (struct sequence_jumps){.held = false};
}

static enum sequence_jumps_verdict
judge_behind(struct sequence_jumps *j, struct sequence_tracker *t, uint32_t number, uint64_t n, uint64_t mono_us)
{
	if (j->behind == 0 || number - j->behind_next > RISING) {
		j->behind = 0;
		j->behind_since_us = mono_us;
	}
	j->behind++;
	j->behind_next = number + 1;
	if (j->behind >= 2 && goes_on_before_jump(j, n)) {
		undo_jump(j, t);
		return SEQUENCE_JUMPS_UNDONE;
	}
	return mono_us - j->behind_since_us >= SEQUENCE_JUMPS_AGAIN_US ? SEQUENCE_JUMPS_AGAIN
								      : SEQUENCE_JUMPS_TAKE;
}

enum sequence_jumps_verdict
sequence_jumps_sample(struct sequence_jumps *j, struct sequence_tracker *t, uint32_t number,
    uint64_t drops, uint64_t mono_us)
{
	uint64_t n = sequence_tracker_extend(t, number);

	if (!t->started)
		return SEQUENCE_JUMPS_TAKE;
	if (n + SEQUENCE_TRACKER_NUMBERS <= t->highest)
		return judge_behind(j, t, number, n, mono_us);
	if (n <= t->highest + SEQUENCE_TRACKER_NUMBERS) {
		j->held = false;
		j->behind = 0;
		if (j->from > 0 && ++j->in_place > IN_PLACE)
			j->from = 0;
		return SEQUENCE_JUMPS_TAKE;
	}
	if (is_told(t, n, drops) || (j->held && number == j->next)) {
		believe_jump(j, t);
		return SEQUENCE_JUMPS_TAKE;
	}
	j->held = true;
	j->next = number + 1;
	return SEQUENCE_JUMPS_HOLD;
}

bool
sequence_jumps_given_out(
    struct sequence_jumps *j, const struct sequence_tracker *t, uint32_t last_sequence, uint64_t drops)
{
	uint64_t n = sequence_tracker_extend(t, last_sequence);

	if (!t->started || n <= t->highest + SEQUENCE_TRACKER_NUMBERS)
		return true;
	if (is_told(t, n, drops) || (j->held && (int32_t)(last_sequence + 1 - j->next) >= 0)) {
		believe_jump(j, t);
		return true;
	}
	j->held = true;
	j->next = last_sequence + 1;
	return false;
}
