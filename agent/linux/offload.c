#include "agent/linux/offload.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <string.h>

static bool
text_is(const struct nlattr *attr, const char *text)
{
	size_t size = strlen(text);

	return mnl_attr_get_payload_len(attr) >= size &&
	    strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)) == size &&
	    memcmp(mnl_attr_get_payload(attr), text, size) == 0;
}

/* A list without a mask contains only the bits that are set. */
static bool
list_has(const struct nlattr *bits, const char *feature)
{
	const struct nlattr *bit, *attr;

	mnl_attr_for_each_nested(bit, bits)
		mnl_attr_for_each_nested(attr, bit)
			if (mnl_attr_get_type(attr) == ETHTOOL_A_BITSET_BIT_NAME &&
			    text_is(attr, feature))
				return true;
	return false;
}

int
offload_parse_feature(const struct nlmsghdr *message, const char *feature)
{
	const struct nlattr *attr, *part;
	bool found = false;

	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
		return -EPROTO;
	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != ETHTOOL_A_FEATURES_ACTIVE)
			continue;
		mnl_attr_for_each_nested(part, attr)
			if (mnl_attr_get_type(part) == ETHTOOL_A_BITSET_BITS)
				found |= list_has(part, feature);
	}
	return found;
}

static int
take_features(void *ctx, const struct nlmsghdr *message)
{
	*(bool *)ctx = offload_parse_feature(message, "hw-tc-offload") > 0;
	return 0;
}

bool
offload_is_enabled(struct kernel_requests *kernel, uint32_t kernel_index)
{
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
	struct nlmsghdr *request;
	struct genlmsghdr *head;
	struct nlattr *nest;
	bool on = false;

	if (kernel->ethtool == 0)
		return false;
	request = netlink_begin(octets, kernel->ethtool, 0, sizeof(*head));
	head = mnl_nlmsg_get_payload(request);
	head->cmd = ETHTOOL_MSG_FEATURES_GET;
	head->version = ETHTOOL_GENL_VERSION;
	nest = mnl_attr_nest_start(request, ETHTOOL_A_FEATURES_HEADER);
	mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, kernel_index);
	mnl_attr_nest_end(request, nest);
	return netlink_request(kernel->generic, request, take_features, &on) == 0 && on;
}
