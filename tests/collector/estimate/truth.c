#include "tests/collector/estimate/truth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAC = 6, IP_ROOM = 16, FIRST_SLOTS = 1024 };

const size_t truth_key_octets[TRUTH_N_CLASSES] = {
	[TRUTH_MAC_PAIR] = 2 * MAC,
	[TRUTH_IP_PAIR] = 1 + 2 * IP_ROOM,
	[TRUTH_SOURCE_MAC] = MAC,
	[TRUTH_PROTOCOL] = 3,
	[TRUTH_SYN_SERVER] = 1 + IP_ROOM + 2,
	[TRUTH_SYN_SOURCE] = 1 + IP_ROOM,
};

/* FNV-1a. */
static size_t
key_hash(const uint8_t *key)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < TRUTH_KEY_MAX; i++)
		h = (h ^ key[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

static struct truth_row **
find_slot(const struct truth_table *table, const uint8_t *key)
{
	size_t i = key_hash(key) & (table->n_slots - 1);

	while (table->slots[i] && memcmp(table->slots[i]->key, key, TRUTH_KEY_MAX) != 0)
		i = (i + 1) & (table->n_slots - 1);
	return &table->slots[i];
}

/* Doubles the table; the rows move, so every slot is set anew. */
static int
table_grow(struct truth_table *table)
{
	size_t n_slots = table->n_slots ? 2 * table->n_slots : FIRST_SLOTS;
	struct truth_row *rows = realloc(table->rows, n_slots / 2 * sizeof(*rows));
	struct truth_row **slots;

	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->n_slots = n_slots;
	for (size_t i = 0; i < table->n; i++)
		*find_slot(table, rows[i].key) = &rows[i];
	return 0;
}

static void
count_frame(struct truth_count *count, uint32_t captured_octets)
{
	uint32_t octets = (captured_octets < 60 ? 60 : captured_octets) + 4;

	count->packets++;
	count->octets += octets;
	count->captured_octets += captured_octets;
	if (octets > TRUTH_FRAME_MAX_OCTETS) {
		count->over_packets++;
		count->over_octets += octets;
	}
}

static int
count_key(struct truth_table *table, const uint8_t *key, uint32_t captured_octets)
{
	struct truth_row **slot;
	int err;

	if (2 * table->n >= table->n_slots && (err = table_grow(table)) != 0)
		return err;
	slot = find_slot(table, key);
	if (!*slot) {
		*slot = &table->rows[table->n++];
		memset(*slot, 0, sizeof(**slot));
		memcpy((*slot)->key, key, TRUTH_KEY_MAX);
	}
	count_frame(&(*slot)->count, captured_octets);
	return 0;
}

static unsigned
be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Steps over 802.1Q, 802.1ad and the two older tags. Position of the ethertype; past len if it is
 * not there. */
static size_t
ethertype_at(const uint8_t *f, size_t len)
{
	size_t at = 2 * MAC;

	while (at + 2 <= len) {
		unsigned type = be16(f + at);

		if (type != 0x8100 && type != 0x88a8 && type != 0x9100 && type != 0x9200)
			break;
		at += 4;
	}
	return at;
}

/* Octets of an IPv6 extension header that starts at p (RFC 8200 section 4, RFC 4302); 0 if the
 * protocol is none. */
static size_t
extension_octets(int protocol, const uint8_t *p)
{
	switch (protocol) {
	case 0:	  /* hop by hop */
	case 43:  /* routing */
	case 60:  /* destination options */
	case 135: /* mobility */
	case 139: /* host identity */
	case 140: /* shim6 */
		return 8 * ((size_t)p[1] + 1);
	case 44: /* fragment */
		return 8;
	case 51: /* authentication */
		return 4 * ((size_t)p[1] + 2);
	default:
		return 0;
	}
}

/* The protocol behind all extension headers; -1 if it was cut off. */
static int
ipv6_protocol(const uint8_t *ip, size_t len)
{
	static const uint8_t none[2];
	int protocol = ip[6];
	size_t at = 40;

	while (extension_octets(protocol, none) > 0) {
		size_t octets;

		if (at + 8 > len)
			return -1;
		octets = extension_octets(protocol, ip + at);
		if (protocol == 44 && (be16(ip + at + 2) & 0xfff8) != 0)
			return ip[at]; /* a later fragment: payload follows */
		protocol = ip[at];
		at += octets;
	}
	return protocol;
}

/* Fills pair with an IP packet's addresses; the protocol, -1 if cut off, -2 if there is no sane
 * header. */
static int
ip_keys(unsigned ethertype, const uint8_t *ip, size_t len, uint8_t *pair)
{
	if (ethertype == 0x0800 && len >= 20 && ip[0] >> 4 == 4 && (ip[0] & 15) >= 5) {
		pair[0] = 4;
		memcpy(pair + 1, ip + 12, 4);
		memcpy(pair + 1 + IP_ROOM, ip + 16, 4);
		return ip[9];
	}
	if (ethertype == 0x86dd && len >= 40 && ip[0] >> 4 == 6) {
		pair[0] = 6;
		memcpy(pair + 1, ip + 8, IP_ROOM);
		memcpy(pair + 1 + IP_ROOM, ip + 24, IP_ROOM);
		return ipv6_protocol(ip, len);
	}
	return -2;
}

/* The TCP header of an unfragmented packet or a first fragment, up to its flags; NULL: none, or cut off. */
static const uint8_t *
tcp_header(const uint8_t *ip, size_t len)
{
	bool v4 = ip[0] >> 4 == 4;
	size_t at = v4 ? 4 * (size_t)(ip[0] & 15) : 40;
	int protocol = v4 ? ip[9] : ip[6];

	if (v4 && (be16(ip + 6) & 0x1fff) != 0)
		return NULL;
	while (!v4 && at + 8 <= len && extension_octets(protocol, ip + at) > 0) {
		size_t octets = extension_octets(protocol, ip + at);

		if (protocol == 44 && (be16(ip + at + 2) & 0xfff8) != 0)
			return NULL;
		protocol = ip[at];
		at += octets;
	}
	return protocol == 6 && at + 14 <= len ? ip + at : NULL;
}

static int
count_syn(struct truth *truth, const uint8_t *ip, size_t len, const uint8_t *pair, uint32_t octets)
{
	uint8_t server[TRUTH_KEY_MAX] = {pair[0]}, source[TRUTH_KEY_MAX] = {pair[0]};
	const uint8_t *tcp = tcp_header(ip, len);
	int err;

	if (!tcp || (tcp[13] & 0x12) != 0x02)
		return 0;
	memcpy(source + 1, pair + 1, IP_ROOM);
	memcpy(server + 1, pair + 1 + IP_ROOM, IP_ROOM);
	memcpy(server + 1 + IP_ROOM, tcp + 2, 2);
	err = count_key(&truth->classes[TRUTH_SYN_SERVER], server, octets);
	return err == 0 ? count_key(&truth->classes[TRUTH_SYN_SOURCE], source, octets) : err;
}

static int
count_upper(struct truth *truth, const uint8_t *f, size_t len, uint32_t octets)
{
	uint8_t pair[TRUTH_KEY_MAX] = {0}, protocol_key[TRUTH_KEY_MAX] = {0};
	size_t at = ethertype_at(f, len);
	unsigned ethertype;
	int protocol, err;

	if (at + 2 > len)
		return 0;
	ethertype = be16(f + at);
	protocol = ip_keys(ethertype, f + at + 2, len - at - 2, pair);
	if (protocol >= 0) {
		protocol_key[0] = 4;
		protocol_key[1] = (uint8_t)protocol;
	} else if (ethertype >= 0x600) {
		memcpy(protocol_key + 1, f + at, 2);
	}
	err = count_key(&truth->classes[TRUTH_PROTOCOL], protocol_key, octets);
	if (err == 0 && protocol != -2)
		err = count_key(&truth->classes[TRUTH_IP_PAIR], pair, octets);
	if (err == 0 && protocol == 6)
		err = count_syn(truth, f + at + 2, len - at - 2, pair, octets);
	return err;
}

static int
count_one(struct truth *truth, const uint8_t *f, size_t len, uint32_t octets)
{
	uint8_t key[TRUTH_KEY_MAX] = {0};
	int err;

	count_frame(&truth->total, octets);
	if (len < 2 * MAC)
		return 0;
	memcpy(key, f + MAC, MAC);
	err = count_key(&truth->classes[TRUTH_SOURCE_MAC], key, octets);
	memcpy(key + MAC, f, MAC);
	if (err == 0)
		err = count_key(&truth->classes[TRUTH_MAC_PAIR], key, octets);
	return err == 0 ? count_upper(truth, f, len, octets) : err;
}

static int
count_all(struct truth *truth, pcap_t *pcap, double seconds)
{
	struct pcap_pkthdr *header;
	const uint8_t *frame;
	double begin_s = 0;
	int more, err;

	while ((more = pcap_next_ex(pcap, &header, &frame)) == 1) {
		double time_s = (double)header->ts.tv_sec + 1e-6 * (double)header->ts.tv_usec;

		if (truth->total.packets == 0)
			begin_s = truth->first_s = truth->last_s = time_s;
		if (time_s >= begin_s + seconds)
			break;
		truth->first_s = fmin(truth->first_s, time_s);
		truth->last_s = fmax(truth->last_s, time_s);
		err = count_one(truth, frame, header->caplen, header->len);
		if (err)
			return err;
	}
	if (more == PCAP_ERROR)
		snprintf(truth->damage, sizeof(truth->damage), "%s", pcap_geterr(pcap));
	return 0;
}

int
truth_load(const char *path, struct truth *truth, char *error, size_t error_size)
{
	return truth_load_first(path, HUGE_VAL, truth, error, error_size);
}

int
truth_load_first(const char *path, double seconds, struct truth *truth, char *error,
    size_t error_size)
{
	char pcap_error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, pcap_error);
	int err;

	*truth = (struct truth){0};
	if (!pcap) {
		snprintf(error, error_size, "%s: %s", path, pcap_error);
		return -EPROTO;
	}
	if (pcap_datalink(pcap) != DLT_EN10MB) {
		const char *name = pcap_datalink_val_to_name(pcap_datalink(pcap));

		snprintf(error, error_size, "%s: link type %s (%d), not Ethernet", path,
		    name ? name : "unknown", pcap_datalink(pcap));
		err = -EPROTO;
	} else {
		err = count_all(truth, pcap, seconds);
		if (err)
			snprintf(error, error_size, "%s: %s", path, strerror(-err));
	}
	pcap_close(pcap);
	if (err)
		truth_free(truth);
	return err;
}

void
truth_free(struct truth *truth)
{
	for (int c = 0; c < TRUTH_N_CLASSES; c++) {
		free(truth->classes[c].rows);
		free(truth->classes[c].slots);
	}
	*truth = (struct truth){0};
}

const struct truth_count *
truth_find(const struct truth *truth, enum truth_class class, const uint8_t *key)
{
	const struct truth_table *table = &truth->classes[class];
	struct truth_row *row = table->n_slots ? *find_slot(table, key) : NULL;

	return row ? &row->count : NULL;
}

static int
compare_rows(const void *a, const void *b)
{
	const struct truth_row *x = a, *y = b;

	if (x->count.octets != y->count.octets)
		return x->count.octets < y->count.octets ? 1 : -1;
	return memcmp(x->key, y->key, TRUTH_KEY_MAX);
}

void
truth_sort(struct truth *truth)
{
	for (int c = 0; c < TRUTH_N_CLASSES; c++) {
		struct truth_table *table = &truth->classes[c];

		if (table->n > 0)
			qsort(table->rows, table->n, sizeof(*table->rows), compare_rows);
	}
}

static void
mac_text(const uint8_t *mac, char *text)
{
	sprintf(text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
	    mac[5]);
}

void
truth_key_text(enum truth_class class, const uint8_t *key, char *src, char *dst)
{
	*src = *dst = '\0';
	switch (class) {
	case TRUTH_MAC_PAIR:
		mac_text(key + MAC, dst);
		/* fall through */
	case TRUTH_SOURCE_MAC:
		mac_text(key, src);
		break;
	case TRUTH_IP_PAIR:
		inet_ntop(key[0] == 4 ? AF_INET : AF_INET6, key + 1, src, INET6_ADDRSTRLEN);
		inet_ntop(key[0] == 4 ? AF_INET : AF_INET6, key + 1 + IP_ROOM, dst,
		    INET6_ADDRSTRLEN);
		break;
	case TRUTH_SYN_SERVER:
		sprintf(dst, "%u", be16(key + 1 + IP_ROOM));
		/* fall through */
	case TRUTH_SYN_SOURCE:
		inet_ntop(key[0] == 4 ? AF_INET : AF_INET6, key + 1, src, INET6_ADDRSTRLEN);
		break;
	case TRUTH_PROTOCOL:
		sprintf(src, key[0] == 4 ? "ip %u" : "0x%04x", key[0] == 4 ? key[1]
		    : be16(key + 1));
		break;
	default:
		break;
	}
}
