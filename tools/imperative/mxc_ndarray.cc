// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/mxc_ndarray.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/driver/operator_table.h"
#include "tools/imperative/compile_operator.h"
#include "tools/imperative/handles.h"

using mxc::AttrText;
using mxc::CallWithHandles;
using mxc::CheckHandles;
using mxc::FindCallable;
using mxc::InStatus;
using mxc::SignatureOf;
using mxc::WithOutputs;
using mxc::runtime::ArrayProgram;
using mxc::runtime::ArrayType;
using mxc::runtime::AutogradFlags;
using mxc::runtime::Chunk;
using mxc::runtime::Executor;
using mxc::runtime::Guarded;
using mxc::runtime::Imperative;
using mxc::runtime::Loops;
using mxc::runtime::NDArray;
using mxc::runtime::NeededArray;
using mxc::runtime::ReadOptions;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;
using mxc::runtime::StatusOr;
using mxc::runtime::TrackedArray;

struct mxc_program {
  std::shared_ptr<mxc_executor> executor;
  std::shared_ptr<ArrayProgram> program;
};

namespace {

Status Hand(StatusOr<NDArray> array, mxc_ndarray** out) {
  if (!array.ok()) return array.status();
  *out = new mxc_ndarray{{std::move(*array), {}}};
  return {};
}

StatusOr<std::vector<AttrText>> AttrsOf(const char* const* names,
                                        const char* const* values,
                                        size_t count) {
  std::vector<AttrText> attrs;
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr || values[i] == nullptr) {
      return Fail(StatusCode::kInvalidArgument,
                  "the name or value of attribute %zu is null", i);
    }
    attrs.emplace_back(names[i], values[i]);
  }
  return attrs;
}

// While the thread records a view is recorded as what `name` gives for the array.
Status HandView(const mxc_ndarray& array, StatusOr<NDArray> view,
                const char* name, const std::vector<AttrText>& attrs,
                mxc_ndarray** out) {
  if (!view.ok()) return view.status();
  auto made = std::make_unique<mxc_ndarray>();
  made->array = std::move(*view);
  if (AutogradFlags::Here().recording && array.origin.IsLive()) {
    MXC_RT_ASSIGN(const auto op, InStatus(FindCallable(name, attrs)));
    MXC_RT_RETURN_IF_ERROR(mxc::TheAutograd().RecordView(op, array, *made));
  }
  *out = made.release();
  return {};
}

std::string DimsText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims) {
    text += (text.empty() ? "" : ", ") + std::to_string(dim);
  }
  return "(" + text + (dims.size() == 1 ? ",)" : ")");
}

}  // namespace

// ---- Arrays --------------------------------------------------------------

mxc_status* mxc_ndarray_create(mxc_dtype dtype, const int64_t* dims,
                               size_t rank, const void* values,
                               mxc_ndarray** array) {
  return Guarded(
      {NeededArray(dims, rank, "dims"), {array, "array"}}, [&]() -> Status {
        MXC_RT_ASSIGN(const ArrayType type, ArrayType::Of(dtype, {dims, rank}));
        MXC_RT_ASSIGN(NDArray made, NDArray::Make(type));
        MXC_RT_RETURN_IF_ERROR(made.Require());
        if (values != nullptr) {
          std::memcpy(made.data(), values, type.bytes());
        } else {
          std::memset(made.data(), 0, type.bytes());
        }
        return Hand(std::move(made), array);
      });
}

mxc_status* mxc_ndarray_over(mxc_dtype dtype, const int64_t* dims, size_t rank,
                             void* elements, void (*release)(void* context),
                             void* context, mxc_ndarray** array) {
  return Guarded(
      {NeededArray(dims, rank, "dims"),
       {elements, "elements"},
       {array, "array"}},
      [&]() -> Status {
        const std::shared_ptr<const void> owner(
            elements, [release, context](const void*) {
              if (release != nullptr) release(context);
            });
        MXC_RT_ASSIGN(const ArrayType type, ArrayType::Of(dtype, {dims, rank}));
        if (reinterpret_cast<uintptr_t>(elements) % mxc_dtype_size(dtype) !=
            0) {
          return Fail(StatusCode::kInvalidArgument,
                      "'elements' is not aligned to %s", mxc_dtype_name(dtype));
        }
        return Hand(NDArray(type, Chunk::Over(static_cast<std::byte*>(elements),
                                              type.bytes(), owner)),
                    array);
      });
}

void mxc_ndarray_release(mxc_ndarray* array) { delete array; }

mxc_dtype mxc_ndarray_dtype(const mxc_ndarray* array) {
  return array == nullptr ? MXC_F32
                          : static_cast<mxc_dtype>(array->array.type().dtype);
}

size_t mxc_ndarray_rank(const mxc_ndarray* array) {
  return array == nullptr ? 0 : array->array.type().rank;
}

const int64_t* mxc_ndarray_dims(const mxc_ndarray* array) {
  return array == nullptr ? nullptr : array->array.type().dims.data();
}

uint64_t mxc_ndarray_bytes(const mxc_ndarray* array) {
  return array == nullptr ? 0 : array->array.type().bytes();
}

mxc_status* mxc_ndarray_reshape(const mxc_ndarray* array, const int64_t* dims,
                                size_t rank, mxc_ndarray** view) {
  return Guarded(
      {{array, "array"}, NeededArray(dims, rank, "dims"), {view, "view"}}, [&] {
        return HandView(*array, array->array.Reshaped({dims, rank}), "Reshape",
                        {{"shape", DimsText({dims, rank})}}, view);
      });
}

mxc_status* mxc_ndarray_slice(const mxc_ndarray* array, int64_t begin,
                              int64_t end, mxc_ndarray** view) {
  return Guarded({{array, "array"}, {view, "view"}}, [&] {
    return HandView(*array, array->array.Sliced(begin, end), "slice_axis",
                    {{"axis", "0"},
                     {"begin", std::to_string(begin)},
                     {"end", std::to_string(end)}},
                    view);
  });
}

mxc_status* mxc_ndarray_read(const mxc_ndarray* array, void* values,
                             size_t size) {
  return Guarded({{array, "array"}, {values, "values"}}, [&] {
    return Imperative::Get().Read(array->array, values, size);
  });
}

mxc_status* mxc_ndarray_write(mxc_ndarray* array, const void* values,
                              size_t size) {
  return Guarded({{array, "array"}, {values, "values"}}, [&] {
    return Imperative::Get().Write(array->array, values, size);
  });
}

mxc_status* mxc_ndarray_map(const mxc_ndarray* array, int writes,
                            void** elements) {
  return Guarded({{array, "array"}, {elements, "elements"}}, [&]() -> Status {
    MXC_RT_RETURN_IF_ERROR(
        Imperative::Get().WaitToTouch(array->array, writes != 0));
    *elements = array->array.data();
    return {};
  });
}

mxc_status* mxc_ndarray_copy(const mxc_ndarray* from, mxc_ndarray* to) {
  return Guarded({{from, "from"}, {to, "to"}}, [&] {
    return Imperative::Get().Copy(from->array, to->array);
  });
}

mxc_status* mxc_ndarray_fail(mxc_ndarray* array, const char* sentence) {
  return Guarded({{array, "array"}, {sentence, "sentence"}}, [&] {
    Imperative::Get().SetFailure(array->array, sentence);
    return Status();
  });
}

mxc_status* mxc_ndarray_wait(const mxc_ndarray* array) {
  return Guarded({{array, "array"}},
                 [&] { return Imperative::Get().Wait(array->array); });
}

mxc_status* mxc_ndarray_wait_all(void) {
  return Guarded([] { return Imperative::Get().WaitForAll(); });
}

mxc_status* mxc_ndarray_explain(const char** json) {
  return Guarded({{json, "json"}}, [&] {
    thread_local std::string text;
    nlohmann::ordered_json loops = nlohmann::ordered_json::array();
    for (const auto& [calls, outcome, runs] :
         Imperative::Get().loops().Reports()) {
      auto rows = nlohmann::ordered_json::array();
      for (const auto& [what, line] : calls) {
        rows.push_back({{"call", what}, {"line", line}});
      }
      loops.push_back({{"calls", rows},
                       {"outcome", outcome.empty() ? "program" : outcome},
                       {"runs", runs}});
    }
    text = loops.dump();
    *json = text.c_str();
    return Status();
  });
}

int mxc_ndarray_asks_for_line(void) {
  return Imperative::Get().loops().asks_for_lines() ? 1 : 0;
}

void mxc_ndarray_set_line(const char* line) {
  Loops::Line() = line == nullptr ? "" : line;
}

mxc_status* mxc_ndarray_seed(uint64_t seed) {
  return Guarded([&] {
    Imperative::Get().Seed(seed);
    return Status();
  });
}

// ---- Operators -----------------------------------------------------------

mxc_status* mxc_ndarray_op_find(const char* name,
                                const char* const* attribute_names,
                                const char* const* attribute_values,
                                size_t attribute_count, mxc_ndarray_op** op) {
  return Guarded(
      {{name, "name"},
       NeededArray(attribute_names, attribute_count, "attribute_names"),
       NeededArray(attribute_values, attribute_count, "attribute_values"),
       {op, "op"}},
      [&]() -> Status {
        MXC_RT_ASSIGN(
            const std::vector<AttrText> attrs,
            AttrsOf(attribute_names, attribute_values, attribute_count));
        MXC_RT_ASSIGN(auto found, InStatus(FindCallable(name, attrs)));
        *op = new mxc_ndarray_op{std::move(found)};
        return {};
      });
}

const char* mxc_ndarray_ops(void) {
  static const std::string table = mxc::OperatorTable().dump();
  return table.c_str();
}

mxc_status* mxc_ndarray_op_signature(const char* name,
                                     const char* const* attribute_names,
                                     const char* const* attribute_values,
                                     size_t attribute_count, size_t input_count,
                                     const char** json,
                                     size_t* visible_outputs) {
  return Guarded(
      {{name, "name"},
       NeededArray(attribute_names, attribute_count, "attribute_names"),
       NeededArray(attribute_values, attribute_count, "attribute_values"),
       {json, "json"}},
      [&]() -> Status {
        thread_local std::string text;
        MXC_RT_ASSIGN(
            const std::vector<AttrText> attrs,
            AttrsOf(attribute_names, attribute_values, attribute_count));
        MXC_RT_ASSIGN(const auto signature,
                      InStatus(SignatureOf(name, attrs, input_count)));
        text = signature.dump();
        if (visible_outputs != nullptr) {
          *visible_outputs = signature["visible_outputs"].get<size_t>();
        }
        *json = text.c_str();
        return {};
      });
}

void mxc_ndarray_op_release(mxc_ndarray_op* op) { delete op; }

mxc_status* mxc_ndarray_op_call(mxc_ndarray_op* op, mxc_ndarray* const* inputs,
                                size_t input_count, mxc_ndarray** outputs,
                                size_t output_count, int training) {
  return Guarded({{op, "op"},
                  NeededArray(inputs, input_count, "inputs"),
                  NeededArray(outputs, output_count, "outputs")},
                 [&] {
                   return CallWithHandles(op->op, inputs, input_count, outputs,
                                          output_count, training != 0);
                 });
}

// ---- Compiled networks ---------------------------------------------------

mxc_status* mxc_program_bind(mxc_model* model, const mxc_bind_options* options,
                             const mxc_program* share, mxc_program** program) {
  return Guarded({{model, "model"}, {program, "program"}}, [&]() -> Status {
    MXC_RT_ASSIGN(mxc_bind_options chosen,
                  ReadOptions<mxc_bind_options>(options, MXC_BIND_OPTIONS));
    chosen.struct_size = sizeof chosen;
    chosen.share = share == nullptr ? nullptr : share->executor.get();
    mxc_executor* bound = nullptr;
    MXC_RT_RETURN_IF_ERROR(mxc::Taken(mxc_bind(model, &chosen, &bound)));
    const std::shared_ptr<mxc_executor> executor(bound, &mxc_executor_close);
    auto over = ArrayProgram::Over(
        std::shared_ptr<Executor>(executor, executor->executor.get()),
        share == nullptr ? nullptr : share->program.get());
    if (!over.ok()) return over.status();
    *program = new mxc_program{executor, std::move(*over)};
    return {};
  });
}

void mxc_program_release(mxc_program* program) { delete program; }

mxc_status* mxc_program_call(mxc_program* program, mxc_ndarray* const* inputs,
                             size_t input_count, mxc_ndarray** outputs,
                             size_t output_count) {
  return Guarded(
      {{program, "program"},
       NeededArray(inputs, input_count, "inputs"),
       NeededArray(outputs, output_count, "outputs")},
      [&]() -> Status {
        MXC_RT_RETURN_IF_ERROR(CheckHandles(inputs, input_count, "inputs"));
        std::vector<const NDArray*> given;
        for (size_t i = 0; i < input_count; ++i) {
          given.push_back(&inputs[i]->array);
        }
        // Gradients do not go through it: it gives constants.
        return WithOutputs(
            outputs, output_count, [&](std::span<TrackedArray* const> made) {
              std::vector<NDArray*> results;
              for (TrackedArray* one : made) {
                results.push_back(&one->array);
              }
              return Imperative::Get().Call(program->program, given, results);
            });
      });
}

mxc_status* mxc_program_state(const mxc_program* program, const char* name,
                              mxc_ndarray** array) {
  return Guarded({{program, "program"}, {name, "name"}, {array, "array"}},
                 [&] { return Hand(program->program->State(name), array); });
}
