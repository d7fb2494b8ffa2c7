/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/alloc.h"
#include "lua/filter.h"
#include "lua/value.h"
#include "schema/member.h"
#include "script.h"
#include "text/duration.h"

#define SCRIPT(submit, modify)                                                                     \
    "function slurm_job_submit(job_desc, part_list, submit_uid)\n" submit                          \
    "\nend\nfunction slurm_job_modify(job_desc, job_rec, part_list, modify_uid)\n" modify          \
    "\nend\n"

static int no_lists(void *context, enum filter_frame what, struct arena *memory, void *ret_list,
                    struct error *err) {
    return error_set(err, ERR_NOT_FOUND, "no lists here");
}

static struct lua_filter *filter_of(const struct script *script) {
    const struct lua_box_limits limits = {8u << 20, 1000000};
    const struct lua_filter_source source = {no_lists, NULL};
    return lua_filter_new(script->path, &limits, "lab", &source);
}

static struct filter_answer ask(struct lua_filter *filter, const struct filter_call *call) {
    struct partition part;
    record_init(&record_partition, &part);
    part.name = text_of("main");
    part.state = text_of("UP");
    part.max_time = MINUTES_INFINITE;
    part.is_default = true;
    const struct partition_list partitions = {.items = {&part, 1}};
    struct filter_answer answer;
    record_init(&record_filter_answer, &answer);
    lua_filter_run(filter, call, &partitions, &answer);
    return answer;
}

static struct filter_answer submit(const char *text, struct job_request *job) {
    struct script script cleanup_script = script_of(text);
    struct lua_filter *filter = filter_of(&script);
    struct filter_call call;
    record_init(&record_filter_call, &call);
    call.uid = 7;
    call.user_name = text_of("ann");
    call.job = job;
    struct filter_answer answer = ask(filter, &call);
    lua_filter_free(filter);
    return answer;
}

static void answer_done(struct filter_answer *answer) {
    record_done(&record_filter_answer, answer);
}

TEST(what_was_not_asked_for_reads_as_no_val) {
    struct job_request job;
    record_init(&record_job_request, &job);
    struct filter_answer answer cleanup(answer_done) =
        submit(SCRIPT("local want = {time_limit = slurm.NO_VAL, cpus_per_task = slurm.NO_VAL16, "
                      "num_tasks = slurm.NO_VAL,\n"
                      "pn_min_memory = slurm.NO_VAL64, shared = slurm.NO_VAL16, priority = "
                      "slurm.NO_VAL, nice = slurm.NO_VAL,\n"
                      "min_cpus = 1, requeue = slurm.NO_VAL16, contiguous = 0, reboot = "
                      "slurm.NO_VAL16, req_switch = slurm.NO_VAL,\n"
                      "begin_time = 0, mail_type = 0, user_id = 7, user_name = 'ann', argc = 0, "
                      "min_nodes = slurm.NO_VAL}\n"
                      "for k, v in pairs(want) do assert(job_desc[k] == v, k) end\n"
                      "for _, k in ipairs({'account', 'partition', 'gres', 'script', "
                      "'min_mem_per_cpu', 'nonesuch'}) do\n"
                      "assert(job_desc[k] == nil, k) end\n"
                      "assert(part_list.main.flag_default == 1 and part_list.main.state_up == 3)\n"
                      "assert(part_list.main.max_time == slurm.INFINITE and "
                      "part_list.main.allow_qos == nil)\n"
                      "return slurm.SUCCESS",
                      ""),
               &job);
    assert_string_equal(answer.detail != NULL ? answer.detail : "", "");
    assert_true(record_equal(&record_job_request, answer.job, &job));
}

/* Every field that can be written reads as it was written. */
TEST(what_is_written_is_read) {
    struct job_request job;
    record_init(&record_job_request, &job);
    struct filter_answer answer cleanup(answer_done) = submit(
        SCRIPT("local values = {account = 'a', partition = 'p', time_limit = 90, num_tasks = 4, "
               "cpus_per_task = 2, nice = slurm.NICE_OFFSET + 5,\n"
               "priority = 3, shared = 2, min_nodes = 2, max_nodes = 3, tres_per_node = "
               "'gres/gpu:2', cpus_per_tres = 'gres/gpu:3',\n"
               "req_switch = 2, requeue = 1, begin_time = 1000, array_inx = "
               "'1-3', pn_min_cpus = 5, mail_type = 6}\n"
               "for k, v in pairs(values) do job_desc[k] = v end\n"
               "for k, v in pairs(values) do assert(job_desc[k] == v, k .. tostring(job_desc[k])) "
               "end\n"
               "job_desc.tres_per_job = 'gres:gpu:a100:4' assert(job_desc.tres_per_job == "
               "'gres/gpu:a100:4')\n"
               "job_desc.pn_min_memory = slurm.MEM_PER_CPU + 4096 assert(job_desc.min_mem_per_cpu "
               "== 4096)\n"
               "job_desc.min_mem_per_node = 100 assert(job_desc.pn_min_memory == 100 and "
               "job_desc.min_mem_per_cpu == nil)\n"
               "job_desc.time_min = slurm.INFINITE job_desc.account = nil job_desc.comment = 12\n"
               "job_desc.environment.A = 'x' job_desc.environment.B = 'y' job_desc.environment.A = "
               "'z' job_desc.environment.B = nil\n"
               "assert(job_desc.environment.A == 'z' and job_desc.environment.B == nil)\n"
               "job_desc.wait4switch = 600 assert(job_desc.wait4switch == 600)\n"
               "job_desc.script = '#!/bin/sh\\n'\n"
               "return 0",
               ""),
        &job);
    assert_string_equal(answer.detail != NULL ? answer.detail : "", "");
    assert_int_equal(answer.job->time_limit, 90);
    assert_int_equal(answer.job->time_min, MINUTES_INFINITE);
    assert_int_equal(answer.job->exclusive, EXCLUSIVE_USER);
    assert_int_equal(answer.job->nice, 5);
    assert_null(answer.job->account);
    assert_string_equal(answer.job->comment, "12");
    assert_string_equal(answer.job->switches, "2@10:00");
    assert_int_equal(answer.job->cpus_per_gpu, 3);
    assert_int_equal(answer.job->mem_per_node, 100);
    assert_int_equal(answer.job->script.size, 10);
    assert_memory_equal(answer.job->environment.data, "A=z", 4);
    assert_int_equal(answer.job->environment.size, 4);
}

TEST(a_failing_script_changes_nothing) {
    static const char *const bodies[] = {
        SCRIPT("job_desc.time_limit = 5 job_desc.time_limit = {}", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.num_tasks = -1", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.num_tasks = 1e300", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.num_tasks = 0/0", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.shared = 17", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.nice = 1", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.nice = 0/0", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.cpus_per_tres = 'x'", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.environment['a=b'] = 'x'", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.environment = {}", ""),
        SCRIPT("job_desc.time_limit = 5 job_desc.min_cpus = 3", ""),
        SCRIPT("job_desc.time_limit = 5 part_list.main.max_time = 3", ""),
        SCRIPT("job_desc.time_limit = 5 local j = slurm.jobs[1]", ""),
    };
    struct job_request job;
    record_init(&record_job_request, &job);
    for (size_t i = 0; i < countof(bodies); i++) {
        struct filter_answer answer cleanup(answer_done) = submit(bodies[i], &job);
        assert_int_equal(answer.problem, FILTER_FAILED);
        assert_non_null(answer.detail);
        assert_true(record_equal(&record_job_request, answer.job, &job));
    }
}

TEST(an_unknown_field_is_told_with_the_nearest) {
    struct job_request job;
    record_init(&record_job_request, &job);
    struct filter_answer answer cleanup(answer_done) =
        submit(SCRIPT("job_desc.timelimit = 5 return 0", ""), &job);
    assert_int_equal(answer.problem, FILTER_FINE);
    assert_int_equal(answer.lines.n, 2); /* the first: it has been read */
    assert_string_equal(answer.lines.items[1].text,
                        "job_desc.timelimit is no field and was not set; did you mean time_limit?");
}

TEST(what_was_kept_of_an_earlier_call_is_closed) {
    struct job_request job;
    record_init(&record_job_request, &job);
    struct script script cleanup_script = script_of(SCRIPT(
        "if kept == nil then kept = {job_desc, part_list.main, job_desc.environment} return 0 end\n"
        "for i = 1, 3 do assert(not pcall(function() return kept[i].name end), i) end return 0",
        ""));
    struct lua_filter *filter = filter_of(&script);
    struct filter_call call;
    record_init(&record_filter_call, &call);
    call.job = &job;
    for (int i = 0; i < 2; i++) {
        struct filter_answer answer cleanup(answer_done) = ask(filter, &call);
        assert_int_equal(answer.problem, FILTER_FINE);
    }
    lua_filter_free(filter);
}

TEST(a_changed_script_is_read_and_a_broken_one_is_not_taken) {
    struct job_request job;
    record_init(&record_job_request, &job);
    struct script script cleanup_script = script_of(SCRIPT("return slurm.ERROR", ""));
    struct lua_filter *filter = filter_of(&script);
    struct filter_call call;
    record_init(&record_filter_call, &call);
    call.job = &job;
    static const struct {
        const char *text;
        unsigned code;
    } steps[] = {{NULL, ERR_GENERIC},
                 {"nonsense", ERR_GENERIC},
                 {SCRIPT("return slurm.ESLURM_INVALID_ACCOUNT", ""), ERR_INVALID_ACCOUNT},
                 {"function slurm_job_submit() return 0 end", ERR_INVALID_ACCOUNT}};
    for (size_t i = 0; i < countof(steps); i++) {
        if (steps[i].text != NULL)
            script_write(&script, steps[i].text);
        struct filter_answer answer cleanup(answer_done) = ask(filter, &call);
        assert_int_equal(answer.code, steps[i].code);
    }
    unlink(script.path);
    struct filter_answer answer cleanup(answer_done) = ask(filter, &call);
    assert_int_equal(answer.code, ERR_INVALID_ACCOUNT);
    lua_filter_free(filter);
    filter = filter_of(&script);
    struct filter_answer none cleanup(answer_done) = ask(filter, &call);
    assert_int_equal(none.problem, FILTER_ABSENT);
    lua_filter_free(filter);
}

TEST(a_modification_is_changed_in_the_words_of_scontrol) {
    struct script script cleanup_script =
        script_of(SCRIPT("", "assert(job_desc.time_limit == 300 and job_desc.comment == 'c' and "
                             "job_desc.num_tasks == slurm.NO_VAL)\n"
                             "assert(job_rec.time_limit == 10 and job_rec.job_id == 5)\n"
                             "job_desc.time_limit = 60 job_desc.qos = 'low' return 0"));
    struct lua_filter *filter = filter_of(&script);
    struct job rec;
    record_init(&record_job, &rec);
    rec.job_id = 5;
    rec.time_limit = 10;
    struct key_value changes[] = {{text_of("timelimit"), text_of("5:00:00")},
                                  {text_of("Comment"), text_of("c")},
                                  {text_of("Nonsense"), text_of("x")}};
    struct filter_call call;
    record_init(&record_filter_call, &call);
    call.modify = true;
    call.record = &rec;
    call.changes.items = changes;
    call.changes.n = 3;
    struct filter_answer answer cleanup(answer_done) = ask(filter, &call);
    assert_string_equal(answer.detail != NULL ? answer.detail : "", "");
    assert_int_equal(answer.changes.n, 4);
    assert_string_equal(answer.changes.items[0].value, "01:00:00");
    assert_string_equal(answer.changes.items[1].value, "c");
    assert_string_equal(answer.changes.items[2].value, "x");
    assert_string_equal(answer.changes.items[3].key, "QOS");
    assert_string_equal(answer.changes.items[3].value, "low");
    lua_filter_free(filter);
}

/* What the script makes of a modification. */
static struct filter_answer modify(const char *text, struct key_value *changes, uint32_t n) {
    struct script script cleanup_script = script_of(text);
    struct lua_filter *filter = filter_of(&script);
    struct job rec;
    struct filter_call call;
    record_init(&record_job, &rec);
    record_init(&record_filter_call, &call);
    call.modify = true;
    call.record = &rec;
    call.changes.items = changes;
    call.changes.n = n;
    struct filter_answer answer = ask(filter, &call);
    lua_filter_free(filter);
    return answer;
}

TEST(a_modification_tells_no_and_unlimited_from_what_is_not_set) {
    struct filter_answer answer cleanup(answer_done) = modify(
        SCRIPT("", "job_desc.requeue = 0 job_desc.time_min = slurm.INFINITE return 0"), NULL, 0);
    assert_int_equal(answer.changes.n, 2);
    assert_string_equal(answer.changes.items[0].key, "Requeue");
    assert_string_equal(answer.changes.items[0].value, "0");
    assert_string_equal(answer.changes.items[1].key, "TimeMin");
    assert_string_equal(answer.changes.items[1].value, "UNLIMITED");
}

TEST(what_a_script_takes_out_of_a_modification_is_not_changed) {
    struct key_value changes[] = {{text_of("TimeLimit"), text_of("5")},
                                  {text_of("Requeue"), text_of("1")},
                                  {text_of("MinMemoryCPU"), text_of("10")}};
    struct filter_answer answer cleanup(answer_done) =
        modify(SCRIPT("", "job_desc.time_limit = slurm.NO_VAL job_desc.requeue = slurm.NO_VAL16\n"
                          "job_desc.min_mem_per_node = 20 return 0"),
               changes, 3);
    assert_int_equal(answer.changes.n, 1);
    assert_string_equal(answer.changes.items[0].key, "MinMemoryNode");
    assert_string_equal(answer.changes.items[0].value, "20M");
}

TEST(every_row_names_a_member_of_the_right_type) {
    const struct lua_view *const views[] = {&lua_view_job_desc, &lua_view_partition,
                                            &lua_view_job_rec, &lua_view_reservation};
    for (size_t i = 0; i < countof(views); i++) {
        for (size_t k = 0; k < views[i]->n_rows; k++) {
            const struct lua_row *row = &views[i]->rows[k];
            const struct field *field =
                row->member != NULL ? record_field(views[i]->record, row->member) : NULL;
            bool is_text = row->kind <= KIND_ARRAY;
            bool is_wide = row->kind == KIND_TIME || row->kind == KIND_DISK ||
                           row->kind == KIND_MEM_NODE || row->kind == KIND_MEM_CPU ||
                           row->kind == KIND_GPU_MEM || row->kind == KIND_MIB;
            bool is_bool = row->kind == KIND_BOOL || row->kind == KIND_BOOL16;
            if (row->member == NULL)
                continue;
            assert_non_null(field);
            if ((field->type == FIELD_STR) != is_text || (field->type == FIELD_BOOL) != is_bool ||
                (member_size(field) == 8 && !is_text) != is_wide)
                fail_msg("%s.%s", views[i]->name, row->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_asked_for_reads_as_no_val),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_failing_script_changes_nothing),
        cmocka_unit_test(an_unknown_field_is_told_with_the_nearest),
        cmocka_unit_test(what_was_kept_of_an_earlier_call_is_closed),
        cmocka_unit_test(a_changed_script_is_read_and_a_broken_one_is_not_taken),
        cmocka_unit_test(a_modification_is_changed_in_the_words_of_scontrol),
        cmocka_unit_test(a_modification_tells_no_and_unlimited_from_what_is_not_set),
        cmocka_unit_test(what_a_script_takes_out_of_a_modification_is_not_changed),
        cmocka_unit_test(every_row_names_a_member_of_the_right_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
