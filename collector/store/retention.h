/*
 * Retention: deletes old data by age and by size, the finest detail first, in steps of a few
 * milliseconds.
 *
 * Ages count from the end of the minutes that are settled, so a store of old data is not deleted, and not
 * from later than the wall clock shows. (What a switch's clock shows does not matter: see
 * window/device_clock.h.) A wall clock that was set by more than ten minutes deletes nothing for an hour.
 *
 * While the store is too large, samples go first: not the oldest of all, but the oldest of the port
 * whose samples come in, chosen at random among the newest rows. So each port pays in proportion to
 * what it fills, and a flood of one agent deletes nobody else's. (The table sample_floor has since
 * when all samples of such an agent are kept.) Then counters and sums of sources that hold far more than others
 * (charge.h), rows of old boots and states, and sums of all last, the finest level first. What fills small tables
 * (discarded packets, events, addresses, …) has parts of its own, paid by the source that fills them, and costs none of
 * this: shares.h.
 *
 * Of one source there is a number of agents and ports (source_limits.h), of which it pays for what is beyond.
 *
 * Agents and ports that were silent for a time (option forget_after) are forgotten once the days of which they
 * have figures are deleted (forget.h).
 *
 * A level's windows are deleted only when the next level has them. The range of a level then starts
 * at the start of a window of the next level, so reports can change over from one to the other.
 * Events, gaps, old boots, states, error sources and outages are deleted together with the days that
 * they belong to; how many an agent or port has is limited when they are written (tables.c).
 *
 * Counters and resources are thinned: after ten minutes only the first and the last row of each ten seconds
 * stay, after an hour more those of each minute; where the windows of a level are deleted, those of each window of the next level (5 minutes, an
 * hour, a day); and those on both sides of a discontinuity or boot. What a port counted in any range of
 * such windows is unchanged. Before the days that are kept one row of each port stays, with which the first of
 * these begins.
 * In the same way gaps between counters within one such window become one.
 *
 * Inside the store room, on the writing thread.
 */
#ifndef EASE_COLLECTOR_STORE_RETENTION_H
#define EASE_COLLECTOR_STORE_RETENTION_H

#include "collector/store/charge.h"
#include "collector/store/rollup.h"
#include "collector/store/shares.h"
#include "collector/store/source_limits.h"

/* How long data is kept; 0: for ever. */
struct store_retention {
	uint64_t samples_us;
	uint64_t headers_us; /* of samples; 0: none are kept */
	uint64_t level_us[STORE_N_LEVELS]; /* [0] is not used; 8 d is kept as long as 1 d */
	uint64_t forget_us;   /* what was silent for so long is forgotten with its last figures */
	uint64_t most_agents, most_ports; /* places in memory: no source has more in the store, see source_limits.h */
	uint64_t most_octets; /* size of the file, without its write-ahead log and free pages; seven eighths of it are
			       * for what has no part of its own (shares.h) */
};

enum retention_count {
	RETENTION_SAMPLES,
	RETENTION_HEADERS, /* of samples that stay */
	RETENTION_COUNTERS, /* rows of counters and resources */
	RETENTION_EVENTS,
	RETENTION_DEVICE_ROWS, /* old boots, states, error sources, places, outages; agents and ports forgotten */
	RETENTION_OF_SOURCES, /* agents and ports of sources that had more than their number */
	RETENTION_PAID, /* counters, and entries of packs that were folded, of sources that held far more than others */
	RETENTION_SUMS, /* + enum store_level_index: entries of packs */
	RETENTION_N_COUNTS = RETENTION_SUMS + STORE_N_LEVELS,
};

/* Ports of samples that were written lately, one of some dozen rows. */
enum { RETENTION_FILLERS = 256, RETENTION_FILLER_EVERY = 31 };
struct retention_filler {
	int64_t agent, if_index; /* 0, 0: none */
};

/* Tables whose old rows are looked for port after port. */
enum retention_old {
	RETENTION_OLD_PLACES,
	RETENTION_OLD_ACCOUNTS,
	RETENTION_OLD_LOST, /* of boots without an account */
	RETENTION_OLD_STATES,
	RETENTION_OLD_ERROR_SOURCES,
	RETENTION_OLD_ODDITIES,
	RETENTION_N_OLD,
};

struct retention {
	struct store_retention keep;
	uint64_t deleted[RETENTION_N_COUNTS];
	uint64_t now_us; /* the time from which ages count; 0: nothing is too old */
	int64_t wall_less_mono_us; /* at the step before; 0: there was none */
	uint64_t wait_until_us;	   /* monotonic */
	/* a pass that thins counters: the level whose windows keep their first and last row, the
	 * end of the time, and the port that was done last */
	enum store_level_index thinning;
	uint64_t thin_to_us; /* 0: no pass */
	uint64_t thin_next_us; /* of the first row behind it, of all ports so far */
	int64_t agent, if_index;
	bool thin_again; /* more of it is left */
	uint64_t sums_deleted_us[STORE_N_LEVELS]; /* no sums of a level are left from before this */
	uint64_t device_rows_us; /* rows of the time before this were looked for, */
	uint64_t forgotten_us;	 /* with this forget_us */
	struct retention_pass {
		uint64_t done_us; /* rows from before this are deleted */
		int64_t agent, if_index; /* the port that is looked at next */
	} passes[RETENTION_N_OLD];
	struct shares shares;
	struct charge charge;
	int64_t shrink_port[2]; /* agent and ifIndex of the port that gave spare rows last */
	struct retention_filler fillers[RETENTION_FILLERS];
	uint64_t n_rows;    /* samples written so far */
	uint64_t n_choices; /* of a port that pays */
	struct source_limits sources;
	bool shrunk; /* the same as over_size, for rows of old boots, states and error sources */
	bool over_size; /* the store is too large, and nothing is left that may be deleted */
};

/* Notes a sample that is written. */
static inline void
retention_note_sample(struct retention *t, int64_t agent, uint64_t if_index)
{
	uint64_t n = t->n_rows++;

	if (n % RETENTION_FILLER_EVERY == 0)
		t->fillers[n / RETENTION_FILLER_EVERY % RETENTION_FILLERS] =
		    (struct retention_filler){agent, if_index};
}

/* Deletes some rows of who fills the store, if that is due at once: before sums are rolled up, and as often as more is
 * written. Returns as below. */
int retention_make_room(struct retention *t, struct rollup *r);

/* Deletes some rows within the caller's transaction, at that time of the wall clock and of the monotonic one.
 * Returns 1, 0 if there is nothing to delete, or -EIO. */
int retention_step(struct retention *t, struct rollup *r, uint64_t wall_us, uint64_t mono_us);

#endif
