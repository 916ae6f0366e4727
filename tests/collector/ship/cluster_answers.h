/*
 * Answers to a report's questions, for the model of a ClickHouse server (cluster_model.h): one switch
 * with one port, a few minutes of it, every table with a row or two. That they are like a real
 * server's is not claimed (check_cluster_top.sh compares with one); they are the same each time, and
 * enough of them that a report which lacked one would show it.
 */
#ifndef EASE_TESTS_CLUSTER_ANSWERS_H
#define EASE_TESTS_CLUSTER_ANSWERS_H

#include "collector/cluster/rowbinary.h"

#define ANSWERS_NOON_US (1700000040ull * 1000000)

struct cluster_answers {
	bool many; /* so many keys that the servers rank them */
};

/* For cluster_model_answer(); arg is a struct cluster_answers. */
bool cluster_answers_give(void *arg, const char *sql, struct row_buffer *out);

#endif
