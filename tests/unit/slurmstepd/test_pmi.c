/* SPDX-License-Identifier: Apache-2.0 */
/* PMI-1 and PMI-2, as MPICH's tasks speak them. */
#include <string.h>

#include "slurmstepd/pmi.h"
#include "unit.h"

static uint32_t ranks_of[2][2] = {{0, 1}, {2, 3}};

/* Two nodes of two tasks; the server is the first node's. */
static struct pmi *begin(struct step_layout *layout, struct step_node nodes[2]) {
    record_init(&record_step_layout, layout);
    layout->ntasks = 4;
    layout->nodes.items = nodes;
    layout->nodes.n = 2;
    for (uint32_t i = 0; i < 2; i++) {
        record_init(&record_step_node, &nodes[i]);
        nodes[i].ranks = (struct u32s) {ranks_of[i], 2};
    }
    return pmi_new("7.0", layout, ranks_of[0], 2);
}

static void hears(struct pmi *pmi, size_t task, const char *wanted) {
    struct str *out = pmi_output(pmi, task);
    assert_string_equal(str_cstr(out), wanted);
    str_reset(out);
}

static void says(struct pmi *pmi, size_t task, const char *text, const char *answer) {
    assert_true(pmi_input(pmi, task, text, strlen(text)));
    hears(pmi, task, answer);
}

/* A task's first words, by which it chooses the protocol. */
static void greets(struct pmi *pmi, size_t task, const char *version) {
    struct str text = STR_INIT, answer = STR_INIT;
    str_printf(&text, "cmd=init %s\n", version);
    str_printf(&answer, "cmd=response_to_init %s rc=0\n", version);
    says(pmi, task, text.data, answer.data);
    str_done(&text);
    str_done(&answer);
}

static void mapping_is(uint32_t n_nodes, uint32_t ntasks, uint32_t (*ranks)[4], uint32_t each,
                       const char *wanted) {
    struct step_layout layout;
    struct step_node nodes[4];
    struct str out = STR_INIT;
    record_init(&record_step_layout, &layout);
    layout.ntasks = ntasks;
    layout.nodes.items = nodes;
    layout.nodes.n = n_nodes;
    for (uint32_t i = 0; i < n_nodes; i++)
        nodes[i].ranks = (struct u32s) {ranks[i], each};
    pmi_mapping(&layout, &out);
    assert_string_equal(out.data, wanted);
    str_done(&out);
}

TEST(the_mapping_says_which_ranks_are_together) {
    uint32_t block[2][4] = {{0, 1}, {2, 3}}, cyclic[2][4] = {{0, 2}, {1, 3}};
    uint32_t alone[1][4] = {{0, 1, 2}};
    mapping_is(2, 4, block, 2, "(vector,(0,2,2))");
    mapping_is(2, 4, cyclic, 2, "(vector,(0,2,1),(0,2,1))");
    mapping_is(1, 3, alone, 3, "(vector,(0,1,3))");
}

TEST(a_task_of_pmi_1_finds_its_place_puts_and_meets_the_others) {
    struct step_layout layout;
    struct step_node nodes[2];
    struct pmi *pmi = begin(&layout, nodes);
    struct str puts = STR_INIT;
    greets(pmi, 0, "pmi_version=1 pmi_subversion=1");
    says(pmi, 0, "cmd=get_maxes\ncmd=get_appnum\n",
         "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\ncmd=appnum appnum=0\n");
    says(pmi, 0, "cmd=get_my_kvs", "");
    says(pmi, 0, "name\n", "cmd=my_kvsname kvsname=7.0\n");
    says(pmi, 0, "cmd=put kvsname=7.0 key=P0-card value=a b=c\n",
         "cmd=put_result rc=0 msg=success\n");
    says(pmi, 0, "cmd=get kvsname=7.0 key=PMI_process_mapping\n",
         "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n");
    says(pmi, 0, "cmd=get kvsname=7.0 key=P2-card\n",
         "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    says(pmi, 0, "cmd=barrier_in\n", "");
    assert_false(pmi_fence(pmi, &puts));
    says(pmi, 1, "cmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\n",
         "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    assert_true(pmi_fence(pmi, &puts));
    assert_memory_equal(puts.data, "P0-card\0a b=c\0", puts.length);
    assert_false(pmi_fence(pmi, &puts));
    struct step_part parts[2] = {{0, {(uint8_t *) puts.data, puts.length}},
                                 {1, {(uint8_t *) "P2-card\0there", 14}}};
    pmi_fence_done(pmi, parts, 2);
    hears(pmi, 0, "cmd=barrier_out rc=0\n");
    hears(pmi, 1, "cmd=barrier_out rc=0\n");
    says(pmi, 1, "cmd=get kvsname=7.0 key=P2-card\n",
         "cmd=get_result rc=0 msg=success value=there\n");
    says(pmi, 1, "cmd=finalize\n", "cmd=finalize_ack rc=0\n");
    str_done(&puts);
    pmi_free(pmi);
}

static void says2(struct pmi *pmi, size_t task, const char *text, const char *answer) {
    struct str message = STR_INIT, wanted = STR_INIT;
    str_printf(&message, "%6zu%s", strlen(text), text);
    if (*answer)
        str_printf(&wanted, "%6zu%s", strlen(answer), answer);
    says(pmi, task, message.data, str_cstr(&wanted));
    str_done(&message);
    str_done(&wanted);
}

TEST(a_task_of_pmi_2_speaks_in_counted_messages_with_doubled_semicolons) {
    struct step_layout layout;
    struct step_node nodes[2];
    struct pmi *pmi = begin(&layout, nodes);
    struct str puts = STR_INIT;
    greets(pmi, 1, "pmi_version=2 pmi_subversion=0");
    says2(pmi, 1, "cmd=fullinit;pmijobid=7.0;pmirank=1;threaded=FALSE;",
          "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=0;"
          "debugged=FALSE;pmiverbose=FALSE;rc=0;");
    says2(pmi, 1, "cmd=job-getid;thrid=5;", "cmd=job-getid-response;thrid=5;jobid=7.0;rc=0;");
    says2(pmi, 1, "cmd=kvs-put;key=k;value=a;;b;", "cmd=kvs-put-response;rc=0;");
    says2(pmi, 1, "cmd=kvs-get;jobid=7.0;srcid=1;key=k;",
          "cmd=kvs-get-response;found=TRUE;value=a;;b;rc=0;");
    says2(pmi, 1, "cmd=kvs-get;jobid=7.0;srcid=1;key=none;",
          "cmd=kvs-get-response;found=FALSE;rc=0;");
    says2(pmi, 1, "cmd=info-getjobattr;key=universeSize;",
          "cmd=info-getjobattr-response;found=TRUE;value=4;rc=0;");
    says2(pmi, 1, "cmd=kvs-fence;", "");
    pmi_task_gone(pmi, 0); /* it will never come */
    assert_true(pmi_fence(pmi, &puts));
    assert_memory_equal(puts.data, "k\0a;b", puts.length);
    pmi_fence_done(pmi, NULL, 0);
    hears(pmi, 1, "    28cmd=kvs-fence-response;rc=0;");
    says2(pmi, 1, "cmd=spawn;ncmds=1;", "cmd=spawn-response;rc=-1;errmsg=not supported;");
    says2(pmi, 1, "cmd=finalize;", "cmd=finalize-response;rc=0;");
    str_done(&puts);
    pmi_free(pmi);
}

TEST(an_attribute_of_the_node_is_waited_for) {
    struct step_layout layout;
    struct step_node nodes[2];
    struct pmi *pmi = begin(&layout, nodes);
    for (size_t i = 0; i < 2; i++)
        greets(pmi, i, "pmi_version=2 pmi_subversion=0");
    says2(pmi, 0, "cmd=info-getnodeattr;key=shm;wait=FALSE;",
          "cmd=info-getnodeattr-response;found=FALSE;rc=0;");
    says2(pmi, 0, "cmd=info-getnodeattr;key=shm;wait=TRUE;thrid=1;", "");
    says2(pmi, 1, "cmd=info-putnodeattr;key=shm;value=/x;", "cmd=info-putnodeattr-response;rc=0;");
    hears(pmi, 0, "    63cmd=info-getnodeattr-response;thrid=1;found=TRUE;value=/x;rc=0;");
    pmi_free(pmi);
}

TEST(an_abort_is_told_and_nonsense_closes_the_connection) {
    struct step_layout layout;
    struct step_node nodes[2];
    struct pmi *pmi = begin(&layout, nodes);
    assert_null(pmi_aborted(pmi));
    says(pmi, 0, "cmd=init pmi_version=2\n",
         "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
    says2(pmi, 0, "cmd=abort;isworld=TRUE;msg=no luck;", "");
    assert_string_equal(pmi_aborted(pmi), "task 0 called abort: no luck");
    assert_false(pmi_input(pmi, 0, "abcdefgh", 8));
    static char much[PMI_MESSAGE_MAX + 2];
    memset(much, 'x', sizeof(much));
    assert_false(pmi_input(pmi, 1, much, sizeof(much)));
    pmi_free(pmi);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mapping_says_which_ranks_are_together),
        cmocka_unit_test(a_task_of_pmi_1_finds_its_place_puts_and_meets_the_others),
        cmocka_unit_test(a_task_of_pmi_2_speaks_in_counted_messages_with_doubled_semicolons),
        cmocka_unit_test(an_attribute_of_the_node_is_waited_for),
        cmocka_unit_test(an_abort_is_told_and_nonsense_closes_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
