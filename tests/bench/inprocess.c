/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the controller does in a second, without processes and sockets around it: the core, the
 * planner and the store as slurmctld uses them, nodes that run the real agent, every message
 * encoded and decoded on both sides. The store is a real one (SQLite, synchronous=FULL) on a real
 * file; nothing leaves before its turn is durable. One line a measure: "ROW MEASURE VALUE UNIT".
 *
 *     inprocess [-d DIRECTORY of the store] [ROW...]     all rows without arguments; -l names them
 *
 * The clock of the cluster is virtual: what is measured is real time of one core, in which the
 * nodes' share is contained as well.
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/hugepages.h"
#include "os/loop.h"
#include "os/store.h"
#include "sim/cluster_internal.h"
#include "sim_conf.h"

#define START 1700000000

struct bench {
    struct conf *conf;
    struct sim_cluster *cluster;
    struct loop *loop;
    struct store *store;
    uint64_t n_turns, n_flushed, n_due; /* turns given to the store, durable, to be released */
    uint64_t n_begun, n_ended, n_launched, n_down, n_evicted, n_twice;
    struct map begun; /* job id << 32 | attempt */
    bool stored;      /* with the real store */
    const char *row;
};

static const char *directory = "/var/tmp";

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Of the whole process, the store's thread included: other work of the machine does not count. */
static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void measure(const struct bench *bench, const char *what, double value, const char *unit) {
    printf("%-8s %-34s %12.4g %s\n", bench->row, what, value, unit);
    fflush(stdout);
}

static void fail(const struct error *err) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

/* ---- the store ---- */

static void on_durable(int code, const struct error *err, void *context) {
    struct bench *bench = context;
    if (code < 0)
        fail(err);
    bench->n_flushed++;
    loop_stop(bench->loop, 0);
}

static void on_turn(void *context, const struct effects *batch) {
    struct bench *bench = context;
    struct store_batch *out = store_batch_new();
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        if (effect->kind == EFFECT_PUT)
            store_batch_put(out, effect->store_kind, effect->id, effect->body);
        else if (effect->kind == EFFECT_DELETE)
            store_batch_delete(out, effect->store_kind, effect->id);
        else if (effect->kind == EFFECT_HISTORY)
            store_batch_history(out, &(struct store_history) {.job_id = effect->history.job_id,
                                                              .uid = effect->history.uid,
                                                              .submit = effect->history.submit,
                                                              .start = effect->history.start,
                                                              .end = effect->history.end,
                                                              .state = effect->history.state,
                                                              .kind = HISTORY_RUN,
                                                              .data = effect->body});
        if (effect->kind == EFFECT_LOG && strstr(effect->text, "set DOWN") != NULL)
            bench->n_down++;
        if (effect->kind == EFFECT_LOG && strstr(effect->text, "lost node") != NULL)
            bench->n_evicted++;
    }
    if (!effects_need_store(batch)) {
        store_batch_free(out);
        return;
    }
    bench->n_turns++;
    store_submit(bench->store, out, on_durable, bench);
}

/* Its messages leave now: it must be durable, and scripts are read from the file. */
static void on_committed(void *context, const struct effects *batch) {
    struct bench *bench = context;
    struct error err = ERROR_INIT;
    if (effects_need_store(batch))
        bench->n_due++;
    while (bench->n_flushed < bench->n_due) {
        if (loop_run(bench->loop, &err) < 0)
            fail(&err);
    }
    for (size_t i = 0; i < batch->list.n; i++) {
        const struct effect *effect = &batch->list.items[i];
        struct str script cleanup_str = STR_INIT;
        if (effect->kind != EFFECT_LAUNCH)
            continue;
        bench->n_launched++;
        if (store_get(bench->store, STORE_JOB_SCRIPT, effect->id, &script, &err) < 0)
            fail(&err);
    }
}

/* sbatch has its answer and goes. */
static void on_reply(void *context, uint64_t client, uint16_t type, struct bytes body) {
    struct bench *bench = context;
    if (type != 0)
        sim_cluster_hang_up(bench->cluster, client);
}

static void on_process(void *context, uint32_t node, const struct step_ref *step,
                       enum sim_process what) {
    struct bench *bench = context;
    bench->n_ended += what == SIM_ENDS;
    if (what != SIM_BEGINS)
        return;
    bench->n_begun++;
    uint64_t key = (uint64_t) step->job_id << 32 | step->attempt;
    bench->n_twice += map_put(&bench->begun, key, bench) != NULL;
}

static void open_store(struct bench *bench) {
    struct error err = ERROR_INIT;
    struct str path cleanup_str = STR_INIT;
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < countof(ends); i++) {
        str_reset(&path);
        str_printf(&path, "%s/sluice-inprocess.sqlite%s", directory, ends[i]);
        (void) unlink(path.data);
    }
    str_reset(&path);
    str_printf(&path, "%s/sluice-inprocess.sqlite", directory);
    if (loop_new(&bench->loop, &err) < 0 ||
        store_open(path.data, 1, bench->loop, &bench->store, &err) < 0)
        fail(&err);
}

/* ---- clusters ---- */

static void begin(struct bench *bench, const char *row, const char *nodes, bool stored) {
    static const struct sim_faults calm = {
        .network = {50, 50}, .commit = {2000, 2000}, .launch = {1000, 1000}, .die = {1000, 1000}};
    struct sim_observer observer = {.context = bench, .process = on_process};
    struct str conf cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    memset(bench, 0, sizeof(*bench));
    bench->row = row;
    str_printf(&conf,
               "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=1\nMaxJobCount=2000000\n"
               "SlurmdTimeout=300\nMinJobAge=300\n%s\n"
               "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE\n",
               nodes);
    bench->conf = sim_conf(conf.data);
    if (sim_cluster_new(bench->conf, START, 1, NULL, &bench->cluster, &err) < 0)
        fail(&err);
    bench->stored = stored;
    if (!stored)
        return;
    open_store(bench);
    observer.turn = on_turn;
    observer.committed = on_committed;
    observer.reply = on_reply;
    sim_cluster_apart(bench->cluster, &calm, &observer);
}

static void finish(struct bench *bench) {
    sim_cluster_free(bench->cluster);
    conf_free(bench->conf);
    map_done(&bench->begun);
    if (!bench->stored)
        return;
    store_close(bench->store);
    loop_free(bench->loop);
}

static void submit(struct bench *bench, uint32_t ntasks, int64_t run, int64_t begin_time) {
    struct job_request request;
    struct submit body;
    struct str script cleanup_str = STR_INIT;
    record_init(&record_submit, &body);
    sim_request(&request, ntasks, 600);
    request.begin_time = begin_time;
    sim_cluster_script(run, 0, &script);
    request.script = (struct blob) {(uint8_t *) script.data, script.length};
    body.job = &request;
    (void) sim_cluster_request(bench->cluster, "anna", MSG_SUBMIT, &body);
}

static void advance_to(struct bench *bench, int64_t until) {
    sim_cluster_advance(bench->cluster, until);
}

/* Second by second until so many processes have begun (ended), or for too long. */
static void run_until(struct bench *bench, const uint64_t *count, uint64_t goal, int64_t most) {
    int64_t end = sim_cluster_now(bench->cluster) + most;
    while (*count < goal && sim_cluster_now(bench->cluster) < end)
        advance_to(bench, sim_cluster_now(bench->cluster) + 1);
}

/* ---- rows ---- */

/* Jobs wait for one instant at which there is room for all. */
static void row_starts(const char *row) {
    enum { JOBS = 32000 };
    struct bench bench;
    begin(&bench, row, "NodeName=n[1-2000] CPUs=16 RealMemory=16000", true);
    double before = seconds();
    for (int i = 0; i < JOBS; i++)
        submit(&bench, 1, 1000000, START + 1000);
    advance_to(&bench, START + 990);
    measure(&bench, "submissions acknowledged", JOBS / (seconds() - before), "/s");
    before = seconds();
    double cpu_before = cpu_seconds();
    run_until(&bench, &bench.n_begun, JOBS, 100);
    double took = seconds() - before, cpu = cpu_seconds() - cpu_before;
    if (bench.n_begun != JOBS)
        measure(&bench, "not started!", (double) (JOBS - bench.n_begun), "");
    measure(&bench, "planned, stored, sent, running", JOBS / took, "/s");
    measure(&bench, "the same, of CPU time", JOBS / cpu, "/s");
    finish(&bench);
}

static void row_rounds(const char *row) {
    enum { ROUNDS = 12, JOBS = 8000 };
    struct bench bench;
    double first = 0, last = 0;
    begin(&bench, row, "NodeName=n[1-1000] CPUs=8 RealMemory=8000", true);
    for (int round = 1; round <= ROUNDS; round++) {
        int64_t now = sim_cluster_now(bench.cluster);
        char name[40];
        double before = seconds(), cpu_before = cpu_seconds();
        for (int i = 0; i < JOBS; i++)
            submit(&bench, 1, 30, 0);
        run_until(&bench, &bench.n_ended, (uint64_t) round * JOBS, 1000);
        snprintf(name, sizeof(name), "round %d", round);
        measure(&bench, name, JOBS / (seconds() - before), "jobs/s");
        advance_to(&bench, now + 1000); /* MinJobAge: they leave for the history */
        last = cpu_seconds() - cpu_before;
        first = round == 1 ? last : first;
        snprintf(name, sizeof(name), "round %d, CPU", round);
        measure(&bench, name, last * 1e6 / JOBS, "us/job");
        snprintf(name, sizeof(name), "round %d, memory in use", round);
        measure(&bench, name, (double) mallinfo2().uordblks / (1 << 20), "MiB");
    }
    measure(&bench, "the last beside the first, CPU", (last / first - 1) * 100, "% longer");
    finish(&bench);
}

static double with_mute_nodes(const char *row, uint32_t n_mute, double *ret_virtual) {
    enum { JOBS = 24000 };
    struct bench bench;
    begin(&bench, row, "NodeName=n[1-300] CPUs=8 RealMemory=8000", true);
    for (uint32_t i = 0; i < n_mute; i++)
        bench.cluster->nodes[i * 100].cut_until = INT64_MAX / 2; /* takes all and says nothing */
    double before = cpu_seconds();
    for (int i = 0; i < JOBS; i++)
        submit(&bench, 1, 20, 0);
    run_until(&bench, &bench.n_ended, JOBS - n_mute * 8, 4000);
    double took = cpu_seconds() - before;
    *ret_virtual = (double) (sim_cluster_now(bench.cluster) - START);
    double rate = (double) bench.n_begun / took;
    finish(&bench);
    return rate;
}

static void row_mute(const char *row) {
    struct bench bench = {.row = row};
    double makespan[2];
    double healthy = with_mute_nodes(row, 0, &makespan[0]);
    measure(&bench, "300 nodes, all well", healthy, "starts/s of CPU time");
    double mute = with_mute_nodes(row, 3, &makespan[1]);
    measure(&bench, "300 nodes, 3 never answer", mute, "starts/s of CPU time");
    measure(&bench, "all well: until all have ended", makespan[0], "s of the cluster");
    measure(&bench, "3 mute: until the others have", makespan[1], "s of the cluster");
}

static void away(const char *row, int64_t absence) {
    enum { JOBS = 5000 };
    struct bench bench;
    char name[40];
    begin(&bench, row, "NodeName=n[1-1000] CPUs=8 RealMemory=8000", true);
    for (int i = 0; i < JOBS; i++)
        submit(&bench, 1, 7200, 0);
    run_until(&bench, &bench.n_begun, JOBS, 100);
    advance_to(&bench, START + 600);
    sim_control_dies(bench.cluster);
    if (absence > 0)
        advance_to(&bench, START + 600 + absence);
    double before = seconds();
    sim_control_start(bench.cluster);
    snprintf(name, sizeof(name), "away %lld s: back from the store", (long long) absence);
    measure(&bench, name, (seconds() - before) * 1000, "ms");
    before = seconds();
    advance_to(&bench, sim_cluster_now(bench.cluster) + 30);
    snprintf(name, sizeof(name), "away %lld s: nodes registered", (long long) absence);
    measure(&bench, name, (seconds() - before) * 1000, "ms");
    run_until(&bench, &bench.n_ended, JOBS, 8000);
    snprintf(name, sizeof(name), "away %lld s: DOWN, evicted, twice", (long long) absence);
    measure(&bench, name, (double) (bench.n_down + bench.n_evicted + bench.n_twice), "");
    if (bench.n_begun != JOBS || bench.n_ended != JOBS)
        measure(&bench, "processes too many or too few!", (double) bench.n_begun, "");
    finish(&bench);
}

static void row_away(const char *row) {
    away(row, 0);
    away(row, 60);
    away(row, 600);
}

struct told {
    uint64_t n, without_reason, without_time;
};

static void told_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct told *told = context;
    struct arena arena;
    struct job_list list;
    struct error err = ERROR_INIT;
    arena_init(&arena, 0);
    if (wire_decode(&record_job_list, body, &arena, &list, &err) < 0)
        fail(&err);
    for (uint32_t i = 0; i < list.items.n; i++) {
        const struct job *job = &list.items.items[i];
        if (job->state != JOB_PENDING)
            continue;
        told->n++;
        told->without_reason += job->reason == REASON_NONE;
        told->without_time += job->start_time == 0;
    }
    arena_done(&arena);
}

/* As squeue --start of everybody sees it, with the work of encoding and decoding. */
static void reasons(const struct bench *bench) {
    struct core_user root = {.name = "root", .group = "root"};
    struct list_request request;
    struct told told = {0};
    struct error err = ERROR_INIT;
    record_init(&record_list_request, &request);
    request.all = true;
    double before = seconds();
    if (core_list(bench->cluster->core, sim_cluster_now(bench->cluster), MSG_LIST_JOBS, &root,
                  &request, told_frame, &told, &err) < 0)
        fail(&err);
    measure(bench, "all told, with reason and estimate", seconds() - before, "s");
    measure(bench, "waiting jobs", (double) told.n, "");
    measure(bench, "of them without a reason", (double) told.without_reason, "");
    measure(bench, "of them without an expected start", (double) told.without_time, "");
}

/* Together, without the store: what a pass takes when hardly anything is free. */
static void row_busy(const char *row) {
    enum { NODES = 100000, FREE = 100, JOBS = 500000, SHAPES = 2000 };
    struct bench bench;
    struct job_request request;
    struct error err = ERROR_INIT;
    begin(&bench, row, "NodeName=n[1-50000],m[1-50000] CPUs=64 RealMemory=64000", false);
    for (int i = 0; i < NODES - FREE; i++) {
        sim_request(&request, 64, 1000 + (uint32_t) i % 1000);
        if (sim_cluster_submit(bench.cluster, &request, "anna", 100000, &err) == 0)
            fail(&err);
    }
    double before = seconds();
    sim_cluster_advance(bench.cluster, START);
    measure(&bench, "99,900 starts, running", (NODES - FREE) / (seconds() - before), "/s");
    sim_cluster_advance(bench.cluster, START + 10);
    before = seconds();
    for (uint32_t i = 0; i < JOBS; i++) {
        uint32_t shape = i % SHAPES; /* 20 sizes of a whole node and more, 100 limits */
        sim_request(&request, 64 * FREE + 64 * (1 + shape % 20), 60 + shape / 20);
        if (sim_cluster_submit(bench.cluster, &request, "bert", 1000, &err) == 0)
            fail(&err);
    }
    measure(&bench, "500,000 submissions taken", JOBS / (seconds() - before), "/s");
    before = seconds();
    sim_cluster_advance(bench.cluster, START + 10);
    measure(&bench, "their first pass, records written", seconds() - before, "s");
    before = seconds();
    sim_request(&request, 64 * FREE + 1, 60);
    if (sim_cluster_submit(bench.cluster, &request, "cleo", 1000, &err) == 0)
        fail(&err);
    sim_cluster_advance(bench.cluster, START + 11);
    measure(&bench, "a pass for one more", (seconds() - before) * 1000, "ms");
    sim_cluster_advance(bench.cluster, START + 20);
    reasons(&bench);
    finish(&bench);
}

static const struct {
    const char *name;
    void (*run)(const char *row);
} rows[] = {{"starts", row_starts},
            {"rounds", row_rounds},
            {"mute", row_mute},
            {"away", row_away},
            {"busy", row_busy}};

int main(int argc, char **argv) {
    int c;
    huge_pages_use(argv); /* as slurmctld does */
    while ((c = getopt(argc, argv, "ld:")) != -1) {
        if (c == 'd')
            directory = optarg;
        for (size_t i = 0; c == 'l' && i < countof(rows); i++)
            printf("%s\n", rows[i].name);
        if (c == '?' || c == 'l')
            return c == '?' ? 2 : 0;
    }
    for (size_t i = 0; i < countof(rows); i++) {
        bool wanted = optind == argc;
        for (int k = optind; k < argc; k++)
            wanted |= str_equal(argv[k], rows[i].name);
        if (wanted)
            rows[i].run(rows[i].name);
    }
    return 0;
}
