/** `grpc-timeout`: up to eight digits and a unit (doc/PROTOCOL-HTTP2.md). */

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }

/** In milliseconds. Undefined if the text is not a timeout. */
export function parseTimeout(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * units[unit!]!
}

export function formatTimeout(milliseconds: number): string {
  const left = Math.max(0, milliseconds)
  if (left < 100_000) return `${Math.ceil(left * 1000)}u`.replace(/^(\d{9,})u$/, () => `${Math.ceil(left)}m`)
  if (left < 100_000_000) return `${Math.ceil(left)}m`
  return `${Math.min(99_999_999, Math.ceil(left / 1000))}S`
}
