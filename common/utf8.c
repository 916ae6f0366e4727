#include "common/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* RFC 3629 section 4: the first octet determines the range of the second and how many octets
 * follow. The third and fourth are always 80..BF. */
static const struct sequence {
	unsigned char first_low, first_high, second_low, second_high, n_following;
} sequences[] = {
	{0x01, 0x7f, 0x00, 0x00, 0}, /* UTF8-1, but for the NUL that ends a text */
	{0xc2, 0xdf, 0x80, 0xbf, 1}, /* UTF8-2 */
	{0xe0, 0xe0, 0xa0, 0xbf, 2}, /* UTF8-3 */
	{0xe1, 0xec, 0x80, 0xbf, 2},
	{0xed, 0xed, 0x80, 0x9f, 2},
	{0xee, 0xef, 0x80, 0xbf, 2},
	{0xf0, 0xf0, 0x90, 0xbf, 3}, /* UTF8-4 */
	{0xf1, 0xf3, 0x80, 0xbf, 3},
	{0xf4, 0xf4, 0x80, 0x8f, 3},
};

#define N_SEQUENCES (sizeof(sequences) / sizeof(sequences[0]))

/* Octets of the character that begins here; 0 if it is not valid. The NUL is in no range. */
static size_t
character_octets(const unsigned char *text)
{
	const struct sequence *s = sequences, *end = s + N_SEQUENCES;

	while (s < end && !(text[0] >= s->first_low && text[0] <= s->first_high))
		s++;
	if (s == end)
		return 0;
	for (size_t i = 1; i <= s->n_following; i++)
		if (text[i] < (i == 1 ? s->second_low : 0x80) || text[i] > (i == 1 ? s->second_high : 0xbf))
			return 0;
	return s->n_following + 1u;
}

bool
utf8_is_valid(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t n = 1;

	for (; *at && n > 0; at += n)
		n = character_octets(at);
	return n > 0;
}

size_t
utf8_cut(const char *text, size_t max)
{
	size_t n = strnlen(text, max), back = 0;

	while (back < 3 && back < n && ((unsigned char)text[n - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back == n || (unsigned char)text[n - 1 - back] < 0xc2)
		return n;
	for (size_t i = 0; i < N_SEQUENCES; i++)
		if ((unsigned char)text[n - 1 - back] >= sequences[i].first_low &&
		    (unsigned char)text[n - 1 - back] <= sequences[i].first_high)
			return back < sequences[i].n_following ? n - 1 - back : n;
	return n;
}

/* ---- what may be shown ---- */

/* Controls of a terminal, and of the direction in which text is read. */
static const struct {
	uint32_t low, high;
} hidden[] = {
	{0x00, 0x1f},	  /* C0 */
	{0x7f, 0x9f},	  /* DEL and C1: U+009B begins an escape sequence as ESC [ does */
	{0x61c, 0x61c},	  /* Arabic letter mark */
	{0x200e, 0x200f}, /* left-to-right and right-to-left marks */
	{0x2028, 0x202e}, /* line and paragraph separators, embeddings and overrides */
	{0x2066, 0x2069}, /* isolates */
};

static bool
is_hidden(uint32_t character)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (character >= hidden[i].low && character <= hidden[i].high)
			return true;
	return false;
}

/* The character of n octets, which are valid. */
static uint32_t
decode_character(const unsigned char *text, size_t n)
{
	uint32_t character = n == 1 ? text[0] : text[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		character = character << 6 | (text[i] & 0x3f);
	return character;
}

void
utf8_printable(const char *text, char *to, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		size_t n = character_octets(at);
		uint32_t character = n ? decode_character(at, n) : *at;
		unsigned char latin1[2] = {0xc0 | (*at >> 6), 0x80 | (*at & 0x3f)};
		const void *shown = is_hidden(character) ? "?" : n ? (const void *)at : latin1;
		size_t shown_octets = is_hidden(character) ? 1 : n ? n : 2;

		if (shown_octets >= size)
			break;
		memcpy(to, shown, shown_octets);
		to += shown_octets;
		size -= shown_octets;
		at += n ? n : 1;
	}
	*to = '\0';
}

void
utf8_printable_octets(const void *octets, size_t n, char *to, size_t size)
{
	char text[256] = "";

	if (n > 0)
		memcpy(text, octets, n < sizeof(text) ? n : sizeof(text) - 1);
	utf8_printable(text, to, size);
}

char *
utf8_printable_copy(const char *text)
{
	size_t size = 2 * strlen(text) + 1;
	char *copy = malloc(size);

	if (copy)
		utf8_printable(text, copy, size);
	return copy;
}
