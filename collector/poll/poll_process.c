#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_process.h"
#include "collector/poll/poll_values.h"
#include "collector/poll/snmp_user.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/privilege.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESS_NAME "easecapd-poll"

enum {
	SOCKET = STDERR_FILENO + 1, /* where the process has its end */
	/* Users of SNMPv3, one an engine, which the library never forgets: then the process makes place for another. */
	USERS_MOST = 4096,
	AGAIN_S = 1,
	HANGS_S = 10, /* what takes longer than milliseconds never ends: SIGALRM ends the process */
};

/* A question on its way. */
struct task {
	bool is_used, is_probing, is_done;
	void *session;
	struct poll_job job;
	struct poll_answer answer;
	uint8_t engine_id[USM_MAX_ID_LENGTH]; /* that a probe of SNMPv3 found, */
	size_t n_engine_id;		      /* and that the question was not sent to yet; 0: none */
};

struct process {
	struct task tasks[POLL_IN_FLIGHT];
	size_t n_tasks, n_users;
	struct snmp_user_keys keys;
};

static void
finish_task(struct task *t, enum poll_verdict verdict)
{
	t->answer.verdict = verdict;
	t->answer.answered_us = clock_mono_us(&clock_system);
	t->is_done = true;
}

/* ---- answers ---- */

/* Of a probe: the engine that reports. */
static void
process_take_engine(struct task *t, const netsnmp_pdu *pdu)
{
	if (pdu->command != SNMP_MSG_REPORT || pdu->securityEngineIDLen == 0 ||
	    pdu->securityEngineIDLen > sizeof(t->engine_id)) {
		finish_task(t, POLL_REFUSED);
		return;
	}
	memcpy(t->engine_id, pdu->securityEngineID, pdu->securityEngineIDLen);
	t->n_engine_id = pdu->securityEngineIDLen;
}

static int
process_on_answer(int operation, netsnmp_session *session, int request_id, netsnmp_pdu *pdu, void *arg)
{
	struct task *t = arg;

	(void)session;
	(void)request_id;
	if (t->is_done || t->n_engine_id > 0)
		return 1;
	if (operation == NETSNMP_CALLBACK_OP_TIMED_OUT)
		finish_task(t, POLL_SILENT);
	else if (operation == NETSNMP_CALLBACK_OP_SEND_FAILED || operation == NETSNMP_CALLBACK_OP_DISCONNECT)
		finish_task(t, POLL_UNREACHABLE);
	else if (operation == NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE && t->is_probing)
		process_take_engine(t, pdu);
	else if (operation == NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE) {
		poll_read_answer(&t->job, pdu, &t->answer);
		finish_task(t, t->answer.verdict);
	}
	return 1;
}

/* ---- questions ---- */

static bool
send_pdu(struct task *t, netsnmp_pdu *pdu)
{
	t->answer.asked_us = clock_mono_us(&clock_system);
	if (pdu && snmp_sess_async_send(t->session, pdu, process_on_answer, t))
		return true;
	if (pdu)
		snmp_free_pdu(pdu);
	return false;
}

/* An empty GET of nobody: RFC 3414, section 4. */
static netsnmp_pdu *
new_probe(void)
{
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET);
	struct usmUser *nobody = usm_get_user(NULL, 0, "");

	if (pdu) {
		pdu->version = SNMP_VERSION_3;
		pdu->securityName = strdup("");
		pdu->securityNameLen = 0;
		pdu->securityLevel = SNMP_SEC_LEVEL_NOAUTH;
		pdu->securityModel = SNMP_SEC_MODEL_USM;
	}
	if (nobody)
		return pdu;
	nobody = usm_create_user();
	if (nobody) {
		nobody->name = strdup("");
		nobody->secName = strdup("");
		nobody->authProtocol = snmp_duplicate_objid(usmNoAuthProtocol, USM_AUTH_PROTO_NOAUTH_LEN);
		nobody->authProtocolLen = USM_AUTH_PROTO_NOAUTH_LEN;
		nobody->privProtocol = snmp_duplicate_objid(usmNoPrivProtocol, USM_PRIV_PROTO_NOPRIV_LEN);
		nobody->privProtocolLen = USM_PRIV_PROTO_NOPRIV_LEN;
		usm_add_user(nobody);
	}
	return pdu;
}

/* The kernel then gives us nothing that comes from elsewhere. */
static bool
connect_to(const struct task *t)
{
	const netsnmp_transport *transport = snmp_sess_transport(t->session);
	char text[ENDPOINT_TEXT + 8];
	struct endpoint to;
	const char *reason;

	snprintf(text, sizeof(text), strchr(t->job.address, ':') ? "[%s]:%u" : "%s:%u", t->job.address, t->job.udp_port);
	return transport && endpoint_parse(text, &to, &reason) == 0 &&
	    connect(transport->sock, (const struct sockaddr *)&to.address, to.len) == 0;
}

static bool
begin_task(struct process *p, struct task *t)
{
	struct poll_credentials *as = &t->job.as;
	netsnmp_session s;
	char peer[ENDPOINT_TEXT + 16];

	snprintf(peer, sizeof(peer), strchr(t->job.address, ':') ? "udp6:[%s]:%u" : "udp:%s:%u", t->job.address,
	    t->job.udp_port);
	snmp_sess_init(&s);
	s.version = SNMP_VERSION_2c;
	s.peername = peer;
	s.timeout = (long)t->job.timeout_ms * 1000;
	s.retries = 0;
	s.flags |= SNMP_FLAGS_DONT_PROBE;
	s.callback = process_on_answer;
	s.callback_magic = t;
	if (as->community[0] != '\0') {
		s.community = (u_char *)as->community;
		s.community_len = strlen(as->community);
	} else if (!snmp_user_set(&s, as, &p->keys)) {
		return false;
	}
	t->is_probing = s.version == SNMP_VERSION_3;
	t->session = snmp_sess_open(&s);
	if (t->session) /* it clears the flag, and would wait for a probe of its own, and with it all others */
		snmp_sess_session(t->session)->flags |= SNMP_FLAGS_DONT_PROBE;
	return t->session && connect_to(t) && send_pdu(t, t->is_probing ? new_probe() : poll_question(&t->job));
}

/* Asks the engine that a probe has found. */
static bool
process_go_on(struct process *p, struct task *t)
{
	netsnmp_session *s = snmp_sess_session(t->session);
	size_t n = t->n_engine_id;
	struct usmUser *known = usm_get_user(t->engine_id, n, t->job.as.user);

	t->n_engine_id = 0;
	t->is_probing = false;
	if (s->securityEngineIDLen == 0) { /* else the library has it from the Report */
		s->securityEngineID = netsnmp_memdup(t->engine_id, n);
		s->securityEngineIDLen = s->securityEngineID ? n : 0;
	}
	if (s->contextEngineIDLen == 0) {
		s->contextEngineID = netsnmp_memdup(t->engine_id, n);
		s->contextEngineIDLen = s->contextEngineID ? n : 0;
	}
	p->n_users += known == NULL;
	if (known) /* else the library keeps its keys, though the passphrases are other ones since */
		usm_remove_user(known), usm_free_user(known);
	return s->securityEngineIDLen > 0 && usm_create_user_from_session(s) == SNMPERR_SUCCESS &&
	    send_pdu(t, poll_question(&t->job));
}

/* ---- the process ---- */

static struct task *
free_task(struct process *p)
{
	for (size_t i = 0; i < POLL_IN_FLIGHT; i++)
		if (!p->tasks[i].is_used)
			return &p->tasks[i];
	return NULL;
}

/* Takes one question; ends the process when nobody can ask any more. */
static void
take_job(struct process *p)
{
	struct task *t = free_task(p);
	ssize_t n;

	*t = (struct task){.is_used = false};
	n = recv(SOCKET, &t->job, sizeof(t->job), MSG_DONTWAIT);
	if (n == 0)
		_exit(0);
	if (n != (ssize_t)sizeof(t->job))
		return;
	t->is_used = true;
	p->n_tasks++;
	t->answer.id = t->job.id;
	t->answer.asked_us = clock_mono_us(&clock_system);
	if (!begin_task(p, t))
		finish_task(t, POLL_UNREACHABLE);
}

static void
end_task(struct process *p, struct task *t)
{
	if (t->session)
		snmp_sess_close(t->session);
	explicit_bzero(&t->job, sizeof(t->job));
	if (send(SOCKET, &t->answer, sizeof(t->answer), MSG_NOSIGNAL) < 0)
		_exit(0);
	t->is_used = false;
	p->n_tasks--;
}

/* Octets that are no message, or an error of the network. */
static enum poll_verdict
why_unread(struct task *t)
{
	int system_error, error;

	snmp_sess_error(t->session, &system_error, &error, NULL);
	return error == SNMPERR_ASN_PARSE_ERR || error == SNMPERR_BAD_PARSE || error == SNMPERR_BAD_VERSION ? POLL_GARBAGE
													    : POLL_UNREACHABLE;
}

static void
serve_task(struct process *p, struct task *t, fd_set *readable)
{
	if (!t->is_done && t->session) {
		if (snmp_sess_read(t->session, readable) < 0 && !t->is_done && t->n_engine_id == 0)
			finish_task(t, why_unread(t));
		snmp_sess_timeout(t->session);
	}
	if (!t->is_done && t->n_engine_id > 0 && !process_go_on(p, t))
		finish_task(t, POLL_REFUSED);
	if (t->is_done)
		end_task(p, t);
}

static void
wait_and_serve(struct process *p)
{
	struct timeval timeout;
	bool done = false;
	int n_fds = SOCKET + 1, block = 1, n;
	fd_set readable;

	FD_ZERO(&readable);
	if (p->n_tasks < POLL_IN_FLIGHT && p->n_users < USERS_MOST) /* else those on their way are the last */
		FD_SET(SOCKET, &readable);
	for (size_t i = 0; i < POLL_IN_FLIGHT; i++)
		if (p->tasks[i].is_used && !p->tasks[i].is_done)
			snmp_sess_select_info(p->tasks[i].session, &n_fds, &readable, &timeout, &block);
		else if (p->tasks[i].is_used)
			done = true;
	if (done)
		timeout = (struct timeval){0};
	alarm(0);
	n = select(n_fds, &readable, NULL, NULL, block && !done ? NULL : &timeout);
	alarm(HANGS_S);
	if (n < 0)
		FD_ZERO(&readable);
	for (size_t i = 0; i < POLL_IN_FLIGHT; i++)
		if (p->tasks[i].is_used)
			serve_task(p, &p->tasks[i], &readable);
	if (n > 0 && FD_ISSET(SOCKET, &readable) && p->n_tasks < POLL_IN_FLIGHT)
		take_job(p);
}

static _Noreturn void
serve_tasks(void)
{
	static struct process process;

	setenv("MIBS", "", 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_string(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_PERSISTENT_DIR, "/dev/null"); /* it makes none */
	snmp_enable_calllog(); /* nobody takes what it says */
	init_snmp(PROCESS_NAME);
	while (process.n_users < USERS_MOST || process.n_tasks > 0)
		wait_and_serve(&process);
	_exit(1);
}

/* What ends of itself is replaced; what ends with the collector is not. */
static _Noreturn void
supervise_workers(void)
{
	for (;;) {
		pid_t pid = fork(), ended;
		int status;

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve_tasks();
		}
		do
			ended = pid > 0 ? waitpid(pid, &status, 0) : -1;
		while (ended < 0 && pid > 0 && errno == EINTR);
		if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
			_exit(0);
		sleep(AGAIN_S);
	}
}

static _Noreturn void
poll_begin_process(int fd, pid_t collector)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, PROCESS_NAME);
	if (getppid() != collector || (fd != SOCKET && dup2(fd, SOCKET) < 0) || close_range(SOCKET + 1, ~0u, 0) < 0 ||
	    privilege_keep(NULL, 0, false) < 0)
		_exit(0);
	supervise_workers();
}

int
poll_process_start(pid_t *pid, int *fd)
{
	pid_t collector = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	*pid = fork();
	if (*pid == 0)
		poll_begin_process(ends[1], collector);
	close(ends[1]);
	if (*pid < 0) {
		int err = errno;

		close(ends[0]);
		return -err;
	}
	*fd = ends[0];
	return 0;
}

bool
poll_process_answer(int *fd, struct poll_answer *answer)
{
	ssize_t n = recv(*fd, answer, sizeof(*answer), MSG_DONTWAIT);

	if (n == 0) { /* a socket whose other end is gone would be readable for ever */
		log_error("poll", "who asks switches (" PROCESS_NAME ") was ended; no switch is asked until the next start");
		close(*fd);
		*fd = -1;
	}
	return n == (ssize_t)sizeof(*answer);
}

void
poll_process_stop(pid_t pid, int fd)
{
	kill(pid, SIGKILL); /* and with it the other one */
	close(fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
