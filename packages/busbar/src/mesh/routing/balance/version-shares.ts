/** How calls are divided among the versions of a service that hosts of other apps have. */

/** The part of the calls that instances of one version get together. */
export interface VersionShare {
  /** As the config names it. */
  readonly version: string
  readonly weight: number
}

interface Shared {
  readonly share?: VersionShare | undefined
}

/**
 * The instances of one version, chosen by the weights of those that are there. `at`: from 0, below
 * 1; the same number chooses the same version. All, if the config has no versions.
 */
export function chooseVersion<T extends object>(instances: readonly T[], at: number): readonly T[] {
  const shareOf = (instance: T): VersionShare | undefined => (instance as Shared).share
  if (instances.length < 2 || shareOf(instances[0]!) === undefined) return instances
  const weights = new Map<string, number>()
  for (const instance of instances) {
    const { version, weight } = shareOf(instance) ?? { version: '', weight: 0 }
    weights.set(version, weight)
  }
  // Every caller has the same order, so that all agree about a key.
  const order = [...weights].toSorted(([one], [other]) => (one < other ? -1 : 1))
  let rest = at * order.reduce((sum, [, weight]) => sum + weight, 0)
  const chosen = order.find(([, weight]) => (rest -= weight) < 0)?.[0]
  return instances.filter((instance) => shareOf(instance)?.version === chosen)
}

/**
 * `versions`: weights by version, which holds for all versions that begin with it: `1` for 1.4.2,
 * `*` for all others. Undefined: hosts of this version get no calls.
 */
export function shareOf(versions: Readonly<Record<string, number>>, version: string): VersionShare | undefined {
  const [key] = Object.keys(versions)
    .filter((one) => one === '*' || version === one || version.startsWith(`${one}.`))
    .toSorted((one, other) => other.length - one.length || (one === '*' ? 1 : -1))
  const weight = key === undefined ? 0 : versions[key]!
  return weight > 0 ? { version: key!, weight } : undefined
}
