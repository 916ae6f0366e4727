#include "tests/collector/dialects/dialects.h"
#include "tests/collector/dialects/ipfix_form.h"

#include <string.h>

enum {
	RECORD_HEADER = 1,
	RECORD_ETHERNET = 2,
	RECORD_IP4 = 3,
	RECORD_SWITCH = 1001,
	SAMPLE_DISCARD = 5,
	HALF_TIME_S = 150,
	NOKIA_PORT = 35684352,
	ENTITY = 2, /* class of a source: a physical entity */
	RATE_BEYOND = 16777316, /* above 2^23; its low 16 bits are 100 */
	NEXUS_DROPS = 467178,
};

#define PORT_BEYOND	0xc1000000u
#define OUTPUT_BEYOND 0x8100000au

#define VENDOR(enterprise, format) ((uint32_t)(enterprise) << 12 | (format))
#define ODD(kind) (1u << EASE_ODD_##kind)
#define WORDS(...) (sizeof((const uint32_t[]){__VA_ARGS__}) / 4), (const uint32_t[]){__VA_ARGS__}

static void
put_record(struct wbuf *w, uint32_t format, size_t n, const uint32_t *words)
{
	size_t began = speaker_begin(w, format);

	speaker_words(w, n, words);
	speaker_end(w, began);
}

/* ---- lengths ---- */

static void
odd_length(struct flow *f)
{
	f->kept = 77;
}

/* Two MACs without padding, where the specification has each in eight octets. */
static uint32_t
ethernet_of_20(struct wbuf *w, const struct flow *f)
{
	size_t began;

	speaker_header_record(w, f);
	began = speaker_begin(w, RECORD_ETHERNET);
	wbuf_be32(w, f->frame_octets);
	wbuf_put(w, f->header + 6, 6);
	wbuf_put(w, f->header, 6);
	wbuf_be32(w, 0x0800);
	speaker_end(w, began);
	return 2;
}

static void
put_ip4(struct wbuf *w, const struct flow *f)
{
	put_record(w, RECORD_IP4, WORDS(f->ip_octets, 6, 0x0a000001 + f->host, 0x0a090909, 40000, 443, 0x10, 0));
}

static uint32_t
header_ethernet_ip4(struct wbuf *w, const struct flow *f)
{
	speaker_header_record(w, f);
	put_record(w, RECORD_ETHERNET, WORDS(f->frame_octets, 0x02000000, 0x000a0000, 0x02000000, 0x09090000, 0x0800));
	put_ip4(w, f);
	return 3;
}

static uint32_t
only_ip4(struct wbuf *w, const struct flow *f)
{
	put_ip4(w, f);
	return 1;
}

static uint32_t
four_ip4(struct wbuf *w, const struct flow *f)
{
	for (int i = 0; i < 4; i++)
		put_ip4(w, f);
	return 4;
}

static uint32_t
longer_switch(struct wbuf *w, const struct flow *f)
{
	speaker_header_record(w, f);
	put_record(w, RECORD_SWITCH, WORDS(20, 0, 20, 0, 1));
	return 2;
}

static uint32_t
shorter_switch(struct wbuf *w, const struct flow *f)
{
	put_record(w, RECORD_SWITCH, WORDS(20, 0, 20));
	speaker_header_record(w, f);
	return 2;
}

static uint32_t
longer_header(struct wbuf *w, const struct flow *f)
{
	size_t began = speaker_begin(w, RECORD_HEADER);

	speaker_words(w, WORDS(f->protocol, f->frame_octets, f->stripped, f->kept));
	wbuf_put(w, f->header, f->kept);
	wbuf_be64(w, 0);
	speaker_end(w, began);
	return 1;
}

/* The record's length ends with the header's last octet; its padding follows. */
static uint32_t
padding_left_out(struct wbuf *w, const struct flow *f)
{
	size_t began = speaker_begin(w, RECORD_HEADER);

	speaker_words(w, WORDS(f->protocol, f->frame_octets, f->stripped, f->kept));
	wbuf_put(w, f->header, f->kept);
	speaker_end(w, began);
	for (uint32_t n = -f->kept & 3; n > 0; n--)
		wbuf_u8(w, 0);
	return 1;
}

/* A short frame whose length leaves out the FCS and whose header does not. */
static void
shorter_than_its_header(struct flow *f)
{
	if (f->nth % 50 != 0)
		return;
	f->frame_octets = 60;
	f->header[16] = 0;
	f->header[17] = 46;
}

static uint32_t
longer_counters(struct wbuf *w, const struct counters *c)
{
	return speaker_counters_record(w, c, 4);
}

static uint32_t
records_of_h3c(struct wbuf *w, const struct flow *f)
{
	put_record(w, VENDOR(25506, 1003), WORDS(1, 2, 3, 4, 5));
	speaker_header_record(w, f);
	return 2;
}

static uint32_t
records_of_pmacct(struct wbuf *w, const struct flow *f)
{
	put_record(w, VENDOR(8800, 2), WORDS(4));
	speaker_header_record(w, f);
	put_record(w, VENDOR(43874, 3), WORDS(7, 0x756e6b6e, 0x6f776e00));
	return 3;
}

static void
sample_of_a_vendor(struct wbuf *w, const struct counters *c, uint32_t *n)
{
	size_t began = speaker_begin(w, VENDOR(30065, 1));

	speaker_words(w, WORDS(c->number, c->index, 1, 2, 3, 4, 5));
	speaker_end(w, began);
	++*n;
}

static uint32_t
counters_of_hsflowd(struct wbuf *w, const struct counters *c)
{
	put_record(w, 1005, WORDS(9, 0x45746865, 0x726e6574, 0x30000000));
	put_record(w, 7, WORDS(0, 0, 0, 0, 0, 0x02020202, [13] = 0));
	speaker_counters_record(w, c, 0);
	put_record(w, 10, WORDS(0, 1, 3300, 30000, [13] = 0));
	return 4;
}

static void
counters_of_a_host(struct wbuf *w, const struct counters *c, uint32_t *n)
{
	size_t began = speaker_begin(w, 2);

	speaker_words(w, WORDS(c->nth, ENTITY << 24 | 1, 2));
	put_record(w, 2001, WORDS(1, 2, 1, 0xb8599f0b, 0x42ac0000));
	put_record(w, 2004, WORDS([17] = 1));
	speaker_end(w, began);
	++*n;
}

static void
discard_beside(struct wbuf *w, const struct counters *c, uint32_t *n)
{
	size_t began = speaker_begin(w, SAMPLE_DISCARD);

	speaker_words(w, WORDS(c->nth, 0, 0, 0, c->if_index, 0, 258, 1));
	put_record(w, RECORD_HEADER, WORDS(1, 64, 4, 16, [7] = 0));
	speaker_end(w, began);
	++*n;
}

static uint32_t
records_of_tcp(struct wbuf *w, const struct flow *f)
{
	put_record(w, 2209, WORDS(2, 1448, 536, 0, 0, 0, 1500, 6645, 3402, 10, 3, 0));
	speaker_header_record(w, f);
	return 2;
}

static uint32_t
records_of_a_router(struct wbuf *w, const struct flow *f)
{
	put_record(w, 1002, WORDS(2, 0x20010db8, 0, 0, 1, 64, 64));
	put_record(w, 1003, WORDS(1, 0xc0000201, 64500, 64501, 64502, 1, 2, 2, 64503, 64504, 1, 0xfbf40064, 100));
	put_record(w, 1006, WORDS(1, 0xc0000201, 1, 100, 2, 200, 300));
	speaker_header_record(w, f);
	return 4;
}

static uint32_t
path_that_ends_in_a_set(struct wbuf *w, const struct flow *f)
{
	put_record(w, 1003, WORDS(2, 0x20010db8, 0, 0, 1, 64500, 64501, 64502, 2, 2, 1, 64503, 1, 2, 64504, 64505, 0, 100));
	speaker_header_record(w, f);
	return 2;
}

static uint32_t
path_longer_than_its_record(struct wbuf *w, const struct flow *f)
{
	put_record(w, 1003, WORDS(1, 0xc0000201, 64500, 64501, 64502, 1, 2, 0x40000001, 64503));
	speaker_header_record(w, f);
	return 2;
}

static uint32_t
records_of_a_tunnel(struct wbuf *w, const struct flow *f)
{
	speaker_header_record(w, f);
	put_record(w, 1029, WORDS(5001));
	put_record(w, 1030, WORDS(5002));
	return 3;
}

/* ---- pools ---- */

static void
two_samplers_close(struct flow *f)
{
	bool second = f->nth % 2 == 0;

	f->number = (f->nth + 1) / 2 + (second ? 60 : 0);
	f->pool = (uint32_t)(f->frames / 2) + (second ? 5000 : 0);
}

static void
two_samplers_far(struct flow *f)
{
	bool second = f->nth % 2 == 0;

	f->number = (f->nth + 1) / 2 + (second ? 1000000 : 0);
	f->pool = (uint32_t)(f->frames / 2) + (second ? 2000000000u : 0);
}

static void
pool_begins_anew(struct flow *f)
{
	static uint32_t before;

	if (f->nth <= 1000)
		before = f->pool;
	else
		f->pool -= before;
}

static void
pool_leaps(struct flow *f)
{
	f->pool += f->nth > 1000 ? 3000000000u : 0;
}

static void
pool_of_all_ports(struct flow *f)
{
	f->pool = (uint32_t)f->all_frames;
}

static void
numbers_and_pool_of_all_ports(struct flow *f)
{
	f->number = f->nth_of_all;
	f->pool = (uint32_t)f->all_frames;
}

static void
pool_0(struct flow *f)
{
	f->pool = 0;
}

static void
pool_counts_samples(struct flow *f)
{
	f->pool = f->nth;
}

static void
bridge_of_openvswitch(struct flow *f)
{
	f->class = ENTITY;
	f->index = 1000;
	f->number = f->nth_of_all;
	f->pool = f->nth_of_all * f->rate;
}

static void
pool_wraps(struct flow *f)
{
	f->pool -= 150000;
}

static void
states_half_its_rate(struct flow *f)
{
	f->rate /= 2;
}

static void
each_frame_twice(struct flow *f)
{
	f->rate *= 2;
	f->pool = f->nth * f->rate;
}

/* ---- numbers ---- */

/* One pair in forty leaves in the other order, each sample in a datagram of its own. */
static void
swapped_pairs(struct flow *f)
{
	if (f->nth % 40 == 0) {
		f->number++;
		f->pool += 50;
	} else if (f->nth % 40 == 1 && f->nth > 1) {
		f->number--;
		f->pool -= 50;
	}
}

static void
number_0(struct flow *f)
{
	f->number = 0;
}

static void
numbers_of_the_agent(struct flow *f)
{
	f->number = f->nth_of_all;
}

static void
every_third_number(struct flow *f)
{
	f->number = 3 * f->nth;
}

static void
numbers_wrap(struct flow *f)
{
	f->number = f->nth - 1500;
}

static void
number_above_2_31(struct flow *f)
{
	f->number = f->nth + 3700000000u;
	f->expanded = true;
}

/* What begins anew at half time. */
static void
source_begins_anew(struct flow *f)
{
	static uint32_t number, pool;

	if (f->port != 0)
		return;
	if (f->at_s < HALF_TIME_S) {
		number = f->number;
		pool = f->pool;
		return;
	}
	f->number -= number;
	f->pool -= pool;
}

static void
counters_begin_anew(struct counters *c)
{
	static uint32_t number;

	if (c->at_s < HALF_TIME_S)
		number = c->number;
	else
		c->number -= number;
}

static void
agent_begins_anew(struct datagram *d)
{
	static uint32_t number;

	if (d->at_s < HALF_TIME_S) {
		number = d->number;
		return;
	}
	d->number -= number;
	d->uptime_ms = (uint32_t)(1000 * (d->at_s - HALF_TIME_S));
}

static void
datagram_0(struct datagram *d)
{
	d->number = 0;
}

/* ---- drops ---- */

static void
drops_since_start(struct flow *f)
{
	f->drops = NEXUS_DROPS;
	f->number = f->nth + 100;
}

/* Every second sample is dropped before it gets a number. */
static void
drops_rise(struct flow *f)
{
	f->drops = NEXUS_DROPS + f->nth;
	f->rate /= 2;
}

/* ---- rates ---- */

static void
rate_0(struct flow *f)
{
	f->rate = 0;
}

static void
rate_of_millions(struct flow *f)
{
	f->rate = RATE_BEYOND;
}

/* ---- frames ---- */

static void
one_length_of_4e9(struct flow *f)
{
	if (f->nth == 100)
		f->frame_octets = 4000000000u;
}

static void
six_lengths_of_4e9(struct flow *f)
{
	if (f->nth % 450 == 100)
		f->frame_octets = 4000000000u;
}

/* Before the IP header's length of 1,500. */
static void
length_of_what_is_kept(struct flow *f)
{
	if (f->frame_octets > 132)
		f->frame_octets = 132;
}

static void
packet_without_frame(struct flow *f)
{
	speaker_cut_ethernet(f, 11, 0, NULL);
}

static void
third_is_mpls(struct flow *f)
{
	static const uint8_t label[] = {0, 6, 0x41, 0x40};

	if (f->nth % 3 == 0)
		speaker_cut_ethernet(f, 13, sizeof(label), label);
}

static void
third_is_ppp(struct flow *f)
{
	static const uint8_t ip4[] = {0, 0x21};

	if (f->nth % 3 == 0)
		speaker_cut_ethernet(f, 7, sizeof(ip4), ip4);
}

static void
third_is_frame_relay(struct flow *f)
{
	static const uint8_t address[] = {0x18, 0x41, 3, 0xcc};

	if (f->nth % 3 == 0)
		speaker_cut_ethernet(f, 4, sizeof(address), address);
}

static void
protocol_of_nobody(struct flow *f)
{
	if (f->nth % 20 == 0)
		f->protocol = 0x45000034;
}

static void
packet_called_ethernet(struct flow *f)
{
	if (f->nth % 10 == 0)
		speaker_cut_ethernet(f, 1, 0, NULL);
}

enum { ETHERTYPE_AT = 12, IP_AT = 14, IP_LENGTH_AT = 2 };

/* Octets more before the IP header, in a frame of the same length. */
static void
insert(struct flow *f, size_t where, size_t n, const uint8_t *octets)
{
	uint32_t ip_octets = f->ip_octets - (uint32_t)n;

	memmove(f->header + where + n, f->header + where, f->kept - where);
	memcpy(f->header + where, octets, n);
	f->header[IP_AT + n + IP_LENGTH_AT] = (uint8_t)(ip_octets >> 8);
	f->header[IP_AT + n + IP_LENGTH_AT + 1] = (uint8_t)ip_octets;
	f->kept += (uint32_t)n;
}

static void
two_tags(struct flow *f)
{
	static const uint8_t tags[] = {0x91, 0, 0, 100, 0x81, 0, 0, 200};

	insert(f, ETHERTYPE_AT, sizeof(tags), tags);
}

static void
three_labels(struct flow *f)
{
	static const uint8_t labels[] = {0, 6, 0x40, 0x40, 0, 6, 0x50, 0x40, 0, 6, 0x61, 0x40};

	insert(f, IP_AT, sizeof(labels), labels);
	f->header[ETHERTYPE_AT] = 0x88;
	f->header[ETHERTYPE_AT + 1] = 0x47;
}

static void
in_pppoe(struct flow *f)
{
	uint32_t octets = f->ip_octets - 6;
	const uint8_t session[] = {0x11, 0, 0, 1, (uint8_t)(octets >> 8), (uint8_t)octets, 0, 0x21};

	insert(f, IP_AT, sizeof(session), session);
	f->header[ETHERTYPE_AT] = 0x88;
	f->header[ETHERTYPE_AT + 1] = 0x64;
}

static void
in_gre(struct flow *f)
{
	const uint8_t outer[] = {0x45, 0, (uint8_t)(f->ip_octets >> 8), (uint8_t)f->ip_octets, 0, 1, 0, 0, 64, 47, 0, 0,
	    10, 1, 1, 1, 10, 1, 1, 2, 0, 0, 8, 0};

	insert(f, IP_AT, sizeof(outer), outer);
}

/* ---- interfaces ---- */

static uint32_t
switch_record_without_vlan(struct wbuf *w, const struct flow *f)
{
	uint32_t vlan = f->sent ? UINT32_MAX : 1;

	speaker_header_record(w, f);
	put_record(w, RECORD_SWITCH, WORDS(vlan, 0, 1, 0));
	return 2;
}

static void
from_itself(struct flow *f)
{
	if (f->sent)
		f->input = f->nth % 2 ? 0 : SPEAKER_INTERNAL;
}

static void
one_side_known(struct flow *f)
{
	*(f->sent ? &f->input : &f->output) = SPEAKER_INTERNAL;
}

static void
other_side_0(struct flow *f)
{
	*(f->sent ? &f->input : &f->output) = 0;
}

static void
output_beyond_30_bits(struct flow *f)
{
	f->expanded = true;
	f->output = 1285816721;
}

static void
expanded(struct flow *f)
{
	f->expanded = true;
}

static void
expanded_counters(struct counters *c)
{
	c->expanded = true;
}

/* ---- counters ---- */

static void
speed_of_32_bits(struct counters *c)
{
	c->speed_bps = UINT32_MAX;
}

static void
speed_cut_to_32_bits(struct counters *c)
{
	c->speed_bps = (uint32_t)c->speed_bps;
}

static void
speed_in_megabits(struct counters *c)
{
	c->speed_bps /= 1000000;
}

static void
octets_of_32_bits(struct counters *c)
{
	c->in_octets = (uint32_t)c->in_octets;
}

static void
of_nokia(struct flow *f)
{
	f->expanded = true;
	f->index = f->input = NOKIA_PORT;
}

static void
counters_of_nokia(struct counters *c)
{
	c->expanded = true;
	c->index = c->if_index = NOKIA_PORT;
}

static void
beyond_31_bits(struct flow *f)
{
	f->expanded = true;
	f->index = f->input = -f->index;
	f->output = OUTPUT_BEYOND;
}

static void
counters_beyond_31_bits(struct counters *c)
{
	c->expanded = true;
	c->index = c->if_index = -c->index;
}

static void
beyond_bit_31(struct flow *f)
{
	f->expanded = true;
	f->index = f->input |= PORT_BEYOND;
	f->output = OUTPUT_BEYOND;
}

static void
counters_beyond_bit_31(struct counters *c)
{
	c->expanded = true;
	c->index = c->if_index |= PORT_BEYOND;
}

/* A service access point of the port: 40 % of its frames. */
static struct counters
access_point(const struct counters *port, uint32_t encapsulation)
{
	struct counters c = *port;

	c.if_index = encapsulation;
	c.if_type = 1;
	c.speed_bps = (uint64_t)2001 << 32 | NOKIA_PORT;
	c.in_octets = port->in_octets * 2 / 5;
	c.in_pkts = port->in_pkts / 5 * 2;
	return c;
}

static uint32_t
port_and_access_points(struct wbuf *w, const struct counters *port)
{
	speaker_counters_record(w, port, 0);
	for (uint32_t i = 1; i <= 2; i++) {
		struct counters c = access_point(port, 100 * i);

		speaker_counters_record(w, &c, 0);
	}
	return 3;
}

static void
access_points_beside(struct wbuf *w, const struct counters *port, uint32_t *n)
{
	for (uint32_t i = 1; i <= 2; i++) {
		struct counters c = access_point(port, 100 * i);
		size_t began = speaker_begin(w, 4);

		speaker_words(w, WORDS(port->number + i, 0, port->index, 1));
		speaker_counters_record(w, &c, 0);
		speaker_end(w, began);
		++*n;
	}
}

static void
every_third_snapshot(struct counters *c)
{
	counters_of_nokia(c);
	c->number = 3 * c->nth;
}

/* ---- agents ---- */

static void
agent_of(struct datagram *d, uint8_t a, uint8_t b, uint8_t c, uint8_t e)
{
	const uint8_t address[4] = {a, b, c, e};

	memcpy(d->address, address, sizeof(address));
}

static void
agent_127_0_0_1(struct datagram *d)
{
	agent_of(d, 127, 0, 0, 1);
}

static void
agent_128_0_0_4(struct datagram *d)
{
	agent_of(d, 128, 0, 0, 4);
}

static void
agent_240_127_1_1(struct datagram *d)
{
	agent_of(d, 240, 127, 1, 1);
}

static void
agent_0_0_0_0(struct datagram *d)
{
	agent_of(d, 0, 0, 0, 0);
}

static void
agent_of_16_zeros(struct datagram *d)
{
	d->address_type = 2;
	memset(d->address, 0, sizeof(d->address));
}

static void
agent_unknown(struct datagram *d)
{
	d->address_type = 0;
}

static void
agent_ip6(struct datagram *d)
{
	static const uint8_t address[16] = {0x20, 1, 0xd, 0xb8, [15] = 0x10};

	d->address_type = 2;
	memcpy(d->address, address, sizeof(address));
}

static void
four_workers(struct flow *f)
{
	f->sub_agent = 1 + f->nth % 4;
	f->number = (f->nth + 3) / 4;
	f->pool = (uint32_t)(f->frames / 4);
}

static void
flows_of_sub_agent_1(struct flow *f)
{
	f->sub_agent = 1;
}

static void
counters_of_sub_agent_4(struct counters *c)
{
	c->sub_agent = 4;
}

static void
member_of_a_stack(struct flow *f)
{
	f->sub_agent = f->port;
}

static void
counters_of_a_member(struct counters *c)
{
	c->sub_agent = c->port;
}

/* ---- time ---- */

static void
uptime_wraps(struct datagram *d)
{
	d->uptime_ms -= 1150000;
}

static void
uptime_leaps(struct datagram *d)
{
	if (d->nth == 200)
		d->uptime_ms += 1000000000;
}

static void
uptime_falls(struct datagram *d)
{
	if (d->nth % 200 == 100)
		d->uptime_ms = 5;
}

static void
uptime_in_seconds(struct datagram *d)
{
	d->uptime_ms /= 1000;
}

static void
uptime_in_hundredths(struct datagram *d)
{
	d->uptime_ms /= 10;
}

static void
uptime_of_whole_seconds(struct datagram *d)
{
	d->uptime_ms = d->uptime_ms / 1000 * 1000;
}

static void
uptime_0(struct datagram *d)
{
	d->uptime_ms = 0;
}

/* The seconds since 1970, and the address that the box has for itself. */
static void
uptime_is_a_date(struct datagram *d)
{
	agent_of(d, 127, 0, 0, 1);
	d->uptime_ms = 1622128847 + (uint32_t)d->at_s;
}

static void
from_a_generic_box(struct flow *f)
{
	f->expanded = true;
	f->class = ENTITY;
	f->index = 1;
	f->output = 8;
	f->drops = 15;
}

static void
counters_of_a_generic_box(struct counters *c)
{
	c->expanded = true;
	c->class = ENTITY;
	c->index = 1;
}

static void
some_late_some_twice(struct datagram *d)
{
	d->twice = d->nth % 100 == 50;
	d->late = d->nth % 100 == 99;
}

/* The second switch speaks an older version. */
static void
second_of_version_4(struct datagram *d)
{
	if (d->at_switch == 1) {
		d->version = 4;
		d->unread = true;
	}
}

/* ---- IPFIX ---- */

enum { LATE_FIRST = 250 /* messages: 50 s */ };
#define VARIABLE IPFIX_FORM_VARIABLE
#define JUNIPER	 2636
#define FRAMES	 {10, 4, 0}, {14, 4, 0}, {61, 1, 0}, {312, 2, 0}, {315, VARIABLE, 0}

/* Juniper's inline monitoring with common properties, and the rate in options of the exporter. */
static const struct ipfix_form juniper = {
    .fields = {{137, 4, JUNIPER}, {137, 2, JUNIPER}, {137, 4, JUNIPER}, FRAMES},
    .options = {{144, 4, 0}, {34, 4, 0}},
    .n_scope = 1};
/* Cisco's: no variable lengths, a table of samplers, and no sampler in the records. */
static const struct ipfix_form cisco = {
    .fields = {{10, 4, 0}, {14, 4, 0}, {312, 4, 0}, {315, 160, 0}},
    .options = {{149, 4, 0}, {48, 2, 0}, {84, 32, 0}, {49, 1, 0}, {50, 4, 0}},
    .n_scope = 1,
    .padding = 3};
/* RFC 5476: records name their selector; systematic, n of N, and by probability. */
static const struct ipfix_form psamp_space = {.fields = {{302, 8, 0}, FRAMES},
    .options = {{302, 8, 0}, {304, 2, 0}, {305, 4, 0}, {306, 4, 0}},
    .n_scope = 1};
static const struct ipfix_form psamp_size = {.fields = {FRAMES, {302, 4, 0}},
    .options = {{302, 4, 0}, {304, 2, 0}, {309, 4, 0}, {310, 4, 0}},
    .n_scope = 1};
static const struct ipfix_form psamp_double = {
    .fields = {{302, 1, 0}, FRAMES}, .options = {{302, 1, 0}, {311, 8, 0}}, .n_scope = 1};
static const struct ipfix_form psamp_single = {
    .fields = {{302, 1, 0}, FRAMES}, .options = {{302, 1, 0}, {311, 4, 0}}, .n_scope = 1};
static const struct ipfix_form rate_in_records = {.fields = {{34, 4, 0}, FRAMES}, .padding = 1};
static const struct ipfix_form physical_interfaces = {
    .fields = {{252, 4, 0}, {253, 4, 0}, {34, 4, 0}, {312, 2, 0}, {315, VARIABLE, 0}}};
static const struct ipfix_form sent = {.fields = {{34, 4, 0}, FRAMES}, .is_sent = true};
static const struct ipfix_form packets = {
    .fields = {{34, 4, 0}, {10, 4, 0}, {14, 4, 0}, {313, VARIABLE, 0}}};
static const struct ipfix_form late_templates = {
    .fields = {{34, 4, 0}, FRAMES}, .first = LATE_FIRST};
static const struct ipfix_form begins_anew = {.fields = {{34, 4, 0}, FRAMES}, .begins_anew = 300};

static void
unread_before_templates(struct datagram *d)
{
	d->unread = d->nth <= LATE_FIRST;
}

/* ---- the table ---- */

#define ALONE {.poll_s = SPEAKER_NO_COUNTERS}
#define IPFIX {.poll_s = SPEAKER_NO_COUNTERS, .ports = 2}

const struct dialect dialects[] = {
    {"any", "nothing: as the specification has it", "sFlow version 5", .truth = {.verdict = "sound"}},
    {"any", "nothing, in the expanded form", "sFlow version 5", .truth = {.verdict = "sound"},
	.speech = {.flow = expanded, .counters = expanded_counters}},
    {"any", "nothing, but no counters come", "sFlow version 5", ALONE, .truth = {.check = "no counters"}},
    {"any", "5 % of the datagrams are lost", "sFlow version 5", {.lose_every = 20}, .truth = {.verdict = "sound"}},

    {"Brocade ICX 6610", "4 octets behind a flow sample's last record",
	"pavel-odintsov/fastnetmon#626, sflow/sflowtool#8, Edgio/vflow#173", .speech = {.flow_tail = 4}},
    {"Brocade ICX 6610", "the same without counters", "pavel-odintsov/fastnetmon#626", ALONE,
	.speech = {.flow_tail = 4}, .truth = {.check = "no counters"}},
    {"Huawei S6720 V200R011", "the Ethernet record has 20 octets",
	"phaag/nfdump#210, pavel-odintsov/fastnetmon#990, netsampler/goflow2#510",
	.speech = {.records = ethernet_of_20}},
    {"Huawei", "header, Ethernet and IPv4 record in one sample, of different lengths", "netsampler/goflow2#518",
	.speech = {.records = header_ethernet_ip4}},
    {"a later version", "a record of 20 octets where 16 are known", "sFlow version 5, section 5 [constructed]",
	.speech = {.records = longer_switch}},
    {"any", "a record of 12 octets where 16 are known", "[constructed]", .speech = {.records = shorter_switch},
	.truth = {.odd = ODD(RECORD)}},
    {"a later version", "a header record with 8 octets behind the header", "sFlow version 5, section 5 [constructed]",
	.speech = {.records = longer_header}},
    {"a later version", "interface counters of 92 octets", "sFlow version 5, section 5 [constructed]",
	.speech = {.counter_records = longer_counters}},
    {"any", "4 octets behind a counter sample's last record", "[constructed]", .speech = {.counters_tail = 4}},
    {"any", "4 octets behind the last sample of a datagram", "Edgio/vflow#173 (between samples) [constructed]",
	.speech = {.datagram_tail = 4}},
    {"any", "headers of 77 octets, padded", "Cistern/sflow#15", .speech = {.flow = odd_length}},
    {"any", "a header record's length leaves out its padding", "[constructed]",
	.speech = {.flow = odd_length, .records = padding_left_out}},
    {"any", "frames of 60 octets with a header of 64", "[constructed]", .speech = {.flow = shorter_than_its_header}},

    {"H3C and HPE Comware", "records of enterprise 25506 before the header", "path-network/logstash-codec-sflow#8",
	.speech = {.records = records_of_h3c}},
    {"VyOS and Ubiquiti EdgeRouter (pmacct)", "records of enterprises 8800 and 43874",
	"pmacct/pmacct#71, pmacct/pmacct#281, robcowart/elastiflow#658", .speech = {.records = records_of_pmacct}},
    {"Arista", "samples of a vendor's own format between others", "wireshark/wireshark#21",
	.speech = {.more_samples = sample_of_a_vendor}},
    {"SONiC and Cumulus (hsflowd)", "name, LACP and optics beside the counters, and counters of the host",
	"robcowart/elastiflow#648, sonic-net/sonic-buildimage#6795, pavel-odintsov/fastnetmon#1025",
	.speech = {.counter_records = counters_of_hsflowd, .more_samples = counters_of_a_host}},
    {"hsflowd with tcp", "a record of the connection (2209) before the header", "codeout/fluent-plugin-sflow#2",
	.speech = {.records = records_of_tcp}},
    {"routers", "next hop of IPv6, AS path and MPLS before the header",
	"robcowart/elastiflow#145, google/gopacket#191", .speech = {.records = records_of_a_router},
	.truth = {.src_as = 64501, .dst_as = 64504}},
    {"routers", "an AS path that ends in a set (of aggregated routes)", "RFC 4271, section 5.1.6 [constructed]",
	.speech = {.records = path_that_ends_in_a_set}, .truth = {.src_as = 64501}},
    {"any", "an AS path that is longer than its record", "[constructed]",
	.speech = {.records = path_longer_than_its_record}, .truth = {.odd = ODD(RECORD)}},
    {"Open vSwitch", "records of tunnels (1029, 1030) behind the header", "phaag/nfdump#486",
	.speech = {.records = records_of_a_tunnel}},
    {"VPP with hsflowd", "discarded packets beside samples", "pmacct/pmacct#879",
	.speech = {.more_samples = discard_beside}},

    {"any with several samplers", "two number lines and pools under one source, close together",
	"sFlow.org errata, alexk99/the_router#14", ALONE, .speech = {.flow = two_samplers_close},
	.truth = {.odd = ODD(NUMBERS), .may = ODD(POOL), .check = "no counters", .before = DIALECT_ANY}},
    {"any with several samplers", "the same with counters", "sFlow.org errata, ntop/ntopng#1393",
	.speech = {.flow = two_samplers_close},
	.truth = {.odd = ODD(NUMBERS), .may = ODD(POOL) | ODD(POOL_DENIED), .before = DIALECT_ANY}},
    {"any with several samplers", "two number lines and pools under one source, far apart", "sFlow.org errata",
	ALONE, .speech = {.flow = two_samplers_far},
	.truth = {.odd = ODD(NUMBERS), .may = ODD(POOL), .check = "no counters", .before = DIALECT_ANY}},
    {"any with several samplers", "the same with counters", "sFlow.org errata", .speech = {.flow = two_samplers_far},
	.truth = {.odd = ODD(NUMBERS), .may = ODD(POOL) | ODD(POOL_DENIED), .before = DIALECT_ANY}},
    {"any", "the pool begins anew, the numbers do not", "sFlow.org errata, pmacct (effective rate)", ALONE,
	.speech = {.flow = pool_begins_anew}, .truth = {.odd = ODD(POOL), .check = "no counters"}},
    {"any", "the pool leaps by 3,000,000,000 once", "[constructed]", ALONE, .speech = {.flow = pool_leaps},
	.truth = {.odd = ODD(POOL), .check = "no counters"}},
    {"any", "the pool wraps", "sFlow version 5", ALONE, .speech = {.flow = pool_wraps},
	.truth = {.check = "no counters"}},
    {"any", "one pool for all ports", "[constructed]", {.ports = 2}, .speech = {.flow = pool_of_all_ports},
	.truth = {.odd = ODD(POOL_SHARED), .may = ODD(POOL_DENIED)}},
    {"any", "one pool for all ports, without counters", "[constructed]", {.ports = 2, .poll_s = SPEAKER_NO_COUNTERS},
	.speech = {.flow = pool_of_all_ports}, .truth = {.odd = ODD(POOL_SHARED), .check = "no counters"}},
    {"Alcatel-Lucent OS6900", "numbers and pool are those of an instance, whatever the port",
	"sFlow.org errata, ntop/ntopng#1393", {.ports = 2}, .speech = {.flow = numbers_and_pool_of_all_ports},
	.truth = {.odd = ODD(NUMBERS) | ODD(POOL_SHARED), .may = ODD(POOL_DENIED), .before = DIALECT_ANY}},
    {"any", "the pool is always 0", "sflow/host-sflow (its own fallback)", .speech = {.flow = pool_0}},
    {"any", "the pool counts samples", "[constructed]", ALONE, .speech = {.flow = pool_counts_samples},
	.truth = {.check = "no counters"}},
    {"Open vSwitch", "one source for a bridge, its pool is samples times rate", "Open vSwitch, lib/sflow", {.ports = 2},
	.speech = {.flow = bridge_of_openvswitch}, .truth = {.verdict = "sound"}},
    {"VPP on SONiC", "each frame is sampled twice, the pool is samples times rate", "sflow/host-sflow#91",
	{.one_in = 50}, .speech = {.flow = each_frame_twice}, .truth = {.check = "mismatch +"}},
    {"VPP on SONiC", "the same without counters: nobody can know, but `audit` must not trust it", "sflow/host-sflow#91",
	{.one_in = 50, .poll_s = SPEAKER_NO_COUNTERS}, .speech = {.flow = each_frame_twice},
	.truth = {.total = 2, .check = "no counters", .no_trust = "samples x rate"}},
    {"Dell Force10", "the rate doubles when the switch is busy", "Dell S50V manual, \"Back-off Mechanism\"",
	{.later_one_in = 200}, .truth = {.verdict = "sound"}},
    {"Extreme EXOS", "takes half of the samples that its rate says, the pool counts",
	"ExtremeXOS User Guide, \"Maximum CPU Sample Limit\" [inferred]", {.one_in = 200},
	.speech = {.flow = states_half_its_rate}, .truth = {.check = "mismatch -"}},

    {"any with several processors", "samples leave out of order in newer datagrams", "alexk99/the_router#14",
	{.samples_a_datagram = 1}, .speech = {.flow = swapped_pairs},
	.truth = {.odd = ODD(NUMBERS), .may = ODD(POOL), .verdict = "sound"}},
    {"any", "the number is always 0", "[constructed]", .speech = {.flow = number_0}, .truth = {.odd = ODD(NUMBERS)}},
    {"any", "numbers are those of the agent, pools those of ports", "sFlow.org errata", {.ports = 2},
	.speech = {.flow = numbers_of_the_agent}, .truth = {.odd = ODD(NUMBERS), .before = DIALECT_ANY}},
    {"any", "each third number only, and no datagram is missing", "[constructed]",
	.speech = {.flow = every_third_number}, .truth = {.odd = ODD(NUMBERS), .before = DIALECT_ANY}},
    {"any", "numbers wrap", "akvorado/akvorado#370 (numbers above 2^31) [arithmetic]", .speech = {.flow = numbers_wrap},
	.truth = {.before = DIALECT_ANY, .verdict = "sound"}},
    {"any", "numbers above 2^31", "tcpdump's test sflow_expanded", .speech = {.flow = number_above_2_31},
	.truth = {.before = DIALECT_ANY, .verdict = "sound"}},
    {"any", "one source begins its numbers and pool anew", "sFlow version 5", {.ports = 2},
	.speech = {.flow = source_begins_anew}, .truth = {.may = ODD(NUMBERS) | ODD(POOL), .boots = DIALECT_ANY}},
    {"SONiC", "sFlow is switched off and on: uptime and all numbers begin anew", "sonic-net/sonic-buildimage#7445",
	.speech = {.flow = source_begins_anew, .counters = counters_begin_anew, .datagram = agent_begins_anew},
	.truth = {.boots = 2}},
    {"any", "the datagram's number is always 0", "[constructed]", .speech = {.datagram = datagram_0},
	.truth = {.odd = ODD(DATAGRAMS)}},

    {"Cisco Nexus 3000", "drops stands since the start, 5 % of the datagrams are lost", "Edgio/vflow#53",
	{.lose_every = 20, .samples_a_datagram = 1}, .speech = {.flow = drops_since_start}, .truth = {.before = 100}},
    {"Cisco Nexus 3000", "drops rises with each sample, numbers go on", "Edgio/vflow#53", {.one_in = 200},
	.speech = {.flow = drops_rise}, .truth = {.dropped = 1530}},

    {"any", "rate 0, the pool counts", "akvorado/akvorado#89", .speech = {.flow = rate_0},
	.truth = {.odd = ODD(RATE), .may = ODD(NO_RATE), .unused = 8}},
    {"Juniper EX4500, Junos 12.3R3.4", "rates of millions, the pool counts", "pavel-odintsov/fastnetmon#468",
	.speech = {.flow = rate_of_millions}, .truth = {.odd = ODD(RATE), .may = ODD(NO_RATE), .unused = 8}},
    {"D-Link DGS-3420", "1 in 2,000,000, packets and pool wrap", "pavel-odintsov/fastnetmon#112",
	{.frames_s = 2e7, .one_in = 2000000, .speed_bps = 400000000000}, .truth = {.verdict = "sound"}},

    {"Juniper", "one frame's length is 4,000,000,000", "pavel-odintsov/fastnetmon#893 (lengths) [constructed]",
	.speech = {.flow = one_length_of_4e9}, .truth = {.odd = ODD(LENGTH), .unused = 1}},
    {"Juniper", "six such lengths, without counters", "pavel-odintsov/fastnetmon#615 [constructed]", ALONE,
	.speech = {.flow = six_lengths_of_4e9}, .truth = {.odd = ODD(LENGTH), .unused = 7, .check = "no counters"}},
    {"Juniper", "frame lengths end with what is kept, the IP header says more", "pavel-odintsov/fastnetmon#893",
	.speech = {.flow = length_of_what_is_kept}, .truth = {.odd = ODD(LENGTH)}},
    {"F5 BIG-IP", "IPv4 packets without their frame, 18 octets stripped",
	"path-network/logstash-codec-sflow's test data", .speech = {.flow = packet_without_frame}},
    {"Cisco Nexus 9000", "an IPv4 record in place of a header", "Edgio/vflow#53, cloudflare/goflow#79",
	.speech = {.records = only_ip4}},
    {"any with MPLS", "a third of the headers begins with a label (protocol 13)", "sflow/sflowtool#54",
	.speech = {.flow = third_is_mpls}},
    {"any with MPLS", "three labels in Ethernet", "sflow/sflowtool#54, path-network/logstash-codec-sflow#12",
	.speech = {.flow = three_labels}, .truth = {.layer = REPORT_LAYER_INNER}},
    {"any with QinQ", "two tags, 9100 and 8100", "sflow/sflowtool#30, pmacct/pmacct#626, pmacct/pmacct#860",
	.speech = {.flow = two_tags}},
    {"any with PPPoE", "a session in Ethernet", "[constructed]", .speech = {.flow = in_pppoe},
	.truth = {.layer = REPORT_LAYER_INNER}},
    {"any with GRE", "IPv4 in IPv4", "phaag/nfdump#559", .speech = {.flow = in_gre},
	.truth = {.layer = REPORT_LAYER_INNER}},
    {"any with PPP", "a third of the headers is PPP (protocol 7)", "sflow/host-sflow (names of protocols)",
	.speech = {.flow = third_is_ppp}},
    {"any", "a third of the headers is Frame Relay (protocol 4)", "sFlow version 5 [constructed]",
	.speech = {.flow = third_is_frame_relay}, .truth = {.odd = ODD(HEADER), .hosts = 2. / 3}},
    {"Cumulus on Mellanox Spectrum", "each twentieth header has a protocol of nobody", "sflow/sflowtool#35",
	.speech = {.flow = protocol_of_nobody}, .truth = {.odd = ODD(HEADER), .hosts = 0.95}},
    {"Open vSwitch", "a tenth of the headers is a packet and called Ethernet", "sflow/sflowtool#32",
	.speech = {.flow = packet_called_ethernet}, .truth = {.hosts = 0.9}},

    {"HP 3800", "frames of its own have input 0 or 0x3fffffff and VLAN -1", "sflow/sflowtool#7", {.sent_part = 0.1},
	.speech = {.flow = from_itself, .records = switch_record_without_vlan}},
    {"hsflowd on a host", "one side of each frame is 0x3fffffff",
	"akvorado/akvorado#153, pavel-odintsov/fastnetmon#311, sflow/host-sflow#70", {.sent_part = 0.5},
	.speech = {.flow = one_side_known}},
    {"any that samples egress", "input 0, the source is the output", "netsampler/goflow2#292", {.sent_part = 1},
	.speech = {.flow = other_side_0}},
    {"Juniper QFX", "a source samples both directions under one number line",
	"pavel-odintsov/fastnetmon#829, Edgio/vflow#87", {.sent_part = 0.5}, .speech = {.flow = expanded}},
    {"any with sub-interfaces", "output interface 1285816721", "akvorado/akvorado#370",
	.speech = {.flow = output_beyond_30_bits}, .truth = {.output = 1285816721}},

    {"SONiC", "ifSpeed 4294967295 of a port of 10 Gb/s", "sonic-net/sonic-buildimage#5793",
	{.frames_s = 8e5, .one_in = 80000, .speed_bps = 10000000000}, .speech = {.counters = speed_of_32_bits},
	.truth = {.odd = ODD(SPEED)}},
    {"any", "ifSpeed 1410065408 of a port of 10 Gb/s", "[arithmetic]",
	{.frames_s = 8e5, .one_in = 80000, .speed_bps = 10000000000}, .speech = {.counters = speed_cut_to_32_bits},
	.truth = {.odd = ODD(SPEED)}},
    {"Cisco SG350", "ifSpeed 1000 of a port of 1 Gb/s", "lausser/check_nwc_health#217 (by SNMP) [inferred]",
	.speech = {.counters = speed_in_megabits}, .truth = {.odd = ODD(SPEED)}},
    {"any", "octets wrap at 2^32 in their field of 64 bits", "[constructed]", {.frames_s = 5e4, .one_in = 5000},
	.speech = {.counters = octets_of_32_bits}, .truth = {.odd = ODD(OCTETS_32)}},
    {"Nokia SR OS", "counters of a port and of its SAPs in one sample", "Nokia SR OS, \"sFlow record formats\"",
	{.speed_bps = 10000000000},
	.speech = {.flow = of_nokia, .counters = counters_of_nokia, .counter_records = port_and_access_points},
	.truth = {.may = ODD(SPEED), .ports = DIALECT_ANY, .first_if = NOKIA_PORT, .speed_bps = 10000000000}},
    {"Nokia SR OS", "the same in samples of their own, under one source", "Nokia SR OS, \"sFlow record formats\"",
	{.speed_bps = 10000000000},
	.speech = {.flow = of_nokia, .counters = every_third_snapshot, .more_samples = access_points_beside},
	.truth = {.may = ODD(SPEED), .ports = DIALECT_ANY, .first_if = NOKIA_PORT, .speed_bps = 10000000000}},
    {"any", "two ports of interface numbers that are negative as InterfaceIndex", "[constructed]", {.ports = 2},
	.speech = {.flow = beyond_31_bits, .counters = counters_beyond_31_bits}, .truth = {.output = OUTPUT_BEYOND}},
    {"any", "ports and outputs beyond bit 31", "[constructed]", {.ports = 2},
	.speech = {.flow = beyond_bit_31, .counters = counters_beyond_bit_31}, .truth = {.output = OUTPUT_BEYOND}},
    {"any", "a minute, counters at 0 and 30 seconds", "the usual reply: \"send a capture of a minute\"",
	.traffic = {.seconds = 60, .poll_s = 30, .ends_uncounted = true}},
    {"any", "five minutes, the last 29 seconds without counters", "[constructed]",
	.traffic = {.seconds = 299, .poll_s = 30, .ends_uncounted = true}},

    {"Antaira LMX-0800", "two switches state 127.0.0.1", "Antaira LMX-0800 manual, pmacct/pmacct#910", {.switches = 2},
	.speech = {.datagram = agent_127_0_0_1}},
    {"Juniper", "two switches state 128.0.0.4", "Edgio/vflow#154 [inferred]", {.switches = 2},
	.speech = {.datagram = agent_128_0_0_4}},
    {"SONiC", "two switches state 240.127.1.1", "sonic-net/sonic-buildimage#13108, sflow/host-sflow#49",
	{.switches = 2}, .speech = {.datagram = agent_240_127_1_1}},
    {"Fortinet FortiGate", "two switches state 0.0.0.0", "FortiGate CLI reference, \"source-ip\" [inferred]",
	{.switches = 2}, .speech = {.datagram = agent_0_0_0_0}},
    {"any", "two switches state ::", "[constructed]", {.switches = 2}, .speech = {.datagram = agent_of_16_zeros}},
    {"any", "two switches state no address", "sFlow version 5", {.switches = 2}, .speech = {.datagram = agent_unknown}},
    {"any", "an agent's address of IPv6", "phaag/nfdump#389", .speech = {.datagram = agent_ip6}},

    {"any", "a second switch speaks sFlow version 4",
	"robcowart/elastiflow#541, pmacct/pmacct#94, pavel-odintsov/fastnetmon#305", {.switches = 2},
	.speech = {.datagram = second_of_version_4}, .truth = {.total = 0.5, .agents = 1, .ports = 1}},

    {"alexk99/the_router", "four workers sample one port, each a sub-agent; counters come from one",
	"alexk99/the_router#14", .speech = {.flow = four_workers, .counters = counters_of_sub_agent_4},
	.truth = {.odd = ODD(SUB_AGENTS)}},
    {"F5 BIG-IP", "samples are sub-agent 1's, counters sub-agent 4's", "path-network/logstash-codec-sflow's test data",
	.speech = {.flow = flows_of_sub_agent_1, .counters = counters_of_sub_agent_4},
	.truth = {.may = ODD(SUB_AGENTS)}},
    {"Brocade MLXe", "a sub-agent for each module, with ports of its own", "robcowart/elastiflow#459 [inferred]",
	{.ports = 2}, .speech = {.flow = member_of_a_stack, .counters = counters_of_a_member},
	.truth = {.agents = DIALECT_ANY}},

    {"any", "uptime wraps", "Cacti/plugin_monitor#161, librenms/librenms#1426", .speech = {.datagram = uptime_wraps}},
    {"any", "uptime leaps by 11 days for one datagram", "[constructed]", .speech = {.datagram = uptime_leaps},
	.truth = {.odd = ODD(UPTIME), .boots = 2}},
    {"any", "uptime is 5 ms in some datagrams", "[constructed]", .speech = {.datagram = uptime_falls},
	.truth = {.odd = ODD(UPTIME), .boots = 2}},
    {"any", "uptime in seconds", "ntop/ntopng (its guard in Lua)", .speech = {.datagram = uptime_in_seconds},
	.truth = {.may = ODD(UPTIME)}},
    {"any", "uptime in hundredths, as SNMP has it", "influxdata/telegraf#14195",
	.speech = {.datagram = uptime_in_hundredths}, .truth = {.may = ODD(UPTIME)}},
    {"hsflowd before 2016", "uptime in milliseconds of whole seconds", "sflow/host-sflow#3",
	.speech = {.datagram = uptime_of_whole_seconds}},
    {"any", "uptime is always 0", "[constructed]", .speech = {.datagram = uptime_0}, .truth = {.may = ODD(UPTIME)}},
    {"a box behind telegraf", "uptime is the date in seconds, the agent 127.0.0.1, the source 2:1, four IPv4 records",
	"influxdata/telegraf#9309, influxdata/telegraf#7627",
	.speech = {.flow = from_a_generic_box, .records = four_ip4, .counters = counters_of_a_generic_box,
	    .datagram = uptime_is_a_date}, .truth = {.may = ODD(UPTIME)}},
    {"any", "1 % of the datagrams twice, 1 % late", "sFlow version 5", .speech = {.datagram = some_late_some_twice}},

    {"Juniper", "IPFIX 315: samples in records of IPFIX, with its common properties", "akvorado/akvorado's test data", IPFIX,
	.speech = {.ipfix = &juniper}, .truth = {.check = "no counters"}},
    {"Cisco IOS-XR", "IPFIX 315, of fixed length, the rate in a table of samplers", "Cisco NCS 5000 guide, \"IPFIX 315\"",
	IPFIX, .speech = {.ipfix = &cisco}, .truth = {.check = "no counters"}},
    {"any", "IPFIX 315, the rate of a selector as frames in a row and between", "RFC 5476", IPFIX,
	.speech = {.ipfix = &psamp_space}, .truth = {.check = "no counters"}},
    {"any", "IPFIX 315, the rate of a selector as n of N", "RFC 5476", IPFIX, .speech = {.ipfix = &psamp_size},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, the rate of a selector as a probability", "RFC 5476", IPFIX, .speech = {.ipfix = &psamp_double},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, the same in four octets", "RFC 7011, 6.2", IPFIX, .speech = {.ipfix = &psamp_single},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, the rate in each record, which doubles", "[constructed]",
	{.poll_s = SPEAKER_NO_COUNTERS, .later_one_in = 200}, .speech = {.ipfix = &rate_in_records},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, the rate of a selector doubles", "[constructed]",
	{.poll_s = SPEAKER_NO_COUNTERS, .later_one_in = 200}, .speech = {.ipfix = &psamp_size},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, physical interfaces", "IANA's registry", IPFIX, .speech = {.ipfix = &physical_interfaces},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, two ports, sampled where frames leave", "IANA's registry, flowDirection",
	{.poll_s = SPEAKER_NO_COUNTERS, .ports = 2, .sent_part = 1}, .speech = {.ipfix = &sent}, .truth = {.check = "no counters"}},
    {"any", "IPFIX 313: packets without frames", "RFC 5477", IPFIX, .speech = {.ipfix = &packets},
	.truth = {.check = "no counters"}},
    {"any", "IPFIX 315, 5 % of the messages are lost", "RFC 7011, 10.3", {.poll_s = SPEAKER_NO_COUNTERS, .lose_every = 20},
	.speech = {.ipfix = &rate_in_records}, .truth = {.check = "no counters"}},
    {"any", "IPFIX 315, 1 % of the messages twice, 1 % late", "RFC 7011, 10.3", IPFIX,
	.speech = {.ipfix = &rate_in_records, .datagram = some_late_some_twice}, .truth = {.check = "no counters"}},
    {"any", "IPFIX 315, templates come after 50 seconds", "RFC 7011, 8.4", IPFIX,
	.speech = {.ipfix = &late_templates, .datagram = unread_before_templates},
	.truth = {.check = "no counters", .before = DIALECT_ANY}},
    {"any", "IPFIX 315, numbers begin anew after 150 seconds", "RFC 7011, 8.1", IPFIX, .speech = {.ipfix = &begins_anew},
	.truth = {.check = "no counters", .boots = 2}},
    {"any", "IPFIX 315, and counters by sFlow", "[constructed]", {.ports = 2, .lose_every = 50},
	.speech = {.ipfix = &rate_in_records}, .truth = {.verdict = "sound"}},
};
const size_t n_dialects = sizeof(dialects) / sizeof(dialects[0]);
