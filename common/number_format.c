#include "common/number_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct number_scale
number_scale(double value)
{
	static const char units[] = " kMGTP";
	struct number_scale scale = {1, ' '};

	for (const char *unit = units + 1; *unit && value / scale.divisor >= 999.5; unit++)
		scale = (struct number_scale){scale.divisor * 1000, *unit};
	return scale;
}

/* Three digits, or fewer if the value is small beside its scale. */
static void
format_digits(double value, char *text)
{
	if (value <= 0)
		strcpy(text, "0");
	else if (value >= 99.95)
		snprintf(text, NUMBER_TEXT, "%.0f", value);
	else if (value >= 9.995)
		snprintf(text, NUMBER_TEXT, "%.1f", value);
	else
		snprintf(text, NUMBER_TEXT, "%.2f", value);
}

void
number_format(double value, struct number_scale scale, char *text)
{
	char digits[NUMBER_TEXT];

	format_digits(value / scale.divisor, digits);
	snprintf(text, NUMBER_TEXT, "%4.50s%c", digits, scale.unit);
}

void
number_format_range(double low, double high, struct number_scale scale, char *text)
{
	char low_text[NUMBER_TEXT], high_text[NUMBER_TEXT];

	format_digits(low / scale.divisor, low_text);
	number_format(high, scale, high_text);
	snprintf(text, NUMBER_TEXT, "%4.24s .. %.24s", low_text, high_text);
}

void
number_format_duration(double ns, double of, char *text)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double divisor = 1;
	size_t unit = 0;
	char digits[NUMBER_TEXT];

	for (; unit < 3 && of / divisor >= 999.5; unit++)
		divisor *= 1000;
	format_digits(ns / divisor, digits);
	snprintf(text, NUMBER_TEXT, "%.50s%s", digits, units[unit]);
}

void
number_format_rate(double value, const char *what, char *text)
{
	struct number_scale scale = number_scale(value);
	char digits[NUMBER_TEXT];

	format_digits(value / scale.divisor, digits);
	if (scale.unit == ' ')
		snprintf(text, NUMBER_TEXT, "%.30s %s", digits, what);
	else
		snprintf(text, NUMBER_TEXT, "%.30s %c%s", digits, scale.unit, what);
}

void
number_format_count(double value, char *text)
{
	char digits[NUMBER_TEXT];
	size_t len, out = 0;

	if (value > 0 && value < 0.05) {
		strcpy(text, "<0.1");
		return;
	}
	if (value < 9.95 && fabs(value - round(value)) >= 0.05) {
		snprintf(text, NUMBER_TEXT, "%.1f", value);
		return;
	}
	snprintf(digits, 24, "%.0f", fmin(value, 1e20));
	len = strlen(digits);
	for (size_t i = 0; i < len; i++) {
		if (i > (digits[0] == '-') && (len - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = digits[i];
	}
	text[out] = '\0';
}

void
number_format_percent(double percent, char *text)
{
	if (percent > 0 && percent < 0.05)
		strcpy(text, "<0.1%");
	else
		snprintf(text, NUMBER_TEXT, "%.1f%%", percent);
}

void
number_format_completeness(double fraction, char *text)
{
	if (fraction >= 1)
		strcpy(text, "100%");
	else
		snprintf(text, NUMBER_TEXT, "%.1f%%", floor(fraction * 1000 + 1e-9) / 10);
}

static struct tm
broken_down(uint64_t time_us, bool utc)
{
	time_t seconds = (time_t)(time_us / 1000000);
	struct tm tm = {0};

	if (utc)
		gmtime_r(&seconds, &tm);
	else
		localtime_r(&seconds, &tm);
	return tm;
}

static void
format_clock(const struct tm *tm, bool with_date, char *text)
{
	char date[16] = "", clock[16];

	if (with_date)
		strftime(date, sizeof(date), "%Y-%m-%d ", tm);
	strftime(clock, sizeof(clock), tm->tm_sec ? "%H:%M:%S" : "%H:%M", tm);
	snprintf(text, NUMBER_TEXT, "%s%s", date, clock);
}

void
number_format_time(uint64_t time_us, bool utc, char *text)
{
	struct tm tm = broken_down(time_us, utc);
	char clock[NUMBER_TEXT], zone[8];

	format_clock(&tm, true, clock);
	strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(text, NUMBER_TEXT, "%.40s %s", clock, zone);
}

static bool
same_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_yday == b->tm_yday;
}

static void
format_ends(uint64_t from_us, uint64_t to_us, uint64_t now_us, bool utc, bool counted, char *text)
{
	struct tm from = broken_down(from_us, utc), to = broken_down(to_us, utc);
	struct tm now = broken_down(now_us, utc);
	bool one_day = same_day(&from, &to), today = one_day && same_day(&to, &now);
	char first[NUMBER_TEXT], last[NUMBER_TEXT], zone[8];

	format_clock(&from, !today, first);
	format_clock(&to, !one_day, last);
	strftime(zone, sizeof(zone), "%z", &to);
	if (counted)
		snprintf(text, NUMBER_TEXT, "since %.19s, counted to %.19s %.5s", first, last, zone);
	else
		snprintf(text, NUMBER_TEXT, one_day ? "%.20s-%.20s %s" : "%.20s - %.20s %s", first, last, zone);
}

void
number_format_times(uint64_t from_us, uint64_t to_us, uint64_t now_us, bool utc, char *text)
{
	format_ends(from_us, to_us, now_us, utc, false, text);
}

void
number_format_counted(uint64_t from_us, uint64_t to_us, uint64_t now_us, bool utc, char *text)
{
	format_ends(from_us, to_us, now_us, utc, true, text);
}

void
number_format_age(double seconds, char *text)
{
	if (seconds < 120)
		snprintf(text, NUMBER_TEXT, "%.0f s", fmax(0, seconds));
	else if (seconds < 7200)
		snprintf(text, NUMBER_TEXT, "%.0f min", floor(seconds / 60));
	else if (seconds < 172800)
		snprintf(text, NUMBER_TEXT, "%.0f h", floor(seconds / 3600));
	else
		snprintf(text, NUMBER_TEXT, "%.0f days", floor(seconds / 86400));
}
