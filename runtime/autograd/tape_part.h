// SPDX-License-Identifier: Apache-2.0
// A part of what was recorded whose gradient is one program: what a compiler is
// told of it, without arrays, and what it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/ndarray/operator_call.h"
#include "runtime/ndarray/recently_used.h"
#include "runtime/ndarray/words_hash.h"

namespace mxc::runtime {

// Where an input comes from.
struct Wire {
  enum class From : uint8_t {
    kConstant,
    kLeaf,  // a value whose gradient leaves the part
    kCall,  // an output of a call of the part
  };
  From from = From::kConstant;
  uint32_t number = 0, output = 0;
};

struct TapePart {
  struct Call {
    std::shared_ptr<const RecordedCall> call;
    std::vector<Wire> inputs;
  };
  // A gradient that arrives; not given: ones.
  struct Head {
    Wire at;
    bool is_given = false;
  };
  // A gradient that is asked for; so many arrays are added to it.
  struct Wanted {
    Wire of;
    uint32_t addends = 0;
  };

  std::vector<ArrayType> leaves;
  std::vector<Call> calls;  // each behind those that it reads
  std::vector<Head> heads;
  std::vector<Wanted> wanted;
  bool training = false;

  // Equal for parts that have the same gradient.
  std::vector<uint64_t> Key() const;
};

struct PartGradient {
  // What the program reads.
  struct Operand {
    enum class Kind : uint8_t {
      kSaved,   // of the call `of`: RecordedForm::saved[number]
      kHead,    // the gradient of the head `of`
      kAddend,  // of the wanted gradient `of`: addend `number`
    };
    Kind kind = Kind::kSaved;
    uint32_t of = 0, number = 0;
  };
  std::shared_ptr<CallableOperator> op;  // gives what is wanted, in order
  std::vector<Operand> operands;
};

class GradientCompiler {
 public:
  virtual ~GradientCompiler() = default;
  // Any thread.
  virtual StatusOr<PartGradient> Compile(const TapePart& part) const = 0;
};

// The gradients that were used last. Any thread.
class PartGradients {
 public:
  explicit PartGradients(std::unique_ptr<const GradientCompiler> compiler)
      : compiler_(std::move(compiler)) {}

  StatusOr<std::shared_ptr<const PartGradient>> Of(const TapePart& part);

 private:
  using Key = std::vector<uint64_t>;
  static constexpr size_t kMost = 1024;

  const std::unique_ptr<const GradientCompiler> compiler_;
  std::mutex mutex_;
  RecentlyUsed<Key, std::shared_ptr<const PartGradient>, WordsHash> made_{
      kMost};
};

}  // namespace mxc::runtime
