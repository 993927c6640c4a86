const { createServer } = require('node:http')
const { Counter, Gauge, register } = require('prom-client')

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
  text: () => addOwn('odd_text', { help: 5, values: [{ value: '7' }] }),
  label: () =>
    addOwn('odd_label', {
      values: [
        { value: 1, labels: { '': 'x' } },
        { value: 2, labels: { kind: 'y' } },
      ],
    }),
  name: () => addOwn('odd name', { values: [{ value: 1 }] }),
  'no-values': () => register.registerMetric({ name: 'odd_empty', get: () => undefined }),
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
