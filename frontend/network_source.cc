// SPDX-License-Identifier: Apache-2.0
#include "frontend/network_source.h"

#include <algorithm>
#include <utility>

namespace mxc {
namespace {

constexpr size_t kLookedAt = 4096;  // bytes that tell text from other things

Result<std::shared_ptr<const JsonDocument>> ParseShared(
    std::shared_ptr<const SourceFile> text) {
  MXC_ASSIGN(JsonDocument document, ParseJson(std::move(text)));
  return std::make_shared<const JsonDocument>(std::move(document));
}

}  // namespace

NetworkSource::NetworkSource(std::shared_ptr<const SourceFile> text)
    : path_(text->path), text_(std::move(text)) {}

NetworkSource::NetworkSource(runtime::MappedFile file, std::string path)
    : path_(std::move(path)), file_(std::move(file)) {}

Result<std::shared_ptr<const NetworkSource>> NetworkSource::Open(
    const std::string& path) {
  auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return Error({}, "{}", file.status().message());
  return std::shared_ptr<const NetworkSource>(
      new NetworkSource(std::move(*file), path));
}

std::span<const std::byte> NetworkSource::bytes() const {
  if (file_) return file_->bytes();
  return std::as_bytes(std::span(text_->text));
}

std::shared_ptr<const void> NetworkSource::owner() const {
  return file_ ? std::shared_ptr<const void>(file_->owner()) : text_;
}

bool NetworkSource::binary() const {
  const auto begin = bytes().first(std::min(bytes().size(), kLookedAt));
  return std::ranges::find(begin, std::byte(0)) != begin.end();
}

const std::shared_ptr<const SourceFile>& NetworkSource::text() const {
  if (text_ == nullptr) {
    auto text = std::make_shared<SourceFile>();
    text->path = path_;
    text->text.assign(reinterpret_cast<const char*>(bytes().data()),
                      bytes().size());
    text_ = std::move(text);
  }
  return text_;
}

const Result<std::shared_ptr<const JsonDocument>>& NetworkSource::json() const {
  if (!json_) json_ = ParseShared(text());
  return *json_;
}

const JsonValue* NetworkSource::object() const {
  if (binary() || !json().ok()) return nullptr;
  const JsonValue& root = (*json())->root();
  return root.Is(JsonValue::Kind::kObject) ? &root : nullptr;
}

}  // namespace mxc
