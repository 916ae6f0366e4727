/*
 * The page of --watch on a pseudo terminal: what is drawn, what ends it, and that the terminal is
 * afterwards as it was.
 */
#include "tests/suite.h"

#include "collector/screen.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int user, terminal; /* the user's end, and the program's */
static struct screen screen;

static void
setup(void)
{
	struct winsize size = {.ws_row = 3, .ws_col = 5};

	ck_assert_int_eq(openpty(&user, &terminal, NULL, NULL, &size), 0);
	ck_assert_int_eq(screen_open(&screen, terminal, terminal), 0);
}

static void
teardown(void)
{
	close(user);
	close(terminal);
}

/* What is drawn, up to the text it ends with: a terminal hands over in pieces. */
static const char *
drawn_until(const char *end)
{
	static char text[4096];
	size_t octets = 0;

	do {
		ssize_t n = read(user, text + octets, sizeof(text) - 1 - octets);

		ck_assert_int_gt(n, 0);
		octets += (size_t)n;
		text[octets] = '\0';
	} while (!strstr(text, end));
	return text;
}

START_TEST(lines_are_cut_to_the_terminal)
{
	const char *text;

	ck_assert_int_eq(screen_draw(&screen, "1234567\nab\n"
	    "c\303\266\303\266\303\266\303\266\303\266\nleft out\n"), 0);
	text = drawn_until("\033[J");
	ck_assert_ptr_nonnull(strstr(text, "12345\033[K"));
	ck_assert_ptr_null(strstr(text, "56"));
	ck_assert_ptr_nonnull(strstr(text, "ab\033[K"));
	/* five columns of UTF-8 are nine octets, and none is cut in two */
	ck_assert_ptr_nonnull(strstr(text, "c\303\266\303\266\303\266\303\266\033[K\033[J"));
	ck_assert_ptr_null(strstr(text, "left"));
}
END_TEST

START_TEST(keys)
{
	ck_assert(screen_wait(&screen, 0)); /* time is over */
	ck_assert_int_eq(write(user, " ", 1), 1);
	ck_assert(screen_wait(&screen, 60000)); /* at once */
	ck_assert_int_eq(write(user, "q", 1), 1);
	ck_assert(!screen_wait(&screen, 60000));
	ck_assert_int_eq(write(user, "\003", 1), 1);
	ck_assert(!screen_wait(&screen, 60000));
}
END_TEST

START_TEST(a_signal_ends_it)
{
	raise(SIGTERM);
	ck_assert(!screen_wait(&screen, 60000));
	screen_close(&screen); /* which leaves no signal behind */
}
END_TEST

START_TEST(a_terminal_that_is_gone_ends_it)
{
	signal(SIGHUP, SIG_IGN);
	close(user);
	ck_assert(!screen_wait(&screen, 60000));
	user = open("/dev/null", O_RDONLY);
}
END_TEST

START_TEST(the_terminal_is_as_it_was)
{
	struct termios now;

	ck_assert_int_eq(tcgetattr(terminal, &now), 0);
	ck_assert(!(now.c_lflag & (ECHO | ICANON)));
	screen_close(&screen);
	ck_assert_int_eq(tcgetattr(terminal, &now), 0);
	ck_assert(now.c_lflag & ECHO && now.c_lflag & ICANON);
	drawn_until("\033[?1049l");
}
END_TEST

START_TEST(no_terminal_is_refused)
{
	int fds[2];
	struct screen none;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(screen_open(&none, fds[0], fds[1]), -ENOTTY);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("screen");
	TCase *tc = tcase_create("screen");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lines_are_cut_to_the_terminal);
	tcase_add_test(tc, keys);
	tcase_add_test(tc, a_signal_ends_it);
	tcase_add_test(tc, a_terminal_that_is_gone_ends_it);
	tcase_add_test(tc, the_terminal_is_as_it_was);
	tcase_add_test(tc, no_terminal_is_refused);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
