/*
 * Reads values of netlink attributes, and refuses attributes whose length is not that of the type. Used
 * by the parsers of the kernel's messages (rtnl.c, ethtool.c).
 */
#ifndef EASE_AGENT_LINUX_ATTRIBUTE_H
#define EASE_AGENT_LINUX_ATTRIBUTE_H

#include "common/utf8.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int
attribute_copy(const struct nlattr *attr, void *value, size_t octets)
{
	if (mnl_attr_get_payload_len(attr) != octets)
		return -EPROTO;
	memcpy(value, mnl_attr_get_payload(attr), octets);
	return 0;
}

static inline int
attribute_u8(const struct nlattr *attr, uint8_t *value)
{
	return attribute_copy(attr, value, sizeof(*value));
}

static inline int
attribute_u16(const struct nlattr *attr, uint16_t *value)
{
	return attribute_copy(attr, value, sizeof(*value));
}

static inline int
attribute_u32(const struct nlattr *attr, uint32_t *value)
{
	return attribute_copy(attr, value, sizeof(*value));
}

static inline int
attribute_u64(const struct nlattr *attr, uint64_t *value)
{
	return attribute_copy(attr, value, sizeof(*value));
}

/* An octet: false if it is 0. */
static inline int
attribute_bool(const struct nlattr *attr, bool *value)
{
	uint8_t octet;
	int rc = attribute_u8(attr, &octet);

	if (rc == 0)
		*value = octet != 0;
	return rc;
}

/* Text that people or programs gave, as it may be shown (utf8_printable), cut to size with its NUL. It may or may not
 * end with a NUL in the message. */
static inline void
attribute_text(const struct nlattr *attr, char *text, size_t size)
{
	char raw[256] = ""; /* IFALIASZ, the longest of the kernel's */
	size_t n = strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));

	memcpy(raw, mnl_attr_get_payload(attr), n < sizeof(raw) ? n : sizeof(raw) - 1);
	utf8_printable(raw, text, size);
}

#endif
