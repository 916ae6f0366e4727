/* Any octets at all as what a driver says by ethtool's netlink, by devlink or in texts of its own, or as a transceiver's memory: each parser says
 * what is in it or refuses it, no answer makes known what is no figure, texts end, and no mode of flow control is
 * out of range. */
#include "agent/linux/devlink.h"
#include "agent/linux/driver_info.h"
#include "agent/linux/ethtool.h"
#include "agent/linux/module_eeprom.h"
#include "agent/linux/rtnl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(const struct nlmsghdr *message)
{
	struct hal_counters figures = {0};
	struct ethtool_pause pause = {0};
	struct ethtool_modes modes = {0};
	uint8_t state = HAL_EEE_NOT_KNOWN;
	struct devlink_port port;
	uint32_t kernel_index;

	if (devlink_parse_port(message, &port) == 0 && !memchr(port.name, 0, sizeof(port.name)))
		abort();
	ethtool_parse_stats(message, &figures);
	ethtool_parse_pause(message, &pause, &figures);
	ethtool_parse_modes(message, &modes);
	ethtool_parse_eee(message, &state);
	ethtool_parse_notice(message, &kernel_index);
	if (figures.known >> HAL_N_FIGURES || state > HAL_EEE_ACTIVE ||
	    ethtool_pause_oper(&pause, &modes, true) > HAL_PAUSE_BOTH)
		abort();
}

static void
parse_texts(const uint8_t *data, size_t size)
{
	static struct driver_strings strings;
	struct hal_counters figures = {0};

	for (strings.n = 0; strings.n < DRIVER_STRINGS_MAX && size >= ETH_GSTRING_LEN; strings.n++) {
		memcpy(strings.names[strings.n], data, ETH_GSTRING_LEN);
		strings.values[strings.n] = strings.n;
		data += ETH_GSTRING_LEN;
		size -= ETH_GSTRING_LEN;
	}
	if (driver_strings_parse(&strings, &figures) < 0 ? figures.known != 0 : figures.known >> HAL_N_FIGURES)
		abort();
}

/* As many pages as the module asks for. */
static void
parse_module(const uint8_t *data, size_t size)
{
	struct module_memory memory = {0};
	struct hal_transceiver transceiver = {0};
	struct module_page page;

	while (size >= MODULE_PAGE_OCTETS && module_next_page(&memory, &page)) {
		memcpy(memory.octets[memory.n++], data, MODULE_PAGE_OCTETS);
		data += MODULE_PAGE_OCTETS;
		size -= MODULE_PAGE_OCTETS;
	}
	module_decode(&memory, &transceiver);
	if (transceiver.n_readings > HAL_MAX_READINGS)
		abort();
	for (size_t i = 0; i < transceiver.n_readings; i++)
		if (transceiver.readings[i].value > HAL_SENSOR_MOST || transceiver.readings[i].value < -HAL_SENSOR_MOST ||
		    (transceiver.readings[i].status != HAL_SENSOR_OK && transceiver.readings[i].value != 0))
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy = malloc(size + 1); /* aligned, as the kernel's are, and no octet longer */
	const struct nlmsghdr *message;
	size_t at = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	while ((message = rtnl_next(copy, size, &at)))
		parse(message);
	parse_texts(data, size);
	parse_module(data, size);
	free(copy);
	return 0;
}
