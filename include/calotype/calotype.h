#pragma once
// Everything a user of the library includes.

#include "calotype/buffer.h"
#include "calotype/error.h"
#include "calotype/expr.h"
#include "calotype/fixed_point.h"
#include "calotype/func.h"
#include "calotype/image_param.h"
#include "calotype/integer.h"
#include "calotype/kernel.h"
#include "calotype/math.h"
#include "calotype/pipeline.h"
#include "calotype/random.h"
#include "calotype/schedule.h"
#include "calotype/target.h"
#include "calotype/tuple.h"
#include "calotype/type.h"
#include "calotype/values.h"
