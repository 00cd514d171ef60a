// SPDX-License-Identifier: Apache-2.0
#include "tools/picture_settings.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tools/run/picture_input.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

std::string CheckResize(const std::string& text) {
  std::string number = text;
  const CLI::Validator legal = Between(1, 16384);
  return text == "stretch" || legal(number).empty()
             ? ""
             : fmt::format(
                   "'{}' is neither stretch nor a whole number from 1 "
                   "to 16384",
                   text);
}

}  // namespace

void AddPictureOptions(CLI::App& app, PictureSettings& settings) {
  app.option_defaults()->group("Pictures");
  const auto say = [&settings](const std::string& word) {
    settings.words += (settings.words.empty() ? "" : " ") + word;
  };
  const auto three = [&](const char* option, const char* name,
                         std::string (*check)(const std::string&),
                         const char* doc) {
    app.add_option_function<std::string>(
           option,
           [=](const std::string& text) {
             const auto values = run::ReadColours(text);
             constexpr char kColours[] = {'r', 'g', 'b'};
             // Of every pixel, from a file.
             if (name == std::string_view("mean")) say("mean_img=");
             for (size_t i = 0; values && i < values->size(); ++i) {
               say(fmt::format("{}_{}={}", name, kColours[i], (*values)[i]));
             }
           },
           doc)
        ->check(check)
        ->type_name("R,G,B");
  };
  three("--mean", "mean", run::CheckColours,
        "subtracted from red, green, blue, or one number from all; the "
        "artifact keeps this and the next options for all who run it (default: "
        "what is noted beside the parameters of a training)");
  three("--std", "std", run::CheckDeviations,
        "then red, green, blue are divided by this");
  app.add_option_function<std::string>(
         "--scale", [=](const std::string& text) { say("scale=" + text); },
         "then multiplied with everything")
      ->check(run::CheckScale)
      ->type_name("FLOAT");
  app.add_option_function<std::string>(
         "--order",
         [=](const std::string& text) {
           say(text == "bgr" ? "blue_first=1" : "blue_first=0");
         },
         "of the colours in the input's channels: rgb, or bgr as OpenCV and "
         "Caffe have them")
      ->check(OneOf({"rgb", "bgr"}));
  app.add_option_function<std::string>(
         "--resize",
         [=](const std::string& text) {
           say(text == "stretch" ? "fit=stretch resize=-1"
                                 : fmt::format("fit=crop resize={}", text));
         },
         "to so many pixels of the shorter side, of which the centre is cut "
         "out; or stretch, to the input's size")
      ->check(CheckResize)
      ->type_name("N|stretch");
  app.add_option_function<std::string>(
         "--orientation",
         [=](const std::string& text) { say("orientation=" + text); },
         "exif: turned as the camera says it was held, or stored")
      ->check(OneOf({"exif", "stored"}));
  app.add_option("--labels", settings.labels,
                 "names of the classes, one a line")
      ->type_name("FILE");
}

}  // namespace mxc
