/*
 * As which user of SNMPv3 a session of Net-SNMP speaks, for the processes that speak it: who asks switches
 * (poll_process.h), and who informs managers of alarms (collector/act).
 */
#ifndef EASE_COLLECTOR_POLL_SNMP_USER_H
#define EASE_COLLECTOR_POLL_SNMP_USER_H

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_job.h"

/* A passphrase's key takes milliseconds to make: those made last. Begin with zeros. */
struct snmp_user_keys {
	struct poll_credentials of;
	u_char auth[USM_AUTH_KU_LEN], priv[USM_AUTH_KU_LEN];
	size_t n_auth, n_priv;
};

/* Fills in the session, authenticated and encrypted (authPriv); its texts are those of `as`. False: this machine's library
 * does not have the protocols. */
bool snmp_user_set(netsnmp_session *session, struct poll_credentials *as, struct snmp_user_keys *keys);

#endif
