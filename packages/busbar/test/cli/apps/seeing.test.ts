/** `busbar traces`, `why-slow` and `advise`, as a user types them. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { BusbarProcess, type Ended } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `
const { createServer } = require('node:http')
createServer(async ({ url }, response) => {
  if (url === '/fault') return void response.writeHead(500).end('no')
  if (url === '/shop') await (await fetch('http://cart.internal/list')).text()
  response.end('ok')
}).listen(3000)`

describe('what a user sees of a running app', { timeout: 240_000 }, () => {
  const folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, entry: 'web' },
      traces: { sample: 1 },
      services: { web: './web', cart: './cart' },
    },
    'web/index.js': program,
    'cart/index.js': program,
  })
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_CACHE_HOME: folder.at('cache') }
  const busbar = new BusbarProcess(['start', folder.path, '--once'], { env })
  const run = (...args: string[]): Promise<Ended> => BusbarProcess.run(args, { env, cwd: folder.path })
  const id = newTraceId()
  let url: string

  before(async () => {
    url = await busbar.url()
    await (await fetch(new URL('/shop', url), { headers: { traceparent: `00-${id}-1234567890123456-01` } })).text()
    await (await fetch(new URL('/fault', url))).text()
  })
  after(async () => {
    await busbar[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  it('lists the traces, and shows one as a tree of its calls', async () => {
    let list = await run('traces')
    // Workers send their spans in batches.
    while (!list.stdout.includes(id) || !list.stdout.includes('/fault')) list = await run('traces')
    assert.match(list.stdout, new RegExp(`${id} .* 2 +0 +web GET /shop 200`))
    let shown = await run('traces', id)
    while (!/cart GET/.test(shown.stdout)) shown = await run('traces', id)
    assert.match(shown.stdout, /^web GET \/shop +local +200 .*█\n {2}cart GET \/list +thread +200 /m)
    const { calls } = JSON.parse((await run('traces', id, '--json')).stdout) as {
      calls: { service: string; parent: string | null }[]
    }
    assert.deepEqual(
      calls.map(({ service, parent }) => [service, parent === null]),
      [
        ['web', true],
        ['cart', false],
      ],
    )
  })

  /** As if other processes had used so many processors when the costs of calls were measured. */
  const setBusyWhenMeasured = (others: number): void => {
    const name = readdirSync(folder.at('cache', 'busbar')).find((one) => one.startsWith('placement-costs'))!
    const file = folder.at('cache', 'busbar', name)
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), others }))
  }

  it('lists the failed ones, and says that a trace is unknown', async () => {
    const { stdout } = await run('traces', '--failed')
    assert.ok(stdout.includes('/fault') && !stdout.includes('/shop'), stdout)
    const { code, stderr } = await run('traces', '0'.repeat(32))
    assert.equal(code, 1)
    assert.match(stderr, /TRACE_UNKNOWN/)
  })

  it('is told what is slow', async () => {
    const asked = run('why-slow', '--interval', '1500', '--json')
    let isOver = false
    const calling = (async () => {
      while (!isOver) await (await fetch(new URL('/shop', url))).text()
    })()
    const { parts } = JSON.parse((await asked).stdout) as { parts: { kind: string; what: string; figures: object }[] }
    isOver = true
    await calling
    assert.ok(
      parts.some(({ kind, what }) => kind === 'hop' && what.includes('web')),
      JSON.stringify(parts),
    )
  })

  it('is told where services should run, or that there are too few calls', async () => {
    const first = run('advise', '--seconds', '1')
    const second = await run('advise', '--seconds', '1')
    assert.equal(second.code, 0, second.stderr)
    const { stdout, stderr, code } = await first
    assert.equal(code, 0, stderr)
    assert.match(stderr, /measuring what calls cost on this machine/)
    assert.match(stdout, /nothing is clearly better than it is now/)
    assert.match(stdout, /Not known: Only 0 calls came from outside/)
    assert.match(stdout, /^web +thread +0 .* shared: /m)
    setBusyWhenMeasured(0)
    const again = await run('advise', '--seconds', '1', '--json')
    assert.equal(again.stderr, '')
    assert.equal((JSON.parse(again.stdout) as { services: unknown[] }).services.length, 2)
    setBusyWhenMeasured(1e6)
    assert.match(
      (await run('advise', '--seconds', '1')).stderr,
      /other processes were busy[^]*measuring what calls cost/,
    )
  })
})
