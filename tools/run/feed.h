// SPDX-License-Identifier: Apache-2.0
// Files into a network's inputs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/run/picture_input.h"
#include "tools/run/session.h"

namespace mxc::run {

// "name=file" or "file", as given with --input; a file whose own name has a '='
// is found. Throws a Failure where name or file is missing.
struct InputFile {
  std::string name, file;
};
InputFile ParseInput(const std::string& text);

// The file, or the JPEGs and PNGs of a folder in the order of their names.
std::vector<InputFile> FilesOf(const InputFile& input);

// Several pictures for one input fill its batch in order.
struct Feed {
  std::vector<InputFile> files;
  PictureOptions pictures;
  // Inputs that are read may lack a file, and one without a name is the first's.
  bool partial = false;
};

// The entry of the session's name whose shapes the files have, so that the batch
// need not be named, nor, where nobody named the entry, the length of sequences
// (--bucket, --length); the session's own if there is none.
size_t ChooseEntry(const Session& session, const Feed& feed);

// What Feed says about each of the inputs, and how long open axes are, of the entry's
// lengths `open`: names them
// all when one that is read is missing, or one is unknown, throws a Failure.
// Returns of each whether there was a file.
std::vector<bool> FillInputs(api::Executor& executor,
                             const std::vector<mxc_length>& open,
                             std::span<const NetworkInput> inputs,
                             const Feed& feed);

// Converts an array's elements to the input's, pixels as those of pictures.
void FillWithElements(const mxc_tensor& tensor, std::span<std::byte> memory,
                      const PictureOptions& pictures, runtime::ElementType type,
                      std::span<const std::byte> elements);

// What among the files is treated as pictures: JPEG and PNG, arrays of pixels
// (HoldsPixels).
struct PictureKinds {
  bool files = false, arrays = false;
};
PictureKinds KindsOf(std::span<const NetworkInput> inputs, const Feed& feed);

// A sentence about what the network may not have learned so: pictures of which
// nothing is known, or arrays where training scaled them; empty: no doubt.
std::string DoubtsOf(PictureKinds kinds, const PictureOptions& pictures);

// Says on stderr that the file's array is of another type than the input.
void NoteConversion(const std::string& file, runtime::ElementType type,
                    const mxc_tensor& input, const PictureOptions& pictures);

// Fills one input from one or more files. An array of another type is
// converted, which a line on stderr says, unless it holds pixels.
void FillInput(const mxc_tensor& tensor, std::span<std::byte> memory,
               const std::vector<std::string>& files,
               const PictureOptions& pictures);

}  // namespace mxc::run
