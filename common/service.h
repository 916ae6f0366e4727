/*
 * What a daemon does as a system service. It notifies the service manager (systemd) of readiness
 * and life by the protocol of sd_notify(3): a datagram to the socket that NOTIFY_SOCKET names;
 * without that variable nothing is sent. And it protects the communities and keys in its memory.
 */
#ifndef EASE_COMMON_SERVICE_H
#define EASE_COMMON_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Sends "READY=1", "STOPPING=1" or "STATUS=…". Never waits. False if it was not sent. */
bool service_notify(const char *state);

/* The manager's watchdog time-out (WATCHDOG_USEC); 0: it runs no watchdog. */
uint64_t service_watchdog_us(void);

/* Sends "WATCHDOG=1" if half of the time-out has passed since the last one. The main loop must call
 * this often enough. *last_us belongs to the caller and begins as 0. */
void service_alive(uint64_t *last_us, uint64_t now_us);

/* Forbids core files, and other processes of this user to read this one's memory. */
void service_hide_memory(void);

/* SIGHUP and SIGUSR1, which would end a daemon that has no handler for them yet, wait from here on, or no longer. Of the
 * calling thread, and of threads and processes that it begins meanwhile. */
void service_hold_signals(bool held);

/* True if users other than its owner and group may read the file. */
bool service_is_readable_by_all(const char *file);

#endif
