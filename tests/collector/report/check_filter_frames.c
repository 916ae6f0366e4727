/*
 * Filters against libpcap's, which is tcpdump's: more than 200 expressions over the same frames, made into samples
 * at skip 1, must let as many of them pass: judged frame by frame, and as the samples in a list of the real store,
 * from kept samples and from sums. Frames are of a capture made here, and of real ones where these are at hand.
 *
 * The two languages differ where pcap-filter(7) says "vlan": there it changes where all terms behind it look. So
 * frames without their tags are given to libpcap, and "vlan" is asked by itself. Left out are frames of which
 * libpcap would look at the first of several IPv6 headers only, and those whose headers a capture cut off or that
 * are damaged: an expression of libpcap then has no answer.
 */
#include "collector/query/query.h"
#include "collector/render/render.h"
#include "tests/collector/accounting_rig.h"
#include "tests/suite.h"
#include "tests/support/captures.h"
#include "tests/support/make_capture.h"

#include <arpa/inet.h>
#include <check.h>
#include <endian.h>
#include <jansson.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

enum { FRAMES_MAX = 3000, KEPT = 256, TEXT = 160, ATOMS_MAX = 96, EXPRESSIONS = 220, STORED = 1500 };

struct frame {
	uint8_t octets[KEPT], untagged[KEPT];
	uint32_t kept, length, n_untagged;
	struct frame_keys keys;
};

/* A term of both languages; without `pcap` they write it alike. */
struct atom {
	char ours[TEXT], pcap[TEXT];
	bool is_vlan;
	uint8_t passes[FRAMES_MAX]; /* by libpcap */
};

struct expression {
	char text[4 * TEXT], pcap[4 * TEXT];
	bool has_vlan;
	uint8_t passes[FRAMES_MAX]; /* by libpcap: the atoms' answers joined */
};

static struct frame frames[FRAMES_MAX];
static size_t n_frames, n_left_out;
static struct atom atoms[ATOMS_MAX];
static size_t n_atoms;

/* ---- frames ---- */

/* Whether libpcap and we can look at the same headers. */
static bool
is_comparable(const struct frame *f)
{
	const struct frame_keys *k = &f->keys;
	bool is_ip = k->has_ethertype && (k->ethertype == 0x0800 || k->ethertype == 0x86dd);
	const uint8_t *ip = f->untagged + 14;

	if (f->kept < f->length && f->kept < 120)
		return false;
	if (!is_ip)
		return f->length >= 14;
	if (k->ip_version == 0 || f->n_untagged < 14 + 40 || (k->ethertype == 0x0800) != (k->ip_version == 4))
		return false;
	if (k->ip_version == 6 && k->ip_proto != ip[6])
		return false;
	/* ports, where libpcap looks for them, must be there */
	if ((ip[k->ip_version == 6 ? 6 : 9] == 6 || ip[k->ip_version == 6 ? 6 : 9] == 17) && !k->is_fragment)
		return k->has_ports;
	if ((k->ip_proto == 1 || k->ip_proto == 58) && !k->is_fragment)
		return k->has_icmp;
	return k->ip_proto != 33 && k->ip_proto != 136; /* which have ports for us alone */
}

static void
take_frame(const uint8_t *octets, uint32_t kept, uint32_t length)
{
	struct frame *f = &frames[n_frames];
	uint32_t at = 12;

	if (n_frames == FRAMES_MAX || kept < 14)
		return;
	*f = (struct frame){.kept = kept < KEPT ? kept : KEPT, .length = length};
	memcpy(f->octets, octets, f->kept);
	frame_parse(f->octets, f->kept, &f->keys);
	while (at + 6 <= f->kept && (be16toh(*(const uint16_t *)(const void *)(f->octets + at)) == 0x8100 ||
	    be16toh(*(const uint16_t *)(const void *)(f->octets + at)) == 0x88a8))
		at += 4;
	memcpy(f->untagged, f->octets, 12);
	memcpy(f->untagged + 12, f->octets + at, f->kept - at);
	f->n_untagged = f->kept - (at - 12);
	if (is_comparable(f))
		n_frames++;
	else
		n_left_out++;
}

static bool
read_capture(const char *path)
{
	char why[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	pcap_t *pcap = pcap_open_offline(path, why);
	bool is_ethernet;

	ck_assert_msg(pcap != NULL, "%s: %s", path, why);
	is_ethernet = pcap_datalink(pcap) == DLT_EN10MB;
	n_frames = n_left_out = 0;
	while (is_ethernet && pcap_next_ex(pcap, &header, &octets) == 1)
		take_frame(octets, header->caplen, header->len);
	pcap_close(pcap);
	return is_ethernet && n_frames > 0;
}

/* ---- a capture of one frame of each kind ---- */

static void
put(uint8_t *frame, size_t *at, const char *hex)
{
	for (hex += strspn(hex, " "); *hex; hex += strspn(hex, " ")) {
		frame[(*at)++] = (uint8_t)strtoul((const char[]){hex[0], hex[1], 0}, NULL, 16);
		hex += 2;
	}
}

/* Behind Ethernet; the last word is the payload's length. */
static const struct {
	const char *hex;
	unsigned payload;
} kinds[] = {
#define IP4(proto, fragment) "0800 4500 0100 0001 " fragment " 40" proto " 0000 0a140001 0a140102 "
#define IP6(proto) "86dd 60000000 0040 " proto " 40 20010db8000000000000000000000001 20010db8000000000000000000000002 "
	{IP4("06", "0000") "01bb c000 00000000 00000000 5010 0000 00000000", 200},
	{IP4("06", "0000") "c000 01bb 00000000 00000000 5002 0000 00000000", 0},
	{IP4("06", "0000") "0016 0050 00000000 00000000 5002 0000 00000000", 20},
	{IP4("11", "0000") "0035 c001 0020 0000", 30},
	{IP4("11", "2000") "0035 c001 0020 0000", 30},
	{IP4("11", "00b9") "0035 c001 0020 0000", 30}, /* not the first fragment */
	{IP4("01", "0000") "0800 0000 0001 0001", 56},
	{IP4("01", "0000") "0000 0000 0001 0001", 56},
	{IP4("01", "0000") "0303 0000 00000000 4500 0020 0001 0000 4011 0000 0a140102 0a140001 0035 c001", 4},
	{IP4("01", "0000") "0b00 0000 00000000 4500 0020 0001 0000 0111 0000 0a140102 0a140001 0035 c001", 4},
	{IP4("01", "00b9") "0800 0000 0001 0001", 56}, /* not the first fragment */
	{IP6("3a") "8700 0000 00000000 20010db8000000000000000000000002", 8},
	{IP6("3a") "0104 0000 00000000", 48},
	{IP4("02", "0000") "1100 0000 e0000001", 40},
	{IP4("84", "0000") "0050 c000 00000000 00000000", 60},
	{IP4("2f", "0000") "0000 0800 4500 0020", 60},
	{IP4("32", "0000") "00000001 00000001", 60},
	{IP6("06") "01bb c000 00000000 00000000 5010 0000 00000000", 100},
	{IP6("11") "c000 0035 0020 0000", 30},
	{IP6("3a") "8000 0000 0001 0001", 30},
	{"0806 0001 0800 06 04 0001 020000000001 0a140001 000000000000 0a140102", 18},
	{"88cc 0207 04 020000000001 0403 05 312f31 0602 0078 0000", 40},
	{"0026 4242 03 0000 00 00 00", 40}, /* IEEE 802.3: a spanning tree */
	{"8100 0005 " IP4("06", "0000") "01bb c000 00000000 00000000 5010 0000 00000000", 300},
	{"8100 000c 0806 0001 0800 06 04 0001 020000000001 0a140001 000000000000 0a140102", 18},
	{"88a8 0064 8100 0005 " IP6("11") "c000 0035 0020 0000", 30},
	{"8100 0000 " IP4("01", "0000") "0800 0000 0001 0001", 56},
	{"0800 4500 0100 0001 0000 4011 0000 0a140001 e00000fb 14e9 14e9 0020 0000", 60},
	{"0800 4500 0100 0001 0000 4006 0000 c0a80105 0a140001 1f90 d431 00000000 00000000 5010 0000 00000000", 900},
};

static const char *const stations[] = {
	"020000000002 020000000001 ", "ffffffffffff 020000000001 ", "01005e0000fb 020000000003 ", "020000000001 001b21aabbcc ",
};

static void
make_frames(char *path, size_t path_size)
{
	static struct made_capture capture;
	uint8_t frame[1600];

	made_begin(&capture, false, false, DLT_EN10MB);
	for (size_t i = 0; i < ARRAY_LEN(kinds) * ARRAY_LEN(stations) * 2; i++) {
		size_t kind = i % ARRAY_LEN(kinds), at = 0, length;

		memset(frame, 0, sizeof(frame));
		put(frame, &at, stations[i % ARRAY_LEN(stations)]);
		put(frame, &at, kinds[kind].hex);
		length = at + kinds[kind].payload + i % 7;
		if (length < 60)
			length = 60;
		made_record(&capture, NOON_US + i, (uint32_t)length, (uint32_t)length, frame);
	}
	made_write(&capture, path, path_size);
}

/* ---- what libpcap says ---- */

static void
ask_pcap(const char *expression, bool is_vlan, uint8_t passes[FRAMES_MAX])
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program program;
	int err;

	ck_assert_ptr_nonnull(pcap);
	err = pcap_compile(pcap, &program, expression, 1, PCAP_NETMASK_UNKNOWN);
	if (err && strcmp(pcap_geterr(pcap), "expression rejects all packets") == 0) {
		memset(passes, 0, FRAMES_MAX);
		pcap_close(pcap);
		return;
	}
	ck_assert_msg(err == 0, "%s: %s", expression, pcap_geterr(pcap));
	for (size_t i = 0; i < n_frames; i++) {
		const struct frame *f = &frames[i];
		struct pcap_pkthdr header = {.caplen = is_vlan ? f->kept : f->n_untagged, .len = f->length};

		passes[i] = pcap_offline_filter(&program, &header, is_vlan ? f->octets : f->untagged) != 0;
	}
	pcap_freecode(&program);
	pcap_close(pcap);
}

/* ---- the expressions ---- */

static void
add_atom(const char *ours, const char *pcap)
{
	struct atom *a = &atoms[n_atoms];

	ck_assert_uint_lt(n_atoms, ATOMS_MAX);
	snprintf(a->ours, TEXT, "%s", ours);
	snprintf(a->pcap, TEXT, "%s", pcap ? pcap : ours);
	a->is_vlan = strncmp(a->pcap, "vlan", 4) == 0;
	ask_pcap(a->pcap, a->is_vlan, a->passes);
	n_atoms++;
}

/* Terms with what the capture's frames have: %s in both. */
static void
add_with(const char *ours, const char *pcap, const char *value)
{
	char a[TEXT], b[TEXT];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(a, sizeof(a), ours, value);
	snprintf(b, sizeof(b), pcap ? pcap : ours, value);
#pragma GCC diagnostic pop
	add_atom(a, b);
}

static void
add_addresses(const struct frame_keys *k)
{
	char text[FRAME_IP_TEXT], prefix[64];

	frame_format_mac(k->src_mac, text);
	add_with("mac %s", "ether host %s", text);
	add_with("ether src %s", NULL, text);
	add_with("dst mac %s", "ether dst %s", text);
	if (k->ip_version == 0)
		return;
	frame_format_ip(k->ip_version, k->src_ip, text);
	snprintf(prefix, sizeof(prefix), k->ip_version == 4 ? "%d.%d.0.0/16" : "2000::/4", k->src_ip[0], k->src_ip[1]);
	add_with("host %s", k->ip_version == 4 ? "ip host %s" : "ip6 host %s", text);
	add_with("src ip %s", k->ip_version == 4 ? "ip src host %s" : "ip6 src host %s", text);
	add_with("src net %s", k->ip_version == 4 ? "ip src net %s" : "ip6 src net %s", prefix);
	add_with("src and dst net %s", k->ip_version == 4 ? "ip src and dst net %s" : "ip6 src and dst net %s", prefix);
	frame_format_ip(k->ip_version, k->dst_ip, text);
	add_with("dst host %s", k->ip_version == 4 ? "ip dst host %s" : "ip6 dst host %s", text);
}

static void
add_ports(const struct frame_keys *k)
{
	char port[16], range[32];

	if (!k->has_ports || n_atoms + 24 > ATOMS_MAX)
		return;
	snprintf(port, sizeof(port), "%u", k->src_port);
	snprintf(range, sizeof(range), "%u-%u", k->src_port, k->src_port < 65000 ? k->src_port + 500 : 65535);
	add_with("port %s", NULL, port);
	add_with("src port %s", NULL, port);
	add_with("tcp dst port %s", NULL, port);
	add_with("udp port %s", NULL, port);
	add_with("src or dst port %s", NULL, port);
	add_with("portrange %s", NULL, range);
	add_with("dst port %s", "dst portrange %s", range);
}

static void
make_atoms(void)
{
	static const char *const both[] = {"tcp", "udp", "icmp", "ip", "ip6", "arp", "icmp6", "sctp", "igmp", "ip proto 17",
		"ip6 proto 6", "proto 1", "ether proto 0x88cc", "ether broadcast", "ether multicast", "ip6 multicast",
		"less 100", "greater 101", "ether proto \\arp", "esp"};
	char vlan[32];
	const struct frame *tagged = NULL, *with_ports = NULL;

	n_atoms = 0;
	for (size_t i = 0; i < ARRAY_LEN(both); i++)
		add_atom(both[i], NULL);
	add_atom("len > 200", "len > 200");
	add_atom("octets <= 304", "len <= 300");
	add_atom("bytes 64-127", "len <= 123"); /* shorter ones were padded on the wire */
	add_atom("port 443 or 80", "port 443 or port 80");
	add_atom("port in [53, 22 123]", "port 53 or port 22 or port 123");
	add_atom("dst port < 1024", "dst portrange 0-1023");
	add_atom("mac 00:1b:21", "(ether[0:2] = 0x001b and ether[2] = 0x21) or (ether[6:2] = 0x001b and ether[8] = 0x21)");
	add_atom("net 10", "ip net 10.0.0.0/8");
	add_atom("ip multicast", "ip dst net 224.0.0.0/4"); /* libpcap's takes 240.0.0.0/4 and broadcasts as well */
	add_atom("proto gre", "proto 47");
	add_atom("vlan", NULL);
	add_atom("icmp-type 8", "icmp[icmptype] = 8 or icmp6[icmp6type] = 8");
	add_atom("icmp-type icmp-echo", "icmp[icmptype] = icmp-echo");
	add_atom("icmp-type in [icmp-unreach, icmp6-neighborsolicit]",
	    "icmp[icmptype] = icmp-unreach or icmp6[icmp6type] = icmp6-neighborsolicit");
	add_atom("icmp-type 0-3", "icmp[icmptype] <= 3 or icmp6[icmp6type] <= 3");
	add_atom("icmp-code > 0", "icmp[icmpcode] > 0 or icmp6[icmp6code] > 0");
	add_atom("icmp6 and icmp-type >= 128", "icmp6[icmp6type] >= 128");
	add_atom("port 2048 or 1", "port 2048 or port 1"); /* type 8 of ICMP is no port */
	add_atom("dst port > 0", "dst portrange 1-65535");
	add_addresses(&frames[0].keys);
	add_addresses(&frames[n_frames / 2].keys);
	for (size_t i = 0; i < n_frames; i++) {
		tagged = frames[i].keys.n_vlans > 0 ? &frames[i] : tagged;
		with_ports = frames[i].keys.has_ports && !frames[i].keys.is_fragment ? &frames[i] : with_ports;
	}
	if (with_ports)
		add_ports(&with_ports->keys);
	if (tagged) {
		snprintf(vlan, sizeof(vlan), "vlan %u", tagged->keys.vlan[0]);
		add_atom(vlan, NULL);
	}
}

static uint32_t
pick(uint64_t *random, size_t n)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*random >> 33) % n);
}

/* Puts the terms where the form says (a), (b) and (c). */
static void
join(const char *form, const char *a, const char *b, const char *c, char text[4 * TEXT])
{
	FILE *out = fmemopen(text, 4 * TEXT, "w");

	for (; *form; form++)
		if (form[0] == '(' && strchr("abc", form[1]) && form[2] == ')') {
			fprintf(out, "(%s)", form[1] == 'a' ? a : form[1] == 'b' ? b : c);
			form += 2;
		} else {
			putc(*form, out);
		}
	ck_assert_int_eq(fclose(out), 0);
}

/* The i-th: each term by itself, then two and three joined. */
static void
make_expression(size_t i, uint64_t *random, struct expression *e)
{
	const struct atom *a = &atoms[i < n_atoms ? i : pick(random, n_atoms)];
	const struct atom *b = &atoms[pick(random, n_atoms)], *c = &atoms[pick(random, n_atoms)];
	unsigned form = i < n_atoms ? 0 : 1 + pick(random, 4);
	static const char *const forms[] = {"(a)", "(a) and (b)", "(a) or not (b)", "((a) or (b)) and not (c)",
		"(not ((a) and (b))) or (c)"};

	join(forms[form], a->ours, b->ours, c->ours, e->text);
	join(forms[form], a->pcap, b->pcap, c->pcap, e->pcap);
	e->has_vlan = a->is_vlan || (form > 0 && b->is_vlan) || (form > 2 && c->is_vlan);
	for (size_t f = 0; f < n_frames; f++) {
		bool x = a->passes[f], y = b->passes[f], z = c->passes[f];
		const bool all[] = {x, x && y, x || !y, (x || y) && !z, !(x && y) || z};

		e->passes[f] = all[form];
	}
}

/* ---- the store ---- */

/* Every frame is a sample, and counted. */
static void
store_frames(struct accounting_rig *rig, size_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		const struct frame *f = &frames[i - 1];
		struct ease_record r = rig_sample(1, i, f->octets);

		r.sample.time_us = NOON_US + i;
		r.sample.direction = EASE_IN;
		r.sample.skip = 0;
		r.sample.mean_skip = 1;
		r.sample.pool_pkts = i;
		r.sample.frame_octets = frame_wire_octets(f->length);
		r.sample.kept_octets = (uint16_t)f->kept;
		accounting_add_records(rig->accounting, rig->batch, &r, 1);
	}
	rig_flush(rig);
}

static json_t *
ask_store(struct query *query, const char *report, const struct report_options *options)
{
	struct report_result result = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *answer;

	ck_assert_msg(report_run(report_find(report), query, options, NOON_US + MINUTE_US, &result) == 0, "%s: %s",
	    options->filter->text, query->error);
	ck_assert_int_eq(render_json(out, &result, &(struct render_options){0}), 0);
	fclose(out);
	answer = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(answer);
	free(text);
	report_result_free(&result);
	return answer;
}

static size_t
samples_of(struct query *query, const char *report, const struct report_options *options, bool *from_sums)
{
	json_t *answer = ask_store(query, report, options), *row;
	const char *from = json_string_value(json_object_get(answer, "answered_from"));
	double n = 0;
	size_t i;

	*from_sums = !from || strncmp(from, "sums", 4) == 0;
	json_array_foreach(json_object_get(answer, "rows"), i, row)
		n += json_number_value(json_object_get(row, "samples"));
	json_decref(answer);
	return (size_t)n;
}

/* Lists of all frames with that kind of key. */
struct list_case {
	const char *report;
	enum report_by by;
	enum report_layer layer;
	bool (*has)(const struct frame_keys *keys);
};

static bool
has_macs(const struct frame_keys *keys)
{
	return keys->has_macs;
}

static bool
has_ip(const struct frame_keys *keys)
{
	return keys->ip_version != 0;
}

static bool
has_proto(const struct frame_keys *keys)
{
	return keys->has_ip_proto;
}

static bool
has_service(const struct frame_keys *keys)
{
	return keys->has_ports || keys->has_icmp;
}

static const struct list_case list_cases[] = {
	{"talkers", REPORT_BY_PAIR, REPORT_LAYER_ETH, has_macs},
	{"talkers", REPORT_BY_SRC, REPORT_LAYER_IP, has_ip},
	{"talkers", REPORT_BY_DST, REPORT_LAYER_IP, has_ip},
	{"talkers", REPORT_BY_SUBNET, REPORT_LAYER_IP, has_ip},
	{"conversations", REPORT_BY_DEFAULT, REPORT_LAYER_IP, has_ip},
	{"protocols", REPORT_BY_PROTO, REPORT_LAYER_IP, has_proto},
	{"protocols", REPORT_BY_SERVICE, REPORT_LAYER_IP, has_service},
};

enum { N_LISTS = sizeof(list_cases) / sizeof(list_cases[0]) };

static void
compare_list(struct query *query, const struct expression *e, const struct filter *filter, const struct list_case *list,
    size_t n_stored, size_t from[2])
{
	struct report_options options = report_default_options();
	size_t expected = 0, got;
	bool from_sums;

	options.by = list->by;
	options.layer = list->layer;
	options.top = UINT32_MAX;
	options.all = true;
	options.filter = filter;
	for (size_t f = 0; f < n_stored; f++)
		expected += e->passes[f] && list->has(&frames[f].keys);
	got = samples_of(query, list->report, &options, &from_sums);
	from[from_sums]++;
	ck_assert_msg(got == expected, "%s by %d: %s: %zu frames, libpcap has %zu", list->report, list->by, e->text, got,
	    expected);
}

/* ---- frame by frame ---- */

static void
set_subject(const struct frame *f, struct filter_subject *s)
{
	const struct frame_keys *k = &f->keys;
	size_t n = k->ip_version == 4 ? 4 : FRAME_IP_LEN;

	*s = (struct filter_subject){0};
	filter_set_absent(s, (1u << FILTER_N_FIELDS) - 1);
	filter_set_address(s, FILTER_SRC_MAC, k->src_mac, FRAME_MAC_LEN);
	filter_set_address(s, FILTER_DST_MAC, k->dst_mac, FRAME_MAC_LEN);
	if (k->ip_version) {
		filter_set_address(s, FILTER_SRC_IP, k->src_ip, n);
		filter_set_address(s, FILTER_DST_IP, k->dst_ip, n);
	}
	if (k->n_vlans)
		filter_set_number(s, FILTER_VLAN, k->vlan[0]);
	if (k->has_ethertype)
		filter_set_number(s, FILTER_ETHERTYPE, k->ethertype);
	if (k->has_ip_proto)
		filter_set_number(s, FILTER_IP_PROTO, k->ip_proto);
	if (k->has_ports) {
		filter_set_number(s, FILTER_SRC_PORT, k->src_port);
		filter_set_number(s, FILTER_DST_PORT, k->dst_port);
	}
	if (k->has_icmp) {
		filter_set_number(s, FILTER_ICMP_TYPE, k->icmp_type);
		filter_set_number(s, FILTER_ICMP_CODE, k->icmp_code);
	}
	filter_set_number(s, FILTER_OCTETS, frame_wire_octets(f->length));
}

static void
compare_frames(const struct expression *e, const struct filter *filter)
{
	static uint8_t whole[FRAMES_MAX]; /* libpcap's answer to the whole expression */
	struct filter_subject subject;

	if (!e->has_vlan)
		ask_pcap(e->pcap, false, whole);
	for (size_t i = 0; i < n_frames; i++) {
		set_subject(&frames[i], &subject);
		ck_assert_msg((filter_judge(filter, &subject) == FILTER_YES) == e->passes[i],
		    "%s: frame %zu: libpcap says %d to %s", e->text, i, e->passes[i], e->pcap);
		ck_assert_msg(e->has_vlan || whole[i] == e->passes[i], "%s: frame %zu of the whole", e->pcap, i);
	}
}

static void
compare_capture(const char *path)
{
	static struct expression e;
	struct accounting_rig rig;
	char error[QUERY_ERROR_TEXT];
	struct query *query;
	size_t n_stored, n_passing = 0, from[2] = {0};
	uint64_t random = 1;

	if (!read_capture(path))
		return;
	make_atoms();
	n_stored = n_frames < STORED ? n_frames : STORED;
	rig_make(&rig);
	rig_open(&rig);
	store_frames(&rig, n_stored);
	rig_close(&rig);
	ck_assert_int_eq(query_open(rig.path, &query, error, sizeof(error)), 0);
	for (size_t i = 0; i < EXPRESSIONS; i++) {
		static struct filter filter;
		char why[FILTER_ERROR_TEXT];

		make_expression(i, &random, &e);
		filter = (struct filter){0};
		ck_assert_msg(filter_add(&filter, e.text, why) == 0, "%s: %s", e.text, why);
		compare_frames(&e, &filter);
		for (size_t f = 0; f < n_frames; f++)
			n_passing += e.passes[f];
		compare_list(query, &e, &filter, &list_cases[i % N_LISTS], n_stored, from);
	}
	query_close(query);
	rig_remove(&rig);
	ck_assert_uint_gt(n_passing, 0);
	ck_assert_uint_gt(from[0], 0); /* lists from kept samples, and from sums */
	ck_assert_uint_gt(from[1], 0);
	printf("filters: %s: %d expressions over %zu frames (%zu left out), %zu lists from samples, %zu from sums\n",
	    strrchr(path, '/') + 1, EXPRESSIONS, n_frames, n_left_out, from[0], from[1]);
}

START_TEST(a_made_capture)
{
	char path[128];

	make_frames(path, sizeof(path));
	compare_capture(path);
	unlink(path);
}
END_TEST

START_TEST(real_captures)
{
	static const char *const names[] = {"composed-a.pcap", "interactive-django-cloud.pcapng", "fragments-afs.pcap",
		"many-flows-teams.pcap", "many-hosts-mapi.pcap", "many-hosts-test2.rewrite_vlan802.1ad.pcap",
		"jumbo-weibo.pcap", "lldp-lacp-dcb_ets.pcap", "broadcast-multicast-eapon1.pcap", "ipv6-ipv6.pcap"};
	const char *dir = captures_dir();
	char path[512];

	if (!dir) {
		captures_skip("filters against libpcap on real frames");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		compare_capture(path);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("filter_frames");
	TCase *tcase = tcase_create("filter_frames");

	tcase_set_timeout(tcase, 0);
	tcase_add_test(tcase, a_made_capture);
	tcase_add_test(tcase, real_captures);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
