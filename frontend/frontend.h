// SPDX-License-Identifier: Apache-2.0
// Front ends: a network as a file holds it → Graph and parameters. All that is
// wrong with a file is reported at once, each error with line, column and the
// path in the document.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/graph/supported.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"
#include "runtime/formats/array.h"

namespace mxc {

class NetworkFile;
class WeightNames;
using ParameterArrays = std::vector<runtime::NamedArray>;

// Which of a file's networks is asked for, where its parts say when they belong
// to it (Caffe's NetState).
struct NetworkState {
  bool training = false;  // phase TRAIN, else TEST
  int64_t level = 0;
  std::vector<std::string> stages;
};

// A program of a network that writes texts (generate.h).
struct Generation {
  int64_t streams = 0;  // texts that grow apart; 0: the network writes none
  // That a run adds to each text of its batch; 0: 64, or all that are kept.
  int64_t rows = 1;
  // The batch is of texts that an input names; else it is all of them.
  bool chosen = false;
};

// By input, the axes that the caller leaves open, with the names of their lengths.
using OpenAxes = std::map<std::string, std::map<int, std::string>>;

// What is asked of a network's types.
struct BuildOptions {
  NetworkState state;
  // Expand control flow, and refuse operators that cannot be compiled before
  // anything else is read.
  bool require_supported = false;

  std::map<std::string, Extents> input_shapes;  // by input name
  // The same for inputs whose shape neither the file nor `input_shapes` gives;
  // names of no input are passed over.
  std::map<std::string, Extents> known_shapes;
  bool known_batch = true;  // or their batch axes are left open
  // By input name. Without one an input has the type that follows from the
  // parameters' arrays, else the one that the network notes, else float32.
  std::map<std::string, DType> input_types;
  // Values of inputs that are known before anything runs, by input name; what
  // is made of the network has no such inputs. For front ends whose shapes may
  // be computed of inputs.
  std::map<std::string, Tensor> input_values;
  // The loss that is added to a network without one (attach_loss.h); empty:
  // none.
  std::string loss;
  // Replaces the batch axis of every input whose shape is given (BatchAxis:
  // where `__layout__` has its N, the first one without a layout); 0 keeps it,
  // and stands for 1 where our own JSON leaves it open.
  int64_t batch = 0;
  // Up to which axes stay open that the inputs leave so behind the batch, and
  // `open_axes` of inputs with given shapes (TensorUse::open); none do where there
  // is none. By the name that the network gives an axis, "" for one that is the
  // only one; those that an input has under one name are one length.
  std::map<std::string, int64_t> lengths;
  OpenAxes open_axes;
  // Makes the network one that writes texts; its rows are what axes have that
  // the inputs leave open behind the batch.
  Generation generation;
};

// Which parameters it gets.
struct ParameterOptions {
  // The parameter file. Empty: the newest PREFIX-NNNN.params beside
  // PREFIX-symbol.json (or PREFIX.json), else PREFIX.params, else
  // PREFIX.caffemodel, else none.
  std::string params;
  std::optional<int> epoch;     // NNNN
  bool read_parameters = true;  // or only find the file
  // Leave out arrays of other shapes than the network needs, as a new head on
  // old weights asks for; else they are errors.
  bool leave_unfit = false;
  std::set<std::string> may_be_unfit;  // by name: these alone
  // The file's arrays, where somebody has read them; null: they are read.
  std::shared_ptr<const ParameterArrays> arrays;
};

struct LoadOptions : BuildOptions, ParameterOptions {};

struct Model {
  Graph graph;  // variables have their roles, and types as far as given
  std::shared_ptr<const SourceFile> source;  // the network's file as it came
  std::string stem;  // "resnet-50" of "dir/resnet-50-symbol.json"

  // Values that the network's own file has; null: none.
  std::shared_ptr<const ParameterArrays> own_parameters;
  // What parameters are called in files of other programs; null: as here.
  std::shared_ptr<const WeightNames> weight_names;
  // Where the parameters are from; empty: no file was found.
  std::string parameter_file;
  // The values that the file gives to variables of the graph, by name.
  std::map<std::string, Tensor> parameters;
  // "arg" or "aux", the prefix that the file put before a name.
  std::map<std::string, std::string> prefixes;

  Diagnostics notes;     // what was ignored; nothing here is an error
  Diagnostics doubts;    // what may be meant otherwise
  Diagnostics left_out;  // outputs that inference goes without
  Diagnostics unfit;     // arrays of other shapes that were left out
  std::vector<std::string> homeless;  // arrays of the file, of no parameter
};

// Reads a network of any format in frontends.def, told by its content, and the
// parameters.
Result<Model> Load(const std::string& path, const LoadOptions& options);

// The same for a text in memory, without parameters.
Result<Model> LoadText(std::shared_ptr<const SourceFile> source,
                       const BuildOptions& options);

// A model of one network among many that its file gives (network_file.h),
// without parameters.
Result<Model> BuildModel(const NetworkFile& network,
                         const BuildOptions& options);

// "resnet-50" of "dir/resnet-50-symbol.json" and of "dir/resnet-50.json".
std::string StemOfNetwork(const std::string& path);

// Every PREFIX-NNNN.params beside the network, by NNNN.
std::map<int, std::string> ParameterFilesBeside(const std::string& path);

// The file that Load reads for the network at `path`; empty if there is none.
Result<std::string> FindParameterFile(const std::string& path,
                                      const ParameterOptions& options);

// For ParameterOptions::arrays.
Result<std::shared_ptr<const ParameterArrays>> ReadParameters(
    const std::string& path);

// The arrays of model.parameter_file under the names of the model's parameters,
// where Model::weight_names says which they are (native/weight_names.h); others
// are left as they are.
Result<std::shared_ptr<const ParameterArrays>> UnderOwnNames(
    Model& model, std::shared_ptr<const ParameterArrays> arrays);

// Finds the parameter file that `options` and the model's path name, and reads
// it unless the options say otherwise; what it lacks the network's own file may
// have. Shapes that contradict what the graph
// needs are errors; arrays that no variable asks for become a note.
Status LoadParameters(Model& model, const LoadOptions& options);

// Replaces control flow (_cond, _foreach, _while_loop), whose bodies are nested
// graphs, by copies of these. The shapes of inputs should be set: they say how
// often a _foreach runs.
Status ExpandSubgraphs(Graph& graph);

// For inference, where loss heads do not read their labels: a label whose shape
// does not follow (it is reshaped or split before) gets the shape that its loss
// head wants, and goes there directly. An output that is a loss of such a label
// is left out beside others, which a note says. After a first InferTypes.
Diagnostics CutUnknownLabels(Graph& graph);

// Parameters and states without a value, in the graph's order.
std::vector<Node*> MissingParameters(const Model& model);
// Fails naming all of them.
Status RequireParameters(const Model& model);
// Parameters and states that have a value become constants, as inference
// wants them.
void BindParameters(Model& model);

// MXNet 1.x symbol JSON, laid out byte for byte as MXNet 1.9.1 writes it.
std::string WriteSymbol(const Graph& graph);
// The values in the format that the name asks for: .npz or .safetensors, else
// MXNet's .params file, whose names have "arg:" and "aux:" before them.
Status WriteParameters(const Model& model, const std::string& path);

}  // namespace mxc
