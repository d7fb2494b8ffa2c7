/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservations: who may run where when. The properties compare with a count of every second that
 * knows nothing of windows, edges or searches.
 */
#include "random.h"
#include "sched/internal.h"

#define HORIZON 2600

static struct sched_window windows_[4][8];
static struct sched_reserved reserved_[4][16];

/* A reservation of the first n nodes, whole, over [start, end) from now. */
static struct sched_reservation_spec spec_of(struct world *w, uint32_t id, size_t n, int64_t start,
                                             int64_t end) {
    windows_[id][0] = (struct sched_window) {w->now + start, w->now + end};
    for (size_t i = 0; i < n; i++)
        reserved_[id][i] = (struct sched_reserved) {.node = i, .whole = true};
    return (struct sched_reservation_spec) {
        .id = id, .windows = windows_[id], .n_windows = 1, .nodes = reserved_[id], .n_nodes = n};
}

static uint32_t add(struct world *w, int64_t limit, uint32_t reservation) {
    struct sched_job_spec spec = world_spec(w);
    uint32_t ids[1] = {reservation};

    spec.limit = limit;
    spec.cpus_per_task = 4;
    if (reservation) {
        spec.reservations = ids;
        spec.n_reservations = 1;
        spec.reserved_only = true;
    }
    return world_add(w, &spec);
}

static void start_world(struct world *w, size_t n_nodes) {
    world_init(w, n_nodes, 4, 1000);
    w->settings.reservations = 4;
    world_configure(w);
}

TEST(a_job_that_ends_before_a_reservation_starts_now_and_a_longer_one_after_it) {
    struct world w;
    struct sched_plan plan;

    start_world(&w, 1);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 100, 200);
    world_reserve(&w, &r, 1);
    uint32_t longer = add(&w, 101, 0);
    sched_pass(w.sched, w.now, 0, &plan);
    const struct sched_wait *wait = plan_wait(&plan, longer);
    assert_int_equal(wait->start, w.now + 200);
    assert_int_equal(wait->reason, REASON_REQ_NODE_NOT_AVAIL);
    assert_string_equal(wait->detail, "ReqNodeNotAvail, May be reserved for other job");
    assert_int_equal(plan.next_time, w.now + 100);
    sched_plan_done(&plan);
    uint32_t shorter = add(&w, 100, 0);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_running(&w, shorter));
    w.now += 200;
    world_end_due(&w);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_running(&w, longer));
    world_done(&w);
}

TEST(maintenance_is_named_as_the_reason) {
    struct world w;
    struct sched_plan plan;

    start_world(&w, 1);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 50, 200);
    r.maint = true;
    world_reserve(&w, &r, 1);
    uint32_t id = add(&w, 100, 0);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_string_equal(plan_wait(&plan, id)->detail, "ReqNodeNotAvail, Reserved for maintenance");
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(jobs_of_a_reservation_run_in_it_and_only_there) {
    struct world w;
    struct sched_plan plan;

    start_world(&w, 2);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 100, 200);
    world_reserve(&w, &r, 1);
    uint32_t first = add(&w, 60, 1), second = add(&w, 40, 1), never = add(&w, 101, 1);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 0);
    assert_int_equal(plan_wait(&plan, first)->reason, REASON_RESERVATION);
    assert_int_equal(plan_wait(&plan, first)->start, w.now + 100);
    assert_int_equal(plan_wait(&plan, second)->start, w.now + 160);
    assert_int_equal(plan_wait(&plan, never)->start, 0);
    assert_int_equal(plan_wait(&plan, never)->reason, REASON_RESERVATION);
    sched_plan_done(&plan);
    w.now += 100;
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan.starts[0].job_id, first);
    assert_int_equal(plan_wait(&plan, second)->reason, REASON_RESOURCES);
    assert_int_equal(plan.starts[0].reservation, 1);
    assert_int_equal(plan.starts[0].allocs[0].node, 0);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(who_comes_to_the_front_of_a_reservation_waits_for_resources) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 4, 1000);
    w.settings.backfill = false; /* nobody has a plan */
    world_configure(&w);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 0, 1000);
    world_reserve(&w, &r, 1);
    add(&w, 500, 1);
    assert_int_equal(world_pass(&w), 1);
    uint32_t first = add(&w, 100, 1), second = add(&w, 100, 1);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, first)->reason, REASON_RESOURCES);
    assert_int_equal(plan_wait(&plan, second)->reason, REASON_PRIORITY);
    sched_plan_done(&plan);
    world_cancel(&w, first);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_wait(&plan, second));
    assert_int_equal(plan_wait(&plan, second)->reason, REASON_RESOURCES);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_reservation_that_has_gone_keeps_its_jobs_waiting) {
    struct world w;
    struct sched_plan plan;

    start_world(&w, 1);
    uint32_t id = add(&w, 10, 1), other = add(&w, 10, 0);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan.starts[0].job_id, other);
    assert_int_equal(plan_wait(&plan, id)->reason, REASON_RESERVATION);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_part_of_a_node_is_held_and_the_rest_is_free) {
    struct world w;

    start_world(&w, 1);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 0, 500);
    reserved_[1][0] = (struct sched_reserved) {.node = 0, .cpus = 3};
    world_reserve(&w, &r, 1);
    struct sched_job_spec spec = world_spec(&w);
    uint32_t ids[1] = {1};
    uint32_t outside = world_add(&w, &spec), outside2 = world_add(&w, &spec);
    spec.reservations = ids;
    spec.n_reservations = 1;
    spec.reserved_only = true;
    spec.cpus_per_task = 2;
    uint32_t inside = world_add(&w, &spec), inside2 = world_add(&w, &spec);
    world_pass(&w);
    assert_non_null(world_running(&w, outside));
    assert_null(world_running(&w, outside2));
    assert_non_null(world_running(&w, inside));
    assert_null(world_running(&w, inside2));
    world_done(&w);
}

TEST(jobs_of_a_flexible_reservation_may_start_before_it_and_elsewhere) {
    struct world w;

    start_world(&w, 2);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 100, 200);
    r.flex = true;
    world_reserve(&w, &r, 1);
    add(&w, 500, 1);
    add(&w, 500, 1);
    add(&w, 500, 0);
    assert_int_equal(world_pass(&w), 2);
    world_done(&w);
}

TEST(a_list_of_reservations_is_tried_in_order_and_then_without) {
    struct world w;
    struct sched_plan plan;
    uint32_t ids[2] = {1, 2};

    start_world(&w, 3);
    struct sched_reservation_spec r[2] = {spec_of(&w, 1, 1, 0, 50), spec_of(&w, 2, 1, 0, 500)};
    reserved_[2][0].node = 1;
    world_reserve(&w, r, 2);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    spec.reservations = ids;
    spec.n_reservations = 2;
    world_add(&w, &spec);
    world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 2);
    assert_int_equal(plan.starts[0].reservation, 2);
    assert_int_equal(plan.starts[0].allocs[0].node, 1);
    assert_int_equal(plan.starts[1].reservation, 0);
    assert_int_equal(plan.starts[1].allocs[0].node, 2);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(maintenance_over_another_reservation_keeps_its_jobs_out) {
    struct world w;

    start_world(&w, 1);
    struct sched_reservation_spec r[2] = {spec_of(&w, 1, 1, 0, 500), spec_of(&w, 2, 1, 100, 200)};
    r[1].maint = true;
    world_reserve(&w, r, 2);
    uint32_t longer = add(&w, 150, 1), shorter = add(&w, 100, 1);
    world_pass(&w);
    assert_null(world_running(&w, longer));
    assert_non_null(world_running(&w, shorter));
    world_done(&w);
}

TEST(licences_are_held_for_the_jobs_of_a_reservation) {
    struct world w;
    uint32_t license[1] = {0}, count[1] = {2}, ids[1] = {1};

    world_init(&w, 2, 4, 1000);
    w.n_licenses = 1;
    w.licenses[0] = 3;
    world_configure(&w);
    struct sched_reservation_spec r = spec_of(&w, 1, 0, 50, 500);
    r.any_nodes = true;
    r.license_ids = license;
    r.license_counts = count;
    r.n_licenses = 1;
    world_reserve(&w, &r, 1);
    struct sched_job_spec spec = world_spec(&w);
    spec.license_ids = license;
    spec.license_counts = count;
    spec.n_licenses = 1;
    uint32_t outside = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    w.now += 50;
    spec.reservations = ids;
    spec.n_reservations = 1;
    spec.reserved_only = true;
    uint32_t inside = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 1);
    assert_null(world_running(&w, outside));
    assert_non_null(world_running(&w, inside));
    world_done(&w);
}

TEST(the_limit_that_would_fit_is_said) {
    struct world w;
    struct sched_blocker by;

    start_world(&w, 1);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 100, 200);
    world_reserve(&w, &r, 1);
    uint32_t outside = add(&w, 300, 0), inside = add(&w, 50, 1);
    world_pass(&w);
    assert_true(sched_blocked_by(w.sched, w.now, outside, &by));
    assert_int_equal(by.reservation, 1);
    assert_false(by.own);
    assert_int_equal(by.start, w.now + 100);
    assert_int_equal(by.end, w.now + 200);
    assert_int_equal(by.limit, 100);
    assert_true(sched_blocked_by(w.sched, w.now, inside, &by));
    assert_true(by.own);
    assert_int_equal(by.start, w.now + 100);
    assert_int_equal(by.limit, 0);
    w.now += 170;
    world_pass(&w);
    assert_true(sched_blocked_by(w.sched, w.now, inside, &by));
    assert_true(by.own);
    assert_int_equal(by.start, 0);
    assert_int_equal(by.limit, 30);
    w.now += 30;
    assert_int_equal(world_pass(&w), 1);
    assert_false(sched_blocked_by(w.sched, w.now, outside, &by));
    world_done(&w);
}

TEST(a_job_with_a_least_limit_shrinks_to_the_gap_before_a_reservation) {
    struct world w;
    struct sched_plan plan;

    start_world(&w, 1);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 100, 200);
    world_reserve(&w, &r, 1);
    struct sched_job_spec spec = world_spec(&w);
    spec.limit = 1000;
    spec.min_limit = 60;
    world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan.starts[0].limit, 100);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(nobody_is_promised_a_start_behind_the_last_known_window_of_a_recurring_reservation) {
    struct world w;
    struct sched_plan plan;

    start_world(&w, 1);
    struct sched_reservation_spec r = spec_of(&w, 1, 1, 100, 150);
    windows_[1][1] = (struct sched_window) {w.now + 300, w.now + 350};
    r.n_windows = 2;
    r.recurring = true;
    world_reserve(&w, &r, 1);
    uint32_t between = add(&w, 150, 0), never = add(&w, 151, 0);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, between)->start, w.now + 150);
    assert_int_equal(plan_wait(&plan, never)->start, 0);
    sched_plan_done(&plan);
    world_done(&w);
}

/* ---- properties ---- */

struct book {
    struct sched_reservation_spec specs[3];
    size_t n;
};

/* Apart from each other: a node belongs to at most one. */
static void random_book(struct world *w, struct rng *rng, struct book *book) {
    uint32_t next = 0;

    book->n = 1 + rng_below(rng, 3);
    for (size_t i = 0; i < book->n; i++) {
        int64_t at = (int64_t) rng_below(rng, 400);
        struct sched_reservation_spec *spec = &book->specs[i];
        *spec = spec_of(w, i + 1, 0, 0, 0);
        spec->n_windows = 1 + rng_below(rng, 3);
        for (size_t k = 0; k < spec->n_windows; k++) {
            int64_t end = at + 20 + (int64_t) rng_below(rng, 300);
            windows_[i + 1][k] = (struct sched_window) {w->now + at, w->now + end};
            at = end + 1 + (int64_t) rng_below(rng, 300);
        }
        for (size_t n = 1 + rng_below(rng, 3); n > 0 && next < w->n_nodes; n--, next++) {
            reserved_[i + 1][spec->n_nodes++] = (struct sched_reserved) {
                .node = next, .whole = rng_below(rng, 2), .cpus = 1 + rng_below(rng, 3)};
        }
        spec->maint = rng_below(rng, 3) == 0;
        spec->flex = rng_below(rng, 5) == 0;
    }
}

static const struct sched_reserved *held_of(const struct sched_reservation_spec *r, uint32_t node) {
    for (size_t i = 0; i < r->n_nodes; i++) {
        if (r->nodes[i].node == node)
            return &r->nodes[i];
    }
    return NULL;
}

static bool open_at(const struct sched_reservation_spec *r, int64_t when) {
    for (size_t i = 0; i < r->n_windows; i++) {
        if (r->windows[i].start <= when && when < r->windows[i].end)
            return true;
    }
    return false;
}

/* CPUs of a node that runs of a reservation (mine) or of all others have at an instant. */
static int64_t cpus_at(const struct world *w, uint32_t node, uint32_t id, bool mine, int64_t when) {
    int64_t sum = 0;

    vec_each (&w->runs, run) {
        for (size_t i = 0; i < run->n; i++) {
            if (run->allocs[i].node == node && (run->reservation == id) == mine &&
                run->start <= when && when < run->end)
                sum += run->exclusive ? w->nodes[node].cpus : run->allocs[i].cpus;
        }
    }
    return sum;
}

/* Whoever runs leaves to each reservation what it holds, from now to the end of all that runs. */
static void check_rights(const struct world *w, const struct book *book, uint64_t seed) {
    for (int64_t when = w->now; when < w->now + 400; when += 3) {
        for (size_t b = 0; b < book->n; b++) {
            const struct sched_reservation_spec *r = &book->specs[b];
            for (size_t i = 0; i < r->n_nodes && open_at(r, when); i++) {
                int64_t total = w->nodes[r->nodes[i].node].cpus;
                int64_t held =
                    r->nodes[i].whole ? total : min_of(total, (int64_t) r->nodes[i].cpus);
                int64_t others = cpus_at(w, r->nodes[i].node, r->id, false, when);
                int64_t mine = cpus_at(w, r->nodes[i].node, r->id, true, when);
                if (others + held > total || (!r->flex && mine > held))
                    print_error("seed %llu\n", (unsigned long long) seed);
                assert_true(others + held <= total);
                assert_true(r->flex || mine <= held);
            }
        }
    }
    vec_each (&w->runs, run) {
        const struct sched_reservation_spec *r =
            run->reservation ? &book->specs[run->reservation - 1] : NULL;
        for (size_t i = 0; r && !r->flex && i < run->n; i++)
            assert_non_null(held_of(r, run->allocs[i].node));
        for (int64_t when = w->now; r && !r->flex && when < run->end; when++)
            assert_true(open_at(r, when));
    }
}

static uint32_t ids_[3];

static struct sched_job_spec random_guest(struct world *w, struct rng *rng, const struct book *book,
                                          struct request_memory *memory) {
    struct sched_job_spec spec = random_request(w, rng, RANDOM_SIMPLE, memory);

    spec.n_reservations = rng_below(rng, 3);
    for (size_t i = 0; i < spec.n_reservations; i++)
        ids_[i] = 1 + rng_below(rng, book->n);
    spec.reservations = ids_;
    spec.reserved_only = spec.n_reservations > 0 && rng_below(rng, 3) > 0;
    return spec;
}

static void guests_live(struct world *w, struct rng *rng, const struct book *book, uint64_t seed) {
    struct request_memory memory;

    for (unsigned round = 0; round < 6; round++) {
        for (unsigned i = 0; i < 4; i++) {
            struct sched_job_spec spec = random_guest(w, rng, book, &memory);
            world_add(w, &spec);
        }
        world_pass(w);
        world_check(w);
        check_rights(w, book, seed);
        w->now += (int64_t) rng_below(rng, 150);
        world_end_due(w);
    }
}

TEST(nobody_without_the_right_runs_on_what_is_reserved) {
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct world w;
        struct rng rng;
        struct book book;

        rng_seed(&rng, seed);
        random_world(&w, &rng, RANDOM_SIMPLE);
        w.settings.reservations = 1 + rng_below(&rng, 3);
        world_configure(&w);
        random_book(&w, &rng, &book);
        world_reserve(&w, book.specs, book.n);
        guests_live(&w, &rng, &book, seed);
        world_done(&w);
    }
}

TEST(shortcuts_change_no_decision_around_reservations) {
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct world w;
        struct rng rng;
        struct book book;
        struct request_memory memory;

        rng_seed(&rng, seed);
        random_world(&w, &rng, RANDOM_SIMPLE);
        w.settings.reservations = 1 + rng_below(&rng, 3);
        w.mirror = sched_new(&w.settings);
        w.mirror->naive = true;
        world_configure(&w);
        random_book(&w, &rng, &book);
        world_reserve(&w, book.specs, book.n);
        for (unsigned round = 0; round < 6; round++) {
            struct sched_plan plan, naive;
            for (unsigned i = 0; i < 3; i++) {
                struct sched_job_spec spec = random_guest(&w, &rng, &book, &memory);
                world_add(&w, &spec);
            }
            sched_pass(w.sched, w.now, 0, &plan);
            sched_pass(w.mirror, w.now, 0, &naive);
            bool same = plan.n_starts == naive.n_starts && plan.n_waits == naive.n_waits;
            for (size_t i = 0; same && i < plan.n_starts; i++) {
                same = plan.starts[i].job_id == naive.starts[i].job_id &&
                       plan.starts[i].reservation == naive.starts[i].reservation &&
                       memcmp(plan.starts[i].allocs, naive.starts[i].allocs,
                              plan.starts[i].n_allocs * sizeof(*plan.starts[i].allocs)) == 0;
            }
            for (size_t i = 0; same && i < plan.n_waits; i++) {
                const struct sched_wait *a = &plan.waits[i], *b = plan_wait(&naive, a->job_id);
                same = b && a->start == b->start && a->reason == b->reason;
            }
            if (!same)
                print_error("seed %llu\n", (unsigned long long) seed);
            assert_true(same);
            world_commit(&w, &plan);
            sched_plan_done(&plan);
            sched_plan_done(&naive);
            w.now += (int64_t) rng_below(&rng, 150);
            world_end_due(&w);
        }
        world_done(&w);
    }
}

/* ---- the earliest start, by counting every second ---- */

struct second {
    int64_t cpus, mem;
};

static int64_t plans_at(const struct sched *s, uint32_t inner, uint32_t id, bool all, int64_t when,
                        uint32_t dim) {
    int64_t sum = 0;

    vec_each (&s->nodes[inner].plans, hold) {
        const struct plan *plan = hold->plan;
        if ((all || plan->alt->reservation == id) && plan->start <= when && when < plan->end)
            sum += plan->amounts[hold->slot * s->n_dims + dim];
    }
    return sum;
}

static int64_t runs_at(const struct sched *s, uint32_t inner, uint32_t id, bool all, int64_t when,
                       uint32_t dim) {
    int64_t sum = 0;

    vec_each (&s->nodes[inner].runs, hold) {
        if ((all || hold->run->reservation == id) && (when <= s->now || hold->end > when))
            sum += hold->run->amounts[hold->slot * s->n_dims + dim];
    }
    return sum;
}

/* What a job of reservation `own` (0: of none) may have of a node at one second. */
static int64_t may_have(const struct world *w, const struct book *book, uint32_t inner,
                        uint32_t own, int64_t when, uint32_t dim) {
    const struct sched *s = w->sched;
    uint32_t node = s->nodes[inner].outer;
    int64_t total = node_total(s, inner)[dim];
    int64_t have =
        total - runs_at(s, inner, 0, true, when, dim) - plans_at(s, inner, 0, true, when, dim);

    for (size_t b = 0; b < book->n; b++) {
        const struct sched_reservation_spec *r = &book->specs[b];
        const struct sched_reserved *held = held_of(r, node);
        bool open = open_at(r, when);
        int64_t amount = !held ? 0 : held->whole ? total : dim == DIM_CPU ? held->cpus : 0;
        int64_t rest = amount - runs_at(s, inner, r->id, false, when, dim) -
                       plans_at(s, inner, r->id, false, when, dim);
        if (r->id == own && !r->flex && (!open || !held))
            return -1;
        if (r->id == own && !r->flex && amount > 0)
            have = min_of(have, rest);
        if (r->id != own && open && amount > 0)
            have -= max_of(rest, (int64_t) 0);
    }
    return have;
}

static int64_t first_start(const struct world *w, const struct book *book,
                           const struct sched_job_spec *spec, uint32_t own) {
    struct second(*have)[HORIZON] = xcalloc(w->n_nodes, sizeof(*have));
    int64_t answer = SCHED_FOREVER, now = w->sched->now;

    for (uint32_t i = 0; i < w->n_nodes; i++) {
        for (int64_t t = 0; t < HORIZON; t++) {
            have[i][t].cpus = may_have(w, book, i, own, now + t, DIM_CPU);
            have[i][t].mem = may_have(w, book, i, own, now + t, DIM_MEM);
        }
    }
    for (int64_t t = 0; t + spec->limit < HORIZON && answer == SCHED_FOREVER; t++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < w->n_nodes; i++) {
            const struct hardware *hardware = &w->sched->hardware[w->sched->nodes[i].hardware];
            int64_t cpus = spec->cpus_per_task, mem = 0;
            bool fits = true;
            if (hardware->whole_cores)
                cpus += cpus % hardware->threads_per_core;
            if (spec->mem_per_node != UINT64_MAX)
                mem = (int64_t) spec->mem_per_node;
            if (spec->exclusive) {
                cpus = max_of(cpus, node_total(w->sched, i)[DIM_CPU]);
                mem = max_of(mem, node_total(w->sched, i)[DIM_MEM]);
            }
            for (int64_t k = t; k < t + spec->limit && fits; k++)
                fits = have[i][k].cpus >= cpus && have[i][k].mem >= mem;
            n += fits;
        }
        if (n >= spec->min_nodes)
            answer = now + t;
    }
    free(have);
    return answer;
}

TEST(the_earliest_start_around_reservations_is_what_counting_seconds_finds) {
    uint64_t n_found = 0;

    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct world w;
        struct rng rng;
        struct book book;
        struct request_memory memory;

        rng_seed(&rng, seed);
        random_world(&w, &rng, RANDOM_SIMPLE);
        w.settings.reservations = 3;
        world_configure(&w);
        random_book(&w, &rng, &book);
        world_reserve(&w, book.specs, book.n);
        guests_live(&w, &rng, &book, seed);
        world_pass(&w);
        for (unsigned i = 0; i < 3; i++) {
            struct sched_job_spec spec = random_guest(&w, &rng, &book, &memory);
            struct sched_start start;
            struct sched_plan answer = SCHED_PLAN_INIT;
            int64_t when = SCHED_FOREVER, want = SCHED_FOREVER;
            if (!sched_will_run(w.sched, &spec, w.sched->now, &start, &answer, &when))
                when = SCHED_FOREVER;
            for (size_t r = 0; r < spec.n_reservations; r++)
                want = min_of(want, first_start(&w, &book, &spec, spec.reservations[r]));
            if (!spec.reserved_only)
                want = min_of(want, first_start(&w, &book, &spec, 0));
            if (when != want)
                print_error("seed %llu job %u\n", (unsigned long long) seed, i);
            assert_int_equal(when, want);
            n_found += when != SCHED_FOREVER;
            sched_plan_done(&answer);
        }
        world_done(&w);
    }
    assert_true(n_found > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_ends_before_a_reservation_starts_now_and_a_longer_one_after_it),
        cmocka_unit_test(maintenance_is_named_as_the_reason),
        cmocka_unit_test(jobs_of_a_reservation_run_in_it_and_only_there),
        cmocka_unit_test(who_comes_to_the_front_of_a_reservation_waits_for_resources),
        cmocka_unit_test(a_reservation_that_has_gone_keeps_its_jobs_waiting),
        cmocka_unit_test(a_part_of_a_node_is_held_and_the_rest_is_free),
        cmocka_unit_test(jobs_of_a_flexible_reservation_may_start_before_it_and_elsewhere),
        cmocka_unit_test(a_list_of_reservations_is_tried_in_order_and_then_without),
        cmocka_unit_test(maintenance_over_another_reservation_keeps_its_jobs_out),
        cmocka_unit_test(licences_are_held_for_the_jobs_of_a_reservation),
        cmocka_unit_test(the_limit_that_would_fit_is_said),
        cmocka_unit_test(a_job_with_a_least_limit_shrinks_to_the_gap_before_a_reservation),
        cmocka_unit_test(
            nobody_is_promised_a_start_behind_the_last_known_window_of_a_recurring_reservation),
        cmocka_unit_test(nobody_without_the_right_runs_on_what_is_reserved),
        cmocka_unit_test(shortcuts_change_no_decision_around_reservations),
        cmocka_unit_test(the_earliest_start_around_reservations_is_what_counting_seconds_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
