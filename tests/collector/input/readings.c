#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "tests/collector/input/readings.h"

#include "collector/input/netsnmp_reader.h"
#include "collector/input/decode_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REWRITTEN_MAX = 1 << 18 };

static const char *const communities[] = {"public"};
static const struct decode_origin origin = {.sender = "192.0.2.9", .received_us = 77};

#define DEMAND(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: readings differ: %s\n", __FILE__, __LINE__,        \
			    #condition);                                                           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Reads by the library alone, from the first octet on. */

struct theirs {
	netsnmp_pdu *pdu; /* NULL: refused, or neither trap nor inform */
	uint8_t *community;
	size_t n_community;
};

static void
read_theirs(struct theirs *t, const uint8_t *octets, size_t n)
{
	/* copies of exactly that size, so that sanitizers see a read beyond */
	uint8_t *copy = malloc(n ? n : 1), *at;
	netsnmp_pdu *pdu = snmp_pdu_create(0);
	size_t left = n;
	long version;

	t->n_community = n + 1;
	t->community = malloc(t->n_community);
	if (!copy || !pdu || !t->community)
		abort();
	if (n > 0)
		memcpy(copy, octets, n);
	at = snmp_comstr_parse(copy, &left, t->community, &t->n_community, &version);
	if (!at || version != SNMP_VERSION_2c || snmp_pdu_parse(pdu, at, &left) != 0 ||
	    (pdu->command != SNMP_MSG_TRAP2 && pdu->command != SNMP_MSG_INFORM)) {
		snmp_free_pdu(pdu);
		pdu = NULL;
	}
	t->pdu = pdu;
	free(copy);
}

static void
free_theirs(struct theirs *t)
{
	snmp_free_pdu(t->pdu);
	free(t->community);
}

/* By the collector. */

static bool
all_good(const struct v2c_message *m)
{
	struct v2c_message copy = *m;
	struct v2c_varbind v;

	while (v2c_next(&copy, &v))
		continue;
	return !copy.varbinds.failed;
}

static bool
read_head(struct v2c_message *m, struct rbuf *body, const uint8_t *octets, size_t n)
{
	return v2c_open(m, body, octets, n) == 0 && m->version == V2C_VERSION_2C;
}

static bool
read_strictly(struct v2c_message *m, struct rbuf body)
{
	return v2c_open_pdu(m, &body) == 0 &&
	    (m->pdu == BER_SNMP_TRAP2 || m->pdu == BER_SNMP_INFORM) && all_good(m);
}

/* What is allowed to differ */

/* An Opaque that the library decodes (its asn_parse_header). */
static bool
holds_opaque(const struct v2c_message *m)
{
	struct v2c_message copy = *m;
	struct v2c_varbind v;

	while (v2c_next(&copy, &v))
		if (v.tag == BER_OPAQUE && v.value.size > 2 && v.value.data[0] == ASN_OPAQUE_TAG1)
			return true;
	return false;
}

static bool
is_allowed_type(u_char type)
{
	static const u_char not_allowed[] = {ASN_BIT_STR, ASN_NSAP, ASN_UINTEGER,
	    SNMP_NOSUCHOBJECT, SNMP_NOSUCHINSTANCE, SNMP_ENDOFMIBVIEW};

	return memchr(not_allowed, type, sizeof(not_allowed)) == NULL;
}

static bool
is_integer32(long value)
{
	return value == (int32_t)value;
}

static bool
holds_bad_value(const netsnmp_pdu *pdu)
{
	for (const netsnmp_variable_list *v = pdu->variables; v; v = v->next_variable)
		if (!is_allowed_type(v->type) ||
		    (v->type == ASN_INTEGER && !is_integer32(*v->val.integer)))
			return true;
	return !is_integer32(pdu->reqid) || !is_integer32(pdu->errstat) ||
	    !is_integer32(pdu->errindex);
}

/* Comparing */

/* For the library an OID without octets has one arc, which it writes as 0.0. */
static void
compare_oid(const struct ber_oid *ours, const oid *theirs, size_t n)
{
	if (n == 1 && theirs[0] == 0) {
		DEMAND(ours->n == 2 && ours->arcs[0] == 0 && ours->arcs[1] == 0);
		return;
	}
	DEMAND(ours->n == n);
	for (size_t i = 0; i < n; i++)
		DEMAND(ours->arcs[i] == theirs[i]);
}

static void
compare_value(const struct v2c_varbind *ours, const netsnmp_variable_list *theirs)
{
	struct ber_oid oid;
	uint64_t u64;
	int32_t i32;

	switch (ours->tag) {
	case BER_INTEGER:
		DEMAND(ber_integer(ours->value, &i32) == 0 && *theirs->val.integer == i32);
		break;
	case BER_COUNTER32:
	case BER_UNSIGNED32:
	case BER_TIMETICKS:
		DEMAND(ber_unsigned64(ours->value, &u64) == 0);
		DEMAND((u_long)*theirs->val.integer == u64);
		break;
	case BER_COUNTER64:
		DEMAND(ber_unsigned64(ours->value, &u64) == 0);
		DEMAND(((uint64_t)theirs->val.counter64->high << 32 |
			   theirs->val.counter64->low) == u64);
		break;
	case BER_OID:
		DEMAND(ber_oid(ours->value, &oid) == 0);
		compare_oid(&oid, theirs->val.objid, theirs->val_len / sizeof(*theirs->val.objid));
		break;
	case BER_NULL:
		break;
	default:
		DEMAND(theirs->val_len == ours->value.size);
		DEMAND(theirs->val_len == 0 ||
		    memcmp(theirs->val.string, ours->value.data, theirs->val_len) == 0);
	}
}

/* The library writes opened Opaques as such again. */
static bool
same_type(uint8_t ours, u_char theirs)
{
	return ours == theirs || (ours == BER_OPAQUE && theirs >= ASN_OPAQUE_COUNTER64 &&
				     theirs <= ASN_OPAQUE_U64);
}

static void
compare_messages(struct v2c_message ours, const struct theirs *t)
{
	const netsnmp_variable_list *theirs = t->pdu->variables;
	struct v2c_varbind v;

	DEMAND(ours.community.size == t->n_community);
	DEMAND(memcmp(ours.community.data, t->community, t->n_community) == 0);
	DEMAND(ours.pdu == t->pdu->command);
	DEMAND(ours.request_id == t->pdu->reqid);
	DEMAND(ours.error_status == t->pdu->errstat);
	DEMAND(ours.error_index == t->pdu->errindex);
	for (; v2c_next(&ours, &v); theirs = theirs->next_variable) {
		DEMAND(theirs != NULL);
		compare_oid(&v.name, theirs->name, theirs->name_length);
		DEMAND(same_type(v.tag, theirs->type));
		if (v.tag == theirs->type)
			compare_value(&v, theirs);
	}
	DEMAND(!ours.varbinds.failed && theirs == NULL);
}

/* What it means */

static void
compare_samples(const struct ease_sample *a, const struct ease_sample *b)
{
	struct ease_sample x = *a, y = *b;

	DEMAND(x.kept_octets == y.kept_octets && memcmp(x.header, y.header, x.kept_octets) == 0);
	x.header = y.header = NULL;
	DEMAND(memcmp(&x, &y, sizeof(x)) == 0);
}

static void
compare_results(const struct decode_result *a, const struct decode_result *b)
{
	DEMAND(a->kind == b->kind && a->n == b->n && a->n_ignored == b->n_ignored);
	for (size_t i = 0; i < a->n; i++) {
		struct ease_record x = a->records[i], y = b->records[i];

		DEMAND(x.kind == y.kind);
		if (x.kind == EASE_PART_SAMPLE) {
			compare_samples(&x.sample, &y.sample);
			x.sample.header = y.sample.header = NULL;
		}
		DEMAND(memcmp(&x, &y, sizeof(x)) == 0);
	}
}

/* Decodes a message of a known community in each way. The library accepts each trap that the strict
 * decoder accepts, with the same result. */
static void
compare_meaning(const uint8_t *octets, size_t n, struct v2c_message by_library)
{
	static struct decode_result strict, by_template, library;
	static struct decode_templates templates;
	enum decode_verdict verdict;

	memset(&strict, 0, sizeof(strict));
	memset(&by_template, 0, sizeof(by_template));
	memset(&library, 0, sizeof(library));
	verdict = decode_notification(octets, n, communities, 1, &origin, &strict);
	DEMAND(decode_templates_decode(&templates, octets, n, communities, 1, &origin,
		   &by_template) == verdict);
	if (verdict == DECODE_OK)
		compare_results(&strict, &by_template);
	if (verdict == DECODE_BAD_COMMUNITY || verdict == DECODE_INFORM)
		return;
	if (verdict != DECODE_BAD_CODING)
		DEMAND(decode_varbinds(&by_library, &origin, &library) == verdict);
	if (verdict == DECODE_OK)
		compare_results(&strict, &library);
}

enum readings
readings_compare(const uint8_t *octets, size_t n)
{
	static uint8_t rewritten[REWRITTEN_MAX];
	struct wbuf w = wbuf_of(rewritten, sizeof(rewritten));
	enum readings result = READINGS_NONE;
	struct v2c_message ours, by_library;
	struct theirs t;
	struct rbuf body;
	bool head = read_head(&ours, &body, octets, n), strict;

	read_theirs(&t, octets, n);
	by_library = ours;
	strict = head && read_strictly(&ours, body);
	if (strict && holds_opaque(&ours)) {
		result = READINGS_OPAQUE;
	} else if (strict) {
		DEMAND(t.pdu != NULL);
		compare_messages(ours, &t);
		result = READINGS_STRICT;
	} else if (t.pdu) {
		result = head ? READINGS_LIBRARY : READINGS_HEAD;
	}
	if (result == READINGS_STRICT || result == READINGS_LIBRARY) {
		if (netsnmp_reader_read(&by_library, &body, &w) == 0 && all_good(&by_library)) {
			compare_messages(by_library, &t);
			compare_meaning(octets, n, by_library);
		} else {
			DEMAND(!strict && holds_bad_value(t.pdu));
			result = READINGS_VALUES;
		}
	}
	free_theirs(&t);
	return result;
}
