// SPDX-License-Identifier: Apache-2.0
#include "passes/forward_part.h"

#include <algorithm>
#include <iterator>

namespace mxc {

ForwardPart::ForwardPart(const Program& program)
    : program_(program),
      writer_(program.buffers.size(), -1),
      of_gradients_(program.steps.size(), false),
      forward_(program.steps.size(), false),
      needed_(program.buffers.size(), false) {
  for (int s = 0; s < steps(); ++s) {
    for (const int b : program.steps[s].outputs) writer_[b] = s;
  }
  MarkGradients();
  MarkForward();
  for (int s = 0; s < steps(); ++s) {
    if (!backward(s)) continue;
    for (const int b : program.steps[s].inputs) needed_[b] = Made(b);
  }
}

int64_t ForwardPart::Bytes(int step) const {
  int64_t bytes = 0;
  for (const int b : program_.steps[step].outputs) {
    if (Made(b)) bytes += program_.buffers[b].bytes();
  }
  return bytes;
}

bool ForwardPart::Cloneable(int step) const {
  return forward_[step] && program_.steps[step].body.pure() &&
         std::ranges::all_of(program_.steps[step].outputs,
                             [&](int b) { return Made(b); });
}

// The steps that compute gradients or depend on one.
void ForwardPart::MarkGradients() {
  for (int s = 0; s < steps(); ++s) {
    const Step& step = program_.steps[s];
    of_gradients_[s] =
        step.backward || std::ranges::any_of(step.inputs, [&](int b) {
          return writer_[b] >= 0 && of_gradients_[writer_[b]];
        });
  }
}

void ForwardPart::MarkForward() {
  std::vector<int> pending = program_.BuffersOf(BufferKind::kOutput);
  const std::vector<int> begun = ReadByGradients();
  pending.insert(pending.end(), begun.begin(), begun.end());
  while (!pending.empty()) {
    const int step = writer_[pending.back()];
    pending.pop_back();
    if (step < 0 || forward_[step] || of_gradients_[step]) continue;
    forward_[step] = true;
    // A copy to the caller's output may come whenever there is time.
    const auto& outputs = program_.steps[step].outputs;
    if (std::ranges::any_of(outputs, [&](int b) { return Made(b); })) {
      last_forward_ = std::max(last_forward_, step);
    }
    const auto& inputs = program_.steps[step].inputs;
    pending.insert(pending.end(), inputs.begin(), inputs.end());
  }
}

// What gradients read that is there before the first of them: a weight that is
// packed for one of them alone comes later.
std::vector<int> ForwardPart::ReadByGradients() const {
  const auto first = static_cast<int>(std::ranges::find(of_gradients_, true) -
                                      of_gradients_.begin());
  std::vector<int> read;
  for (int s = first; s < steps(); ++s) {
    if (!of_gradients_[s]) continue;
    std::ranges::copy_if(program_.steps[s].inputs, std::back_inserter(read),
                         [&](int b) { return writer_[b] < first; });
  }
  return read;
}

}  // namespace mxc
