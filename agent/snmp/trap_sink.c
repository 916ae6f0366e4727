#include "agent/snmp/trap_sink.h"

#include "common/udp_out.h"

#include <string.h>

const char *const trap_sink_auth_protocols[] = {"SHA-256", "SHA-384", "SHA-512", "SHA-224",
    "SHA", "MD5", NULL};
const char *const trap_sink_priv_protocols[] = {"AES", "AES-192", "AES-256", NULL};

static const char *
user_fault(const struct trap_sink *sink)
{
	if (strlen(sink->user) > TRAP_SINK_USER_MAX)
		return "user: it has more than 32 octets";
	if (strlen(sink->auth_passphrase) < TRAP_SINK_PASSPHRASE_MIN)
		return "auth_passphrase: it needs at least 8 characters";
	if (strlen(sink->priv_passphrase) < TRAP_SINK_PASSPHRASE_MIN)
		return "priv_passphrase: it needs at least 8 characters";
	return NULL;
}

const char *
trap_sink_check(const struct trap_sink *sink)
{
	const char *fault = udp_out_check(sink->address);

	if (fault || !*sink->address)
		return fault ? fault : "the title of a trap_sink must be its ADDRESS:PORT";
	if (!*sink->community == !*sink->user)
		return "a trap_sink needs either a community or a user";
	return *sink->user ? user_fault(sink) : NULL;
}
