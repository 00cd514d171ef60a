// SPDX-License-Identifier: Apache-2.0
// mxc-tokens VOCABULARY <TEXTS: for each text, ended by a zero byte, a line with
// its tokens' numbers, and one with the text that they make again, in hex.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "runtime/data/text/tokenizer.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto tokenizer = mxc::data::Tokenizer::Open(argv[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().message().c_str());
    return 1;
  }
  std::string text;
  while (std::getline(std::cin, text, '\0')) {
    std::string again;
    for (const uint32_t token : (*tokenizer)->Encode(text)) {
      std::printf("%u ", token);
      again += (*tokenizer)->Piece(token, again.empty());
    }
    std::printf("\n");
    for (const char c : again) {
      std::printf("%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    std::printf("\n");
  }
  return 0;
}
