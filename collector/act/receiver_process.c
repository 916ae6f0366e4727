#include "collector/act/delivery.h"
#include "collector/act/receiver.h"
#include "common/clock.h"
#include "common/privilege.h"
#include "common/service.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESS_NAME "easecapd-act"

enum { SOCKET = STDERR_FILENO + 1 }; /* where the process has its end */

struct receiver_process {
	struct alarm_receiver receiver;
	uint64_t delivered_us; /* when the newest delivery began */
	struct alarm_fact *raised; /* that the receiver took, and that are not over */
	size_t n_raised;
};

/* ---- the fact as JSON, which the guide (alarms.md) describes ---- */

static void
set_fact_text(json_t *object, const char *name, const char *text)
{
	if (*text)
		json_object_set_new(object, name, json_string(text));
}

static void
set_fact_number(json_t *object, const char *name, uint64_t number)
{
	if (number > 0)
		json_object_set_new(object, name, json_integer((json_int_t)number));
}

static void
set_fact_time(json_t *object, const char *name, uint64_t time_us)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_rfc3339(time_us, text, sizeof(text));
	set_fact_text(object, name, time_us > 0 ? text : "");
}

/* To be freed. NULL without memory. */
static char *
alarm_fact_json(const struct alarm_fact *f)
{
	json_t *object = json_object();
	char id[17], *text;

	snprintf(id, sizeof(id), "%016" PRIx64, f->id);
	set_fact_text(object, "event", f->is_over ? "over" : "raised");
	set_fact_text(object, "id", id);
	set_fact_text(object, "rule", f->rule);
	set_fact_text(object, "kind", alarm_kind_word(f->kind));
	set_fact_text(object, "key", f->key);
	set_fact_text(object, "source", f->parts.source);
	set_fact_text(object, "destination", f->parts.destination);
	set_fact_number(object, "server_port", f->parts.server_port);
	set_fact_number(object, "ip_proto", f->parts.ip_proto);
	set_fact_text(object, "agent", f->agent);
	set_fact_text(object, "agent_id", f->agent_id);
	set_fact_number(object, "if_index", f->if_index);
	set_fact_text(object, "port", f->port);
	set_fact_time(object, "raised", f->raised_us);
	set_fact_time(object, "over", f->over_us);
	set_fact_text(object, "audit", f->is_accused ? "the port's samples are not sound" : "");
	set_fact_text(object, "why", f->is_stopping ? "the collector stops" : "");
	text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);
	json_decref(object);
	return text;
}

/* ---- one delivery ---- */

static int (*const deliveries[])(const struct alarm_receiver *, const struct alarm_fact *, const char *) = {
    [RECEIVER_COMMAND] = deliver_by_command, [RECEIVER_POST] = deliver_by_post, [RECEIVER_INFORM] = deliver_by_inform};

/* In a session of its own, so that all that a command begins can be ended. */
static _Noreturn void
deliver_fact(const struct alarm_receiver *receiver, const struct alarm_fact *fact, int errors)
{
	static const int usual[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE};
	char *json = alarm_fact_json(fact);

	setsid();
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		signal(usual[i], SIG_DFL);
	service_hold_signals(false);
	dup2(errors, STDERR_FILENO);
	close_range(SOCKET, ~0u, 0);
	_exit(json ? deliveries[receiver->kind](receiver, fact, json) : 1);
}

/* The first line of what it wrote, as much as has room, printable; later lines are read and dropped. */
static void
take_errors(int fd, char reason[RECEIVER_REASON])
{
	char octets[512];
	size_t n = strlen(reason);
	ssize_t got = read(fd, octets, sizeof(octets));

	for (ssize_t i = 0; i < got && n < RECEIVER_REASON - 1 && !(n > 0 && reason[n - 1] == '\n'); i++)
		reason[n++] = octets[i];
	reason[n] = '\0';
}

static void
make_printable(char *reason)
{
	reason[strcspn(reason, "\n")] = '\0';
	for (; *reason; reason++)
		if (*reason < ' ' || *reason > '~')
			*reason = '?';
}

static void
end_group(pid_t pid, int *status)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL); /* before it has a group */
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

/* Waits for the process, until the time is over or nobody is left who writes. */
static void
await_end(pid_t pid, int errors, struct receiver_answer *answer)
{
	enum { LOOK_MS = 100 }; /* what it began may keep the pipe open when it has ended */
	uint64_t until_us = clock_mono_us(&clock_system) + DELIVERY_S * UINT64_C(1000000);
	struct pollfd polled = {.fd = errors, .events = POLLIN};
	bool has_ended = false;
	int status = 0;

	while (!has_ended && clock_mono_us(&clock_system) < until_us) {
		if (poll(&polled, 1, LOOK_MS) > 0 && polled.revents & POLLIN)
			take_errors(errors, answer->reason);
		else if (polled.revents & (POLLHUP | POLLERR))
			polled.fd = -1; /* it has closed its errors, and may go on */
		has_ended = waitpid(pid, &status, WNOHANG) == pid;
	}
	if (has_ended) {
		kill(-pid, SIGKILL); /* what it left behind */
		for (int i = 0; i < 8 && poll(&(struct pollfd){.fd = errors, .events = POLLIN}, 1, 0) > 0; i++)
			take_errors(errors, answer->reason);
	} else {
		end_group(pid, &status);
	}
	make_printable(answer->reason);
	answer->is_taken = has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!has_ended)
		snprintf(answer->reason, sizeof(answer->reason), "it took longer than %d s", DELIVERY_S);
	else if (!answer->is_taken && !*answer->reason)
		snprintf(answer->reason, sizeof(answer->reason), WIFEXITED(status) ? "it ended with status %d" : "signal %d ended it",
		    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static void
tell_receiver(struct receiver_process *p, const struct alarm_fact *fact, struct receiver_answer *answer)
{
	int ends[2];
	pid_t pid;

	*answer = (struct receiver_answer){.is_taken = false};
	p->delivered_us = clock_mono_us(&clock_system);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		snprintf(answer->reason, sizeof(answer->reason), "no pipe: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		deliver_fact(&p->receiver, fact, ends[1]);
	close(ends[1]);
	if (pid < 0)
		snprintf(answer->reason, sizeof(answer->reason), "no process: %s", strerror(errno));
	else
		await_end(pid, ends[0], answer);
	close(ends[0]);
}

/* ---- the process ---- */

static void
remember_fact(struct receiver_process *p, const struct alarm_fact *fact)
{
	size_t at = 0;

	while (at < p->n_raised && p->raised[at].id != fact->id)
		at++;
	if (at < p->n_raised && fact->is_over)
		p->raised[at] = p->raised[--p->n_raised];
	else if (!fact->is_over && at < OUTBOX_ALARMS) {
		p->raised[at] = *fact;
		p->n_raised += at == p->n_raised;
	}
}

/* At most one command a second is begun. */
static void
pace_commands(const struct receiver_process *p)
{
	uint64_t next_us = p->delivered_us + COMMAND_EVERY_MS * UINT64_C(1000), now_us = clock_mono_us(&clock_system);

	if (p->receiver.kind == RECEIVER_COMMAND && p->delivered_us > 0 && now_us < next_us)
		usleep((useconds_t)(next_us - now_us));
}

/* Nobody would tell it later. */
static void
end_all(struct receiver_process *p)
{
	uint64_t now_us = clock_mono_us(&clock_system), until_us = now_us + (RECEIVER_ENDS_S - DELIVERY_S) * UINT64_C(1000000);
	struct receiver_answer answer;

	for (size_t i = 0; i < p->n_raised && clock_mono_us(&clock_system) < until_us; i++) {
		p->raised[i].is_over = p->raised[i].is_stopping = true;
		if (p->raised[i].over_us == 0)
			p->raised[i].over_us = clock_wall_us(&clock_system);
		tell_receiver(p, &p->raised[i], &answer);
	}
}

static _Noreturn void
serve_facts(struct receiver_process *p)
{
	struct receiver_answer answer;
	struct alarm_fact fact;
	ssize_t n;

	while ((n = recv(SOCKET, &fact, sizeof(fact), 0)) != 0) {
		if (n != (ssize_t)sizeof(fact))
			continue; /* a signal */
		pace_commands(p);
		tell_receiver(p, &fact, &answer);
		if (answer.is_taken)
			remember_fact(p, &fact);
		if (send(SOCKET, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	end_all(p);
	_exit(0);
}

/* Signals to the collector's group or cgroup are the collector's: it ends, and then this process does. */
static _Noreturn void
receiver_begin_process(const struct alarm_receiver *receiver, int fd, const struct privilege_user *user)
{
	static struct receiver_process process;
	int null_fd = open("/dev/null", O_RDWR);

	process.receiver = *receiver;
	process.raised = calloc(OUTBOX_ALARMS, sizeof(*process.raised));
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(null_fd, i);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	prctl(PR_SET_NAME, PROCESS_NAME);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (!process.raised || null_fd < 0 || (fd != SOCKET && dup2(fd, SOCKET) < 0) ||
	    close_range(SOCKET + 1, ~0u, 0) < 0 || privilege_become(user, NULL, 0, false) < 0 || privilege_keep(NULL, 0, false) < 0)
		_exit(1);
	serve_facts(&process);
}

int
receiver_start(const struct alarm_receiver *receiver, int *fd, char user_name[PRIVILEGE_NAME])
{
	struct privilege_user user;
	char error[128];
	int ends[2], r = privilege_find("", "", "nobody", &user, error, sizeof(error));
	pid_t pid;

	if (r < 0 || user.missing)
		return r < 0 ? r : -ENOENT; /* root runs nothing for others */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		receiver_begin_process(receiver, ends[1], &user);
	r = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (r < 0) {
		close(ends[0]);
		return r;
	}
	*fd = ends[0];
	memcpy(user_name, user.name, PRIVILEGE_NAME);
	return 0;
}

void
receiver_stop(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	uint64_t until_us = clock_mono_us(&clock_system) + RECEIVER_ENDS_S * UINT64_C(1000000), now_us;
	char octets[sizeof(struct receiver_answer)];

	shutdown(fd, SHUT_WR);
	while ((now_us = clock_mono_us(&clock_system)) < until_us &&
	    poll(&polled, 1, (int)((until_us - now_us) / 1000) + 1) > 0 && recv(fd, octets, sizeof(octets), 0) > 0)
		;
	close(fd);
}
