#include "common/log.h"

#include "common/clock.h"
#include "common/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* A longer message is cut. Each message is one line and each line one write, so that the lines of
 * threads and processes do not mix. */
enum { LINE_MAX_OCTETS = 1024 };

static const struct {
	const char *name;
	int syslog_priority;
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", LOG_ERR},
    [LOG_LEVEL_WARN] = {"warn", LOG_WARNING},
    [LOG_LEVEL_INFO] = {"info", LOG_INFO},
    [LOG_LEVEL_DEBUG] = {"debug", LOG_DEBUG},
};

/* Where the process logs to. Set once at the start, before there are threads. */
static struct {
	const char *ident;
	bool to_syslog;
	bool to_journal; /* lines begin with <PRIORITY>, sd-daemon(3) */
	int fd;
	_Atomic(enum log_level) most; /* the only member that may change later */
} sink = {.fd = STDERR_FILENO, .most = LOG_LEVEL_INFO};

/* Whether standard error goes to the journal: systemd.exec(5), $JOURNAL_STREAM. */
static bool
is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
	    st.st_dev == device && st.st_ino == inode;
}

void
log_open(const char *ident, bool to_syslog, enum log_level most)
{
	sink.ident = ident;
	sink.to_syslog = to_syslog;
	sink.to_journal = !to_syslog && is_journal();
	sink.most = most;
	tzset(); /* else the first message would allocate memory for it, whoever logs it */
	if (to_syslog)
		openlog(ident, LOG_PID, LOG_DAEMON);
}

void
log_set_fd(int fd)
{
	sink.fd = fd < 0 ? STDERR_FILENO : fd;
}

void
log_set_most(enum log_level most)
{
	sink.most = most;
}

static void
write_stderr(enum log_level level, const char *room, const char *message)
{
	char priority[8] = "", when[CLOCK_RFC3339_MAX], line[LINE_MAX_OCTETS + 128];
	int n;

	clock_format_rfc3339(clock_wall_us(&clock_system) / 1000 * 1000, when, sizeof(when));
	if (sink.to_journal)
		snprintf(priority, sizeof(priority), "<%d>", levels[level].syslog_priority);
	n = snprintf(line, sizeof(line), "%s%s %s%s%s %.40s: %s\n", priority, when,
	    sink.ident ? sink.ident : "", sink.ident ? " " : "", levels[level].name, room, message);
	if (n >= (int)sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	/* If that fails, there is nothing left to report that to. */
	if (write(sink.fd, line, (size_t)n) < 0)
		return;
}

static void __attribute__((format(printf, 4, 0)))
write_message(enum log_level level, const char *room, uint32_t suppressed, const char *format, va_list args)
{
	static const char cut[] = "...";
	char message[LINE_MAX_OCTETS], shown[LINE_MAX_OCTETS + 64], more[48] = "";
	int saved_errno = errno, n;
	size_t room_left;

	if (suppressed)
		snprintf(more, sizeof(more), " (... %u more like it)", suppressed);
	room_left = sizeof(message) - strlen(more);
	n = vsnprintf(message, room_left, format, args);
	if (n >= (int)room_left)
		memcpy(message + utf8_cut(message, room_left - sizeof(cut)), cut, sizeof(cut));
	/* Messages quote what strangers send, who must not add lines or control the terminal. */
	utf8_printable(message, shown, LINE_MAX_OCTETS);
	strcat(shown, more);
	if (sink.to_syslog)
		syslog(levels[level].syslog_priority, "%s: %s", room, shown);
	else
		write_stderr(level, room, shown);
	errno = saved_errno;
}

void
log_write(enum log_level level, const char *room, const char *format, ...)
{
	va_list args;

	if (level > sink.most)
		return;
	va_start(args, format);
	write_message(level, room, 0, format, args);
	va_end(args);
}

bool
log_limit_pass(struct log_limit *limit, uint64_t mono_us, uint32_t *suppressed)
{
	bool pass;

	while (__atomic_exchange_n(&limit->lock, 1, __ATOMIC_ACQUIRE))
		;
	if (mono_us - limit->period_start_us >= LOG_LIMIT_PERIOD_US) {
		limit->period_start_us = mono_us;
		limit->in_period = 0;
	}
	pass = limit->in_period < LOG_LIMIT_BURST;
	if (pass) {
		limit->in_period++;
		*suppressed = limit->suppressed;
		limit->suppressed = 0;
	} else if (limit->suppressed < UINT32_MAX) {
		limit->suppressed++;
	}
	__atomic_store_n(&limit->lock, 0, __ATOMIC_RELEASE);
	return pass;
}

void
log_write_limited(struct log_limit *limit, enum log_level level, const char *room, const char *format, ...)
{
	uint32_t suppressed;
	va_list args;

	if (level > sink.most || !log_limit_pass(limit, clock_mono_us(&clock_system), &suppressed))
		return;
	va_start(args, format);
	write_message(level, room, suppressed, format, args);
	va_end(args);
}
