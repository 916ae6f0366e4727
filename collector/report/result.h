/*
 * What the reports share when they fill a result: rows and cells, the header, and who counts.
 * Used by the report files of this room only.
 */
#ifndef EASE_COLLECTOR_REPORT_RESULT_H
#define EASE_COLLECTOR_REPORT_RESULT_H

#include "collector/report/query.h"
#include "collector/report/report.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Name, columns, range, scope. */
void result_begin(struct report_result *result, const char *report,
    const struct report_column *columns, size_t n_columns, const struct query *query);

/* Header sums of one port: samples, counted totals of received frames. */
void result_count_port(struct report_result *result, const struct query_port *port);

/* After all ports: seconds covered, and whether the range is empty. */
void result_finish(struct report_result *result, const struct query *query);

/* Leaves the agent's column out of the text if all ports asked for are of one agent. */
void result_hide_agent(struct report_result *result, const struct query *query, unsigned column);

/* Makes the second table, still without rows. 0 or -ENOMEM. */
int result_add_below(struct report_result *result, const char *name,
    const struct report_column *columns, size_t n_columns);

/* A new row of unknown cells, valid until the next call; NULL without memory. */
struct report_value *result_add_row(struct report_result *result);

/* Keeps the first rows. */
void result_cut(struct report_result *result, size_t n_rows);

/* Canonical text of a MAC, IPv4 or IPv6 address (6, 4 or 16 octets). */
void result_format_address(size_t n_octets, const uint8_t *octets, char text[FRAME_IP_TEXT]);

struct report_value cell_text(const char *text); /* "": unknown */
struct report_value cell_label(const char *text); /* "": known to be none */
/* False: for some text that is known there was no memory. */
bool result_is_whole(const struct report_result *result);
struct report_value cell_number(double number);
struct report_value cell_time(uint64_t time_us);
struct report_value cell_figure(struct estimate_figure figure);

/* Whether a received frame of this port counts in talkers and matrix: a frame that crosses several
 * switches is received by one edge port only, so a report over all agents takes those; one that
 * names an agent or a port takes what it names. */
bool port_is_counted(const struct report_options *options, const struct query_port *port);

/* received / expected as a number 0..1; unknown if nothing was expected. */
struct report_value cell_completeness(uint64_t received, uint64_t expected);

#endif
