#include "agent/settings.h"

#include "common/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum request_step {
	REQUEST_NONE,
	REQUEST_WAITS, /* handed over by the SNMP thread */
	REQUEST_TAKEN, /* the main loop carries it out; it can no longer be given up */
	REQUEST_DONE,
};

struct settings {
	struct settings_owners owners;
	settings_done *done;
	void *done_ctx;
	int event_fd;
	pthread_mutex_t lock; /* over what follows */
	pthread_cond_t moved;
	enum request_step step; /* one request at a time: there is one SNMP thread */
	const struct mib_set *sets; /* the SNMP thread's, valid while it waits */
	size_t n;
	enum mib_phase phase;
	int result;
	size_t failed;
};

/* ---- what the device carries out ---- */

static int
set_admin_status(struct hal *hal, const struct mib_set *set, bool test_only)
{
	uint8_t status = (uint8_t)set->number;

	return test_only ? hal_check_admin_status(hal, set->if_index, status)
			 : hal_set_admin_status(hal, set->if_index, status);
}

static int
set_pause(struct hal *hal, const struct mib_set *set, bool test_only)
{
	uint8_t mode = (uint8_t)set->number;

	return test_only ? hal_check_pause(hal, set->if_index, mode)
			 : hal_set_pause(hal, set->if_index, mode);
}

static int
set_ageing(struct hal *hal, const struct mib_set *set, bool test_only)
{
	uint32_t seconds = (uint32_t)set->number;

	return test_only ? hal_check_ageing_s(hal, seconds) : hal_set_ageing_s(hal, seconds);
}

static int
set_alias(struct hal *hal, const struct mib_set *set, bool test_only)
{
	return test_only ? hal_check_alias(hal, set->if_index, set->text)
			 : hal_set_alias(hal, set->if_index, set->text);
}

static int
set_link_traps(struct hal *hal, const struct mib_set *set, bool test_only)
{
	struct hal_port info;
	int rc = hal_port_info(hal, set->if_index, &info);

	return rc < 0 || test_only ? rc : hal_set_link_traps(hal, set->if_index, set->number != 0);
}

/* Of the lease, which take_request carries out as a whole. */
static int
set_nothing(struct hal *hal, const struct mib_set *set, bool test_only)
{
	(void)hal;
	(void)set;
	(void)test_only;
	return 0;
}

/* ---- whether the device has a newer value than the one that was kept ---- */

/* A kernel keeps its settings while no agent runs. */
static bool
keeps_settings(const struct hal *hal, uint32_t if_index)
{
	(void)if_index;
	return hal_keeps_settings(hal);
}

/* An alias that is there already was made by somebody else. */
static bool
has_alias(const struct hal *hal, uint32_t if_index)
{
	struct hal_port info;

	return hal_port_info(hal, if_index, &info) < 0 || info.alias[0] != '\0';
}

static bool
cannot_sample(const struct hal *hal, uint32_t if_index)
{
	(void)if_index;
	return !hal_has_sampling(hal);
}

static bool
keeps_rate(const struct hal *hal, uint32_t if_index)
{
	uint32_t rate;

	return cannot_sample(hal, if_index) || hal_sampling_rate(hal, if_index, &rate) == 0;
}

/* ---- the table of settings ---- */

/* All there is to know of a kind of enum mib_set_kind, but its column's syntax, which mibs/ has. */
static const struct setting {
	const char *column; /* also the name that the state keeps it by */
	bool is_text;
	bool (*device_has)(const struct hal *hal, uint32_t if_index); /* NULL: never */
	int (*set)(struct hal *hal, const struct mib_set *set, bool test_only); /* NULL: what follows */
	size_t offset, size; /* of the member of struct sampling_port_config that is set */
	const char *values[2]; /* how the log names 0 and 1 of it; NULL: as numbers */
	bool holds, passes; /* it holds its port against requests; it ends with the agent, and is not kept */
} settings_table[] = {
#define SAMPLING(member)                                                                           \
	.offset = offsetof(struct sampling_port_config, member),                                   \
	.size = sizeof(((const struct sampling_port_config *)0)->member)
    [MIB_SET_ALIAS] = {"ifAlias", .is_text = true, .device_has = has_alias, .set = set_alias},
    [MIB_SET_LINK_TRAPS] = {"ifLinkUpDownTrapEnable", .set = set_link_traps},
    [MIB_SET_ADMIN_STATUS] = {"ifAdminStatus", .device_has = keeps_settings, .set = set_admin_status},
    [MIB_SET_SAMPLING_ADMIN] = {"easePortAdminStatus", .device_has = keeps_rate, SAMPLING(enabled),
	.values = {"down", "up"}},
    [MIB_SET_MEAN_SKIP] = {"easePortMeanSkip", .device_has = keeps_rate, SAMPLING(mean_skip),
	.holds = true},
    [MIB_SET_HEADER_OCTETS] = {"easePortHeaderOctets", .device_has = cannot_sample, SAMPLING(header_octets)},
    [MIB_SET_MAX_SAMPLES] = {"easePortMaxSamples", .device_has = cannot_sample, SAMPLING(max_samples_per_s),
	.holds = true},
    [MIB_SET_EDGE] = {"easePortEdge", .device_has = cannot_sample, SAMPLING(edge), .values = {"false", "true"}},
    [MIB_SET_AGEING] = {"dot1dTpAgingTime", .device_has = keeps_settings, .set = set_ageing}, /* the agent's own */
    [MIB_SET_PAUSE] = {"dot3PauseAdminMode", .device_has = keeps_settings, .set = set_pause},
    [MIB_SET_REQUEST_OWNER] = {"easeRequestOwner", .is_text = true, .set = set_nothing, .passes = true},
    [MIB_SET_REQUEST_TTL] = {"easeRequestTtl", .set = set_nothing, .passes = true},
    [MIB_SET_REQUESTED_SKIP] = {"easePortRequestedSkip", SAMPLING(request.mean_skip), .passes = true},
    [MIB_SET_REQUESTED_MAX] = {"easePortRequestedMaxSamples", SAMPLING(request.max_samples_per_s), .passes = true},
    [MIB_SET_REQUESTS_HELD] = {"easePortRequestsHeld", .device_has = cannot_sample, SAMPLING(request.is_held),
	.values = {"false", "true"}},
#undef SAMPLING
};
_Static_assert(sizeof(settings_table) / sizeof(settings_table[0]) == MIB_SET_ROW, "each kind has its row");

static const struct setting *
setting_of(unsigned kind)
{
	return kind < MIB_SET_ROW && settings_table[kind].column ? &settings_table[kind] : NULL;
}

const char *
settings_column(unsigned kind)
{
	const struct setting *setting = setting_of(kind);

	return setting && !setting->passes ? setting->column : NULL;
}

bool
settings_holds(unsigned kind)
{
	const struct setting *setting = setting_of(kind);

	return setting && setting->holds;
}

bool
settings_is_text(unsigned kind)
{
	const struct setting *setting = setting_of(kind);

	return setting && setting->is_text;
}

/* ---- how a port is sampled ---- */

static uint32_t
sampling_number(const struct setting *setting, const struct sampling_port_config *config)
{
	const void *member = (const uint8_t *)config + setting->offset;

	return setting->size == sizeof(bool) ? *(const bool *)member : *(const uint32_t *)member;
}

static void
set_sampling_number(const struct setting *setting, struct sampling_port_config *config, int64_t number)
{
	void *member = (uint8_t *)config + setting->offset;

	if (setting->size == sizeof(bool))
		*(bool *)member = number != 0;
	else
		*(uint32_t *)member = (uint32_t)number;
}

static void
tell_change(const struct settings_owners *owners, const struct setting *setting, const struct mib_set *set,
    uint64_t before)
{
	const uint64_t numbers[2] = {before, (uint64_t)set->number};
	char texts[2][24];
	struct settings_change change = {set->if_index, setting->column, texts[0], texts[1]};

	for (size_t i = 0; i < 2; i++) {
		const char *text = setting->values[numbers[i] != 0];

		if (text)
			snprintf(texts[i], sizeof(texts[i]), "%s", text);
		else
			snprintf(texts[i], sizeof(texts[i]), "%" PRIu64, numbers[i]);
	}
	if (numbers[0] != numbers[1] && owners->sampling_changed)
		owners->sampling_changed(owners->ctx, &change);
}

/* A rate that another program keeps may have limits of its own, and may not be changed by everybody. */
static int
check_sampling(const struct settings_owners *owners, uint32_t if_index, const struct sampling_port_config *config)
{
	int rc = sampling_check_port(config);
	struct sampling_port_config before;
	uint32_t rate;

	if (rc == 0 && hal_sampling_rate(owners->hal, if_index, &rate) < 0)
		return config->mean_skip <= EASE_DRAWN_MEAN_MAX ? 0 : -EINVAL;
	if (rc < 0 || sampling_get_port(owners->sampling, if_index, &before) < 0 ||
	    (before.mean_skip == config->mean_skip && before.enabled == config->enabled))
		return rc;
	return hal_check_sampling_rate(owners->hal, if_index, config->enabled ? config->mean_skip : 0);
}

static int
set_sampling(const struct settings_owners *owners, const struct setting *setting, const struct mib_set *set,
    bool test_only)
{
	struct sampling_port_config config;
	uint64_t before;
	uint32_t rate;
	int rc = sampling_get_port(owners->sampling, set->if_index, &config);

	if (rc < 0 || !hal_has_sampling(owners->hal))
		return rc < 0 ? rc : -ENODEV;
	before = sampling_number(setting, &config);
	set_sampling_number(setting, &config, set->number);
	if (set->kind == MIB_SET_MEAN_SKIP) {
		config.mean_is_set = true;
		/* Another program that keeps a rate has one of sampled ports only. */
		config.enabled |= hal_sampling_rate(owners->hal, set->if_index, &rate) == 0;
	}
	config.request.is_held |= setting->holds;
	if (test_only)
		return check_sampling(owners, set->if_index, &config);
	rc = sampling_set_port(owners->sampling, set->if_index, &config);
	if (rc == 0)
		tell_change(owners, setting, set, before);
	return rc;
}

/* ---- requests ---- */

static int
set_one(const struct settings_owners *owners, const struct mib_set *set, bool test_only)
{
	const struct setting *setting = setting_of(set->kind);

	if (set->kind == MIB_SET_ROW) /* set_rows does all of a table together */
		return 0;
	if (!setting)
		return -EOPNOTSUPP;
	return setting->set ? setting->set(owners->hal, set, test_only)
			    : set_sampling(owners, setting, set, test_only);
}

int
settings_restore(const struct settings_owners *owners, const struct mib_set *set)
{
	const struct setting *setting = setting_of(set->kind);
	struct settings_owners quiet = *owners;

	if (setting && setting->device_has && setting->device_has(owners->hal, set->if_index))
		return 0;
	quiet.sampling_changed = NULL;
	return set_one(&quiet, set, false);
}

/* TEST and COMMIT stop at the first setting that fails; UNDO goes on, so that it takes back all that
 * it can. */
static int
set_each(const struct settings_owners *owners, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed)
{
	int first = 0;

	for (size_t i = 0; i < n && (first == 0 || phase == MIB_PHASE_UNDO); i++) {
		int rc = set_one(owners, &sets[i], phase == MIB_PHASE_TEST);

		if (rc < 0 && first == 0) {
			first = rc;
			*failed = i;
		}
	}
	return first;
}

static int
set_rows(const struct settings_owners *owners, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed)
{
	int rc = 0;

	for (size_t i = 0; i < owners->n_managed && rc == 0; i++)
		rc = managed_apply(owners->managed[i], sets, n, phase, failed);
	return rc;
}

/* ---- requests of a station: all of a PDU together, as each port's needs the owner's name beside it ---- */

struct request {
	struct lease_claim claim;
	size_t claim_at; /* where the PDU has it */
	size_t n, at[MIB_SETS_MAX];
	uint32_t asked[MIB_SETS_MAX]; /* ports */
};

/* Returns whether the settings have anything to do with requests. */
static bool
request_of(const struct mib_set *sets, size_t n, struct request *request)
{
	bool is_one = false;

	*request = (struct request){.claim_at = 0};
	for (size_t i = 0; i < n; i++) {
		unsigned kind = sets[i].kind;

		if (kind == MIB_SET_REQUEST_OWNER) {
			request->claim.owner = sets[i].text;
		} else if (kind == MIB_SET_REQUEST_TTL) {
			request->claim.has_ttl = true;
			request->claim.ttl_s = (uint32_t)sets[i].number;
		} else if (kind == MIB_SET_REQUESTED_SKIP || kind == MIB_SET_REQUESTED_MAX) {
			request->at[request->n] = i;
			request->asked[request->n++] = sets[i].if_index;
			request->claim.asks |= sets[i].number != 0;
			continue;
		} else {
			continue;
		}
		request->claim_at = i;
		is_one = true;
	}
	if (!is_one && request->n > 0)
		request->claim_at = request->at[0];
	return is_one || request->n > 0;
}

static int
check_request(const struct settings_owners *owners, const struct mib_set *sets, size_t n, size_t *failed)
{
	struct request request;
	size_t at;
	int rc;

	if (n > MIB_SETS_MAX || !request_of(sets, n, &request))
		return 0;
	rc = sampling_check_claim(owners->sampling, &request.claim, request.asked, request.n, &at);
	if (rc < 0)
		*failed = at < request.n ? request.at[at] : request.claim_at;
	return rc;
}

/* Before the requests are set; what an undo has to put back is remembered. */
static void
take_request(const struct settings_owners *owners, const struct mib_set *sets, size_t n)
{
	struct request request;

	if (!owners->sampling)
		return;
	sampling_mark_requests(owners->sampling);
	if (request_of(sets, n, &request))
		sampling_take_claim(owners->sampling, &request.claim);
}

int
settings_carry_out(const struct settings_owners *owners, const struct mib_set *sets, size_t n,
    enum mib_phase phase, size_t *failed)
{
	int rc = 0;

	if (phase != MIB_PHASE_UNDO) {
		rc = set_each(owners, sets, n, MIB_PHASE_TEST, failed);
		if (rc == 0)
			rc = check_request(owners, sets, n, failed);
		if (rc == 0)
			rc = set_rows(owners, sets, n, MIB_PHASE_TEST, failed);
	}
	if (rc < 0 || phase == MIB_PHASE_TEST)
		return rc;
	if (phase == MIB_PHASE_COMMIT)
		take_request(owners, sets, n);
	rc = set_rows(owners, sets, n, phase, failed);
	if (rc == 0)
		rc = set_each(owners, sets, n, phase, failed);
	if (phase == MIB_PHASE_UNDO && owners->sampling)
		sampling_undo_requests(owners->sampling);
	if (rc < 0 && phase == MIB_PHASE_COMMIT)
		set_rows(owners, sets, n, MIB_PHASE_UNDO, &(size_t){0});
	return rc;
}

/* ---- between the threads ---- */

int
settings_create(const struct settings_owners *owners, settings_done *done, void *done_ctx, struct settings **result)
{
	struct settings *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (s == NULL)
		return -ENOMEM;
	s->owners = *owners;
	s->done = done;
	s->done_ctx = done_ctx;
	s->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->event_fd < 0) {
		free(s);
		return -errno;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->moved, &attr);
	pthread_condattr_destroy(&attr);
	*result = s;
	return 0;
}

void
settings_destroy(struct settings *s)
{
	if (s == NULL)
		return;
	close(s->event_fd);
	pthread_cond_destroy(&s->moved);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int
settings_fd(const struct settings *s)
{
	return s->event_fd;
}

void
settings_dispatch(struct settings *s)
{
	uint64_t count;

	if (read(s->event_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_warn_limited("agent", "an eventfd cannot be read: %s", strerror(errno));
	pthread_mutex_lock(&s->lock);
	if (s->step == REQUEST_WAITS) {
		s->step = REQUEST_TAKEN;
		pthread_cond_signal(&s->moved);
		pthread_mutex_unlock(&s->lock);
		s->failed = 0;
		s->result = settings_carry_out(&s->owners, s->sets, s->n, s->phase, &s->failed);
		if (s->phase != MIB_PHASE_TEST)
			s->done(s->done_ctx, s->sets, s->n, s->phase, s->result);
		pthread_mutex_lock(&s->lock);
		assert(s->step == REQUEST_TAKEN);
		s->step = REQUEST_DONE;
		pthread_cond_signal(&s->moved);
	}
	pthread_mutex_unlock(&s->lock);
}

static struct timespec
deadline_in_ms(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

int
settings_apply(void *ctx, const struct mib_set *sets, size_t n, enum mib_phase phase, size_t *failed)
{
	struct settings *s = ctx;
	struct timespec deadline = deadline_in_ms(SETTINGS_WAIT_MS);
	uint64_t one = 1;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	assert(s->step == REQUEST_NONE); /* there is one SNMP thread */
	s->sets = sets;
	s->n = n;
	s->phase = phase;
	s->step = REQUEST_WAITS;
	if (write(s->event_fd, &one, sizeof(one)) < 0)
		rc = -errno;
	while (rc == 0 && s->step == REQUEST_WAITS) {
		if (pthread_cond_timedwait(&s->moved, &s->lock, &deadline) == ETIMEDOUT && s->step == REQUEST_WAITS)
			rc = -ETIMEDOUT;
	}
	/* Once the main loop has taken the request, only its end counts. */
	while (rc == 0 && s->step == REQUEST_TAKEN)
		pthread_cond_wait(&s->moved, &s->lock);
	if (rc == 0) {
		rc = s->result;
		*failed = s->failed;
	}
	s->step = REQUEST_NONE;
	pthread_mutex_unlock(&s->lock);
	return rc;
}
