// SPDX-License-Identifier: Apache-2.0
// What code is refused before it is loaded, and that nothing of it has run.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/artifact/image.h"
#include "runtime/artifact/shared_object.h"
#include "tests/runtime/api.h"
#include "tests/runtime/foreign_code.h"
#include "tests/runtime/test_artifact.h"
#include "tests/support/sanitizers.h"

namespace mxc::test {
namespace {

// The section CODE of `file`.
std::string CodeOf(const std::string& file) {
  mxc_trailer trailer;
  std::memcpy(&trailer, file.data() + file.size() - sizeof trailer,
              sizeof trailer);
  return file.substr(0, trailer.sections[MXC_SECTION_CODE].size);
}

std::string WhyNotRead(const std::string& code) {
  return runtime::SharedObject::Read(std::as_bytes(std::span(code)))
      .status()
      .message();
}

#ifndef MXC_THREAD_SANITIZER

// A chain whose code is kernels.c and more, linked with more options.
TestArtifact ArtifactWith(const std::string& source,
                          const std::string& options) {
  TestArtifact artifact = ChainArtifact();
  artifact.kernels = BuildKernels(source, options);
  return artifact;
}

struct Foreign {
  const char* source;   // beside kernels.c
  const char* options;  // of the compiler
  const char* message;
};

// Each breaks one of the rules of FORMAT.md about code.
constexpr Foreign kForeign[] = {
    {"__attribute__((constructor)) static void Begin(void) { LeaveMark(); }",
     "", "its code has constructors"},
    {"void Begin(void) { LeaveMark(); }", "-Wl,-init,Begin",
     "its code has constructors"},
    {"__attribute__((destructor)) static void End(void) { LeaveMark(); }", "",
     "its code has destructors"},
    {"void End(void) { LeaveMark(); }", "-Wl,-fini,End",
     "its code has destructors"},
    {"", "-Wl,--no-as-needed -lc", "its code needs another library"},
    {"extern int elsewhere(void); int Call(void) { return elsewhere(); }",
     "-Wl,-z,now -fno-plt", "its code "},
    {"static void* Choose(void) { LeaveMark(); return 0; }\n"
     "void Chosen(void) __attribute__((ifunc(\"Choose\")));\n"
     "void* address = (void*)Chosen;",
     "", "its code has "},
    {"__thread int counter = 1; int Count(void) { return ++counter; }", "",
     "its code has variables of a thread"},
    {"", "-Wl,-z,execstack", "its code asks for a stack that is executable"},
    {"int changed = 1;", "-Wl,-N", "its code has "},
    {"const char loader[] __attribute__((section(\".interp\"))) = \"/bin/sh\";",
     "", "its code names a program that is to load it"},
    {"", "-Wl,-rpath,/tmp",
     "its code has a dynamic entry that generated code has not"},
    {"", "-Wl,--hash-style=sysv", "its code has "},
    {"int value; int* pointer = &value;", "", "its code "},
};

TEST_CASE("code that does more than lie in memory is refused, and not run") {
  std::filesystem::remove(MarkPath());
  for (const Foreign& foreign : kForeign) {
    CAPTURE(std::string(foreign.source));
    CAPTURE(std::string(foreign.options));
    const TestArtifact artifact = ArtifactWith(foreign.source, foreign.options);
    mxc_code code;
    const std::string refusal =
        Refusal(WriteTemporary("foreign", artifact.File()), &code);
    CHECK(Contains(refusal, foreign.message));
    CHECK(code == MXC_CORRUPT);
    CHECK_FALSE(std::filesystem::exists(MarkPath()));
  }
}

TEST_CASE("kernels.c alone is read, by whatever linker") {
  for (const char* linker : {"bfd", "mold", "lld"}) {
    if (std::system((std::string("command -v ld.") + linker +
                     " >/dev/null || "
                     "command -v " +
                     linker + " >/dev/null")
                        .c_str()) != 0) {
      continue;
    }
    CAPTURE(std::string(linker));
    const TestArtifact artifact =
        ArtifactWith("", std::string("-fuse-ld=") + linker);
    CHECK(Refusal(WriteTemporary("linker", artifact.File())) == "");
  }
}

TEST_CASE("damaged code is read without harm at every length") {
  const std::string code = CodeOf(ChainArtifact().File());
  CHECK(WhyNotRead(code) == "");
  for (size_t size = 0; size < code.size(); size += size < 6000 ? 1 : 37) {
    // A copy, so that the sanitizer sees every step beyond its end.
    const std::vector<char> cut(code.begin(),
                                code.begin() + static_cast<long>(size));
    (void)runtime::SharedObject::Read(std::as_bytes(std::span(cut)));
  }
  CHECK(WhyNotRead(code.substr(0, 2000)) != "");
}

#endif  // not MXC_THREAD_SANITIZER

TEST_CASE("a wrong machine, class or type is refused") {
  const std::string code = CodeOf(ChainArtifact().File());
  const auto with = [&](size_t place, char value) {
    std::string changed = code;
    changed[place] = value;
    return WhyNotRead(changed);
  };
  CHECK(Contains(with(18, 3), "compiled for another processor architecture"));
  CHECK(with(0, 'x') == "its code is no shared object");
  CHECK(with(4, 1) == "its code is no shared object");   // 32 bits
  CHECK(with(5, 2) == "its code is no shared object");   // big-endian
  CHECK(with(16, 2) == "its code is no shared object");  // a program
  CHECK(with(54, 55) == "its code has no table of segments");
}

TEST_CASE("tables that do not fit the kernels are refused") {
  const TestArtifact good = ChainArtifact();
  const auto refusal = [&](auto change) {
    TestArtifact changed = good;
    change(changed.entries.front());
    return Refusal(WriteTemporary("unfit", good.FileWith(changed.Tables())));
  };
  const std::string path = WriteTemporary("unfit", "");
  const auto unfit = [&](const char* step) {
    return path + ": damaged: step '" + step +
           "' of entry 'infer' does not fit its kernel";
  };
  CHECK(refusal([](TestEntry&) {}) == "");
  // An output of one element where a kernel writes 1024.
  CHECK(refusal([](TestEntry& e) { e.steps[3].outputs = {6}; }) ==
        unfit("reverse"));
  CHECK(refusal([](TestEntry& e) { e.steps[4].inputs = {6}; }) == unfit("sum"));
  CHECK(refusal([](TestEntry& e) { e.steps[0].tasks = 65; }) == unfit("scale"));
  CHECK(refusal([](TestEntry& e) { e.steps[0].tasks = 63; }) == unfit("scale"));
  CHECK(refusal([](TestEntry& e) { e.steps[3].scratch_bytes = 0; }) ==
        unfit("reverse"));
  CHECK(refusal([](TestEntry& e) { e.steps[1].kernel = kScale; }) ==
        unfit("add"));
  CHECK(refusal([](TestEntry& e) {
          e.steps[1].inputs = {1};
          e.steps[1].outputs = {2, 3};
          e.buffers[2].kind = MXC_BUFFER_INTERNAL;
        }) == unfit("add"));
  CHECK(refusal([](TestEntry& e) { e.steps[1].inputs = {1}; }) == unfit("add"));
  CHECK(refusal([](TestEntry& e) {
          e.buffers[1].dims = {512};
          e.buffers[1].dtype = 1;
        }) == unfit("scale"));
  // Larger than needed does no harm.
  CHECK(refusal([](TestEntry& e) { e.steps[0].outputs = {3}; }) == "");

  TestArtifact prepared = PreparedArtifact();
  TestArtifact changed = prepared;
  changed.entries[1].buffers[2].dims = {512};
  CHECK(Contains(
      Refusal(WriteTemporary("unfit", prepared.FileWith(changed.Tables()))),
      "step 'turn back' of entry 'prepare' does not fit its kernel"));
}

}  // namespace
}  // namespace mxc::test
