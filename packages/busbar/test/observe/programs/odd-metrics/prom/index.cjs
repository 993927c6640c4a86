const { createServer } = require('node:http')
const { Counter, Gauge, Histogram, Summary, register } = require('prom-client')

const calls = new Counter({ name: 'prom_calls_total', help: 'Calls.' })
const never = new Promise(() => {})
const forms = {
  hangs: () => new Gauge({ name: 'odd_hangs', help: 'Hangs.', collect: () => never }),
  throws: () =>
    new Gauge({
      name: 'odd_throws',
      help: 'Throws.',
      collect() {
        throw new Error('boom')
      },
    }),
  rejects: () => new Gauge({ name: 'odd_rejects', help: 'Rejects.', collect: async () => Promise.reject(new Error()) }),
  reserved: () => {
    const labels = { __name__: 'x' }
    const options = { help: 'Reserved.', labelNames: ['__name__'] }
    new Gauge({ name: 'odd_reserved', ...options }).set(labels, 1)
    new Histogram({ name: 'odd_reserved_sizes', ...options, buckets: [5] }).observe(labels, 2)
    new Summary({ name: 'odd_reserved_times', ...options, percentiles: [0.5] }).observe(labels, 2)
  },
  renamed: () => {
    const odd = new Counter({ name: 'odd_renamed_total', help: 'Odd.', labelNames: ['worker', 'exported_worker'] })
    for (const value of ['x', 'y']) odd.inc({ worker: 's', exported_worker: value })
    odd.inc({ worker: 'x' })
  },
  text: () => addOwn('odd_text', { help: 5, values: [{ value: '7' }] }),
  label: () =>
    addOwn('odd_label', {
      values: [
        { value: 1, labels: { '': 'x' } },
        { value: 2, labels: { kind: 'y' } },
      ],
    }),
  name: () => addOwn('odd name', { values: [{ value: 1 }] }),
  symbol: () => addOwn('odd_symbol', { values: [{ value: Symbol('x') }, { value: 2, labels: { kind: 'y' } }] }),
  'no-prototype': () => addOwn('odd_bare', { values: [{ value: Object.create(null) }, { value: 2 }] }),
  valueOf: () => addOwn('odd_value_of', { values: [{ value: { valueOf: fail } }, null, { value: 2 }] }),
  'bare-label': () =>
    addOwn('odd_bare_label', { values: [{ value: 1, labels: { kind: Object.create(null) } }, { value: 2 }] }),
  toString: () =>
    addOwn('odd_to_string', {
      type: 'histogram',
      values: [
        { value: 1, labels: { le: { toString: fail } } },
        { value: 2, labels: { le: 5 }, metricName: 'odd_to_string_bucket' },
        { value: 2, labels: { le: '+Inf' }, metricName: 'odd_to_string_bucket' },
        { value: 2, metricName: 'odd_to_string_count' },
        { value: 3, metricName: 'odd_to_string_sum' },
      ],
    }),
  'bare-help': () => addOwn('odd_bare_help', { help: Object.create(null), type: {}, values: [{ value: 2 }] }),
  'bare-error': () =>
    register.registerMetric({
      name: 'odd_bare_error',
      get() {
        throw Object.create(null)
      },
    }),
  'no-values': () => register.registerMetric({ name: 'odd_empty', get: () => undefined }),
}

function fail() {
  throw new Error('boom')
}

function addOwn(name, read) {
  register.registerMetric({ name, get: () => ({ name, help: 'Own.', type: 'gauge', ...read }) })
}

createServer((request, response) => {
  calls.inc()
  const form = request.url.slice(1)
  forms[form]?.()
  delete forms[form]
  response.end('ok')
}).listen(0)
