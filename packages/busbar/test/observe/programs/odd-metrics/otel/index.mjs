import { createServer } from 'node:http'
import { metrics } from '@opentelemetry/api'

const meter = metrics.getMeter('odd')
const calls = meter.createCounter('good.calls')
const add = (form, ...record) => meter.createCounter(`odd.${form}`).add(...record)
const forms = {
  text: () => add('text', '7'),
  undefined: () => add('undefined', undefined),
  bigint: () => add('bigint', 7n),
  'no-name': () => add('no-name', 1, { '': 'x', kind: 'y' }),
  'big-attribute': () => add('big-attribute', 1, { size: 10n }),
  marked: () => add('marked', 1, { kind: '\u0000NaN' }),
  bounds: () =>
    meter.createHistogram('odd.bounds', { advice: { explicitBucketBoundaries: [5, 1, Number.NaN] } }).record(2),
  'many-bounds': () =>
    meter
      .createHistogram('odd.many', { advice: { explicitBucketBoundaries: Array.from({ length: 2000 }, (_, n) => n) } })
      .record(2),
  observed: () => meter.createObservableGauge('odd.observed').addCallback((result) => result.observe('7')),
  'empty-gauge': () => meter.createGauge('').record(1),
  description: () => meter.createCounter('odd.help', { description: 5 }).add(1),
}

createServer((request, response) => {
  calls.add(1)
  forms[request.url.slice(1)]?.()
  response.end('ok')
}).listen(0)
