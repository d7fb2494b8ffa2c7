/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every pair of a state that a job can be in and an event that can befall it: what it becomes is
 * compared with tests/golden/core/events.txt (GOLDEN_UPDATE=1 writes it, to be read), and whatever
 * it becomes, no CPU is given twice, a restart of the controller changes nothing, and once the
 * faults are mended the job comes to an end and leaves nothing behind.
 *
 * Covers: the transitions of job_state.c
 */
#include <signal.h>
#include <string.h>

#include "../cli/golden.h"
#include "base/alloc.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nSelectTypeParameters=CR_CPU_Memory\n"               \
    "DefMemPerCPU=100\nSlurmdTimeout=60\nReturnToService=2\nMinJobAge=60000\nKillWait=5\n"         \
    "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"                                                     \
    "PartitionName=main Nodes=ALL Default=YES MaxTime=1-0\n"
#define OTHERS 2000 /* uid of those who are in the way */

/* ---- states ---- */

static uint32_t submit(struct world *world, const struct job_request *request) {
    uint32_t id = world_submit(world, request, NULL);
    assert_int_not_equal(id, 0);
    return id;
}

/* Two nodes, two CPUs on each, an hour. */
static void request_init(struct job_request *request) {
    world_request(request);
    request->min_nodes = request->max_nodes = 2;
    request->ntasks_per_node = 2;
    request->time_limit = 60;
    request->requeue = TRI_YES;
}

static uint32_t make_running(struct world *world) {
    struct job_request request;
    request_init(&request);
    return submit(world, &request);
}

static uint32_t make_waiting(struct world *world) {
    struct job_request request;
    request_init(&request);
    request.min_nodes = request.max_nodes = 3;
    request.ntasks_per_node = 4;
    world->uid = OTHERS;
    (void) submit(world, &request);
    world->uid = 1000;
    return make_running(world);
}

static uint32_t make_held(struct world *world) {
    struct job_request request;
    request_init(&request);
    request.hold = true;
    return submit(world, &request);
}

static uint32_t make_begin(struct world *world) {
    struct job_request request;
    request_init(&request);
    request.begin_time = world->now + 86400;
    return submit(world, &request);
}

static uint32_t make_dependent(struct world *world) {
    struct job_request request;
    request_init(&request);
    request.hold = true;
    world->uid = OTHERS;
    cleanup_free char *text = xasprintf("afterany:%u", submit(world, &request));
    world->uid = 1000;
    request.hold = false;
    request.dependency = text;
    return submit(world, &request);
}

static uint32_t make_configuring(struct world *world) {
    world->nodes_answer = false;
    uint32_t id = make_running(world);
    world->nodes_answer = true;
    return id;
}

static uint32_t make_suspended(struct world *world) {
    uint32_t id = make_running(world);
    assert_int_equal(world_verb(world, VERB_SUSPEND, "1"), 0);
    return id;
}

static uint32_t make_shrinking(struct world *world) {
    uint32_t id = make_running(world);
    world->nodes_answer = false;
    assert_int_equal(world_update(world, "job", "1", "NumNodes", "1"), 0);
    world->nodes_answer = true;
    return id;
}

static uint32_t make_completing(struct world *world) {
    uint32_t id = make_running(world);
    world->nodes_answer = false;
    assert_int_equal(world_kill(world, "1"), 0);
    world->nodes_answer = true;
    return id;
}

static uint32_t make_requeued(struct world *world) {
    uint32_t id = make_running(world);
    world->nodes_answer = false;
    assert_int_equal(world_verb(world, VERB_REQUEUE, "1"), 0);
    world->nodes_answer = true;
    return id;
}

static uint32_t make_completed(struct world *world) {
    uint32_t id = make_running(world);
    world_script_ends(world, id, 0);
    return id;
}

static uint32_t make_failed(struct world *world) {
    uint32_t id = make_running(world);
    world_script_ends(world, id, 1 << 8);
    return id;
}

static uint32_t make_cancelled(struct world *world) {
    uint32_t id = make_held(world);
    assert_int_equal(world_kill(world, "1"), 0);
    return id;
}

static uint32_t make_timeout(struct world *world) {
    uint32_t id = make_running(world);
    world_pass_time(world, 3700);
    return id;
}

static const struct state {
    const char *name;
    uint32_t (*make)(struct world *world);
} states[] = {
    {"waiting", make_waiting},
    {"held", make_held},
    {"begin", make_begin},
    {"dependent", make_dependent},
    {"configuring", make_configuring},
    {"running", make_running},
    {"suspended", make_suspended},
    {"shrinking", make_shrinking},
    {"completing", make_completing},
    {"requeued", make_requeued},
    {"completed", make_completed},
    {"failed", make_failed},
    {"cancelled", make_cancelled},
    {"timeout", make_timeout},
};

/* ---- events ---- */

static int event_cancel(struct world *world, const char *id) {
    return world_kill(world, id);
}

static int event_signal(struct world *world, const char *id) {
    struct job_kill request;
    struct job_select select;
    char *ids = (char *) (uintptr_t) id;
    record_init(&record_job_kill, &request);
    record_init(&record_job_select, &select);
    select.ids = (struct strs) {&ids, 1};
    request.select = &select;
    request.signal = SIGUSR1;
    return world_code(world, world_send(world, MSG_JOB_KILL, &request));
}

#define VERB_EVENT(name, verb)                                                                     \
    static int event_##name(struct world *world, const char *id) {                                 \
        return world_verb(world, verb, id);                                                        \
    }
VERB_EVENT(hold, VERB_HOLD)
VERB_EVENT(release, VERB_RELEASE)
VERB_EVENT(requeue, VERB_REQUEUE)
VERB_EVENT(requeuehold, VERB_REQUEUE_HOLD)
VERB_EVENT(suspend, VERB_SUSPEND)
VERB_EVENT(resume, VERB_RESUME)

#define UPDATE_EVENT(name, key, value)                                                             \
    static int event_##name(struct world *world, const char *id) {                                 \
        return world_update(world, "job", id, key, value);                                         \
    }
UPDATE_EVENT(limit, "TimeLimit", "1")
UPDATE_EVENT(shrink, "NumNodes", "1")
UPDATE_EVENT(priority0, "Priority", "0")

static int node_state(struct world *world, const char *state) {
    struct key_value changes[] = {{text_of("State"), (char *) (uintptr_t) state},
                                  {text_of("Reason"), text_of("test")}};
    struct update update;
    uint32_t uid = world->uid;
    record_init(&record_update, &update);
    update.entity = text_of("node");
    update.target = text_of("n1");
    update.changes.items = changes;
    update.changes.n = str_equal(state, "RESUME") ? 1 : 2;
    world->uid = 0;
    int code = world_code(world, world_send(world, MSG_UPDATE, &update));
    world->uid = uid;
    return code;
}

static int event_node_down(struct world *world, const char *id) {
    return node_state(world, "DOWN");
}

static int event_node_drain(struct world *world, const char *id) {
    return node_state(world, "DRAIN");
}

static int event_node_silent(struct world *world, const char *id) {
    world_node_lost(world, 0);
    world_pass_time(world, 70);
    return 0;
}

static int event_node_blinks(struct world *world, const char *id) {
    world_node_lost(world, 0);
    world_pass_time(world, 10);
    world_node_connects(world, 0);
    world_turn(world);
    return 0;
}

static int event_node_reboots(struct world *world, const char *id) {
    world_node_lost(world, 0);
    world->boots[0]++;
    vec_each (&world->runs, run) {
        if (run->node == 0)
            run->running = false;
    }
    world_node_connects(world, 0);
    world_turn(world);
    return 0;
}

static int event_launch_fails(struct world *world, const char *id) {
    world->launches_fail = true;
    world_all_connect(world);
    world_turn(world);
    world->launches_fail = false;
    return 0;
}

static int script_ends(struct world *world, const char *id, uint32_t status) {
    uint32_t job_id = (uint32_t) strtoul(id, NULL, 10);
    const struct world_run *run = world_run_of(world, job_id);
    if (run != NULL && run->running)
        world_script_ends(world, job_id, status);
    return 0;
}

static int event_script_ok(struct world *world, const char *id) {
    return script_ends(world, id, 0);
}

static int event_script_fails(struct world *world, const char *id) {
    return script_ends(world, id, 1 << 8);
}

static int event_time(struct world *world, const char *id) {
    world_pass_time(world, 3700);
    return 0;
}

static int event_clock_back(struct world *world, const char *id) {
    world->now -= 3600;
    world_restart(world);
    world_all_connect(world);
    world_turn(world);
    return 0;
}

static int event_clock_ahead(struct world *world, const char *id) {
    world->now += 7200;
    core_tick(world->core, world->now, &world->effects);
    world_turn(world);
    return 0;
}

static int event_restart(struct world *world, const char *id) {
    world_restart(world);
    world_all_connect(world);
    world_turn(world);
    return 0;
}

static int event_reconfigure(struct world *world, const char *id) {
    return -world_reconfigure(world, CLUSTER);
}

static int event_node_goes(struct world *world, const char *id) {
    return -world_reconfigure(world, "ClusterName=tux\nSlurmctldHost=localhost\n"
                                     "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                                     "SlurmdTimeout=60\nReturnToService=2\nMinJobAge=60000\n"
                                     "NodeName=n[2-3] CPUs=4 RealMemory=1000\n"
                                     "PartitionName=main Nodes=ALL Default=YES MaxTime=1-0\n");
}

static const struct event {
    const char *name;
    int (*happens)(struct world *world, const char *id);
    bool last; /* the cluster is another one afterwards */
} events[] = {
    {"cancel", event_cancel},
    {"signal", event_signal},
    {"hold", event_hold},
    {"release", event_release},
    {"requeue", event_requeue},
    {"requeuehold", event_requeuehold},
    {"suspend", event_suspend},
    {"resume", event_resume},
    {"TimeLimit=1", event_limit},
    {"NumNodes=1", event_shrink},
    {"Priority=0", event_priority0},
    {"node down", event_node_down},
    {"node drained", event_node_drain},
    {"node silent", event_node_silent},
    {"node blinks", event_node_blinks},
    {"node reboots", event_node_reboots},
    {"launch fails", event_launch_fails},
    {"script ok", event_script_ok},
    {"script fails", event_script_fails},
    {"hour passes", event_time},
    {"clock back", event_clock_back},
    {"clock ahead", event_clock_ahead},
    {"restart", event_restart},
    {"reconfigure", event_reconfigure},
    {"node goes", event_node_goes, true},
};

/* ---- what is looked at ---- */

static void picture(struct world *world, uint32_t id, bool with_reason, struct str *out) {
    struct job job;
    if (!world_look(world, id, &job)) {
        str_append(out, "gone");
        return;
    }
    str_append(out, names_text(&names_job_state, job.state));
    for (uint32_t bit = 0; bit < 12; bit++) {
        if (job.flags >> bit & 1)
            str_printf(out, "+%s", names_text(&names_job_flag, 1u << bit));
    }
    if (job.state == JOB_PENDING && job.priority == 0)
        str_append(out, " held");
    if (with_reason && (job.state == JOB_PENDING || job_state_is_final(job.state)))
        str_printf(out, " %s", names_text(&names_job_reason, job.reason));
    if (job.restarts > 0)
        str_printf(out, " restarts=%u", job.restarts);
    if (job.leaving.n > 0)
        str_printf(out, " leaving=%u", job.leaving.n);
}

/* What must hold of a record, whatever has happened to it. */
static void check_record(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    bool holds = job.state == JOB_RUNNING || job.state == JOB_SUSPENDED;
    bool cleans = job.flags & JOB_FLAG_COMPLETING;
    if (holds)
        assert_true(job.allocation.n > 0 && job_nodes_held(&job) > 0 && job.start_time > 0);
    if (job.state == JOB_PENDING && !cleans)
        assert_true(job.allocation.n == 0 && job.leaving.n == 0 && job.nodes == NULL);
    assert_true((job.usage_since > 0) == (job.state == JOB_RUNNING)); /* charged while it runs */
    if (job_state_is_final(job.state))
        assert_true(job.end_time >= job.start_time);
    assert_false(job.cpus_given && job.state == JOB_RUNNING);
    world_check(world);
}

/* Everything that was broken is mended, and the job is left to end. */
static void mend(struct world *world, uint32_t id, const char *what) {
    cleanup_free char *text = xasprintf("%u", id);
    struct job job;
    uint32_t restarts = 0;
    world->nodes_answer = true;
    world_all_connect(world);
    (void) node_state(world, "RESUME");
    world_pass_time(world, 100);
    world->uid = 0;
    for (uint32_t other = 1; other < 10; other++) {
        cleanup_free char *other_text = xasprintf("%u", other);
        if (other != id && world_look(world, other, &job))
            (void) world_kill(world, other_text);
    }
    (void) world_verb(world, VERB_RELEASE, text);
    (void) world_update(world, "job", text, "StartTime", "now");
    (void) world_verb(world, VERB_RESUME, text);
    for (; restarts < 5 && world_look(world, id, &job) && !job_state_is_final(job.state);
         restarts++) {
        world_pass_time(world, 700);
        (void) script_ends(world, text, 0);
    }
    assert_true(world_look(world, id, &job));
    if (!job_state_is_final(job.state) || (job.flags & JOB_FLAG_COMPLETING))
        fail_msg("%s: it does not end: %s, reason %s", what,
                 names_text(&names_job_state, job.state),
                 names_text(&names_job_reason, job.reason));
    for (uint32_t i = 0; i < world->n_nodes; i++)
        assert_int_equal(core_node(world->core, i)->alloc_cpus, 0);
    check_record(world, id);
}

static void walk(const struct state *state, const struct event *event, struct str *out) {
    struct world world;
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    struct str again cleanup_str = STR_INIT;
    world_start(&world, CLUSTER);
    world_all_connect(&world);
    world.uid = 1000;
    uint32_t id = state->make(&world);
    cleanup_free char *text = xasprintf("%u", id);
    picture(&world, id, true, &before);
    check_record(&world, id);
    int code = event->happens(&world, text);
    world_turn(&world);
    picture(&world, id, true, &after);
    str_printf(out, "%-11s %-12s %s -> %s", state->name, event->name, before.data,
               str_equal(before.data, after.data) ? "=" : after.data);
    if (code != 0)
        str_printf(out, " (%s)", error_text(code));
    str_append_char(out, '\n');
    check_record(&world, id);
    if (!event->last) {
        str_reset(&after); /* why it waits may change: no node is there yet */
        picture(&world, id, false, &after);
        world_restart(&world);
        picture(&world, id, false, &again);
        if (!str_equal(after.data, again.data))
            fail_msg("%s, %s: %s is %s after a restart", state->name, event->name, after.data,
                     again.data);
        check_record(&world, id);
    }
    cleanup_free char *what = xasprintf("%s, %s", state->name, event->name);
    mend(&world, id, what);
    world_stop(&world);
}

TEST(every_event_in_every_state_is_survived_and_leads_where_it_should) {
    struct str out cleanup_str = STR_INIT;
    for (size_t s = 0; s < countof(states); s++) {
        for (size_t e = 0; e < countof(events); e++)
            walk(&states[s], &events[e], &out);
    }
    golden_check("core/events.txt", &out);
}

/* Two events, one after the other: no golden file, only what must hold. Every third of them unless
 * EVENTS_ALL is set. */
TEST(every_pair_of_events_in_every_state_is_survived) {
    const size_t stride = getenv("EVENTS_ALL") != NULL ? 1 : 3;
    for (size_t s = 0; s < countof(states); s++) {
        for (size_t e = 0; e < countof(events); e++) {
            for (size_t f = 0; f < countof(events) && !events[e].last; f++) {
                struct world world;
                if ((s + e + f) % stride != 0)
                    continue;
                world_start(&world, CLUSTER);
                world_all_connect(&world);
                world.uid = 1000;
                uint32_t id = states[s].make(&world);
                cleanup_free char *text = xasprintf("%u", id);
                (void) events[e].happens(&world, text);
                world_turn(&world);
                check_record(&world, id);
                (void) events[f].happens(&world, text);
                world_turn(&world);
                check_record(&world, id);
                cleanup_free char *what =
                    xasprintf("%s, %s, %s", states[s].name, events[e].name, events[f].name);
                mend(&world, id, what);
                world_stop(&world);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_in_every_state_is_survived_and_leads_where_it_should),
        cmocka_unit_test(every_pair_of_events_in_every_state_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
