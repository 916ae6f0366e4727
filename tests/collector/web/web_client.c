#include "tests/collector/web/web_client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

int
web_client_socket(void)
{
	const struct timeval wait = {.tv_sec = WEB_CLIENT_WAIT_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd;
}

int
web_client_connect(int fd, uint16_t port)
{
	const struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return connect(fd, (const struct sockaddr *)&at, sizeof(at));
}

void
web_client_send(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return;
		text += sent > 0 ? sent : 0;
		n -= sent > 0 ? (size_t)sent : 0;
	}
}

/* ---- what came ---- */

/* The value of a header of the head, or NULL. */
static const char *
find_header(const char *head, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = strchr(head, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		if (strncasecmp(line + 1, name, n) == 0 && line[1 + n] == ':')
			return line + 1 + n + strspn(line + 2 + n, " ") + 1;
	return NULL;
}

static void
drop_header(char *head, const char *name)
{
	const char *value = find_header(head, name);
	char *line, *end;

	if (!value)
		return;
	for (line = head + (value - head); line[-1] != '\n'; line--)
		;
	end = strchr(line, '\n');
	memmove(line, end + 1, strlen(end + 1) + 1);
}

/* By malloc, with a NUL behind it; NULL: it is not that, or there is no memory. */
static char *
inflate_body(const char *octets, size_t n, size_t *n_out)
{
	char *out = malloc(WEB_CLIENT_OCTETS);
	z_stream z = {.next_in = (Bytef *)(uintptr_t)octets, .avail_in = (uInt)n,
	    .next_out = (Bytef *)out, .avail_out = WEB_CLIENT_OCTETS - 1};
	bool good = out && inflateInit2(&z, 15 + 16) == Z_OK;

	if (good) {
		good = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0;
		*n_out = z.total_out;
		out[z.total_out] = '\0';
		inflateEnd(&z);
	}
	if (!good) {
		free(out);
		out = NULL;
	}
	return out;
}

/* The server's own counters tell how often it was asked. */
static void
forget_counts(char *body, size_t *n)
{
	static const char *const names[] = {"\neaseswitch_collector_web_", "\"web."};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (char *at = body; (at = strstr(at, names[i])) != NULL; ) {
			char *from = at + 1 + strcspn(at + 1, " :") + 1, *to = from;

			while (isdigit((unsigned char)*to))
				to++;
			memmove(from, to, *n - (size_t)(to - body) + 1);
			*n -= (size_t)(to - from);
			at = from;
		}
}

static void
take_apart(struct web_answer *answer, char *octets, size_t n)
{
	char *end = strstr(octets, "\r\n\r\n"), *body = end ? end + 4 : NULL;
	const char *length, *coding;

	answer->cut = n > 0;
	if (!end || sscanf(octets, "HTTP/1.1 %d ", &answer->status) != 1)
		return;
	end[2] = '\0';
	length = find_header(octets, "Content-Length");
	answer->n_body = n - (size_t)(body - octets);
	answer->cut = answer->status != 304 &&
	    (!length || strtoull(length, NULL, 10) != answer->n_body);
	if (answer->cut) {
		answer->status = 0;
		return;
	}
	coding = find_header(octets, "Content-Encoding");
	if (coding && answer->n_body > 0)
		answer->body = inflate_body(body, answer->n_body, &answer->n_body);
	else
		answer->body = strndup(body, answer->n_body);
	answer->cut = coding && answer->n_body > 0 && !answer->body;
	if (answer->body)
		forget_counts(answer->body, &answer->n_body);
	drop_header(octets, "Date");
	drop_header(octets, "Content-Length");
	drop_header(octets, "Content-Encoding");
	answer->head = strdup(octets);
}

struct web_answer
web_client_read(int fd)
{
	struct web_answer answer = {0};
	char *octets = malloc(WEB_CLIENT_OCTETS);
	size_t n = 0;
	ssize_t got = 1;

	while (octets && got > 0 && n < WEB_CLIENT_OCTETS - 1) {
		got = recv(fd, octets + n, WEB_CLIENT_OCTETS - 1 - n, 0);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			n += (size_t)got;
		else if (got < 0)
			answer.silent = errno == EAGAIN;
	}
	if (octets) {
		octets[n] = '\0';
		take_apart(&answer, octets, n);
	}
	free(octets);
	close(fd);
	return answer;
}

void
web_answer_free(struct web_answer *answer)
{
	free(answer->head);
	free(answer->body);
	*answer = (struct web_answer){0};
}
