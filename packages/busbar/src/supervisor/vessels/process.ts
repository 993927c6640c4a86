import { type ChildProcess, fork, type ForkOptions, type StdioOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Socket } from 'node:net'
import type { Service } from '../../config/app.ts'
import { withoutConnections } from '../../shared/child-stdio.ts'
import { threadsNow, type WorkerCells } from '../../shared/cells.ts'
import type { ProcessInit, ToWorker } from '../../shared/control.ts'
import { CountsFile } from '../../shared/counts-file.ts'
import type { InstanceCells } from '../../shared/instances.ts'
import { channelBroken, outOfHeap, processExited, tooLarge } from '../exit.ts'
import { notContained, startContained } from './contained.ts'
import { isFromWorker } from './from-worker.ts'
import type { Guard } from './guard.ts'
import type { OutputScheduler } from './output-scheduler.ts'
import { ChildOutput } from './pipe-output.ts'
import { SentOutput } from './sent-output.ts'
import { flagsOf } from './node-flags.ts'
import { HandedConnections } from './handed-connections.ts'
import type { Handed, Vessel, VesselEvents } from './vessel.ts'

export interface ProcessParts {
  readonly init: ProcessInit
  /** The one that it hosts. */
  readonly service: Service
  readonly guard: Guard
  readonly scheduler: OutputScheduler
  /** Where what it says of itself is written down: its row of the cells, its block of the instances. */
  readonly cells: WorkerCells
  readonly block: Uint32Array
  /** In that block: what is counted of its service's calls. */
  readonly counts: InstanceCells
}

const channels = ['ignore', 'pipe', 'pipe', 'ipc'] as const

const workerProcess = fileURLToPath(new URL(`../../worker/process${extname(import.meta.url)}`, import.meta.url))

/** How long what a process last said may take to be read, after it has ended. */
const lastWords = 500

/** A process of Node with one service in it. */
export class ProcessVessel implements Vessel {
  readonly #service: Service
  readonly #parts: ProcessParts
  readonly #child: ChildProcess
  readonly #events: VesselEvents
  readonly #handed: HandedConnections
  readonly #sent: SentOutput
  readonly #counts: CountsFile
  readonly #ended = Promise.withResolvers<void>()
  #over = false

  constructor(parts: ProcessParts, events: VesselEvents) {
    const { init, service, guard, scheduler, cells } = parts
    this.#parts = parts
    this.#service = service
    cells.clear()
    cells.beat(threadsNow())
    this.#events = events
    this.#handed = new HandedConnections({
      send: (message, socket) => this.#post(message, socket),
      returned: (listener, socket) => events.returned(listener, socket),
    })
    this.#sent = new SentOutput({
      scheduler,
      message: (message) => events.message(message),
      read: (size) => this.#post({ type: 'read', size }),
    })
    const options: ForkOptions = {
      execArgv: flagsOf(service, init.app.root),
      cwd: service.path,
      env: { ...process.env, ...service.env },
      serialization: 'advanced',
    }
    this.#counts = CountsFile.create(join(tmpdir(), `busbar-counts-${randomUUID()}`))
    const named: StdioOptions = [...channels, this.#counts.descriptor]
    const start = (): ChildProcess =>
      withoutConnections(named, (stdio) => fork(workerProcess, [], { ...options, stdio }))
    try {
      const { child, release } = startContained(start, (error) => this.#broken(error))
      this.#child = child
      void this.#ended.promise.then(release)
    } catch (error) {
      this.#counts.close()
      throw error
    }
    this.#listen()
    const { pid } = this.#child
    if (pid === undefined) return
    guard.watch(pid)
    void this.#ended.promise.then(() => guard.forget(pid))
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
  }

  hand(listener: string, socket: Socket): Handed {
    return this.#child.connected ? this.#handed.hand(listener, socket) : 'lost'
  }

  kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    return this.#ended.promise
  }

  #listen(): void {
    const { name } = this.#service
    const child = this.#child
    const output = new ChildOutput(child, this.#parts.scheduler, (text, stream, level) => {
      if (text.includes('JavaScript heap out of memory')) this.#events.failing(outOfHeap(name))
      this.#events.line(text, stream, level, name)
    })
    const closed = new Promise((resolve) => child.once('disconnect', resolve))
    child
      .on(
        'message',
        notContained((message) => this.#receive(message)),
      )
      .on(
        'error',
        notContained((error) => {
          this.#events.failing({ why: 'start', service: name, error: undefined, text: error.message })
          // A process that never was has no exit.
          if (child.pid === undefined) this.#exited(null, null)
        }),
      )
      .once(
        'exit',
        notContained((code, signal) => {
          const overdue = setTimeout(() => this.#exited(code, signal), lastWords)
          void Promise.all([closed, output.ended()]).then(() => {
            clearTimeout(overdue)
            this.#exited(code, signal)
          })
        }),
      )
  }

  /** What came over the channel cannot be read, and what comes next cannot either. */
  #broken(error: unknown): void {
    this.#events.failing(channelBroken(this.#service.name, error))
    void this.kill()
  }

  /**
   * Whatever it says, it lives, and others must see that before they hear that it serves: on its first beat it may have to
   * wait. What has been under way for long says nothing about then, so what counts is when it came.
   */
  #receive(message: unknown): void {
    if (!isFromWorker(message)) return
    if (message.type === 'beat') this.#note(message.cells, message.instances)
    this.#parts.cells.beat(threadsNow())
    if (message.type === 'taken') this.#handed.settle(message.id, true)
    else if (message.type === 'declined') this.#handed.settle(message.id, false)
    else if (message.type !== 'beat') this.#sent.message(message)
  }

  #note(row: Uint32Array, instances: Uint32Array | undefined): void {
    const { cells, block } = this.#parts
    const { closed } = cells
    cells.set(row)
    if (cells.closed !== closed) this.#handed.mayHaveRoom()
    if (instances !== undefined) block.set(instances.subarray(0, block.length))
    const { memory, name } = this.#service
    if (memory === undefined || cells.vitals.memory <= memory) return
    this.#events.failing(tooLarge(cells.vitals.memory, memory, name))
    void this.kill()
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#over) return
    this.#over = true
    if (this.#child.connected) this.#child.disconnect()
    this.#sent.drain()
    this.#readCounts()
    this.#events.exited(processExited(code, signal, this.#service.name))
    this.#handed.returnAll()
    this.#ended.resolve()
  }

  /** What it did after its last report. */
  #readCounts(): void {
    this.#counts.readInto(this.#parts.counts)
    this.#counts.close()
  }

  /** What cannot be sent any more is answered by the end of the process. */
  #post(message: ToWorker | { type: 'init'; init: ProcessInit }, socket?: Socket): void {
    if (this.#child.connected) this.#child.send(message, socket, { keepOpen: true }, () => {})
  }
}
