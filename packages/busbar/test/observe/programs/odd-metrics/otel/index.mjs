import { createServer } from 'node:http'
import { metrics } from '@opentelemetry/api'

const meter = metrics.getMeter('odd')
const calls = meter.createCounter('good.calls')
const add = (form, ...record) => meter.createCounter(`odd.${form}`).add(...record)
const self = {}
self.self = self
const createAll = (name) => {
  meter.createCounter(name).add(1)
  meter.createUpDownCounter(name).add(1)
  meter.createGauge(name).record(1)
  meter.createHistogram(name).record(1)
  for (const kind of ['Counter', 'Gauge', 'UpDownCounter'])
    meter[`createObservable${kind}`](name).addCallback((result) => result.observe(1))
}
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
  reserved: () => add('reserved', 1, { __name__: 'x', ['__proto__']: 'y' }),
  bucket: () => meter.createHistogram('odd.bucket').record(2, { le: 'a', quantile: 'q' }),
  'same-label': () => {
    for (const [at, name] of ['a.b', 'a-b', 'a.b'].entries()) meter.createGauge('odd.same').record(at, { [name]: 'x' })
  },
  renamed: () => {
    for (const value of ['x', 'y']) add('renamed', 1, { service: 's', exported_service: value })
    add('renamed', 1, { service: 'x' })
    for (const value of ['x', 'y']) add('renamed', 1, { 'otel.scope.name': value })
  },
  observed: () => meter.createObservableGauge('odd.observed').addCallback((result) => result.observe('7')),
  'empty-gauge': () => meter.createGauge('').record(1),
  // In OpenMetrics its name is what is before `_total`: nothing.
  'empty-counter': () => meter.createCounter('').add(1),
  description: () => meter.createCounter('odd.help', { description: 5 }).add(1),
  options: () => {
    meter.createHistogram('odd.options', null).record(2)
    meter.createObservableGauge('odd.observed-options', null).addCallback((result) => result.observe(2))
    for (const create of ['createCounter', 'createUpDownCounter', 'createGauge']) meter[create](`odd.${create}`, null)
    meter.createHistogram('odd.inside', { description: self, unit: 5, advice: null })
  },
  'text-bounds': () =>
    meter.createHistogram('odd.text-bounds', { advice: { explicitBucketBoundaries: '12' } }).record(2),
  'name-undefined': () => createAll(undefined),
  'name-null': () => createAll(null),
  'name-number': () => createAll(5),
  'name-symbol': () => createAll(Symbol('x')),
  'name-object': () => createAll(Object.create(null)),
  'meter-name': () => metrics.getMeter(null).createCounter('odd.meter').add(1),
}

createServer((request, response) => {
  calls.add(1)
  forms[request.url.slice(1)]?.()
  response.end('ok')
}).listen(0)
