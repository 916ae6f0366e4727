/*
 * Progress of long work: the work calls progress_go_on() several times a second, at places where it
 * can be interrupted. The caller's function shows the progress on the terminal or in the log, and
 * stops the work at a signal.
 */
#ifndef EASE_COLLECTOR_PROGRESS_H
#define EASE_COLLECTOR_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	/* done: 0 to 1. False: the work ends here, and can be continued later. NULL: never called. */
	bool (*go_on)(void *arg, const char *what, double done);
	void *arg;
};

static inline bool
progress_go_on(const struct progress *p, const char *what, double done)
{
	return !p || !p->go_on || p->go_on(p->arg, what, done);
}

/* State of the display; zeroed at first. */
struct progress_display {
	uint64_t next_us; /* monotonic */
	bool on_line;	  /* the terminal's cursor is at the end of the progress line */
};

/* Shows it every two seconds on a terminal, every ten in the log. */
void progress_show(struct progress_display *d, const char *what, double done);

/* Ends the progress line of the terminal. */
void progress_end(struct progress_display *d);

#endif
