/*
 * Notes of a result: what a report remarks on its figures, as values. sentences.h says each in words. Reports add
 * notes, renderers say them.
 *
 * What cannot be added for want of memory makes the result fail as a whole (report_run gives -ENOMEM), so nobody asks
 * for errors here. Names of values are static; texts are copied.
 */
#ifndef EASE_COLLECTOR_REPORT_NOTES_H
#define EASE_COLLECTOR_REPORT_NOTES_H

#include "collector/report/report.h"
#include "collector/report/sentences.h"

/* HINT: about the command, nothing that qualifies a figure. */
enum note_severity { NOTE_HINT, NOTE_CAUTION, NOTE_WARNING };
enum note_shape { NOTE_APART, NOTE_MEMBERS, NOTE_OBJECT, NOTE_INNER, NOTE_LIST };

enum note_id {
#define S(id, name, severity, shape, key, items, sentence) NOTE_ID_##id,
	SENTENCES_ABOVE(S)
	NOTE_N_ABOVE, /* text has these above the rows */
	NOTE_BEFORE_BELOW = NOTE_N_ABOVE - 1,
	SENTENCES_BELOW(S)
#undef S
	NOTE_N_IDS,
};

struct note_kind {
	const char *name;
	enum note_severity severity;
	enum note_shape shape;
	const char *key, *items, *sentence;
};
extern const struct note_kind note_kinds[NOTE_N_IDS];

enum { NOTE_VALUES = 9, NOTE_ITEMS = 8 };
struct note_values {
	size_t n;
	struct note_value {
		const char *name;
		enum report_type type;
		struct report_value value;
	} values[NOTE_VALUES];
};
struct report_note {
	enum note_id id;
	struct note_values of_all;
	size_t n_items; /* the things that it is of; the first NOTE_ITEMS are named */
	struct note_values items[NOTE_ITEMS];
};

/* The values of the note of that id, which is added if there is none; note_new adds one in any case. note_item: of one
 * more thing. NULL: it is not named, or there was no memory. */
struct note_values *note_of(struct report_result *result, enum note_id id);
struct note_values *note_new(struct report_result *result, enum note_id id);
struct note_values *note_item(struct report_result *result, enum note_id id);

struct report_value cell_number(double number); /* NAN: unknown */
struct report_value cell_time(uint64_t time_us); /* 0: unknown */

/* Sets a value, in place of one of that name; of NULL nothing. The texts "" and NULL are unknown. */
void note_set(struct note_values *of, const char *name, enum report_type type, struct report_value value);
#define note_count(of, name, number) note_set(of, name, REPORT_COUNT, cell_number((double)(number)))
#define note_time(of, name, time_us) note_set(of, name, REPORT_TIME, cell_time(time_us))
void note_text(struct note_values *of, const char *name, const char *text);

/* NULL: there is none. */
struct report_note *note_find(const struct report_result *result, enum note_id id);
/* A number of a note of this id; 0 if there is none. */
double note_number_of(const struct report_result *result, enum note_id id, const char *name);
/* Removes them; moves those of another result here. */
void note_drop(struct report_result *result, enum note_id id);
void note_take(struct report_result *result, struct report_result *from, enum note_id id);
void notes_free(struct report_result *result);
/* Whether there was memory for all of them. */
bool notes_are_whole(const struct report_result *result);

/* The sentence, which the caller frees: "" where it says nothing, NULL without memory. options: of the reader of text;
 * NULL: for programs, where times are as in RFC 3339 and no option of a command is named. */
char *note_say(const struct report_result *result, const struct report_note *note,
    const struct render_options *options);

#endif
