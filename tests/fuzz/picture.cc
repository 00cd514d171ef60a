// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/picture.h"

#include "tests/fuzz/pictures.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunPicture(Bytes input) {
  if (!data::IsPicture(input)) return;
  const int channels = input.size() % 2 == 0 ? 1 : 3;
  data::Picture picture;
  if (!data::DecodePicture(input, channels, &picture).ok()) return;
  if (picture.channels != channels) Wrong("another number of channels");
  Touch(std::as_bytes(std::span(picture.pixels)));
  if (picture.pixels.size() < 1 << 12) {
    const data::Picture small = data::ResizeBilinear(picture, 3, 5);
    Touch(std::as_bytes(std::span(small.pixels)));
  }
}

void SealPicture(std::span<std::byte> input) {
  if (TextOf(input).starts_with("\x89PNG")) SealPng(input);
}

}  // namespace

extern const Target picture;
const Target picture = {
    .run = RunPicture,
    .seeds = Pictures,
    .most_bytes = 1024,
    .words = {"\x89PNG\r\n\x1a\n", "IHDR", "PLTE", "IDAT", "IEND", "tRNS",
              "gAMA", "sBIT", "iCCP", "\xff\xd8\xff", "\xff\xc0", "\xff\xc2",
              "\xff\xc4", "\xff\xdb", "\xff\xda", "\xff\xdd", "\xff\xd9",
              "\xff\xee", "Adobe"},
    .seal = SealPicture};

}  // namespace mxc::fuzz
