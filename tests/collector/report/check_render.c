/*
 * Text, CSV and numbers, checked by their properties and not against stored output: aligned columns,
 * units, ranges, keys without a row, quoting.
 */
#include "tests/collector/report/report_store.h"
#include "tests/suite.h"

#include "collector/report/notes.h"
#include "collector/store/schema.h"
#include "common/number_format.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MAC_A "0200000000aa"
#define MAC_B "0200000000bb"
#define MAC_C "0200000000cc"
#define MAC_D "0200000000dd"

static struct report_store store;

static void
setup(void)
{
	report_store_make(&store);
	report_store_agent(&store, 1, 60);
	report_store_port(&store, 1, 1, "ge-1", 1);
	report_store_window(&store, 0, 1, 1, 60000, 60000000);
}

static void
teardown(void)
{
	report_store_remove(&store);
}

static void
samples(int n, const char *src, const char *dst)
{
	report_store_samples(&store, 0, 1, 1, n, 100, 1000, STORE_KEY_ETH_PAIR, src, dst);
}

static char *
render(const char *report, render_fn *fn, bool fold)
{
	struct report_options options = report_store_options();

	options.fold_few = fold;
	return report_store_render(&store, report, &options, fn, 60);
}

/* The line that holds a text; copied into line. */
static const char *
line_of(const char *text, const char *what, char *line, size_t size)
{
	const char *at = strstr(text, what), *start = at;

	ck_assert_msg(at != NULL, "no \"%s\" in:\n%s", what, text);
	while (start > text && start[-1] != '\n')
		start--;
	snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
	return line;
}

static ptrdiff_t
column(const char *line, const char *what)
{
	const char *at = strstr(line, what);

	ck_assert_msg(at != NULL, "no \"%s\" in \"%s\"", what, line);
	return at - line;
}

START_TEST(talkers_are_aligned)
{
	char heading[256], a[256], b[256], others[256];
	char *text;

	samples(400, MAC_A, MAC_B);
	samples(100, MAC_A, MAC_C);
	samples(96, MAC_A, MAC_D);
	samples(4, MAC_B, MAC_A); /* too few for a row */
	text = render("talkers", render_text, true);
	line_of(text, "RANK", heading, sizeof(heading));
	line_of(text, "00:bb ", a, sizeof(a));
	line_of(text, "00:cc ", b, sizeof(b));
	line_of(text, "1 with < 5 samples ", others, sizeof(others));
	ck_assert_int_eq(column(a, "=="), column(heading, "=sure"));
	ck_assert_int_eq(column(b, "=="), column(heading, "=sure"));
	ck_assert_int_eq(column(a, " .. "), column(b, " .. "));
	ck_assert_int_eq(column(a, "02:00"), column(heading, "SOURCE"));
	ck_assert_int_eq(column(others, "1 with < 5 samples"), column(heading, "SOURCE"));
	ck_assert_int_eq(column(a, "400") + 3, column(heading, "SAMPLES") + 7);
	ck_assert_int_eq(column(b, "100") + 3, column(heading, "SAMPLES") + 7);
	ck_assert_int_eq(column(b, "2-3"), column(a, " 1  02") - 1); /* right-aligned ranks */
	ck_assert_int_eq(column(others, " 4"), column(a, "400") + 1);
	ck_assert_ptr_nonnull(strstr(text,
	    "\n1 pair of fewer than 5 samples has no row here; --format csv lists it.\n"));
	ck_assert_ptr_null(strstr(text, " \n"));
	free(text);
}
END_TEST

/* 400 of 600 samples of 60,000 frames with 1,000 octets in 60 s, the first of two rows: its lower limit is 8 Mb/s
 * less the upper one of the other 200, at 1.5 %; its upper one 8 less their lower one at 2.5 %. */
START_TEST(figures_are_rates_in_one_unit)
{
	char line[256];
	char *text;

	samples(400, MAC_A, MAC_B);
	samples(200, MAC_A, MAC_C);
	text = render("talkers", render_text, true);
	ck_assert_ptr_nonnull(strstr(text, "completeness 100%  600 of 600 samples"));
	ck_assert_ptr_nonnull(strstr(text, "8.00 Mb/s counted (8.00 Mb/s by samples)"));
	ck_assert_ptr_nonnull(strstr(text, "192.0.2.1 ge-1  22:14-22:15 +0000"));
	line_of(text, "00:bb ", line, sizeof(line));
	ck_assert_msg(strstr(line, "5.33M  4.99 .. 5.63M  66.7%") != NULL, "%s", line);
	ck_assert_ptr_nonnull(strstr(text,
	    "No pair without a sample carried more than 736 frames (95%)."));
	ck_assert_ptr_null(strstr(text, "FEW SAMPLES"));
	free(text);
}
END_TEST

/* A device names its ports; the terminal must not obey it. */
START_TEST(a_ports_name_in_the_header_is_cleaned)
{
	char *text;

	report_store_sql(&store, "UPDATE port SET name = 'ge' || char(%d) || '[31m'", 27);
	samples(400, MAC_A, MAC_B);
	text = render("talkers", render_text, true);
	ck_assert_ptr_nonnull(strstr(text, "192.0.2.1 ge?[31m  22:14-22:15"));
	ck_assert_ptr_null(strchr(text, 27));
	free(text);
}
END_TEST

/* Samples of sent frames are in the header, and in no list. */
START_TEST(the_header_says_how_many_samples_are_listed)
{
	char *text;

	samples(400, MAC_A, MAC_B);
	report_store_sql(&store, "UPDATE window_port SET expected = %d, received = 900", 1000);
	text = render("talkers", render_text, true);
	ck_assert_ptr_nonnull(strstr(text,
	    "completeness 90.0%  900 of 1,000 samples (400 of received frames, below)  8.00 Mb/s"));
	free(text);
}
END_TEST

START_TEST(few_samples_are_said)
{
	char *text;

	samples(20, MAC_A, MAC_B);
	samples(4, MAC_A, MAC_C);
	samples(4, MAC_A, MAC_D);
	text = render("talkers", render_text, true);
	ck_assert_ptr_nonnull(strstr(text,
	    "FEW SAMPLES: try --last 1h, or a smaller skip (now 100)"));
	ck_assert_ptr_nonnull(strstr(text, " 2 with < 5 samples "));
	ck_assert_ptr_nonnull(strstr(text,
	    "\n2 pairs of fewer than 5 samples have no row here; --format csv lists them.\n"));
	ck_assert_ptr_null(strstr(text, "00:cc"));
	free(text);
	text = render("talkers", render_csv, false);
	ck_assert_ptr_nonnull(strstr(text, "00:cc"));
	free(text);
}
END_TEST

/* = never reaches beyond the lower limit, and the longest bar ends at the upper one. */
START_TEST(bars_show_what_is_sure)
{
	char line[256], *bar;
	char *text;

	samples(400, MAC_A, MAC_B);
	samples(200, MAC_A, MAC_C);
	text = render("talkers", render_text, true);
	bar = strstr(line_of(text, "00:bb ", line, sizeof(line)), "==");
	ck_assert_str_eq(bar, "=================---"); /* 4.98 / 5.63 of 20: 17.7 */
	free(text);
}
END_TEST

static const char *
next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? end + 1 : text + strlen(text);
}

START_TEST(matrix_is_a_grid)
{
	char heading[256], a[256], b[256];
	char *text;

	samples(400, MAC_A, MAC_B);
	samples(200, MAC_B, MAC_A);
	samples(50, MAC_A, MAC_C);
	text = render("matrix", render_text, true);
	line_of(text, "bit/s from", heading, sizeof(heading));
	line_of(text, "00:aa ", a, sizeof(a));
	line_of(text, "00:bb ", b, sizeof(b));
	ck_assert_int_eq(column(a, "1  02:00"), 0);
	ck_assert_int_eq(column(b, "2  02:00"), 0);
	ck_assert_ptr_nonnull(strstr(a, "4.92M ±7%"));
	ck_assert_ptr_nonnull(strstr(b, "2.46M ±"));
	ck_assert_ptr_nonnull(strstr(a, " .  ")); /* A to itself: not seen, so not 0 */
	ck_assert_int_lt(column(heading, "  1"), column(heading, "  2"));
	free(text);
}
END_TEST

START_TEST(load_text_shows_unknown_as_a_dash)
{
	char up[256], down[256], heading[256];
	char *text;

	report_store_port(&store, 1, 2, "ge-22", 1);
	report_store_sql(&store, "UPDATE port SET oper_status = 2 WHERE if_index = 2");
	report_store_sql(&store, "UPDATE port SET alias = 'evil' || char(27) || '[2J', speed_bps ="
	    " 2500000000 WHERE if_index = 1");
	for (int s = 0; s <= 60; s += 20)
		for (int port = 1; port <= 2; port++)
			report_store_sql(&store,
			    "INSERT INTO counter VALUES(1, %d, %llu, 1, 0, %d, %d, 0,"
			    " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)", port,
			    REPORT_STORE_T0 + (unsigned)s * SECOND, port == 1 ? s * 1000000 : 0,
			    port == 1 ? s * 24500 : 0);
	samples(600, MAC_A, MAC_B);
	text = render("load", render_text, true);
	line_of(text, "PORT", heading, sizeof(heading));
	line_of(text, "ge-1 ", up, sizeof(up));
	line_of(text, "ge-22", down, sizeof(down));
	ck_assert_ptr_nonnull(strstr(up, "evil?[2J"));
	ck_assert_ptr_nonnull(strstr(up, "2.5G"));
	ck_assert_ptr_nonnull(strstr(up, "8.00M"));
	ck_assert_ptr_nonnull(strstr(up, "24,500"));
	ck_assert_int_eq(column(up, "24,500") + 6, column(heading, "pps") + 3);
	ck_assert_ptr_nonnull(strstr(down, "down"));
	ck_assert_ptr_nonnull(strstr(down, " - "));
	ck_assert_ptr_null(strchr(down, '0'));
	free(text);
}
END_TEST

static size_t
commas_of_line(const char *line)
{
	size_t n = 0;

	for (const char *c = line; c < next_line(line); c++)
		n += *c == ',';
	return n;
}

/* Every line of a CSV has as many fields as its table's first, also where nothing is known; a
 * second table begins behind an empty line. */
START_TEST(csv_lines_have_all_fields)
{
	static const char *const names[] = {"talkers", "load", "agents", "loss", "matrix"};

	samples(400, MAC_A, MAC_B);
	report_store_port(&store, 1, 2, "ge-2", 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *text = render(names[i], render_csv, false);
		const char *heading = text;

		for (const char *line = next_line(text); *line; line = next_line(line)) {
			if (*line == '\n')
				heading = line = next_line(line);
			ck_assert_msg(commas_of_line(line) == commas_of_line(heading),
			    "%s: %zu, not %zu, commas in %.*s", names[i], commas_of_line(line),
			    commas_of_line(heading), (int)strcspn(line, "\n"), line);
		}
		free(text);
	}
}
END_TEST

START_TEST(csv_quotes_and_json_survive_hostile_names)
{
	char *text;
	json_t *json;

	report_store_sql(&store,
	    "UPDATE port SET alias = 'a,\"b\"' , name = CAST(x'67ff65' AS TEXT)");
	text = render("load", render_csv, false);
	ck_assert_ptr_nonnull(strstr(text, "\"a,\"\"b\"\"\""));
	free(text);
	text = render("load", render_json, false);
	json = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(json);
	ck_assert_str_eq(report_json_text(json, "rows.0.port"), "g\xc3\xbf" "e");
	json_decref(json);
	free(text);
}
END_TEST

/* What a device calls its port steers neither a terminal nor a spreadsheet, in any format: C0, C1 (as
 * UTF-8 and as the octet), overrides of direction, separators of lines, formulas. */
START_TEST(hostile_names_steer_nothing)
{
	static render_fn *const formats[] = {render_text, render_csv, render_json};
	static const char *const controls[] = {"\x1b", "\x9b", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6",
	    "\xe2\x80\xa8", "\x7f", "\r", "\\u001b"};

	report_store_sql(&store, "UPDATE port SET name = CAST(x'67c29be280ae652d31' AS TEXT), alias ="
	    " CAST(x'3d31e281a61b5b6de280a87f0d' AS TEXT)");
	samples(400, MAC_A, MAC_B);
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
		char *text = render("load", formats[f], false);

		for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
			ck_assert_msg(!strstr(text, controls[i]), "format %zu, control %zu:\n%s", f, i,
			    text);
		ck_assert_msg(strstr(text, "g??e-1") != NULL, "%s", text);
		ck_assert_msg(strstr(text, f == 1 ? ",'=1??[m???," : "=1??[m???") != NULL, "%s", text);
		free(text);
	}
}
END_TEST

START_TEST(csv_cells_are_no_formulas)
{
	static const char *const cells[][2] = {{"=HYPERLINK(1;2)", ",'=HYPERLINK(1;2),"}, {"+1", ",'+1,"},
	    {"-1", ",'-1,"}, {"@x", ",'@x,"}, {"=\"a\"", ",\"'=\"\"a\"\"\","}, {"a=1", ",a=1,"}};

	for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
		char *text;

		report_store_sql(&store, "UPDATE port SET alias = '%s'", cells[i][0]);
		text = render("load", render_csv, false);
		ck_assert_msg(strstr(text, cells[i][1]) != NULL, "%s", text);
		free(text);
	}
}
END_TEST

/* Who asks for a port by the name that he sees gets it. */
START_TEST(a_port_is_found_by_the_name_that_is_shown)
{
	struct report_options options = report_store_options();
	char *text;

	report_store_sql(&store, "UPDATE port SET name = CAST(x'67e9c29b31' AS TEXT)");
	options.filter = report_store_filter("if g\xc3\xa9?1");
	text = report_store_render(&store, "load", &options, render_text, 60);
	line_of(text, "g\xc3\xa9?1 ", (char[256]){0}, 256);
	free(text);
}
END_TEST

START_TEST(loss_lists_the_collectors_counters)
{
	char *text;

	report_store_sql(&store, "INSERT INTO stat VALUES('input.wrong_community', 1234),"
	    " ('input.truncated', 0), ('started_us', %llu)", REPORT_STORE_T0 + SECOND);
	text = render("loss", render_text, true);
	ck_assert_ptr_nonnull(strstr(text, "COLLECTOR since 2023-11-14 22:14:01 +0000  COUNT"));
	ck_assert_ptr_null(strstr(text, "started_us"));
	ck_assert_ptr_nonnull(strstr(text, "input.wrong_community  "));
	ck_assert_ptr_nonnull(strstr(text, " 1,234\n"));
	ck_assert_ptr_null(strstr(text, "input.truncated"));
	free(text);
}
END_TEST

/* ---- numbers ---- */

static const struct {
	double value;
	const char *text;
} three_digits[] = {
	{0, "   0 "}, {0.004, "0.00 "}, {1, "1.00 "}, {9.994, "9.99 "}, {9.996, "10.0 "},
	{99.94, "99.9 "}, {99.96, " 100 "}, {999.4, " 999 "}, {999.6, "1.00k"}, {6000, "6.00k"},
	{70.1e6, "70.1M"}, {190e6, " 190M"}, {1.5e9, "1.50G"}, {2e12, "2.00T"}, {3e18, "3000P"},
};

/* ---- notes ---- */

static void
says(const struct report_result *result, enum note_id id, const struct render_options *options, const char *text)
{
	char *said = note_say(result, note_find(result, id), options);

	ck_assert_str_eq(said, text);
	free(said);
}

START_TEST(a_note_names_the_first_things)
{
	struct report_result result = {0};

	for (int i = 1; i <= 10; i++) {
		char name[8];

		snprintf(name, sizeof(name), "sw%d", i);
		note_text(note_item(&result, NOTE_ID_EGRESS), "", name);
		if (i == 2)
			says(&result, NOTE_ID_EGRESS, NULL, "Sampled on egress: sw1, sw2. Lists have there what ports sent;"
			    " a frame that leaves by several ports counts at each.");
	}
	says(&result, NOTE_ID_EGRESS, NULL, "Sampled on egress: sw1, sw2, sw3, sw4, sw5, sw6, sw7, sw8 and 2 more. Lists"
	    " have there what ports sent; a frame that leaves by several ports counts at each.");
	ck_assert(!result.failed);
	notes_free(&result);
}
END_TEST

START_TEST(a_note_has_words_by_its_values)
{
	const struct render_options text = {.utc = true};
	struct report_result result = {0};
	struct note_values *warned = note_of(&result, NOTE_ID_WARNED);

	note_set(warned, "#warn", REPORT_RATE, cell_number(500));
	note_count(warned, "warned", 0);
	says(&result, NOTE_ID_WARNED, &text, "");
	note_count(warned, "warned", 1);
	says(&result, NOTE_ID_WARNED, &text, "WARNING: 1 row is surely above 500 pps.");
	note_count(warned, "warned", 2);
	says(&result, NOTE_ID_WARNED, &text, "WARNING: 2 rows are surely above 500 pps.");
	note_count(note_of(&result, NOTE_ID_FEW_SAMPLES), "mean_skip", 99.6);
	says(&result, NOTE_ID_FEW_SAMPLES, &text, "FEW SAMPLES: try --last 1h, or a smaller skip (now 100)");
	says(&result, NOTE_ID_FEW_SAMPLES, NULL, "FEW SAMPLES: try a longer range, or a smaller skip (now 100)");
	note_time(note_of(&result, NOTE_ID_OLDER), "sums_kept_since", 1700000000000000);
	says(&result, NOTE_ID_OLDER, &text, "The store keeps NOTHING from before 2023-11-14 22:13:20 +0000.");
	says(&result, NOTE_ID_OLDER, NULL, "The store keeps NOTHING from before 2023-11-14T22:13:20Z.");
	note_text(note_of(&result, NOTE_ID_FILTER), "filter", "tcp\033[2J");
	says(&result, NOTE_ID_FILTER, NULL, "");
	note_text(note_of(&result, NOTE_ID_FILTER), "answered_from", "samples");
	says(&result, NOTE_ID_FILTER, NULL, "Filter: tcp?[2J; answered from samples.");
	notes_free(&result);
}
END_TEST

/* Each has a name of its own, and what opens in it closes. */
START_TEST(sentences_can_be_read)
{
	for (int id = 0; id < NOTE_N_IDS; id++) {
		const char *sentence = note_kinds[id].sentence;

		ck_assert_msg(*sentence && !strstr(sentence, "{{"), "%s", note_kinds[id].name);
		for (const char *pair = "{}[]<>"; *pair; pair += 2) {
			int depth = 0;

			for (const char *c = sentence; *c; c++) {
				depth += (*c == pair[0]) - (*c == pair[1]);
				ck_assert_msg(depth == 0 || depth == 1, "%s: %s", note_kinds[id].name, c);
			}
			ck_assert_msg(depth == 0, "%s", note_kinds[id].name);
		}
		for (int other = 0; other < id; other++)
			ck_assert_str_ne(note_kinds[other].name, note_kinds[id].name);
	}
}
END_TEST

START_TEST(numbers_have_three_digits)
{
	char text[NUMBER_TEXT];

	number_format(three_digits[_i].value, number_scale(three_digits[_i].value), text);
	ck_assert_str_eq(text, three_digits[_i].text);
}
END_TEST

START_TEST(ranges_counts_and_shares)
{
	char text[NUMBER_TEXT];

	number_format_range(185e6, 195e6, number_scale(190e6), text);
	ck_assert_str_eq(text, " 185 ..  195M");
	number_format_range(67e6, 73.3e6, number_scale(70e6), text);
	ck_assert_str_eq(text, "67.0 .. 73.3M");
	number_format_range(20, 1.5e6, number_scale(1000), text);
	ck_assert_str_eq(text, "0.02 .. 1500k");
	number_format_count(0, text);
	ck_assert_str_eq(text, "0");
	number_format_count(0.007, text);
	ck_assert_str_eq(text, "<0.1");
	number_format_count(0.31, text);
	ck_assert_str_eq(text, "0.3");
	number_format_count(999, text);
	ck_assert_str_eq(text, "999");
	number_format_count(1234567, text);
	ck_assert_str_eq(text, "1,234,567");
	number_format_count(-123, text); /* drops that nothing explains may be below 0 */
	ck_assert_str_eq(text, "-123");
	number_format_count(-1234567, text);
	ck_assert_str_eq(text, "-1,234,567");
	number_format_percent(0.01, text);
	ck_assert_str_eq(text, "<0.1%");
	number_format_completeness(0.99999, text);
	ck_assert_str_eq(text, "99.9%"); /* 100 % is said only of all */
	number_format_completeness(1, text);
	ck_assert_str_eq(text, "100%");
	number_format_rate(935e6, "b/s", text);
	ck_assert_str_eq(text, "935 Mb/s");
	number_format_age(7300, text);
	ck_assert_str_eq(text, "2 h");
}
END_TEST

START_TEST(times_leave_out_what_is_known)
{
	const uint64_t day = 86400 * SECOND, t0 = REPORT_STORE_T0;
	char text[NUMBER_TEXT];

	number_format_times(t0, t0 + 5 * MINUTE, t0, true, text);
	ck_assert_str_eq(text, "22:14-22:19 +0000");
	number_format_times(t0, t0 + 5 * MINUTE + 7 * SECOND, t0 + day, true, text);
	ck_assert_str_eq(text, "2023-11-14 22:14-22:19:07 +0000");
	number_format_times(t0, t0 + day, t0, true, text);
	ck_assert_str_eq(text, "2023-11-14 22:14 - 2023-11-15 22:14 +0000");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("render");
	TCase *tc = tcase_create("text");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, talkers_are_aligned);
	tcase_add_test(tc, figures_are_rates_in_one_unit);
	tcase_add_test(tc, few_samples_are_said);
	tcase_add_test(tc, a_ports_name_in_the_header_is_cleaned);
	tcase_add_test(tc, the_header_says_how_many_samples_are_listed);
	tcase_add_test(tc, bars_show_what_is_sure);
	tcase_add_test(tc, matrix_is_a_grid);
	tcase_add_test(tc, load_text_shows_unknown_as_a_dash);
	tcase_add_test(tc, csv_lines_have_all_fields);
	tcase_add_test(tc, hostile_names_steer_nothing);
	tcase_add_test(tc, csv_cells_are_no_formulas);
	tcase_add_test(tc, a_port_is_found_by_the_name_that_is_shown);
	tcase_add_test(tc, csv_quotes_and_json_survive_hostile_names);
	tcase_add_test(tc, loss_lists_the_collectors_counters);
	tcase_add_test(tc, a_note_names_the_first_things);
	tcase_add_test(tc, a_note_has_words_by_its_values);
	tcase_add_test(tc, sentences_can_be_read);
	suite_add_tcase(suite, tc);
	tc = tcase_create("numbers");
	tcase_add_loop_test(tc, numbers_have_three_digits, 0,
	    (int)(sizeof(three_digits) / sizeof(*three_digits)));
	tcase_add_test(tc, ranges_counts_and_shares);
	tcase_add_test(tc, times_leave_out_what_is_known);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
