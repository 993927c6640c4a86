import { sep } from 'node:path'
import type { Service } from '../../../config/app.ts'
import type { SlotSpec } from '../../plan.ts'

/** The service of the worker to which the innermost frame of a stack belongs, by its folder. */
export function serviceInStack(
  stack: readonly string[],
  services: readonly Service[],
  { hosts }: Pick<SlotSpec, 'hosts'>,
): string | undefined {
  const hosted = services.filter(({ name }) => hosts.some((host) => host.name === name))
  if (hosted.length === 1) return hosted[0]!.name
  for (const line of stack) {
    const owners = hosted.filter(({ path }) => line.includes(path + sep))
    // A folder inside of another service's folder is the closer one.
    const [owner] = owners.toSorted((one, other) => other.path.length - one.path.length)
    if (owner !== undefined) return owner.name
  }
  return undefined
}
