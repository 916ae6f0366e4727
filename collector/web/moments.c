#include "collector/web/moments.h"

enum { TRIES = 5 }; /* of opening two queries between two transactions of the writer, who has one a second */

void
moments_open(struct moments *moments)
{
	*moments = (struct moments){0};
	pthread_mutex_init(&moments->lock, NULL);
}

/* What workers have is closed when it comes back. */
static void
give_up(struct moments *moments, uint64_t mono_us)
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
	give_up(moments, 0);
	pthread_mutex_destroy(&moments->lock);
}

/* What is different in each state of the store that a report can tell from another. */
struct state {
	int64_t received_us, flush;
};

static bool
read_state(struct query *query, struct state *state)
{
	sqlite3_stmt *stmt = query_prepare(query,
	    "SELECT max(last_received_us), (SELECT max(id) FROM flush) FROM agent");
	bool there = stmt && query_step(query, stmt) == 1;

	if (there)
		*state = (struct state){sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)};
	sqlite3_finalize(stmt);
	return there;
}

/* Opens a query for each worker; false: not all, or of different states. */
static bool
open_queries(struct moments *moments, const char *path)
{
	char error[QUERY_ERROR_TEXT];
	struct state first = {0}, state;

	for (int w = 0; w < JOBS_WORKERS; w++) {
		if (query_open(path, &moments->query[w], error, sizeof(error)) != 0 ||
		    !read_state(moments->query[w], &state))
			return false;
		if (w > 0 && (state.received_us != first.received_us || state.flush != first.flush))
			return false;
		first = state;
	}
	return true;
}

static struct query *
lend(struct moments *moments, unsigned worker, uint64_t mono_us)
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
begin(struct moments *moments, const char *path, uint64_t mono_us, uint64_t wall_us)
{
	bool done = false;

	if (had_pause(moments, mono_us))
		moments->row_us = mono_us;
	if (moments->wall_us > 0)
		give_up(moments, mono_us);
	for (int i = 0; !done && i < TRIES; i++) {
		done = open_queries(moments, path);
		if (!done)
			give_up(moments, moments->ended_us);
	}
	if (!done)
		return;
	moments->wall_us = wall_us;
	moments->made_us = mono_us;
}

struct query *
moments_begin(struct moments *moments, unsigned worker, const char *path, uint64_t mono_us, uint64_t *wall_us)
{
	struct query *query = NULL;

	pthread_mutex_lock(&moments->lock);
	if (may_begin(moments, mono_us))
		begin(moments, path, mono_us, *wall_us);
	if (moments->wall_us > 0 && mono_us - moments->made_us < MOMENTS_SHARED_US) {
		*wall_us = moments->wall_us;
		query = lend(moments, worker, mono_us);
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
		query = lend(moments, worker, mono_us);
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
is_over(const struct moments *moments, uint64_t mono_us)
{
	return mono_us - moments->row_us >= MOMENTS_ROW_US ||
	    (moments->n_lent == 0 && mono_us - moments->asked_us >= MOMENTS_IDLE_US);
}

void
moments_expire(struct moments *moments, uint64_t mono_us)
{
	if (pthread_mutex_trylock(&moments->lock) != 0)
		return; /* the next time will do */
	if (moments->wall_us > 0 && is_over(moments, mono_us))
		give_up(moments, mono_us);
	pthread_mutex_unlock(&moments->lock);
}
