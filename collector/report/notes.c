#include "collector/report/notes.h"

#include "common/clock.h"
#include "common/number_format.h"
#include "common/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
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
	notes[result->n_notes++] = note;
	return &note->of_all;
}

struct report_note *
note_find(const struct report_result *result, enum note_id id)
{
	size_t i = result->n_notes;

	while (i > 0 && result->notes[i - 1]->id != id)
		i--;
	return i > 0 ? result->notes[i - 1] : NULL;
}

struct note_values *
note_of(struct report_result *result, enum note_id id)
{
	struct report_note *note = note_find(result, id);

	return note ? &note->of_all : note_new(result, id);
}

struct note_values *
note_item(struct report_result *result, enum note_id id)
{
	struct report_note *note = note_of(result, id) ? note_find(result, id) : NULL;

	if (!note || note->n_items++ >= NOTE_ITEMS)
		return NULL;
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
	for (size_t i = 0; i < from->n_notes; i++)
		if (from->notes[i]->id == id && note_new(result, id)) {
			struct report_note **empty = &result->notes[result->n_notes - 1], *note = *empty;

			*empty = from->notes[i];
			from->notes[i] = note;
		}
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

static bool
has_texts(const struct note_values *of)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->values[i].type == REPORT_TEXT && of->values[i].value.known && !of->values[i].value.text)
			return false;
	return true;
}

bool
notes_are_whole(const struct report_result *result)
{
	bool whole = !result->failed;

	for (size_t i = 0; whole && i < result->n_notes; i++) {
		whole = has_texts(&result->notes[i]->of_all);
		for (size_t k = 0; whole && k < NOTE_ITEMS; k++)
			whole = has_texts(&result->notes[i]->items[k]);
	}
	return whole;
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

void
note_set(struct note_values *of, const char *name, enum report_type type, struct report_value value)
{
	const struct note_value *there = of ? find_value(of, name, strlen(name)) : NULL;

	if (!of)
		return;
	if (there && there->type == REPORT_TEXT)
		free(there->value.text);
	assert(there || of->n < NOTE_VALUES); /* no sentence has more */
	of->values[there ? (size_t)(there - of->values) : of->n++] = (struct note_value){name, type, value};
}

void
note_text(struct note_values *of, const char *name, const char *text)
{
	bool known = text && *text;
	char *copy = of && known ? utf8_printable_copy(text) : NULL;

	note_set(of, name, REPORT_TEXT, (struct report_value){.known = known, .text = copy});
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

static void
say_time(const struct speech *s, uint64_t time_us)
{
	char text[NUMBER_TEXT];

	if (s->options)
		number_format_time(time_us, s->options->utc, text);
	else
		clock_format_rfc3339(time_us, text, sizeof(text));
	fputs(text, s->out);
}

/* In the form that stands behind the name: whole, rounded, ceiling, percent, bits or age; the first letter says it. */
static void
say_number(const struct speech *s, const struct note_value *value, char form)
{
	double number = value->value.number;
	char text[NUMBER_TEXT];

	if (form == 'w')
		snprintf(text, sizeof(text), "%.0f", number);
	else if (form == 'p')
		number_format_percent(100 * number, text);
	else if (form == 'b')
		number_format_rate(number * 8 / s->result->seconds, "b/s", text);
	else if (form == 'a' && value->type == REPORT_TIME) /* where what was counted ends */
		number_format_age(((double)s->result->counted_to_us - (double)value->value.time_us) / 1e6, text);
	else if (form == 'a')
		number_format_age(number, text);
	else if (value->type == REPORT_BITRATE || value->type == REPORT_RATE)
		number_format_rate(number, value->type == REPORT_BITRATE ? "b/s" : "pps", text);
	else
		number_format_count(form == 'r' ? round(number) : form == 'c' ? ceil(number) : number, text);
	fputs(text, s->out);
}

/* {from..to}: of the range. */
static void
say_times(const struct speech *s, const struct note_values *of)
{
	uint64_t from_us = find_value(of, "from", 4)->value.time_us, to_us = find_value(of, "to", 2)->value.time_us;
	char text[NUMBER_TEXT];

	from_us = from_us > s->result->from_us ? from_us : s->result->from_us;
	to_us = to_us > 0 && to_us < s->result->to_us ? to_us : s->result->to_us;
	if (s->options) {
		number_format_times(from_us, to_us, s->options->now_us, s->options->utc, text);
		fputs(text, s->out);
	} else {
		say_time(s, from_us);
		fputs(" to ", s->out);
		say_time(s, to_us);
	}
}

/* One of two words: those before the mark, or those behind it. */
static void
say_one(const struct speech *s, const char *from, const char *to, char mark, bool first)
{
	const char *middle = memchr(from, mark, (size_t)(to - from));

	from = first ? from : middle + 1;
	fprintf(s->out, "%.*s", (int)((first ? middle : to) - from), from);
}

/* What stands in braces. */
static void
say_value(struct speech *s, const struct note_values *of, const char *from, const char *to)
{
	size_t length = strcspn(from, "}:?|");
	const char *mark = from + length;
	const struct note_value *value = find_value(of, from, length);

	if (*mark == '|')
		say_one(s, from, to, '|', s->options);
	else if (length == 8 && strncmp(from, "from..to", length) == 0)
		say_times(s, of);
	else if (!value || !value->value.known)
		s->says_nothing = true;
	else if (*mark == '?')
		say_one(s, mark + 1, to, ':', value->value.number == 1);
	else if (value->type == REPORT_TEXT)
		fputs(value->value.text, s->out);
	else if (value->type == REPORT_TIME && *mark != ':')
		say_time(s, value->value.time_us);
	else
		say_number(s, value, *mark == ':' ? mark[1] : 0);
}

static bool
notes_is_there(const struct note_value *value)
{
	return value && value->value.known &&
	    (value->type == REPORT_TEXT || (value->value.number >= 1 && isfinite(value->value.number)));
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
		closing = strchr(c, *c == '{' ? '}' : *c == '[' ? ']' : '>');
		bar = strchr(c, '|');
		if (*c == '{')
			say_value(s, of, c + 1, closing);
		else if (*c == '[')
			say_items(s, c + 1, closing);
		else if (notes_is_there(find_value(of, c + 1, (size_t)(bar - c - 1))))
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
