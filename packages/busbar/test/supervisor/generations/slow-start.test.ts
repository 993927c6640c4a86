import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { entranceLibrary } from '../../../src/entrance/load.ts'
import { admitted, SlowStart } from '../../../src/shared/slow-start.ts'
import { builtAddon } from '../../entrance/served.ts'
import { type Answer, callAgainAndAgain, ChangingApp } from './changing-app.ts'

const longest = { slowStart: 600_000 }
/** Calls in which the growing part of a new generation shows. */
const enough = 60

test('of an instance and its successor, one is a candidate: the successor more and more often', (t) => {
  const clock = t.mock.method(performance, 'now', () => 1000)
  const at = t.mock.method(Math, 'random')
  const old = { name: 'old 0', index: 0, slowStart: undefined }
  const other = { name: 'old 1', index: 1, slowStart: undefined }
  const young = { name: 'new 0', index: 0, slowStart: new SlowStart({ window: 1000, most: 1 }) }
  const names = (isCandidate: (one: { name: string }) => boolean = () => true): string[] =>
    admitted([old, other, young], ({ index }) => index, isCandidate).map(({ name }) => name)
  const candidates = (now: number, random: number): string[] => {
    clock.mock.mockImplementation(() => now)
    at.mock.mockImplementation(() => random)
    return names()
  }
  assert.deepEqual(candidates(1000, 0), ['old 0', 'old 1'])
  assert.deepEqual(candidates(1250, 0.24), ['old 1', 'new 0'])
  assert.deepEqual(candidates(1250, 0.26), ['old 0', 'old 1'])
  assert.deepEqual(candidates(1999, 0.99), ['old 1', 'new 0'])
  assert.deepEqual(candidates(2000, 0.5), ['old 0', 'old 1', 'new 0'])
  // One that cannot serve takes no place, and one that can is better than none.
  candidates(1250, 0.1)
  assert.ok(names((one) => one !== young).includes('old 0'))
  candidates(1250, 0.9)
  assert.ok(names((one) => one === young).includes('new 0'))
})

for (const run of ['shared', 'thread', 'process'])
  test(`under load a new generation gets more and more of the calls before it takes over, in a ${run}`, async () => {
    await using app = await ChangingApp.start({ web: { run }, cart: { run } }, { slowStart: 1500 })
    const ids: string[] = []
    const stopCalling = callAgainAndAgain(app, (text) => ids.push((JSON.parse(text) as Answer).id))
    let [before, beside]: [string, readonly string[]] = ['', []]
    // On a machine that is busy with other work, the calls may be too few to be a load.
    while (beside.length < enough) {
      before = (await app.ask('cart')).id
      ids.length = 0
      await app.app.running.reload('cart')
      const during = ids.slice()
      const first = during.findIndex((id) => id !== before)
      beside = first < 0 ? [] : during.slice(first)
    }
    await stopCalling()
    assert.equal(new Set([...ids, ...beside]).size, 2)
    const youngOf = (some: readonly string[]): number => some.filter((id) => id !== before).length / some.length
    const third = Math.floor(beside.length / 3)
    assert.ok(youngOf(beside.slice(0, third)) < youngOf(beside.slice(-third)), `${beside.length} calls of both`)
    assert.ok(beside.includes(before))
    assert.notEqual((await app.ask('cart')).id, before)
  })

test(
  'the native entrance lets both generations serve',
  { skip: builtAddon === undefined ? 'the entrance is not built' : false },
  async () => {
    const options = { entrance: entranceLibrary }
    const gateway = { port: 0, entry: 'cart', entrance: 'native' }
    await using app = await ChangingApp.start({ cart: { run: 'shared' } }, { slowStart: 1000, gateway }, options)
    const ids: string[] = []
    const stopCalling = callAgainAndAgain(app, (text) => ids.push(text))
    await app.app.running.reload()
    await stopCalling()
    const changes = ids.filter((id, at) => at > 0 && id !== ids[at - 1]).length
    assert.equal(new Set(ids).size, 2)
    assert.ok(changes > 2, `${changes} changes between the generations`)
  },
)

test('without load a new generation takes over at once', async () => {
  await using app = await ChangingApp.start({ web: { run: 'thread' } }, longest)
  const before = await app.ask('web')
  await app.app.running.reload()
  assert.notEqual((await app.ask('web')).id, before.id)
})

test('a change that starts no worker takes place at once, and so does one in development', async () => {
  const services = { web: { run: 'thread' }, cart: { run: 'thread', instances: 2 } }
  await using app = await ChangingApp.start(services, longest)
  const stopCalling = callAgainAndAgain(app)
  await app.app.running.scale('cart', 1)
  await stopCalling()
  await using edited = await ChangingApp.start(services, longest, { mode: 'dev' })
  const stop = callAgainAndAgain(edited)
  await edited.app.running.reload('cart')
  await stop()
})

test('a generation that dies while it starts slowly is discarded', async () => {
  await using app = await ChangingApp.start({ web: { run: 'thread' }, cart: { run: 'thread' } }, { slowStart: 3000 })
  const before = await app.ask('cart')
  const stopCalling = callAgainAndAgain(app)
  app.folder.write(
    'program.mjs',
    `import { createServer } from 'node:http'
    createServer((_, response) => response.end('{}', () => process.exit(1))).listen(3000)`,
  )
  await assert.rejects(app.app.running.reload('cart'), { code: 'WORKER_DIED' })
  await stopCalling()
  assert.deepEqual(await app.ask('cart'), before)
})

test('a stop ends a slow start at once', async () => {
  await using app = await ChangingApp.start({ web: { run: 'thread' }, cart: { run: 'thread' } }, longest)
  const ids = new Set<string>()
  const stopCalling = callAgainAndAgain(app, (text) => ids.add(text))
  const refused = assert.rejects(app.app.running.reload('cart'), { code: 'APP_NOT_RUNNING' })
  while (ids.size < 2) await sleep(10)
  await app.app.running.stop()
  await refused
  await stopCalling()
})
