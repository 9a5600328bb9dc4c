// SPDX-License-Identifier: MIT
#include <memory>

#include "run.hpp"
#include "translator.hpp"

extern const OfSize sentences_6{&Translator<2048, 6, 128>::train, [](const Options& options) {
                                  auto translator = std::make_shared<const Translator<2048, 6, 128>>(options);
                                  return std::function<std::string(const std::string&)>{
                                      [translator](const std::string& sentence) { return (*translator)(sentence); }};
                                }};
