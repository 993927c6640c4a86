import { distance } from 'fastest-levenshtein'
import { BusbarError } from '../errors.ts'

/** Thrown for a call to an instance that has no such method: the caller is told as of any other unknown method. */
export class MethodMissing extends Error {
  readonly names: readonly string[]

  constructor(names: readonly string[]) {
    super('no such method')
    this.names = names
  }
}

export function methodUnknown(service: string, name: string, names: readonly string[]): BusbarError {
  const near = nearestNames(name, names)
  return new BusbarError('METHOD_UNKNOWN', {
    message: `service ${service} has no method ${JSON.stringify(name.slice(0, longest))}${near.length === 0 ? '' : `; the nearest are ${near.join(', ')}`}`,
    service,
    data: { nearest: near },
  })
}

export function serviceUnknown(name: string, names: readonly string[]): BusbarError {
  const near = nearestNames(name, names)
  return new BusbarError('SERVICE_UNKNOWN', {
    message: `there is no service ${JSON.stringify(name)}${near.length === 0 ? '' : `; the nearest are ${near.join(', ')}`}`,
    service: name,
    data: { nearest: near },
  })
}

/** The comparison costs the product of both lengths, and a caller chooses one of them. */
const longest = 128

function nearestNames(name: string, names: readonly string[]): string[] {
  const asked = name.slice(0, longest)
  return names
    .map((candidate) => ({ candidate, far: distance(asked.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((one, other) => one.far - other.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}
