/**
 * What happens to the calls between many hosts. All times are simulated, so that a run depends on
 * its seed only.
 */
import { silentAfter } from '../../../packages/busbar/src/mesh/links/keep-alive.ts'
import { hostKeepAlive } from '../../../packages/busbar/src/mesh/links/limits/limits.ts'
import { SeededRandom } from '../../../packages/busbar/test/support/seeded-random.ts'
import { type Choice, SimulatedCaller } from './caller.ts'
import { SimulatedClock } from './clock.ts'
import { capacity, SimulatedHost } from './host.ts'

export interface Setup {
  readonly hosts: number
  readonly choice: Choice
  readonly seed: number
}

/** The calls that began in one part of a run. Milliseconds. */
export interface Part {
  readonly calls: number
  readonly median: number
  readonly p99: number
  /** The share that was sent to a host that did not answer. */
  readonly lost: number
  /** The share that has waited until its link ended. */
  readonly repeated: number
}

const zones = 3
/** Milliseconds of a packet within a zone, and between two. */
const ways = { near: 0.25, far: 0.75 }
/** Of the capacity of all hosts. */
const load = 0.5
const second = 1000

/** `pace`: how many times as long one of the hosts takes. */
export function slowHost(setup: Setup, pace: number): Part {
  const run = new Run(setup)
  run.hosts[0]!.pace = pace
  const all = run.part(2 * second, 12 * second)
  run.until(14 * second)
  return all()
}

/** The parts of a run in which one of three zones is cut off after 4 s. */
export interface LostZone {
  readonly before: Part
  /** Until callers know it, and then until their links end. */
  readonly 'until it is known': Part
  readonly 'until the links end': Part
  readonly after: Part
}

export function lostZone(setup: Setup): LostZone {
  const run = new Run(setup)
  const cut = 4 * second
  const ended = cut + hostKeepAlive
  const before = run.part(second, cut)
  const known = cut + silentAfter(hostKeepAlive)
  const first = run.part(cut, known)
  const rest = run.part(known, ended)
  const after = run.part(ended + second, ended + 5 * second)
  run.at(cut, () => run.cutOff(0))
  run.at(ended, () => run.loseZone(0))
  run.until(ended + 8 * second)
  return { before: before(), 'until it is known': first(), 'until the links end': rest(), after: after() }
}

class Run {
  readonly hosts: readonly SimulatedHost[]
  readonly #callers = new Map<SimulatedHost, SimulatedCaller>()
  readonly #clock = new SimulatedClock()
  readonly #random: SeededRandom
  readonly #parts: RunPart[] = []
  /** Milliseconds between two calls of one host. */
  #pause = 1 / (capacity * load)

  constructor({ hosts, choice, seed }: Setup) {
    const random = new SeededRandom(seed)
    const clock = this.#clock
    this.#random = random
    this.hosts = Array.from({ length: hosts }, (_, number) => new SimulatedHost(clock, number, number % zones))
    for (const own of this.hosts) {
      const caller = new SimulatedCaller(
        this.hosts.filter((one) => one !== own),
        {
          clock,
          random,
          choice,
          wayTo: ({ zone }) => (zone === own.zone ? ways.near : ways.far),
          begun: () => this.#partOf(clock.now)?.begin(clock.now),
          lost: (began) => this.#partOf(began)?.addLost(),
          over: (began, isRepeated) => this.#partOf(began)?.end(began, clock.now, isRepeated),
        },
      )
      this.#callers.set(own, caller)
      this.#callFrom(own, caller)
    }
  }

  /** Collects the calls that begin between these times. */
  part(from: number, to: number): () => Part {
    const part = new RunPart(from, to)
    this.#parts.push(part)
    return () => part.summaryAt(this.#clock.now)
  }

  at(time: number, run: () => void): void {
    this.#clock.after(time - this.#clock.now, run)
  }

  until(time: number): void {
    // The choice of an instance draws from it.
    const real = Math.random
    Math.random = () => this.#random.next()
    try {
      this.#clock.runUntil(time)
    } finally {
      Math.random = real
    }
  }

  /** Its users are sent to the other zones. */
  cutOff(zone: number): void {
    for (const host of this.hosts) if (host.zone === zone) host.isCutOff = true
    this.#pause *= (zones - 1) / zones
  }

  /** The other hosts notice it. */
  loseZone(zone: number): void {
    const lost = this.hosts.filter((host) => host.zone === zone)
    for (const [own, caller] of this.#callers) if (!own.isCutOff) for (const host of lost) caller.lose(host)
  }

  #callFrom(own: SimulatedHost, caller: SimulatedCaller): void {
    this.#clock.after(this.#random.exponential(this.#pause), () => {
      if (own.isCutOff) return
      caller.call()
      this.#callFrom(own, caller)
    })
  }

  #partOf(time: number): RunPart | undefined {
    return this.#parts.find(({ from, to }) => time >= from && time < to)
  }
}

class RunPart {
  readonly from: number
  readonly to: number
  readonly #times: number[] = []
  /** When the calls began that are not over, each as often as it occurs. */
  readonly #open = new Map<number, number>()
  #lost = 0
  #repeated = 0

  constructor(from: number, to: number) {
    this.from = from
    this.to = to
  }

  begin(began: number): void {
    this.#open.set(began, (this.#open.get(began) ?? 0) + 1)
  }

  end(began: number, now: number, isRepeated: boolean): void {
    const same = this.#open.get(began)! - 1
    if (same === 0) this.#open.delete(began)
    else this.#open.set(began, same)
    this.#times.push(now - began)
    if (isRepeated) this.#repeated++
  }

  addLost(): void {
    this.#lost++
  }

  /** A call that is not over has taken at least the time until now. */
  summaryAt(now: number): Part {
    const open = [...this.#open].flatMap(([began, count]) => Array.from({ length: count }, () => now - began))
    const times = Float64Array.from([...this.#times, ...open]).sort()
    const quantile = (share: number): number => times[Math.floor(times.length * share)] ?? NaN
    const share = (count: number): number => count / times.length
    const [median, p99] = [0.5, 0.99].map(quantile) as [number, number]
    return { calls: times.length, median, p99, lost: share(this.#lost), repeated: share(this.#repeated) }
  }
}
