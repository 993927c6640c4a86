import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { unless } from '../../support/mesh/accelerators.ts'

const file = `${dirname(import.meta.dirname)}/programs/looping.js`
const count = 20

test(
  'requests that a thread had not begun when it died go to another one, whatever their method',
  { skip: unless('exchange') },
  async () => {
    using folder = new TestFolder()
    const env = { LOOPS: folder.at('loops'), ENDS: folder.at('ends') }
    const services = { work: { file, run: 'thread', instances: 2, env } } as const
    const routes = [{ host: undefined, prefix: '/work', service: 'work' }]
    await using app = await TestApp.start({ services, gateway: { entry: undefined, routes } })
    assert.equal((await fetch(`${app.url}/work/loop`, { method: 'POST' })).status, 200)
    await pollUntil(() => existsSync(env.LOOPS))
    const answers = Array.from({ length: count }, async (_, id) => {
      const answer = await fetch(`${app.url}/work/`, { method: 'POST', body: `item ${id}.` })
      return [answer.status, (await answer.text()).split(' ').slice(1).join(' ')]
    })
    const worked = (): string[] => app.log.map(({ line }) => line).filter((line) => line.startsWith('works on'))
    await app.until(() => worked().length > 0)
    // The others are on their way to the thread that loops.
    await delay(200)
    const before = worked().length
    writeFileSync(env.ENDS, '')
    assert.deepEqual(
      await Promise.all(answers),
      Array.from({ length: count }, (_, id) => [200, `item ${id}.`]),
    )
    assert.ok(before < count)
    const retries = app.running.status().edges.reduce((sum, edge) => sum + edge.retries, 0)
    assert.ok(retries > 0)
    await app.until(() => worked().length >= count)
    assert.deepEqual([worked().length, new Set(worked()).size], [count, count])
  },
)
