import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { LoadJob, LoadResult, Tick } from './job.ts'

export interface Loaded {
  readonly result: LoadResult
  readonly ticks: readonly Tick[]
}

/** The engine's binary, as `cargo build --release` leaves it; undefined where there was no Rust toolchain. */
export function findEngine(): string | undefined {
  const name = process.platform === 'win32' ? 'busbar-load.exe' : 'busbar-load'
  const file =
    process.env['BUSBAR_LOAD'] ?? fileURLToPath(new URL(`../../../../target/release/${name}`, import.meta.url))
  return existsSync(file) ? file : undefined
}

/** Runs one job to its end. An aborted `signal` ends the engine; a job it refuses throws with the engine's own sentence. */
export async function load(engine: string, job: LoadJob, signal?: AbortSignal): Promise<Loaded> {
  const child = spawn(engine, { stdio: ['pipe', 'pipe', 'pipe'], ...(signal && { signal }) })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
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
