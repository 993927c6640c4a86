import { distance } from 'fastest-levenshtein'
import { BusbarError } from '../errors.ts'

/** Thrown if a plain class's instance has no such method. The caller gets METHOD_UNKNOWN. */
export class MethodNotFound extends Error {
  readonly names: readonly string[]

  constructor(names: readonly string[]) {
    super('no such method')
    this.names = names
  }
}

export function methodUnknown(service: string, name: string, names: readonly string[]): BusbarError {
  const near = nearestNames(name, names)
  return new BusbarError('METHOD_UNKNOWN', {
    message: `service '${service}' has no method ${JSON.stringify(name.slice(0, longest))}${near.length === 0 ? '' : `; the nearest are ${near.join(', ')}`}`,
    service,
    data: { nearest: near },
  })
}

/** `asked`: JavaScript callers may pass anything. */
export function serviceUnknown(asked: unknown, names: readonly string[]): BusbarError {
  const name = String(asked)
  const near = nearestNames(name, names)
  return new BusbarError('SERVICE_UNKNOWN', {
    message: `there is no service ${JSON.stringify(name)}${near.length === 0 ? '' : `; the nearest are ${near.join(', ')}`}`,
    service: name,
    data: { nearest: near },
  })
}

/**
 * Limits the cost of the comparison, which is the product of both lengths: the caller chooses one
 * of them.
 */
const longest = 128

function nearestNames(name: string, names: readonly string[]): string[] {
  const asked = name.slice(0, longest)
  return names
    .map((candidate) => ({ candidate, far: distance(asked.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
