// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/kvstore/job_process.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/kvstore/collective/introduction.h"
#include "runtime/kvstore/transport/sockets.h"

namespace mxc::kvstore {

Status Lacks(const char* what) {
  return Fail(StatusCode::kInvalidArgument, "options without '%s'", what);
}

StatusOr<KeyTable> KeysOf(const mxc_kvstore_options& options) {
  if (options.keys == nullptr || options.key_count == 0) return Lacks("keys");
  constexpr uint64_t kMost = uint64_t{1} << 40;
  KeyTable keys;
  for (uint32_t key = 0; key < options.key_count; ++key) {
    const auto& [name, elements] = options.keys[key];
    if (name == nullptr || elements == 0 || elements > kMost) {
      return Fail(StatusCode::kInvalidArgument,
                  "key %u has no name, no elements or too many", key);
    }
    KeySpec spec{name, elements * sizeof(float), true, key, false, key};
    if (options.widths != nullptr) spec.width = options.widths[key];
    if (spec.sparse() && elements % spec.width != 0) {
      return Fail(StatusCode::kInvalidArgument,
                  "key '%s' has %llu elements, which are no rows of %llu", name,
                  static_cast<unsigned long long>(elements),
                  static_cast<unsigned long long>(spec.width));
    }
    keys.push_back(std::move(spec));
  }
  return keys;
}

bool Reduces(const mxc_kvstore_options& options) {
  return options.kvstore == std::string_view("allreduce");
}

namespace {

StatusOr<Settings> SettingsOf(const mxc_kvstore_options& options,
                              const KeyTable& keys) {
  Settings settings;
  const bool reduces = Reduces(options);
  const auto mode = reduces ? Mode::kSync : ParseMode(options.kvstore);
  if (!mode.ok()) return mode.status();
  if (reduces) settings.rule = options.kvstore;
  const auto compression = ParseCompression(
      options.compression == nullptr ? "none" : options.compression);
  if (!compression.ok()) return compression.status();
  settings.mode = *mode;
  settings.workers = options.workers;
  settings.mean = options.mean != 0;
  settings.staleness = options.staleness;
  if (options.cut_from != 0) settings.cut_from = options.cut_from;
  settings.compression = *compression;
  settings.keys = Digest(keys);
  return settings;
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

Status AddMesh(const mxc_kvstore_options& options, KeyTable& keys) {
  constexpr uint32_t kMostWorkers = 1024;
  if (options.workers > kMostWorkers) {
    return Fail(StatusCode::kInvalidArgument, "%u workers; at most %u can sum",
                options.workers, kMostWorkers);
  }
  for (const KeySpec& key : keys) {
    if (!key.sparse()) continue;
    return Fail(StatusCode::kUnsupported,
                "gradients of key '%s' are of some rows alone, which workers "
                "do not sum among themselves; use dist_sync",
                key.name.c_str());
  }
  AddMeshKeys(keys, options.workers);
  return {};
}

}  // namespace

StatusOr<JobProcess> MakeNode(const mxc_kvstore_options& options,
                              const KeyTable& keys, Side side) {
  JobProcess node;
  node.keys = keys;
  if (Reduces(options)) {
    MXC_RT_RETURN_IF_ERROR(AddMesh(options, node.keys));
  }
  auto settings = SettingsOf(options, node.keys);
  if (!settings.ok()) return settings.status();
  node.settings = std::move(*settings);
  if (options.servers == nullptr) return Lacks("servers");
  node.servers = SplitAtCommas(options.servers);
  node.settings.servers = static_cast<uint32_t>(node.servers.size());
  const size_t ranks =
      side == Side::kServer ? node.servers.size() : options.workers;
  if (node.servers.empty() || options.rank >= ranks) {
    return Fail(StatusCode::kInvalidArgument, "rank %u of %zu", options.rank,
                ranks);
  }
  auto transport = MakeSockets();
  if (!transport.ok()) return transport.status();
  node.transport = std::move(*transport);
  if (options.key_file == nullptr) return node;
  const auto credentials = ReadCredentials(options.key_file);
  if (!credentials.ok()) return credentials.status();
  auto tls = Tls::Make(side, *credentials);
  if (!tls.ok()) return tls.status();
  node.tls = std::move(*tls);
  return node;
}

}  // namespace mxc::kvstore
