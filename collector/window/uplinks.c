#include "collector/window/uplinks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

static const char *
uplinks_parse_agent(const char *text, size_t n, struct uplink_rule *rule)
{
	char agent[ENDPOINT_TEXT];
	const char *reason;

	rule->any_agent = n == 3 && strncmp(text, "any", 3) == 0;
	if (rule->any_agent)
		return NULL;
	if (n < sizeof(agent)) {
		snprintf(agent, sizeof(agent), "%.*s", (int)n, text);
		if (prefix_parse(agent, &rule->agent, &reason) == 0)
			return NULL;
	}
	return "it must begin with an agent's ADDRESS or ADDRESS/BITS, or with \"any\"";
}

static bool
is_index(unsigned long number)
{
	return number > 0 && number <= UINT32_MAX; /* 2^31 - 1 by RFC 2863; some sFlow agents have more */
}

static const char *
parse_numbers(const char *text, struct uplink_rule *rule)
{
	const char *dash = strchr(text, '-');
	unsigned long from = strtoul(text, NULL, 10), to = dash ? strtoul(dash + 1, NULL, 10) : from;

	if (!is_index(from) || !is_index(to) || to < from)
		return "an ifIndex is from 1 to 4294967295, and a range begins with the smaller one";
	rule->from = (uint32_t)from;
	rule->to = (uint32_t)to;
	return NULL;
}

/* 49 or 49-52; all else is a pattern. */
static bool
are_numbers(const char *text)
{
	size_t n = strspn(text, digits), further = text[n] == '-' ? strspn(text + n + 1, digits) : 0;

	return n > 0 && (text[n] == '\0' || (further > 0 && text[n + 1 + further] == '\0'));
}

int
uplink_parse(const char *text, struct uplink_rule *rule, const char **reason)
{
	size_t n = strcspn(text, " \t");
	const char *port = text + n + strspn(text + n, " \t");

	*rule = (struct uplink_rule){0};
	*reason = uplinks_parse_agent(text, n, rule);
	if (!*reason && *port == '\0')
		*reason = "it must name a port: an ifIndex, a range of them, or a pattern of names";
	else if (!*reason && are_numbers(port))
		*reason = parse_numbers(port, rule);
	else if (!*reason && strlen(port) > EASE_NAME_MAX)
		*reason = "a port's name has at most 64 octets";
	else if (!*reason)
		snprintf(rule->pattern, sizeof(rule->pattern), "%s", port);
	return *reason ? -EINVAL : 0;
}

const char *
uplink_check(const char *text)
{
	struct uplink_rule rule;
	const char *reason;

	return uplink_parse(text, &rule, &reason) < 0 ? reason : NULL;
}

static bool
is_like(const struct uplink_rule *rule, const char *name)
{
	return *name && fnmatch(rule->pattern, name, FNM_CASEFOLD) == 0;
}

static bool
names_port(const struct uplink_rule *rule, const struct ease_state *state)
{
	if (rule->to > 0)
		return state->if_index >= rule->from && state->if_index <= rule->to;
	return is_like(rule, state->name) || is_like(rule, state->alias);
}

bool
uplinks_name(const struct uplink_rules *rules, const char *address, const struct ease_state *state,
    const struct ease_state *aggregate)
{
	const struct ease_state number_only = {.if_index = state->lag_parent};

	if (!aggregate)
		aggregate = &number_only;
	for (size_t i = 0; i < rules->n; i++) {
		const struct uplink_rule *rule = &rules->rules[i];

		if ((names_port(rule, state) || (state->lag_parent > 0 && names_port(rule, aggregate))) &&
		    (rule->any_agent || prefix_holds_text(&rule->agent, address)))
			return true;
	}
	return false;
}
