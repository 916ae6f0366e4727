/*
 * What a filter means for a query: which agents and ports it chooses, which sums can answer it, and what of a key
 * or a sample it looks at. Part of query.h.
 */
#include "collector/filter/address_names.h"
#include "collector/query/dimension.h"
#include "collector/query/query_private.h"
#include "common/text.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PORTS_NAMED = 8, /* in a refusal */ IP_PROTO_TCP = 6, ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd };

/* ---- places ---- */

/* Digits of an id could be anybody's name, and whoever sends SNMPv2c chooses his own: they count if none is called so. */
static bool
agent_is(const struct query_agent *agent, const char *name, bool by_id)
{
	if (by_id)
		return *name && strncasecmp(name, agent->id_text, strlen(name)) == 0;
	return strcmp(name, agent->name) == 0 || (!agent->lacks_address && strcmp(name, agent->address) == 0);
}

static bool
has_name(const struct query_port *port, const char *name)
{
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu64, port->if_index);
	return strcmp(name, port->name) == 0 || strcmp(name, port->sent_name) == 0 || strcmp(name, number) == 0;
}

static bool
is_at(const char *site, const char *name)
{
	return site && strcmp(site, name) == 0;
}

/* A question about an aggregate is answered by its members. */
static bool
port_is(const struct query *query, const struct query_port *port, const char *name)
{
	const struct query_port *parent =
	    port->lag_parent ? query_find_port(query, port->agent->id, port->lag_parent) : NULL;

	return has_name(port, name) || (parent && has_name(parent, name));
}

/* A name that no agent has is a mistake, wherever it stands in the filter. */
static int
refuse_agent(struct query *query, const char *name)
{
	return query_fail(query, -ENOENT, "%s: no agent with the name, address or id %s; easetop agents lists them",
	    query->path, name);
}

/* So is a site of which neither the names' file nor an agent knows. */
static int
check_sites(struct query *query, const struct filter *filter)
{
	for (size_t n = 0; filter && n < filter->n_names; n++)
		if (filter->names[n].field == FILTER_SITE && !query_names_have_site(query, filter_name(filter, n)))
			return query_fail(query, -ENOENT, "%s: no site %s in the names (device_names in easecapd.conf);"
			    " easetop agents has the sites", query->path, filter_name(filter, n));
	return 0;
}

/* Where no port of it is elsewhere, the agent's site is that of all its ports. */
static void
filtered_set_site(struct query_agent *agent, const struct filter *filter, struct filter_subject *subject)
{
	if (agent->has_port_sites)
		return;
	subject->known |= FILTER_BIT(FILTER_SITE);
	for (size_t n = 0; filter && n < filter->n_names; n++)
		if (filter->names[n].field == FILTER_SITE && is_at(agent->site, filter_name(filter, n)))
			agent->named |= 1u << n;
}

/* Sets which of the filter's names of agents each agent has, and returns those that one has. */
static uint32_t
name_agents(struct query *query, const struct filter *filter)
{
	uint32_t found = 0;

	for (size_t n = 0; filter && n < filter->n_names; n++)
		for (int by_id = 0; by_id < 2 && filter->names[n].field == FILTER_AGENT && !(found >> n & 1); by_id++)
			for (size_t i = 0; i < query->n_agents; i++)
				if (agent_is(&query->agents[i], filter_name(filter, n), by_id)) {
					query->agents[i].named |= 1u << n;
					found |= 1u << n;
				}
	return found;
}

int
query_choose_agents(struct query *query, const struct filter *filter)
{
	uint32_t found = name_agents(query, filter);
	size_t n_chosen = 0;

	query->filter = filter;
	for (size_t i = 0; i < query->n_agents; i++) {
		struct query_agent *agent = &query->agents[i];
		struct filter_subject subject = {.known = FILTER_BIT(FILTER_AGENT)};

		filtered_set_site(agent, filter, &subject);
		subject.named = agent->named;
		agent->chosen = filter_judge(filter, &subject) != FILTER_NO;
		n_chosen += agent->chosen;
	}
	for (size_t n = 0; filter && n < filter->n_names; n++)
		if (filter->names[n].field == FILTER_AGENT && !(found >> n & 1))
			return refuse_agent(query, filter_name(filter, n));
	if (check_sites(query, filter) != 0)
		return -ENOENT;
	return query->n_agents > 0 && n_chosen == 0
	    ? query_fail(query, -ENOENT, "the filter lets no agent pass: %s", filter->text) : 0;
}

/* Letters and digits alone, in lower case: "e2" is found in "e-2". */
static void
fold_name(const char *name, char *folded)
{
	for (; *name; name++)
		if (isalnum((unsigned char)*name))
			*folded++ = (char)tolower((unsigned char)*name);
	*folded = '\0';
}

static bool
is_near(const struct query_port *port, const char *folded)
{
	char name[EASE_NAME_MAX + 1];

	fold_name(port->name, name);
	return *name && *folded && (strstr(name, folded) || strstr(folded, name));
}

/* Names ports that may have been meant: those with a similar name, or failing that the first. */
static int
refuse_port(struct query *query, const char *wanted)
{
	char folded[EASE_NAME_MAX + 1] = "", names[QUERY_ERROR_TEXT / 2] = "";
	size_t n_near = 0, n = 0;

	if (strlen(wanted) <= EASE_NAME_MAX)
		fold_name(wanted, folded);
	for (size_t i = 0; i < query->n_ports; i++)
		n_near += query->ports[i].agent->chosen && is_near(&query->ports[i], folded);
	for (size_t i = 0; i < query->n_ports && n < PORTS_NAMED; i++)
		if (query->ports[i].agent->chosen && (n_near == 0 || is_near(&query->ports[i], folded)))
			text_add(names, sizeof(names), "%s%s", n++ > 0 ? ", " : "", query->ports[i].name);
	return query_fail(query, -ENOENT, "%s: no port with the name or ifIndex %s%s%s; easetop load"
	    " lists all", query->path, wanted, n > 0 ? "; there is " : "", names);
}

/* An agent whose ports stand at several sites is left out where none of them is asked for. */
static void
leave_out_agents(struct query *query)
{
	bool by_site = query->filter && query->filter->fields & FILTER_BIT(FILTER_SITE);

	for (size_t i = 0; by_site && i < query->n_agents; i++)
		query->agents[i].chosen &= !query->agents[i].has_port_sites;
	for (size_t i = 0; by_site && i < query->n_ports; i++)
		if (query->ports[i].chosen)
			query->agents[query->ports[i].agent - query->agents].chosen = true;
}

int
query_choose_ports(struct query *query)
{
	const struct filter *filter = query->filter;
	uint32_t found = 0;
	size_t n_chosen = 0;

	for (size_t i = 0; i < query->n_ports; i++) {
		struct query_port *port = &query->ports[i];
		struct filter_subject subject;
		enum filter_answer answer;

		port->named = port->agent->named;
		for (size_t n = 0; filter && n < filter->n_names; n++)
			if (filter->names[n].field == FILTER_IF ? port_is(query, port, filter_name(filter, n))
								: filter->names[n].field == FILTER_SITE &&
				is_at(port->site, filter_name(filter, n)))
				port->named |= 1u << n;
		query_set_place(&subject, port);
		answer = filter_judge(filter, &subject);
		port->chosen = port->agent->chosen && answer != FILTER_NO;
		port->passes = answer == FILTER_YES;
		n_chosen += port->chosen;
		if (port->agent->chosen)
			found |= port->named;
	}
	for (size_t n = 0; filter && n < filter->n_names; n++)
		if (filter->names[n].field == FILTER_IF && !(found >> n & 1))
			return refuse_port(query, filter_name(filter, n));
	leave_out_agents(query);
	return query->n_ports > 0 && n_chosen == 0 && filter && filter->fields & FILTER_BIT(FILTER_IF)
	    ? query_fail(query, -ENOENT, "the filter lets no port pass: %s", filter->text) : 0;
}

void
query_set_place(struct filter_subject *subject, const struct query_port *port)
{
	subject->known = FILTER_PLACES;
	subject->there = 0;
	subject->named = port->named;
}

/* ---- keys ---- */

/* What a field of a key says of a frame. */
static const struct {
	uint32_t fields;
	enum filter_field as; /* of an address or a number that is taken as it is */
} says[KEY_N_FIELDS] = {
    [KEY_SRC_MAC] = {FILTER_BIT(FILTER_SRC_MAC), FILTER_SRC_MAC},
    [KEY_DST_MAC] = {FILTER_BIT(FILTER_DST_MAC), FILTER_DST_MAC},
    [KEY_SRC_IP] = {FILTER_BIT(FILTER_SRC_IP) | FILTER_BIT(FILTER_ETHERTYPE), FILTER_SRC_IP},
    [KEY_DST_IP] = {FILTER_BIT(FILTER_DST_IP) | FILTER_BIT(FILTER_ETHERTYPE), FILTER_DST_IP},
    [KEY_VLAN] = {FILTER_BIT(FILTER_VLAN), FILTER_VLAN},
    [KEY_ETHERTYPE] = {FILTER_BIT(FILTER_ETHERTYPE), FILTER_ETHERTYPE}, /* 0: a length, as which no term asks for it */
    [KEY_IP_PROTO] = {FILTER_BIT(FILTER_IP_PROTO), FILTER_IP_PROTO},
    [KEY_SRC_PORT] = {FILTER_BIT(FILTER_SRC_PORT) | FILTER_ICMP, FILTER_SRC_PORT},
    [KEY_DST_PORT] = {FILTER_BIT(FILTER_DST_PORT), FILTER_DST_PORT},
    [KEY_SERVER_PORT] = {FILTER_ICMP, 0},
    [KEY_VNI] = {FILTER_BIT(FILTER_VNI), FILTER_VNI},
    [KEY_SRC_AS] = {FILTER_BIT(FILTER_SRC_AS), FILTER_SRC_AS},
    [KEY_DST_AS] = {FILTER_BIT(FILTER_DST_AS), FILTER_DST_AS},
};

enum key_field
query_key_field(enum filter_field field)
{
	for (enum key_field f = KEY_NO_FIELD + 1; f < KEY_N_FIELDS; f++)
		if (says[f].fields & FILTER_BIT(says[f].as) && says[f].as == field)
			return f;
	return KEY_NO_FIELD;
}

bool
query_kind_has(unsigned kind, const struct filter *filter)
{
	const struct key_reader r = key_reader_of(kind);
	uint32_t fields = r.layout && r.layout->of_syns ? FILTER_BIT(FILTER_IP_PROTO) : 0;

	for (enum key_field f = KEY_NO_FIELD + 1; f < KEY_N_FIELDS; f++)
		fields |= r.has >> f & 1 ? says[f].fields : 0;
	return !filter || (filter->fields & ~FILTER_PLACES & ~fields) == 0;
}

static bool
has_field(const struct key_reader *r, enum key_field field)
{
	return r->has >> field & 1;
}

/* Ports, or of ICMP its type and code, where these are known; two ports of 0 are none. */
static void
set_ports(struct filter_subject *subject, const struct key_reader *r, const struct key_fields *key)
{
	bool has_both = has_field(r, KEY_SRC_PORT), is_server = has_field(r, KEY_SERVER_PORT);
	const uint8_t *message = key->of[is_server ? KEY_SERVER_PORT : KEY_DST_PORT].octets;

	if (has_both || is_server)
		filter_set_absent(subject, (has_both ? FILTER_PORTS : 0) | FILTER_ICMP);
	if (has_both && key_number(key, KEY_SRC_PORT) == 0 && key_number(key, KEY_DST_PORT) == 0)
		return;
	if (has_field(r, KEY_IP_PROTO) && store_is_icmp(key->of[KEY_IP_PROTO].octets[0])) {
		filter_set_number(subject, FILTER_ICMP_TYPE, message[0]);
		filter_set_number(subject, FILTER_ICMP_CODE, message[1]);
	} else if (!is_server) {
		if (has_both)
			filter_set_number(subject, FILTER_SRC_PORT, key_number(key, KEY_SRC_PORT));
		filter_set_number(subject, FILTER_DST_PORT, key_number(key, KEY_DST_PORT));
	}
}

/* What is taken as it is. */
static void
set_field(struct filter_subject *subject, enum key_field f, const struct key_fields *key)
{
	if (f < KEY_N_ADDRESSES)
		filter_set_address(subject, says[f].as, key->of[f].octets, key->of[f].n);
	else if (f == KEY_VLAN || f == KEY_ETHERTYPE || f == KEY_IP_PROTO)
		filter_set_number(subject, says[f].as, key_number(key, f));
	if (f == KEY_SRC_IP || f == KEY_DST_IP)
		filter_set_number(subject, FILTER_ETHERTYPE, key->of[f].n == 4 ? ETHERTYPE_IP4 : ETHERTYPE_IP6);
}

struct key_reader
query_key_reader(unsigned kind, const struct filter *filter)
{
	struct key_reader r = key_reader_of(kind);

	for (enum key_field f = KEY_NO_FIELD + 1; f < KEY_N_FIELDS; f++)
		if (filter && has_field(&r, f) && says[f].fields & filter->fields)
			r.wanted |= (uint16_t)(1u << f);
	return r;
}

void
query_set_key(struct filter_subject *subject, const struct key_reader *r, const struct pack_key *key)
{
	const unsigned ports = 1u << KEY_SRC_PORT | 1u << KEY_DST_PORT | 1u << KEY_SERVER_PORT;
	struct key_fields fields;
	uint8_t n1, n2;
	const uint8_t *half1 = pack_half1(key, &n1), *half2 = pack_half2(key, &n2);

	if (!r->layout || !key_read_half(r, r->half > 0 ? r->half : 1, half1, n1, &fields) ||
	    (r->half == 0 && !key_read_half(r, 2, half2, n2, &fields)))
		return;
	for (unsigned left = r->wanted; left; left &= left - 1)
		set_field(subject, (enum key_field)__builtin_ctz(left), &fields);
	if (r->wanted & ports)
		set_ports(subject, r, &fields);
	if (r->layout->of_syns)
		filter_set_number(subject, FILTER_IP_PROTO, IP_PROTO_TCP);
}

/* ---- samples ---- */

/* The column of each field, where samples have it. */
static const struct {
	enum filter_field field;
	const char *column;
	bool is_address;
} columns[] = {
	{FILTER_SRC_MAC, "src_mac", true}, {FILTER_DST_MAC, "dst_mac", true}, {FILTER_SRC_IP, "src_ip", true},
	{FILTER_DST_IP, "dst_ip", true}, {FILTER_INNER_SRC_IP, "inner_src_ip", true},
	{FILTER_INNER_DST_IP, "inner_dst_ip", true}, {FILTER_VLAN, "vlan", false},
	{FILTER_ETHERTYPE, "ethertype", false}, {FILTER_IP_PROTO, "ip_proto", false},
	{FILTER_SRC_PORT, "src_port", false},
	{FILTER_DST_PORT, "iif(" STORE_IS_ICMP ", NULL, dst_port)", false}, {FILTER_OCTETS, "frame_octets", false},
	{FILTER_ICMP_TYPE, "iif(" STORE_IS_ICMP ", dst_port >> 8, NULL)", false},
	{FILTER_ICMP_CODE, "iif(" STORE_IS_ICMP ", dst_port & 255, NULL)", false}, {FILTER_VNI, "vni", false},
	{FILTER_SRC_AS, "src_as", false}, {FILTER_DST_AS, "dst_as", false},
};

enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

void
query_write_wanted(const struct query *query, char *sql, size_t size)
{
	snprintf(sql, size, "is_wanted(agent, if_index");
	for (size_t i = 0; i < N_COLUMNS; i++)
		if (query->filter->fields & FILTER_BIT(columns[i].field))
			text_add(sql, size, ", %s", columns[i].column);
	text_add(sql, size, ")");
}

static void
set_column(struct filter_subject *subject, size_t i, sqlite3_value *value)
{
	int octets = sqlite3_value_bytes(value);

	if (sqlite3_value_type(value) == SQLITE_NULL || (columns[i].is_address && (octets < 4 || octets > FRAME_IP_LEN)))
		filter_set_absent(subject, FILTER_BIT(columns[i].field));
	else if (columns[i].is_address)
		filter_set_address(subject, columns[i].field, sqlite3_value_blob(value), (size_t)octets);
	else
		filter_set_number(subject, columns[i].field, (uint32_t)sqlite3_value_int64(value));
}

/* is_wanted(agent, ifIndex, columns of query_write_wanted): whether the filter lets the sample pass. */
void
query_sql_is_wanted(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct query *query = sqlite3_user_data(context);
	const struct query_port *port = n < 2 ? NULL : query_find_port(query, sqlite3_value_int64(values[0]),
	    (uint64_t)sqlite3_value_int64(values[1]));
	struct filter_subject subject;
	int at = 2;

	if (!port || !port->chosen || !query->filter) {
		sqlite3_result_int(context, 0);
		return;
	}
	query_set_place(&subject, port);
	for (size_t i = 0; i < N_COLUMNS && at < n; i++)
		if (query->filter->fields & FILTER_BIT(columns[i].field))
			set_column(&subject, i, values[at++]);
	sqlite3_result_int(context, filter_judge(query->filter, &subject) == FILTER_YES);
}

/* ---- SQL functions: they turn addresses and columns of a sample into the octets of a key, and select keys ---- */

bool
query_fold_address(const struct report_options *options, enum dimension_fold fold, enum address_group group,
    const uint8_t *octets, uint8_t *n_octets, uint8_t folded[FRAME_IP_LEN])
{
	uint32_t number;

	if (*n_octets == 0 || *n_octets > FRAME_IP_LEN)
		return false;
	if (fold == FOLD_SUBNET) {
		filter_cut(octets, report_mask_bits(options, *n_octets), folded);
		return true;
	}
	number = htobe32(address_names_group(options->names, group, *n_octets, octets));
	memset(folded, 0, FRAME_IP_LEN);
	memcpy(folded, &number, sizeof(number));
	*n_octets = sizeof(number);
	return number != 0;
}

/* fold(group, address): query_fold_address, of a subnet if the group is -1; NULL: of none. */
static void
sql_fold(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct report_options *options = sqlite3_user_data(context);
	int group = sqlite3_value_int(values[0]), octets = sqlite3_value_bytes(values[1]);
	uint8_t folded[FRAME_IP_LEN], n_octets = (uint8_t)(octets > 0 && octets <= FRAME_IP_LEN ? octets : 0);

	if (n == 2 && query_fold_address(options, group < 0 ? FOLD_SUBNET : FOLD_GROUP, (enum address_group)group,
	    sqlite3_value_blob(values[1]), &n_octets, folded))
		sqlite3_result_blob(context, folded, n_octets, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(context);
}

/* octets(value, n, value, n, ...): joins numbers, as n octets in network order, and blobs as they
 * are: makes a window's key from a sample's columns. */
static void
sql_octets(sqlite3_context *context, int n, sqlite3_value **values)
{
	uint8_t key[QUERY_KEY_OCTETS];
	int len = 0;

	for (int i = 0; i + 1 < n; i += 2) {
		bool blob = sqlite3_value_type(values[i]) == SQLITE_BLOB;
		int octets = blob ? sqlite3_value_bytes(values[i])
		    : sqlite3_value_int(values[i + 1]);

		if (octets < 0 || octets > QUERY_KEY_OCTETS - len)
			break;
		for (int k = 0; !blob && k < octets; k++)
			key[len + k] =
			    (uint8_t)(sqlite3_value_int64(values[i]) >> 8 * (octets - 1 - k));
		if (blob)
			memcpy(key + len, sqlite3_value_blob(values[i]), (size_t)octets);
		len += octets;
	}
	sqlite3_result_blob(context, key, len, SQLITE_TRANSIENT);
}

/* is_listed(agent, direction): whether lists count frames of this direction at the agent. */
static void
sql_is_listed(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct query_agent *agent = query_find_agent(sqlite3_user_data(context), sqlite3_value_int64(values[0]));

	sqlite3_result_int(context, n == 2 && agent && agent->listed == sqlite3_value_int(values[1]));
}

bool
query_add_functions(struct query *query, const struct report_options *options)
{
	static const struct {
		const char *name;
		int n;
		void (*run)(sqlite3_context *, int, sqlite3_value **);
	} functions[] = {{"fold", 2, sql_fold}, {"octets", -1, sql_octets}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (sqlite3_create_function(query->db, functions[i].name, functions[i].n,
		    SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)(uintptr_t)options,
		    functions[i].run, NULL, NULL) != SQLITE_OK)
			return false;
	return sqlite3_create_function(query->db, "is_listed", 2, SQLITE_UTF8, query, sql_is_listed,
		NULL, NULL) == SQLITE_OK &&
	    sqlite3_create_function(query->db, "is_wanted", -1, SQLITE_UTF8, query, query_sql_is_wanted,
		NULL, NULL) == SQLITE_OK;
}
