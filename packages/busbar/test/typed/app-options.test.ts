import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { startSupervisor } from '../../src/supervisor/supervisor.ts'
import { folderWithBusbar } from '../support/app/test-folder.ts'

const files = {
  'probe/contract.ts': `
    import { fn, service, type Schema } from 'busbar/contract'
    const even: Schema<number> = { '~standard': { version: 1, vendor: 'test',
      validate: (value) => (value as number) % 2 === 0 ? { value: value as number } : { issues: [{ message: 'it is odd' }] } } }
    export const probe = service('probe', { halve: fn({ input: even, output: even }), wait: fn() })`,
  'probe/index.ts': `
    import { probe } from './contract.ts'
    export default probe.implement({ halve: (value) => value * 2, wait: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve())) })`,
  // Calls the service according to its path.
  'web/index.ts': `
    import { createServer } from 'node:http'
    import { client, safe } from 'busbar/client'
    import { probe } from '../probe/contract.ts'
    const calls = client(probe)
    createServer(async (req, res) => {
      if (req.url === '/full') {
        const first = new AbortController()
        const waiting = safe(calls.wait(undefined, { signal: first.signal }))
        const [error] = await safe(calls.wait())
        first.abort()
        await waiting
        return res.end(error?.code)
      }
      const [error, value] = await safe(calls.halve(7))
      res.end(error?.code ?? String(value))
    }).listen(3000)`,
}

async function ask(options: object, path: string): Promise<string> {
  const app = {
    gateway: { port: 0, routes: { '/web': 'web', '/api': 'probe' } },
    services: { probe: './probe', web: { path: './web', run: 'shared', needs: ['probe'] } },
    ...options,
  }
  using folder = folderWithBusbar({ ...files, 'busbar.config.json': app })
  const running = await startSupervisor(await loadApp(folder.path, { env: {} }), {
    mode: 'start',
    log: () => {},
    timing: { stale: 60_000 },
  })
  try {
    const url = new URL(path, running.addresses[0]!.url)
    const isCall = path.startsWith('/api')
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, isCall ? { method: 'POST', body: '7', headers } : {})
    return isCall ? String(response.status) : await response.text()
  } finally {
    await running.stop()
  }
}

describe('the config of typed calls', () => {
  it('validates calls between services, unless it is set to edge', async () => {
    assert.equal(await ask({}, '/web/'), 'INPUT_INVALID')
    assert.equal(await ask({ validate: 'edge' }, '/web/'), '14')
  })

  it('always validates calls from outside', async () => {
    assert.equal(await ask({ validate: 'edge' }, '/api/probe/halve'), '422')
  })

  it('limits calls in flight', async () => {
    assert.equal(await ask({ limits: { maxInFlight: 1 } }, '/web/full'), 'RESOURCE_EXHAUSTED')
  })
})
