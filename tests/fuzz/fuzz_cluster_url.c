/* Any text as a cluster's address: refused with a reason, or every name in it is one that no
 * statement needs to escape. */
#include "collector/cluster/schema.h"
#include "collector/cluster/url.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct cluster_url url;
	const char *reason;
	int err;

	assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	err = cluster_url_parse(text, &url, &reason);
	assert((err < 0) == (reason != NULL));
	if (err == 0) {
		assert(*url.host && !strpbrk(url.host, " '\"/?&\r\n"));
		assert(!*url.database || cluster_is_database_name(url.database));
		assert(!*url.cluster || cluster_is_cluster_name(url.cluster));
		assert(!strpbrk(url.user, " '\":\r\n"));
		assert(url.port > 0);
	}
	free(text);
	return 0;
}
