/*
 * Packs: the octets that the head of pack.h says, every width of a column and the values at its
 * ends, keys that share much and nothing, and bodies that are cut or garbled. Bodies are read from
 * the end of a page that nothing follows, so that one octet read too many ends the test.
 */
#include "collector/store/pack.h"
#include "tests/suite.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <sys/mman.h>

enum { ROOM = (PACK_OCTETS_MAX / 4096 + 1) * 4096 };

static struct pack pack;
static uint8_t body[PACK_OCTETS_MAX];
static uint8_t *page_end;

static void
setup(void)
{
	uint8_t *pages = mmap(NULL, ROOM + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages, ROOM, PROT_READ | PROT_WRITE), 0);
	page_end = pages + ROOM;
	memset(&pack, 0, sizeof(pack));
}

static void
teardown(void)
{
	munmap(page_end - ROOM, ROOM + 4096);
}

static int
open_body(struct pack_reader *reader, size_t octets)
{
	return pack_open(reader, memcpy(page_end - octets, body, octets), octets);
}

/* Entries that are read; -1 where the reader says that the body is damaged. */
static int
count_entries(size_t octets)
{
	struct pack_reader reader;
	uint8_t longest = 0;
	int n = 0;

	if (open_body(&reader, octets) < 0)
		return -1;
	for (; pack_next(&reader) && n <= PACK_ENTRIES; n++)
		for (int half = 0; half < 2; half++)
			if (reader.key.octets[PACK_PLACE + half] > longest)
				longest = reader.key.octets[PACK_PLACE + half];
	ck_assert_int_le(n, PACK_ENTRIES);
	ck_assert_uint_le(longest, STORE_KEY_HALF);
	return reader.failed ? -1 : n;
}

/* Gives the octets written. */
static size_t
assert_round_trip(void)
{
	size_t octets = pack_write(&pack, body);
	struct pack_reader reader;

	ck_assert_int_eq(open_body(&reader, octets), 0);
	for (unsigned i = 0; i < pack.n; i++) {
		ck_assert(pack_next(&reader));
		ck_assert_int_eq(pack_compare(&reader.key, &pack.keys[i]), 0);
		for (unsigned c = 0; c < PACK_COLUMNS; c++) {
			double is = pack_value(&reader, c);
			double was = c < pack.n_columns ? pack.columns[c][i] : 0;

			ck_assert_msg(memcmp(&is, &was, sizeof(is)) == 0,
			    "entry %u, column %u: %a, was %a", i, c, is, was);
		}
	}
	ck_assert(!pack_next(&reader));
	ck_assert(!reader.failed);
	return octets;
}

/* Ports of one agent, received, and one column, all 0. */
static void
fill_ports(unsigned n)
{
	pack.n = n;
	pack.n_columns = 1;
	for (unsigned i = 0; i < n; i++)
		pack.keys[i] = pack_key_of(0x01020304, i + 1, EASE_IN, NULL, 0, NULL, 0);
}

START_TEST(octets_are_as_documented)
{
	static const uint8_t expected[] = {
	    1,
	    2,
	    0,
	    2,
	    0,
	    0,
	    0,
	    14 + 5, /* head */
	    0,
	    1,
	    2,
	    3,
	    4,
	    0,
	    0,
	    0,
	    9,
	    1,
	    2,
	    0,
	    0xaa,
	    0xbb, /* nothing shared; two octets and none */
	    10,
	    1,
	    0xaa,
	    0xbb,
	    0xcc, /* from the second half on another */
	    2,
	    0x34,
	    0x12,
	    0x01,
	    0x00, /* two octets each */
	    10,
	    0,
	    0,
	    0,
	    0,
	    0,
	    0,
	    0xf8,
	    0xbf,
	    0x9a,
	    0x99,
	    0x99,
	    0x99,
	    0x99,
	    0x99,
	    0xb9,
	    0x3f,
	};

	pack.n = pack.n_columns = 2;
	pack.keys[0] = pack_key_of(0x01020304, 9, 1, expected + 20, 2, NULL, 0);
	pack.keys[1] = pack_key_of(0x01020304, 9, 1, expected + 20, 2, expected + 26, 1);
	pack.columns[0][0] = 0x1234;
	pack.columns[0][1] = 1;
	pack.columns[1][0] = -1.5;
	pack.columns[1][1] = 0.1;
	ck_assert_uint_eq(assert_round_trip(), sizeof(expected));
	ck_assert_mem_eq(body, expected, sizeof(expected));
}
END_TEST

/* Two values of a column and the octets that each of them takes there. */
static const struct width_row {
	double a, b;
	unsigned octets;
} widths[] = {
    {0, 0, 0},
    {0, 1, 1},
    {3, 255, 1},
    {3, 256, 2},
    {3, 65535, 2},
    {3, 65536, 3},
    {3, 0x1p24 - 1, 3},
    {3, 0x1p24, 4},
    {3, 0x1p32 - 1, 4},
    {3, 0x1p32 + 1, 5},
    {3, 0x1p40 - 1, 5},
    {3, 0x1p40 + 1, 6},
    {3, 0x1p48 - 1, 6},
    {3, 0x1p48 + 1, 7},
    {3, 0x1p53 - 1, 7},
    {3, 0x1p32, 4}, /* of here on as float, which has them all */
    {3, 0x1p60, 4},
    {0.5, -1, 4},
    {-0.0, 0, 4},
    {FLT_MAX, FLT_MIN, 4},
    {INFINITY, -INFINITY, 4},
    {0x1p53 - 1, 0.5, 8},
    {0x1p60 + 256, 1, 8},
    {0.1, 0, 8},
    {DBL_MAX, -DBL_MAX, 8},
    {DBL_MIN, DBL_TRUE_MIN, 8},
    {NAN, 1, 8},
};

START_TEST(every_width_gives_back_its_values)
{
	const struct width_row *row = &widths[_i];
	size_t without;

	fill_ports(PACK_BLOCK + 1); /* so that the last entry is in a block of its own */
	without = assert_round_trip();
	for (unsigned i = 0; i < pack.n; i++)
		pack.columns[0][i] = i % 2 == 0 ? row->a : row->b;
	ck_assert_uint_eq(assert_round_trip(), without + pack.n * row->octets);
}
END_TEST

/* Sums at a skip of 400: multiples of it, or of its square. */
START_TEST(multiples_of_one_number_are_written_without_it)
{
	static const struct {
		double factor;
		unsigned most, octets;
	} multiples[] = {{160000, 255, 1}, {160000, 70000, 3}, {0x1p34 + 1, 200, 1}, {1, 70000, 3}, {2, 200, 1}};

	for (size_t m = 0; m < sizeof(multiples) / sizeof(*multiples); m++) {
		bool divided = multiples[m].factor > 1;
		size_t without;

		fill_ports(PACK_BLOCK + 1);
		memset(pack.columns[0], 0, sizeof(pack.columns[0]));
		without = assert_round_trip();
		for (unsigned i = 0; i < pack.n; i++)
			pack.columns[0][i] = multiples[m].factor * (multiples[m].most - i);
		pack.columns[0][3] = 0;
		ck_assert_uint_eq(assert_round_trip(), without + pack.n * multiples[m].octets + (divided ? 8 : 0));
	}
}
END_TEST

START_TEST(a_multiple_of_the_column_before_is_a_factor)
{
	size_t without;

	fill_ports(200);
	for (unsigned i = 0; i < pack.n; i++)
		pack.columns[0][i] = 1 + i % 7;
	without = assert_round_trip();
	pack.n_columns = 4; /* the last but one a multiple of a multiple */
	for (unsigned i = 0; i < pack.n; i++) {
		pack.columns[1][i] = pack.columns[0][i] * 0.1;
		pack.columns[2][i] = pack.columns[1][i] * -4;
		pack.columns[3][i] = pack.columns[2][i];
	}
	pack.columns[3][pack.n - 1] += 1e-9;
	ck_assert_uint_eq(assert_round_trip(), without + 2 * (1 + 8) + 1 + 8 * pack.n);
}
END_TEST

START_TEST(a_zero_below_zero_is_kept)
{
	fill_ports(2);
	pack.n_columns = 2;
	pack.columns[0][0] = pack.columns[1][0] = 1;
	pack.columns[1][1] = -0.0;
	assert_round_trip();
}
END_TEST

/* A number that looks random: xorshift of a seed of its own. */
static uint32_t
next_random(void)
{
	static uint32_t state = 2463534242;

	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static int
compare_keys(const void *a, const void *b)
{
	return pack_compare(a, b);
}

/* Halves of few different octets, so that many are alike at first; pack.n of them are left. */
static void
fill_sorted(unsigned n)
{
	uint8_t half[STORE_KEY_HALF];
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++) {
		uint8_t octets1 = (uint8_t)(next_random() % (STORE_KEY_HALF + 1));
		uint8_t octets2 = (uint8_t)(next_random() % (STORE_KEY_HALF + 1));

		for (unsigned o = 0; o < sizeof(half); o++)
			half[o] = next_random() % 4 ? 0 : 0xff;
		pack.keys[i] = pack_key_of(next_random() % 3 + 0xfffffffe, 1 + next_random() % 300,
		    1 + next_random() % 2, half, octets1, half, octets2);
	}
	qsort(pack.keys, n, sizeof(*pack.keys), compare_keys);
	for (unsigned i = 1; i < n; i++)
		if (pack_compare(&pack.keys[kept], &pack.keys[i]) != 0)
			pack.keys[++kept] = pack.keys[i];
	pack.n = kept + 1;
}

START_TEST(keys_are_sorted_by_their_place)
{
	struct pack_reader reader;
	uint64_t place = 0;

	fill_sorted(PACK_ENTRIES);
	ck_assert_uint_gt(pack.n, PACK_ENTRIES / 2);
	pack.n_columns = PACK_COLUMNS;
	for (unsigned c = 0; c < PACK_COLUMNS; c++)
		for (unsigned i = 0; i < pack.n; i++)
			pack.columns[c][i] = ldexp(next_random(), (int)c * 2 - 4);
	ck_assert_int_eq(open_body(&reader, assert_round_trip()), 0);
	while (pack_next(&reader)) {
		uint64_t here = (uint64_t)pack_agent(&reader.key) << 32 |
		    pack_if_index(&reader.key);

		ck_assert_uint_ge(here, place);
		place = here;
	}
}
END_TEST

START_TEST(a_key_of_the_longest_halves)
{
	uint8_t half[STORE_KEY_HALF], octets;

	memset(half, 0xff, sizeof(half));
	fill_ports(1);
	pack.keys[0] = pack_key_of(UINT32_MAX, UINT32_MAX, 2, half, sizeof(half), half,
	    sizeof(half));
	ck_assert_uint_eq(assert_round_trip(), 8 + 1 + PACK_KEY_MAX + 1);
	ck_assert_mem_eq(pack_half2(&pack.keys[0], &octets), half, sizeof(half));
	ck_assert_uint_eq(octets, sizeof(half));
}
END_TEST

/* A body of every form. */
static size_t
write_some(void)
{
	static const double values[] = {0, 7, 300, 70000, 0x1p31, 0x1p39 + 1, 0.5, 0.1};

	fill_sorted(50);
	pack.n_columns = 10;
	for (unsigned c = 0; c < 8; c++)
		for (unsigned i = 0; i < pack.n; i++)
			pack.columns[c][i] = i % 3 ? values[c] : 3;
	memcpy(pack.columns[8], pack.columns[7], sizeof(pack.columns[8]));
	for (unsigned i = 0; i < pack.n; i++)
		pack.columns[9][i] = 3e9 * (i % 3);
	return assert_round_trip();
}

START_TEST(a_body_that_is_cut_is_refused)
{
	size_t octets = write_some();
	struct pack_reader reader;

	for (size_t n = 0; n < octets; n++)
		ck_assert_int_eq(open_body(&reader, n), -EBADMSG);
	body[octets] = 0;
	ck_assert_int_eq(open_body(&reader, octets + 1), -EBADMSG);
	ck_assert_int_eq(count_entries(octets), (int)pack.n);
}
END_TEST

START_TEST(a_body_with_a_wrong_bit_is_read_within)
{
	size_t octets = write_some();
	int refused = 0;

	for (size_t i = 0; i < octets * 8; i++) {
		body[i / 8] ^= (uint8_t)(1 << i % 8);
		refused += count_entries(octets) < 0;
		body[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ck_assert_int_gt(refused, 8 * 8);
	ck_assert_int_eq(count_entries(octets), (int)pack.n);
}
END_TEST

/* Octets of the body below that make it none. */
static const struct wrong_row {
	unsigned at;
	uint8_t octet;
} wrong[] = {
    {0, 0},	/* format */
    {0, 2},
    {1, 0},	/* no column, one more than there may be */
    {1, PACK_COLUMNS + 1},
    {3, 0},	/* no entry, 4097 */
    {2, 0x10},
    {4, 0xff},	/* octets of keys: very many, one less, one more */
    {7, 13},
    {7, 15},
    {8, 12},	/* shared octets: more than there were */
    {18, STORE_KEY_HALF + 1},
    {19, 1},	/* a second half that is not there */
    {18, 1},	/* a first half shorter than what is there */
    {22, 8},	/* form of the column: none of them, the column before the first */
    {22, 11},
    {22, 12},
    {22, 16},
    {22, 24},
    {22, 255},
};

START_TEST(what_is_no_pack_is_refused)
{
	const uint8_t half[] = {0xaa, 0xbb};
	size_t octets;

	fill_ports(1);
	pack.keys[0] = pack_key_of(0x01020304, 9, 1, half, sizeof(half), NULL, 0);
	pack.columns[0][0] = 1;
	octets = assert_round_trip();
	ck_assert_uint_eq(octets, 8 + 14 + 2);
	body[wrong[_i].at] = wrong[_i].octet;
	ck_assert_int_eq(count_entries(octets), -1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("pack");
	TCase *tc = tcase_create("pack");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, octets_are_as_documented);
	tcase_add_loop_test(tc, every_width_gives_back_its_values, 0,
	    sizeof(widths) / sizeof(*widths));
	tcase_add_test(tc, multiples_of_one_number_are_written_without_it);
	tcase_add_test(tc, a_multiple_of_the_column_before_is_a_factor);
	tcase_add_test(tc, a_zero_below_zero_is_kept);
	tcase_add_test(tc, keys_are_sorted_by_their_place);
	tcase_add_test(tc, a_key_of_the_longest_halves);
	tcase_add_test(tc, a_body_that_is_cut_is_refused);
	tcase_add_test(tc, a_body_with_a_wrong_bit_is_read_within);
	tcase_add_loop_test(tc, what_is_no_pack_is_refused, 0, sizeof(wrong) / sizeof(*wrong));
	return suite_run(suite);
}
