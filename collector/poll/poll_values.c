#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_sflow.h"
#include "collector/poll/poll_values.h"
#include "common/ease_oid.h"
#include "common/lldp_id.h"
#include "common/utf8.h"

#include <string.h>

enum { PREFIX_MAX = 14 };

enum form { FORM_TEXT, FORM_NUMBER32, FORM_NUMBER64, FORM_HASH };

/* An object, whose instance is the port's ifIndex or LLDP's number of it, or 0 of the system. */
struct object {
	bool is_system;
	unsigned parts; /* in which questions it is */
	uint8_t asn_type, form;
	uint16_t at; /* in struct poll_port, or of the system in struct poll_answer */
	uint8_t n;
	oid name[PREFIX_MAX];
};

#define AT(member) offsetof(struct poll_port, member)
#define SYSTEM(member) offsetof(struct poll_answer, member)
#define PORTS (POLLED_NAMES | POLLED_COUNTERS)
#define LLDP(...) {1, 0, 8802, 1, 1, 2, 1, __VA_ARGS__}
#define EASE_SYSTEM(object) 13, {EASE_ROOT, 1, EASE_GROUP_SYSTEM, object}
#define EASE_PORT(column) 14, {EASE_ROOT, 1, EASE_GROUP_PORT_TABLE, 1, column}
#define IF(column) 10, {1, 3, 6, 1, 2, 1, 2, 2, 1, column}
#define IF_X(column) 11, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, column}

static const struct object objects[] = {
    {true, PORTS, ASN_TIMETICKS, FORM_NUMBER32, SYSTEM(uptime_cs), 8, {1, 3, 6, 1, 2, 1, 1, 3}},	/* sysUpTime */
    {true, PORTS, ASN_OCTET_STR, FORM_TEXT, SYSTEM(system_name), 8, {1, 3, 6, 1, 2, 1, 1, 5}},	/* sysName */
    {false, POLLED_NAMES, ASN_OCTET_STR, FORM_TEXT, AT(name), IF_X(1)},			/* ifName */
    {false, POLLED_NAMES, ASN_OCTET_STR, FORM_TEXT, AT(alias), IF_X(18)},			/* ifAlias */
    {false, POLLED_NAMES, ASN_OCTET_STR, FORM_TEXT, AT(description), IF(2)},			/* ifDescr */
    {false, POLLED_NAMES, ASN_INTEGER, FORM_NUMBER32, AT(lag_parent), 11,
	{1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 13}}, /* dot3adAggPortAttachedAggID */
    {false, POLLED_COUNTERS, ASN_GAUGE, FORM_NUMBER32, AT(speed_mbps), IF_X(15)},		/* ifHighSpeed */
    {false, POLLED_COUNTERS, ASN_GAUGE, FORM_NUMBER32, AT(speed_bps), IF(5)},			/* ifSpeed */
    {false, POLLED_COUNTERS, ASN_INTEGER, FORM_NUMBER32, AT(admin_status), IF(7)},		/* ifAdminStatus */
    {false, POLLED_COUNTERS, ASN_INTEGER, FORM_NUMBER32, AT(oper_status), IF(8)},		/* ifOperStatus */
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.octets), IF_X(6)},		/* ifHCInOctets, … */
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.ucast_pkts), IF_X(7)},
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.mcast_pkts), IF_X(8)},
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.bcast_pkts), IF_X(9)},
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.octets), IF_X(10)},		/* ifHCOutOctets, … */
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.ucast_pkts), IF_X(11)},
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.mcast_pkts), IF_X(12)},
    {false, POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.bcast_pkts), IF_X(13)},
    {false, POLLED_COUNTERS, ASN_TIMETICKS, FORM_NUMBER32, AT(discontinuity_cs), IF_X(19)},	/* ifCounterDiscontinuityTime */
    {false, POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(in.discards), IF(13)},		/* ifInDiscards */
    {false, POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(in.errors), IF(14)},		/* ifInErrors */
    {false, POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(out.discards), IF(19)},		/* ifOutDiscards */
    {false, POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(out.errors), IF(20)},		/* ifOutErrors */
    {true, POLL_LOCAL_PORTS, ASN_OCTET_STR, FORM_HASH, SYSTEM(chassis), 9, LLDP(3, 2)},	/* lldpLocChassisId */
    {false, POLL_LOCAL_PORTS, ASN_OCTET_STR, FORM_HASH, AT(local_id), 11, LLDP(3, 7, 1, 3)}, /* lldpLocPortId */
    {false, POLL_LOCAL_PORTS, ASN_OCTET_STR, FORM_TEXT, AT(description), 11, LLDP(3, 7, 1, 4)}, /* lldpLocPortDesc */
    {true, POLL_LEASE, ASN_OCTET_STR, FORM_TEXT, SYSTEM(request_owner), EASE_SYSTEM(EASE_SYSTEM_REQUEST_OWNER)},
    {false, POLL_LEASE, ASN_GAUGE, FORM_NUMBER32, AT(mean_skip), EASE_PORT(EASE_COL_MEAN_SKIP)},
    {false, POLL_LEASE, ASN_GAUGE, FORM_NUMBER32, AT(skip_in_force), EASE_PORT(EASE_COL_SKIP_IN_FORCE)},
    {false, POLL_LEASE, ASN_GAUGE, FORM_NUMBER32, AT(requested_skip), EASE_PORT(EASE_COL_REQUESTED_SKIP)},
    {false, POLL_LEASE, ASN_INTEGER, FORM_NUMBER32, AT(requests_held), EASE_PORT(EASE_COL_REQUESTS_HELD)},
    {false, POLL_LEASE, ASN_INTEGER, FORM_NUMBER32, AT(skip_reason), EASE_PORT(EASE_COL_SKIP_REASON)},
};

enum { N_OBJECTS = sizeof(objects) / sizeof(objects[0]) };

static bool
ask_object(netsnmp_pdu *pdu, const struct object *o, uint32_t instance)
{
	oid name[PREFIX_MAX + 1];

	memcpy(name, o->name, o->n * sizeof(*name));
	name[o->n] = instance;
	return snmp_add_null_var(pdu, name, o->n + 1u) != NULL;
}

/* The columns of lldpRemTable that name a neighbour: lldpRemChassisId, lldpRemPortId. */
enum { REMOTE_COLUMNS = 2, REMOTE_PREFIX = 11, REMOTE_NAME = REMOTE_PREFIX + POLL_CURSOR };
static const oid remote_columns[REMOTE_COLUMNS][REMOTE_PREFIX] = {LLDP(4, 1, 1, 5), LLDP(4, 1, 1, 7)};

static netsnmp_pdu *
ask_neighbours(const struct poll_job *job)
{
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GETBULK);
	bool is_first = job->cursor[POLL_CURSOR_PORT] == 0, ok = pdu != NULL;
	oid name[REMOTE_NAME];

	if (!ok)
		return NULL;
	pdu->non_repeaters = 0;
	pdu->max_repetitions = POLL_NEIGHBOURS_MAX;
	for (int c = 0; ok && c < REMOTE_COLUMNS; c++) {
		memcpy(name, remote_columns[c], sizeof(remote_columns[c]));
		for (int i = 0; i < POLL_CURSOR; i++)
			name[REMOTE_PREFIX + i] = job->cursor[i];
		ok = snmp_add_null_var(pdu, name, is_first ? REMOTE_PREFIX : REMOTE_NAME) != NULL;
	}
	if (!ok)
		snmp_free_pdu(pdu);
	return ok ? pdu : NULL;
}

/* Adds an unsigned number or, if text is not NULL, that. */
static bool
values_set_object(netsnmp_pdu *pdu, const struct object *o, uint32_t instance, const char *text, uint32_t number)
{
	oid name[PREFIX_MAX + 1];
	u_long value = number;

	memcpy(name, o->name, o->n * sizeof(*name));
	name[o->n] = instance;
	return text ? snmp_pdu_add_variable(pdu, name, o->n + 1u, ASN_OCTET_STR, text, strlen(text)) != NULL
		    : snmp_pdu_add_variable(pdu, name, o->n + 1u, ASN_GAUGE, &value, sizeof(value)) != NULL;
}

/* Owner and time to live first: without them no agent takes the rest. */
static netsnmp_pdu *
ask_for_skips(const struct poll_job *job)
{
	static const struct object owner = {.n = 13, .name = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_REQUEST_OWNER}},
	    ttl = {.n = 13, .name = {EASE_ROOT, 1, EASE_GROUP_SYSTEM, EASE_SYSTEM_REQUEST_TTL}},
	    skip = {.n = 14, .name = {EASE_ROOT, 1, EASE_GROUP_PORT_TABLE, 1, EASE_COL_REQUESTED_SKIP}},
	    most = {.n = 14, .name = {EASE_ROOT, 1, EASE_GROUP_PORT_TABLE, 1, EASE_COL_REQUESTED_MAX}};
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_SET);
	bool ok = pdu && values_set_object(pdu, &owner, 0, job->request.owner, 0) && values_set_object(pdu, &ttl, 0, NULL, job->request.ttl_s);

	for (uint32_t p = 0; ok && p < job->n_ports; p++)
		ok = values_set_object(pdu, &skip, job->if_index[p], NULL, job->request.mean_skip[p]) &&
		    values_set_object(pdu, &most, job->if_index[p], NULL, job->request.max_samples_per_s[p]);
	if (pdu && !ok)
		snmp_free_pdu(pdu);
	return ok ? pdu : NULL;
}

static netsnmp_pdu *
ask_objects(const struct poll_job *job)
{
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET);
	bool ok = pdu != NULL;

	for (size_t i = 0; ok && i < N_OBJECTS; i++)
		if (objects[i].is_system && (objects[i].parts & job->parts))
			ok = ask_object(pdu, &objects[i], 0);
	for (uint32_t p = 0; p < job->n_ports; p++)
		for (size_t i = 0; ok && i < N_OBJECTS; i++)
			if (!objects[i].is_system && (objects[i].parts & job->parts))
				ok = ask_object(pdu, &objects[i], job->if_index[p]);
	if (ok)
		return pdu;
	if (pdu)
		snmp_free_pdu(pdu);
	return NULL;
}

netsnmp_pdu *
poll_question(const struct poll_job *job)
{
	if (poll_sflow_is_meant(job))
		return poll_sflow_question(job);
	return job->parts == POLL_NEIGHBOURS ? ask_neighbours(job) : job->parts == POLL_REQUEST ? ask_for_skips(job)
												  : ask_objects(job);
}

/* The object of a name, and its instance; NULL: none is meant. */
static const struct object *
find_object(const struct poll_job *job, const netsnmp_variable_list *v)
{
	for (size_t i = 0; i < N_OBJECTS; i++) {
		const struct object *o = &objects[i];

		if ((o->parts & job->parts) && v->name_length == o->n + 1u &&
		    memcmp(v->name, o->name, o->n * sizeof(oid)) == 0)
			return o;
	}
	return NULL;
}

/* Where the value goes; NULL: nobody asked for it. */
static void *
values_place_of(const struct poll_job *job, const netsnmp_variable_list *v, const struct object *o, struct poll_answer *a)
{
	oid instance = v->name[o->n];

	if (o->is_system)
		return instance == 0 ? (char *)a + o->at : NULL;
	for (uint32_t p = 0; p < job->n_ports; p++)
		if (job->if_index[p] == instance)
			return (char *)&a->ports[p] + o->at;
	return NULL;
}

/* Of a chassis or port ID. A MAC address is six octets; SONiC's own agent says it as text, and is heard as octets. */
static uint64_t
lldp_id_hash(const u_char *octets, size_t n)
{
	struct lldp_id mac;

	return lldp_port_id(&mac, LLDP_PORT_MAC, (const char *)octets, n) ? poll_text_hash(mac.octets, mac.n_octets)
									  : poll_text_hash(octets, n);
}

/* A value of another type than the object's is that of a device which does not have it. */
static void
take_value(const netsnmp_variable_list *v, const struct object *o, void *to)
{
	uint64_t number;

	if (v->type != o->asn_type)
		return;
	if (o->form == FORM_TEXT) {
		utf8_printable_octets(v->val.string, v->val_len, to, EASE_NAME_MAX + 1);
		return;
	}
	if (o->form == FORM_HASH) {
		number = lldp_id_hash(v->val.string, v->val_len);
		memcpy(to, &number, sizeof(number));
		return;
	}
	number = v->type == ASN_COUNTER64 ? (uint64_t)v->val.counter64->high << 32 | (uint32_t)v->val.counter64->low
					  : (uint32_t)*v->val.integer;
	if (o->form == FORM_NUMBER64)
		memcpy(to, &number, sizeof(number));
	else
		memcpy(to, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
}

static void
begin_port(struct poll_port *port)
{
	static const struct ease_side unknown = {EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN,
	    EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN};

	*port = (struct poll_port){.in = unknown, .out = unknown};
}

static bool
side_counts(const struct ease_side *side)
{
	return side->octets != EASE_COUNT_UNKNOWN && side->ucast_pkts != EASE_COUNT_UNKNOWN;
}

/* Whether it is a row of that column; *index is borrowed. */
static bool
is_row(const netsnmp_variable_list *v, int column, const oid **index)
{
	*index = v->name + REMOTE_PREFIX;
	return v->type == ASN_OCTET_STR && v->name_length == REMOTE_NAME &&
	    memcmp(v->name, remote_columns[column], sizeof(remote_columns[column])) == 0;
}

/* Whether the row is behind the one before, as the order of names has it; else an agent could go on for ever. */
static bool
is_behind(const oid index[POLL_CURSOR], const uint32_t cursor[POLL_CURSOR])
{
	for (int i = 0; i < POLL_CURSOR; i++)
		if (index[i] != cursor[i])
			return index[i] > cursor[i] && index[i] <= UINT32_MAX;
	return false;
}

/* Reads pairs of chassis and port until the table ends; what is neither is garbage. */
static void
read_neighbours(const struct poll_job *job, const netsnmp_pdu *pdu, struct poll_answer *a)
{
	const netsnmp_variable_list *chassis = pdu->variables, *port;
	const oid *index, *same;

	memcpy(a->cursor, job->cursor, sizeof(a->cursor));
	while (chassis && a->n_neighbours < POLL_NEIGHBOURS_MAX) {
		a->has_more = is_row(chassis, 0, &index);
		if (!a->has_more)
			return;
		port = chassis->next_variable;
		if (!port) /* the message had no room for it */
			return;
		if (!is_row(port, 1, &same) || memcmp(index, same, POLL_CURSOR * sizeof(oid)) != 0 ||
		    !is_behind(index, a->cursor)) {
			a->verdict = POLL_GARBAGE;
			return;
		}
		for (int i = 0; i < POLL_CURSOR; i++)
			a->cursor[i] = (uint32_t)index[i];
		a->neighbours[a->n_neighbours++] = (struct poll_neighbour){a->cursor[POLL_CURSOR_PORT],
		    poll_neighbour_id(lldp_id_hash(chassis->val.string, chassis->val_len),
			lldp_id_hash(port->val.string, port->val_len))};
		chassis = port->next_variable;
	}
}

void
poll_read_answer(const struct poll_job *job, const netsnmp_pdu *pdu, struct poll_answer *a)
{
	a->verdict = pdu->command != SNMP_MSG_RESPONSE ? POLL_REFUSED
	    : pdu->errstat == SNMP_ERR_NOERROR		? POLL_ANSWERED
	    : pdu->errstat == SNMP_ERR_TOOBIG		? POLL_TOO_BIG
							: POLL_REFUSED;
	a->error_status = a->verdict == POLL_REFUSED && pdu->command == SNMP_MSG_RESPONSE ? (uint32_t)pdu->errstat : 0;
	for (uint32_t p = 0; p < POLL_PORTS_MAX; p++)
		begin_port(&a->ports[p]);
	if (job->parts == POLL_REQUEST) /* the answer says what was set, or why not */
		return;
	if (poll_sflow_is_meant(job)) {
		if (a->verdict == POLL_ANSWERED)
			poll_sflow_read_answer(job, pdu, a);
		return;
	}
	if (a->verdict == POLL_ANSWERED && job->parts == POLL_NEIGHBOURS) {
		read_neighbours(job, pdu, a);
		return;
	}
	for (const netsnmp_variable_list *v = pdu->variables; v && a->verdict == POLL_ANSWERED; v = v->next_variable) {
		const struct object *o = find_object(job, v);
		void *to = o ? values_place_of(job, v, o, a) : NULL;

		if (to)
			take_value(v, o, to);
		else
			a->verdict = POLL_GARBAGE;
	}
	for (uint32_t p = 0; p < job->n_ports; p++) {
		struct poll_port *port = &a->ports[p];

		port->has_name = *port->name || *port->description;
		port->has_counters = side_counts(&port->in) && side_counts(&port->out);
	}
}
