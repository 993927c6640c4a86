import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { client } from 'busbar/client'
import { stock } from '../stock/stock/contract.ts'

const example = join(import.meta.dirname, '..')

describe('cluster', { skip: process.env['CI'] === undefined && !hasServer() && 'there is no nats-server' }, () => {
  it('answers every request while one of two hosts is killed and comes back', () => {
    const args = ['--conditions=busbar-source', join(example, 'run.ts'), '1']
    const env = { ...process.env, BUSBAR_ENTRY: join(example, '../../packages/busbar/test/support/busbar.ts') }
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    assert.equal(status, 0, stderr)
    const phases = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { phase: string; hosts: Record<string, number>; failed: object })
    assert.deepEqual(
      phases.map(({ failed }) => failed),
      phases.map(() => ({})),
    )
    assert.deepEqual(Object.keys(phases.at(-1)!.hosts).toSorted(), ['first', 'second'])
  })

  it('names the machine that answers, unless HOST does', async () => {
    delete process.env['HOST']
    const { default: implementation } = await import('../stock/stock/index.ts')
    const { host } = await client(stock, implementation).count({ id: 1 })
    assert.equal(host, hostname())
  })

  it('publishes ports only of containers that listen on all addresses', async () => {
    const compose = await readFile(join(example, 'compose.yaml'), 'utf8')
    const services = compose.split(/^  (?=\w)/m).filter((part) => part.includes('command:'))
    assert.equal(services.length, 2)
    for (const service of services) {
      assert.match(service, /command: node node_modules\/busbar\/bin\/busbar\.js start/)
      assert.equal(service.includes('ports:'), service.includes('--host 0.0.0.0'), service)
    }
  })

  it('needs only what its package.json lists', async () => {
    for (const file of ['run.ts', 'shop/web/index.ts', 'stock/stock/index.ts', 'stock/stock/contract.ts']) {
      const code = await readFile(join(example, file), 'utf8')
      assert.doesNotMatch(code, /'\.\.', '\.\.'|packages/, file)
    }
  })

  it('has the config that its README shows', async () => {
    const [config, readme] = await Promise.all(
      ['shop/busbar.config.ts', 'README.md'].map((file) => readFile(join(example, file), 'utf8')),
    )
    const shown = /```ts\n\/\/ .*\n([^]*?)```/.exec(readme!)![1]!
    for (const line of shown.trim().split('\n')) assert.ok(config!.includes(line), line)
  })
})

function hasServer(): boolean {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` }
  return spawnSync('nats-server', ['--version'], { env }).status === 0
}
