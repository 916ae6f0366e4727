/*
 * What the API has, made from the tables of reports and options: an index at /api/v1/, and a document of OpenAPI 3.0
 * (spec.openapis.org/oas/v3.0.3) at /api/v1/openapi.json, for generators of clients and for people.
 */
#ifndef EASE_COLLECTOR_WEB_DESCRIBE_H
#define EASE_COLLECTOR_WEB_DESCRIBE_H

#include <jansson.h>

/* Owned by the caller; NULL without memory. */
json_t *describe_index(void);
json_t *describe_openapi(void);

#endif
