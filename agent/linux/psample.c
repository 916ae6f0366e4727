#include "agent/linux/psample.h"

#include "agent/linux/attribute.h"
#include "agent/linux/clsact.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/psample.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_sample.h>
#include <string.h>

enum { WINDOW_BITS = (1 << PSAMPLE_WINDOW) - 1 };
#define LATEST_US 30000000ull /* a sample that seems older has its time from another clock */

/* ---- messages ---- */

/* The attributes that a sample must have, a bit each. */
#define BIT(attr) (1u << (attr))
#define NEEDED                                                                                     \
	(BIT(PSAMPLE_ATTR_ORIGSIZE) | BIT(PSAMPLE_ATTR_SAMPLE_GROUP) |                            \
	    BIT(PSAMPLE_ATTR_GROUP_SEQ) | BIT(PSAMPLE_ATTR_SAMPLE_RATE) | BIT(PSAMPLE_ATTR_DATA))

static int
psample_take_attribute(const struct nlattr *attr, struct psample_record *record)
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
		rc = psample_take_attribute(attr, record);
		if (mnl_attr_get_type(attr) <= PSAMPLE_ATTR_MAX)
			seen |= BIT(mnl_attr_get_type(attr));
	}
	if (rc < 0)
		return rc;
	return (seen & NEEDED) == NEEDED && record->rate > 0 ? 0 : -EPROTO;
}

uint64_t
psample_time_us(const struct psample_record *record, uint64_t now_us)
{
	uint64_t us = record->time_ns / 1000;

	return us <= now_us && now_us - us < LATEST_US ? us : now_us;
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

/* ---- filters ---- */

enum {
	FILTER_HANDLE = 0xea5e,
	FILTER_PRIORITY = 1, /* before filters that end the processing of a frame */
	TRY_RATE = 0x7fffffff,
	ACTION_FIRST = 1, /* actions are numbered from 1 */
};

/* A group number: GROUP_OURS, the port's kernel index, the low bits of the epoch, the direction. */
#define GROUP_OURS 0xe0000000u
enum {
	GROUP_OURS_SHIFT = 28,
	INDEX_SHIFT = 4,
	INDEX_MAX = (1 << 24) - 1,
	EPOCH_SHIFT = 1,
	EPOCH_MASK = 7,
};

uint32_t
psample_filter_group(const struct psample_filter *filter, bool out)
{
	return GROUP_OURS | filter->kernel_index << INDEX_SHIFT | (filter->epoch & EPOCH_MASK) << EPOCH_SHIFT | out;
}

bool
psample_filter_of_group(uint32_t group, uint32_t *kernel_index, bool *out)
{
	*kernel_index = group >> INDEX_SHIFT & INDEX_MAX;
	*out = group & 1;
	return group >> GROUP_OURS_SHIFT == GROUP_OURS >> GROUP_OURS_SHIFT;
}

struct request {
	uint8_t octets[NETLINK_MESSAGE_MAX] __attribute__((aligned(8)));
};

static struct nlmsghdr *
begin_filter(struct request *q, uint16_t type, uint16_t flags, uint32_t kernel_index, bool out)
{
	struct nlmsghdr *request = netlink_begin(q, type, flags, sizeof(struct tcmsg));
	struct tcmsg *head = mnl_nlmsg_get_payload(request);

	head->tcm_ifindex = (int)kernel_index;
	head->tcm_parent = clsact_parent(out);
	head->tcm_handle = FILTER_HANDLE;
	head->tcm_info = TC_H_MAKE(FILTER_PRIORITY << 16, htons(ETH_P_ALL));
	mnl_attr_put_strz(request, TCA_KIND, "matchall");
	return request;
}

/* TC_ACT_UNSPEC passes the frame on to the filters behind ours. */
static void
put_sample(struct nlmsghdr *request, uint32_t rate, uint32_t group)
{
	const struct tc_sample parameters = {.action = TC_ACT_UNSPEC};
	struct nlattr *action = mnl_attr_nest_start(request, ACTION_FIRST), *options;

	mnl_attr_put_strz(request, TCA_ACT_KIND, "sample");
	options = mnl_attr_nest_start(request, TCA_ACT_OPTIONS);
	mnl_attr_put(request, TCA_SAMPLE_PARMS, sizeof(parameters), &parameters);
	mnl_attr_put_u32(request, TCA_SAMPLE_RATE, rate);
	mnl_attr_put_u32(request, TCA_SAMPLE_TRUNC_SIZE, EASE_HEADER_MAX_OCTETS);
	mnl_attr_put_u32(request, TCA_SAMPLE_PSAMPLE_GROUP, group);
	mnl_attr_nest_end(request, options);
	mnl_attr_nest_end(request, action);
}

static int
add_filter(struct netlink *netlink, const struct psample_filter *filter, bool out, uint32_t rate)
{
	struct request q;
	struct nlmsghdr *request =
	    begin_filter(&q, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, filter->kernel_index, out);
	struct nlattr *options = mnl_attr_nest_start(request, TCA_OPTIONS), *actions;

	mnl_attr_put_u32(request, TCA_MATCHALL_FLAGS,
	    filter->hardware ? TCA_CLS_FLAGS_SKIP_SW : TCA_CLS_FLAGS_SKIP_HW);
	actions = mnl_attr_nest_start(request, TCA_MATCHALL_ACT);
	put_sample(request, rate, psample_filter_group(filter, out));
	mnl_attr_nest_end(request, actions);
	mnl_attr_nest_end(request, options);
	return netlink_request(netlink, request, NULL, NULL);
}

static void
take_off(struct netlink *netlink, uint32_t kernel_index, bool out)
{
	struct request q;

	(void)netlink_request_retry(netlink, begin_filter(&q, RTM_DELTFILTER, 0, kernel_index, out), NULL, NULL);
}

/* If the answer to an earlier try was lost, the filter may exist: it is removed before it is added
 * again. */
static int
add_filter_surely(struct netlink *netlink, const struct psample_filter *filter, bool out, uint32_t rate)
{
	int rc = add_filter(netlink, filter, out, rate);

	for (int tries = 1; netlink_reply_lost(rc); tries++) {
		take_off(netlink, filter->kernel_index, out);
		if (tries == NETLINK_TRIES)
			break;
		rc = add_filter(netlink, filter, out, rate);
	}
	return rc;
}

static int
add_both(struct netlink *netlink, struct psample_filter *filter, uint32_t rate)
{
	bool made;
	int rc = clsact_make(netlink, filter->kernel_index, &made);

	filter->made_hook |= made;
	if (rc == 0)
		rc = add_filter_surely(netlink, filter, false, rate);
	if (rc < 0)
		return rc;
	rc = add_filter_surely(netlink, filter, true, rate);
	if (rc < 0)
		take_off(netlink, filter->kernel_index, false);
	return rc;
}

int
psample_filter_set(struct netlink *netlink, struct psample_filter *filter, uint32_t rate)
{
	int rc = 0;

	if (filter->kernel_index > INDEX_MAX)
		return -ERANGE;
	if (filter->rate > 0) {
		take_off(netlink, filter->kernel_index, false);
		take_off(netlink, filter->kernel_index, true);
	}
	filter->rate = 0;
	filter->epoch++;
	if (rate > 0)
		rc = add_both(netlink, filter, rate);
	if (rc == 0)
		filter->rate = rate;
	return rc;
}

void
psample_filter_remove(struct netlink *netlink, struct psample_filter *filter)
{
	(void)psample_filter_set(netlink, filter, 0);
	if (filter->made_hook)
		clsact_remove_unused(netlink, filter->kernel_index);
	filter->made_hook = false;
}

int
psample_filter_try(struct netlink *netlink, uint32_t kernel_index, bool hardware)
{
	struct psample_filter filter = {.kernel_index = kernel_index, .hardware = hardware};
	int rc = psample_filter_set(netlink, &filter, TRY_RATE);

	psample_filter_remove(netlink, &filter);
	return rc;
}

/* ---- filters that a killed agent left ---- */

struct search {
	uint32_t kernel_index;
	bool out, found;
};

static const struct nlattr *
find_attribute(const struct nlattr *nest, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

/* The psample group of a filter; false if its action is not `sample`. */
static bool
psample_group_of(const struct nlattr *options, uint32_t *group)
{
	static const uint16_t way[] = {
	    TCA_MATCHALL_ACT, ACTION_FIRST, TCA_ACT_OPTIONS, TCA_SAMPLE_PSAMPLE_GROUP};
	const struct nlattr *attr = options;

	for (size_t i = 0; attr && i < sizeof(way) / sizeof(way[0]); i++)
		attr = find_attribute(attr, way[i]);
	if (!attr || mnl_attr_get_payload_len(attr) != sizeof(*group))
		return false;
	memcpy(group, mnl_attr_get_payload(attr), sizeof(*group));
	return true;
}

static bool
is_ours(const struct nlmsghdr *message, const struct search *search)
{
	const struct tcmsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attr;
	uint32_t group = 0, kernel_index;
	bool out, matchall = false;

	if (message->nlmsg_type != RTM_NEWTFILTER ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*head) ||
	    head->tcm_handle != FILTER_HANDLE || head->tcm_info >> 16 != FILTER_PRIORITY)
		return false;
	mnl_attr_for_each(attr, message, sizeof(*head)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			matchall = mnl_attr_get_payload_len(attr) == sizeof("matchall") &&
			    memcmp(mnl_attr_get_payload(attr), "matchall", sizeof("matchall")) == 0;
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS && !psample_group_of(attr, &group))
			group = 0;
	}
	return matchall && psample_filter_of_group(group, &kernel_index, &out) &&
	    kernel_index == search->kernel_index && out == search->out;
}

static int
look_at_filter(void *ctx, const struct nlmsghdr *message)
{
	struct search *search = ctx;

	search->found |= is_ours(message, search);
	return 0;
}

/* Whether a filter of ours is at that side: 1, 0, or -errno. */
static int
find_ours(struct netlink *netlink, uint32_t kernel_index, bool out)
{
	struct search search = {.kernel_index = kernel_index, .out = out};
	struct request q;
	struct nlmsghdr *request =
	    netlink_begin(&q, RTM_GETTFILTER, NLM_F_DUMP, sizeof(struct tcmsg));
	struct tcmsg *head = mnl_nlmsg_get_payload(request);
	int rc;

	head->tcm_ifindex = (int)kernel_index;
	head->tcm_parent = clsact_parent(out);
	rc = netlink_request_retry(netlink, request, look_at_filter, &search);
	return search.found ? 1 : netlink_reply_lost(rc) ? rc : 0;
}

static bool
clean_side(struct netlink *netlink, uint32_t kernel_index, bool out)
{
	if (find_ours(netlink, kernel_index, out) <= 0)
		return false;
	take_off(netlink, kernel_index, out);
	return true;
}

bool
psample_filter_is_there(struct netlink *netlink, const struct psample_filter *filter)
{
	return find_ours(netlink, filter->kernel_index, false) != 0 && find_ours(netlink, filter->kernel_index, true) != 0;
}

bool
psample_filter_clean(struct netlink *netlink, uint32_t kernel_index)
{
	bool in = clean_side(netlink, kernel_index, false);
	bool out = clean_side(netlink, kernel_index, true);

	if (in || out)
		clsact_remove_unused(netlink, kernel_index);
	return in || out;
}
