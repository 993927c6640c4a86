/**
 * What an idle supervisor costs: processor time and memory of the processes of `busbar start` that
 * are not services:
 *
 *     node scripts/operations/idle.ts [--seconds 30]
 *
 * Needs a build, and Linux.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } })
const seconds = Number(values.seconds)
const busbar = join(import.meta.dirname, '../../packages/busbar/bin/busbar.js')
const program = `require('node:http').createServer((_, response) => response.end('fine')).listen(3000)`

const apps: Readonly<Record<string, object>> = {
  'one process, raw connections': { gateway: { port: 0 }, services: { web: { path: './web', run: 'process' } } },
  'four processes and the gateway': {
    gateway: { port: 0 },
    defaults: { run: 'process' },
    services: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, './web'])),
  },
}

console.log('| app | process | CPU % | proportional MB | resident MB |\n|---|---|---|---|---|')
for (const [name, config] of Object.entries(apps)) await measure(name, config)

async function measure(name: string, config: object): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'idle-'))
  writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{}')
  const web = join(folder, 'web')
  mkdirSync(web)
  writeFileSync(join(web, 'index.js'), program)
  const child = spawn(process.execPath, [busbar, 'start', folder], {
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('http://')) break
    child.stdout.resume()
    // The first seconds belong to the start, with its collection.
    await sleep(10_000)
    const outer = child.pid!
    const inner = childrenOf(outer).find((pid) => commandOf(pid).includes('busbar.js'))
    const pids = { outer, ...(inner !== undefined && { supervisor: inner }) }
    const before = Object.values(pids).map(cpuTime)
    await sleep(seconds * 1000)
    Object.entries(pids).forEach(([role, pid], at) => {
      const share = ((cpuTime(pid) - before[at]!) / (seconds * 1000)) * 100
      const { pss, rss } = memoryOf(pid)
      console.log(`| ${name} | ${role} | ${share.toFixed(2)} | ${pss} | ${rss} |`)
    })
  } finally {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds of all threads. */
function cpuTime(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.reduce((sum, task) => sum + nanoseconds(`/proc/${pid}/task/${task}/schedstat`) / 1e6, 0)
}

function nanoseconds(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ', 1)[0])
  } catch {
    // The thread has ended.
    return 0
  }
}

function memoryOf(pid: number): { pss: string; rss: string } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const of = (key: string): string => (Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)![1]) / 1024).toFixed(1)
  return { pss: of('Pss'), rss: of('Rss') }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
}
