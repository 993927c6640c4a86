/** Figures of advice as texts: all of their rounding. */

/** Milliseconds. A shorter time is the rest of a sum, and no time. */
const least = 0.000_05

export function durationText(milliseconds: number, digits = 3): string {
  if (Math.abs(milliseconds) < least) return '0 µs'
  const [value, unit] = Math.abs(milliseconds) < 1 ? [milliseconds * 1000, 'µs'] : [milliseconds, 'ms']
  return `${Number(value.toPrecision(digits))} ${unit}`
}

export function durationChange(milliseconds: number): string {
  const text = durationText(Math.abs(milliseconds))
  return text.startsWith('0 ') ? text : `${signOf(milliseconds)}${text}`
}

/** With a sign, and two digits. `decimals`: a change that is smaller than all of them is none. */
export function changeText(value: number, decimals: number): string {
  if (isNone(value, decimals)) return '0'
  return `${signOf(value)}${Number(Math.abs(value).toPrecision(2))}`
}

export function coresChange(cores: number): string {
  return isNone(cores, 3) ? '0 cores' : `${signOf(cores)}${Math.abs(cores).toFixed(3)} cores`
}

/** `0.10 cores less`. */
export function coresText(cores: number): string {
  return isNone(cores, 2) ? 'the same cores' : `${Math.abs(cores).toFixed(2)} cores ${cores < 0 ? 'less' : 'more'}`
}

/** With the same decimals: what is used is never more than there is. */
export function coresUsed(used: number, all: number): string {
  return `${used.toFixed(2)} of ${Math.max(used, all).toFixed(2)} processors`
}

/** What remains of the difference of equal sums is none. */
export function differenceOf(after: number, before: number): number {
  const difference = after - before
  return Math.abs(difference) <= 1e-9 * Math.max(Math.abs(after), Math.abs(before)) ? 0 : difference
}

function isNone(value: number, decimals: number): boolean {
  return Number(Math.abs(value).toFixed(decimals)) === 0
}

function signOf(value: number): string {
  return value < 0 ? '-' : '+'
}
