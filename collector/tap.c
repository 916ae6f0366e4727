#include "collector/tap.h"

#include "common/buf.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM "tap"

/* pcap-savefile(5), in network byte order, which all readers understand. */
#define PCAP_MAGIC_US 0xa1b2c3d4u
enum {
	PCAP_MAJOR = 2,
	PCAP_MINOR = 4,
	PCAP_ETHERNET = 1,
	PCAP_HEADER_OCTETS = 24,
	PCAP_FRAME_OCTETS = 16,
	FCS_OCTETS = 4,
	FIFO_MODE = 0600,
	/* A pipe writes this much completely or not at all, so a reader never gets part of a frame. */
	GATHER_OCTETS = PIPE_BUF,
};
#define CHECK_READER_US 200000ull

_Static_assert((int)PCAP_HEADER_OCTETS + (int)PCAP_FRAME_OCTETS + (int)EASE_HEADER_MAX_OCTETS <=
	(int)GATHER_OCTETS, "a frame fits");

static const struct stat_name stat_names[TAP_N_STATS] = {
    [TAP_STAT_FRAMES] = {"tap.frames", "frames written to the tap"},
    [TAP_STAT_LOST] = {"tap.lost", "frames lost because the reader of the tap was too slow"},
    [TAP_STAT_READERS] = {"tap.readers", "readers that opened the tap"},
    [TAP_STAT_REFUSED] = {"tap.refused",
	"times that the tap's path was no FIFO of our user or of root, and nothing was written"},
};

struct tap {
	char *path;
	const struct clock *clock;
	int fd; /* -1 without a reader */
	uint64_t next_check_us;
	uint8_t octets[GATHER_OCTETS];
	struct wbuf gathered;
	size_t n_frames; /* in it */
	struct stat_set stats;
	_Atomic uint64_t values[TAP_N_STATS];
};

/* 0, -EEXIST for what is no FIFO, -EPERM for one of another user. */
static int
check_fifo(const struct stat *st)
{
	if (!S_ISFIFO(st->st_mode))
		return -EEXIST;
	return st->st_uid == geteuid() || st->st_uid == 0 ? 0 : -EPERM;
}

static int
make_fifo(const char *path)
{
	struct stat st;

	if (mkfifo(path, FIFO_MODE) < 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) < 0)
		return -errno;
	return check_fifo(&st);
}

int
tap_open(struct tap **out, const char *path, const struct clock *clock, char *error, size_t error_size)
{
	struct tap *t = calloc(1, sizeof(*t));
	int r = make_fifo(path);

	if (r < 0 || !t || !(t->path = strdup(path))) {
		snprintf(error, error_size, "--tap %s: %s", path,
		    r == -EEXIST ? "it exists and is not a FIFO"
			: r == -EPERM ? "it is a FIFO of another user, who could read what is sampled"
				 : strerror(r < 0 ? -r : ENOMEM));
		free(t);
		return r < 0 ? r : -ENOMEM;
	}
	t->clock = clock;
	t->fd = -1;
	t->gathered = wbuf_of(t->octets, sizeof(t->octets));
	t->stats = (struct stat_set){stat_names, TAP_N_STATS, t->values};
	signal(SIGPIPE, SIG_IGN);
	*out = t;
	return 0;
}

static void
drop_reader(struct tap *t)
{
	close(t->fd);
	t->fd = -1;
	t->gathered.len = t->n_frames = 0;
}

void
tap_close(struct tap *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		drop_reader(t);
	free(t->path);
	free(t);
}

const struct stat_set *
tap_stats(const struct tap *t)
{
	return &t->stats;
}

/* Who may write in its folder may have put something else in its place since the last look. Returns the
 * descriptor, or -1 without a reader. */
static int
open_fifo(struct tap *t)
{
	int fd = open(t->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	bool refused = fd < 0 ? errno == ELOOP : fstat(fd, &st) < 0 || check_fifo(&st) < 0;

	if (!refused)
		return fd;
	if (fd >= 0)
		close(fd);
	stat_add(&t->stats, TAP_STAT_REFUSED, 1);
	log_warn_limited(ROOM, "%s is no longer a FIFO of our user: nothing is written to it", t->path);
	return -1;
}

/* A FIFO loses its contents when both ends are closed, so the next reader begins with an empty one. */
static void
check_reader(struct tap *t)
{
	struct pollfd p = {.fd = t->fd, .events = POLLOUT};
	uint64_t now_us = clock_mono_us(t->clock);

	if (now_us < t->next_check_us)
		return;
	t->next_check_us = now_us + CHECK_READER_US;
	if (t->fd >= 0) {
		if (poll(&p, 1, 0) > 0 && p.revents & POLLERR)
			drop_reader(t);
		return;
	}
	t->fd = open_fifo(t);
	if (t->fd < 0)
		return;
	stat_add(&t->stats, TAP_STAT_READERS, 1);
	wbuf_be32(&t->gathered, PCAP_MAGIC_US);
	wbuf_be16(&t->gathered, PCAP_MAJOR);
	wbuf_be16(&t->gathered, PCAP_MINOR);
	wbuf_be64(&t->gathered, 0); /* UTC */
	wbuf_be32(&t->gathered, EASE_HEADER_MAX_OCTETS);
	wbuf_be32(&t->gathered, PCAP_ETHERNET);
}

static void
write_gathered(struct tap *t)
{
	size_t n = t->n_frames;
	ssize_t r;

	if (t->fd < 0 || t->gathered.len == 0)
		return;
	r = write(t->fd, t->octets, t->gathered.len);
	t->gathered.len = t->n_frames = 0;
	if (r >= 0) {
		stat_add(&t->stats, TAP_STAT_FRAMES, n);
		return;
	}
	stat_add(&t->stats, TAP_STAT_LOST, n);
	if (errno != EAGAIN)
		drop_reader(t);
}

static void
put_frame(struct tap *t, const struct ease_sample *s)
{
	uint32_t len = s->frame_octets > FCS_OCTETS ? s->frame_octets - FCS_OCTETS : 0;
	struct wbuf *w = &t->gathered;
	/* sFlow agents may send longer headers than ours */
	uint32_t kept = s->kept_octets < EASE_HEADER_MAX_OCTETS ? s->kept_octets
							       : EASE_HEADER_MAX_OCTETS;

	if (kept > len)
		kept = len; /* without octets of the FCS */
	if (w->size - w->len < PCAP_FRAME_OCTETS + (size_t)kept)
		write_gathered(t);
	if (t->fd < 0)
		return;
	wbuf_be32(w, (uint32_t)(s->time_us / 1000000));
	wbuf_be32(w, (uint32_t)(s->time_us % 1000000));
	wbuf_be32(w, kept);
	wbuf_be32(w, len);
	wbuf_put(w, s->header, kept);
	t->n_frames++;
}

void
tap_take(struct tap *t, const struct ease_record *records, size_t n)
{
	for (size_t i = 0; t && t->fd >= 0 && i < n; i++)
		if (records[i].kind == EASE_PART_SAMPLE)
			put_frame(t, &records[i].sample);
}

void
tap_flush(struct tap *t)
{
	if (!t)
		return;
	write_gathered(t);
	check_reader(t);
	write_gathered(t); /* a new reader gets the header at once */
}
