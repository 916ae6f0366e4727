/* Reads any datagram: the result is samples or a verdict, headers are within the datagram, and a
 * good flow sample that is written again is read as the same. */
#include "common/sflow_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_flow(const struct sflow_datagram *d, const struct sflow_flow *f, const uint8_t *data,
    size_t size)
{
	static uint8_t octets[70000];
	struct sflow_datagram again;
	struct sflow_sample s;
	struct sflow_writer w;

	if (f->has_header && (f->header < data || f->header + f->kept_octets > data + size))
		abort();
	sflow_begin(&w, octets, sizeof(octets), &d->agent, d->sequence, d->uptime_ms);
	if (sflow_add_flow(&w, f) < 0)
		return; /* longer than any UDP datagram */
	if (sflow_open(&again, octets, sflow_octets(&w)) != SFLOW_OK ||
	    sflow_next(&again, &s) != SFLOW_OK || s.flow.pool_pkts != f->pool_pkts ||
	    s.flow.source.index != f->source.index || s.flow.output.value != f->output.value ||
	    s.flow.kept_octets != f->kept_octets || sflow_next(&again, &s) != SFLOW_END)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sflow_datagram d;
	struct sflow_sample s;
	enum sflow_verdict verdict = sflow_open(&d, data, size);

	while (verdict == SFLOW_OK || verdict == SFLOW_BAD_SAMPLE) {
		verdict = sflow_next(&d, &s);
		if (verdict == SFLOW_OK && s.kind == SFLOW_FLOW)
			check_flow(&d, &s.flow, data, size);
	}
	return 0;
}
