#pragma once

#include <tlm/algebra/above.hpp>
