import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { acceleratorNames } from '../../src/shared/accelerators.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const answers = `require('node:http').createServer((request, response) => {
  if (request.url === '/') response.end('home')
  else fetch('http://other.internal/').then((answer) => answer.text()).then((text) => response.end('by name: ' + text))
}).listen(3000)`

const whyOff = (name: string): string =>
  name === 'batch-writes'
    ? 'gateway.batchWrites does not ask for it'
    : 'the config or BUSBAR_ACCELERATORS leaves it out'

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [[], [...acceleratorNames]])
    test(`a ${run} program is reached with ${accelerators.length === 0 ? 'no' : 'all'} accelerators, and the status lists them`, async () => {
      using folder = new TestFolder({ 'web/index.js': answers, 'other/index.js': answers })
      const services = {
        web: { file: folder.at('web/index.js'), run },
        other: { file: folder.at('other/index.js'), run },
      }
      await using app = await TestApp.start({ accelerators, services })
      for (const [path, expected] of [
        ['/', 'home'],
        ['/by-name', 'by name: home'],
      ]) {
        const answer = await fetch(new URL(path!, app.url), { headers: { connection: 'close' } })
        assert.deepEqual([answer.status, await answer.text()], [200, expected])
      }
      const on = accelerators.length > 0
      const expected = acceleratorNames.map((name) => ({ name, on, why: on ? null : whyOff(name) }))
      assert.deepEqual(app.running.status().accelerators, expected)
      const lines = app.log.map(({ line }) => line).filter((line) => line.startsWith('accelerators'))
      assert.equal(lines.length, 1)
      assert.match(
        lines[0]!,
        on ? /^accelerators on: exchange, stream, / : /^accelerators off: exchange \(the config or /,
      )
    })

/** Kills its process at the first request. */
const endsOnce = `const fs = require('node:fs')
require('node:http').createServer((request, response) => {
  try {
    fs.writeFileSync(__dirname + '/asked', '', { flag: 'wx' })
  } catch {
    return response.end('asked twice')
  }
  process.kill(process.pid, 'SIGKILL')
}).listen(3000)`

for (const accelerators of [[], [...acceleratorNames]])
  test(`an idempotent request is retried at another instance when its own dies, with ${accelerators.length} accelerators`, async () => {
    using folder = new TestFolder({ 'web/index.js': endsOnce })
    const web = { file: folder.at('web/index.js'), run: 'process', instances: 2 } as const
    const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] }
    await using app = await TestApp.start({ accelerators, services: { web }, gateway })
    const answer = await fetch(new URL('/web', app.url), { headers: { connection: 'close' } })
    assert.deepEqual([answer.status, await answer.text()], [200, 'asked twice'])
  })

test('a process whose flags load a module that changes Node probes for itself, with a warning', async () => {
  using folder = new TestFolder({
    'web/index.js': answers,
    'web/change.mjs': `import { Socket } from 'node:net'
      import { hide } from '${new URL('../accelerators/programs/hide.ts', import.meta.url).href}'
      hide(Socket.prototype, 'parser')`,
  })
  const file = folder.at('web/index.js')
  const nodeOptions = ['--import', pathToFileURL(folder.at('web/change.mjs')).href]
  const entry = { file, args: [], foundBy: 'scripts.start', nodeOptions }
  const services = { web: { file, run: 'process', entry } } as const
  await using app = await TestApp.start({ accelerators: [...acceleratorNames], services })
  assert.equal(await (await fetch(app.url, { headers: { connection: 'close' } })).text(), 'home')
  const warning = app.log.find(({ level, line }) => level === 'warn' && line.startsWith('accelerators of worker'))
  assert.match(warning?.line ?? '', /off: exchange \(its probe failed/)
})

test('a tracing agent that the flags of a process load sees no request of the probes', async () => {
  using folder = new TestFolder({
    'web/index.js': `require('node:http').createServer((_, response) => response.end(seen.join())).listen(3000)`,
    'web/agent.cjs': `const http = require('node:http')
      globalThis.seen = []
      const { emit } = http.Server.prototype
      http.Server.prototype.emit = function (event, ...args) {
        if (event === 'request') seen.push('served ' + args[0].url)
        return emit.call(this, event, ...args)
      }
      const { request } = http
      http.request = (...args) => (seen.push('requested'), request(...args))`,
  })
  const file = folder.at('web/index.js')
  const nodeOptions = ['--require', folder.at('web/agent.cjs')]
  const entry = { file, args: [], foundBy: 'scripts.start', nodeOptions }
  const services = { web: { file, run: 'process', entry } } as const
  await using app = await TestApp.start({ accelerators: [...acceleratorNames], services })
  const answer = await fetch(new URL('/first', app.url), { headers: { connection: 'close' } })
  assert.equal(await answer.text(), 'served /first')
})
