/* The reports themselves, one file each; reports.c lists them. */
#ifndef EASE_COLLECTOR_REPORTS_H
#define EASE_COLLECTOR_REPORTS_H

#include "collector/query/query.h"
#include "collector/report/report.h"

int report_talkers(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_matrix(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_protocols(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_conversations(struct query *query, const struct report_options *options,
    uint64_t now_us, struct report_result *result);
int report_connections(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_history(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_load(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_links(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_billing(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_errors(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_drops(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_delay(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_energy(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_pause(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_addresses(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_alarms(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_events(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_agents(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_precision(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_loss(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);
int report_audit(struct query *query, const struct report_options *options, uint64_t now_us,
    struct report_result *result);

#endif
