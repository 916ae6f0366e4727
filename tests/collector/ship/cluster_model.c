#include "tests/collector/ship/cluster_model.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

enum { REQUEST_MAX = 4 << 20, KEY_MAX = 256, POLL_MS = 20 };

struct row {
	enum cluster_table_id table;
	char key[KEY_MAX];
	uint64_t revision, n, digest;
};

struct cluster_model {
	int fd;
	uint16_t port;
	uint32_t late_ms;
	pthread_t thread;
	pthread_mutex_t lock; /* of all that follows */
	void (*begun)(void);
	bool (*answers)(void *arg, const char *sql, struct row_buffer *out);
	void *answers_arg;
	bool stopping;
	unsigned requests, failing;
	enum fate fate;
	struct row *rows;
	size_t n_rows, room, taken;
	int64_t cursor[12]; /* the newest row of `cursor`, in the order of its columns */
	bool has_cursor;
	bool saw_key;
	/* of the request being served */
	char *in;
	size_t n_in;
	char *sql, *body;
	size_t n_body;
	bool asks_nothing; /* rows without a statement: libcurl loses the query of a URL where memory fails */
};

/* What is kept */

static bool
is_in_key(const struct cluster_table *table, const char *name)
{
	const char *at = strstr(table->key, name);
	size_t n = strlen(name);

	for (; at; at = strstr(at + 1, name))
		if ((at == table->key || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

struct taking {
	struct cluster_model *m;
	enum cluster_table_id table;
};

static void
put_cell(char *key, const struct row_cell *cell)
{
	size_t n = strlen(key);

	if (!cell->text)
		n += (size_t)snprintf(key + n, KEY_MAX - n, "%" PRId64, cell->i);
	for (size_t i = 0; i < cell->octets && n < KEY_MAX; i++)
		n += (size_t)snprintf(key + n, KEY_MAX - n, "%02x", cell->text[i]);
	if (n < KEY_MAX)
		snprintf(key + n, KEY_MAX - n, ",");
}

static uint64_t
digest_cell(uint64_t so_far, const struct row_cell *cell)
{
	uint64_t bits;

	memcpy(&bits, &cell->f, sizeof(bits));
	so_far = (so_far ^ (uint64_t)cell->i ^ bits ^ cell->null) * 1099511628211u; /* FNV-1a */
	for (size_t i = 0; cell->text && i < cell->octets; i++)
		so_far = (so_far ^ cell->text[i]) * 1099511628211u;
	return so_far ^ so_far >> 29;
}

static struct row *
find_row(struct cluster_model *m, const struct row *row)
{
	for (size_t i = 0; i < m->n_rows; i++)
		if (m->rows[i].table == row->table && strcmp(m->rows[i].key, row->key) == 0)
			return &m->rows[i];
	return NULL;
}

static int
keep_row(void *arg, const struct row_cell *cells)
{
	struct taking *t = arg;
	struct cluster_model *m = t->m;
	const struct cluster_table *table = &cluster_tables[t->table];
	struct row row = {.table = t->table, .n = 1, .digest = 14695981039346656037u}, *known;

	for (size_t i = 0; i < cluster_n_columns(table); i++) {
		if (is_in_key(table, cluster_column(table, i).name))
			put_cell(row.key, &cells[i]);
		if (strcmp(cluster_column(table, i).name, "n") == 0)
			row.n = (uint64_t)cells[i].i;
		if (strcmp(cluster_column(table, i).name, "revision") == 0)
			row.revision = (uint64_t)cells[i].i;
		else
			row.digest = digest_cell(row.digest, &cells[i]);
	}
	m->taken++;
	known = find_row(m, &row);
	if (!known) {
		if (m->n_rows == m->room) {
			m->room = m->room ? 2 * m->room : 1024;
			m->rows = realloc(m->rows, m->room * sizeof(*m->rows));
		}
		known = &m->rows[m->n_rows++];
		*known = row;
	} else if (row.revision >= known->revision) {
		*known = row;
	}
	return 0;
}

static bool
take_rows(struct cluster_model *m)
{
	enum cluster_type types[ROW_CELLS_MAX];
	struct row_stream stream;
	bool good = false;

	for (int t = 0; t < CLUSTER_N_TABLES; t++) {
		const struct cluster_table *table = &cluster_tables[t];
		struct taking taking = {m, (enum cluster_table_id)t};
		char head[64];

		snprintf(head, sizeof(head), "INSERT INTO ease.%s (", table->name);
		if (strncmp(m->sql, head, strlen(head)) != 0)
			continue;
		for (size_t i = 0; i < cluster_n_columns(table); i++)
			types[i] = cluster_column(table, i).type;
		row_stream_init(&stream, types, cluster_n_columns(table), keep_row, &taking);
		good = row_stream_take(&stream, m->body, m->n_body) == 0 &&
		    row_stream_is_done(&stream);
		row_stream_free(&stream);
	}
	return good;
}

/* "… VALUES (1, toUInt64(now()) * 1000000, 3, …)" */
static void
take_cursor(struct cluster_model *m)
{
	char *at = strstr(m->sql, "VALUES (") + strlen("VALUES (");

	for (int i = 0; i < 12; i++) {
		m->cursor[i] = strncmp(at, "to", 2) == 0 ? 0 : strtoll(at, NULL, 10);
		at = strchr(at, ',') ? strchr(at, ',') + 1 : at;
		at += strspn(at, " ");
	}
	m->has_cursor = true;
}

/* Answers */

static void
answer_numbers(struct row_buffer *b, const int64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row_put_int(b, (uint64_t)numbers[i], 8);
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* cursor: collector 0, time 1, part 2, event 3, outage 4, received 5, from 6, to 7, closed 8,
 * newest 9, missed 10, revision 11 */
static bool
answer(struct cluster_model *m, struct row_buffer *b)
{
	const int64_t *c = m->cursor, newest[] = {c[11], c[1], c[9], c[8]}, one = 1, none = 0,
		      version = CLUSTER_VERSION;

	if (m->asks_nothing)
		return false;
	if (m->answers && m->answers(m->answers_arg, m->sql, b))
		return true;
	if (begins(m->sql, "SELECT toUInt64(uptime())"))
		answer_numbers(b, &one, 1);
	else if (begins(m->sql, "SELECT toUInt64(max(number))"))
		answer_numbers(b, &version, 1);
	else if (begins(m->sql, "SELECT max(revision), max(time_us)"))
		answer_numbers(b, newest, 4);
	else if (begins(m->sql, "SELECT max(revision) FROM ease.collector "))
		answer_numbers(b, &none, 1);
	else if (begins(m->sql, "SELECT part_id,"))
		answer_numbers(b, c + 2, m->has_cursor ? 4 : 0);
	else if (begins(m->sql, "INSERT INTO ease.cursor "))
		take_cursor(m);
	else if (begins(m->sql, "INSERT INTO ease.") && strstr(m->sql, "FORMAT RowBinary"))
		return take_rows(m);
	return true;
}

/* HTTP */

static void
decode_percent(char *text)
{
	char *to = text;

	while (*text && *text != ' ' && *text != '&') {
		bool escaped = *text == '%' && text[1] && text[2];
		char hex[3] = {escaped ? text[1] : '0', escaped ? text[2] : '0', '\0'};

		*to++ = escaped ? (char)strtol(hex, NULL, 16) : *text;
		text += escaped ? 3 : 1;
	}
	*to = '\0';
}

static char *
unpack(const char *octets, size_t n, size_t *n_out)
{
	char *out = malloc(REQUEST_MAX);
	z_stream z = {.next_in = (void *)(uintptr_t)octets, .avail_in = (uInt)n,
	    .next_out = (void *)out, .avail_out = REQUEST_MAX};

	inflateInit2(&z, 15 + 16);
	inflate(&z, Z_FINISH);
	*n_out = z.total_out;
	inflateEnd(&z);
	return out;
}

/* A whole request is in m->in. */
static void
parse(struct cluster_model *m, const char *body, size_t n_body)
{
	char *query;

	free(m->body);
	free(m->sql);
	if (strstr(m->in, "Content-Encoding: gzip")) {
		m->body = unpack(body, n_body, &m->n_body);
	} else {
		m->body = malloc(n_body + 1);
		memcpy(m->body, body, n_body);
		m->n_body = n_body;
	}
	query = strstr(m->in, "&query=");
	m->asks_nothing = !query && memchr(body, '\0', n_body);
	m->sql = query ? strdup(query + strlen("&query=")) : strndup(body, n_body);
	if (query)
		decode_percent(m->sql);
}

/* False: the connection has ended. */
static bool
read_request(struct cluster_model *m, int fd)
{
	m->n_in = 0;
	for (;;) {
		ssize_t n = recv(fd, m->in + m->n_in, REQUEST_MAX - 1 - m->n_in, 0);
		const char *end, *length;

		if (n <= 0)
			return false;
		m->n_in += (size_t)n;
		m->in[m->n_in] = '\0';
		end = strstr(m->in, "\r\n\r\n");
		length = end ? strcasestr(m->in, "Content-Length:") : NULL;
		if (length) {
			size_t n_body = strtoul(length + 15, NULL, 10);

			if (m->n_in < (size_t)(end + 4 - m->in) + n_body)
				continue;
			parse(m, end + 4, n_body);
			return true;
		}
	}
}

static void
reply(int fd, int status, const void *body, size_t n, size_t sent)
{
	char head[128];
	int len = snprintf(head, sizeof(head), "HTTP/1.1 %d Status\r\nContent-Length: %zu\r\n\r\n",
	    status, n);

	/* together: else the body waits for the other side's acknowledgement, which waits, too */
	if (send(fd, head, (size_t)len, MSG_NOSIGNAL | (sent > 0 ? MSG_MORE : 0)) == len &&
	    sent > 0 &&
	    send(fd, body, sent, MSG_NOSIGNAL) < 0)
		return;
}

/* False: the connection is to be closed. */
static bool
suffer(struct cluster_model *m, int fd, enum fate fate, const struct row_buffer *b)
{
	static const char error[] = "Code: 241, e.displayText() = DB::Exception: Memory limit",
			  no_table[] = "Code: 60, e.displayText() = DB::Exception: no table";

	switch (fate) {
	case FATE_HALF:
		reply(fd, 200, b->data, b->len + 8, b->len / 2);
		return false;
	case FATE_LATE:
		usleep(m->late_ms * 1000);
		reply(fd, 200, b->data, b->len, b->len);
		return false;
	case FATE_ERROR:
		reply(fd, 500, error, strlen(error), strlen(error));
		return true;
	case FATE_NO_TABLE:
		reply(fd, 404, no_table, strlen(no_table), strlen(no_table));
		return true;
	case FATE_OVERLOADED:
		reply(fd, 503, "", 0, 0);
		return true;
	case FATE_GARBAGE:
		reply(fd, 200, "\xff\xff\xff", 3, 3);
		return true;
	default:
		return false;
	}
}

/* What says no did not take it; what answers badly did. */
static bool
serve_request(struct cluster_model *m, int fd)
{
	struct row_buffer b = row_buffer_of(1 << 16);
	enum fate fate;
	bool good = true, go_on = true;

	pthread_mutex_lock(&m->lock);
	fate = m->requests++ == m->failing ? m->fate : FATE_NONE;
	if (memmem(m->in, m->n_in, "X-ClickHouse-Key: hush", 22))
		m->saw_key = true;
	if (fate != FATE_ERROR && fate != FATE_NO_TABLE && fate != FATE_OVERLOADED &&
	    fate != FATE_CLOSE)
		good = answer(m, &b);
	pthread_mutex_unlock(&m->lock);
	if (fate != FATE_NONE)
		go_on = suffer(m, fd, fate, &b);
	else
		reply(fd, good ? 200 : 500, b.data, b.len, b.len);
	row_buffer_free(&b);
	return go_on;
}

static bool
is_stopping(struct cluster_model *m)
{
	bool stopping;

	pthread_mutex_lock(&m->lock);
	stopping = m->stopping;
	pthread_mutex_unlock(&m->lock);
	return stopping;
}

static bool
has_octets(struct cluster_model *m, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (!is_stopping(m))
		if (poll(&p, 1, POLL_MS) > 0)
			return true;
	return false;
}

static void *
run(void *arg)
{
	struct cluster_model *m = arg;

	if (m->begun)
		m->begun();
	while (has_octets(m, m->fd)) {
		int fd = accept(m->fd, NULL, NULL);

		while (fd >= 0 && has_octets(m, fd) && read_request(m, fd) && serve_request(m, fd))
			continue;
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

/* Life */

struct cluster_model *
cluster_model_start(uint32_t late_ms, void (*begun)(void))
{
	struct cluster_model *m = calloc(1, sizeof(*m));
	struct sockaddr_in address = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	m->in = malloc(REQUEST_MAX);
	m->late_ms = late_ms;
	m->begun = begun;
	m->failing = UINT32_MAX;
	pthread_mutex_init(&m->lock, NULL);
	m->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(m->fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(m->fd, 8) < 0 ||
	    getsockname(m->fd, (struct sockaddr *)&address, &size) < 0)
		abort();
	m->port = ntohs(address.sin_port);
	pthread_create(&m->thread, NULL, run, m);
	return m;
}

void
cluster_model_stop(struct cluster_model *m)
{
	pthread_mutex_lock(&m->lock);
	m->stopping = true;
	pthread_mutex_unlock(&m->lock);
	shutdown(m->fd, SHUT_RDWR); /* it waits for nobody any more */
	pthread_join(m->thread, NULL);
	close(m->fd);
	free(m->rows);
	free(m->in);
	free(m->sql);
	free(m->body);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

uint16_t
cluster_model_port(const struct cluster_model *m)
{
	return m->port;
}

void
cluster_model_fail(struct cluster_model *m, unsigned n, enum fate fate)
{
	pthread_mutex_lock(&m->lock);
	m->requests = 0;
	m->failing = n;
	m->fate = fate;
	pthread_mutex_unlock(&m->lock);
}

void
cluster_model_answer(struct cluster_model *m,
    bool (*give)(void *arg, const char *sql, struct row_buffer *out), void *arg)
{
	pthread_mutex_lock(&m->lock);
	m->answers = give;
	m->answers_arg = arg;
	pthread_mutex_unlock(&m->lock);
}

unsigned
cluster_model_requests(struct cluster_model *m)
{
	unsigned n;

	pthread_mutex_lock(&m->lock);
	n = m->requests;
	pthread_mutex_unlock(&m->lock);
	return n;
}

void
cluster_model_count(struct cluster_model *m, enum cluster_table_id table, size_t *rows, uint64_t *n)
{
	*rows = *n = 0;
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->n_rows; i++)
		if (m->rows[i].table == table) {
			++*rows;
			*n += m->rows[i].n;
		}
	pthread_mutex_unlock(&m->lock);
}

uint64_t
cluster_model_digest(struct cluster_model *m, enum cluster_table_id table)
{
	uint64_t all = 0;

	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->n_rows; i++)
		if (m->rows[i].table == table)
			all += m->rows[i].digest;
	pthread_mutex_unlock(&m->lock);
	return all;
}

size_t
cluster_model_taken(struct cluster_model *m)
{
	size_t n;

	pthread_mutex_lock(&m->lock);
	n = m->taken;
	pthread_mutex_unlock(&m->lock);
	return n;
}

int64_t
cluster_model_missed(struct cluster_model *m)
{
	int64_t n;

	pthread_mutex_lock(&m->lock);
	n = m->cursor[10];
	pthread_mutex_unlock(&m->lock);
	return n;
}

void
cluster_model_wipe(struct cluster_model *m)
{
	pthread_mutex_lock(&m->lock);
	m->n_rows = m->taken = 0;
	m->has_cursor = false;
	memset(m->cursor, 0, sizeof(m->cursor));
	pthread_mutex_unlock(&m->lock);
}

bool
cluster_model_saw_key(struct cluster_model *m)
{
	bool saw;

	pthread_mutex_lock(&m->lock);
	saw = m->saw_key;
	pthread_mutex_unlock(&m->lock);
	return saw;
}
