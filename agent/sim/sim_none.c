/*
 * In place of all other files of agent/sim where configure was told to leave them out: there is no such device.
 */
#include "agent/sim/dummy.h"
#include "agent/sim/emulated.h"

#include <errno.h>
#include <stdio.h>

int
emulated_create(const struct emulated_config *config, struct hal_device **device, char *error, size_t error_size)
{
	(void)device;
	return emulated_check(config, NULL, error, error_size);
}

int
emulated_check(const struct emulated_config *config, FILE *picture, char *error, size_t error_size)
{
	(void)config;
	(void)picture;
	snprintf(error, error_size, "this build has no emulated switch");
	return -ENOTSUP;
}

const struct stat_set *
emulated_stats(const struct hal_device *device, size_t i)
{
	(void)device;
	(void)i;
	return NULL;
}

int
dummy_create(const struct dummy_config *config, struct hal_device **device)
{
	(void)config;
	(void)device;
	return -ENOTSUP;
}
