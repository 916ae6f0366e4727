#include "collector/report/audit_reader.h"

#include "collector/query/query_private.h"
#include "collector/record.h"
#include "collector/source_port.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- accounts ---- */

static int
read_accounts(struct audit_reader *reader)
{
	struct query *query = reader->query;
	sqlite3_stmt *stmt = query_prepare(query, "SELECT agent, boot, if_index, expected, received, dropped_apart, tracker FROM account"
	    " WHERE last_us >= :from AND first_us < :to ORDER BY agent, boot, if_index");
	int err = stmt ? 0 : -EIO;

	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		if ((reader->n_accounts & (reader->n_accounts - 1)) == 0) { /* none, or all places are taken */
			struct audit_account *more = realloc(reader->accounts,
			    (2 * reader->n_accounts + 1) * sizeof(*more));

			err = more ? 0 : query_fail(query, -ENOMEM, "no memory");
			if (err)
				break;
			reader->accounts = more;
		}
		reader->accounts[reader->n_accounts++] = (struct audit_account){sqlite3_column_int64(stmt, 0),
		    sqlite3_column_int64(stmt, 1), (uint64_t)sqlite3_column_int64(stmt, 2),
		    sqlite3_column_double(stmt, 3) - fmax(0, query_given_out_before(stmt, 6)), /* 0, if that is NAN */
		    sqlite3_column_double(stmt, 4), sqlite3_column_double(stmt, 5)};
		err = 0;
	}
	sqlite3_finalize(stmt);
	return err;
}

/* By numbers and pools that go back or leap nothing is counted, also where a stretch of them looks well; but a datagram that
 * came twice is none of these. n is of all the time since the first, and when each was is not known: by part of it. */
#define ODD_PART 0.01 /* of the port's samples. *assumed* */

static int
read_odd_numbers(struct query *query)
{
	sqlite3_stmt *stmt = query_prepare(query, "SELECT agent, if_index, n * min(1.0, (:to - :from) / max(last_us - first_us, 1.0)),"
	    " kind = ?5 FROM oddity WHERE kind IN (?3, ?4, ?5) AND last_us >= :from AND first_us < :to");
	int err = stmt ? 0 : -EIO;

	for (size_t i = 0; i < query->n_ports; i++)
		query->ports[i].numbers_odd = query->ports[i].rate_odd = false;
	if (stmt) {
		sqlite3_bind_int(stmt, 3, EASE_ODD_POOL);
		sqlite3_bind_int(stmt, 4, EASE_ODD_NUMBERS);
		sqlite3_bind_int(stmt, 5, EASE_ODD_RATE);
	}
	while (err == 0 && (err = query_step(query, stmt)) == 1) {
		struct query_port *port = query_find_port(query, sqlite3_column_int64(stmt, 0), query_u64(stmt, 1));

		if (port && sqlite3_column_double(stmt, 2) > ODD_PART * (double)port->received)
			*(sqlite3_column_int(stmt, 3) ? &port->rate_odd : &port->numbers_odd) = true;
		err = 0;
	}
	sqlite3_finalize(stmt);
	return err;
}

int
audit_reader_begin(struct audit_reader *reader, struct query *query)
{
	int err = read_odd_numbers(query);

	*reader = (struct audit_reader){.query = query};
	return err ? err : read_accounts(reader);
}

void
audit_reader_end(struct audit_reader *reader)
{
	free(reader->accounts);
	free(reader->samples);
	free(reader->counters);
}

/* The first account of an agent; n_accounts if it has none. */
static size_t
first_account(const struct audit_reader *reader, int64_t agent)
{
	size_t low = 0, high = reader->n_accounts;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reader->accounts[middle].agent < agent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- samples ---- */

static bool
audit_has_room(struct query *query, void **items, size_t *room, size_t n, size_t size)
{
	void *more;

	if (n < *room)
		return true;
	more = realloc(*items, (2 * *room + 256) * size);
	if (!more) {
		query_fail(query, -ENOMEM, "no memory");
		return false;
	}
	*items = more;
	*room = 2 * *room + 256;
	return true;
}

static struct audit_sample
sample_of(sqlite3_stmt *stmt, int64_t boot)
{
	uint32_t mean_skip = (uint32_t)sqlite3_column_int64(stmt, 2), skip = (uint32_t)sqlite3_column_int64(stmt, 3);
	int64_t pool = sqlite3_column_int64(stmt, 4);
	bool is_sflow = boot >= QUERY_SFLOW_BOOTS;

	return (struct audit_sample){
	    .time_us = query_u64(stmt, 0),
	    .pool = pool == INT64_MAX ? AUDIT_UNKNOWN : (uint64_t)pool,
	    .boot = (uint32_t)boot,
	    .sequence = (uint32_t)sqlite3_column_int64(stmt, 1),
	    .mean = is_sflow ? skip + 1 : mean_skip, /* what sFlow states; its weight may be measured */
	    .period = is_sflow ? 0 : skip + 1,
	    .octets = (uint32_t)sqlite3_column_int64(stmt, 5),
	    .stands_for = (uint32_t)sqlite3_column_int64(stmt, 7),
	    .direction = sqlite3_column_int(stmt, 6) == EASE_OUT ? AUDIT_OUT : AUDIT_IN,
	};
}

/* Numbers wrap, so they are compared as serial numbers (RFC 1982): a port's samples of a boot span less than half of
 * them. */
static int
by_serial(const void *a, const void *b)
{
	const struct audit_sample *x = a, *y = b;
	uint32_t ahead = x->sequence - y->sequence;

	return ahead == 0 ? 0 : ahead < 1u << 31 ? 1 : -1;
}

/* The newest of them, by their numbers. */
static int
read_boot(struct audit_reader *reader, const struct query_port *port, int64_t boot)
{
	struct query *query = reader->query;
	size_t begin = reader->n_samples;
	sqlite3_stmt *stmt;
	int err;

	query_set_fetch_range(query, QUERY_ALL_ROWS, query->range.from_us, query->range.to_us);
	stmt = query_prepare_kept(query, "SELECT time_us, sequence, mean_skip, skip, pool_pkts, frame_octets,"
	    " direction, stands_for FROM sample WHERE agent = ?1 AND boot = ?2 AND if_index = ?3"
	    " AND time_us >= ?4 AND time_us < ?5 ORDER BY time_us DESC LIMIT ?6");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, boot);
	sqlite3_bind_int64(stmt, 3, port->if_index);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)query->range.from_us);
	sqlite3_bind_int64(stmt, 5, (sqlite3_int64)query->range.to_us);
	sqlite3_bind_int64(stmt, 6, AUDIT_SAMPLES_MAX);
	while ((err = query_step(query, stmt)) == 1) {
		if (!audit_has_room(query, (void **)&reader->samples, &reader->samples_room, reader->n_samples,
		    sizeof(*reader->samples))) {
			err = -ENOMEM;
			break;
		}
		reader->samples[reader->n_samples++] = sample_of(stmt, boot);
	}
	query_give_back(query, stmt);
	if (reader->n_samples > begin)
		qsort(reader->samples + begin, reader->n_samples - begin, sizeof(*reader->samples), by_serial);
	return err < 0 ? err : 0;
}

/* ---- counters ---- */

static double
sum_of_three(sqlite3_stmt *stmt, int column)
{
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double count = query_count(stmt, column + i);

		sum += isnan(count) ? 0 : count; /* a device without it counts such frames among the unicasts */
	}
	return sum;
}

static int
audit_read_counters(struct audit_reader *reader, const struct query_port *port)
{
	struct query *query = reader->query;
	sqlite3_stmt *stmt;
	int err;

	reader->n_counters = 0;
	query_set_fetch_range(query, QUERY_COUNTERS_WITHIN, query->range.from_us, query->range.to_us);
	stmt = query_prepare_kept(query, "SELECT time_us, received_us, discontinuity_us, in_ucast, in_mcast, in_bcast,"
	    " out_ucast, out_mcast, out_bcast, in_octets, out_octets, pool_in, pool_out, boot, last_sequence, stalled_pkts"
	    " FROM counter"
	    " WHERE agent = ?1 AND if_index = ?2 AND time_us >= ?3 AND time_us < ?4 ORDER BY time_us");
	if (!stmt)
		return -EIO;
	sqlite3_bind_int64(stmt, 1, port->agent->id);
	sqlite3_bind_int64(stmt, 2, port->if_index);
	sqlite3_bind_int64(stmt, 3, (sqlite3_int64)query->range.from_us);
	sqlite3_bind_int64(stmt, 4, (sqlite3_int64)query->range.to_us);
	while ((err = query_step(query, stmt)) == 1) {
		/* of sFlow the collector fills in what it knows */
		bool is_ease = sqlite3_column_int64(stmt, 13) < QUERY_SFLOW_BOOTS;

		if (!audit_has_room(query, (void **)&reader->counters, &reader->counters_room, reader->n_counters,
		    sizeof(*reader->counters))) {
			err = -ENOMEM;
			break;
		}
		reader->counters[reader->n_counters++] = (struct audit_counters){
		    .time_us = query_u64(stmt, 0), .received_us = query_u64(stmt, 1),
		    .discontinuity_us = query_u64(stmt, 2),
		    .pkts = {sum_of_three(stmt, 3), sum_of_three(stmt, 6)},
		    .octets = {query_count(stmt, 9), query_count(stmt, 10)},
		    .pool = {is_ease ? query_count(stmt, 11) : NAN, is_ease ? query_count(stmt, 12) : NAN},
		    .numbers = is_ease ? sqlite3_column_double(stmt, 14) : NAN,
		    .stalled = is_ease ? sqlite3_column_double(stmt, 15) : 0,
		};
	}
	query_give_back(query, stmt);
	return err < 0 ? err : 0;
}

static double
rise_between(const double before[static AUDIT_DIRECTIONS], const double now[static AUDIT_DIRECTIONS])
{
	return now[AUDIT_IN] - before[AUDIT_IN] + now[AUDIT_OUT] - before[AUDIT_OUT];
}

static void
raise_part(double *total, double kept_before, double before, double part)
{
	*total = kept_before + part * (*total - before);
}

/* What passes while the skip counter stands empty is in no sample, and no fault of the rate: so large a part of each
 * interval is taken out of what was counted. Returns what part that is of all. */
static double
leave_out_stalls(struct audit_counters *c, size_t n)
{
	struct audit_counters before = n > 0 ? c[0] : (struct audit_counters){0};
	double passed = 0, stalled = 0;

	for (size_t i = 1; i < n; i++) {
		struct audit_counters now = c[i];
		double pkts = rise_between(before.pool, now.pool), step = now.stalled - before.stalled, part;

		pkts = isnan(pkts) ? rise_between(before.pkts, now.pkts) : pkts;
		part = pkts > 0 && step > 0 ? fmax(0, 1 - step / pkts) : 1;
		for (int d = 0; d < AUDIT_DIRECTIONS && now.discontinuity_us == before.discontinuity_us; d++) {
			raise_part(&c[i].pkts[d], c[i - 1].pkts[d], before.pkts[d], part);
			raise_part(&c[i].octets[d], c[i - 1].octets[d], before.octets[d], part);
			raise_part(&c[i].pool[d], c[i - 1].pool[d], before.pool[d], part);
		}
		if (now.discontinuity_us == before.discontinuity_us && pkts > 0) {
			passed += pkts;
			stalled += (1 - part) * pkts;
		}
		before = now;
	}
	return passed > 0 ? stalled / passed : 0;
}

/* A skip that is always the mean is none: EASE-SAMPLING-MIB has it so where the device does not report what it drew, as
 * the kernel's sampling. Then pools tell the periods; of every Nth frame, too. */
static void
forget_means(struct audit_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (samples[i].period != samples[i].mean)
			return;
	for (size_t i = 0; i < n; i++)
		samples[i].period = 0;
}

/* Some sample what they receive at one rate and what they send at another: then the direction with more samples is judged,
 * and numbers, which both share, tell of it only what part arrived. */
static bool
keep_one_direction(struct audit_reader *reader)
{
	const struct audit_sample *newest[AUDIT_DIRECTIONS] = {NULL}, *before = NULL;
	size_t of[AUDIT_DIRECTIONS] = {0}, changes = 0, changes_within = 0, kept = 0;

	for (size_t i = 0; i < reader->n_samples; i++) {
		const struct audit_sample *s = &reader->samples[i];

		changes += before && before->mean != s->mean;
		changes_within += newest[s->direction] && newest[s->direction]->mean != s->mean;
		before = newest[s->direction] = s;
		of[s->direction]++;
	}
	if (changes <= 10 * (changes_within + 1))
		return false;
	for (size_t i = 0; i < reader->n_samples; i++)
		if (reader->samples[i].direction == (of[AUDIT_OUT] > of[AUDIT_IN] ? AUDIT_OUT : AUDIT_IN))
			reader->samples[kept++] = reader->samples[i];
	reader->n_samples = kept;
	return true;
}

int
audit_read(struct audit_reader *reader, const struct query_port *port, struct audit_input *input)
{
	const struct query_agent *agent = port->agent;
	double expected = 0, received = 0, dropped = 0, arrived = 1;
	bool own = false, is_one, several = false, is_sflow = agent->boot >= QUERY_SFLOW_BOOTS;
	int err = audit_read_counters(reader, port);
	int64_t boot = -1;

	reader->n_samples = 0;
	for (size_t i = first_account(reader, agent->id);
	     err == 0 && i < reader->n_accounts && reader->accounts[i].agent == agent->id; i++) {
		const struct audit_account *account = &reader->accounts[i];

		if (account->boot != boot)
			err = read_boot(reader, port, account->boot);
		boot = account->boot;
		own |= account->if_index == port->if_index && account->expected > 0; /* not of counters alone */
		if (account->if_index == port->if_index && account->received > 0) {
			dropped = fmax(dropped, account->dropped_apart / account->received);
			arrived = fmin(arrived, account->received / account->expected);
		}
		if (account->if_index & SOURCE_PORT_FURTHER) {
			several |= (uint32_t)account->if_index == port->if_index;
		} else if (source_port_has_numbers(account->if_index)) {
			expected += account->expected;
			received += account->received;
		}
	}
	forget_means(reader->samples, reader->n_samples);
	is_one = keep_one_direction(reader);
	for (size_t i = 0; (port->numbers_odd || is_one) && i < reader->n_samples; i++)
		reader->samples[i].pool = AUDIT_UNKNOWN;
	*input = (struct audit_input){
	    .samples = reader->samples, .n_samples = reader->n_samples,
	    .counters = reader->counters, .n_counters = reader->n_counters,
	    .shared_numbers = !own || port->numbers_odd || is_one,
	    .several = several,
	    .arrived = !own && expected > 0 ? fmin(1, received / expected) : is_one ? arrived : 1,
	    .has_pool = own && is_sflow && !port->numbers_odd && !is_one,
	    .dropped = dropped,
	    .stalled = leave_out_stalls(reader->counters, reader->n_counters),
	    .has_clock = !is_sflow,
	    .clock_off_s = (double)agent->clock_off_us / 1e6,
	};
	return err;
}
