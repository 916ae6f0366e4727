/*
 * Reads what audit_judge() (collector/estimate/audit.h) needs of one port from the store: its kept samples and its
 * counters in the range. Used by the report audit.
 */
#ifndef EASE_COLLECTOR_REPORT_AUDIT_READER_H
#define EASE_COLLECTOR_REPORT_AUDIT_READER_H

#include "collector/estimate/audit.h"
#include "collector/query/query.h"

/* The newest of a port; more tell hardly more, and take their time. */
enum { AUDIT_SAMPLES_MAX = 200000 };

/* What is read once for all ports: which boots of agents, and which numbers belong to whom. */
struct audit_account {
	int64_t agent, boot;
	uint64_t if_index;
	double expected, received, dropped_apart;
};

struct audit_reader {
	struct query *query;
	struct audit_account *accounts; /* by agent, boot, ifIndex */
	size_t n_accounts;
	struct audit_sample *samples; /* of the port that was read last */
	size_t n_samples, samples_room;
	struct audit_counters *counters;
	size_t n_counters, counters_room;
};

/* After query_begin. 0 or -errno with the query's error; audit_reader_end in any case. */
int audit_reader_begin(struct audit_reader *reader, struct query *query);
void audit_reader_end(struct audit_reader *reader);

/* Fills *input for this port but for the error of tests; it borrows until the next call. 0 or -errno. */
int audit_read(struct audit_reader *reader, const struct query_port *port, struct audit_input *input);

#endif
