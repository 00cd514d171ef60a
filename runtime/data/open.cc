// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <sstream>

#include "runtime/data/classes.h"
#include "runtime/data/files/watched_file.h"
#include "runtime/data/loader.h"
#include "runtime/data/random.h"
#include "runtime/data/settle_mixing.h"
#include "runtime/data/source.h"

namespace mxc::data {

#define MXC_ITERATOR(name) extern const SourceKind k##name;
#include "runtime/data/iterators.def"
#undef MXC_ITERATOR

namespace {

constexpr auto kKinds = std::to_array<const SourceKind*>({
#define MXC_ITERATOR(name) &k##name,
#include "runtime/data/iterators.def"
#undef MXC_ITERATOR
});
constexpr uint64_t kHeldOutKey = 0x68656c64;
constexpr int64_t kMostEpochSamples = int64_t{1} << 31;

const SourceKind* FindKind(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  for (const SourceKind* kind : kKinds) {
    if (kind->name == name) return kind;
  }
  return nullptr;
}

Status UnknownKind(const std::string& spec) {
  std::string forms;
  for (const SourceKind* kind : kKinds) {
    if (*kind->doc == '\0') continue;
    forms += (forms.empty() ? "" : ", ") + std::string(kind->form);
  }
  return {StatusCode::kInvalidArgument,
          "'" + spec + "' is no source of data; there are " + forms};
}

// The message, about the whole spec rather than its source.
Status Named(const std::string& spec, const Status& status) {
  std::string message = status.message();
  if (message.starts_with(spec)) return status;
  const std::string source = spec.substr(0, spec.find(':')) + ": ";
  if (message.starts_with(source)) message.erase(0, source.size());
  return {status.code(), spec + ": " + message};
}

CommonOptions Defaults(const IteratorOptions& options) {
  CommonOptions common;
  common.batch_size = options.batch_size;
  common.seed = static_cast<int64_t>(options.seed);
  common.shuffle = options.shuffle;
  common.last_batch = options.last_batch;
  common.worker = options.worker;
  common.workers = options.workers;
  common.threads = options.threads;
  common.prefetch = options.prefetch;
  return common;
}

Status CheckCommon(const CommonOptions& common) {
  if (common.batch_size < 1 || common.batch_size > kMostEpochSamples) {
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "the batch size is %lld, expected 1 to %lld",
                         static_cast<long long>(common.batch_size),
                         static_cast<long long>(kMostEpochSamples));
  }
  if (common.workers > kMostEpochSamples / common.batch_size) {
    return {StatusCode::kInvalidArgument,
            "the batches of all workers together are too large"};
  }
  if (common.part_index >= common.parts()) {
    return {StatusCode::kInvalidArgument,
            "part_index must be less than num_parts"};
  }
  if (common.epoch_batches > kMostEpochSamples / common.whole_batch()) {
    return {StatusCode::kInvalidArgument, "epoch_batches is too large"};
  }
  return {};
}

// A sample is held out or not, whatever the seed: validation must never see
// what another run trained on.
bool IsHeldOut(int64_t sample, double share) {
  return Draws(Key(kHeldOutKey, static_cast<uint64_t>(sample))).Unit() < share;
}

// The samples of `all` that this iterator is about.
Members Choose(const Source& source, const SourceRequest& request,
               Members all) {
  const CommonOptions& common = request.common;
  if (!source.splits_itself() && common.held_out > 0) {
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < all.count; ++i) {
      if (IsHeldOut(all.At(i), common.held_out) == request.held_out) {
        chosen.push_back(all.At(i));
      }
    }
    all = {0, static_cast<int64_t>(chosen.size()), std::move(chosen)};
  }
  const int64_t parts = common.parts();
  if (parts == 1 || source.parts_itself() || all.count == 0) return all;
  if (all.list.empty()) {
    const auto [begin, end] = source.Part(common.part_index, parts);
    return {begin, end - begin, {}};
  }
  const auto size = static_cast<__int128>(all.count);
  const auto begin = static_cast<ptrdiff_t>(size * common.part_index / parts);
  const auto end =
      static_cast<ptrdiff_t>(size * (common.part_index + 1) / parts);
  std::vector<int64_t> part(all.list.begin() + begin, all.list.begin() + end);
  return {0, static_cast<int64_t>(part.size()), std::move(part)};
}

std::vector<Members> Buckets(const Source& source,
                             const SourceRequest& request) {
  std::vector<Members> buckets;
  if (source.buckets() == 1) {
    buckets.push_back(Choose(source, request, {0, source.size(), {}}));
    return buckets;
  }
  for (int b = 0; b < source.buckets(); ++b) {
    const auto samples = source.bucket_samples(b);
    buckets.push_back(Choose(source, request,
                             {0,
                              static_cast<int64_t>(samples.size()),
                              {samples.begin(), samples.end()}}));
  }
  return buckets;
}

// How many samples the largest of all parts has.
int64_t LargestPart(const Source& source, const SourceRequest& request) {
  const int64_t parts = request.common.parts();
  int64_t largest = 0;
  if (source.splits_itself() || request.common.held_out == 0) {
    for (int64_t part = 0; part < parts; ++part) {
      const auto [begin, end] = source.Part(part, parts);
      largest = std::max(largest, end - begin);
    }
    return largest;
  }
  SourceRequest last = request;
  last.common.part_index = parts - 1;
  return Choose(source, last, {0, source.size(), {}}).count;
}

// Parts of several buckets, and those that a source makes itself, end when they
// end.
void EvenOut(const Source& source, const SourceRequest& request,
             OrderOptions& options) {
  const CommonOptions& common = request.common;
  if (!common.even_parts || common.parts() == 1 || options.epoch_batches > 0 ||
      source.parts_itself() || source.buckets() > 1) {
    return;
  }
  const Members largest{0, LargestPart(source, request), {}};
  options.epoch_batches = Order({largest}, options).Batches(0);
}

StatusOr<std::unique_ptr<Iterator>> MakeLoader(const SourceKind& kind,
                                               const std::string& spec,
                                               const SourceRequest& request,
                                               const IteratorOptions& open) {
  const OnBadRecord on_bad_record = open.on_bad_record;
  const CommonOptions& common = request.common;
  auto source = kind.open(request);
  if (!source.ok()) return source.status();
  MXC_RT_RETURN_IF_ERROR(CheckFiles());
  const bool has_held_out = (*source)->splits_itself()
                                ? (*source)->has_held_out()
                                : common.held_out > 0;
  if (request.held_out && !has_held_out) {
    return Status(StatusCode::kInvalidArgument,
                  "nothing is held out; name a share of the samples by "
                  "held_out=0.1, or other files");
  }
  LoaderOptions options;
  options.order = {common.batch_size,    static_cast<uint64_t>(common.seed),
                   common.shuffle,       common.last_batch,
                   common.epoch_batches, common.worker,
                   common.workers};
  options.on_bad_record = on_bad_record;
  options.threads = common.threads;
  options.prefetch = common.prefetch;
  options.has_held_out = has_held_out;
  options.name = spec;
  if ((*source)->continues()) options.order.shuffle = false;
  EvenOut(**source, request, options.order);
  options.damage = (*source)->damage();
  std::vector<Members> buckets = Buckets(**source, request);
  if (common.class_balanced) {
    MXC_RT_RETURN_IF_ERROR(FindClasses(**source, &buckets[0], &options.damage));
    MXC_RT_RETURN_IF_ERROR(CheckFiles());
  }
  if (options.damage.count > 0 && on_bad_record == OnBadRecord::kStop) {
    return Status(StatusCode::kCorrupt, options.damage.sentences[0]);
  }
  if (Status status = Order::Check(buckets, options.order); !status.ok()) {
    const std::string remark = (*source)->remark();
    return remark.empty()
               ? status
               : Status(status.code(), status.message() + "; " + remark);
  }
  MXC_RT_RETURN_IF_ERROR(SettleMixing(**source, open, common, options));
  MXC_RT_RETURN_IF_ERROR(
      Loader::Check(**source, common.batch_size, options.classes));
  return std::unique_ptr<Iterator>(std::make_unique<Loader>(
      std::move(*source), std::move(buckets), options));
}

}  // namespace

StatusOr<std::unique_ptr<Iterator>> Open(const std::string& spec,
                                         const IteratorOptions& options) {
  const SourceKind* kind = FindKind(spec);
  if (kind == nullptr) return UnknownKind(spec);
  const size_t colon = spec.find(':');
  const std::string path =
      colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (path.empty() == kind->takes_path) {
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "'%s' is no source of data; expected %s", spec.c_str(),
                         kind->form);
  }
  SettingsReader settings(options.settings, options.offered);
  const auto trained = ParsePreprocessing(options.preprocessing);
  if (!trained.ok()) return Named(spec, trained.status());
  SourceRequest request{path,
                        Defaults(options),
                        options.held_out,
                        options.label_names,
                        options.preprocessing.empty() ? nullptr : &*trained,
                        options.takes,
                        options.arrays.get(),
                        settings};
  request.common.Describe(settings);
  if (request.common.num_parts) {
    request.common.even_parts |= options.workers > 1;
    request.common.worker = 0;
    request.common.workers = 1;
  }
  if (request.common.round_batch) {
    request.common.last_batch =
        *request.common.round_batch ? LastBatch::kRound : LastBatch::kPad;
  }
  if (Status status = CheckCommon(request.common); !status.ok()) {
    return Named(spec, status);
  }
  auto opened = MakeLoader(*kind, spec, request, options);
  if (!opened.ok()) return Named(spec, opened.status());
  return opened;
}

std::vector<std::string> FilesOfSource(const std::string& spec) {
  std::istringstream names(spec.substr(spec.find(':') + 1));
  std::vector<std::string> files;
  for (std::string name; std::getline(names, name, ',');) files.push_back(name);
  return files;
}

std::string SourcesHelp() {
  std::string text;
  for (const SourceKind* kind : kKinds) {
    if (*kind->doc == '\0') continue;
    std::string line = std::string("  ") + kind->form;
    line.resize(std::max<size_t>(line.size() + 2, 22), ' ');
    text += line + kind->doc + "\n";
  }
  return text;
}

std::string SourceHelp(std::string_view spec, bool shuffles) {
  const SourceKind* kind = FindKind(spec);
  if (kind == nullptr) return "";
  const std::string own = kind->options();
  CommonOptions common;
  common.shuffle = shuffles;
  std::string text = std::string(kind->form) + ": " + kind->doc + "\n";
  if (!own.empty()) text += "its options (--data-opt k=v)\n" + own;
  return text + "options of every source\n" + Described(common);
}

}  // namespace mxc::data
