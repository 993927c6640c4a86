import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import type { App } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { TestApp } from '../../support/app/test-app.ts'

const programs = `${dirname(import.meta.dirname)}/programs/slow`

/** The last call that a worker answers ends its stop. */
for (const run of ['thread', 'process'] as const)
  test(`a reload answers typed calls that are in flight, the last one, too (${run})`, async () => {
    const load = async (): Promise<App> => {
      const app = await loadApp(programs)
      return { ...app, services: app.services.map((service) => ({ ...service, run })) }
    }
    await using app = await TestApp.startLoaded(await load(), { load })
    const call = async (through: string): Promise<string> => {
      if (through === 'web')
        return await (await fetch(`${app.url}/web/300`, { headers: { connection: 'close' } })).text()
      const headers = { 'content-type': 'application/json', connection: 'close' }
      const answer = await fetch(`${app.url}/jobs/wait`, { method: 'POST', headers, body: '300' })
      return JSON.stringify(await answer.json())
    }
    const answers: Promise<string>[] = []
    let isOver = false
    const calling = (async () => {
      for (let count = 0; !isOver; count++) {
        answers.push(call(count % 2 === 0 ? 'web' : 'jobs').catch(String))
        await sleep(25)
      }
    })()
    for (let round = 0; round < 2; round++) await app.running.reload()
    await sleep(100)
    isOver = true
    await calling
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['done', '"done"']))
  })
