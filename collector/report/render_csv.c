/*
 * CSV quoted as in RFC 4180: a line of field names, then a line a row. A figure takes three
 * fields, a rank two; what is not known is an empty field. A second table follows behind an
 * empty line.
 */
#include "collector/report/render.h"

#include "common/clock.h"

#include <errno.h>
#include <string.h>

static const char *const *
suffixes(enum report_type type)
{
	static const char *const figure[] = {"_estimate", "_low", "_high", NULL};
	static const char *const rank[] = {"_low", "_high", NULL};
	static const char *const plain[] = {"", NULL};

	switch (type) {
	case REPORT_PKTS:
	case REPORT_OCTETS:
	case REPORT_SHARE:
		return figure;
	case REPORT_RANK:
		return rank;
	default:
		return plain;
	}
}

static void
put_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void
put_value(FILE *out, enum report_type type, const struct report_value *value)
{
	char time[CLOCK_RFC3339_MAX];

	switch (type) {
	case REPORT_TEXT:
		put_text(out, value->text);
		break;
	case REPORT_PKTS:
	case REPORT_OCTETS:
	case REPORT_SHARE:
		fprintf(out, "%.12g,%.12g,%.12g", value->figure.estimate, value->figure.low,
		    value->figure.high);
		break;
	case REPORT_RANK:
		fprintf(out, "%u,%u", value->rank.low, value->rank.high);
		break;
	case REPORT_TIME:
		clock_format_rfc3339(value->time_us, time, sizeof(time));
		fputs(time, out);
		break;
	default:
		fprintf(out, "%.15g", value->number);
		break;
	}
}

static void
put_unknown(FILE *out, enum report_type type)
{
	for (const char *const *s = suffixes(type) + 1; *s; s++)
		putc(',', out);
}

static void
put_header(FILE *out, const struct report_result *result)
{
	const char *comma = "";

	for (size_t c = 0; c < result->n_columns; c++) {
		const struct report_column *column = &result->columns[c];

		for (const char *const *s = suffixes(column->type); column->field && *s; s++) {
			fprintf(out, "%s%s%s", comma, column->field, *s);
			comma = ",";
		}
	}
	fputs("\n", out);
}

static void
put_row(FILE *out, const struct report_result *result, const struct report_value *row)
{
	const char *comma = "";

	for (size_t c = 0; c < result->n_columns; c++) {
		if (!result->columns[c].field)
			continue;
		fputs(comma, out);
		comma = ",";
		if (row[c].known)
			put_value(out, result->columns[c].type, &row[c]);
		else
			put_unknown(out, result->columns[c].type);
	}
	fputs("\n", out);
}

static void
put_table(FILE *out, const struct report_result *result)
{
	put_header(out, result);
	for (size_t r = 0; r < result->n_rows; r++)
		put_row(out, result, report_cell(result, r, 0));
}

int
render_csv(FILE *out, const struct report_result *result, const struct render_options *options)
{
	(void)options; /* times are UTC */
	put_table(out, result);
	if (result->below) {
		putc('\n', out);
		put_table(out, result->below);
	}
	return ferror(out) ? -EIO : 0;
}
