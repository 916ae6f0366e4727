/*
 * Netlink sockets: one for questions that are answered at once (a dump, one link, a change), and
 * one that hears what the kernel tells by itself. Knows neither links nor addresses: messages go
 * to a function of the caller.
 *
 * A request is put to the kernel inside sendmsg and its answer stands in the socket when that
 * returns, so asking waits for the kernel's own lock and for nothing on a wire.
 */
#ifndef EASE_AGENT_LINUX_NETLINK_H
#define EASE_AGENT_LINUX_NETLINK_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

/* Sees one message, borrowed for the call; anything but 0 ends the round and is returned. */
typedef int (*netlink_handler)(void *ctx, const struct nlmsghdr *message);

enum { NETLINK_MESSAGE_MAX = 1024 }; /* of a request */

struct netlink; /* the socket for questions */

/* protocol: NETLINK_ROUTE or NETLINK_GENERIC. -errno. */
int netlink_open(int protocol, struct netlink **netlink);
void netlink_close(struct netlink *netlink); /* NULL allowed */

/* Begins a request in octets (NETLINK_MESSAGE_MAX, aligned as a struct nlmsghdr). head_octets of
 * zeros follow its header: mnl_nlmsg_get_payload finds them. */
struct nlmsghdr *netlink_begin(void *octets, uint16_t type, uint16_t flags, size_t head_octets);

/* Sends the request and hands each message of the answer to take (NULL: none is expected) until
 * the kernel says that this is all. 0; the kernel's refusal as -errno; -EAGAIN if the table changed
 * while it was dumped (what take saw may lack or double entries: ask again); what take returned. */
int netlink_request(struct netlink *netlink, struct nlmsghdr *request, netlink_handler take, void *ctx);

/* The same in portions, for an answer that is long: netlink_start sends the request, netlink_continue
 * hands over what is in at most max datagrams: 1 if there is more, else as netlink_request. No other
 * request until it is at its end. netlink_fd is readable while there is more. */
int netlink_start(struct netlink *netlink, struct nlmsghdr *request);
int netlink_continue(struct netlink *netlink, unsigned max, netlink_handler take, void *ctx);
int netlink_fd(const struct netlink *netlink);

/* What the kernel said in words about its last refusal; "" if nothing. */
const char *netlink_reason(const struct netlink *netlink);

/* The message type of a family of generic netlink, by its name ("ethtool"). -ENOENT: the kernel has
 * no such family. */
int netlink_family(struct netlink *netlink, const char *name, uint16_t *type);
/* The number of a family's multicast group, by both names, for netlink_listen. -ENOENT: there is no
 * such family, or group. */
int netlink_group(struct netlink *netlink, const char *family, const char *name, unsigned *group);

/* A descriptor that hears the groups (RTNLGRP_…, ended by 0), readable when there is something; to
 * be closed by the caller. buffer_octets is asked for and granted as far as privilege goes. */
int netlink_listen(int protocol, const unsigned *groups, int buffer_octets, int *fd);

/* Reads one datagram of such a descriptor. 1: handled, there may be more; 0: nothing waits;
 * -ENOBUFS: the kernel dropped messages, so what is known is stale; other -errno. A damaged
 * datagram is -EPROTO, its good messages before that were handed over. */
int netlink_receive(int fd, netlink_handler take, void *ctx);

#endif
