/**
 * Student's t distribution: the error of a mean of few, noisy rounds. Its tail probability is a
 * regularised incomplete beta function (Abramowitz and Stegun 26.7.1), evaluated by the continued
 * fraction of 26.5.8 with Lentz's method. Quantiles are found by bisection.
 */

/** A mean with its standard error. */
export interface Estimate {
  readonly mean: number
  /** Standard error of the mean. */
  readonly error: number
  readonly freedom: number
}

/** The probability that t with `freedom` degrees lies above `t` or below `-t`. */
export function twoSidedP(t: number, freedom: number): number {
  if (t === Infinity) return 0
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5)
}

/** The bound t of a two-sided interval with this confidence (0.99 for 99 %). */
export function tQuantile(confidence: number, freedom: number): number {
  const outside = 1 - confidence
  let high = 1
  while (twoSidedP(high, freedom) > outside) high *= 2
  let low = 0
  for (let step = 0; step < 80; step++) {
    const middle = (low + high) / 2
    if (twoSidedP(middle, freedom) > outside) low = middle
    else high = middle
  }
  return (low + high) / 2
}

function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  // The fraction converges fast on one side only. The other side is its mirror image.
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b
}

function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300
  const clear = (value: number) => (Math.abs(value) < tiny ? tiny : value)
  let c = 1
  let d = 1 / clear(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / clear(1 + even * d)
    c = clear(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / clear(1 + odd * d)
    c = clear(1 + odd / c)
    const change = d * c
    fraction *= change
    if (Math.abs(change - 1) < 1e-15) break
  }
  return fraction
}

/** Lanczos approximation, g = 7, accurate to 15 digits for the half-integers that occur here. */
function logGamma(z: number): number {
  const coefficients = [
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ]
  if (z < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * z)) - logGamma(1 - z)
  const x = z - 1
  const sum = coefficients.reduce((total, value, at) => total + value / (x + at + 1), 0.99999999999980993)
  const t = x + coefficients.length - 0.5
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum)
}
