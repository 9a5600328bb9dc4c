#pragma once

#include <tlm/matrix/below.hpp>
