/*
 * Redis' notices that keys have changed (keyspace events), which SONiC has on. A notice names a key and what was done
 * to it, so the key's entry is asked for. While more keys have changed than are asked for at once, all are read again.
 */
#include "agent/sonic/sonic_private.h"

#include "common/log.h"

#include <stdio.h>
#include <string.h>

enum { CHANGED_MAX = 4096, PATTERN_OCTETS = 128 };

/* What is subscribed to, for the two databases that are read key by key. */
static const struct table {
	enum sonic_database database;
	const char *pattern;
} tables[] = {
    {SONIC_APPL, "[PLV]*_TABLE:*"},
    {SONIC_APPL, "SFLOW_SESSION_TABLE:*"},
    {SONIC_ASIC, "ASIC_STATE:SAI_OBJECT_TYPE_FDB_ENTRY:*"},
    {SONIC_ASIC, "ASIC_STATE:SAI_OBJECT_TYPE_BRIDGE_PORT:*"},
    {SONIC_ASIC, "ASIC_STATE:SAI_OBJECT_TYPE_VLAN:*"},
};

static void
look_at_notices(struct sonic_device *d, enum sonic_database database)
{
	d->has_notices[database] = d->subscribed[database] && d->events_on[database];
}

/* ---- notices ---- */

static bool
is_removal(const redisReply *what)
{
	return answer_is(what, "del") || answer_is(what, "expired") || answer_is(what, "rename_from") ||
	    answer_is(what, "unlink") || answer_is(what, "evicted");
}

static void
sonic_take_change(struct sonic_device *d, enum sonic_database database, const char *key, size_t octets, bool removed)
{
	enum sonic_job all = database == SONIC_APPL ? JOB_INTERFACES : JOB_ADDRESSES;
	enum sonic_job job = database == SONIC_APPL ? JOB_CHANGED_INTERFACES : JOB_CHANGED_ADDRESSES;

	/* lldp-syncd writes each neighbour anew every ten seconds, as its age has changed. */
	if (strncmp(key, "LLDP_", strlen("LLDP_")) == 0)
		return;
	if (removed && database == SONIC_ASIC) {
		sonic_remove_asic_key(d, key, octets);
		return;
	}
	if (d->jobs[job].awaited >= CHANGED_MAX) {
		stat_add(&d->stats, SONIC_STAT_NOTICES_DROPPED, 1);
		sonic_job_due(d, all);
		return;
	}
	/* Whether an interface has left, a pass over all of them decides. */
	if (removed)
		sonic_job_due(d, all);
	sonic_job_hold(d, job);
	if (database == SONIC_ASIC)
		sonic_take_asic_key(d, key, octets, job);
	else if (!removed || strncmp(key, "SFLOW_", strlen("SFLOW_")) == 0)
		sonic_take_key(d, key, octets, job);
	sonic_job_release(d, job);
}

/* "pmessage", pattern, "__keyspace@DATABASE__:KEY", what was done. */
static void
sonic_take_notice(struct sonic_device *d, enum sonic_database database, const redisReply *reply)
{
	const redisReply *kind = answer_string(reply, 0), *channel = answer_string(reply, 2);
	const char *key;

	if (answer_is(kind, "psubscribe")) {
		d->subscribed[database] = true;
		look_at_notices(d, database);
		return;
	}
	if (!answer_is(kind, "pmessage") || !channel)
		return;
	stat_add(&d->stats, SONIC_STAT_NOTICES, 1);
	key = strstr(channel->str, "__:");
	if (key)
		sonic_take_change(d, database, key + 3, channel->len - (size_t)(key + 3 - channel->str),
		    is_removal(answer_string(reply, 3)));
}

static void
on_appl_notice(void *ctx, const redisReply *reply)
{
	if (reply)
		sonic_take_notice(ctx, SONIC_APPL, reply);
}

static void
on_asic_notice(void *ctx, const redisReply *reply)
{
	if (reply)
		sonic_take_notice(ctx, SONIC_ASIC, reply);
}

/* ---- links ---- */

static enum sonic_database
events_database_of(const struct sonic_device *d, const struct redis_link *link)
{
	return link == d->notice_links[SONIC_ASIC] ? SONIC_ASIC : SONIC_APPL;
}

void
sonic_notices_up(void *ctx, struct redis_link *link)
{
	struct sonic_device *d = ctx;
	enum sonic_database database = events_database_of(d, link);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char pattern[PATTERN_OCTETS];

		if (tables[i].database != database)
			continue;
		snprintf(pattern, sizeof(pattern), "__keyspace@%u__:%s", d->addresses_of[database].database,
		    tables[i].pattern);
		(void)redis_link_subscribe(link, database == SONIC_APPL ? on_appl_notice : on_asic_notice, d,
		    pattern);
	}
	/* What has changed while the link was down has been told to nobody. */
	sonic_job_due(d, database == SONIC_APPL ? JOB_INTERFACES : JOB_ADDRESSES);
}

void
sonic_notices_down(void *ctx, struct redis_link *link, const char *why)
{
	struct sonic_device *d = ctx;
	enum sonic_database database = events_database_of(d, link);

	(void)why;
	d->subscribed[database] = false;
	look_at_notices(d, database);
}

/* ---- whether the server sends notices ---- */

/* K: by key; A: of all kinds, or h and g: of hashes and of removals (Redis' documentation of notify-keyspace-events). */
static bool
tells_changes(const char *flags)
{
	return strchr(flags, 'K') && (strchr(flags, 'A') || (strchr(flags, 'h') && strchr(flags, 'g')));
}

static void
take_events(struct sonic_device *d, const redisReply *reply, const struct sonic_subject *subject)
{
	enum sonic_database database = (enum sonic_database)subject->other;
	const redisReply *flags = answer_string(reply, 1);
	bool on = flags && tells_changes(flags->str);

	if (on != d->events_on[database] || !d->told_events[database])
		log_info("sonic", "%s: changes are %s", sonic_database_names[database],
		    on ? "told by keyspace events" : "looked for: keyspace events are off");
	/* From now on a change is told; what changed before is read once more. */
	if (on && !d->events_on[database])
		sonic_job_due(d, database == SONIC_APPL ? JOB_STATUS : JOB_ADDRESSES);
	d->told_events[database] = true;
	d->events_on[database] = on;
	look_at_notices(d, database);
}

static void
ask_events(struct sonic_device *d, enum sonic_job job, enum sonic_database database)
{
	const struct sonic_subject subject = {.other = database, .may_fail = true};

	sonic_ask(d, job, take_events, &subject, "CONFIG", "GET", "notify-keyspace-events", NULL);
}

void
sonic_begin_notices(struct sonic_device *d)
{
	ask_events(d, JOB_NOTICES, SONIC_APPL);
}

void
sonic_begin_address_notices(struct sonic_device *d)
{
	ask_events(d, JOB_ADDRESS_NOTICES, SONIC_ASIC);
}
