import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  type ResourceLimits,
  type Transferable,
  Worker,
} from 'node:worker_threads'
import type { Socket } from 'node:net'
import { WorkerCells, threadsNow } from '../../shared/metrics/worker-cells.ts'
import type { ThreadData, ThreadInit, ToWorker } from '../../shared/control-messages.ts'
import { compileCacheVariables } from '../../shared/process/compile-cache.ts'
import { prepareSegment } from '../../shared/state/segment.ts'
import { threadStack } from '../watchdogs/stack/thread-stack.ts'
import { threadExited, threw } from '../workers/worker-exit.ts'
import { OutputWindow } from '../../shared/output/output-window.ts'
import { threadFlags } from '../../shared/process/inherited-flags.ts'
import type { OutputScheduler } from './output/output-scheduler.ts'
import { PipeOutput } from './output/pipe-output.ts'
import { MessageOutput } from './output/message-output.ts'
import { isWorkerMessage } from './worker-message.ts'
import type { TransferResult, WorkerRuntime, RuntimeEvents } from './runtime.ts'
import { moduleFile } from '../../shared/package-files.ts'

export interface ThreadParts {
  readonly init: ThreadInit
  /** Shown by a debugger and by `top -H`. */
  readonly name: string
  /** Of a thread that hosts only this one, and no gateway. */
  readonly service: string | undefined
  readonly entry: URL | undefined
  readonly resourceLimits: ResourceLimits | undefined
  readonly scheduler: OutputScheduler
}

export const workerMain = moduleFile('worker/main')

/**
 * A thread of this process. Orders and reports use a port of their own, because
 * `worker.postMessage` and `parentPort` belong to the programs in the thread.
 */
export class ThreadRuntime implements WorkerRuntime {
  readonly pid = process.pid
  readonly #worker: Worker
  readonly #control: MessagePort
  readonly #output: MessageOutput
  readonly #pipes: readonly PipeOutput[]
  #open = true
  readonly #cells: WorkerCells

  constructor({ init, name, service, entry, resourceLimits, scheduler }: ThreadParts, events: RuntimeEvents) {
    this.#cells = new WorkerCells(init.cells, init.row)
    this.#cells.clear()
    this.#cells.beat(threadsNow())
    prepareSegment()
    const window = new OutputWindow(init.output)
    this.#output = new MessageOutput({
      scheduler,
      message: (message) => events.message(message),
      read: (size) => window.read(size),
    })
    const { port1, port2 } = new MessageChannel()
    const workerData: ThreadData = { init, control: port2 }
    this.#worker = new Worker(entry ?? workerMain, {
      name,
      workerData,
      env: { ...process.env, ...compileCacheVariables() },
      ...(threadFlags && { execArgv: threadFlags }),
      transferList: [port2],
      stdout: true,
      stderr: true,
      ...(resourceLimits !== undefined && { resourceLimits }),
    })
    this.#control = port1
      .on('message', (message) => this.#receive(message))
      .on('close', () => {
        // Only its exit closes a thread's ports. Out of memory, the exit event may follow seconds
        // later.
        if (this.#open) events.ending()
        this.#open = false
      })
    this.#worker
      .on('error', (thrown: unknown) => {
        this.#receiveLast()
        events.failing(threw(thrown, service))
      })
      .on('exit', (code) => {
        this.#receiveLast()
        this.#output.drain()
        for (const pipe of this.#pipes) pipe.drain()
        this.#open = false
        port1.close()
        events.exited(threadExited(code))
      })
    const { stdout, stderr } = this.#worker
    const line: RuntimeEvents['line'] = (output) => events.line(output)
    this.#pipes = [
      new PipeOutput({ stream: stdout, name: 'stdout', scheduler, line }),
      new PipeOutput({ stream: stderr, name: 'stderr', scheduler, line }),
    ]
  }

  get closed(): number {
    return this.#cells.closed
  }

  age(now: number): number {
    return this.#cells.age(now)
  }

  send(order: ToWorker, transfer: readonly Transferable[] = []): void {
    if (this.#open) this.#control.postMessage(order, transfer)
  }

  transfer(listenerId: string, socket: Socket): TransferResult {
    if (!this.#open) return 'lost'
    const order: ToWorker = { type: 'connection', listenerId, connection: socket }
    try {
      // @types/node does not know yet that sockets are transferable.
      this.#control.postMessage(order, [socket as unknown as Transferable])
      return 'taken'
    } catch {
      return 'lost'
    }
  }

  stack(): Promise<readonly string[] | undefined> {
    return threadStack(this.#worker.threadId)
  }

  kill(): Promise<unknown> {
    return this.#worker.terminate()
  }

  #receive(message: unknown): void {
    if (isWorkerMessage(message)) this.#output.message(message)
  }

  /** Messages from before the exit may arrive after the exit event. */
  #receiveLast(): void {
    for (let last = receiveMessageOnPort(this.#control); last !== undefined; last = receiveMessageOnPort(this.#control))
      this.#receive(last.message)
  }
}
