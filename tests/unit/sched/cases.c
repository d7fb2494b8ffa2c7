/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

static unsigned env_number(const char *name, unsigned otherwise) {
    const char *text = getenv(name);
    uint64_t value;

    return text && str_to_u64(text, &value) ? value : otherwise;
}

uint64_t n_tried;

void each_seed(unsigned n, void (*run)(uint64_t seed)) {
    const char *one = getenv("SLUICE_SCHED_SEED");
    uint64_t seed;

    n_tried = 0;
    if (one && str_to_u64(one, &seed)) {
        run(seed);
        return;
    }
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
    n /= 10;
#endif
    n = env_number("SLUICE_SCHED_CASES", n);
    for (seed = 1; seed <= n; seed++)
        run(seed);
}

void random_event(struct world *w, struct rng *rng, int richness) {
    struct request_memory memory;

    switch (rng_below(rng, richness == RANDOM_RICH ? 14 : richness == RANDOM_SIMPLE ? 10 : 8)) {
    default: {
        struct sched_job_spec spec = random_request(w, rng, richness % 2, &memory);
        world_add(w, &spec);
        break;
    }
    case 6:
    case 7:
        if (w->runs.n > 0)
            world_end(w, w->runs.items[rng_below(rng, w->runs.n)].job_id);
        break;
    case 8:
        w->now += 1 + (int64_t) rng_below(rng, 120);
        world_end_due(w);
        break;
    case 9:
        if (w->jobs.n > 0)
            world_cancel(w, w->jobs.items[rng_below(rng, w->jobs.n)].spec.job_id);
        break;
    case 10:
        if (w->jobs.n > 0) {
            world_priority(w, w->jobs.items[rng_below(rng, w->jobs.n)].spec.job_id,
                           100 + rng_below(rng, 500));
        }
        break;
    case 11: {
        uint32_t node = rng_below(rng, w->n_nodes);
        world_usable(w, node, !w->usable[node] || rng_below(rng, 3) > 0);
        break;
    }
    case 12: /* past their end */
        w->now += (int64_t) rng_below(rng, 60);
        break;
    }
}
