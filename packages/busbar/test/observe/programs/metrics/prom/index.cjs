const { createServer } = require('node:http')
const { Counter, Gauge, Histogram, Summary, collectDefaultMetrics, register } = require('prom-client')

const [service = 'one'] = process.argv.slice(2)
const orders = new Counter({
  name: `orders_${process.env.NAME}_total`,
  help: 'Orders.',
  labelNames: ['kind', 'service'],
})
const size = new Gauge({
  name: `queue_size_${process.env.NAME}`,
  help: 'A "queue"\\.',
  collect: () => size.set(Number.NaN),
})
const took = new Histogram({
  name: `took_${process.env.NAME}_seconds`,
  help: 'Durations.',
  labelNames: ['route'],
  buckets: [0.1, 1],
})
const sizes = new Summary({ name: `sizes_${process.env.NAME}`, help: 'Sizes.', percentiles: [0.5] })
if (process.env.DEFAULTS === 'yes') collectDefaultMetrics({ register })
const many = new Gauge({ name: `many_${process.env.NAME}`, help: 'Many.', labelNames: ['n'] })

createServer((request, response) => {
  if (request.url === '/die') process.exit(3)
  if (request.url === '/many') for (let n = 0; n < 20_000; n++) many.set({ n }, n)
  if (request.url === '/routes') for (let n = 0; n < 3_000; n++) took.observe({ route: `/${n}` }, 0.5)
  orders.inc({ kind: 'big', service: 'theirs' }, 2)
  took.observe({ route: '/' }, 0.5)
  took.observe({ route: '/' }, 5)
  sizes.observe(3)
  response.end(service)
}).listen(0)
