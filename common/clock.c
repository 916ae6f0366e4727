#include "common/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { US_PER_S = 1000000 };

const struct clock clock_system = {.manual = false};

static uint64_t
read_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * US_PER_S + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t
clock_wall_us(const struct clock *c)
{
	return c->manual ? __atomic_load_n(&c->manual_wall_us, __ATOMIC_RELAXED)
			 : read_us(CLOCK_REALTIME);
}

uint64_t
clock_mono_us(const struct clock *c)
{
	return c->manual ? __atomic_load_n(&c->manual_mono_us, __ATOMIC_RELAXED)
			 : read_us(CLOCK_MONOTONIC);
}

void
clock_step_us(struct clock *c, uint64_t us)
{
	__atomic_fetch_add(&c->manual_wall_us, us, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->manual_mono_us, us, __ATOMIC_RELAXED);
}

static void
format_rfc3339(uint64_t wall_us, int digits, unsigned fraction, char *text, size_t size)
{
	time_t seconds = (time_t)(wall_us / US_PER_S);
	char date[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(text, size, "%llu us", (unsigned long long)wall_us);
	else if (digits)
		snprintf(text, size, "%s.%0*uZ", date, digits, fraction);
	else
		snprintf(text, size, "%sZ", date);
}

void
clock_format_rfc3339(uint64_t wall_us, char *text, size_t size)
{
	unsigned fraction = (unsigned)(wall_us % US_PER_S);
	int digits = fraction ? 6 : 0;

	for (; fraction && fraction % 10 == 0; digits--)
		fraction /= 10;
	format_rfc3339(wall_us, digits, fraction, text, size);
}

void
clock_format_rfc3339_us(uint64_t wall_us, char *text, size_t size)
{
	format_rfc3339(wall_us, 6, (unsigned)(wall_us % US_PER_S), text, size);
}

/* Takes exactly n decimal digits within low..high. */
static bool
clock_take_number(const char **p, int n, int low, int high, int *value)
{
	int v = 0;

	for (int i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		v = v * 10 + (**p - '0');
	}
	*value = v;
	return v >= low && v <= high;
}

static bool
take_char(const char **p, const char *any_of)
{
	for (; *any_of; any_of++) {
		if (**p == *any_of) {
			(*p)++;
			return true;
		}
	}
	return false;
}

static bool
take_date(const char **p, struct tm *tm)
{
	static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year, month, day;
	bool leap;

	/* Times are unsigned from 1970 on. */
	if (!clock_take_number(p, 4, 1970, 9999, &year) || !take_char(p, "-") ||
	    !clock_take_number(p, 2, 1, 12, &month) || !take_char(p, "-") ||
	    !clock_take_number(p, 2, 1, 31, &day))
		return false;
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	tm->tm_mday = day;
	return day <= month_days[month - 1] + (leap && month == 2);
}

/* ".5", ".123456789": digits beyond the microsecond are cut off. */
static bool
take_fraction(const char **p, uint32_t *us)
{
	uint32_t unit = US_PER_S / 10;

	*us = 0;
	if (!take_char(p, "."))
		return true;
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++, unit /= 10)
		*us += unit * (uint32_t)(**p - '0');
	return true;
}

/* The leap second :60 counts as the first second of the next minute, as in POSIX time. */
static bool
take_time(const char **p, struct tm *tm, uint32_t *us)
{
	return clock_take_number(p, 2, 0, 23, &tm->tm_hour) && take_char(p, ":") &&
	    clock_take_number(p, 2, 0, 59, &tm->tm_min) && take_char(p, ":") &&
	    clock_take_number(p, 2, 0, 60, &tm->tm_sec) && take_fraction(p, us);
}

static bool
take_offset(const char **p, int64_t *offset_s)
{
	int hours, minutes, sign;

	*offset_s = 0;
	if (take_char(p, "Zz"))
		return true;
	sign = **p == '-' ? -1 : 1;
	if (!take_char(p, "+-") || !clock_take_number(p, 2, 0, 23, &hours) || !take_char(p, ":") ||
	    !clock_take_number(p, 2, 0, 59, &minutes))
		return false;
	*offset_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

int
clock_parse_rfc3339(const char *text, uint64_t *wall_us)
{
	struct tm tm = {0};
	int64_t offset_s = 0, seconds;
	uint32_t us = 0;

	if (!take_date(&text, &tm))
		return -EINVAL;
	if (*text && (!take_char(&text, "Tt ") || !take_time(&text, &tm, &us) ||
			     !take_offset(&text, &offset_s)))
		return -EINVAL;
	seconds = (int64_t)timegm(&tm) - offset_s;
	if (*text || seconds < 0)
		return -EINVAL;
	*wall_us = (uint64_t)seconds * US_PER_S + us;
	return 0;
}
