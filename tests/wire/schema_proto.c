/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the record tables in protobuf's own language, so that protobuf-c can read what we write:
 *     schema_proto proto    the .proto file of all records
 *     schema_proto table    a C file that finds protobuf-c's descriptors by record name
 */
#include <stdio.h>
#include <string.h>

#include "random_record.h"

static const char *const type_names[] = {
    [FIELD_BOOL] = "optional bool",    [FIELD_U32] = "optional uint32",
    [FIELD_I32] = "optional sint32",   [FIELD_U64] = "optional uint64",
    [FIELD_I64] = "optional sint64",   [FIELD_F64] = "optional double",
    [FIELD_OPT32] = "optional uint32", [FIELD_OPT64] = "optional uint64",
    [FIELD_ENUM] = "optional uint32",  [FIELD_STR] = "optional string",
    [FIELD_BLOB] = "optional bytes",   [FIELD_STRS] = "repeated string",
    [FIELD_U32S] = "repeated uint32",
};

static void write_message(const struct record *record) {
    printf("message %s {\n", record->name);
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (field->record != NULL)
            printf("  %s %s", field->type == FIELD_REC ? "optional" : "repeated",
                   field->record->name);
        else
            printf("  %s", type_names[field->type]);
        printf(" %s = %u%s;\n", field->name, field->number,
               field->type == FIELD_U32S ? " [packed=true]" : "");
    }
    printf("}\n");
}

int main(int argc, char **argv) {
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(NULL, records);
    bool table = argc > 1 && strcmp(argv[1], "table") == 0;
    if (table)
        printf("#include \"schema.pb-c.h\"\n#include \"descriptors.h\"\n"
               "const struct descriptor_row descriptor_rows[] = {\n");
    else
        printf("syntax = \"proto2\";\npackage sluice;\n");
    for (size_t i = 0; i < n; i++) {
        if (table)
            printf("    {\"%s\", &sluice__%s__descriptor},\n", records[i]->name, records[i]->name);
        else
            write_message(records[i]);
    }
    if (table)
        printf("    {0, 0},\n};\n");
    return 0;
}
