/* Any octets at all as messages of psample and of ethtool's features: a sample that is taken lies within
 * its message and has a rate, and the account of its numbers never counts more lost than were passed. */
#include "agent/linux/offload.h"
#include "agent/linux/psample.h"
#include "agent/linux/rtnl.h"

#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(const struct nlmsghdr *message, struct psample_sequence *account, uint64_t *room)
{
	const uint8_t *end = (const uint8_t *)message + MNL_ALIGN(message->nlmsg_len);
	struct psample_record record;
	uint32_t before = account->next;

	offload_parse_feature(message, "hw-tc-offload");
	if (psample_parse(message, message->nlmsg_type, &record) < 0)
		return;
	if (record.rate == 0 || record.octets + record.kept_octets > end ||
	    record.octets < (const uint8_t *)message)
		abort();
	*room += record.number - before <= INT32_MAX ? record.number - before : 0;
	if (psample_sequence_update(account, record.number) > *room)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy = malloc(size + 1); /* aligned, as the kernel's are, and no octet longer */
	struct psample_sequence account = {0};
	const struct nlmsghdr *message;
	uint64_t room = 0;
	size_t at = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	while ((message = rtnl_next(copy, size, &at)))
		parse(message, &account, &room);
	if (psample_sequence_finish(&account) > PSAMPLE_WINDOW)
		abort();
	free(copy);
	return 0;
}
