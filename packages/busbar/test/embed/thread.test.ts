/** An app of `startApp` in a worker thread of the caller's. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { runs } from '../support/app/process-table.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const program = `require('node:http').createServer((_, response) => response.end(String(process.pid))).listen(process.env.PORT || 3000)`
const command = `${JSON.stringify(process.execPath)} index.js`

const caller = (folder: string): string => `
import { parentPort } from 'node:worker_threads'
const { startApp } = await import(${JSON.stringify(new URL('../../src/embed/start-app.ts', import.meta.url).href)})
const app = await startApp(${JSON.stringify(folder)})
const pids = ['own', 'command'].map(async (name) => Number(await (await app.fetch(name, '/')).text()))
parentPort.postMessage(await Promise.all(pids))`

test('processes and commands end when the thread that started them is terminated', async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, routes: { '/': 'own' } },
      services: { own: { path: './own', run: 'process' }, command: { path: './command', command } },
    },
    'own/index.js': program,
    'command/index.js': program,
  })
  folder.write('caller.mjs', caller(folder.path))
  const worker = new Worker(folder.at('caller.mjs'))
  const [pids] = (await once(worker, 'message')) as [number[]]
  assert.ok(pids.every(runs))
  await worker.terminate()
  while (pids.some(runs)) await sleep(20)
})
