#include "collector/precision/goal.h"

#include "common/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_LEAST 0.01
#define WIDTH_MOST  0.5

static const char *const key_words[PRECISION_N_KEYS] = {"talkers", "destinations", "pairs", "services"};
static const unsigned period_minutes[] = {1, 5, 10, 15, 30, 60};

struct goal_words {
	const char *at;
};

/* A number with its unit behind it: 10%, 5m. */
static bool
goal_take_number(struct goal_words *w, const char *unit, double *number)
{
	char *end;

	w->at += strspn(w->at, " \t");
	*number = strtod(w->at, &end);
	if (end == w->at)
		return false;
	w->at = end;
	return *unit == '\0' || text_take_word(&w->at, unit);
}

static bool
goal_take_name(struct goal_words *w, char name[PRECISION_NAME_TEXT])
{
	size_t n;

	w->at += strspn(w->at, " \t");
	n = strcspn(w->at, " \t");
	if (n == 0 || n >= PRECISION_NAME_TEXT)
		return false;
	memcpy(name, w->at, n);
	name[n] = '\0';
	w->at += n;
	return true;
}

static bool
take_keys(struct goal_words *w, struct precision_goal *goal)
{
	for (int i = 0; i < PRECISION_N_KEYS; i++)
		if (text_take_word(&w->at, key_words[i])) {
			goal->keys = (enum precision_keys)i;
			return true;
		}
	return false;
}

/* "by octets", which may be left out; false: another word follows "by". */
static bool
goal_take_unit(struct goal_words *w, struct precision_goal *goal)
{
	if (!text_take_word(&w->at, "by"))
		return true;
	goal->by_octets = text_take_word(&w->at, "octets");
	return goal->by_octets || text_take_word(&w->at, "packets");
}

static const char *
parse_rows(struct goal_words *w, struct precision_goal *goal)
{
	static const char by_what[] = "behind \"by\" must follow packets or octets";
	static const char begins[] = "it must begin with \"top 10\", or with talkers, destinations, pairs or services and \"above\"";
	double number;

	if (text_take_word(&w->at, "top")) {
		if (!goal_take_number(w, "", &number) || !(number >= 1 && number <= PRECISION_TOP_MAX))
			return "behind \"top\" a number of rows from 1 to 100 must follow";
		goal->top = (unsigned)number;
		take_keys(w, goal);
		return goal_take_unit(w, goal) ? NULL : by_what;
	}
	if (!take_keys(w, goal))
		return begins;
	if (!goal_take_unit(w, goal))
		return by_what;
	if (!text_take_word(&w->at, "above"))
		return begins;
	if (!goal_take_number(w, "%", &number) || !(number >= 0.01 && number <= 50))
		return "behind \"above\" a part from 0.01% to 50% must follow";
	goal->share = number / 100;
	return NULL;
}

/* SWITCH:PORT, as reports write it; a name of a port may have colons, one of a switch has none. */
static bool
goal_take_port(struct goal_words *w, struct precision_goal *goal)
{
	char both[PRECISION_NAME_TEXT], *colon;

	if (!goal_take_name(w, both))
		return false;
	colon = strchr(both, ':');
	if (!colon || colon == both || colon[1] == '\0')
		return false;
	*colon = '\0';
	memcpy(goal->agent, both, strlen(both) + 1);
	memcpy(goal->port, colon + 1, strlen(colon + 1) + 1);
	return true;
}

static const char *
goal_parse_ports(struct goal_words *w, struct precision_goal *goal)
{
	static const char wrong[] = "behind the rows must follow \"of each port\", \"of all ports\", \"of agent NAME\" or \"of port AGENT:NAME\"";

	if (!text_take_word(&w->at, "of"))
		return wrong;
	if (text_take_word(&w->at, "each"))
		return text_take_word(&w->at, "port") ? NULL : wrong;
	if (text_take_word(&w->at, "all")) {
		goal->of_all_ports = true;
		return text_take_word(&w->at, "ports") ? NULL : wrong;
	}
	if (text_take_word(&w->at, "agent"))
		return goal_take_name(w, goal->agent) ? NULL : wrong;
	return text_take_word(&w->at, "port") && goal_take_port(w, goal) ? NULL : wrong;
}

static const char *
parse_width_and_period(struct goal_words *w, struct precision_goal *goal)
{
	double number;

	if (!text_take_word(&w->at, "within") || !goal_take_number(w, "%", &number))
		return "behind the ports must follow \"within\" and a width such as 10%";
	goal->width = number / 100;
	if (!(goal->width >= WIDTH_LEAST && goal->width <= WIDTH_MOST))
		return "a width is from 1% to 50%";
	if (!text_take_word(&w->at, "every") || !goal_take_number(w, "m", &number))
		return "behind the width must follow \"every\" and minutes such as 5m";
	for (size_t i = 0; i < sizeof(period_minutes) / sizeof(period_minutes[0]); i++)
		if (number == period_minutes[i])
			goal->period_s = 60 * period_minutes[i];
	if (goal->period_s == 0)
		return "a period is 1m, 5m, 10m, 15m, 30m or 60m";
	return w->at[strspn(w->at, " \t")] ? "nothing may follow the period" : NULL;
}

int
precision_goal_parse(const char *text, struct precision_goal *goal, const char **reason)
{
	struct goal_words w = {text};

	*goal = (struct precision_goal){.keys = PRECISION_TALKERS};
	*reason = strlen(text) < sizeof(goal->text) ? parse_rows(&w, goal) : "a goal has at most 111 characters";
	if (!*reason)
		*reason = goal_parse_ports(&w, goal);
	if (!*reason)
		*reason = parse_width_and_period(&w, goal);
	if (*reason)
		return -EINVAL;
	snprintf(goal->text, sizeof(goal->text), "%s", text);
	return 0;
}

const char *
precision_goal_check(const char *text)
{
	struct precision_goal goal;
	const char *reason;

	return precision_goal_parse(text, &goal, &reason) < 0 ? reason : NULL;
}

unsigned
precision_goal_rows(const struct precision_goal *goal)
{
	return goal->top ? goal->top : PRECISION_TOP_MAX;
}
