#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/library/keytools.h>
#include <net-snmp/library/scapi.h>

#include "agent/snmp/usm.h"

#include "agent/snmp/trap_sink.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	VERSION_3 = 3,
	MODEL_USM = 3,
	FLAGS_AUTH_PRIV = 3, /* a trap is not reportable */
	MESSAGE_MAX = 65507, /* msgMaxSize: the largest UDP datagram */
	KEY_MAX = 64,
	SALT_OCTETS = 8,
};

struct protocol {
	const oid *id;
	size_t n_id;
};

struct key {
	u_char octets[KEY_MAX];
	size_t n;
};

struct usm {
	char name[TRAP_SINK_USER_MAX + 1];
	uint8_t engine_id[USM_ENGINE_ID_OCTETS];
	int32_t boots;
	struct protocol auth, priv;
	int priv_type;
	size_t digest_octets;
	struct key auth_key, priv_key; /* localized */
	uint64_t salt; /* different in each message: RFC 3826 section 3.1.2.1 */
	uint8_t scoped[TRAP_MESSAGE_ROOM]; /* the scoped PDU, not encrypted */
};

void
usm_engine_id(const struct notify_source *source, uint8_t id[USM_ENGINE_ID_OCTETS])
{
	static const uint8_t head[] = {0x80, 0x00, 0x1f, 0x88, 0x05};

	memcpy(id, head, sizeof(head));
	memcpy(id + sizeof(head), source->agent_id, sizeof(source->agent_id));
}

/* ---- keys ---- */

/* Derives the key for our engine from a passphrase (RFC 3414 appendix A.2). */
static int
usm_make_key(const struct usm *usm, const char *passphrase, struct key *key)
{
	u_char general[KEY_MAX];
	size_t n = sizeof(general);
	int rc;

	key->n = sizeof(key->octets);
	rc = generate_Ku(usm->auth.id, (u_int)usm->auth.n_id, (const u_char *)passphrase,
	    strlen(passphrase), general, &n);
	if (rc == SNMPERR_SUCCESS)
		rc = generate_kul(usm->auth.id, (u_int)usm->auth.n_id, usm->engine_id,
		    sizeof(usm->engine_id), general, n, key->octets, &key->n);
	explicit_bzero(general, sizeof(general));
	return rc == SNMPERR_SUCCESS ? 0 : -EINVAL;
}

/* A cipher may need a longer key than the digest gives; the library then allocates a new one. */
static int
extend_key(const struct usm *usm, struct key *key)
{
	size_t wanted = (size_t)sc_get_proper_priv_length_bytype(usm->priv_type), n = key->n;
	u_char *longer = malloc(KEY_MAX);
	int rc;

	if (!longer)
		return -ENOMEM;
	memcpy(longer, key->octets, n);
	rc = netsnmp_extend_kul((u_int)wanted, (oid *)(uintptr_t)usm->auth.id,
	    (u_int)usm->auth.n_id, usm->priv_type, (u_char *)(uintptr_t)usm->engine_id,
	    sizeof(usm->engine_id), &longer, &n, KEY_MAX);
	if (rc == SNMPERR_SUCCESS && n >= wanted && n <= sizeof(key->octets)) {
		memcpy(key->octets, longer, n);
		key->n = wanted;
	} else {
		rc = -EINVAL;
	}
	explicit_bzero(longer, n < KEY_MAX ? n : KEY_MAX);
	free(longer);
	return rc == SNMPERR_SUCCESS ? 0 : -EINVAL;
}

static int
set_keys(struct usm *usm, const struct usm_user *user)
{
	int auth_type = usm_lookup_auth_type(user->auth_protocol), rc;

	usm->priv_type = usm_lookup_priv_type(user->priv_protocol);
	if (auth_type < 0 || usm->priv_type < 0)
		return -ENOTSUP;
	usm->auth.id = sc_get_auth_oid(auth_type, &usm->auth.n_id);
	usm->priv.id = sc_get_priv_oid(usm->priv_type, &usm->priv.n_id);
	if (!usm->auth.id || !usm->priv.id)
		return -ENOTSUP;
	usm->digest_octets = (size_t)sc_get_auth_maclen(auth_type);
	rc = usm_make_key(usm, user->auth_passphrase, &usm->auth_key);
	if (rc == 0)
		rc = usm_make_key(usm, user->priv_passphrase, &usm->priv_key);
	return rc == 0 ? extend_key(usm, &usm->priv_key) : rc;
}

int
usm_create(const struct usm_user *user, const struct notify_source *source, struct usm **out)
{
	struct usm *usm;
	int rc;

	if (strlen(user->name) > TRAP_SINK_USER_MAX ||
	    strlen(user->auth_passphrase) < TRAP_SINK_PASSPHRASE_MIN ||
	    strlen(user->priv_passphrase) < TRAP_SINK_PASSPHRASE_MIN)
		return -EINVAL;
	usm = calloc(1, sizeof(*usm));
	if (!usm)
		return -ENOMEM;
	strcpy(usm->name, user->name);
	usm->boots = (int32_t)(source->boot & INT32_MAX);
	usm_engine_id(source, usm->engine_id);
	rc = getrandom(&usm->salt, sizeof(usm->salt), 0) < 0 ? -errno : set_keys(usm, user);
	if (rc < 0)
		usm_destroy(usm);
	else
		*out = usm;
	return rc;
}

void
usm_destroy(struct usm *usm)
{
	if (!usm)
		return;
	explicit_bzero(usm, sizeof(*usm));
	free(usm);
}

/* ---- messages ---- */

static void
put_scoped_pdu(const struct usm *usm, struct ber_writer *w, const struct trap_message *m)
{
	size_t end = ber_octets(w);

	trap_message_put_pdu(w, m);
	ber_put_octets(w, BER_TAG_OCTETS, "", 0); /* contextName */
	ber_put_octets(w, BER_TAG_OCTETS, usm->engine_id, sizeof(usm->engine_id));
	ber_wrap(w, BER_TAG_SEQUENCE, end);
}

/* The IV is boots, time and salt (RFC 3826 section 3.1.2.1). */
static void
put_encrypted(struct usm *usm, struct ber_writer *w, const struct ber_writer *clear, uint32_t time_s, uint64_t salt)
{
	struct {
		uint32_t boots, time_s;
		uint64_t salt;
	} iv = {htobe32((uint32_t)usm->boots), htobe32(time_s), salt};
	size_t end = ber_octets(w), n = ber_octets(clear), n_encrypted = n;
	uint8_t *encrypted = ber_reserve(w, n);

	_Static_assert(sizeof(iv) == 16, "an AES block");
	if (clear->failed)
		w->failed = true;
	if (w->failed)
		return;
	if (sc_encrypt(usm->priv.id, usm->priv.n_id, usm->priv_key.octets, (u_int)usm->priv_key.n,
		(u_char *)&iv, sizeof(iv), clear->data + clear->at, (u_int)n, encrypted,
		&n_encrypted) != SNMPERR_SUCCESS ||
	    n_encrypted != n)
		w->failed = true;
	ber_wrap(w, BER_TAG_OCTETS, end);
}

/* Returns the position of the digest, which is zeros until the message is complete. */
static size_t
put_security(const struct usm *usm, struct ber_writer *w, uint32_t time_s, uint64_t salt)
{
	static const uint8_t zeros[KEY_MAX];
	size_t end = ber_octets(w), digest_at;

	ber_put_octets(w, BER_TAG_OCTETS, &salt, SALT_OCTETS);
	ber_put_octets(w, BER_TAG_OCTETS, zeros, usm->digest_octets);
	digest_at = w->at + 2;
	ber_put_octets(w, BER_TAG_OCTETS, usm->name, strlen(usm->name));
	ber_put_integer(w, BER_TAG_INTEGER, time_s);
	ber_put_integer(w, BER_TAG_INTEGER, usm->boots);
	ber_put_octets(w, BER_TAG_OCTETS, usm->engine_id, sizeof(usm->engine_id));
	ber_wrap(w, BER_TAG_SEQUENCE, end);
	ber_wrap(w, BER_TAG_OCTETS, end);
	return digest_at;
}

static void
usm_put_header(struct ber_writer *w, int32_t message_id)
{
	static const uint8_t flags = FLAGS_AUTH_PRIV;
	size_t end = ber_octets(w);

	ber_put_integer(w, BER_TAG_INTEGER, MODEL_USM);
	ber_put_octets(w, BER_TAG_OCTETS, &flags, 1);
	ber_put_integer(w, BER_TAG_INTEGER, MESSAGE_MAX);
	ber_put_integer(w, BER_TAG_INTEGER, message_id);
	ber_wrap(w, BER_TAG_SEQUENCE, end);
}

static void
sign_message(const struct usm *usm, struct ber_writer *w, size_t end, size_t digest_at)
{
	u_char digest[KEY_MAX];
	size_t n = sizeof(digest);

	if (w->failed)
		return;
	if (sc_generate_keyed_hash(usm->auth.id, usm->auth.n_id, usm->auth_key.octets,
		(u_int)usm->auth_key.n, w->data + w->at, (u_int)(ber_octets(w) - end), digest,
		&n) != SNMPERR_SUCCESS ||
	    n < usm->digest_octets)
		w->failed = true;
	else
		memcpy(w->data + digest_at, digest, usm->digest_octets);
}

void
usm_put_message(struct usm *usm, struct ber_writer *w, const struct trap_message *m, uint32_t time_s)
{
	struct ber_writer clear = ber_writer_of(usm->scoped, sizeof(usm->scoped));
	size_t end = ber_octets(w), digest_at;
	uint64_t salt = usm->salt++;

	put_scoped_pdu(usm, &clear, m);
	put_encrypted(usm, w, &clear, time_s, salt);
	digest_at = put_security(usm, w, time_s, salt);
	usm_put_header(w, m->request_id);
	ber_put_integer(w, BER_TAG_INTEGER, VERSION_3);
	ber_wrap(w, BER_TAG_SEQUENCE, end);
	sign_message(usm, w, end, digest_at);
}
