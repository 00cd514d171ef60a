// SPDX-License-Identifier: Apache-2.0
// What is to be compiled, and how: all that the driver is told.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/cache/object_cache.h"
#include "frontend/frontend.h"
#include "ir/support/result.h"
#include "passes/pass.h"
#include "tools/driver/parameter_file.h"
#include "tools/driver/tune/tuning.h"

namespace mxc {

// A network and its parameters, whatever its shapes.
struct NetworkRequest {
  std::string model;  // a file
  // The network itself, which wins over the file; its path is what errors call
  // it.
  std::shared_ptr<const SourceFile> text;
  std::string params;        // a file; empty: found beside the model
  std::optional<int> epoch;  // of the parameter file
  // The parameters themselves, which win over any file.
  std::shared_ptr<const ParameterArrays> arrays;
  std::string init;     // how missing ones begin; empty: they are errors
  bool refits = false;  // and so do those of other shapes
  // That the network is to tell apart (class_head.h), by as many outputs of its
  // last layers, whose parameters begin anew where they do not fit; 0: as it
  // has it.
  int64_t classes = 0;
  // That the network is to learn by, where it has no loss head (attach_loss.h);
  // empty: none is added.
  std::string loss;
  // Files of values that inputs have once and for all, by input; they are no
  // inputs any more. For networks that compute shapes of inputs.
  std::map<std::string, std::string> bound;
  uint64_t seed = 0;
  // Which of the file's networks (frontend.h).
  NetworkState state;
  // Only shapes matter: missing parameters are made up.
  bool make_up_weights = false;
  // What `params` and `epoch` choose; null: it is chosen when the network is
  // read.
  std::shared_ptr<const ParameterFile> parameters;
  // Whether nobody wants what is made of it any more, asked as work goes on, by
  // any thread: WorkCancelled is thrown. May be empty.
  std::function<bool()> is_cancelled;
};

using InputShapes = std::map<std::string, Extents>;
using InputTypes = std::map<std::string, DType>;
using Lengths = std::map<std::string, int64_t>;  // by name; "": the only one

// What a network is specialised for; LoadOptions says more.
struct Specialization {
  InputShapes shapes;
  InputTypes types;
  int64_t batch = 0;  // 0: as the shapes say
  Generation generation = {};
  // Up to which the lengths are open that the shapes leave so, and the axes of
  // inputs that have them in their shapes; none: none are.
  Lengths lengths = {};
  OpenAxes open_axes = {};
};

// The shapes of all inputs for sequences of one length, or of any up to it, or up
// to one for each of several names.
struct Bucket {
  Lengths lengths;
  InputShapes shapes;
  bool open = false;
  OpenAxes open_axes = {};  // where `shapes` have the lengths

  void ApplyTo(Specialization& of) const {
    of.shapes = shapes;
    of.lengths = open ? lengths : Lengths();
    of.open_axes = open_axes;
  }
};

// Whether an artifact holds golden digests (golden.h). They take a run of its
// code, which another processor may not be able to do; so that the same request
// gives the same bytes on every machine, or an error, they are there where the
// target is this machine's own, and for a named one if asked for.
enum class Golden { kAuto, kOn, kOff };

// Nodes whose names begin as a regular expression says, and their stage.
struct StagePlace {
  std::string pattern;
  int stage = 0;
};

// How a network is cut into the stages of a pipeline (stages.h).
struct StageRequest {
  int stages = 1;  // or as many as the places name
  std::vector<StagePlace> places;

  // How many stages there are.
  int count() const {
    int most = stages;
    for (const StagePlace& place : places) {
      most = std::max(most, place.stage + 1);
    }
    return most;
  }
};

struct CompileRequest {
  NetworkRequest network;
  InputShapes input_shapes;
  InputTypes input_types;
  std::vector<int64_t> batches;  // empty: one plan for the shapes as given
  // "infer", "train", "score", "grad", "update". Where one of them trains, the
  // parameters are states of the artifact, which all entries share. "grad" and
  // "update" are "train" in two parts, for training on several machines: the
  // gradients, and for each of them the parameter's next value.
  std::vector<std::string> entries = {"infer"};
  std::vector<Bucket> buckets;  // empty: one plan for each entry and batch
  // Of texts that the artifact writes side by side; 0: it writes none. It then
  // has the entries "decode", a token of each of them, and "prefill", `prefill`
  // tokens of one (Generation::rows), and no others.
  int64_t streams = 0, prefill = 0;
  TrainingOptions training;  // rescale_grad: 1 / batch unless it is given
  StageRequest cut;          // what training.stages and stage_of follow from
  // What the labels' numbers stand for, and what is done to samples
  // (runtime/data/preprocessing.h); empty: what is noted beside the parameters
  // of a checkpoint.
  std::vector<std::string> label_names;
  std::string preprocessing;
  // And what of it is otherwise, in the same words: "mean_r=123.68 resize=256".
  std::string pictures;
  std::string target = "native";
  // Of what is kept between steps: f32, bf16 or f16.
  DType precision = DType::kF32;
  // Layers of which what they read stays f32, as wildcards.
  std::set<std::string> kept_layers;
  bool stores_all = false;     // PassContext::stores_all
  WeightStorage weights = {};  // of constants that products multiply with
  // By nodes of which data decide the length: the most rows that there may be.
  std::map<std::string, int64_t> bounds;
  // As codegen/cuda has them, "" for none.
  bool tf32 = false;
  std::string assembler;
  int level = 2;
  std::vector<std::string> disabled;  // passes
  // As codegen/cpu/kernel_options.h has it; none: 6, or 4 where an entry trains.
  std::optional<int> winograd_tile;
  bool strassen = true;  // where the weights are constants
  // Used at level 3 or where it names a cache; measures at level 3 alone.
  TuningOptions tuning;
  // Of the kernels that are generated or measured; null: nothing is kept.
  std::shared_ptr<ObjectCache> objects;
  // Called after every pass over the first program, unless it is empty.
  std::function<Status(const PassOptions::Report&)> after_pass;
  Golden golden = Golden::kAuto;
  // Weights of Winograd's kernels are transformed when the artifact is opened,
  // so that the file holds them as they came.
  bool transform_at_load = false;
  bool keep_llvm = false, keep_assembly = false;  // as texts of the CodeImage

  // Returns whether states live from run to run: one of the entries trains.
  bool trains() const;
  // For one of the batches, without buckets; 0: all streams, where there are
  // any.
  Specialization For(int64_t batch) const {
    return {input_shapes,
            input_types,
            batch > 0 ? batch : streams,
            {.streams = streams}};
  }
  // That of the first program.
  Specialization First() const;
  // For which target "native" is to be fast, where the network says nothing
  // else: weights of 4 bits are multiplied as bytes.
  DType multiplied() const {
    return weights.kind == WeightKind::kInt4 ? DType::kI8 : precision;
  }
};

// The request's errors that do not depend on the network, all of them.
Status CheckRequest(const CompileRequest& request);

}  // namespace mxc
