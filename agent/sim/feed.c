#include "agent/sim/feed.h"

#include "agent/sim/error_injection.h"
#include "agent/sim/live_input.h"
#include "agent/sim/port_assignment.h"
#include "agent/sim/savefile.h"
#include "common/assert_hot.h"
#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	HEADER_OCTETS = 14, /* two addresses and a type */
	MIN_DATA_OCTETS = 60,
	FCS_OCTETS = 4,
	BATCH = 64, /* records turned into frames at a time */
};

static const struct stat_name stat_names[FEED_N_STATS] = {
    [FEED_STAT_DAMAGED] = {"feed.damaged", "capture files damaged before their end"},
    [FEED_STAT_LYING] = {"feed.lying_lengths", "records left out: their length is longer than any frame"},
    [FEED_STAT_CUT_HEADERS] = {"feed.cut_headers",
	"records left out: the snap length cut the Ethernet header"},
    [FEED_STAT_RUNTS] = {"feed.runts", "frames shorter than an Ethernet header: not forwarded"},
    [FEED_STAT_BAD_TIMES] = {"feed.bad_times",
	"records without a time, or an impossible one; they get the time before"},
    [FEED_STAT_OTHER_LINKS] = {"feed.other_links",
	"records left out: their interface was not Ethernet"},
    [FEED_STAT_DEAL_FULL] = {"feed.deal_full", "frames dealt by hash: there were too many source addresses"},
    [FEED_STAT_LOOPS] = {"feed.loops", "times a capture began again"},
    [FEED_STAT_LINK_CHANGES] = {"feed.link_changes", "link changes made as configured"},
    [FEED_STAT_LIVE_LOST] = {"feed.live_lost", "frames of live interfaces dropped by the kernel: they were not read in time"},
    [FEED_STAT_LIVE_FAILURES] = {"feed.live_failures", "times a live interface could not be read"},
    [FEED_STAT_INJECTED + FEED_ERROR_CRC] = {"feed.injected_crc", "frames given a bad FCS"},
    [FEED_STAT_INJECTED + FEED_ERROR_ALIGNMENT] = {"feed.injected_alignment",
	"frames given a bad FCS and a fraction of an octet"},
    [FEED_STAT_INJECTED + FEED_ERROR_SYMBOL] = {"feed.injected_symbol",
	"frames given a symbol error"},
    [FEED_STAT_INJECTED + FEED_ERROR_GIANT] = {"feed.injected_giant", "frames made too long"},
    [FEED_STAT_INJECTED + FEED_ERROR_JABBER] = {"feed.injected_jabber",
	"frames made too long, with a bad FCS"},
    [FEED_STAT_INJECTED + FEED_ERROR_RUNT] = {"feed.injected_runt", "frames made too short"},
    [FEED_STAT_INJECTED + FEED_ERROR_FRAGMENT] = {"feed.injected_fragment",
	"frames made too short, with a bad FCS"},
};

struct source {
	char *path;
	struct savefile *file; /* NULL: at its end */
	struct live_input *live;     /* in place of a file; NULL: none */
	uint64_t live_lost;    /* already counted */
	int port;	       /* -1: dealt */
	uint64_t offset_us;    /* added to its times for the rounds that are over */
	uint64_t last_us;      /* the newest time of a frame passed on */
	uint64_t first_us;     /* of the first record, without offset */
	bool has_first, damaged;
	bool round_has_frame;
	bool given; /* a frame of its block is in the current batch */
	uint64_t other_links; /* already counted */
	/* Frames that wait for their turn: in `batch`, or all link changes. */
	struct feed_frame *frames;
	size_t next, n_frames;
	struct feed_frame batch[BATCH];
};

struct feed {
	bool loop;
	enum feed_deal deal_mode;
	struct port_assignment *assignment; /* NULL: no source is dealt */
	struct error_injection *injection; /* NULL: no errors */
	struct preload *preload; /* NULL: frames come from the sources */
	struct source *sources; /* the last one has the link changes instead of a file */
	size_t n_sources;
	struct source *live; /* network interfaces, read in turn */
	size_t n_live, next_live;
	unsigned live_calls;
	struct feed_frame *link_changes;
	/* Sources with frames, a heap: the source with the earliest next frame is on top. */
	struct source *heap[FEED_MAX_SOURCES + 1];
	size_t n_heap;
	uint64_t start_us;
	_Atomic uint64_t stat_values[FEED_N_STATS];
	struct stat_set stats;
};

/* --- frames held in memory, to measure a board without the cost of reading files --- */

#define PRELOAD_MAX_OCTETS (1ull << 30) /* of all frames */

/* Each frame is in another page. Huge pages reduce the cost of address translation. */
enum { HUGE_PAGE = 2 << 20, CHUNK_OCTETS = 2 * HUGE_PAGE, FIRST_FRAMES = 65536 };

/* Octets of frames; a chunk never moves. */
struct chunk {
	struct chunk *next;
	size_t used;
	uint8_t octets[CHUNK_OCTETS - 2 * sizeof(size_t)];
};

struct preload {
	bool loop;
	struct feed_frame *frames;
	size_t n, room, next;
	struct chunk *chunks;
	uint64_t octets;
	uint64_t offset_us, round_us; /* of this round; from one round to the next */
};

static uint8_t *
keep_octets(struct preload *p, const struct feed_frame *frame)
{
	struct chunk *chunk = p->chunks;

	if (!chunk || sizeof(chunk->octets) - chunk->used < frame->captured_octets) {
		chunk = aligned_alloc(HUGE_PAGE, sizeof(*chunk));
		if (!chunk)
			return NULL;
		madvise(chunk, sizeof(*chunk), MADV_HUGEPAGE); /* optional */
		chunk->next = p->chunks;
		chunk->used = 0;
		p->chunks = chunk;
	}
	chunk->used += frame->captured_octets;
	if (frame->captured_octets > 0)
		memcpy(chunk->octets + chunk->used - frame->captured_octets, frame->octets, frame->captured_octets);
	return chunk->octets + chunk->used - frame->captured_octets;
}

/* Copies a frame behind those already held. -EFBIG: more than PRELOAD_MAX_OCTETS; -ENOMEM. */
static int
preload_add(struct preload *p, const struct feed_frame *frame)
{
	struct feed_frame *kept;

	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : FIRST_FRAMES;
		struct feed_frame *more = realloc(p->frames, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->frames = more;
		p->room = room;
	}
	p->octets += frame->captured_octets + sizeof(*frame);
	if (p->octets > PRELOAD_MAX_OCTETS)
		return -EFBIG;
	kept = &p->frames[p->n];
	*kept = *frame;
	kept->octets = keep_octets(p, frame);
	if (!kept->octets)
		return -ENOMEM;
	p->n++;
	p->round_us = frame->time_us - p->frames[0].time_us + FEED_LOOP_GAP_US;
	return 0;
}

static void
preload_destroy(struct preload *preload)
{
	struct chunk *next;

	if (!preload)
		return;
	for (struct chunk *chunk = preload->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(preload->frames);
	free(preload);
}

/* As feed_next_batch. */
static size_t
preload_next_batch(struct preload *p, struct feed_frame *frames, size_t max)
{
	size_t n;

	if (p->next == p->n && p->loop) {
		p->next = 0;
		p->offset_us += p->round_us;
	}
	n = p->n - p->next < max ? p->n - p->next : max;
	for (size_t i = 0; i < n; i++) {
		frames[i] = p->frames[p->next + i];
		frames[i].time_us += p->offset_us;
	}
	p->next += n;
	return n;
}

/* --- from records to frames --- */

/* The record's time on the feed's scale; an impossible time is replaced by the one before. */
static inline uint64_t
frame_time(struct feed *feed, struct source *s, uint64_t record_us)
{
	uint64_t us;

	if (record_us == SAVEFILE_NO_TIME) {
		stat_add(&feed->stats, FEED_STAT_BAD_TIMES, 1);
		return s->last_us;
	}
	if (!s->has_first) {
		s->has_first = true;
		s->first_us = record_us;
	}
	us = record_us + s->offset_us;
	if (us > s->last_us)
		s->last_us = us;
	return us;
}

static inline uint16_t
frame_port(struct feed *feed, const struct source *s, const struct savefile_record *r, uint32_t captured)
{
	bool full = false;
	unsigned port;

	if (s->port >= 0)
		return (uint16_t)s->port;
	if (feed->deal_mode == FEED_DEAL_INTERFACE)
		return (uint16_t)port_by_turn(feed->assignment, r->interface);
	port = port_of_source(feed->assignment, captured >= HEADER_OCTETS ? frame_source(r->octets) : 0, &full);
	if (full)
		stat_add(&feed->stats, FEED_STAT_DEAL_FULL, 1);
	return (uint16_t)port;
}

/* False if the record cannot be a frame. */
static bool
check_record(struct feed *feed, const struct source *s, const struct savefile_record *r, uint32_t captured)
{
	if (r->length_octets > FEED_MAX_WIRE_OCTETS) {
		stat_add(&feed->stats, FEED_STAT_LYING, 1);
		log_warn_limited("feed", "%s: a record of %u octets is left out: no frame is that long", s->path,
		    r->length_octets);
		return false;
	}
	if (captured < r->length_octets && captured < HEADER_OCTETS) {
		stat_add(&feed->stats, FEED_STAT_CUT_HEADERS, 1);
		return false;
	}
	return true;
}

/* Adds the padding that the sender's MAC adds after the capture. */
static void
pad_frame(struct feed *feed, struct feed_frame *f, uint32_t length)
{
	if (length < HEADER_OCTETS) {
		stat_add(&feed->stats, FEED_STAT_RUNTS, 1);
		return;
	}
	f->wire_octets = MIN_DATA_OCTETS + FCS_OCTETS;
	if (f->captured_octets == length)
		f->data_octets = MIN_DATA_OCTETS;
}

/* Converts records to frames; some records may be left out. */
static size_t
make_frames(struct feed *feed, struct source *s, const struct savefile_record *records, size_t n,
    struct feed_frame *frames)
{
	struct feed_frame *f = frames;

	for (const struct savefile_record *r = records; r < records + n; r++) {
		uint32_t length = r->length_octets;
		uint32_t captured = r->captured_octets < length ? r->captured_octets : length;

		if (captured < HEADER_OCTETS || length > FEED_MAX_WIRE_OCTETS)
			if (!check_record(feed, s, r, captured))
				continue;
		*f = (struct feed_frame){.time_us = frame_time(feed, s, r->time_us),
		    .octets = r->octets, .captured_octets = captured, .data_octets = captured,
		    .wire_octets = length + FCS_OCTETS, .port = frame_port(feed, s, r, captured)};
		if (length < MIN_DATA_OCTETS)
			pad_frame(feed, f, length);
		f++;
	}
	for (struct feed_frame *good = frames; feed->injection && good < f; good++) {
		int kind = error_injection_apply(feed->injection, good);

		if (kind >= 0)
			stat_add(&feed->stats, FEED_STAT_INJECTED + (unsigned)kind, 1);
	}
	return (size_t)(f - frames);
}

/* --- a source --- */

static void
count_other_links(struct feed *feed, struct source *s)
{
	uint64_t n = savefile_other_links(s->file);

	if (n != s->other_links)
		stat_add(&feed->stats, FEED_STAT_OTHER_LINKS, n - s->other_links);
	s->other_links = n;
}

/* Begins another round of the file, with times after those of the last round. A round without a frame is
 * the last one, or this would loop for ever. */
static bool
begin_again(struct feed *feed, struct source *s)
{
	int rc;

	if (!feed->loop || !s->has_first || !s->round_has_frame)
		return false;
	rc = savefile_rewind(s->file);
	if (rc < 0) {
		log_warn("feed", "%s: cannot read the capture again from its beginning: %s", s->path, strerror(-rc));
		return false;
	}
	stat_add(&feed->stats, FEED_STAT_LOOPS, 1);
	s->offset_us = s->last_us + FEED_LOOP_GAP_US - s->first_us;
	s->round_has_frame = false;
	return true;
}

/* The file has ended or cannot be read further. The frames before remain valid. */
static void
end_round(struct feed *feed, struct source *s, bool damaged)
{
	if (damaged && !s->damaged) {
		s->damaged = true;
		stat_add(&feed->stats, FEED_STAT_DAMAGED, 1);
		log_warn("feed", "%s: the capture is damaged and ends here: %s", s->path, savefile_damage(s->file));
	}
	if (begin_again(feed, s))
		return;
	savefile_close(s->file);
	s->file = NULL;
}

/* Reads up to max frames of the block in memory. */
static size_t
feed_read_block(struct feed *feed, struct source *s, struct feed_frame *frames, size_t max)
{
	struct savefile_record records[BATCH];
	size_t n = 0, n_records;

	do {
		size_t want = max - n < BATCH ? max - n : BATCH;

		n_records = savefile_read(s->file, records, want);
		n += make_frames(feed, s, records, n_records, frames + n);
	} while (n_records > 0 && n < max);
	s->round_has_frame = s->round_has_frame || n > 0;
	count_other_links(feed, s);
	return n;
}

/* Reads frames of the source, from further blocks if needed; 0: it has ended. */
static size_t
feed_read_frames(struct feed *feed, struct source *s, struct feed_frame *frames, size_t max)
{
	size_t n = 0;

	while (s->file && (n = feed_read_block(feed, s, frames, max)) == 0) {
		enum savefile_state state = savefile_fill(s->file);

		if (state != SAVEFILE_MORE)
			end_round(feed, s, state == SAVEFILE_DAMAGED);
	}
	return n;
}

/* --- merging sources --- */

/* If times are equal, the source named first in the configuration comes first. */
static bool
comes_before(const struct source *a, const struct source *b)
{
	uint64_t a_us = a->frames[a->next].time_us, b_us = b->frames[b->next].time_us;

	return a_us < b_us || (a_us == b_us && a < b);
}

static void
feed_sift_down(struct feed *feed, size_t i)
{
	struct source *moved = feed->heap[i];

	for (size_t child; (child = 2 * i + 1) < feed->n_heap; i = child) {
		if (child + 1 < feed->n_heap && comes_before(feed->heap[child + 1], feed->heap[child]))
			child++;
		if (!comes_before(feed->heap[child], moved))
			break;
		feed->heap[i] = feed->heap[child];
	}
	feed->heap[i] = moved;
}

/* Reads new frames for the source on top, whose waiting frames are used up. False if that must wait,
 * because frames of its block are in the current batch. */
static bool
refill_top(struct feed *feed)
{
	struct source *s = feed->heap[0];

	assert(s->next == s->n_frames);
	s->next = 0;
	s->n_frames = s->file ? feed_read_block(feed, s, s->frames, BATCH) : 0;
	if (s->n_frames == 0 && s->given && s->file)
		return false;
	if (s->n_frames == 0)
		s->n_frames = feed_read_frames(feed, s, s->frames, BATCH);
	if (s->n_frames == 0)
		feed->heap[0] = feed->heap[--feed->n_heap];
	if (feed->n_heap > 0)
		feed_sift_down(feed, 0);
	return true;
}

static size_t
merge_sources(struct feed *feed, struct feed_frame *frames, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < feed->n_heap; i++)
		feed->heap[i]->given = false;
	while (n < max && feed->n_heap > 0) {
		struct source *s = feed->heap[0];

		if (s->next == s->n_frames) {
			if (!refill_top(feed))
				break;
			continue;
		}
		assert_hot(feed->n_heap < 2 || !comes_before(feed->heap[1], s));
		frames[n] = s->frames[s->next++];
		s->given = true;
		if (frames[n++].event != FEED_FRAME)
			stat_add(&feed->stats, FEED_STAT_LINK_CHANGES, 1);
		if (s->next < s->n_frames)
			feed_sift_down(feed, 0);
	}
	return n;
}

size_t
feed_next_batch(struct feed *feed, struct feed_frame *frames, size_t max)
{
	if (feed->preload)
		return preload_next_batch(feed->preload, frames, max);
	/* If only one source is left, its frames need no merging and no copy. */
	if (feed->n_heap == 1 && feed->heap[0]->next == feed->heap[0]->n_frames)
		return feed_read_frames(feed, feed->heap[0], frames, max);
	return merge_sources(feed, frames, max);
}

/* --- live --- */

bool
feed_has_live(const struct feed *feed)
{
	return feed->n_live > 0;
}

/* Not called for each frame: the call to the kernel costs as much as reading some frames. */
static void
feed_count_lost(struct feed *feed, struct source *s)
{
	uint64_t lost = live_input_lost(s->live);

	if (lost > s->live_lost)
		stat_add(&feed->stats, FEED_STAT_LIVE_LOST, lost - s->live_lost);
	s->live_lost = lost;
}

static size_t
read_live(struct feed *feed, struct source *s, struct feed_frame *frames, size_t max)
{
	struct savefile_record records[LIVE_INPUT_BATCH];
	int n = live_input_read(s->live, records, max);

	if (n < 0) {
		stat_add(&feed->stats, FEED_STAT_LIVE_FAILURES, 1);
		log_warn_limited("feed", "live:%s: the interface cannot be read; is it down?", s->path);
		return 0;
	}
	for (int i = 0; i < n; i++)
		records[i].time_us = 0;
	return make_frames(feed, s, records, (size_t)n, frames);
}

size_t
feed_live_batch(struct feed *feed, struct feed_frame *frames, size_t max)
{
	enum { CALLS_PER_COUNT = 256 };
	size_t n = 0;

	for (size_t i = 0; i < feed->n_live && n < max; i++) {
		struct source *s = &feed->live[feed->next_live];

		feed->next_live = (feed->next_live + 1) % feed->n_live;
		n += read_live(feed, s, frames + n, max - n);
		if (feed->live_calls++ % CALLS_PER_COUNT < feed->n_live)
			feed_count_lost(feed, s);
	}
	return n;
}

uint64_t
feed_first_us(const struct feed *feed)
{
	return feed->start_us;
}

const struct stat_set *
feed_stats(const struct feed *feed)
{
	return &feed->stats;
}

/* --- opening --- */

static int
feed_add_source(struct feed *feed, const struct feed_source *from, char *error, size_t error_size)
{
	struct source *s = &feed->sources[feed->n_sources];
	int rc;

	s->port = from->port;
	s->frames = s->batch;
	s->path = strdup(from->path);
	if (!s->path) {
		if (from->file)
			fclose(from->file);
		snprintf(error, error_size, "%s: out of memory", from->path);
		return -ENOMEM;
	}
	feed->n_sources++;
	rc = savefile_open(from->path, from->file, from->interface, &s->file, error, error_size);
	if (rc < 0)
		return rc;
	s->n_frames = feed_read_frames(feed, s, s->frames, BATCH);
	return 0;
}

static int
add_live(struct feed *feed, const struct feed_live *from, char *error, size_t error_size)
{
	struct source *s = &feed->live[feed->n_live];

	s->port = from->port;
	s->path = strdup(from->interface);
	if (!s->path) {
		snprintf(error, error_size, "live:%s: out of memory", from->interface);
		return -ENOMEM;
	}
	feed->n_live++;
	return live_input_open(from->interface, &s->live, error, error_size);
}

static bool
is_dealt(const struct feed_config *config)
{
	for (size_t i = 0; i < config->n_live; i++)
		if (config->live[i].port < 0)
			return true;
	for (size_t i = 0; i < config->n_sources; i++)
		if (config->sources[i].port < 0)
			return true;
	return false;
}

/* Called when each source has read its first frames. */
static void
find_start(struct feed *feed, const struct feed_config *config)
{
	const struct source *first = NULL;

	for (size_t i = 0; i < feed->n_sources; i++) {
		const struct source *s = &feed->sources[i];

		if (s->has_first && !config->sources[i].moved && (!first || s->first_us < first->first_us))
			first = s;
	}
	for (size_t i = 0; i < feed->n_sources && !first; i++)
		if (feed->sources[i].has_first)
			first = &feed->sources[i];
	feed->start_us = first ? first->first_us : 0;
}

static int
feed_by_time(const void *a, const void *b)
{
	const struct feed_link_change *x = a, *y = b;

	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* Adds the link changes as a source whose frames are all read. */
static int
add_link_changes(struct feed *feed, const struct feed_link_change *from, size_t n)
{
	struct source *s = &feed->sources[feed->n_sources];
	struct feed_link_change *sorted;

	if (n == 0)
		return 0;
	sorted = malloc(n * sizeof(*sorted));
	feed->link_changes = calloc(n, sizeof(*feed->link_changes));
	if (!sorted || !feed->link_changes) {
		free(sorted);
		return -ENOMEM;
	}
	memcpy(sorted, from, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), feed_by_time);
	for (size_t i = 0; i < n; i++)
		feed->link_changes[i] = (struct feed_frame){
		    .time_us = feed->start_us + sorted[i].at_us,
		    .port = (uint16_t)sorted[i].port,
		    .event = sorted[i].up ? FEED_LINK_UP : FEED_LINK_DOWN};
	free(sorted);
	s->frames = feed->link_changes;
	s->n_frames = n;
	feed->n_sources++;
	return 0;
}

/* Reads all frames of the sources into memory. */
static int
preload_frames(struct feed *feed, bool loop)
{
	enum { AT_A_TIME = 256 };
	struct feed_frame frames[AT_A_TIME];
	struct preload *p = calloc(1, sizeof(*p));
	int rc = p ? 0 : -ENOMEM;
	size_t n;

	while (rc == 0 && (n = feed_next_batch(feed, frames, AT_A_TIME)) > 0)
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = preload_add(p, &frames[i]);
	if (rc < 0) {
		preload_destroy(p);
		return rc;
	}
	p->loop = loop;
	feed->preload = p; /* from here on feed_next_batch reads it */
	return 0;
}

/* All sources are open and have their first frames: gives them their times and their order. */
static int
arrange_sources(struct feed *feed, const struct feed_config *config)
{
	size_t n = feed->n_sources;
	int rc;

	find_start(feed, config);
	for (size_t i = 0; i < n; i++) {
		struct source *s = &feed->sources[i];
		uint64_t by_us = feed->start_us + config->sources[i].start_us - s->first_us; /* modulo 2^64 */

		if (!config->sources[i].moved || !s->has_first)
			continue;
		s->offset_us += by_us;
		s->last_us += by_us;
		for (size_t k = 0; k < s->n_frames; k++)
			s->frames[k].time_us += by_us;
	}
	rc = add_link_changes(feed, config->link_changes, config->n_link_changes);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < feed->n_sources; i++)
		if (feed->sources[i].n_frames > 0)
			feed->heap[feed->n_heap++] = &feed->sources[i];
	for (size_t i = feed->n_heap / 2; i-- > 0;)
		feed_sift_down(feed, i);
	return config->preload ? preload_frames(feed, config->loop) : 0;
}

int
feed_create(const struct feed_config *config, struct feed **feed, char *error, size_t error_size)
{
	size_t n_taken = 0; /* of the sources, with their files */
	struct feed *f = calloc(1, sizeof(*f));
	int rc = 0;

	if (f) {
		f->sources = calloc(config->n_sources + 1, sizeof(*f->sources));
		f->live = calloc(config->n_live + 1, sizeof(*f->live));
	}
	if (!f || !f->sources || !f->live) {
		snprintf(error, error_size, "cannot open the board's input: out of memory");
		rc = -ENOMEM;
		goto fail;
	}
	if (config->n_sources > FEED_MAX_SOURCES || config->n_live > FEED_MAX_SOURCES) {
		snprintf(error, error_size, "cannot open the board's input: too many captures");
		rc = -EINVAL;
		goto fail;
	}
	f->loop = config->loop && !config->preload; /* what is held in memory is looped there */
	f->deal_mode = config->deal;
	f->stats = (struct stat_set){stat_names, FEED_N_STATS, f->stat_values};
	/* What is done to frames. */
	if (config->n_errors > 0)
		rc = error_injection_create(config->errors, config->n_errors, config->error_seed, &f->injection);
	if (rc < 0) {
		snprintf(error, error_size, "cannot inject errors: %s", strerror(-rc));
		goto fail;
	}
	if (is_dealt(config))
		rc = port_assignment_create(config->deal, config->ports, config->n_ports, &f->assignment);
	if (rc < 0) {
		snprintf(error, error_size, "a capture is given, but no port has capture = deal");
		goto fail;
	}
	while (n_taken < config->n_sources && rc == 0)
		rc = feed_add_source(f, &config->sources[n_taken++], error, error_size);
	for (size_t i = 0; i < config->n_live && rc == 0; i++)
		rc = add_live(f, &config->live[i], error, error_size);
	if (rc < 0)
		goto fail;
	rc = arrange_sources(f, config);
	if (rc == 0) {
		*feed = f;
		return 0;
	}
	snprintf(error, error_size, "cannot open the board's input: %s", strerror(-rc));
fail:
	for (; n_taken < config->n_sources; n_taken++)
		if (config->sources[n_taken].file)
			fclose(config->sources[n_taken].file);
	feed_destroy(f);
	return rc;
}

void
feed_destroy(struct feed *feed)
{
	if (!feed)
		return;
	for (size_t i = 0; i < feed->n_sources; i++) {
		savefile_close(feed->sources[i].file);
		free(feed->sources[i].path);
	}
	for (size_t i = 0; i < feed->n_live; i++) {
		live_input_close(feed->live[i].live);
		free(feed->live[i].path);
	}
	free(feed->sources);
	free(feed->live);
	free(feed->link_changes);
	port_assignment_destroy(feed->assignment);
	error_injection_destroy(feed->injection);
	preload_destroy(feed->preload);
	free(feed);
}
