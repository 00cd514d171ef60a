// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/api/rows.h"
#include "runtime/base/element.h"

using mxc::runtime::Approval;
using mxc::runtime::Bytes;
using mxc::runtime::ElementSize;
using mxc::runtime::ElementTypeFromFlag;
using mxc::runtime::FindEntry;
using mxc::runtime::Format;
using mxc::runtime::Guarded;
using mxc::runtime::Missing;
using mxc::runtime::Model;
using mxc::runtime::Needed;
using mxc::runtime::OpenOptions;
using mxc::runtime::ReadOptions;
using mxc::runtime::Status;
using mxc::runtime::StatusCode;
using mxc::runtime::StatusOr;
using mxc::runtime::Tables;
using mxc::runtime::WeightPlacement;
using mxc::runtime::WithRow;

namespace {

// mxc.h stands alone: a program needs no other file of ours.
#define X(name, flag, bits, kind, mxnet_name, short_name) \
  static_assert(MXC_##name == flag);
#define MXC_Bool MXC_BOOL
#include "runtime/abi/dtype.def"
#undef MXC_Bool

// The state of that number, of what belongs to one.
Status FindTrained(const Tables& tables, bool belongs, uint32_t number,
                   const char* name, size_t* state) {
  const auto found =
      belongs ? tables.TrainedState(number) : std::optional<uint32_t>();
  if (!found) {
    return Fail(StatusCode::kNotFound, "'%s' belongs to no state", name);
  }
  *state = *found;
  return {};
}

template <class Rows>
mxc_status* TensorState(const mxc_model* model, size_t entry, size_t index,
                        const char* what, size_t* state, Rows rows) {
  return Guarded({{model, "model"}, {state, "state"}}, [&]() -> Status {
    const Tables& tables = model->model->tables();
    if (entry >= tables.entries().size()) {
      return Missing("entry", entry, tables.entries().size());
    }
    const mxc_entry& row = tables.entries()[entry];
    const auto found = (tables.*rows)(row);
    if (index >= found.size()) return Missing(what, index, found.size());
    const mxc_buffer& buffer = tables.Buffers(row)[found[index]];
    const bool belongs = buffer.role == MXC_TENSOR_GRADIENT ||
                         buffer.role == MXC_TENSOR_ROWS ||
                         buffer.role == MXC_TENSOR_METRIC;
    return FindTrained(tables, belongs, buffer.index, tables.Text(buffer.name),
                       state);
  });
}

mxc_entry_summary Summarize(const Tables& tables, const mxc_entry& entry) {
  return {.name = tables.Text(entry.name),
          .purpose = static_cast<mxc_purpose>(entry.kind),
          .length = entry.length,
          .batch = entry.batch,
          .input_count = entry.inputs.count,
          .output_count = entry.outputs.count,
          .buffer_count = entry.buffers.count,
          .step_count = entry.steps.count,
          .arena_bytes = entry.arena_bytes,
          .scratch_bytes = entry.scratch_bytes,
          .activation_bytes = entry.activation_bytes,
          .lower_bound_bytes = entry.lower_bound_bytes,
          .naive_bytes = entry.naive_bytes,
          .state_bytes = tables.header().state_bytes};
}

Approval ApprovalBy(const mxc_model_options& options) {
  return [options](Bytes file) -> Status {
    const char* refusal =
        options.approve(options.approve_context, file.data(), file.size());
    if (refusal == nullptr) return {};
    return Fail(StatusCode::kInvalidArgument, "%s", refusal);
  };
}

// What `open` opens, of the options that it is given.
template <class Open>
Status OpenModel(const mxc_model_options* options, mxc_model** model,
                 Open open) {
  const auto chosen =
      ReadOptions<mxc_model_options>(options, MXC_MODEL_OPTIONS);
  if (!chosen.ok()) return chosen.status();
  OpenOptions how;
  if (chosen->weights == MXC_WEIGHTS_COPY) {
    how.placement = WeightPlacement::kCopy;
  }
  how.check_weights = chosen->check_weights != 0;
  if (chosen->approve != nullptr) how.approve = ApprovalBy(*chosen);
  auto opened = open(how);
  if (!opened.ok()) return opened.status();
  *model = new mxc_model{std::move(*opened)};
  return {};
}

}  // namespace

mxc_status* mxc_model_open(const char* path, const mxc_model_options* options,
                           mxc_model** model) {
  return Guarded({{path, "path"}, {model, "model"}}, [&] {
    return OpenModel(options, model, [&](const OpenOptions& how) {
      return Model::Open(path, how);
    });
  });
}

mxc_status* mxc_model_open_memory(const void* file, size_t size,
                                  const char* name,
                                  const mxc_model_options* options,
                                  mxc_model** model) {
  return Guarded({{file, "file"}, {model, "model"}}, [&] {
    return OpenModel(options, model, [&](const OpenOptions& how) {
      return Model::OpenMemory(
          {static_cast<const std::byte*>(file), size},
          name == nullptr ? "the artifact in memory" : name, how);
    });
  });
}

void mxc_model_close(mxc_model* model) { delete model; }

mxc_status* mxc_model_verify(const mxc_model* model) {
  return Guarded({{model, "model"}},
                 [&] { return model->model->VerifyWeights(); });
}

const char* mxc_model_manifest(const mxc_model* model) {
  return model != nullptr ? model->model->manifest().c_str() : "";
}

mxc_status* mxc_model_symbol(const mxc_model* model, char** text,
                             size_t* size) {
  return Guarded(
      {{model, "model"}, {text, "text"}, {size, "size"}}, [&]() -> Status {
        const StatusOr<std::string> symbol = model->model->SymbolJson();
        if (!symbol.ok()) return symbol.status();
        auto* copy = static_cast<char*>(std::malloc(symbol->size() + 1));
        if (copy == nullptr) throw std::bad_alloc();
        std::memcpy(copy, symbol->c_str(), symbol->size() + 1);
        *text = copy;
        *size = symbol->size();
        return {};
      });
}

void mxc_free(void* memory) { std::free(memory); }

void mxc_model_measure(const mxc_model* model, mxc_model_sizes* sizes) {
  if (sizes == nullptr) return;
  *sizes = {};
  if (model == nullptr) return;
  *sizes = {.file_bytes = model->model->file_bytes(),
            .code_bytes = model->model->code_bytes(),
            .weight_bytes = model->model->weights().size()};
}

const char* mxc_dtype_name(mxc_dtype dtype) {
  const auto type = ElementTypeFromFlag(dtype);
  return type ? ElementName(*type).data() : "?";
}

size_t mxc_dtype_size(mxc_dtype dtype) {
  return ElementSize(static_cast<uint8_t>(dtype));
}

size_t mxc_model_entry_count(const mxc_model* model) {
  return model != nullptr ? model->model->tables().entries().size() : 0;
}

mxc_status* mxc_model_entry(const mxc_model* model, size_t entry,
                            mxc_entry_summary* summary) {
  return Guarded({{model, "model"}, {summary, "summary"}}, [&]() -> Status {
    const Tables& tables = model->model->tables();
    if (entry >= tables.entries().size()) {
      return Missing("entry", entry, tables.entries().size());
    }
    *summary = Summarize(tables, tables.entries()[entry]);
    return {};
  });
}

mxc_status* mxc_model_find_entry(const mxc_model* model, const char* name,
                                 int64_t batch, size_t* entry) {
  return Guarded({{model, "model"}, {entry, "entry"}}, [&]() -> Status {
    const StatusOr<size_t> found =
        FindEntry(model->model->tables(), name, batch);
    if (found.ok()) *entry = *found;
    return found.status();
  });
}

mxc_status* mxc_model_input(const mxc_model* model, size_t entry, size_t index,
                            mxc_tensor* tensor) {
  return WithRow(model, entry, index, "input", {tensor, "tensor"},
                 &Tables::Inputs,
                 [&](const Tables& tables, auto buffers, uint32_t buffer) {
                   *tensor = Describe(tables, buffers[buffer]);
                 });
}

mxc_status* mxc_model_input_read(const mxc_model* model, size_t entry,
                                 size_t index, int* read) {
  return WithRow(model, entry, index, "input", {read, "read"}, &Tables::Inputs,
                 [&](const Tables& tables, auto, uint32_t buffer) {
                   const mxc_entry& row = tables.entries()[entry];
                   *read = tables.IsRead(row, buffer) ? 1 : 0;
                 });
}

mxc_status* mxc_model_output(const mxc_model* model, size_t entry, size_t index,
                             mxc_tensor* tensor) {
  return WithRow(model, entry, index, "output", {tensor, "tensor"},
                 &Tables::Outputs,
                 [&](const Tables& tables, auto buffers, uint32_t buffer) {
                   *tensor = Describe(tables, buffers[buffer]);
                 });
}

size_t mxc_model_carry_count(const mxc_model* model, size_t entry) {
  if (model == nullptr) return 0;
  const Tables& tables = model->model->tables();
  if (entry >= tables.entries().size()) return 0;
  return tables.Carries(tables.entries()[entry]).size() / 2;
}

mxc_status* mxc_model_carry(const mxc_model* model, size_t entry, size_t index,
                            size_t* output, size_t* input) {
  return Guarded({{model, "model"}, {output, "output"}, {input, "input"}},
                 [&]() -> Status {
                   const size_t count = mxc_model_carry_count(model, entry);
                   if (index >= count) return Missing("carry", index, count);
                   const Tables& tables = model->model->tables();
                   const mxc_entry& row = tables.entries()[entry];
                   const auto carries = tables.Carries(row);
                   const auto place = [](auto list, uint32_t buffer) {
                     return static_cast<size_t>(
                         std::ranges::find(list, buffer) - list.begin());
                   };
                   *output = place(tables.Outputs(row), carries[2 * index]);
                   *input = place(tables.Inputs(row), carries[2 * index + 1]);
                   return {};
                 });
}

size_t mxc_model_state_count(const mxc_model* model) {
  return model != nullptr ? model->model->tables().states().size() : 0;
}

mxc_status* mxc_model_state(const mxc_model* model, size_t index,
                            mxc_tensor* tensor) {
  return Guarded({{model, "model"}, {tensor, "tensor"}}, [&]() -> Status {
    const Tables& tables = model->model->tables();
    const auto states = tables.states();
    if (index >= states.size()) return Missing("state", index, states.size());
    *tensor = Describe(tables, states[index]);
    return {};
  });
}

mxc_status* mxc_model_entry_state(const mxc_model* model, size_t entry,
                                  size_t* state) {
  return Guarded({{model, "model"}, {state, "state"}}, [&]() -> Status {
    const Tables& tables = model->model->tables();
    if (entry >= tables.entries().size()) {
      return Missing("entry", entry, tables.entries().size());
    }
    const mxc_entry& row = tables.entries()[entry];
    return FindTrained(tables, row.kind == MXC_ENTRY_UPDATE, row.index,
                       tables.Text(row.name), state);
  });
}

mxc_status* mxc_model_output_state(const mxc_model* model, size_t entry,
                                   size_t index, size_t* state) {
  return TensorState(model, entry, index, "output", state, &Tables::Outputs);
}

mxc_status* mxc_model_input_state(const mxc_model* model, size_t entry,
                                  size_t index, size_t* state) {
  return TensorState(model, entry, index, "input", state, &Tables::Inputs);
}

mxc_status* mxc_model_buffer(const mxc_model* model, size_t entry, size_t index,
                             mxc_buffer_summary* summary) {
  return WithRow(model, entry, index, "buffer", {summary, "summary"},
                 &Tables::Buffers,
                 [&](const Tables& tables, auto, const mxc_buffer& buffer) {
                   *summary = {.tensor = Describe(tables, buffer),
                               .role = static_cast<mxc_role>(buffer.kind),
                               .root = buffer.root,
                               .offset = buffer.offset,
                               .first_step = buffer.first_step,
                               .last_step = buffer.last_step};
                 });
}

mxc_status* mxc_model_step(const mxc_model* model, size_t entry, size_t index,
                           mxc_step_summary* summary) {
  return WithRow(model, entry, index, "step", {summary, "summary"},
                 &Tables::Steps,
                 [&](const Tables& tables, auto, const mxc_step& step) {
                   const auto operands = tables.Operands(step);
                   *summary = {.name = tables.Text(step.name),
                               .kernel = tables.Text(step.kernel_name),
                               .tasks = step.tasks,
                               .scratch_bytes = step.scratch_bytes,
                               .flops = tables.InAllRuns(step, step.flops),
                               .bytes = tables.InAllRuns(step, step.bytes),
                               .operands = operands.data(),
                               .operand_count = operands.size(),
                               .input_count = step.input_count};
                 });
}
