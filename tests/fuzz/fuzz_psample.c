/* Any octets at all as messages of psample and of ethtool's features: a sample that is taken lies within
 * its message and has a rate, what it does not tell of its way stays 0, and the account of its numbers
 * never counts more lost than were passed. */
#include "agent/linux/ethtool.h"
#include "agent/linux/psample.h"
#include "agent/linux/rtnl.h"

#include <libmnl/libmnl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The queue, its depth and the delay are told apart from each other; the time is not of the way. */
static void
expect_known_alone(const struct ease_way *way)
{
	if (way->known & ~(EASE_WAY_QUEUE | EASE_WAY_DEPTH | EASE_WAY_DELAY) ||
	    (!(way->known & EASE_WAY_QUEUE) && way->queue != 0) ||
	    (!(way->known & EASE_WAY_DEPTH) && way->depth_octets != 0) ||
	    (!(way->known & EASE_WAY_DELAY) && way->delay_ns != 0) || way->time_ns != 0)
		abort();
}

static void
parse(const struct nlmsghdr *message, struct psample_sequence *account, uint64_t *room)
{
	const uint8_t *end = (const uint8_t *)message + MNL_ALIGN(message->nlmsg_len);
	struct psample_record record;
	uint32_t before = account->next;

	ethtool_parse_feature(message, "hw-tc-offload");
	if (psample_parse(message, message->nlmsg_type, &record) < 0)
		return;
	if (record.rate == 0 || record.octets + record.kept_octets > end ||
	    record.octets < (const uint8_t *)message)
		abort();
	expect_known_alone(&record.way);
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
