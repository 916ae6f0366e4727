/*
 * Work that takes long says how far it is and asks whether to go on: whoever does it calls
 * progress_go_on() at places where it can end without harm, some times a second or more often.
 * Whoever started it shows that on the terminal or in the log, and stops it at a signal.
 */
#ifndef EASE_COLLECTOR_PROGRESS_H
#define EASE_COLLECTOR_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	/* done: 0 to 1. False: end the work where it can go on later. NULL: never asked. */
	bool (*go_on)(void *arg, const char *what, double done);
	void *arg;
};

static inline bool
progress_go_on(const struct progress *p, const char *what, double done)
{
	return !p || !p->go_on || p->go_on(p->arg, what, done);
}

/* What has been shown so far; zeroed at first. */
struct progress_display {
	uint64_t next_us; /* monotonic */
	bool on_line;	  /* the terminal's cursor stands behind it */
};

/* Shows it every two seconds on a terminal, every ten in the log. */
void progress_show(struct progress_display *d, const char *what, double done);

/* Leaves the terminal's line. */
void progress_end(struct progress_display *d);

#endif
