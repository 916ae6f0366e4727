#include "collector/report_command.h"

#include "collector/clickhouse.h"
#include "collector/config.h"
#include "collector/filter/address_names.h"
#include "collector/query/query.h"
#include "collector/report/notes.h"
#include "collector/report/samples.h"
#include "collector/screen.h"
#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The store of the collector's configuration, if the user names none. */
static int
open_default_store(struct query **query, char *error, size_t error_size)
{
	struct collector_config config = {0};
	int err = collector_config_load(COMMAND_CONFIG_FILE, &config, error, error_size);

	if (err == 0)
		err = query_open(config.store, query, error, error_size);
	else
		snprintf(error + strlen(error), error_size - strlen(error),
		    " (root may read it; or name a store, --store sqlite:PATH, which the group easecapd may read, too)");
	collector_config_free(&config);
	return err;
}

/* The cluster of the collector's configuration. */
static int
open_default_cluster(struct query **query, char *error, size_t error_size)
{
	struct collector_config config = {0};
	struct clickhouse c = {0};
	int err = collector_config_load(COMMAND_CONFIG_FILE, &config, error, error_size);

	if (err == 0 && clickhouse_read(&c, &config) != 0) {
		err = -ENOMEM;
		snprintf(error, error_size, "no memory");
	} else if (err == 0 && c.n_servers == 0) {
		err = -ENOENT;
		snprintf(error, error_size, "%s: the option clickhouse names no server (or name"
		    " one: --store clickhouse:http://HOST)", COMMAND_CONFIG_FILE);
	}
	if (err == 0)
		err = query_open_cluster(&(struct query_cluster){c.servers, c.n_servers,
		    c.place.database, c.place.cluster, c.user, c.password}, NULL, query, error,
		    error_size);
	clickhouse_free(&c);
	collector_config_free(&config);
	return err;
}

/* The password comes from the environment, as others can read a command line. */
static int
open_cluster(const char *text, struct query **query, char *error, size_t error_size)
{
	struct cluster_url url;
	const char *reason;
	int err = cluster_url_parse(text, &url, &reason);

	if (err) {
		snprintf(error, error_size, "%s: %s", text, reason);
		return err;
	}
	return query_open_cluster(&(struct query_cluster){.servers = &url, .n_servers = 1,
	    .password = getenv("CLICKHOUSE_PASSWORD")}, NULL, query, error, error_size);
}

static int
command_open_store(const struct report_command *command, struct query **query, char *error, size_t error_size)
{
	const char *store = command->store ? command->store : getenv("EASETOP_STORE");

	if (store && strcmp(store, "clickhouse:") == 0)
		return open_default_cluster(query, error, error_size);
	if (store && cluster_url_is_meant(store))
		return open_cluster(store, query, error, error_size);
	if (store && *store)
		return query_open(store, query, error, error_size);
	return open_default_store(query, error, error_size);
}

/* Writes the report to out, or an error to errors. Returns the exit status. */
static int
print_report(const struct report_command *command, FILE *out, FILE *errors)
{
	struct render_options render = {
		.all = command->all, .utc = command->utc, .now_us = clock_wall_us(&clock_system)};
	struct report_result result = {0};
	char error[QUERY_ERROR_TEXT];
	struct query *query;
	int err, warned;

	if (command_open_store(command, &query, error, sizeof(error)) != 0) {
		fprintf(errors, "easetop: %s\n", error);
		return COMMAND_EXIT_TROUBLE;
	}
	if (command->question.report == &samples_report) {
		err = question_write_samples(
		    &command->question, query, render.now_us, command->is_pcapng ? samples_as_pcapng : samples_as_lines, out);
		if (err)
			fprintf(errors, "easetop: %s\n", *query->error ? query->error : strerror(-err));
		query_close(query);
		return err || fflush(out) != 0 ? COMMAND_EXIT_TROUBLE : EXIT_SUCCESS;
	}
	err = question_answer(&command->question, query, render.now_us, &result);
	if (err)
		fprintf(errors, "easetop: %s\n", *query->error ? query->error : strerror(-err));
	else {
		result.hidden |= command->all ? 0 : result.details;
		err = command->format(out, &result, &render);
	}
	warned = note_number_of(&result, NOTE_ID_WARNED, "warned") > 0 ? COMMAND_EXIT_WARNED : EXIT_SUCCESS;
	report_result_free(&result);
	query_close(query);
	if (err == 0 && fflush(out) != 0)
		err = -errno;
	return err ? COMMAND_EXIT_TROUBLE : warned;
}

/* Draws errors as well: the collector may come back. */
static int
draw_report(const struct report_command *command, const struct screen *screen, int *status)
{
	char *text;
	size_t octets;
	FILE *out = open_memstream(&text, &octets);
	int err;

	if (!out)
		return -ENOMEM;
	*status = print_report(command, out, out);
	if (fclose(out) != 0)
		return -ENOMEM;
	err = screen_draw(screen, text);
	free(text);
	return err;
}

static int
watch_report(const struct report_command *command)
{
	struct screen screen;
	int status = COMMAND_EXIT_TROUBLE;

	int err = screen_open(&screen, STDIN_FILENO, STDOUT_FILENO);

	if (err) {
		fprintf(stderr, "easetop: --watch needs a terminal: %s\n", strerror(-err));
		return status;
	}
	while (draw_report(command, &screen, &status) == 0 && screen_wait(&screen, (int)command->watch_s * 1000))
		;
	screen_close(&screen);
	return status;
}

static int
open_address_names(const struct report_command *command, struct address_names **names)
{
	struct address_names_options options = {.file = command->names, .resolve = command->resolve,
	    .vendors = command->vendors ? COMMAND_VENDORS_FOLDER : NULL, .databases = command->mmdb,
	    .n_databases = command->n_mmdb};
	char error[QUERY_ERROR_TEXT];
	int err;

	*names = NULL;
	if (!command->names && !command->resolve && !command->vendors && command->n_mmdb == 0)
		return 0;
	err = address_names_open(&options, names, error, sizeof(error));
	if (err)
		fprintf(stderr, "easetop: %s\n", error);
	return err;
}

int
report_command_run(struct report_command *command)
{
	int status;

	if (open_address_names(command, &command->question.options.names) != 0)
		return COMMAND_EXIT_TROUBLE;
	status = command->watch_s > 0 ? watch_report(command) : print_report(command, stdout, stderr);
	address_names_close(command->question.options.names);
	return status;
}
