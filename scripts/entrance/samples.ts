/** What the rounds and starts of an arm come to, and its ratio to the plain program. */

export interface Sample {
  readonly perCpuSecond: number
  /** Microseconds a request. */
  readonly user: number
  readonly kernel: number
  readonly perSecond: number
  readonly p99: number
}

/** One line, or two with the ratios to `base`. */
export function row(arm: string, samples: readonly Sample[], base: readonly Sample[] | undefined): string {
  const of = (key: keyof Sample): number => median(samples.map((sample) => sample[key]))
  const cpu = `${of('user').toFixed(1)} + ${of('kernel').toFixed(1)} µs`
  const figures = `${Math.round(of('perCpuSecond'))} per CPU s (${cpu}), ${Math.round(of('perSecond'))} per s, p99 ${of('p99').toFixed(1)} ms`
  if (base === undefined) return `  ${arm.padEnd(10)} ${figures}`
  const ratio = (key: keyof Sample): string => interval(samples.map((sample, n) => sample[key] / base[n]![key]))
  return `  ${arm.padEnd(10)} ${figures}\n${' '.repeat(13)}${ratio('perCpuSecond')} per CPU s, ${ratio('p99')} p99`
}

/** The mean of the rounds of a start. */
export function meanOf(samples: readonly Sample[]): Sample {
  const of = (key: keyof Sample): number => samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length
  return {
    perCpuSecond: of('perCpuSecond'),
    user: of('user'),
    kernel: of('kernel'),
    perSecond: of('perSecond'),
    p99: of('p99'),
  }
}

/** Student's t at 95 %, by degrees of freedom; beyond the list the normal one is close enough. */
const students = [NaN, 12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13]

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function interval(ratios: readonly number[]): string {
  const logs = ratios.map(Math.log)
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length
  if (logs.length < 2) return `${Math.exp(mean).toFixed(2)} x`
  const variance = logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (logs.length - 1)
  const reach = (students[logs.length - 1] ?? 2) * Math.sqrt(variance / logs.length)
  const [low, high] = [Math.exp(mean - reach), Math.exp(mean + reach)]
  return `${Math.exp(mean).toFixed(2)} x (${low.toFixed(2)} to ${high.toFixed(2)})`
}
