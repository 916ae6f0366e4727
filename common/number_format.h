/*
 * Numbers for reading at a glance: three digits and a power of 1,000, or thousands in groups; times
 * in local time. Each function writes a NUL-terminated text of at most NUMBER_TEXT octets.
 */
#ifndef EASE_COMMON_NUMBER_FORMAT_H
#define EASE_COMMON_NUMBER_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum { NUMBER_TEXT = 64 };

struct number_scale {
	double divisor;
	char unit; /* ' ', k, M, G, T, P */
};

/* The power of 1,000 in which a value >= 0 has one to three digits before the point. */
struct number_scale number_scale(double value);

/* " 190M", "70.1M", "6.00k", "   0 ": digits right-aligned in four places, then the unit. */
void number_format(double value, struct number_scale scale, char *text);

/* " 185 ..  195M": both in one scale, whose unit stands once; aligned as by number_format. */
void number_format_range(double low, double high, struct number_scale scale, char *text);

/* "12.3us": nanoseconds in ns, us, ms or s, whichever `of`, also in nanoseconds, has one to three digits of. */
void number_format_duration(double ns, double of, char *text);

/* "190 Mb/s": for sentences. what: "b/s", "frame/s". */
void number_format_rate(double value, const char *what, char *text);

/* 41,812; one decimal if below 10 and not whole; "<0.1" for less, but more than 0. */
void number_format_count(double value, char *text);

/* "20.3%"; "<0.1%". */
void number_format_percent(double percent, char *text);

/* "99.8%": rounded down, so that only a complete range has 100 %. */
void number_format_completeness(double fraction, char *text);

/* "2026-11-21 14:05:00 +0100"; seconds only if not 0. */
void number_format_time(uint64_t time_us, bool utc, char *text);

/* "14:00-14:05 +0100", with dates unless both ends are of the day of now. */
void number_format_times(uint64_t from_us, uint64_t to_us, uint64_t now_us, bool utc, char *text);

/* The same of a range that is counted up to its end so far: "since 14:00, counted to 14:03:41 +0100". */
void number_format_counted(uint64_t from_us, uint64_t to_us, uint64_t now_us, bool utc, char *text);

/* "45 s", "12 min", "3 h", "5 days". */
void number_format_age(double seconds, char *text);

#endif
