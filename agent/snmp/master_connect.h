/*
 * Connects to the master's socket within a time limit. Net-SNMP's own connect has none: if the master
 * hangs, a Unix socket waits without end for a place in the listener's full queue, and TCP waits for
 * minutes.
 */
#ifndef EASE_AGENT_SNMP_MASTER_CONNECT_H
#define EASE_AGENT_SNMP_MASTER_CONNECT_H

#include <sys/socket.h>

struct master_address {
	struct sockaddr_storage address; /* AF_UNIX, AF_INET or AF_INET6 */
	socklen_t len;
};

/* Parses "/path", "unix:/path", "tcp:ADDRESS:PORT" or "tcp:[IPv6]:PORT". ADDRESS is numeric or
 * "localhost", which stands for 127.0.0.1: other names are refused, because the agent must not wait
 * for a name server. Returns NULL, or the reason in static storage. */
const char *master_address_parse(const char *text, struct master_address *address);

/* The same without a result, for option rows. */
const char *master_address_check(const char *text);

/* Returns a connected, blocking stream socket that is closed on exec, or -errno. Waits at most
 * timeout_ms. -EAGAIN (Unix, at once) and -ETIMEDOUT (TCP): the master listens but does not accept. */
int master_connect(const struct master_address *address, int timeout_ms);

#endif
