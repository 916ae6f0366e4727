#include "agent/sampling/sampling_private.h"

#include "common/log.h"
#include "common/publication.h"
#include "common/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const struct stat_name stat_names[N_STATS] = {
    [STAT_SAMPLES] = {"sampling.samples", "frames sampled and numbered"},
    [STAT_CONTINUATIONS] = {"sampling.continuations",
	"captured frames discarded because the skip was longer than the register"},
    [STAT_UNEXPECTED] = {"sampling.unexpected", "samples ignored: the port had no skip loaded"},
    [STAT_DISABLED] = {"sampling.disabled",
	"samples ignored: sampling of the port was just switched off"},
    [STAT_SNAPSHOT_ERRORS] = {"sampling.snapshot_errors",
	"samples lost: the port's counters could not be read"},
    [STAT_LOAD_ERRORS] = {"sampling.load_errors",
	"times a skip could not be loaded, or a rate not be set"},
    [STAT_RAISED] = {"sampling.raised",
	"times a port's mean skip in force was raised because of easePortMaxSamples"},
    [STAT_SKIPS_LOST] = {"sampling.skips_lost", "times the hardware discarded its loaded skips"},
    [STAT_OWN] = {"sampling.own", "samples of this agent's own notifications at a mean skip below 16, not sent on"},
    [STAT_LOST] = {"sampling.lost",
	"samples lost between a port and the agent; drops of the port"},
    [STAT_REQUESTS_ENDED] = {"sampling.requests_ended",
	"times all requests of a station ended: it left, or did not renew its lease in time"},
    [STAT_REQUESTS_RAISED] = {"sampling.requests_raised",
	"times a requested skip was doubled because all ports together took more than requests_max_samples_per_s"},
};

/* ---- ports ---- */

static struct sampled_port *
sampling_find_known(const struct sampling *s, uint32_t if_index)
{
	size_t i = SORTED_POSITION_OF(s->ports, s->n_ports, if_index, if_index);

	return i < s->n_ports && s->ports[i].if_index == if_index ? &s->ports[i] : NULL;
}

struct sampled_port *
sampling_find_port(const struct sampling *s, uint32_t if_index)
{
	struct sampled_port *port = sampling_find_known(s, if_index);

	return port != NULL && !port->absent ? port : NULL;
}

bool
sampling_takes_requests(const struct sampling *s)
{
	return s->options.least_requested_skip > 0 && hal_has_sampling(s->hal);
}

uint32_t
sampling_mean_asked_for(const struct sampling *s, const struct sampled_port *port)
{
	uint64_t mean = port->config.request.mean_skip;

	if (mean == 0)
		return port->config.mean_skip;
	if (mean < s->options.least_requested_skip)
		mean = s->options.least_requested_skip;
	mean <<= port->doublings;
	return mean < EASE_DRAWN_MEAN_MAX ? (uint32_t)mean : EASE_DRAWN_MEAN_MAX;
}

static uint32_t
smaller_cap(const struct sampling_port_config *config)
{
	uint32_t asked = config->request.mean_skip ? config->request.max_samples_per_s : 0;

	return asked == 0 || (config->max_samples_per_s != 0 && config->max_samples_per_s < asked)
	    ? config->max_samples_per_s
	    : asked;
}

/* Returns the mean skip that goes with the port's speed; 0: it does not follow the speed, or the speed is
 * not known now. */
static uint32_t
skip_of_speed(const struct sampling *s, uint32_t if_index)
{
	struct hal_port info;
	uint64_t skip;

	if (!s->options.skip_by_speed || hal_port_info(s->hal, if_index, &info) < 0 || info.speed_bps == 0)
		return 0;
	skip = info.speed_bps / 1000000;
	return skip < SAMPLING_SLOW_SKIP ? SAMPLING_SLOW_SKIP
	    : skip > EASE_DRAWN_MEAN_MAX ? EASE_DRAWN_MEAN_MAX
					 : (uint32_t)skip;
}

static struct used_numbers *
find_used(const struct sampling *s, uint32_t if_index)
{
	for (size_t i = 0; s->used != NULL && i < USED_NUMBERS_MAX; i++)
		if (s->used[i].if_index == if_index)
			return &s->used[i];
	return NULL;
}

static void
keep_numbers(struct sampling *s, const struct sampled_port *port)
{
	struct used_numbers *used = find_used(s, port->if_index);

	if (port->last_sequence == 0)
		return;
	if (s->used == NULL)
		s->used = calloc(USED_NUMBERS_MAX, sizeof(*s->used));
	if (s->used == NULL)
		return;
	if (used == NULL)
		used = &s->used[s->next_used++ % USED_NUMBERS_MAX];
	*used = (struct used_numbers){port->if_index, port->last_sequence, port->drops};
}

static void
go_on_numbering(const struct sampling *s, struct sampled_port *port)
{
	const struct used_numbers *used = find_used(s, port->if_index);

	if (used == NULL)
		return;
	port->last_sequence = used->last_sequence;
	port->samples = used->last_sequence;
	port->drops = used->drops;
}

static int
sampling_add_port(struct sampling *s, uint32_t if_index)
{
	struct sampled_port *grown = realloc(s->ports, (s->n_ports + 1) * sizeof(*grown));
	uint32_t by_speed = skip_of_speed(s, if_index);
	struct sampled_port *port;
	struct hal_port info;
	size_t i;

	if (grown == NULL)
		return -ENOMEM;
	s->ports = grown;
	i = SORTED_POSITION_OF(s->ports, s->n_ports, if_index, if_index);
	port = &grown[i];
	memmove(port + 1, port, (s->n_ports++ - i) * sizeof(*port));
	*port = (struct sampled_port){.if_index = if_index, .config = s->options.defaults};
	if (by_speed != 0)
		port->config.mean_skip = by_speed;
	if (hal_port_info(s->hal, if_index, &info) == 0 && info.is_share)
		port->config.edge = false; /* its frames are counted where they came in */
	port->mean_in_force = port->config.mean_skip;
	assert(SORTED_ASCENDS(s->ports, s->n_ports, if_index));
	go_on_numbering(s, port);
	skip_stream_seed(&port->stream, s->options.seed + 0x9e3779b97f4a7c15ull * if_index);
	return 0;
}

static void
forget_port(struct sampling *s, struct sampled_port *port)
{
	size_t i = (size_t)(port - s->ports);

	assert(i < s->n_ports);
	keep_numbers(s, port);
	memmove(port, port + 1, (--s->n_ports - i) * sizeof(*port));
}

int
sampling_create(struct hal *hal, const struct sampling_options *options,
    const struct sampling_sink *sink, struct sampling **result)
{
	struct sampling *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (s == NULL)
		return -ENOMEM;
	s->hal = hal;
	s->options = *options;
	s->sink = *sink;
	s->stats = (struct stat_set){stat_names, N_STATS, s->stat_values};
	publication_init(&s->publication);
	if (sampling_check_port(&options->defaults) < 0)
		rc = -EINVAL;
	else if (!options->has_seed && getrandom(&s->options.seed, sizeof(s->options.seed), 0) < 0)
		rc = -errno;
	for (size_t i = 0; rc == 0 && i < hal_n_ports(hal); i++)
		rc = sampling_add_port(s, hal_port_if_index(hal, i));
	if (rc < 0) {
		sampling_destroy(s);
		return rc;
	}
	*result = s;
	return 0;
}

void
sampling_destroy(struct sampling *s)
{
	if (s == NULL)
		return;
	publication_end(&s->publication);
	free(s->ports);
	free(s->used);
	free(s);
}

/* ---- loading skips ---- */

static uint64_t
sampling_pool_of(const struct hal_counters *counters)
{
	return counters->value[HAL_POOL_IN_PKTS] + counters->value[HAL_POOL_OUT_PKTS];
}

static struct drawn_skip
draw_skip(struct sampling *s, struct sampled_port *port)
{
	struct drawn_skip next = {.mean = port->mean_in_force};

	assert(port->mean_in_force >= 1);
	next.skip = skip_draw(&port->stream, s->options.draw, next.mean, hal_max_skip(s->hal), &next.partial);
	return next;
}

static int
load_one(struct sampling *s, struct sampled_port *port, uint64_t pool_pkts)
{
	struct drawn_skip next = draw_skip(s, port);
	int rc = hal_load_skip(s->hal, port->if_index, next.skip);

	if (rc < 0)
		return rc;
	skip_counter_step(&port->counter, SKIP_COUNTER_LOAD, pool_pkts);
	skip_counter_add(&port->counter, &next);
	return 0;
}

/* Loads as many skips as the port takes ahead. Later each sample brings the next one. */
static void
load_skips(struct sampling *s, struct sampled_port *port)
{
	unsigned depth = hal_skip_depth(s->hal);
	struct hal_counters counters;
	uint64_t pool_pkts = 0;

	if (!port->config.enabled)
		return;
	if (depth > SKIPS_AHEAD_MAX)
		depth = SKIPS_AHEAD_MAX;
	if (hal_read_counters(s->hal, port->if_index, &counters) == 0)
		pool_pkts = sampling_pool_of(&counters);
	while (port->counter.n_loaded < depth) {
		int rc = load_one(s, port, pool_pkts);

		port->unsampled = rc == -ENODEV;
		if (port->unsampled)
			return;
		if (rc < 0) {
			stat_add(&s->stats, STAT_LOAD_ERRORS, 1);
			log_warn_limited("sampling",
			    "port %u: a skip could not be loaded, so the port takes no samples: %s",
			    port->if_index, strerror(-rc));
			return;
		}
	}
}

/* Returns the skip that follows a sample. The caller loads it at once. */
static int64_t
next_skip(struct sampling *s, struct sampled_port *port, const struct hal_sample_event *event)
{
	struct drawn_skip next;

	if (event->counter_empty)
		skip_counter_step(&port->counter, SKIP_COUNTER_RAN_OUT, 0);
	if (!port->config.enabled) {
		skip_counter_step(&port->counter, SKIP_COUNTER_OFF, 0);
		return HAL_NO_SKIP;
	}
	next = draw_skip(s, port);
	skip_counter_step(&port->counter, SKIP_COUNTER_LOAD,
	    event->counters != NULL ? sampling_pool_of(event->counters) : 0);
	skip_counter_add(&port->counter, &next);
	return next.skip;
}

/* Sets the rate of a port that samples by itself to the mean in force (asks for the one that is set, where another
 * program keeps it), or to 0 while its sampling is
 * off. Returns -ENODEV or -EOPNOTSUPP if the port takes skips. */
static int
sampling_set_rate(struct sampling *s, struct sampled_port *port)
{
	uint32_t mean = port->kept_elsewhere ? port->config.mean_skip : port->mean_in_force;
	uint32_t rate = port->config.enabled ? mean : 0;
	int rc = hal_set_sampling_rate(s->hal, port->if_index, rate);

	port->draws_itself = rc != -ENODEV && rc != -EOPNOTSUPP;
	if (port->draws_itself)
		port->unsampled = false;
	if (rc < 0 && port->draws_itself) {
		stat_add(&s->stats, STAT_LOAD_ERRORS, 1);
		log_warn_limited("sampling",
		    "port %u: the device refused to sample one frame in %u: %s", port->if_index,
		    rate, strerror(-rc));
	}
	return rc;
}

/* Takes over the rate that another program keeps. A port that is not sampled keeps its mean for when it is. Returns
 * false if nobody else keeps it. */
static bool
follow_device(struct sampling *s, struct sampled_port *port)
{
	uint32_t rate;

	if (hal_sampling_rate(s->hal, port->if_index, &rate) < 0)
		return false;
	port->draws_itself = port->kept_elsewhere = true;
	port->config.enabled = rate > 0;
	if (rate > 0)
		port->config.mean_skip = port->mean_in_force = rate;
	return true;
}

static void
begin_sampling(struct sampling *s, struct sampled_port *port)
{
	if (follow_device(s, port))
		return;
	sampling_set_rate(s, port);
	if (!port->draws_itself)
		load_skips(s, port);
}

int
sampling_start(struct sampling *s)
{
	if (!hal_has_sampling(s->hal))
		return 0;
	for (size_t i = 0; i < s->n_ports; i++) {
		if (!s->ports[i].absent)
			begin_sampling(s, &s->ports[i]);
	}
	return 0;
}

void
sampling_on_skips_lost(struct sampling *s, uint32_t if_index)
{
	struct sampled_port *port = sampling_find_port(s, if_index);

	if (port == NULL)
		return;
	if (!port->draws_itself)
		stat_add(&s->stats, STAT_SKIPS_LOST, 1);
	skip_counter_step(&port->counter, SKIP_COUNTER_LOST, 0);
	begin_sampling(s, port);
}

/* ---- the rate cap ---- */

/* Brings the mean in force to the rate at which frames pass. */
static void
follow_rate(struct sampling *s, struct sampled_port *port, const struct hal_counters *counters)
{
	uint32_t before = port->mean_in_force;

	if (port->kept_elsewhere)
		return;
	port->mean_in_force = rate_cap_mean(&port->cap, smaller_cap(&port->config),
	    sampling_mean_asked_for(s, port), before, hal_steady_us(s->hal), sampling_pool_of(counters));
	if (port->mean_in_force == before)
		return;
	if (port->mean_in_force > before)
		stat_add(&s->stats, STAT_RAISED, 1);
	if (port->draws_itself)
		sampling_set_rate(s, port);
}

static void
count_to_cap(struct sampling *s, struct sampled_port *port, const struct drawn_skip *drawn,
    const struct hal_sample_event *event)
{
	/* Samples taken before the latest change of the rate do not show the new rate. */
	if (port->draws_itself && event->rate != port->mean_in_force)
		return;
	rate_cap_count(&port->cap, drawn->mean);
	if (event->counters != NULL)
		follow_rate(s, port, event->counters);
}

/* ---- samples ---- */

static uint64_t
sampling_count_of(const struct hal_counters *counters, enum hal_figure figure)
{
	return counters->known >> figure & 1 ? counters->value[figure] : EASE_COUNT_UNKNOWN;
}

static void
fill_sides(const struct hal_counters *counters, struct ease_snapshot *snapshot)
{
	snapshot->in = (struct ease_side){
	    .octets = sampling_count_of(counters, HAL_IN_OCTETS),
	    .ucast_pkts = sampling_count_of(counters, HAL_IN_UCAST_PKTS),
	    .mcast_pkts = sampling_count_of(counters, HAL_IN_MCAST_PKTS),
	    .bcast_pkts = sampling_count_of(counters, HAL_IN_BCAST_PKTS),
	    .discards = sampling_count_of(counters, HAL_IN_DISCARDS),
	    .errors = sampling_count_of(counters, HAL_IN_ERRORS),
	};
	snapshot->out = (struct ease_side){
	    .octets = sampling_count_of(counters, HAL_OUT_OCTETS),
	    .ucast_pkts = sampling_count_of(counters, HAL_OUT_UCAST_PKTS),
	    .mcast_pkts = sampling_count_of(counters, HAL_OUT_MCAST_PKTS),
	    .bcast_pkts = sampling_count_of(counters, HAL_OUT_BCAST_PKTS),
	    .discards = sampling_count_of(counters, HAL_OUT_DISCARDS),
	    .errors = sampling_count_of(counters, HAL_OUT_ERRORS),
	};
}

static void
fill_snapshot(const struct sampled_port *port, const struct hal_counters *counters,
    uint64_t time_us, uint64_t discontinuity_us, struct ease_snapshot *snapshot)
{
	*snapshot = (struct ease_snapshot){
	    .if_index = port->if_index,
	    .time_us = time_us,
	    .discontinuity_us = discontinuity_us,
	    .samples = port->samples,
	    .last_sequence = port->last_sequence,
	    .pool_in_pkts = counters->value[HAL_POOL_IN_PKTS],
	    .pool_out_pkts = counters->value[HAL_POOL_OUT_PKTS],
	    .drops = port->drops,
	    .stalls = port->counter.stalls,
	    .stalled_pkts = port->counter.stalled_pkts,
	};
	fill_sides(counters, snapshot);
}

static void
sampling_count_lost(struct sampling *s, struct sampled_port *port, uint32_t n)
{
	port->last_sequence += n;
	port->samples += n;
	port->drops += n;
	stat_add(&s->stats, STAT_LOST, n);
}

static void
send_sample(struct sampling *s, struct sampled_port *port, const struct drawn_skip *drawn,
    const struct hal_sample_event *event)
{
	struct ease_snapshot snapshot;
	struct ease_sample sample = {
	    .time_us = event->time_us,
	    .if_index = port->if_index,
	    .direction = event->direction,
	    .input_if = event->input_if,
	    .output_if = event->output_if,
	    .skip = drawn->skip,
	    .mean_skip = drawn->mean,
	    .pool_pkts = event->pool_pkts,
	    .drops = port->drops,
	    .way = &event->way,
	    .frame_octets = event->frame_octets,
	    .header = event->octets,
	};

	assert(port->config.header_octets <= EASE_HEADER_MAX_OCTETS);
	sample.kept_octets = (uint16_t)(event->kept_octets < port->config.header_octets
		? event->kept_octets
		: port->config.header_octets);
	/* From here on it has its number: what does not come of it is a drop, which the collector is told. */
	sample.sequence = ++port->last_sequence;
	port->samples++;
	stat_add(&s->stats, STAT_SAMPLES, 1);
	if (event->counters == NULL) {
		stat_add(&s->stats, STAT_SNAPSHOT_ERRORS, 1);
		port->drops++;
		return;
	}
	fill_snapshot(port, event->counters, event->counters_time_us, event->discontinuity_us, &snapshot);
	if (snapshot.time_us > sample.time_us)
		sample.delay_us = (uint32_t)(snapshot.time_us - sample.time_us);
	if (s->sink.sample(s->sink.ctx, &sample, &snapshot) < 0)
		port->drops++;
}

/* Gets the skip that the sample ended; false: none was loaded. A port that samples by itself does not say
 * how many frames it let pass, so the mean is used instead. */
static bool
get_drawn_skip(
    struct sampled_port *port, const struct hal_sample_event *event, struct drawn_skip *drawn)
{
	if (event->rate == 0)
		return skip_counter_pop(&port->counter, drawn);
	*drawn = (struct drawn_skip){.skip = event->rate - 1, .mean = event->rate};
	return true;
}

/* A sample of our own notifications causes another one, of a frame for several samples: at this mean skip and above they
 * are a sixteenth more at most. Below it they are left out, and what else passes there stands for them. *assumed* */
enum { OWN_LEAST_MEAN = 16 };

static void
sampling_take_sample(struct sampling *s, struct sampled_port *port, const struct drawn_skip *drawn,
    const struct hal_sample_event *event)
{
	if (!port->config.enabled) {
		stat_add(&s->stats, STAT_DISABLED, 1);
	} else if (event->own && drawn->mean < OWN_LEAST_MEAN) {
		stat_add(&s->stats, STAT_OWN, 1);
	} else if (drawn->partial) {
		stat_add(&s->stats, STAT_CONTINUATIONS, 1);
	} else {
		count_to_cap(s, port, drawn, event);
		if (event->lost)
			sampling_count_lost(s, port, 1);
		else
			send_sample(s, port, drawn, event);
	}
}

int64_t
sampling_on_sample(struct sampling *s, const struct hal_sample_event *event)
{
	struct sampled_port *port = sampling_find_port(s, event->if_index);
	struct drawn_skip drawn;

	if (port == NULL || !get_drawn_skip(port, event, &drawn)) {
		stat_add(&s->stats, STAT_UNEXPECTED, 1);
		return HAL_NO_SKIP;
	}
	sampling_take_sample(s, port, &drawn, event);
	return event->rate > 0 ? HAL_NO_SKIP : next_skip(s, port, event);
}

void
sampling_on_samples_lost(struct sampling *s, uint32_t if_index, uint32_t n)
{
	struct sampled_port *port = sampling_find_port(s, if_index);

	if (port == NULL)
		return;
	sampling_count_lost(s, port, n);
}

static void
port_came(struct sampling *s, uint32_t if_index)
{
	struct sampled_port *port = sampling_find_known(s, if_index);

	if (port == NULL) {
		if (sampling_add_port(s, if_index) < 0)
			return;
		port = sampling_find_known(s, if_index);
	}
	port->absent = false;
	port->cap = (struct rate_cap){0}; /* its counters begin anew */
	if (hal_has_sampling(s->hal))
		begin_sampling(s, port);
}

static void
sampling_port_left(struct sampled_port *port)
{
	port->absent = true;
	skip_counter_step(&port->counter, SKIP_COUNTER_LOST, 0);
}

static void
follow_speed(struct sampling *s, const struct sampled_port *port)
{
	struct sampling_port_config config = port->config;
	uint32_t by_speed = config.mean_is_set || port->kept_elsewhere ? 0 : skip_of_speed(s, port->if_index);

	if (by_speed == 0 || by_speed == config.mean_skip)
		return;
	config.mean_skip = by_speed;
	sampling_set_port(s, port->if_index, &config);
}

void
sampling_on_port(struct sampling *s, const struct hal_port_event *event)
{
	struct sampled_port *port = sampling_find_known(s, event->if_index);

	if (event->happening == HAL_PORT_CAME)
		port_came(s, event->if_index);
	else if (port != NULL && event->happening == HAL_PORT_CHANGED && !follow_device(s, port))
		follow_speed(s, port);
	else if (port != NULL && event->happening == HAL_PORT_LEFT)
		sampling_port_left(port);
	else if (port != NULL && event->happening == HAL_PORT_FORGOTTEN)
		forget_port(s, port);
}

uint32_t
sampling_last_sequence(const struct sampling *s, uint32_t if_index)
{
	const struct sampled_port *port = sampling_find_known(s, if_index);

	return port != NULL ? port->last_sequence : 0;
}

void
sampling_count_drops(struct sampling *s, uint32_t if_index, uint64_t n)
{
	struct sampled_port *port = sampling_find_port(s, if_index);

	if (port != NULL)
		port->drops += n;
}

/* ---- snapshots and states ---- */

int
sampling_snapshot(struct sampling *s, uint32_t if_index, struct ease_snapshot *snapshot)
{
	struct sampled_port *port = sampling_find_port(s, if_index);
	struct hal_counters counters;
	int rc;

	if (port == NULL)
		return -ENODEV;
	rc = hal_read_counters(s->hal, if_index, &counters);
	if (rc < 0)
		return rc;
	fill_snapshot(port, &counters, hal_now_us(s->hal), hal_discontinuity_us(s->hal, if_index), snapshot);
	follow_rate(s, port, &counters);
	/* Skips that were drawn at a much larger mean would keep samples away long after the rate has fallen. */
	if (port->counter.n_loaded > 0 && port->counter.loaded[0].mean / 2 >= port->mean_in_force)
		hal_restart_sampling(s->hal, port->if_index);
	return 0;
}

static bool
counts_the_same(const struct ease_snapshot *a, const struct ease_snapshot *b)
{
	return memcmp(&a->in, &b->in, sizeof(a->in)) == 0 && memcmp(&a->out, &b->out, sizeof(a->out)) == 0 &&
	    a->pool_in_pkts == b->pool_in_pkts && a->pool_out_pkts == b->pool_out_pkts &&
	    a->discontinuity_us == b->discontinuity_us && a->last_sequence == b->last_sequence &&
	    a->drops == b->drops && a->stalls == b->stalls && a->stalled_pkts == b->stalled_pkts;
}

/* Whether nothing was counted since the port was told of, and until when a round over all ports has found it so. */
static bool
is_unchanged(struct sampling *s, struct sampled_port *port)
{
	uint64_t read_us;
	const struct hal_counters *last = hal_last_counters(s->hal, port->if_index, &read_us);
	struct ease_snapshot now;

	if (last == NULL || port->told.time_us == 0)
		return false;
	fill_snapshot(port, last, read_us, hal_discontinuity_us(s->hal, port->if_index), &now);
	if (!counts_the_same(&now, &port->told))
		return false;
	port->unchanged_us = read_us > port->told.time_us ? read_us : port->told.time_us;
	return true;
}

bool
sampling_end_rest(struct sampling *s, uint32_t if_index, struct ease_snapshot *snapshot)
{
	struct sampled_port *port = sampling_find_port(s, if_index);

	if (port == NULL || port->rounds_at_rest == 0)
		return false;
	*snapshot = port->told;
	snapshot->time_us = port->unchanged_us;
	port->rounds_at_rest = 0;
	return true;
}

int
sampling_due_snapshots(struct sampling *s, uint32_t if_index, unsigned most_rounds, struct ease_snapshot snapshots[2])
{
	struct sampled_port *port = sampling_find_port(s, if_index);
	struct ease_snapshot now;
	int n = 0, rc;

	if (port != NULL && most_rounds > 0 && is_unchanged(s, port)) {
		if (port->told_twice && port->rounds_at_rest < most_rounds) {
			port->rounds_at_rest++;
			return 0;
		}
		if (port->unchanged_us > port->told.time_us) { /* there is no need to read again what a round has */
			port->told_twice = port->rounds_at_rest == 0;
			port->rounds_at_rest = 0;
			port->told.time_us = port->unchanged_us;
			snapshots[0] = port->told;
			return 1;
		}
	}
	rc = sampling_snapshot(s, if_index, &now);
	if (rc < 0)
		return rc;
	port->told_twice = port->rounds_at_rest == 0 && counts_the_same(&now, &port->told);
	if (!counts_the_same(&now, &port->told) && sampling_end_rest(s, if_index, &snapshots[0]))
		n++;
	port->rounds_at_rest = 0;
	snapshots[n++] = port->told = now;
	return n;
}

static void
fill_pauses(const struct hal_counters *counters, struct ease_resources *resources)
{
	const uint64_t both = 1ull << HAL_IN_PAUSE_PKTS | 1ull << HAL_OUT_PAUSE_PKTS;

	if ((counters->known & both) != both)
		return;
	resources->known |= EASE_HAS_PAUSE;
	resources->pauses_in = counters->value[HAL_IN_PAUSE_PKTS];
	resources->pauses_out = counters->value[HAL_OUT_PAUSE_PKTS];
}

static void
fill_energy(const struct hal_energy *energy, struct ease_resources *resources)
{
	if (!energy->counts)
		return;
	resources->known |= EASE_HAS_LOW_POWER;
	resources->in = energy->in;
	resources->out = energy->out;
}

static void
fill_buffers(const struct hal_buffers *buffers, struct ease_resources *resources)
{
	resources->known |= EASE_HAS_BUFFERS;
	resources->charged_buffers = buffers->charged;
	resources->pressed_episodes = buffers->pressed_episodes;
	resources->pressed_us = buffers->pressed_us;
	resources->ingress_drops = buffers->ingress_drops;
}

int
sampling_resources(struct sampling *s, uint32_t if_index, struct ease_resources *resources)
{
	struct hal_energy energy;
	struct hal_buffers buffers;
	struct hal_port info;
	int rc = hal_port_info(s->hal, if_index, &info);

	if (rc < 0)
		return rc;
	*resources = (struct ease_resources){.if_index = if_index, .time_us = hal_now_us(s->hal)};
	if (hal_read_energy(s->hal, if_index, &energy) == 0)
		fill_energy(&energy, resources);
	if (hal_read_buffers(s->hal, if_index, &buffers) == 0)
		fill_buffers(&buffers, resources);
	fill_pauses(&info.counters, resources);
	return resources->known ? 0 : -ENODATA;
}

int
sampling_state(struct sampling *s, uint32_t if_index, struct ease_state *state)
{
	const struct sampled_port *port = sampling_find_port(s, if_index);
	struct hal_port info;
	int rc;

	if (port == NULL)
		return -ENODEV;
	rc = hal_port_info(s->hal, if_index, &info);
	if (rc < 0)
		return rc;
	*state = (struct ease_state){
	    .if_index = if_index,
	    .time_us = hal_now_us(s->hal),
	    .speed_bps = info.speed_bps,
	    .duplex = info.duplex,
	    .admin_status = info.admin_status,
	    .oper_status = info.oper_status,
	    .lag_parent = info.lag_parent,
	    .edge = port->config.edge,
	    .forwarding = info.forwarding,
	    .sampled_by = info.sampled_by,
	};
	strcpy(state->name, info.name);
	strcpy(state->alias, info.alias);
	return 0;
}

/* ---- configuration ---- */

int
sampling_check_port(const struct sampling_port_config *config)
{
	if (config->mean_skip < 1 || config->mean_skip > EASE_MEAN_SKIP_MAX ||
	    config->header_octets < EASE_HEADER_MIN_OCTETS ||
	    config->header_octets > EASE_HEADER_MAX_OCTETS ||
	    config->max_samples_per_s > SAMPLING_MAX_PER_SECOND ||
	    config->request.mean_skip > EASE_DRAWN_MEAN_MAX ||
	    config->request.max_samples_per_s > SAMPLING_MAX_PER_SECOND)
		return -EINVAL;
	return 0;
}

int
sampling_get_port(const struct sampling *s, uint32_t if_index, struct sampling_port_config *config)
{
	const struct sampled_port *port = sampling_find_port(s, if_index);

	if (port == NULL)
		return -ENODEV;
	*config = port->config;
	return 0;
}

/* If the kernel or the hardware refuses the rate, the configuration stays as it was. One that another program keeps is
 * in force when the device says so. */
static int
change_rate(struct sampling *s, struct sampled_port *port, const struct sampled_port *before)
{
	int rc = sampling_set_rate(s, port);

	if (rc == 0 && port->kept_elsewhere)
		port->mean_in_force = before->mean_in_force;
	if (rc < 0) {
		port->config = before->config;
		port->mean_in_force = before->mean_in_force;
	}
	return rc;
}

void
sampling_forget_request(struct sampled_port *port)
{
	port->config.request.mean_skip = port->config.request.max_samples_per_s = 0;
	port->doublings = 0;
}

int
sampling_take_effect(struct sampling *s, struct sampled_port *port, const struct sampled_port *before)
{
	bool switched = port->config.enabled != before->config.enabled, new_mean;

	if (sampling_mean_asked_for(s, port) != sampling_mean_asked_for(s, before) ||
	    smaller_cap(&port->config) != smaller_cap(&before->config)) {
		port->mean_in_force = sampling_mean_asked_for(s, port); /* the cap decides again by the next samples */
		port->cap = (struct rate_cap){0};
	}
	new_mean = port->mean_in_force != before->mean_in_force;
	if (!hal_has_sampling(s->hal))
		return 0;
	if (port->draws_itself)
		return new_mean || switched ? change_rate(s, port, before) : 0;
	if (!port->config.enabled) {
		skip_counter_step(&port->counter, SKIP_COUNTER_OFF, 0);
		return 0;
	}
	/* Hardware that cannot discard skips uses them up first. Their samples carry the old mean, so
	 * that they are right as well. */
	if (new_mean && port->counter.n_loaded > 0)
		hal_restart_sampling(s->hal, port->if_index);
	if (switched)
		load_skips(s, port);
	return 0;
}

int
sampling_set_port(struct sampling *s, uint32_t if_index, const struct sampling_port_config *config)
{
	struct sampled_port *port = sampling_find_port(s, if_index), before;

	if (port == NULL)
		return -ENODEV;
	if (sampling_check_port(config) < 0 || (config->mean_skip > EASE_DRAWN_MEAN_MAX && !port->kept_elsewhere))
		return -EINVAL;
	before = *port;
	port->config = *config;
	if (config->request.is_held)
		sampling_forget_request(port);
	if (port->config.request.mean_skip == 0)
		port->doublings = 0;
	return sampling_take_effect(s, port, &before);
}

/* ---- the published table ---- */

static enum sampling_reason
sampling_reason_of(const struct sampling *s, const struct sampled_port *port)
{
	uint32_t requested = port->config.request.mean_skip;

	if (port->mean_in_force > (requested ? requested : port->config.mean_skip))
		return SAMPLING_CAPPED;
	return requested && !port->kept_elsewhere && sampling_takes_requests(s) ? SAMPLING_REQUESTED : SAMPLING_CONFIGURED;
}

static void
sampling_fill_row(const struct sampling *s, const struct sampled_port *port, struct sampling_port_row *row)
{
	struct hal_port info;

	*row = (struct sampling_port_row){
	    .if_index = port->if_index,
	    .config = port->config,
	    .mean_skip_in_force = port->mean_in_force,
	    .reason = sampling_reason_of(s, port),
	    .last_sequence = port->last_sequence,
	    .samples = port->samples,
	    .stalls = port->counter.stalls,
	    .stalled_pkts = port->counter.stalled_pkts,
	    .drops = port->drops,
	};
	if (hal_port_info(s->hal, port->if_index, &info) == 0) {
		row->pool_in_pkts = info.counters.value[HAL_POOL_IN_PKTS];
		row->pool_out_pkts = info.counters.value[HAL_POOL_OUT_PKTS];
	}
}

int
sampling_publish(struct sampling *s)
{
	size_t n = hal_has_sampling(s->hal) ? s->n_ports : 0;
	struct published_table *fresh = malloc(sizeof(*fresh) + n * sizeof(fresh->rows[0]));

	if (fresh == NULL)
		return -ENOMEM;
	fresh->table = (struct sampling_table){.ports = fresh->rows, .lease = s->lease};
	for (size_t i = 0; i < n; i++) {
		if (!s->ports[i].absent && !s->ports[i].unsampled)
			sampling_fill_row(s, &s->ports[i], &fresh->rows[fresh->table.n_ports++]);
	}
	assert(SORTED_ASCENDS(fresh->rows, fresh->table.n_ports, if_index));
	publication_replace(&s->publication, &fresh->head);
	return 0;
}

int
sampling_publish_port(struct sampling *s, uint32_t if_index)
{
	const struct sampled_port *port = sampling_find_port(s, if_index);
	const struct sampling_port_row *row = NULL;
	struct published_table *newest;
	struct sampling_port_row fresh;
	bool held;

	if (port == NULL)
		return 0;
	sampling_fill_row(s, port, &fresh);
	pthread_mutex_lock(&s->publication.lock);
	newest = (struct published_table *)(void *)s->publication.newest;
	held = newest == NULL || newest->head.references > 1;
	if (!held)
		row = sampling_table_port(&newest->table, if_index);
	if (row != NULL)
		newest->rows[row - newest->rows] = fresh;
	pthread_mutex_unlock(&s->publication.lock);
	return held ? sampling_publish(s) : 0;
}

const struct sampling_table *
sampling_table_hold(struct sampling *s)
{
	struct published *held = publication_hold(&s->publication);

	return held != NULL ? &((struct published_table *)(void *)held)->table : NULL;
}

void
sampling_table_release(const struct sampling_table *table)
{
	published_release(PUBLISHED_OF(table, struct published_table, table));
}

const struct sampling_port_row *
sampling_table_port(const struct sampling_table *table, uint32_t if_index)
{
	size_t i = SORTED_POSITION_OF(table->ports, table->n_ports, if_index, if_index);

	return i < table->n_ports && table->ports[i].if_index == if_index ? &table->ports[i] : NULL;
}

const struct stat_set *
sampling_stats(const struct sampling *s)
{
	return &s->stats;
}
