/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With whole nodes of one kind and one reservation the planner is EASY backfilling, start by start.
 * The reference here counts processors and knows nothing of nodes: start in order while the head
 * fits; shadow = when it will, extra = what it leaves then; others start if they end by then or fit
 * into the extra.
 */
#include <stdio.h>

#include "world.h"

enum { N_JOBS = 400, N_NODES = 32 };

struct easy_job {
    int64_t submit, estimate, run, start;
    uint32_t nodes;
    bool queued, running, done;
};

static int64_t shadow_of(const struct easy_job *jobs, uint32_t head, uint32_t free_now,
                         uint32_t *ret_extra) {
    int64_t shadow = INT64_MAX;

    /* The first expected end at which the head fits. */
    for (size_t i = 0; i < N_JOBS; i++) {
        uint32_t then = free_now;
        int64_t when = jobs[i].start + jobs[i].estimate;
        if (!jobs[i].running)
            continue;
        for (size_t k = 0; k < N_JOBS; k++) {
            if (jobs[k].running && jobs[k].start + jobs[k].estimate <= when)
                then += jobs[k].nodes;
        }
        if (then >= jobs[head].nodes && when < shadow) {
            shadow = when;
            *ret_extra = then - jobs[head].nodes;
        }
    }
    return shadow;
}

static void easy_pass(struct easy_job *jobs, int64_t now, uint32_t *free_now) {
    uint32_t head = N_JOBS, extra = 0;
    int64_t shadow = 0;

    for (uint32_t i = 0; i < N_JOBS; i++) {
        struct easy_job *job = &jobs[i];
        if (!job->queued)
            continue;
        bool fits = job->nodes <= *free_now;
        if (head == N_JOBS && !fits) {
            head = i;
            shadow = shadow_of(jobs, head, *free_now, &extra);
            continue;
        }
        bool in_time = head == N_JOBS || now + job->estimate <= shadow;
        if (!fits || (!in_time && job->nodes > extra))
            continue;
        if (!in_time)
            extra -= job->nodes;
        *free_now -= job->nodes;
        job->queued = false;
        job->running = true;
        job->start = now;
    }
}

static int64_t next_event(const struct easy_job *jobs, int64_t now) {
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < N_JOBS; i++) {
        if (jobs[i].running)
            next = min_of(next, jobs[i].start + jobs[i].run);
        else if (!jobs[i].queued && !jobs[i].done)
            next = min_of(next, jobs[i].submit);
    }
    assert_true(next == INT64_MAX || next > now);
    return next;
}

static void easy_simulate(struct easy_job *jobs) {
    uint32_t free_now = N_NODES;

    for (int64_t now = -1; (now = next_event(jobs, now)) != INT64_MAX;) {
        for (size_t i = 0; i < N_JOBS; i++) {
            if (jobs[i].running && jobs[i].start + jobs[i].run == now) {
                jobs[i].running = false;
                jobs[i].done = true;
                free_now += jobs[i].nodes;
            }
            if (!jobs[i].done && !jobs[i].running && jobs[i].submit == now)
                jobs[i].queued = true;
        }
        easy_pass(jobs, now, &free_now);
    }
}

static void submit(struct world *w, const struct easy_job *job, uint32_t id) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = job->nodes;
    spec.exclusive = true;
    spec.limit = job->estimate;
    spec.submit_time = job->submit;
    assert_int_equal(world_add(w, &spec), id + 1);
}

static void planner_simulate(struct easy_job *jobs) {
    struct world w;

    world_init(&w, N_NODES, 4, 1000);
    world_configure(&w);
    for (int64_t now = -1; (now = next_event(jobs, now)) != INT64_MAX;) {
        struct sched_plan plan;

        w.now = now;
        for (uint32_t i = 0; i < N_JOBS; i++) {
            if (jobs[i].running && jobs[i].start + jobs[i].run == now) {
                jobs[i].running = false;
                jobs[i].done = true;
                world_end(&w, i + 1);
            }
        }
        for (uint32_t i = 0; i < N_JOBS; i++) {
            if (!jobs[i].done && !jobs[i].running && jobs[i].submit == now) {
                jobs[i].queued = true;
                submit(&w, &jobs[i], i);
            }
        }
        sched_pass(w.sched, now, 0, &plan);
        for (size_t i = 0; i < plan.n_starts; i++) {
            struct easy_job *job = &jobs[plan.starts[i].job_id - 1];
            job->queued = false;
            job->running = true;
            job->start = now;
        }
        world_commit(&w, &plan);
        world_check(&w);
        sched_plan_done(&plan);
    }
    world_done(&w);
}

static void make_jobs(struct easy_job *jobs, uint64_t seed) {
    struct rng rng;
    int64_t when = 0;

    rng_seed(&rng, seed);
    memset(jobs, 0, N_JOBS * sizeof(*jobs));
    for (size_t i = 0; i < N_JOBS; i++) {
        when += (int64_t) rng_below(&rng, 60);
        jobs[i].submit = when;
        jobs[i].nodes = 1 + (uint32_t) rng_below(&rng, rng_below(&rng, 4) ? 6 : N_NODES);
        jobs[i].estimate = 10 + (int64_t) rng_below(&rng, 600);
        jobs[i].run = 1 + (int64_t) rng_below(&rng, (uint64_t) jobs[i].estimate);
    }
}

TEST(with_whole_nodes_of_one_kind_the_planner_is_easy_backfilling) {
    static struct easy_job reference[N_JOBS], planner[N_JOBS];

    for (uint64_t seed = 1; seed <= 10; seed++) {
        make_jobs(reference, seed);
        make_jobs(planner, seed);
        easy_simulate(reference);
        planner_simulate(planner);
        for (size_t i = 0; i < N_JOBS; i++) {
            if (reference[i].start != planner[i].start)
                print_error("seed %llu job %zu: %lld, EASY %lld\n", (unsigned long long) seed,
                            i + 1, (long long) planner[i].start, (long long) reference[i].start);
            assert_int_equal(reference[i].start, planner[i].start);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_whole_nodes_of_one_kind_the_planner_is_easy_backfilling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
