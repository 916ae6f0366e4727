/*
 * The slow path, for datagrams that the fast path does not decode: SNMPv3, informs, notifications
 * that are events, and those that only Net-SNMP's library can read (netsnmp_reader.h).
 * slow_path_put queues a datagram. slow_path_run decodes what is queued and passes records and
 * events to its sinks. Informs are answered once the store has committed what they brought. One
 * thread uses it, and only that thread calls Net-SNMP's library.
 *
 * usm_reports.h limits the Reports that strangers with an allowed address can cause.
 *
 * An inform that comes again is decoded and answered again: accounting recognizes its samples by
 * their numbers, and the slow path recognizes a recent event by its content, also after a restart
 * if it was restored; an equal one of a sender that can have started anew since is kept. An inform is not answered if its records found no room or if its reply has no
 * place among those that wait (inform_replies.h); its sender then tries again. Traps need no reply,
 * so replies that wait never hinder them.
 */
#ifndef EASE_COLLECTOR_INPUT_SLOW_PATH_H
#define EASE_COLLECTOR_INPUT_SLOW_PATH_H

#include "collector/input/refused_senders.h"
#include "collector/input/v3.h"
#include "collector/record.h"
#include "common/stat.h"

struct slow_path;

enum slow_path_stat_id {
	SLOW_PATH_STAT_DATAGRAMS,
	SLOW_PATH_STAT_QUEUE_FULL,
	SLOW_PATH_STAT_OVER_SHARE,
	SLOW_PATH_STAT_IGNORED,
	SLOW_PATH_STAT_REFUSED,
	SLOW_PATH_STAT_BY_NETSNMP,
	SLOW_PATH_STAT_RECORDS,
	SLOW_PATH_STAT_EVENTS,
	SLOW_PATH_STAT_EVENTS_DUPLICATE,
	SLOW_PATH_STAT_INFORMS,
	SLOW_PATH_STAT_INFORMS_ANSWERED,
	SLOW_PATH_STAT_INFORMS_NOT_KEPT,
	SLOW_PATH_STAT_INFORMS_FULL,
	SLOW_PATH_STAT_INFORMS_OVER_SHARE,
	SLOW_PATH_STAT_SEND_ERRORS,
	SLOW_PATH_STAT_V3_ACCEPTED,
	SLOW_PATH_STAT_V3_PROBES,
	SLOW_PATH_STAT_V3_REPORTS_HELD,
	SLOW_PATH_STAT_V3_PARSE,
	SLOW_PATH_STAT_V3_MODEL,
	SLOW_PATH_STAT_V3_ENGINE,
	SLOW_PATH_STAT_V3_USER,
	SLOW_PATH_STAT_V3_DIGEST,
	SLOW_PATH_STAT_V3_WINDOW,
	SLOW_PATH_STAT_V3_DECRYPTION,
	SLOW_PATH_STAT_V3_LEVEL,
	SLOW_PATH_STAT_V3_REPLAYED,
	SLOW_PATH_STAT_V3_PDU,
	SLOW_PATH_STAT_V3_FORGOTTEN,
	SLOW_PATH_N_STATS,
};

/* Everything is borrowed until slow_path_close; users and engine_file only by slow_path_open. */
struct slow_path_config {
	const char *const *communities;
	size_t n_communities;
	const struct v3_user *users;
	size_t n_users;		 /* 0: no SNMPv3; Net-SNMP's library is not started */
	const char *engine_file; /* see v3_open */
	const struct clock *clock;
	struct refused_senders *refused; /* NULL: who is refused is only logged */
	/* Each receives what one notification brought; false if some of it found no room. */
	bool (*records)(void *arg, const struct ease_record *records, size_t n);
	bool (*event)(void *arg, const struct ease_event *event);
	void *arg;
};

/* 0, or -errno with the reason in error. */
int slow_path_open(struct slow_path **out, const struct slow_path_config *config, char *error, size_t error_size);
void slow_path_close(struct slow_path *s);

/* True if there are SNMPv3 users. Any thread may call it. */
bool slow_path_takes_v3(const struct slow_path *s);

/* Changes the communities, which are borrowed as before. */
void slow_path_allow(struct slow_path *s, const char *const *communities, size_t n_communities);

/* Changes the users, see v3_change_users; the first ones start Net-SNMP's library. Arguments are
 * borrowed during the call. */
int slow_path_change_users(struct slow_path *s, const struct v3_user *before, size_t n_before,
    const struct v3_user *users, size_t n, const char *engine_file, char *error, size_t error_size);

/* Queues a datagram that came by socket fd (-1: by none). Never waits. */
void slow_path_put(struct slow_path *s, const struct sockaddr *from, int fd, const void *octets, size_t n);

/* Handles all datagrams in the queue. */
void slow_path_run(struct slow_path *s);

/* All records since the last call were handed to the store in the batch of this number. */
void slow_path_submitted(struct slow_path *s, uint64_t batch);

/* The store has committed all batches up to this one. */
void slow_path_committed(struct slow_path *s, uint64_t batch);

/* The number of engines that users name. */
size_t slow_path_engines(const struct slow_path *s);

/* The engine times to store with that batch, one a call; see v3.h. */
bool slow_path_next_engine(struct slow_path *s, struct v3_engine_time *heard);
void slow_path_mark_engines(struct slow_path *s); /* for a new store */

/* Before any datagram, restores the engine times and the identities of events (struct ease_event),
 * oldest first, that were stored. */
void slow_path_restore_engine(struct slow_path *s, const struct v3_engine_time *heard);
void slow_path_restore_event(struct slow_path *s, uint64_t identity, uint64_t received_us);

/* The number of replies that wait. */
size_t slow_path_waiting(const struct slow_path *s);

const struct stat_set *slow_path_stats(const struct slow_path *s);

#endif
