/*
 * What is read without a server: names of interfaces, keys of addresses, and the file that says where databases are.
 * Names and keys are those of SONiC's documentation and of its own test data.
 */
#include "agent/sonic/addresses.h"
#include "agent/sonic/database_config.h"
#include "agent/sonic/interfaces.h"
#include "tests/suite.h"

#include <errno.h>
#include <string.h>

START_TEST(numbers_are_sonics)
{
	static const struct {
		const char *name;
		uint32_t if_index;
	} truth[] = {
	    {"Ethernet0", 1}, {"Ethernet4", 5}, {"Ethernet511", 512}, {"PortChannel01", 1001},
	    {"PortChannel1000", 2000}, {"Vlan1", 2001}, {"Vlan4094", 6094}, {"Vlan4095", 0}, {"eth0", 10000},
	    {"eth1", 10001}, {"Ethernet", 0}, {"EthernetX", 0}, {"Ethernet1.100", 0}, {"Loopback0", 0},
	    {"Ethernet99999", 0}, {"ethernet0", 0}, {"", 0},
	};
	enum sonic_kind kind;
	uint32_t number;

	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++)
		ck_assert_msg(interface_number(truth[i].name, strlen(truth[i].name), &kind, &number) ==
			truth[i].if_index, "%s", truth[i].name);
}
END_TEST

#define KEY(json) FDB_KEY_PREFIX json

START_TEST(keys_of_addresses)
{
	static const char *const wrong[] = {
	    KEY(""), KEY("{}"), KEY("["), KEY("{\"mac\":\"7C:FE:90:80:9F:04\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:0\",\"vlan\":\"1000\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04:05\",\"vlan\":\"1000\"}"),
	    KEY("{\"mac\":\"7C-FE-90-80-9F-04\",\"vlan\":\"1000\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04\",\"vlan\":\"0\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04\",\"vlan\":\"4095\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04\",\"vlan\":\"10x\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04\",\"vlan\":1000}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04\",\"bvid\":\"oid:0x0\"}"),
	    KEY("{\"mac\":\"7C:FE:90:80:9F:04\",\"bvid\":\"26000000000a20\"}"),
	    "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY", "",
	};
	static const char by_number[] = KEY("{\"bridge_id\":\"oid:0x0\",\"bridge_type\":"
	    "\"SAI_FDB_ENTRY_BRIDGE_TYPE_1Q\",\"mac\":\"7C:FE:90:80:9F:04\",\"switch_id\":"
	    "\"oid:0x21000000000000\",\"vlan\":\"1000\"}");
	static const char by_object[] = KEY("{\"bvid\":\"oid:0x26000000000013\",\"mac\":"
	    "\"7c:fe:90:5e:6b:be\",\"switch_id\":\"oid:0x21000000000000\"}");
	struct fdb_key key;

	ck_assert_int_eq(fdb_key_parse(by_number, strlen(by_number), &key), 0);
	ck_assert(!key.by_object && key.vlan == 1000);
	ck_assert_mem_eq(key.mac, ((uint8_t[]){0x7c, 0xfe, 0x90, 0x80, 0x9f, 0x04}), 6);
	ck_assert_int_eq(fdb_key_parse(by_object, strlen(by_object), &key), 0);
	ck_assert(key.by_object && key.vlan == 0x26000000000013);
	ck_assert_mem_eq(key.mac, ((uint8_t[]){0x7c, 0xfe, 0x90, 0x5e, 0x6b, 0xbe}), 6);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(fdb_key_parse(wrong[i], strlen(wrong[i]), &key) == -EINVAL, "%s", wrong[i]);
}
END_TEST

#define DATABASES                                                                                  \
	"\"DATABASES\": {\"APPL_DB\": {\"id\": 0, \"instance\": \"redis\"}, "                     \
	"\"ASIC_DB\": {\"id\": 1, \"instance\": \"redis\"}, "                                     \
	"\"COUNTERS_DB\": {\"id\": \"2\", \"instance\": \"fast\"}, "                              \
	"\"CONFIG_DB\": {\"id\": 4, \"instance\": \"redis\"}, "                                   \
	"\"STATE_DB\": {\"id\": 6, \"instance\": \"redis\"}}"
#define INSTANCES(host)                                                                            \
	"{\"INSTANCES\": {\"redis\": {\"hostname\": \"" host "\", \"port\": 6379, "               \
	"\"unix_socket_path\": \"/r.sock\"}, \"fast\": {\"hostname\": \"127.0.0.1\", "            \
	"\"port\": 6380, \"unix_socket_path\": \"/f.sock\"}}, "

START_TEST(where_databases_are)
{
	static const char good[] = INSTANCES("localhost") DATABASES "}";
	static const char named[] = INSTANCES("redis.example") DATABASES "}";
	static const char none[] = INSTANCES("127.0.0.1") "\"DATABASES\": {}}";
	struct redis_address at[SONIC_N_DATABASES];
	char error[256];

	ck_assert_int_eq(database_config_parse(good, strlen(good), false, at, error, sizeof(error)), 0);
	ck_assert_str_eq(at[SONIC_APPL].socket, "/r.sock");
	ck_assert_str_eq(at[SONIC_COUNTERS].socket, "/f.sock");
	ck_assert_uint_eq(at[SONIC_COUNTERS].database, 2);
	ck_assert_uint_eq(at[SONIC_STATE].database, 6);
	ck_assert_int_eq(database_config_parse(good, strlen(good), true, at, error, sizeof(error)), 0);
	ck_assert_str_eq(at[SONIC_APPL].address, "127.0.0.1");
	ck_assert_uint_eq(at[SONIC_COUNTERS].port, 6380);
	ck_assert_int_eq(database_config_parse(named, strlen(named), true, at, error, sizeof(error)), -EINVAL);
	ck_assert_str_eq(error, "APPL_DB: its instance's hostname is not an IP address");
	ck_assert_int_eq(database_config_parse(none, strlen(none), false, at, error, sizeof(error)), -EINVAL);
	ck_assert_str_eq(error, "APPL_DB: DATABASES does not have it");
	ck_assert_int_eq(database_config_read("/no/such", false, at, error, sizeof(error)), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error, "/no/such: "));
}
END_TEST

/* Against a plain list: what was put and not removed is there, once. */
START_TEST(addresses_as_a_plain_list)
{
	enum { N = 600, STEPS = 20000 };
	struct sonic_addresses table = {0};
	uint64_t truth[N] = {0};
	uint32_t random = 1;
	size_t n = 0;

	for (size_t i = 0; i < STEPS; i++) {
		struct fdb_key key = {.by_object = true, .vlan = 0x26000000000000};
		size_t which;

		random = random * 1664525 + 1013904223;
		which = (random >> 8) % N;
		key.mac[4] = (uint8_t)(which >> 8);
		key.mac[5] = (uint8_t)which;
		if (random >> 30 == 0) {
			addresses_remove(&table, &key);
			truth[which] = 0;
		} else {
			uint64_t port = (random >> 20 & 7) + 1;

			ck_assert_int_eq(addresses_put(&table, &key, port, HAL_ADDRESS_LEARNED), truth[which] != port);
			truth[which] = port;
		}
	}
	addresses_begin_pass(&table);
	for (size_t i = 0; i < N; i += 2) {
		struct fdb_key key = {.by_object = true, .vlan = 0x26000000000000,
		    .mac[4] = (uint8_t)(i >> 8), .mac[5] = (uint8_t)i};

		if (truth[i] != 0)
			ck_assert_int_eq(addresses_put(&table, &key, truth[i], HAL_ADDRESS_LEARNED), 0);
	}
	addresses_end_pass(&table);
	for (size_t i = 0; i < N; i += 2)
		n += truth[i] != 0;
	ck_assert_uint_eq(table.n, n);
	for (size_t i = 0; i < table.n_slots; i++) {
		const struct sonic_address *known = &table.slots[i];

		if (known->bridge_port != 0)
			ck_assert_uint_eq(known->bridge_port, truth[known->key.mac[4] << 8 | known->key.mac[5]]);
	}
	addresses_free(&table);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("sonic_names");
	TCase *all = tcase_create("names, keys and addresses");

	tcase_add_test(all, numbers_are_sonics);
	tcase_add_test(all, keys_of_addresses);
	tcase_add_test(all, where_databases_are);
	tcase_add_test(all, addresses_as_a_plain_list);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
