import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { DebuggerClient, type Paused } from '../../support/app/debugger-client.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const program = `import { createServer } from 'node:http'

interface Price {
  readonly cents: number
}

createServer((request, response) => {
  const price: Price = { cents: request.url!.length }
  response.end('price ' + price.cents)
}).listen(3000)
`
/** Counted from 0: the line with \`response.end\`. */
const line = 8

const config = {
  gateway: { port: 0, routes: { '/one': 'one', '/two': 'two', '/three': 'three' } },
  services: {
    one: { path: './one', run: 'shared' },
    two: { path: './two', run: 'thread' },
    three: { path: './three', run: 'process' },
  },
}

const files = {
  'package.json': { type: 'module' },
  'busbar.config.json': config,
  'one/index.ts': program,
  'two/index.ts': program,
  'three/index.ts': program,
}

test('a debugger stops at a breakpoint in a shared worker, a thread and a process', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', folder.path, '--inspect'])
  const url = await busbar.url()
  for (const service of ['one', 'two', 'three']) {
    using client = await attached(busbar, service)
    // Chrome and editors look for it there.
    const list = await fetch(new URL('/json/list', (await inspectorOf(busbar, service)).replace('ws:', 'http:')))
    assert.equal(((await list.json()) as unknown[]).length, 1)
    const { locations } = await client.send<{ locations: Paused['callFrames'][number]['location'][] }>(
      'Debugger.setBreakpointByUrl',
      { urlRegex: `/${service}/index\\.ts`, lineNumber: line },
    )
    const answer = fetch(`${url}/${service}/abc`).then((response) => response.text())
    answer.catch(() => {})
    const { callFrames } = await client.event<Paused>('Debugger.paused')
    const [frame] = callFrames
    assert.deepEqual([frame!.location.scriptId, frame!.location.lineNumber], [locations[0]!.scriptId, line])
    const { callFrameId } = frame!
    const { result } = await client.send<{ result: { value: unknown } }>('Debugger.evaluateOnCallFrame', {
      callFrameId,
      expression: 'price.cents = 42',
    })
    assert.equal(result.value, 42)
    // A worker that is silent this long gets no connections otherwise.
    await sleep(1200)
    await client.send('Debugger.resume')
    assert.equal(await answer, 'price 42')
  }
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})

test('one service is inspected by its name, and the app stops while a debugger is attached', async () => {
  using folder = new TestFolder(files)
  await using busbar = new BusbarProcess(['dev', '--inspect', 'two', folder.path])
  await busbar.url()
  using client = await attached(busbar, 'two')
  assert.deepEqual(busbar.events.filter(({ msg }) => (msg as string).startsWith('inspector of')).length, 1)
  await client.send('Runtime.evaluate', { expression: '1' })
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})

test('an unknown service is refused, with the nearest', async () => {
  using folder = new TestFolder(files)
  const { code, stderr } = await BusbarProcess.run(['dev', folder.path, '--inspect=twoo'])
  assert.equal(code, 2)
  assert.match(stderr, /there is no service "twoo"[^]*Did you mean two\?/)
})

test('in development a stack shows the lines of TypeScript, run as it is or built', async () => {
  const built = [
    'const server = require("node:http").createServer((request, response) => {',
    'response.end(new Error("here").stack)',
    '})',
    'server.listen(3000)',
    // Line 2 of this file is line 5 of source.ts.
    `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(sourceMap)).toString('base64')}`,
  ].join('\n')
  const plain = `import { createServer } from 'node:http'
type A = string

const answer = (): A => new Error('here').stack!
createServer((request, response) => response.end(answer())).listen(3000)`
  using folder = new TestFolder({
    'busbar.config.json': { gateway: { port: 0 }, services: { plain: './plain', built: './built' } },
    'plain/package.json': { type: 'module' },
    'plain/index.ts': plain,
    'built/index.js': built,
  })
  await using busbar = new BusbarProcess(['dev', folder.path])
  const url = await busbar.url()
  assert.match(await (await fetch(`${url}/plain`)).text(), /plain\/index\.ts:4:/)
  assert.match(await (await fetch(`${url}/built`)).text(), /built\/source\.ts:5:/)
})

/** Maps line 2 to line 5. */
const sourceMap = { version: 3, sources: ['source.ts'], names: [], mappings: ';AAIA' }

async function inspectorOf(busbar: BusbarProcess, service: string): Promise<string> {
  const { msg } = await busbar.message(`inspector of ${service}: ws://127.0.0.1:`)
  return (msg as string).split(': ')[1]!
}

async function attached(busbar: BusbarProcess, service: string): Promise<DebuggerClient> {
  const client = await DebuggerClient.connect(await inspectorOf(busbar, service))
  await client.send('Runtime.enable')
  await client.send('Debugger.enable')
  return client
}
