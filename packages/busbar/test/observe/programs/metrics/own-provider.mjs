import { createServer } from 'node:http'
import { metrics } from '@opentelemetry/api'

let added = 0
const counter = { add: (value) => (added += value) }
const registered = metrics.setGlobalMeterProvider({ getMeter: () => ({ createCounter: () => counter }) })
metrics.getMeter('shop').createCounter('own').add(5)

createServer((_, response) => response.end(JSON.stringify({ registered, added }))).listen(0)
