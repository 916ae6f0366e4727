#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/library/snmp_transport.h>

#include "agent/snmp/master_transport.h"

#include <errno.h>
#include <stdlib.h>

static const oid domain_name[] = {1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 2};

/* The library chains it. */
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

/* A failure is no business of the library's: it hears of the end when it can bear it. */
static int
on_send(netsnmp_transport *t, const void *octets, int n, void **opaque, int *opaque_octets)
{
	(void)opaque;
	(void)opaque_octets;
	if (t->sock >= 0 && n > 0)
		master_link_write(the_link, octets, (size_t)n);
	return n;
}

static netsnmp_transport *
make(netsnmp_tdomain_spec *spec)
{
	netsnmp_transport *t = netsnmp_transport_open_client(spec->application, spec->target);

	if (!t)
		return NULL;
	master_link_open(the_link, t->sock);
	t->f_recv = on_recv;
	t->f_send = on_send;
	return t;
}

int
master_transport_register(struct master_link *link)
{
	const char **prefixes = calloc(2, sizeof(*prefixes)); /* the library frees it, and that alone */

	if (!prefixes)
		return -ENOMEM;
	prefixes[0] = MASTER_TRANSPORT_PREFIX;
	the_link = link;
	domain = (netsnmp_tdomain){
		.name = domain_name,
		.name_length = OID_LENGTH(domain_name),
		.prefix = prefixes,
		.f_create_from_tspec = make,
	};
	netsnmp_tdomain_register(&domain);
	return 0;
}
