/*
 * What the input is configured with, and the counters that all its threads add to. input.h,
 * admission.h and receiver_threads.h share it; nothing else needs it by itself.
 */
#ifndef EASE_COLLECTOR_INPUT_INPUT_CONFIG_H
#define EASE_COLLECTOR_INPUT_INPUT_CONFIG_H

#include "collector/input/sflow_input.h"
#include "collector/input/slow_path.h"
#include "collector/record.h"
#include "common/clock.h"
#include "common/endpoint.h"
#include "common/stat.h"

enum input_stat_id {
	INPUT_STAT_DATAGRAMS,
	INPUT_STAT_NOTIFICATIONS,
	INPUT_STAT_RECORDS,
	INPUT_STAT_IGNORED_VARBINDS,
	INPUT_STAT_KERNEL_DROPS,
	INPUT_STAT_REFUSED_SENDER,
	INPUT_STAT_REFUSED_OVERSIZE,
	INPUT_STAT_REFUSED_PARSE,
	INPUT_STAT_REFUSED_VERSION,
	INPUT_STAT_REFUSED_COMMUNITY,
	INPUT_STAT_REFUSED_PDU,
	INPUT_STAT_REFUSED_FOREIGN,
	INPUT_STAT_REFUSED_VALUE,
	INPUT_STAT_REFUSED_PARTS,
	INPUT_STAT_REFUSED_TOO_MANY,
	INPUT_STAT_OVER_SHARE,
	INPUT_STAT_READ_ERRORS,
	INPUT_STAT_ACCOUNTING_BEHIND,
	INPUT_N_STATS,
};

/* Everything is borrowed as long as the input lives. */
struct input_config {
	const struct endpoint *listen;
	size_t n_listen; /* 0: no sockets, input_take only */
	const struct endpoint *sflow_listen;
	size_t n_sflow_listen; /* 0: no sFlow from the network, input_take_sflow only */
	sflow_known_boot *known_boot; /* may be NULL; called with sink_arg */
	uint64_t seed; /* of hashes that strangers must not foresee */
	const struct prefix *senders;
	size_t n_senders; /* 0: nobody may send */
	const char *const *communities;
	size_t n_communities; /* 0: none is right */
	unsigned allowed_since; /* the input's own: how often input_allow was called */
	size_t buffer_octets;
	unsigned threads; /* that receive and decode; up to 1: the caller's */
	const struct clock *clock;
	ease_record_sink *sink;
	void *sink_arg;
	struct slow_path *slow_path; /* takes v3, informs and events; NULL: they are refused */
};

#endif
