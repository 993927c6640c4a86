import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TypedHost } from '../../contract/host/host.ts'
import { describeContract } from '../../contract/openapi/document.ts'
import type { ValibotConverter } from '../../contract/openapi/libraries.ts'

/** Where it is, unless somebody says otherwise. */
export const documentPath = '/openapi.json'

/** How a typed service tells what it is. */
export interface SelfDescription {
  /** The path of its document, below its route. */
  readonly path: string
  /** Where packages are looked for that the service's schemas need to be described. Absolute. */
  readonly folder: string
}

/** The document as JSON, made when it is first asked for. */
export function selfDescriber({ name, contract }: TypedHost, { folder }: SelfDescription): () => Promise<string> {
  let made: Promise<string> | undefined
  return () =>
    (made ??= valibotOf(folder).then((valibot) => JSON.stringify(describeContract(contract, { name, valibot }))))
}

/** The service's own copy, else one that lies beside Busbar; undefined where there is none. */
async function valibotOf(folder: string): Promise<ValibotConverter | undefined> {
  for (const place of [pathToFileURL(join(folder, 'package.json')).href, import.meta.url]) {
    try {
      const file = createRequire(place).resolve('@valibot/to-json-schema')
      const { toJsonSchema } = (await import(pathToFileURL(file).href)) as { toJsonSchema?: ValibotConverter }
      if (toJsonSchema !== undefined) return toJsonSchema
    } catch {
      // Not there, or broken: the document says what is missing.
    }
  }
  return undefined
}
