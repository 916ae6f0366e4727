#include "collector/input/admission.h"
#include "collector/input/decode_template.h"
#include "common/log.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define ROOM "input"

/* How each verdict is counted and told. */
static const struct {
	enum input_stat_id stat;
	const char *why;
} refusals[DECODE_N_VERDICTS] = {
    [DECODE_BAD_PARSE] = {INPUT_STAT_REFUSED_PARSE, "not an SNMP notification"},
    [DECODE_BAD_CODING] = {INPUT_STAT_REFUSED_PARSE, "not encoded as RFC 3417 has it"},
    [DECODE_V3] = {INPUT_STAT_REFUSED_VERSION, "SNMPv3, and no user is configured"},
    [DECODE_INFORM] = {INPUT_STAT_REFUSED_PDU, "an inform"},
    [DECODE_EVENT] = {INPUT_STAT_REFUSED_FOREIGN, "an event"},
    [DECODE_BAD_VERSION] = {INPUT_STAT_REFUSED_VERSION, "neither SNMPv2c nor SNMPv3"},
    [DECODE_BAD_COMMUNITY] = {INPUT_STAT_REFUSED_COMMUNITY, "community not allowed"},
    [DECODE_BAD_PDU] = {INPUT_STAT_REFUSED_PDU, "neither trap nor inform"},
    [DECODE_FOREIGN] = {INPUT_STAT_REFUSED_FOREIGN, "a notification of another MIB"},
    [DECODE_BAD_VALUE] = {INPUT_STAT_REFUSED_VALUE, "a value is not as the MIB says"},
    [DECODE_BAD_PARTS] = {INPUT_STAT_REFUSED_PARTS, "parts missing or of another kind"},
    [DECODE_TOO_MANY] = {INPUT_STAT_REFUSED_TOO_MANY, "too many parts"},
};

struct admission {
	const struct input_config *config;
	const struct stat_set *stats;
	struct sockaddr_storage last_from; /* senders come in runs: its text is kept */
	char last_sender[ENDPOINT_TEXT];
	struct decode_result result;
	struct decode_templates shapes;
	unsigned allowed_since; /* as they were learned */
};

size_t
admission_memory(void)
{
	return sizeof(struct admission);
}

int
admission_new(struct admission **out, const struct input_config *config, const struct stat_set *stats)
{
	struct admission *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->config = config;
	g->stats = stats;
	*out = g;
	return 0;
}

void
admission_free(struct admission *g)
{
	free(g);
}

struct decode_result *
admission_result(struct admission *g)
{
	return &g->result;
}

const char *
admission_sender(struct admission *g, const struct sockaddr *from)
{
	size_t len = from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						 : sizeof(struct sockaddr_in);

	if (g->last_sender[0] == '\0' || memcmp(&g->last_from, from, len) != 0) {
		memcpy(&g->last_from, from, len);
		endpoint_format(from, false, g->last_sender);
	}
	return g->last_sender;
}

static void
refuse(const struct admission *g, enum input_stat_id stat, const char *sender, const char *why)
{
	stat_add(g->stats, stat, 1);
	log_warn_limited(ROOM, "datagram from %s refused: %s", sender, why);
}

static bool
is_allowed(const struct admission *g, const struct sockaddr *from)
{
	for (size_t i = 0; i < g->config->n_senders; i++)
		if (prefix_holds(&g->config->senders[i], from))
			return true;
	return false;
}

bool
admission_allows(const struct admission *g, const struct sockaddr *from, const char *sender)
{
	if (is_allowed(g, from))
		return true;
	refuse(g, INPUT_STAT_REFUSED_SENDER, sender, "address not allowed");
	return false;
}

struct sift {
	struct admission *admission;
	struct fair_share *share;
};

static bool
keep(void *arg, const struct sockaddr *from, size_t n)
{
	const struct sift *sift = arg;

	if (!is_allowed(sift->admission, from) || fair_share_admit(sift->share, from, n))
		return true;
	log_warn_limited(ROOM, "more comes than can be taken: %s has its share, the rest is dropped",
	    admission_sender(sift->admission, from));
	return false;
}

void
admission_limit_senders(struct admission *g, struct fair_share *share, const struct receiver *r, size_t socket,
    struct receive_batch *b)
{
	struct sift sift = {g, share};
	size_t dropped;

	fair_share_turn(share, clock_mono_us(g->config->clock), receiver_fill_percent(r, socket, b));
	dropped = receive_filter(b, keep, &sift);
	stat_add(g->stats, INPUT_STAT_OVER_SHARE, dropped);
	stat_add(g->stats, INPUT_STAT_DATAGRAMS, dropped);
}

/* True if this is for the slow way, and there is one. */
static bool
is_slow(const struct admission *g, enum decode_verdict verdict)
{
	const struct slow_path *slow = g->config->slow_path;

	if (!slow)
		return false;
	return verdict == DECODE_INFORM || verdict == DECODE_EVENT ||
	    verdict == DECODE_BAD_CODING || (verdict == DECODE_V3 && slow_path_takes_v3(slow));
}

enum admission_verdict
admission_decode(struct admission *g, const void *octets, size_t n, const struct decode_origin *origin)
{
	const struct input_config *c = g->config;
	enum decode_verdict verdict;

	if (g->allowed_since != c->allowed_since)
		decode_templates_forget(&g->shapes); /* each with its community */
	g->allowed_since = c->allowed_since;
	verdict = decode_templates_decode(&g->shapes, octets, n, c->communities, c->n_communities, origin,
	    &g->result);
	if (verdict == DECODE_OK)
		return ADMISSION_RECORDS;
	if (is_slow(g, verdict))
		return ADMISSION_SLOW_PATH;
	refuse(g, refusals[verdict].stat, origin->sender, refusals[verdict].why);
	return ADMISSION_REFUSED;
}
