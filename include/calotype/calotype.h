#pragma once
// Everything a user of the library includes.

#include "calotype/buffer.h"
#include "calotype/error.h"
#include "calotype/expr.h"
#include "calotype/func.h"
#include "calotype/image_param.h"
#include "calotype/kernel.h"
#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "calotype/schedule_file.h"
#include "calotype/size_range.h"
#include "calotype/target.h"
#include "calotype/type.h"
