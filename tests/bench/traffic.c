#include "traffic.h"

#include <math.h>
#include <string.h>

enum {
	GATEWAYS = 4,	     /* agents whose last port leads outside */
	SERVERS = 200,	     /* hosts that half of all traffic goes to */
	MINUTES_A_DAY = 3,   /* of a port */
	FLOWS = 8,	     /* of a port's minute, on average */
};

static uint64_t
draw(struct traffic *t, uint64_t agent, uint64_t below)
{
	uint64_t *random = &t->random[agent];

	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (*random >> 11) % below;
}

void
traffic_init(struct traffic *t, uint64_t n_agents, uint64_t seed)
{
	t->n_agents = n_agents < TRAFFIC_AGENTS_MAX ? n_agents : TRAFFIC_AGENTS_MAX;
	for (uint64_t a = 0; a <= t->n_agents; a++) {
		t->random[a] = (seed * 1024 + a) * 0x9e3779b97f4a7c15u + 1;
		for (int i = 0; i < 8; i++) /* neighbours' first numbers are alike */
			draw(t, a, 2);
	}
}

/* 0 … n-1, the i-th as likely as 1 / (i + 1) by and large (Zipf). */
static uint64_t
draw_skewed(struct traffic *t, uint64_t agent, uint64_t n)
{
	double u = (double)draw(t, agent, 1 << 30) / (1 << 30);

	return (uint64_t)(pow((double)n + 1, u) - 1) % n;
}

static uint32_t
host_address(uint64_t agent, uint64_t port, uint64_t host)
{
	return (uint32_t)(10u << 24 | agent << 14 | port << 8 | (host + 1));
}

static uint32_t
any_host(struct traffic *t, uint64_t agent)
{
	uint64_t hosts = t->n_agents * TRAFFIC_PORTS * TRAFFIC_HOSTS;
	uint64_t s = draw(t, agent, 2) ? draw_skewed(t, agent, SERVERS)
					       : draw(t, agent, hosts);

	return host_address(1 + s * 7 % t->n_agents, 1 + s / t->n_agents % TRAFFIC_PORTS,
	    s % TRAFFIC_HOSTS);
}

static uint32_t
outside_host(struct traffic *t, uint64_t agent)
{
	return 0xcb000000u + (uint32_t)draw_skewed(t, agent, TRAFFIC_OUTSIDE);
}

static bool
is_gateway(uint64_t agent, uint64_t port)
{
	return port == TRAFFIC_PORTS && agent <= GATEWAYS;
}

static void
make_flow(struct traffic *t, uint64_t agent, uint64_t port, struct flow *f)
{
	static const uint16_t services[] = {443, 53, 80, 22, 445, 3306, 123, 993, 8080, 5432};
	bool outside = is_gateway(agent, port);
	double u;

	f->src = outside ? outside_host(t, agent)
			 : host_address(agent, port, draw_skewed(t, agent, TRAFFIC_HOSTS));
	f->dst = !outside && draw(t, agent, 3) == 0 ? outside_host(t, agent)
							    : any_host(t, agent);
	f->dst_port = services[draw_skewed(t, agent, sizeof(services) / sizeof(services[0]))];
	f->src_port = (uint16_t)(32768 + draw(t, agent, 28000));
	f->ip_proto = f->dst_port == 53 || f->dst_port == 123 ? 17 : 6;
	u = (double)draw(t, agent, 1 << 20) / (1 << 20);
	f->n = (uint32_t)(1 / pow(1 - u, 0.8));
	f->n = f->n > 5000 ? 5000 : f->n;
	f->octets = draw(t, agent, 2) ? 1518 : 64 + (uint32_t)draw(t, agent, 1400);
}

bool
traffic_next(struct traffic *t, uint64_t agent, uint64_t port, struct traffic_minute *m)
{
	bool outside = is_gateway(agent, port);
	struct store_sums *all = &m->sums;

	if (draw(t, agent, 24) >= MINUTES_A_DAY && !outside)
		return false;
	m->n = outside ? TRAFFIC_FLOWS_MAX : 1 + (unsigned)draw(t, agent, 2 * FLOWS - 1);
	*all = (struct store_sums){0};
	for (unsigned i = 0; i < m->n; i++) {
		struct store_sums s;

		make_flow(t, agent, port, &m->flows[i]);
		s = flow_sums(&m->flows[i]);
		*all = (struct store_sums){all->n + s.n, all->w + s.w, all->w2 + s.w2,
		    all->wb + s.wb, all->wb2 + s.wb2, all->w2b2 + s.w2b2};
	}
	m->pool_pkts = (uint64_t)all->w + draw(t, agent, TRAFFIC_SKIP);
	m->pool_octets = (uint64_t)all->wb + draw(t, agent, 64 * TRAFFIC_SKIP);
	return true;
}

/* ---- as the store has it ---- */

struct store_sums
flow_sums(const struct flow *f)
{
	double n = f->n, w = TRAFFIC_SKIP, b = f->octets;

	return (struct store_sums){f->n, n * w, n * w * w, n * w * b, n * w * b * b,
	    n * w * w * b * b};
}

static void
put_key(struct flow_key *k, uint8_t kind, const void *key1, const void *key2, uint8_t octets)
{
	*k = (struct flow_key){.kind = kind, .octets1 = octets, .octets2 = key2 ? octets : 0};
	memcpy(k->key1, key1, octets);
	if (key2)
		memcpy(k->key2, key2, octets);
}

void
flow_keys(const struct flow *f, struct flow_key keys[TRAFFIC_KEYS])
{
	uint8_t mac[2][6] = {{2, 0}, {2, 0}}, ip[2][7], service[3];

	traffic_put(ip[0], f->src, 4);
	traffic_put(ip[1], f->dst, 4);
	memcpy(mac[0] + 2, ip[0], 4);
	memcpy(mac[1] + 2, ip[1], 4);
	put_key(&keys[0], STORE_KEY_ETH_PAIR, mac[0], mac[1], 6);
	put_key(&keys[1], STORE_KEY_IP_PAIR, ip[0], ip[1], 4);
	put_key(&keys[2], STORE_KEY_ETHERTYPE, "\x08", NULL, 2);
	put_key(&keys[3], STORE_KEY_IP_PROTO, &f->ip_proto, NULL, 1);
	service[0] = f->ip_proto;
	traffic_put(service + 1, f->dst_port, 2);
	put_key(&keys[4], STORE_KEY_SERVER_PORT, service, NULL, 3);
	traffic_put(ip[0] + 4, f->src_port, 2);
	traffic_put(ip[1] + 4, f->dst_port, 2);
	ip[0][6] = ip[1][6] = f->ip_proto;
	put_key(&keys[5], STORE_KEY_CONVERSATION, ip[0], ip[1], 7);
}

void
traffic_put(uint8_t *at, uint64_t value, int octets)
{
	for (int i = 0; i < octets; i++)
		at[i] = (uint8_t)(value >> 8 * (octets - 1 - i));
}

void
traffic_put_header(const struct flow *f, uint8_t h[TRAFFIC_HEADER_OCTETS])
{
	memset(h, 0, TRAFFIC_HEADER_OCTETS);
	h[0] = h[6] = 2;
	traffic_put(h + 2, f->dst, 4);
	traffic_put(h + 8, f->src, 4);
	traffic_put(h + 12, 0x0800, 2);
	h[14] = 0x45;
	traffic_put(h + 16, f->octets - 18, 2);
	h[22] = 64;
	h[23] = f->ip_proto;
	traffic_put(h + 26, f->src, 4);
	traffic_put(h + 30, f->dst, 4);
	traffic_put(h + 34, f->src_port, 2);
	traffic_put(h + 36, f->dst_port, 2);
}

void
traffic_agent_id(uint64_t agent, uint8_t id[8])
{
	memset(id, 0, 8);
	memcpy(id, "\xea\x05", 2);
	traffic_put(id + 2, 0xe000 + agent, 2);
}
