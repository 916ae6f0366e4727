#include "common/utf8.h"

#include <stddef.h>

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

/* Octets of the character that begins here; 0 if it is not valid. The NUL is in no range. */
static size_t
character_octets(const unsigned char *text)
{
	const struct sequence *s = sequences, *end = s + sizeof(sequences) / sizeof(sequences[0]);

	while (s < end && !(text[0] >= s->first_low && text[0] <= s->first_high))
		s++;
	if (s == end)
		return 0;
	for (size_t i = 1; i <= s->n_following; i++)
		if (text[i] < (i == 1 ? s->second_low : 0x80) ||
		    text[i] > (i == 1 ? s->second_high : 0xbf))
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
