#include "collector/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* ECMA-48, and xterm's alternate screen, so that the former content comes back at the end. */
#define SECOND_PAGE  "\033[?1049h\033[?25l"
#define FIRST_PAGE   "\033[?25h\033[?1049l"
#define HOME	     "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_BELOW  "\033[J"

enum { CTRL_C = 3, LINES = 24, COLUMNS = 80 };

static int
put_on_screen(int fd, const char *octets, size_t n)
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

static int
catch_signals(struct screen *screen)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGINT);
	screen->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &ends, &screen->mask);
	return 0;
}

int
screen_open(struct screen *screen, int in, int out)
{
	struct termios raw;
	int err;

	*screen = (struct screen){.in = in, .out = out};
	if (!isatty(out) || tcgetattr(in, &screen->saved) < 0)
		return -ENOTTY;
	err = catch_signals(screen);
	if (err)
		return err;
	raw = screen->saved;
	raw.c_lflag &= (tcflag_t)~(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(in, TCSANOW, &raw);
	err = put_on_screen(out, SECOND_PAGE, strlen(SECOND_PAGE));
	if (err)
		screen_close(screen);
	return err;
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

/* Number of octets that fill at most so many columns; continuation octets of UTF-8 fill none. */
static size_t
cut_line(const char *line, size_t n, size_t columns)
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

		fprintf(out, "%s%.*s" CLEAR_LINE, i > 0 ? "\r\n" : "", (int)cut_line(text, n, columns), text);
		text += n + (text[n] == '\n');
	}
	fputs(CLEAR_BELOW, out);
	if (fclose(out) != 0)
		return -ENOMEM;
	err = put_on_screen(screen->out, page, octets);
	free(page);
	return err;
}

bool
screen_wait(const struct screen *screen, int ms)
{
	struct pollfd fds[] = {{.fd = screen->in, .events = POLLIN},
		{.fd = screen->signals, .events = POLLIN}};
	char key;

	if (poll(fds, 2, ms) < 0)
		return errno == EINTR;
	if (fds[1].revents)
		return false;
	if (!fds[0].revents)
		return true;
	return read(screen->in, &key, 1) == 1 && key != 'q' && key != CTRL_C;
}

void
screen_close(const struct screen *screen)
{
	struct signalfd_siginfo taken;

	put_on_screen(screen->out, FIRST_PAGE, strlen(FIRST_PAGE));
	tcsetattr(screen->in, TCSANOW, &screen->saved);
	while (read(screen->signals, &taken, sizeof(taken)) > 0)
		; /* screen_wait has acted on it */
	close(screen->signals);
	sigprocmask(SIG_SETMASK, &screen->mask, NULL);
}
