/*
 * In place of the SONiC device where libhiredis is missing: it says so.
 */
#include "agent/sonic/sonic_device.h"

#include <errno.h>
#include <stdio.h>

int
sonic_create(const struct sonic_config *config, struct hal_device **device, char *error, size_t error_size)
{
	(void)device;
	return sonic_check(config, error, error_size);
}

int
sonic_check(const struct sonic_config *config, char *error, size_t error_size)
{
	(void)config;
	snprintf(error, error_size, "this easeagentd was built without libhiredis and cannot serve a SONiC switch");
	return -ENOTSUP;
}

bool
sonic_is_settled(const struct hal_device *device)
{
	(void)device;
	return true;
}

const struct stat_set *
sonic_stats(const struct hal_device *device)
{
	static const struct stat_set none;

	(void)device;
	return &none;
}
