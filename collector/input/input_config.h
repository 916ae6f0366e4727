/*
 * What the input is configured with, and the counters that all its threads add to. input.h,
 * admission.h and receiver_threads.h share it; nothing else needs it by itself.
 */
#ifndef EASE_COLLECTOR_INPUT_INPUT_CONFIG_H
#define EASE_COLLECTOR_INPUT_INPUT_CONFIG_H

#include "collector/input/forward.h"
#include "collector/input/refused_senders.h"
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
	INPUT_STAT_IGNORED_NOTIFICATIONS,
	INPUT_STAT_REFUSED_VALUE,
	INPUT_STAT_REFUSED_PARTS,
	INPUT_STAT_REFUSED_TOO_MANY,
	INPUT_STAT_OVER_SHARE,
	INPUT_STAT_READ_ERRORS,
	INPUT_STAT_ACCOUNTING_BEHIND,
	INPUT_STAT_REFUSED_UNNAMED,
	INPUT_N_STATS,
};

/* Everything is borrowed until input_close. */
struct input_config {
	const struct endpoint *listen;
	size_t n_listen; /* 0: no sockets, only input_take */
	const struct endpoint *sflow_listen;
	size_t n_sflow_listen; /* 0: no sFlow sockets, only input_take_sflow */
	struct sflow_accounting accounting; /* what sFlow asks */
	uint64_t seed; /* random: strangers must not be able to predict our hashes */
	const struct prefix *senders; /* the allow-list */
	size_t n_senders; /* 0: no sender is allowed */
	const char *const *communities;
	size_t n_communities; /* 0: none is allowed */
	unsigned allowed_since; /* set by the input: how often input_allow was called */
	size_t buffer_octets;
	unsigned threads; /* that receive and decode; 0 or 1: the caller's thread does */
	const struct clock *clock;
	ease_record_sink *sink;
	void *sink_arg;
	struct slow_path *slow_path; /* NULL: SNMPv3, informs and events are refused */
	struct refused_senders *refused; /* NULL: who is refused is only logged */
	struct forward *forward; /* gets each sFlow datagram of an allowed sender; NULL: nobody does */
};

#endif
