/**
 * Whether many log lines keep the supervisor's memory within bounds: a service writes them as fast
 * as it can, and the reader of the log is fast, or slower than the writer:
 *
 *     node scripts/operations/log-lines.ts [--lines 1000000] [--run thread,process]
 *
 * Needs a build, and Linux.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { lines: { type: 'string', default: '1000000' }, run: { type: 'string', default: 'thread,process' } },
})
const lines = Number(values.lines)
const busbar = join(import.meta.dirname, '../../packages/busbar/bin/busbar.js')

/** Waits for its own output where Node offers it, as a program does that does not lose lines. */
const program = `
const { once } = require('node:events')
require('node:http').createServer((_, response) => response.end('fine')).listen(3000)
setTimeout(async () => {
  for (let line = 0; line < ${lines}; line++)
    if (!process.stdout.write('line ' + line + ' of a flood of log lines\\n')) await once(process.stdout, 'drain')
  console.log('the flood is over')
}, 500)`

console.log('| run | reader | lines in | lines out | resident MB at the start | most resident MB | seconds |')
console.log('|---|---|---|---|---|---|---|')
for (const run of values.run.split(',')) for (const pause of [0, 5]) await measure(run, pause)

/** `pause`: milliseconds that the reader waits after each chunk. */
async function measure(run: string, pause: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lines-'))
  mkdirSync(join(folder, 'web'))
  writeFileSync(join(folder, 'web/index.js'), program)
  const config = { gateway: { port: 0 }, services: { web: { path: './web', run } } }
  writeFileSync(join(folder, 'busbar.config.json'), JSON.stringify(config))
  const child = spawn(process.execPath, [busbar, 'start', folder, '--once'], {
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    let [read, first, began] = [0, 0, 0]
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      if (first === 0) [first, began] = [memoryOf(child.pid!, 'VmRSS'), performance.now()]
      for (const byte of chunk) if (byte === 10) read++
      if (chunk.includes('the flood is over')) break
      if (pause > 0) await sleep(pause)
    }
    const took = ((performance.now() - began) / 1000).toFixed(1)
    const most = memoryOf(child.pid!, 'VmHWM')
    console.log(`| ${[run, pause === 0 ? 'fast' : 'slow', lines, read, first, most, took].join(' | ')} |`)
  } finally {
    child.stdout.destroy()
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In MB. */
function memoryOf(pid: number, key: 'VmRSS' | 'VmHWM'): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)![1]) / 1024)
}
