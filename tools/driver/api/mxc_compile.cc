// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/mxc_compile.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "ir/support/work_count.h"
#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "tools/driver/api/request_from.h"
#include "tools/driver/compile.h"
#include "tools/driver/temporary_file.h"

namespace mxc {

// A diagnostic with the texts that it points to.
class KeptDiagnostic {
 public:
  KeptDiagnostic(mxc_severity severity, const Diagnostic& from)
      : file_(from.loc.file ? from.loc.file->path : ""),
        path_(from.loc.path),
        message_(from.message) {
    for (const std::string& note : from.notes) {
      notes_ += (notes_.empty() ? "" : "\n") + note;
    }
    shown_ = {severity,
              file_.c_str(),
              static_cast<int>(from.loc.line),
              static_cast<int>(from.loc.column),
              path_.c_str(),
              message_.c_str(),
              notes_.c_str()};
  }
  KeptDiagnostic(const KeptDiagnostic&) = delete;

  const mxc_diagnostic& shown() const { return shown_; }

 private:
  std::string file_, path_, message_, notes_;
  mxc_diagnostic shown_;
};

}  // namespace mxc

using mxc::Artifact;
using mxc::CompileRequest;
using mxc::Diagnostic;
using mxc::Diagnostics;
using mxc::Error;
using mxc::KeptDiagnostic;
using mxc::MakeTemporaryFile;
using mxc::OptionsFrom;
using mxc::Plan;
using mxc::Progress;
using mxc::RequestFrom;
using mxc::Result;
using mxc::ThrowIfCancelled;
using mxc::WorkCancelled;
using mxc::WorkCount;
namespace runtime = mxc::runtime;

struct mxc_compilation {
  std::deque<KeptDiagnostic> diagnostics;
  std::optional<runtime::MappedFile> artifact;

  void Add(mxc_severity severity, const Diagnostic& diagnostic) {
    diagnostics.emplace_back(severity, diagnostic);
  }
  void Add(const Diagnostics& errors) {
    for (const Diagnostic& error : errors) Add(MXC_SEVERITY_ERROR, error);
    if (const std::string more = NotShown(errors); !more.empty()) {
      Add(MXC_SEVERITY_ERROR, Error({}, "{}", more));
    }
  }
};

namespace {

// Keeps warnings, and passes phases on to the caller, who may give up before
// each contraction is measured.
class CallerProgress : public Progress {
 public:
  CallerProgress(const mxc_compile_options& options,
                 std::function<bool()> is_cancelled, mxc_compilation& to)
      : options_(options), is_cancelled_(std::move(is_cancelled)), to_(to) {}

  void Phase(std::string_view name, std::string_view text,
             std::optional<double> seconds) override {
    if (options_.progress == nullptr) return;
    options_.progress(options_.progress_context, std::string(name).c_str(),
                      std::string(text).c_str(), seconds.value_or(-1));
  }
  void Measuring(std::string_view text) override {
    if (!text.empty()) ThrowIfCancelled(is_cancelled_);
  }
  void Warning(std::string_view text) override {
    to_.Add(MXC_SEVERITY_WARNING, Error({}, "{}", text));
  }

 private:
  const mxc_compile_options& options_;
  const std::function<bool()> is_cancelled_;
  mxc_compilation& to_;
};

// The artifact's file, under no name.
Result<runtime::MappedFile> CompileToMemory(const mxc_compile_options* given,
                                            mxc_compilation& compilation) {
  MXC_ASSIGN(const mxc_compile_options options, OptionsFrom(given));
  MXC_ASSIGN(const CompileRequest request, RequestFrom(options));
  CallerProgress progress(options, request.network.is_cancelled, compilation);
  MXC_ASSIGN(Plan plan, MakePlan(request, progress));
  WorkCount count;
  count.is_cancelled = request.network.is_cancelled;
  MXC_ASSIGN(const Artifact artifact,
             Generate(request, std::move(plan), &count));
  for (const Diagnostic& note : artifact.plan.notes) {
    compilation.Add(MXC_SEVERITY_NOTE, note);
  }
  MXC_ASSIGN(const runtime::NamelessFile file, MakeTemporaryFile());
  const auto begin = [&](const char*) { ThrowIfCancelled(count.is_cancelled); };
  MXC_RETURN_IF_ERROR(Save(request, artifact, file.path(), &count, begin));
  auto mapped = runtime::MappedFile::Open(file.path());
  if (!mapped.ok()) return Error({}, "{}", mapped.status().message());
  return std::move(*mapped);
}

// Whatever is thrown becomes a diagnostic.
template <class Work>
void Guarded(mxc_compilation& compilation, Work work) {
  try {
    work();
  } catch (const WorkCancelled& cancelled) {
    compilation.Add(MXC_SEVERITY_ERROR, Error({}, "{}", cancelled.what()));
  } catch (const std::bad_alloc&) {
    compilation.Add(MXC_SEVERITY_ERROR, Error({}, "out of memory"));
  } catch (const std::exception& error) {
    compilation.Add(MXC_SEVERITY_ERROR,
                    Error({}, "the network is too large: {}", error.what()));
  }
}

}  // namespace

const char* mxc_compile_version() { return MXC_VERSION; }

void mxc_compile_options_init(mxc_compile_options* options, size_t size) {
  if (options == nullptr) return;
  mxc_compile_options defaults = {};
  defaults.struct_size = size;
  defaults.level = 2;
  defaults.tuning_seconds = 30;
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
}

mxc_compilation* mxc_compile(const mxc_compile_options* options) {
  std::unique_ptr<mxc_compilation> compilation(new (std::nothrow)
                                                   mxc_compilation);
  if (compilation == nullptr) return nullptr;
  try {
    Guarded(*compilation, [&] {
      auto artifact = CompileToMemory(options, *compilation);
      if (artifact.ok()) {
        compilation->artifact = std::move(*artifact);
      } else {
        compilation->Add(artifact.errors());
      }
    });
  } catch (...) {  // no memory for the words
    return nullptr;
  }
  return compilation.release();
}

void mxc_compilation_release(mxc_compilation* compilation) {
  delete compilation;
}

int mxc_compilation_ok(const mxc_compilation* compilation) {
  return compilation != nullptr && compilation->artifact.has_value();
}

const void* mxc_compilation_artifact(const mxc_compilation* compilation,
                                     size_t* size) {
  if (size != nullptr) *size = 0;
  if (!mxc_compilation_ok(compilation)) return nullptr;
  const runtime::Bytes bytes = compilation->artifact->bytes();
  if (size != nullptr) *size = bytes.size();
  return bytes.data();
}

int mxc_compilation_save(mxc_compilation* compilation, const char* path) {
  if (compilation == nullptr) return 1;
  bool saved = false;
  try {
    Guarded(*compilation, [&] {
      if (path == nullptr || !compilation->artifact) {
        compilation->Add(MXC_SEVERITY_ERROR,
                         Error({}, "there is no {} to save",
                               path == nullptr ? "file" : "artifact"));
        return;
      }
      runtime::FileWriter out{std::string(path)};
      out.Append(compilation->artifact->bytes());
      const runtime::Status written = out.Commit();
      saved = written.ok();
      if (!saved) {
        compilation->Add(MXC_SEVERITY_ERROR,
                         Error({}, "{}", written.message()));
      }
    });
  } catch (...) {  // no memory for the words
    return 1;
  }
  return saved ? 0 : 1;
}

size_t mxc_compilation_diagnostic_count(const mxc_compilation* compilation) {
  return compilation != nullptr ? compilation->diagnostics.size() : 0;
}

const mxc_diagnostic* mxc_compilation_diagnostic(
    const mxc_compilation* compilation, size_t index) {
  if (index >= mxc_compilation_diagnostic_count(compilation)) return nullptr;
  return &compilation->diagnostics[index].shown();
}
