import type { NatsMessage } from '../../shared/cluster/connection.ts'
import type { ClusterSubjects } from '../../shared/cluster/subjects.ts'
import type { KeptSubscription, Subscriptions } from '../../shared/cluster/subscriptions.ts'
import type { ExportedLinks } from '../hosts/export/exported-links.ts'
import { type ExportedService, exporterGreeting } from '../hosts/host-hello.ts'
import { encodeDial, readDial } from './dial-message.ts'
import type { NatsLinkEnd, LinkEnds } from './link-ends.ts'

export interface LinkAcceptorParts {
  readonly links: ExportedLinks
  /** The name of this app. */
  readonly app: string
  /** Of the app. '' if it has none. */
  readonly version: string
  /** The id of its host. */
  readonly host: string
  /** What others may call. */
  readonly services: readonly ExportedService[]
  readonly subjects: ClusterSubjects
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** Accepts links of other apps over NATS. Each worker of a host takes a part of them. */
export class LinkAcceptor {
  readonly #parts: LinkAcceptorParts
  #subscriptions: Subscriptions | undefined
  #ends: LinkEnds | undefined
  #subscription: KeptSubscription | undefined
  #accepts = false
  #lastLogged = -Infinity

  constructor(parts: LinkAcceptorParts) {
    this.#parts = parts
  }

  /** The worker serves from now on. */
  accept(): void {
    this.#accepts = true
    this.#subscribe()
  }

  opened(subscriptions: Subscriptions, ends: LinkEnds): void {
    this.#subscriptions = subscriptions
    this.#ends = ends
    this.#subscribe()
  }

  lost(): void {
    this.#subscriptions = undefined
    this.#subscription = undefined
  }

  /** Others dial another worker from now on. */
  stop(): void {
    this.#accepts = false
    this.#subscription?.unsubscribe()
    this.#subscription = undefined
  }

  #subscribe(): void {
    const { subjects, host } = this.#parts
    if (!this.#accepts || this.#subscriptions === undefined || this.#subscription !== undefined) return
    const without = 'other apps of the cluster cannot call services of this one'
    const callback = (message: NatsMessage): void => this.#dialled(message)
    this.#subscription = this.#subscriptions.subscribe(subjects.dial(host), { queue: 'workers', without, callback })
  }

  #dialled(message: NatsMessage): void {
    const { links, app, version, services } = this.#parts
    const ends = this.#ends!
    const greeting = exporterGreeting({ app, version, services })
    const refuse = (): boolean =>
      message.respond(encodeDial({ hello: greeting.refusal.text, end: '', maxMessage: ends.maxMessage }))
    let end: NatsLinkEnd | undefined
    try {
      const dial = readDial(message.string())
      const peer = greeting.read({ text: dial.hello, bytes: [] })
      if (links.isFullFor(peer) || dial.end === '') {
        refuse()
        if (!links.isFull) this.#refused(`has too many links already, or names no end: ${peer}`)
        return
      }
      end = ends.create()
      end.connect(dial.end, dial.maxMessage)
      // The answer precedes the link's first message, because it tells the caller the address of
      // this end.
      message.respond(encodeDial({ hello: greeting.own.text, end: end.address, maxMessage: ends.maxMessage }))
      const allows = (service: string): boolean => services.some(({ name }) => name === service)
      links.open(end.transport, { app: peer, label: `app ${peer} in the cluster`, allows })
    } catch (error) {
      end?.transport.close()
      refuse()
      this.#refused((error as Error).message)
    }
  }

  /** At most once a second: anybody in the cluster can dial. */
  #refused(why: string): void {
    const now = performance.now()
    if (now - this.#lastLogged < 1_000) return
    this.#lastLogged = now
    this.#parts.log('warn', `the cluster refused a link of an app that ${why}`)
  }
}
