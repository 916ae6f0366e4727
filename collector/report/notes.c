#include "collector/report/notes.h"

#include "collector/report/number_format.h"
#include "common/clock.h"
#include "common/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct note_kind note_kinds[NOTE_N_IDS] = {
#define S(id, name, severity, shape, key, items, sentence) \
	[NOTE_ID_##id] = {name, NOTE_##severity, NOTE_##shape, key, items, sentence},
	SENTENCES_ABOVE(S) SENTENCES_BELOW(S)
#undef S
};

/* ---- making ---- */

struct note_values *
note_new(struct report_result *result, enum note_id id)
{
	struct report_note **notes = realloc(result->notes, (result->n_notes + 1) * sizeof(struct report_note *));
	struct report_note *note = calloc(1, sizeof(*note));

	result->notes = notes ? notes : result->notes;
	if (!notes || !note) {
		result->failed = true;
		free(note);
		return NULL;
	}
	note->id = id;
	note->of_all.failed = &result->failed;
	notes[result->n_notes++] = note;
	return &note->of_all;
}

static struct report_note *
find_note(const struct report_result *result, enum note_id id)
{
	size_t i = result->n_notes;

	while (i > 0 && result->notes[i - 1]->id != id)
		i--;
	return i > 0 ? result->notes[i - 1] : NULL;
}

const struct report_note *
note_find(const struct report_result *result, enum note_id id)
{
	return find_note(result, id);
}

struct note_values *
note_of(struct report_result *result, enum note_id id)
{
	struct report_note *note = find_note(result, id);

	return note ? &note->of_all : note_new(result, id);
}

struct note_values *
note_item(struct report_result *result, enum note_id id)
{
	struct report_note *note = note_of(result, id) ? find_note(result, id) : NULL;

	if (!note || note->n_items++ >= NOTE_ITEMS)
		return NULL;
	note->items[note->n_items - 1].failed = &result->failed;
	return &note->items[note->n_items - 1];
}

static void
free_texts(struct note_values *of)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->values[i].type == REPORT_TEXT)
			free(of->values[i].value.text);
}

static void
free_note(struct report_note *note)
{
	free_texts(&note->of_all);
	for (size_t i = 0; i < NOTE_ITEMS; i++)
		free_texts(&note->items[i]);
	free(note);
}

void
note_take(struct report_result *result, struct report_result *from, enum note_id id)
{
	const struct note_values *room;

	for (size_t i = 0; i < from->n_notes; i++)
		if (from->notes[i]->id == id && (room = note_new(result, id))) {
			struct report_note *empty = result->notes[result->n_notes - 1];

			result->notes[result->n_notes - 1] = from->notes[i];
			from->notes[i] = empty;
		}
	note_drop(from, id);
}

void
note_drop(struct report_result *result, enum note_id id)
{
	size_t n = 0;

	for (size_t i = 0; i < result->n_notes; i++)
		if (result->notes[i]->id == id)
			free_note(result->notes[i]);
		else
			result->notes[n++] = result->notes[i];
	result->n_notes = n;
}

void
notes_free(struct report_result *result)
{
	for (size_t i = 0; i < result->n_notes; i++)
		free_note(result->notes[i]);
	free(result->notes);
}

/* ---- values ---- */

static const struct note_value *
find_value(const struct note_values *of, const char *name, size_t length)
{
	for (size_t i = 0; i < of->n; i++)
		if (strlen(of->values[i].name) == length && strncmp(of->values[i].name, name, length) == 0)
			return &of->values[i];
	return NULL;
}

/* A value of that name is replaced. */
static void
set_value(struct note_values *of, const char *name, enum report_type type, struct report_value value)
{
	struct note_value *to;

	if (!of)
		return;
	to = (struct note_value *)(uintptr_t)find_value(of, name, strlen(name));
	if (!to)
		to = &of->values[of->n++];
	*to = (struct note_value){name, type, value};
}

void
note_number(struct note_values *of, const char *name, enum report_type type, double number)
{
	set_value(of, name, type, (struct report_value){.known = isfinite(number), .number = number});
}

void
note_count(struct note_values *of, const char *name, double number)
{
	note_number(of, name, REPORT_COUNT, number);
}

void
note_time(struct note_values *of, const char *name, uint64_t time_us)
{
	set_value(of, name, REPORT_TIME, (struct report_value){.known = time_us > 0, .time_us = time_us});
}

void
note_text(struct note_values *of, const char *name, const char *text)
{
	char *copy = of && *text ? utf8_printable_copy(text) : NULL;

	if (of && *text && !copy)
		*of->failed = true;
	set_value(of, name, REPORT_TEXT, (struct report_value){.known = copy != NULL, .text = copy});
}

double
note_number_of(const struct report_result *result, enum note_id id, const char *name)
{
	const struct report_note *note = note_find(result, id);
	const struct note_value *value = note ? find_value(&note->of_all, name, strlen(name)) : NULL;

	return value ? value->value.number : 0;
}

/* ---- saying ---- */

struct speech {
	const struct report_result *result;
	const struct report_note *note;
	const struct render_options *options; /* NULL: for programs */
	FILE *out;
	bool says_nothing;
};

static bool
is_form(const char *form, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(form, name, length) == 0;
}

/* How old a time is where what was counted ends, or a number of seconds. */
static double
age_of(const struct speech *s, const struct note_value *value)
{
	if (value->type != REPORT_TIME)
		return value->value.number;
	return ((double)s->result->counted_to_us - (double)value->value.time_us) / 1e6;
}

static void
format_time(const struct speech *s, uint64_t time_us, char *text)
{
	if (s->options)
		number_format_time(time_us, s->options->utc, text);
	else
		clock_format_rfc3339(time_us, text, NUMBER_TEXT);
}

static void
format_plainly(const struct speech *s, const struct note_value *value, char *text)
{
	if (value->type == REPORT_TIME)
		format_time(s, value->value.time_us, text);
	else if (value->type == REPORT_BITRATE || value->type == REPORT_RATE)
		number_format_rate(value->value.number, value->type == REPORT_BITRATE ? "b/s" : "frame/s", text);
	else
		number_format_count(value->value.number, text);
}

static void
format_note_value(const struct speech *s, const struct note_value *value, const char *form, size_t length, char *text)
{
	double number = value->value.number;

	if (is_form(form, length, "whole"))
		snprintf(text, NUMBER_TEXT, "%.0f", number);
	else if (is_form(form, length, "round"))
		number_format_count(round(number), text);
	else if (is_form(form, length, "ceil"))
		number_format_count(ceil(number), text);
	else if (is_form(form, length, "percent"))
		number_format_percent(100 * number, text);
	else if (is_form(form, length, "bits"))
		number_format_rate(number * 8 / s->result->seconds, "b/s", text);
	else if (is_form(form, length, "age"))
		number_format_age(age_of(s, value), text);
	else
		format_plainly(s, value, text);
}

/* {from..to}: of the range. */
static void
say_times(struct speech *s, const struct note_values *of)
{
	uint64_t from_us = find_value(of, "from", 4)->value.time_us, to_us = find_value(of, "to", 2)->value.time_us;
	char text[NUMBER_TEXT], end[NUMBER_TEXT];

	from_us = from_us > s->result->from_us ? from_us : s->result->from_us;
	to_us = to_us > 0 && to_us < s->result->to_us ? to_us : s->result->to_us;
	if (s->options) {
		number_format_times(from_us, to_us, s->options->now_us, s->options->utc, text);
		fputs(text, s->out);
	} else {
		format_time(s, from_us, text);
		format_time(s, to_us, end);
		fprintf(s->out, "%s to %s", text, end);
	}
}

/* What stands in braces. */
static void
say_value(struct speech *s, const struct note_values *of, const char *from, const char *to)
{
	const char *bar = memchr(from, '|', (size_t)(to - from)), *mark = from;
	const struct note_value *value;
	char text[NUMBER_TEXT];

	while (mark < to && *mark != ':' && *mark != '?')
		mark++;
	if (bar) {
		from = s->options ? from : bar + 1;
		fprintf(s->out, "%.*s", (int)((s->options ? bar : to) - from), from);
		return;
	}
	if (is_form(from, (size_t)(to - from), "from..to")) {
		say_times(s, of);
		return;
	}
	value = find_value(of, from, (size_t)(mark - from));
	if (!value || !value->value.known) {
		s->says_nothing = true;
	} else if (*mark == '?') {
		const char *other = memchr(mark, ':', (size_t)(to - mark));

		from = value->value.number == 1 ? mark + 1 : other + 1;
		fprintf(s->out, "%.*s", (int)((value->value.number == 1 ? other : to) - from), from);
	} else if (value->type == REPORT_TEXT) {
		fputs(value->value.text, s->out);
	} else {
		format_note_value(s, value, mark + 1, mark < to ? (size_t)(to - mark - 1) : 0, text);
		fputs(text, s->out);
	}
}

static bool
is_there(const struct note_value *value)
{
	return value && value->value.known && (value->type == REPORT_TEXT || value->value.number >= 1);
}

/* The end of what this bracket opens. */
static const char *
closing_of(const char *from)
{
	return strchr(from, *from == '{' ? '}' : *from == '[' ? ']' : '>');
}

static void say_words(struct speech *s, const struct note_values *of, const char *from, const char *to);

static void
say_items(struct speech *s, const char *from, const char *to)
{
	size_t n = s->note->n_items, named = n < NOTE_ITEMS ? n : NOTE_ITEMS;

	for (size_t i = 0; i < named; i++) {
		fprintf(s->out, "%.*s", i > 0 ? 2 : 0, from);
		say_words(s, &s->note->items[i], from + 2, to);
	}
	if (n > named)
		fprintf(s->out, "%s and %zu more", *from == ';' ? ";" : "", n - named);
	s->says_nothing |= n == 0;
}

static void
say_words(struct speech *s, const struct note_values *of, const char *from, const char *to)
{
	for (const char *c = from; c < to; c++) {
		const char *closing, *bar;

		if (!strchr("{[<", *c)) {
			putc(*c, s->out);
			continue;
		}
		closing = closing_of(c);
		bar = strchr(c, '|');
		if (*c == '{')
			say_value(s, of, c + 1, closing);
		else if (*c == '[')
			say_items(s, c + 1, closing);
		else if (is_there(find_value(of, c + 1, (size_t)(bar - c - 1))))
			say_words(s, of, bar + 1, closing);
		c = closing;
	}
}

char *
note_say(const struct report_result *result, const struct report_note *note, const struct render_options *options)
{
	const char *sentence = note_kinds[note->id].sentence;
	struct speech s = {.result = result, .note = note, .options = options};
	char *text = NULL;
	size_t size;

	s.out = open_memstream(&text, &size);
	if (!s.out)
		return NULL;
	say_words(&s, &note->of_all, sentence, sentence + strlen(sentence));
	if (fclose(s.out) != 0) {
		free(text);
		return NULL;
	}
	if (s.says_nothing)
		*text = '\0';
	return text;
}
