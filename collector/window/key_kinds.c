#include "collector/window/key_kinds.h"

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

static void
put1(struct halves *h, const void *octets, size_t n)
{
	memcpy(h->half1 + h->octets1, octets, n);
	h->octets1 = (uint8_t)(h->octets1 + n);
}

static void
put2(struct halves *h, const void *octets, size_t n)
{
	memcpy(h->half2 + h->octets2, octets, n);
	h->octets2 = (uint8_t)(h->octets2 + n);
}

static void
put1_be16(struct halves *h, uint16_t v)
{
	put1(h, (const uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static void
put2_be16(struct halves *h, uint16_t v)
{
	put2(h, (const uint8_t[]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static bool
eth_pair(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & FLOW_HAS_MACS))
		return false;
	put1(h, k->src_mac, FRAME_MAC_LEN);
	put2(h, k->dst_mac, FRAME_MAC_LEN);
	return true;
}

static bool
ip_pair(const struct flow_key *k, struct halves *h)
{
	size_t octets = k->ip_version == 4 ? 4 : FRAME_IP_LEN;

	if (k->ip_version == 0)
		return false;
	put1(h, k->src_ip, octets);
	put2(h, k->dst_ip, octets);
	return true;
}

static bool
vlan(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & FLOW_HAS_VLAN))
		return false;
	put1_be16(h, k->vlan);
	return true;
}

static bool
ethertype(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & FLOW_HAS_ETHERTYPE))
		return false;
	put1_be16(h, k->ethertype);
	return true;
}

static bool
ip_proto(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & FLOW_HAS_IP_PROTO))
		return false;
	put1(h, &k->ip_proto, 1);
	return true;
}

static bool
server_port(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & (FLOW_HAS_PORTS | FLOW_HAS_ICMP)) || !ip_proto(k, h))
		return false;
	put1_be16(h, flow_server_port(k));
	return true;
}

static bool
conversation(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & FLOW_HAS_IP_PROTO) || !ip_pair(k, h))
		return false;
	put1_be16(h, k->src_port);
	put2_be16(h, k->dst_port);
	put1(h, &k->ip_proto, 1);
	put2(h, &k->ip_proto, 1);
	return true;
}

static bool
syn(const struct flow_key *k, struct halves *h)
{
	if (!(k->has & FLOW_HAS_SYN) || !ip_pair(k, h))
		return false;
	put2_be16(h, k->dst_port);
	return true;
}

const struct key_kind key_kinds[N_KINDS] = {
    [KIND_ETH_PAIR] = {STORE_KEY_ETH_PAIR, eth_pair},
    [KIND_IP_PAIR] = {STORE_KEY_IP_PAIR, ip_pair},
    [KIND_VLAN] = {STORE_KEY_VLAN, vlan},
    [KIND_ETHERTYPE] = {STORE_KEY_ETHERTYPE, ethertype},
    [KIND_IP_PROTO] = {STORE_KEY_IP_PROTO, ip_proto},
    [KIND_SERVER_PORT] = {STORE_KEY_SERVER_PORT, server_port},
    [KIND_CONVERSATION] = {STORE_KEY_CONVERSATION, conversation},
    [KIND_SYN] = {STORE_KEY_SYN, syn},
};
