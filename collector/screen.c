#include "collector/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ECMA-48, and xterm's second page, so that what stood there before comes back. */
#define SECOND_PAGE  "\033[?1049h\033[?25l"
#define FIRST_PAGE   "\033[?25h\033[?1049l"
#define HOME	     "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"

enum { CTRL_C = 3, LINES = 24, COLUMNS = 80 };

static volatile sig_atomic_t asked_to_end;

static void
end(int signal)
{
	(void)signal;
	asked_to_end = 1;
}

static int
put(int fd, const char *octets, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, octets, n);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			octets += written;
			n -= (size_t)written;
		}
	}
	return 0;
}

int
screen_open(struct screen *screen, int in, int out)
{
	struct sigaction action = {.sa_handler = end}; /* no SA_RESTART: poll() is to return */
	struct termios raw;

	*screen = (struct screen){.in = in, .out = out};
	if (!isatty(out) || tcgetattr(in, &screen->saved) < 0)
		return -ENOTTY;
	raw = screen->saved;
	raw.c_lflag &= (tcflag_t)~(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(in, TCSANOW, &raw) < 0)
		return -ENOTTY;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	return put(out, SECOND_PAGE, strlen(SECOND_PAGE));
}

void
screen_size(const struct screen *screen, size_t *lines, size_t *columns)
{
	struct winsize size = {0};

	if (ioctl(screen->out, TIOCGWINSZ, &size) < 0 || size.ws_row == 0 || size.ws_col == 0)
		size = (struct winsize){.ws_row = LINES, .ws_col = COLUMNS};
	*lines = size.ws_row;
	*columns = size.ws_col;
}

/* Octets of a line that fill at most so many columns; continuation octets of UTF-8 take none. */
static size_t
cut(const char *line, size_t n, size_t columns)
{
	size_t i = 0;

	for (; i < n; i++)
		if (((unsigned char)line[i] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return i;
}

int
screen_draw(const struct screen *screen, const char *text)
{
	size_t lines, columns, octets;
	char *page;
	FILE *out = open_memstream(&page, &octets);
	int err;

	if (!out)
		return -ENOMEM;
	screen_size(screen, &lines, &columns);
	fputs(HOME, out);
	for (size_t i = 0; i < lines && *text; i++) {
		size_t n = strcspn(text, "\n");

		fprintf(out, "%s%.*s" CLEAR_LINE, i > 0 ? "\r\n" : "", (int)cut(text, n, columns), text);
		text += n + (text[n] == '\n');
	}
	fputs(CLEAR_BELOW, out);
	if (fclose(out) != 0)
		return -ENOMEM;
	err = put(screen->out, page, octets);
	free(page);
	return err;
}

bool
screen_wait(const struct screen *screen, int ms)
{
	struct pollfd fd = {.fd = screen->in, .events = POLLIN};
	char key;

	if (asked_to_end || (poll(&fd, 1, ms) < 0 && errno != EINTR))
		return false;
	if (asked_to_end)
		return false;
	if (!(fd.revents & (POLLIN | POLLHUP | POLLERR)))
		return true;
	return read(screen->in, &key, 1) == 1 && key != 'q' && key != CTRL_C;
}

void
screen_close(const struct screen *screen)
{
	put(screen->out, FIRST_PAGE, strlen(FIRST_PAGE));
	tcsetattr(screen->in, TCSANOW, &screen->saved);
}
