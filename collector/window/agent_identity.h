/*
 * Who may speak for an agent. An easeAgentId is no secret, so a record counts only if it comes from
 * the source that its agent is known by:
 *
 *   SNMPv3 trap     the engine ID, "0x80001f88…"
 *   SNMPv3 inform   the user and the address, "switch@192.0.2.7", because its engine is ours
 *   SNMPv2c, sFlow  the sender's address, "192.0.2.7"
 *
 * The first source that is heard for an agent is bound to it. After that
 *   - the same source is accepted;
 *   - a proven one is accepted and bound: the engine ID that easeagentd makes of its easeAgentId;
 *   - of an agent that a row "source" of the file device_names names only what stands there is accepted besides,
 *     and bound;
 *   - a better one is accepted and bound: SNMPv3 from the address that is bound;
 *   - so is one that such a row allows for any agent, but no address where SNMPv3 is bound;
 *   - any other is foreign, and refused.
 * sFlow and EASE never speak for one agent, as their ids have different forms. An sFlow switch whose address another one
 * stated before it was heard itself is another agent, by its sender, too (sflow_input.c), and the one that stated it is
 * foreign from then on. No I/O and no time
 * but the arguments.
 */
#ifndef EASE_COLLECTOR_WINDOW_AGENT_IDENTITY_H
#define EASE_COLLECTOR_WINDOW_AGENT_IDENTITY_H

#include "collector/record.h"
#include "collector/store/batch.h"
#include "common/endpoint.h"
#include "common/made_id.h"

/* What stands in a row "source": "AGENT-ID SOURCE", or "any SOURCE" for all agents. */
struct agent_source_rule {
	bool any;
	uint8_t agent_id[EASE_AGENT_ID_LEN];
	bool is_prefix; /* else an engine ID, or user and address, as text */
	struct prefix prefix;
	char text[STORE_SOURCE_TEXT];
};

/* Reads such a row. 0, or -EINVAL with *reason in static storage. */
int agent_source_parse(const char *text, struct agent_source_rule *rule, const char **reason);

/* For option rows: NULL if good, else the reason. */
const char *agent_source_check(const char *text);

struct agent_source_rules {
	const struct agent_source_rule *rules; /* borrowed */
	size_t n;
};

/* What is known of one agent. */
struct agent_identity {
	char bound[STORE_SOURCE_TEXT]; /* "": none yet */
	char heard[STORE_SOURCE_TEXT]; /* the source accepted last; "": decide anew */
	uint64_t bound_us;	       /* since when, by the collector's clock */
	bool bound_unwritten;	       /* bound is not in the store yet */
	bool displaced; /* of sFlow: the switch whose address it states was heard itself, as another agent */
	/* What was refused in the agent's name; n 0: nothing. */
	struct {
		uint64_t n; /* records */
		char source[STORE_SOURCE_TEXT]; /* of the newest */
		uint8_t reason;			/* of the newest, enum store_refusal */
		uint64_t first_us, last_us;	/* by the collector's clock */
		bool unwritten;
	} refused;
};

/* Whether the id has the form of ids of records of this kind: what the collector makes of sFlow names no EASE agent,
 * and nothing else names one of sFlow (common/made_id.h). */
static inline bool
agent_identity_fits(const struct ease_record *r)
{
	return made_id_kind(r->agent_id) == (r->loose_numbers ? MADE_ID_SFLOW : MADE_ID_NONE);
}

/* As whom the record's sender is known. */
static inline const char *
agent_identity_source(const struct ease_record *r)
{
	return r->source ? r->source : r->sender;
}

enum agent_identity_verdict {
	AGENT_IDENTITY_KNOWN,	/* may speak for the agent */
	AGENT_IDENTITY_BIND,	/* the same, and is to be bound */
	AGENT_IDENTITY_FOREIGN, /* may not */
	AGENT_IDENTITY_CLAIMED, /* may not: sFlow from the agent's own address, which another source stated before */
};

/* Judges the source of a record of that agent; changes nothing. */
enum agent_identity_verdict agent_identity_judge(const struct agent_identity *identity,
    const struct agent_source_rules *rules, const struct ease_record *r);

/* Binds the record's source to the agent. */
void agent_identity_bind(struct agent_identity *identity, const struct ease_record *r);

/* Notes that a record in the agent's name was refused. */
void agent_identity_refuse(struct agent_identity *identity, const struct ease_record *r, enum store_refusal reason);

#endif
