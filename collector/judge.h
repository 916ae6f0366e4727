/*
 * The judge: audits samplers while the collector runs, so that reports need not. One thread of least priority reads the
 * store as any reader does and judges what ports sampled in the last hour, port after port, for some seconds every ten
 * minutes. What it finds the collector's thread writes to the store with its next batches (report/verdicts.h reads it),
 * and alarms say it. Nobody waits for the judge: lists are handed over by pointer. An import has no thread, but waits for
 * a turn at each hour of the capture's time.
 */
#ifndef EASE_COLLECTOR_JUDGE_H
#define EASE_COLLECTOR_JUDGE_H

#include "collector/store/batch.h"
#include "common/clock.h"

struct judge;

struct judge_config {
	const char *store;	   /* borrowed */
	const struct clock *clock; /* borrowed: of the samples; turns last by the system's */
	void (*damaged)(void *arg, uint64_t inode); /* called when the store's file, by its inode, is found to be damaged */
	void *damaged_arg;
	unsigned first_ms, every_ms, lasts_ms; /* until the first turn, from one to the next (0: no thread), a turn at most */
};

/* 0 or -errno. */
int judge_open(struct judge **out, const struct judge_config *config);

/* Ends the thread after its present port. NULL is fine. */
void judge_close(struct judge *judge);

/* Where there is no thread: judges the hour before now, for which all of it must be in the store; blocks. */
void judge_turn(void *judge);

/* Both by the collector's thread alone. Adds rows for which the batch has room, the others next time. */
void judge_flush(void *judge, struct store_batch *batch);

/* Whether a port's samples were found to be no random choice in the last hour; of interface 0, those of any port of
 * the agent. */
bool judge_accuses(void *judge, int64_t agent, uint64_t if_index);

#endif
