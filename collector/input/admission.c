#include "collector/input/admission.h"
#include "collector/input/decode_template.h"
#include "collector/input/event.h"
#include "common/log.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "input"

/* The counter of each verdict that refuses a datagram. */
static const enum input_stat_id refusals[DECODE_N_VERDICTS] = {
    [DECODE_BAD_PARSE] = INPUT_STAT_REFUSED_PARSE,
    [DECODE_BAD_CODING] = INPUT_STAT_REFUSED_PARSE,
    [DECODE_V3] = INPUT_STAT_REFUSED_VERSION,
    [DECODE_INFORM] = INPUT_STAT_REFUSED_PDU,
    [DECODE_EVENT] = INPUT_STAT_IGNORED_NOTIFICATIONS,
    [DECODE_BAD_VERSION] = INPUT_STAT_REFUSED_VERSION,
    [DECODE_BAD_COMMUNITY] = INPUT_STAT_REFUSED_COMMUNITY,
    [DECODE_BAD_PDU] = INPUT_STAT_REFUSED_PDU,
    [DECODE_FOREIGN] = INPUT_STAT_IGNORED_NOTIFICATIONS,
    [DECODE_BAD_VALUE] = INPUT_STAT_REFUSED_VALUE,
    [DECODE_BAD_PARTS] = INPUT_STAT_REFUSED_PARTS,
    [DECODE_TOO_MANY] = INPUT_STAT_REFUSED_TOO_MANY,
};

struct admission {
	const struct input_config *config;
	const struct stat_set *stats;
	struct sockaddr_storage last_from; /* datagrams of a sender come in runs */
	char last_sender[ENDPOINT_TEXT];
	int last_fd;
	char last_listener[ENDPOINT_TEXT];
	struct decode_result result;
	struct decode_templates templates;
	unsigned allowed_since; /* config->allowed_since when the templates were learned */
};

size_t
admission_memory(void)
{
	return sizeof(struct admission);
}

int
admission_new(struct admission **out, const struct input_config *config, const struct stat_set *stats)
{
	struct admission *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->config = config;
	a->stats = stats;
	a->last_fd = -1;
	*out = a;
	return 0;
}

void
admission_free(struct admission *a)
{
	free(a);
}

struct decode_result *
admission_result(struct admission *a)
{
	return &a->result;
}

const char *
admission_sender(struct admission *a, const struct sockaddr *from)
{
	size_t len = from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						 : sizeof(struct sockaddr_in);

	if (a->last_sender[0] == '\0' || memcmp(&a->last_from, from, len) != 0) {
		memcpy(&a->last_from, from, len);
		endpoint_format(from, false, a->last_sender);
	}
	return a->last_sender;
}

const char *
admission_listener(struct admission *a, int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);

	if (fd < 0)
		return NULL;
	if (fd != a->last_fd && getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
		endpoint_format((const struct sockaddr *)&address, true, a->last_listener);
		a->last_fd = fd;
	}
	return a->last_listener;
}

static void
refuse_sender(const struct admission *a, enum input_stat_id stat, const struct decode_origin *origin, const char *why)
{
	stat_add(a->stats, stat, 1);
	refused_senders_note(a->config->refused, origin->sender, why, origin->received_us);
	log_warn_limited(ROOM, "datagram from %s%s%s refused: %s", origin->sender,
	    origin->listener ? " to " : "", origin->listener ? origin->listener : "", why);
}

/* coldStart and the like are normal, so they are no warning. */
static void
admission_ignore_foreign(const struct admission *a, const struct decode_origin *origin)
{
	char name[EVENT_NAME_MAX];

	event_name_foreign(&a->result.foreign, name);
	stat_add(a->stats, INPUT_STAT_IGNORED_NOTIFICATIONS, 1);
	log_info_limited(ROOM, "notification %s from %s ignored: the collector does not store it",
	    name, origin->sender);
}

static bool
admission_is_allowed(const struct admission *a, const struct sockaddr *from)
{
	for (size_t i = 0; i < a->config->n_senders; i++)
		if (prefix_holds(&a->config->senders[i], from))
			return true;
	return false;
}

bool
admission_allows(const struct admission *a, const struct sockaddr *from, const struct decode_origin *origin)
{
	if (admission_is_allowed(a, from))
		return true;
	refuse_sender(a, INPUT_STAT_REFUSED_SENDER, origin,
	    "its address is not in the option senders; add it to accept it");
	return false;
}

struct share_filter {
	struct admission *admission;
	struct fair_share *share;
};

static bool
keep_address(void *arg, const struct sockaddr *from, size_t n)
{
	const struct share_filter *f = arg;

	if (!admission_is_allowed(f->admission, from) || fair_share_admit(f->share, from, n))
		return true;
	refused_senders_note(f->admission->config->refused, admission_sender(f->admission, from),
	    "it sends more than its fair share", clock_wall_us(f->admission->config->clock));
	log_warn_limited(ROOM,
	    "more datagrams arrive than can be processed: those of %s beyond its fair share are "
	    "dropped", admission_sender(f->admission, from));
	return false;
}

void
admission_limit_senders(struct admission *a, struct fair_share *share, const struct receiver *r,
    size_t socket, struct receive_batch *b)
{
	struct share_filter filter = {a, share};
	size_t dropped;

	fair_share_turn(share, clock_mono_us(a->config->clock), receiver_fill_percent(r, socket, b));
	dropped = receive_filter(b, keep_address, &filter);
	stat_add(a->stats, INPUT_STAT_OVER_SHARE, dropped);
	stat_add(a->stats, INPUT_STAT_DATAGRAMS, dropped);
}

/* True if this is for the slow path, and there is one. */
static bool
is_slow(const struct admission *a, enum decode_verdict verdict)
{
	const struct slow_path *slow = a->config->slow_path;

	if (!slow)
		return false;
	return verdict == DECODE_INFORM || verdict == DECODE_EVENT ||
	    verdict == DECODE_BAD_CODING || (verdict == DECODE_V3 && slow_path_takes_v3(slow));
}

enum admission_verdict
admission_decode(struct admission *a, const void *octets, size_t n, const struct decode_origin *origin)
{
	const struct input_config *c = a->config;
	enum decode_verdict verdict;

	if (a->allowed_since != c->allowed_since)
		decode_templates_forget(&a->templates); /* they hold the old communities */
	a->allowed_since = c->allowed_since;
	verdict = decode_templates_decode(&a->templates, octets, n, c->communities,
	    c->n_communities, origin, &a->result);
	if (verdict == DECODE_OK)
		return ADMISSION_RECORDS;
	if (is_slow(a, verdict))
		return ADMISSION_SLOW_PATH;
	if (verdict == DECODE_FOREIGN)
		admission_ignore_foreign(a, origin);
	else
		refuse_sender(a, refusals[verdict], origin, decode_verdict_text(verdict));
	return ADMISSION_REFUSED;
}
