#include "agent/snmp/master_connect.h"

#include "common/endpoint.h"
#include "common/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* What follows the prefix, or NULL. */
static const char *
text_after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static const char *
parse_path(const char *path, struct master_address *address)
{
	struct sockaddr_un *to = (struct sockaddr_un *)&address->address;

	if (*path == '\0')
		return "the path is empty";
	if (strlen(path) >= sizeof(to->sun_path))
		return "the path is longer than 107 octets";
	to->sun_family = AF_UNIX;
	strcpy(to->sun_path, path);
	address->len = sizeof(*to);
	return NULL;
}

static const char *
connect_parse_tcp(const char *text, struct master_address *address)
{
	const char *port = text_after(text, "localhost:"), *why = NULL;
	char local[ENDPOINT_TEXT];
	struct endpoint endpoint;

	if (port) {
		snprintf(local, sizeof(local), "127.0.0.1:%s", port);
		text = local;
	}
	if (endpoint_parse(text, &endpoint, &why) < 0)
		return why;
	address->address = endpoint.address;
	address->len = endpoint.len;
	return NULL;
}

const char *
master_address_parse(const char *text, struct master_address *address)
{
	const char *tcp = text_after(text, "tcp:"), *path = text_after(text, "unix:");

	memset(address, 0, sizeof(*address));
	if (!tcp)
		tcp = text_after(text, "tcp6:");
	return tcp ? connect_parse_tcp(tcp, address) : parse_path(path ? path : text, address);
}

const char *
master_address_check(const char *text)
{
	struct master_address address;

	return master_address_parse(text, &address);
}

/* The result of a TCP connect, or -ETIMEDOUT. */
static int
wait_for(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = 0, n = poll(&p, 1, timeout_ms);
	socklen_t size = sizeof(error);

	if (n < 0)
		return -errno;
	if (n == 0)
		return -ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? -errno : -error;
}

static int
connect_within(int fd, const struct master_address *address, int timeout_ms)
{
	/* The socket may be root's alone (agentXPerms); a restarted master makes it anew. */
	bool raised = address->address.ss_family == AF_UNIX && privilege_raise();
	int flags, rc = connect(fd, (const struct sockaddr *)&address->address, address->len);

	rc = rc < 0 ? -errno : 0;
	if (raised)
		privilege_lower();
	if (rc == -EINPROGRESS)
		rc = wait_for(fd, timeout_ms);
	if (rc < 0)
		return rc;
	flags = fcntl(fd, F_GETFL);
	return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? -errno : 0;
}

int
master_connect(const struct master_address *address, int timeout_ms)
{
	int fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = fd < 0 ? -errno : connect_within(fd, address, timeout_ms);

	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}
