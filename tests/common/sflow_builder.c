#include "tests/common/sflow_builder.h"

#include <assert.h>
#include <string.h>

void
built_word(struct sflow_builder *b, uint32_t word)
{
	assert(b->n + 4 <= sizeof(b->octets));
	b->n += 4;
	built_patch(b, b->n - 4, word);
}

void
built_patch(struct sflow_builder *b, size_t at, uint32_t word)
{
	b->octets[at] = (uint8_t)(word >> 24);
	b->octets[at + 1] = (uint8_t)(word >> 16);
	b->octets[at + 2] = (uint8_t)(word >> 8);
	b->octets[at + 3] = (uint8_t)word;
}

static void
hyper(struct sflow_builder *b, uint64_t value)
{
	built_word(b, (uint32_t)(value >> 32));
	built_word(b, (uint32_t)value);
}

/* With XDR's padding. */
void
built_octets(struct sflow_builder *b, const void *octets, size_t n)
{
	size_t whole = (n + 3) / 4 * 4;

	assert(b->n + whole <= sizeof(b->octets));
	memset(b->octets + b->n, 0, whole);
	memcpy(b->octets + b->n, octets, n);
	b->n += whole;
}

void
built_begin(struct sflow_builder *b, uint32_t address, uint32_t sub_agent, uint32_t sequence,
    uint32_t uptime_ms, uint32_t n_samples)
{
	b->n = 0;
	built_word(b, 5);
	built_word(b, 1);
	built_word(b, address);
	built_word(b, sub_agent);
	built_word(b, sequence);
	built_word(b, uptime_ms);
	built_word(b, n_samples);
}

static void
interface(struct sflow_builder *b, bool expanded, uint32_t format, uint32_t value)
{
	if (!expanded) {
		built_word(b, format << 30 | value);
		return;
	}
	built_word(b, format);
	built_word(b, value);
}

static void
source(struct sflow_builder *b, bool expanded, uint32_t class, uint32_t index)
{
	if (!expanded) {
		built_word(b, class << 24 | index);
		return;
	}
	built_word(b, class);
	built_word(b, index);
}

void
built_add_flow(struct sflow_builder *b, const struct built_flow *f)
{
	size_t length_at = b->n + 4;

	built_word(b, f->expanded ? 3 : 1);
	built_word(b, 0);
	built_word(b, f->sequence);
	source(b, f->expanded, f->class, f->index);
	built_word(b, f->rate);
	built_word(b, f->pool);
	built_word(b, f->drops);
	interface(b, f->expanded, f->input_format, f->input);
	interface(b, f->expanded, f->output_format, f->output);
	built_word(b, (f->header != NULL) + (f->vlan != 0));
	if (f->vlan) {
		built_word(b, 1001);
		built_word(b, 16);
		built_word(b, f->vlan);
		built_word(b, f->priority);
		built_word(b, f->vlan);
		built_word(b, f->priority);
	}
	if (f->header) {
		built_word(b, 1);
		built_word(b, 16 + (f->kept + 3) / 4 * 4);
		built_word(b, 1);
		built_word(b, f->frame_octets);
		built_word(b, f->stripped);
		built_word(b, f->kept);
		built_octets(b, f->header, f->kept);
	}
	built_patch(b, length_at, (uint32_t)(b->n - length_at - 4));
}

void
built_add_counters(struct sflow_builder *b, const struct built_counters *c)
{
	size_t length_at = b->n + 4;

	built_word(b, c->expanded ? 4 : 2);
	built_word(b, 0);
	built_word(b, c->sequence);
	source(b, c->expanded, 0, c->index);
	built_word(b, 1 + c->ethernet + (c->aggregate != 0));
	built_word(b, 1);
	built_word(b, 88);
	built_word(b, c->index);
	built_word(b, 6); /* ethernetCsmacd */
	hyper(b, c->speed_bps);
	built_word(b, 1);
	built_word(b, c->status);
	hyper(b, c->in_octets);
	for (int i = 0; i < 6; i++)
		built_word(b, c->in[i]);
	hyper(b, c->out_octets);
	for (int i = 0; i < 5; i++)
		built_word(b, c->out[i]);
	built_word(b, 2);
	if (c->ethernet) {
		built_word(b, 2);
		built_word(b, 52);
		for (uint32_t i = 0; i < 13; i++)
			built_word(b, 101 + i);
	}
	if (c->aggregate) {
		built_word(b, 7);
		built_word(b, 56);
		for (int i = 0; i < 4; i++) /* actor's and partner's system, of 6 octets each, padded to 8 */
			built_word(b, 0);
		built_word(b, c->aggregate);
		built_word(b, 0); /* four states */
		for (int i = 0; i < 8; i++)
			built_word(b, 0xffffffff);
	}
	built_patch(b, length_at, (uint32_t)(b->n - length_at - 4));
}
