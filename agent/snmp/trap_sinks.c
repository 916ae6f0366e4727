#include "agent/snmp/trap_sinks.h"

#include "agent/snmp/usm.h"
#include "common/log.h"
#include "common/udp_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct stat_name stat_names[TRAP_SINKS_N_STATS] = {
    [TRAP_SINKS_SENT] = {"direct.sent", "notifications sent to trap sinks, counted for each sink"},
    [TRAP_SINKS_OVER_RATE] = {"direct.over_rate",
	"notifications not sent: a sink's max_per_s was reached"},
    [TRAP_SINKS_KERNEL_REFUSED] = {"direct.kernel_refused",
	"notifications not sent: the kernel refused the datagram"},
    [TRAP_SINKS_NOT_ENCODED] = {"direct.not_encoded", "notifications not sent: they could not be encoded"},
    [TRAP_SINKS_UNREACHABLE] = {"direct.unreachable",
	"times a sink's host reported by ICMP that nothing listens at the port"},
    [TRAP_SINKS_SAMPLES_LOST] = {"direct.samples_lost",
	"samples in notifications that were not sent to a sink"},
};

struct sink {
	char address[ENDPOINT_TEXT];
	char community[TRAP_SINK_COMMUNITY_MAX + 1];
	struct usm *usm; /* NULL: SNMPv2c */
	struct udp_out out;
	uint64_t interval_ns; /* between two notifications at its rate */
	uint64_t burst_ns;    /* how far paid_ns may be ahead */
	uint64_t paid_ns;     /* monotonic: at its rate, the sink has used up the time until here */
};

struct trap_sinks {
	struct notify_source source;
	const struct clock *clock;
	uint64_t start_us;
	uint32_t n_sent; /* request-ids */
	struct sink sinks[TRAP_SINKS_MAX];
	size_t n;
	uint8_t message[TRAP_MESSAGE_ROOM];
	struct stat_set stats;
	_Atomic uint64_t values[TRAP_SINKS_N_STATS];
};

/* ---- set-up ---- */

static void
trap_sinks_set_rate(struct sink *sink, uint32_t max_per_s, uint64_t now_us)
{
	uint32_t burst = max_per_s / 10;

	if (burst < TRAP_SINK_BURST_MIN)
		burst = TRAP_SINK_BURST_MIN;
	sink->interval_ns = 1000000000ull / max_per_s;
	sink->burst_ns = burst * sink->interval_ns;
	sink->paid_ns = now_us * 1000;
}

/* An operator needs the engine ID to configure the receiver. */
static void
log_engine(const struct sink *sink, const struct notify_source *source, const char *user)
{
	char text[2 * USM_ENGINE_ID_OCTETS + 1];
	uint8_t id[USM_ENGINE_ID_OCTETS];

	if (memcmp(source->agent_id, (uint8_t[EASE_AGENT_ID_LEN]){0}, EASE_AGENT_ID_LEN) == 0) { /* a check; the start draws it */
		log_info("direct", "notifications to %s are sent as user %s, of an engine ID that the log tells when the agent starts",
		    sink->address, user);
		return;
	}
	usm_engine_id(source, id);
	for (size_t i = 0; i < sizeof(id); i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	log_info("direct", "notifications to %s are sent as user %s of engine 0x%s", sink->address, user, text);
}

static int
open_sink(struct trap_sinks *s, const struct trap_sink *config)
{
	struct sink *sink = &s->sinks[s->n++];
	const struct usm_user user = {
	    .name = config->user,
	    .auth_protocol = trap_sink_auth_protocols[config->auth_protocol],
	    .auth_passphrase = config->auth_passphrase,
	    .priv_protocol = trap_sink_priv_protocols[config->priv_protocol],
	    .priv_passphrase = config->priv_passphrase,
	};
	int rc = udp_out_open(&sink->out, config->address);

	if (rc < 0)
		return rc;
	snprintf(sink->address, sizeof(sink->address), "%s", config->address);
	snprintf(sink->community, sizeof(sink->community), "%s", config->community);
	trap_sinks_set_rate(sink, config->max_per_s, clock_mono_us(s->clock));
	if (!*config->user)
		return 0;
	rc = usm_create(&user, &s->source, &sink->usm);
	if (rc == 0)
		log_engine(sink, &s->source, config->user);
	return rc;
}

int
trap_sinks_create(const struct trap_sink *sinks, size_t n, const struct notify_source *source,
    const struct clock *clock, struct trap_sinks **out, char *error, size_t error_size)
{
	struct trap_sinks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->source = *source;
	s->clock = clock;
	s->start_us = clock_mono_us(clock);
	s->stats = (struct stat_set){stat_names, TRAP_SINKS_N_STATS, s->values};
	for (size_t i = 0; i < n && i < TRAP_SINKS_MAX; i++) {
		int rc = open_sink(s, &sinks[i]);

		if (rc == 0)
			continue;
		snprintf(error, error_size, "notifications to %s: %s", sinks[i].address, strerror(-rc));
		trap_sinks_destroy(s);
		return rc;
	}
	*out = s;
	return 0;
}

void
trap_sinks_destroy(struct trap_sinks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		udp_out_close(&s->sinks[i].out);
		usm_destroy(s->sinks[i].usm);
	}
	explicit_bzero(s, sizeof(*s)); /* communities */
	free(s);
}

const struct stat_set *
trap_sinks_stats(const struct trap_sinks *s)
{
	return &s->stats;
}

/* ---- rate ---- */

static bool
pay_for_one(struct sink *sink, uint64_t now_ns)
{
	if (sink->paid_ns < now_ns)
		sink->paid_ns = now_ns;
	if (sink->paid_ns + sink->interval_ns > now_ns + sink->burst_ns)
		return false;
	sink->paid_ns += sink->interval_ns;
	return true;
}

uint64_t
trap_sinks_wait_us(const struct trap_sinks *s, unsigned n)
{
	uint64_t now_ns = clock_mono_us(s->clock) * 1000, longest_ns = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct sink *sink = &s->sinks[i];
		uint64_t wanted_ns = n * sink->interval_ns + sink->paid_ns;
		uint64_t allowed_ns = now_ns + sink->burst_ns;

		if (wanted_ns > allowed_ns && wanted_ns - allowed_ns > longest_ns)
			longest_ns = wanted_ns - allowed_ns;
	}
	return (longest_ns + 999) / 1000;
}

/* ---- sending ---- */

/* -EMSGSIZE: no message could be made. */
static int
trap_sinks_send_to(struct trap_sinks *s, struct sink *sink, const struct trap_message *m, uint64_t now_us)
{
	struct ber_writer w = ber_writer_of(s->message, sizeof(s->message));
	bool unreachable;
	int rc;

	if (sink->usm)
		usm_put_message(sink->usm, &w, m, (uint32_t)((now_us - s->start_us) / 1000000));
	else
		trap_message_put_v2c(&w, m, sink->community);
	if (w.failed)
		return -EMSGSIZE;
	rc = udp_out_send(&sink->out, w.data + w.at, ber_octets(&w), now_us, &unreachable);
	if (unreachable)
		stat_add(&s->stats, TRAP_SINKS_UNREACHABLE, 1);
	return rc;
}

static bool
give_to(struct trap_sinks *s, struct sink *sink, const struct trap_message *m, uint64_t now_us)
{
	int rc;

	if (!pay_for_one(sink, now_us * 1000)) {
		stat_add(&s->stats, TRAP_SINKS_OVER_RATE, 1);
		return false;
	}
	rc = trap_sinks_send_to(s, sink, m, now_us);
	if (rc == 0) {
		stat_add(&s->stats, TRAP_SINKS_SENT, 1);
		return true;
	}
	stat_add(&s->stats, rc == -EMSGSIZE ? TRAP_SINKS_NOT_ENCODED : TRAP_SINKS_KERNEL_REFUSED, 1);
	log_warn_limited("direct", "a notification to %s was not sent: %s", sink->address, strerror(-rc));
	return false;
}

int
trap_sinks_push(struct trap_sinks *s, const struct ease_notification *n)
{
	uint64_t now_us = clock_mono_us(s->clock);
	struct trap_message m = {
	    .notification = n,
	    .source = &s->source,
	    .uptime_cs = (uint32_t)((now_us - s->start_us) / 10000),
	    .request_id = (int32_t)(++s->n_sent & INT32_MAX),
	};
	bool given = false;

	for (size_t i = 0; i < s->n; i++) {
		if (give_to(s, &s->sinks[i], &m, now_us))
			given = true;
		else
			stat_add(&s->stats, TRAP_SINKS_SAMPLES_LOST, n->n_samples);
	}
	return given ? 0 : -ENOBUFS;
}
