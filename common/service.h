/*
 * A daemon and the manager that started it: readiness and watchdog by the protocol of
 * sd_notify(3), which is a datagram to the socket that NOTIFY_SOCKET names (without one, nothing
 * happens); and that no copy of its memory is left lying about, for it holds communities and keys.
 */
#ifndef EASE_COMMON_SERVICE_H
#define EASE_COMMON_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

/* "READY=1", "STOPPING=1", "STATUS=…"; never waits. False if nobody was told. */
bool service_notify(const char *state);

/* How often the manager wants to hear that we live; 0: it does not ask. */
uint64_t service_watchdog_us(void);

/* "WATCHDOG=1" if half of that time has passed since the last one. For a main loop that comes by
 * often enough. *last_us: the caller's, 0 at first. */
void service_alive(uint64_t *last_us, uint64_t now_us);

/* No core file, and no other process of this user may read this one's memory. */
void service_hide_memory(void);

/* True if others than owner and group may read that file. */
bool service_is_readable_by_all(const char *file);

#endif
