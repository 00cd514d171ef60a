// SPDX-License-Identifier: Apache-2.0
// What a request asks a network, and how the answer is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/formats/array.h"
#include "tools/run/sample_batches.h"
#include "tools/serve/message.h"

namespace mxc::serve {

// For the input of that name; without one for the only input that is read.
struct Part {
  std::string input;
  std::string_view content;  // a .npy, a JPEG or a PNG, within the body
  std::optional<runtime::Array> array;  // in its place
};

struct Question {
  std::vector<Part> parts;
  int top = 0;          // 0: all outputs
  bool kserve = false;  // the answer is as KServe's protocol v2 has it
  std::string id;
  std::vector<std::string> outputs;  // those that are asked for; empty: all
};

// Throws a run::Failure where the request is at fault.
Question QuestionOf(const Request& request);

struct Answer {
  std::vector<run::OutputValues> outputs;
  std::vector<std::string> warnings;
};

// {"top": …} or {"outputs": [{name, shape, dtype, values}…]}, and "warnings";
// throws a run::Failure where there is no such top.
Json AnswerJson(const Question& question, const Answer& answer,
                const std::string& network,
                const std::vector<std::string>& labels);

// "FP32": what KServe calls a type.
std::string KserveType(runtime::ElementType type);

// "the body", or "part 'data'".
std::string NameOf(const Part& part);

}  // namespace mxc::serve
