// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/unread_sets.h"

#include "runtime/base/remote_files.h"

namespace mxc::train {
namespace {

// "net-0003.params" of a set that has no .mxc.
std::string FileWithoutRecord(const CheckpointName& name) {
  const std::string params = name.Path("params");
  const auto exists = runtime::FileExists(params);
  return exists.ok() && *exists ? params : name.Path("states");
}

// Nothing is wrong with a set of the run that goes on, or with one that its
// writer has not finished.
std::optional<UnreadSet> JudgeSet(const CheckpointName& name, bool in_the_way,
                                  const std::string& run) {
  const Status whole = CheckSet(name);
  if (whole.code() == StatusCode::kNotFound) {
    return UnreadSet{name, true,
                     FileWithoutRecord(name) +
                         " was not saved by mxc, and nothing says where its "
                         "training stood"};
  }
  if (!whole.ok()) return UnreadSet{name, false, whole.message()};
  if (!in_the_way || run.empty()) return std::nullopt;
  const std::string path = name.Path("mxc");
  const std::string other = RunOf(path);
  if (other.empty() || other == run) return std::nullopt;
  return UnreadSet{name, false, path + " is of another run"};
}

}  // namespace

StatusOr<std::vector<UnreadSet>> FindUnreadSets(const std::string& prefix,
                                                const Position& reached,
                                                const std::string& run,
                                                int64_t epochs) {
  std::vector<UnreadSet> unread;
  MXC_RT_ASSIGN(const auto sets, AllSetsOf(prefix));
  for (const CheckpointName& name : sets) {
    const bool whole_epochs = name.prefix == prefix;
    const int64_t at = whole_epochs ? reached.epochs : reached.steps;
    if (name.number <= at) continue;
    const bool in_the_way = !whole_epochs || name.number <= epochs;
    if (auto set = JudgeSet(name, in_the_way, run)) {
      unread.push_back(std::move(*set));
    }
  }
  return unread;
}

Status RequireNoUnreadSets(const std::vector<UnreadSet>& sets,
                           const std::optional<NewestSet>& resumed) {
  if (sets.empty()) return {};
  const UnreadSet& first = sets.front();
  std::string text = first.problem;
  if (sets.size() > 1) {
    text += Format(" (and %zu more such sets)", sets.size() - 1);
  }
  text +=
      "; --resume would write over it, --resume --overwrite removes it "
      "and ";
  text += resumed ? "goes on from " + resumed->name.Path("mxc") : "begins anew";
  if (first.foreign && !resumed) {
    text += ", --params " + FileWithoutRecord(first.name) +
            " with another --save begins with its values";
  }
  return Status(StatusCode::kInvalidArgument, std::move(text));
}

}  // namespace mxc::train
