// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "ir/program/names.h"
#include "ir/program/program.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

constexpr int kMaxDepth = 200;  // of nested parentheses
constexpr int kMaxLoops = 8;    // in each other
constexpr int64_t kMaxRank = 16;
constexpr int64_t kMaxElements = int64_t{1} << 31;  // of a parsed constant

// Binding strength of the infix operators; the printer parenthesises every
// nested one, so one level serves.
std::optional<BinaryOp> InfixFromSymbol(std::string_view symbol) {
  const auto op = FromName<BinaryOp>(kBinaryNames, symbol);
  return op && !InfixSymbol(*op).empty() ? op : std::nullopt;
}

class ProgramParser {
 public:
  explicit ProgramParser(std::shared_ptr<const SourceFile> file)
      : lex_(std::move(file)) {}

  Result<Program> Run() {
    lex_.Expect("program");
    lex_.Expect("@");
    std::string full = lex_.Identifier();
    while (lex_.Accept("-")) full += "-" + lex_.Identifier();
    const size_t dot = full.rfind('.');
    program_.name = full.substr(0, dot);
    if (dot != std::string::npos) program_.entry = full.substr(dot + 1);
    ParseBody();
    if (lex_.failed()) return lex_.errors();
    return std::move(program_);
  }

 private:
  void ParseBody() {
    if (lex_.Accept("arena")) {
      program_.arena_bytes = lex_.Integer();
      lex_.Expect("lower");
      program_.lower_bound_bytes = lex_.Integer();
      lex_.Expect("naive");
      program_.naive_bytes = lex_.Integer();
    }
    lex_.Expect("{");
    while (lex_.Accept("buffer")) ParseBuffer();
    while (lex_.Accept("step")) ParseStep();
    lex_.Expect("}");
  }

  void ParseBuffer() {
    lex_.Integer();
    Buffer b;
    b.name = lex_.QuotedString();
    b.type = ParseType();
    b.layout = ParseLayout(b.type.shape.known_rank() ? b.type.shape.rank() : 0);
    const std::string kind = lex_.Identifier();
    if (kind == "input")
      b.kind = BufferKind::kInput;
    else if (kind == "output")
      b.kind = BufferKind::kOutput;
    else if (kind == "constant")
      b.kind = BufferKind::kConstant;
    else if (kind == "internal")
      b.kind = BufferKind::kInternal;
    else if (kind == "state")
      b.kind = BufferKind::kState;
    else if (kind == "next")
      b.kind = BufferKind::kNextState;
    else
      lex_.Fail("input, output, constant, internal, state or next");
    if (b.kind == BufferKind::kNextState) {
      b.state = static_cast<int>(lex_.Integer());
    }
    if (lex_.Accept("alias")) b.alias_of = static_cast<int>(lex_.Integer());
    if (lex_.Accept("from")) b.alias_begin = lex_.Integer();
    if (lex_.Accept("offset")) b.offset = lex_.Integer();
    const bool initialised = b.kind == BufferKind::kState && lex_.Peek() == "=";
    if ((b.kind == BufferKind::kConstant || initialised) && !lex_.failed()) {
      ParseConstant(b);
    }
    program_.buffers.push_back(std::move(b));
  }

  // A constant whose values the text leaves out is zero.
  void ParseConstant(Buffer& b) {
    const auto elements = CheckedProduct(b.type.shape.dims());
    if (!elements || *elements > kMaxElements) {
      return lex_.Fail("a constant of reasonable size");
    }
    std::byte* bytes = nullptr;
    b.constant = Tensor::Allocate(b.type, &bytes);
    if (!lex_.Accept("=")) return;
    for (int64_t i = 0; i < *elements && !lex_.failed(); ++i) {
      StoreElement(bytes + i * SizeOf(b.type.dtype), b.type.dtype,
                   lex_.Number());
    }
  }

  TensorType ParseType() {
    TensorType type;
    const auto dtype = DTypeFromShortName(lex_.Peek());
    if (!dtype) lex_.Fail("an element type");
    lex_.Identifier();
    type.dtype = dtype.value_or(DType::kF32);
    Extents dims;
    lex_.Expect("[");
    while (!lex_.AtEnd() && !lex_.Accept("]")) {
      if (!dims.empty()) lex_.Expect(",");
      dims.push_back(lex_.Integer());
      if (dims.back() < 0 || dims.size() > kMaxRank) lex_.Fail("a dimension");
    }
    type.shape = Shape(dims);
    return type;
  }

  Layout ParseLayout(int rank) {
    Layout layout;
    layout.halo_low.assign(rank, 0);
    layout.halo_high.assign(rank, 0);
    lex_.Expect("{");
    while (!lex_.AtEnd() && !lex_.Accept("}")) {
      const std::string_view word = lex_.Peek();
      if (word.starts_with("winograd") || word == "strassen") {
        for (const KernelBasis basis :
             {KernelBasis::kWinograd4, KernelBasis::kWinograd6,
              KernelBasis::kWinograd8, KernelBasis::kStrassen}) {
          if (word == BasisName(basis)) layout.basis = basis;
        }
        if (layout.basis == KernelBasis::kPlain) lex_.Fail("a basis");
        lex_.Identifier();
        continue;
      }
      if (word.starts_with("halo")) {
        const std::string name = lex_.Identifier();
        const int axis = name.size() == 5 ? name[4] - '0' : -1;
        lex_.Expect(":");
        const int64_t low = lex_.Integer();
        lex_.Expect("+");
        const int64_t high = lex_.Integer();
        if (axis < 0 || axis >= rank) return lex_.Fail("an axis"), layout;
        layout.halo_low[axis] = low;
        layout.halo_high[axis] = high;
        continue;
      }
      const int64_t axis = lex_.Integer();
      lex_.Expect(":");
      const int64_t extent = lex_.Integer();
      if (axis < 0 || axis >= rank || extent < 0) lex_.Fail("axis:extent");
      const int64_t span = lex_.Accept("of") ? lex_.Integer() : 0;
      if (span < 0) lex_.Fail("a span");
      layout.dims.push_back({static_cast<int>(axis), extent, span});
    }
    return layout;
  }

  std::vector<int> ParseBuffers() {
    std::vector<int> list;
    for (const int64_t n : ParseExtents()) {
      if (n < 0 || n >= static_cast<int64_t>(program_.buffers.size())) {
        lex_.Fail("a buffer");
      }
      list.push_back(static_cast<int>(n));
    }
    return list;
  }

  Extents ParseExtents() {
    Extents list;
    lex_.Expect("(");
    while (!lex_.AtEnd() && !lex_.Accept(")")) {
      if (!list.empty()) lex_.Expect(",");
      list.push_back(lex_.Integer());
    }
    return list;
  }

  void ParseStep() {
    Step step;
    step.name = lex_.QuotedString();
    step.inputs = ParseBuffers();
    lex_.Expect("->");
    step.outputs = ParseBuffers();
    step.view = lex_.Accept("view");
    if (lex_.Accept("scratch")) step.scratch_bytes = lex_.Integer();
    if (lex_.Accept("from")) {
      do {
        step.origins.push_back(lex_.QuotedString());
      } while (lex_.Accept(","));
    }
    step_ = lex_.failed() ? nullptr : &step;
    vars_.clear();
    if (lex_.Accept("tiles")) {
      step.body = ParseLoop();
    } else if (lex_.Accept("contraction")) {
      step.body = ParseContraction();
    } else {
      Map map;
      while (lex_.Accept("store")) map.stores.push_back(ParseStore());
      step.body = std::move(map);
    }
    step_ = nullptr;
    program_.steps.push_back(std::move(step));
  }

  TileLoop ParseLoop() {
    TileLoop loop;
    loop.tiles = lex_.Integer();
    lex_.Expect("(");
    while (!lex_.AtEnd() && !lex_.Accept(")")) {
      if (!loop.windows.empty()) lex_.Expect(",");
      loop.windows.push_back(ParseWindow());
    }
    Program whole = std::exchange(program_, Program());
    program_.name = whole.name;
    program_.entry = whole.entry;
    if (++depth_ > kMaxLoops) {
      lex_.Fail("fewer loops in each other");
    } else {
      ParseBody();
    }
    --depth_;
    std::swap(program_, whole);
    loop.tile = std::make_shared<const Program>(std::move(whole));
    return loop;
  }

  Window ParseWindow() {
    Window window;
    if (lex_.Accept("whole")) return window;
    lex_.Expect("axis");
    window.axis = static_cast<int>(lex_.Integer());
    if (window.axis < 0 || window.axis >= kMaxRank) lex_.Fail("an axis");
    lex_.Expect("from");
    window.begin = lex_.Integer();
    lex_.Expect("by");
    window.advance = lex_.Integer();
    return window;
  }

  Store ParseStore() {
    Store store;
    store.output = static_cast<int>(lex_.Integer());
    store.begin = ParseExtents();
    lex_.Expect("+");
    store.extent = ParseExtents();
    lex_.Expect("=");
    store.value = ParseExpr(0);
    return store;
  }

  int64_t Named(std::string_view name) {
    lex_.Expect(name);
    lex_.Expect("=");
    return lex_.Integer();
  }

  Extents NamedList(std::string_view name) {
    lex_.Expect(name);
    lex_.Expect("=");
    return ParseExtents();
  }

  std::vector<Role> ParseRoles() {
    std::vector<Role> roles;
    lex_.Expect("[");
    while (!lex_.AtEnd() && !lex_.Accept("]")) {
      const auto role = FromName<Role>(kRoleNames, lex_.Identifier());
      if (!role) lex_.Fail("a role");
      roles.push_back(role.value_or(Role::kBatch));
    }
    return roles;
  }

  ContractionStep ParseContraction() {
    ContractionStep body;
    Contraction& c = body.contraction;
    c.batch = Named("n");
    c.groups = Named("g");
    c.in = Named("k");
    c.out = Named("m");
    c.input = NamedList("input");
    c.output = NamedList("output");
    c.kernel = NamedList("kernel");
    c.stride = NamedList("stride");
    c.dilate = NamedList("dilate");
    c.pad = NamedList("pad");
    c.data_dilate.assign(c.kernel.size(), 1);
    if (lex_.Peek() == "data_dilate") c.data_dilate = NamedList("data_dilate");
    c.flip = lex_.Accept("flip");
    lex_.Expect("axes");
    c.data_axes = ParseRoles();
    c.weight_axes = ParseRoles();
    c.output_axes = ParseRoles();
    if (lex_.Accept("kernel")) {
      body.choice.algorithm = lex_.Identifier();
      while (lex_.Accept("-")) {
        body.choice.algorithm += "-" + lex_.Identifier();
      }
      body.choice.block = Named("block");
      lex_.Expect("tile");
      lex_.Expect("=");
      ParseTile(body.choice);
    }
    lex_.Expect("epilogue");
    body.epilogue = ParseExpr(0);
    if (lex_.Accept("maxima")) body.maxima = ParseExtents();
    return body;
  }

  // "14x2" is one word.
  void ParseTile(KernelChoice& choice) {
    const std::string tile = lex_.Identifier();
    const size_t x = tile.find('x');
    if (x == std::string::npos) return lex_.Fail("a tile such as 6x2");
    choice.tile_rows = std::atoll(tile.c_str());
    choice.tile_vectors = std::atoll(tile.c_str() + x + 1);
  }

  // A value with infix operators between operands of one type.
  Expr ParseExpr(int depth) {
    Expr left = ParseOperand(depth);
    while (const auto op = InfixFromSymbol(lex_.Peek())) {
      lex_.Expect(lex_.Peek());
      Expr right = ParseOperand(depth);
      if (lex_.failed()) return Expr(0);
      if (left->dtype != right->dtype) return Wrong("operands of one type");
      left = Binary(*op, left, right);
    }
    return left;
  }

  Expr Wrong(std::string_view expected) {
    lex_.Fail(expected);
    return Expr(0);
  }

  std::vector<Expr> ParseArgs(std::string_view close, int depth) {
    std::vector<Expr> args;
    while (!lex_.AtEnd() && !lex_.Accept(close)) {
      if (!args.empty()) lex_.Expect(",");
      args.push_back(ParseExpr(depth + 1));
    }
    return args;
  }

  Expr ParseOperand(int depth) {
    if (depth > kMaxDepth) return Wrong("fewer nested parentheses");
    if (lex_.AtEnd()) return Wrong("a value");
    if (lex_.Accept("(")) {
      Expr e = ParseExpr(depth + 1);
      lex_.Expect(")");
      return e;
    }
    if (lex_.Accept("%")) return ParseLoad(depth);
    const std::string_view word = lex_.Peek();
    const bool number = word == "-" || word == "inf" || word == "nan" ||
                        (word[0] >= '0' && word[0] <= '9');
    if (number) return ParseNumber();
    return ParseNamed(lex_.Identifier(), depth);
  }

  Expr ParseNumber() {
    const bool negative = lex_.Accept("-");
    const std::string text(lex_.Peek());
    double value = lex_.Number();
    if (negative) value = -value;
    const bool real = text.find_first_of(".en") != std::string::npos;
    DType dtype = real ? DType::kF32 : DType::kI64;
    if (lex_.Accept(":")) {
      dtype = DTypeFromShortName(lex_.Identifier()).value_or(dtype);
    }
    return Constant(value, dtype);
  }

  Expr ParseLoad(int depth) {
    const int64_t operand = lex_.Integer();
    if (!step_ || operand < 0 ||
        operand >= static_cast<int64_t>(step_->inputs.size())) {
      return Wrong("an operand of the step");
    }
    lex_.Expect("[");
    auto indices = ParseArgs("]", depth);
    for (const Expr& i : indices) {
      if (i->dtype != DType::kI64) return Wrong("integer indices");
    }
    return Load(static_cast<int>(operand),
                program_.buffers[step_->inputs[operand]].type.dtype,
                std::move(indices));
  }

  int Variable(const std::string& name) {
    const int number = std::atoi(name.c_str() + 1);
    if (name[0] == 'i') return number;
    auto [it, fresh] = vars_.try_emplace(number, 0);
    if (fresh) it->second = FreshReductionVar();
    return it->second;
  }

  // By a reduction around it; indices are by their step.
  bool IsBound(const std::string& name) const {
    return name[0] == 'i' ||
           std::ranges::count(bound_, std::atoi(name.c_str() + 1)) > 0;
  }

  static bool IsVariable(const std::string& name) {
    return name.size() > 1 && name.size() < 8 &&
           (name[0] == 'i' || name[0] == 'r') &&
           name.find_first_not_of("0123456789", 1) == std::string::npos;
  }

  Expr ParseNamed(const std::string& name, int depth) {
    if (name == "acc") {
      if (!step_) return Wrong("a value");
      return Acc();
    }
    if (name == "true" || name == "false") {
      return Constant(name == "true", DType::kBool);
    }
    if (const auto op = FromName<ReduceOp>(kReduceNames, name)) {
      return ParseReduce(*op, depth);
    }
    // "i32(x)" is a cast, "i32" a variable.
    if (IsVariable(name) && lex_.Peek() != "(") {
      if (!IsBound(name)) return Wrong("a variable of a reduction around it");
      return Var(Variable(name));
    }
    lex_.Expect("(");
    const auto args = ParseArgs(")", depth);
    if (lex_.failed()) return Expr(0);
    return Call(name, args);
  }

  Expr Call(const std::string& name, const std::vector<Expr>& args) {
    if (name == "select" && args.size() == 3 &&
        args[0]->dtype == DType::kBool && args[1]->dtype == args[2]->dtype) {
      return Select(args[0], args[1], args[2]);
    }
    if (args.size() == 1) {
      if (const auto dtype = DTypeFromShortName(name)) {
        return Cast(args[0], *dtype);
      }
      if (const auto op = FromName<UnaryOp>(kUnaryNames, name)) {
        return Unary(*op, args[0]);
      }
    }
    const auto op = FromName<BinaryOp>(kBinaryNames, name);
    if (op && args.size() == 2 && args[0]->dtype == args[1]->dtype) {
      return Binary(*op, args[0], args[1]);
    }
    return Wrong("a function with operands that fit it");
  }

  Expr ParseReduce(ReduceOp op, int depth) {
    std::vector<Range> ranges;
    const size_t around = bound_.size();
    lex_.Expect("{");
    while (!lex_.AtEnd() && !lex_.Accept("}")) {
      if (!ranges.empty()) lex_.Expect(",");
      const std::string name = lex_.Identifier();
      if (!IsVariable(name) || name[0] != 'r') return Wrong("a variable");
      lex_.Expect("in");
      Range range;
      range.begin = ParseOperand(depth + 1);
      lex_.Expect("..");
      range.end = ParseOperand(depth + 1);
      range.var = Variable(name);
      bound_.push_back(std::atoi(name.c_str() + 1));
      ranges.push_back(std::move(range));
    }
    lex_.Expect("(");
    Expr body = ParseExpr(depth + 1);
    lex_.Expect(")");
    bound_.resize(around);
    if (lex_.failed()) return Expr(0);
    return Reduce(op, std::move(ranges), body);
  }

  Lexer lex_;
  Program program_;
  int depth_ = 0;               // of loops
  const Step* step_ = nullptr;  // whose expressions are being read
  std::map<int, int> vars_;     // r<k> → the process's variable
  std::vector<int> bound_;      // the k of the reductions around
};

}  // namespace

Result<Program> ParseProgram(std::shared_ptr<const SourceFile> text) {
  return ProgramParser(std::move(text)).Run();
}

}  // namespace mxc
