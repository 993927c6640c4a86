import { createServer } from 'node:http'
import { metrics } from '@opentelemetry/api'

const meter = metrics.getMeter('shop')
const orders = meter.createCounter('orders.placed', { description: 'Orders.' })
const open = meter.createUpDownCounter('orders.open', { unit: '{order}' })
const took = meter.createHistogram('orders.took', { unit: 's', advice: { explicitBucketBoundaries: [0.1, 1] } })
const level = meter.createGauge('level', { unit: '1' })
meter.createObservableGauge('seen', { unit: 'By' }).addCallback((result) => result.observe(7, { 'a.b': 'x' }))
let total = 0
const observed = meter.createObservableCounter('observed')
meter.addBatchObservableCallback((result) => result.observe(observed, total), [observed])

createServer((_, response) => {
  orders.add(1, { kind: 'big', service: 'theirs' })
  orders.add(-1)
  open.add(2)
  open.add(-1)
  took.record(0.5)
  took.record(5)
  level.record(0.25)
  total += 3
  response.end('ok')
}).listen(0)
