/* deliver_post.c in a build without libcurl; the configuration refuses alarm_post there. */
#include "collector/act/delivery.h"

#include <stdio.h>

int
deliver_by_post(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json)
{
	(void)receiver;
	(void)fact;
	(void)json;
	fputs("this program was built without libcurl\n", stderr);
	return 1;
}
