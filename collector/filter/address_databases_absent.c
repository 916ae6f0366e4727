/*
 * In place of address_databases.c where libmaxminddb is missing: no file can be opened.
 */
#include "collector/filter/address_databases.h"

#include <errno.h>
#include <stdio.h>

int
address_databases_open(const char *const *files, size_t n, struct address_databases **databases, char *error,
    size_t error_size)
{
	(void)n;
	*databases = NULL;
	snprintf(error, error_size, "%s: this program was built without libmaxminddb", files[0]);
	return -ENOTSUP;
}

void
address_databases_close(struct address_databases *d)
{
	(void)d;
}

bool
address_databases_has(const struct address_databases *d, enum address_group group)
{
	(void)d, (void)group;
	return false;
}

uint32_t
address_databases_find(struct address_databases *d, enum address_group group, size_t n_octets, const uint8_t *octets)
{
	(void)d, (void)group, (void)n_octets, (void)octets;
	return 0;
}

void
address_databases_name(const struct address_databases *d, enum address_group group, uint32_t number, char *name,
    size_t size)
{
	(void)d, (void)group, (void)number, (void)size;
	*name = '\0';
}
