/*
 * Functions with which the reports fill a result: header, rows and cells. Used by the report files of this room only.
 */
#ifndef EASE_COLLECTOR_REPORT_RESULT_H
#define EASE_COLLECTOR_REPORT_RESULT_H

#include "collector/query/query.h"
#include "collector/report/notes.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Sets name, columns, range and scope. */
void result_begin(struct report_result *result, const char *report,
    const struct report_column *columns, size_t n_columns, const struct query *query);

/* Adds one port to the header: its samples and the totals of its received frames, counted or by samples alone. */
void result_count_port(struct report_result *result, const struct query_port *port);

/* Adds the port to those that a note names; NULL: it is not named. */
struct note_values *result_note_port(struct report_result *result, enum note_id id, const struct query_port *port);

/* Says that samples divided counters at the ports that the note names, or forgets it: part is the total's deviation. */
void result_judge_divided(struct report_result *result, enum note_id id, double part);

/* Whether it has samples of received frames and no counters in the range. */
bool port_is_uncounted(const struct query_port *port);

/* After all ports: sets the seconds covered and whether the range is empty, and notes what qualifies the figures. */
void result_finish(struct report_result *result, const struct query *query);

/* Hides the agent's column in text if all ports asked for are of one agent, and the site's, where that stands before
 * it, if they are at one site. */
void result_hide_agent(struct report_result *result, const struct query *query, unsigned column);

/* Adds the second table, still without rows. 0 or -ENOMEM. */
int result_add_below(struct report_result *result, const char *name,
    const struct report_column *columns, size_t n_columns);

/* A new row of unknown cells, valid until the next call; NULL without memory. */
struct report_value *result_add_row(struct report_result *result);

/* Says that so many rows are not there. */
void result_leave_out(struct report_result *result, size_t n);

/* Drops all rows but the first n_rows; returns how many. */
size_t result_cut(struct report_result *result, size_t n_rows);

/* Canonical text of a MAC, IPv4 or IPv6 address (6, 4 or 16 octets). */
void result_format_address(size_t n_octets, const uint8_t *octets, char text[FRAME_IP_TEXT]);

struct report_value cell_text(const char *text); /* "" is an unknown cell */
struct report_value cell_site(const char *site);  /* NULL: unknown */
struct report_value cell_label(const char *text); /* "" is a known, empty text */
/* False if there was no memory for the text of a cell. */
bool result_is_whole(const struct report_result *result);
struct report_value cell_figure(struct estimate_figure figure);

/* Whether its link is down. */
bool port_is_down(const struct query_port *port);

/* received / expected as a number 0..1; unknown if nothing was expected. */
struct report_value cell_completeness(uint64_t received, uint64_t expected);

#endif
