import type { X509Certificate } from 'node:crypto'
import type { ErrorRecord } from '../../../contract/errors.ts'
import type { OneAppUse } from '../../../shared/calls/app-use.ts'
import { RepeatedLines } from '../../../shared/output/repeated-lines.ts'
import { settlesWithin } from '../../../shared/time/settles-within.ts'
import { AnswerSizes } from '../../links/limits/answer-sizes.ts'
import { hostKeepAlive, maxHostCalls } from '../../links/limits/limits.ts'
import { answersArrive, areAnswering, waitWhile } from '../../links/last-answers.ts'
import type { CallHandler, Link } from '../../links/link.ts'
import { createLink } from '../../links/live-link.ts'
import type { PacketTransport } from '../../links/packet-transport.ts'
import type { MeshContext } from '../../mesh-context.ts'
import { answerExported } from './answer-exported.ts'

/** The most links of one worker. */
const maxLinks = 1_000
/** The most links of one other app. It must not use up the limit of all. */
const maxLinksOfApp = maxLinks / 2
/** Milliseconds in which a caller may reach another host at the address of one that stops. */
const movingTime = 250

export interface ExportedLinksParts {
  readonly mesh: MeshContext
  /** Answers calls by the instances of this thread. */
  readonly answer: CallHandler
  /** Calls in flight at this worker's instance of a service. */
  readonly loadOf: (service: string) => number
  /** Counts what the calls of an app take, at all workers that share the counts. */
  readonly useOf: (app: string) => OneAppUse
  readonly log: (level: 'info' | 'warn', line: string) => void
  /** For tests. */
  readonly keepAliveTimeout?: number | undefined
}

/** The peer of a link, once it is known. */
export interface LinkPeer {
  /** The name of the app. Only a certificate proves it. */
  readonly app: string
  /** For messages. */
  readonly label: string
  /** Whether it may call the service. */
  readonly allows: (service: string) => boolean
  /** Undefined if it has shown none. */
  readonly certificate?: X509Certificate | undefined
}

/** The links on which a worker answers calls of other apps. */
export class ExportedLinks {
  readonly #parts: ExportedLinksParts
  readonly #links = new Set<Link>()
  /** By the app that has dialled them. */
  readonly #apps = new Map<string, Set<Link>>()
  readonly #answerSizes = new AnswerSizes()
  readonly #lines: RepeatedLines
  #isStopping = false

  constructor(parts: ExportedLinksParts) {
    this.#parts = parts
    this.#lines = new RepeatedLines((_, line) => parts.log('warn', line))
  }

  get size(): number {
    return this.#links.size
  }

  /** It accepts no more. */
  get isFull(): boolean {
    return this.#isStopping || this.size >= maxLinks
  }

  /** It accepts no more of this app. */
  isFullFor(app: string): boolean {
    return this.isFull || (this.#apps.get(app)?.size ?? 0) >= maxLinksOfApp
  }

  open(transport: PacketTransport, { app, label, allows, certificate }: LinkPeer): void {
    const { mesh, answer, loadOf, useOf, keepAliveTimeout = hostKeepAlive } = this.#parts
    const links = this.#apps.get(app) ?? new Set()
    const calls = answerExported({ mesh, answer, allows, peer: label })
    const options = {
      peer: -1,
      label,
      answer: calls,
      keepAliveTimeout,
      loadOf,
      maxCalls: maxHostCalls,
      use: useOf(app),
      isForeign: true,
      answerSizes: this.#answerSizes,
      onUnread: (line: string) => this.#lines.add('warn', line, app),
    }
    const link = createLink(transport, options)
    this.#links.add(link)
    this.#apps.set(app, links.add(link))
    if (certificate !== undefined) closeAtExpiry(link, certificate, label)
    void link.closed.then(() => {
      this.#links.delete(link)
      if (links.delete(link) && links.size === 0) this.#apps.delete(app)
    })
    if (this.#isStopping) link.askToMove()
  }

  /**
   * Asks the callers for other links, and waits for at most `timeout` milliseconds until they have
   * closed these. If the whole app stops, there may be none here: it waits until they have
   * confirmed that they send no more calls, and until their calls have ended. All calls that arrive
   * meanwhile are answered.
   */
  async drain(timeout: number, appStops: boolean): Promise<void> {
    this.#isStopping = true
    for (const link of this.#links) link.askToMove()
    const deadline = performance.now() + timeout
    const isLinked = (): boolean => this.size > 0
    if (!appStops) return await waitWhile(isLinked, deadline)
    await waitWhile(isLinked, Math.min(deadline, performance.now() + movingTime))
    const confirmed = Promise.all([...this.#links].map((link) => link.leave()))
    await settlesWithin(Math.max(0, deadline - performance.now()), [confirmed])
    await waitWhile(() => areAnswering(this.#links), deadline)
  }

  /**
   * Waits for at most `timeout` milliseconds until the calls in flight are answered, and their
   * callers have read that: over a slow network, answers wait here.
   */
  async finish(timeout: number): Promise<void> {
    await answersArrive(this.#links, timeout)
  }

  /** What callers have not read is lost. */
  close(reason: ErrorRecord): void {
    this.#isStopping = true
    for (const link of this.#links) link.close(reason)
    this.#lines.close()
  }
}

/**
 * Milliseconds between two looks at the clock. A timer does not count while the machine sleeps, and
 * does not see that its clock was set; one for more than 24.8 days would end at once.
 */
const expiryCheck = 60_000

/** A link may live for months, so its peer has to authenticate again. */
export function closeAtExpiry(
  link: Pick<Link, 'close'> & { readonly closed: Promise<unknown> },
  { validTo }: { readonly validTo: string },
  label: string,
): void {
  const until = Date.parse(validTo)
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    const left = until - Date.now()
    if (left > 0) timer = setTimeout(look, Math.min(left, expiryCheck)).unref()
    else link.close({ code: 'LINK_LOST', message: `the certificate of ${label} has expired` })
  }
  look()
  void link.closed.then(() => clearTimeout(timer))
}
