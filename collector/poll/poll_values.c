#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_values.h"
#include "common/utf8.h"

#include <string.h>

enum { PREFIX_MAX = 11 };

enum form { FORM_TEXT, FORM_NUMBER32, FORM_NUMBER64 };

/* An object, whose instance is that of its name and the port's ifIndex, or 0 of the system. */
struct object {
	unsigned parts; /* in which questions it is; 0: in all, of the system */
	uint8_t asn_type, form;
	uint16_t at; /* in struct poll_port, or of the system in struct poll_answer */
	uint8_t n;
	oid name[PREFIX_MAX];
};

#define AT(member) offsetof(struct poll_port, member)
#define SYSTEM(member) offsetof(struct poll_answer, member)
#define IF(column) 10, {1, 3, 6, 1, 2, 1, 2, 2, 1, column}
#define IF_X(column) 11, {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, column}

static const struct object objects[] = {
    {0, ASN_TIMETICKS, FORM_NUMBER32, SYSTEM(uptime_cs), 8, {1, 3, 6, 1, 2, 1, 1, 3}},	/* sysUpTime */
    {0, ASN_OCTET_STR, FORM_TEXT, SYSTEM(system_name), 8, {1, 3, 6, 1, 2, 1, 1, 5}},	/* sysName */
    {POLLED_NAMES, ASN_OCTET_STR, FORM_TEXT, AT(name), IF_X(1)},			/* ifName */
    {POLLED_NAMES, ASN_OCTET_STR, FORM_TEXT, AT(alias), IF_X(18)},			/* ifAlias */
    {POLLED_NAMES, ASN_OCTET_STR, FORM_TEXT, AT(description), IF(2)},			/* ifDescr */
    {POLLED_NAMES, ASN_INTEGER, FORM_NUMBER32, AT(lag_parent), 11,
	{1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 13}}, /* dot3adAggPortAttachedAggID */
    {POLLED_COUNTERS, ASN_GAUGE, FORM_NUMBER32, AT(speed_mbps), IF_X(15)},		/* ifHighSpeed */
    {POLLED_COUNTERS, ASN_GAUGE, FORM_NUMBER32, AT(speed_bps), IF(5)},			/* ifSpeed */
    {POLLED_COUNTERS, ASN_INTEGER, FORM_NUMBER32, AT(admin_status), IF(7)},		/* ifAdminStatus */
    {POLLED_COUNTERS, ASN_INTEGER, FORM_NUMBER32, AT(oper_status), IF(8)},		/* ifOperStatus */
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.octets), IF_X(6)},		/* ifHCInOctets, … */
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.ucast_pkts), IF_X(7)},
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.mcast_pkts), IF_X(8)},
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(in.bcast_pkts), IF_X(9)},
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.octets), IF_X(10)},		/* ifHCOutOctets, … */
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.ucast_pkts), IF_X(11)},
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.mcast_pkts), IF_X(12)},
    {POLLED_COUNTERS, ASN_COUNTER64, FORM_NUMBER64, AT(out.bcast_pkts), IF_X(13)},
    {POLLED_COUNTERS, ASN_TIMETICKS, FORM_NUMBER32, AT(discontinuity_cs), IF_X(19)},	/* ifCounterDiscontinuityTime */
    {POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(in.discards), IF(13)},		/* ifInDiscards */
    {POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(in.errors), IF(14)},		/* ifInErrors */
    {POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(out.discards), IF(19)},		/* ifOutDiscards */
    {POLLED_COUNTERS, ASN_COUNTER, FORM_NUMBER64, AT(out.errors), IF(20)},		/* ifOutErrors */
};

enum { N_OBJECTS = sizeof(objects) / sizeof(objects[0]) };

static bool
ask(netsnmp_pdu *pdu, const struct object *o, uint32_t instance)
{
	oid name[PREFIX_MAX + 1];

	memcpy(name, o->name, o->n * sizeof(*name));
	name[o->n] = instance;
	return snmp_add_null_var(pdu, name, o->n + 1u) != NULL;
}

netsnmp_pdu *
poll_question(const struct poll_job *job)
{
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET);
	bool ok = pdu != NULL;

	for (size_t i = 0; ok && i < N_OBJECTS; i++)
		if (objects[i].parts == 0)
			ok = ask(pdu, &objects[i], 0);
	for (uint32_t p = 0; p < job->n_ports; p++)
		for (size_t i = 0; ok && i < N_OBJECTS; i++)
			if (objects[i].parts & job->parts)
				ok = ask(pdu, &objects[i], job->if_index[p]);
	if (ok)
		return pdu;
	if (pdu)
		snmp_free_pdu(pdu);
	return NULL;
}

/* The object of a name, and its instance; NULL: none is meant. */
static const struct object *
find_object(const struct poll_job *job, const netsnmp_variable_list *v)
{
	for (size_t i = 0; i < N_OBJECTS; i++) {
		const struct object *o = &objects[i];

		if ((o->parts == 0 || (o->parts & job->parts)) && v->name_length == o->n + 1u &&
		    memcmp(v->name, o->name, o->n * sizeof(oid)) == 0)
			return o;
	}
	return NULL;
}

/* Where the value goes; NULL: nobody asked for it. */
static void *
place_of(const struct poll_job *job, const netsnmp_variable_list *v, const struct object *o, struct poll_answer *a)
{
	oid instance = v->name[o->n];

	if (o->parts == 0)
		return instance == 0 ? (char *)a + o->at : NULL;
	for (uint32_t p = 0; p < job->n_ports; p++)
		if (job->if_index[p] == instance)
			return (char *)&a->ports[p] + o->at;
	return NULL;
}

static void
take_text(const netsnmp_variable_list *v, char text[EASE_NAME_MAX + 1])
{
	char given[EASE_NAME_MAX + 1] = "";
	size_t n = v->val_len < EASE_NAME_MAX ? v->val_len : EASE_NAME_MAX;

	if (n > 0)
		memcpy(given, v->val.string, n);
	utf8_printable(given, text, EASE_NAME_MAX + 1);
}

/* A value of another type than the object's is that of a device which does not have it. */
static void
take_value(const netsnmp_variable_list *v, const struct object *o, void *to)
{
	uint64_t number;

	if (v->type != o->asn_type)
		return;
	if (o->form == FORM_TEXT) {
		take_text(v, to);
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
counts(const struct ease_side *side)
{
	return side->octets != EASE_COUNT_UNKNOWN && side->ucast_pkts != EASE_COUNT_UNKNOWN;
}

void
poll_read_answer(const struct poll_job *job, const netsnmp_pdu *pdu, struct poll_answer *a)
{
	a->verdict = pdu->command == SNMP_MSG_RESPONSE && pdu->errstat == SNMP_ERR_NOERROR ? POLL_ANSWERED : POLL_REFUSED;
	for (uint32_t p = 0; p < POLL_PORTS_MAX; p++)
		begin_port(&a->ports[p]);
	for (const netsnmp_variable_list *v = pdu->variables; v && a->verdict == POLL_ANSWERED; v = v->next_variable) {
		const struct object *o = find_object(job, v);
		void *to = o ? place_of(job, v, o, a) : NULL;

		if (to)
			take_value(v, o, to);
		else
			a->verdict = POLL_GARBAGE;
	}
	for (uint32_t p = 0; p < job->n_ports; p++) {
		struct poll_port *port = &a->ports[p];

		port->has_name = *port->name || *port->description;
		port->has_counters = counts(&port->in) && counts(&port->out);
	}
}
