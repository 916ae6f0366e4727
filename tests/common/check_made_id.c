/* Ids that the collector makes, as sha256sum and xxd make them of the octets that made_id.h names. */
#include "common/made_id.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>

static const char *
text_of(const uint8_t *octets, size_t n)
{
	static char text[2 * EASE_AGENT_ID_LEN + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", octets[i]);
	return text;
}

START_TEST(ids_are_cut_from_digests)
{
	static const struct {
		struct sflow_agent agent;
		const char *sender, *id;
	} known[] = {
	    {{.type = SFLOW_ADDRESS_IP4, .address = {10, 0, 0, 7}, .sub_agent = 3}, NULL, "00052f47dd4aba9c"},
	    {{.type = SFLOW_ADDRESS_IP6, .address = {0x20, 1, 0x0d, 0xb8, [15] = 7}}, NULL, "0005493c8af0596d"},
	    {{.type = SFLOW_ADDRESS_IP4, .address = {127, 0, 0, 1}}, "192.0.2.9", "0005edeb10de37e1"},
	    {{.type = SFLOW_ADDRESS_UNKNOWN, .address = {1, 2, 3}}, "2001:db8::8", "0005d4298579d178"},
	};
	static const uint8_t engine[] = {0x80, 0, 0x1f, 0x88, 4, 0xaa, 0xbb, 0xcc, 0xdd};
	uint8_t id[EASE_AGENT_ID_LEN];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		made_id_of_sflow(&known[i].agent, known[i].sender, id);
		ck_assert_str_eq(text_of(id, sizeof(id)), known[i].id);
		ck_assert_int_eq(made_id_kind(id), MADE_ID_SFLOW);
	}
	made_id_hash(MADE_ID_ENGINE, engine, sizeof(engine), id);
	ck_assert_str_eq(text_of(id, sizeof(id)), "00033caa571c4b12");
	ck_assert_int_eq(made_id_kind((const uint8_t[]){0, 2, 9, 9, 9, 9, 9, 9}), MADE_ID_NONE);
	ck_assert_int_eq(made_id_kind((const uint8_t[]){5, 5, 9, 9, 9, 9, 9, 9}), MADE_ID_NONE);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("made_id");
	TCase *all = tcase_create("all");

	tcase_add_test(all, ids_are_cut_from_digests);
	suite_add_tcase(suite, all);
	return suite_run(suite);
}
