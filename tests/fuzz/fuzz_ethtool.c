/* Any octets at all as what a driver says by ethtool's netlink: each parser says what is in it or
 * refuses it, no answer makes known what is no figure, and no mode of flow control is out of range. */
#include "agent/linux/ethtool.h"
#include "agent/linux/rtnl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(const struct nlmsghdr *message)
{
	struct hal_counters figures = {0};
	struct ethtool_pause pause = {0};
	struct ethtool_modes modes = {0};
	uint8_t state = HAL_EEE_NOT_KNOWN;
	uint32_t kernel_index;

	ethtool_parse_stats(message, &figures);
	ethtool_parse_pause(message, &pause, &figures);
	ethtool_parse_modes(message, &modes);
	ethtool_parse_eee(message, &state);
	ethtool_parse_notice(message, &kernel_index);
	if (figures.known >> HAL_N_FIGURES || state > HAL_EEE_ACTIVE ||
	    ethtool_pause_oper(&pause, &modes, true) > HAL_PAUSE_BOTH)
		abort();
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
