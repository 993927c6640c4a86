/** The five services of `fanout`: a caller, and four that it calls. */
import { armProgram } from '../arm.ts'

/** Answers after a call of each service. */
export const path = '/ipc'
export const leaves: readonly number[] = [0, 1, 2, 3]
export const names: readonly string[] = leaves.map((index) => `leaf${index}`)
export const entry: string = armProgram('fanout/entry.ts')
export const leaf: string = armProgram('fanout/leaf.ts')

/** Services of a Busbar app, by name. */
export type Services = Readonly<Record<string, object>>

/** The four that are called, as unmodified programs. */
export const programs: Services = named((index) => ({ path: leaf, env: { LEAF: String(index) } }))

export const typedServices: Services = named(() => ({ path: armProgram('fanout/typed/leaf') }))

export const typedEntry = {
  path: armProgram('fanout/typed/entry.ts'),
  env: { SERVICES: JSON.stringify(names) },
  needs: names,
} as const

/** The addresses of the four programs, for the client of the caller. */
export function origins(domain: string): string {
  return JSON.stringify(names.map((name) => `http://${name}.${domain}`))
}

export function named(service: (index: number) => object): Services {
  return Object.fromEntries(leaves.map((index) => [names[index]!, service(index)]))
}
