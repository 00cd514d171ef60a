// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/tuning_cache.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "frontend/json/json.h"
#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "tools/driver/cache_folder.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Kind = JsonValue::Kind;

constexpr std::string_view kFormat = "mxc_tuning_cache";
constexpr int64_t kVersion = 1;

class Reader {
 public:
  Reader(const JsonDocument& document, Diagnostics& errors)
      : json_(document, errors), errors_(errors) {}

  // Calls put(target, contraction, entry).
  template <class F>
  void ReadCache(const JsonValue& root, F put) {
    const JsonValue* version = root.Find(kFormat);
    if (version == nullptr || !version->Is(Kind::kInteger)) {
      json_.Fail(root,
                 "this is no tuning cache: expected an object that begins "
                 "with \"{}\": {}",
                 kFormat, kVersion);
      return;
    }
    if (version->integer != kVersion) {
      json_.Fail(*version, "'{}' is {}, expected {}", kFormat, version->integer,
                 kVersion);
      return;
    }
    const JsonValue* entries = Member(root, "entries", Kind::kArray);
    if (entries == nullptr) return;
    for (const JsonValue& item : entries->items) {
      if (!json_.Expect(item, Kind::kObject, "entry")) continue;
      const size_t before = errors_.size();
      std::string target = Text(item, "target");
      std::string contraction = Text(item, "contraction");
      TuningEntry entry = ReadEntry(item);
      if (errors_.size() > before) continue;
      put(std::move(target), std::move(contraction), std::move(entry));
    }
  }

 private:
  const JsonValue* Member(const JsonValue& object, std::string_view key,
                          Kind kind) {
    const JsonValue* value = object.Find(key);
    if (value == nullptr) {
      json_.Fail(object, "'{}' is missing, expected {}", key, KindName(kind));
      return nullptr;
    }
    return json_.Expect(*value, kind, key) ? value : nullptr;
  }

  std::string Text(const JsonValue& object, std::string_view key) {
    const JsonValue* value = Member(object, key, Kind::kString);
    return value == nullptr ? "" : value->string;
  }

  TuningEntry ReadEntry(const JsonValue& item) {
    TuningEntry entry;
    entry.machine = Text(item, "machine");
    if (const JsonValue* threads = Member(item, "threads", Kind::kInteger)) {
      constexpr int64_t kMost = 1 << 20;
      if (threads->integer < 1 || threads->integer > kMost) {
        json_.Fail(*threads, "'threads' is {}, expected 1 to {}",
                   threads->integer, kMost);
      } else {
        entry.threads = static_cast<int>(threads->integer);
      }
    }
    if (const JsonValue* ns = Member(item, "ns", Kind::kObject)) {
      for (const JsonMember& kernel : ns->members) {
        entry.kernels[kernel.key] = ReadTimes(kernel);
      }
    }
    return entry;
  }

  KernelTimes ReadTimes(const JsonMember& kernel) {
    const std::vector<JsonValue>& items = kernel.value.items;
    const auto time = [](const JsonValue& value) {
      return value.Is(Kind::kInteger) && value.integer > 0;
    };
    if (items.size() != 2 || !time(items[0]) || !time(items[1])) {
      json_.Fail(kernel.value,
                 "the times of '{}' are wrong, expected nanoseconds on one "
                 "thread and on all: [1200, 700]",
                 kernel.key);
      return {};
    }
    return {items[0].integer, items[1].integer};
  }

  JsonDiagnostics json_;
  Diagnostics& errors_;
};

Result<std::string> ReadText(const std::string& path) {
  const auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return UnplacedError(file.status().message());
  const runtime::Bytes bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Json ToJson(const TuningEntry& entry, const std::string& target,
            const std::string& contraction) {
  Json times = Json::object();
  for (const auto& [name, kernel] : entry.kernels) {
    times[name] = {kernel.one, kernel.all};
  }
  return {{"target", target},
          {"contraction", contraction},
          {"machine", entry.machine},
          {"threads", entry.threads},
          {"ns", times}};
}

}  // namespace

Result<TuningCache> TuningCache::Read(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) return TuningCache();
  MXC_ASSIGN(std::string text, ReadText(path));
  if (text.find('\0') != std::string::npos) {
    return Error(
        {}, "{}: a binary file, expected a tuning cache, which is JSON", path);
  }
  return Parse(std::make_shared<SourceFile>(path, std::move(text)));
}

Result<TuningCache> TuningCache::Parse(std::shared_ptr<const SourceFile> text) {
  MXC_ASSIGN(const JsonDocument document, ParseJson(std::move(text)));
  TuningCache cache;
  Diagnostics errors;
  Reader(document, errors)
      .ReadCache(
          document.root(),
          [&](std::string target, std::string contraction, TuningEntry entry) {
            cache.entries_[{std::move(target), std::move(contraction)}] =
                std::move(entry);
          });
  if (!errors.empty()) return errors;
  return cache;
}

const TuningEntry* TuningCache::Find(const std::string& target,
                                     const std::string& contraction) const {
  const auto found = entries_.find({target, contraction});
  return found == entries_.end() ? nullptr : &found->second;
}

void TuningCache::Put(const std::string& target, const std::string& contraction,
                      TuningEntry entry) {
  put_[{target, contraction}] = entry;
  entries_[{target, contraction}] = std::move(entry);
}

std::string TuningCache::Text() const {
  std::string text =
      fmt::format("{{\"{}\": {}, \"entries\": [", kFormat, kVersion);
  bool first = true;
  for (const auto& [key, entry] : entries_) {
    text += first ? "\n" : ",\n";
    first = false;
    text += ToJson(entry, key.first, key.second)
                .dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + "\n]}\n";
}

Status TuningCache::Write(const std::string& path) const {
  MXC_ASSIGN(TuningCache all, Read(path));
  for (const auto& [key, entry] : put_) all.entries_[key] = entry;
  runtime::FileWriter out(path);
  out.Append(all.Text());
  if (const runtime::Status status = out.Commit(); !status.ok()) {
    return UnplacedError(status.message());
  }
  return Done{};
}

std::string DefaultTuningCache() {
  const fs::path folder = CacheFolder();
  return folder.empty() ? "" : folder / "tuning.json";
}

}  // namespace mxc
