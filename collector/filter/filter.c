/*
 * Judging a filter, and the addresses of its terms. filter.h says what filters are, filter_parse.c reads them.
 */
#include "collector/filter/filter.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is known ---- */

void
filter_set_absent(struct filter_subject *subject, uint32_t fields)
{
	subject->known |= fields;
	subject->there &= ~fields;
}

void
filter_set_number(struct filter_subject *subject, enum filter_field field, uint32_t number)
{
	subject->known |= FILTER_BIT(field);
	subject->there |= FILTER_BIT(field);
	subject->number[field] = number;
}

void
filter_set_address(struct filter_subject *subject, enum filter_field field, const uint8_t *octets, size_t n_octets)
{
	subject->known |= FILTER_BIT(field);
	subject->there |= FILTER_BIT(field);
	subject->address[field] = octets;
	subject->n_octets[field] = (uint8_t)n_octets;
}

/* ---- judging ---- */

static enum filter_answer
judge_member(const struct filter_groups *groups, const struct filter_node *node, const struct filter_subject *subject)
{
	if (!groups->group_of)
		return FILTER_NOT_KNOWN;
	return groups->group_of(groups->arg, (enum address_group)node->member.group, subject->n_octets[node->field],
		   subject->address[node->field]) == node->member.number ? FILTER_YES : FILTER_NO;
}

static enum filter_answer
judge_term(const struct filter *filter, const struct filter_node *node, const struct filter_subject *subject)
{
	uint32_t bit = FILTER_BIT(node->field), number = subject->number[node->field];

	if (!(subject->known & bit))
		return FILTER_NOT_KNOWN;
	if (node->op == FILTER_NAMED)
		return subject->named >> node->name & 1 ? FILTER_YES : FILTER_NO;
	if (!(subject->there & bit))
		return FILTER_NO;
	if (node->op == FILTER_IN_PREFIX)
		return filter_in_prefix(&node->prefix, subject->n_octets[node->field],
			   subject->address[node->field]) ? FILTER_YES : FILTER_NO;
	if (node->op == FILTER_IS_GROUP)
		return frame_mac_is_group(subject->address[node->field]) ? FILTER_YES : FILTER_NO;
	if (node->op == FILTER_IN_GROUP)
		return judge_member(&filter->groups, node, subject);
	return node->range.low <= number && number <= node->range.high ? FILTER_YES : FILTER_NO;
}

/* As deep as the tree: FILTER_DEPTH_MAX bounds it. */
static enum filter_answer
judge_node(const struct filter *filter, const struct filter_node *node, const struct filter_subject *subject)
{
	/* the answer that settles all of a list, and the one if no part gives it */
	enum filter_answer settles = node->op == FILTER_ALL_OF ? FILTER_NO : FILTER_YES;
	enum filter_answer answer = node->op == FILTER_ALL_OF ? FILTER_YES : FILTER_NO;

	if (node->op == FILTER_NOT) {
		answer = judge_node(filter, &filter->nodes[node->child], subject);
		return answer == FILTER_NOT_KNOWN ? answer : answer == FILTER_NO ? FILTER_YES : FILTER_NO;
	}
	if (node->op != FILTER_ALL_OF && node->op != FILTER_ANY_OF)
		return judge_term(filter, node, subject);
	for (uint16_t i = node->child; i > 0; i = filter->nodes[i].next) {
		enum filter_answer part = judge_node(filter, &filter->nodes[i], subject);

		if (part == settles)
			return part;
		if (part == FILTER_NOT_KNOWN)
			answer = part;
	}
	return answer;
}

enum filter_answer
filter_judge(const struct filter *filter, const struct filter_subject *subject)
{
	return filter && filter->n_nodes > 0 ? judge_node(filter, &filter->nodes[0], subject) : FILTER_YES;
}

/* Makes a term of an AS one of what samples state, where they can: not inside of tunnels. */
static bool
ask_samples(struct filter *filter, struct filter_node *node)
{
	const uint32_t number = node->member.number;

	if (!(FILTER_BIT(node->field) & FILTER_IPS))
		return false;
	node->op = FILTER_IN_RANGE;
	node->field = node->field == FILTER_SRC_IP ? FILTER_SRC_AS : FILTER_DST_AS;
	node->range.low = node->range.high = number;
	filter->fields |= FILTER_BIT(node->field);
	return true;
}

int
filter_bind_groups(struct filter *filter, const struct filter_groups *groups, char error[FILTER_ERROR_TEXT])
{
	static const char *const words[] = {
	    [ADDRESS_NETWORK] = "network", [ADDRESS_AS] = "AS number", [ADDRESS_COUNTRY] = "country of two letters"};

	filter->groups = *groups;
	for (size_t i = 0; i < filter->n_nodes; i++) {
		struct filter_node *node = &filter->nodes[i];

		if (node->op != FILTER_IN_GROUP)
			continue;
		node->member.number = groups->find(groups->arg, (enum address_group)node->member.group,
		    filter_name(filter, node->name));
		if (node->member.number == 0) {
			snprintf(error, FILTER_ERROR_TEXT, "column %u: there is no %s %.100s", node->column,
			    words[node->member.group], filter_name(filter, node->name));
			return -EINVAL;
		}
		if (node->member.group == ADDRESS_AS && groups->samples_state_as && !ask_samples(filter, node)) {
			snprintf(error, FILTER_ERROR_TEXT, "column %u: inner as needs a file that knows AS numbers: mmdb, or"
			    " --mmdb", node->column);
			return -EINVAL;
		}
	}
	return 0;
}

const struct filter_node *
filter_find(const struct filter *filter, uint32_t fields)
{
	for (size_t i = 0; filter && i < filter->n_nodes; i++)
		if (filter->nodes[i].op >= FILTER_NAMED && fields & FILTER_BIT(filter->nodes[i].field))
			return &filter->nodes[i];
	return NULL;
}

const char *
filter_field_word(enum filter_field field)
{
	static const char *const words[] = {
		[FILTER_AGENT] = "agent", [FILTER_IF] = "if", [FILTER_SITE] = "site",
		[FILTER_SRC_MAC] = "src mac", [FILTER_DST_MAC] = "dst mac", [FILTER_SRC_IP] = "src host",
		[FILTER_DST_IP] = "dst host", [FILTER_INNER_SRC_IP] = "inner src host",
		[FILTER_INNER_DST_IP] = "inner dst host", [FILTER_VLAN] = "vlan",
		[FILTER_ETHERTYPE] = "ether proto", [FILTER_IP_PROTO] = "proto", [FILTER_SRC_PORT] = "src port",
		[FILTER_DST_PORT] = "dst port", [FILTER_OCTETS] = "octets", [FILTER_ICMP_TYPE] = "icmp-type",
		[FILTER_ICMP_CODE] = "icmp-code", [FILTER_VNI] = "vni", [FILTER_SRC_AS] = "src as",
		[FILTER_DST_AS] = "dst as",
	};

	return words[field];
}

/* ---- addresses ---- */

/* Two to six pairs of hex digits with colons; the octets read, or -EINVAL. */
static int
parse_mac(const char *text, uint8_t *octets)
{
	int n = 0;

	for (; n < FRAME_MAC_LEN; text += 3) {
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return -EINVAL;
		octets[n++] = (uint8_t)strtoul((const char[]){text[0], text[1], 0}, NULL, 16);
		if (text[2] == '\0')
			return n > 1 ? n : -EINVAL;
		if (text[2] != ':')
			return -EINVAL;
	}
	return -EINVAL;
}

static int
parse_bits(const char *text, uint8_t max, uint8_t *bits)
{
	char *end;
	unsigned long value;

	if (!text) {
		*bits = max;
		return 0;
	}
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || value > max)
		return -EINVAL;
	*bits = (uint8_t)value;
	return 0;
}

int
filter_parse_prefix(const char *text, struct filter_prefix *prefix)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	char address[FRAME_IP_TEXT];
	int n;

	*prefix = (struct filter_prefix){0};
	if (len >= sizeof(address))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)len, text);
	if (inet_pton(AF_INET, address, prefix->octets) == 1)
		prefix->n_octets = 4;
	else if (inet_pton(AF_INET6, address, prefix->octets) == 1)
		prefix->n_octets = FRAME_IP_LEN;
	if (prefix->n_octets > 0)
		return parse_bits(slash ? slash + 1 : NULL, (uint8_t)(8 * prefix->n_octets), &prefix->bits);
	n = slash ? -EINVAL : parse_mac(address, prefix->octets);
	if (n < 0)
		return n;
	prefix->n_octets = FRAME_MAC_LEN;
	prefix->bits = (uint8_t)(8 * n);
	return 0;
}

void
filter_cut(const uint8_t *octets, unsigned bits, uint8_t cut[FRAME_IP_LEN])
{
	memset(cut, 0, FRAME_IP_LEN);
	memcpy(cut, octets, bits / 8);
	if (bits % 8)
		cut[bits / 8] = (uint8_t)(octets[bits / 8] & 0xff << (8 - bits % 8));
}

bool
filter_in_prefix(const struct filter_prefix *prefix, size_t n_octets, const uint8_t *octets)
{
	unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;

	if (n_octets != prefix->n_octets || memcmp(octets, prefix->octets, whole) != 0)
		return false;
	return rest == 0 || (octets[whole] ^ prefix->octets[whole]) >> (8 - rest) == 0;
}
