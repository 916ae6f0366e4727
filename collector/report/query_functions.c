/*
 * SQL functions: they turn addresses and columns of a sample into the octets of a key, and select
 * keys.
 */
#include "collector/report/query_private.h"

#include <string.h>

/* subnet(address): its host bits cleared. */
static void
sql_subnet(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct report_options *options = sqlite3_user_data(context);
	int octets = n == 1 ? sqlite3_value_bytes(values[0]) : 0;
	uint8_t subnet[FRAME_IP_LEN];

	if (octets <= 0 || octets > FRAME_IP_LEN) {
		sqlite3_result_null(context);
		return;
	}
	filter_cut(sqlite3_value_blob(values[0]), report_mask_bits(options, (size_t)octets),
	    subnet);
	sqlite3_result_blob(context, subnet, octets, SQLITE_TRANSIENT);
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

static bool
half_is(const uint8_t *half, size_t n_octets, sqlite3_value *value)
{
	const uint8_t *octets = sqlite3_value_blob(value);

	if (!octets)
		return true; /* --by leaves it out */
	return (size_t)sqlite3_value_bytes(value) == n_octets &&
	    memcmp(half, octets, n_octets) == 0;
}

/* asked_key(k1, k2): which of query->only the key is; NULL: none. */
static void
sql_asked_key(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct query *query = sqlite3_user_data(context);
	size_t i = 0;

	while (n == 2 && i < query->n_only && !(half_is(query->only[i].key1, query->only[i].n_octets, values[0]) &&
	    half_is(query->only[i].key2, query->only[i].n_octets, values[1])))
		i++;
	if (n == 2 && i < query->n_only)
		sqlite3_result_int64(context, (sqlite3_int64)i);
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
	} functions[] = {{"subnet", 1, sql_subnet}, {"octets", -1, sql_octets}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (sqlite3_create_function(query->db, functions[i].name, functions[i].n,
		    SQLITE_UTF8 | SQLITE_DETERMINISTIC, (void *)(uintptr_t)options,
		    functions[i].run, NULL, NULL) != SQLITE_OK)
			return false;
	return sqlite3_create_function(query->db, "asked_key", 2, SQLITE_UTF8, query, sql_asked_key,
		   NULL, NULL) == SQLITE_OK &&
	    sqlite3_create_function(query->db, "is_listed", 2, SQLITE_UTF8, query, sql_is_listed,
		NULL, NULL) == SQLITE_OK &&
	    sqlite3_create_function(query->db, "is_wanted", -1, SQLITE_UTF8, query, query_sql_is_wanted,
		NULL, NULL) == SQLITE_OK;
}
