import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { extname, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createRequire } from 'node:module'
import type { LoadJob, LoadResult, Tick } from './job.ts'

export interface Loaded {
  readonly result: LoadResult
  readonly ticks: readonly Tick[]
}

/**
 * The load generator: the lab's own engine, or autocannon (throughput only) if that is not built.
 */
export interface Engine {
  readonly kind: 'busbar-load' | 'autocannon'
  readonly command: readonly [program: string, ...args: string[]]
}

/**
 * The binary of the package for this platform, else that of `cargo build --release`. `BUSBAR_LOAD`
 * is the path of another one, or `autocannon`.
 */
export function findEngine(): Engine {
  const { BUSBAR_LOAD } = process.env
  const built = fileURLToPath(new URL(`../../../../target/release/${engineProgram}`, import.meta.url))
  const file = BUSBAR_LOAD ?? packagedEngine() ?? built
  if (file !== 'autocannon' && existsSync(file)) return { kind: 'busbar-load', command: [file] }
  if (BUSBAR_LOAD !== undefined && BUSBAR_LOAD !== 'autocannon')
    throw new Error(`BUSBAR_LOAD is ${BUSBAR_LOAD}, which does not exist`)
  const self = fileURLToPath(import.meta.url)
  const fallback = fileURLToPath(new URL(`./autocannon${extname(self)}`, import.meta.url))
  return { kind: 'autocannon', command: [process.execPath, fallback] }
}

/** Runs a job. An abort kills the engine. Throws with the engine's message if it fails. */
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
  // An engine that exits before it reads the job reports an error below.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(job))
  const [{ result, ticks }, problem, code] = await Promise.all([readLines(child.stdout), text(child.stderr), ended])
  if (code !== 0 || result === undefined) throw new Error(problem.trim() || `the load engine exited with ${code}`)
  return { result, ticks }
}

async function readLines(output: NodeJS.ReadableStream): Promise<{ result: LoadResult | undefined; ticks: Tick[] }> {
  const ticks: Tick[] = []
  let result: LoadResult | undefined
  for await (const line of createInterface({ input: output })) {
    const message = JSON.parse(line) as Tick | LoadResult
    if (message.type === 'tick') ticks.push(message)
    else result = message
  }
  return { result, ticks }
}

/** The package with the load engine for this platform. */
export const enginePackage = `@busbar/load-${process.platform}-${process.arch}`
export const engineProgram = process.platform === 'win32' ? 'busbar-load.exe' : 'busbar-load'

/** Undefined if the package is not installed. */
function packagedEngine(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${enginePackage}/package.json`)
    return join(dirname(manifest), engineProgram)
  } catch {
    return undefined
  }
}
