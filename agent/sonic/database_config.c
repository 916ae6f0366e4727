#include "agent/sonic/database_config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_OCTETS_MAX = 1 << 20 };

const char *const sonic_database_names[SONIC_N_DATABASES] = {
    [SONIC_APPL] = "APPL_DB",
    [SONIC_ASIC] = "ASIC_DB",
    [SONIC_COUNTERS] = "COUNTERS_DB",
    [SONIC_CONFIG] = "CONFIG_DB",
    [SONIC_STATE] = "STATE_DB",
};

/* A number in range; these files have numbers also as strings. */
static bool
database_number_of(const json_t *json, long long max, long long *number)
{
	char *end = NULL;

	*number = json_is_string(json) ? strtoll(json_string_value(json), &end, 10)
				       : json_integer_value(json);
	return (json_is_integer(json) || (end && end != json_string_value(json) && *end == '\0')) &&
	    *number >= 0 && *number <= max;
}

static bool
is_numeric(const char *address)
{
	uint8_t octets[16];

	return inet_pton(AF_INET, address, octets) == 1 || inet_pton(AF_INET6, address, octets) == 1;
}

/* Returns NULL, or what is wrong. */
static const char *
take_instance(const json_t *instance, bool by_tcp, struct redis_address *address)
{
	const char *path = json_string_value(json_object_get(instance, "unix_socket_path"));
	const char *host = json_string_value(json_object_get(instance, "hostname"));
	long long port;

	if (!by_tcp) {
		if (!path || path[0] == '\0')
			return "its instance has no unix_socket_path";
		if (strlen(path) >= sizeof(address->socket))
			return "its instance's unix_socket_path is too long";
		strcpy(address->socket, path);
		return NULL;
	}
	if (host && strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (!host || strlen(host) >= sizeof(address->address) || !is_numeric(host))
		return "its instance's hostname is not an IP address";
	strcpy(address->address, host);
	if (!database_number_of(json_object_get(instance, "port"), 65535, &port) || port == 0)
		return "its instance's port is not from 1 to 65535";
	address->port = (uint16_t)port;
	return NULL;
}

static const char *
take_database(const json_t *root, const char *name, bool by_tcp, struct redis_address *address)
{
	const json_t *database = json_object_get(json_object_get(root, "DATABASES"), name);
	const char *instance = json_string_value(json_object_get(database, "instance"));
	long long id;

	*address = (struct redis_address){0};
	if (!database)
		return "DATABASES does not have it";
	if (!database_number_of(json_object_get(database, "id"), INT32_MAX, &id))
		return "its id is not a number from 0 on";
	address->database = (uint32_t)id;
	if (!instance || !json_object_get(json_object_get(root, "INSTANCES"), instance))
		return "INSTANCES does not have its instance";
	return take_instance(json_object_get(json_object_get(root, "INSTANCES"), instance), by_tcp, address);
}

int
database_config_parse(const char *text, size_t octets, bool by_tcp,
    struct redis_address addresses[SONIC_N_DATABASES], char *error, size_t error_size)
{
	json_error_t wrong;
	json_t *root = json_loadb(text, octets, 0, &wrong);
	const char *why = NULL;

	if (!root) {
		snprintf(error, error_size, "line %d: %s", wrong.line, wrong.text);
		return -EINVAL;
	}
	for (size_t i = 0; i < SONIC_N_DATABASES && !why; i++) {
		why = take_database(root, sonic_database_names[i], by_tcp, &addresses[i]);
		if (why)
			snprintf(error, error_size, "%s: %s", sonic_database_names[i], why);
	}
	json_decref(root);
	return why ? -EINVAL : 0;
}

static int
database_read_file(const char *file, char **text, size_t *octets)
{
	FILE *in = fopen(file, "re");
	int rc = 0;

	if (!in)
		return -errno;
	*text = malloc(FILE_OCTETS_MAX);
	if (!*text)
		rc = -ENOMEM;
	else
		*octets = fread(*text, 1, FILE_OCTETS_MAX, in);
	if (rc == 0 && ferror(in))
		rc = -EIO;
	fclose(in);
	return rc;
}

int
database_config_read(const char *file, bool by_tcp, struct redis_address addresses[SONIC_N_DATABASES],
    char *error, size_t error_size)
{
	char *text = NULL, why[256];
	size_t octets = 0;
	int rc = database_read_file(file, &text, &octets);

	if (rc < 0)
		snprintf(why, sizeof(why), "%s", strerror(-rc));
	else
		rc = database_config_parse(text, octets, by_tcp, addresses, why, sizeof(why));
	if (rc < 0)
		snprintf(error, error_size, "%s: %s", file, why);
	free(text);
	return rc;
}
