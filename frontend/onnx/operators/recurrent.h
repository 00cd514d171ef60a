// SPDX-License-Identifier: Apache-2.0
// A node of LSTM, GRU or RNN, as the file says it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

enum class Cell { kRnn, kGru, kLstm };

struct CellActivation {
  std::string name;  // in small letters
  double alpha = 0, beta = 0;
  bool operator==(const CellActivation&) const = default;
};

// Values have ONNX's layout 0.
class RecurrentNode {
 protected:
  // Reads attributes and inputs.
  RecurrentNode(Call& call, Cell cell);

  int gates() const {
    return cell_ == Cell::kRnn ? 1 : cell_ == Cell::kGru ? 3 : 4;
  }
  int activations_of_cell() const {
    return cell_ == Cell::kRnn ? 1 : cell_ == Cell::kGru ? 2 : 3;
  }

  bool IsTrainable(int i) { return !c_.operand(i).parameter.empty(); }

  const CellActivation& Of(int64_t direction, int k) const {
    return activations_[static_cast<size_t>(direction * activations_of_cell() +
                                            k)];
  }

  Call& c_;
  const Cell cell_;
  bool reversed_ = false, batch_first_ = false;
  bool coupled_ = false;  // of an LSTM: what is let in is forgotten
  bool after_ = false;    // of a GRU: the reset comes after the product
  int64_t directions_ = 1, hidden_ = 0, steps_ = 0, batch_ = 0;
  std::optional<double> clip_;
  std::vector<CellActivation> activations_;  // of all directions
  DType dtype_ = DType::kUnknown;
  Value begins_;  // [1, N, 1]: 0 where a sequence has no step, else 1
  Value x_, w_, r_, bias_, lengths_, first_hidden_, first_cell_, peepholes_;

 private:
  void ReadAttributes();
  void ReadActivations();
  // The next value that is given, where the activation takes one.
  double Taken(bool takes, const std::vector<float>& given, size_t& next,
               double fallback, const std::string& name);
  void ReadInputs();
  void Expect(const char* what, Value value, const Shape& shape);
  void ReadLengths();
  Value State(int i, const char* what);
};

}  // namespace mxc::onnx
