#include "collector/filter/address_databases.h"

#include <ctype.h>
#include <errno.h>
#include <maxminddb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where makers of databases have what is asked. */
struct way {
	const char *const *number, *const *name;
};
#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})
enum { WAYS = 3 };
static const struct way ways[ADDRESS_N_GROUPS][WAYS] = {
    [ADDRESS_AS] = {{PATH("autonomous_system_number"), PATH("autonomous_system_organization")},
	{PATH("asn"), PATH("as_name")}, {NULL, NULL}},
    [ADDRESS_COUNTRY] = {{PATH("country", "iso_code"), PATH("country", "names", "en")},
	{PATH("country_code"), PATH("country")}, {PATH("country"), PATH("country_name")}},
};

/* Where the name of a group stands that was found. */
struct found {
	uint32_t number; /* 0: the entry is empty */
	uint8_t way;
	MMDB_entry_s entry;
};

struct found_table {
	struct found *items;
	size_t n, room; /* room: 0 or a power of two, never full */
};

struct address_databases {
	MMDB_s files[ADDRESS_DATABASES_MAX];
	size_t n;
	struct found_table found[ADDRESS_N_GROUPS];
};

int
address_databases_open(const char *const *files, size_t n, struct address_databases **databases, char *error,
    size_t error_size)
{
	struct address_databases *d = calloc(1, sizeof(*d));

	*databases = d;
	snprintf(error, error_size, "out of memory");
	if (!d)
		return -ENOMEM;
	for (; d->n < n && d->n < ADDRESS_DATABASES_MAX; d->n++) {
		int status = MMDB_open(files[d->n], MMDB_MODE_MMAP, &d->files[d->n]);

		if (status == MMDB_SUCCESS)
			continue;
		snprintf(error, error_size, "%s: %s", files[d->n],
		    status == MMDB_IO_ERROR || status == MMDB_FILE_OPEN_ERROR ? strerror(errno) : MMDB_strerror(status));
		address_databases_close(d);
		*databases = NULL;
		return -EINVAL;
	}
	return 0;
}

void
address_databases_close(struct address_databases *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		MMDB_close(&d->files[i]);
	for (size_t g = 0; g < ADDRESS_N_GROUPS; g++)
		free(d->found[g].items);
	free(d);
}

bool
address_databases_has(const struct address_databases *d, enum address_group group)
{
	static const char *const types[][3] = {[ADDRESS_AS] = {"asn"}, [ADDRESS_COUNTRY] = {"country", "city", "enterprise"}};
	bool has = false;

	for (size_t i = 0; i < d->n; i++) {
		bool states[ADDRESS_N_GROUPS] = {false};
		const char *type = d->files[i].metadata.database_type;

		for (int g = ADDRESS_AS; g <= ADDRESS_COUNTRY; g++)
			for (size_t t = 0; t < 3 && types[g][t]; t++)
				states[g] |= strcasestr(type, types[g][t]) != NULL;
		has |= states[group] || (!states[ADDRESS_AS] && !states[ADDRESS_COUNTRY]);
	}
	return has;
}

/* ---- what was found ---- */

/* The entry of a number, or the empty one where it would be. */
static struct found *
databases_place_of(const struct found_table *t, uint32_t number)
{
	size_t at = number * 2654435761u & (t->room - 1);

	while (t->items[at].number != 0 && t->items[at].number != number)
		at = (at + 1) & (t->room - 1);
	return &t->items[at];
}

/* Without memory a group has no name. */
static void
remember_found(struct found_table *t, const struct found *found)
{
	if (2 * t->n >= t->room) {
		struct found_table larger = {.room = t->room ? 2 * t->room : 256, .n = t->n};

		larger.items = calloc(larger.room, sizeof(*larger.items));
		if (!larger.items)
			return;
		for (size_t i = 0; i < t->room; i++)
			if (t->items[i].number != 0)
				*databases_place_of(&larger, t->items[i].number) = t->items[i];
		free(t->items);
		*t = larger;
	}
	t->n += databases_place_of(t, found->number)->number == 0;
	*databases_place_of(t, found->number) = *found;
}

static bool
databases_read_text(const MMDB_entry_s *entry, const char *const *path, char *text, size_t size)
{
	MMDB_entry_s from = *entry;
	MMDB_entry_data_s data;

	*text = '\0';
	if (MMDB_aget_value(&from, &data, path) != MMDB_SUCCESS || !data.has_data || data.type != MMDB_DATA_TYPE_UTF8_STRING)
		return false;
	snprintf(text, size, "%.*s", (int)data.data_size, data.utf8_string);
	return true;
}

/* "DE", "AS64500" */
static uint32_t
number_of_text(enum address_group group, const char *text)
{
	if (group == ADDRESS_COUNTRY)
		return isupper((unsigned char)text[0]) && isupper((unsigned char)text[1]) && text[2] == '\0'
		    ? (uint32_t)text[0] << 8 | (uint32_t)text[1] : 0;
	return strncmp(text, "AS", 2) == 0 ? (uint32_t)strtoul(text + 2, NULL, 10) : 0;
}

static uint32_t
databases_read_number(enum address_group group, const MMDB_entry_s *entry, const char *const *path)
{
	MMDB_entry_s from = *entry;
	MMDB_entry_data_s data;
	char text[32];

	if (databases_read_text(entry, path, text, sizeof(text)))
		return number_of_text(group, text);
	if (MMDB_aget_value(&from, &data, path) != MMDB_SUCCESS || !data.has_data || data.type != MMDB_DATA_TYPE_UINT32)
		return 0;
	return data.uint32;
}

uint32_t
address_databases_find(struct address_databases *d, enum address_group group, size_t n_octets, const uint8_t *octets)
{
	struct sockaddr_in ip4 = {.sin_family = AF_INET};
	struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6};
	struct found_table *t = &d->found[group];

	memcpy(n_octets == 4 ? (void *)&ip4.sin_addr : (void *)&ip6.sin6_addr, octets, n_octets);
	for (size_t i = 0; i < d->n; i++) {
		int status;
		MMDB_lookup_result_s result = MMDB_lookup_sockaddr(&d->files[i],
		    n_octets == 4 ? (struct sockaddr *)&ip4 : (struct sockaddr *)&ip6, &status);

		for (uint8_t w = 0; status == MMDB_SUCCESS && result.found_entry && w < WAYS && ways[group][w].number; w++) {
			struct found found = {databases_read_number(group, &result.entry, ways[group][w].number), w, result.entry};

			if (found.number == 0)
				continue;
			if (t->room == 0 || databases_place_of(t, found.number)->number == 0)
				remember_found(t, &found);
			return found.number;
		}
	}
	return 0;
}

void
address_databases_name(const struct address_databases *d, enum address_group group, uint32_t number, char *name,
    size_t size)
{
	const struct found_table *t = &d->found[group];
	const struct found *found = t->room > 0 ? databases_place_of(t, number) : NULL;

	*name = '\0';
	if (found && found->number == number)
		databases_read_text(&found->entry, ways[group][found->way].name, name, size);
}
