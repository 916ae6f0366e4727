/*
 * Reads the memory of a transceiver: SFF-8472 (SFP), SFF-8636 (QSFP+, QSFP28) and CMIS (QSFP-DD, OSFP). Pure: a caller
 * fetches pages, 128 octets each, and the decoder says which. What a module does not have is no reading; one that it has and
 * does not tell now is unavailable.
 */
#ifndef EASE_AGENT_LINUX_MODULE_EEPROM_H
#define EASE_AGENT_LINUX_MODULE_EEPROM_H

#include "agent/hal/hal.h"

enum { MODULE_PAGE_OCTETS = 128, MODULE_MAX_PAGES = 4 };

/* Which octets: at an address of the module's bus, of a page. */
struct module_page {
	uint8_t i2c_address, page;
	uint8_t offset; /* 0 or 128 */
};

struct module_memory {
	size_t n; /* pages that were fetched, in the order in which module_next_page names them */
	uint8_t octets[MODULE_MAX_PAGES][MODULE_PAGE_OCTETS];
};

/* The next page that is needed; false: there is none, and module_decode may be called. The first does not depend on what
 * was fetched. */
bool module_next_page(const struct module_memory *memory, struct module_page *page);

/* Fills in all but if_index and read_mono_us. False: it is of no kind that is known, and nothing but its type is set. */
bool module_decode(const struct module_memory *memory, struct hal_transceiver *transceiver);

#endif
