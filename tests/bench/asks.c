/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks SECONDS: asks the controller over one connection whether it is there, again and again with a
 * pause of a millisecond, and prints how long the answers took: "N asked, median M, p99 P, p999 Q,
 * worst W ms".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "cli/connect.h"
#include "cli/main.h"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

struct times {
    vec(double) items;
};

static int ask_all(const struct cli *cli, double length, struct times *times, struct error *err) {
    const struct timespec pause = {0, 1000000};
    struct empty empty = {0};
    struct cli_link link;
    struct cli_reply reply;
    double end = seconds() + length;
    int rc = cli_link_open(cli, true, &link, err);
    while (rc == 0 && seconds() < end) {
        double begun = seconds();
        rc = cli_request(&link, MSG_PING, &empty, &reply, err);
        vec_push(&times->items, seconds() - begun);
        arena_reset(&link.arena);
        nanosleep(&pause, NULL);
    }
    cli_link_close(&link);
    return rc;
}

int main(int argc, char **argv) {
    struct cli cli;
    struct times times = {0};
    struct error err = ERROR_INIT;
    char *end = NULL;
    double length = argc == 2 ? strtod(argv[1], &end) : 0;
    cli_init(&cli, "asks");
    if (length <= 0 || *end != '\0' || !cli_conf(&cli)) {
        fprintf(stderr, "usage: asks SECONDS\n");
        return 2;
    }
    if (ask_all(&cli, length, &times, &err) < 0)
        return cli_failure(&cli, "asking failed", &err);
    size_t n = times.items.n;
    double *at = times.items.items;
    qsort(at, n, sizeof(*at), compare);
    printf("%zu asked, median %.3g, p99 %.3g, p999 %.3g, worst %.3g ms\n", n, at[n / 2] * 1e3,
           at[n * 99 / 100] * 1e3, at[n * 999 / 1000] * 1e3, at[n - 1] * 1e3);
    vec_done(&times.items);
    return 0;
}
