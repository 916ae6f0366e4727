/*
 * Configuration as data. Each option is one row of a table: name, type, bounds, unit, default,
 * member of the struct to fill, help. The table drives the parser (on libconfuse's file syntax),
 * the range checks, the message "FILE:LINE: NAME: reason" for the first mistake, and the output of
 * --print-config, which can be parsed again. A section (`user "name" { … }`) has a table of its
 * own; a section's name stands for the same table at every depth. What is written is what is meant:
 * "${", which libconfuse would replace by a variable of the environment, is a mistake.
 *
 * The row's type is struct option_row because <getopt.h> already has a struct option.
 */
#ifndef EASE_COMMON_OPTIONS_H
#define EASE_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
	OPTION_BOOL,   /* bool */
	OPTION_U32,    /* uint32_t within min..max */
	OPTION_U64,    /* uint64_t within min..max */
	OPTION_STRING, /* char *, owned by the struct; freed by options_free */
	OPTION_ENUM,   /* int, an index into the NULL-terminated choices */
	OPTION_LIST,   /* struct option_list of strings */
	OPTION_SECTION, /* struct option_sections of `section` structs, in file order */
	OPTION_GROUP,	/* in the file a list of "WORD NUMBER", each the value of a row of this group: `keep = {"1h 92d"}` */
};

struct option_list {
	char **items; /* owned */
	size_t n;
};

struct option_sections {
	void *items; /* n structs of section_size, owned */
	size_t n;
};

struct option_row {
	const char *name;
	enum option_type type;
	size_t offset;		   /* of the member to fill */
	uint64_t min, max;	   /* of a number; octets of a string; max: items of a list, or
				      sections; max 0: 4,095 octets, 4,096 items or sections */
	const char *unit;	   /* "ms", "octets", … or NULL */
	const char *def;	   /* default: a value's text without quotes; a list as in the
				      file ("{a, b}"); NULL: 0, "" or empty */
	const char *const *choices; /* OPTION_ENUM */
	const char *help;
	/* A number in hours (unit "h") or days ("d") that an OPTION_GROUP row behind it sets, too: of group "keep" the word
	 * of "keep_1h" is "1h". Under its own name it can still be set, but it is printed as one of its group. */
	const char *group;
	const struct option_row *section; /* OPTION_SECTION: its table; the last row has no name */
	size_t section_size;
	size_t section_title_offset; /* of a char * for the section's title */
	size_t section_line_offset; /* of a uint32_t for the line where it ends; 0: none */
	/* Checks what the type alone cannot (an address, a path). Returns NULL if the value is
	 * good, else the reason in static storage. May be NULL. */
	const char *(*check)(const char *value);
	bool live; /* takes effect at a reload (options_reload.h), without a restart */
	bool expert; /* printed behind all others: hardly anybody needs it */
	bool secret; /* neither messages nor options_print show its value */
};

/* Fills *config (zeroed by the caller) from the file. The table's last row has no name. A mistake
 * in the file returns -EINVAL and sets error to "FILE:LINE: reason"; a file that cannot be read
 * returns -errno and sets error. In each case *config may be passed to options_free. */
int options_load(const char *file, const struct option_row *table, void *config, char *error,
    size_t error_size);

/* The same from a text; messages call it by name. */
int options_parse(const char *name, const char *text, const struct option_row *table, void *config,
    char *error, size_t error_size);

/* The line of file on which the option (not one of a section) gets its value; 0: on none, so its
 * default holds. For messages about a value that proved wrong only when it was used. */
unsigned options_line(const char *file, const char *name);

/* Prints the configuration in force, with units and help as comments, in a form that options_parse
 * reads. Secrets are printed as "(hidden)", unless they are empty. */
void options_print(FILE *out, const struct option_row *table, const void *config);

/* Whether one of them is set. False without memory. */
bool options_have_secret(const struct option_row *table, const void *config);

void options_free(const struct option_row *table, void *config);

#endif
