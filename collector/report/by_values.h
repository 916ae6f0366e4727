/*
 * What --by may be, by report: one table for the reports, their help, and the description of the API.
 */
#ifndef EASE_COLLECTOR_REPORT_BY_VALUES_H
#define EASE_COLLECTOR_REPORT_BY_VALUES_H

#include "collector/query/options.h"

#include <stddef.h>

/* The default first, ended by REPORT_BY_DEFAULT; NULL: the report has none. */
const enum report_by *by_values_of(const char *report);

bool by_values_have(const char *report, enum report_by by);

/* "NAME has no --by BY; it is for OTHER, ANOTHER" */
void by_values_refuse(const char *report, enum report_by by, char *error, size_t error_size);

#endif
