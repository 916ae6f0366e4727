/*
 * Which records are believed to be an agent's own: whether their source may speak for it, and
 * whether their boot can be the next one of its boots.
 */
#include "collector/window/accounting_private.h"
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ROOM "accounting"

/* An agent of which nothing was accepted for so long may have moved: three times the usual
 * counters_interval. *assumed* */
#define SILENT_US 60000000ull

/* A boot that is not one of the next is believed when the newest one has been silent for so long,
 * and it has gone on for so long itself: at counters_interval's 20 s, within a minute. *assumed* */
#define BOOT_SILENT_US	45000000ull
#define BOOT_GOES_ON_US 15000000ull

/* Of an agent whose starts were not heard, the number may rise by so many. *assumed* */
enum { BOOT_STEP_MAX = 1000 };

/* A record that is so much older than an agent's newest one is of a clock that was set back. *assumed* */
#define CLOCK_SET_BACK_US 86400000000ull

/* Agents known, that left the memory, and new */

/* It has just been heard, as far as boots and silence are concerned. */
static struct agent *
begin_recalled(struct accounting *acc, struct agent *a)
{
	a->heard_us = a->boots.newest_us = acc->mono_us;
	return a;
}

struct agent *
accounting_find_agent(struct accounting *acc, const struct ease_record *r, int *err)
{
	struct inventory *known = &acc->inventory;
	struct agent *a = inventory_find_agent(known, r->agent_id);

	*err = 0;
	if (!a) {
		*err = inventory_recall_agent(known, r->agent_id,
		    inventory_owner(known, agent_identity_source(r)), acc->mono_us, &a);
		return *err == 0 && a ? begin_recalled(acc, a) : NULL;
	}
	if (a->link.state != LRU_LEAVING || inventory_heard_agent(known, a, acc->mono_us))
		return a;
	*err = -EDQUOT;
	return NULL;
}

struct agent *
accounting_add_agent(struct accounting *acc, const struct ease_record *r, uint64_t time_us)
{
	struct store_agent row = {.boot = r->boot, .first_us = time_us, .last_us = time_us};
	struct agent *a;

	memcpy(row.agent_id, r->agent_id, sizeof(row.agent_id));
	snprintf(row.address, sizeof(row.address), "%s", r->sender);
	a = inventory_add_agent(&acc->inventory, &row,
	    inventory_owner(&acc->inventory, agent_identity_source(r)), acc->mono_us);
	if (!a)
		accounting_refuse_agent(acc, r, -EDQUOT);
	return a;
}

struct agent *
accounting_find_or_add_agent(struct accounting *acc, const struct ease_record *r, uint64_t time_us)
{
	int err;
	struct agent *a = accounting_find_agent(acc, r, &err);

	if (err < 0)
		accounting_refuse_agent(acc, r, err);
	return a || err < 0 ? a : accounting_add_agent(acc, r, time_us);
}

void
accounting_note_heard(struct accounting *acc, struct agent *a, const struct ease_record *r, uint64_t time_us)
{
	if (r->boot > a->row.boot) {
		log_info_limited(ROOM, "the agent at %s began anew: boot %u after boot %u", a->row.address, r->boot,
		    a->row.boot);
		agent_note_boot(a, r->boot);
		a->row.last_us = time_us; /* its clock may have started again at an earlier time */
	}
	if (r->boot == a->row.boot && (time_us > a->row.last_us || a->row.last_us - time_us > CLOCK_SET_BACK_US))
		a->row.last_us = time_us;
	if (r->source) /* else the address changes only together with the source */
		inventory_set_address(&acc->inventory, a, r->sender);
	a->row.last_received_us = r->received_us;
	if (a->boots.resumed_us == INVENTORY_RESUMES)
		a->boots.resumed_us = acc->mono_us;
	a->heard_us = acc->mono_us;
	inventory_heard_agent(&acc->inventory, a, acc->mono_us);
	a->dirty = true;
}

/* Who may speak for an agent */

enum { ID_TEXT = 2 * EASE_AGENT_ID_LEN + 1 };

static const char *
format_id(const uint8_t *agent_id, char text[ID_TEXT])
{
	for (int i = 0; i < EASE_AGENT_ID_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", agent_id[i]);
	return text;
}

static void
bind_source(struct agent *a, const struct ease_record *r)
{
	char id[ID_TEXT];

	if (*a->identity.bound)
		log_info_limited(ROOM, "agent %s is known as %s from now on, no longer as %s",
		    format_id(r->agent_id, id), agent_identity_source(r), a->identity.bound);
	agent_identity_bind(&a->identity, r);
}

/* The id of an sFlow agent is a hash: no other address that gives it, by chance or by search, is this device's. After a
 * crash its address may not be known yet. */
static bool
is_same_device(const struct agent *a, const struct ease_record *r)
{
	return agent_identity_fits(r) &&
	    (!r->loose_numbers || !*a->row.address || strcmp(a->row.address, r->sender) == 0);
}

/* a: NULL if there is none yet */
static enum agent_identity_verdict
judge_identity(const struct accounting *acc, const struct agent *a, const struct ease_record *r)
{
	static const struct agent_identity unknown;

	if (a && !is_same_device(a, r))
		return AGENT_IDENTITY_FOREIGN;
	return agent_identity_judge(a ? &a->identity : &unknown, &acc->sources, r);
}

/* Of sFlow that states an address from which another agent sends. */
static void
warn_of_claim(const struct accounting *acc, const struct agent *a, const struct ease_record *r)
{
	const char *source = agent_identity_source(r);

	if (!r->loose_numbers || strcmp(source, r->sender) == 0)
		return;
	for (const struct agent *b = inventory_first_at(&acc->inventory, r->sender); b; b = inventory_next_at(&acc->inventory, b))
		if (b != a) {
			log_warn_limited(ROOM, "sFlow from %s states the agent address %s, which another agent has: reports call it "
			    "\"%s for %s\"", source, r->sender, source, r->sender);
			return;
		}
}

/* Records of one source follow each other, so the one accepted last is compared first. */
bool
accounting_may_speak(struct accounting *acc, struct agent *a, const struct ease_record *r)
{
	if (strcmp(a->identity.heard, agent_identity_source(r)) == 0 && is_same_device(a, r))
		return true;
	switch (judge_identity(acc, a, r)) {
	case AGENT_IDENTITY_FOREIGN:
	case AGENT_IDENTITY_CLAIMED:
		return false;
	case AGENT_IDENTITY_BIND:
		bind_source(a, r);
		break;
	case AGENT_IDENTITY_KNOWN:
		break;
	}
	snprintf(a->identity.heard, sizeof(a->identity.heard), "%s", agent_identity_source(r));
	inventory_set_address(&acc->inventory, a, r->sender);
	warn_of_claim(acc, a, r);
	lru_table_set_owner(&acc->inventory.agent_places, (uint32_t)(a - acc->inventory.agents),
	    inventory_owner(&acc->inventory, agent_identity_source(r)));
	return true;
}

/* Whatever rows "source" have. */
static void
warn_of_form(const struct ease_record *r)
{
	char id[ID_TEXT];

	log_warn_limited(ROOM,
	    "refused a record of agent %s from %s: the collector made this id of an address or an engine ID, and no other may "
	    "have it; if an EASE agent drew it, remove what is in its state_dir and it draws another", format_id(r->agent_id, id),
	    agent_identity_source(r));
}

bool
accounting_refuse_source(struct accounting *acc, struct agent *a, const struct ease_record *r)
{
	char id[ID_TEXT];
	bool is_heard;

	accounting_count(acc, ACCOUNTING_STAT_FOREIGN_SOURCE);
	agent_identity_refuse(&a->identity, r, STORE_REFUSED_SOURCE);
	format_id(r->agent_id, id);
	if (!is_same_device(a, r)) {
		warn_of_form(r);
		return false;
	}
	is_heard = a->heard_us > 0 && acc->mono_us - a->heard_us < SILENT_US;
	if (r->loose_numbers && is_heard) {
		log_warn_limited(ROOM,
		    "refused sFlow of agent %s from %s: %s states the address %s, too, and still sends; if these are two switches, "
		    "give each an agent address of its own, or name that address in sflow_shared_agents",
		    id, agent_identity_source(r), *a->identity.heard ? a->identity.heard : a->identity.bound, r->sender);
		return true;
	}
	log_warn_limited(ROOM,
	    "refused a record of agent %s from %s: the agent is known as %s%s; if %s is the switch itself, add "
	    "the row \"source %s %s\" to the file device_names and send SIGHUP",
	    id, agent_identity_source(r),
	    *a->identity.bound ? a->identity.bound : "what rows source name",
	    is_heard ? ", which still sends; if one is a copy of the other, remove what is in its state_dir, and it draws another id"
		     : "",
	    agent_identity_source(r), id,
	    agent_identity_source(r));
	return true;
}

bool
accounting_refuse_form(struct accounting *acc, const struct ease_record *r, size_t n)
{
	struct agent *a;
	int err;

	if (agent_identity_fits(r))
		return false;
	a = accounting_find_agent(acc, r, &err);
	for (size_t i = 0; a && i < n; i++)
		accounting_refuse_source(acc, a, &r[i]);
	if (!a) {
		stat_add_own(&acc->stats, ACCOUNTING_STAT_FOREIGN_SOURCE, n);
		warn_of_form(r);
	}
	return true;
}

static uint64_t
silent_since_us(const struct accounting *acc, uint64_t heard_us)
{
	return heard_us > acc->started_us ? heard_us : acc->started_us;
}

/* A refused sample counts as expected once nothing else of its agent has come for SILENT_US, with
 * those that were refused in that time. */
void
accounting_expect_refused(struct accounting *acc, const struct agent *a, uint64_t if_index, struct store_batch *batch)
{
	struct port *p = inventory_find_port(&acc->inventory, a, if_index);
	uint64_t heard_us = silent_since_us(acc, a->heard_us);

	if (!p)
		return;
	if (p->refused_samples == 0 || heard_us >= p->refused_since_us) {
		p->refused_samples = 0;
		p->refused_since_us = acc->mono_us;
	}
	p->refused_samples++;
	if (acc->mono_us - heard_us < SILENT_US)
		return;
	accounting_add_numbers(acc, p, accounting_window_of(acc, p, acc->received_us),
	    acc->received_us, (int64_t)p->refused_samples, 0, batch);
	p->refused_samples = 0;
}

void
accounting_set_sources(struct accounting *acc, const struct agent_source_rules *rules)
{
	acc->sources = *rules;
	for (uint32_t i = 0; i < acc->inventory.agent_places.end; i++)
		*acc->inventory.agents[i].identity.heard = '\0';
}

void
accounting_set_uplinks(struct accounting *acc, const struct uplink_rules *rules)
{
	acc->uplinks = *rules;
}

enum agent_identity_verdict
accounting_judge(struct accounting *acc, const struct ease_record *who)
{
	int err;
	struct agent *a = accounting_find_agent(acc, who, &err);
	enum agent_identity_verdict verdict = judge_identity(acc, a, who);

	if (verdict == AGENT_IDENTITY_CLAIMED) {
		a->identity.displaced = true;
		a->identity.heard[0] = '\0';
	}
	return verdict;
}

void
accounting_bind_sources(
    struct accounting *acc, const struct store_agent_source *sources, size_t n)
{
	struct store_loader loader = inventory_loader(&acc->inventory, acc->mono_us);

	for (uint32_t i = 0; i < acc->inventory.agent_places.end; i++) {
		struct agent_identity *identity = &acc->inventory.agents[i].identity;

		*identity->heard = '\0';
		if (!identity->bound_unwritten)
			*identity->bound = '\0';
	}
	for (size_t i = 0; i < n; i++)
		loader.agent_source(loader.arg, &sources[i]);
}

/* Boots */

/* The samples that were refused while it was not clear that the agent goes on so. */
static void
expect_all_refused(struct accounting *acc, const struct agent *a, struct store_batch *batch)
{
	for (uint32_t i = 0; i < acc->inventory.port_places.end; i++) {
		struct port *p = &acc->inventory.ports[i];

		if (p->agent != a || p->refused_samples == 0 || a->heard_us >= p->refused_since_us)
			continue;
		accounting_add_numbers(acc, p, accounting_window_of(acc, p, acc->received_us),
		    acc->received_us, (int64_t)p->refused_samples, 0, batch);
		p->refused_samples = 0;
	}
}

static void
identity_add_event(const struct accounting *acc, const struct agent *a, struct store_batch *batch)
{
	struct store_event *row = store_batch_add(batch, STORE_EVENTS);

	if (!row) {
		accounting_count(acc, ACCOUNTING_STAT_LOST_STORE_ROWS);
		return;
	}
	*row = (struct store_event){.time_us = acc->received_us, .agent = a->row.id,
	    .boot = a->row.boot, .kind = EASE_EVENT_BOOT_OUT_OF_ORDER};
}

/* From now on the agent's boot r->boot counts as the one after the newest, and its numbers are
 * expected from the first that comes. */
static void
follow_boot(struct accounting *acc, struct agent *a, const struct ease_record *r, struct store_batch *batch)
{
	uint32_t told = a->row.boot - a->row.boot_shift;
	char id[ID_TEXT];

	expect_all_refused(acc, a, batch);
	a->row.boot++;
	a->row.boot_shift = a->row.boot - r->boot;
	a->row.last_us = 0; /* the next record has it */
	a->first_heard_boot = a->row.boot;
	a->boots = (struct agent_boots){.before = a->row.boot - 1, .newest_us = acc->mono_us,
	    .followed_us = acc->mono_us};
	a->dirty = true;
	accounting_count(acc, ACCOUNTING_STAT_BOOTS_FOLLOWED);
	log_warn(ROOM,
	    "agent %s at %s began anew out of order, with boot %u after boot %u and sample numbers "
	    "of their own: was the machine restored? its data goes on as boot %u",
	    format_id(r->agent_id, id), a->row.address, r->boot, told, a->row.boot);
	identity_add_event(acc, a, batch);
}

static bool
is_next_or_newest(const struct agent *a, uint32_t boot)
{
	return boot >= a->row.boot && boot - a->row.boot <= BOOT_STEP_MAX;
}

/* Notes that a record of a boot came that is not the newest. True if that boot has gone on. */
static bool
goes_on(const struct accounting *acc, struct agent *a, uint32_t boot)
{
	struct agent_boots *b = &a->boots;

	if (b->other_us == 0 || b->other != boot || acc->mono_us - b->other_us > BOOT_SILENT_US) {
		b->other = boot;
		b->other_since_us = acc->mono_us;
	}
	b->other_us = acc->mono_us;
	return acc->mono_us - b->other_since_us >= BOOT_GOES_ON_US;
}

/* True if the numbers of the newest boot begin again; that is believed once in BOOT_SILENT_US. */
static bool
begins_again(const struct accounting *acc, struct agent *a)
{
	bool again = a->boots.numbers_again;

	a->boots.numbers_again = false;
	return again && (a->boots.followed_us == 0 || acc->mono_us - a->boots.followed_us >= BOOT_SILENT_US);
}

bool
accounting_follow_boot(struct accounting *acc, struct agent *a, const struct ease_record *r,
    struct store_batch *batch)
{
	uint32_t boot = r->boot + a->row.boot_shift;
	bool silent = acc->mono_us - silent_since_us(acc, a->boots.newest_us) >= BOOT_SILENT_US;

	if (r->loose_numbers) /* the collector itself numbers the boots of sFlow */
		return true;
	if (is_next_or_newest(a, boot)) {
		if (boot == a->row.boot && begins_again(acc, a))
			follow_boot(acc, a, r, batch);
		a->boots.newest_us = acc->mono_us;
		return true;
	}
	if (goes_on(acc, a, r->boot) && silent) {
		follow_boot(acc, a, r, batch);
		return true;
	}
	return boot == a->boots.before && !silent; /* it may still be in transit */
}

void
accounting_refuse_boot(struct accounting *acc, struct agent *a, const struct ease_record *r)
{
	char id[ID_TEXT];

	accounting_count(acc, ACCOUNTING_STAT_OLD_BOOT);
	agent_identity_refuse(&a->identity, r, STORE_REFUSED_BOOT);
	log_warn_limited(ROOM,
	    "refused a record of agent %s at %s: its boot %u does not follow boot %u, of which "
	    "records came lately",
	    format_id(r->agent_id, id), a->row.address, r->boot,
	    a->row.boot - a->row.boot_shift);
}
