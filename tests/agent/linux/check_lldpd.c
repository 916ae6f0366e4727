/*
 * What lldpd's client prints, in the shape that lldpd 1.0.16 has it: who is named how, at which port, and what is left out.
 */
#include "agent/linux/lldpd_json.h"
#include "tests/suite.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define ID(type, value)	    "\"id\":[{\"type\":\"" type "\",\"value\":\"" value "\"}]"
#define CHASSIS(id, name)   "\"chassis\":[{" id ",\"name\":[{\"value\":\"" name "\"}],\"capability\":[{\"type\":\"Bridge\",\"enabled\":true}]}]"
#define PORT(id, descr)	    "\"port\":[{" id ",\"descr\":[{\"value\":\"" descr "\"}],\"ttl\":[{\"value\":\"120\"}]}]"
#define LLDP(interfaces)    "{\"lldp\":[{\"interface\":[" interfaces "]}]}"
#define OWN(name, id, text) "{\"name\":\"" name "\",\"status\":[{\"value\":\"RX and TX\"}]," CHASSIS(ID("mac", "02:00:00:00:00:01"), "here") "," PORT(id, text) "}"
#define HEARD(name, via, rid, chassis, port) \
	"{\"name\":\"" name "\",\"via\":\"" via "\",\"rid\":\"" rid "\",\"age\":\"0 day, 00:00:02\"," chassis "," port "}"
#define NOBODY "{\"lldp\":[{}]}"

static struct lldpd_reading got;

static uint32_t
if_index_of(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "swp1") == 0 ? 7 : strcmp(name, "swp2") == 0 ? 3 : 0;
}

static int
read_both(const char *own, const char *heard)
{
	return lldpd_json_read(own, strlen(own), heard, strlen(heard), if_index_of, NULL, &got);
}

START_TEST(both_ends_are_named)
{
	static const uint8_t here[6] = {2, 0, 0, 0, 0, 1}, there[6] = {0xf2, 0xfd, 0x0c, 0xf8, 0xcc, 0x24}, address[5] = {1, 192, 0, 2, 1};
	const struct hal_neighbour *row;

	ck_assert_int_eq(read_both(LLDP(OWN("swp1", ID("ifname", "swp1"), "to core") "," OWN("swp2", ID("mac", "02:00:00:00:00:03"), "swp2")
	    "," OWN("eth0", ID("ifname", "eth0"), "")),
	    LLDP(HEARD("swp1", "LLDP", "4", CHASSIS(ID("ip", "192.0.2.1"), "phone"), PORT(ID("local", "odd \\\"id\\\""), "p1")) ","
		HEARD("swp1", "LLDP", "2", CHASSIS(ID("mac", "F2:fd:0c:f8:cc:24"), "core\\u001b[2J"), PORT(ID("ifalias", "x"), "p2")) ","
		HEARD("swp2", "LLDP", "2", CHASSIS(ID("local", "c"), ""), PORT(ID("ifname", "Gi0/1"), "")))), 0);
	ck_assert(got.has_chassis && got.lldp.chassis.kind == LLDP_CHASSIS_MAC && got.n_left_out == 0);
	ck_assert_mem_eq(got.lldp.chassis.octets, here, 6);
	ck_assert_str_eq(got.lldp.system_name, "here");
	ck_assert(got.lldp.n_ports == 2 && got.lldp.ports[0].if_index == 3 && got.lldp.ports[1].if_index == 7); /* eth0 is none of ours */
	ck_assert(got.lldp.ports[0].id.kind == LLDP_PORT_MAC && got.lldp.ports[1].id.kind == LLDP_PORT_NAME);
	ck_assert_str_eq(got.lldp.ports[1].descr, "to core");
	ck_assert_uint_eq(got.lldp.n_neighbours, 3);
	row = got.lldp.neighbours;
	ck_assert(row[0].if_index == 3 && row[1].if_index == 7 && row[1].number == 2 && row[2].number == 4);
	ck_assert_mem_eq(row[1].chassis.octets, there, 6);
	ck_assert_str_eq(row[1].system_name, "core?[2J");
	ck_assert(row[1].port.kind == LLDP_PORT_ALIAS && row[2].chassis.kind == LLDP_CHASSIS_ADDRESS && row[2].chassis.n_octets == 5);
	ck_assert_mem_eq(row[2].chassis.octets, address, 5);
	ck_assert_mem_eq(row[2].port.octets, "odd \"id\"", 8);
	lldpd_reading_free(&got);
}
END_TEST

/* CDP's neighbours are not LLDP's; what has no identity, or one's number twice, is counted. */
START_TEST(what_is_left_out)
{
	ck_assert_int_eq(read_both(LLDP(OWN("swp1", ID("ifname", "swp1"), "") "," OWN("swp1", ID("ifname", "twice"), "")),
	    LLDP(HEARD("swp1", "CDPv2", "1", CHASSIS(ID("local", "c"), ""), PORT(ID("ifname", "p"), "")) ","
		HEARD("swp1", "LLDP", "0", CHASSIS(ID("local", "c"), ""), PORT(ID("ifname", "p"), "")) ","
		HEARD("swp1", "LLDP", "2", CHASSIS(ID("mac", "02:00"), ""), PORT(ID("ifname", "p"), "")) ","
		HEARD("swp1", "LLDP", "3", CHASSIS(ID("unhandled", "c"), ""), PORT(ID("ifname", "p"), "")) ","
		HEARD("swp1", "LLDP", "5", CHASSIS(ID("local", "c"), ""), PORT(ID("ifname", "p"), "")) ","
		HEARD("swp1", "LLDP", "5", CHASSIS(ID("local", "d"), ""), PORT(ID("ifname", "p"), "")))), 0);
	ck_assert(got.lldp.n_ports == 1 && got.lldp.n_neighbours == 1 && got.n_left_out == 4);
	lldpd_reading_free(&got);
	ck_assert_int_eq(read_both(NOBODY, NOBODY), 0);
	ck_assert(!got.has_chassis && got.lldp.n_ports == 0 && got.lldp.n_neighbours == 0);
	lldpd_reading_free(&got);
}
END_TEST

START_TEST(what_is_no_answer)
{
	static const char *const texts[] = {"", "[]", "{}", "{\"lldp\":7}", LLDP("") " x", "{\"lldp\":[{\"interface\":[", "\xff"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_int_eq(read_both(NOBODY, texts[i]), -EPROTO);
		lldpd_reading_free(&got);
		ck_assert_int_eq(read_both(texts[i], NOBODY), -EPROTO);
		lldpd_reading_free(&got);
	}
	ck_assert_int_eq(read_both(LLDP("7, null, [], {}"), LLDP("{\"name\":[]}, \"x\"")), 0); /* of another shape: nothing is known */
	ck_assert(!got.has_chassis && got.lldp.n_neighbours == 0);
	lldpd_reading_free(&got);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("lldpd");
	TCase *texts = tcase_create("texts");

	tcase_add_test(texts, both_ends_are_named);
	tcase_add_test(texts, what_is_left_out);
	tcase_add_test(texts, what_is_no_answer);
	suite_add_tcase(suite, texts);
	return suite_run(suite);
}
