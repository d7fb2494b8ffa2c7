/* SPDX-License-Identifier: Apache-2.0 */
/* Which number of the controller's is which device of a node. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../model/test_conf.h"
#include "slurmd/gres.h"

static char directory[] = "/tmp/sluice-gres-XXXXXX";

static void touch(const char *name) {
    cleanup_free char *path = xasprintf("%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fclose(file);
}

/* A node n1 with that Gres; '@' in gres.conf is the directory of the devices. */
struct found {
    struct reading reading;
    struct gres_inventory gres;
};

static struct found look(const char *gres, const char *gres_conf, const struct gpu_card *cards,
                         size_t n_cards) {
    struct str text = STR_INIT;
    for (const char *c = gres_conf; *c; c++) {
        if (*c == '@')
            str_append(&text, directory);
        else
            str_append_char(&text, *c);
    }
    cleanup_free char *whole =
        xasprintf("ClusterName=test SlurmctldHost=head GresTypes=gpu,nic NodeName=n1 CPUs=4 "
                  "Gres=%s\nPartitionName=main Nodes=n1 Default=YES\n",
                  gres);
    struct memory_file files[] = {{"/etc/slurm/slurm.conf", whole},
                                  {"/etc/slurm/gres.conf", str_cstr(&text)}};
    struct found found = {.reading = read_files(files, 2, CONF_SLURMD)};
    str_done(&text);
    if (found.reading.result != 0)
        fail_msg("%s", str_cstr(&found.reading.text));
    gres_inventory_make(found.reading.conf, conf_node_find(found.reading.conf, "n1"), cards,
                        n_cards, &found.gres);
    return found;
}

static void found_done(struct found *found) {
    gres_inventory_done(&found->gres);
    reading_done(&found->reading);
}

static void assert_counts(const struct found *found, const char *expected) {
    struct str text cleanup_str = STR_INIT;
    gres_print(&found->gres.counts, "", ':', &text);
    assert_string_equal(str_cstr(&text), expected);
}

static void assert_file(const struct found *found, uint32_t index, const char *name) {
    cleanup_free char *path = xasprintf("%s/%s", directory, name);
    const struct gres_device *device = gres_device_find(&found->gres, "gpu", index);
    assert_non_null(device);
    assert_string_equal(device->files.items[0].path, path);
}

static void assert_complaint(const struct found *found, const char *part) {
    vec_each (&found->gres.complaints, text) {
        if (strstr(*text, part) != NULL)
            return;
    }
    fail_msg("no complaint has \"%s\"; there are %zu, the first: %s", part,
             found->gres.complaints.n,
             found->gres.complaints.n > 0 ? found->gres.complaints.items[0] : "-");
}

TEST(numbers_follow_gres_of_the_node_not_the_lines_of_gres_conf) {
    struct found found =
        look("gpu:a100:2,gpu:v100:1",
             "Name=gpu Type=v100 File=@/gpu0\nName=gpu Type=a100 File=@/gpu[1-2]\n", NULL, 0);
    assert_file(&found, 0, "gpu1");
    assert_file(&found, 1, "gpu2");
    assert_file(&found, 2, "gpu0");
    assert_int_equal(gres_device_find(&found.gres, "gpu", 2)->number, 0);
    assert_counts(&found, "gpu:a100:2,gpu:v100:1");
    found_done(&found);
}

TEST(a_missing_device_keeps_its_number) {
    struct found found =
        look("gpu:3", "Name=gpu File=@/gone1\nName=gpu File=@/gpu[1-2]\n", NULL, 0);
    assert_file(&found, 1, "gpu1");
    assert_false(gres_device_find(&found.gres, "gpu", 0)->is_there);
    assert_counts(&found, "gpu:2");
    assert_complaint(&found, "gone1 of gres/gpu is not there");
    found_done(&found);
}

TEST(a_device_that_slurm_conf_does_not_know_is_not_used) {
    struct found found = look("gpu:1", "Name=gpu File=@/gpu[0-2]\n", NULL, 0);
    assert_null(gres_device_find(&found.gres, "gpu", 1));
    assert_complaint(&found, "2 devices more than Gres of node n1");
    found_done(&found);
}

TEST(a_type_may_be_a_part_of_what_the_device_is) {
    struct found found = look(
        "gpu:a100:1,gpu:1",
        "Name=gpu Type=h100 File=@/gpu0\nName=gpu Type=NVIDIA_A100-PCIE File=@/gpu1\n", NULL, 0);
    assert_file(&found, 0, "gpu1");
    assert_file(&found, 1, "gpu0");
    assert_counts(&found, "gpu:a100:1,gpu:h100:1");
    found_done(&found);
}

TEST(several_files_can_be_one_device) {
    struct found found = look("gpu:1", "Name=gpu MultipleFiles=@/gpu[0-1]\n", NULL, 0);
    const struct gres_device *device = gres_device_find(&found.gres, "gpu", 0);
    assert_non_null(device);
    assert_int_equal(device->files.n, 2);
    assert_counts(&found, "gpu:1");
    found_done(&found);
}

TEST(flags_say_which_variables_a_program_gets) {
    struct found found = look("gpu:1,nic:4",
                              "Name=gpu File=@/gpu0 Flags=amd_gpu_env,opencl_env\n"
                              "Name=nic Count=4\n",
                              NULL, 0);
    assert_int_equal(gres_device_find(&found.gres, "gpu", 0)->env, GPU_ENV_AMD | GPU_ENV_OPENCL);
    assert_counts(&found, "nic:4,gpu:1");
    found_done(&found);
    found = look("gpu:1", "Name=gpu File=@/gpu0\n", NULL, 0);
    assert_int_equal(gres_device_find(&found.gres, "gpu", 0)->env, GPU_ENV_ALL);
    found_done(&found);
}

/* ---- AutoDetect ---- */

static void two_cards(struct gpu_card *cards, char *file0, char *file1) {
    memset(cards, 0, 2 * sizeof(*cards));
    cards[0].type = cards[1].type = (char *) "nvidia_a100-sxm4-80gb";
    cards[0].file = file0;
    cards[1].file = file1;
    cards[0].links = (char *) "-1,12";
}

TEST(detected_cards_are_the_devices_of_slurm_conf) {
    cleanup_free char *file0 = xasprintf("%s/gpu0", directory);
    cleanup_free char *file1 = xasprintf("%s/gpu1", directory);
    struct gpu_card cards[2];
    two_cards(cards, file0, file1);
    struct found found = look("gpu:a100:2", "AutoDetect=nvml\n", cards, 2);
    assert_file(&found, 1, "gpu1");
    assert_counts(&found, "gpu:a100:2");
    const struct gres_device *device = gres_device_find(&found.gres, "gpu", 0);
    assert_int_equal(device->env, GPU_ENV_NVIDIA);
    assert_string_equal(device->links, "-1,12");
    assert_int_equal(device->card, 0);
    found_done(&found);
}

TEST(a_line_beside_autodetect_describes_a_card_and_makes_none_up) {
    cleanup_free char *file0 = xasprintf("%s/gpu0", directory);
    cleanup_free char *file1 = xasprintf("%s/gpu1", directory);
    struct gpu_card cards[2];
    two_cards(cards, file0, file1);
    struct found found = look("gpu:big:1,gpu:1",
                              "AutoDetect=nvml\nName=gpu Type=big File=@/gpu1 Cores=0-1\n"
                              "Name=gpu File=@/gpu2\n",
                              cards, 2);
    assert_file(&found, 0, "gpu1");
    assert_file(&found, 1, "gpu0");
    assert_string_equal(gres_device_find(&found.gres, "gpu", 0)->cores, "0-1");
    assert_complaint(&found, "AutoDetect found no GPU");
    found_done(&found);
}

TEST(autodetect_of_a_node_outweighs_that_of_all) {
    cleanup_free char *file0 = xasprintf("%s/gpu0", directory);
    cleanup_free char *file1 = xasprintf("%s/gpu1", directory);
    struct gpu_card cards[2];
    two_cards(cards, file0, file1);
    struct found found = look(
        "gpu:1", "NodeName=n1 AutoDetect=off\nAutoDetect=nvml\nName=gpu File=@/gpu2\n", cards, 2);
    assert_int_equal(gres_autodetect(found.reading.conf, "n1"), CONF_AUTODETECT_OFF);
    assert_file(&found, 0, "gpu2");
    assert_counts(&found, "gpu:1");
    found_done(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_gres_of_the_node_not_the_lines_of_gres_conf),
        cmocka_unit_test(a_missing_device_keeps_its_number),
        cmocka_unit_test(a_device_that_slurm_conf_does_not_know_is_not_used),
        cmocka_unit_test(a_type_may_be_a_part_of_what_the_device_is),
        cmocka_unit_test(several_files_can_be_one_device),
        cmocka_unit_test(flags_say_which_variables_a_program_gets),
        cmocka_unit_test(detected_cards_are_the_devices_of_slurm_conf),
        cmocka_unit_test(a_line_beside_autodetect_describes_a_card_and_makes_none_up),
        cmocka_unit_test(autodetect_of_a_node_outweighs_that_of_all),
    };
    if (mkdtemp(directory) == NULL)
        return 1;
    touch("gpu0");
    touch("gpu1");
    touch("gpu2");
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        cleanup_free char *path = xasprintf("%s/gpu%d", directory, i);
        unlink(path);
    }
    rmdir(directory);
    return failures;
}
