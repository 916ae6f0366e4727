#include "agent/sampling/sflow_export.h"

#include "common/frame.h"
#include "common/log.h"
#include "common/sflow_wire.h"
#include "common/sorted.h"
#include "common/udp_out.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
	/* The smallest sample, of a frame header of 14 octets, takes 80 octets. */
	MAX_OPEN_SAMPLES = SFLOW_DATAGRAM_DEFAULT / 80,
	MAX_SOURCES = HAL_MAX_PORTS + 1, /* 0:0 is that of dropped packets without a port, as in hsflowd */
};

static const struct stat_name stat_names[SFLOW_EXPORT_N_STATS] = {
    [SFLOW_EXPORT_DATAGRAMS] = {"sflow.datagrams", "datagrams sent, one for each collector"},
    [SFLOW_EXPORT_SAMPLES] = {"sflow.samples", "flow samples sent to at least one collector"},
    [SFLOW_EXPORT_COUNTERS] = {"sflow.counters", "counter samples sent to at least one collector"},
    [SFLOW_EXPORT_DISCARDS] = {"sflow.discards", "events of dropped packets sent to at least one collector"},
    [SFLOW_EXPORT_KERNEL_REFUSED] = {"sflow.kernel_refused", "datagrams that the kernel refused, one for each collector"},
    [SFLOW_EXPORT_SAMPLES_LOST] = {"sflow.samples_lost", "flow samples in datagrams that the kernel refused for every collector"},
    [SFLOW_EXPORT_DISCARDS_LOST] = {"sflow.discards_lost",
	"events of dropped packets in datagrams that the kernel refused for every collector"},
    [SFLOW_EXPORT_UNREACHABLE] = {"sflow.unreachable",
	"times a collector's host answered that nothing listens on the port"},
    [SFLOW_EXPORT_NO_PORT] = {"sflow.no_port",
	"samples, counters and events left out because there are too many ports"},
};

/* One data source. */
struct data_source {
	uint32_t if_index;
	uint32_t last_sequence; /* of the newest sample passed to sflow_export_sample */
	uint32_t drops;
	uint64_t pool_pkts[2]; /* of its newest samples, by their direction */
	uint32_t counters_sequence;
	uint32_t discards_sequence, discards_untold;
	uint64_t discontinuity_us;
};

struct sflow_export {
	struct sflow_export_options options;
	struct udp_out outs[SFLOW_COLLECTORS_MAX];
	size_t n_outs;
	struct sflow_agent agent;
	uint64_t start_us; /* monotonic */
	uint32_t sequence; /* of datagrams */
	struct data_source *sources; /* by rising if_index */
	size_t n_sources;
	bool open;
	struct sflow_writer writer;
	uint32_t open_samples[MAX_OPEN_SAMPLES]; /* if_index of each */
	unsigned n_open_samples, n_open_counters, n_open_discards;
	uint8_t datagram[SFLOW_DATAGRAM_DEFAULT];
	struct stat_set stats;
	_Atomic uint64_t values[SFLOW_EXPORT_N_STATS];
};

/* ---- addresses ---- */

static bool
export_parse_agent(const char *text, struct sflow_agent *agent)
{
	if (inet_pton(AF_INET, text, agent->address) == 1)
		agent->type = SFLOW_ADDRESS_IP4;
	else if (inet_pton(AF_INET6, text, agent->address) == 1)
		agent->type = SFLOW_ADDRESS_IP6;
	else
		return false;
	return true;
}

const char *
sflow_export_check_address(const char *text)
{
	struct sflow_agent agent;

	return *text == '\0' || export_parse_agent(text, &agent) ? NULL : "not an IPv4 or IPv6 address";
}

/* Finds the address that the socket's datagrams are sent from. */
static void
own_address(int fd, struct sflow_agent *agent)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);

	getsockname(fd, (struct sockaddr *)&own, &len);
	if (own.ss_family == AF_INET) {
		agent->type = SFLOW_ADDRESS_IP4;
		memcpy(agent->address, &((struct sockaddr_in *)&own)->sin_addr, 4);
	} else if (own.ss_family == AF_INET6) {
		agent->type = SFLOW_ADDRESS_IP6;
		memcpy(agent->address, &((struct sockaddr_in6 *)&own)->sin6_addr, 16);
	}
}

/* ---- life cycle ---- */

static int
open_outs(struct sflow_export *e, const struct sflow_export_options *options, char *error, size_t error_size)
{
	for (size_t i = 0; i < options->n_collectors; i++) {
		int rc = e->n_outs < SFLOW_COLLECTORS_MAX ? 0 : -E2BIG;

		if (options->collectors[i][0] == '\0')
			continue;
		if (rc == 0)
			rc = udp_out_open(&e->outs[e->n_outs++], options->collectors[i]);
		if (rc < 0) {
			snprintf(error, error_size, "sflow_collector: %s: %s", options->collectors[i], strerror(-rc));
			return rc;
		}
	}
	return 0;
}

int
sflow_export_create(const struct sflow_export_options *options, struct sflow_export **out,
    char *error, size_t error_size)
{
	struct sflow_export *e = calloc(1, sizeof(*e));
	int rc;

	if (e == NULL) {
		snprintf(error, error_size, "sFlow: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	e->options = *options;
	e->stats = (struct stat_set){stat_names, SFLOW_EXPORT_N_STATS, e->values};
	e->start_us = clock_mono_us(options->clock);
	e->sources = calloc(MAX_SOURCES, sizeof(*e->sources));
	if (e->sources == NULL) {
		snprintf(error, error_size, "sFlow: %s", strerror(ENOMEM));
		rc = -ENOMEM;
	} else {
		rc = open_outs(e, options, error, error_size);
	}
	if (rc == 0 && options->agent_address != NULL && options->agent_address[0] != '\0' &&
	    !export_parse_agent(options->agent_address, &e->agent)) {
		snprintf(error, error_size, "sflow_agent_address: %s: %s", options->agent_address, strerror(EINVAL));
		rc = -EINVAL;
	}
	if (rc < 0) {
		sflow_export_destroy(e);
		return rc;
	}
	*out = e;
	return 0;
}

void
sflow_export_destroy(struct sflow_export *e)
{
	if (e == NULL)
		return;
	for (size_t i = 0; i < e->n_outs; i++)
		udp_out_close(&e->outs[i]);
	free(e->sources);
	free(e);
}

const struct stat_set *
sflow_export_stats(const struct sflow_export *e)
{
	return &e->stats;
}

/* ---- sources ---- */

static struct data_source *
find_source(struct sflow_export *e, uint32_t if_index)
{
	size_t i = SORTED_POSITION_OF(e->sources, e->n_sources, if_index, if_index);

	return i < e->n_sources && e->sources[i].if_index == if_index ? &e->sources[i] : NULL;
}

/* Returns the port's data source, and creates it if needed. NULL: there are too many. */
static struct data_source *
export_source_of(struct sflow_export *e, uint32_t if_index)
{
	struct data_source *source = find_source(e, if_index);

	if (source != NULL)
		return source;
	if (e->n_sources == MAX_SOURCES) {
		stat_add(&e->stats, SFLOW_EXPORT_NO_PORT, 1);
		return NULL;
	}
	source = &e->sources[SORTED_POSITION_OF(e->sources, e->n_sources, if_index, if_index)];
	assert(e->n_sources < MAX_SOURCES);
	memmove(source + 1, source, (e->n_sources++ - (size_t)(source - e->sources)) * sizeof(*source));
	*source = (struct data_source){.if_index = if_index};
	return source;
}

void
sflow_export_port_came(struct sflow_export *e, uint32_t if_index, uint32_t last_sequence)
{
	struct data_source *source = export_source_of(e, if_index);

	if (source != NULL)
		source->last_sequence = last_sequence;
}

void
sflow_export_port_left(struct sflow_export *e, uint32_t if_index)
{
	struct data_source *source = find_source(e, if_index);

	if (source != NULL)
		memmove(source, source + 1, (--e->n_sources - (size_t)(source - e->sources)) * sizeof(*source));
}

/* ---- datagrams ---- */

static void
open_datagram(struct sflow_export *e)
{
	uint64_t up_us = clock_mono_us(e->options.clock) - e->start_us;

	if (e->open)
		return;
	/* Tried again for each datagram, because a switch may have no route yet when its agent starts. */
	for (size_t i = 0; e->agent.type == SFLOW_ADDRESS_UNKNOWN && i < e->n_outs; i++)
		if (udp_out_connect(&e->outs[i]))
			own_address(e->outs[i].fd, &e->agent);
	sflow_begin(&e->writer, e->datagram, sizeof(e->datagram), &e->agent, ++e->sequence, (uint32_t)(up_us / 1000));
	e->open = true;
	e->n_open_samples = e->n_open_counters = e->n_open_discards = 0;
}

/* No collector gets the open datagram. */
static void
export_report_lost(struct sflow_export *e)
{
	stat_add(&e->stats, SFLOW_EXPORT_SAMPLES_LOST, e->n_open_samples);
	stat_add(&e->stats, SFLOW_EXPORT_DISCARDS_LOST, e->n_open_discards); /* the gap in their numbers tells */
	for (unsigned i = 0; i < e->n_open_samples; i++) {
		struct data_source *source = find_source(e, e->open_samples[i]);

		if (source != NULL)
			source->drops++;
		if (e->options.lost != NULL)
			e->options.lost(e->options.ctx, e->open_samples[i], 1);
	}
}

static bool
send_datagram(struct sflow_export *e, struct udp_out *out)
{
	bool unreachable;
	int rc = udp_out_send(out, e->datagram, sflow_octets(&e->writer), clock_mono_us(e->options.clock), &unreachable);
	char to[ENDPOINT_TEXT];

	if (unreachable)
		stat_add(&e->stats, SFLOW_EXPORT_UNREACHABLE, 1);
	stat_add(&e->stats, rc < 0 ? SFLOW_EXPORT_KERNEL_REFUSED : SFLOW_EXPORT_DATAGRAMS, 1);
	if (rc == 0)
		return true;
	endpoint_format((const struct sockaddr *)&out->to.address, true, to);
	log_warn_limited("sflow", "a datagram to %s with %u samples could not be sent: %s", to, e->n_open_samples,
	    strerror(-rc));
	return false;
}

void
sflow_export_flush(struct sflow_export *e)
{
	bool sent = false;

	if (!e->open)
		return;
	e->open = false;
	for (size_t i = 0; i < e->n_outs; i++)
		sent |= send_datagram(e, &e->outs[i]);
	if (!sent) {
		export_report_lost(e);
		return;
	}
	stat_add(&e->stats, SFLOW_EXPORT_SAMPLES, e->n_open_samples);
	stat_add(&e->stats, SFLOW_EXPORT_COUNTERS, e->n_open_counters);
	stat_add(&e->stats, SFLOW_EXPORT_DISCARDS, e->n_open_discards);
}

bool
sflow_export_waits(const struct sflow_export *e)
{
	return e->open;
}

/* ---- samples ---- */

/* Converts an interface of struct ease_sample. */
static struct sflow_if
export_interface_of(uint64_t ease_if)
{
	return (struct sflow_if){ease_if >= EASE_IF_MANY ? SFLOW_IF_MANY : SFLOW_IF_INDEX, (uint32_t)ease_if};
}

/* The outermost tag of the frame, if it has one. */
static void
add_vlan(const struct ease_sample *s, struct sflow_flow *flow)
{
	struct rbuf r = rbuf_of(s->header, s->kept_octets);
	uint16_t type, tag;

	rbuf_take(&r, (size_t)2 * FRAME_MAC_LEN);
	type = rbuf_be16(&r);
	tag = rbuf_be16(&r);
	if (r.failed || (type != 0x8100 && type != 0x88a8 && type != 0x9100 && type != 0x9200))
		return;
	flow->has_switch = true;
	flow->src_vlan = flow->dst_vlan = tag & 0xfff;
	flow->src_priority = flow->dst_priority = tag >> 13;
}

/* Frames of both directions. The snapshot may be a second old, and more on a busy machine: where only it told of the
 * other direction, the pool would stand, and then leap. */
static uint32_t
count_pool(struct data_source *source, const struct ease_sample *s, const struct ease_snapshot *snapshot)
{
	uint64_t *other = &source->pool_pkts[s->direction == EASE_IN];
	uint64_t *own = &source->pool_pkts[s->direction != EASE_IN];
	uint64_t told = s->direction == EASE_IN ? snapshot->pool_out_pkts : snapshot->pool_in_pkts;

	if (told > *other || s->pool_pkts < *own) /* they began anew */
		*other = told;
	*own = s->pool_pkts;
	return (uint32_t)(*own + *other);
}

static struct sflow_flow
flow_of(struct data_source *source, const struct ease_sample *s, const struct ease_snapshot *snapshot)
{
	bool in = s->direction == EASE_IN;
	struct sflow_flow flow = {
	    .sequence = s->sequence,
	    .source = {SFLOW_SOURCE_IF, s->if_index},
	    .rate = s->mean_skip,
	    .pool_pkts = count_pool(source, s, snapshot),
	    .drops = source->drops,
	    .input = export_interface_of(in ? s->if_index : s->input_if),
	    .output = export_interface_of(in ? s->output_if : s->if_index),
	    .has_header = true,
	    .header_protocol = SFLOW_ETHERNET,
	    .frame_octets = s->frame_octets,
	    .stripped_octets = FRAME_FCS_OCTETS,
	    .way = s->way ? *s->way : (struct ease_way){0},
	    .kept_octets = s->kept_octets,
	    .header = s->header,
	};

	/* The source alone decides, because it must not change between compact and expanded form. In
	 * the compact form, an output that is too large becomes unknown. */
	flow.expanded = !sflow_source_fits_compact(&flow.source);
	if (!flow.expanded && !sflow_if_fits_compact(&flow.input))
		flow.input = (struct sflow_if){0};
	if (!flow.expanded && !sflow_if_fits_compact(&flow.output))
		flow.output = (struct sflow_if){0};
	return flow;
}

void
sflow_export_sample(struct sflow_export *e, const struct ease_sample *sample, const struct ease_snapshot *snapshot)
{
	struct data_source *source = export_source_of(e, sample->if_index);
	struct sflow_flow flow;

	if (source == NULL)
		return;
	/* Sample numbers since the source's last sample that were never passed here are drops, too. */
	source->drops += sample->sequence - source->last_sequence - 1;
	source->last_sequence = sample->sequence;
	flow = flow_of(source, sample, snapshot);
	add_vlan(sample, &flow);
	open_datagram(e);
	if (e->n_open_samples == MAX_OPEN_SAMPLES || sflow_add_flow(&e->writer, &flow) < 0) {
		sflow_export_flush(e);
		open_datagram(e);
		flow.drops = source->drops; /* the flush may have lost some */
		sflow_add_flow(&e->writer, &flow); /* an empty datagram has room for one */
	}
	assert(e->open && e->n_open_samples < MAX_OPEN_SAMPLES);
	e->open_samples[e->n_open_samples++] = sample->if_index;
}

/* ---- dropped packets ---- */

static struct sflow_text
export_text_of(const char *text)
{
	return (struct sflow_text){text, (uint32_t)strlen(text)};
}

static struct sflow_flow
discard_of(const struct data_source *source, const struct ease_drop *drop)
{
	return (struct sflow_flow){
	    .sequence = source->discards_sequence,
	    .source = {SFLOW_SOURCE_IF, source->if_index},
	    .drops = source->discards_untold,
	    .input = {SFLOW_IF_INDEX, drop->if_index},
	    .reason = drop->reason,
	    .has_header = drop->kept_octets > 0,
	    .header_protocol = SFLOW_ETHERNET,
	    .frame_octets = drop->frame_octets,
	    .stripped_octets = FRAME_FCS_OCTETS,
	    .kept_octets = drop->kept_octets,
	    .header = drop->header,
	};
}

void
sflow_export_drop(struct sflow_export *e, const struct ease_drop *drop)
{
	struct data_source *source = export_source_of(e, drop->if_index);
	bool by_chip = drop->group[0] != '\0';
	struct sflow_discard why = {
	    .function = export_text_of(drop->place),
	    .group = export_text_of(drop->group),
	    .trap = export_text_of(by_chip ? drop->detail : ""),
	    .cause = export_text_of(by_chip ? "" : drop->detail),
	};
	struct sflow_flow flow;

	if (source == NULL)
		return;
	source->discards_sequence++;
	flow = discard_of(source, drop);
	open_datagram(e);
	if (sflow_add_discard(&e->writer, &flow, &why) < 0) {
		sflow_export_flush(e);
		open_datagram(e);
		sflow_add_discard(&e->writer, &flow, &why); /* an empty datagram has room for one */
	}
	e->n_open_discards++;
}

void
sflow_export_drops_untold(struct sflow_export *e, uint32_t if_index, uint64_t n)
{
	struct data_source *source = export_source_of(e, if_index);

	if (source != NULL)
		source->discards_untold += (uint32_t)n;
}

/* ---- counters ---- */

/* The HAL's figure for each counter of sFlow. */
struct figure_field {
	enum hal_figure figure;
	uint16_t offset;
	bool hyper;
};

static const struct figure_field interface_figures[] = {
    {HAL_IN_OCTETS, offsetof(struct sflow_if_counters, in_octets), true},
    {HAL_IN_UCAST_PKTS, offsetof(struct sflow_if_counters, in_ucast_pkts), false},
    {HAL_IN_MCAST_PKTS, offsetof(struct sflow_if_counters, in_mcast_pkts), false},
    {HAL_IN_BCAST_PKTS, offsetof(struct sflow_if_counters, in_bcast_pkts), false},
    {HAL_IN_DISCARDS, offsetof(struct sflow_if_counters, in_discards), false},
    {HAL_IN_ERRORS, offsetof(struct sflow_if_counters, in_errors), false},
    {HAL_IN_UNKNOWN_PROTOS, offsetof(struct sflow_if_counters, in_unknown_protos), false},
    {HAL_OUT_OCTETS, offsetof(struct sflow_if_counters, out_octets), true},
    {HAL_OUT_UCAST_PKTS, offsetof(struct sflow_if_counters, out_ucast_pkts), false},
    {HAL_OUT_MCAST_PKTS, offsetof(struct sflow_if_counters, out_mcast_pkts), false},
    {HAL_OUT_BCAST_PKTS, offsetof(struct sflow_if_counters, out_bcast_pkts), false},
    {HAL_OUT_DISCARDS, offsetof(struct sflow_if_counters, out_discards), false},
    {HAL_OUT_ERRORS, offsetof(struct sflow_if_counters, out_errors), false},
};

#define ETHERNET_FIGURE(figure, member)                                                            \
	{figure, offsetof(struct sflow_ethernet_counters, member), false}

static const struct figure_field ethernet_figures[] = {
    ETHERNET_FIGURE(HAL_ALIGNMENT_ERRORS, alignment_errors),
    ETHERNET_FIGURE(HAL_FCS_ERRORS, fcs_errors),
    ETHERNET_FIGURE(HAL_SINGLE_COLLISIONS, single_collisions),
    ETHERNET_FIGURE(HAL_MULTIPLE_COLLISIONS, multiple_collisions),
    ETHERNET_FIGURE(HAL_SQE_TEST_ERRORS, sqe_test_errors),
    ETHERNET_FIGURE(HAL_DEFERRED, deferred),
    ETHERNET_FIGURE(HAL_LATE_COLLISIONS, late_collisions),
    ETHERNET_FIGURE(HAL_EXCESSIVE_COLLISIONS, excessive_collisions),
    ETHERNET_FIGURE(HAL_MAC_TX_ERRORS, mac_tx_errors),
    ETHERNET_FIGURE(HAL_CARRIER_SENSE_ERRORS, carrier_sense_errors),
    ETHERNET_FIGURE(HAL_FRAME_TOO_LONGS, frame_too_longs),
    ETHERNET_FIGURE(HAL_MAC_RX_ERRORS, mac_rx_errors),
    ETHERNET_FIGURE(HAL_SYMBOL_ERRORS, symbol_errors),
};

#define FIGURES(table) (table), sizeof(table) / sizeof((table)[0])

/* A counter that the device does not have is all ones, as sFlow v5 requires. */
static void
fill_figures(const struct figure_field *fields, size_t n, const struct hal_counters *counters, void *record)
{
	for (size_t i = 0; i < n; i++) {
		bool known = counters->known >> fields[i].figure & 1;
		uint64_t hyper = known ? counters->value[fields[i].figure] : SFLOW_UNKNOWN64;
		uint32_t word = (uint32_t)hyper;

		if (fields[i].hyper)
			memcpy((uint8_t *)record + fields[i].offset, &hyper, sizeof(hyper));
		else
			memcpy((uint8_t *)record + fields[i].offset, &word, sizeof(word));
	}
}

static uint32_t
export_direction_of(uint8_t duplex)
{
	return duplex == EASE_DUPLEX_FULL ? 1 : duplex == EASE_DUPLEX_HALF ? 2 : 0;
}

static struct sflow_counters
counters_of(const struct hal_port *port)
{
	struct sflow_counters c = {
	    .source = {SFLOW_SOURCE_IF, port->if_index},
	    .has_interface = true,
	    .has_ethernet = true,
	    .aggregate = port->lag_parent,
	    .interface = {
		.if_index = port->if_index,
		.if_type = port->if_type,
		.speed_bps = port->speed_bps,
		.direction = export_direction_of(port->duplex),
		.status = (port->admin_status == EASE_IF_UP ? SFLOW_STATUS_ADMIN_UP : 0) |
		    (port->oper_status == EASE_IF_UP ? SFLOW_STATUS_OPER_UP : 0),
		.promiscuous = 1, /* a switch port receives every frame */
	    },
	};

	c.expanded = !sflow_source_fits_compact(&c.source);
	fill_figures(FIGURES(interface_figures), &port->counters, &c.interface);
	fill_figures(FIGURES(ethernet_figures), &port->counters, &c.ethernet);
	return c;
}

void
sflow_export_counters(struct sflow_export *e, const struct hal_port *port)
{
	struct data_source *source = export_source_of(e, port->if_index);
	struct sflow_counters counters = counters_of(port);

	if (source == NULL)
		return;
	if (source->discontinuity_us != port->discontinuity_us)
		source->counters_sequence = 0;
	source->discontinuity_us = port->discontinuity_us;
	counters.sequence = ++source->counters_sequence;
	open_datagram(e);
	if (sflow_add_counters(&e->writer, &counters) < 0) {
		sflow_export_flush(e);
		open_datagram(e);
		sflow_add_counters(&e->writer, &counters);
	}
	e->n_open_counters++;
}
