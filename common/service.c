#include "common/service.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* LeakSanitizer reads the memory of its own process by ptrace. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* The length of the manager's address, or 0 if there is none. A name that begins with @ is that
 * of an abstract socket. */
static socklen_t
manager_address(struct sockaddr_un *to)
{
	const char *name = getenv("NOTIFY_SOCKET");
	size_t n = name ? strlen(name) : 0;

	if (n < 2 || n >= sizeof(to->sun_path) || (name[0] != '/' && name[0] != '@'))
		return 0;
	*to = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(to->sun_path, name, n);
	if (name[0] == '@')
		to->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

bool
service_notify(const char *state)
{
	struct sockaddr_un to;
	socklen_t len = manager_address(&to);
	int fd = len > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
	bool sent;

	if (fd < 0)
		return false;
	sent = sendto(fd, state, strlen(state), 0, (struct sockaddr *)&to, len) >= 0;
	close(fd);
	return sent;
}

uint64_t
service_watchdog_us(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!us || (pid && strtol(pid, NULL, 10) != (long)getpid()))
		return 0;
	return strtoull(us, NULL, 10);
}

void
service_alive(uint64_t *last_us, uint64_t now_us)
{
	uint64_t wanted_us = service_watchdog_us();

	if (wanted_us == 0 || (*last_us != 0 && now_us - *last_us < wanted_us / 2))
		return;
	*last_us = now_us;
	service_notify("WATCHDOG=1");
}

void
service_hide_memory(void)
{
	static const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, IS_SANITIZED, 0, 0, 0);
}

void
service_hold_signals(bool held)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(held ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

bool
service_is_readable_by_all(const char *file)
{
	struct stat status;

	return stat(file, &status) == 0 && status.st_mode & S_IROTH;
}
