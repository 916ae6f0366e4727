/*
 * The network that a store is of, for a plan: how many ports, and how many samples of a second.
 */
#ifndef EASE_COLLECTOR_STORE_PLAN_STORE_H
#define EASE_COLLECTOR_STORE_PLAN_STORE_H

#include "collector/store/plan.h"

/* Sets ports and samples_per_s to those of the last day of the store at that path, and hours to INFINITY. Reads only.
 * 0; -ENOENT: there is no store, or it has less than an hour of data, which says little; -EIO. */
int plan_read_store(const char *path, struct plan_question *question);

#endif
