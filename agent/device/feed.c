#include "agent/device/feed.h"

#include "agent/device/deal.h"
#include "common/log.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEADER_OCTETS = 14, /* two addresses and a type */
	MIN_DATA_OCTETS = 60,
	FCS_OCTETS = 4,
	FILE_BUFFER_OCTETS = 65536, /* libpcap reads record by record: the default 4 KiB costs */
};
#define MAX_SECONDS 253402300799ll /* the year 9999: later ones are damage */

static const struct stat_name stat_names[FEED_N_STATS] = {
    [FEED_STAT_DAMAGED] = {"feed.damaged", "captures that ended before their time"},
    [FEED_STAT_LYING] = {"feed.lying_lengths", "records left out: longer than any frame"},
    [FEED_STAT_CUT_HEADERS] = {"feed.cut_headers",
	"records left out: cut by the snap length inside the Ethernet header"},
    [FEED_STAT_RUNTS] = {"feed.runts", "frames shorter than an Ethernet header: not forwarded"},
    [FEED_STAT_BAD_TIMES] = {"feed.bad_times", "records with an impossible time: time stands"},
    [FEED_STAT_DEAL_FULL] = {"feed.deal_full", "frames dealt by hash: too many stations"},
    [FEED_STAT_LOOPS] = {"feed.loops", "times a capture began again"},
};

struct source {
	char *path;
	int port; /* -1: dealt */
	pcap_t *pcap; /* NULL: at its end */
	uint64_t offset_us; /* added to its times: rounds that are over */
	uint64_t last_us;   /* newest time given out */
	uint64_t first_us;  /* of the first record, without offset */
	bool has_first, damaged;
	struct feed_frame next; /* the frame it will give, if has_next */
	bool has_next;
};

struct feed {
	bool loop;
	struct deal *deal; /* NULL: no source is dealt */
	struct source sources[FEED_MAX_SOURCES];
	size_t n_sources;
	uint64_t first_us;
	_Atomic uint64_t stat_values[FEED_N_STATS];
	struct stat_set stats;
};

static uint64_t
source_address(const uint8_t *octets)
{
	uint64_t mac = 0;

	for (int i = 6; i < 12; i++)
		mac = mac << 8 | octets[i];
	return mac;
}

/* The record's time on the feed's scale; an impossible one is the time before it. */
static uint64_t
record_time(struct feed *feed, struct source *s, const struct pcap_pkthdr *header)
{
	uint64_t us;

	if (header->ts.tv_sec < 0 || header->ts.tv_sec > MAX_SECONDS || header->ts.tv_usec < 0 ||
	    header->ts.tv_usec > 999999) {
		stat_add(&feed->stats, FEED_STAT_BAD_TIMES, 1);
		return s->last_us;
	}
	us = (uint64_t)header->ts.tv_sec * 1000000 + (uint64_t)header->ts.tv_usec;
	if (!s->has_first) {
		s->has_first = true;
		s->first_us = us;
	}
	us += s->offset_us;
	if (us > s->last_us)
		s->last_us = us;
	return us;
}

static unsigned
port_of(struct feed *feed, const struct source *s, const struct feed_frame *f)
{
	bool full = false;
	unsigned port;

	if (s->port >= 0)
		return (unsigned)s->port;
	port = deal_port(feed->deal,
	    f->captured_octets >= HEADER_OCTETS ? source_address(f->octets) : 0, &full);
	if (full)
		stat_add(&feed->stats, FEED_STAT_DEAL_FULL, 1);
	return port;
}

/* Makes a frame of a record; false if it cannot have been one. */
static bool
make_frame(struct feed *feed, struct source *s, const struct pcap_pkthdr *header,
    const uint8_t *octets)
{
	uint32_t length = header->len, captured = header->caplen;
	struct feed_frame *f = &s->next;

	if (captured > length)
		captured = length;
	if (length > FEED_MAX_WIRE_OCTETS) {
		stat_add(&feed->stats, FEED_STAT_LYING, 1);
		log_warn_limited("feed", "%s: a record claims %u octets; left out", s->path,
		    length);
		return false;
	}
	if (captured < length && captured < HEADER_OCTETS) {
		stat_add(&feed->stats, FEED_STAT_CUT_HEADERS, 1);
		return false;
	}
	*f = (struct feed_frame){.octets = octets, .captured_octets = captured,
	    .data_octets = captured, .wire_octets = length + FCS_OCTETS};
	if (length < HEADER_OCTETS) {
		stat_add(&feed->stats, FEED_STAT_RUNTS, 1);
	} else if (length < MIN_DATA_OCTETS) {
		f->wire_octets = MIN_DATA_OCTETS + FCS_OCTETS;
		if (captured == length)
			f->data_octets = MIN_DATA_OCTETS;
	}
	f->time_us = record_time(feed, s, header);
	f->port = port_of(feed, s, f);
	return true;
}

/* Opens a savefile and makes sure that it holds Ethernet. file is taken over. */
static int
open_pcap(const char *path, FILE *file, pcap_t **pcap, char *error, size_t error_size)
{
	char reason[PCAP_ERRBUF_SIZE] = "";
	int type;

	if (!file)
		file = fopen(path, "rbe");
	if (!file) {
		int rc = -errno;

		snprintf(error, error_size, "%s: %s", path, strerror(-rc));
		return rc;
	}
	setvbuf(file, NULL, _IOFBF, FILE_BUFFER_OCTETS);
	*pcap = pcap_fopen_offline(file, reason);
	if (!*pcap) {
		fclose(file);
		snprintf(error, error_size, "%s: %s", path, reason);
		return -EINVAL;
	}
	type = pcap_datalink(*pcap);
	if (type != DLT_EN10MB) {
		const char *name = pcap_datalink_val_to_description_or_dlt(type);

		snprintf(error, error_size, "%s: link type %d (%s) is not Ethernet", path,
		    type, name);
		pcap_close(*pcap);
		*pcap = NULL;
		return -EPROTONOSUPPORT;
	}
	return 0;
}

/* Behind the end of a round: opens the file again, its times moved behind what was given. */
static bool
begin_again(struct feed *feed, struct source *s)
{
	char error[PCAP_ERRBUF_SIZE + 256];

	if (!feed->loop || !s->has_first)
		return false;
	if (open_pcap(s->path, NULL, &s->pcap, error, sizeof(error)) < 0) {
		log_warn("feed", "%s", error);
		return false;
	}
	stat_add(&feed->stats, FEED_STAT_LOOPS, 1);
	s->offset_us = s->last_us + FEED_LOOP_GAP_US - s->first_us;
	return true;
}

/* The file is at its end or cannot be read further: what came before stays good. */
static void
end_round(struct feed *feed, struct source *s, bool damaged)
{
	if (damaged && !s->damaged) {
		s->damaged = true;
		stat_add(&feed->stats, FEED_STAT_DAMAGED, 1);
		log_warn("feed", "%s: damaged, ends here: %s", s->path, pcap_geterr(s->pcap));
	}
	pcap_close(s->pcap);
	s->pcap = NULL;
	begin_again(feed, s);
}

/* Reads the source's next frame. A round without a single frame ends it, or it would spin. */
static void
advance(struct feed *feed, struct source *s)
{
	unsigned rounds = 0;

	s->has_next = false;
	while (s->pcap && rounds < 2) {
		struct pcap_pkthdr *header;
		const uint8_t *octets;
		int rc = pcap_next_ex(s->pcap, &header, &octets);

		if (rc == 1) {
			s->has_next = make_frame(feed, s, header, octets);
			if (s->has_next)
				return;
			continue;
		}
		end_round(feed, s, rc != PCAP_ERROR_BREAK);
		rounds++;
	}
	if (s->pcap)
		pcap_close(s->pcap);
	s->pcap = NULL;
}

static struct source *
earliest(struct feed *feed)
{
	struct source *best = NULL;

	for (size_t i = 0; i < feed->n_sources; i++) {
		struct source *s = &feed->sources[i];

		if (s->has_next && (!best || s->next.time_us < best->next.time_us))
			best = s;
	}
	return best;
}

/* A source reads on only when its frame has been used: its octets live in libpcap's buffer. So the
 * source that gave the last frame still holds it, with has_next false. */
bool
feed_next(struct feed *feed, struct feed_frame *frame)
{
	struct source *s;

	for (size_t i = 0; i < feed->n_sources; i++)
		if (!feed->sources[i].has_next && feed->sources[i].pcap)
			advance(feed, &feed->sources[i]);
	s = feed->n_sources == 1 ? &feed->sources[0] : earliest(feed);
	if (!s || !s->has_next)
		return false;
	*frame = s->next;
	s->has_next = false;
	return true;
}

uint64_t
feed_first_us(const struct feed *feed)
{
	return feed->first_us;
}

const struct stat_set *
feed_stats(const struct feed *feed)
{
	return &feed->stats;
}

static int
add_source(struct feed *feed, const struct feed_source *from, char *error, size_t error_size)
{
	struct source *s = &feed->sources[feed->n_sources];
	int rc;

	s->port = from->port;
	s->path = strdup(from->path);
	if (!s->path) {
		if (from->file)
			fclose(from->file);
		snprintf(error, error_size, "%s: out of memory", from->path);
		return -ENOMEM;
	}
	feed->n_sources++;
	rc = open_pcap(from->path, from->file, &s->pcap, error, error_size);
	if (rc < 0)
		return rc;
	advance(feed, s);
	return 0;
}

static bool
is_dealt(const struct feed_config *config)
{
	for (size_t i = 0; i < config->n_sources; i++)
		if (config->sources[i].port < 0)
			return true;
	return false;
}

static int
fill(struct feed *feed, const struct feed_config *config, char *error, size_t error_size)
{
	const struct source *first;
	int rc = 0;

	if (is_dealt(config))
		rc = deal_create(config->deal, config->ports, config->n_ports, &feed->deal);
	if (rc < 0)
		snprintf(error, error_size, "%s: no port takes part in dealing",
		    config->sources[0].path);
	for (size_t i = 0; i < config->n_sources; i++) {
		if (rc == 0)
			rc = add_source(feed, &config->sources[i], error, error_size);
		else if (config->sources[i].file)
			fclose(config->sources[i].file);
	}
	if (rc < 0)
		return rc;
	first = earliest(feed);
	feed->first_us = first ? first->next.time_us : 0;
	return 0;
}

int
feed_create(const struct feed_config *config, struct feed **feed, char *error, size_t error_size)
{
	struct feed *f;
	int rc;

	if (config->n_sources == 0 || config->n_sources > FEED_MAX_SOURCES)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->loop = config->loop;
	f->stats = (struct stat_set){stat_names, FEED_N_STATS, f->stat_values};
	rc = fill(f, config, error, error_size);
	if (rc < 0) {
		feed_destroy(f);
		return rc;
	}
	*feed = f;
	return 0;
}

void
feed_destroy(struct feed *feed)
{
	if (!feed)
		return;
	for (size_t i = 0; i < feed->n_sources; i++) {
		if (feed->sources[i].pcap)
			pcap_close(feed->sources[i].pcap);
		free(feed->sources[i].path);
	}
	deal_destroy(feed->deal);
	free(feed);
}
