import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Service } from '../../src/config/app.ts'
import { TestApp, type AppSetup } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

/** Writes to a file when its start begins and ends. */
const program = `
import { createServer } from 'node:http'
import { appendFileSync } from 'node:fs'
const { LOG, NAME } = process.env
appendFileSync(LOG, 'begin ' + NAME + '\\n')
setTimeout(() => {
  appendFileSync(LOG, 'end ' + NAME + '\\n')
  createServer((_, response) => response.end('fine')).listen(3000)
}, 100)`

/** Starts the services, and returns the events of their starts in order. */
async function startsOf(
  services: Readonly<Record<string, Partial<Service>>>,
  setup: Partial<AppSetup>,
  change?: (app: TestApp) => Promise<unknown>,
): Promise<string[]> {
  using folder = new TestFolder({ 'index.mjs': program, log: '' })
  const file = folder.at('index.mjs')
  const all = Object.entries(services).map(([name, service]) => [
    name,
    { file, run: 'thread', env: { LOG: folder.at('log'), NAME: name }, ...service },
  ])
  await using app = await TestApp.start({ services: Object.fromEntries(all), ...setup })
  assert.ok(app.running.status().app.ready)
  await change?.(app)
  return readFileSync(folder.at('log'), 'utf8').trim().split('\n')
}

/** The most starts that were under way at a time. */
function mostAtATime(events: readonly string[]): number {
  let now = 0
  return Math.max(...events.map((event) => (now += event.startsWith('begin') ? 1 : -1)))
}

test('no more than startConcurrency workers start at a time', async () => {
  const events = await startsOf({ a: {}, b: {}, c: {}, d: {}, e: {} }, { startConcurrency: 2 })
  assert.equal(events.length, 10)
  assert.ok(mostAtATime(events) <= 2, events.join(', '))
})

test('a worker waits for those that it needs without holding up others', async () => {
  const services = { a: {}, b: { needs: ['a'] }, c: { needs: ['b'] }, d: {} }
  const events = await startsOf(services, { startConcurrency: 1 })
  assert.ok(mostAtATime(events) <= 1, events.join(', '))
  const order = events.filter((event) => event.startsWith('begin'))
  assert.ok(order.indexOf('begin a') < order.indexOf('begin b'))
  assert.ok(order.indexOf('begin b') < order.indexOf('begin c'))
})

test('workers whose services need each other start together', async () => {
  const services = {
    a: { group: 'one' },
    b: { group: 'two', needs: ['a'] },
    c: { group: 'one', needs: ['b'] },
    d: {},
  }
  const events = await startsOf(services, { startConcurrency: 1 })
  assert.equal(events.length, 8)
})

test('a new generation starts no more than startConcurrency workers at a time, too', async () => {
  const events = await startsOf({ a: {}, b: {}, c: { needs: ['b'] } }, { startConcurrency: 1 }, ({ running }) =>
    running.replace(),
  )
  assert.equal(events.length, 12)
  assert.ok(mostAtATime(events) <= 1, events.join(', '))
})
