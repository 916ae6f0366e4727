#include "collector/window/key_kinds.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { LENGTH_MAX = 1500 }; /* IEEE 802.3, clause 3.2.6 */

static uint16_t
ethertype_of(const struct frame_keys *frame)
{
	return frame->has_ethertype && frame->ethertype > LENGTH_MAX ? frame->ethertype : 0;
}

void
flow_key_of(const struct frame_keys *frame, uint32_t window, uint8_t direction,
    uint32_t mean_skip, struct flow_key *key)
{
	*key = (struct flow_key){
	    .window = window,
	    .direction = direction,
	    .mean_skip = mean_skip,
	    .has = (uint8_t)((frame->has_macs ? FLOW_HAS_MACS : 0) |
		(frame->n_vlans > 0 ? FLOW_HAS_VLAN : 0) |
		(frame->has_ethertype ? FLOW_HAS_ETHERTYPE : 0) |
		(frame->has_ip_proto ? FLOW_HAS_IP_PROTO : 0) |
		(frame->has_ports ? FLOW_HAS_PORTS : 0) | (frame->is_syn ? FLOW_HAS_SYN : 0) |
		(frame->has_icmp ? FLOW_HAS_ICMP : 0)),
	    .ip_version = frame->ip_version,
	    .ip_proto = frame->has_ip_proto ? frame->ip_proto : 0,
	    .vlan = frame->n_vlans > 0 ? frame->vlan[0] : 0,
	    .ethertype = ethertype_of(frame),
	    .src_port = frame->has_ports ? frame->src_port : frame->has_icmp ? STORE_ICMP_MARK : 0,
	    .dst_port = frame->has_ports ? frame->dst_port : frame->has_icmp ? frame_icmp_message(frame) : 0,
	};
	if (frame->has_macs) {
		memcpy(key->src_mac, frame->src_mac, FRAME_MAC_LEN);
		memcpy(key->dst_mac, frame->dst_mac, FRAME_MAC_LEN);
	}
	if (frame->ip_version != 0) {
		memcpy(key->src_ip, frame->src_ip, FRAME_IP_LEN);
		memcpy(key->dst_ip, frame->dst_ip, FRAME_IP_LEN);
	}
}

/* Where a flow has a field, and what of enum flow_has says that it has one; 0: IP addresses, which their version tells,
 * or ports, which a key may lack. */
static const struct {
	uint8_t at, has;
} flow_fields[KEY_N_FIELDS] = {
    [KEY_SRC_MAC] = {offsetof(struct flow_key, src_mac), FLOW_HAS_MACS},
    [KEY_DST_MAC] = {offsetof(struct flow_key, dst_mac), FLOW_HAS_MACS},
    [KEY_SRC_IP] = {offsetof(struct flow_key, src_ip), 0},
    [KEY_DST_IP] = {offsetof(struct flow_key, dst_ip), 0},
    [KEY_VLAN] = {offsetof(struct flow_key, vlan), FLOW_HAS_VLAN},
    [KEY_ETHERTYPE] = {offsetof(struct flow_key, ethertype), FLOW_HAS_ETHERTYPE},
    [KEY_SRC_PORT] = {offsetof(struct flow_key, src_port), 0},
    [KEY_DST_PORT] = {offsetof(struct flow_key, dst_port), 0},
    [KEY_SERVER_PORT] = {0, FLOW_HAS_PORTS | FLOW_HAS_ICMP},
    [KEY_IP_PROTO] = {offsetof(struct flow_key, ip_proto), FLOW_HAS_IP_PROTO},
};

/* Adds a field to a half. False: the flow has none. */
static inline bool __attribute__((always_inline))
key_kinds_put_field(const struct flow_key *k, enum key_field field, uint8_t *half, uint8_t *octets)
{
	const uint8_t *from = (const uint8_t *)k + flow_fields[field].at;
	uint8_t *to = half + *octets;
	uint16_t number;

	if (flow_fields[field].has && !(k->has & flow_fields[field].has))
		return false;
	if (field == KEY_SRC_MAC || field == KEY_DST_MAC) {
		memcpy(to, from, FRAME_MAC_LEN);
		*octets = FRAME_MAC_LEN;
	} else if (field < KEY_N_ADDRESSES) {
		memcpy(to, from, FRAME_IP_LEN); /* of IPv4 what is behind is 0 */
		*octets = k->ip_version == 4 ? 4 : FRAME_IP_LEN;
		return k->ip_version != 0;
	} else if (field == KEY_IP_PROTO) {
		to[0] = *from;
		++*octets;
	} else {
		memcpy(&number, from, sizeof(number));
		if (field == KEY_SERVER_PORT)
			number = flow_server_port(k);
		to[0] = (uint8_t)(number >> 8);
		to[1] = (uint8_t)number;
		*octets = (uint8_t)(*octets + 2);
	}
	return true;
}

static inline bool __attribute__((always_inline))
fill_half(const struct flow_key *k, const uint8_t fields[KEY_HALF_FIELDS], uint8_t *half, uint8_t *octets)
{
	uint8_t n = 0;
	bool has = true;

#pragma GCC unroll 3
	for (size_t i = 0; i < KEY_HALF_FIELDS; i++)
		if (has && fields[i] != KEY_NO_FIELD)
			has = key_kinds_put_field(k, fields[i], half, &n);
	*octets = n;
	return has;
}

static inline bool __attribute__((always_inline))
fill_key(const struct flow_key *k, const struct key_layout *layout, struct halves *h)
{
	return (!layout->of_syns || k->has & FLOW_HAS_SYN) && fill_half(k, layout->halves[0], h->half1, &h->octets1) &&
	    fill_half(k, layout->halves[1], h->half2, &h->octets2);
}

/* The compiler makes of each layout that it sees a function of its own, which takes a third of the time. */
bool
flow_key_fill(const struct flow_key *k, unsigned kind, struct halves *h)
{
	assert(kind < N_KINDS && h->octets1 == 0 && h->octets2 == 0);
	switch (kind) {
	case KIND_ETH_PAIR:
		return fill_key(k, &key_layouts[KIND_ETH_PAIR], h);
	case KIND_IP_PAIR:
		return fill_key(k, &key_layouts[KIND_IP_PAIR], h);
	case KIND_VLAN:
		return fill_key(k, &key_layouts[KIND_VLAN], h);
	case KIND_ETHERTYPE:
		return fill_key(k, &key_layouts[KIND_ETHERTYPE], h);
	case KIND_IP_PROTO:
		return fill_key(k, &key_layouts[KIND_IP_PROTO], h);
	case KIND_SERVER_PORT:
		return fill_key(k, &key_layouts[KIND_SERVER_PORT], h);
	case KIND_CONVERSATION:
		return fill_key(k, &key_layouts[KIND_CONVERSATION], h);
	default:
		return fill_key(k, &key_layouts[kind], h);
	}
}
