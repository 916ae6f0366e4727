/*
 * A socket that datagrams leave by, all to one endpoint. Never waits: what the kernel refuses is
 * the caller's to count. The address is given in numbers, so that no name server is needed, and
 * there need not be a route to it yet when it is opened.
 */
#ifndef EASE_COMMON_UDP_OUT_H
#define EASE_COMMON_UDP_OUT_H

#include "common/endpoint.h"

struct udp_out {
	int fd; /* -1: closed */
	struct endpoint to;
	bool connected;
	int connect_error; /* errno, while it is not connected */
};

/* For option rows: NULL if good (empty is), else the reason. */
const char *udp_out_check(const char *endpoint);

/* The port of an endpoint that is good; 0: it is empty. */
uint16_t udp_out_port(const char *endpoint);

/* endpoint: "ADDRESS:PORT" or "[IPv6]:PORT". 0 or -errno; udp_out_close in both cases. */
int udp_out_open(struct udp_out *out, const char *endpoint);
void udp_out_close(struct udp_out *out);

/* True once there was a way there: from then on the socket has an address of its own, until that is
 * taken from the host or the way is gone. Tried again at each call and each send. */
bool udp_out_connect(struct udp_out *out);

/* 0, or -errno and nothing was sent. *unreachable: the host there had said that nobody listens,
 * about a datagram sent before. */
int udp_out_send(struct udp_out *out, const void *octets, size_t n, bool *unreachable);

#endif
