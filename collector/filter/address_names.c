#include "collector/filter/address_names.h"
#include "collector/filter/resolver.h"

#include "collector/filter/filter.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { VLAN_OCTETS = 2, VLAN_MAX = 4094, LINE_OCTETS = 1024 };

/* A named prefix; a VLAN is one of two octets, all of whose bits count. */
struct entry {
	uint8_t n_octets, bits;
	uint8_t octets[FRAME_IP_LEN]; /* zeros behind the bits */
	bool is_network; /* it states its bits */
	uint32_t network; /* of the entries that do: 1 and more, one for each name */
	char name[ADDRESS_NAME_ROOM];
};

struct entries {
	struct entry *items; /* sorted once all are there */
	size_t n, room;
};

struct address_names {
	struct entries named, vendors, resolved;
	const struct entry **networks; /* by number, the first is not used; in the order of their names */
	size_t n_networks;
	bool bits_used[FRAME_IP_LEN + 1][8 * FRAME_IP_LEN + 1]; /* there are networks of so many octets and bits */
	struct address_databases *databases; /* NULL: none */
	bool resolve;
	struct resolver *resolver; /* borrowed; NULL: none */
};

/* ---- entries ---- */

static int
address_compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->n_octets != y->n_octets)
		return x->n_octets < y->n_octets ? -1 : 1;
	if (x->bits != y->bits)
		return x->bits < y->bits ? -1 : 1;
	return memcmp(x->octets, y->octets, sizeof(x->octets));
}

static int
add_entry(struct entries *entries, const struct entry *entry)
{
	if (entries->n == entries->room) {
		size_t room = entries->room ? 2 * entries->room : 64;
		struct entry *items = realloc(entries->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		entries->items = items;
		entries->room = room;
	}
	entries->items[entries->n++] = *entry;
	return 0;
}

static void
order_entries(struct entries *entries)
{
	if (entries->n > 1)
		qsort(entries->items, entries->n, sizeof(*entries->items), address_compare_entries);
}

static struct entry
prefix_of(size_t n_octets, const uint8_t *octets, unsigned bits)
{
	struct entry entry = {.n_octets = (uint8_t)n_octets, .bits = (uint8_t)bits};

	filter_cut(octets, bits, entry.octets);
	return entry;
}

static const struct entry *
address_find_entry(const struct entries *entries, size_t n_octets, const uint8_t *octets, unsigned bits)
{
	struct entry key = prefix_of(n_octets, octets, bits);

	return entries->n == 0 ? NULL : bsearch(&key, entries->items, entries->n, sizeof(key), address_compare_entries);
}

static const char *
find_address(const struct entries *entries, size_t n_octets, const uint8_t *octets, unsigned bits)
{
	const struct entry *found = address_find_entry(entries, n_octets, octets, bits);

	return found ? found->name : NULL;
}

static const char *
find_longest(const struct entries *entries, size_t n_octets, const uint8_t *octets)
{
	const char *name = NULL;

	for (unsigned bits = 8 * (unsigned)n_octets + 1; !name && bits-- > 0;)
		name = find_address(entries, n_octets, octets, bits);
	return name;
}

/* ---- the names file ---- */

/* Where a line is, for messages. */
struct place {
	const char *file;
	unsigned line;
	char *error;
	size_t error_size;
};

static int __attribute__((format(printf, 2, 3)))
file_mistake(const struct place *place, const char *format, ...)
{
	int n = snprintf(place->error, place->error_size, "%s:%u: ", place->file, place->line);
	va_list args;

	va_start(args, format);
	if (n >= 0 && (size_t)n < place->error_size)
		vsnprintf(place->error + n, place->error_size - (size_t)n, format, args);
	va_end(args);
	return -EINVAL;
}

static char *
address_next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t\r");

	*rest = word + strcspn(word, " \t\r");
	if (**rest)
		*(*rest)++ = '\0';
	return word;
}

static int
read_vlan(const char *word, struct entry *entry)
{
	char *end;
	unsigned long id = strtoul(word, &end, 10);

	if (!isdigit((unsigned char)*word) || *end || id > VLAN_MAX)
		return -EINVAL;
	*entry = (struct entry){.n_octets = VLAN_OCTETS, .bits = 8 * VLAN_OCTETS,
	    .octets = {(uint8_t)(id >> 8), (uint8_t)id}};
	return 0;
}

static int
read_prefix(const char *word, struct entry *entry)
{
	struct filter_prefix prefix;

	if (filter_parse_prefix(word, &prefix) != 0)
		return -EINVAL;
	*entry = prefix_of(prefix.n_octets, prefix.octets, prefix.bits);
	entry->is_network = strchr(word, '/') != NULL;
	return 0;
}

static bool
address_is_printable(const char *name)
{
	for (; *name; name++)
		if (iscntrl((unsigned char)*name))
			return false;
	return true;
}

static int
read_line(struct entries *entries, char *line, const struct place *place)
{
	struct entry entry;
	char *word, *rest = line;
	bool is_vlan;

	line[strcspn(line, "#\n")] = '\0';
	word = address_next_word(&rest);
	if (!*word)
		return 0;
	is_vlan = strcasecmp(word, "vlan") == 0;
	if (is_vlan)
		word = address_next_word(&rest);
	if (is_vlan && read_vlan(word, &entry) != 0)
		return file_mistake(place, "%s is no VLAN", word);
	if (!is_vlan && read_prefix(word, &entry) != 0)
		return file_mistake(place, "%s is no address or prefix", word);
	word = address_next_word(&rest);
	if (!*word || !address_is_printable(word))
		return file_mistake(place, "a name is missing");
	if (entries->n == ADDRESS_NAMES_MAX)
		return file_mistake(place, "too many names");
	snprintf(entry.name, sizeof(entry.name), "%s", word);
	return add_entry(entries, &entry);
}

static int
address_read_file(struct entries *entries, FILE *in, struct place place)
{
	char line[LINE_OCTETS];
	int err = 0;

	while (err == 0 && fgets(line, sizeof(line), in)) {
		if (place.line++ == 0 && strncmp(line, "\xef\xbb\xbf", 3) == 0) /* some editors begin UTF-8 with this mark */
			memset(line, ' ', 3);
		if (!strchr(line, '\n') && !feof(in))
			err = file_mistake(&place, "the line is too long");
		else
			err = read_line(entries, line, &place);
	}
	if (err == 0 && ferror(in))
		err = file_mistake(&place, "cannot be read");
	return err;
}

/* ---- the IEEE's lists ---- */

/* The next field of a line of CSV (RFC 4180), its quotes taken off; NULL at the end. */
static char *
next_field(char **rest)
{
	char *field = *rest, *to = field, *from = field;
	bool quoted = *from == '"';

	if (!field || !*field)
		return NULL;
	for (from += quoted; *from && *from != '\n'; from++) {
		if (quoted && from[0] == '"' && from[1] != '"')
			break;
		if (!quoted && *from == ',')
			break;
		from += quoted && from[0] == '"';
		*to++ = *from;
	}
	from += strcspn(from, ",");
	*rest = *from ? from + 1 : from;
	*to = '\0';
	return field;
}

/* MA-L,001B21,Intel Corporate,address: six to nine hex digits. Other lines are none of ours. */
static int
read_vendor(struct entries *entries, char *line)
{
	char *rest = line, *registry = next_field(&rest), *digits, *name;
	size_t n;
	struct entry entry = {.n_octets = FRAME_MAC_LEN};

	if (!registry || !(digits = next_field(&rest)) || !(name = next_field(&rest)))
		return 0;
	n = strspn(digits, "0123456789ABCDEFabcdef");
	if (n < 6 || n > 2 * FRAME_MAC_LEN || digits[n])
		return 0;
	entry.bits = (uint8_t)(4 * n);
	for (size_t i = 0; i < n; i++)
		entry.octets[i / 2] |= (uint8_t)(strtoul((const char[]){digits[i], 0}, NULL, 16)
		    << (i % 2 ? 0 : 4));
	snprintf(entry.name, sizeof(entry.name), "%s", name);
	return add_entry(entries, &entry);
}

static int
read_vendors(struct entries *entries, const char *folder, char *error, size_t error_size)
{
	static const char *const files[] = {"oui.csv", "mam.csv", "oui36.csv"};
	char path[4096], line[LINE_OCTETS];
	int err = 0;

	for (size_t i = 0; err == 0 && i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *in;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		in = fopen(path, "re");
		if (!in) {
			err = -errno;
			snprintf(error, error_size, "%s: %s (package ieee-data)", path, strerror(errno));
			break;
		}
		while (err == 0 && fgets(line, sizeof(line), in))
			err = read_vendor(entries, line);
		fclose(in);
	}
	order_entries(entries);
	return err;
}

/* ---- networks ---- */

static int
address_compare_names(const void *a, const void *b)
{
	return strcmp((*(const struct entry *const *)a)->name, (*(const struct entry *const *)b)->name);
}

/* Numbers the networks by their names. The entries stay where they are from here on. */
static int
number_networks(struct address_names *d)
{
	size_t n = 1;

	d->networks = calloc(d->named.n + 1, sizeof(*d->networks));
	if (!d->networks)
		return -ENOMEM;
	for (size_t i = 0; i < d->named.n; i++)
		if (d->named.items[i].is_network)
			d->networks[n++] = &d->named.items[i];
	qsort(d->networks + 1, n - 1, sizeof(*d->networks), address_compare_names);
	for (size_t i = 1; i < n; i++) {
		struct entry *entry = &d->named.items[d->networks[i] - d->named.items];

		if (d->n_networks == 0 || address_compare_names(&d->networks[d->n_networks], &d->networks[i]) != 0)
			d->networks[++d->n_networks] = entry;
		entry->network = (uint32_t)d->n_networks;
		d->bits_used[entry->n_octets][entry->bits] = true;
	}
	return 0;
}

/* ---- opening ---- */

static int
address_open_file(struct entries *entries, const char *path, char *error, size_t error_size)
{
	FILE *in = fopen(path, "re");
	int err;

	if (!in) {
		err = -errno;
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return err;
	}
	err = address_read_file(entries, in, (struct place){path, 0, error, error_size});
	fclose(in);
	order_entries(entries);
	return err;
}

int
address_names_open(const struct address_names_options *options, struct address_names **names,
    char *error, size_t error_size)
{
	struct address_names *d = calloc(1, sizeof(*d));
	int err = d ? 0 : -ENOMEM;

	snprintf(error, error_size, "out of memory");
	if (d)
		*d = (struct address_names){.resolve = options->resolve, .resolver = options->resolver};
	if (err == 0 && options->file)
		err = address_open_file(&d->named, options->file, error, error_size);
	if (err == 0)
		err = number_networks(d);
	if (err == 0 && options->n_databases > 0)
		err = address_databases_open(options->databases, options->n_databases, &d->databases, error, error_size);
	if (err == 0 && options->vendors)
		err = read_vendors(&d->vendors, options->vendors, error, error_size);
	if (err) {
		address_names_close(d);
		d = NULL;
	}
	*names = d;
	return err;
}

int
address_names_parse(const char *name, const char *text, struct address_names **names, char *error, size_t error_size)
{
	struct address_names *d = calloc(1, sizeof(*d));
	FILE *in = *text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
	int err = !d || (*text && !in) ? -ENOMEM : 0;

	snprintf(error, error_size, "out of memory");
	if (err == 0 && in)
		err = address_read_file(&d->named, in, (struct place){name, 0, error, error_size});
	if (in)
		fclose(in);
	if (d)
		order_entries(&d->named);
	if (err == 0)
		err = number_networks(d);
	if (err) {
		address_names_close(d);
		d = NULL;
	}
	*names = d;
	return err;
}

void
address_names_close(struct address_names *names)
{
	if (!names)
		return;
	free(names->named.items);
	free(names->vendors.items);
	free(names->resolved.items);
	free(names->networks);
	address_databases_close(names->databases);
	free(names);
}

/* ---- asking ---- */

/* The cache is kept in the order of asking: it is short, and the resolver is slow. */
static void
resolve_address(struct address_names *d, size_t n_octets, const uint8_t *octets, char name[ADDRESS_NAME_ROOM])
{
	struct entry entry = prefix_of(n_octets, octets, 8 * (unsigned)n_octets);

	for (size_t i = 0; i < d->resolved.n; i++)
		if (address_compare_entries(&d->resolved.items[i], &entry) == 0) {
			memcpy(name, d->resolved.items[i].name, ADDRESS_NAME_ROOM);
			return;
		}
	resolver_ask(n_octets, octets, entry.name);
	memcpy(name, entry.name, ADDRESS_NAME_ROOM);
	if (d->resolved.n < ADDRESS_NAMES_CACHE)
		add_entry(&d->resolved, &entry); /* without memory it is asked again */
}

static void
copy_name(char name[ADDRESS_NAME_ROOM], const char *found)
{
	snprintf(name, ADDRESS_NAME_ROOM, "%s", found ? found : "");
}

void
address_names_of_address(struct address_names *d, size_t n_octets, const uint8_t *octets,
    char name[ADDRESS_NAME_ROOM])
{
	copy_name(name, d ? find_longest(&d->named, n_octets, octets) : NULL);
	if (!d || *name)
		return;
	if (n_octets == FRAME_MAC_LEN)
		copy_name(name, find_longest(&d->vendors, n_octets, octets));
	else if (d->resolve)
		resolve_address(d, n_octets, octets, name);
	else if (d->resolver)
		resolver_name(d->resolver, n_octets, octets, name);
}

void
address_names_of_prefix(const struct address_names *d, size_t n_octets, const uint8_t *octets,
    unsigned bits,
    char name[ADDRESS_NAME_ROOM])
{
	copy_name(name, d ? find_address(&d->named, n_octets, octets, bits) : NULL);
}

void
address_names_of_vlan(const struct address_names *d, unsigned vlan, char name[ADDRESS_NAME_ROOM])
{
	uint8_t octets[VLAN_OCTETS] = {(uint8_t)(vlan >> 8), (uint8_t)vlan};

	copy_name(name, d ? find_address(&d->named, VLAN_OCTETS, octets, 8 * VLAN_OCTETS) : NULL);
}

/* ---- groups ---- */

bool
address_names_has_groups(const struct address_names *d, enum address_group group)
{
	return d && (group == ADDRESS_NETWORK ? d->n_networks > 0 : d->databases && address_databases_has(d->databases, group));
}

static uint32_t
network_of(const struct address_names *d, size_t n_octets, const uint8_t *octets)
{
	for (unsigned bits = 8 * (unsigned)n_octets + 1; bits-- > 0;) {
		const struct entry *entry =
		    d->bits_used[n_octets][bits] ? address_find_entry(&d->named, n_octets, octets, bits) : NULL;

		if (entry && entry->is_network)
			return entry->network;
	}
	return 0;
}

uint32_t
address_names_group(struct address_names *d, enum address_group group, size_t n_octets, const uint8_t *octets)
{
	if (!d || (n_octets != 4 && n_octets != FRAME_IP_LEN))
		return 0;
	if (group == ADDRESS_NETWORK)
		return network_of(d, n_octets, octets);
	return d->databases ? address_databases_find(d->databases, group, n_octets, octets) : 0;
}

void
address_names_of_group(const struct address_names *d, enum address_group group, uint32_t number,
    char text[ADDRESS_NAME_ROOM], char name[ADDRESS_NAME_ROOM])
{
	*text = *name = '\0';
	if (group == ADDRESS_AS)
		snprintf(text, ADDRESS_NAME_ROOM, "AS%u", number);
	else if (group == ADDRESS_COUNTRY)
		snprintf(text, ADDRESS_NAME_ROOM, "%c%c", (int)(number >> 8 & 0x7f), (int)(number & 0x7f));
	else if (d && number <= d->n_networks && number > 0)
		copy_name(text, d->networks[number]->name);
	if (d && d->databases && group != ADDRESS_NETWORK)
		address_databases_name(d->databases, group, number, name, ADDRESS_NAME_ROOM);
}

uint32_t
address_names_find_group(const struct address_names *d, enum address_group group, const char *text)
{
	unsigned long number;
	char *end;

	if (group == ADDRESS_COUNTRY)
		return isalpha((unsigned char)text[0]) && isalpha((unsigned char)text[1]) && text[2] == '\0'
		    ? (uint32_t)toupper((unsigned char)text[0]) << 8 | (uint32_t)toupper((unsigned char)text[1]) : 0;
	if (group == ADDRESS_AS) {
		text += strncasecmp(text, "AS", 2) == 0 ? 2 : 0;
		number = strtoul(text, &end, 10);
		return isdigit((unsigned char)*text) && *end == '\0' && number <= UINT32_MAX ? (uint32_t)number : 0;
	}
	for (size_t i = 1; d && i <= d->n_networks; i++)
		if (strcmp(d->networks[i]->name, text) == 0)
			return (uint32_t)i;
	return 0;
}
