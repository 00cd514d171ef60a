// SPDX-License-Identifier: Apache-2.0
// An LMDB's data.mdb for tests, written page by page as liblmdb lays it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mxc {

// The values under the keys 00000000, 00000001, …, in leaves below one branch;
// large ones on pages of their own.
std::string LmdbFile(const std::vector<std::string>& values);

// A Datum of Caffe.
std::string DatumMessage(int channels, int height, int width,
                         const std::string& bytes, int label,
                         bool encoded = false);
std::string FloatDatumMessage(int channels, int height, int width,
                              const std::vector<float>& values, int label);
// A BlobProto of four axes, as compute_image_mean writes it.
std::string BlobMessage(const std::vector<int>& shape,
                        const std::vector<float>& values);

}  // namespace mxc
