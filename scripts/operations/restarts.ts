/**
 * Whether restarts leave anything behind in the supervisor: its memory after garbage collection,
 * its handles and its file descriptors, while instances of a service die again and again:
 *
 *     node --expose-gc scripts/operations/restarts.ts [--run thread] [--restarts 1000] [--instances 4]
 *
 * The supervisor runs in this process. `--run generation` replaces the workers instead.
 */
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadApp } from '../../packages/busbar/src/config/load.ts'
import type { RunningApp } from '../../packages/busbar/src/supervisor/running-app.ts'
import { startSupervisor } from '../../packages/busbar/src/supervisor/supervisor.ts'

const { values } = parseArgs({
  options: {
    run: { type: 'string', default: 'thread' },
    restarts: { type: 'string', default: '1000' },
    instances: { type: 'string', default: '4' },
  },
})
const [restarts, instances] = [Number(values.restarts), Number(values.instances)]
const collect = (globalThis as { gc?: () => void }).gc
if (collect === undefined) throw new Error('run it with node --expose-gc')

/** Ends its thread or process at the first request. */
const program = `
import { createServer } from 'node:http'
createServer(() => process.exit(7)).listen(3000)`

const folder = mkdtempSync(join(tmpdir(), 'restarts-'))
writeFileSync(join(folder, 'index.mjs'), program)
const service = { path: './index.mjs', run: values.run === 'process' ? 'process' : 'thread', instances }
const config = { gateway: { port: 0, routes: { '/': 'web' } }, stableAfter: '1ms', services: { web: service } }
writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))

const running = await startSupervisor(await loadApp(folder, { env: {} }), { mode: 'start', log: () => {} })
try {
  console.log('| restarts | heap MB | resident MB | handles | descriptors |\n|---|---|---|---|---|')
  for (let done = 0; done <= restarts; done = await restart(done)) await report(done)
} finally {
  await running.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** About a tenth of the restarts. Returns how many there have been. */
async function restart(done: number): Promise<number> {
  const before = deathsOf(running)
  let replaced = 0
  const target = Math.ceil(restarts / 10)
  while (replaced < target) {
    if (values.run === 'generation') {
      await running.replace()
      replaced += instances + 1
    } else {
      await Promise.all(Array.from({ length: instances }, () => ask(running)))
      replaced = deathsOf(running) - before
    }
  }
  return done + replaced
}

function deathsOf({ workers }: RunningApp): number {
  return workers.reduce((sum, { deaths }) => sum + deaths, 0)
}

/** The instance that gets it dies. */
async function ask({ addresses }: RunningApp): Promise<void> {
  const sent = request(addresses[0]!.url, { agent: false, method: 'POST' }).end()
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
  } catch {
    // The connection ended with the instance.
  }
}

async function report(done: number): Promise<void> {
  while (running.workers.some(({ state }) => state !== 'serving')) await sleep(20)
  // Retired workers end, and their objects become garbage.
  await sleep(1000)
  for (let round = 0; round < 3; round++) {
    collect!()
    await sleep(20)
  }
  const { heapUsed, rss } = process.memoryUsage()
  const handles = process.getActiveResourcesInfo().length
  const descriptors = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : '–'
  console.log(`| ${[done, megabytes(heapUsed), megabytes(rss), handles, descriptors].join(' | ')} |`)
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(2)
}
