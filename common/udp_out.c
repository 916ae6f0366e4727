#include "common/udp_out.h"

#include "common/close_fd.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#define LOOK_PERIOD_US 10000000ull

static uint16_t
udp_out_port_of(const struct endpoint *e)
{
	return ntohs(e->address.ss_family == AF_INET6
		? ((const struct sockaddr_in6 *)&e->address)->sin6_port
		: ((const struct sockaddr_in *)&e->address)->sin_port);
}

static bool
lacks_interface(const struct endpoint *e)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&e->address;

	return e->address.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) && v6->sin6_scope_id == 0;
}

const char *
udp_out_check(const char *text)
{
	const char *reason = NULL;
	struct endpoint e;

	if (*text == '\0')
		return NULL;
	if (endpoint_parse(text, &e, &reason) < 0)
		return reason;
	if (lacks_interface(&e))
		return "a link-local address needs its interface: [fe80::1%eth0]:162";
	return udp_out_port_of(&e) ? NULL : "the port must not be 0";
}

uint16_t
udp_out_port(const char *text)
{
	const char *reason;
	struct endpoint e;

	return *text && endpoint_parse(text, &e, &reason) == 0 ? udp_out_port_of(&e) : 0;
}

int
udp_out_open(struct udp_out *out, const char *text)
{
	const char *reason;

	*out = (struct udp_out){.fd = -1};
	if (endpoint_parse(text, &out->to, &reason) < 0 || udp_out_port_of(&out->to) == 0)
		return -EINVAL;
	out->fd = socket(out->to.address.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return out->fd < 0 ? -errno : 0;
}

void
udp_out_close(struct udp_out *out)
{
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
}

bool
udp_out_connect(struct udp_out *out)
{
	if (out->connected)
		return true;
	if (connect(out->fd, (struct sockaddr *)&out->to.address, out->to.len) < 0)
		out->connect_error = errno;
	else
		out->connected = true;
	return out->connected;
}

/* A socket keeps the address and the route that it got when it was connected, even when the host
 * has others by now. */
static bool
connect_anew(struct udp_out *out)
{
	const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};

	out->connected = false;
	connect(out->fd, &nowhere, sizeof(nowhere));
	return udp_out_connect(out);
}

static bool
udp_out_source_of(int fd, char text[ENDPOINT_TEXT])
{
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &len) < 0)
		return false;
	endpoint_format((const struct sockaddr *)&own, false, text);
	return true;
}

/* Also a route that comes later, as a VPN's, may have another address, without which nobody there takes what is sent. */
static bool
source_is_outdated(const struct udp_out *out)
{
	int probe = socket(out->to.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char now[ENDPOINT_TEXT], before[ENDPOINT_TEXT];
	bool outdated = probe >= 0 && connect(probe, (const struct sockaddr *)&out->to.address, out->to.len) == 0 &&
	    udp_out_source_of(probe, now) && udp_out_source_of(out->fd, before) && strcmp(now, before) != 0;

	close_fd(probe);
	return outdated;
}

static bool
has_lost_its_route(int error)
{
	return error == ENETUNREACH || error == EHOSTUNREACH || error == EADDRNOTAVAIL ||
	    error == EINVAL || error == ENODEV;
}

static int
send_again(const struct udp_out *out, const void *octets, size_t n)
{
	return send(out->fd, octets, n, 0) >= 0 ? 0 : -errno;
}

/* The kernel reports an ICMP refusal at the next send, which then sends nothing. */
int
udp_out_send(struct udp_out *out, const void *octets, size_t n, uint64_t now_us, bool *unreachable)
{
	int error;

	*unreachable = false;
	if (!udp_out_connect(out))
		return -out->connect_error;
	if (now_us >= out->look_us) {
		out->look_us = now_us + LOOK_PERIOD_US;
		if (source_is_outdated(out) && !connect_anew(out))
			return -out->connect_error;
	}
	if (send(out->fd, octets, n, 0) >= 0)
		return 0;
	error = errno;
	*unreachable = error == ECONNREFUSED;
	if (has_lost_its_route(error) && !connect_anew(out))
		return -out->connect_error;
	return *unreachable || has_lost_its_route(error) ? send_again(out, octets, n) : -error;
}
