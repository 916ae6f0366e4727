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
void bench_die(const char *what); /* with errno's text; does not return */

/* The caller becomes the sender: it moves to a core that no receiver has. */
void bench_become_sender(void);

/* Sends that many datagrams to 127.0.0.1:port at rate a second; the seconds it took. They come in
 * runs of some 60,000 octets, which a receiver who asks for it gets in one piece (UDP_GRO, as
 * easecapd does); datagrams that come one by one cost it up to twice as much. */
double bench_offer(int port, const struct bench_load *load, uint64_t total, double rate);

/* Whole calls' worth of datagrams nearest below; and what bench_offer can do at all. */
uint64_t bench_datagrams(const struct bench_load *load, double samples);

/* A child on the receivers' core, its output to fd out unless that is -1. */
pid_t bench_spawn(char *const argv[], int out);

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

/* First value of a query on the store in dir; -1 if there is none. */
double bench_ask(const char *dir, const char *sql);

struct bench_result {
	double lost; /* samples */
	double sent_per_s; /* samples that really went out: a sender has limits, too */
};
typedef struct bench_result bench_run(void *arg, double rate);

/*
 * The highest rate (as sent) at which no run lost anything, within 5 %: runs of each rate, doubled
 * or halved from start until one loses and another does not, then halved between. 0: none found.
 * Ends early where the sender cannot go faster, so the figure may be the sender's.
 */
double bench_lossless(bench_run *run, void *arg, double start, int runs);

#endif
