/*
 * build/tests/truth CAPTURE: the truth about a capture as JSON, with the field names of the shared
 * ground truth files where they mean the same: totals, mac_pairs, ip_pairs, source_macs. Every
 * row, largest octets first; `octets` are padded to 60 plus FCS, over_1518 counts frames of the
 * row longer than that with FCS.
 */
#include "tests/truth.h"

#include <jansson.h>
#include <stdio.h>

static json_t *
row_json(enum truth_class class, const struct truth_row *row)
{
	char src[46], dst[46];
	json_t *object = json_object();

	truth_key_text(class, row->key, src, dst);
	json_object_set_new(object, "src", json_string(src));
	if (*dst)
		json_object_set_new(object, "dst", json_string(dst));
	json_object_set_new(object, "packets", json_integer((json_int_t)row->count.packets));
	json_object_set_new(object, "octets", json_integer((json_int_t)row->count.octets));
	json_object_set_new(object, "over_1518", json_integer((json_int_t)row->count.over_packets));
	json_object_set_new(object, "over_1518_octets",
	    json_integer((json_int_t)row->count.over_octets));
	return object;
}

static json_t *
class_json(const struct truth *truth, enum truth_class class)
{
	const struct truth_table *table = &truth->classes[class];
	json_t *object = json_object(), *rows = json_array();

	for (size_t i = 0; i < table->n; i++)
		json_array_append_new(rows, row_json(class, &table->rows[i]));
	json_object_set_new(object, "distinct", json_integer((json_int_t)table->n));
	json_object_set_new(object, "rows", rows);
	return object;
}

static json_t *
totals_json(const struct truth_count *total)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}",
	    "packets", (json_int_t)total->packets,
	    "octets", (json_int_t)total->captured_octets,
	    "octets_padded_to_60_plus_fcs", (json_int_t)total->octets,
	    "over_1518", (json_int_t)total->over_packets,
	    "over_1518_octets", (json_int_t)total->over_octets);
}

int
main(int argc, char **argv)
{
	struct truth truth;
	char error[512];
	json_t *object;

	if (argc != 2) {
		fputs("usage: truth CAPTURE\n", stderr);
		return 2;
	}
	if (truth_load(argv[1], &truth, error, sizeof(error)) != 0) {
		fprintf(stderr, "truth: %s\n", error);
		return 1;
	}
	truth_sort(&truth);
	object = json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o}", "file", argv[1],
	    "damage", *truth.damage ? truth.damage : NULL,
	    "totals", totals_json(&truth.total),
	    "mac_pairs", class_json(&truth, TRUTH_MAC_PAIR),
	    "ip_pairs", class_json(&truth, TRUTH_IP_PAIR),
	    "source_macs", class_json(&truth, TRUTH_SOURCE_MAC));
	json_dumpf(object, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(object);
	truth_free(&truth);
	return 0;
}
