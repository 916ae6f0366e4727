/*
 * Tells in the log whose rows a limit of rows by agent or port deletes (tables.c, places.h): one line for a batch,
 * with the agent that most of them were of, if one has more than half. That agent is found by the majority vote of
 * R. S. Boyer and J S. Moore (MJRTY, 1981), so no table of agents is needed.
 */
#ifndef EASE_COLLECTOR_STORE_BEYOND_LIMIT_H
#define EASE_COLLECTOR_STORE_BEYOND_LIMIT_H

#include <sqlite3.h>
#include <stdint.h>

struct beyond_limit {
	int64_t agent; /* the candidate */
	uint64_t votes, rows;
};

/* Notes that so many rows of an agent were deleted; 0: of nobody's. */
void beyond_limit_note(struct beyond_limit *b, int64_t agent, uint64_t rows);

/* Writes the line, if rows were deleted, and begins anew. */
void beyond_limit_tell(struct beyond_limit *b, sqlite3 *db);

#endif
