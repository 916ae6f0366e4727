#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_sflow.h"
#include "common/utf8.h"

#include <string.h>

/* Tables and their columns. */
enum { RECEIVERS = 4, SAMPLERS = 5, POLLERS = 6 };
enum { OWNER = 2, TIMEOUT = 3, DATAGRAM_OCTETS = 4, ADDRESS_TYPE = 5, ADDRESS = 6, PORT = 7, VERSION = 8 };
enum { RECEIVER = 3, RATE = 4, HEADER_OCTETS = 5, INTERVAL = 4 }; /* of samplers and pollers */

enum { COLUMN = 12, SOURCE = 11, ROW = COLUMN + SOURCE + POLL_SFLOW_CURSOR };

/* What is set of them: what a datagram over Ethernet holds, our own header's octets, and how seldom counters may come. */
enum { DATAGRAM_OCTETS_SET = 1400, HEADER_OCTETS_SET = 128, INTERVAL_S = 20, SFLOW_5 = 5, IPV4 = 1, IPV6 = 2 };

struct name {
	oid ids[ROW];
	size_t n;
};

static struct name
receiver_name(oid column, uint32_t receiver)
{
	return (struct name){{1, 3, 6, 1, 4, 1, 14706, 1, 1, RECEIVERS, 1, column, receiver}, COLUMN + 1};
}

/* The data source is ifIndex.N of IF-MIB, as an index with its length before it. */
static struct name
source_name(oid table, oid column, uint32_t if_index, uint32_t instance)
{
	return (struct name){{1, 3, 6, 1, 4, 1, 14706, 1, 1, table, 1, column, SOURCE, 1, 3, 6, 1, 2, 1, 2, 2, 1, 1, if_index,
	    instance}, ROW};
}

bool
poll_sflow_is_meant(const struct poll_job *job)
{
	return job->parts == POLL_SFLOW_RECEIVERS || job->parts == POLL_SFLOW_SAMPLERS || job->parts == POLL_SFLOW_SET;
}

/* ---- questions ---- */

static bool
set_sflow_number(netsnmp_pdu *pdu, struct name name, uint32_t number)
{
	long value = (long)number;

	return snmp_pdu_add_variable(pdu, name.ids, name.n, ASN_INTEGER, &value, sizeof(value)) != NULL;
}

static bool
set_octets(netsnmp_pdu *pdu, struct name name, const void *octets, size_t n)
{
	return snmp_pdu_add_variable(pdu, name.ids, name.n, ASN_OCTET_STR, octets, n) != NULL;
}

/* Owner and time to live together: a receiver is taken with both (its DESCRIPTION). */
static bool
set_receiver(netsnmp_pdu *pdu, const struct poll_job *job)
{
	const struct poll_sflow *s = &job->sflow;
	const char *owner = job->request.ttl_s > 0 ? job->request.owner : "";
	bool ok = true;

	if (s->to_octets > 0 || job->request.ttl_s == 0)
		ok = set_octets(pdu, receiver_name(OWNER, s->receiver), owner, strlen(owner));
	if (ok && job->request.ttl_s > 0)
		ok = set_sflow_number(pdu, receiver_name(TIMEOUT, s->receiver), job->request.ttl_s);
	if (!ok || s->to_octets == 0)
		return ok;
	return set_sflow_number(pdu, receiver_name(DATAGRAM_OCTETS, s->receiver), DATAGRAM_OCTETS_SET) &&
	    set_sflow_number(pdu, receiver_name(ADDRESS_TYPE, s->receiver), s->to_octets == 4 ? IPV4 : IPV6) &&
	    set_octets(pdu, receiver_name(ADDRESS, s->receiver), s->to, s->to_octets) &&
	    set_sflow_number(pdu, receiver_name(PORT, s->receiver), s->to_port) &&
	    set_sflow_number(pdu, receiver_name(VERSION, s->receiver), SFLOW_5);
}

static bool
set_sampler(netsnmp_pdu *pdu, const struct poll_job *job, uint32_t i)
{
	const struct poll_sflow *s = &job->sflow;
	uint32_t port = job->if_index[i], instance = s->instance[i];

	if (s->begins[i] && !set_sflow_number(pdu, source_name(SAMPLERS, RECEIVER, port, instance), s->receiver))
		return false;
	if (!set_sflow_number(pdu, source_name(SAMPLERS, RATE, port, instance), job->request.mean_skip[i]))
		return false;
	return !s->begins[i] ||
	    (set_sflow_number(pdu, source_name(SAMPLERS, HEADER_OCTETS, port, instance), HEADER_OCTETS_SET) &&
		set_sflow_number(pdu, source_name(POLLERS, RECEIVER, port, instance), s->receiver) &&
		set_sflow_number(pdu, source_name(POLLERS, INTERVAL, port, instance), INTERVAL_S));
}

static bool
ask_for_samplers(netsnmp_pdu *pdu, const struct poll_job *job)
{
	static const oid columns[] = {RECEIVER, RATE};
	bool is_first = job->cursor[1] == 0, ok = true;

	pdu->non_repeaters = 0;
	pdu->max_repetitions = POLL_SAMPLERS_MAX;
	for (size_t c = 0; ok && c < sizeof(columns) / sizeof(columns[0]); c++) {
		struct name name = source_name(SAMPLERS, columns[c], job->cursor[0], job->cursor[1]);

		ok = snmp_add_null_var(pdu, name.ids, is_first ? ROW - POLL_SFLOW_CURSOR : ROW) != NULL;
	}
	return ok;
}

netsnmp_pdu *
poll_sflow_question(const struct poll_job *job)
{
	bool is_rows = job->parts == POLL_SFLOW_SAMPLERS, is_set = job->parts == POLL_SFLOW_SET;
	netsnmp_pdu *pdu = snmp_pdu_create(is_set ? SNMP_MSG_SET : is_rows ? SNMP_MSG_GETBULK : SNMP_MSG_GET);
	bool ok = pdu != NULL;

	if (ok && is_rows)
		ok = ask_for_samplers(pdu, job);
	for (uint32_t r = 1; ok && !is_rows && !is_set && r <= POLL_RECEIVERS_MAX; r++) {
		struct name name = receiver_name(OWNER, r);

		ok = snmp_add_null_var(pdu, name.ids, name.n) != NULL;
	}
	if (ok && is_set && job->n_ports == 0)
		ok = set_receiver(pdu, job);
	for (uint32_t i = 0; ok && is_set && i < job->n_ports; i++)
		ok = set_sampler(pdu, job, i);
	if (pdu && !ok)
		snmp_free_pdu(pdu);
	return ok ? pdu : NULL;
}

/* ---- answers ---- */

static void
take_owner(const netsnmp_variable_list *v, struct poll_receiver *r)
{
	if (v->type != ASN_OCTET_STR)
		return;
	utf8_printable_octets(v->val.string, v->val_len, r->owner, sizeof(r->owner));
	r->is_there = true;
}

static void
read_receivers(const netsnmp_pdu *pdu, struct poll_answer *a)
{
	const struct name first = receiver_name(OWNER, 1);

	for (const netsnmp_variable_list *v = pdu->variables; v; v = v->next_variable) {
		if (v->name_length != first.n || memcmp(v->name, first.ids, COLUMN * sizeof(oid)) != 0 ||
		    v->name[COLUMN] < 1 || v->name[COLUMN] > POLL_RECEIVERS_MAX) {
			a->verdict = POLL_GARBAGE;
			return;
		}
		take_owner(v, &a->receivers[v->name[COLUMN] - 1]);
	}
}

/* Whether it is a row of that column; *row is its ifIndex and instance, borrowed. */
static bool
is_sampler(const netsnmp_variable_list *v, oid column, const oid **row)
{
	const struct name name = source_name(SAMPLERS, column, 0, 0);

	*row = v->name + ROW - POLL_SFLOW_CURSOR;
	return v->type == ASN_INTEGER && v->name_length == ROW &&
	    memcmp(v->name, name.ids, (ROW - POLL_SFLOW_CURSOR) * sizeof(oid)) == 0;
}

/* Else an agent could go on for ever. */
static bool
is_sampler_behind(const oid row[POLL_SFLOW_CURSOR], const uint32_t cursor[POLL_SFLOW_CURSOR])
{
	if (row[0] > UINT32_MAX || row[1] == 0 || row[1] > UINT32_MAX)
		return false;
	return row[0] != cursor[0] ? row[0] > cursor[0] : row[1] > cursor[1];
}

static uint32_t
sampler_number(const netsnmp_variable_list *v)
{
	return *v->val.integer > 0 ? (uint32_t)*v->val.integer : 0;
}

static void
read_samplers(const struct poll_job *job, const netsnmp_pdu *pdu, struct poll_answer *a)
{
	const netsnmp_variable_list *receiver = pdu->variables, *rate;
	const oid *row, *same;

	memcpy(a->cursor, job->cursor, POLL_SFLOW_CURSOR * sizeof(a->cursor[0]));
	while (receiver && a->n_samplers < POLL_SAMPLERS_MAX) {
		a->has_more = is_sampler(receiver, RECEIVER, &row);
		if (!a->has_more)
			return;
		rate = receiver->next_variable;
		if (!rate) /* the message had no room for it */
			return;
		if (!is_sampler(rate, RATE, &same) || memcmp(row, same, POLL_SFLOW_CURSOR * sizeof(oid)) != 0 ||
		    !is_sampler_behind(row, a->cursor)) {
			a->verdict = POLL_GARBAGE;
			return;
		}
		for (int i = 0; i < POLL_SFLOW_CURSOR; i++)
			a->cursor[i] = (uint32_t)row[i];
		a->samplers[a->n_samplers++] = (struct poll_sampler){a->cursor[0], a->cursor[1], sampler_number(receiver), sampler_number(rate)};
		receiver = rate->next_variable;
	}
}

void
poll_sflow_read_answer(const struct poll_job *job, const netsnmp_pdu *pdu, struct poll_answer *a)
{
	if (job->parts == POLL_SFLOW_RECEIVERS)
		read_receivers(pdu, a);
	else if (job->parts == POLL_SFLOW_SAMPLERS)
		read_samplers(job, pdu, a);
}
