// SPDX-License-Identifier: Apache-2.0
// What is wrong with the user's input: a place in a file, one sentence, notes.
// The sentence says what was found and what was expected, in lower case and
// without a full stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace mxc {

// A text file as it was read; shared by all locations that point into it.
struct SourceFile {
  std::string path;  // as the user named it
  std::string text;
};

// A range of one line of a source file. Without a file it is unknown.
struct SourceLoc {
  std::shared_ptr<const SourceFile> file;
  uint32_t line = 0;    // from 1
  uint32_t column = 0;  // from 1, in bytes
  uint32_t length = 1;  // bytes to underline
  std::string path;     // where in the document: "nodes[12].attrs.kernel"

  bool known() const { return file != nullptr && line > 0; }
};

struct Diagnostic {
  SourceLoc loc;
  std::string message;
  std::vector<std::string> notes;
  // The name that an operator's comment has for what it asks, "C4"; for tests,
  // people do not read it. Empty: nobody named it.
  std::string constraint = {};
};

// All that is wrong, in the order of discovery. A damaged file can have as many
// mistakes as it has words: the first ones are kept, the others only counted,
// and texts that a file made very long are cut.
class Diagnostics {
 public:
  static constexpr size_t kMostKept = 50;
  static constexpr size_t kMostBytes = 16384;  // of a message, path or note

  Diagnostics() = default;
  Diagnostics(std::initializer_list<Diagnostic> list) {
    for (const Diagnostic& diagnostic : list) push_back(diagnostic);
  }

  void push_back(Diagnostic diagnostic);
  void Append(const Diagnostics& more);
  void Reverse();  // those that are kept

  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }  // in all
  // Further ones will only be counted: no need to find more words for them.
  bool full() const { return kept_.size() == kMostKept; }

  // Those that are kept.
  auto begin() const { return kept_.begin(); }
  auto end() const { return kept_.end(); }
  auto begin() { return kept_.begin(); }
  auto end() { return kept_.end(); }
  const Diagnostic& operator[](size_t i) const { return kept_[i]; }
  Diagnostic& operator[](size_t i) { return kept_[i]; }
  const Diagnostic& front() const { return kept_.front(); }

 private:
  std::vector<Diagnostic> kept_;
  size_t count_ = 0;
};

// "net.json:214:17: error: …", the line with a caret, the path, the notes.
std::string Render(const Diagnostic& diagnostic);

// Every diagnostic that was kept, then how many there are: "2 errors".
std::string Render(const Diagnostics& diagnostics);

// "950 more errors are not shown"; empty when all were kept.
std::string NotShown(const Diagnostics& diagnostics);

}  // namespace mxc
