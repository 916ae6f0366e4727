/*
 * CSV quoted as in RFC 4180: a line of field names, then a line a row. A figure takes three
 * fields, a rank two; what is not known is an empty field. A second table follows behind an
 * empty line. Text is what may be shown (common/utf8.h), so it holds no line's end.
 */
#include "collector/render/render.h"

#include "common/clock.h"
#include "common/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const *
column_suffixes(enum report_type type)
{
	static const char *const figure[] = {"_estimate", "_low", "_high", NULL};
	static const char *const rank[] = {"_low", "_high", NULL};
	static const char *const plain[] = {"", NULL};

	switch (type) {
	case REPORT_PKTS:
	case REPORT_OCTETS:
	case REPORT_SHARE:
	case REPORT_NS:
	case REPORT_DEPTH:
		return figure;
	case REPORT_RANK:
		return rank;
	default:
		return plain;
	}
}

/* A spreadsheet computes a cell that begins with one of these, and the text comes from devices and
 * their neighbours: an apostrophe before it makes it text. */
#define FORMULA "=+-@"

static int
render_csv_put_text(FILE *out, const char *text)
{
	char *shown = utf8_printable_copy(text);
	bool quoted;

	if (!shown)
		return -ENOMEM;
	quoted = strpbrk(shown, ",\"") != NULL;
	if (quoted)
		putc('"', out);
	if (*shown && strchr(FORMULA, *shown))
		putc('\'', out);
	for (const char *c = shown; *c; c++) {
		if (*c == '"')
			putc('"', out);
		putc(*c, out);
	}
	if (quoted)
		putc('"', out);
	free(shown);
	return 0;
}

/* An empty field is not known. */
static void
render_csv_put_quantile(FILE *out, const struct estimate_figure *figure)
{
	const double values[] = {figure->estimate, figure->low, figure->high};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		fputs(i > 0 ? "," : "", out);
		if (!isnan(values[i]))
			fprintf(out, "%.12g", values[i]);
	}
}

static int
render_csv_put_value(FILE *out, enum report_type type, const struct report_value *value)
{
	char time[CLOCK_RFC3339_MAX];

	switch (type) {
	case REPORT_TEXT:
		return render_csv_put_text(out, value->text);
	case REPORT_PKTS:
	case REPORT_OCTETS:
	case REPORT_SHARE:
		fprintf(out, "%.12g,%.12g,%.12g", value->figure.estimate, value->figure.low, value->figure.high);
		break;
	case REPORT_NS:
	case REPORT_DEPTH:
		render_csv_put_quantile(out, &value->figure);
		break;
	case REPORT_RANK:
		fprintf(out, value->rank.high == ESTIMATE_RANK_OPEN ? "%u," : "%u,%u", value->rank.low, value->rank.high);
		break;
	case REPORT_TIME:
		clock_format_rfc3339(value->time_us, time, sizeof(time));
		fputs(time, out);
		break;
	default:
		fprintf(out, "%.15g", value->number);
		break;
	}
	return 0;
}

static void
put_unknown(FILE *out, enum report_type type)
{
	for (const char *const *s = column_suffixes(type) + 1; *s; s++)
		putc(',', out);
}

static void
render_csv_put_header(FILE *out, const struct report_result *result)
{
	const char *comma = "";

	for (size_t c = 0; c < result->n_columns; c++) {
		const struct report_column *column = &result->columns[c];

		for (const char *const *s = column_suffixes(column->type); column->field && *s; s++) {
			fprintf(out, "%s%s%s", comma, column->field, *s);
			comma = ",";
		}
	}
	fputs("\n", out);
}

static int
render_csv_put_row(FILE *out, const struct report_result *result, const struct report_value *row)
{
	const char *comma = "";
	int err = 0;

	for (size_t c = 0; c < result->n_columns && err == 0; c++) {
		if (!result->columns[c].field)
			continue;
		fputs(comma, out);
		comma = ",";
		if (row[c].known)
			err = render_csv_put_value(out, result->columns[c].type, &row[c]);
		else
			put_unknown(out, result->columns[c].type);
	}
	fputs("\n", out);
	return err;
}

static int
render_csv_put_table(FILE *out, const struct report_result *result)
{
	int err = 0;

	render_csv_put_header(out, result);
	for (size_t r = 0; r < result->n_rows && err == 0; r++)
		err = render_csv_put_row(out, result, report_cell(result, r, 0));
	return err;
}

int
render_csv(FILE *out, const struct report_result *result, const struct render_options *options)
{
	int err = render_csv_put_table(out, result);

	(void)options; /* times are UTC */
	for (const struct report_result *below = result->below; below && err == 0; below = below->below) {
		putc('\n', out);
		err = render_csv_put_table(out, below);
	}
	return ferror(out) ? -EIO : err;
}
