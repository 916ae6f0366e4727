#include "collector/web/moments.h"

enum { TRIES = 100 }; /* of beginning two transactions, some microseconds, between two of the writer, milliseconds */

void
moments_open(struct moments *moments)
{
	*moments = (struct moments){0};
	pthread_mutex_init(&moments->lock, NULL);
}

/* What workers have is closed when it comes back. */
static void
moments_give_up(struct moments *moments, uint64_t mono_us)
{
	for (int w = 0; w < JOBS_WORKERS; w++) {
		query_close(moments->query[w]);
		moments->query[w] = NULL;
	}
	moments->wall_us = 0;
	moments->n_lent = 0;
	moments->ended_us = mono_us;
}

void
moments_close(struct moments *moments)
{
	moments_give_up(moments, 0);
	pthread_mutex_destroy(&moments->lock);
}

/* PRAGMA data_version: as long as it is the same no other connection has committed anything, upkeep included. */
static int
data_version(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;
	int version = -1;

	if (sqlite3_prepare_v2(db, "PRAGMA data_version", -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		version = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return version;
}

/* Opens a query for each worker. False: not all. */
static bool
open_queries(struct moments *moments, const char *path)
{
	char error[QUERY_ERROR_TEXT];

	for (int w = 0; w < JOBS_WORKERS; w++)
		if (query_open(path, &moments->query[w], error, sizeof(error)) != 0)
			return false;
	return true;
}

/* Begins the read transaction of each query. False: something was committed meanwhile, as a connection without a
 * transaction saw, so that their states may differ. */
static bool
begin_transactions(struct moments *moments, sqlite3 *watch)
{
	int version = data_version(watch);

	for (int w = 0; w < JOBS_WORKERS; w++)
		if (sqlite3_exec(moments->query[w]->db, "COMMIT; BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL,
		    NULL) != SQLITE_OK)
			return false;
	return version >= 0 && data_version(watch) == version;
}

static bool
begin_all(struct moments *moments, const char *path)
{
	sqlite3 *watch = NULL;
	bool done = false;

	if (open_queries(moments, path) && sqlite3_open_v2(path, &watch, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
		for (int i = 0; !done && i < TRIES; i++)
			done = begin_transactions(moments, watch);
	sqlite3_close(watch);
	return done;
}

static struct query *
lend_query(struct moments *moments, unsigned worker, uint64_t mono_us)
{
	struct query *query = moments->query[worker];

	moments->query[worker] = NULL;
	moments->n_lent += query != NULL;
	moments->asked_us = mono_us;
	return query;
}

static bool
had_pause(const struct moments *moments, uint64_t mono_us)
{
	return moments->wall_us == 0 && (moments->ended_us == 0 || mono_us - moments->ended_us >= MOMENTS_PAUSE_US);
}

/* One that nobody asks at present makes room for the next. */
static bool
may_begin(const struct moments *moments, uint64_t mono_us)
{
	if (moments->wall_us > 0 && (moments->n_lent > 0 || mono_us - moments->made_us < MOMENTS_SHARED_US))
		return false;
	return had_pause(moments, mono_us) || mono_us - moments->row_us < MOMENTS_ROW_US;
}

static void
begin_moment(struct moments *moments, const char *path, uint64_t mono_us, uint64_t wall_us)
{
	if (had_pause(moments, mono_us))
		moments->row_us = mono_us;
	if (moments->wall_us > 0)
		moments_give_up(moments, mono_us);
	if (!begin_all(moments, path)) {
		moments_give_up(moments, moments->ended_us);
		return;
	}
	moments->wall_us = wall_us;
	moments->made_us = mono_us;
}

struct query *
moments_begin(struct moments *moments, unsigned worker, const char *path, uint64_t mono_us, uint64_t *wall_us)
{
	struct query *query = NULL;

	pthread_mutex_lock(&moments->lock);
	if (may_begin(moments, mono_us))
		begin_moment(moments, path, mono_us, *wall_us);
	if (moments->wall_us > 0 && mono_us - moments->made_us < MOMENTS_SHARED_US) {
		*wall_us = moments->wall_us;
		query = lend_query(moments, worker, mono_us);
	}
	pthread_mutex_unlock(&moments->lock);
	return query;
}

struct query *
moments_take(struct moments *moments, unsigned worker, uint64_t wall_us, uint64_t mono_us)
{
	struct query *query = NULL;

	pthread_mutex_lock(&moments->lock);
	if (wall_us > 0 && wall_us == moments->wall_us)
		query = lend_query(moments, worker, mono_us);
	pthread_mutex_unlock(&moments->lock);
	return query;
}

void
moments_give_back(struct moments *moments, unsigned worker, uint64_t wall_us, uint64_t mono_us, struct query *query)
{
	if (query)
		query_rest(query);
	pthread_mutex_lock(&moments->lock);
	if (wall_us == moments->wall_us) {
		moments->query[worker] = query;
		moments->n_lent--;
		moments->asked_us = mono_us;
		query = NULL;
	}
	pthread_mutex_unlock(&moments->lock);
	query_close(query);
}

static bool
moments_is_over(const struct moments *moments, uint64_t mono_us)
{
	return mono_us - moments->row_us >= MOMENTS_ROW_US ||
	    (moments->n_lent == 0 && mono_us - moments->asked_us >= MOMENTS_IDLE_US);
}

void
moments_expire(struct moments *moments, uint64_t mono_us)
{
	if (pthread_mutex_trylock(&moments->lock) != 0)
		return; /* the next time will do */
	if (moments->wall_us > 0 && moments_is_over(moments, mono_us))
		moments_give_up(moments, mono_us);
	pthread_mutex_unlock(&moments->lock);
}
