/*
 * LLDP's neighbours as lldpd hears them, and the facet of LLDP. lldpd's own client is run every half minute, once for what
 * this machine says and once for what it hears, and its answer is read as it comes: nothing waits for it, and it has ten
 * seconds and so many octets. Where lldpd's control socket is not there, or not open to this process, no program is run.
 */
#include "agent/linux/linux_private.h"
#include "agent/linux/lldpd_json.h"

#include "common/close_fd.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PERIOD_US   30000000ull
#define DEADLINE_US 10000000ull /* of a run */
#define STALE_US    100000000ull /* three readings that brought nothing */
enum { TEXT_MAX = 4 << 20, READ_OCTETS = 64 << 10 };

enum { RUN_OWN, RUN_NEIGHBOURS, N_RUNS };
static const char *const subjects[N_RUNS] = {[RUN_OWN] = "interfaces", [RUN_NEIGHBOURS] = "neighbors"};

struct text {
	char *octets;
	size_t n, room;
};

struct linux_neighbours {
	char socket[108];
	struct lldpd_reading reading;
	uint64_t read_us; /* 0: never */
	uint64_t due_us, deadline_us;
	unsigned run; /* which of them goes on, or will be the next */
	pid_t pid;    /* 0: none goes on */
	int fd;	      /* -1: all was read */
	bool is_given_up; /* its end alone is awaited */
	bool told_closed; /* that lldpd is not open to this process */
	struct text texts[N_RUNS];
};

int
linux_open_neighbours(struct linux_device *d, const char *socket)
{
	struct linux_neighbours *n;

	if (!socket || *socket == '\0' || strlen(socket) >= sizeof(n->socket))
		return socket && *socket ? -ENAMETOOLONG : 0;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	strcpy(n->socket, socket);
	n->fd = -1;
	d->neighbours = n;
	return 0;
}

/* ---- a run ---- */

void
linux_close_neighbours(struct linux_device *d)
{
	struct linux_neighbours *n = d->neighbours;

	if (!n)
		return;
	close_fd(n->fd);
	if (n->pid != 0) {
		kill(n->pid, SIGKILL);
		(void)waitpid(n->pid, NULL, 0);
	}
	lldpd_reading_free(&n->reading);
	for (int i = 0; i < N_RUNS; i++)
		free(n->texts[i].octets);
	free(n);
	d->neighbours = NULL;
}

/* Standard output is the pipe; all else that this process has open is closed in a program that it runs. */
static int
spawn_client(struct linux_neighbours *n, int out)
{
	const char *const args[] = {"lldpcli", "-u", n->socket, "-f", "json0", "show", subjects[n->run], "details", NULL};
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return -rc;
	rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawnp(&n->pid, args[0], &actions, NULL, (char *const *)(uintptr_t)args, environ);
	if (rc != 0)
		n->pid = 0;
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

static int
begin_run(struct linux_neighbours *n, uint64_t now_us)
{
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	/* The client writes as to any pipe. */
	rc = fcntl(ends[1], F_SETFL, 0) < 0 ? -errno : spawn_client(n, ends[1]);
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	n->fd = ends[0];
	n->texts[n->run].n = 0;
	n->deadline_us = now_us + DEADLINE_US;
	return 0;
}

static int
make_text_room(struct text *text)
{
	size_t room = text->room + READ_OCTETS;
	char *grown;

	if (text->room - text->n >= READ_OCTETS)
		return 0;
	grown = room <= TEXT_MAX ? realloc(text->octets, room) : NULL;
	if (!grown)
		return room > TEXT_MAX ? -EMSGSIZE : -ENOMEM;
	text->octets = grown;
	text->room = room;
	return 0;
}

/* Reads what is there. 1: that was all of it; 0: more may come. */
static int
read_client_text(struct linux_neighbours *n)
{
	struct text *text = &n->texts[n->run];
	ssize_t got;
	int rc;

	do {
		rc = make_text_room(text);
		if (rc < 0)
			return rc;
		got = read(n->fd, text->octets + text->n, READ_OCTETS);
		text->n += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	close(n->fd);
	n->fd = -1;
	return 1;
}

/* 1: the run has ended well; 0: it goes on. */
static int
step_run(struct linux_neighbours *n, uint64_t now_us)
{
	int rc = n->fd >= 0 ? read_client_text(n) : 1, status = 0;

	if (rc < 0)
		return rc;
	if (rc == 1 && waitpid(n->pid, &status, WNOHANG) == n->pid) {
		n->pid = 0;
		return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : -EPIPE;
	}
	return now_us >= n->deadline_us ? -ETIMEDOUT : 0;
}

/* ---- readings ---- */

static uint32_t
if_index_named(void *ctx, const char *name)
{
	const struct links *links = &((struct linux_device *)ctx)->links;

	for (size_t i = 0; i < links->n; i++)
		if (links->ports[i].share_of == 0 && strcmp(links->ports[i].link.name, name) == 0)
			return links->ports[i].if_index;
	return 0;
}

static int
take_texts(struct linux_device *d, struct linux_neighbours *n, uint64_t now_us)
{
	const struct text *own = &n->texts[RUN_OWN], *heard = &n->texts[RUN_NEIGHBOURS];
	struct lldpd_reading fresh;
	int rc = lldpd_json_read(own->octets, own->n, heard->octets, heard->n, if_index_named, d, &fresh);

	if (rc < 0) {
		lldpd_reading_free(&fresh);
		return rc;
	}
	stat_add(&d->stats, LINUX_STAT_NEIGHBOURS_LEFT_OUT, fresh.n_left_out);
	hal_neighbours_stamp(&n->reading.lldp, fresh.neighbours, fresh.lldp.n_neighbours, now_us);
	lldpd_reading_free(&n->reading);
	n->reading = fresh;
	n->read_us = now_us;
	return 0;
}

/* A client that has not ended is killed, and forgotten when it has; until then no other is run. */
static void
give_up_client(struct linux_device *d, struct linux_neighbours *n, int rc)
{
	close_fd(n->fd);
	n->fd = -1;
	n->is_given_up = n->pid != 0;
	if (n->is_given_up)
		kill(n->pid, SIGKILL);
	stat_add(&d->stats, LINUX_STAT_LLDPCLI_FAILURES, 1);
	log_warn_limited("linux", "lldpcli -f json0 show %s: %s; neighbours stay as they were for 100 s", subjects[n->run],
	    rc == -EPIPE ? "it failed" : rc == -EPROTO ? "its answer is not understood" : strerror(-rc));
	n->run = RUN_OWN;
}

static bool
may_run_client(struct linux_neighbours *n)
{
	if (access(n->socket, W_OK) == 0)
		return true;
	if (errno == EACCES && !n->told_closed)
		log_info("linux", "neighbours are not read: %s is not open to this process; its group is lldpd's, _lldpd on Debian",
		    n->socket);
	n->told_closed = errno == EACCES;
	return false;
}

static void
await_client_end(struct linux_neighbours *n)
{
	if (waitpid(n->pid, NULL, WNOHANG) == 0)
		return;
	n->pid = 0;
	n->is_given_up = false;
}

static void
step_neighbours(struct linux_device *d, struct linux_neighbours *n, uint64_t now_us)
{
	int rc = n->pid != 0 && !n->is_given_up ? step_run(n, now_us) : 0;

	assert(n->run < N_RUNS);
	if (n->is_given_up)
		await_client_end(n);
	if (rc == 1)
		n->run++;
	if (n->run == N_RUNS) {
		n->run = RUN_OWN;
		rc = take_texts(d, n, now_us);
	} else if (rc == 1) {
		rc = begin_run(n, now_us);
	} else if (rc == 0 && n->pid == 0 && now_us >= n->due_us) {
		n->due_us = now_us + PERIOD_US;
		rc = may_run_client(n) ? begin_run(n, now_us) : 0;
	}
	if (rc < 0)
		give_up_client(d, n, rc);
}

/* ---- the facet ---- */

/* It is asked for before each snapshot, which moves the run on. */
static const struct hal_lldp *
linux_lldp_known(void *ctx)
{
	struct linux_device *d = ctx;
	struct linux_neighbours *n = d->neighbours;
	uint64_t now_us = clock_mono_us(d->clock);

	if (!n)
		return NULL;
	step_neighbours(d, n, now_us);
	return n->reading.has_chassis && now_us - n->read_us < STALE_US ? &n->reading.lldp : NULL;
}

const struct hal_lldp_ops linux_lldp_ops = {
    .name = "linux",
    .known = linux_lldp_known,
};
