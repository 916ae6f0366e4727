#include "agent/sim/bus/bus_model.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct window {
	uint32_t base, size;
	struct regmodel *regs;
};

struct area {
	uint32_t bus_address;
	size_t octets;
	uint8_t *memory;
};

struct bus_model {
	bool alone; /* no other thread: no lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	atomic_uint cpu_waits;
	int fd;
	_Atomic uint32_t lines; /* changed under the lock */
	unsigned pullers[BUS_MODEL_MAX_LINES]; /* chips that pull a shared line */
	uint64_t refused;
	struct window windows[BUS_MODEL_MAX_WINDOWS]; /* in ascending order of base */
	size_t n_windows;
	struct window *last; /* the last one found; NULL: none yet */
	struct area areas[BUS_MODEL_MAX_AREAS];
	size_t n_areas;
	size_t shared_octets;
};

void
bus_model_set_alone(struct bus_model *model)
{
	model->alone = true;
}

void
bus_model_lock(struct bus_model *model)
{
	if (!model->alone)
		pthread_mutex_lock(&model->lock);
}

void
bus_model_unlock(struct bus_model *model)
{
	if (model->alone)
		return;
	pthread_mutex_unlock(&model->lock);
	while (bus_model_cpu_waits(model))
		sched_yield();
}

void
bus_model_cpu_lock(struct bus_model *model)
{
	if (model->alone)
		return;
	atomic_fetch_add_explicit(&model->cpu_waits, 1, memory_order_relaxed);
	pthread_mutex_lock(&model->lock);
	atomic_fetch_sub_explicit(&model->cpu_waits, 1, memory_order_relaxed);
}

static void
cpu_unlock(struct bus_model *model)
{
	if (!model->alone)
		pthread_mutex_unlock(&model->lock);
}

bool
bus_model_cpu_waits(const struct bus_model *model)
{
	return atomic_load_explicit(&model->cpu_waits, memory_order_relaxed) > 0;
}

void
bus_model_wait(struct bus_model *model, uint64_t deadline_mono_us)
{
	struct timespec deadline = {
	    .tv_sec = (time_t)(deadline_mono_us / 1000000),
	    .tv_nsec = (long)(deadline_mono_us % 1000000) * 1000,
	};

	if (deadline_mono_us == BUS_MODEL_FOREVER)
		pthread_cond_wait(&model->wake, &model->lock);
	else
		pthread_cond_timedwait(&model->wake, &model->lock, &deadline);
}

void
bus_model_wake(struct bus_model *model)
{
	pthread_cond_broadcast(&model->wake);
}

static struct window *
window_of(struct bus_model *model, uint32_t address)
{
	size_t low = 0, high = model->n_windows;

	if (model->last && address - model->last->base < model->last->size)
		return model->last; /* the CPU usually accesses one chip several times */
	while (low < high) {
		size_t middle = (low + high) / 2;
		struct window *w = &model->windows[middle];

		if (address < w->base)
			high = middle;
		else if (address - w->base >= w->size)
			low = middle + 1;
		else
			return model->last = w;
	}
	return NULL;
}

static int
cpu_access(struct bus_model *model, uint32_t address, uint32_t *value, bool write)
{
	struct window *w;
	int rc = -ENXIO;

	bus_model_cpu_lock(model);
	w = window_of(model, address);
	if (w)
		rc = write ? regmodel_write(w->regs, address - w->base, *value)
			   : regmodel_read(w->regs, address - w->base, value);
	if (rc < 0)
		model->refused++;
	cpu_unlock(model);
	return rc;
}

static int
cpu_read(void *ctx, uint32_t address, uint32_t *value)
{
	return cpu_access(ctx, address, value, false);
}

static int
cpu_write(void *ctx, uint32_t address, uint32_t value)
{
	return cpu_access(ctx, address, &value, true);
}

static int
cpu_read_words(void *ctx, uint32_t address, uint32_t *words, size_t n)
{
	struct bus_model *model = ctx;
	struct window *w;
	int rc = -ENXIO;

	bus_model_cpu_lock(model);
	w = window_of(model, address);
	if (w)
		rc = regmodel_read_words(w->regs, address - w->base, words, n);
	if (rc < 0)
		model->refused++;
	cpu_unlock(model);
	return rc;
}

/* Areas are aligned to a page, so that message entries never straddle one. */
static void *
cpu_alloc_shared(void *ctx, size_t octets, uint32_t *bus_address)
{
	struct bus_model *model = ctx;
	size_t rounded = (octets + 4095) & ~(size_t)4095;
	struct area *area;
	uint8_t *memory;

	if (octets == 0 || model->n_areas == BUS_MODEL_MAX_AREAS ||
	    rounded > BUS_MODEL_SHARED_OCTETS - model->shared_octets)
		return NULL;
	memory = calloc(1, rounded);
	if (!memory)
		return NULL;
	bus_model_cpu_lock(model);
	area = &model->areas[model->n_areas++];
	*area = (struct area){
	    .bus_address = BUS_MODEL_SHARED_BASE + (uint32_t)model->shared_octets,
	    .octets = octets,
	    .memory = memory,
	};
	model->shared_octets += rounded;
	*bus_address = area->bus_address;
	cpu_unlock(model);
	return memory;
}

static const struct bus_ops cpu_ops = {
    .name = "model",
    .read = cpu_read,
    .write = cpu_write,
    .read_words = cpu_read_words,
    .alloc_shared = cpu_alloc_shared,
};

struct bus
bus_model_cpu(struct bus_model *model)
{
	return (struct bus){.ops = &cpu_ops, .ctx = model};
}

int
bus_model_create(struct bus_model **model)
{
	struct bus_model *m = calloc(1, sizeof(*m));
	pthread_condattr_t monotonic;

	if (!m)
		return -ENOMEM;
	m->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (m->fd < 0) {
		int error = errno;

		free(m);
		return -error;
	}
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	*model = m;
	return 0;
}

void
bus_model_destroy(struct bus_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->n_areas; i++)
		free(model->areas[i].memory);
	pthread_cond_destroy(&model->wake);
	pthread_mutex_destroy(&model->lock);
	close(model->fd);
	free(model);
}

int
bus_model_attach(struct bus_model *model, uint32_t base, uint32_t size, struct regmodel *regs)
{
	size_t at = model->n_windows;

	if (at == BUS_MODEL_MAX_WINDOWS)
		return -ENOSPC;
	if (size == 0 || size - 1 > UINT32_MAX - base)
		return -EINVAL;
	for (size_t i = 0; i < model->n_windows; i++) {
		const struct window *w = &model->windows[i];

		if (base <= w->base + (w->size - 1) && w->base <= base + (size - 1))
			return -EINVAL;
	}
	for (; at > 0 && model->windows[at - 1].base > base; at--)
		model->windows[at] = model->windows[at - 1];
	model->windows[at] = (struct window){.base = base, .size = size, .regs = regs};
	model->n_windows++;
	return 0;
}

uint8_t *
bus_model_memory(struct bus_model *model, uint32_t bus_address, size_t octets)
{
	for (size_t i = 0; i < model->n_areas; i++) {
		const struct area *a = &model->areas[i];
		uint32_t at = bus_address - a->bus_address;

		if (bus_address >= a->bus_address && at <= a->octets && octets <= a->octets - at)
			return a->memory + at;
	}
	model->refused++;
	return NULL;
}

void
bus_model_set_line(struct bus_model *model, unsigned line, bool up)
{
	uint32_t before = bus_model_lines(model);
	uint32_t after = up ? before | 1u << line : before & ~(1u << line);
	uint64_t level = 1;
	ssize_t done = 0;

	atomic_store_explicit(&model->lines, after, memory_order_relaxed);
	if (!before == !after)
		return;
	/* Neither can block: the count is 0 before the write and 1 before the read. */
	if (after)
		done = write(model->fd, &level, sizeof(level));
	else
		done = read(model->fd, &level, sizeof(level));
	(void)done;
	if (!after)
		bus_model_wake(model);
}

void
bus_model_pull_line(struct bus_model *model, unsigned line, bool *pulls, bool up)
{
	if (*pulls == up)
		return;
	*pulls = up;
	model->pullers[line] += up ? 1u : -1u;
	bus_model_set_line(model, line, model->pullers[line] > 0);
}

const _Atomic uint32_t *
bus_model_lines_word(const struct bus_model *model)
{
	return &model->lines;
}

uint32_t
bus_model_lines(const struct bus_model *model)
{
	return atomic_load_explicit(&model->lines, memory_order_relaxed);
}

int
bus_model_fd(const struct bus_model *model)
{
	return model->fd;
}

uint64_t
bus_model_refused(struct bus_model *model)
{
	uint64_t refused;

	bus_model_cpu_lock(model);
	refused = model->refused;
	cpu_unlock(model);
	return refused;
}
