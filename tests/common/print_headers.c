/*
 * print_headers CAPTURE [OCTETS]: prints the fields of every frame, one line each, from the
 * outermost layer inwards, for check_headers.sh to compare with tshark -T fields: tabs between
 * columns, commas between the values of one column. OCTETS truncates every frame first.
 */
#include "common/frame.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS_MAX = 64 };

struct column {
	const char *name; /* tshark's, where one field of its is the same */
	void (*print)(const struct frame_inner *layer, uint8_t argument);
	uint8_t argument;
};

static bool empty; /* nothing printed in this column yet */

static void
put(const char *text)
{
	printf("%s%s", empty ? "" : ",", text);
	empty = false;
}

static void
put_decimal(uint32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, n);
	put(text);
}

static void
put_hex(uint32_t n, int digits)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%0*" PRIx32, digits, n);
	put(text);
}

static void
print_mac(const struct frame_inner *l, uint8_t source)
{
	char text[FRAME_MAC_TEXT];

	if (!l->keys.has_macs)
		return;
	frame_format_mac(source ? l->keys.src_mac : l->keys.dst_mac, text);
	put(text);
}

static void
print_vlans(const struct frame_inner *l, uint8_t unused)
{
	(void)unused;
	for (unsigned i = 0; i < l->keys.n_vlans && i < FRAME_VLAN_MAX; i++)
		put_decimal(l->keys.vlan[i]);
}

/* Behind tags and SNAP; not of what GRE carries, which is GRE's own protocol. */
static void
print_ethertype(const struct frame_inner *l, uint8_t unused)
{
	(void)unused;
	if (l->keys.has_ethertype)
		put_hex(l->keys.ethertype, 4);
}

static void
print_labels(const struct frame_inner *l, uint8_t unused)
{
	(void)unused;
	for (unsigned i = 0; i < l->n_labels && i < FRAME_LABEL_MAX; i++)
		put_decimal(l->label[i]);
}

static void
print_session(const struct frame_inner *l, uint8_t unused)
{
	(void)unused;
	if (l->has_session)
		put_hex(l->session, 4);
}

static void
print_vni(const struct frame_inner *l, uint8_t tunnel)
{
	if (!l->has_vni || l->tunnel != tunnel)
		return;
	if (tunnel == FRAME_GENEVE)
		put_hex(l->vni, 6);
	else
		put_decimal(l->vni);
}

static void
print_ppp(const struct frame_inner *l, uint8_t unused)
{
	(void)unused;
	if (l->has_ppp)
		put_hex(l->ppp_protocol, 4);
}

static void
print_protocol(const struct frame_inner *l, uint8_t tunnel)
{
	if (l->has_protocol && l->tunnel == tunnel)
		put_hex(l->protocol, 4);
}

static void
print_ip_src(const struct frame_inner *l, uint8_t version)
{
	char text[FRAME_IP_TEXT];

	if (l->keys.ip_version != version)
		return;
	frame_format_ip(version, l->keys.src_ip, text);
	put(text);
}

static void
print_ip_dst(const struct frame_inner *l, uint8_t version)
{
	char text[FRAME_IP_TEXT];

	if (l->keys.ip_version != version)
		return;
	frame_format_ip(version, l->keys.dst_ip, text);
	put(text);
}

static void
print_ip_proto(const struct frame_inner *l, uint8_t version)
{
	if (l->keys.ip_version == version && l->keys.has_ip_proto)
		put_decimal(l->keys.ip_proto);
}

static void
print_src_port(const struct frame_inner *l, uint8_t proto)
{
	if (l->keys.has_ports && l->keys.ip_proto == proto)
		put_decimal(l->keys.src_port);
}

static void
print_dst_port(const struct frame_inner *l, uint8_t proto)
{
	if (l->keys.has_ports && l->keys.ip_proto == proto)
		put_decimal(l->keys.dst_port);
}

/* A 1 for a TCP SYN without ACK. */
static void
print_syn(const struct frame_inner *l, uint8_t unused)
{
	(void)unused;
	if (l->keys.is_syn)
		put_decimal(1);
}

static void
print_icmp_type(const struct frame_inner *l, uint8_t proto)
{
	if (l->keys.has_icmp && l->keys.ip_proto == proto)
		put_decimal(l->keys.icmp_type);
}

static void
print_icmp_code(const struct frame_inner *l, uint8_t proto)
{
	if (l->keys.has_icmp && l->keys.ip_proto == proto)
		put_decimal(l->keys.icmp_code);
}

static const struct column columns[] = {
    {"eth.src", print_mac, true},
    {"eth.dst", print_mac, false},
    {"vlan.id", print_vlans, 0},
    {"ethertype", print_ethertype, 0},
    {"mpls.label", print_labels, 0},
    {"pppoe.session_id", print_session, 0},
    {"ppp.protocol", print_ppp, 0},
    {"ip.src", print_ip_src, 4},
    {"ip.dst", print_ip_dst, 4},
    {"ip.proto", print_ip_proto, 4},
    {"ipv6.src", print_ip_src, 6},
    {"ipv6.dst", print_ip_dst, 6},
    {"ipv6.proto", print_ip_proto, 6},
    {"tcp.srcport", print_src_port, 6},
    {"tcp.dstport", print_dst_port, 6},
    {"tcp.syn", print_syn, 0},
    {"udp.srcport", print_src_port, 17},
    {"udp.dstport", print_dst_port, 17},
    {"sctp.srcport", print_src_port, 132},
    {"sctp.dstport", print_dst_port, 132},
    {"icmp.type", print_icmp_type, 1},
    {"icmp.code", print_icmp_code, 1},
    {"icmpv6.type", print_icmp_type, 58},
    {"icmpv6.code", print_icmp_code, 58},
    {"gre.proto", print_protocol, FRAME_GRE},
    {"vxlan.vni", print_vni, FRAME_VXLAN},
    {"geneve.vni", print_vni, FRAME_GENEVE},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static size_t
read_layers(const uint8_t *octets, size_t len, struct frame_inner *layers)
{
	size_t n = 1;

	layers[0] = (struct frame_inner){.tunnel = FRAME_NO_TUNNEL};
	frame_parse(octets, len, &layers[0].keys);
	while (n < LAYERS_MAX && frame_open(octets, len, &layers[n - 1].keys, &layers[n]))
		n++;
	return n;
}

static void
print_frame(const uint8_t *octets, size_t len)
{
	struct frame_inner layers[LAYERS_MAX];
	size_t n = read_layers(octets, len, layers);

	for (size_t i = 0; i < N_COLUMNS; i++) {
		empty = true;
		for (size_t l = 0; l < n; l++)
			columns[i].print(&layers[l], columns[i].argument);
		putchar(i + 1 < N_COLUMNS ? '\t' : '\n');
	}
}

int
main(int argc, char **argv)
{
	char error[PCAP_ERRBUF_SIZE];
	size_t cut = argc > 2 ? strtoul(argv[2], NULL, 10) : SIZE_MAX;
	struct pcap_pkthdr *header;
	const uint8_t *octets;
	pcap_t *pcap;

	if (argc < 2) {
		fprintf(stderr, "usage: print_headers CAPTURE [OCTETS]\n");
		return 2;
	}
	pcap = pcap_open_offline(argv[1], error);
	if (!pcap || pcap_datalink(pcap) != DLT_EN10MB) {
		fprintf(stderr, "%s\n", pcap ? "not Ethernet" : error);
		if (pcap)
			pcap_close(pcap);
		return 1;
	}
	for (size_t i = 0; i < N_COLUMNS; i++)
		printf("%s%c", columns[i].name, i + 1 < N_COLUMNS ? '\t' : '\n');
	while (pcap_next_ex(pcap, &header, &octets) == 1)
		print_frame(octets, header->caplen < cut ? header->caplen : cut);
	pcap_close(pcap);
	return 0;
}
