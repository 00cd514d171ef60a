// SPDX-License-Identifier: Apache-2.0
// _radix_order: where the elements of an axis are in sorted order, in time
// linear in them; our own operator, see order.h.
// Least significant digit first (Knuth, volume 3, 5.2.5, algorithm R), on
// unsigned keys that have the order of the elements. Digits that all keys share
// are passed over.
#include <algorithm>

#include "ir/ops/tensor/sort/order.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

constexpr int kWordBits = 32;

Expr Word(uint32_t bits) {
  return Constant(static_cast<double>(bits), DType::kU32);
}

// How many bits the key of an element has.
int KeyBits(DType dtype) {
  if (dtype == DType::kBool) return 1;
  const int bits = static_cast<int>(8 * SizeOf(dtype));
  return IsFloat(dtype) ? std::max(bits, kWordBits) : bits;
}

// The key of a float in IEEE's formats: the bits of negative numbers, which are
// in descending order, are turned around, and those of the others put behind
// them.
std::vector<Expr> KeyOfFloat(const Expr& given) {
  // -0 is as large as 0.
  const Expr x = Select(given == Lit(0, given), Lit(0, given), given);
  std::vector<Expr> words = {Unary(UnaryOp::kBits, x)};
  if (x->dtype == DType::kF64) words.push_back(Unary(UnaryOp::kHighBits, x));
  const Expr sign = Word(1u << 31), all = Word(~0u);
  const Expr negative = words.back() >= sign;
  for (Expr& word : words) {
    const bool top = &word == &words.back();
    word = BitXor(word, Select(negative, all, top ? sign : Word(0)));
    word = Select(Unary(UnaryOp::kIsNan, given), all, word);
  }
  return words;
}

// Two's complement: negative numbers before the others.
std::vector<Expr> KeyOfInteger(const Expr& x) {
  std::vector<Expr> words = {Cast(x, DType::kU32)};
  if (KeyBits(x->dtype) > kWordBits) {
    const Expr upper = ShiftRight(x, Constant(kWordBits, x->dtype));
    words.push_back(Cast(upper, DType::kU32));
  }
  const bool is_signed = x->dtype == DType::kI8 || x->dtype == DType::kI16 ||
                         x->dtype == DType::kI32 || x->dtype == DType::kI64;
  const int top = (KeyBits(x->dtype) - 1) % kWordBits;
  if (is_signed) words.back() = BitXor(words.back(), Word(1u << top));
  return words;
}

// Unsigned, the lowest 32 bits first.
std::vector<Expr> KeyOf(const Expr& x, bool is_ascend) {
  std::vector<Expr> words = IsFloat(x->dtype) ? KeyOfFloat(x) : KeyOfInteger(x);
  const int bits = KeyBits(x->dtype);
  for (Expr& word : words) {
    if (!is_ascend) word = BitXor(word, Word(~0u));
    if (bits < kWordBits) word = BitAnd(word, Word((1u << bits) - 1));
  }
  return words;
}

// Longer rows pay for more counters with fewer passes.
int DigitBits(int64_t n) { return n < 1 << 14 ? 8 : 11; }

class RadixOrder {
 public:
  RadixOrder(const OrderAttrs& attrs, ProcedureBuilder& p)
      : p_(p),
        rows_(attrs, p),
        is_ascend_(attrs.is_ascend),
        n_(rows_.n()),
        word_bits_(std::min(KeyBits(p.InDType(0)), kWordBits)),
        digit_bits_(std::min(DigitBits(n_), word_bits_)),
        words_(KeyBits(p.InDType(0)) / word_bits_),
        digits_((word_bits_ + digit_bits_ - 1) / digit_bits_),
        counts_(p.Array(DType::kI32, {words_ * digits_, 1 << digit_bits_})),
        places_(p.Array(DType::kI32, {2, n_})),
        now_(p.Let(Expr(0))) {
    for (int64_t w = 0; w < words_; ++w) {
      keys_.push_back(p.Array(DType::kU32, {2, n_}));
    }
  }

  void State() {
    ClearCounts();
    p_.For(0, n_, [&](const Expr& i) { Enter(i); });
    for (int64_t w = 0; w < words_; ++w) {
      p_.For(0, digits_, [&](const Expr& digit) { Pass(w, digit); });
    }
    p_.For(0, rows_.k(),
           [&](const Expr& j) { p_.Set(rows_.Order(j), places_(now_, j)); });
  }

 private:
  void ClearCounts() {
    p_.For(0, words_ * digits_, [&](const Expr& pass) {
      p_.For(0, 1 << digit_bits_, [&](const Expr& value) {
        p_.Set(counts_(pass, value), Constant(0, DType::kI32));
      });
    });
  }

  // A digit of a key, as an index.
  Expr Digit(const Expr& word, const Expr& digit) const {
    const Expr shift = Cast(digit * Expr(digit_bits_), DType::kU32);
    const Expr mask = Word((1u << digit_bits_) - 1);
    return Cast(BitAnd(ShiftRight(word, shift), mask), DType::kI64);
  }

  // Notes the key of element i, and counts its digits.
  void Enter(const Expr& i) {
    p_.Set(places_(0, i), i);
    Expr x = rows_.Data(i);
    if (IsFloat(x->dtype) && x->dtype != DType::kF64) x = Cast(x, DType::kF32);
    const std::vector<Expr> words = KeyOf(p_.Let(x), is_ascend_);
    for (int64_t w = 0; w < words_; ++w) {
      const Expr key = p_.Let(words[static_cast<size_t>(w)]);
      p_.Set(keys_[static_cast<size_t>(w)](0, i), key);
      for (int64_t digit = 0; digit < digits_; ++digit) {
        const Expr count = counts_(w * digits_ + digit, Digit(key, digit));
        p_.Set(count, count + Lit(1, count));
      }
    }
  }

  // Sorts by one digit, in order of the ones below it.
  void Pass(int64_t w, const Expr& digit) {
    const ProcedureArray& keys = keys_[static_cast<size_t>(w)];
    const Expr pass = p_.Let(Expr(w * digits_) + digit);
    const Expr first = p_.Let(Digit(keys(now_, 0), digit));
    const Expr alike =
        counts_(pass, first) == Constant(static_cast<double>(n_), DType::kI32);
    p_.If(Unary(UnaryOp::kNot, alike), [&] {
      Begins(pass);
      p_.For(0, n_, [&](const Expr& i) { Move(i, keys, pass, digit); });
      p_.Set(now_, Expr(1) - now_);
    });
  }

  // The counts of a digit become where its values begin.
  void Begins(const Expr& pass) {
    const Expr sum = p_.Let(Constant(0, DType::kI32));
    p_.For(0, 1 << digit_bits_, [&](const Expr& value) {
      const Expr count = p_.Let(counts_(pass, value));
      p_.Set(counts_(pass, value), sum);
      p_.Set(sum, sum + count);
    });
  }

  void Move(const Expr& i, const ProcedureArray& by, const Expr& pass,
            const Expr& digit) {
    const Expr begin = counts_(pass, p_.Let(Digit(by(now_, i), digit)));
    const Expr to = p_.Let(Cast(begin, DType::kI64));
    p_.Set(begin, begin + Lit(1, begin));
    const Expr next = Expr(1) - now_;
    for (const ProcedureArray& keys : keys_) {
      p_.Set(keys(next, to), keys(now_, i));
    }
    p_.Set(places_(next, to), places_(now_, i));
  }

  ProcedureBuilder& p_;
  const OrderedRows rows_;
  const bool is_ascend_;
  const int64_t n_;
  const int word_bits_, digit_bits_;
  const int64_t words_;   // of a key
  const int64_t digits_;  // of a word
  // How often each digit has each value, and then where the next of them goes;
  // keys and places in two turns, of which `now_` is the present one.
  const ProcedureArray counts_;
  const ProcedureArray places_;
  std::vector<ProcedureArray> keys_;
  const Expr now_;
};

}  // namespace

MXC_OP(RadixOrder) {
  return Op<OrderAttrs>("_radix_order")
      .Doc("the order of an axis, by its elements' digits")
      .Types(OrderTypes)
      .Procedure([](const OrderAttrs& attrs, ProcedureBuilder& p) {
        RadixOrder(attrs, p).State();
      })
      .ZeroGradient();
}

}  // namespace mxc
