import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import type { CallHandler } from '../../../src/mesh/links/link.ts'
import { Peers } from '../../../src/mesh/peers.ts'
import { Router } from '../../../src/mesh/routing/router.ts'
import { newBegunCalls } from '../../../src/shared/calls/begun-calls.ts'
import type { LinkSetup } from '../../../src/shared/control-messages.ts'
import { type Callee, echo } from './links.ts'

export const shop = { name: 'shop', typed: true, index: 0 } as const
export const over = { code: 'SERVICE_UNAVAILABLE', message: 'the test is over' } as const

/** The part of a worker that has links to its peers. */
export class Worker {
  readonly router = new Router(['shop', 'pages'])
  readonly peers: Peers
  /** The numbers of its lost links. */
  readonly lost: number[] = []
  /** The peers that it has drained. */
  readonly left: number[] = []

  constructor(worker: number, answer: CallHandler = echo, listenAt?: string, secret = 's') {
    this.peers = new Peers({
      worker,
      secret,
      router: this.router,
      answer,
      listenAt,
      onLinkLost: ({ link }) => this.lost.push(link),
      onDrained: (peer) => this.left.push(peer),
    })
  }

  /** The link to the shop. */
  get shop() {
    const endpoint = this.router.find('shop')
    return endpoint?.at === 'link' ? endpoint.link : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peers.close(over)
  }
}

export function spec(worker: number, setup: LinkSetup, services: readonly (typeof shop)[] = []) {
  return { worker, label: `${worker}`, services, row: undefined, link: 1, setup }
}

/** A worker with a link to the callee in another thread. Cutting it ends the link unexpectedly. */
export function calling(callee: Callee) {
  const workers = new AsyncDisposableStack()
  const one = workers.use(new Worker(1))
  const other = workers.use(new Worker(2, callee.answer))
  const ends = threadLink()
  one.peers.join(spec(2, ends.one, [shop]))
  other.peers.join(spec(1, ends.other))
  return { one, cut: () => ends.other.port.close(), [Symbol.asyncDispose]: () => workers.disposeAsync() }
}

/** The setups of the two ends of a link between threads. */
export function threadLink(): Record<'one' | 'other', Extract<LinkSetup, { kind: 'thread' }>> {
  const { port1, port2 } = new MessageChannel()
  const [begun1, begun2] = newBegunCalls()
  return { one: { kind: 'thread', port: port1, begun: begun1 }, other: { kind: 'thread', port: port2, begun: begun2 } }
}

export async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'busbar-peers-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

export async function turns(): Promise<string> {
  for (let at = 0; at < 20; at++) await new Promise((resolve) => setImmediate(resolve))
  return 'not yet'
}
