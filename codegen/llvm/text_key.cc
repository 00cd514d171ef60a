// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/text_key.h"

// LLVM declares what <elf.h> defines as macros.
#include "codegen/llvm/objects.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace mxc {
namespace {

// The loaded file that an address belongs to.
struct Question {
  ElfW(Addr) address;
  std::string build_id;
};

bool Holds(const dl_phdr_info& file, ElfW(Addr) address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = file.dlpi_phdr[i];
    const ElfW(Addr) begin = file.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin &&
        address - begin < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// The GNU build id among a segment's notes: type 3 of the owner "GNU".
std::string BuildIdIn(const char* notes, size_t bytes) {
  const auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t owner = sizeof note, id = owner + padded(note.n_namesz);
    const size_t end = id + padded(note.n_descsz);
    if (end > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID &&
        std::string_view(notes + owner, note.n_namesz) ==
            std::string_view("GNU", 4)) {
      return {notes + id, note.n_descsz};
    }
    notes += end;
    bytes -= end;
  }
  return "";
}

int Answer(dl_phdr_info* file, size_t, void* data) {
  auto& question = *static_cast<Question*>(data);
  if (!Holds(*file, question.address)) return 0;
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = file->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes =
        reinterpret_cast<const char*>(file->dlpi_addr + segment.p_vaddr);
    question.build_id = BuildIdIn(notes, segment.p_memsz);
    if (!question.build_id.empty()) break;
  }
  return 1;
}

template <class F>
std::string BuildIdOf(F* function) {
  Question question{reinterpret_cast<ElfW(Addr)>(function), ""};
  dl_iterate_phdr(Answer, &question);
  return question.build_id;
}

// Of the files that this code and LLVM were loaded from.
std::string CompilerBuild() {
  const std::string own = BuildIdOf(&KeyOfTexts);
  const std::string llvm = BuildIdOf(&llvm::WriteBitcodeToFile);
  return own.empty() || llvm.empty() ? "" : own + llvm;
}

}  // namespace

std::string KeyOfTexts(std::span<const std::string_view> texts) {
  static const std::string build = CompilerBuild();
  if (build.empty()) return "";
  llvm::BLAKE3 digest;
  const auto add = [&](std::string_view text) {
    digest.update(std::to_string(text.size()) + ':');
    digest.update(llvm::StringRef(text.data(), text.size()));
  };
  add(build);
  for (const std::string_view text : texts) add(text);
  return llvm::toHex(llvm::ArrayRef<uint8_t>(digest.final()),
                     /*LowerCase=*/true);
}

}  // namespace mxc
