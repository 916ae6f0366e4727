/* Reads any sequence of IPFIX messages of two domains in turn, each after two octets of length: what is made of a sample
 * lies in its message, and what is kept stays within its limits. */
#include "collector/input/ipfix.h"
#include "common/sample.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_sample(const struct sflow_flow *f, const struct rbuf *one)
{
	if (f->has_header && (f->header < one->data || f->header + f->kept_octets > one->data + one->size))
		abort();
	if (f->rate > EASE_MEAN_SKIP_MAX || !f->is_record)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipfix_domain domains[2] = {0};
	struct rbuf run = rbuf_of(data, size);
	struct ipfix_templates *templates;
	struct ipfix_message m;
	struct sflow_flow f;

	if (ipfix_templates_new(&templates, 1) < 0)
		abort();
	for (uint32_t i = 0; rbuf_left(&run) > 2; i++) {
		size_t n = rbuf_be16(&run);
		struct rbuf one = rbuf_sub(&run, n < rbuf_left(&run) ? n : rbuf_left(&run));
		enum sflow_verdict verdict;

		if (!ipfix_open(&m, one.data, one.size))
			continue;
		m.session = m.owner = i % 2;
		m.state = &domains[i % 2];
		m.received_us = 1700000000000000ull + i * (IPFIX_TEMPLATE_LASTS_US / 8);
		while ((verdict = ipfix_next(templates, &m, &f)) == SFLOW_OK || verdict == SFLOW_BAD_SAMPLE)
			if (verdict == SFLOW_OK)
				check_sample(&f, &one);
		if (domains[i % 2].n_samplers > IPFIX_SAMPLERS_MAX)
			abort();
	}
	ipfix_templates_free(templates);
	return 0;
}
