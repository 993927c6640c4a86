/** A strict parser of Prometheus' text format 0.0.4. */
import assert from 'node:assert/strict'

export interface ParsedMetric {
  readonly type: string
  readonly help: string
  readonly samples: readonly ParsedSample[]
}

export interface ParsedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export function parseMetrics(text: string): Map<string, ParsedMetric> {
  assert.ok(text.endsWith('\n'), 'the last line ends')
  const metrics = new Map<string, ParsedMetric & { samples: ParsedSample[] }>()
  let current: (ParsedMetric & { samples: ParsedSample[] }) | undefined
  let name = ''
  const lines = text.slice(0, -1).split('\n')
  for (let at = 0; at < lines.length; at++) {
    const help = /^# HELP (?<name>[a-zA-Z_:][a-zA-Z0-9_:]*) (?<text>.+)$/.exec(lines[at]!)?.groups
    if (help !== undefined) {
      name = help['name']!
      const type = new RegExp(`^# TYPE ${name} (counter|gauge|histogram)$`).exec(lines[++at]!)?.[1]
      assert.ok(type, `a type after the help of ${name}`)
      assert.ok(!metrics.has(name), `${name} once`)
      metrics.set(name, (current = { type, help: help['text']!, samples: [] }))
      continue
    }
    assert.ok(current, 'a sample follows the head of its metric')
    current.samples.push(parseSample(lines[at]!, name, current.type))
  }
  for (const [name, { type, samples }] of metrics) check(name, type, samples)
  return metrics
}

/** Of all samples of a metric; `suffix`: of this part of a histogram. */
export function sumOf(metrics: ReadonlyMap<string, ParsedMetric>, name: string, suffix = ''): number {
  const { samples } = metrics.get(name)!
  return samples.filter((sample) => sample.name === name + suffix).reduce((sum, { value }) => sum + value, 0)
}

function parseSample(line: string, metric: string, type: string): ParsedSample {
  const match = /^(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/.exec(line)?.groups
  assert.ok(match, line)
  const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
  assert.ok(
    suffixes.some((suffix) => match['name'] === metric + suffix),
    line,
  )
  return { name: match['name']!, labels: parseLabels(match['labels'] ?? ''), value: parseNumber(match['value']!) }
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text)
    assert.ok(found, text)
    assert.ok(!Object.hasOwn(labels, found[1]!), `${found[1]} once`)
    labels[found[1]!] = found[2]!.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
  }
  assert.ok(!text.endsWith(','), text)
  return labels
}

function parseNumber(text: string): number {
  if (text === '+Inf') return Infinity
  assert.match(text, /^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$/)
  return Number(text)
}

function check(name: string, type: string, samples: readonly ParsedSample[]): void {
  const keys = samples.map((sample) => `${sample.name} ${JSON.stringify(sample.labels)}`)
  assert.equal(new Set(keys).size, keys.length, `no sample of ${name} twice`)
  if (type === 'counter') {
    assert.ok(name.endsWith('_total'), name)
    assert.ok(samples.every(({ value }) => value >= 0))
  }
  if (type === 'histogram') checkHistogram(name, samples)
}

function checkHistogram(name: string, samples: readonly ParsedSample[]): void {
  const series = Map.groupBy(samples, ({ labels }) => JSON.stringify({ ...labels, le: undefined }))
  for (const [key, all] of series) {
    const buckets = all.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => (labels['le'] === '+Inf' ? Infinity : Number(labels['le'])))
    assert.deepEqual(
      bounds,
      bounds.toSorted((one, other) => one - other),
      key,
    )
    assert.equal(bounds.at(-1), Infinity, key)
    for (const [at, { value }] of buckets.entries()) assert.ok(value >= (buckets[at - 1]?.value ?? 0), key)
    const count = all.find((sample) => sample.name === `${name}_count`)?.value
    assert.equal(count, buckets.at(-1)!.value, key)
    assert.ok(
      all.some((sample) => sample.name === `${name}_sum`),
      key,
    )
  }
}
