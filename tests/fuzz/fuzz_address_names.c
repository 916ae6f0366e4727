/* Any text is a list of names that can be asked, or a mistake with its line. */
#include "collector/filter/address_names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t octets[16] = {10, 20, 1, 15, 0x21, 5};
	char *text = strndup((const char *)data, size), error[256] = "", name[ADDRESS_NAME_ROOM];
	struct address_names *d;

	if (address_names_parse("fuzz", text, &d, error, sizeof(error)) < 0) {
		if (d || !strstr(error, "fuzz:"))
			abort();
	} else {
		address_names_of_address(d, 4, octets, name);
		address_names_of_address(d, 6, octets, name);
		address_names_of_address(d, 16, octets, name);
		address_names_of_prefix(d, 4, octets, 16, name);
		address_names_of_vlan(d, 5, name);
		if (strlen(name) >= ADDRESS_NAME_ROOM)
			abort();
	}
	address_names_close(d);
	free(text);
	return 0;
}
