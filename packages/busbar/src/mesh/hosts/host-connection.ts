import { BusbarError, type ErrorRecord } from '../../contract/errors.ts'
import type { HostReport } from '../../shared/hosts.ts'
import { backoff } from '../../shared/time/backoff.ts'
import { hostKeepAlive, maxHostCalls } from '../links/limits/limits.ts'
import type { CallHandler } from '../links/link.ts'
import { createLink } from '../links/live-link.ts'
import type { HandshakeResult } from '../transports/socket.ts'
import { ActivityTransport } from './activity-transport.ts'
import type { HostHello } from './host-hello.ts'
import { ObservedLink } from './observed-link.ts'
import { OutlierDetector } from './outlier-detector.ts'

export interface HostConnectionParts {
  /** Human-readable: an address, or a member of the cluster. */
  readonly name: string
  readonly dial: (signal: AbortSignal) => Promise<HandshakeResult<HostHello>>
  /** What this app calls there. */
  readonly services: readonly string[]
  /** Whether calls of the service go to a host of this version. */
  readonly takesVersion: (service: string, version: string) => boolean
  /** Default: {@link hostKeepAlive}. */
  readonly keepAliveTimeout?: number | undefined
  /** Calls go over this link from now on, instead of a previous one. */
  readonly opened: (link: ObservedLink, hello: HostHello) => Promise<void>
  /** Calls cannot go there until the next {@link opened}. */
  readonly withdrawn: () => void
  readonly mayEject: () => boolean
  readonly ejected: (isEjected: boolean) => void
  readonly log: (level: 'info' | 'warn', line: string) => void
}

/** `open`: the host may have asked for another link, which is then being dialled. */
type State =
  | { readonly is: 'dialling' | 'waiting' | 'closed' }
  | { readonly is: 'open'; readonly link: ObservedLink; readonly hello: HostHello; readonly heard: ActivityTransport }

/** Milliseconds between two checks of a link that closes when its calls have ended. */
const idleCheck = 100

/**
 * Keeps one link to one address of another app: dials again when it is lost, or when the host asks
 * for another one because it stops or is replaced. Until then calls continue on the previous link.
 */
export class HostConnection {
  readonly name: string
  readonly #parts: HostConnectionParts
  readonly #detector: OutlierDetector
  readonly #firstTry = Promise.withResolvers<void>()
  #state: State = { is: 'dialling' }
  /** The dial that is under way. */
  #dialling: AbortController | undefined
  /** Until the next dial. */
  #timer: NodeJS.Timeout | undefined
  /** Every link that is not closed, previous ones included. */
  readonly #links = new Set<ObservedLink>()
  /** Dials that have failed in a row. */
  #failures = 0
  #reason = 'is being dialled'
  /** The last link whose instances the router knows: a moment after it was opened. */
  #called: ObservedLink | undefined
  #lastSeen: Pick<HostReport, 'app' | 'version' | 'lastReceivedAt'> = {
    app: undefined,
    version: undefined,
    lastReceivedAt: undefined,
  }

  constructor(parts: HostConnectionParts) {
    const { name, mayEject, ejected, log } = parts
    this.#parts = parts
    this.name = name
    this.#detector = new OutlierDetector({
      mayEject,
      changed: (isEjected) => {
        log('warn', isEjected ? `${this.name} gets no calls for a while: they fail` : `${this.name} gets calls again`)
        ejected(isEjected)
      },
    })
    this.#dial()
  }

  /** Resolves when the host was dialled once, with or without success. */
  get tried(): Promise<void> {
    return this.#firstTry.promise
  }

  get isEjected(): boolean {
    return this.#detector.isEjected
  }

  /** Why calls do not go there. Undefined: they do. */
  get fault(): string | undefined {
    if (this.#state.is !== 'open') return `${this.name} ${this.#reason}`
    const { state } = this.#state.link
    if (state === 'closed') return `${this.name} has just lost its link`
    if (state === 'draining') return `${this.name} is stopping and accepts no new calls`
    if (this.#called?.state !== 'open') return `${this.name} is being linked`
    return this.isEjected
      ? `${this.name} gets no calls while another host can take them, because they failed`
      : undefined
  }

  /** True if its link is open, and calls of the service may go there. */
  offers(service: string): boolean {
    const state = this.#state
    if (state.is !== 'open' || state.link.state !== 'open') return false
    const { services, version } = state.hello
    return services.some(({ name }) => name === service) && this.#parts.takesVersion(service, version)
  }

  get report(): HostReport {
    const state = this.#state
    const { services: calls, takesVersion } = this.#parts
    const common = { name: this.name, why: this.fault, calls }
    if (state.is !== 'open') return { ...common, ...this.#lastSeen, state: 'unlinked', services: [], withheld: [] }
    const { link, hello, heard } = state
    const offered = hello.services.map(({ name }) => name).filter((name) => calls.includes(name))
    const called = offered.filter((name) => takesVersion(name, hello.version))
    const withheld = calls
      .filter((name) => !called.includes(name))
      .map((name) => ({ name, why: this.#whyWithheld(name, offered.includes(name), hello.version) }))
    this.#lastSeen = { app: hello.app, version: hello.version, lastReceivedAt: heard.lastReceivedAt }
    const services = called.map((name) => ({ name, load: link.loadOf(name), inFlight: link.running(name) }))
    return { ...common, ...this.#lastSeen, state: this.isEjected ? 'ejected' : 'linked', services, withheld }
  }

  #whyWithheld(service: string, isOffered: boolean, version: string): string {
    if (!isOffered) return `${this.name} does not export service '${service}' to this app`
    const own = version === '' ? 'no version' : `version ${version}`
    return `${this.name} has ${own}, which the \`versions\` of '${service}' give no calls`
  }

  /** Stops dialling. Links close when their calls have ended. */
  retire(): void {
    this.#stop()
    this.#parts.withdrawn()
    for (const link of this.#links) void this.#closeWhenIdle(link)
  }

  /** Fails the calls in flight with `reason`. */
  close(reason: ErrorRecord): void {
    this.#stop()
    this.#reason = `has no link: ${reason.message}`
    for (const link of this.#links) link.close(reason)
  }

  #stop(): void {
    this.#state = { is: 'closed' }
    this.#dialling?.abort()
    clearTimeout(this.#timer)
    this.#detector.close()
    this.#firstTry.resolve()
  }

  #dial(): void {
    const dialling = new AbortController()
    this.#dialling = dialling
    if (this.#state.is === 'waiting') this.#state = { is: 'dialling' }
    this.#parts.dial(dialling.signal).then(
      async ({ transport, peer }) => {
        if (this.#state.is === 'closed') transport.close()
        else await this.#opened({ transport, peer })
      },
      (error: unknown) => this.#failed(BusbarError.from(error).message),
    )
  }

  async #opened({ transport, peer: hello }: HandshakeResult<HostHello>): Promise<void> {
    const { keepAliveTimeout = hostKeepAlive, log, opened } = this.#parts
    const label = `app ${hello.app} at ${this.name}`
    const onMove = (): void => this.#move(link)
    const answer = refuseCall
    const heard = new ActivityTransport(transport)
    const options = { peer: -1, label, answer, keepAliveTimeout, onMove, maxCalls: maxHostCalls, isForeign: true }
    const live = createLink(heard, options)
    const link: ObservedLink = new ObservedLink(live, this.#detector)
    const previous = this.#state
    this.#links.add(link)
    this.#dialling = undefined
    this.#state = { is: 'open', link, hello, heard }
    if (this.#failures > 0) log('info', `${this.name} is linked again`)
    this.#failures = 0
    void link.closed.then(({ message }) => this.#closed(link, message))
    await opened(link, hello)
    this.#called = link
    if (previous.is === 'open') void this.#closeWhenIdle(previous.link)
    this.#firstTry.resolve()
  }

  /** The next link leads to another worker of the host, or to its next version. */
  #move(link: ObservedLink): void {
    if (this.#state.is === 'open' && this.#state.link === link && this.#dialling === undefined) this.#dial()
  }

  #closed(link: ObservedLink, message: string): void {
    this.#links.delete(link)
    if (this.#state.is !== 'open' || this.#state.link !== link) return
    this.#parts.withdrawn()
    this.#state = { is: 'waiting' }
    this.#reason = `has no link: ${message}`
    // The dial that a move has begun goes on.
    if (this.#dialling === undefined && this.#timer === undefined) this.#failed(message)
  }

  #failed(message: string): void {
    this.#dialling = undefined
    if (this.#state.is === 'closed') return
    this.#reason = `has no link: ${message}`
    if (this.#state.is !== 'open') this.#state = { is: 'waiting' }
    if (this.#failures === 0) this.#parts.log('warn', `${this.name} ${this.#reason}; it is dialled until it answers`)
    const again = (): void => {
      this.#timer = undefined
      this.#dial()
    }
    this.#timer = setTimeout(again, backoff(this.#failures++)).unref()
    this.#firstTry.resolve()
  }

  async #closeWhenIdle(link: ObservedLink): Promise<void> {
    while (link.state !== 'closed' && link.inFlight > 0)
      await new Promise((resolve) => setTimeout(resolve, idleCheck).unref())
    link.close({ code: 'SERVICE_UNAVAILABLE', message: `${this.name} has another link` })
  }
}

/** The other app answers calls on this link, and makes none. */
const refuseCall: CallHandler = (_head, _payload, _isWhole, channel) => {
  channel.fail({ code: 'FORBIDDEN', message: 'this app answers no calls on a link that it has dialled' }, true)
  return {}
}
