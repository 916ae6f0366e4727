/*
 * The endpoints that need the store or the collector's counters: /api/v1/REPORT, /api/v1/status,
 * /metrics and /healthz. The workers of jobs.h run them.
 */
#ifndef EASE_COLLECTOR_WEB_ENDPOINTS_H
#define EASE_COLLECTOR_WEB_ENDPOINTS_H

#include "collector/web/api.h"

/* For jobs_config.run; arg is the struct api. */
void endpoint_answer(void *arg, unsigned worker, const struct request *request, struct reply *reply);

/* status.c, metrics.c */
void endpoint_status(struct api *api, struct reply *reply);
void endpoint_metrics(struct api *api, struct reply *reply);

#endif
