#include "collector/window/sequence_tracker.h"
#include "common/buf.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	SAVED_WITHOUT_CONTACT = 1,
	SAVED_LAYOUT = 2,
	SAVED_HEAD = 1 + 8 + 8 + 8,
};

/* Extended numbers start here, so that numbers below the first one heard stay positive. */
#define EXTENDED_ZERO (1ull << 32)

/* No boot gives out that many numbers. A file with a higher one is damaged, and sums would wrap. */
#define EXTENDED_MAX (1ull << 62)

static uint64_t *
word_of(struct sequence_tracker *t, uint64_t number)
{
	return &t->bits[number / 64 % (SEQUENCE_TRACKER_NUMBERS / 64)];
}

/* The extended number nearest to the highest one (RFC 1982's serial arithmetic). */
uint64_t
sequence_tracker_extend(const struct sequence_tracker *t, uint32_t number)
{
	return t->highest + (uint64_t)(int64_t)(int32_t)(number - (uint32_t)t->highest);
}

static void
forget_range(uint64_t bits[SEQUENCE_TRACKER_NUMBERS / 64], uint64_t from, uint64_t to)
{
	if (to - from >= SEQUENCE_TRACKER_NUMBERS) {
		memset(bits, 0, SEQUENCE_TRACKER_NUMBERS / 8);
		return;
	}
	for (uint64_t n = from; n <= to; n++)
		bits[n / 64 % (SEQUENCE_TRACKER_NUMBERS / 64)] &= ~(1ull << n % 64);
}

static void
advance_window(struct sequence_tracker *t, uint64_t highest)
{
	assert(highest > t->highest);
	forget_range(t->bits, t->highest + 1, highest);
	t->highest = highest;
}

void
sequence_tracker_start(struct sequence_tracker *t, bool start_seen, uint32_t number)
{
	bool from_one = start_seen || number <= SEQUENCE_TRACKER_NUMBERS;

	t->started = true;
	t->first = EXTENDED_ZERO + (from_one ? 1 : number);
	t->contact = start_seen || number == 0 ? t->first : EXTENDED_ZERO + number;
	t->highest = t->first - 1;
}

uint64_t
sequence_tracker_newest(const struct sequence_tracker *t)
{
	for (uint64_t n = t->highest; n > t->first && t->highest - n < SEQUENCE_TRACKER_NUMBERS; n--)
		if (t->bits[n / 64 % (SEQUENCE_TRACKER_NUMBERS / 64)] >> n % 64 & 1)
			return n;
	return t->highest;
}

bool
sequence_tracker_is_before_contact(const struct sequence_tracker *t, uint32_t number)
{
	return sequence_tracker_extend(t, number) < t->contact;
}

enum sequence_tracker_verdict
sequence_tracker_sample(struct sequence_tracker *t, uint32_t number)
{
	uint64_t n, bit;

	if (!t->started)
		sequence_tracker_start(t, false, number);
	n = sequence_tracker_extend(t, number);
	bit = 1ull << n % 64;
	if (n > t->highest) {
		advance_window(t, n);
	} else if (t->highest - n >= SEQUENCE_TRACKER_NUMBERS) {
		t->late++;
		return SEQUENCE_TRACKER_LATE;
	} else if (*word_of(t, n) & bit) {
		t->duplicates++;
		return SEQUENCE_TRACKER_DUPLICATE;
	} else {
		t->reordered++;
	}
	*word_of(t, n) |= bit;
	t->received++;
	if (n < t->first)
		t->first = n;
	return SEQUENCE_TRACKER_USE;
}

void
sequence_tracker_given_out(struct sequence_tracker *t, uint32_t last_sequence)
{
	uint64_t n;

	if (!t->started) {
		/* A snapshot names a number that was given out before the contact. If the boot
		 * began long before, that number is not expected either. */
		sequence_tracker_start(t, false, last_sequence);
		if (last_sequence > SEQUENCE_TRACKER_NUMBERS) {
			t->first = t->first + 1;
			t->highest = t->first - 1;
		}
		t->contact = EXTENDED_ZERO + last_sequence + 1;
	}
	n = sequence_tracker_extend(t, last_sequence);
	if (n > t->highest)
		advance_window(t, n);
}

/* For values from a file, which may hold anything. */
static bool
is_range(uint64_t first, uint64_t highest)
{
	return highest < EXTENDED_MAX && highest + 1 >= first;
}

bool
sequence_tracker_catch_up(
    struct sequence_tracker *t, const struct sequence_tracker *seen, struct crash_lost *lost)
{
	uint64_t taken = seen->received + lost->n;

	if (seen->started != 1 || !is_range(seen->first, seen->highest) ||
	    !is_range(seen->contact, seen->highest) || seen->received > EXTENDED_MAX ||
	    lost->n > EXTENDED_MAX)
		return false;
	if (taken < t->received || (t->started && seen->highest < t->highest))
		return false;
	if (!t->started) {
		t->started = true;
		t->first = seen->first;
		t->contact = seen->contact;
		t->highest = seen->first - 1;
	}
	if (seen->first < t->first)
		t->first = seen->first;
	if (seen->highest > t->highest)
		advance_window(t, seen->highest);
	if (lost->n > 0 && seen->highest > lost->highest)
		forget_range(lost->bits, lost->highest + 1, seen->highest);
	lost->n = taken - t->received;
	lost->highest = seen->highest;
	for (size_t i = 0; i < SEQUENCE_TRACKER_NUMBERS / 64; i++)
		lost->bits[i] = (lost->bits[i] | seen->bits[i]) & ~t->bits[i];
	return true;
}

void
sequence_tracker_came_again(
    const struct sequence_tracker *t, struct crash_lost *lost, uint32_t number)
{
	uint64_t n = sequence_tracker_extend(t, number), bit = 1ull << n % 64;
	uint64_t *word = &lost->bits[n / 64 % (SEQUENCE_TRACKER_NUMBERS / 64)];

	if (n > lost->highest || lost->highest - n >= SEQUENCE_TRACKER_NUMBERS || !(*word & bit))
		return;
	*word &= ~bit;
	lost->n--;
}

void
sequence_tracker_save(
    const struct sequence_tracker *t, uint8_t octets[static SEQUENCE_TRACKER_SAVED_OCTETS])
{
	struct wbuf w = wbuf_of(octets, SEQUENCE_TRACKER_SAVED_OCTETS);

	wbuf_u8(&w, SAVED_LAYOUT);
	wbuf_be64(&w, t->started ? t->first : 0);
	wbuf_be64(&w, t->started ? t->highest : 0);
	wbuf_be64(&w, t->started ? t->contact : 0);
	for (size_t i = 0; i < SEQUENCE_TRACKER_NUMBERS / 64; i++)
		wbuf_be64(&w, t->bits[i]);
	assert(!w.failed && w.len == SEQUENCE_TRACKER_SAVED_OCTETS);
}

size_t
sequence_tracker_trimmed(const uint8_t octets[static SEQUENCE_TRACKER_SAVED_OCTETS])
{
	size_t n = SEQUENCE_TRACKER_SAVED_OCTETS;

	while (n > SAVED_HEAD && octets[n - 1] == 0)
		n--;
	return n;
}

int
sequence_tracker_load_trimmed(struct sequence_tracker *t, const uint8_t *octets, size_t n)
{
	uint8_t whole[SEQUENCE_TRACKER_SAVED_OCTETS] = {0};

	if (n < SAVED_HEAD || n >= sizeof(whole) || octets[0] != SAVED_LAYOUT)
		return sequence_tracker_load(t, octets, n);
	memcpy(whole, octets, n);
	return sequence_tracker_load(t, whole, sizeof(whole));
}

int
sequence_tracker_load(struct sequence_tracker *t, const uint8_t *octets, size_t n)
{
	struct rbuf r = rbuf_of(octets, n);
	uint8_t layout = rbuf_u8(&r);
	uint64_t first = rbuf_be64(&r), highest = rbuf_be64(&r), contact = first;

	if (layout == SAVED_LAYOUT)
		contact = rbuf_be64(&r);
	else if (layout == SAVED_WITHOUT_CONTACT)
		n += sizeof(contact);
	else
		return -EBADMSG;
	if (n != SEQUENCE_TRACKER_SAVED_OCTETS || !is_range(first, highest) || !is_range(contact, highest))
		return -EBADMSG;
	t->started = first != 0;
	t->first = first;
	t->contact = contact;
	t->highest = highest;
	for (size_t i = 0; i < SEQUENCE_TRACKER_NUMBERS / 64; i++)
		t->bits[i] = rbuf_be64(&r);
	return 0;
}
