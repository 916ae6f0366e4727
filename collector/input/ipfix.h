/*
 * Reads IPFIX messages (RFC 7011) for one thing: samples of packets, that is data records with the first octets of a
 * frame (element 315, dataLinkFrameSection, RFC 7133) or of a packet (313, RFC 5477), as Juniper's inline monitoring
 * and Cisco's IPFIX 315 send them. Each becomes what a flow sample of sFlow is. Records of flows, and those of options
 * that say nothing of sampling, are stepped over, and counted.
 *
 * The rate, one frame in so many, is in the record, or in one of options, of a selector (302, 48) or of all. Templates
 * and rates are kept for each observation domain of a sender. The table of templates has a fixed size: who makes room
 * when it is full says common/lru_table.h, an owner being a sender; a template that was not sent again for
 * IPFIX_TEMPLATE_LASTS_US is used no more (RFC 7011, section 8.4). Withdrawals are not done over UDP, so they change
 * nothing. No I/O; one thread.
 */
#ifndef EASE_COLLECTOR_INPUT_IPFIX_H
#define EASE_COLLECTOR_INPUT_IPFIX_H

#include "common/buf.h"
#include "common/sflow_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	IPFIX_PORT = 4739, /* IANA */
	IPFIX_TEMPLATES_MAX = 4096,
	IPFIX_FIELDS_MAX = 48, /* of a template; those not read, next to each other, are one */
	IPFIX_SAMPLERS_MAX = 16, /* whose rates are kept for a domain */
	IPFIX_RECENT = 8, /* messages */
};
#define IPFIX_TEMPLATE_LASTS_US 7200000000ull /* exporters send them each 1 to 30 minutes. *assumed* */

/* What must be remembered of an observation domain beside its templates; zeros are the start. */
struct ipfix_domain {
	uint32_t export_s; /* of the newest message */
	uint32_t n_others; /* data records that were no samples, which have numbers as well */
	uint32_t recent[IPFIX_RECENT]; /* numbers of messages, by which one that comes again is known */
	uint8_t n_recent;
	bool is_incomplete; /* how many records the newest message has is not known */
	uint8_t n_samplers;
	struct ipfix_sampler {
		uint64_t selector; /* 0: all that name none, or one that is not known */
		uint32_t rate;
	} samplers[IPFIX_SAMPLERS_MAX];
};

struct ipfix_templates;

/* seed makes the hash unpredictable. 0 or -ENOMEM. */
int ipfix_templates_new(struct ipfix_templates **out, uint64_t seed);
void ipfix_templates_free(struct ipfix_templates *t); /* NULL allowed */

enum ipfix_count {
	IPFIX_COUNT_TEMPLATES,
	IPFIX_COUNT_TEMPLATES_REFUSED, /* with too many fields, or of no length */
	IPFIX_COUNT_TEMPLATES_FULL,
	IPFIX_COUNT_NO_TEMPLATE, /* sets */
	IPFIX_COUNT_FLOWS,	 /* records */
	IPFIX_COUNT_EXCEPTIONS,	 /* samples of frames that the device discarded, and chose for that */
	IPFIX_COUNT_SAMPLERS_FULL,
	IPFIX_N_COUNTS,
};

struct ipfix_message {
	uint32_t export_s, sequence, domain; /* sequence: data records before this message, of the domain */
	/* Who sent it, for its templates: a number of its domain that no other has, and the sender's */
	uint64_t session, owner;
	uint64_t received_us;
	struct ipfix_domain *state;
	struct rbuf sets, set; /* not yet read */
	const struct ipfix_template *template; /* of the set that is being read; NULL: it has no records */
	uint32_t n_records; /* read so far */
	uint32_t counts[IPFIX_N_COUNTS];
};

bool ipfix_is(const void *octets, size_t n);

/* Reads the message's own fields; octets are borrowed. False: it is none. The caller sets session to state then. */
bool ipfix_open(struct ipfix_message *m, const void *octets, size_t n);

/* Reads on to the next sample, and keeps templates and rates on the way. SFLOW_OK; SFLOW_END; SFLOW_BAD_SAMPLE: a record
 * ends beyond its set, the caller may go on; SFLOW_BAD_SAMPLE_LENGTH: nothing more can be read. A sample's numbers are
 * those of the domain's records, without those that are no samples; its rate is 0 if nothing has said one. */
enum sflow_verdict ipfix_next(struct ipfix_templates *t, struct ipfix_message *m, struct sflow_flow *flow);

#endif
