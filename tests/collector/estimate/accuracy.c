/*
 * build/tests/accuracy CAPTURE --skip N... --runs R --seed S [--draw geometric|uniform] [--loss P]
 *     [--lose P] [--duplicate P] [--reorder P] [--pps N] [--rate-change] [--periodic] [--syn]
 *     [--expected-least N] [--expected-most N]:
 * measures on a capture how often the estimator's 95 % limits hold the truth, and compares its error
 * with the theoretical one. Prints a line with a JSON object for each key class and figure. The truth is counted
 * by tests/collector/estimate/truth.c; the sampled frames are classified by common/frame, as the collector does.
 *
 * --skip may be given several times: each is measured on the capture that was read once.
 * --loss loses single samples directly before the estimator. --lose, --duplicate, --reorder (of
 * notifications) and --pps (the traffic's pace, else three minutes in all) send samples through
 * tests/collector/estimate/transit.h, and add to the output what was lost and what the collector's
 * accounts say of it.
 * --expected-least and --expected-most choose keys by their expected samples (10 and more).
 * --rate-change changes the skip often; --periodic puts the same frames into a periodic order. --syn measures the
 * new connections of servers and of sources in place of the other classes.
 */
#include "common/frame.h"
#include "collector/window/key_kinds.h"
#include "tests/collector/estimate/coverage.h"
#include "tests/collector/estimate/truth.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_CLASSES = 5, SKIPS_MAX = 8 };

static const struct accuracy_class {
	const char *name;
	enum truth_class truth;
	bool of_syns;
} classes[N_CLASSES] = {
	{"eth-pair", TRUTH_MAC_PAIR, false},
	{"ip-pair", TRUTH_IP_PAIR, false},
	{"protocol", TRUTH_PROTOCOL, false},
	{"syn-server", TRUTH_SYN_SERVER, true},
	{"syn-source", TRUTH_SYN_SOURCE, true},
};

static const char *const unit_names[COVERAGE_N_UNITS] = {
	[ESTIMATE_PKTS] = "packets",
	[ESTIMATE_OCTETS] = "octets",
};

static const char *const draw_names[] = {
	[SAMPLING_GEOMETRIC] = "geometric",
	[SAMPLING_UNIFORM] = "uniform",
};

struct accuracy {
	const char *capture;
	struct coverage_options options; /* its mean_skip is each of skips in turn */
	uint32_t skips[SKIPS_MAX];
	int n_skips;
	struct transit_impairment impairment; /* options refers to it if asked for */
	bool periodic, syn;
	struct truth truth;
	size_t n_frames, room; /* frames that can be sampled */
	uint32_t *octets;
	uint32_t *key[N_CLASSES];
	uint64_t pool_octets;
	uint64_t unknown_keys; /* classified by common/frame as nothing the truth knows */
};

/* As windows have it. */
static bool
syn_key(enum truth_class class, const struct frame_keys *frame, uint8_t *key)
{
	struct flow_key flow;
	struct halves h = {0};

	flow_key_of(frame, 0, EASE_IN, 1, &flow);
	if (!flow_key_fill(&flow, KIND_SYN, &h))
		return false;
	key[0] = h.octets1 == 4 ? 4 : 6;
	if (class == TRUTH_SYN_SOURCE) {
		memcpy(key + 1, h.half1, h.octets1);
		return true;
	}
	memcpy(key + 1, h.half2, h.octets2 - 2u);
	memcpy(key + 1 + FRAME_IP_LEN, h.half2 + h.octets2 - 2, 2);
	return true;
}

/* The truth's form of a key that common/frame found; false if the frame has none of the class. */
static bool
class_key(enum truth_class class, const struct frame_keys *keys, uint8_t *key)
{
	memset(key, 0, TRUTH_KEY_MAX);
	switch (class) {
	case TRUTH_MAC_PAIR:
		memcpy(key, keys->src_mac, FRAME_MAC_LEN);
		memcpy(key + FRAME_MAC_LEN, keys->dst_mac, FRAME_MAC_LEN);
		return keys->has_macs;
	case TRUTH_IP_PAIR:
		key[0] = keys->ip_version;
		memcpy(key + 1, keys->src_ip, keys->ip_version == 4 ? 4 : FRAME_IP_LEN);
		memcpy(key + 1 + FRAME_IP_LEN, keys->dst_ip,
		    keys->ip_version == 4 ? 4 : FRAME_IP_LEN);
		return keys->ip_version != 0;
	case TRUTH_SYN_SERVER:
	case TRUTH_SYN_SOURCE:
		return syn_key(class, keys, key);
	default:
		if (keys->has_ip_proto) {
			key[0] = 4;
			key[1] = keys->ip_proto;
		} else if (keys->has_ethertype && keys->ethertype >= 0x600) {
			key[1] = (uint8_t)(keys->ethertype >> 8);
			key[2] = (uint8_t)keys->ethertype;
		}
		return keys->has_ethertype;
	}
}

static int
make_room(struct accuracy *a)
{
	size_t room = a->room ? 2 * a->room : 1 << 16;
	uint32_t *octets = realloc(a->octets, room * sizeof(*octets));

	if (!octets)
		return -ENOMEM;
	a->octets = octets;
	for (int c = 0; c < N_CLASSES; c++) {
		uint32_t *key = realloc(a->key[c], room * sizeof(*key));

		if (!key)
			return -ENOMEM;
		a->key[c] = key;
	}
	a->room = room;
	return 0;
}

static uint32_t
key_index(struct accuracy *a, enum truth_class class, const struct frame_keys *keys)
{
	uint8_t key[TRUTH_KEY_MAX];
	const struct truth_count *count;

	if (!class_key(class, keys, key))
		return COVERAGE_NO_KEY;
	count = truth_find(&a->truth, class, key);
	if (!count) {
		a->unknown_keys++;
		return COVERAGE_NO_KEY;
	}
	return (uint32_t)((const struct truth_row *)((const char *)count -
			   offsetof(struct truth_row, count)) - a->truth.classes[class].rows);
}

static int
add_frame(struct accuracy *a, const struct pcap_pkthdr *header, const uint8_t *frame)
{
	uint32_t octets = frame_wire_octets(header->len);
	struct frame_keys keys;

	if (octets > FRAME_MAX_OCTETS)
		return 0;
	if (a->n_frames == a->room && make_room(a) != 0)
		return -ENOMEM;
	frame_parse(frame, header->caplen, &keys);
	a->octets[a->n_frames] = octets;
	for (int c = 0; c < N_CLASSES; c++)
		a->key[c][a->n_frames] = key_index(a, classes[c].truth, &keys);
	a->pool_octets += octets;
	a->n_frames++;
	return 0;
}

static int
load_frames(struct accuracy *a)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(a->capture, error);
	struct pcap_pkthdr *header;
	const uint8_t *frame;
	int err = 0;

	if (!pcap)
		return -EPROTO;
	while (err == 0 && pcap_next_ex(pcap, &header, &frame) == 1)
		err = add_frame(a, header, frame);
	pcap_close(pcap);
	return err;
}

static double
rounded(double value)
{
	return round(value * 1e4) / 1e4;
}

static void
add_transit(json_t *line, const struct accuracy *a, const struct coverage_accounts *accounts)
{
	const struct transit_impairment *how = &a->impairment;
	json_t *more = json_pack("{s:f, s:f, s:f, s:i, s:f, s:f, s:f}",
	    "lose", how->lose, "duplicate", how->duplicate, "reorder", how->reorder,
	    "pps", (int)how->pps, "loss_reported", rounded(accounts->loss_reported),
	    "loss_true", rounded(accounts->loss_true),
	    "loss_error_max", rounded(accounts->loss_error));

	json_object_update(line, more);
	json_decref(more);
}

static json_t *
part(const struct coverage_result *result, uint64_t of_trials)
{
	return result->trials ? json_real(rounded((double)of_trials / (double)result->trials)) : json_null();
}

static void
print_result(const struct accuracy *a, const char *class, int unit,
    const struct coverage_result *result, const struct coverage_accounts *accounts)
{
	json_t *covered = part(result, result->trials - result->below - result->above);
	json_t *line = json_pack(
	    "{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:f, s:f, s:s, s:f, s:b, s:b}",
	    "capture", a->capture, "class", class, "figure", unit_names[unit],
	    "skip", (json_int_t)a->options.mean_skip, "runs", (json_int_t)a->options.runs,
	    "trials", (json_int_t)result->trials, "covered", covered,
	    "below_low", part(result, result->below), "above_high", part(result, result->above),
	    "rms_ratio", rounded(result->rms_ratio),
	    "port_total_error", accounts->total_error[unit],
	    "draw", draw_names[a->options.draw], "loss", a->options.loss,
	    "rate_change", a->options.rate_change, "periodic", a->periodic);

	if (a->options.impairment)
		add_transit(line, a, accounts);
	json_dumpf(line, stdout, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(8));
	putchar('\n');
	json_decref(line);
}

/* What common/frame and the loader counted beside what the truth counted. */
static void
add_loading_errors(const struct accuracy *a, struct coverage_accounts *accounts)
{
	const struct truth_count *total = &a->truth.total;

	accounts->total_error[ESTIMATE_PKTS] += (double)a->n_frames -
	    (double)(total->packets - total->over_packets);
	accounts->total_error[ESTIMATE_OCTETS] += (double)a->pool_octets -
	    (double)(total->octets - total->over_octets);
}

static int
measure(const struct accuracy *a, const char *class, struct coverage_traffic *traffic)
{
	uint32_t *octets = calloc(traffic->n_frames + 1, sizeof(*octets));
	uint32_t *key = calloc(traffic->n_frames + 1, sizeof(*key));
	struct coverage_result results[COVERAGE_N_UNITS];
	struct coverage_accounts accounts;
	int err = octets && key ? 0 : -ENOMEM;

	if (err == 0 && a->periodic) {
		err = coverage_make_periodic(traffic, a->options.mean_skip, octets, key);
		traffic->octets = octets;
		traffic->key = key;
	}
	if (err == 0)
		err = coverage_measure(traffic, &a->options, results, &accounts);
	if (err == 0)
		add_loading_errors(a, &accounts);
	for (int unit = 0; err == 0 && unit < COVERAGE_N_UNITS; unit++)
		print_result(a, class, unit, &results[unit], &accounts);
	free(octets);
	free(key);
	return err;
}

static int
measure_class(const struct accuracy *a, int class)
{
	const struct truth_table *table = &a->truth.classes[classes[class].truth];
	struct coverage_truth *truth = calloc(table->n + 1, sizeof(*truth));
	struct coverage_traffic traffic = {a->n_frames, a->octets, a->key[class], table->n, truth};
	int err = truth ? 0 : -ENOMEM;

	for (size_t i = 0; err == 0 && i < table->n; i++) {
		const struct truth_count *count = &table->rows[i].count;

		truth[i] = (struct coverage_truth){count->packets - count->over_packets,
		    count->octets - count->over_octets};
	}
	if (err == 0)
		err = measure(a, classes[class].name, &traffic);
	free(truth);
	return err;
}

static int
usage(void)
{
	fputs("usage: accuracy CAPTURE --skip N... --runs R --seed S [--draw geometric|uniform]"
	      " [--loss P]\n    [--lose P] [--duplicate P] [--reorder P] [--pps N] [--rate-change]"
	      " [--periodic] [--syn]\n    [--expected-least N] [--expected-most N]\n", stderr);
	return -EINVAL;
}

static bool
is_probability(double p)
{
	return p >= 0 && p < 1;
}

static int
check_options(const struct accuracy *a)
{
	const struct coverage_options *o = &a->options;
	uint32_t most = EASE_DRAWN_MEAN_MAX / (o->rate_change ? COVERAGE_RATE_FACTOR : 1);

	if (o->mean_skip < 1 || o->mean_skip > most || !is_probability(o->loss) ||
	    !is_probability(a->impairment.lose) || !is_probability(a->impairment.duplicate) ||
	    !is_probability(a->impairment.reorder) || (o->impairment && o->loss > 0))
		return usage();
	return 0;
}

static int
parse_options(int argc, char **argv, struct accuracy *a)
{
	static const struct option options[] = {
		{"skip", required_argument, NULL, 's'}, {"runs", required_argument, NULL, 'r'},
		{"seed", required_argument, NULL, 'S'}, {"draw", required_argument, NULL, 'd'},
		{"loss", required_argument, NULL, 'l'}, {"lose", required_argument, NULL, 'L'},
		{"duplicate", required_argument, NULL, 'D'},
		{"reorder", required_argument, NULL, 'R'}, {"pps", required_argument, NULL, 'p'},
		{"expected-least", required_argument, NULL, 'e'}, {"expected-most", required_argument, NULL, 'm'},
		{"rate-change", no_argument, NULL, 'c'}, {"periodic", no_argument, NULL, 'P'},
		{"syn", no_argument, NULL, 'y'},
		{NULL, 0, NULL, 0},
	};
	struct coverage_options *o = &a->options;
	int c;

	*o = (struct coverage_options){.draw = SAMPLING_GEOMETRIC, .runs = 200, .seed = 1};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			if (a->n_skips == SKIPS_MAX)
				return usage();
			a->skips[a->n_skips++] = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'r': o->runs = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'S': o->seed = strtoull(optarg, NULL, 10); break;
		case 'l': o->loss = strtod(optarg, NULL); break;
		case 'e': o->expected_least = strtod(optarg, NULL); break;
		case 'm': o->expected_most = strtod(optarg, NULL); break;
		case 'd':
			o->draw = strcmp(optarg, "uniform") == 0 ? SAMPLING_UNIFORM
								 : SAMPLING_GEOMETRIC;
			break;
		case 'L': a->impairment.lose = strtod(optarg, NULL); break;
		case 'D': a->impairment.duplicate = strtod(optarg, NULL); break;
		case 'R': a->impairment.reorder = strtod(optarg, NULL); break;
		case 'p': a->impairment.pps = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'c': o->rate_change = true; break;
		case 'P': a->periodic = true; break;
		case 'y': a->syn = true; break;
		default: return usage();
		}
		if (strchr("LDRp", c))
			o->impairment = &a->impairment;
	}
	if (optind + 1 != argc)
		return usage();
	a->capture = argv[optind];
	if (a->n_skips == 0)
		a->skips[a->n_skips++] = 100;
	for (int i = 0; i < a->n_skips; i++) {
		o->mean_skip = a->skips[i];
		if (check_options(a) != 0)
			return -EINVAL;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct accuracy a = {0};
	char error[512];
	int err;

	if (parse_options(argc, argv, &a) != 0)
		return 2;
	if (truth_load(a.capture, &a.truth, error, sizeof(error)) != 0) {
		fprintf(stderr, "accuracy: %s\n", error);
		return 1;
	}
	err = load_frames(&a);
	if (a.unknown_keys)
		fprintf(stderr, "accuracy: %s: %llu keys of common/frame are not in the truth\n",
		    a.capture, (unsigned long long)a.unknown_keys);
	for (int i = 0; err == 0 && i < a.n_skips; i++) {
		a.options.mean_skip = a.skips[i];
		for (int c = 0; err == 0 && c < N_CLASSES; c++)
			err = classes[c].of_syns == a.syn ? measure_class(&a, c) : 0;
	}
	for (int c = 0; c < N_CLASSES; c++)
		free(a.key[c]);
	free(a.octets);
	truth_free(&a.truth);
	return err || a.unknown_keys ? 1 : 0;
}
