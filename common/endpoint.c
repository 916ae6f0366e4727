#include "common/endpoint.h"

#include "common/hash.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
refuse_text(const char **reason, const char *why)
{
	*reason = why;
	return -EINVAL;
}

/* Reads the whole text as a decimal number up to max. */
static int
endpoint_parse_number(const char *text, unsigned long max, unsigned long *value)
{
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 5)
		return -EINVAL;
	*value = strtoul(text, &end, 10);
	return *end || *value > max ? -EINVAL : 0;
}

static int
endpoint_parse_address(char *host, bool is_v6, uint16_t port, struct endpoint *e)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&e->address;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&e->address;
	char *zone = is_v6 ? strchr(host, '%') : NULL;

	memset(e, 0, sizeof(*e));
	if (is_v6) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		e->len = sizeof(*v6);
		if (zone) {
			*zone++ = '\0';
			v6->sin6_scope_id = if_nametoindex(zone);
			if (v6->sin6_scope_id == 0)
				return -ENODEV;
		}
		return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1 ? 0 : -EINVAL;
	}
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	e->len = sizeof(*v4);
	return inet_pton(AF_INET, host, &v4->sin_addr) == 1 ? 0 : -EINVAL;
}

int
endpoint_parse(const char *text, struct endpoint *endpoint, const char **reason)
{
	char host[ENDPOINT_TEXT];
	const char *start = text, *colon = strrchr(text, ':'), *end = colon;
	bool is_v6 = text[0] == '[';
	unsigned long port;
	int rc;

	if (!colon || strlen(text) >= sizeof(host))
		return refuse_text(reason, "not ADDRESS:PORT or [IPV6-ADDRESS]:PORT");
	if (endpoint_parse_number(colon + 1, UINT16_MAX, &port) < 0)
		return refuse_text(reason, "the port must be a number from 0 to 65535");
	if (is_v6) {
		if (colon == text || colon[-1] != ']')
			return refuse_text(reason, "write an IPv6 address in brackets: [::1]:162");
		start++;
		end--;
	}
	snprintf(host, sizeof(host), "%.*s", (int)(end - start), start);
	rc = endpoint_parse_address(host, is_v6, (uint16_t)port, endpoint);
	return rc == 0 ? 0
	    : refuse_text(reason, rc == -ENODEV ? "there is no interface of the name behind \"%\""
					   : "not a numeric address (names are not looked up)");
}

static const uint8_t *
endpoint_address_octets(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return (const uint8_t *)&((const struct sockaddr_in6 *)address)->sin6_addr;
	return (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
}

/* True if the first bits are equal. */
static bool
bits_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned rest = bits % 8;

	if (memcmp(a, b, bits / 8) != 0)
		return false;
	return rest == 0 || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0;
}

static bool
host_bits_are_zero(const struct prefix *p, unsigned all_bits)
{
	for (unsigned bit = p->bits; bit < all_bits; bit++)
		if (p->octets[bit / 8] & 0x80 >> bit % 8)
			return false;
	return true;
}

int
prefix_parse(const char *text, struct prefix *prefix, const char **reason)
{
	char host[ENDPOINT_TEXT];
	const char *slash = strchr(text, '/');
	size_t host_len = slash ? (size_t)(slash - text) : strlen(text);
	bool is_v6 = memchr(text, ':', host_len) != NULL;
	unsigned long bits = is_v6 ? 128 : 32;
	unsigned all_bits = (unsigned)bits;
	struct endpoint e;

	if (host_len >= sizeof(host))
		return refuse_text(reason, "not a numeric address or ADDRESS/BITS");
	snprintf(host, sizeof(host), "%.*s", (int)host_len, text);
	if (endpoint_parse_address(host, is_v6, 0, &e) < 0)
		return refuse_text(reason, "not a numeric address or ADDRESS/BITS");
	if (slash && endpoint_parse_number(slash + 1, all_bits, &bits) < 0)
		return refuse_text(reason, "the prefix length must be 0 to 32, for IPv6 0 to 128");
	*prefix = (struct prefix){.family = e.address.ss_family, .bits = (uint8_t)bits};
	memcpy(prefix->octets, endpoint_address_octets((struct sockaddr *)&e.address), all_bits / 8);
	if (!host_bits_are_zero(prefix, all_bits))
		return refuse_text(reason, "the address has bits set beyond the prefix length");
	return 0;
}

bool
prefix_holds(const struct prefix *prefix, const struct sockaddr *address)
{
	return prefix_holds_octets(prefix, address->sa_family, endpoint_address_octets(address));
}

bool
prefix_holds_octets(const struct prefix *prefix, sa_family_t family, const uint8_t *octets)
{
	return prefix->family == family && bits_equal(prefix->octets, octets, prefix->bits);
}

bool
prefix_holds_text(const struct prefix *prefix, const char *text)
{
	const char *reason;
	struct prefix p;

	return prefix_parse(text, &p, &reason) == 0 && prefix_holds_octets(prefix, p.family, p.octets);
}

bool
endpoint_is_loopback(const struct sockaddr *address)
{
	struct prefix v4, v6;
	const char *reason;

	prefix_parse("127.0.0.0/8", &v4, &reason);
	prefix_parse("::1/128", &v6, &reason);
	return prefix_holds(&v4, address) || prefix_holds(&v6, address);
}

void
endpoint_format(const struct sockaddr *address, bool with_port, char text[ENDPOINT_TEXT])
{
	bool is_v6 = address->sa_family == AF_INET6;
	uint16_t port = is_v6 ? ((const struct sockaddr_in6 *)address)->sin6_port
			      : ((const struct sockaddr_in *)address)->sin_port;
	char host[INET6_ADDRSTRLEN] = "?";

	inet_ntop(address->sa_family, endpoint_address_octets(address), host, sizeof(host));
	if (!with_port)
		snprintf(text, ENDPOINT_TEXT, "%s", host);
	else
		snprintf(text, ENDPOINT_TEXT, is_v6 ? "[%s]:%u" : "%s:%u", host, ntohs(port));
}

uint64_t
endpoint_hash(uint64_t seed, const struct sockaddr *address)
{
	uint64_t words[2] = {0, 0};

	memcpy(words, endpoint_address_octets(address), address->sa_family == AF_INET6 ? 16 : 4);
	return hash_pair(seed, words[0], words[1]);
}

const char *
endpoint_check(const char *text)
{
	const char *reason = NULL;
	struct endpoint e;

	return endpoint_parse(text, &e, &reason) < 0 ? reason : NULL;
}

const char *
prefix_check(const char *text)
{
	const char *reason = NULL;
	struct prefix p;

	return prefix_parse(text, &p, &reason) < 0 ? reason : NULL;
}
