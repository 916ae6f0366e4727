#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/act/delivery.h"
#include "collector/poll/snmp_user.h"
#include "common/hash.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MS = 2000, RETRIES = 2, DATE_AND_TIME = 11 };

#define MODULE 1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 2 /* EASE-COLLECTOR-MIB */

static const oid up_time_oid[] = {1, 3, 6, 1, 2, 1, 1, 3, 0}, trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0};

/* Objects of the module by their last number but the instance's 0. */
enum { OBJECT_ID = 1, OBJECT_RULE, OBJECT_KEY, OBJECT_AGENT_ID, OBJECT_AGENT, OBJECT_IF_INDEX, OBJECT_PORT, OBJECT_SINCE,
	OBJECT_UNTIL, OBJECT_DOUBTFUL };

static void
add_object(netsnmp_pdu *pdu, oid object, u_char type, const void *value, size_t n)
{
	const oid name[] = {MODULE, 1, object, 0};

	snmp_pdu_add_variable(pdu, name, OID_LENGTH(name), type, value, n);
}

static void
add_inform_text(netsnmp_pdu *pdu, oid object, const char *text)
{
	add_object(pdu, object, ASN_OCTET_STR, text, strlen(text));
}

/* RFC 2579: DateAndTime, in UTC. */
static void
add_inform_time(netsnmp_pdu *pdu, oid object, uint64_t time_us)
{
	time_t s = (time_t)(time_us / 1000000);
	struct tm t;
	u_char octets[DATE_AND_TIME];

	gmtime_r(&s, &t);
	memcpy(octets, (const u_char[]){(u_char)((t.tm_year + 1900) >> 8), (u_char)(t.tm_year + 1900), (u_char)(t.tm_mon + 1),
	    (u_char)t.tm_mday, (u_char)t.tm_hour, (u_char)t.tm_min, (u_char)t.tm_sec, (u_char)(time_us / 100000 % 10), '+', 0, 0},
	    sizeof(octets));
	add_object(pdu, object, ASN_OCTET_STR, octets, sizeof(octets));
}

static netsnmp_pdu *
new_inform(const struct alarm_fact *f)
{
	const oid notification[] = {MODULE, 0, f->is_over ? 2 : 1};
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_INFORM);
	u_long up_time = get_uptime(), if_index = (u_long)f->if_index;
	long accused = f->is_accused ? 1 : 2; /* TruthValue */
	u_char id[8];

	if (!pdu)
		return NULL;
	for (int i = 0; i < 8; i++)
		id[i] = (u_char)(f->id >> (56 - 8 * i));
	snmp_pdu_add_variable(pdu, up_time_oid, OID_LENGTH(up_time_oid), ASN_TIMETICKS, &up_time, sizeof(up_time));
	snmp_pdu_add_variable(pdu, trap_oid, OID_LENGTH(trap_oid), ASN_OBJECT_ID, notification, sizeof(notification));
	add_object(pdu, OBJECT_ID, ASN_OCTET_STR, id, sizeof(id));
	add_inform_text(pdu, OBJECT_RULE, f->rule);
	add_inform_text(pdu, OBJECT_KEY, f->key);
	add_inform_text(pdu, OBJECT_AGENT_ID, f->agent_id);
	add_inform_text(pdu, OBJECT_AGENT, f->agent);
	add_object(pdu, OBJECT_IF_INDEX, ASN_UNSIGNED, &if_index, sizeof(if_index));
	add_inform_text(pdu, OBJECT_PORT, f->port);
	add_inform_time(pdu, OBJECT_SINCE, f->raised_us);
	if (f->is_over)
		add_inform_time(pdu, OBJECT_UNTIL, f->over_us);
	add_object(pdu, OBJECT_DOUBTFUL, ASN_INTEGER, &accused, sizeof(accused));
	return pdu;
}

int
deliver_by_inform(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json)
{
	struct poll_credentials as = receiver->as;
	struct snmp_user_keys keys = {.n_auth = 0};
	netsnmp_session s, *session = NULL;
	netsnmp_pdu *answer = NULL, *pdu;
	char peer[RECEIVER_TARGET + 8];
	char *reason = NULL;
	int status = STAT_ERROR, error = 0;

	(void)json;
	setenv("MIBS", "", 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_string(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_PERSISTENT_DIR, "/dev/null");
	snmp_enable_calllog(); /* nobody takes what it says */
	init_snmp("easecapd-act");
	snmp_sess_init(&s);
	snprintf(peer, sizeof(peer), *receiver->target == '[' ? "udp6:%s" : "udp:%s", receiver->target);
	s.version = SNMP_VERSION_2c;
	s.peername = peer;
	s.timeout = ANSWER_MS * 1000L;
	s.retries = RETRIES;
	if (as.community[0]) {
		s.community = (u_char *)as.community;
		s.community_len = strlen(as.community);
	} else if (!snmp_user_set(&s, &as, &keys)) { /* the library asks the receiver for its engine first */
		fputs("this machine's Net-SNMP does not have its protocols\n", stderr);
		return 1;
	}
	session = snmp_open(&s);
	pdu = session ? new_inform(fact) : NULL;
	if (pdu)
		status = snmp_synch_response(session, pdu, &answer);
	error = session ? session->s_snmp_errno : s.s_snmp_errno;
	if (status == STAT_SUCCESS && answer && answer->errstat == SNMP_ERR_NOERROR && answer->command == SNMP_MSG_RESPONSE)
		return 0;
	snmp_error(session ? session : &s, NULL, &error, &reason);
	fprintf(stderr, "%s\n", status == STAT_TIMEOUT ? "it does not answer" : reason ? reason : "it refuses the inform");
	return 1;
}
