/* SPDX-License-Identifier: Apache-2.0
 *
 * mxc: runs and trains compiled networks (.mxa files). C99; link with
 * libmxc_runtime.
 *
 *   mxc_model* model;
 *   mxc_executor* executor;
 *   mxc_status* status = mxc_model_open("lenet.mxa", NULL, &model);
 *   if (status == NULL) status = mxc_bind(model, NULL, &executor);
 *   if (status == NULL) status = mxc_set_input(executor, "data", x, sizeof x);
 *   if (status == NULL) status = mxc_run(executor);
 *   if (status == NULL) status = mxc_read_output(executor, 0, y, sizeof y);
 *   if (status != NULL) {
 *     fprintf(stderr, "%s\n", mxc_status_message(status));
 *     mxc_status_release(status);
 *   }
 *
 * What stays: a program that was compiled with this header runs with every
 * later library of the same major version. Functions and their meaning, numbers
 * of enumerations and fields of structs are kept; new functions, numbers, and
 * fields at the end of structs come. Structs that the caller fills say their
 * size first (MXC_MODEL_OPTIONS, MXC_BIND_OPTIONS set it), so that a library
 * knows which fields there are: what is missing is zero, and a field that an
 * older library lacks must be zero. Structs that the library fills (summaries)
 * grow only with the major version. Artifacts are of the version of the
 * compiler that wrote them; another format is refused, and the network compiled
 * again.
 *
 * Conventions
 * - Status: a call that can fail returns mxc_status*, null for success; what it
 *   should have written through pointers is then not to be used. The caller
 *   releases a status that is not null. A message is one sentence, lower case,
 *   without a full stop.
 * - Ownership: what _open and mxc_bind give is the caller's to close. An
 *   executor keeps its model alive: they may be closed in any order. Strings
 *   and arrays that a call hands out belong to the model or executor it was
 *   asked of, and live as long. Descriptions are copied into the caller's
 *   structs.
 * - Threads: a model never changes after it is opened; any threads may use it
 *   at once. An executor serves one thread at a time; executors of one model
 *   run at once and share its weights. Executors that share their states, too
 *   (mxc_bind_options.share), count as one; those that share a team wait for
 *   each other. The only global state is the table of registered functions.
 * - Processes: after fork the child may use and close its parent's models and
 *   executors; they are copies, and the parent's are not touched. An executor
 *   runs on the child's calling thread alone, with the same bytes; bind one in
 *   the child for several threads. An executor that another thread was running
 *   at the fork can only be closed: every call for a run is MXC_BUSY.
 * - Null pointers: an argument that may be null is said to be. Any other that
 *   is null is MXC_INVALID_ARGUMENT ("'executor' is null"); a call that returns
 *   no status answers 0, "" or null.
 * - Units: sizes are bytes, times nanoseconds. Tensors are dense and row-major,
 *   in the byte order of the machine. Nothing is allocated after mxc_bind.
 * - Same model, same input: same bytes of output, for any number of threads.
 * - An .mxa file is a program: open only files that you would run. A file
 *   that is damaged, of another version or for another processor is refused. A
 *   file that is overwritten in place while it is open is beyond help: replace
 *   files by renaming.
 */
#ifndef MXC_RUNTIME_MXC_H_
#define MXC_RUNTIME_MXC_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MXC_API __attribute__((visibility("default")))
#else
#define MXC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------ */

typedef struct mxc_status mxc_status;

typedef enum mxc_code {
  MXC_OK = 0,
  MXC_INVALID_ARGUMENT = 1, /* the caller's mistake */
  MXC_NOT_FOUND = 2,        /* no such file, entry or tensor */
  MXC_CORRUPT = 3,          /* a file that is not what it says it is */
  MXC_UNSUPPORTED = 4,      /* a good file that cannot be used here */
  MXC_OUT_OF_MEMORY = 5,
  MXC_IO = 6,    /* the operating system refused */
  MXC_BUSY = 7,  /* the executor is running, or its team runs who asks */
  MXC_FAILED = 8 /* a function that the model calls */
} mxc_code;

/* Null is MXC_OK with the message "". */
MXC_API mxc_code mxc_status_code(const mxc_status* status);
MXC_API const char* mxc_status_message(const mxc_status* status);
MXC_API void mxc_status_release(mxc_status* status);

/* ---- Version ------------------------------------------------------------- */

/* Of the library: "0.1.0". */
MXC_API const char* mxc_version(void);
/* Of the artifacts that it reads: 10. */
MXC_API uint32_t mxc_format_version(void);

/* ---- Models ------------------------------------------------------------ */

typedef struct mxc_model mxc_model;

typedef enum mxc_weights {
  MXC_WEIGHTS_MAP = 0, /* the file's pages: instant, shared by processes */
  MXC_WEIGHTS_COPY = 1 /* copied to huge pages: faster where weights exceed the
                          caches, costs a copy when opened */
} mxc_weights;

typedef struct mxc_model_options {
  size_t struct_size;
  mxc_weights weights;
  int check_weights; /* not 0: read all weights when opened, and refuse a file
                        in which they have changed (about 6 GB a second from
                        the page cache). 0: opening takes a millisecond, weights
                        come when they are needed, and a run answers with them
                        as they are */
  /* Sees the file as a whole, before anything in it is believed or loaded, and
   * returns null, or why it is not to be opened: a sentence, which lives until
   * mxc_model_open returns. May be null. For who opens signed files only: what
   * it sees is what is loaded, whatever becomes of the path. */
  const char* (*approve)(void* context, const void* file, size_t size);
  void* approve_context;
} mxc_model_options;

#define MXC_MODEL_OPTIONS \
  {sizeof(mxc_model_options), MXC_WEIGHTS_MAP, 0, NULL, NULL}

/* `options` may be null: as MXC_MODEL_OPTIONS. */
MXC_API mxc_status* mxc_model_open(const char* path,
                                   const mxc_model_options* options,
                                   mxc_model** model);
/* The same for the `size` bytes of such a file in memory: one that came over a
 * network, or that a program carries. They are copied and may go when this
 * returns; `options->weights` changes nothing. `name` is what messages begin
 * with; null: "the artifact in memory". */
MXC_API mxc_status* mxc_model_open_memory(const void* file, size_t size,
                                          const char* name,
                                          const mxc_model_options* options,
                                          mxc_model** model);
/* Null is allowed. */
MXC_API void mxc_model_close(mxc_model* model);

/* Opening checks all of the file but the weights, unless the options ask for
 * them; this reads them, too. */
MXC_API mxc_status* mxc_model_verify(const mxc_model* model);

/* Lines "key: value": source, compiler, target and so on. */
MXC_API const char* mxc_model_manifest(const mxc_model* model);
/* The network's JSON as it came, terminated by a zero byte that `size` does not
 * count. The caller gives it back with mxc_free. */
MXC_API mxc_status* mxc_model_symbol(const mxc_model* model, char** text,
                                     size_t* size);
MXC_API void mxc_free(void* memory);

typedef struct mxc_model_sizes {
  uint64_t file_bytes, code_bytes, weight_bytes;
} mxc_model_sizes;
MXC_API void mxc_model_measure(const mxc_model* model, mxc_model_sizes* sizes);

/* MXNet's type flags. */
typedef enum mxc_dtype {
  MXC_F32 = 0,
  MXC_F64 = 1,
  MXC_F16 = 2,
  MXC_U8 = 3,
  MXC_I32 = 4,
  MXC_I8 = 5,
  MXC_I64 = 6,
  MXC_BOOL = 7,
  MXC_I16 = 8,
  MXC_U16 = 9,
  MXC_U32 = 10,
  MXC_U64 = 11,
  MXC_BF16 = 12
} mxc_dtype;

MXC_API const char* mxc_dtype_name(mxc_dtype dtype); /* "float32" */
MXC_API size_t mxc_dtype_size(mxc_dtype dtype);

/* ---- Entries: what a model can do -------------------------------------- */

/* An entry is one compiled function of the model, for fixed shapes: "infer"
 * for batches of 1, "infer" for batches of 32 and so on. */
typedef enum mxc_purpose {
  MXC_PURPOSE_OTHER = 0,
  MXC_PURPOSE_INFER = 1,
  MXC_PURPOSE_TRAIN = 2,
  MXC_PURPOSE_SCORE = 3,
  MXC_PURPOSE_GRAD = 4,
  MXC_PURPOSE_UPDATE = 5
} mxc_purpose;

typedef struct mxc_entry_summary {
  const char* name;
  mxc_purpose purpose;
  int64_t length; /* of the sequences that it is for; 0: any, or several
                     (mxc_model_length) */
  int64_t batch;  /* first axis of the first input; 0 if it has none */
  size_t input_count, output_count, buffer_count, step_count;
  /* Memory of a run, weights excluded. */
  uint64_t arena_bytes;       /* intermediate tensors, as planned */
  uint64_t scratch_bytes;     /* for each thread */
  uint64_t activation_bytes;  /* internal tensors and outputs at their peak */
  uint64_t lower_bound_bytes; /* the largest sum of live bytes: no plan of the
                                 same schedule needs less arena */
  uint64_t naive_bytes;       /* what they would take without sharing */
  uint64_t state_bytes;       /* what lives from run to run; once for executors
                                 that share it */
} mxc_entry_summary;

MXC_API size_t mxc_model_entry_count(const mxc_model* model);
MXC_API mxc_status* mxc_model_entry(const mxc_model* model, size_t entry,
                                    mxc_entry_summary* summary);
/* The first entry of that name and batch. A null name is "infer" or, if there
 * is none, the first entry's; batch 0 is any. */
MXC_API mxc_status* mxc_model_find_entry(const mxc_model* model,
                                         const char* name, int64_t batch,
                                         size_t* entry);

/* The same for sequences of a length: the entry for exactly that, else the
 * shortest one for any up to a greater one (mxc_set_length). `name` is without a
 * length, "infer". */
MXC_API mxc_status* mxc_model_find_length(const mxc_model* model,
                                          const char* name, int64_t batch,
                                          int64_t length, size_t* entry);

/* The lengths that an entry leaves open, each up to a bound: several where the
 * network has several, as source and target of a translation. All entries of a model
 * that are named alike before the colon have the same, in the same order. */
typedef struct mxc_length {
  const char* name; /* the network's own, "T"; "" where it is the only one */
  int64_t most;
} mxc_length;
MXC_API size_t mxc_model_length_count(const mxc_model* model, size_t entry);
MXC_API mxc_status* mxc_model_length(const mxc_model* model, size_t entry,
                                     size_t index, mxc_length* length);
/* As mxc_model_find_length, for a length of each, in their order. */
MXC_API mxc_status* mxc_model_find_lengths(const mxc_model* model,
                                           const char* name, int64_t batch,
                                           const int64_t* lengths, size_t count,
                                           size_t* entry);

/* What a tensor is for. */
typedef enum mxc_use {
  MXC_USE_OTHER = 0,
  MXC_USE_DATA = 1,   /* an input that samples fill */
  MXC_USE_LABEL = 2,  /* the same, a label */
  MXC_USE_RATE = 3,   /* an input: the learning rate, f64 */
  MXC_USE_CARRY = 4,  /* an output that goes on as an input: mxc_model_carry */
  MXC_USE_LOSS = 5,   /* an output: f32 */
  MXC_USE_METRIC = 6, /* an output that is reported */
  MXC_USE_PARAMETER = 7, /* a state that is trained */
  MXC_USE_AUXILIARY = 8, /* a state that the network itself computes */
  MXC_USE_OPTIMIZER = 9, /* a state that the optimizer keeps */
  MXC_USE_GRADIENT = 10, /* of a parameter, or of the loss's scale */
  MXC_USE_ROWS = 11, /* an output: which rows of a parameter have a gradient */
  MXC_USE_LOSS_SCALE = 12, /* a state: of training in float16 */
  MXC_USE_SHARED = 13,  /* a state that the optimizer keeps for all parameters
                              together */
  MXC_USE_UPDATES = 14, /* the same: how many updates there were; it counts for
                           each parameter by itself */
  MXC_USE_BEGUN = 15,   /* the same: whether there was one */
  MXC_USE_COUNT = 16, /* an output "count:NAME", one int32: how many rows of the
                        output NAME there are; those behind them say nothing */
  MXC_USE_LENGTH = 17 /* an input, one int32, that mxc_set_length sets: how many
                         entries of open axes there are (mxc_model_input_axis).
                         One for each length: "length", or "length:T" */
} mxc_use;

typedef struct mxc_tensor {
  const char* name;
  mxc_dtype dtype;
  int rank;
  const int64_t* dims;
  uint64_t bytes;
  mxc_use use;
} mxc_tensor;

MXC_API mxc_status* mxc_model_input(const mxc_model* model, size_t entry,
                                    size_t index, mxc_tensor* tensor);
MXC_API mxc_status* mxc_model_output(const mxc_model* model, size_t entry,
                                     size_t index, mxc_tensor* tensor);
/* The first open axis of an input or an output of an entry for sequences of any
 * length up to a bound, which its extent is, or a multiple of where it holds
 * several sequences; -1 where it has none.
 * Such an entry has inputs of use MXC_USE_LENGTH. */
MXC_API mxc_status* mxc_model_input_axis(const mxc_model* model, size_t entry,
                                         size_t index, int* axis);
MXC_API mxc_status* mxc_model_output_axis(const mxc_model* model, size_t entry,
                                          size_t index, int* axis);
/* For each axis the number of its length among those of the entry, or -1. `lengths`
 * has MXC_AXES of them, whatever the rank. */
#define MXC_AXES 8
MXC_API mxc_status* mxc_model_input_lengths(const mxc_model* model,
                                            size_t entry, size_t index,
                                            int* lengths);
MXC_API mxc_status* mxc_model_output_lengths(const mxc_model* model,
                                             size_t entry, size_t index,
                                             int* lengths);
/* `read` is 0 for an input that the network declares and nothing reads: the
 * label of a loss where no loss is computed, a value of which only the shape
 * mattered. Such an input may be given, is checked and ignored, and may be left
 * out. */
MXC_API mxc_status* mxc_model_input_read(const mxc_model* model, size_t entry,
                                         size_t index, int* read);

/* The entry's outputs that are an input of the next run where that goes on
 * where this one ended: the hidden state of a recurrent network. By their
 * indices. */
MXC_API size_t mxc_model_carry_count(const mxc_model* model, size_t entry);
MXC_API mxc_status* mxc_model_carry(const mxc_model* model, size_t entry,
                                    size_t index, size_t* output,
                                    size_t* input);

/* States: what lives from run to run. Parameters that are trained, moving
 * statistics, an optimizer's moments ("conv0_weight/momentum"), random
 * counters. All entries of a model have the same; a model for inference alone
 * has none. */
MXC_API size_t mxc_model_state_count(const mxc_model* model);
MXC_API mxc_status* mxc_model_state(const mxc_model* model, size_t index,
                                    mxc_tensor* tensor);

/* The state that an entry of purpose MXC_PURPOSE_UPDATE updates, and the one that
 * an output or an input belongs to: the parameter whose gradient, norm or rows
 * it is. MXC_NOT_FOUND where there is none. */
MXC_API mxc_status* mxc_model_entry_state(const mxc_model* model, size_t entry,
                                          size_t* state);
MXC_API mxc_status* mxc_model_output_state(const mxc_model* model, size_t entry,
                                           size_t index, size_t* state);
MXC_API mxc_status* mxc_model_input_state(const mxc_model* model, size_t entry,
                                          size_t index, size_t* state);

/* The storage plan: every tensor of an entry. */
typedef enum mxc_role {
  MXC_ROLE_INPUT = 0,
  MXC_ROLE_OUTPUT = 1,
  MXC_ROLE_WEIGHT = 2,
  MXC_ROLE_INTERNAL = 3,
  MXC_ROLE_ALIAS = 4, /* shares the bytes of another */
  MXC_ROLE_STATE = 5,
  MXC_ROLE_PREPARED = 6 /* a weight that was transformed at load */
} mxc_role;

typedef struct mxc_buffer_summary {
  mxc_tensor tensor; /* `bytes` with halo and padding */
  mxc_role role;
  size_t root;               /* the buffer whose bytes it shares, or itself */
  uint64_t offset;           /* into the arena, the weights, the prepared
                                weights or the root; a state's index */
  int first_step, last_step; /* holds a value from … to; -1: never */
} mxc_buffer_summary;

MXC_API mxc_status* mxc_model_buffer(const mxc_model* model, size_t entry,
                                     size_t index, mxc_buffer_summary* summary);

typedef struct mxc_step_summary {
  const char* name;   /* "conv0+bn0+relu0" */
  const char* kernel; /* the symbol that a profiler shows */
  int64_t tasks;      /* the fixed grid; 0: nothing to run (a view) */
  uint64_t scratch_bytes;
  uint64_t flops;           /* of the mathematics, in a run: of a step that
                               loops repeat, of all turns */
  uint64_t bytes;           /* of operands, read and written once a turn */
  const uint32_t* operands; /* buffers: inputs, then outputs */
  size_t operand_count, input_count;
} mxc_step_summary;

MXC_API mxc_status* mxc_model_step(const mxc_model* model, size_t entry,
                                   size_t index, mxc_step_summary* summary);

/* ---- Functions that models call ------------------------------------------ */

/* What a call hands to a function. It lives until the function returns. */
typedef struct mxc_call {
  size_t struct_size;         /* of the runtime's mxc_call */
  size_t operand_count;       /* inputs, then outputs */
  size_t input_count;         /* which are only read */
  const mxc_tensor* operands; /* types and shapes; names are the network's */
  void* const* data;        /* of each operand, dense, aligned to an element */
  const char* attributes;   /* text that the model gives */
  void* workspace;          /* for intermediate values, aligned to 64 */
  uint64_t workspace_bytes; /* may be 0 */
  void* user_data;          /* as registered */
} mxc_call;

/* Returns 0, or a number that ends the run, which reports it: for operands of
 * types that it does not take, too. It may be called from several threads at
 * once, keeps nothing that changes its answers, and lets no exception through.
 * `mxc verify --grad` asks it for f64. */
typedef int (*mxc_function)(const mxc_call* call);

/* Models that are opened from now on find the function by its name and version.
 * One that asks for a function that nobody knows is refused. Functions stay
 * registered: this table is the only global state. The runtime knows
 * bounded (a count that ends the run where it is too great), and by the machine's
 * LAPACK potrf, potri, trsm, gelqf and syevd. */
MXC_API mxc_status* mxc_register_function(const char* name, uint32_t version,
                                          mxc_function function,
                                          void* user_data);

/* A shared library of functions exports
 *
 *   mxc_status* mxc_functions(mxc_registrar add);
 *
 * which registers what it offers by `add`, which is mxc_register_function, and
 * returns the first failure; it needs no library of ours to be linked. */
typedef mxc_status* (*mxc_registrar)(const char* name, uint32_t version,
                                     mxc_function function, void* user_data);

/* Loads a library of functions, of operators (mxc_operators.h) or of both, a
 * file, and lets it register them; once, if it is loaded again. It stays loaded.
 * Its code runs in this process. */
MXC_API mxc_status* mxc_load_functions(const char* path);

/* ---- Executors ---------------------------------------------------------- */

typedef struct mxc_executor mxc_executor;

/* Threads for several executors: a program with many models then has as many as
 * it has processors, not as many for each. `threads` counts the caller of a
 * run; 0: one for each processor that the process may use. Runs from several
 * threads at once wait for each other; a function that a step calls cannot run
 * another executor of the same team (MXC_BUSY). */
typedef struct mxc_team mxc_team;
MXC_API mxc_status* mxc_team_create(int threads, mxc_team** team);
/* Its threads end with the last executor that uses them. Null is allowed. */
MXC_API void mxc_team_close(mxc_team* team);

typedef struct mxc_bind_options {
  size_t struct_size;
  const char* entry; /* as in mxc_model_find_entry */
  int64_t batch;     /* 0: any */
  int threads;       /* the caller's included; 0: one for each processor that
                        the process may use, or all of `team` */
  int profile;       /* not 0: measure each step (about 30 ns a step) */
  /* An executor of the same model whose states and arena to use, too, so that
   * "score" sees what "train" has learned; null: states of its own. One of them
   * runs at a time, and an output is valid until the next run of any. */
  mxc_executor* share;
  const char* device; /* where it runs, what the model was compiled for: "cpu",
                         "cuda:1"; null: that, number 0 */
  mxc_team* team; /* that runs it, of at least `threads` threads; null: threads
                     of its own */
  /* Of a device: the caller's stream, a CUstream or cudaStream_t. A run begins
   * when what was put there before is done, and what is put there after
   * mxc_run_async waits for it. It outlives the executor, and is not being
   * captured. Null: a stream of the executor's own, or that of `share`. */
  void* stream;
} mxc_bind_options;

#define MXC_BIND_OPTIONS \
  {sizeof(mxc_bind_options), NULL, 0, 0, 0, NULL, NULL, NULL, NULL}

/* Allocates all memory and starts the threads. `options` may be null: as
 * MXC_BIND_OPTIONS. */
MXC_API mxc_status* mxc_bind(mxc_model* model, const mxc_bind_options* options,
                             mxc_executor** executor);
/* Not during a run. Null is allowed. */
MXC_API void mxc_executor_close(mxc_executor* executor);

MXC_API size_t mxc_executor_entry(const mxc_executor* executor);
MXC_API int mxc_executor_threads(const mxc_executor* executor);

/* Inputs go by name. A null name is the only input that the entry reads, or
 * has. `size` must be the tensor's bytes.
 *
 * Every input that the entry reads (mxc_model_input_read), labels and learning
 * rate included, is set, mapped or bound before the first run, which else is
 * MXC_INVALID_ARGUMENT: "input 'data' was not set". Only what is carried from
 * run to run (mxc_model_carry) may be left out: it begins as zeros. */
MXC_API mxc_status* mxc_set_input(mxc_executor* executor, const char* name,
                                  const void* values, size_t size);
/* The host's memory of an input, to read and to write, until mxc_unmap; zeros
 * at first. An input keeps its value from run to run. */
MXC_API mxc_status* mxc_map_input(mxc_executor* executor, const char* name,
                                  void** memory, size_t* size);
/* Reads the input from the caller's memory, aligned to its element, from now
 * on, without a copy; null returns to the executor's own, and to the value that
 * was set there. */
MXC_API mxc_status* mxc_bind_input(mxc_executor* executor, const char* name,
                                   const void* memory, size_t size);

/* Of an entry with open axes: how long the sequences of the next runs are, from 1
 * to its bound, which holds until it is called. From now on
 * mxc_set_input and mxc_read_output take tensors of that extent; what is mapped
 * or bound keeps the entry's shape, of which the first entries count. */
MXC_API mxc_status* mxc_set_length(mxc_executor* executor, int64_t length);
/* The same for all lengths of the entry, in the order of mxc_model_length. */
MXC_API mxc_status* mxc_set_lengths(mxc_executor* executor,
                                    const int64_t* lengths, size_t count);
/* What mxc_model_input and mxc_model_output say, with the extents of that length;
 * valid until the next mxc_set_length. */
MXC_API mxc_status* mxc_executor_input(const mxc_executor* executor,
                                       size_t index, mxc_tensor* tensor);
MXC_API mxc_status* mxc_executor_output(const mxc_executor* executor,
                                        size_t index, mxc_tensor* tensor);

MXC_API mxc_status* mxc_run(mxc_executor* executor);

/* The same in two halves, between which a device works and the caller does
 * something else: mxc_run_async begins a run, mxc_wait ends it and says what
 * became of it. Until then inputs, outputs and states cannot be used, not even
 * memory that was bound, and no executor that shares them can run (MXC_BUSY).
 * On the CPU all is done when mxc_run_async returns. */
MXC_API mxc_status* mxc_run_async(mxc_executor* executor);
MXC_API mxc_status* mxc_wait(mxc_executor* executor);

/* Outputs go by index; this finds one by name. A null name is the only one.
 * Before the first run there is none to read: MXC_INVALID_ARGUMENT. */
MXC_API mxc_status* mxc_find_output(const mxc_executor* executor,
                                    const char* name, size_t* index);
MXC_API mxc_status* mxc_read_output(const mxc_executor* executor, size_t index,
                                    void* values, size_t size);
/* The host's memory of an output, as the last run left it, until mxc_unmap. */
MXC_API mxc_status* mxc_map_output(mxc_executor* executor, size_t index,
                                   const void** memory, size_t* size);
/* Gives back what a map has handed out, and hands a mapped input to the device.
 * While anything is mapped, the executor does not run: MXC_BUSY. */
MXC_API mxc_status* mxc_unmap(mxc_executor* executor, const void* memory);
/* Writes the output to the caller's memory, aligned to its element, from now
 * on; null returns to the executor's own. */
MXC_API mxc_status* mxc_bind_output(mxc_executor* executor, size_t index,
                                    void* memory, size_t size);

/* Nanoseconds of each step in the last run; with options.profile only. */
MXC_API mxc_status* mxc_step_times(const mxc_executor* executor,
                                   const int64_t** times, size_t* count);

/* ---- Memory of a device ------------------------------------------------- */

/* A piece of memory of the executor's device, zeros on a page of its own. Its
 * address is the device's. It may outlive the executor; while it is bound to
 * one, that does not run without it. */
typedef struct mxc_memory mxc_memory;
MXC_API mxc_status* mxc_memory_allocate(const mxc_executor* executor,
                                        size_t size, mxc_memory** memory);
/* Null is allowed. */
MXC_API void mxc_memory_free(mxc_memory* memory);
MXC_API void* mxc_memory_data(const mxc_memory* memory);
/* The first `size` bytes, to the device and from it; done when they return. */
MXC_API mxc_status* mxc_memory_write(mxc_memory* memory, const void* values,
                                     size_t size);
MXC_API mxc_status* mxc_memory_read(const mxc_memory* memory, void* values,
                                    size_t size);

/* mxc_bind_input and mxc_bind_output with memory of the executor's device, an
 * mxc_memory or CUDA's: a run copies nothing. It is aligned to 16 bytes. What
 * else works on it is done before a run begins, or stands before it in the
 * executor's `stream`, and the run is done with it when mxc_run or mxc_wait
 * returns. The first run at new addresses takes longer, for the device makes a
 * graph of it; those of the last 16 sets of addresses are kept. mxc_read_output
 * and mxc_map_output copy such an output to the host. Null returns to the
 * executor's own memory. On the CPU they do what the other two do. */
MXC_API mxc_status* mxc_bind_device_input(mxc_executor* executor,
                                          const char* name, const void* memory,
                                          size_t size);
MXC_API mxc_status* mxc_bind_device_output(mxc_executor* executor, size_t index,
                                           void* memory, size_t size);

/* ---- Training ----------------------------------------------------------- */

/* A run of the entry "train" is one step: it reads data, labels and the
 * learning rate, computes outputs and loss, and writes the next value of every
 * state. Where the loss is not finite no state changes. */

/* States go by name; `size` must be the state's bytes. Not during a run. */
MXC_API mxc_status* mxc_read_state(const mxc_executor* executor,
                                   const char* name, void* values, size_t size);
MXC_API mxc_status* mxc_write_state(mxc_executor* executor, const char* name,
                                    const void* values, size_t size);
/* All states become what the file says. */
MXC_API mxc_status* mxc_reset_states(mxc_executor* executor);

/* Where the first value that is not finite comes from. */
typedef struct mxc_nonfinite {
  const char* tensor; /* null: all values are finite */
  const char* step;   /* the step that wrote it; null: an input or a state */
  double value;       /* NaN or an infinity */
} mxc_nonfinite;

/* Runs the entry once more on the same inputs, step by step on the calling
 * thread, and looks at every tensor. States stay as they are; outputs do not.
 * For explaining a loss that is not finite: it allocates, and takes its time.
 */
MXC_API mxc_status* mxc_find_nonfinite(mxc_executor* executor,
                                       mxc_nonfinite* found);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_RUNTIME_MXC_H_ */
