import { type ChildProcess, fork, type ForkOptions, type StdioOptions } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Socket } from 'node:net'
import type { Service } from '../../config/app.ts'
import { compileCacheVariables } from '../../shared/process/compile-cache.ts'
import { hasDebuggerFlags } from '../../shared/process/debugger-flags.ts'
import { withoutConnections } from '../../shared/process/child-stdio.ts'
import { beatOf, threadsNow, type WorkerCells } from '../../shared/metrics/worker-cells.ts'
import type { ProcessInit, ToWorker } from '../../shared/control-messages.ts'
import type { InstanceCells } from '../../shared/metrics/instance-cells.ts'
import { mergeCounts, ReportFile } from '../../shared/metrics/report-file.ts'
import { type Pulse, reportInterval } from '../pulse.ts'
import { ProcessStack } from '../watchdogs/stack/process-stack.ts'
import { channelBroken, outOfHeap, processExited, tooLarge } from '../workers/worker-exit.ts'
import { notIsolated, startIsolated } from './channel-errors.ts'
import { isWorkerMessage } from './worker-message.ts'
import type { OrphanReaper } from './orphan-reaper.ts'
import type { OutputScheduler } from './output/output-scheduler.ts'
import { ChildOutput } from './output/pipe-output.ts'
import { MessageOutput } from './output/message-output.ts'
import { flagsOf } from './node-flags.ts'
import { PendingTransfers } from './pending-transfers.ts'
import type { TransferResult, WorkerRuntime, RuntimeEvents } from './runtime.ts'
import { moduleFile } from '../../shared/package-files.ts'

export interface ProcessParts {
  readonly init: ProcessInit
  /** The service that it hosts. */
  readonly service: Service
  readonly reaper: OrphanReaper
  readonly scheduler: OutputScheduler
  readonly pulse: Pulse
  /** Its row and its block of the shared memory, where its reports are written. */
  readonly cells: WorkerCells
  readonly block: Uint32Array
  /** The call counters of its service, in that block. */
  readonly counts: InstanceCells
}

const channels = ['ignore', 'pipe', 'pipe', 'ipc'] as const

const workerProcess = fileURLToPath(moduleFile('worker/process'))

/** Milliseconds after the exit of a process in which its last messages and output may arrive. */
const lastWords = 500

/** A process of Node that hosts one service. */
export class ProcessRuntime implements WorkerRuntime {
  readonly #service: Service
  readonly #parts: ProcessParts
  readonly #child: ChildProcess
  readonly #events: RuntimeEvents
  readonly #transfers: PendingTransfers
  readonly #output: MessageOutput
  readonly #file: ReportFile
  readonly #ended = Promise.withResolvers<void>()
  readonly #stack = new ProcessStack()
  readonly #endReading: () => void
  /** As the process wrote it. */
  #lastBeat = 0
  #over = false

  constructor(parts: ProcessParts, events: RuntimeEvents) {
    const { init, service, reaper, scheduler, cells, pulse } = parts
    this.#parts = parts
    this.#service = service
    cells.clear()
    cells.beat(threadsNow())
    this.#events = events
    this.#transfers = new PendingTransfers({
      send: (message, socket) => this.#post(message, socket),
      returned: (listenerId, socket) => events.returned(listenerId, socket),
    })
    this.#output = new MessageOutput({
      scheduler,
      message: (message) => events.message(message),
      read: (size) => this.#post({ type: 'outputRead', size }),
    })
    const options: ForkOptions = {
      execArgv: flagsOf(service, init.app.root, init.inspect !== undefined),
      cwd: service.path,
      env: { ...process.env, ...compileCacheVariables(), ...service.env },
      serialization: 'advanced',
    }
    this.#file = ReportFile.create()
    const named: StdioOptions = [...channels, this.#file.descriptor]
    const start = (): ChildProcess =>
      withoutConnections(named, (stdio) => fork(workerProcess, [], { ...options, stdio }))
    try {
      const { child, release } = startIsolated(start, (error) => this.#channelFailed(error))
      this.#child = child
      void this.#ended.promise.then(release)
    } catch (error) {
      this.#file.close()
      throw error
    }
    this.#endReading = pulse.every(reportInterval, () => {
      this.#readReports()
      this.#checkMemory()
    })
    this.#listen()
    const { pid } = this.#child
    if (pid === undefined) return
    reaper.watch(pid)
    void this.#ended.promise.then(() => reaper.forget(pid))
    this.#post({ type: 'init', init })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get closed(): number {
    return this.#parts.cells.closed
  }

  age(now: number): number {
    return this.#parts.cells.age(now)
  }

  send(order: ToWorker): void {
    this.#post(order)
    if (order.type === 'stop') this.#transfers.returnWaiting()
  }

  transfer(listenerId: string, socket: Socket): TransferResult {
    return this.#child.connected ? this.#transfers.add(listenerId, socket) : 'lost'
  }

  async stack(): Promise<readonly string[] | undefined> {
    if (process.platform === 'win32' || !hasDebuggerFlags(this.#child.spawnargs)) return undefined
    return await this.#stack.read(() => this.#child.kill('SIGUSR1'))
  }

  kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    return this.#ended.promise
  }

  #listen(): void {
    const { name } = this.#service
    const child = this.#child
    const output = new ChildOutput(child, this.#parts.scheduler, (output) => {
      if (output.stream === 'stderr' && this.#stack.takesLine(output.line)) return
      if (output.line.includes('JavaScript heap out of memory')) this.#events.failing(outOfHeap(name))
      this.#events.line(output, name)
    })
    const closed = new Promise((resolve) => child.once('disconnect', resolve))
    child
      .on(
        'message',
        notIsolated((message) => this.#receive(message)),
      )
      .on(
        'error',
        notIsolated((error) => {
          this.#events.failing({ why: 'start', service: name, error: undefined, text: error.message })
          // Without a process there is no exit event.
          if (child.pid === undefined) this.#exited(null, null)
        }),
      )
      .once(
        'exit',
        notIsolated((code, signal) => {
          const late = setTimeout(() => this.#exited(code, signal), lastWords)
          void Promise.all([closed, output.ended()]).then(() => {
            clearTimeout(late)
            this.#exited(code, signal)
          })
        }),
      )
  }

  /** The channel is corrupt: no later message can be read either. */
  #channelFailed(error: unknown): void {
    this.#events.failing(channelBroken(this.#service.name, error))
    void this.kill()
  }

  /**
   * Every message counts as a heartbeat, at the time of its arrival. The first `heartbeat` may be
   * late, and the heartbeat must be fresh before peers learn that the worker serves.
   */
  #receive(message: unknown): void {
    if (!isWorkerMessage(message)) return
    this.#parts.cells.beat(threadsNow())
    if (message.type === 'taken') this.#transfers.settle(message.id, true)
    else if (message.type === 'declined') this.#transfers.settle(message.id, false)
    else if (message.type === 'counters') this.#noteCounters(message.cells)
    else if (message.type !== 'heartbeat') this.#output.message(message)
  }

  #noteCounters(counters: Uint32Array): void {
    const { block, counts } = this.#parts
    const { counts: known } = counts
    const before = known.slice()
    block.set(counters.subarray(0, block.length))
    // The file may have been read after the process sent the message.
    mergeCounts(known, before)
  }

  /**
   * Reads what the process has written. Its counts, too: it writes them before it calls the
   * program, which may never return, so that it sends no message any more.
   */
  #readReports(): void {
    this.#file.readCountsInto(this.#parts.counts)
    this.#readRow()
  }

  #readRow(): void {
    const row = this.#file.readRow()
    if (row === undefined || beatOf(row) === this.#lastBeat) return
    this.#lastBeat = beatOf(row)
    const { cells } = this.#parts
    const { closed } = cells
    cells.set(row)
    // Of this process's clock: nothing says that two processes' clocks agree.
    cells.beat(threadsNow())
    if (cells.closed !== closed) this.#transfers.mayHaveRoom()
  }

  #checkMemory(): void {
    const { cells } = this.#parts
    const { memory, name } = this.#service
    if (memory === undefined || cells.vitals.memory <= memory) return
    this.#events.failing(tooLarge(cells.vitals.memory, memory, name))
    void this.kill()
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    if (this.#child.connected) this.#child.disconnect()
    this.#output.drain()
    this.#endReading()
    this.#readReports()
    this.#file.close()
    this.#events.exited(processExited(code, signal, this.#service.name))
    this.#transfers.returnAll()
    this.#ended.resolve()
  }

  /** A message that cannot be sent needs no error: the exit of the process follows. */
  #post(message: ToWorker | { type: 'init'; init: ProcessInit }, socket?: Socket): void {
    if (this.#child.connected) this.#child.send(message, socket, { keepOpen: true }, () => {})
  }
}
