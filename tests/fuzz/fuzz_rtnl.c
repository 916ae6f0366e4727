/* Any octets at all as messages of the kernel: each parser says what is in one or refuses it, texts
 * end, and what it says it took lies within. */
#include "agent/linux/rtnl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse_vlans(const struct nlmsghdr *message)
{
	struct bridge_vlans vlans = {0};
	int rc = bridge_vlans_take(&vlans, message);

	if (rc < 0 && vlans.n > 0)
		abort();
	for (size_t i = 0; i < vlans.n; i++)
		if (vlans.ranges[i].first < 1 || vlans.ranges[i].last > 4094 ||
		    vlans.ranges[i].first > vlans.ranges[i].last)
			abort();
	bridge_vlans_free(&vlans);
}

static void
parse(const struct nlmsghdr *message)
{
	struct rtnl_neighbour neighbour;
	struct rtnl_queue queue;
	struct rtnl_stats stats;
	struct rtnl_link link;
	uint32_t kernel_index;

	if (rtnl_parse_link(message, &link) == 0 &&
	    (link.name[0] == '\0' || !memchr(link.name, 0, sizeof(link.name)) ||
		!memchr(link.alias, 0, sizeof(link.alias)) ||
		!memchr(link.kind, 0, sizeof(link.kind)) || link.kernel_index == 0 ||
		link.switch_id.n_octets > sizeof(link.switch_id.octets)))
		abort();
	parse_vlans(message);
	rtnl_parse_stats(message, &stats, &kernel_index);
	rtnl_parse_neighbour(message, &neighbour);
	rtnl_parse_queue(message, &queue);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy = malloc(size + 1); /* aligned, as the kernel's are, and no octet longer */
	const struct nlmsghdr *message;
	size_t at = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	while ((message = rtnl_next(copy, size, &at)))
		parse(message);
	free(copy);
	return 0;
}
