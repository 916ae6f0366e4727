/* Any octets at all as messages of the drop monitor and of devlink's traps: a packet that is taken lies within its
 * message, all texts end in it, and every reason has a number. */
#include "agent/linux/devlink.h"
#include "agent/linux/drop_monitor.h"
#include "agent/linux/drop_reason.h"
#include "agent/linux/rtnl.h"

#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(const struct nlmsghdr *message)
{
	const uint8_t *start = (const uint8_t *)message, *end = start + MNL_ALIGN(message->nlmsg_len);
	struct drop_message_config config;
	struct drop_message_lost lost;
	struct devlink_trap trap;
	struct drop_record record;
	char function[64];

	(void)drop_message_parse_config(message, message->nlmsg_type, &config);
	(void)drop_message_parse_lost(message, message->nlmsg_type, &lost);
	if (devlink_parse_trap(message, &trap) == 0 && strlen(trap.name) + strlen(trap.device) == SIZE_MAX)
		abort();
	if (drop_message_parse(message, message->nlmsg_type, &record) < 0)
		return;
	if (record.kept_octets > 0 && (record.octets < start || record.octets + record.kept_octets > end))
		abort();
	drop_reason_function(record.symbol, function, sizeof(function));
	if (drop_reason_of_kernel(record.reason, function) > 372 || drop_reason_of_trap(record.trap, record.group) > 372)
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
