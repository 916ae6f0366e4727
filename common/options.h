/*
 * Configuration as data. An option is one table row (option_row: getopt.h has the short name):
 * name, type, bounds, unit, default, where it goes, help. From the table come the parser (on
 * libconfuse's file syntax), the range checks, the message "FILE:LINE: NAME: reason" for the
 * first mistake, and what --print-config prints, which parses again. Sections (`sender "name" { … }`) repeat a table of their own; a section's name
 * means one table wherever it stands.
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
	size_t offset;		   /* of the member in the struct that is filled */
	uint64_t min, max;	   /* of numbers; octets of a string; max items of a list, max
				      sections; max 0: 4,095 octets, 4,096 items or sections */
	const char *unit;	   /* "ms", "octets", … or NULL */
	const char *def;	   /* default: a value's text without quotes, a list as it would
				      stand in the file ("{a, b}"); NULL: 0, "" or empty */
	const char *const *choices; /* OPTION_ENUM */
	const char *help;
	const struct option_row *section; /* OPTION_SECTION: its table, ended by a row without name */
	size_t section_size;
	size_t section_title_offset; /* of a char * that takes the section's title */
	size_t section_line_offset; /* of a uint32_t that takes the line where it ends; 0: none */
	/* Checks a value that the type alone cannot (an address, a path): NULL if good, else the
	 * reason in static storage. May be NULL. */
	const char *(*check)(const char *value);
	bool live; /* may change while the program runs, see options_reload.h */
};

/* Fills *config (zeroed by the caller) from file by the table (ended by a row without name). On a
 * mistake: -EINVAL and error holds "FILE:LINE: reason"; *config may be passed to options_free. A
 * file that cannot be read is -errno with error set. */
int options_load(const char *file, const struct option_row *table, void *config, char *error,
    size_t error_size);

/* The same from text (name stands for the file in messages). */
int options_parse(const char *name, const char *text, const struct option_row *table, void *config,
    char *error, size_t error_size);

/* Prints the effective configuration with units and help as comments; parses again. Options
 * whose name is in secret (NULL-terminated, may be NULL) print as "(hidden)" unless they are an empty text. */
void options_print(FILE *out, const struct option_row *table, const void *config,
    const char *const *secret);

void options_free(const struct option_row *table, void *config);

#endif
