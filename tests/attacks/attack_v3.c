#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "tests/attacks/attack_v3.h"

#include "common/buf.h"

#include <stdlib.h>
#include <string.h>

enum {
	TAG_INTEGER = 0x02,
	TAG_OCTETS = 0x04,
	TAG_SEQUENCE = 0x30,
	VERSION_3 = 3,
	USM = 3,
	FLAGS_AUTH_PRIV = 0x03,
	MAC_OCTETS = 24, /* usmHMAC192SHA256AuthProtocol */
	SALT_OCTETS = 8,
	AES_KEY_OCTETS = 16,
	MESSAGE_MAX = 65507,
	LONG_HEADER = 4,
};

static const oid hmac_sha256[] = {1, 3, 6, 1, 6, 3, 10, 1, 1, 5};
static const oid aes[] = {1, 3, 6, 1, 6, 3, 10, 1, 2, 4};

static void
must(bool good)
{
	if (!good)
		abort();
}

void
attack_v3_begin(void)
{
	must(sc_init() == SNMPERR_SUCCESS);
}

/* A passphrase's key, the same at all engines: made once, as it takes milliseconds. */
struct passphrase_key {
	const char *passphrase;
	u_char ku[USM_LENGTH_KU_HASHBLOCK];
	size_t n_ku;
};

/* The key of a passphrase at this engine. */
static void
localize(struct attack_v3_user *user, struct passphrase_key *made, const char *passphrase, uint8_t key[ATTACK_V3_KEY_OCTETS])
{
	size_t n = ATTACK_V3_KEY_OCTETS;

	if (!made->passphrase || strcmp(made->passphrase, passphrase) != 0) {
		made->n_ku = sizeof(made->ku);
		must(generate_Ku(hmac_sha256, OID_LENGTH(hmac_sha256), (const u_char *)passphrase,
			 strlen(passphrase), made->ku, &made->n_ku) == SNMPERR_SUCCESS);
		made->passphrase = passphrase;
	}
	must(generate_kul(hmac_sha256, OID_LENGTH(hmac_sha256), user->engine_id, sizeof(user->engine_id),
		 made->ku, made->n_ku, key, &n) == SNMPERR_SUCCESS);
}

void
attack_v3_user(struct attack_v3_user *user, const char *name, const uint8_t agent_id[8],
    const char *auth_passphrase, const char *priv_passphrase)
{
	static const uint8_t begins[] = {0x80, 0x00, 0x1f, 0x88, 0x05};
	static struct passphrase_key auth, priv;

	*user = (struct attack_v3_user){.name = name};
	memcpy(user->engine_id, begins, sizeof(begins));
	memcpy(user->engine_id + sizeof(begins), agent_id, 8);
	localize(user, &auth, auth_passphrase, user->auth_key);
	localize(user, &priv, priv_passphrase, user->priv_key);
}

/* All lengths in two octets, which is valid. */
static void
put_header(struct wbuf *w, uint8_t tag, size_t len)
{
	wbuf_u8(w, tag);
	wbuf_u8(w, 0x82);
	wbuf_be16(w, (uint16_t)len);
}

static void
put_octets(struct wbuf *w, uint8_t tag, const void *octets, size_t n)
{
	put_header(w, tag, n);
	wbuf_put(w, octets, n);
}

/* Always five octets, so that it is never negative. */
static void
put_integer(struct wbuf *w, uint32_t value)
{
	const uint8_t octets[] = {0, (uint8_t)(value >> 24), (uint8_t)(value >> 16),
	    (uint8_t)(value >> 8), (uint8_t)value};
	size_t skip = 0;

	while (skip < 4 && octets[skip] == 0 && !(octets[skip + 1] & 0x80))
		skip++;
	put_octets(w, TAG_INTEGER, octets + skip, sizeof(octets) - skip);
}

/* Behind version and community, each with a header of its own. */
static const uint8_t *
find_pdu(const uint8_t *v2c, size_t n, size_t *len)
{
	size_t at = LONG_HEADER;

	for (int i = 0; i < 2; i++)
		at += LONG_HEADER + ((size_t)v2c[at + 2] << 8 | v2c[at + 3]);
	*len = n - at;
	return v2c + at;
}

static size_t
put_scoped(const struct attack_v3_user *user, const uint8_t *pdu, size_t n, uint8_t *octets, size_t room)
{
	struct wbuf w = wbuf_of(octets, room);

	put_header(&w, TAG_SEQUENCE, LONG_HEADER + sizeof(user->engine_id) + LONG_HEADER + n);
	put_octets(&w, TAG_OCTETS, user->engine_id, sizeof(user->engine_id));
	put_octets(&w, TAG_OCTETS, "", 0);
	wbuf_put(&w, pdu, n);
	must(!w.failed);
	return w.len;
}

static size_t
encrypt(struct attack_v3_user *user, uint32_t boots, uint32_t time_s, const uint8_t salt[SALT_OCTETS],
    const uint8_t *plain, size_t n, uint8_t *cipher, size_t room)
{
	uint8_t iv[16];
	struct wbuf w = wbuf_of(iv, sizeof(iv));

	wbuf_be32(&w, boots);
	wbuf_be32(&w, time_s);
	wbuf_put(&w, salt, SALT_OCTETS);
	must(sc_encrypt(aes, OID_LENGTH(aes), user->priv_key, AES_KEY_OCTETS, iv, sizeof(iv), plain,
		 (u_int)n, cipher, &room) == SNMPERR_SUCCESS);
	return room;
}

size_t
attack_v3_message(struct attack_v3_user *user, uint32_t boots, uint32_t time_s, const uint8_t *v2c, size_t n,
    uint8_t *octets, size_t room)
{
	static uint8_t plain[MESSAGE_MAX], cipher[MESSAGE_MAX], global[64], usm[256];
	static const uint8_t flags = FLAGS_AUTH_PRIV, no_mac[MAC_OCTETS];
	uint8_t salt[SALT_OCTETS], mac[MAC_OCTETS];
	size_t len, n_mac = sizeof(mac), mac_at, n_plain, n_cipher;
	const uint8_t *pdu = find_pdu(v2c, n, &len);
	struct wbuf g = wbuf_of(global, sizeof(global)), u = wbuf_of(usm, sizeof(usm));
	struct wbuf w = wbuf_of(octets, room), s = wbuf_of(salt, sizeof(salt));

	wbuf_be64(&s, ++user->salt);
	n_plain = put_scoped(user, pdu, len, plain, sizeof(plain));
	n_cipher = encrypt(user, boots, time_s, salt, plain, n_plain, cipher, sizeof(cipher));
	put_integer(&g, (uint32_t)user->salt & 0x7fffffff); /* msgID */
	put_integer(&g, MESSAGE_MAX);
	put_octets(&g, TAG_OCTETS, &flags, 1);
	put_integer(&g, USM);
	put_octets(&u, TAG_OCTETS, user->engine_id, sizeof(user->engine_id));
	put_integer(&u, boots);
	put_integer(&u, time_s);
	put_octets(&u, TAG_OCTETS, user->name, strlen(user->name));
	mac_at = u.len + LONG_HEADER;
	put_octets(&u, TAG_OCTETS, no_mac, sizeof(no_mac));
	put_octets(&u, TAG_OCTETS, salt, sizeof(salt));
	put_header(&w, TAG_SEQUENCE, LONG_HEADER + 1 + LONG_HEADER + g.len + 2 * LONG_HEADER + u.len +
	    LONG_HEADER + n_cipher);
	put_integer(&w, VERSION_3);
	put_octets(&w, TAG_SEQUENCE, global, g.len);
	put_header(&w, TAG_OCTETS, LONG_HEADER + u.len);
	put_header(&w, TAG_SEQUENCE, u.len);
	mac_at += w.len;
	wbuf_put(&w, usm, u.len);
	put_octets(&w, TAG_OCTETS, cipher, n_cipher);
	must(!w.failed && !g.failed && !u.failed);
	must(sc_generate_keyed_hash(hmac_sha256, OID_LENGTH(hmac_sha256), user->auth_key,
		 sizeof(user->auth_key), octets, (u_int)w.len, mac, &n_mac) == SNMPERR_SUCCESS);
	memcpy(octets + mac_at, mac, sizeof(mac));
	return w.len;
}
