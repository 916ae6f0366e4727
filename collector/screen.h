/*
 * Draws text on the whole terminal repeatedly, for `easetop --watch`: cut to the terminal's size.
 * The former content is restored at the end, also after a signal. q or Ctrl-C ends, any other key
 * draws at once.
 */
#ifndef EASE_COLLECTOR_SCREEN_H
#define EASE_COLLECTOR_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct screen {
	int in, out;
	int signals; /* signalfd of those that end the program; blocked while the screen is open */
	struct termios saved;
	sigset_t mask;
};

/* Takes over the terminal at in and out. 0, -ENOTTY if there is none, or the error of signalfd. */
int screen_open(struct screen *screen, int in, int out);

/* Lines and columns; 24 by 80 if the terminal does not tell. */
void screen_size(const struct screen *screen, size_t *lines, size_t *columns);

/* Draws the lines of a text that fit, each cut to the width. 0 or -errno. */
int screen_draw(const struct screen *screen, const char *text);

/* Waits that long or until a key is pressed. False: end, because of q, Ctrl-C, a closed terminal,
 * or a signal that asks the program to end. */
bool screen_wait(const struct screen *screen, int ms);

void screen_close(const struct screen *screen);

#endif
