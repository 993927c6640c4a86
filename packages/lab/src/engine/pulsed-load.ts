import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadJob, LoadResult, Pulse, Tick } from './job.ts'
import type { Engine, Loaded } from './load.ts'

/**
 * A load that is on for a while, again and again. Between pulses nothing is in flight, so that the
 * server can be frozen.
 */
export class PulsedLoad {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #problem: Promise<string>
  readonly #lines: AsyncIterator<string>
  readonly #ticks: Tick[] = []
  readonly #signal: AbortSignal | undefined
  /** The engine could not be started, or was aborted. */
  #error: Error | undefined

  constructor({ command }: Engine, job: LoadJob, signal?: AbortSignal) {
    const [program, ...args] = command
    this.#signal = signal
    this.#child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(signal && { signal, killSignal: 'SIGKILL' }),
    })
    this.#child.once('error', (error) => (this.#error = error))
    // An engine that has ended reports why at the next pulse.
    this.#child.stdin.on('error', () => {})
    this.#problem = text(this.#child.stderr)
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
    this.#child.stdin.write(`${JSON.stringify(job)}\n`)
  }

  /** The server runs again. Connections that were idle for long are replaced. */
  ready(): void {
    this.#child.stdin.write('ready\n')
  }

  /** Resolves when the last request of the pulse is answered. */
  async pulse(lengthMs: number): Promise<Pulse> {
    this.#child.stdin.write('on\n')
    await sleep(lengthMs, undefined, this.#signal && { signal: this.#signal })
    this.#child.stdin.write('off\n')
    return (await this.#next('pulse')) as Pulse
  }

  /** Ends the load. */
  async end(): Promise<Loaded> {
    this.#child.stdin.end()
    return { result: (await this.#next('result')) as LoadResult, ticks: this.#ticks }
  }

  /** Kills the engine if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  async #next(type: 'pulse' | 'result'): Promise<Pulse | LoadResult> {
    for (;;) {
      const { value, done } = await this.#lines.next()
      if (done) throw this.#error ?? new Error((await this.#problem).trim() || 'the load engine ended early')
      const line = JSON.parse(value) as Tick | Pulse | LoadResult
      if (line.type === type) return line
      if (line.type === 'tick' && line.done > 0) this.#ticks.push(line)
    }
  }
}
