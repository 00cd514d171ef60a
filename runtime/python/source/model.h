// SPDX-License-Identifier: Apache-2.0
// An opened artifact as a Python object.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/mxc.h"
#include "runtime/python/source/executor.h"

namespace mxc::python {

// What a tensor is, for people and programs.
struct Tensor {
  std::string name, dtype, use;
  nb::tuple shape;
  std::string of;      // the state that it belongs to; empty: none
  int open_axis = -1;  // the first along which arrays may be shorter; -1: none
  nb::dict open_axes;  // all of them, with the names of their lengths
};

struct Entry {
  std::string name, purpose;
  std::string of;                 // the state that it updates; empty: none
  int64_t batch = 0, length = 0;  // 0: it is for any length
  nb::dict lengths;               // the most of those that are open, by name
  uint64_t activation_bytes = 0;
  std::vector<Tensor> inputs, outputs;
};

class Model {
 public:
  // `threads`: of a call of the model itself; 0: one for each processor.
  // `device`: where executors run that name none, as in mxc_bind_options; empty:
  // what the model was compiled for.
  Model(const std::string& path, int threads, bool check_weights,
        bool copy_weights, std::string device);
  // Of a file's bytes, which are copied.
  Model(nb::bytes file, int threads, bool check_weights, bool copy_weights,
        std::string device);
  Model(const Model&) = delete;

  mxc_model* handle() const { return handle_.get(); }
  const std::string& device() const { return device_; }
  std::string manifest() const { return mxc_model_manifest(handle()); }
  std::string symbol() const;
  std::vector<Entry> entries() const;
  std::vector<Tensor> states() const;

  // Runs the entry for inference whose inputs have these shapes. Threads that
  // call at once get executors of their own, which are kept.
  nb::object Call(nb::args arguments, nb::kwargs named);

 private:
  struct Close {
    void operator()(mxc_model* model) const { mxc_model_close(model); }
  };

  using Opening = std::function<mxc_status*(const mxc_model_options& options,
                                            mxc_model** model)>;
  Model(const Opening& open, int threads, bool check_weights, bool copy_weights,
        std::string device);

  class Nearest;
  void NoteLengths(size_t entry, int64_t batch);
  // An executor that nobody uses, for these arguments. Where there is one entry
  // only, that says itself what is wrong with them.
  std::unique_ptr<Executor> Take(nb::args arguments, nb::kwargs named);

  std::unique_ptr<mxc_model, Close> handle_;
  int threads_;
  std::string device_;
  std::vector<size_t> inferences_;  // the entries "infer"
  bool open_ = false;               // entries take any length up to their own
  // By batch, the most of each length in any of them.
  std::map<int64_t, std::vector<int64_t>> longest_;
  std::vector<std::unique_ptr<Executor>> idle_;  // the last one used is last
};

}  // namespace mxc::python
