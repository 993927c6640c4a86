import type { Link } from '../../../packages/busbar/src/mesh/links/link.ts'
import { silentAfter } from '../../../packages/busbar/src/mesh/links/keep-alive.ts'
import { hostKeepAlive } from '../../../packages/busbar/src/mesh/links/limits/limits.ts'
import { noLoads } from '../../../packages/busbar/src/mesh/routing/balance/loads.ts'
import { ServiceInstances } from '../../../packages/busbar/src/mesh/routing/balance/service-instances.ts'
import type { EndpointState, RemoteEndpoint } from '../../../packages/busbar/src/mesh/routing/endpoint.ts'
import type { SeededRandom } from '../../../packages/busbar/test/support/seeded-random.ts'
import type { SimulatedClock } from './clock.ts'
import { meanWork, type SimulatedHost } from './host.ts'

const service = 'stock'

/** How callers choose a host. `load`: Busbar's own choice. */
export type Choice = 'load' | 'random' | 'turns'

/** Reports how a call has ended. `began`: when. `isRepeated`: its first host was lost. */
export type CallOver = (began: number, isRepeated: boolean) => void

export interface CallerParts {
  readonly clock: SimulatedClock
  readonly random: SeededRandom
  readonly choice: Choice
  /** Milliseconds of a packet's way to a host. */
  readonly wayTo: (host: SimulatedHost) => number
  readonly begun: () => void
  /** A call is sent to a host that is cut off. */
  readonly lost: (began: number) => void
  readonly over: CallOver
}

/** A host that calls the others. All of its calls may be repeated. */
export class SimulatedCaller {
  readonly #parts: CallerParts
  readonly #instances: ServiceInstances
  #views: HostView[]
  #turn = 0

  constructor(hosts: readonly SimulatedHost[], parts: CallerParts) {
    const { clock } = parts
    this.#parts = parts
    const loads = {
      ...noLoads,
      get ownBeat() {
        return Math.floor(clock.now / 100)
      },
    }
    this.#instances = new ServiceInstances(service, loads)
    this.#views = hosts.map((host, index) => new HostView(host, index, clock))
    for (const view of this.#views) this.#instances.add(view)
  }

  call(): void {
    const { clock, random, begun } = this.#parts
    begun()
    this.#send({ began: clock.now, work: random.exponential(meanWork), isRepeated: false })
  }

  /** Its link to a host that is silent ends: calls that wait for it are sent again. */
  lose(host: SimulatedHost): void {
    const view = this.#views.find((one) => one.target === host)!
    this.#views = this.#views.filter((one) => one !== view)
    view.state = 'stopped'
    this.#instances.remove(view)
    for (const call of view.waiting) this.#send({ ...call, isRepeated: true })
  }

  #send(call: Call): void {
    const { clock, wayTo, lost, over } = this.#parts
    const view = this.#choose()
    const way = wayTo(view.target)
    if (view.target.isCutOff) lost(call.began)
    view.sent(call)
    clock.after(way, () =>
      view.target.answer(call.work, () => {
        const load = view.target.inFlight
        clock.after(way, () => {
          view.answered(call, load)
          over(call.began, call.isRepeated)
        })
      }),
    )
  }

  #choose(): HostView {
    const { choice, random } = this.#parts
    if (choice === 'load') return this.#instances.find(undefined) as HostView
    return choice === 'random' ? random.of(this.#views) : this.#views[this.#turn++ % this.#views.length]!
  }
}

interface Call {
  readonly began: number
  /** Milliseconds. */
  readonly work: number
  readonly isRepeated: boolean
}

/** A host as one caller knows it: by what it has sent, and by the reports beside the answers. */
class HostView implements RemoteEndpoint {
  readonly at = 'link'
  readonly service = service
  readonly worker = -1
  readonly typed = true
  readonly index: number
  readonly target: SimulatedHost
  readonly link: Link
  readonly waiting = new Set<Call>()
  state: EndpointState = 'serving'
  #reported = 0
  /** The last packet, or since when there is a call to answer. */
  #heard = 0
  readonly #clock: SimulatedClock

  constructor(target: SimulatedHost, index: number, clock: SimulatedClock) {
    this.target = target
    this.index = index
    this.#clock = clock
    this.link = linkOf(this)
  }

  get host(): string {
    return this.target.name
  }

  get load(): number {
    return Math.max(this.#reported, this.waiting.size)
  }

  get isSilent(): boolean {
    return this.waiting.size > 0 && this.#clock.now - this.#heard > silentAfter(hostKeepAlive)
  }

  sent(call: Call): void {
    if (this.waiting.size === 0) this.#heard = this.#clock.now
    this.waiting.add(call)
  }

  answered(call: Call, load: number): void {
    this.waiting.delete(call)
    this.#reported = load
    this.#heard = this.#clock.now
  }
}

/** What the choice of an instance asks a link. */
function linkOf(view: HostView): Link {
  const asked: Pick<Link, 'state' | 'inFlight' | 'isSilent'> = {
    get state() {
      return view.state === 'serving' ? ('open' as const) : ('closed' as const)
    },
    get inFlight() {
      return view.waiting.size
    },
    get isSilent() {
      return view.isSilent
    },
  }
  return asked as Link
}
