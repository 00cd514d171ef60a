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

#define MXC_ABI_VERSION 10u
#define MXC_PAGE 4096u
#define MXC_MAX_RANK 8
#define MXC_TRAILER_MAGIC 0x314149525443584dull /* "MXCTRIA1" */
#define MXC_TABLES_MAGIC 0x3142415443584dull    /* "MXCTAB1" */
#define MXC_ARENA_ALIGNMENT 64 /* of offsets into arena, weights, states */
#define MXC_MAX_TASKS 0x7fffffff
#define MXC_MAX_TURNS 0x7fffffff
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
 *   const mxc_kernel mxc_kernels[];          indexed by mxc_step.kernel; in a
 *                                            file for a device, null where the
 *                                            section DEVICE has the kernel
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
  MXC_CPU_SSE42 = 1 << 0,    /* with POPCNT: x86-64-v2 */
  MXC_CPU_AVX2 = 1 << 1,     /* with FMA, BMI1, BMI2, F16C, LZCNT: v3 */
  MXC_CPU_AVX512 = 1 << 2,   /* F, BW, CD, DQ, VL: v4 */
  MXC_CPU_AMX_BF16 = 1 << 3, /* tiles of bf16, with AVX512-BF16 */
  MXC_CPU_AVX512_BF16 = 1 << 4,
  MXC_CPU_AVX512_VNNI = 1 << 5, /* products of 8-bit integers */
  MXC_CPU_AVX_VNNI = 1 << 6,    /* the same, of 32 bytes, with AVX2 */
  MXC_CPU_AMX_INT8 = 1 << 7,    /* tiles of 8-bit integers */
  /* Other architectures' begin where x86-64's may grow to. */
  MXC_CPU_NEON = 1 << 16,    /* aarch64, with its vectors of 16 bytes */
  MXC_CPU_I8MM = 1 << 17,    /* dot products of 8-bit integers, of both signs */
  MXC_CPU_BF16 = 1 << 18,    /* those of bf16 */
  MXC_CPU_SVE256 = 1 << 19,  /* SVE, whose vectors have 32 bytes */
  MXC_CPU_RVV128 = 1 << 24,  /* riscv64, with vectors of 16 bytes or more */
  MXC_CPU_SIMD128 = 1 << 28, /* WebAssembly, with its vectors of 16 bytes */
  MXC_CPU_RELAXED_SIMD = 1 << 29, /* the same, and multiply-adds that round as
                                     the machine does */
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
  MXC_SECTION_DEVICE = 5,   /* mxc_device_code: kernels of mxc_tables.device */
  MXC_SECTION_COUNT = 6
};

typedef struct mxc_section {
  uint64_t offset, size; /* bytes, in the file */
  uint64_t checksum;     /* XXH3 64, seed 0 */
} mxc_section;

/* Forms of code for devices. */
typedef enum mxc_image_kind {
  MXC_IMAGE_NAMES = 0, /* names of kernels, each with a zero byte, in the order
                          of mxc_kernels, which has their code */
  MXC_IMAGE_PTX = 1,   /* NVIDIA's assembly as text, with a zero byte */
  MXC_IMAGE_CUBIN = 2, /* machine code of one generation of NVIDIA's devices */
  MXC_IMAGE_EMULATED = 3, /* an ELF shared object for an emulated device */
  MXC_IMAGE_KIND_COUNT = 4
} mxc_image_kind;

#define MXC_IMAGE_OF_ONE 0x10000u

/* One form of all kernels. The device takes the best that it can run. */
typedef struct mxc_device_image {
  uint32_t kind;         /* mxc_image_kind */
  uint32_t version;      /* of the device that it needs at least: 90 of sm_90;
                            with MXC_IMAGE_OF_ONE it needs that one */
  uint64_t offset, size; /* bytes, in the section */
} mxc_device_image;

/* The section DEVICE: this header, the rows of its images, their bytes. Empty
 * in a file for the host alone. Steps name its kernels by `kernel_name`. */
typedef struct mxc_device_code {
  uint32_t abi_version;
  uint32_t image_count;
} mxc_device_code;

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

/* A string: bytes in the string table. A zero byte, not counted, follows. Zeros:
 * there is none, which is as good as an empty one. */
typedef mxc_range mxc_string;

typedef enum mxc_buffer_kind {
  MXC_BUFFER_INPUT = 0,    /* the caller's; row-major */
  MXC_BUFFER_OUTPUT = 1,   /* read by the caller after a run; row-major */
  MXC_BUFFER_WEIGHT = 2,   /* `offset` into the weights section */
  MXC_BUFFER_INTERNAL = 3, /* `offset` into the arena */
  MXC_BUFFER_ALIAS = 4,    /* bytes of buffer `root`, from `offset` on */
  MXC_BUFFER_STATE = 5,    /* `offset` is a row of `states`; row-major. A step
                              reads it, or writes its next value */
  MXC_BUFFER_PREPARED = 6, /* `offset` into the prepared region */
  MXC_BUFFER_WINDOW = 7    /* bytes of buffer `root` that move from turn to turn
                              of the repeat at step `loop`: see mxc_buffer */
} mxc_buffer_kind;

/* Where a buffer lies and a step runs. A buffer of the host is internal, in the
 * entry's host arena, a weight, or an alias or window of such a one. */
typedef enum mxc_place {
  MXC_PLACE_DEVICE = 0, /* mxc_tables.device, which may be the host itself */
  MXC_PLACE_HOST = 1,
  MXC_PLACE_COUNT = 2
} mxc_place;

/* What a tensor of an entry, or a state, is for those who train and measure.
 * What is trained has a number: a parameter its index, the loss's scale the one
 * behind those. That is the index of its gradient, of its rows and norms, and of
 * what the optimizer keeps for it. */
typedef enum mxc_tensor_role {
  MXC_TENSOR_OTHER = 0,
  MXC_TENSOR_DATA = 1,      /* input that the data source fills */
  MXC_TENSOR_LABEL = 2,     /* the same, a label */
  MXC_TENSOR_RATE = 3,      /* input: the learning rate, one f64 */
  MXC_TENSOR_CARRY = 4,     /* see mxc_entry.carries */
  MXC_TENSOR_LOSS = 5,      /* output: one f32 */
  MXC_TENSOR_METRIC = 6,    /* output: the norm of a gradient, one f32 */
  MXC_TENSOR_PARAMETER = 7, /* state that is trained; `index` is MXNet's update
                               index */
  MXC_TENSOR_AUXILIARY = 8, /* state that the network itself computes */
  MXC_TENSOR_OPTIMIZER = 9, /* state that the optimizer keeps */
  MXC_TENSOR_GRADIENT = 10, /* of a parameter, or of the loss's scale */
  MXC_TENSOR_ROWS = 11,     /* output: numbers of the rows of a parameter that
                               alone have a gradient, in any order; they are cut
                               to whole numbers and clipped to the rows that
                               there are */
  MXC_TENSOR_LOSS_SCALE = 12, /* state: of training in f16 */
  MXC_TENSOR_SHARED = 13,  /* state that the optimizer keeps for all parameters
                              together */
  MXC_TENSOR_UPDATES = 14, /* the same, counted for each parameter by itself:
                              how many updates there were */
  MXC_TENSOR_BEGUN = 15,   /* the same: whether there was one */
  MXC_TENSOR_COUNT = 16,   /* output "count:NAME": how many rows of the output
                              NAME there are, one i32 */
  MXC_TENSOR_LENGTH = 17,  /* input "length", or "length:NAME": how many entries
                              of open axes count, one i32 (FORMAT.md) */
  MXC_TENSOR_ROLE_COUNT = 18
} mxc_tensor_role;

/* What lives from run to run: parameters that are trained, moving statistics,
 * moments, random counters. All entries of an artifact share them. Row-major
 * without padding. */
typedef struct mxc_state {
  mxc_string name; /* "conv0_weight", "conv0_weight/momentum" */
  int64_t dims[MXC_MAX_RANK];
  uint8_t rank;
  uint8_t dtype; /* as mxc_buffer.dtype */
  uint8_t role;  /* mxc_tensor_role */
  uint8_t reserved;
  uint32_t index;   /* its place among the states of this role, or the number
                       of what it belongs to: see mxc_tensor_role */
  uint64_t offset;  /* bytes, in the state region */
  uint64_t bytes;   /* of its elements */
  uint64_t initial; /* what it is before the first run: bytes into the weights
                       section; MXC_ZEROS: zeros */
} mxc_state;

#define MXC_ZEROS UINT64_MAX

/* A window's bytes in turn t of its repeat begin at byte
 *   offset + advance * i of its root, where i = t + shift, or
 *   (t + shift) mod period if that is not 0.
 * t is 0 in the first turn and before it, and the number of turns that were
 * taken after the last one; with MXC_REPEAT_LAST the first turn has a later t.
 * A value that each turn reads and writes anew is two windows of period 2 on one
 * buffer of two such values, shifts 0 and 1. Slices of stacked tensors are
 * windows of period 0, which only the body of their repeat uses. A root may be
 * the window of a repeat around this one. */
typedef struct mxc_buffer {
  mxc_string name;
  int64_t dims[MXC_MAX_RANK];
  uint8_t rank;
  uint8_t dtype;   /* a type flag of dtype.def */
  uint8_t kind;    /* mxc_buffer_kind */
  uint8_t gaps;    /* 1: elements of other buffers lie between its elements */
  uint32_t root;   /* index within the entry of a buffer that is no alias;
                      itself unless an alias or a window */
  uint64_t offset; /* by kind; of inputs and outputs 1 + the open axis, where it
                      is the only one and of the only length (FORMAT.md); 0 */
  uint64_t bytes;  /* to its last one, with padding and what lies in gaps;
                      inputs, outputs and states have none */
  int32_t first_step, last_step; /* live range within the entry; -1: not */
  uint8_t place;                 /* mxc_place */
  uint8_t role;                  /* mxc_tensor_role, of inputs and outputs */
  uint16_t index;                /* its place among those of this role, or the
                                    number of what it belongs to */
  uint32_t loop;          /* of a window: its repeat, a row within the entry */
  int64_t advance;        /* bytes; of that axis, how many indices are of one
                             entry; of a LENGTH beside others its most */
  uint32_t period, shift; /* turns; of inputs and outputs rows of `operands` */
} mxc_buffer;

/* The steps of an entry run in order. Those of a block follow the step that it
 * belongs to; blocks nest. */
typedef enum mxc_step_kind {
  MXC_STEP_KERNEL = 0, /* all tasks of a kernel; none: a view, nothing runs */
  MXC_STEP_REPEAT = 1, /* runs the next `body` steps over and over. Operands, by
                          the flags: the number of turns (one i32 or i64), which
                          is at most `turns`; a condition (one element), which
                          is read after each turn: 0 ends the repeat */
  MXC_STEP_BRANCH = 2, /* operand: a condition (one element). Not 0: runs the
                          next `body` steps, else the `other` after these */
  MXC_STEP_CALL = 3,   /* a function of imports, on one thread. Operands are
                          dense and row-major, and lie on the host */
  MXC_STEP_COPY = 4,  /* the bytes of operand 0 become those of operand 1, which
                          may lie in another place */
  MXC_STEP_START = 5, /* the next `body` steps, copies and kernels, run in their
                          order beside those that follow; what they write is
                          there after the wait for them */
  MXC_STEP_WAIT = 6,  /* for the start at step `after`, in the same block. Its
                          operands, if it has any, are views of what the start
                          reads and writes */
  MXC_STEP_COLLECTIVE = 7, /* what the devices that run this program do together
                          with each input, `kernel_name` of collectives.def: as
                          many outputs are what each has then. Operands are
                          dense and row-major */
  MXC_STEP_KIND_COUNT = 8
} mxc_step_kind;

/* Flags of a repeat. Without a count it takes `turns` turns. */
enum {
  MXC_REPEAT_COUNT = 1 << 0,
  MXC_REPEAT_CONDITION = 1 << 1,
  MXC_REPEAT_TEST_FIRST = 1 << 2, /* the condition is also read before the first
                                     turn */
  MXC_REPEAT_LAST = 1 << 3 /* with a count: that many of the last of `turns`
                              turns, whose windows have no period */
};

/* Of a kernel of several tasks: of n elements, which each of its outputs has,
 * task t writes n / tasks from n / tasks * t on. */
enum { MXC_KERNEL_EVEN = 1 << 0 };

/* Of a call: its last operand, u8 in the arena, is for intermediate values. */
enum { MXC_CALL_WORKSPACE = 1 << 0 };

/* How a device launches a kernel; zeros on the host. */
typedef struct mxc_launch {
  uint32_t grid[3], block[3]; /* blocks, and threads of each */
  uint32_t shared_bytes;      /* of a block */
  uint32_t reserved;
} mxc_launch;

typedef struct mxc_step {
  mxc_string name;        /* "conv0+bn0+relu0" */
  mxc_string kernel_name; /* of a call: "potrf"; of a collective: what it is */
  mxc_string attributes;  /* of a call; of a device's kernel: what a library may
                             compute in its place (matrix_product.h), or "" */
  uint8_t kind;           /* mxc_step_kind */
  uint8_t flags;          /* by kind */
  uint8_t place;          /* mxc_place; of a copy DEVICE, wherever it goes */
  uint8_t reserved;
  uint32_t kernel;    /* row of mxc_kernels; of a call, of imports */
  mxc_range operands; /* rows of `operands`: buffer indices within the entry */
  uint32_t input_count; /* operands that are read only; the rest is written */
  uint32_t body, other; /* steps, of a repeat, branch or start */
  uint32_t after;       /* of a wait: what it waits for, a row in the entry */
  int64_t tasks; /* of a kernel: 0 <= task < tasks <= MXC_MAX_TASKS; 0: nothing
                    runs and `kernel` means nothing */
  int64_t turns; /* of a repeat, at most: 0 to MXC_MAX_TURNS. Of a collective:
                    the devices that it is for; 0: any number */
  uint64_t scratch_bytes;
  uint64_t flops; /* counted from the mathematics, each time that it runs */
  uint64_t bytes; /* operands read and written once */
  uint64_t nanoseconds; /* modelled, each time that it runs: on one core, or on
                           the device, that was compiled for. 0: not known, and
                           of a repeat or a branch, whose steps have theirs */
  mxc_launch launch;
} mxc_step;

/* What an entry is for. */
typedef enum mxc_entry_kind {
  MXC_ENTRY_OTHER = 0,
  MXC_ENTRY_INFER = 1,
  MXC_ENTRY_TRAIN = 2,  /* one step of training: outputs, loss, next states */
  MXC_ENTRY_SCORE = 3,  /* outputs and loss; no state changes */
  MXC_ENTRY_GRAD = 4,   /* outputs, loss and gradients */
  MXC_ENTRY_UPDATE = 5, /* next states, of gradients */
  MXC_ENTRY_PREPARE = 6,
  MXC_ENTRY_KIND_COUNT = 7
} mxc_entry_kind;

typedef struct mxc_entry {
  mxc_string name;           /* "infer", "train:32" */
  mxc_range buffers, steps;  /* rows */
  mxc_range inputs, outputs; /* rows of `operands`: buffer indices. Inputs are
                                of kind INPUT; an output is any buffer that is
                                row-major without padding */
  mxc_range carries;         /* rows of `operands`, in pairs: an output, and the
                                input of the same type that it is in a next run
                                which goes on where this one ended */
  int64_t batch;             /* of the first input, 0 if it has no axes */
  uint64_t arena_bytes, scratch_bytes; /* scratch: for each thread */
  uint64_t activation_bytes, lower_bound_bytes, naive_bytes;
  uint32_t kind;             /* mxc_entry_kind */
  uint32_t index;            /* of an UPDATE: the number of what it updates (see
                                mxc_tensor_role); 0 of the others */
  int64_t length;            /* of its sequences: 32 of "train:32"; 0: any */
  uint64_t host_arena_bytes; /* of internal buffers of the host */
} mxc_entry;

/* A function that the code does not hold: the runtime finds it by name and
 * version when the file is opened. */
typedef struct mxc_import {
  mxc_string name;
  uint32_t version;
  uint32_t reserved;
} mxc_import;

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
  uint64_t imports_offset, import_count;
  uint64_t state_bytes; /* of the state region */
  uint64_t strings_offset, string_bytes;
  uint64_t prepared_bytes; /* of the prepared region: weights in a form that
                              the file would be larger with. Not 0: the last
                              entry, of kind PREPARE and the only one, writes it,
                              once, when the file is opened.
                              Its arena is that region; it has no inputs and
                              outputs, and nobody else runs it. It runs on the
                              host */
  mxc_string device; /* whose kernels these are (runtime/device/devices.def):
                        "cuda"; "": the host's */
} mxc_tables;

#endif /* MXC_RUNTIME_ABI_ABI_H_ */
