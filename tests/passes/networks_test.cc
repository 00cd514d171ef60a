// SPDX-License-Identifier: Apache-2.0
#include "tests/passes/networks.h"

#include <doctest/doctest.h>

namespace mxc {
namespace {

Value Relu(Network& net, const std::string& name, Value x) {
  return net.Op("Activation", name, {x}, {{"act_type", "relu"}});
}

Value GlobalPool(Network& net, const std::string& name, Value x) {
  return net.Op(
      "Pooling", name, {x},
      {{"pool_type", "avg"}, {"kernel", "(1, 1)"}, {"global_pool", "True"}});
}

Value ConvNormRelu(Network& net, const std::string& name, Value x, int64_t in,
                   int64_t out, int64_t kernel,
                   std::vector<AttrText> attrs = {}, int64_t groups = 1) {
  attrs.emplace_back("no_bias", "True");
  x = net.Convolution(name, x, in, out, kernel, attrs, groups);
  x = net.BatchNorm(name + "_bn", x, out, {{"fix_gamma", "False"}});
  return Relu(net, name + "_relu", x);
}

}  // namespace

Network Mlp() {
  Network net("mlp");
  Value x = net.Input("data", {3, 20});
  x = Relu(net, "relu1", net.FullyConnected("fc1", x, 20, 16));
  x = net.Op("Dropout", "drop", {x}, {{"p", "0.5"}});
  x = net.FullyConnected("fc2", x, 16, 5);
  net.Output(net.Op("SoftmaxOutput", "softmax", {x, net.Input("label", {3})}));
  return net;
}

Network Lenet() {
  Network net("lenet");
  Value x = net.Input("data", {2, 1, 12, 12});
  int64_t channels = 1, filters = 6;
  for (const std::string n : {"1", "2"}) {
    x = net.Convolution("conv" + n, x, channels, filters, 3);
    x = net.Op("Activation", "tanh" + n, {x}, {{"act_type", "tanh"}});
    x = net.Op("Pooling", "pool" + n, {x},
               {{"pool_type", "max"},
                {"kernel", "(2, 2)"},
                {"stride", "(2, 2)"},
                {"pooling_convention", "full"}});
    channels = filters;
    filters = 10;
  }
  x = net.Op("Flatten", "flatten", {x});
  x = net.FullyConnected("fc1", x, 10 * 2 * 2, 14);
  x = net.Op("Activation", "tanh3", {x}, {{"act_type", "tanh"}});
  x = net.FullyConnected("fc2", x, 14, 5);
  net.Output(net.Op("SoftmaxOutput", "softmax", {x, net.Input("label", {2})}));
  return net;
}

Network ResidualV1() {
  Network net("residual_v1");
  Value x = net.Input("data", {1, 3, 9, 9});
  x = ConvNormRelu(net, "stem", x, 3, 8, 3, {{"pad", "(1, 1)"}});
  for (const std::string block : {"a", "b"}) {
    Value branch =
        ConvNormRelu(net, block + "1", x, 8, 8, 3, {{"pad", "(1, 1)"}});
    branch =
        net.Convolution(block + "2", branch, 8, 8, 1, {{"no_bias", "True"}});
    branch = net.BatchNorm(block + "2_bn", branch, 8);
    x = net.Op("elemwise_add", block + "_add", {branch, x});
    x = Relu(net, block + "_relu", x);
  }
  x = net.Op("Flatten", "flatten", {GlobalPool(net, "pool", x)});
  net.Output(net.FullyConnected("fc", x, 8, 4));
  return net;
}

Network BottleneckV1() {
  Network net("bottleneck_v1");
  Value x = net.Input("data", {1, 3, 9, 8});
  x = ConvNormRelu(net, "stem", x, 3, 8, 3, {{"pad", "(1, 1)"}});
  for (const std::string block : {"a", "b", "c"}) {
    const AttrText stride = {"stride", block == "c" ? "(2, 2)" : "(1, 1)"};
    Value branch = ConvNormRelu(net, block + "1", x, 8, 4, 1, {stride});
    branch =
        ConvNormRelu(net, block + "2", branch, 4, 4, 3, {{"pad", "(1, 1)"}});
    branch = net.Convolution(block + "3", branch, 4, 8, 1);
    branch = net.BatchNorm(block + "3_bn", branch, 8);
    const Value shortcut =
        block == "c" ? net.Convolution(block + "_sc", x, 8, 8, 1, {stride}) : x;
    x = net.Op("elemwise_add", block + "_add", {branch, shortcut});
    x = Relu(net, block + "_relu", x);
  }
  net.Output(x);
  return net;
}

Network ResidualV2() {
  Network net("residual_v2");
  Value x = net.Input("data", {2, 3, 8, 8});
  x = net.BatchNorm("bn_data", x, 3, {{"fix_gamma", "True"}});
  x = net.Convolution("stem", x, 3, 6, 3, {{"pad", "(1, 1)"}});
  for (const std::string block : {"a", "b"}) {
    Value act =
        Relu(net, block + "_relu1", net.BatchNorm(block + "_bn1", x, 6));
    Value branch = net.Convolution(block + "_conv1", act, 6, 6, 3,
                                   {{"stride", "(2, 2)"}, {"pad", "(1, 1)"}});
    Value shortcut =
        net.Convolution(block + "_sc", act, 6, 6, 1, {{"stride", "(2, 2)"}});
    x = net.Op("_plus", block + "_plus", {branch, shortcut});
  }
  net.Output(GlobalPool(net, "pool", Relu(net, "last", x)));
  return net;
}

Network Inception() {
  Network net("inception");
  Value x =
      ConvNormRelu(net, "stem", net.Input("data", {1, 3, 10, 10}), 3, 8, 3);
  Value a = ConvNormRelu(net, "a", x, 8, 4, 1);
  Value b = ConvNormRelu(net, "b1", x, 8, 6, 1);
  b = ConvNormRelu(net, "b2", b, 6, 8, 3, {{"pad", "(1, 1)"}});
  Value c = net.Op("Pooling", "pool", {x},
                   {{"pool_type", "max"},
                    {"kernel", "(3, 3)"},
                    {"stride", "(1, 1)"},
                    {"pad", "(1, 1)"}});
  c = ConvNormRelu(net, "c", c, 8, 4, 1);
  x = net.Op("Concat", "join", {a, b, c}, {{"num_args", "3"}});
  x = ConvNormRelu(net, "depthwise", x, 16, 16, 3, {{"stride", "(2, 2)"}}, 16);
  net.Output(net.Op("Flatten", "flatten", {x}));
  return net;
}

Network Branches() {
  Network net("branches");
  const std::vector<AttrText> same = {{"pad", "(1, 1)"}};
  Value x = ConvNormRelu(net, "stem", net.Input("data", {1, 3, 12, 12}), 3, 8,
                         3, same);
  x = ConvNormRelu(net, "wide", x, 8, 8, 3, {{"stride", "(2, 2)"}});
  Value a = ConvNormRelu(net, "a", x, 8, 4, 1);
  Value b = ConvNormRelu(net, "b", x, 8, 8, 3, same);
  x = net.Op("Concat", "join", {a, b}, {{"num_args", "2"}});
  Value y = ConvNormRelu(net, "c", x, 12, 8, 3, same);
  Value z = net.Op("slice_axis", "slice", {x},
                   {{"axis", "1"}, {"begin", "4"}, {"end", "12"}});
  z = ConvNormRelu(net, "d", z, 8, 8, 1);
  net.Output(net.Op("elemwise_add", "add", {y, z}));
  return net;
}

Network DenseBlock() {
  Network net("dense_block");
  Value x = ConvNormRelu(net, "stem", net.Input("data", {1, 3, 6, 6}), 3, 4, 1);
  int64_t channels = 4;
  for (const std::string layer : {"1", "2", "3"}) {
    Value y =
        Relu(net, "relu" + layer, net.BatchNorm("bn" + layer, x, channels));
    y = net.Convolution("conv" + layer, y, channels, 4, 3,
                        {{"pad", "(1, 1)"}, {"no_bias", "True"}});
    x = net.Op("Concat", "concat" + layer, {x, y}, {{"num_args", "2"}});
    channels += 4;
  }
  net.Output(Relu(net, "last", net.BatchNorm("bn", x, channels)));
  return net;
}

Network SqueezeExcite() {
  Network net("squeeze_excite");
  Value x = ConvNormRelu(net, "conv", net.Input("data", {2, 3, 6, 6}), 3, 8, 3);
  Value gate = net.Op("Flatten", "squeeze", {GlobalPool(net, "pool", x)});
  gate = Relu(net, "relu", net.FullyConnected("fc1", gate, 8, 4));
  gate = net.FullyConnected("fc2", gate, 4, 8);
  gate = net.Op("Activation", "gate", {gate}, {{"act_type", "sigmoid"}});
  gate = net.Op("Reshape", "excite", {gate}, {{"shape", "(0, 0, 1, 1)"}});
  net.Output(net.Op("broadcast_mul", "scale", {x, gate}));
  return net;
}

Network Detector() {
  Network net("detector");
  Value x = ConvNormRelu(net, "conv", net.Input("data", {1, 3, 6, 4}), 3, 8, 3,
                         {{"pad", "(1, 1)"}});
  Value score = net.Convolution("score", x, 8, 4, 1);
  score = net.Op("Reshape", "pairs", {score}, {{"shape", "(0, 2, -1, 0)"}});
  net.Output(
      net.Op("SoftmaxActivation", "prob", {score}, {{"mode", "channel"}}));
  Value box = net.Convolution("box", x, 8, 4, 1);
  net.Output(net.Op("slice_axis", "slice", {box},
                    {{"axis", "1"}, {"begin", "1"}, {"end", "3"}}));
  Value prelu =
      net.Op("LeakyReLU", "prelu", {box, net.Constant("prelu_gamma", {4})},
             {{"act_type", "prelu"}});
  net.Output(net.Op("transpose", "last", {prelu}, {{"axes", "(0, 2, 3, 1)"}}));
  net.Output(net.Op("L2Normalization", "norm", {x}, {{"mode", "channel"}}));
  return net;
}

Network Elementwise() {
  Network net("elementwise");
  const Value x = net.Input("x", {3, 4, 5});
  const Value y = net.Input("y", {3, 1, 5});
  Value a = net.Op("broadcast_add", "add", {x, y});
  a = net.Op("_mul_scalar", "half", {a}, {{"scalar", "0.5"}});
  Value e = net.Op("exp", "exp", {a});
  net.Output(net.Op("elemwise_mul", "twice", {e, e}));
  Value mean =
      net.Op("mean", "mean", {a}, {{"axis", "2"}, {"keepdims", "True"}});
  net.Output(net.Op("broadcast_sub", "centred", {a, mean}));
  Value flat = net.Op("Reshape", "flat", {a}, {{"shape", "(12, 5)"}});
  net.Output(net.Op("softmax", "softmax", {flat}));
  Value column = net.Op("sum", "column", {flat}, {{"axis", "0"}});
  net.Output(net.Op("tanh", "tanh", {column}));
  net.Output(net.Op("Cast", "cast", {e}, {{"dtype", "int32"}}));
  return net;
}

Network Outputs() {
  Network net("outputs");
  const Value x = net.Input("x", {2, 3});
  const Value y = net.Op("exp", "y", {x});
  const Value z = net.Op("sqrt", "z", {y});
  const Value view = net.Op("Reshape", "view", {z}, {{"shape", "(3, 2)"}});
  net.Output(x);
  net.Output(y);
  net.Output(y);
  net.Output(view);
  net.Output(net.Constant("c", {2}));
  net.Output(net.Op("Reshape", "view_of_input", {x}, {{"shape", "(6,)"}}));
  return net;
}

Network Constants() {
  Network net("constants");
  const Value x = net.Input("x", {2, 6});
  Value w = net.Op("transpose", "transposed", {net.Constant("w", {6, 4})});
  w = net.Op("_mul_scalar", "scaled", {w}, {{"scalar", "3"}});
  const Value bias = net.Constant("bias", {4});
  const std::vector<AttrText> attrs = {{"num_hidden", "4"}};
  const Value a = net.Op("FullyConnected", "a", {x, w, bias}, attrs);
  const Value b = net.Op("FullyConnected", "b", {x, w, bias}, attrs);
  const Value sum =
      net.Op("elemwise_add", "sum",
             {net.Op("exp", "ea", {a}), net.Op("exp", "eb", {b})});
  net.Output(sum);
  net.Output(net.Op("_copy", "same", {net.Op("BlockGrad", "block", {a})}));
  return net;
}

std::vector<Network> AllNetworks() {
  std::vector<Network> networks;
  for (Network (*make)() :
       {Mlp, Lenet, ResidualV1, BottleneckV1, ResidualV2, Inception, Branches,
        DenseBlock, SqueezeExcite, Detector, Elementwise, Outputs, Constants}) {
    networks.push_back(make());
  }
  return networks;
}

}  // namespace mxc
