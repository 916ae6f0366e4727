/*
 * The terminal as one page that is drawn again and again, for `easetop --watch`: cut to its size,
 * restored when the watching ends, however that is. Keys: q or Ctrl-C ends, others draw at once.
 */
#ifndef EASE_COLLECTOR_SCREEN_H
#define EASE_COLLECTOR_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct screen {
	int in, out;
	int signals; /* those that ask the program to end; blocked as long as the page is open */
	struct termios saved;
	sigset_t mask;
};

/* Takes over the terminal at in and out. 0, -ENOTTY if there is none, or what signalfd gave. */
int screen_open(struct screen *screen, int in, int out);

/* Lines and columns; 24 by 80 where the terminal does not say. */
void screen_size(const struct screen *screen, size_t *lines, size_t *columns);

/* Draws the lines of a text that fit, each cut to the width. 0 or -errno. */
int screen_draw(const struct screen *screen, const char *text);

/* Blocks for that long or until a key. False: end (q, Ctrl-C, the terminal is gone, or a signal
 * that asks the program to end). */
bool screen_wait(const struct screen *screen, int ms);

void screen_close(const struct screen *screen);

#endif
