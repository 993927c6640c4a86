import type { Contract } from '../contract.ts'
import { contractOf } from '../method-contract.ts'

/** A method as one of the versions of its service has it. */
export interface MethodVersion {
  readonly method: string
  /** As `contractOf` describes it. */
  readonly contract: string
}

export function versionText({ method, contract }: MethodVersion): string {
  return `${method} ${contract}`
}

/** The methods that can be enqueued, as texts. One whose contract fits any is not among them. */
export function queuedVersions({ methods }: Pick<Contract, 'methods'>): string[] {
  return Object.entries(methods).flatMap(([method, spec]) => {
    const contract = spec.queued === true ? contractOf(spec) : undefined
    return contract === undefined ? [] : [versionText({ method, contract })]
  })
}

/** Whether an instance with these has the method in this version, or does not say which it has. */
export function fitsVersion(queued: readonly string[] | undefined, version: MethodVersion): boolean {
  if (queued === undefined || queued.includes(versionText(version))) return true
  return !queued.some((text) => text.startsWith(`${version.method} `))
}
