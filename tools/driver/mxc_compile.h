/* SPDX-License-Identifier: Apache-2.0
 *
 * mxc_compile: compiles a network into an .mxa file. C99; link with libmxc.
 * What it makes is run by runtime/mxc.h, which needs no compiler.
 *
 *   mxc_compile_options options;
 *   mxc_compile_options_init(&options, sizeof options);
 *   options.model = "lenet.json";
 *   options.init = "xavier";
 *   mxc_compilation* compilation = mxc_compile(&options);
 *   if (!mxc_compilation_ok(compilation) ||
 *       mxc_compilation_save(compilation, "lenet.mxa") != 0) {
 *     size_t count = mxc_compilation_diagnostic_count(compilation);
 *     for (size_t i = 0; i < count; ++i) {
 *       const mxc_diagnostic* d = mxc_compilation_diagnostic(compilation, i);
 *       fprintf(stderr, "%s:%d:%d: %s\n", d->file, d->line, d->column,
 *               d->message);
 *     }
 *   }
 *   mxc_compilation_release(compilation);
 *
 * Conventions
 * - Errors: mxc_compile gives all that is wrong at once, as diagnostics; no
 *   exception leaves the library. Without memory for the answer it is null,
 *   which all functions here accept. A process that runs out of memory within
 *   the code generator is ended by it.
 * - Ownership: the caller releases a compilation. What it hands out belongs to
 *   it, and lives as long. What the options point to is only read during
 *   mxc_compile.
 * - Threads: any threads may compile at once; a compilation serves one of them
 *   at a time. Code is generated on all processors; linking takes turns.
 * - Same options, same files: same bytes.
 * - Growth: options are extended at their end, and all zero bytes there mean
 *   what was done before; diagnostics are extended at theirs. Other structs
 *   stay as they are.
 * - Units: sizes are bytes. Tensors are dense and row-major, in the byte order
 *   of the machine.
 */
#ifndef MXC_TOOLS_DRIVER_MXC_COMPILE_H_
#define MXC_TOOLS_DRIVER_MXC_COMPILE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MXC_COMPILE_API __attribute__((visibility("default")))
#else
#define MXC_COMPILE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
MXC_COMPILE_API const char* mxc_compile_version(void);

/* ---- Options ------------------------------------------------------------ */

/* The shape of an input. */
typedef struct mxc_compile_shape {
  const char* name;
  int rank;
  const int64_t* dims;
} mxc_compile_shape;

/* The element type of an input: mxc_dtype of runtime/mxc.h. */
typedef struct mxc_compile_type {
  const char* name;
  int dtype;
} mxc_compile_type;

/* A parameter or auxiliary state by the name of its variable. */
typedef struct mxc_compile_array {
  const char* name;
  int dtype; /* mxc_dtype */
  int rank;
  const int64_t* dims;
  const void* values;
} mxc_compile_array;

/* The shapes of all inputs for sequences of one length. */
typedef struct mxc_compile_bucket {
  int64_t length;
  const mxc_compile_shape* shapes;
  size_t shape_count;
} mxc_compile_bucket;

/* A length that inputs leave open, by its name: "T" of ["N", "T"]. */
typedef struct mxc_compile_length {
  const char* name;
  int64_t most; /* 1 or more */
} mxc_compile_length;

/* How many rows a node yields at most, of which data decide how many there are
 * (_contrib_boolean_mask, _npx_nonzero, _npi_unique). */
typedef struct mxc_compile_bound {
  const char* node;
  int64_t rows; /* 1 or more */
} mxc_compile_bound;

/* After mxc_compile_options_init everything but the network may stay as it is.
 * A null array has no elements. */
typedef struct mxc_compile_options {
  size_t struct_size; /* set by mxc_compile_options_init */

  /* The network: MXNet's symbol JSON or mxc's own, in a file, or `text`, which
   * errors call by its name. */
  const char* model;
  const char* text;
  size_t text_size;
  const char* text_name; /* null: "network" */

  /* Its parameters: an MXNet .params file (null: found beside `model`), or
   * arrays in memory, which win. */
  const char* params;
  const mxc_compile_array* arrays;
  size_t array_count;
  /* How parameters without a value begin, as `mxc compile --init` has it:
   * "xavier"; null: they are errors. */
  const char* init;
  uint64_t seed;

  const mxc_compile_shape* shapes;
  size_t shape_count;
  const mxc_compile_type* types;
  size_t type_count;
  /* Batch sizes, each with code of its own; none: as the shapes say. */
  const int64_t* batches;
  size_t batch_count;
  const mxc_compile_bucket* buckets;
  size_t bucket_count;

  /* "infer", "train", "score"; none: "infer". */
  const char* const* entries;
  size_t entry_count;
  /* How "train" updates the parameters: "sgd", and "momentum=0.9" … */
  const char* optimizer; /* null: "sgd" */
  const char* const* optimizer_attributes;
  size_t optimizer_attribute_count;
  /* Of parameters that are not trained, as a shell's patterns: "stage1_*". */
  const char* const* fixed;
  size_t fixed_count;
  uint64_t memory_budget; /* a plan whose peak is larger is refused; 0: none */

  const char* target; /* "x86-64-v3" …; null: "native" */
  int level;          /* 0 to 3, 2 after init; 3 measures kernels */
  /* Measured times, read where a file is named and written at level 3. Null at
   * level 3: tuning.json in the user's cache folder. */
  const char* tuning_cache;
  double tuning_seconds;    /* of measuring; 30 after init */
  const char* object_cache; /* a folder for compiled kernels; null: none */

  /* Called on the compiling thread as each phase ends; `seconds` is negative
   * for a remark. May be null. */
  void (*progress)(void* context, const char* phase, const char* text,
                   double seconds);
  void* progress_context;

  /* Of what is kept between layers: "f32", "tf32", "bf16" or "f16", as `mxc
   * compile --precision` has it; null: "f32". */
  const char* precision;
  /* Asked again and again meanwhile, from several threads at once; not 0: the
   * compilation gives up, with the error "cancelled". May be null. */
  int (*is_cancelled)(void* context);
  void* cancel_context;

  /* What the labels' numbers stand for, and what was done to samples, as a
   * source of data says it ("data_shape=3,224,224 resize=256 …"): kept in the
   * artifact. None: what is noted beside the parameters of a checkpoint. */
  const char* const* label_names;
  size_t label_name_count;
  const char* preprocessing;

  /* What of a label's 1 the other classes share, from 0 to less than 1: MXNet's
   * smooth_alpha of the SoftmaxOutputs, in "train". */
  double label_smoothing;

  /* How many classes the network is to tell apart: its last layer gets as many
   * outputs, and its parameters begin anew, as `init` says, where those that are
   * given have other shapes. 0: as many as it has. */
  int64_t num_classes;

  /* What a network without a loss head learns by, as `mxc train --loss` has it:
   * "softmax_cross_entropy", or "mse:scores" where it has several outputs. Null:
   * by its own. */
  const char* loss;

  /* In what products keep the constant weights that they multiply with, as `mxc
   * compile --weights` has it: "bf16", "int8", "int4" or "int4:64"; null:
   * "f32". Not where an entry trains. */
  const char* weights;
  /* Of parameters that stay as they are, as a shell's patterns. */
  const char* const* kept_weights;
  size_t kept_weight_count;

  /* Memory is planned for so many rows, and a run in which there are more fails;
   * nodes that are not named: as many as there can be. An output of such rows
   * is followed by another, "count:NAME" (MXC_USE_COUNT of runtime/mxc.h). */
  const mxc_compile_bound* bounds;
  size_t bound_count;

  /* Above 0: axes that inputs leave open behind the batch have any length up to
   * it (mxc_set_length of runtime/mxc.h). A run is as long as the next of `lengths`,
   * the longest of which is `length`; none: of lengths some 6 % apart. Each is an
   * entry of its own. It goes with no buckets. */
  int64_t length;
  const int64_t* lengths;
  size_t length_count;

  /* Layers that read float32 whatever `precision` says, as a shell's
   * patterns. */
  const char* const* kept_layers;
  size_t kept_layer_count;

  /* Instead of `length`, where inputs leave several lengths open: each by the name
   * that the network has for it. `lengths` are then those of all of them that are
   * below their bounds; none: all pairs, triples … of some that are farther apart,
   * 128 in all at most. */
  const mxc_compile_length* named_lengths;
  size_t named_length_count;
} mxc_compile_options;

/* `size` is sizeof(mxc_compile_options) as the caller knows it. */
MXC_COMPILE_API void mxc_compile_options_init(mxc_compile_options* options,
                                              size_t size);

/* ---- Compilations ------------------------------------------------------- */

typedef struct mxc_compilation mxc_compilation;

MXC_COMPILE_API mxc_compilation* mxc_compile(
    const mxc_compile_options* options);
/* Null is allowed. */
MXC_COMPILE_API void mxc_compilation_release(mxc_compilation* compilation);

/* 1: there is an artifact; 0: the diagnostics say why not. */
MXC_COMPILE_API int mxc_compilation_ok(const mxc_compilation* compilation);

/* The bytes of the .mxa file; null where there is none. */
MXC_COMPILE_API const void* mxc_compilation_artifact(
    const mxc_compilation* compilation, size_t* size);
/* Writes them to a file, whole or not at all, and returns 0; or adds a
 * diagnostic. */
MXC_COMPILE_API int mxc_compilation_save(mxc_compilation* compilation,
                                         const char* path);

typedef enum mxc_severity {
  MXC_SEVERITY_ERROR = 0,
  MXC_SEVERITY_WARNING = 1, /* the user may have meant something else */
  MXC_SEVERITY_NOTE = 2     /* what was left out or chosen */
} mxc_severity;

/* What is wrong, and where. Strings are never null. */
typedef struct mxc_diagnostic {
  mxc_severity severity;
  const char* file;    /* as the caller named it; "": no place in a file */
  int line, column;    /* from 1, the column in bytes; 0: unknown */
  const char* path;    /* where in the document: "nodes[12].attrs.kernel" */
  const char* message; /* one sentence, lower case, without a full stop */
  const char* notes;   /* further lines, or "" */
} mxc_diagnostic;

/* The first 50 errors are kept; where there are more, the last diagnostic says
 * how many. */
MXC_COMPILE_API size_t
mxc_compilation_diagnostic_count(const mxc_compilation* compilation);
/* Null where there are not so many. */
MXC_COMPILE_API const mxc_diagnostic* mxc_compilation_diagnostic(
    const mxc_compilation* compilation, size_t index);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_TOOLS_DRIVER_MXC_COMPILE_H_ */
