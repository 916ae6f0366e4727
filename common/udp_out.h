/*
 * A UDP socket that sends to one endpoint. It never waits; the caller counts what the kernel
 * refuses. The endpoint is numeric, so no name server is needed, and it may be opened before the
 * host has a route there.
 */
#ifndef EASE_COMMON_UDP_OUT_H
#define EASE_COMMON_UDP_OUT_H

#include "common/endpoint.h"

struct udp_out {
	int fd; /* -1: closed */
	struct endpoint to;
	bool connected;
	int connect_error; /* errno, while it is not connected */
	uint64_t look_us;  /* from then on the next send looks at its source address */
};

/* For option rows: NULL if good or empty, else the reason. */
const char *udp_out_check(const char *endpoint);

/* The port of an endpoint that passed udp_out_check; 0 if it is empty. */
uint16_t udp_out_port(const char *endpoint);

/* endpoint: "ADDRESS:PORT" or "[IPv6]:PORT". 0 or -errno; call udp_out_close in both cases. */
int udp_out_open(struct udp_out *out, const char *endpoint);
void udp_out_close(struct udp_out *out);

/* True once the host has a route there. From then on the socket has a source address of its own,
 * until the host loses that address or the route, or has another one for that endpoint. Each call and each send tries again. */
bool udp_out_connect(struct udp_out *out);

/* Sends one datagram: 0, or -errno if nothing was sent. now_us: monotonic. *unreachable is set if the host there
 * answered an earlier datagram with "port unreachable": no program listens there. */
int udp_out_send(struct udp_out *out, const void *octets, size_t n, uint64_t now_us, bool *unreachable);

#endif
