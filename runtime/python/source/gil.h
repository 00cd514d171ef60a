// SPDX-License-Identifier: Apache-2.0
// The interpreter's lock, given back and taken again.
//
// Before 3.14 Python ends a thread that wants its lock while the interpreter
// ends: it unwinds the thread's stack, which C++ frames that catch or must not
// throw do not survive (std::terminate). Such a thread sleeps here until the
// process is gone, as Python 3.14 has it.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace mxc::python {

// Goes only where its function returns; where that is unwound, it sleeps.
class SleepIfUnwound {
 public:
  ~SleepIfUnwound() {
    while (!returned_) pause();
  }
  void Return() { returned_ = true; }

 private:
  bool returned_ = false;
};

// Functions of their own: within one that must not throw nothing is unwound.
[[gnu::noinline]] inline void TakeGil(PyThreadState* thread) {
  SleepIfUnwound sleep;
  PyEval_RestoreThread(thread);
  sleep.Return();
}
[[gnu::noinline]] inline PyGILState_STATE TakeGil() {
  SleepIfUnwound sleep;
  const PyGILState_STATE state = PyGILState_Ensure();
  sleep.Return();
  return state;
}

// Other Python threads run as long as this lives.
class GilReleased {
 public:
  GilReleased() : thread_(PyEval_SaveThread()) {}
  ~GilReleased() { TakeGil(thread_); }
  GilReleased(const GilReleased&) = delete;

 private:
  PyThreadState* const thread_;
};

// A thread that may not be Python's calls Python as long as this lives.
class GilTaken {
 public:
  GilTaken() : state_(TakeGil()) {}
  ~GilTaken() { PyGILState_Release(state_); }
  GilTaken(const GilTaken&) = delete;

 private:
  const PyGILState_STATE state_;
};

}  // namespace mxc::python
