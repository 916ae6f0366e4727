#include "collector/input/slow_path.h"

#include "collector/input/inform_replies.h"
#include "collector/input/slow_queue.h"
#include "collector/input/decode.h"
#include "collector/input/event.h"
#include "collector/input/netsnmp_reader.h"
#include "collector/input/usm_reports.h"
#include "common/hash.h"
#include "common/log.h"

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ROOM "input"

enum {
	SOURCE_TEXT = V3_USER_MAX + 1 + ENDPOINT_TEXT, /* also of an engine ID */
	EVENTS_REMEMBERED = 4096, /* the newest, to recognize one that comes again */
};

/* An inform without an answer is sent again for so long: the longest default of agents is Cisco's, three times
 * after 15 s each. *assumed* */
#define SENT_AGAIN_US 60000000ull

static const struct stat_name stat_names[SLOW_PATH_N_STATS] = {
    [SLOW_PATH_STAT_DATAGRAMS] = {"slow_path.datagrams",
	"datagrams for the slow path: SNMPv3, informs, events, loose encoding"},
    [SLOW_PATH_STAT_QUEUE_FULL] = {"slow_path.queue_full",
	"of these: lost because the queue was full"},
    [SLOW_PATH_STAT_OVER_SHARE] = {"slow_path.over_share",
	"of these: lost because their sender exceeded its share of the queue"},
    [SLOW_PATH_STAT_IGNORED] = {"slow_path.ignored_notifications",
	"of these: notifications that the collector does not store, as coldStart"},
    [SLOW_PATH_STAT_REFUSED] = {"slow_path.refused",
	"of these: refused because of a mistake in them"},
    [SLOW_PATH_STAT_BY_NETSNMP] = {"slow_path.by_netsnmp",
	"of these: loosely encoded, but readable by Net-SNMP's library"},
    [SLOW_PATH_STAT_RECORDS] = {"slow_path.records",
	"samples, counter snapshots and other parts accepted"},
    [SLOW_PATH_STAT_EVENTS] = {"slow_path.events", "events accepted"},
    [SLOW_PATH_STAT_EVENTS_DUPLICATE] = {"slow_path.events_duplicate",
	"events that had been received before"},
    [SLOW_PATH_STAT_INFORMS] = {"inform.taken", "informs accepted, including repeated ones"},
    [SLOW_PATH_STAT_INFORMS_ANSWERED] = {"inform.answered",
	"informs answered after their records were committed"},
    [SLOW_PATH_STAT_INFORMS_NOT_KEPT] = {"inform.not_kept",
	"informs not answered because their records found no room"},
    [SLOW_PATH_STAT_INFORMS_FULL] = {"inform.full",
	"informs refused because too many replies wait for the store"},
    [SLOW_PATH_STAT_INFORMS_OVER_SHARE] = {"inform.over_share",
	"informs refused because their sender has its share of the replies that wait"},
    [SLOW_PATH_STAT_SEND_ERRORS] = {"inform.send_errors",
	"replies and Reports that could not be sent"},
    [SLOW_PATH_STAT_V3_ACCEPTED] = {"v3.accepted", "authentic SNMPv3 notifications"},
    [SLOW_PATH_STAT_V3_PROBES] = {"v3.probes",
	"requests for engine discovery or time synchronization, answered"},
    [SLOW_PATH_STAT_V3_REPORTS_HELD] = {"v3.reports_held",
	"Reports not sent, because their address had ten in a second, or as much as it sent"},
    [SLOW_PATH_STAT_V3_PARSE] = {"v3.refused_parse", "messages that are not valid SNMPv3"},
    [SLOW_PATH_STAT_V3_MODEL] = {"v3.unknown_security_model",
	"messages not of the user-based security model"},
    [SLOW_PATH_STAT_V3_ENGINE] = {"v3.unknown_engine",
	"messages with an engine ID that no user has in engine_ids"},
    [SLOW_PATH_STAT_V3_USER] = {"v3.unknown_user",
	"messages of a user that is not configured for their engine"},
    [SLOW_PATH_STAT_V3_DIGEST] = {"v3.wrong_digest",
	"messages with a wrong digest: wrong authentication passphrase or protocol"},
    [SLOW_PATH_STAT_V3_WINDOW] = {"v3.not_in_time_window",
	"messages more than 150 s old, or from before the engine's last boot"},
    [SLOW_PATH_STAT_V3_DECRYPTION] = {"v3.decryption",
	"messages that cannot be decrypted: wrong privacy passphrase or protocol"},
    [SLOW_PATH_STAT_V3_LEVEL] = {"v3.security_level",
	"messages with a security level below authPriv"},
    [SLOW_PATH_STAT_V3_REPLAYED] = {"v3.replayed",
	"traps equal to an earlier one, octet for octet"},
    [SLOW_PATH_STAT_V3_PDU] = {"v3.refused_pdu", "messages that are neither trap nor inform"},
    [SLOW_PATH_STAT_V3_FORGOTTEN] = {"v3.replay_memory_full",
	"digests dropped early: a replay of their messages within 150 s would be accepted"},
};

/* The counter of each verdict that refuses an SNMPv3 message. */
static const enum slow_path_stat_id v3_refusals[V3_N_VERDICTS] = {
    [V3_BAD_PARSE] = SLOW_PATH_STAT_V3_PARSE,
    [V3_UNKNOWN_MODEL] = SLOW_PATH_STAT_V3_MODEL,
    [V3_UNKNOWN_ENGINE] = SLOW_PATH_STAT_V3_ENGINE,
    [V3_UNKNOWN_USER] = SLOW_PATH_STAT_V3_USER,
    [V3_WRONG_DIGEST] = SLOW_PATH_STAT_V3_DIGEST,
    [V3_NOT_IN_WINDOW] = SLOW_PATH_STAT_V3_WINDOW,
    [V3_BAD_DECRYPTION] = SLOW_PATH_STAT_V3_DECRYPTION,
    [V3_BAD_LEVEL] = SLOW_PATH_STAT_V3_LEVEL,
    [V3_REPLAYED] = SLOW_PATH_STAT_V3_REPLAYED,
    [V3_BAD_PDU] = SLOW_PATH_STAT_V3_PDU,
};

struct slow_path {
	struct slow_path_config config;
	struct slow_queue *queue;
	struct inform_replies *replies;
	struct v3 *v3; /* NULL until there are users */
	_Atomic bool takes_v3;
	struct v3_message v3_message;
	struct decode_result result;
	struct {
		uint64_t identity, received_us;
	} events[EVENTS_REMEMBERED]; /* a ring of the newest */
	size_t next_event;
	uint8_t varbinds[2 * RECEIVE_DATAGRAM_MAX]; /* encoded by the library, with longer heads */
	char sender[ENDPOINT_TEXT];
	struct usm_reports reports;
	struct stat_set stats;
	_Atomic uint64_t values[SLOW_PATH_N_STATS];
};

/* The message that is being handled. */
struct message {
	const struct sockaddr *from;
	int fd;
	const uint8_t *source_id;
	const char *source; /* struct ease_record */
	bool is_inform;
};

static void
count_slow(const struct slow_path *s, enum slow_path_stat_id which)
{
	stat_add(&s->stats, which, 1);
}

int
slow_path_open(struct slow_path **out, const struct slow_path_config *config, char *error, size_t error_size)
{
	struct slow_path *s = calloc(1, sizeof(*s));
	uint64_t seed = 0;
	int r;

	if (!s) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	s->config = *config;
	s->stats = (struct stat_set){stat_names, SLOW_PATH_N_STATS, s->values};
	netsnmp_reader_open();
	r = getrandom(&seed, sizeof(seed), 0) < 0 ? -errno : slow_queue_new(&s->queue);
	usm_reports_init(&s->reports, seed, clock_mono_us(config->clock));
	if (r == 0)
		r = inform_replies_new(&s->replies);
	if (r < 0)
		snprintf(error, error_size, "cannot set up the slow path: %s", strerror(-r));
	else
		r = slow_path_change_users(s, NULL, 0, config->users, config->n_users,
		    config->engine_file, error, error_size);
	if (r < 0) {
		slow_path_close(s);
		return r;
	}
	*out = s;
	return 0;
}

void
slow_path_close(struct slow_path *s)
{
	if (!s)
		return;
	v3_close(s->v3);
	netsnmp_reader_close();
	inform_replies_free(s->replies);
	slow_queue_free(s->queue);
	free(s);
}

bool
slow_path_takes_v3(const struct slow_path *s)
{
	return s->takes_v3;
}

void
slow_path_allow(struct slow_path *s, const char *const *communities, size_t n_communities)
{
	s->config.communities = communities;
	s->config.n_communities = n_communities;
}

int
slow_path_change_users(struct slow_path *s, const struct v3_user *before, size_t n_before,
    const struct v3_user *users, size_t n, const char *engine_file, char *error, size_t error_size)
{
	int r = 0;

	if (s->v3)
		r = v3_change_users(s->v3, before, n_before, users, n, error, error_size);
	else if (n > 0)
		r = v3_open(&s->v3, users, n, engine_file, s->config.clock, error, error_size);
	s->takes_v3 = s->v3 && n > 0;
	return r;
}

size_t
slow_path_waiting(const struct slow_path *s)
{
	return inform_replies_waiting(s->replies);
}

const struct stat_set *
slow_path_stats(const struct slow_path *s)
{
	return &s->stats;
}

void
slow_path_put(struct slow_path *s, const struct sockaddr *from, int fd, const void *octets, size_t n)
{
	count_slow(s, SLOW_PATH_STAT_DATAGRAMS);
	switch (slow_queue_put(s->queue, from, fd, octets, n)) {
	case 0:
		break;
	case -EDQUOT:
		count_slow(s, SLOW_PATH_STAT_OVER_SHARE);
		break;
	default:
		count_slow(s, SLOW_PATH_STAT_QUEUE_FULL);
		break;
	}
}

static void
refuse_datagram(struct slow_path *s, enum slow_path_stat_id stat, const char *why)
{
	count_slow(s, stat);
	refused_senders_note(s->config.refused, s->sender, why, clock_wall_us(s->config.clock));
	log_warn_limited(ROOM, "message from %s refused: %s", s->sender, why);
}

/* Variable bindings */

/* Two events are the same if source, kind, uptime and content are equal. Nobody can make one that counts as another's. */
static uint64_t
event_identity(const struct ease_event *event, const struct rbuf *varbinds)
{
	uint8_t of[EASE_AGENT_ID_LEN + sizeof(event->kind) + SHA256_DIGEST_LENGTH];
	uint8_t digest[SHA256_DIGEST_LENGTH];
	uint64_t identity;

	memcpy(of, event->source_id, EASE_AGENT_ID_LEN);
	memcpy(of + EASE_AGENT_ID_LEN, &event->kind, sizeof(event->kind));
	SHA256(varbinds->data, varbinds->size, of + sizeof(of) - SHA256_DIGEST_LENGTH);
	SHA256(of, sizeof(of), digest);
	memcpy(&identity, digest, sizeof(identity));
	return identity;
}

/* Whether this is an event that came before. One with the same uptime is another one if its sender can have
 * started anew since, which takes it as long as the uptime says. */
static bool
event_is_known(const struct slow_path *s, const struct ease_event *event)
{
	uint64_t uptime_us = s->result.uptime_cs * 10000ull;
	uint64_t same_us = uptime_us > SENT_AGAIN_US ? uptime_us : SENT_AGAIN_US;

	for (size_t i = 0; i < EVENTS_REMEMBERED; i++)
		if (s->events[i].identity == event->identity &&
		    event->received_us < s->events[i].received_us + same_us)
			return true;
	return false;
}

static void
remember_event(struct slow_path *s, uint64_t identity, uint64_t received_us)
{
	size_t i = s->next_event++ % EVENTS_REMEMBERED;

	s->events[i].identity = identity;
	s->events[i].received_us = received_us;
}

static bool
give_event(struct slow_path *s, const struct message *from, struct v2c_message *m)
{
	struct ease_event event = {
	    .kind = s->result.event,
	    .sender = s->sender,
	    .source = from->source,
	    .received_us = clock_wall_us(s->config.clock),
	};
	struct rbuf all = m->varbinds;

	memcpy(event.source_id, from->source_id, sizeof(event.source_id));
	if (event_decode(m, &event) < 0) {
		refuse_datagram(s, SLOW_PATH_STAT_REFUSED, "a variable binding breaks RFC 3416");
		return false;
	}
	event.identity = event_identity(&event, &all);
	if (event_is_known(s, &event)) {
		count_slow(s, SLOW_PATH_STAT_EVENTS_DUPLICATE);
		return true;
	}
	if (!s->config.event(s->config.arg, &event)) {
		count_slow(s, from->is_inform ? SLOW_PATH_STAT_INFORMS_NOT_KEPT
					 : SLOW_PATH_STAT_REFUSED);
		return false;
	}
	remember_event(s, event.identity, event.received_us);
	count_slow(s, SLOW_PATH_STAT_EVENTS);
	return true;
}

static void
slow_path_ignore_foreign(struct slow_path *s)
{
	char name[EVENT_NAME_MAX];

	event_name_foreign(&s->result.foreign, name);
	count_slow(s, SLOW_PATH_STAT_IGNORED);
	log_info_limited(ROOM, "notification %s from %s ignored: the collector does not store it", name, s->sender);
}

/* Decodes the variable bindings of an open message. True if they were accepted, so that an
 * inform is answered. */
static bool
take_varbinds(struct slow_path *s, const struct message *from, struct v2c_message *m)
{
	const struct decode_origin origin = {
	    .sender = s->sender,
	    .source = from->source,
	    .received_us = clock_wall_us(s->config.clock),
	};
	enum decode_verdict verdict = decode_varbinds(m, &origin, &s->result);

	switch (verdict) {
	case DECODE_OK:
		stat_add(&s->stats, SLOW_PATH_STAT_RECORDS, s->result.n);
		if (s->config.records(s->config.arg, s->result.records, s->result.n))
			return true;
		if (from->is_inform)
			count_slow(s, SLOW_PATH_STAT_INFORMS_NOT_KEPT);
		return false;
	case DECODE_EVENT:
		return give_event(s, from, m);
	case DECODE_FOREIGN:
		slow_path_ignore_foreign(s);
		return false;
	default:
		refuse_datagram(s, SLOW_PATH_STAT_REFUSED, decode_verdict_text(verdict));
		return false;
	}
}

/* True if there is room for another reply; else an inform is not even decoded. */
/* The library gives each repetition of an SNMPv3 inform a new msgID but the same request-id. */
static struct inform_identity
identity_of(const struct message *from, int32_t request_id, const void *varbinds, size_t n)
{
	uint64_t hash = hash_fnv(HASH_FNV, &request_id, sizeof(request_id));

	return (struct inform_identity){from->from, hash_fnv(hash, varbinds, n)};
}

static bool
has_place_for_reply(struct slow_path *s, const struct inform_identity *inform)
{
	switch (inform_replies_place(s->replies, inform)) {
	case 0:
		return true;
	case -EDQUOT:
		count_slow(s, SLOW_PATH_STAT_INFORMS_OVER_SHARE);
		refused_senders_note(s->config.refused, s->sender, "it has its share of informs that wait for the store",
		    clock_wall_us(s->config.clock));
		log_warn_limited(ROOM,
		    "inform from %s not accepted: its sender has its share of the %d replies that "
		    "can wait for the store",
		    s->sender, INFORM_REPLIES_MAX);
		return false;
	default:
		count_slow(s, SLOW_PATH_STAT_INFORMS_FULL);
		log_warn_limited(ROOM,
		    "inform from %s not accepted: %d replies already wait for the store",
		    s->sender, INFORM_REPLIES_MAX);
		return false;
	}
}

/* Decodes an inform if its reply has a place, and holds the reply if all was kept. */
static void
take_inform(struct slow_path *s, const struct message *from, struct v2c_message *m,
    const void *answer, size_t n_answer)
{
	const struct inform_identity inform =
	    identity_of(from, m->request_id, m->varbinds.data, m->varbinds.size);

	if (!has_place_for_reply(s, &inform) || !take_varbinds(s, from, m))
		return;
	count_slow(s, SLOW_PATH_STAT_INFORMS);
	inform_replies_hold(s->replies, &inform, from->fd, answer, n_answer);
}

/* SNMPv2c */

/* True if the strict decoder can read all variable bindings. */
static bool
is_strict(const struct v2c_message *m)
{
	struct v2c_message copy = *m;
	struct v2c_varbind v;

	while (v2c_next(&copy, &v))
		continue;
	return !copy.varbinds.failed;
}

static bool
read_by_netsnmp(struct slow_path *s, const struct slow_queue_datagram *d, struct v2c_message *m)
{
	struct wbuf w = wbuf_of(s->varbinds, sizeof(s->varbinds));
	struct rbuf body;

	if (v2c_open(m, &body, d->octets, d->n) < 0 || netsnmp_reader_read(m, &body, &w) < 0 || !is_strict(m)) {
		refuse_datagram(s, SLOW_PATH_STAT_REFUSED, decode_verdict_text(DECODE_BAD_CODING));
		return false;
	}
	count_slow(s, SLOW_PATH_STAT_BY_NETSNMP);
	return true;
}

static bool
read_v2c(struct slow_path *s, const struct slow_queue_datagram *d, struct v2c_message *m)
{
	enum decode_verdict verdict = decode_open(d->octets, d->n, s->config.communities,
	    s->config.n_communities, m);

	if (verdict != DECODE_OK && verdict != DECODE_INFORM && verdict != DECODE_BAD_CODING)
		return false; /* admission has refused and counted it */
	if (verdict != DECODE_BAD_CODING && is_strict(m))
		return true;
	return read_by_netsnmp(s, d, m);
}

static void
take_v2c(struct slow_path *s, struct message *from, const struct slow_queue_datagram *d)
{
	uint8_t source_id[EASE_AGENT_ID_LEN], answer[RECEIVE_DATAGRAM_MAX];
	struct wbuf w = wbuf_of(answer, sizeof(answer));
	struct v2c_message m;

	if (!read_v2c(s, d, &m))
		return;
	from->is_inform = m.pdu == BER_SNMP_INFORM;
	event_source_of_address(from->from, source_id);
	from->source_id = source_id;
	if (!from->is_inform) {
		take_varbinds(s, from, &m);
		return;
	}
	v2c_put_response(&w, &m);
	if (w.failed) {
		w = wbuf_of(answer, sizeof(answer));
		v2c_put_too_big(&w, &m);
	}
	take_inform(s, from, &m, answer, w.len);
}

/* SNMPv3 */

static void
send_report(struct slow_path *s, const struct message *from)
{
	const struct v3_message *m = &s->v3_message;

	if (m->n_answer == 0)
		return;
	if (!usm_reports_allow(&s->reports, from->from, m->n_answer,
		clock_mono_us(s->config.clock))) {
		count_slow(s, SLOW_PATH_STAT_V3_REPORTS_HELD);
		return;
	}
	if (inform_replies_send(from->from, from->fd, m->answer, m->n_answer) < 0)
		count_slow(s, SLOW_PATH_STAT_SEND_ERRORS);
}

/* As whom the sender of an authentic message is known: window/agent_identity.h. */
static void
format_source(const struct slow_path *s, bool is_inform, char source[SOURCE_TEXT])
{
	const struct v3_message *v3 = &s->v3_message;
	size_t n = 0;

	if (is_inform) {
		snprintf(source, SOURCE_TEXT, "%s@%s", v3->user, s->sender);
		return;
	}
	n = (size_t)snprintf(source, SOURCE_TEXT, "0x");
	for (size_t i = 0; i < v3->n_engine_id; i++, n += 2)
		snprintf(source + n, SOURCE_TEXT - n, "%02x", v3->engine_id[i]);
}

static void
take_authentic(struct slow_path *s, struct message *from)
{
	const struct v3_message *v3 = &s->v3_message;
	struct v2c_message m = {.request_id = v3->request_id,
	    .varbinds = rbuf_of(v3->varbinds, v3->n_varbinds)};
	uint8_t source_id[EASE_AGENT_ID_LEN];
	char source[SOURCE_TEXT];

	count_slow(s, SLOW_PATH_STAT_V3_ACCEPTED);
	format_source(s, from->is_inform, source);
	from->source = source;
	if (from->is_inform) /* its engine is ours, so the address identifies the sender */
		event_source_of_address(from->from, source_id);
	else
		event_source_of_engine(v3->engine_id, v3->n_engine_id, source_id);
	from->source_id = source_id;
	if (from->is_inform)
		take_inform(s, from, &m, v3->answer, v3->n_answer);
	else
		take_varbinds(s, from, &m);
}

static void
refuse_v3(struct slow_path *s, enum v3_verdict verdict)
{
	char why[V3_REASON_MAX];

	v3_explain(s->v3, verdict, why);
	refuse_datagram(s, v3_refusals[verdict], why);
}

static void
take_v3(struct slow_path *s, struct message *from, const struct slow_queue_datagram *d)
{
	enum v3_verdict verdict;

	usm_reports_heard(&s->reports, from->from, d->n, clock_mono_us(s->config.clock));
	verdict = v3_take(s->v3, d->octets, d->n, &s->v3_message);
	stat_add(&s->stats, SLOW_PATH_STAT_V3_FORGOTTEN,
	    v3_digests_forgotten(s->v3) - stat_get(&s->stats, SLOW_PATH_STAT_V3_FORGOTTEN));
	from->is_inform = verdict == V3_INFORM;
	if (verdict == V3_TRAP || verdict == V3_INFORM) {
		take_authentic(s, from);
		return;
	}
	if (verdict == V3_PROBE)
		count_slow(s, SLOW_PATH_STAT_V3_PROBES);
	else
		refuse_v3(s, verdict);
	send_report(s, from);
}

static bool
is_v3(const struct slow_queue_datagram *d)
{
	struct v2c_message m;
	struct rbuf body;

	return v2c_open(&m, &body, d->octets, d->n) == 0 && m.version == V2C_VERSION_3;
}

void
slow_path_run(struct slow_path *s)
{
	const struct slow_queue_datagram *d;

	while ((d = slow_queue_first(s->queue)) != NULL) {
		struct message from = {.from = (const struct sockaddr *)&d->from, .fd = d->fd};

		endpoint_format(from.from, false, s->sender);
		if (s->takes_v3 && is_v3(d))
			take_v3(s, &from, d);
		else
			take_v2c(s, &from, d);
		slow_queue_done(s->queue);
	}
}

size_t
slow_path_engines(const struct slow_path *s)
{
	return s->v3 ? v3_engines(s->v3) : 0;
}

bool
slow_path_next_engine(struct slow_path *s, struct v3_engine_time *heard)
{
	return s->v3 && v3_next_engine(s->v3, heard);
}

void
slow_path_mark_engines(struct slow_path *s)
{
	if (s->v3)
		v3_mark_engines(s->v3);
}

void
slow_path_restore_engine(struct slow_path *s, const struct v3_engine_time *heard)
{
	if (s->v3)
		v3_restore_engine(s->v3, heard);
}

void
slow_path_restore_event(struct slow_path *s, uint64_t identity, uint64_t received_us)
{
	remember_event(s, identity, received_us);
}

void
slow_path_submitted(struct slow_path *s, uint64_t batch)
{
	inform_replies_submitted(s->replies, batch);
}

void
slow_path_committed(struct slow_path *s, uint64_t batch)
{
	size_t failed = 0;

	stat_add(&s->stats, SLOW_PATH_STAT_INFORMS_ANSWERED, inform_replies_committed(s->replies, batch, &failed));
	stat_add(&s->stats, SLOW_PATH_STAT_SEND_ERRORS, failed);
}
