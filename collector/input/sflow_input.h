/*
 * Decodes sFlow v5 datagrams, and IPFIX messages with samples of packets (ipfix.h), into the same records that
 * notifications give, so that windows, store, accounting and reports need not tell them apart.
 *
 * A flow sample becomes a sample. Its direction is that of sflow_direction; of a source that is no interface
 * it is in, at the input interface (collector/source_port.h); rate_check_weight gives its weight;
 * its time is that of arrival, because sFlow carries none. Interface counters become a snapshot
 * with 64-bit totals, and a port state with the name and link aggregate that come in the same sample. What
 * says something of a frame is told in sflow_frame.h. Not used, only counted, are other records
 * (sflow_unread.h). An event of a discarded packet becomes a discard, which is never scaled.
 *
 * A datagram whose sender may not speak for its agent changes nothing here. Its samples and counters
 * are still passed on, for the accounting to refuse them and count them with the agent.
 *
 * An observation domain of IPFIX is a sub-agent of the device that sends it, and a data source that is no interface: its
 * samples lie where the frame came in, or left, and their numbers are the domain's. It sends no counters.
 *
 * What an agent states that cannot be (sflow_plausible.h) is not used, and told in a record of its own. Of a datagram
 * with a mistake in its structure all that can be read is used. One thread uses it.
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_INPUT_H
#define EASE_COLLECTOR_INPUT_SFLOW_INPUT_H

#include "collector/input/decode.h"
#include "collector/polled.h"
#include "common/sflow_wire.h"
#include "common/endpoint.h"
#include "common/stat.h"

enum sflow_stat_id {
	SFLOW_STAT_DATAGRAMS,
	SFLOW_STAT_DATAGRAMS_MISSING,
	SFLOW_STAT_DATAGRAMS_LATE,
	SFLOW_STAT_SAMPLES,
	SFLOW_STAT_COUNTERS,
	SFLOW_STAT_COUNTERS_OLD,
	SFLOW_STAT_COUNTERS_TWICE,
	SFLOW_STAT_DISCARDS,
	SFLOW_STAT_DISCARDS_AGAIN,
	SFLOW_STAT_UNKNOWN,
	SFLOW_STAT_NO_INTERFACE,
	SFLOW_STAT_NO_HEADER,
	SFLOW_STAT_NO_LENGTH,
	SFLOW_STAT_NO_RATE,
	SFLOW_STAT_LENGTH_MENDED,
	SFLOW_STAT_RATE_DIFFERS,
	SFLOW_STAT_FCS_ADDED,
	SFLOW_STAT_AGENT_RESTARTS,
	SFLOW_STAT_AGAIN,
	SFLOW_STAT_ODD,
	SFLOW_STAT_FOREIGN_SOURCE,
	SFLOW_STAT_REFUSED_VERSION,
	SFLOW_STAT_REFUSED_DATAGRAM,
	SFLOW_STAT_REFUSED_SAMPLE,
	SFLOW_STAT_AGENTS_FULL,
	SFLOW_STAT_PORTS_FULL,
	SFLOW_STAT_AGENTS_LEFT,
	SFLOW_STAT_PORTS_LEFT,
	/* in the order of enum ipfix_count */
	SFLOW_STAT_IPFIX_TEMPLATES,
	SFLOW_STAT_IPFIX_TEMPLATES_REFUSED,
	SFLOW_STAT_IPFIX_TEMPLATES_FULL,
	SFLOW_STAT_IPFIX_NO_TEMPLATE,
	SFLOW_STAT_IPFIX_FLOWS,
	SFLOW_STAT_IPFIX_EXCEPTIONS,
	SFLOW_STAT_IPFIX_SAMPLERS_FULL,
	SFLOW_STAT_TOO_MANY,
	SFLOW_N_STATS,
};

/* Returns the newest boot of an agent in the accounting; 0 if there is none. */
typedef uint32_t sflow_known_boot(void *arg, const uint8_t *agent_id);

/* Whether records of who->agent_id from who->source are accepted (accounting_judge). */
enum sflow_admission {
	SFLOW_ADMITTED,
	SFLOW_FOREIGN,
	SFLOW_CLAIMED, /* not with this id: another source that stated this sender's address has it */
};
typedef enum sflow_admission sflow_admits(void *arg, const struct ease_record *who);

/* Returns the highest sample number that a port of an agent's boot has in the accounting; 0 if there is none. */
typedef uint32_t sflow_known_number(void *arg, const uint8_t *agent_id, uint32_t boot, uint64_t if_index);

/* What sFlow asks of the accounting; each function may be NULL. */
struct sflow_accounting {
	sflow_known_boot *known_boot;
	sflow_admits *admits;
	sflow_known_number *known_number;
	void *arg;
	const struct prefix *shared; /* agent addresses that several devices state, beside those of
					sflow_address_is_shared; borrowed */
	size_t n_shared;
};

struct sflow_input;

/* 0 or -ENOMEM. */
int sflow_input_new(struct sflow_input **out, uint64_t seed, const struct sflow_accounting *accounting);
void sflow_input_free(struct sflow_input *in);

/* Decodes n octets into result (kind is not set); records borrow from octets and from in. */
enum sflow_verdict sflow_input_take(struct sflow_input *in, const void *octets, size_t n,
    const struct decode_origin *origin, struct decode_result *result);

/* Why the datagram that was taken last, or one of its samples, was refused; NULL: nothing of it was. */
const char *sflow_input_refusal(const struct sflow_input *in);

/* Tells of ports that may be asked, see sflow_place. */
bool sflow_input_place(const struct sflow_input *in, uint32_t place, uint64_t now_us, struct polled_place *to);

bool sflow_input_agent_of(const struct sflow_input *in, const struct polled_agent *polled, uint8_t id[EASE_AGENT_ID_LEN]);

/* Takes what a switch answered of a port: its counters as if the agent had sent them then, unless the agent does so
 * itself. The records are received now. False: that port is not there any more. */
bool sflow_input_take_polled(
    struct sflow_input *in, const struct polled_port *polled, uint64_t now_us, struct decode_result *result);

/* Has the sender of each agent judged anew, because the rules changed. */
void sflow_input_forget_sources(struct sflow_input *in);

/* The wall clock was set, see sflow_clock_set. */
void sflow_input_clock_set(struct sflow_input *in, int64_t by_us, uint64_t now_us);

const struct stat_set *sflow_input_stats(const struct sflow_input *in);
const struct stat_set *sflow_input_unread_stats(const struct sflow_input *in); /* sflow_unread.h */

#endif
