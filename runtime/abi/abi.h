/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract between generated code, the artifact file and the runtime. C
 * only, no dependencies. FORMAT.md explains the file with a worked example.
 *
 * An artifact (.mxa) is an ELF shared object, then, from the next multiple of
 * MXC_PAGE, its sections (each starts on a page), and at the very end of the
 * file one mxc_trailer. All integers are little-endian.
 */
#ifndef MXC_RUNTIME_ABI_ABI_H_
#define MXC_RUNTIME_ABI_ABI_H_

#include <stddef.h>
#include <stdint.h>

#define MXC_ABI_VERSION 5u
#define MXC_PAGE 4096u
#define MXC_MAX_RANK 8
#define MXC_TRAILER_MAGIC 0x314149525443584dull /* "MXCTRIA1" */
#define MXC_TABLES_MAGIC 0x3142415443584dull    /* "MXCTAB1" */
#define MXC_ARENA_ALIGNMENT 64 /* of offsets into arena, weights, states */
#define MXC_MAX_TASKS 0x7fffffff
#define MXC_SCRATCH_NOTE 8 /* bytes at the start of a kernel's scratch */

/* A step's code. `operands` points to the step's operands in the order of its
 * operand list: inputs, then outputs. Computes the tasks begin <= t < end of
 * the step's fixed grid; different tasks may run at once on different threads.
 * `scratch` is aligned to 64 bytes and private to the calling thread. Its first
 * MXC_SCRATCH_NOTE bytes are 0 when a thread first comes to a step in a run;
 * nobody else writes to the scratch until the thread leaves the step. There a
 * kernel notes what the next call for the same step finds in the scratch again.
 *
 * Operands in the arena, in the weights, in the prepared region and in the state
 * region lie where their offset says, from a base aligned to MXC_PAGE. The
 * caller's inputs and outputs are aligned to their element only. A kernel
 * touches no byte outside its operands and scratch, calls only other kernels,
 * and keeps nothing from one run of a step to the next. */
typedef void (*mxc_kernel)(void* const* operands, int64_t begin, int64_t end,
                           void* scratch);

/* The shared object exports four symbols:
 *   const mxc_kernel mxc_kernels[];          indexed by mxc_step.kernel
 *   const mxc_kernel_limits mxc_limits[];    one for each kernel
 *   const mxc_operand_limits mxc_operands[]; rows that these name
 *   const mxc_code_header mxc_abi;                                          */
typedef struct mxc_code_header {
  uint32_t abi_version;
  uint32_t kernel_count;
  uint64_t tables_checksum; /* of the tables that belong to this code */
  uint32_t operand_count;   /* rows of mxc_operands */
  uint32_t reserved;
} mxc_code_header;

/* CPU features, bits of mxc_tables.required_features. */
enum {
  MXC_CPU_SSE42 = 1 << 0,  /* with POPCNT: x86-64-v2 */
  MXC_CPU_AVX2 = 1 << 1,   /* with FMA, BMI1, BMI2, F16C, LZCNT: v3 */
  MXC_CPU_AVX512 = 1 << 2, /* F, BW, CD, DQ, VL: v4 */
};

/* A range of rows in another table. */
typedef struct mxc_range {
  uint32_t first, count;
} mxc_range;

/* What a kernel touches of an operand, at most. */
typedef struct mxc_operand_limits {
  uint64_t bytes; /* from the operand's first one on */
  uint8_t dtype;  /* as mxc_buffer.dtype */
  uint8_t reserved[7];
} mxc_operand_limits;

/* What a kernel touches, at most, in all tasks of its grid. The code says it of
 * itself, so that tables that would have it touch more are refused. */
typedef struct mxc_kernel_limits {
  int64_t tasks;          /* as mxc_step.tasks */
  uint64_t scratch_bytes; /* of the calling thread */
  mxc_range operands;     /* rows of mxc_operands: inputs, then outputs */
  uint32_t input_count;   /* as mxc_step.input_count */
  uint32_t reserved;
} mxc_kernel_limits;

enum mxc_section_kind {
  MXC_SECTION_CODE = 0, /* the ELF image, offset 0 */
  MXC_SECTION_WEIGHTS = 1,
  MXC_SECTION_TABLES = 2,   /* mxc_tables and what it points to */
  MXC_SECTION_MANIFEST = 3, /* text lines "key: value", for people */
  MXC_SECTION_SYMBOL = 4,   /* the network's JSON as it came */
  MXC_SECTION_COUNT = 5
};

typedef struct mxc_section {
  uint64_t offset, size; /* bytes, in the file */
  uint64_t checksum;     /* XXH3 64, seed 0 */
} mxc_section;

/* Who answers for the file: Ed25519 over MXC_SIGNED_PREFIX, without its zero
 * byte, and the SHA-256 of all bytes of the file before this struct. Zeros: it
 * is not signed. */
typedef struct mxc_signature {
  uint8_t public_key[32];
  uint8_t signature[64];
} mxc_signature;

#define MXC_SIGNED_PREFIX "mxc artifact\n"

typedef struct mxc_trailer {
  mxc_section sections[MXC_SECTION_COUNT];
  uint64_t file_size;
  uint32_t abi_version;
  uint32_t section_count;
  mxc_signature signature;
  uint64_t checksum; /* XXH3 64 of the bytes of this struct before it */
  uint64_t magic;    /* last 8 bytes of the file */
} mxc_trailer;

/* A string: bytes in the string table. A zero byte, not counted, follows. */
typedef mxc_range mxc_string;

typedef enum mxc_buffer_kind {
  MXC_BUFFER_INPUT = 0,    /* the caller's; row-major */
  MXC_BUFFER_OUTPUT = 1,   /* read by the caller after a run; row-major */
  MXC_BUFFER_WEIGHT = 2,   /* `offset` into the weights section */
  MXC_BUFFER_INTERNAL = 3, /* `offset` into the arena */
  MXC_BUFFER_ALIAS = 4,    /* bytes of buffer `root`, from `offset` on */
  MXC_BUFFER_STATE = 5,    /* `offset` is a row of `states`; row-major. A step
                              reads it, or writes its next value */
  MXC_BUFFER_PREPARED = 6  /* `offset` into the prepared region */
} mxc_buffer_kind;

/* What lives from run to run: parameters that are trained, moving statistics,
 * moments, random counters. All entries of an artifact share them. Row-major
 * without padding. */
typedef struct mxc_state {
  mxc_string name; /* "conv0_weight", "conv0_weight/momentum" */
  int64_t dims[MXC_MAX_RANK];
  uint8_t rank;
  uint8_t dtype; /* as mxc_buffer.dtype */
  uint8_t reserved0[6];
  uint64_t offset;  /* bytes, in the state region */
  uint64_t bytes;   /* of its elements */
  uint64_t initial; /* what it is before the first run: bytes into the weights
                       section; MXC_ZEROS: zeros */
} mxc_state;

#define MXC_ZEROS UINT64_MAX

typedef struct mxc_buffer {
  mxc_string name;
  int64_t dims[MXC_MAX_RANK];
  uint8_t rank;
  uint8_t dtype; /* a type flag of dtype.def */
  uint8_t kind;  /* mxc_buffer_kind */
  uint8_t gaps;  /* 1: a window, between whose elements those of others lie */
  uint32_t root;   /* index within the entry of a buffer that is no alias;
                      itself unless an alias */
  uint64_t offset; /* by kind; 0 for inputs and outputs */
  uint64_t bytes;  /* to its last one, with padding and what lies in gaps;
                      inputs, outputs and states have none */
  int32_t first_step, last_step; /* live range within the entry; -1: not */
} mxc_buffer;

typedef struct mxc_step {
  mxc_string name; /* "conv0+bn0+relu0" */
  mxc_string kernel_name;
  uint32_t kernel;      /* row of mxc_kernels */
  uint32_t input_count; /* operands that are read only; the rest is written */
  mxc_range operands; /* rows of `operands`: buffer indices within the entry */
  int64_t tasks;      /* 0 <= task < tasks <= MXC_MAX_TASKS; 0: nothing runs
                         and `kernel` means nothing (a view) */
  uint64_t scratch_bytes;
  uint64_t flops; /* counted from the mathematics */
  uint64_t bytes; /* operands read and written once */
} mxc_step;

typedef struct mxc_entry {
  mxc_string name;           /* "infer" */
  mxc_range buffers, steps;  /* rows */
  mxc_range inputs, outputs; /* rows of `operands`: buffer indices. Inputs are
                                of kind INPUT; an output is any buffer that is
                                row-major without padding */
  int64_t batch;             /* of the first input, 0 if it has no axes */
  uint64_t arena_bytes, scratch_bytes; /* scratch: for each thread */
  uint64_t activation_bytes, lower_bound_bytes, naive_bytes;
} mxc_entry;

/* The tables section: this header, then the tables at byte offsets from the
 * start of the section, each aligned to 8. No row belongs to two owners: the
 * ranges that name rows of one table do not overlap. */
typedef struct mxc_tables {
  uint64_t magic;
  uint32_t abi_version;
  uint32_t kernel_count;
  uint64_t required_features;
  uint64_t entries_offset, entry_count;
  uint64_t buffers_offset, buffer_count;
  uint64_t steps_offset, step_count;
  uint64_t operands_offset, operand_count; /* uint32_t each */
  uint64_t states_offset, state_count;
  uint64_t state_bytes; /* of the state region */
  uint64_t strings_offset, string_bytes;
  uint64_t prepared_bytes; /* of the prepared region: weights in a form that
                              the file would be larger with. Not 0: the last
                              entry writes it, once, when the file is opened.
                              Its arena is that region; it has no inputs and
                              outputs, and nobody else runs it */
} mxc_tables;

#endif /* MXC_RUNTIME_ABI_ABI_H_ */
