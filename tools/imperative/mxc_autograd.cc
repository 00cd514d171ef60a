// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/mxc_autograd.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tools/imperative/handles.h"

using mxc::CheckHandles;
using mxc::TheAutograd;
using mxc::runtime::Autograd;
using mxc::runtime::AutogradFlags;
using mxc::runtime::GradientRequest;
using mxc::runtime::Guarded;
using mxc::runtime::Leaf;
using mxc::runtime::NDArray;
using mxc::runtime::NeededArray;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;
using mxc::runtime::TrackedArray;
using mxc::runtime::UserGradient;

namespace {

using Pointers = std::vector<const TrackedArray*>;

Pointers PointersTo(mxc_ndarray* const* handles, size_t count) {
  return Pointers(handles, handles + count);
}

// Calls with the heads and their gradients.
template <class Call>
Status WithHeads(mxc_ndarray* const* heads, mxc_ndarray* const* head_gradients,
                 size_t count, Call call) {
  MXC_RT_RETURN_IF_ERROR(CheckHandles(heads, count, "heads"));
  const Pointers arrays = PointersTo(heads, count);
  const Pointers gradients = head_gradients == nullptr
                                 ? Pointers()
                                 : PointersTo(head_gradients, count);
  return call(Autograd::Heads{arrays, gradients});
}

// Null where the array is no variable.
Leaf* LeafOf(const mxc_ndarray* array) {
  if (array == nullptr || array->origin.record == nullptr) return nullptr;
  return array->origin.record->leaf();
}

// A C function and what it works with.
class ForeignGradient final : public UserGradient {
 public:
  ForeignGradient(mxc_autograd_function function, void* user,
                  void (*release)(void*))
      : function_(function), user_(user), release_(release) {}
  ~ForeignGradient() override {
    if (release_ != nullptr) release_(user_);
  }

  Status Gradients(
      std::span<const TrackedArray> heads,
      std::vector<std::optional<TrackedArray>>& gradients) override {
    std::vector<mxc_ndarray> arrays;
    for (const TrackedArray& head : heads) arrays.push_back({head});
    std::vector<mxc_ndarray*> given, taken(gradients.size(), nullptr);
    for (mxc_ndarray& array : arrays) given.push_back(&array);
    mxc_status* const status = function_(user_, given.data(), given.size(),
                                         taken.data(), taken.size());
    for (size_t i = 0; i < taken.size(); ++i) {
      const std::unique_ptr<mxc_ndarray> owned(taken[i]);
      if (owned != nullptr) gradients[i] = *owned;
    }
    return mxc::Taken(status);
  }

 private:
  const mxc_autograd_function function_;
  void* const user_;
  void (*const release_)(void*);
};

}  // namespace

// ---- Flags ---------------------------------------------------------------

int mxc_autograd_set_recording(int recording) {
  return std::exchange(AutogradFlags::Here().recording, recording != 0);
}

int mxc_autograd_set_training(int training) {
  return std::exchange(AutogradFlags::Here().training, training != 0);
}

int mxc_autograd_is_recording(void) { return AutogradFlags::Here().recording; }

int mxc_autograd_is_training(void) { return AutogradFlags::Here().training; }

// ---- Variables -----------------------------------------------------------

mxc_status* mxc_autograd_mark(mxc_ndarray* array, const mxc_ndarray* gradient,
                              mxc_gradient_request request) {
  return Guarded({{array, "array"}}, [&]() -> Status {
    if (request != MXC_GRADIENT_NULL && request != MXC_GRADIENT_WRITE &&
        request != MXC_GRADIENT_ADD) {
      return Fail(StatusCode::kInvalidArgument,
                  "there is no gradient request %d", static_cast<int>(request));
    }
    return TheAutograd().Mark(*array,
                              gradient == nullptr ? NDArray() : gradient->array,
                              static_cast<GradientRequest>(request));
  });
}

int mxc_autograd_is_recorded(const mxc_ndarray* array) {
  return array != nullptr && array->origin.IsLive() ? 1 : 0;
}

int mxc_autograd_is_fresh(const mxc_ndarray* array) {
  const Leaf* const leaf = LeafOf(array);
  return leaf != nullptr && leaf->is_fresh ? 1 : 0;
}

void mxc_autograd_set_fresh(mxc_ndarray* array, int fresh) {
  Leaf* const leaf = LeafOf(array);
  if (leaf != nullptr) leaf->is_fresh = fresh != 0;
}

mxc_status* mxc_ndarray_detach(const mxc_ndarray* array, mxc_ndarray** view) {
  return Guarded({{array, "array"}, {view, "view"}}, [&] {
    *view = new mxc_ndarray{{array->array, {}}};
    return Status();
  });
}

mxc_status* mxc_ndarray_another(const mxc_ndarray* array,
                                mxc_ndarray** handle) {
  return Guarded({{array, "array"}, {handle, "handle"}}, [&] {
    *handle = new mxc_ndarray(*array);
    return Status();
  });
}

// ---- Gradients -----------------------------------------------------------

mxc_status* mxc_autograd_backward(mxc_ndarray* const* heads,
                                  mxc_ndarray* const* head_gradients,
                                  size_t head_count, int retain_graph) {
  return Guarded({NeededArray(heads, head_count, "heads")}, [&] {
    return WithHeads(heads, head_gradients, head_count,
                     [&](const Autograd::Heads& given) {
                       return TheAutograd().Backward(given, retain_graph != 0);
                     });
  });
}

mxc_status* mxc_autograd_gradient(mxc_ndarray* const* heads,
                                  mxc_ndarray* const* head_gradients,
                                  size_t head_count,
                                  mxc_ndarray* const* variables,
                                  size_t variable_count, int retain_graph,
                                  int create_graph, mxc_ndarray** gradients) {
  return Guarded(
      {NeededArray(heads, head_count, "heads"),
       NeededArray(variables, variable_count, "variables"),
       NeededArray(gradients, variable_count, "gradients")},
      [&]() -> Status {
        MXC_RT_RETURN_IF_ERROR(
            CheckHandles(variables, variable_count, "variables"));
        std::vector<std::unique_ptr<mxc_ndarray>> made;
        const auto compute = [&](const Autograd::Heads& given) -> Status {
          MXC_RT_ASSIGN(const std::vector<TrackedArray> computed,
                        TheAutograd().Gradient(
                            given, PointersTo(variables, variable_count),
                            retain_graph != 0, create_graph != 0));
          for (const TrackedArray& one : computed) {
            made.push_back(std::make_unique<mxc_ndarray>(mxc_ndarray{one}));
          }
          return {};
        };
        MXC_RT_RETURN_IF_ERROR(
            WithHeads(heads, head_gradients, head_count, compute));
        for (size_t v = 0; v < made.size(); ++v) {
          gradients[v] = made[v].release();
        }
        return {};
      });
}

// ---- Functions of the user's own -----------------------------------------

mxc_status* mxc_autograd_record(mxc_ndarray* const* inputs, size_t input_count,
                                mxc_ndarray* const* outputs,
                                size_t output_count,
                                mxc_autograd_function gradient, void* user,
                                void (*release)(void* user)) {
  return Guarded([&]() -> Status {
    // Whatever happens now, `release` is called.
    const auto owned =
        std::make_shared<ForeignGradient>(gradient, user, release);
    if (gradient == nullptr || (inputs == nullptr && input_count > 0) ||
        (outputs == nullptr && output_count > 0)) {
      return Fail(StatusCode::kInvalidArgument, "'%s' is null",
                  gradient == nullptr ? "gradient"
                  : inputs == nullptr ? "inputs"
                                      : "outputs");
    }
    MXC_RT_RETURN_IF_ERROR(CheckHandles(inputs, input_count, "inputs"));
    MXC_RT_RETURN_IF_ERROR(CheckHandles(outputs, output_count, "outputs"));
    const std::vector<TrackedArray*> results(outputs, outputs + output_count);
    return TheAutograd().RecordFunction(PointersTo(inputs, input_count),
                                        results, owned);
  });
}

mxc_status* mxc_autograd_failure(const char* message) {
  return Guarded([&] {
    return Status(StatusCode::kFailed, message == nullptr ? "" : message);
  });
}
