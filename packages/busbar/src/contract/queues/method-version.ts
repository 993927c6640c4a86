import type { Contract } from '../contract.ts'
import { contractOf } from '../method-contract.ts'
import { isPlainContract } from '../plain-contract.ts'

/** A method as one of the versions of its service has it. */
export interface MethodVersion {
  readonly method: string
  /** As `contractOf` describes it. Undefined: it fits any. */
  readonly contract: string | undefined
}

/**
 * What an instance has of a version of a method: the same, another version of the method, or no
 * such method.
 */
export type Fit = 'same' | 'other' | 'none'

/** In place of a contract that fits any. No contract is described by this. */
const anyContract = '*'
const fromBest = ['same', 'other', 'none'] as const

export function versionText({ method, contract = anyContract }: MethodVersion): string {
  return `${method} ${contract}`
}

/** The methods that can be enqueued, as texts. Undefined for a contract that lists no methods. */
export function queuedVersions(contract: Pick<Contract, 'methods'>): string[] | undefined {
  if (isPlainContract(contract)) return undefined
  const queued = Object.entries(contract.methods).filter(([, { queued: isQueued }]) => isQueued === true)
  return queued.map(([method, spec]) => versionText({ method, contract: contractOf(spec) }))
}

/** `queued`: the methods of an instance. Undefined if it does not say which it has. */
export function fitOf(queued: readonly string[] | undefined, { method, contract }: MethodVersion): Fit {
  const own = queued?.find((text) => text.startsWith(`${method} `))
  if (own === undefined) return queued === undefined ? 'same' : 'none'
  const isSame =
    contract === undefined ||
    own === versionText({ method, contract }) ||
    own === versionText({ method, contract: undefined })
  return isSame ? 'same' : 'other'
}

/** `none` if there are none. */
export function bestFit(fits: readonly Fit[]): Fit {
  return fromBest.find((one) => fits.includes(one)) ?? 'none'
}
