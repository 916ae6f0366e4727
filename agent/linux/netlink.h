/*
 * Netlink sockets of two kinds: for requests that are answered at once (a dump, one link, a change),
 * and for the kernel's notices. Knows neither links nor addresses: messages go to a function of the
 * caller.
 *
 * The kernel carries out a request inside sendmsg, and the answer is in the socket when sendmsg
 * returns. So a request waits for the kernel's lock only.
 */
#ifndef EASE_AGENT_LINUX_NETLINK_H
#define EASE_AGENT_LINUX_NETLINK_H

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gets one message, borrowed for the call. A result other than 0 ends the exchange and is returned. */
typedef int (*netlink_handler)(void *ctx, const struct nlmsghdr *message);

enum {
	NETLINK_MESSAGE_MAX = 1024, /* of a request */
	/* With the flags of netlink_begin: the kernel answers by one message or an error, which is the end. */
	NETLINK_ONE_ANSWER = 0x8000,
};

struct netlink; /* the socket for requests */

/* protocol: NETLINK_ROUTE or NETLINK_GENERIC. -errno. */
int netlink_open(int protocol, struct netlink **netlink);
void netlink_close(struct netlink *netlink); /* NULL allowed */

/* Begins a request in octets (NETLINK_MESSAGE_MAX, aligned as a struct nlmsghdr). head_octets zeros
 * follow the header; mnl_nlmsg_get_payload returns their address. */
struct nlmsghdr *netlink_begin(void *octets, uint16_t type, uint16_t flags, size_t head_octets);

/* Sends the request and passes each message of the answer to take (NULL: none is expected) until the
 * kernel marks the end. Returns 0; the kernel's error as -errno; -EAGAIN if the table changed during
 * the dump, so that entries may be missing or doubled and the request should be repeated; or what
 * take returned. */
int netlink_request(struct netlink *netlink, struct nlmsghdr *request, netlink_handler take, void *ctx);

/* The same in portions, for an answer that is long: netlink_start sends the request, and
 * netlink_continue passes on the messages of at most max datagrams; 1 if there is more, else as
 * netlink_request. No other request is allowed before the end. netlink_fd is readable while there is more. */
int netlink_start(struct netlink *netlink, struct nlmsghdr *request);
int netlink_continue(struct netlink *netlink, unsigned max, netlink_handler take, void *ctx);
int netlink_fd(const struct netlink *netlink);

/* The kernel's message about the last request that it refused; "" if it gave none. */
const char *netlink_reason(const struct netlink *netlink);

/* The message type of a generic netlink family ("ethtool"). -ENOENT: the kernel has no such family. */
int netlink_family(struct netlink *netlink, const char *name, uint16_t *type);
/* The number of a family's multicast group, for netlink_listen. -ENOENT: there is no such family or
 * group. */
int netlink_group(struct netlink *netlink, const char *family, const char *name, unsigned *group);

/* Opens a descriptor that receives the notices of these groups (RTNLGRP_…, ended by 0). The caller
 * closes it. Without privilege the kernel may grant a smaller buffer than buffer_octets. */
int netlink_listen(int protocol, const unsigned *groups, int buffer_octets, int *fd);

/* Reads one datagram of such a descriptor. 1: handled, there may be more; 0: none is waiting; -ENOBUFS:
 * the kernel dropped notices, so what we know is stale; -EPROTO: the datagram is damaged, and only the
 * messages before the damage were passed on; other -errno. */
int netlink_receive(int fd, netlink_handler take, void *ctx);

/* What a receiver met: datagrams that the kernel dropped for lack of room (at least so many), and damaged ones. */
struct netlink_faults {
	uint64_t overflows, damaged;
};

/* Reads at most budget datagrams (0: all that wait) of such a descriptor and goes on after a fault, which it adds to
 * faults. 1: there may be more; 0: none is waiting, or fd is below 0; other -errno: the descriptor failed, or what
 * take returned. */
int netlink_receive_all(int fd, netlink_handler take, void *ctx, unsigned budget, struct netlink_faults *faults);

/* ---- once more ----
 * Repeats netlink requests whose answer was lost: for lack of memory, by a signal, or in a datagram that
 * was cut off. It is then unknown whether the kernel has carried out the request. A request that may
 * be made twice is repeated at once, so that one such failure leaves no filter behind and no counter
 * unread. */

enum { NETLINK_TRIES = 3 };

/* True if this -errno leaves open whether the kernel has carried out the request. */
static inline bool
netlink_reply_lost(int rc)
{
	return rc == -ENOBUFS || rc == -ENOMEM || rc == -EINTR || rc == -EAGAIN || rc == -EPROTO;
}

/* As netlink_request, for reading and removing; take may get the beginning of an answer twice. */
static inline int
netlink_request_retry(struct netlink *n, struct nlmsghdr *request, netlink_handler take, void *ctx)
{
	int rc = netlink_request(n, request, take, ctx);

	for (int tries = 1; tries < NETLINK_TRIES && netlink_reply_lost(rc); tries++)
		rc = netlink_request(n, request, take, ctx);
	return rc;
}

/* As netlink_open, with retries, for changes that must be undone now. */
static inline int
netlink_open_retry(int protocol, struct netlink **result)
{
	int rc = netlink_open(protocol, result);

	for (int tries = 1; tries < NETLINK_TRIES && rc < 0; tries++)
		rc = netlink_open(protocol, result);
	return rc;
}

#endif
