/* Any octets at all as messages of the kernel: each parser says what is in one or refuses it, texts
 * end, and what it says it took lies within. */
#include "agent/linux/rtnl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(const struct nlmsghdr *message)
{
	struct rtnl_neighbour neighbour;
	struct rtnl_link_stats64 stats;
	struct rtnl_link link;

	if (rtnl_parse_link(message, &link) == 0 &&
	    (link.name[0] == '\0' || !memchr(link.name, 0, sizeof(link.name)) ||
		!memchr(link.alias, 0, sizeof(link.alias)) ||
		!memchr(link.kind, 0, sizeof(link.kind)) || link.kernel_index == 0))
		abort();
	rtnl_parse_stats(message, &stats);
	rtnl_parse_neighbour(message, &neighbour);
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
