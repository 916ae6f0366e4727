#include "collector/act/delivery.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a command may have, and no more: it is ended after DELIVERY_S anyhow. *assumed* */
static const struct {
	__rlimit_resource_t which;
	rlim_t most;
} limits[] = {
    {RLIMIT_CORE, 0}, {RLIMIT_CPU, DELIVERY_S}, {RLIMIT_FSIZE, 16 << 20}, {RLIMIT_NOFILE, 64}, {RLIMIT_AS, (rlim_t)2 << 30},
};

/* The JSON as standard input: a file without a name, so that a command that does not read it hangs nothing. */
static int
give_input(const char *json)
{
	int fd = memfd_create("alarm", 0);

	if (fd < 0 || write(fd, json, strlen(json)) != (ssize_t)strlen(json) || write(fd, "\n", 1) != 1 ||
	    lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0)
		return -errno;
	return close(fd) < 0 ? -errno : 0;
}

int
deliver_by_command(const struct alarm_receiver *receiver, const struct alarm_fact *f, const char *json)
{
	const char *event = f->is_over ? "over" : "raised";
	char *const args[] = {(char *)(uintptr_t)receiver->target, (char *)(uintptr_t)event, NULL};
	const struct {
		const char *name, *value;
	} facts[] = {
	    {"EASE_RULE", f->rule}, {"EASE_KEY", f->key}, {"EASE_SOURCE", f->parts.source},
	    {"EASE_DESTINATION", f->parts.destination}, {"EASE_AGENT", f->agent}, {"EASE_PORT", f->port},
	    {"EASE_EVENT", event}, {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"LC_ALL", "C"},
	};
	char id[17];

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		setrlimit(limits[i].which, &(struct rlimit){limits[i].most, limits[i].most});
	clearenv();
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		setenv(facts[i].name, facts[i].value, 1);
	snprintf(id, sizeof(id), "%016" PRIx64, f->id);
	setenv("EASE_ID", id, 1);
	if (chdir("/") < 0 || give_input(json) < 0 || execv(receiver->target, args) < 0)
		fprintf(stderr, "%s: %s\n", receiver->target, strerror(errno));
	return 127;
}
