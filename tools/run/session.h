// SPDX-License-Identifier: Apache-2.0
// The options that choose what is run, and how it is opened.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/preprocessing.h"
#include "runtime/formats/array.h"
#include "runtime/mxc.hpp"
#include "tools/signature/requirement.h"

namespace mxc::run {

struct SessionOptions {
  std::string artifact;
  std::string entry;
  int64_t batch = 0;
  int threads = 0;
  std::string weights = "map";
  bool check_weights = false;
  std::string device;  // "": what the artifact was compiled for
  signature::Requirement requirement;
};

void DeclareSession(CLI::App& app, SessionOptions& options);

// --device: where an artifact runs.
void DeclareDevice(CLI::App& app, std::string& device);
// Or several that train together.
void DeclareDevices(CLI::App& app, std::string& devices);

// --no-check: sets `check`, which is true without it.
void DeclareCheck(CLI::App& app, bool& check);

// An input of an entry. One that nothing reads may be left out; what is given
// for it is checked.
struct NetworkInput : mxc_tensor {
  bool read = true;
  size_t index = 0;  // among the entry's inputs
  // By axis: the number of its length among the entry's, which the caller says; -1:
  // it has one extent.
  std::array<int, MXC_AXES> lengths = {};

  bool open() const {
    return std::ranges::any_of(lengths, [](int length) { return length >= 0; });
  }
};
// All but those that say lengths.
std::vector<NetworkInput> InputsOf(const api::Model& model, size_t entry);

// An opened model and the entry that was asked for.
struct Session {
  api::Model model;
  size_t entry = 0;
  bool named = false;  // the entry, by who asked for it
  int threads = 0;
  std::string device;
  double open_seconds = 0;

  api::Executor Bind(bool profile) const { return BindTo(entry, profile); }
  // `share`: whose states and arena it uses, too; null: its own.
  api::Executor BindTo(size_t which, bool profile,
                       const api::Executor* share = nullptr) const;
  std::vector<NetworkInput> Inputs() const { return InputsOf(model, entry); }
  // What the labels' numbers stand for; empty: the model does not know.
  std::vector<std::string> LabelNames() const;
  // What was done to the samples that it learned from; nothing: it does not
  // know.
  std::optional<data::Preprocessing> Preprocessing() const;
};

Session OpenSession(const std::string& artifact, const SessionOptions& options);

// An output of the last run as floats, whatever its type.
std::vector<float> OutputAsFloats(const api::Executor& executor,
                                  const mxc_tensor& tensor, size_t index);

// MXNet's type flags either way.
inline runtime::ElementType TypeOf(const mxc_tensor& tensor) {
  return static_cast<runtime::ElementType>(tensor.dtype);
}

// "float32 (1, 3, 224, 224)"
std::string Describe(const mxc_tensor& tensor);
std::string DescribeShape(const std::vector<int64_t>& shape);

}  // namespace mxc::run
