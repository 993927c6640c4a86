/**
 * The cost of writing a validated result as JSON: a serialiser compiled from the schema (the one of
 * Fastify) against `JSON.stringify`. `node bench/answers.ts [rounds]` prints microseconds for lists
 * of products, as bytes, the best of the rounds (docs/decisions/expose/json-results.md).
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

type Write = (value: unknown) => string

const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const compile = ofFastify('fast-json-stringify') as (schema: object) => Write

const integer = { type: 'integer' }
const string = { type: 'string' }
const properties = { id: integer, name: string, category: string, cents: integer, stock: integer }
const schema = { type: 'array', items: { type: 'object', properties, required: Object.keys(properties) } }
const writers = { compiled: compile(schema), 'JSON.stringify': JSON.stringify as Write }
const rounds = Number(process.argv[2] ?? 5)
const written = 60_000

for (const length of [1, 10, 100, 1000, 10_000]) {
  const list = Array.from({ length }, (_, at) => product(at))
  assert.equal(writers.compiled(list), JSON.stringify(list))
  const best = new Map<string, number>()
  for (let round = 0; round < rounds; round++)
    for (const [name, write] of Object.entries(writers))
      best.set(name, Math.min(best.get(name) ?? Infinity, measure(write, list)))
  console.log(String(length).padStart(6), ...[...best].map(([name, time]) => `${name} ${time.toFixed(2)} µs`))
}

function product(at: number): object {
  return { id: at, name: `Folding shelf bracket ${at}`, category: 'kitchen', cents: 100 * at, stock: at % 50 }
}

/** To bytes, since V8 flattens a concatenated string only when it is read. */
function measure(write: Write, list: readonly unknown[]): number {
  const runs = Math.max(3, Math.floor(written / list.length))
  const began = process.hrtime.bigint()
  for (let run = 0; run < runs; run++) Buffer.from(write(list))
  return Number(process.hrtime.bigint() - began) / runs / 1000
}
