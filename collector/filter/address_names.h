/*
 * Names of addresses, networks and VLANs from a file of the user, of IP addresses from the resolver,
 * and the makers of MAC addresses from the IEEE's lists as Debian has them (package ieee-data). The
 * longest prefix wins; a name of the file precedes the others.
 *
 * The file has one name on each line, as /etc/hosts and /etc/ethers do, also of prefixes and VLANs:
 *	10.20.1.15	backup1
 *	10.20.0.0/16	servers
 *	00:1b:21	lab
 *	vlan 5		voice
 * The rest of the line after the name is ignored, and so is everything behind a #.
 *
 * Names and databases also say of which group an IP address is. Each row that states a prefix (10.20.1.15/32 does,
 * 10.20.1.15 alone does not) is of the network with its name; several may have one name.
 */
#ifndef EASE_COLLECTOR_FILTER_ADDRESS_NAMES_H
#define EASE_COLLECTOR_FILTER_ADDRESS_NAMES_H

#include "collector/filter/address_databases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resolver;

enum {
	ADDRESS_NAME_ROOM = 64,	     /* room for a name and its NUL; longer ones are cut */
	ADDRESS_NAMES_MAX = 1000000, /* of the file; more is a mistake */
	ADDRESS_NAMES_CACHE = 4096,  /* answers of the resolver kept; further ones are not */
};

struct address_names_options {
	const char *file;    /* NULL: none */
	const char *vendors; /* folder of oui.csv, mam.csv and oui36.csv; NULL: none */
	bool resolve;	     /* ask the resolver; it may take seconds for each address */
	struct resolver *resolver; /* that asks beside (resolver.h), borrowed; NULL: none */
	const char *const *databases; /* of AS numbers and countries (address_databases.h) */
	size_t n_databases;
};

struct address_names;

/* 0, -ENOMEM, or with the reason in error (file:line) -EINVAL for a mistake or the errno of
 * opening. */
int address_names_open(const struct address_names_options *options, struct address_names **names,
    char *error, size_t error_size);
void address_names_close(struct address_names *names);

/* The same from a text instead of files; errors call it name. For tests. */
int address_names_parse(const char *name, const char *text, struct address_names **names,
    char *error, size_t error_size);

/* The name of a MAC, IPv4 or IPv6 address (6, 4 or 16 octets), of exactly that prefix, of a VLAN;
 * "" if there is none or names is NULL. May block with `resolve`. */
void address_names_of_address(struct address_names *names, size_t n_octets, const uint8_t *octets,
    char name[ADDRESS_NAME_ROOM]);
void address_names_of_prefix(const struct address_names *names, size_t n_octets,
    const uint8_t *octets, unsigned bits, char name[ADDRESS_NAME_ROOM]);
void address_names_of_vlan(const struct address_names *names, unsigned vlan, char name[ADDRESS_NAME_ROOM]);

/* Whether any address can be of such a group: there is a row with a prefix, or a database. */
bool address_names_has_groups(const struct address_names *names, enum address_group group);

/* The number of the group that an address of 4 or 16 octets is of: the network of the longest prefix, the AS, or the
 * letters of the country; 0: of none. As long as the names are open, a group has one number. */
uint32_t address_names_group(struct address_names *names, enum address_group group, size_t n_octets,
    const uint8_t *octets);

/* What a group is called, as users write it ("customer-a", "AS64500", "DE"), and what it is ("" if that is all). */
void address_names_of_group(const struct address_names *names, enum address_group group, uint32_t number,
    char text[ADDRESS_NAME_ROOM], char name[ADDRESS_NAME_ROOM]);

/* The number of what a user wrote; 0: no name of a network, no number of an AS, not two letters. */
uint32_t address_names_find_group(const struct address_names *names, enum address_group group, const char *text);

#endif
