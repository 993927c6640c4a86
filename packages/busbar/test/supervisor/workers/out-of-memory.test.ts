import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'

const file = `${dirname(import.meta.dirname)}/programs/any.js`
const routes = [{ host: undefined, prefix: '/any', service: 'any' }]
const gateway = { entry: undefined, routes }

test('peers learn that a thread ran out of memory before it has ended, and which service it hosted', async () => {
  const services = { any: { file, run: 'thread', memory: 400 * 1024 ** 2 } } as const
  await using app = await TestApp.start({ services, gateway })
  const waiting = fetch(`${app.url}/any/never`)
  await app.untilLogged('begins /never')
  const answers = await Promise.all([waiting, fetch(`${app.url}/any/memory`)])
  const codes = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { code: string }).code))
  assert.deepEqual(codes, ['WORKER_DIED', 'WORKER_DIED'])
  await app.untilReplaced(1)
  const { why, service } = app.running.workers[1]!.lastExit!
  assert.deepEqual([why, service], ['memory', 'any'])
  assert.ok(!app.log.some(({ line }) => line.includes('lost their link')))
})

// V8 then collects between the callbacks, where it may move all young objects at once.
test('a thread whose memory grows between pauses ends alone, each time', async () => {
  const services = { any: { file, run: 'thread', memory: 200 * 1024 ** 2 } } as const
  await using app = await TestApp.start({ services, gateway }, { timing: { backoff: 5, backoffMax: 5 } })
  for (let death = 1; death <= 4; death++) {
    // The gateway may learn of the replacement after the supervisor.
    let answer = await ask(app, '/any/')
    while (answer.status === 503) answer = await ask(app, '/any/')
    answer = await ask(app, '/any/memory-in-steps')
    assert.equal(((await answer.json()) as { code: string }).code, 'WORKER_DIED')
    await app.untilReplaced(1, death)
    assert.equal(app.running.workers[1]!.lastExit?.why, 'memory')
  }
})

function ask(app: TestApp, path: string): Promise<Response> {
  return fetch(`${app.url}${path}`, { headers: { connection: 'close' } })
}
