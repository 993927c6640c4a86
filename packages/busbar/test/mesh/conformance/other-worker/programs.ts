import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { RemoteEndpoint } from '../../../../src/mesh/routing/endpoint.ts'
import { createLink } from '../../../../src/mesh/links/live-link.ts'
import type { PacketTransport } from '../../../../src/mesh/links/packet-transport.ts'
import { threadTransport } from '../../../../src/mesh/transports/thread.ts'
import { dialUnix } from '../../../../src/mesh/transports/unix.ts'
import { nobody } from '../../../support/mesh/linked-endpoint.ts'
import { ProgramLog } from '../program-log.ts'
import type { CaseKey, FromHost, ToHost } from './messages.ts'

const host = new URL('host.ts', import.meta.url)

/** A worker of the test, as a thread or a process. */
interface Place {
  say(order: ToHost): void
  hear(listener: (what: FromHost) => void): void
  transport(): Promise<PacketTransport>
  stop(): Promise<unknown>
}

/** The programs of cases, in another worker. */
export class Programs implements AsyncDisposable {
  readonly endpoint: RemoteEndpoint
  readonly #place: Place
  #log: FarLog | undefined
  /** The path of its private socket, if it has one. */
  #path: string | undefined
  #answered: (what: FromHost) => void = () => {}

  private constructor(place: Place, transport: PacketTransport) {
    this.#place = place
    const link = createLink(transport, { peer: 2, answer: nobody })
    const path = (): string | undefined => this.#path
    const instance = {
      at: 'link',
      service: 'callee',
      worker: 2,
      index: 0,
      state: 'serving',
      link,
      typed: false,
    } as const
    this.endpoint = {
      ...instance,
      get path() {
        return path()
      },
    }
    place.hear((what) => {
      if (what.type === 'logged') this.#log!.hear(what.event, what.aside)
      else this.#answered(what)
    })
  }

  static async inThread(): Promise<Programs> {
    const place = threadPlace()
    return new Programs(place, await place.transport())
  }

  static async inProcess(): Promise<Programs> {
    const place = await processPlace()
    return new Programs(place, await place.transport())
  }

  /** The log of the remote program. */
  async serve(key: CaseKey): Promise<ProgramLog> {
    this.#log = new FarLog(
      (event) => this.#place.say({ type: 'add', event }),
      () => this.settled(),
    )
    const answer = await this.#ask({ type: 'serve', key })
    if (answer.type === 'serving') this.#path = answer.path
    return this.#log
  }

  /** All that the program saw, once the case is over. */
  async settled(): Promise<readonly string[]> {
    const answer = await this.#ask({ type: 'settle' })
    return answer.type === 'settled' ? answer.program : []
  }

  async close(): Promise<void> {
    await this.#ask({ type: 'close' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endpoint.link.close({ code: 'LINK_LOST', message: 'the test is over' })
    await this.#place.stop()
  }

  async #ask(order: ToHost): Promise<FromHost> {
    const { promise, resolve } = Promise.withResolvers<FromHost>()
    this.#answered = resolve
    this.#place.say(order)
    return promise
  }
}

/** The caller's entries come back from the other side, which knows the order of all. */
class FarLog extends ProgramLog {
  readonly #tell: (event: string) => void
  readonly #settle: () => Promise<unknown>

  constructor(tell: (event: string) => void, settle: () => Promise<unknown>) {
    super()
    this.#tell = tell
    this.#settle = settle
  }

  override async settled(): Promise<void> {
    await this.#settle()
  }

  override add(event: string): void {
    this.#tell(event)
  }

  hear(event: string, aside: boolean): void {
    if (aside) super.addAside(event)
    else super.add(event)
  }
}

function threadPlace(): Place {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(host, { workerData: { link: port2 }, transferList: [port2] })
  return {
    say: (order) => worker.postMessage(order),
    hear: (listener) => void worker.on('message', listener),
    async transport() {
      await once(worker, 'message')
      return threadTransport(port1)
    },
    stop: () => worker.terminate(),
  }
}

async function processPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-programs-'))
  const path = join(folder, 'link')
  const child = fork(host, [path])
  return {
    say: (order) => void child.send(order),
    hear: (listener) => void child.on('message', listener as (what: unknown) => void),
    async transport() {
      await once(child, 'message')
      return (await dialUnix(path, { worker: 1, secret: 's' })).transport
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
      await rm(folder, { recursive: true })
    },
  }
}
