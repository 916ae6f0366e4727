#include "agent/linux/drop_reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named {
	const char *name;
	uint32_t number;
};

/* Where a reason is too coarse, or is not given, the function tells it: in Linux 6.1 a bridge gives no reasons at
 * all, and a TTL that ran out is one more fault of an IP header. */
static const struct at_function {
	const char *reason, *function;
	uint32_t number;
} at_functions[] = {
    {"IP_INHDR", "ip_forward", 257},	   /* TTL exceeded: the only fault that it looks for */
    {"IP_INHDR", "ip6_forward", 257},
    {"NOT_SPECIFIED", "br_allowed_ingress", 265}, /* ingress VLAN filter */
    {"NOT_SPECIFIED", "__allowed_ingress", 265},
    {"NOT_SPECIFIED", "br_handle_vlan", 301},	  /* egress VLAN filter */
    {"NOT_SPECIFIED", "br_flood", 267},		  /* port list is empty: nobody to send an unknown address to */
    {"NOT_SPECIFIED", "br_multicast_flood", 267},
    {"NOT_SPECIFIED", "br_forward", 268},	  /* port loopback filter: it would leave where it came in */
};

/* A function that no reason comes with is of a layer. The first that fits counts. */
static const struct named layers[] = {
    {"tcp_", 289}, {"udp_", 289}, {"__udp4_", 289}, {"__udp6_", 289}, {"icmp_", 289}, {"icmpv6_", 289},
    {"ip_", 285}, {"ipv4_", 285}, {"ip6_", 285}, {"ipv6_", 285}, {"arp_", 285}, {"br_", 284}, {"__br_", 284},
};

/* Sorted by name. */
static const struct named kernel_reasons[] = {
    {"BPF_CGROUP_EGRESS", 369},
    {"BRIDGE_INGRESS_STP_STATE", 266},
    {"BRIDGE_NON_FORWARDING_STATE", 266},
    {"CAKE_FLOOD", 260},
    {"CPU_BACKLOG", 368},
    {"DEV_HDR", 332},
    {"DEV_READY", 331},
    {"DUALPI2_STEP_DROP", 260},
    {"DUP_FRAG", 333},
    {"FQ_BAND_LIMIT", 259},
    {"FQ_FLOW_LIMIT", 259},
    {"FQ_HORIZON_LIMIT", 259},
    {"FRAG_REASM_TIMEOUT", 4},
    {"FRAG_TOO_FAR", 4},
    {"FULL_RING", 259},
    {"HDR_TRUNC", 324},
    {"ICMP_CSUM", 336},
    {"INVALID_PROTO", 327},
    {"IPV6DISABLED", 326},
    {"IPV6_BAD_EXTHDR", 357},
    {"IPV6_NDISC_BAD_CODE", 360},
    {"IPV6_NDISC_BAD_OPTIONS", 361},
    {"IPV6_NDISC_FRAG", 358},
    {"IPV6_NDISC_HOP_LIMIT", 359},
    {"IPV6_NDISC_NS_OTHERHOST", 362},
    {"IP_CSUM", 313},
    {"IP_INADDRERRORS", 1},
    {"IP_INHDR", 313},
    {"IP_INNOROUTES", 0},
    {"IP_LOCALNET", 298},
    {"IP_NOPROTO", 328},
    {"IP_OUTNOROUTES", 6},
    {"IP_RPFILTER", 335},
    {"NEIGH_CREATEFAIL", 279},
    {"NEIGH_DEAD", 279},
    {"NEIGH_FAILED", 279},
    {"NEIGH_QUEUEFULL", 279},
    {"NETFILTER_DROP", 258},
    {"NOMEM", 259},
    {"NO_SOCKET", 3},
    {"OTHERHOST", 7},
    {"PKT_TOO_BIG", 262},
    {"PKT_TOO_SMALL", 324},
    {"PROTO_MEM", 259},
    {"QDISC_BURST_DROP", 259},
    {"QDISC_CONGESTED", 260},
    {"QDISC_DROP", 261},
    {"QDISC_OVERLIMIT", 259},
    {"SECURITY_HOOK", 258},
    {"SKB_CSUM", 329},
    {"SKB_GSO_SEG", 334},
    {"SKB_UCOPY_FAULT", 330},
    {"SOCKET_BACKLOG", 259},
    {"SOCKET_FILTER", 371},
    {"SOCKET_RCVBUFF", 259},
    {"TAP_FILTER", 363},
    {"TAP_TXFILTER", 364},
    {"TCP_ACK_UNSENT_DATA", 353},
    {"TCP_CLOSE", 349},
    {"TCP_CSUM", 317},
    {"TCP_FASTOPEN", 350},
    {"TCP_FLAGS", 340},
    {"TCP_INVALID_SEQUENCE", 346},
    {"TCP_INVALID_SYN", 348},
    {"TCP_MD5FAILURE", 339},
    {"TCP_MD5NOTFOUND", 337},
    {"TCP_MD5UNEXPECTED", 338},
    {"TCP_MINTTL", 356},
    {"TCP_OFOMERGE", 344},
    {"TCP_OFO_DROP", 355},
    {"TCP_OFO_QUEUE_PRUNE", 354},
    {"TCP_OLD_ACK", 351},
    {"TCP_OLD_DATA", 342},
    {"TCP_OVERWINDOW", 343},
    {"TCP_RESET", 347},
    {"TCP_RFC7323_PAWS", 345},
    {"TCP_TOO_OLD_ACK", 352},
    {"TCP_ZEROWINDOW", 341},
    {"TC_EGRESS", 366},
    {"TC_INGRESS", 365},
    {"UDP_CSUM", 316},
    {"UNHANDLED_PROTO", 325},
    {"UNICAST_IN_L2_MULTICAST", 271},
    {"XDP", 367},
    {"XFRM_POLICY", 370},
};

/* Sorted by name: the kernel's generic traps that drop, and those of drivers whose names sFlow took over. */
static const struct named traps[] = {
    {"arp_parsing", 312},
    {"blackhole_arp_neigh", 292},
    {"blackhole_nexthop", 306},
    {"blackhole_route", 269},
    {"dccp_parsing", 320},
    {"decap_error", 282},
    {"dest_mac_filter", 305},
    {"dip_is_link_local", 299},
    {"dip_is_local_network", 298},
    {"dip_is_loopback_address", 272},
    {"dmac_filter", 305},
    {"dmac_is_reserved", 294},
    {"early_drop", 260},
    {"egress_flow_action_drop", 258},
    {"esp_parsing", 322},
    {"gre_parsing", 315},
    {"gtp_parsing", 321},
    {"ingress_flow_action_drop", 258},
    {"ingress_spanning_tree_filter", 266},
    {"ingress_vlan_filter", 265},
    {"ip_1_parsing", 313},
    {"ip_header_corrupted", 275},
    {"ip_n_parsing", 314},
    {"ipsec_parsing", 318},
    {"ipv4_lpm_miss", 6},
    {"ipv4_sip_is_limited_bc", 276},
    {"ipv6_lpm_miss", 6},
    {"ipv6_mc_dip_interface_local_scope", 278},
    {"ipv6_mc_dip_reserved_scope", 277},
    {"llc_snap_parsing", 308},
    {"locked_port", 304},
    {"mc_dmac_mismatch", 296},
    {"mc_reverse_path_forwarding", 280},
    {"mlag_port_isolation", 291},
    {"mpls_parsing", 311},
    {"mtu_value_is_too_small", 262},
    {"non_ip", 270},
    {"non_routable_packet", 281},
    {"overlay_smac_is_dmac", 300},
    {"overlay_smac_is_mc", 283},
    {"port_list_is_empty", 267},
    {"port_loopback_filter", 268},
    {"pppoe_ppp_parsing", 310},
    {"reject_route", 9},
    {"sctp_parsing", 319},
    {"sip_is_class_e", 295},
    {"sip_is_dip", 297},
    {"sip_is_loopback_address", 274},
    {"sip_is_mc", 273},
    {"sip_is_unspecified", 290},
    {"source_mac_is_multicast", 263},
    {"src_mac_is_dmac", 293},
    {"tail_drop", 259},
    {"tcp_parsing", 317},
    {"ttl_value_is_too_small", 257},
    {"uc_dip_over_mc_dmac", 271},
    {"udp_parsing", 316},
    {"unknown_parsing", 323},
    {"unresolved_neigh", 279},
    {"vlan_parsing", 309},
    {"vlan_tag_mismatch", 264},
    {"vxlan_parsing", 307},
};

/* Of traps that have no line of their own. Sorted by name. */
static const struct named groups[] = {
    {"acl_drops", 258},
    {"buffer_drops", 287},
    {"l2_drops", 284},
    {"l3_drops", 285},
    {"l3_exceptions", 286},
    {"parser_error_drops", 323},
    {"tunnel_drops", 288},
};

static int
compare_name(const void *key, const void *row)
{
	return strcmp(key, ((const struct named *)row)->name);
}

#define FIND(table, name) find_named(table, sizeof(table) / sizeof((table)[0]), name)

static const struct named *
find_named(const struct named *table, size_t n, const char *name)
{
	return bsearch(name, table, n, sizeof(*table), compare_name);
}

static uint32_t
reason_of_layer(const char *function)
{
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (strncmp(function, layers[i].name, strlen(layers[i].name)) == 0)
			return layers[i].number;
	return DROP_REASON_UNKNOWN;
}

uint32_t
drop_reason_of_kernel(const char *reason, const char *function)
{
	const struct named *found;

	if (!reason[0])
		reason = "NOT_SPECIFIED";
	for (size_t i = 0; i < sizeof(at_functions) / sizeof(at_functions[0]); i++)
		if (strcmp(reason, at_functions[i].reason) == 0 && strcmp(function, at_functions[i].function) == 0)
			return at_functions[i].number;
	found = FIND(kernel_reasons, reason);
	return found ? found->number : reason_of_layer(function);
}

uint32_t
drop_reason_of_trap(const char *trap, const char *group)
{
	const struct named *found = FIND(traps, trap);

	if (!found)
		found = FIND(groups, group);
	return found ? found->number : DROP_REASON_UNKNOWN;
}

/* A compiler's copies of a function have a dot in their names, and its modules stand behind a space. */
void
drop_reason_function(const char *symbol, char *function, size_t size)
{
	snprintf(function, size, "%.*s", (int)strcspn(symbol, "+. "), symbol);
}
