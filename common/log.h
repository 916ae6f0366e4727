/*
 * Logging for the daemons: one line a message, with level and room, to standard error (which
 * systemd and the demo keep) or to syslog. In the journal lines have their priority, so that journalctl -p
 * finds them. The _limited forms let a few messages of one call site pass in each period and count the others
 * in the next line that passes ("... 120 more like it"), because hostile input must not fill a disk. Keeps errno.
 * Thread-safe.
 */
#ifndef EASE_COMMON_LOG_H
#define EASE_COMMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* ident is borrowed until the process ends. Before this call messages go to standard error, down to
 * level INFO. */
void log_open(const char *ident, bool to_syslog, enum log_level most);

/* Where lines go instead of standard error; -1: there again. Before there are threads, like log_open. */
void log_set_fd(int fd);

/* Changes the level from now on. Any thread may call it. */
void log_set_most(enum log_level most);

void log_write(enum log_level level, const char *room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* At most LOG_LIMIT_BURST messages of one call site in LOG_LIMIT_PERIOD_US. */
enum { LOG_LIMIT_BURST = 5 };
#define LOG_LIMIT_PERIOD_US 10000000ull

struct log_limit {
	uint64_t period_start_us;
	uint32_t in_period;
	uint32_t suppressed; /* messages since the last one that passed */
	int lock;	     /* 0 free, 1 held: a spin lock, held for a few instructions */
};

/* True if a message may pass now; *suppressed is then the number of those that did not since the
 * last one. */
bool log_limit_pass(struct log_limit *limit, uint64_t mono_us, uint32_t *suppressed);

void log_write_limited(struct log_limit *limit, enum log_level level, const char *room,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#define log_error(room, ...) log_write(LOG_LEVEL_ERROR, room, __VA_ARGS__)
#define log_warn(room, ...)  log_write(LOG_LEVEL_WARN, room, __VA_ARGS__)
#define log_info(room, ...)  log_write(LOG_LEVEL_INFO, room, __VA_ARGS__)
#define log_debug(room, ...) log_write(LOG_LEVEL_DEBUG, room, __VA_ARGS__)

/* For anything that a stranger can provoke: limited by call site. */
#define log_limited(level, room, ...)                                                              \
	do {                                                                                       \
		static struct log_limit site_limit_;                                               \
		log_write_limited(&site_limit_, level, room, __VA_ARGS__);                         \
	} while (0)
#define log_warn_limited(room, ...) log_limited(LOG_LEVEL_WARN, room, __VA_ARGS__)
#define log_info_limited(room, ...) log_limited(LOG_LEVEL_INFO, room, __VA_ARGS__)

#endif
