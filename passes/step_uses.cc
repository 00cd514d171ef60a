// SPDX-License-Identifier: Apache-2.0
#include "passes/step_uses.h"

#include <algorithm>
#include <utility>

namespace mxc {

StepUses::StepUses(Program& program)
    : program_(program),
      readers_(program.buffers.size()),
      writer_(program.buffers.size(), -1) {
  for (size_t s = 0; s < program.steps.size(); ++s) Enter(static_cast<int>(s));
}

const std::set<int>& StepUses::ReadersOf(int buffer) const {
  static const std::set<int> kNone;
  const auto at = static_cast<size_t>(buffer);
  return at < readers_.size() ? readers_[at] : kNone;
}

int StepUses::OnlyReaderOf(int buffer) const {
  const std::set<int>& readers = ReadersOf(buffer);
  return readers.size() == 1 ? *readers.begin() : -1;
}

int StepUses::WriterOf(int buffer) const {
  const auto at = static_cast<size_t>(buffer);
  return at < writer_.size() ? writer_[at] : -1;
}

void StepUses::Replace(int s, Step step) {
  Leave(s);
  program_.steps[s] = std::move(step);
  Enter(s);
}

void StepUses::Redirect(int from, int to) {
  std::set<int> steps = ReadersOf(from);
  if (WriterOf(from) >= 0) steps.insert(WriterOf(from));
  for (const int s : steps) {
    Leave(s);
    std::ranges::replace(program_.steps[s].inputs, from, to);
    std::ranges::replace(program_.steps[s].outputs, from, to);
    Enter(s);
  }
}

void StepUses::MoveBefore(int s, int before) {
  for (int moved = s; moved < before; ++moved) Leave(moved);
  const auto first = program_.steps.begin() + s;
  std::rotate(first, first + 1, program_.steps.begin() + before);
  for (int moved = s; moved < before; ++moved) Enter(moved);
}

void StepUses::Close() { std::erase_if(program_.steps, IsEmptyPlace); }

void StepUses::Enter(int s) {
  if (program_.buffers.size() > readers_.size()) {
    readers_.resize(program_.buffers.size());
    writer_.resize(program_.buffers.size(), -1);
  }
  const Step& step = program_.steps[s];
  for (const int b : step.inputs) {
    std::set<int>& readers = readers_[b];
    readers.insert(readers.end(), s);
  }
  for (const int b : step.outputs) writer_[b] = s;
}

void StepUses::Leave(int s) {
  const Step& step = program_.steps[s];
  for (const int b : step.inputs) readers_[b].erase(s);
  for (const int b : step.outputs) {
    if (writer_[b] == s) writer_[b] = -1;
  }
}

}  // namespace mxc
