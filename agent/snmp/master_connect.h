/*
 * The way to the master's socket. Net-SNMP's own connect waits without end for a master that stands
 * still: Unix's for a place in the full queue of its listener, TCP's for minutes. This one does not.
 */
#ifndef EASE_AGENT_SNMP_MASTER_CONNECT_H
#define EASE_AGENT_SNMP_MASTER_CONNECT_H

#include <sys/socket.h>

struct master_address {
	struct sockaddr_storage address; /* AF_UNIX, AF_INET or AF_INET6 */
	socklen_t len;
};

/* "/path", "unix:/path", "tcp:ADDRESS:PORT", "tcp:[IPv6]:PORT". The address is in numbers, as all
 * endpoints are, or is "localhost", which is 127.0.0.1: a name server that is away must not hold
 * the agent up. NULL, or the reason in static storage. */
const char *master_address_parse(const char *text, struct master_address *address);

/* For option rows: NULL if good, else the reason. */
const char *master_address_check(const char *text);

/* A connected stream that blocks and is closed on exec, or -errno. Waits at most timeout_ms.
 * -EAGAIN (Unix, at once), -ETIMEDOUT (TCP): somebody listens who does not accept. */
int master_connect(const struct master_address *address, int timeout_ms);

#endif
