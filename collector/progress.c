#include "collector/progress.h"
#include "common/clock.h"
#include "common/log.h"

#include <stdio.h>
#include <unistd.h>

enum { TERMINAL_EVERY_S = 2, LOG_EVERY_S = 10 };

void
progress_show(struct progress_display *d, const char *what, double done)
{
	uint64_t now_us = clock_mono_us(&clock_system); /* an import has another clock */
	bool terminal = isatty(STDERR_FILENO);
	unsigned every_s = terminal ? TERMINAL_EVERY_S : LOG_EVERY_S;

	if (d->next_us == 0)
		d->next_us = now_us + every_s * 1000000ull;
	if (now_us < d->next_us)
		return;
	d->next_us = now_us + every_s * 1000000ull;
	if (!terminal) {
		log_info("easecapd", "%s: %.0f %%", what, 100 * done);
		return;
	}
	fprintf(stderr, "\r%s: %.0f %% ", what, 100 * done);
	d->on_line = true;
}

void
progress_end(struct progress_display *d)
{
	if (d->on_line)
		fputc('\n', stderr);
	d->on_line = false;
}
