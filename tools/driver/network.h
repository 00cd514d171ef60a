// SPDX-License-Identifier: Apache-2.0
// A network that has been read, and the models that it becomes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "frontend/frontend.h"
#include "frontend/network_file.h"
#include "ir/support/result.h"
#include "tools/driver/class_head.h"
#include "tools/driver/request.h"

namespace mxc {

// What becomes of parameters: constants, or states of the artifact, which they
// are at first.
enum class ParameterUse { kConstants, kStates };

// Every file is read once: the network's when it is read, the parameters' when
// they are first needed. Initial values are drawn once, too. For one thread.
class LoadedNetwork {
 public:
  // All that is wrong with the files so far.
  static Result<std::shared_ptr<LoadedNetwork>> Read(
      const NetworkRequest& request);

  const NetworkRequest& request() const { return request_; }
  const NetworkFile& file() const { return *file_; }
  const ParameterFile& parameter_file() const { return *parameter_file_; }
  // What reading the network took.
  double seconds() const { return seconds_; }

  // Has every model made from now on tell so many classes apart, where the
  // shapes of `of` are needed to find the layers that do (class_head.h). Once.
  Status SetClasses(int64_t classes, const Specialization& of);
  // As many as the request says, if it does.
  Status SetClasses(const CompileRequest& request);
  // Returns whether the layers that tell classes apart begin anew, since the
  // parameter file has no values for them or others: names of classes that were
  // learned with it are not theirs. No, where that cannot be told from `of`.
  bool BeginsClasses(const Specialization& of);
  // The same of the last model that Specialize has made.
  bool begins_classes() const { return begins_classes_; }
  // "'fc1' has 3 outputs, 1000 in resnet.json"; empty: as many as in the file.
  std::string ChangedClasses() const;

  // The graph with the types that are given; it has no values, perhaps open
  // shapes and unknown operators.
  Result<Model> Draft(const Specialization& of) const;
  // The same with the parameters of the file, if there is one.
  Result<Model> DraftWithParameters(const Specialization& of);
  // What an artifact keeps of the network (network_file.h).
  Result<std::string> Stored(const Specialization& of) const;
  // Of what targets' units multiply most: the precision that was asked for, or
  // 8-bit integers.
  Result<DType> StorageFor(const Specialization& of, DType precision) const;
  // Whether every operator is known and can be compiled.
  Status RequireOperators(const Specialization& of) const;

  // The values that were drawn so far for parameters that no file gave.
  const std::map<std::string, Tensor>& initial_values() const {
    return initial_values_;
  }

  // Ready for the pipeline: every operator is supported, every parameter has a
  // value. All that is wrong at one stage is reported at once.
  Result<Model> Specialize(const Specialization& of,
                           ParameterUse use = ParameterUse::kConstants);

 private:
  explicit LoadedNetwork(const NetworkRequest& request)
      : request_(request), arrays_(request.arrays) {}

  void TakeNotesOfSymbol();
  void ForgetNamesOfSymbol();
  LoadOptions OptionsFor(const Specialization& of) const;
  void Complete(BuildOptions& options) const;
  Result<Model> Build(const LoadOptions& options) const;
  Status AddParameters(Model& model, LoadOptions& options);
  Diagnostics WithRemedy(Diagnostics errors, const LoadOptions& options);

  NetworkRequest request_;
  std::shared_ptr<const NetworkFile> file_;
  std::map<std::string, Tensor> bound_;  // request_.bound, read
  std::optional<ClassHead> head_;        // what SetClasses has found
  int64_t classes_ = 0;                  // and was told
  std::shared_ptr<const ParameterFile> parameter_file_;
  std::shared_ptr<const ParameterArrays> arrays_;  // null: not read yet
  std::map<std::string, Tensor> initial_values_;
  double seconds_ = 0;
  bool begins_classes_ = false;
};

// As NetworkRequest::parameters, which it is where that is not null.
Result<std::shared_ptr<const ParameterFile>> ParametersFor(
    const NetworkRequest& request);

// The graph with what the request says about types, unknown operators and
// missing parameters included, for whoever wants nothing else of the network.
Result<Model> LoadModel(const NetworkRequest& request, const Specialization& of,
                        bool read_parameters);

// All types that follow, and those of inputs that leave their batch open; `complete`:
// what stays unknown is an error.
Status InferOpenTypes(Graph& graph, bool complete = false);

// Values for all parameters that no file gave, as request.init says. Takes from
// `drawn` what was drawn before, and adds to it.
Status InitializeMissing(const NetworkRequest& request, Model& model,
                         std::map<std::string, Tensor>& drawn);

}  // namespace mxc
