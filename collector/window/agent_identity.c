#include "collector/window/agent_identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The engine IDs of easeagentd: this, and its easeAgentId (agent/snmp/usm.c). */
#define OWN_ENGINE "0x80001f8805"
enum { OWN_ENGINE_TEXT = sizeof(OWN_ENGINE) - 1 + 2 * EASE_AGENT_ID_LEN };

static const char hex_digits[] = "0123456789abcdefABCDEF";

/* Rows "source" */

static int
hex_octet(const char *text)
{
	unsigned octet;

	return strspn(text, hex_digits) >= 2 && sscanf(text, "%2x", &octet) == 1 ? (int)octet : -1;
}

static const char *
identity_parse_agent(const char *text, size_t n, struct agent_source_rule *rule)
{
	rule->any = n == 3 && strncmp(text, "any", 3) == 0;
	if (rule->any)
		return NULL;
	if (n != 2 * EASE_AGENT_ID_LEN || strspn(text, hex_digits) != n)
		return "it must begin with an agent's id, 16 hexadecimal digits, or with \"any\"";
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		rule->agent_id[i] = (uint8_t)hex_octet(text + 2 * i);
	return NULL;
}

static const char *
parse_source(const char *text, struct agent_source_rule *rule)
{
	const char *at = strchr(text, '@'), *reason = NULL;

	if (strlen(text) >= sizeof(rule->text))
		return "the source is too long";
	snprintf(rule->text, sizeof(rule->text), "%s", text);
	if (strncmp(text, "0x", 2) == 0)
		return text[2] && strspn(text + 2, hex_digits) == strlen(text + 2) ? NULL
			: "an engine ID must be 0x and hexadecimal digits";
	if (at)
		text = at + 1;
	rule->is_prefix = !at;
	return prefix_parse(text, &rule->prefix, &reason) == 0 ? NULL
	    : "the source must be ADDRESS, ADDRESS/BITS, an engine ID or USER@ADDRESS";
}

int
agent_source_parse(const char *text, struct agent_source_rule *rule, const char **reason)
{
	size_t n = strcspn(text, " \t");

	*rule = (struct agent_source_rule){0};
	*reason = identity_parse_agent(text, n, rule);
	if (!*reason)
		*reason = parse_source(text + n + strspn(text + n, " \t"), rule);
	return *reason ? -EINVAL : 0;
}

const char *
agent_source_check(const char *text)
{
	struct agent_source_rule rule;
	const char *reason;

	return agent_source_parse(text, &rule, &reason) < 0 ? reason : NULL;
}

/* Judging */

/* The address that the datagram came from. Of sFlow, the sender of a record is the agent's own
 * address. */
static const char *
identity_address_of(const struct ease_record *r)
{
	return r->loose_numbers && r->source ? r->source : r->sender;
}

static bool
rule_allows(const struct agent_source_rule *rule, const struct ease_record *r)
{
	return rule->is_prefix ? prefix_holds_text(&rule->prefix, identity_address_of(r))
			       : strcasecmp(rule->text, agent_identity_source(r)) == 0;
}

static bool
rule_names(const struct agent_source_rule *rule, const struct ease_record *r)
{
	return !rule->any && memcmp(rule->agent_id, r->agent_id, sizeof(rule->agent_id)) == 0;
}

static bool
is_engine(const char *source)
{
	return strncmp(source, "0x", 2) == 0;
}

static bool
is_own_engine(const char *source)
{
	return strlen(source) == OWN_ENGINE_TEXT && strncasecmp(source, OWN_ENGINE, sizeof(OWN_ENGINE) - 1) == 0;
}

/* By the engine ID that has the agent's id in it. */
static bool
is_proven(const struct ease_record *r)
{
	const char *source = agent_identity_source(r);

	if (r->loose_numbers || !is_own_engine(source))
		return false;
	for (size_t i = 0; i < EASE_AGENT_ID_LEN; i++)
		if (hex_octet(source + sizeof(OWN_ENGINE) - 1 + 2 * i) != r->agent_id[i])
			return false;
	return true;
}

/* SNMPv3, by an engine or by a user and an address. */
static bool
is_authentic(const char *source)
{
	return is_engine(source) || strchr(source, '@');
}

/* SNMPv3 from the address that is bound. */
static bool
is_better(const struct agent_identity *identity, const struct ease_record *r)
{
	const char *source = agent_identity_source(r);

	return !r->loose_numbers && is_authentic(source) && !is_own_engine(source) &&
	    strcmp(identity->bound, r->sender) == 0;
}

/* What the rules for any agent allow does not replace SNMPv3, bound or named, by an address. */
static bool
identity_is_allowed(const struct agent_identity *identity, const struct agent_source_rules *rules, const struct ease_record *r,
    bool *named)
{
	bool by_name = false, as_any = false, is_v3 = is_authentic(identity->bound);

	*named = false;
	for (const struct agent_source_rule *rule = rules->rules; rule < rules->rules + rules->n; rule++)
		if (rule_names(rule, r)) {
			*named = true;
			by_name |= rule_allows(rule, r);
			is_v3 |= !rule->is_prefix;
		} else if (rule->any) {
			as_any |= rule_allows(rule, r);
		}
	return by_name || (as_any && (!is_v3 || is_authentic(agent_identity_source(r))));
}

enum agent_identity_verdict
agent_identity_judge(const struct agent_identity *identity,
    const struct agent_source_rules *rules, const struct ease_record *r)
{
	const char *source = agent_identity_source(r);
	bool named, allowed = identity_is_allowed(identity, rules, r, &named) || is_proven(r);

	if (!agent_identity_fits(r) || (named && !allowed))
		return AGENT_IDENTITY_FOREIGN;
	if (strcmp(identity->bound, source) == 0)
		return identity->displaced && !allowed ? AGENT_IDENTITY_FOREIGN : AGENT_IDENTITY_KNOWN;
	if (allowed || is_better(identity, r))
		return AGENT_IDENTITY_BIND;
	if (!*identity->bound && !is_own_engine(source)) /* that of another agent */
		return AGENT_IDENTITY_BIND;
	return r->loose_numbers && strcmp(source, r->sender) == 0 ? AGENT_IDENTITY_CLAIMED : AGENT_IDENTITY_FOREIGN;
}

void
agent_identity_bind(struct agent_identity *identity, const struct ease_record *r)
{
	snprintf(identity->bound, sizeof(identity->bound), "%s", agent_identity_source(r));
	identity->bound_us = r->received_us;
	identity->bound_unwritten = true;
}

void
agent_identity_refuse(struct agent_identity *identity, const struct ease_record *r, enum store_refusal reason)
{
	if (identity->refused.n++ == 0)
		identity->refused.first_us = r->received_us;
	identity->refused.last_us = r->received_us;
	identity->refused.reason = (uint8_t)reason;
	identity->refused.unwritten = true;
	if (strcmp(identity->refused.source, agent_identity_source(r)) != 0)
		snprintf(identity->refused.source, sizeof(identity->refused.source), "%s", agent_identity_source(r));
}
