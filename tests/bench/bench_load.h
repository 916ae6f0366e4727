/*
 * What benches of receivers share: a sender of UDP datagrams at a given rate (UDP_SEGMENT, since
 * plain calls stop at a third of what is needed), receivers as child processes on a core of their
 * own with the CPU time that they took, an easecapd with its store in a directory of its own, and
 * the search for the highest rate at which nothing is lost.
 */
#ifndef EASE_TESTS_BENCH_LOAD_H
#define EASE_TESTS_BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BENCH_PATH_MAX = 128, BENCH_RUNS_MAX = 99 };

/* Datagrams, all of the same length: fill makes number (0, 1, 2, …) of one of an earlier number,
 * or of zeros at first. */
struct bench_load {
	size_t octets;
	uint32_t samples; /* in each datagram */
	void (*fill)(void *arg, uint8_t *octets, uint64_t number);
	void *arg;
};

double bench_now_s(void);

/* BENCH_SMALL is set: sizes that no argument has are a hundredth, and no rate is searched for. */
bool bench_is_small(void);
double bench_scale(void); /* 0.01 or 1 */

void bench_die(const char *what); /* with errno's text; does not return */

/* The caller becomes the sender: it moves to a core that no receiver has. */
void bench_become_sender(void);

/* Sends that many datagrams to 127.0.0.1:port at rate a second; the seconds it took. They come in
 * runs of some 60,000 octets, which a receiver who asks for it gets in one piece (UDP_GRO, as
 * easecapd does); datagrams that come one by one cost it up to twice as much. */
double bench_offer(int port, const struct bench_load *load, uint64_t total, double rate);

/* Whole calls' worth of datagrams nearest below; and what bench_offer can do at all. */
uint64_t bench_datagrams(const struct bench_load *load, double samples);

/* A child on the receivers' core, its output to fd out unless that is -1. It ends with its parent. */
pid_t bench_spawn(char *const argv[], int out);

/* What waits in the kernel for a UDP port of loopback, and what it dropped: /proc/net/udp. */
struct bench_queue {
	bool found;
	unsigned long octets, drops;
};
struct bench_queue bench_queue_of(int port);

/* Until somebody listens there; the bench fails by the name if nobody does within ten seconds. */
void bench_wait_for_port(int port, const char *name);

/* SIGTERM, and waits; whoever of its process group is still there after half a minute is killed.
 * CPU time and peak memory of the child and of those of its children that it waited for. */
struct bench_used {
	double cpu_us;
	double rss_mib;
};
struct bench_used bench_end(pid_t pid);

/* A new directory, its name into dir; and away with it. */
void bench_make_dir(char dir[BENCH_PATH_MAX]);
void bench_remove_dir(const char *dir);

/* easecapd with its files in dir, further lines of configuration ("": none) and, if sflow, a socket for
 * sFlow; port is where to send. Runs where the build is. */
pid_t bench_easecapd(const char *dir, const char *lines, bool sflow, int *port);

/* The store in dir, for sqlite3_close. All its sums are unpacked, which takes as long as it is large. */
struct sqlite3 *bench_open(const char *dir);
/* First value of a query; -1 if there is none. */
double bench_ask(struct sqlite3 *store, const char *sql);
/* A counter of the collector as the store has it, without that; -1 if there is none. */
double bench_stat(const char *dir, const char *name);

struct bench_result {
	double lost; /* samples */
	double sent_per_s; /* samples that really went out: a sender has limits, too */
};
typedef struct bench_result bench_run(void *arg, double rate);

/*
 * The highest rate (as sent) at which no run lost anything, within 5 %: runs of each rate, doubled
 * or halved from start until one loses and another does not, then halved between. 0: none found.
 * Ends early where the sender cannot go faster, so the figure may be the sender's. Of a small bench the one rate
 * start * bench_scale().
 */
double bench_lossless(bench_run *run, void *arg, double start, int runs);

#endif
