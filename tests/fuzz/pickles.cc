// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/pickles.h"

#include "runtime/formats/updater_states.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/corpus.h"

namespace mxc::fuzz {
namespace {

runtime::StateValue StateOf(const runtime::Array& array) {
  runtime::StateValue value;
  value.array = array;
  return value;
}

std::string StatesFile() {
  const runtime::Array moment = SmallArray(runtime::ElementType::kF32, {2});
  runtime::StateValue pair;
  pair.is_tuple = true;
  pair.items = {StateOf(moment), StateOf(moment)};
  runtime::UpdaterStates states;
  states.entries.push_back({int64_t{0}, StateOf(moment)});
  states.entries.push_back({int64_t{300}, pair});
  states.entries.push_back({"name", runtime::StateValue()});
  return FileOf([&](const std::string& path) {
    (void)runtime::WriteUpdaterStates(path, states);
  });
}

}  // namespace

std::vector<std::string> Pickles() {
  using namespace std::string_literals;
  return {
      StatesFile(),
      // pickle.dumps({0: None, 1: (1.5, "a", b"b", True)}, protocol=2)
      "\x80\x02}q\0(K\0NK\1(G?\xf8\0\0\0\0\0\0X\1\0\0\0aq\1c_codecs\nencode\n"
      "q\2X\1\0\0\0bq\3X\6\0\0\0latin1q\4\x86q\5Rq\6\x88tq\7u."s,
      // protocol 0: text
      "(dp0\nI0\nNsI1\n(F1.5\nVa\np1\nI01\ntp2\ns."s,
      // an object with a state, as an optimizer is pickled
      "\x80\x04\x95\x20\0\0\0\0\0\0\0\x8c\1m\x94\x8c\4Adam\x94\x93\x94)\x81"
      "\x94}\x94\x8c\2lr\x94G?\xb9\x99\x99\x99\x99\x99\x9asb."s,
  };
}

std::vector<std::string> PickleWords() {
  using namespace std::string_literals;
  return {"\x80\x02",
          "\x80\x04",
          "mxnet.ndarray.ndarray\nNDArray\n"s,
          "mxnet.ndarray.ndarray",
          "NDArray",
          "_new_array",
          "handle",
          "_rebuild_ndarray",
          "_codecs\nencode\n",
          "latin1",
          "copy_reg\n_reconstructor\n",
          "c__builtin__\nobject\n",
          "\x8c\1a",
          "K\1",
          "M\1\1",
          "J\1\0\0\0"s,
          "\x8a\1\1",
          "\x94",
          "h\0"s,
          "q\0"s,
          "\x93",
          "\x81"};
}

}  // namespace mxc::fuzz
