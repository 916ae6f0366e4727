/*
 * build/tests/truth CAPTURE [--seconds N] [--top N] [--pairs]: the truth about a capture, or about the
 * first N seconds of it, as JSON, with the field names of the shared ground truth files where they mean
 * the same: totals, mac_pairs, ip_pairs, source_macs; and of TCP SYNs without ACK syn_servers (src the
 * address, dst the port) and syn_sources. Every row (or N), largest octets first; `octets` are padded to 60 plus FCS,
 * over_1518 counts frames of the row longer than that with FCS.
 * --pairs prints instead all MAC pairs as text, with those of their frames that can be sampled.
 */
#include "tests/collector/estimate/truth.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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
class_json(const struct truth *truth, enum truth_class class, size_t top)
{
	const struct truth_table *table = &truth->classes[class];
	json_t *object = json_object(), *rows = json_array();

	for (size_t i = 0; i < table->n && i < top; i++)
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

static void
print_json(const struct truth *truth, const char *file, size_t top)
{
	json_t *object = json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}", "file", file,
	    "damage", *truth->damage ? truth->damage : NULL,
	    "totals", totals_json(&truth->total),
	    "mac_pairs", class_json(truth, TRUTH_MAC_PAIR, top),
	    "ip_pairs", class_json(truth, TRUTH_IP_PAIR, top),
	    "source_macs", class_json(truth, TRUTH_SOURCE_MAC, top),
	    "syn_servers", class_json(truth, TRUTH_SYN_SERVER, top),
	    "syn_sources", class_json(truth, TRUTH_SYN_SOURCE, top));

	json_dumpf(object, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(object);
}

/* What conf/demo puts beside a report: a line for the whole, then one for each pair. */
static void
print_pairs(const struct truth *truth)
{
	const struct truth_table *pairs = &truth->classes[TRUTH_MAC_PAIR];

	printf("# %llu frames, %.6f s from the first to the last\n",
	    (unsigned long long)truth->total.packets, truth->last_s - truth->first_s);
	for (size_t i = 0; i < pairs->n; i++) {
		const struct truth_count *count = &pairs->rows[i].count;
		char src[46], dst[46];

		truth_key_text(TRUTH_MAC_PAIR, pairs->rows[i].key, src, dst);
		printf("%s %s %llu\n", src, dst,
		    (unsigned long long)(count->packets - count->over_packets));
	}
}

static int
usage(void)
{
	fputs("usage: truth CAPTURE [--seconds N] [--top N] [--pairs]\n", stderr);
	return 2;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{"top", required_argument, NULL, 'n'}, {"pairs", no_argument, NULL, 'p'},
		{"seconds", required_argument, NULL, 's'}, {NULL, 0, NULL, 0},
	};
	size_t top = SIZE_MAX;
	double seconds = HUGE_VAL;
	bool as_pairs = false;
	struct truth truth;
	char error[512];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'n')
			top = strtoull(optarg, NULL, 10);
		else if (c == 's')
			seconds = strtod(optarg, NULL);
		else if (c == 'p')
			as_pairs = true;
		else
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	if (truth_load_first(argv[optind], seconds, &truth, error, sizeof(error)) != 0) {
		fprintf(stderr, "truth: %s\n", error);
		return 1;
	}
	truth_sort(&truth);
	if (as_pairs)
		print_pairs(&truth);
	else
		print_json(&truth, argv[optind], top);
	truth_free(&truth);
	return 0;
}
