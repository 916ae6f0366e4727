#include "agent/linux/psample.h"

#include "agent/linux/attribute.h"

#include <linux/genetlink.h>
#include <linux/psample.h>
#include <string.h>

enum { WINDOW_BITS = (1 << PSAMPLE_WINDOW) - 1 };

/* ---- messages ---- */

/* The attributes that a sample must have, a bit each. */
#define BIT(attr) (1u << (attr))
#define NEEDED                                                                                     \
	(BIT(PSAMPLE_ATTR_ORIGSIZE) | BIT(PSAMPLE_ATTR_SAMPLE_GROUP) |                            \
	    BIT(PSAMPLE_ATTR_GROUP_SEQ) | BIT(PSAMPLE_ATTR_SAMPLE_RATE) | BIT(PSAMPLE_ATTR_DATA))

static int
take_attribute(const struct nlattr *attr, struct psample_record *record)
{
	switch (mnl_attr_get_type(attr)) {
	case PSAMPLE_ATTR_IIFINDEX: /* the kernel cuts both to 16 bits */
		record->has_input = true;
		return attribute_copy(attr, &record->input_index, sizeof(record->input_index));
	case PSAMPLE_ATTR_OIFINDEX:
		record->has_output = true;
		return attribute_copy(attr, &record->output_index, sizeof(record->output_index));
	case PSAMPLE_ATTR_OUT_TC:
		record->way.known |= EASE_WAY_QUEUE;
		return attribute_u16(attr, &record->way.queue);
	case PSAMPLE_ATTR_OUT_TC_OCC:
		record->way.known |= EASE_WAY_DEPTH;
		return attribute_u64(attr, &record->way.depth_octets);
	case PSAMPLE_ATTR_LATENCY:
		record->way.known |= EASE_WAY_DELAY;
		return attribute_u64(attr, &record->way.delay_ns);
	case PSAMPLE_ATTR_ORIGSIZE:
		return attribute_copy(attr, &record->frame_octets, sizeof(record->frame_octets));
	case PSAMPLE_ATTR_SAMPLE_GROUP:
		return attribute_copy(attr, &record->group, sizeof(record->group));
	case PSAMPLE_ATTR_GROUP_SEQ:
		return attribute_copy(attr, &record->number, sizeof(record->number));
	case PSAMPLE_ATTR_SAMPLE_RATE:
		return attribute_copy(attr, &record->rate, sizeof(record->rate));
	case PSAMPLE_ATTR_TIMESTAMP:
		return attribute_copy(attr, &record->time_ns, sizeof(record->time_ns));
	case PSAMPLE_ATTR_DATA:
		record->octets = mnl_attr_get_payload(attr);
		record->kept_octets = mnl_attr_get_payload_len(attr);
		return 0;
	default:
		return 0;
	}
}

int
psample_parse(const struct nlmsghdr *message, uint16_t type, struct psample_record *record)
{
	const struct genlmsghdr *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	uint32_t seen = 0;
	int rc = 0;

	if (message->nlmsg_type != type)
		return -ENOMSG;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return -EPROTO;
	if (head->cmd != PSAMPLE_CMD_SAMPLE)
		return -ENOMSG;
	*record = (struct psample_record){0};
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		if (rc < 0)
			return rc;
		rc = take_attribute(attr, record);
		if (mnl_attr_get_type(attr) <= PSAMPLE_ATTR_MAX)
			seen |= BIT(mnl_attr_get_type(attr));
	}
	if (rc < 0)
		return rc;
	return (seen & NEEDED) == NEEDED && record->rate > 0 ? 0 : -EPROTO;
}

/* ---- sequence numbers ---- */

uint32_t
psample_sequence_update(struct psample_sequence *sequence, uint32_t number)
{
	uint32_t ahead = number - sequence->next, lost;

	if (ahead > INT32_MAX) { /* an earlier number: late, or a duplicate from two processors */
		uint32_t back = sequence->next - 1 - number;

		if (back < PSAMPLE_WINDOW)
			sequence->missing &= ~(1u << back);
		return 0;
	}
	sequence->next = number + 1;
	if (ahead >= PSAMPLE_WINDOW) {
		lost = (uint32_t)__builtin_popcount(sequence->missing) + ahead - (PSAMPLE_WINDOW - 1);
		sequence->missing = WINDOW_BITS & ~1u;
		return lost;
	}
	lost = (uint32_t)__builtin_popcount(sequence->missing >> (PSAMPLE_WINDOW - 1 - ahead));
	sequence->missing = (sequence->missing << (ahead + 1) | ((1u << (ahead + 1)) - 2)) & WINDOW_BITS;
	return lost;
}

uint32_t
psample_sequence_finish(struct psample_sequence *sequence)
{
	uint32_t lost = (uint32_t)__builtin_popcount(sequence->missing);

	sequence->missing = 0;
	return lost;
}
