/*
 * Records of sFlow samples that the collector steps over, counted by their format with the name that sFlow.org
 * gives it, so that a user sees what his switches send beyond what reports are made of; and in the same way records
 * that it would read, but that are shorter than their format.
 */
#ifndef EASE_COLLECTOR_INPUT_SFLOW_UNREAD_H
#define EASE_COLLECTOR_INPUT_SFLOW_UNREAD_H

#include "common/sflow_wire.h"
#include "common/stat.h"

enum { SFLOW_UNREAD_FORMATS = 112 }; /* as many as are counted by themselves, at most */

struct sflow_unread {
	struct stat_set stats;
	_Atomic uint64_t values[SFLOW_UNREAD_FORMATS];
};

void sflow_unread_init(struct sflow_unread *u);

/* Counts the records of a sample that were stepped over, and those that are spoiled. */
void sflow_unread_count(struct sflow_unread *u, const struct sflow_sample *s);

#endif
