#include "collector/poll/snmp_user.h"

#include <string.h>

static bool
make_user_key(const netsnmp_session *s, const char *passphrase, u_char *key, size_t *n)
{
	*n = USM_AUTH_KU_LEN;
	return generate_Ku(s->securityAuthProto, (u_int)s->securityAuthProtoLen, (const u_char *)passphrase,
		   strlen(passphrase), key, n) == SNMPERR_SUCCESS;
}

bool
snmp_user_set(netsnmp_session *s, struct poll_credentials *as, struct snmp_user_keys *keys)
{
	s->version = SNMP_VERSION_3;
	s->securityModel = SNMP_SEC_MODEL_USM;
	s->securityLevel = SNMP_SEC_LEVEL_AUTHPRIV;
	s->securityName = as->user;
	s->securityNameLen = strlen(as->user);
	s->securityAuthProto = sc_get_auth_oid(usm_lookup_auth_type(as->auth_protocol), &s->securityAuthProtoLen);
	s->securityPrivProto = sc_get_priv_oid(usm_lookup_priv_type(as->priv_protocol), &s->securityPrivProtoLen);
	if (!s->securityAuthProto || !s->securityPrivProto)
		return false;
	if (memcmp(&keys->of, as, sizeof(*as)) != 0) {
		memset(&keys->of, 0, sizeof(keys->of));
		if (!make_user_key(s, as->auth_passphrase, keys->auth, &keys->n_auth) ||
		    !make_user_key(s, as->priv_passphrase, keys->priv, &keys->n_priv))
			return false;
		keys->of = *as;
	}
	memcpy(s->securityAuthKey, keys->auth, keys->n_auth);
	s->securityAuthKeyLen = keys->n_auth;
	memcpy(s->securityPrivKey, keys->priv, keys->n_priv);
	s->securityPrivKeyLen = keys->n_priv;
	return true;
}
