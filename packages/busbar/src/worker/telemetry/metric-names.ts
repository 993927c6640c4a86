/**
 * Names of OpenTelemetry as Prometheus has them, by the specification "Prometheus and OpenMetrics
 * Compatibility".
 */

const units: Readonly<Record<string, string>> = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  kBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  '%': 'percent',
}

/**
 * Of a counter it ends in `_total`. The unit is part of it, except for a count of things such as
 * `{request}`.
 */
export function metricName(name: string, unit: string, type: 'counter' | 'gauge' | 'histogram'): string {
  const clean = name.replaceAll(/[^a-zA-Z0-9_:]+/g, '_').replace(/^(?=\d)/, '_')
  const stem = type === 'counter' ? clean.replace(/_total$/, '') : clean
  const suffix = unit === '1' ? (type === 'gauge' ? 'ratio' : '') : suffixOf(unit)
  const whole = suffix === '' || stem.endsWith(`_${suffix}`) ? stem : `${stem}_${suffix}`
  return type === 'counter' ? `${whole}_total` : whole
}

export function labelName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_')
}

function suffixOf(unit: string): string {
  const [what = '', per] = unit.replaceAll(/\{[^}]*\}/g, '').split('/')
  const words = [wordOf(what), ...(per ? ['per', wordOf(per).replace(/s$/, '')] : [])]
  return words.filter((word) => word !== '').join('_')
}

function wordOf(unit: string): string {
  return Object.hasOwn(units, unit) ? units[unit]! : unit.replaceAll(/[^a-zA-Z0-9]+/g, '_').replaceAll(/^_|_$/g, '')
}
