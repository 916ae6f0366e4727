/*
 * Addresses as a configuration writes them: an endpoint to listen at ("192.0.2.1:162",
 * "[2001:db8::1]:162") and a prefix of an allow-list ("192.0.2.0/24", "2001:db8::/32",
 * "192.0.2.7"). Only numbers are allowed, so that a program starts without its name server.
 */
#ifndef EASE_COMMON_ENDPOINT_H
#define EASE_COMMON_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ENDPOINT_TEXT = 64 }; /* "[IPv6]:port" with its NUL */

struct endpoint {
	struct sockaddr_storage address;
	socklen_t len;
};

struct prefix {
	sa_family_t family; /* AF_INET, AF_INET6 */
	uint8_t octets[16];
	uint8_t bits; /* length of the prefix */
};

/* "[fe80::1%eth0]:162" is a link-local address with its interface. Each parser returns 0, or -EINVAL with *reason in static storage. */
int endpoint_parse(const char *text, struct endpoint *endpoint, const char **reason);
int prefix_parse(const char *text, struct prefix *prefix, const char **reason);

bool prefix_holds(const struct prefix *prefix, const struct sockaddr *address);

/* The same of an address of that family's octets. */
bool prefix_holds_octets(const struct prefix *prefix, sa_family_t family, const uint8_t *octets);

/* The same of an address as text, without port and scope; false of any other text. */
bool prefix_holds_text(const struct prefix *prefix, const char *text);

/* 127.0.0.0/8 or ::1: only this machine reaches it. */
bool endpoint_is_loopback(const struct sockaddr *address);

/* "192.0.2.1:162", "[2001:db8::1]:162"; without port: "192.0.2.1", "2001:db8::1". */
void endpoint_format(const struct sockaddr *address, bool with_port, char text[ENDPOINT_TEXT]);

/* A hash of the address without its port, for tables of fixed size that count by address. Nobody
 * who does not know the seed can choose addresses that meet in one place. */
uint64_t endpoint_hash(uint64_t seed, const struct sockaddr *address);

/* For option rows: NULL if good, else the reason. */
const char *endpoint_check(const char *text);
const char *prefix_check(const char *text);

#endif
