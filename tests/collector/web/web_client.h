/*
 * A client of the HTTP server for tests: sends what it is told, reads until the other end closes,
 * and says what it got, with what differs from one time to the next taken out.
 */
#ifndef EASE_TESTS_WEB_CLIENT_H
#define EASE_TESTS_WEB_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEB_CLIENT_OCTETS = 1 << 20, WEB_CLIENT_WAIT_S = 30 };

struct web_answer {
	int status;  /* 0: the connection was closed without a whole answer */
	bool silent; /* nothing came within WEB_CLIENT_WAIT_S: the server hangs */
	bool cut;    /* something came, but no whole head, or a body of another length than it says */
	char *head;  /* without Date, Content-Length and Content-Encoding; by malloc */
	char *body;  /* uncompressed, the server's own counters as 0; by malloc; NULL without memory */
	size_t n_body;
};

/* A socket, and the same connected to a port of this machine; the second 0 or -1. */
int web_client_socket(void);
int web_client_connect(int fd, uint16_t port);

/* All of the text; octets that the other end does not take any more are no error. */
void web_client_send(int fd, const char *text);

/* Reads to the end and closes. To be freed in any case. */
struct web_answer web_client_read(int fd);
void web_answer_free(struct web_answer *answer);

#endif
