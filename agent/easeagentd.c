/*
 * easeagentd: the switch agent. Arguments and exit codes; everything else is agent.c.
 */
#include "agent/agent.h"

#include "agent/privilege.h"
#include "common/log.h"
#include "common/service.h"
#include "mibs/mibs.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *argp_program_version = "easeagentd " PACKAGE_VERSION; /* for --version */

enum { ERROR_OCTETS = 512, KEY_CHECK = 256, KEY_PRINT_CONFIG, KEY_LIST_OBJECTS };

struct arguments {
	const char *config;
	bool foreground, check, print_config, list_objects;
};

static const struct argp_option argument_options[] = {
    {"config", 'c', "FILE", 0, "Read the configuration from FILE", 0},
    {"foreground", 'f', NULL, 0, "Stay in the foreground and log to standard error", 0},
    {"check", KEY_CHECK, NULL, 0,
	"Check everything that a start would check, start nothing, and exit: list the "
	"capabilities used and draw an emulated board", 0},
    {"print-config", KEY_PRINT_CONFIG, NULL, 0,
	"Print every option with its value and meaning, and exit; without -c, the defaults", 0},
    {"list-objects", KEY_LIST_OBJECTS, NULL, 0,
	"Print every MIB object that is served (name, OID, syntax, access), and exit", 0},
    {0},
};

static error_t
parse_argument(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'c':
		arguments->config = value;
		return 0;
	case 'f':
		arguments->foreground = true;
		return 0;
	case KEY_CHECK:
		arguments->check = true;
		return 0;
	case KEY_PRINT_CONFIG:
		arguments->print_config = true;
		return 0;
	case KEY_LIST_OBJECTS:
		arguments->list_objects = true;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->config && !arguments->list_objects && !arguments->print_config)
			argp_error(state, "no configuration: give one with -c FILE");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argument_parser = {
    .options = argument_options,
    .parser = parse_argument,
    .doc = "AgentX subagent with switch MIBs and EASE sampling.",
};

static int
print_failure(const char *error)
{
	fprintf(stderr, "easeagentd: %s\n", error);
	return EXIT_FAILURE;
}

/* Says which option of which file the error is about. */
static int
fail_at(const char *file, const struct agent_config *config, char error[ERROR_OCTETS])
{
	agent_config_locate(file, config, error, ERROR_OCTETS);
	return print_failure(error);
}

static int
print_config(const char *file)
{
	struct agent_config config = {0};
	char error[ERROR_OCTETS];
	int status = EXIT_SUCCESS;

	if (agent_config_read(file, &config, error, sizeof(error)) < 0)
		status = print_failure(error);
	else
		options_print(stdout, agent_options, &config);
	options_free(agent_options, &config);
	return status;
}

static int
check_config(const char *file, const struct agent_config *config)
{
	char error[ERROR_OCTETS];

	if (agent_check(config, stdout, error, sizeof(error)) < 0)
		return fail_at(file, config, error);
	return EXIT_SUCCESS;
}

/* ---- the background ----
 * The process that stays is made before anything is opened, because locks and database connections do
 * not survive a fork. The first one waits, to end with the result of the start. */

/* Returns in the new process, with the descriptor to be passed to end_start; -errno. */
static int
begin_start(void)
{
	int ends[2], status = EXIT_FAILURE;
	char started;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0) {
		close(ends[1]);
		if (read(ends[0], &started, 1) == 1)
			_exit(EXIT_SUCCESS);
		(void)waitpid(child, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
	}
	close(ends[0]);
	(void)setsid();
	return ends[1];
}

/* The agent is set up: it leaves the terminal and the directory it was started in. */
static int
end_start(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), rc = 0;

	if (chdir("/") < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		rc = -errno;
	if (rc == 0 && write(fd, "", 1) != 1)
		rc = -EPIPE;
	if (null > STDERR_FILENO)
		close(null);
	close(fd);
	return rc;
}

static int
run_agent(struct agent_config *config, struct agent *agent, const char *given_file, int background)
{
	int rc = background >= 0 ? end_start(background) : 0;

	if (rc < 0)
		return print_failure("cannot go to the background");
	log_open("easeagentd", background >= 0, (enum log_level)config->log_level);
	if (config->trap_sinks.n > 0 && service_is_readable_by_all(given_file))
		log_warn("agent", "%s holds secrets and everybody may read it", given_file);
	rc = agent_privilege_keep(config);
	if (rc < 0)
		log_warn("agent", "capabilities could not be dropped: %s", strerror(-rc));
	return agent_run(agent) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int
start_and_serve(struct agent_config *config, const char *given_file, bool foreground)
{
	char *file = realpath(given_file, NULL); /* the working directory will change */
	int background = foreground ? -1 : begin_start();
	char error[ERROR_OCTETS];
	struct agent *agent;
	int status;

	if (!foreground && background < 0) {
		free(file);
		return print_failure("cannot go to the background");
	}
	log_open("easeagentd", false, (enum log_level)config->log_level);
	if (agent_privilege_become(config, error, sizeof(error)) < 0) {
		free(file);
		return fail_at(given_file, config, error);
	}
	service_hide_memory(); /* after it: a change of user makes memory readable again */
	if (agent_create(config, file, &agent, error, sizeof(error)) < 0) {
		free(file);
		return fail_at(given_file, config, error);
	}
	status = run_agent(config, agent, file ? file : given_file, background);
	if (!agent_destroy(agent))
		_exit(status);
	free(file);
	return status;
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct agent_config config = {0};
	char error[ERROR_OCTETS];
	int status = EXIT_SUCCESS;

	service_hold_signals(true);
	argp_parse(&argument_parser, argc, argv, 0, NULL, &arguments);
	if (arguments.list_objects) {
		mib_list_objects(stdout);
		return EXIT_SUCCESS;
	}
	if (arguments.print_config)
		return print_config(arguments.config);
	if (agent_config_load(arguments.config, &config, error, sizeof(error)) < 0)
		status = print_failure(error);
	else if (arguments.check)
		status = check_config(arguments.config, &config);
	else
		status = start_and_serve(&config, arguments.config, arguments.foreground);
	options_free(agent_options, &config);
	return status;
}
