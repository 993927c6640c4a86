import { valibotOf } from '../../config/contracts/valibot.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import { describeContract } from '../../contract/openapi/document.ts'

/** The default path of a service's document. */
export const documentPath = '/openapi.json'

/** Where a typed service serves its OpenAPI document. */
export interface SelfDescription {
  /** The path of its document, below its route. */
  readonly path: string
  /** Absolute path of the folder from which packages for the service's schemas are resolved. */
  readonly folder: string
}

/** Returns a function that gives the document as JSON. It is created on the first call. */
export function selfDescriber({ name, contract }: TypedHost, { folder }: SelfDescription): () => Promise<string> {
  let made: Promise<string> | undefined
  return () =>
    (made ??= valibotOf(folder).then((valibot) => JSON.stringify(describeContract(contract, { name, valibot }))))
}
