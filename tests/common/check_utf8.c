/*
 * UTF-8: the sequences of RFC 3629, and every sequence of up to three octets, and of four from the
 * limits of their ranges, compared with Jansson's verdict; what is cut, and what is shown of the rest.
 */
#include "common/utf8.h"
#include "tests/suite.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

START_TEST(rfc_3629_has_these)
{
	static const struct {
		const char *text;
		bool valid;
	} texts[] = {
	    {"", true},
	    {"ge-1", true},
	    /* RFC 3629 section 7 */
	    {"\x41\xe2\x89\xa2\xce\x91\x2e", true},
	    {"\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4", true},
	    {"\xef\xbb\xbf\xf0\xa3\x8e\xb4", true},
	    /* section 10: overlong forms of NUL and of "/../" */
	    {"\xc0\x80", false},
	    {"\x2f\xc0\xae\x2e\x2f", false},
	    /* sections 3 and 4: surrogates, beyond U+10FFFF, octets that never appear */
	    {"\xed\xa0\x80", false},
	    {"\xed\x9f\xbf", true},
	    {"\xf4\x8f\xbf\xbf", true},
	    {"\xf4\x90\x80\x80", false},
	    {"\xf5\x80\x80\x80", false},
	    {"\xff", false},
	    /* Latin 1, and characters that are cut off */
	    {"caf\xe9", false},
	    {"caf\xc3", false},
	    {"\xe2\x89", false},
	    {"\xf0\xa3\x8e", false},
	    {"\x80", false},
	    {"good\xc3\xa9 and then \xc3", false},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(utf8_is_valid(texts[i].text) == texts[i].valid, "text %zu", i);
}
END_TEST

START_TEST(a_text_is_cut_between_characters)
{
	static const char text[] = "a\xc3\xa9\xe2\x89\xa2\xf0\xa3\x8e\xb4z"; /* 1, 2, 3, 4, 1 octets */
	static const size_t cuts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};

	for (size_t max = 0; max < sizeof(cuts) / sizeof(cuts[0]); max++)
		ck_assert_uint_eq(utf8_cut(text, max), cuts[max]);
	/* what is no UTF-8 at all is cut where it must be */
	ck_assert_uint_eq(utf8_cut("\x80\x80\x80\x80\x80", 4), 4);
	ck_assert_uint_eq(utf8_cut("\xff\xff", 1), 1);
}
END_TEST

START_TEST(what_is_shown_controls_nothing)
{
	static const char *const texts[][2] = {{"", ""}, {"ge-1 \xc3\xa9", "ge-1 \xc3\xa9"},
	    {"a\x1b[31m\n\x7f", "a?[31m??"}, {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "???\xc2\xa0"},
	    {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", "???\xe2\x80\x90"},
	    {"\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
		"??\xe2\x80\xaf??\xe2\x81\xaa"},
	    {"caf\xe9", "caf\xc3\xa9"}, {"\x9b" "1m", "?1m"}, {"\xff\xe9", "\xc3\xbf\xc3\xa9"},
	    {"\xf0\xa3\x8e\xb4", "\xf0\xa3\x8e\xb4"}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *shown = utf8_printable_copy(texts[i][0]), cut[4];

		ck_assert_str_eq(shown, texts[i][1]);
		utf8_printable(texts[i][0], cut, sizeof(cut));
		ck_assert_uint_lt(strlen(cut), sizeof(cut));
		ck_assert(utf8_is_valid(cut));
		ck_assert(strncmp(cut, shown, strlen(cut)) == 0);
		free(shown);
	}
}
END_TEST

static void
compare(const unsigned char *octets)
{
	json_t *string = json_string((const char *)octets);

	ck_assert_msg(utf8_is_valid((const char *)octets) == (string != NULL), "%02x %02x %02x %02x",
	    octets[0], octets[1], octets[2], octets[3]);
	json_decref(string);
}

START_TEST(counted_octets_are_cut_at_characters)
{
	char shown[8], octets[400];

	utf8_printable_octets("a\0b", 3, shown, sizeof(shown));
	ck_assert_str_eq(shown, "a");
	utf8_printable_octets("abc", 2, shown, sizeof(shown));
	ck_assert_str_eq(shown, "ab");
	utf8_printable_octets(NULL, 0, shown, sizeof(shown));
	ck_assert_str_eq(shown, "");
	utf8_printable_octets("aaaaa\xc3\xa4\xc3\xa4", 9, shown, sizeof(shown)); /* the second one does not fit */
	ck_assert_str_eq(shown, "aaaaa\xc3\xa4");
	memset(octets, 'x', sizeof(octets));
	utf8_printable_octets(octets, sizeof(octets), octets, sizeof(octets));
	ck_assert_uint_eq(strlen(octets), 255);
}
END_TEST

START_TEST(short_sequences_are_judged_as_by_jansson)
{
	int step = suite_is_slow() ? 0x0d : 1; /* of the last two octets */

	for (int a = 1; a < 256; a++)
		for (int b = 0; b < 256; b += step)
			for (int c = 0; c < 256; c += a < 0xe0 ? 64 : step)
				compare((const unsigned char[5]){(unsigned char)a, (unsigned char)b,
				    (unsigned char)c});
}
END_TEST

START_TEST(long_sequences_are_judged_as_by_jansson)
{
	static const unsigned char limits[] = {0x01, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};

	for (int a = 0xef; a < 256; a++)
		for (size_t b = 0; b < sizeof(limits); b++)
			for (size_t c = 0; c < sizeof(limits); c++)
				for (size_t d = 0; d < sizeof(limits); d++)
					compare((const unsigned char[5]){(unsigned char)a, limits[b],
					    limits[c], limits[d]});
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("utf8");
	TCase *all = tcase_create("all");

	tcase_set_timeout(all, 60);
	tcase_add_test(all, rfc_3629_has_these);
	tcase_add_test(all, a_text_is_cut_between_characters);
	tcase_add_test(all, what_is_shown_controls_nothing);
	tcase_add_test(all, counted_octets_are_cut_at_characters);
	tcase_add_test(all, short_sequences_are_judged_as_by_jansson);
	tcase_add_test(all, long_sequences_are_judged_as_by_jansson);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
