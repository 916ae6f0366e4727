/*
 * AS numbers and countries of IP addresses, from files of the MaxMind DB format that the user brings (GeoLite2 and GeoIP2
 * of MaxMind, DB-IP's, IPinfo's), read by libmaxminddb. The first file that knows an address answers.
 */
#ifndef EASE_COLLECTOR_FILTER_ADDRESS_DATABASES_H
#define EASE_COLLECTOR_FILTER_ADDRESS_DATABASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an address can be of. */
enum address_group {
	ADDRESS_NETWORK, /* a named prefix */
	ADDRESS_AS,
	ADDRESS_COUNTRY,
	ADDRESS_N_GROUPS,
};

enum { ADDRESS_DATABASES_MAX = 8 };

struct address_databases;

/* Maps the files; 0, or -errno with the reason in error, naming the file. */
int address_databases_open(const char *const *files, size_t n, struct address_databases **databases, char *error,
    size_t error_size);
void address_databases_close(struct address_databases *databases); /* NULL is nothing */

/* Whether a file is of such groups, by the type that it states; one of another type is taken to be of all. */
bool address_databases_has(const struct address_databases *databases, enum address_group group);

/* The number of the AS, or the two letters of the country (first letter in the high octet), of an address of 4 or 16
 * octets; 0: not known. */
uint32_t address_databases_find(struct address_databases *databases, enum address_group group, size_t n_octets,
    const uint8_t *octets);

/* The name of a group that was found before; "" if it has none, or nobody found it. */
void address_databases_name(const struct address_databases *databases, enum address_group group, uint32_t number,
    char *name, size_t size);

#endif
