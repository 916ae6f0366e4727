#include "collector/window/kinds.h"

#include <string.h>

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
eth_pair(const struct frame_keys *k, struct halves *h)
{
	if (!k->has_macs)
		return false;
	put1(h, k->src_mac, FRAME_MAC_LEN);
	put2(h, k->dst_mac, FRAME_MAC_LEN);
	return true;
}

static bool
ip_pair(const struct frame_keys *k, struct halves *h)
{
	size_t octets = k->ip_version == 4 ? 4 : FRAME_IP_LEN;

	if (k->ip_version == 0)
		return false;
	put1(h, k->src_ip, octets);
	put2(h, k->dst_ip, octets);
	return true;
}

static bool
vlan(const struct frame_keys *k, struct halves *h)
{
	if (k->n_vlans == 0)
		return false;
	put1_be16(h, k->vlan[0]);
	return true;
}

enum { LENGTH_MAX = 1500 }; /* IEEE 802.3, clause 3.2.6 */

/* Lengths are one key, 0. */
static bool
ethertype(const struct frame_keys *k, struct halves *h)
{
	if (!k->has_ethertype)
		return false;
	put1_be16(h, k->ethertype <= LENGTH_MAX ? 0 : k->ethertype);
	return true;
}

static bool
ip_proto(const struct frame_keys *k, struct halves *h)
{
	if (!k->has_ip_proto)
		return false;
	put1(h, &k->ip_proto, 1);
	return true;
}

/* Servers' ports are the lower ones: registered, where clients' are ephemeral (RFC 6335). */
static bool
server_port(const struct frame_keys *k, struct halves *h)
{
	if (!k->has_ports || !ip_proto(k, h))
		return false;
	put1_be16(h, k->src_port < k->dst_port ? k->src_port : k->dst_port);
	return true;
}

static bool
conversation(const struct frame_keys *k, struct halves *h)
{
	if (!k->has_ip_proto || !ip_pair(k, h))
		return false;
	put1_be16(h, k->src_port);
	put2_be16(h, k->dst_port);
	put1(h, &k->ip_proto, 1);
	put2(h, &k->ip_proto, 1);
	return true;
}

const struct kind window_kinds[N_KINDS] = {
    {STORE_KEY_ETH_PAIR, eth_pair},
    {STORE_KEY_IP_PAIR, ip_pair},
    {STORE_KEY_VLAN, vlan},
    {STORE_KEY_ETHERTYPE, ethertype},
    {STORE_KEY_IP_PROTO, ip_proto},
    {STORE_KEY_SERVER_PORT, server_port},
    {STORE_KEY_CONVERSATION, conversation},
};
