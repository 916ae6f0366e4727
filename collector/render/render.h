/*
 * Results as text for people, JSON and CSV for programs. A renderer uses only the types of columns,
 * so all reports look alike; it never reads the store.
 */
#ifndef EASE_COLLECTOR_RENDER_RENDER_H
#define EASE_COLLECTOR_RENDER_RENDER_H

#include "collector/report/report.h"

#include <stdio.h>

/* Each writes a whole result. 0, -ENOMEM, or -EIO if out failed. */
typedef int render_fn(FILE *out, const struct report_result *result, const struct render_options *options);
render_fn render_text, render_json, render_csv;

/* The rows of a matrix as a grid of addresses: part of render_text. */
render_fn render_grid;

#endif
