#pragma once
// The camera that `bayer` imitates and `camera_pipe` develops: how its sensor answers to linear light, and
// the matrix that undoes it.
#include <calotype/calotype.h>

namespace calotype::apps {

/// Levels of black and of full light in a raw image.
constexpr int kBlack = 64, kWhite = 1023;

/// Colours leak into each other's pixels: raw = gain * (leak * rgb).
constexpr float kLeak[3][3] = {{0.80f, 0.15f, 0.05f}, {0.12f, 0.76f, 0.12f}, {0.05f, 0.20f, 0.75f}};
/// The inverse of the leak.
constexpr float kUnleak[3][3] = {{1.2892562f, -0.2420307f, -0.0472255f},
                                 {-0.1983471f, 1.4108619f, -0.2125148f},
                                 {-0.0330579f, -0.3600945f, 1.3931523f}};
/// What the sensor makes of white light of 3200 K and of 7000 K.
constexpr float kWarm[3] = {0.95f, 1.00f, 0.45f}, kCold[3] = {0.55f, 1.00f, 0.85f};

/// 1 / gain of a channel under light of a colour temperature. It is linear in the reciprocal of the
/// temperature, in which differences of colour are nearly even; beyond the two it goes on likewise.
inline Expr white_balance(const Expr& temperature, int channel) {
  const Expr warm = (1.0f / temperature - 1.0f / 7000.0f) * (1.0f / (1.0f / 3200.0f - 1.0f / 7000.0f));
  return strict_float(1.0f / kCold[channel] + warm * (1.0f / kWarm[channel] - 1.0f / kCold[channel]));
}

}  // namespace calotype::apps
