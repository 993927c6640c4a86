import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { LoadJob, LoadResult, Tick } from './job.ts'

export interface Loaded {
  readonly result: LoadResult
  readonly ticks: readonly Tick[]
}

/** What does the load: our own engine, or where it was not built autocannon, which knows throughput only. */
export interface Engine {
  readonly kind: 'busbar-load' | 'autocannon'
  readonly command: readonly [program: string, ...args: string[]]
}

/** The binary as `cargo build --release` leaves it; `BUSBAR_LOAD` names another, or with `autocannon` does without. */
export function findEngine(): Engine {
  const name = process.platform === 'win32' ? 'busbar-load.exe' : 'busbar-load'
  const { BUSBAR_LOAD } = process.env
  const file = BUSBAR_LOAD ?? fileURLToPath(new URL(`../../../../target/release/${name}`, import.meta.url))
  if (file !== 'autocannon' && existsSync(file)) return { kind: 'busbar-load', command: [file] }
  if (BUSBAR_LOAD !== undefined && BUSBAR_LOAD !== 'autocannon')
    throw new Error(`BUSBAR_LOAD names ${BUSBAR_LOAD}, and there is no such file`)
  const self = fileURLToPath(import.meta.url)
  const fallback = fileURLToPath(new URL(`./autocannon${extname(self)}`, import.meta.url))
  return { kind: 'autocannon', command: [process.execPath, fallback] }
}

/** Runs one job to its end. An aborted `signal` ends the engine; a job it refuses throws with the engine's own sentence. */
export async function load({ command }: Engine, job: LoadJob, signal?: AbortSignal): Promise<Loaded> {
  const [program, ...args] = command
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(signal && { signal, killSignal: 'SIGKILL' }),
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  // An engine that ended before it had read its job says why by its exit.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(job))
  const [{ result, ticks }, problem, code] = await Promise.all([readLines(child.stdout), text(child.stderr), ended])
  if (code !== 0 || result === undefined) throw new Error(problem.trim() || `the load engine ended with ${code}`)
  return { result, ticks }
}

async function readLines(output: NodeJS.ReadableStream): Promise<{ result: LoadResult | undefined; ticks: Tick[] }> {
  const ticks: Tick[] = []
  let result: LoadResult | undefined
  for await (const line of createInterface({ input: output })) {
    const said = JSON.parse(line) as Tick | LoadResult
    if (said.type === 'tick') ticks.push(said)
    else result = said
  }
  return { result, ticks }
}
