// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/record.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/destination.h"
#include "runtime/base/file.h"

namespace mxc::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "mxc_tune";
constexpr int kVersion = 1;
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
constexpr int64_t kMostTrials = 1'000'000;

Json JsonOf(const Texts& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts) json[name] = text;
  return json;
}

// JSON has no NaN and no infinity: null.
Json JsonOf(const train::MetricValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

double NumberOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? std::nan("")
                                                 : found->get<double>();
}

train::MetricValues ValuesOf(const Json& json) {
  train::MetricValues values;
  for (const auto& [name, value] : json.get_ref<const Json::object_t&>()) {
    values.emplace_back(name,
                        value.is_null() ? std::nan("") : value.get<double>());
  }
  return values;
}

EpochResult ResultOf(const Json& json) {
  return {.value = NumberOf(json, "value"),
          .loss = NumberOf(json, "loss"),
          .seconds = NumberOf(json, "seconds"),
          .metrics = ValuesOf(json.at("metrics")),
          .validation = ValuesOf(json.at("validation"))};
}

// What the file says of another search; empty: it is the same one.
std::string OtherHead(const Json& written, const Texts& head) {
  if (written.value(kFormat, 0) != kVersion)
    return "it is no record of a search";
  for (const auto& [name, text] : head) {
    const std::string said = written.value(name, "");
    if (said == text) continue;
    return "its " + name + " is '" + said + "', and this search's is '" + text +
           "'";
  }
  return "";
}

}  // namespace

std::pair<double, int64_t> TrialRecord::Best(int64_t last,
                                             bool less_is_better) const {
  std::pair<double, int64_t> best{std::nan(""), 0};
  for (const auto& [epoch, result] : epochs) {
    if (epoch > last) break;
    const double value = result.value;
    if (std::isnan(value)) continue;
    const bool better =
        less_is_better ? value < best.first : value > best.first;
    if (best.second == 0 || better) best = {value, epoch};
  }
  return best;
}

StatusOr<std::unique_ptr<Record>> Record::Open(const std::string& path,
                                               const Texts& head, bool resume) {
  MXC_RT_RETURN_IF_ERROR(runtime::MakeFoldersAround(path));
  MXC_RT_ASSIGN(runtime::FileLock lock,
                runtime::FileLock::Take(path + ".lock"));
  std::error_code none;
  const bool there = std::filesystem::exists(path, none);
  if (there && !resume) {
    return Fail(
        StatusCode::kInvalidArgument,
        "'%s' is the record of an earlier search: --resume goes on with "
        "it, --overwrite removes it",
        path.c_str());
  }
  std::string text;
  if (there) {
    MXC_RT_ASSIGN(const std::vector<std::byte> bytes,
                  runtime::ReadWholeFile(path, kMostBytes));
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.resize(text.find_last_of('\n') + 1);
    if (truncate(path.c_str(), static_cast<off_t>(text.size())) != 0) {
      return runtime::SystemError("write", path);
    }
  }
  MXC_RT_ASSIGN(runtime::LogFile log, runtime::LogFile::Continue(path));
  std::unique_ptr<Record> record(
      new Record(path, std::move(lock), std::move(log)));
  if (!text.empty()) {
    MXC_RT_RETURN_IF_ERROR(record->Read(text, head));
    return record;
  }
  Json first = {{kFormat, kVersion}};
  first.update(JsonOf(head));
  MXC_RT_RETURN_IF_ERROR(record->Append(first.dump()));
  return record;
}

Status Record::Read(const std::string& text, const Texts& head) {
  std::string_view rest = text;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = rest.find('\n');
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    std::string wrong;
    try {
      if (number == 1) {
        wrong = OtherHead(Json::parse(line), head);
      } else {
        const Status taken = Take(line);
        if (!taken.ok()) wrong = taken.message();
      }
    } catch (const Json::exception&) {
      wrong = "it is damaged";
    }
    if (wrong.empty()) continue;
    return Fail(StatusCode::kCorrupt, "'%s', line %lld: %s", path_.c_str(),
                static_cast<long long>(number), wrong.c_str());
  }
  return {};
}

// Throws what the JSON library says of a line that is none of ours.
Status Record::Take(const std::string& line) {
  const Json json = Json::parse(line);
  const int64_t number = json.at("trial").get<int64_t>();
  if (number < 0 || number > static_cast<int64_t>(trials_.size()) ||
      number >= kMostTrials) {
    return Fail(StatusCode::kCorrupt, "trial %lld comes before those below it",
                static_cast<long long>(number));
  }
  TrialRecord& trial = At(number);
  if (json.contains("parameters")) {
    trial.parameters.clear();
    for (const auto& [name, value] :
         json["parameters"].get_ref<const Json::object_t&>()) {
      trial.parameters.emplace_back(name, value.get<std::string>());
    }
  } else if (json.contains("over")) {
    trial.over = json["over"].get<std::string>();
  } else {
    trial.epochs[json.at("epoch").get<int64_t>()] = ResultOf(json);
  }
  return {};
}

TrialRecord& Record::At(int64_t trial) {
  const auto index = static_cast<size_t>(trial);
  if (index >= trials_.size()) trials_.resize(index + 1);
  return trials_[index];
}

std::vector<TrialRecord> Record::trials() const {
  const std::lock_guard lock(mutex_);
  return trials_;
}

TrialRecord Record::trial(int64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(number);
  return index < trials_.size() ? trials_[index] : TrialRecord();
}

Status Record::Begin(int64_t number, const Texts& parameters) {
  const std::lock_guard lock(mutex_);
  TrialRecord& trial = At(number);
  if (!trial.parameters.empty()) {
    if (trial.parameters == parameters) return {};
    return Fail(StatusCode::kCorrupt,
                "'%s' has other parameters for trial %lld than this search, "
                "which another version of mxc may have begun",
                path_.c_str(), static_cast<long long>(number));
  }
  trial.parameters = parameters;
  return Append(
      Json({{"trial", number}, {"parameters", JsonOf(parameters)}}).dump());
}

Status Record::Add(int64_t number, int64_t epoch, const EpochResult& result) {
  const std::lock_guard lock(mutex_);
  if (!At(number).epochs.emplace(epoch, result).second) return {};
  return Append(Json({{"trial", number},
                      {"epoch", epoch},
                      {"value", result.value},
                      {"loss", result.loss},
                      {"seconds", result.seconds},
                      {"metrics", JsonOf(result.metrics)},
                      {"validation", JsonOf(result.validation)}})
                    .dump());
}

Status Record::End(int64_t number, const std::string& why) {
  const std::lock_guard lock(mutex_);
  At(number).over = why;
  return Append(Json({{"trial", number}, {"over", why}})
                    .dump(-1, ' ', false, Json::error_handler_t::replace));
}

Status Record::Append(const std::string& line) {
  const std::string whole = line + "\n";
  MXC_RT_RETURN_IF_ERROR(log_.Append(std::as_bytes(std::span(whole))));
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t now = runtime::Nanoseconds();
  if (now - synced_ < kSecond) return {};
  synced_ = now;
  return log_.Sync();
}

Record::~Record() { (void)log_.Sync(); }

}  // namespace mxc::tune
