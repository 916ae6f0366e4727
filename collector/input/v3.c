#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/library/large_fd_set.h>

#include "collector/input/v3.h"

#include "collector/input/netsnmp_reader.h"
#include "collector/input/v3_window.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#define APP_NAME "easecapd"

enum {
	AUTH_PRIV = V3_FLAG_AUTH | V3_FLAG_PRIV,
	HEX_MAX = 2 + 2 * V3_ENGINE_ID_MAX + 1,
	ENGINE_ID_OCTETS = 13, /* ours: 4 of the enterprise, 1 of the format, 8 random */
	FILE_MODE = 0600,
};

struct v3 {
	const struct clock *clock;
	struct session_list *session;
	netsnmp_large_fd_set ready; /* says to the library that its transport is readable */
	int fd;			    /* of the transport; nothing is sent through it */
	uint8_t own_id[V3_ENGINE_ID_MAX];
	size_t n_own_id;
	struct v3_engine *engines; /* those that users name */
	size_t n_engines;
	size_t next_engine; /* where v3_next_engine continues */
	struct v3_digests digests;
	/* the current datagram */
	const uint8_t *octets;
	size_t n;
	int parse_result; /* of the library */
	int command;	  /* of the PDU that the library accepted; 0: none */
	struct v3_header header;
	struct v3_message *message;
};

/* Engine IDs */

static void
format_engine_id(const uint8_t *id, size_t n, char text[HEX_MAX])
{
	snprintf(text, HEX_MAX, "0x");
	for (size_t i = 0; i < n; i++)
		text_add(text, HEX_MAX, "%02x", id[i]);
}

static bool
is_id(const struct rbuf *id, const uint8_t *other, size_t n_other)
{
	return id->size == n_other && memcmp(id->data, other, n_other) == 0;
}

static struct v3_engine *
find_engine(const struct v3 *v, const struct rbuf *id)
{
	for (size_t i = 0; i < v->n_engines; i++)
		if (is_id(id, v->engines[i].id, v->engines[i].n_id))
			return &v->engines[i];
	return NULL;
}

/* Our own engine ID: RFC 3411 section 5, format 5 (octets), with the enterprise of NET-SNMP, as our
 * MIB's root. A file of one line, "0x… BOOTS", keeps it and its boots over restarts. */

static int
new_own_id(struct v3 *v)
{
	static const uint8_t head[] = {0x80, 0x00, 0x1f, 0x88, 0x05};

	memcpy(v->own_id, head, sizeof(head));
	v->n_own_id = ENGINE_ID_OCTETS;
	if (getrandom(v->own_id + sizeof(head), ENGINE_ID_OCTETS - sizeof(head), 0) < 0)
		return -errno;
	return 0;
}

static int
read_engine_file(struct v3 *v, const char *file, unsigned long *boots)
{
	char text[HEX_MAX];
	FILE *f = fopen(file, "re");
	int r = 0;

	*boots = 0;
	if (!f)
		return errno == ENOENT ? new_own_id(v) : -errno;
	if (fscanf(f, "%66s %lu", text, boots) != 2 || *boots >= INT32_MAX)
		r = -EBADMSG;
	else
		v->n_own_id = v3_engine_id_parse(text, v->own_id);
	fclose(f);
	return v->n_own_id ? r : -EBADMSG;
}

/* Writes a new file and renames it, so that a crash cannot leave boots that were used before. */
static int
write_engine_file(const struct v3 *v, const char *file, unsigned long boots)
{
	char id[HEX_MAX], text[HEX_MAX + 16], new[4096];
	int fd, n, r = 0;

	format_engine_id(v->own_id, v->n_own_id, id);
	n = snprintf(text, sizeof(text), "%s %lu\n", id, boots);
	if (snprintf(new, sizeof(new), "%s.new", file) >= (int)sizeof(new))
		return -ENAMETOOLONG;
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)n) != n || fsync(fd) < 0)
		r = errno ? -errno : -EIO;
	close(fd);
	return r == 0 && rename(new, file) < 0 ? -errno : r;
}

/* The library */

static void
remember_setting(const char *token, const char *value)
{
	char line[HEX_MAX + 64];

	snprintf(line, sizeof(line), "[" APP_NAME "] %s %s", token, value);
	netsnmp_config_remember(line);
}

/* Starts the library without the host's Net-SNMP configuration. boots: of the last start. */
static void
start_library(const struct v3 *v, unsigned long boots)
{
	char id[HEX_MAX], number[24];

	setenv("MIBS", "", 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	format_engine_id(v->own_id, v->n_own_id, id);
	snprintf(number, sizeof(number), "%lu", boots);
	remember_setting("exactEngineID", id);
	remember_setting("oldEngineID", id); /* else the library sets boots to 1, as for a new engine */
	remember_setting("engineBoots", number);
	init_snmp(APP_NAME);
}

/* The transport: delivers the datagram of v3_take, and stores the answer. */

static int
give_datagram(netsnmp_transport *t, void *buffer, int size, void **opaque, int *opaque_octets)
{
	const struct v3 *v = t->data;
	int n = v->n < (size_t)size ? (int)v->n : size;

	memcpy(buffer, v->octets, (size_t)n);
	*opaque = NULL;
	*opaque_octets = 0;
	return n;
}

static int
v3_take_answer(netsnmp_transport *t, const void *octets, int n, void **opaque, int *opaque_octets)
{
	struct v3_message *m = ((struct v3 *)t->data)->message;

	(void)opaque;
	(void)opaque_octets;
	if (n < 0 || (size_t)n > sizeof(m->answer))
		return -1;
	memcpy(m->answer, octets, (size_t)n);
	m->n_answer = (size_t)n;
	return n;
}

static int
close_transport(netsnmp_transport *t)
{
	t->data = NULL; /* ours: the library must not free it */
	t->data_length = 0;
	return 0;
}

static netsnmp_transport *
new_transport(struct v3 *v)
{
	netsnmp_transport *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->domain = netsnmpUDPDomain;
	t->domain_length = (int)netsnmpUDPDomain_len;
	t->sock = v->fd;
	t->data = v;
	t->msgMaxSize = RECEIVE_DATAGRAM_MAX;
	t->f_recv = give_datagram;
	t->f_send = v3_take_answer;
	t->f_close = close_transport;
	return t;
}

/* The library calls this with its verdict on a message, before it calls on_pdu. */
static int
on_parsed(netsnmp_session *session, netsnmp_pdu *pdu, int result)
{
	struct v3 *v = session->callback_magic;

	(void)pdu;
	v->parse_result = result;
	return 1;
}

/* Answers */

static void
v3_send_response(struct v3 *v, netsnmp_pdu *pdu, bool too_big)
{
	netsnmp_pdu *response = snmp_clone_pdu(pdu);

	v->message->n_answer = 0;
	if (!response)
		return;
	response->command = SNMP_MSG_RESPONSE;
	response->errstat = too_big ? SNMP_ERR_TOOBIG : SNMP_ERR_NOERROR;
	response->errindex = 0;
	if (too_big) {
		snmp_free_varbind(response->variables);
		response->variables = NULL;
	}
	if (!snmp_sess_send(v->session, response))
		snmp_free_pdu(response);
}

/* RFC 3416 section 4.2.7: the Response has the same variable bindings; if that is more than the
 * sender accepts, it has none, and the error tooBig. */
static void
answer_inform(struct v3 *v, netsnmp_pdu *pdu)
{
	v3_send_response(v, pdu, false);
	if (v->message->n_answer == 0 || v->message->n_answer > (size_t)v->header.max_octets)
		v3_send_response(v, pdu, true);
}

/* Encodes the variable bindings for the decoder of SNMPv2c. */
static bool
encode_varbinds(const netsnmp_pdu *pdu, struct v3_message *m)
{
	struct wbuf w = wbuf_of(m->varbinds, sizeof(m->varbinds));

	netsnmp_put_varbinds(&w, pdu);
	m->n_varbinds = w.failed ? 0 : w.len;
	return !w.failed;
}

/* The library also calls this for a message with a wrong digest; then s_snmp_errno is set. */
static int
on_pdu(int operation, netsnmp_session *session, int request_id, netsnmp_pdu *pdu, void *arg)
{
	struct v3 *v = arg;

	(void)request_id;
	if (operation != NETSNMP_CALLBACK_OP_RECEIVED_MESSAGE || session->s_snmp_errno != 0)
		return 1;
	v->command = pdu->command;
	v->message->request_id = (int32_t)pdu->reqid;
	if ((v->command != SNMP_MSG_INFORM && v->command != SNMP_MSG_TRAP2) || !encode_varbinds(pdu, v->message))
		v->command = SNMP_MSG_RESPONSE; /* any command that is neither */
	if (v->command == SNMP_MSG_INFORM)
		answer_inform(v, pdu);
	return 1;
}

/* Users */

/* A passphrase's key (RFC 3414 appendix A.2), not yet localized: the digest of a MiB, milliseconds of work. The last
 * two are kept while users are added, because the engines of a user have the same, and often all users have. */
struct passphrase_key {
	const char *passphrase; /* of the users that are added; NULL: none yet */
	const char *auth_protocol;
	u_char key[USM_AUTH_KU_LEN];
	size_t octets;
};
struct passphrase_keys {
	struct passphrase_key auth, priv;
};

static int
v3_make_key(struct passphrase_key *last, const netsnmp_session *s, const char *auth_protocol, const char *passphrase,
    u_char *key, size_t *octets)
{
	if (!last->passphrase || strcmp(last->passphrase, passphrase) != 0 ||
	    strcmp(last->auth_protocol, auth_protocol) != 0) {
		last->passphrase = NULL;
		last->octets = sizeof(last->key);
		if (generate_Ku(s->securityAuthProto, (u_int)s->securityAuthProtoLen, (const u_char *)passphrase,
			strlen(passphrase), last->key, &last->octets) != SNMPERR_SUCCESS)
			return -EINVAL;
		last->passphrase = passphrase;
		last->auth_protocol = auth_protocol;
	}
	memcpy(key, last->key, last->octets);
	*octets = last->octets;
	return 0;
}

static int
add_user(struct passphrase_keys *keys, const struct v3_user *u, const uint8_t *engine_id, size_t n_engine_id)
{
	netsnmp_session s;
	int r;

	snmp_sess_init(&s);
	s.version = SNMP_VERSION_3;
	s.securityModel = SNMP_SEC_MODEL_USM;
	s.securityName = (char *)u->name;
	s.securityNameLen = strlen(u->name);
	s.securityEngineID = (u_char *)engine_id;
	s.securityEngineIDLen = n_engine_id;
	s.securityAuthProto = sc_get_auth_oid(usm_lookup_auth_type(u->auth_protocol), &s.securityAuthProtoLen);
	s.securityPrivProto = sc_get_priv_oid(usm_lookup_priv_type(u->priv_protocol), &s.securityPrivProtoLen);
	if (!s.securityAuthProto || !s.securityPrivProto)
		return -ENOTSUP;
	r = v3_make_key(&keys->auth, &s, u->auth_protocol, u->auth_passphrase, s.securityAuthKey, &s.securityAuthKeyLen);
	if (r == 0)
		r = v3_make_key(&keys->priv, &s, u->auth_protocol, u->priv_passphrase, s.securityPrivKey,
		    &s.securityPrivKeyLen);
	if (r == 0 && usm_create_user_from_session(&s) != SNMPERR_SUCCESS)
		r = -EINVAL;
	memset(s.securityAuthKey, 0, sizeof(s.securityAuthKey));
	memset(s.securityPrivKey, 0, sizeof(s.securityPrivKey));
	return r;
}

static void
note_engine(struct v3 *v, const uint8_t *id, size_t n)
{
	const struct rbuf wanted = rbuf_of(id, n);
	struct v3_engine *e = &v->engines[v->n_engines];

	if (find_engine(v, &wanted))
		return;
	*e = (struct v3_engine){.n_id = n};
	memcpy(e->id, id, n);
	v->n_engines++;
}

/* What users name, and of what they named before what was known of it. */
static int
note_engines(struct v3 *v, const struct v3_user *users, size_t n)
{
	struct v3_engine *before = v->engines;
	size_t n_before = v->n_engines, n_ids = 0;
	uint8_t id[V3_ENGINE_ID_MAX];

	for (size_t i = 0; i < n; i++)
		n_ids += users[i].n_engine_ids;
	v->engines = calloc(n_ids + 1, sizeof(*v->engines));
	if (!v->engines) {
		v->engines = before;
		return -ENOMEM;
	}
	v->n_engines = v->next_engine = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < users[i].n_engine_ids; e++)
			note_engine(v, id, v3_engine_id_parse(users[i].engine_ids[e], id));
	for (size_t i = 0; i < n_before; i++) {
		const struct rbuf known = rbuf_of(before[i].id, before[i].n_id);
		struct v3_engine *e = find_engine(v, &known);

		if (e)
			*e = before[i];
	}
	free(before);
	return 0;
}

/* Adds a user with all its engines. Stops at the first mistake. */
static int
v3_add_all(struct v3 *v, struct passphrase_keys *keys, const struct v3_user *u, char *error, size_t error_size)
{
	int r = add_user(keys, u, v->own_id, v->n_own_id);

	for (size_t e = 0; r == 0 && e < u->n_engine_ids; e++) {
		uint8_t id[V3_ENGINE_ID_MAX];
		size_t n_id = v3_engine_id_parse(u->engine_ids[e], id);

		r = n_id ? add_user(keys, u, id, n_id) : -EINVAL;
	}
	if (r < 0)
		snprintf(error, error_size, "user \"%s\": %s", u->name,
		    r == -ENOTSUP ? "the installed Net-SNMP library lacks its protocols"
				  : strerror(-r));
	return r;
}

static void
remove_user(const char *name, uint8_t *engine_id, size_t n_engine_id)
{
	struct usmUser *user = usm_get_user(engine_id, n_engine_id, (char *)(uintptr_t)name);

	if (!user)
		return;
	usm_remove_user(user);
	usm_free_user(user);
}

static void
remove_all(struct v3 *v, const struct v3_user *u)
{
	remove_user(u->name, v->own_id, v->n_own_id);
	for (size_t e = 0; e < u->n_engine_ids; e++) {
		uint8_t id[V3_ENGINE_ID_MAX];
		size_t n_id = v3_engine_id_parse(u->engine_ids[e], id);

		remove_user(u->name, id, n_id);
	}
}

static bool
v3_is_among(const struct v3_user *u, const struct v3_user *users, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool same = strcmp(u->name, users[i].name) == 0 &&
		    strcmp(u->auth_protocol, users[i].auth_protocol) == 0 &&
		    strcmp(u->priv_protocol, users[i].priv_protocol) == 0 &&
		    strcmp(u->auth_passphrase, users[i].auth_passphrase) == 0 &&
		    strcmp(u->priv_passphrase, users[i].priv_passphrase) == 0 &&
		    u->n_engine_ids == users[i].n_engine_ids;

		for (size_t e = 0; same && e < u->n_engine_ids; e++)
			same = strcmp(u->engine_ids[e], users[i].engine_ids[e]) == 0;
		if (same)
			return true;
	}
	return false;
}

int
v3_change_users(struct v3 *v, const struct v3_user *before, size_t n_before,
    const struct v3_user *users, size_t n, char *error, size_t error_size)
{
	struct passphrase_keys keys = {0};
	int r, first;

	for (size_t i = 0; i < n_before; i++) /* first, because it cannot fail */
		if (!v3_is_among(&before[i], users, n))
			remove_all(v, &before[i]);
	first = r = note_engines(v, users, n);
	if (r < 0) {
		snprintf(error, error_size, "out of memory");
		return r;
	}
	for (size_t i = 0; i < n; i++) {
		r = v3_is_among(&users[i], before, n_before)
		    ? 0 : v3_add_all(v, &keys, &users[i], error, first ? 0 : error_size);
		first = first ? first : r;
	}
	explicit_bzero(&keys, sizeof(keys));
	return first;
}

/* Opening */

static int
open_session(struct v3 *v, char *error, size_t error_size)
{
	netsnmp_transport *transport;
	netsnmp_session s;

	snmp_sess_init(&s);
	s.version = SNMP_DEFAULT_VERSION;
	s.callback = on_pdu;
	s.callback_magic = v;
	s.isAuthoritative = SNMP_SESS_UNKNOWNAUTH; /* we are for informs, not for traps */
	transport = new_transport(v);
	v->session = transport ? snmp_sess_add(&s, transport, NULL, on_parsed) : NULL;
	if (v->session)
		return 0;
	snprintf(error, error_size, "SNMPv3: %s", snmp_api_errstring(s.s_snmp_errno));
	return -ENOMEM;
}

static int
open_engine(struct v3 *v, const char *file, char *error, size_t error_size)
{
	unsigned long boots;
	int r = read_engine_file(v, file, &boots);

	if (r == 0)
		r = write_engine_file(v, file, boots + 1);
	if (r < 0) {
		snprintf(error, error_size, "%s: %s", file,
		    r == -EBADMSG ? "it does not hold an engine ID and its boots" : strerror(-r));
		return r;
	}
	start_library(v, boots);
	return 0;
}

int
v3_open(struct v3 **out, const struct v3_user *users, size_t n_users, const char *engine_file,
    const struct clock *clock, char *error, size_t error_size)
{
	struct v3 *v = calloc(1, sizeof(*v));
	int r;

	if (!v) {
		snprintf(error, error_size, "out of memory");
		return -ENOMEM;
	}
	v->clock = clock;
	v->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (v->fd < 0 || v3_digests_init(&v->digests, V3_DIGESTS) < 0) {
		snprintf(error, error_size, "SNMPv3: %s", strerror(errno));
		v3_close(v);
		return -ENOMEM;
	}
	r = open_engine(v, engine_file, error, error_size);
	if (r == 0)
		r = v3_change_users(v, NULL, 0, users, n_users, error, error_size);
	if (r == 0)
		r = open_session(v, error, error_size);
	if (r < 0) {
		v3_close(v);
		return r;
	}
	netsnmp_large_fd_set_init(&v->ready, v->fd + 1);
	*out = v;
	return 0;
}

void
v3_close(struct v3 *v)
{
	if (!v)
		return;
	if (v->session) {
		snmp_sess_close(v->session);
		netsnmp_large_fd_set_cleanup(&v->ready);
	}
	if (v->n_own_id)
		snmp_shutdown(APP_NAME);
	if (v->fd >= 0)
		close(v->fd);
	v3_digests_free(&v->digests);
	free(v->engines);
	free(v);
}

/* Handling */

/* The verdict for a message that the library refused. If the digest was right and the PDU does not
 * parse, it was decrypted with the wrong key, as AES does not check that itself. */
static enum v3_verdict
verdict_of_refusal(int result)
{
	switch (result) {
	case SNMPERR_USM_UNKNOWNENGINEID:
		return V3_UNKNOWN_ENGINE;
	case SNMPERR_USM_UNKNOWNSECURITYNAME:
		return V3_UNKNOWN_USER;
	case SNMPERR_USM_UNSUPPORTEDSECURITYLEVEL:
		return V3_BAD_LEVEL;
	case SNMPERR_USM_AUTHENTICATIONFAILURE:
		return V3_WRONG_DIGEST;
	case SNMPERR_USM_NOTINTIMEWINDOW:
		return V3_NOT_IN_WINDOW;
	case SNMPERR_USM_DECRYPTIONERROR:
	case SNMPERR_ASN_PARSE_ERR:
		return V3_BAD_DECRYPTION;
	default:
		return V3_BAD_PARSE;
	}
}

static void
read_by_library(struct v3 *v, const void *octets, size_t n)
{
	v->octets = octets;
	v->n = n;
	v->command = 0;
	v->parse_result = 0;
	netsnmp_large_fd_setfd(v->fd, &v->ready);
	snmp_sess_read2(v->session, &v->ready);
}

/* True for the requests of a sender that does not know us yet: for our engine ID (with an empty
 * one), then for our time (RFC 3414 section 4). */
static bool
is_probe(const struct v3 *v, enum v3_verdict verdict)
{
	const struct v3_header *h = &v->header;

	if (v->message->n_answer == 0)
		return false;
	if (verdict == V3_UNKNOWN_ENGINE)
		return h->engine_id.size == 0;
	return verdict == V3_NOT_IN_WINDOW && h->boots == 0 && h->time_s == 0;
}

/* Checks that an authentic message is in time and new. An inform may come again: it is answered
 * again, and those who count its records recognize them. */
static enum v3_verdict
judge_authentic(struct v3 *v, struct v3_engine *engine)
{
	uint64_t mono_us = clock_mono_us(v->clock);
	const struct v3_header *h = &v->header;

	if (v->command == SNMP_MSG_INFORM)
		return engine ? V3_BAD_PDU : V3_INFORM; /* an inform's engine is ours */
	if (v->command != SNMP_MSG_TRAP2 || !engine)
		return V3_BAD_PDU;
	if (v3_digests_seen(&v->digests, &h->digest, mono_us))
		return V3_REPLAYED;
	if (!v3_window_accepts(engine, h->boots, h->time_s, mono_us))
		return V3_NOT_IN_WINDOW;
	return V3_TRAP;
}

/* Refuses unknown engines and a security level that is too low, except for discovery. */
static enum v3_verdict
judge_claim(const struct v3 *v, const struct v3_engine *engine)
{
	const struct v3_header *h = &v->header;
	bool ours = is_id(&h->engine_id, v->own_id, v->n_own_id);

	if (h->model != V3_MODEL_USM)
		return V3_UNKNOWN_MODEL;
	if (h->flags & V3_FLAG_REPORTABLE && !engine && !ours)
		return V3_PROBE; /* the sender learns our engine; the library stores nothing */
	if (!engine && !ours)
		return V3_UNKNOWN_ENGINE;
	if ((h->flags & AUTH_PRIV) != AUTH_PRIV)
		return V3_BAD_LEVEL;
	if (h->boots == INT32_MAX)
		return V3_NOT_IN_WINDOW; /* the library would accept it, and then none after it */
	return h->digest.size < sizeof(uint64_t) ? V3_BAD_PARSE : V3_TRAP;
}

enum v3_verdict
v3_take(struct v3 *v, const void *octets, size_t n, struct v3_message *m)
{
	struct v3_engine *engine;
	enum v3_verdict verdict;

	m->n_answer = m->n_varbinds = m->n_engine_id = 0;
	v->message = m;
	if (v3_header_read(&v->header, octets, n) < 0)
		return V3_BAD_PARSE;
	engine = v->header.model == V3_MODEL_USM ? find_engine(v, &v->header.engine_id) : NULL;
	verdict = judge_claim(v, engine);
	if (verdict != V3_TRAP && verdict != V3_PROBE)
		return verdict;
	read_by_library(v, octets, n);
	if (v->command == 0 || v->parse_result != 0) {
		verdict = verdict_of_refusal(v->parse_result);
		return is_probe(v, verdict) ? V3_PROBE : verdict;
	}
	memcpy(m->engine_id, v->header.engine_id.data, v->header.engine_id.size);
	m->n_engine_id = v->header.engine_id.size;
	snprintf(m->user, sizeof(m->user), "%.*s", (int)v->header.user.size, (const char *)v->header.user.data);
	return judge_authentic(v, engine);
}

static const struct {
	const char *what, *remedy;
} reasons[V3_N_VERDICTS] = {
    [V3_UNKNOWN_ENGINE] = {"unknown engine", "add the engine to the user's engine_ids"},
    [V3_UNKNOWN_USER] = {"unknown user", "add the user, or the engine to its engine_ids"},
    [V3_WRONG_DIGEST] = {"wrong digest", "authentication protocol or passphrase differs"},
    [V3_NOT_IN_WINDOW] = {"outside the time window", "it is too old, or boots went back"},
    [V3_BAD_DECRYPTION] = {"cannot be decrypted", "privacy protocol or passphrase differs"},
    [V3_BAD_LEVEL] = {"security level too low", "authPriv is required"},
    [V3_REPLAYED] = {"replay", "the same message came before"},
    [V3_BAD_PDU] = {"wrong PDU", "neither a trap of its own engine nor an inform to ours"},
};

void
v3_explain(const struct v3 *v, enum v3_verdict verdict, char reason[V3_REASON_MAX])
{
	const struct v3_header *h = &v->header;
	char id[HEX_MAX];

	if (verdict == V3_BAD_PARSE) {
		snprintf(reason, V3_REASON_MAX, "not a valid SNMPv3 message");
		return;
	}
	if (verdict == V3_UNKNOWN_MODEL) {
		snprintf(reason, V3_REASON_MAX,
		    "security model %d; only the user-based one (3) is supported", (int)h->model);
		return;
	}
	format_engine_id(h->engine_id.data, h->engine_id.size, id);
	snprintf(reason, V3_REASON_MAX,
	    "%s: user \"%.*s\" of engine %s, boots %d, time %d s; %s", reasons[verdict].what,
	    (int)h->user.size, (const char *)h->user.data, id, (int)h->boots, (int)h->time_s,
	    reasons[verdict].remedy);
}

size_t
v3_engines(const struct v3 *v)
{
	return v->n_engines;
}

bool
v3_next_engine(struct v3 *v, struct v3_engine_time *time)
{
	for (; v->next_engine < v->n_engines; v->next_engine++) {
		struct v3_engine *e = &v->engines[v->next_engine];

		if (!e->changed)
			continue;
		e->changed = false;
		memcpy(time->engine_id, e->id, e->n_id);
		time->n_engine_id = e->n_id;
		time->boots = e->boots;
		time->time_s = e->time_s;
		return true;
	}
	v->next_engine = 0;
	return false;
}

void
v3_mark_engines(struct v3 *v)
{
	for (size_t i = 0; i < v->n_engines; i++)
		v->engines[i].changed = v->engines[i].heard;
	v->next_engine = 0;
}

void
v3_restore_engine(struct v3 *v, const struct v3_engine_time *time)
{
	const struct rbuf id = rbuf_of(time->engine_id, time->n_engine_id);
	struct v3_engine *e = find_engine(v, &id);

	if (e)
		v3_window_restore(e, time->boots, time->time_s, clock_mono_us(v->clock));
}

uint64_t
v3_digests_forgotten(const struct v3 *v)
{
	return v->digests.forgotten;
}
