import type { Metadata, QueueDelivery, Trace } from '../../contract/context.ts'
import type { Contract } from '../../contract/contract.ts'
import { type ErrorSpec, fn } from '../../contract/method.ts'
import type { Fit, MethodVersion } from '../../contract/queues/method-version.ts'
import { outsideTransport, type OutsideOptions, type TypedMesh } from './mesh-transport.ts'

/** The call that runs an item. */
export interface QueuedCall {
  readonly service: string
  readonly method: string
  readonly input: unknown
  /** The service that has enqueued it, which a direct call would have as its caller. */
  readonly caller: string | undefined
  readonly trace: Trace | undefined
  readonly metadata: Metadata | undefined
  /** As `contractOf` describes it. Instances that have it go first. */
  readonly contract: string | undefined
  /** As of a `VersionChoice`. Another host may have that contract. */
  readonly mustFit: boolean
  readonly delivery: QueueDelivery
  /** Milliseconds. */
  readonly timeout: number
}

/** Runs items, by the instances that serve. */
export interface QueueCalls {
  call(item: QueuedCall): Promise<unknown>
  /** The app has a service of this name. */
  isKnown(service: string): boolean
  /** An instance of it serves. */
  serves(service: string): boolean
  /** What the instance that serves and suits a version best has of it. */
  fitOf(service: string, version: MethodVersion): Fit
  /** As `queuedVersions`, of all its instances that serve. */
  versions(service: string): readonly string[]
}

const declared: ErrorSpec = { status: 400, data: undefined }

/** The queue does not know the method's contract, so it accepts every code as declared. */
const anyErrors: Readonly<Record<string, ErrorSpec>> = new Proxy(
  {},
  {
    get: () => declared,
    getOwnPropertyDescriptor: () => ({ value: declared, configurable: true, enumerable: true }),
  },
)

const anyMethod = { ...fn(), errors: anyErrors }

/**
 * For the worker that owns the queue. Inputs are always validated: the contract may have changed.
 */
export function queueCalls(mesh: TypedMesh): QueueCalls {
  const { router } = mesh
  return {
    async call({ service, method, input, caller, trace, metadata, contract: given, mustFit, delivery, timeout }) {
      const options: OutsideOptions = {
        timeout,
        caller,
        delivery,
        ...(trace !== undefined && { trace }),
        ...(metadata !== undefined && { metadata }),
      }
      // Only the name of the contract is used: the queue does not know the methods.
      const contract = { name: service } as Contract
      return await outsideTransport(mesh, service, { method, contract: given, mustFit }).bind(
        contract,
        method,
        anyMethod,
      )(input, options)
    },
    isKnown: (service) => router.names.includes(service),
    serves: (service) => router.serves(service),
    fitOf: (service, version) => router.fitOf(service, version),
    versions: (service) => router.versions(service),
  }
}
