// SPDX-License-Identifier: Apache-2.0
// Step: one thing that a program does. Its body is of a kind, a plain struct
// that says all about itself: how it prints, what is wrong with it, what it
// computes and what that costs. steps.def lists the kinds.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/program/buffer.h"
#include "ir/program/expr.h"
#include "ir/program/step_values.h"
#include "ir/support/diagnostic.h"

namespace mxc {

// Kinds and their parts that many ask for. Who looks into a kind includes its
// header, so that a change of it rebuilds only what sees it.
struct Contraction;
struct ContractionStep;
struct ContractionTypes;
struct Map;
struct Store;
struct TileLoop;
enum class Role : uint8_t;

// What every kind says of itself.
template <class T>
concept StepKind =
    std::copy_constructible<T> &&
    requires(const T& kind, const Program& program, const Step& step,
             StepValues& values, const ExprText& text) {
      // The lines of the text form that follow the step's first one; the
      // function in steps.def reads them back.
      { kind.Print() } -> std::same_as<std::string>;
      // What is wrong with it; null if nothing is. The operands exist.
      {
        kind.Verify(program, step)
      } -> std::same_as<std::optional<std::string>>;
      kind.Interpret(values);
      // Equal for bodies that equal code computes.
      { kind.Key(program, step, text) } -> std::same_as<std::string>;
      // Floating-point operations of its mathematics.
      { kind.Flops(program, step) } -> std::same_as<double>;
    };

// The body of a step: a value of any kind.
//
// Passes ask it what they may do. A kind that does not answer is opaque: it is
// not fused, its operands keep their places, it shares no bytes with them, it
// runs once, where it stands, and is never left out.
class StepBody {
 public:
  StepBody();  // a Map without stores
  // A body is no kind: whether it could be is not asked, for that needs this.
  template <class T>
    requires(!std::same_as<T, StepBody> && StepKind<T>)
  StepBody(T kind) : self_(std::make_unique<Holder<T>>(std::move(kind))) {}
  StepBody(const StepBody& other) : self_(other.self_->Clone()) {}
  StepBody(StepBody&&) noexcept = default;
  StepBody& operator=(const StepBody& other) {
    self_ = other.self_->Clone();
    return *this;
  }
  StepBody& operator=(StepBody&&) noexcept = default;

  // The body if it is of that kind, else null.
  template <StepKind T>
  T* As() {
    return self_ && self_->tag == &kTag<T>
               ? &static_cast<Holder<T>*>(self_.get())->kind
               : nullptr;
  }
  template <StepKind T>
  const T* As() const {
    return const_cast<StepBody*>(this)->As<T>();
  }

  std::string Print() const { return self_->Print(); }
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const {
    return self_->Verify(program, step);
  }
  void Interpret(StepValues& values) const { self_->Interpret(values); }
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const {
    return self_->Key(program, step, text);
  }
  double Flops(const Program& program, const Step& step) const {
    return self_->Flops(program, step);
  }

  // Which layouts of operands it takes. `static constexpr Layouts kLayouts` of
  // the kind; else row-major ones.
  bool any_layout() const { return self_->layouts == Layouts::kAny; }
  bool row_major() const { return self_->layouts == Layouts::kRowMajor; }
  // Where its operands may lie. `static constexpr Places kPlaces` of the kind;
  // else on the device.
  Places places() const { return self_->places; }
  // Its outputs depend on its inputs alone, and it does nothing else: it may
  // run earlier or later, again, or not at all if nobody reads them. No step is
  // moved over one that is not pure.
  // `static constexpr bool kPure` of the kind; `IsPure` of one that holds
  // steps, on which it depends.
  bool pure() const { return self_->IsPure(); }
  // It may end the run: it runs only where it would.
  // `static constexpr bool kFails` of the kind; `MayFail` of one that holds
  // steps.
  bool may_fail() const { return self_->MayFail(); }
  // `static constexpr Work kWork` of the kind; else a kernel.
  Work work() const { return self_->work; }
  // The same for those operands as a kind that every target has kernels for, a
  // Map or a Procedure. `Lower` of the kind; else nothing.
  std::optional<StepBody> Lower(const Program& program,
                                const Step& step) const {
    return self_->Lower(program, step);
  }
  // Returns whether it may run beside other steps, between a start and a wait.
  // `static constexpr bool kBeside` of the kind.
  bool beside() const { return self_->beside; }
  // Every expression whose Loads name the step's inputs by number.
  // `VisitExprs` of the kind.
  void VisitExprs(const std::function<void(Expr&)>& f) { self_->VisitExprs(f); }
  void VisitExprs(const std::function<void(const Expr&)>& f) const {
    self_->VisitExprs([&](Expr& e) { f(e); });
  }
  // How many of its last outputs are room to work in, which holds no value
  // afterwards. `static constexpr int kWorkspaces` of the kind; else none.
  int workspaces() const { return self_->workspaces; }
  // Every program inside that passes are to work on, too.
  // `VisitPrograms` of the kind.
  void VisitPrograms(
      const std::function<void(std::shared_ptr<const Program>&)>& f) {
    self_->VisitPrograms(f);
  }
  // Inputs below this number stand where the body expects them and may be read
  // at any index; those from it on are read by the expressions alone.
  // `FixedOperands` of the kind.
  int FixedOperands(const Step& step) const {
    return self_->FixedOperands(step);
  }

 private:
  // Its address stands for the kind.
  template <class T>
  static constexpr char kTag = 0;

  struct Base {
    template <class T>
    explicit Base(std::type_identity<T>)
        : tag(&kTag<T>),
          work(WorkOf<T>()),
          beside(IsBeside<T>()),
          layouts(LayoutsOf<T>()),
          places(PlacesOf<T>()),
          workspaces(WorkspacesOf<T>()) {}
    virtual ~Base() = default;
    virtual std::unique_ptr<Base> Clone() const = 0;
    virtual std::string Print() const = 0;
    virtual std::optional<std::string> Verify(const Program&,
                                              const Step&) const = 0;
    virtual void Interpret(StepValues&) const = 0;
    virtual std::string Key(const Program&, const Step&,
                            const ExprText&) const = 0;
    virtual double Flops(const Program&, const Step&) const = 0;
    virtual bool IsPure() const = 0;
    virtual bool MayFail() const = 0;
    virtual std::optional<StepBody> Lower(const Program&,
                                          const Step&) const = 0;
    virtual void VisitExprs(const std::function<void(Expr&)>& f) = 0;
    virtual void VisitPrograms(
        const std::function<void(std::shared_ptr<const Program>&)>& f) = 0;
    virtual int FixedOperands(const Step&) const = 0;

    const void* const tag;
    const Work work;
    const bool beside;
    const Layouts layouts;
    const Places places;
    const int workspaces;
  };

  template <class T>
  static constexpr Work WorkOf() {
    if constexpr (requires { T::kWork; }) return T::kWork;
    return Work::kKernel;
  }
  template <class T>
  static constexpr bool IsBeside() {
    if constexpr (requires { T::kBeside; }) return T::kBeside;
    return false;
  }
  template <class T>
  static constexpr Layouts LayoutsOf() {
    if constexpr (requires { T::kLayouts; }) return T::kLayouts;
    return Layouts::kRowMajor;
  }
  template <class T>
  static constexpr Places PlacesOf() {
    if constexpr (requires { T::kPlaces; }) return T::kPlaces;
    return Places::kDevice;
  }
  template <class T>
  static constexpr int WorkspacesOf() {
    if constexpr (requires { T::kWorkspaces; }) return T::kWorkspaces;
    return 0;
  }
  static int InputsOf(const Step& step);

  template <class T>
  struct Holder final : Base {
    explicit Holder(T kind)
        : Base(std::type_identity<T>()), kind(std::move(kind)) {}
    std::unique_ptr<Base> Clone() const override {
      return std::make_unique<Holder>(kind);
    }
    std::string Print() const override { return kind.Print(); }
    std::optional<std::string> Verify(const Program& program,
                                      const Step& step) const override {
      return kind.Verify(program, step);
    }
    void Interpret(StepValues& values) const override {
      kind.Interpret(values);
    }
    std::string Key(const Program& program, const Step& step,
                    const ExprText& text) const override {
      return kind.Key(program, step, text);
    }
    double Flops(const Program& program, const Step& step) const override {
      return kind.Flops(program, step);
    }
    bool IsPure() const override {
      if constexpr (requires { kind.IsPure(); }) return kind.IsPure();
      if constexpr (requires { T::kPure; }) return T::kPure;
      return false;
    }
    bool MayFail() const override {
      if constexpr (requires { kind.MayFail(); }) return kind.MayFail();
      if constexpr (requires { T::kFails; }) return T::kFails;
      return false;
    }
    std::optional<StepBody> Lower(const Program& program,
                                  const Step& step) const override {
      if constexpr (requires { kind.Lower(program, step); }) {
        return StepBody(kind.Lower(program, step));
      }
      return std::nullopt;
    }
    void VisitExprs(const std::function<void(Expr&)>& f) override {
      if constexpr (requires { kind.VisitExprs(f); }) kind.VisitExprs(f);
    }
    void VisitPrograms(
        const std::function<void(std::shared_ptr<const Program>&)>& f)
        override {
      if constexpr (requires { kind.VisitPrograms(f); }) kind.VisitPrograms(f);
    }
    int FixedOperands(const Step& step) const override {
      if constexpr (requires { kind.FixedOperands(step); }) {
        return kind.FixedOperands(step);
      }
      return InputsOf(step);
    }

    T kind;
  };

  std::unique_ptr<Base> self_;
};

struct Step {
  std::string name;                  // "conv0+bn0+relu0", from the origins
  std::vector<int> inputs, outputs;  // buffers
  StepBody body;
  std::vector<std::string> origins;  // nodes of the user's network, in order
  SourceLoc loc;
  int part = -1;  // the micro-batch that it is of (Node::part); -1: none or all
  bool backward = false;  // computes gradients alone (Node::backward)
  // Output 0 is input 0 under another row-major shape, without gaps (Map only).
  bool view = false;
  // Bytes of scratch that each thread needs, as codegen asks.
  int64_t scratch_bytes = 0;

  // The body if it is of that kind, else null.
  const Map* map() const;
  Map* map();
  const ContractionStep* contraction() const;
  ContractionStep* contraction();
  const TileLoop* loop() const;
  // Inputs, then outputs.
  std::vector<int> operands() const;
  // Up to 2^62, which stands for whatever is more.
  int64_t flops(const Program& program) const;
};

// Returns whether all of the program's steps are pure; whether one of them may
// fail.
bool IsPure(const Program& program);
bool MayFail(const Program& program);

// Where a step runs. Of one that is nowhere, a copy: where it leads.
Place PlaceOf(const Program& program, const Step& step);

// The outputs of a Map step in groups that are computed in one sweep, all of an
// index before any of it is written: outputs of equal shapes and layouts, in
// order. A group may be written over inputs that are read at the own index.
std::vector<std::vector<int>> SweepsOf(const Program& program,
                                       const Step& step);

// What the code of a step depends on: its body and its operands' types, layouts
// and common bytes, not which buffers they are.
std::string KeyOf(const Program& program, const Step& step,
                  const ExprText& text);

}  // namespace mxc
