#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/library/snmp_transport.h>

#include "agent/snmp/master_transport.h"

#include "agent/snmp/master_connect.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* *Assumed*: longer than the way to a master over TCP takes, and short enough that a stop does not
 * have to wait long for this thread. */
enum { CONNECT_MS = 1000 };

static const oid domain_name[] = {1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 2};

/* Static, because the library keeps it in its list of transports. */
static netsnmp_tdomain domain;
static struct master_link *the_link;

static int
on_recv(netsnmp_transport *t, void *octets, int size, void **opaque, int *opaque_octets)
{
	ssize_t n = t->sock < 0 ? -1 : master_link_read(the_link, octets, (size_t)size);

	*opaque = NULL;
	*opaque_octets = 0;
	if (n == 0)
		t->flags |= NETSNMP_TRANSPORT_FLAG_EMPTY_PKT;
	return (int)n;
}

/* Always succeeds for the library: master_link_read reports the end of the stream later, when the
 * library survives it. */
static int
on_send(netsnmp_transport *t, const void *octets, int n, void **opaque, int *opaque_octets)
{
	(void)opaque;
	(void)opaque_octets;
	if (t->sock >= 0 && n > 0)
		master_link_write(the_link, octets, (size_t)n);
	return n;
}

static int
on_close(netsnmp_transport *t)
{
	if (t->sock < 0)
		return -1;
	master_link_close(the_link);
	close(t->sock);
	t->sock = -1;
	return 0;
}

/* The library asks for its own table of targets, which we do not serve. */
static void
get_no_address(netsnmp_transport *t, void **address, size_t *n)
{
	(void)t;
	*address = NULL;
	*n = 0;
}

/* Returns a connected socket with the link over it, or -errno. */
static int
transport_open_link(const char *target)
{
	struct master_address address;
	int rc, fd = master_address_parse(target, &address) ? -EINVAL
							    : master_connect(&address, CONNECT_MS);

	if (fd < 0) {
		master_link_unreached(the_link, target, fd);
		return fd;
	}
	rc = master_link_open(the_link, fd);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static netsnmp_transport *
make_transport(netsnmp_tdomain_spec *spec)
{
	netsnmp_transport *t = calloc(1, sizeof(*t)); /* the library frees it */
	int fd = t ? transport_open_link(spec->target) : -ENOMEM;

	if (fd < 0) {
		free(t);
		return NULL;
	}
	*t = (netsnmp_transport){
		.domain = domain_name,
		.domain_length = OID_LENGTH(domain_name),
		.sock = fd,
		.flags = NETSNMP_TRANSPORT_FLAG_STREAM,
		.msgMaxSize = SNMP_MAX_PACKET_LEN,
		.f_recv = on_recv,
		.f_send = on_send,
		.f_close = on_close,
		.f_get_taddr = get_no_address,
	};
	return t;
}

int
master_transport_register(struct master_link *link)
{
	const char **prefixes = calloc(2, sizeof(*prefixes)); /* the library frees the array alone */

	if (!prefixes)
		return -ENOMEM;
	prefixes[0] = MASTER_TRANSPORT_PREFIX;
	the_link = link;
	domain = (netsnmp_tdomain){
		.name = domain_name,
		.name_length = OID_LENGTH(domain_name),
		.prefix = prefixes,
		.f_create_from_tspec = make_transport,
	};
	netsnmp_tdomain_register(&domain);
	return 0;
}
