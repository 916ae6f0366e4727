#include "collector/act/delivery.h"

#include <stdio.h>

#ifdef EASE_HAS_CURL
#include <curl/curl.h>

enum { CONNECT_S = 3 };

static size_t
ignore_answer(char *octets, size_t size, size_t n, void *arg)
{
	(void)octets;
	(void)arg;
	return size * n;
}

int
deliver_by_post(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json)
{
	struct curl_slist *headers = NULL;
	CURL *curl = curl_easy_init();
	CURLcode r = curl ? CURLE_OK : CURLE_FAILED_INIT;
	long status = 0;

	(void)fact;
	headers = curl_slist_append(headers, "Content-Type: application/json");
	if (r == CURLE_OK)
		r = curl_easy_setopt(curl, CURLOPT_URL, receiver->target);
	if (r == CURLE_OK)
		r = curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	if (r == CURLE_OK) {
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json);
		curl_easy_setopt(curl, CURLOPT_USERAGENT, "easecapd");
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
		curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
		curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)DELIVERY_S - 1);
		curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
		curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore_answer);
		r = curl_easy_perform(curl);
	}
	if (r == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (r != CURLE_OK)
		fprintf(stderr, "%s\n", curl_easy_strerror(r)); /* without the URL, which may hold a password */
	else if (status < 200 || status > 299)
		fprintf(stderr, "it answered with status %ld\n", status);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	return r != CURLE_OK || status < 200 || status > 299;
}
#else
int
deliver_by_post(const struct alarm_receiver *receiver, const struct alarm_fact *fact, const char *json)
{
	(void)receiver;
	(void)fact;
	(void)json;
	fputs("this program was built without libcurl\n", stderr);
	return 1;
}
#endif
