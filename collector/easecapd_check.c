#include "collector/easecapd_check.h"

#include "collector/collector_settings.h"
#include "collector/store/plan_store.h"
#include "common/endpoint.h"
#include "common/privilege.h"
#include "common/service.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERROR_TEXT = 512 };

struct check {
	const char *file;
	const struct collector_config *config;
	unsigned errors;
};

static void __attribute__((format(printf, 3, 0)))
print_found(const struct check *c, const char *kind, const char *format, va_list args)
{
	fprintf(stderr, "easecapd: %s: %s", c->file, kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

static void __attribute__((format(printf, 2, 3)))
found_error(struct check *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_found(c, "", format, args);
	va_end(args);
	c->errors++;
}

static void __attribute__((format(printf, 2, 3)))
found_warning(const struct check *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_found(c, "warning: ", format, args);
	va_end(args);
}

/* ---- the store ---- */

static bool
may_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* A file of the store that exists must be usable. */
static void
check_store_file(struct check *c, const char *ending)
{
	char path[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", c->config->store, ending);
	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			found_error(c, "store: %s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		found_error(c, "store: %s is not a file", path);
	} else if (!may_access(path, R_OK | W_OK)) {
		found_error(c, "store: %s: %s", path, strerror(errno));
	}
}

/* Whether store_size holds what the ages say, of the network that the store is of. */
static void
check_store_size(const struct check *c)
{
	struct plan_question question = {.keep = collector_retention(c->config), .sample_rows = c->config->sample_rows};
	char stays[PLAN_STAYS_TEXT];
	struct plan plan;

	if (question.keep.most_octets == 0 || plan_read_store(c->config->store, &question) != 0)
		return;
	plan_reckon(&question, &plan);
	if (plan.fits)
		return;
	plan_format_stays(&plan, stays);
	found_warning(c, "store_size: what keep says needs %.0f MiB with the %.0f ports and %.3g samples a second of the"
	    " last day: once it is full, %s; easecapd --plan store says with which options all fits",
	    plan.all / 7 * 8 / (1 << 20), question.ports, question.samples_per_s, stays);
}

/* Root makes a directory that is missing where its parent is there, see privilege_make_directory. */
static bool
root_makes_directory(const struct collector_config *config)
{
	char path[PATH_MAX], parent[PATH_MAX];
	const char *directory;
	struct stat st;

	snprintf(path, sizeof(path), "%s", config->store);
	directory = dirname(path);
	if (geteuid() != 0 || stat(directory, &st) == 0 || errno != ENOENT)
		return false;
	snprintf(parent, sizeof(parent), "%s", directory);
	return stat(dirname(parent), &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- addresses ---- */

/* Whether this machine has the address: any port of it can be bound. */
static int
bind_somewhere(const char *text, int type)
{
	struct endpoint at;
	const char *reason;
	int err = endpoint_parse(text, &at, &reason), fd;

	if (err)
		return err;
	if (at.address.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&at.address)->sin6_port = 0;
	else
		((struct sockaddr_in *)&at.address)->sin_port = 0;
	fd = socket(at.address.ss_family, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = bind(fd, (struct sockaddr *)&at.address, at.len) < 0 ? -errno : 0;
	close(fd);
	return err;
}

static void
check_addresses(struct check *c, const char *option, const struct option_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		int err = bind_somewhere(list->items[i], SOCK_DGRAM);

		if (err)
			found_error(c, "%s: %s: %s", option, list->items[i], strerror(-err));
	}
}

/* ---- alarms ---- */

static void
check_alarm_command(struct check *c)
{
	const char *path = c->config->alarm_command;
	struct stat st;

	if (!*path)
		return;
	if (stat(path, &st) < 0)
		found_error(c, "alarm_command: %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXOTH))
		found_error(c, "alarm_command: %s: nobody may not run it: it must be a program that everybody may", path);
}

/* ---- the page ---- */

static bool
is_loopback(const char *text)
{
	struct endpoint at;
	const char *reason;

	return endpoint_parse(text, &at, &reason) == 0 && endpoint_is_loopback((struct sockaddr *)&at.address);
}

static void
check_page(struct check *c)
{
	const struct collector_config *config = c->config;
	int err;

	if (!*config->http_listen)
		return;
	if (config->memory_mib < COLLECTOR_PAGE_MIB)
		found_warning(c, "memory: the page would not be served: it needs at least %d MiB",
		    COLLECTOR_PAGE_MIB);
	err = bind_somewhere(config->http_listen, SOCK_STREAM);
	if (err)
		found_warning(c, "http_listen: %s: %s; the page would not be served", config->http_listen,
		    strerror(-err));
	else if (!*config->http_token && !is_loopback(config->http_listen))
		found_warning(c, "http_listen: everybody who can reach %s can read the data: http_token is "
			"empty", config->http_listen);
	if (*config->names && !may_access(config->names, R_OK))
		found_warning(c, "names: %s: %s; the page would not be served", config->names, strerror(errno));
}

/* ---- names ---- */

static void
check_device_names(struct check *c)
{
	struct collector_devices devices;
	char error[ERROR_TEXT];

	if (collector_devices_read(c->config, &devices, error, sizeof(error)) < 0)
		found_error(c, "%s", error);
	collector_devices_free(&devices);
}

/* ---- all of it ---- */

static void
easecapd_check_become_user(struct check *c)
{
	struct privilege_user user;
	char error[ERROR_TEXT];
	int r = privilege_find(c->config->run_as, c->config->run_as_group, EASECAPD_USER, &user,
	    error, sizeof(error));

	if (r < 0) {
		found_error(c, "%s", error);
		return;
	}
	r = privilege_become(&user, NULL, 0, false);
	if (r < 0)
		found_error(c, "run_as: cannot become %s: %s", user.name, strerror(-r));
}

int
easecapd_check(const char *file, const struct collector_config *config, size_t memory_taken)
{
	bool directory_is_made = root_makes_directory(config);
	struct check check = {.file = file, .config = config};
	struct accounting_limits limits;
	char error[ERROR_TEXT];

	if (service_is_readable_by_all(file) && options_have_secret(collector_options, config))
		found_warning(&check, "the file holds secrets and everybody may read it");
	easecapd_check_become_user(&check);
	if (!directory_is_made) {
		static const char *const endings[] = {"", "-wal", "-shm", ".engine", ".lock"};
		char path[PATH_MAX];
		const char *directory;

		snprintf(path, sizeof(path), "%s", check.config->store);
		directory = dirname(path);
		if (!may_access(directory, R_OK | W_OK | X_OK))
			found_error(&check, "store: directory %s: %s%s", directory, strerror(errno),
			    errno == EACCES ? " to the user that easecapd becomes (run_as)" : "");
		for (size_t i = 0; check.errors == 0 && i < sizeof(endings) / sizeof(endings[0]); i++)
			check_store_file(&check, endings[i]);
		check_store_size(&check);
	}
	check_addresses(&check, "listen", &config->listen);
	check_addresses(&check, "sflow_listen", &config->sflow_listen);
	check_page(&check);
	check_alarm_command(&check);
	check_device_names(&check);
	if (collector_limits(config, memory_taken, &limits, error, sizeof(error)) < 0)
		found_error(&check, "%s", error);
	return check.errors > 0 ? -EINVAL : 0;
}
