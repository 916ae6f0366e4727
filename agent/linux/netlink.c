#include "agent/linux/netlink.h"

#include "agent/linux/rtnl.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ANSWER_OCTETS = 65536, /* dumps come in datagrams of up to 32 KiB */
	REASON_OCTETS = 128,
};

/* An exchange: one request and its answer. */
struct round {
	uint32_t sequence; /* messages with another number are ignored */
	bool interrupted, done;
	bool one_answer;
};

struct netlink {
	struct mnl_socket *socket;
	struct round round; /* the newest */
	char reason[REASON_OCTETS];
	uint8_t answer[ANSWER_OCTETS] __attribute__((aligned(8)));
};

int
netlink_open(int protocol, struct netlink **result)
{
	struct netlink *n = calloc(1, sizeof(*n));
	int on = 1;

	if (!n)
		return -ENOMEM;
	n->socket = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	if (!n->socket || mnl_socket_bind(n->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		int rc = -errno;

		netlink_close(n);
		return rc;
	}
	/* Without strict checks a dump ignores its filter. The messages about errors are optional. */
	(void)mnl_socket_setsockopt(n->socket, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	(void)mnl_socket_setsockopt(n->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	*result = n;
	return 0;
}

void
netlink_close(struct netlink *n)
{
	if (!n)
		return;
	if (n->socket)
		mnl_socket_close(n->socket);
	free(n);
}

struct nlmsghdr *
netlink_begin(void *octets, uint16_t type, uint16_t flags, size_t head_octets)
{
	struct nlmsghdr *request;

	memset(octets, 0, NETLINK_MESSAGE_MAX); /* padding of attributes goes to the kernel, too */
	request = mnl_nlmsg_put_header(octets);
	request->nlmsg_type = type;
	request->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	mnl_nlmsg_put_extra_header(request, head_octets);
	return request;
}

/* ---- answers ---- */

static void
keep_reason(struct netlink *n, const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
	size_t head = sizeof(*error);
	const struct nlattr *attr;

	n->reason[0] = '\0';
	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		head += error->msg.nlmsg_len - sizeof(struct nlmsghdr);
	if (head > mnl_nlmsg_get_payload_len(message))
		return;
	mnl_attr_for_each(attr, message, MNL_ALIGN(head)) {
		size_t length = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) != NLMSGERR_ATTR_MSG)
			continue;
		if (length > sizeof(n->reason) - 1)
			length = sizeof(n->reason) - 1;
		memcpy(n->reason, mnl_attr_get_payload(attr), length);
		n->reason[length] = '\0';
	}
}

static int
error_of(struct netlink *n, const struct nlmsghdr *message)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);

	if (mnl_nlmsg_get_payload_len(message) < sizeof(*error))
		return -EPROTO;
	keep_reason(n, message);
	return error->error > 0 ? -EPROTO : error->error;
}

static int
netlink_take_one(struct netlink *n, const struct nlmsghdr *message, netlink_handler take, void *ctx)
{
	if (message->nlmsg_seq != n->round.sequence)
		return 0;
	if (message->nlmsg_flags & NLM_F_DUMP_INTR)
		n->round.interrupted = true;
	if (message->nlmsg_type == NLMSG_ERROR) {
		n->round.done = true;
		return error_of(n, message);
	}
	if (message->nlmsg_type == NLMSG_DONE) {
		n->round.done = true;
		return 0;
	}
	n->round.done = n->round.one_answer;
	return message->nlmsg_type >= NLMSG_MIN_TYPE && take ? take(ctx, message) : 0;
}

static int
netlink_take_datagram(struct netlink *n, size_t size, netlink_handler take, void *ctx)
{
	const struct nlmsghdr *message;
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && !n->round.done && (message = rtnl_next(n->answer, size, &at)))
		rc = netlink_take_one(n, message, take, ctx);
	/* We would wait for ever for the end of an answer that is cut off. */
	return rc == 0 && !n->round.done && at != size ? -EPROTO : rc;
}

/* The rest of an answer that was not read to its end must not come before the next answer. */
static void
drain_answers(struct netlink *n)
{
	while (recv(mnl_socket_get_fd(n->socket), n->answer, sizeof(n->answer), MSG_DONTWAIT) > 0)
		;
}

int
netlink_start(struct netlink *n, struct nlmsghdr *request)
{
	bool one_answer = request->nlmsg_flags & NETLINK_ONE_ANSWER;

	/* The kernel acknowledges every other request except a dump, so that we see the end also where there
	 * is no answer. (NLM_F_DUMP is two bits, each of which means something else in a change.) */
	if ((request->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP && !one_answer)
		request->nlmsg_flags |= NLM_F_ACK;
	request->nlmsg_flags &= (uint16_t)~NETLINK_ONE_ANSWER;
	n->round = (struct round){.sequence = n->round.sequence + 1, .one_answer = one_answer};
	request->nlmsg_seq = n->round.sequence;
	n->reason[0] = '\0';
	return mnl_socket_sendto(n->socket, request, request->nlmsg_len) < 0 ? -errno : 0;
}

int
netlink_continue(struct netlink *n, unsigned max, netlink_handler take, void *ctx)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && !n->round.done && i < max; i++) {
		ssize_t size = mnl_socket_recvfrom(n->socket, n->answer, sizeof(n->answer));

		if (size < 0 && errno == EINTR)
			continue;
		rc = size < 0 ? -errno : netlink_take_datagram(n, (size_t)size, take, ctx);
	}
	if (rc == 0 && !n->round.done)
		return 1;
	if (!n->round.done)
		drain_answers(n);
	return rc != 0 ? rc : n->round.interrupted ? -EAGAIN : 0;
}

int
netlink_request(struct netlink *n, struct nlmsghdr *request, netlink_handler take, void *ctx)
{
	int rc = netlink_start(n, request);

	while (rc == 0 && !n->round.done)
		rc = netlink_continue(n, UINT_MAX, take, ctx);
	return rc;
}

int
netlink_fd(const struct netlink *n)
{
	return mnl_socket_get_fd(n->socket);
}

const char *
netlink_reason(const struct netlink *n)
{
	return n->reason;
}

/* ---- generic netlink ---- */

struct family {
	uint16_t type;
	const char *group_name; /* NULL: no group is searched */
	unsigned group;
};

static void
netlink_take_group(const struct nlattr *group, struct family *family)
{
	const struct nlattr *attr;
	bool named = false;
	uint32_t id = 0;

	mnl_attr_for_each_nested(attr, group) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			named = strcmp(mnl_attr_get_str(attr), family->group_name) == 0;
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID && mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
			id = mnl_attr_get_u32(attr);
	}
	if (named)
		family->group = id;
}

static int
netlink_take_family(void *ctx, const struct nlmsghdr *message)
{
	struct family *family = ctx;
	const struct nlattr *attr, *group;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
		return -EPROTO;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID && mnl_attr_validate(attr, MNL_TYPE_U16) >= 0)
			family->type = mnl_attr_get_u16(attr);
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS && family->group_name)
			mnl_attr_for_each_nested(group, attr)
				netlink_take_group(group, family);
	}
	return 0;
}

static int
ask_family(struct netlink *n, const char *name, struct family *family)
{
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct genlmsghdr *generic;
	struct nlmsghdr *request = netlink_begin(octets, GENL_ID_CTRL, 0, sizeof(*generic));

	generic = mnl_nlmsg_get_payload(request);
	generic->cmd = CTRL_CMD_GETFAMILY;
	generic->version = 1;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, name);
	return netlink_request(n, request, netlink_take_family, family);
}

int
netlink_family(struct netlink *n, const char *name, uint16_t *type)
{
	struct family family = {0};
	int rc = ask_family(n, name, &family);

	*type = family.type;
	return rc < 0 ? rc : *type == 0 ? -ENOENT : 0;
}

int
netlink_group(struct netlink *n, const char *name, const char *group_name, unsigned *group)
{
	struct family family = {.group_name = group_name};
	int rc = ask_family(n, name, &family);

	*group = family.group;
	return rc < 0 ? rc : *group == 0 ? -ENOENT : 0;
}

/* ---- notices ---- */

int
netlink_listen(int protocol, const unsigned *groups, int buffer_octets, int *result)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_octets, sizeof(buffer_octets)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer_octets, sizeof(buffer_octets));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		rc = -errno;
	for (; rc == 0 && *groups != 0; groups++)
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, groups, sizeof(*groups)) < 0)
			rc = -errno;
	if (rc < 0) {
		close(fd);
		return rc;
	}
	*result = fd;
	return 0;
}

int
netlink_receive(int fd, netlink_handler take, void *ctx)
{
	uint8_t octets[ANSWER_OCTETS] __attribute__((aligned(8)));
	const struct nlmsghdr *message;
	struct sockaddr_nl from;
	socklen_t from_size = sizeof(from);
	ssize_t size = recvfrom(fd, octets, sizeof(octets), MSG_DONTWAIT | MSG_TRUNC,
	    (struct sockaddr *)&from, &from_size);
	size_t at = 0;
	int rc = 0;

	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (from.nl_pid != 0) /* not from the kernel: any process may write to a netlink socket */
		return 1;
	if ((size_t)size > sizeof(octets))
		return -ENOBUFS; /* longer than the kernel sends them: its end is lost */
	while (rc == 0 && (message = rtnl_next(octets, (size_t)size, &at)))
		rc = take(ctx, message);
	if (rc != 0)
		return rc;
	return at == (size_t)size ? 1 : -EPROTO;
}

int
netlink_receive_all(int fd, netlink_handler take, void *ctx, unsigned budget, struct netlink_faults *faults)
{
	int rc = fd < 0 ? 0 : 1;

	for (unsigned n = 0; rc > 0 && (budget == 0 || n < budget); n++) {
		rc = netlink_receive(fd, take, ctx);
		faults->overflows += rc == -ENOBUFS;
		faults->damaged += rc == -EPROTO;
		if (rc == -ENOBUFS || rc == -EPROTO)
			rc = 1;
	}
	return rc;
}
