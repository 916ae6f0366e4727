/*
 * easecapd: the collector's command line. Reads the configuration, goes to the background unless
 * told not to, and runs the collector (capd.h).
 */
#include "collector/capd.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERROR_TEXT = 512 };

struct command {
	const char *config_file;
	bool foreground, check, print;
};

static const struct option long_options[] = {
    {"check", no_argument, NULL, 'k'},
    {"print-config", no_argument, NULL, 'p'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int
usage(FILE *out)
{
	fputs("usage: easecapd -c FILE [-f] [--check] [--print-config]\n"
	      "  -c FILE         configuration\n"
	      "  -f              stay in the foreground; say where it listens\n"
	      "  --check         check the configuration and exit\n"
	      "  --print-config  print the configuration in force and exit\n"
	      "SIGUSR1 writes all counters to the log; SIGTERM writes everything and stops.\n",
	    out);
	return out == stdout ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* 0 to go on, else the exit status + 1. */
static int
parse_command(int argc, char **argv, struct command *cmd)
{
	int o;

	while ((o = getopt_long(argc, argv, "c:fh", long_options, NULL)) != -1)
		switch (o) {
		case 'c':
			cmd->config_file = optarg;
			break;
		case 'f':
			cmd->foreground = true;
			break;
		case 'k':
			cmd->check = true;
			break;
		case 'p':
			cmd->print = true;
			break;
		default:
			return usage(o == 'h' ? stdout : stderr) + 1;
		}
	if (!cmd->config_file || optind != argc)
		return usage(stderr) + 1;
	return 0;
}

/* Forks; the parent stays until the child says that it is ready, so that whoever started us sees
 * each mistake and the right exit status. Returns the descriptor to tell it by, or -errno. */
static int
go_to_background(void)
{
	int ends[2];
	pid_t pid;
	char ready;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid > 0) {
		close(ends[1]);
		_exit(read(ends[0], &ready, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	close(ends[0]);
	setsid();
	return ends[1];
}

static void
leave_terminal(int parent_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null_fd >= 0 && fd <= 2; fd++)
		dup2(null_fd, fd);
	if (null_fd > 2)
		close(null_fd);
	if (write(parent_fd, "", 1) < 0)
		log_warn("easecapd", "telling the parent: %s", strerror(errno));
	close(parent_fd);
}

static int
collect(const struct collector_config *config, bool foreground)
{
	int parent_fd = foreground ? -1 : go_to_background();
	char error[ERROR_TEXT];
	struct capd *capd;
	int r;

	if (!foreground && parent_fd < 0) {
		fprintf(stderr, "easecapd: %s\n", strerror(-parent_fd));
		return parent_fd;
	}
	r = capd_open(&capd, config, &clock_system, error, sizeof(error));
	if (r < 0) {
		fprintf(stderr, "easecapd: %s\n", error);
		return r;
	}
	if (foreground)
		capd_announce(capd);
	else
		leave_terminal(parent_fd);
	r = capd_run(capd);
	if (r < 0)
		log_error("easecapd", "stopped: %s", strerror(-r));
	capd_close(capd);
	return r;
}

int
main(int argc, char **argv)
{
	struct command cmd = {0};
	struct collector_config config = {0};
	char error[ERROR_TEXT];
	int r = parse_command(argc, argv, &cmd);

	if (r != 0)
		return r - 1;
	r = collector_config_load(cmd.config_file, &config, error, sizeof(error));
	if (r < 0) {
		fprintf(stderr, "%s\n", error);
	} else if (cmd.check || cmd.print) {
		if (cmd.print)
			options_print(stdout, collector_options, &config, collector_secrets);
	} else {
		log_open("easecapd", !cmd.foreground || config.log == COLLECTOR_LOG_SYSLOG,
		    (enum log_level)config.log_level);
		r = collect(&config, cmd.foreground);
	}
	collector_config_free(&config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
