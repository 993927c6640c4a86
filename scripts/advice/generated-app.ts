/** An app from a seed: services, who calls whom, and the processor time and bytes of each call. */
import { SeededRandom } from '../../packages/busbar/test/support/seeded-random.ts'

export interface GeneratedApp {
  readonly seed: number
  readonly services: readonly GeneratedService[]
}

export interface GeneratedService {
  readonly name: string
  /** Milliseconds of processor time of each call. */
  readonly cpu: number
  /** Bytes of its answer. */
  readonly bytes: number
  /** Names, once for each call. */
  readonly calls: readonly string[]
  /** Whether it makes them at the same time. */
  readonly parallel: boolean
}

const names = ['web', 'cart', 'stock'] as const
const cpu = [0.02, 0.1, 0.5, 2]
const bytes = [64, 1024, 16_384]

/** Three services: their placements are few enough to measure all of them. */
export function generateApp(seed: number): GeneratedApp {
  const random = new SeededRandom(seed)
  const services = names.map((name, at) => {
    // A service calls later ones only, so that no call leads in a circle.
    const later = names.slice(at + 1)
    const calls = later.flatMap((callee) => Array.from({ length: random.below(4) }, () => callee))
    // The entry calls something.
    const made = at === 0 && calls.length === 0 ? [later[0]!] : calls
    return { name, cpu: random.of(cpu), bytes: random.of(bytes), calls: made, parallel: random.next() < 0.5 }
  })
  return { seed, services }
}

/** The code of a service: an HTTP program. */
export function programOf({ cpu: time, bytes: size, calls, parallel }: GeneratedService): string {
  return `
const { createServer } = require('node:http')
const answer = 'x'.repeat(${size})
const calls = ${JSON.stringify(calls)}
const call = async (name) => (await fetch('http://' + name + '.internal/')).text()
createServer(async (_, response) => {
  for (const end = performance.now() + ${time}; performance.now() < end; );
  if (${parallel}) await Promise.all(calls.map(call))
  else for (const name of calls) await call(name)
  response.end(answer)
}).listen(3000)
`
}

/** Where each service runs. */
export type Placement = Readonly<Record<string, 'shared' | 'thread' | 'process'>>

/** Nobody shares, or each set of two or more. One alone in the shared worker shares with nobody. */
export function placementsOf({ services }: GeneratedApp): readonly Placement[] {
  const all = services.map(({ name }) => name)
  const sets = Array.from({ length: 2 ** all.length }, (_, bits) => all.filter((__, at) => (bits >> at) & 1))
  return sets
    .filter(({ length }) => length !== 1)
    .map((shared) => Object.fromEntries(all.map((name) => [name, shared.includes(name) ? 'shared' : 'thread'])))
}

/** The same for placements at which the same services share. */
export function titleOf(placement: Placement): string {
  const at = (run: string): string[] => Object.keys(placement).filter((name) => placement[name] === run)
  const [shared, processes] = [at('shared'), at('process')]
  const together = shared.length > 1 ? shared.join('+') : 'apart'
  return processes.length === 0 ? together : `${together}, process ${processes.join(', ')}`
}
