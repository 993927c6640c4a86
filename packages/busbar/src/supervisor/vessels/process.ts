import { type ChildProcess, fork, type ForkOptions, type SendHandle, type StdioOptions } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Service } from '../../config/app.ts'
import { withoutConnections } from '../../shared/child-stdio.ts'
import { threadsNow, type WorkerCells } from '../../shared/cells.ts'
import type { FromWorker, ProcessInit, ToWorker } from '../../shared/control.ts'
import type { TcpHandle } from '../../shared/port.ts'
import { outOfHeap, processExited, tooLarge } from '../exit.ts'
import type { Guard } from './guard.ts'
import { splitLines } from './lines.ts'
import { flagsOf } from './node-flags.ts'
import type { Vessel, VesselEvents } from './vessel.ts'

export interface ProcessParts {
  readonly init: ProcessInit
  /** The one that it hosts. */
  readonly service: Service
  readonly guard: Guard
  /** Where what it says of itself is written down: its row of the cells, its block of the instances. */
  readonly cells: WorkerCells
  readonly block: Uint32Array
}

const channels: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc']

const workerProcess = fileURLToPath(new URL(`../../worker/process${extname(import.meta.url)}`, import.meta.url))

/** How long what a process last said may take to be read, after it has ended. */
const lastWords = 500

/** A process of Node with one service in it. */
export class ProcessVessel implements Vessel {
  readonly #service: Service
  readonly #parts: ProcessParts
  readonly #child: ChildProcess
  readonly #events: VesselEvents
  /** Connections on their way, by number: the system has a copy of each until it says that it took it. */
  readonly #underway = new Map<number, { listener: string; handle: TcpHandle }>()
  readonly #ended = Promise.withResolvers<void>()
  #next = 0

  constructor(parts: ProcessParts, events: VesselEvents) {
    const { init, service, guard, cells } = parts
    this.#parts = parts
    this.#service = service
    cells.clear()
    cells.beat(threadsNow())
    this.#events = events
    const options: ForkOptions = {
      execArgv: flagsOf(service, init.app.root),
      cwd: service.path,
      env: { ...process.env, ...service.env },
      serialization: 'advanced',
    }
    this.#child = withoutConnections(channels, (stdio) => fork(workerProcess, [], { ...options, stdio }))
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

  /** Node closes nothing of a raw handle: it is ours until the process has said that it took it. */
  hand(listener: string, handle: TcpHandle): boolean {
    if (!this.#child.connected) return false
    const id = this.#next++
    this.#underway.set(id, { listener, handle })
    this.#post({ type: 'handle', listener, id }, handle as unknown as SendHandle)
    return true
  }

  kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    return this.#ended.promise
  }

  #listen(): void {
    const { name } = this.#service
    const child = this.#child
    const closed = new Promise((resolve) => child.once('disconnect', resolve))
    child
      .on('message', (message) => this.#receive(message as FromWorker))
      .on('error', (error) => {
        this.#events.failing({ why: 'start', service: name, error: undefined, text: error.message })
        // A process that never was has no exit.
        if (child.pid === undefined) this.#exited(null, null)
      })
      .once('exit', (code, signal) => {
        const overdue = setTimeout(() => this.#exited(code, signal), lastWords)
        void closed.then(() => {
          clearTimeout(overdue)
          this.#exited(code, signal)
        })
      })
    splitLines(child.stdout!, (line) => this.#events.line(line, 'stdout', name))
    splitLines(child.stderr!, (line) => {
      if (line.includes('JavaScript heap out of memory')) this.#events.failing(outOfHeap(name))
      this.#events.line(line, 'stderr', name)
    })
  }

  /**
   * Whatever it says, it lives, and others must see that before they hear that it serves: on its first beat it may have to
   * wait. What has been under way for long says nothing about then, so what counts is when it came.
   */
  #receive(message: FromWorker): void {
    if (message.type === 'beat') this.#note(message.cells, message.instances)
    this.#parts.cells.beat(threadsNow())
    if (message.type === 'taken') this.#took(message.id)
    else if (message.type !== 'beat') this.#events.message(message)
  }

  #took(id: number): void {
    this.#underway.get(id)?.handle.close()
    this.#underway.delete(id)
  }

  #note(row: Uint32Array, instances: Uint32Array | undefined): void {
    const { cells, block } = this.#parts
    cells.set(row)
    if (instances !== undefined) block.set(instances)
    const { memory, name } = this.#service
    if (memory === undefined || cells.vitals.memory <= memory) return
    this.#events.failing(tooLarge(cells.vitals.memory, memory, name))
    void this.kill()
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#child.connected) this.#child.disconnect()
    this.#events.exited(processExited(code, signal, this.#service.name))
    for (const { listener, handle } of this.#underway.values()) this.#events.returned(listener, handle)
    this.#underway.clear()
    this.#ended.resolve()
  }

  /** What cannot be sent any more is answered by the end of the process. */
  #post(message: ToWorker | { type: 'init'; init: ProcessInit }, handle?: SendHandle): void {
    if (this.#child.connected) this.#child.send(message, handle, {}, () => {})
  }
}
