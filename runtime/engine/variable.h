// SPDX-License-Identifier: Apache-2.0
// Values that operations read and write, as the engine sees them: nothing of
// the value but who uses it, in which order, and what went wrong.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::runtime {

// Why a value is not there. It travels to all that is computed from the value,
// and is told to whoever asks for one of them.
struct Failure {
  Status status;
  bool told = false;
};

// How an operation uses a variable.
enum class Access {
  kRead,
  kWrite,   // all of it becomes new: what was wrong with it is over
  kUpdate,  // read and written: parts of it change, or it is added to
};

class Variable;

struct Use {
  Variable* variable = nullptr;
  Access access = Access::kRead;
};

// An operation, as far as it uses variables; they live until it is complete.
class Pending {
 public:
  std::span<Use> uses;  // one for each variable, once it was added

 protected:
  ~Pending() = default;

 private:
  friend class Dependencies;
  size_t missing_ = 0;  // uses that are not granted yet
};

// A value's queue. Operations that read it and follow one another have it at
// once; one that writes it has it alone.
class Variable {
 public:
  Variable() = default;
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  friend class Dependencies;
  struct Waiting {
    Pending* operation;
    Access access;
  };
  bool HasWaiting() const { return next_ < waiting_.size(); }
  bool CanGrant(Access access) const {
    return !is_written_ && (access == Access::kRead || readers_ == 0);
  }
  bool IsIdleFor(Access access) const {
    return !HasWaiting() && CanGrant(access);
  }
  void Grant(Access access);
  void Release(Access access);

  std::vector<Waiting> waiting_;  // from next_ on, in the order they came
  size_t next_ = 0;
  size_t readers_ = 0;       // that have it
  bool is_written_ = false;  // by one that has it
  std::shared_ptr<Failure> failure_;
};

}  // namespace mxc::runtime
