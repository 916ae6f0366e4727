#include "common/lldp_id.h"

#include <arpa/inet.h>
#include <string.h>

enum { MAC_OCTETS = 6, MAC_TEXT = 17, FAMILY_IPV4 = 1, FAMILY_IPV6 = 2 };

static int
digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool
set_mac(struct lldp_id *id, const char *text, size_t octets)
{
	if (octets != MAC_TEXT)
		return false;
	for (size_t i = 0; i < MAC_OCTETS; i++) {
		int high = digit_value(text[3 * i]), low = digit_value(text[3 * i + 1]);

		if (high < 0 || low < 0 || (i + 1 < MAC_OCTETS && text[3 * i + 2] != ':'))
			return false;
		id->octets[i] = (uint8_t)(high << 4 | low);
	}
	id->n_octets = MAC_OCTETS;
	return true;
}

static bool
lldp_id_set_address(struct lldp_id *id, const char *text, size_t octets)
{
	char copy[INET6_ADDRSTRLEN];

	if (octets >= sizeof(copy))
		return false;
	memcpy(copy, text, octets);
	copy[octets] = '\0';
	if (inet_pton(AF_INET, copy, id->octets + 1) == 1) {
		id->octets[0] = FAMILY_IPV4;
		id->n_octets = 1 + sizeof(struct in_addr);
	} else if (inet_pton(AF_INET6, copy, id->octets + 1) == 1) {
		id->octets[0] = FAMILY_IPV6;
		id->n_octets = 1 + sizeof(struct in6_addr);
	}
	return id->n_octets > 0;
}

static bool
lldp_id_set_text(struct lldp_id *id, const char *text, size_t octets)
{
	if (octets == 0 || octets > LLDP_ID_MAX)
		return false;
	memcpy(id->octets, text, octets);
	id->n_octets = (uint8_t)octets;
	return true;
}

static bool
set_id(struct lldp_id *id, uint64_t kind, bool is_mac, bool is_address, const char *text, size_t octets)
{
	*id = (struct lldp_id){.kind = 0};
	if (kind == 0 || kind > LLDP_KIND_MAX || !(is_mac ? set_mac(id, text, octets)
	    : is_address ? lldp_id_set_address(id, text, octets) : lldp_id_set_text(id, text, octets))) {
		*id = (struct lldp_id){.kind = 0};
		return false;
	}
	id->kind = (uint8_t)kind;
	return true;
}

bool
lldp_chassis_id(struct lldp_id *id, uint64_t kind, const char *text, size_t octets)
{
	return set_id(id, kind, kind == LLDP_CHASSIS_MAC, kind == LLDP_CHASSIS_ADDRESS, text, octets);
}

bool
lldp_port_id(struct lldp_id *id, uint64_t kind, const char *text, size_t octets)
{
	return set_id(id, kind, kind == LLDP_PORT_MAC, kind == LLDP_PORT_ADDRESS, text, octets);
}

bool
lldp_same_id(const struct lldp_id *a, const struct lldp_id *b)
{
	return a->kind == b->kind && a->n_octets == b->n_octets && memcmp(a->octets, b->octets, a->n_octets) == 0;
}
