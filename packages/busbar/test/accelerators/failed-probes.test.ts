/**
 * In a Node without what an accelerator relies on, the app logs a warning and uses the next level.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AcceleratorName, acceleratorNames } from '../../src/shared/accelerators.ts'
import { TestApp } from '../support/app/test-app.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'

interface Missing {
  /** A program in `programs/`: a worker in such a Node. */
  readonly worker: string
  readonly off: readonly AcceleratorName[]
  readonly why: RegExp
}

const rows: readonly Missing[] = [
  {
    worker: 'without-parser',
    off: ['exchange'],
    why: /exchange \(its probe failed: a connection does not expose its parser\)/,
  },
  {
    worker: 'without-response',
    off: ['exchange'],
    why: /exchange \(its probe failed: a response built and sent its head as /,
  },
  {
    worker: 'without-connections',
    off: ['exchange'],
    why: /exchange \(its probe failed: a server counts /,
  },
  {
    worker: 'without-handle-socket',
    off: ['exchange'],
    why: /exchange \(its probe failed: .*is not a function/,
  },
  {
    worker: 'without-streams',
    off: ['exchange'],
    why: /exchange \(its probe failed: a stream does not expose its state: /,
  },
  {
    worker: 'without-subscribers',
    off: ['exchange'],
    why: /exchange \(its probe failed: a channel with 2 and 0 subscribers shows 0 and 0\)/,
  },
  {
    worker: 'without-own-sockets',
    off: ['stream'],
    why: /stream \(its probe failed: it answered connected at once echo\)/,
  },
  {
    worker: 'without-server-classes',
    off: ['handover'],
    why: /handover \(its probe failed: a server does not expose the classes of its requests and responses\)/,
  },
  {
    worker: 'without-headers-count',
    off: ['exchange', 'handover'],
    why: /handover \(its probe failed: a request does not recount its headers\)/,
  },
  {
    worker: 'without-upgrade-choice',
    off: ['handover'],
    why: /handover \(its probe failed: a server does not expose which upgrades it accepts\)/,
  },
  {
    worker: 'without-socket-writes',
    off: ['batch-writes'],
    why: /batch-writes \(its probe failed: a socket does not write by its replaced methods\)/,
  },
]

const answers = `require('node:http').createServer((request, response) => {
  if (request.url === '/') response.end('home')
  else fetch('http://other.internal/').then((answer) => answer.text()).then((text) => response.end('by name: ' + text))
}).listen(3000)`

for (const { worker, off, why } of rows)
  test(`${worker}: a warning, and correct responses`, async () => {
    using folder = new TestFolder({ 'web/index.js': answers, 'other/index.js': answers })
    const services = { web: folder.at('web/index.js'), other: folder.at('other/index.js') }
    const workerEntry = new URL(`programs/${worker}.ts`, import.meta.url)
    const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] }
    await using app = await TestApp.start({ accelerators: acceleratorNames, services, gateway }, { workerEntry })
    for (const [path, expected] of [
      ['/web/', 'home'],
      ['/web/by-name', 'by name: home'],
    ]) {
      const answer = await fetch(new URL(path!, app.url), { headers: { connection: 'close' } })
      assert.deepEqual([answer.status, await answer.text()], [200, expected])
    }
    const states = app.running.status().accelerators
    assert.deepEqual(
      states.filter(({ on }) => !on).map(({ name }) => name),
      off,
    )
    const warning = app.log.find(({ level, line }) => level === 'warn' && line.startsWith('accelerators'))
    assert.match(warning?.line ?? '', why)
  })

/** Modules in `programs/` that are loaded before the command, and the warning that it logs. */
const ofTheCommand = {
  'without-v8-flags': 'V8 does not accept --no-wasm-code-gc: not here',
  'without-terminal-handle': 'this Node cannot write to terminals without blocking',
}

for (const [program, warning] of Object.entries(ofTheCommand))
  test(`${program}: a warning of the command, and correct responses`, async () => {
    using folder = new TestFolder({
      'web/index.js': answers,
      'busbar.config.json': { gateway: { port: 0 }, services: { web: './web' } },
    })
    const url = new URL(`programs/${program}.ts`, import.meta.url)
    await using busbar = new BusbarProcess(['start', folder.path], { env: { NODE_OPTIONS: `--import=${url.href}` } })
    await busbar.until(() => /http:\/\/127\.0\.0\.1:\d+/.test(busbar.stdout))
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(busbar.stdout)![0]
    const answer = await fetch(address, { headers: { connection: 'close' } })
    assert.equal(await answer.text(), 'home')
    assert.ok(busbar.stdout.includes(warning), busbar.stdout)
    busbar.child.kill('SIGTERM')
    assert.equal((await busbar.ended).code, 0)
  })
