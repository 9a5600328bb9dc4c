// SPDX-License-Identifier: MIT
#include <memory>

#include "run.hpp"
#include "translator.hpp"

extern const OfSize numbers_2{&Translator<320, 2, 64>::train, [](const Options& options) {
                                auto translator = std::make_shared<const Translator<320, 2, 64>>(options);
                                return std::function<std::string(const std::string&)>{
                                    [translator](const std::string& sentence) { return (*translator)(sentence); }};
                              }};
