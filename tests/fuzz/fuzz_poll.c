/* Any octets at all as the PDU of a switch that was asked: whatever the library makes of them, texts end, nothing is
 * taken of a port that was not asked for, and only what was asked for is no garbage. */
#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "collector/poll/poll_values.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct poll_job *job, const struct poll_answer *a)
{
	static const struct ease_side unknown = {EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN,
	    EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN, EASE_COUNT_UNKNOWN};

	if (a->verdict >= POLL_N_VERDICTS || strnlen(a->system_name, sizeof(a->system_name)) == sizeof(a->system_name))
		abort();
	if (a->n_neighbours > POLL_NEIGHBOURS_MAX || (a->n_neighbours > 0 && job->parts != POLL_NEIGHBOURS))
		abort();
	for (uint32_t i = 0; i < a->n_neighbours; i++)
		if (a->neighbours[i].remote < 2) /* what no port is called */
			abort();
	if (a->n_samplers > POLL_SAMPLERS_MAX || (a->n_samplers > 0 && job->parts != POLL_SFLOW_SAMPLERS))
		abort();
	for (uint32_t i = 0; i < a->n_samplers; i++)
		if (a->samplers[i].instance == 0 || (i > 0 && a->samplers[i].if_index < a->samplers[i - 1].if_index))
			abort();
	for (uint32_t i = 0; i < POLL_RECEIVERS_MAX; i++)
		if (strnlen(a->receivers[i].owner, sizeof(a->receivers[i].owner)) == sizeof(a->receivers[i].owner))
			abort();
	for (uint32_t i = 0; i < POLL_PORTS_MAX; i++) {
		const struct poll_port *p = &a->ports[i];

		if (strnlen(p->name, sizeof(p->name)) == sizeof(p->name) ||
		    strnlen(p->alias, sizeof(p->alias)) == sizeof(p->alias) ||
		    strnlen(p->description, sizeof(p->description)) == sizeof(p->description))
			abort();
		if ((i >= job->n_ports || job->parts != POLLED_COUNTERS) &&
		    (memcmp(&p->in, &unknown, sizeof(unknown)) != 0 || memcmp(&p->out, &unknown, sizeof(unknown)) != 0))
			abort();
		if ((i >= job->n_ports || job->parts != POLLED_NAMES) && p->has_name && job->parts != POLL_LOCAL_PORTS)
			abort();
		if ((i >= job->n_ports || job->parts != POLL_LEASE) && (p->mean_skip || p->skip_reason))
			abort();
	}
}

/* The first octet says what was asked, and of how many ports, 1, 2, … */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct poll_job job = {.id = 1, .parts = POLLED_NAMES};
	struct poll_answer answer = {.id = 1};
	size_t left = size > 0 ? size - 1 : 0;
	netsnmp_pdu *pdu = left > 0 ? snmp_pdu_create(0) : NULL;
	u_char *copy = pdu ? malloc(left) : NULL;

	if (!copy)
		return 0;
	job.parts = (const unsigned[]){POLLED_NAMES, POLL_LOCAL_PORTS, POLLED_COUNTERS, POLL_NEIGHBOURS}[data[0] >> 6];
	if (data[0] & 0x20)
		job.parts = (const unsigned[]){POLL_REQUEST, POLL_LEASE, POLL_SFLOW_RECEIVERS,
		    POLL_SFLOW_SAMPLERS}[(data[0] >> 3 & 2) | (data[0] >> 3 & 1)];
	job.n_ports = data[0] % POLL_PORTS_MAX + 1;
	for (uint32_t i = 0; i < job.n_ports; i++)
		job.if_index[i] = i + 1;
	memcpy(copy, data + 1, left);
	if (snmp_pdu_parse(pdu, copy, &left) == 0) {
		poll_read_answer(&job, pdu, &answer);
		check(&job, &answer);
	}
	snmp_free_pdu(pdu);
	free(copy);
	return 0;
}
