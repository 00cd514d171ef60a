// SPDX-License-Identifier: Apache-2.0
// Whether a function that we declare is one that NVIDIA's header declares.
#pragma once

#include <type_traits>

namespace mxc::test {

// Enums are integers in our declarations, and pointers to them to integers.
template <class T>
constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T>;

template <class Ours, class Theirs>
constexpr bool IsAlike() {
  if constexpr (kIsNumber<Ours> && kIsNumber<Theirs>) {
    return sizeof(Ours) == sizeof(Theirs);
  } else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs> &&
                       kIsNumber<std::remove_pointer_t<Ours>> &&
                       std::is_enum_v<std::remove_pointer_t<Theirs>>) {
    return IsAlike<std::remove_pointer_t<Ours>,
                   std::remove_pointer_t<Theirs>>();
  } else {
    return std::is_same_v<Ours, Theirs>;
  }
}

template <class Ours, class Theirs>
struct AreAlike;
template <class R, class... A, class S, class... B>
struct AreAlike<R(A...), S(B...)> {
  static constexpr bool value = IsAlike<R, S>() && (IsAlike<A, B>() && ...);
};

}  // namespace mxc::test

// That `ours` is what is declared under the name of `theirs`.
#define MXC_ASSERT_ALIKE(ours, theirs)                                        \
  static_assert(mxc::test::AreAlike<decltype(ours), decltype(theirs)>::value, \
                #theirs)
