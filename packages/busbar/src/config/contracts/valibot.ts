import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ValibotConverter } from '../../contract/openapi/json-schema.ts'

/**
 * The service's own copy of the converter, else one that is installed beside Busbar. Undefined if
 * there is none.
 */
export async function valibotOf(folder: string): Promise<ValibotConverter | undefined> {
  for (const place of [pathToFileURL(join(folder, 'package.json')).href, import.meta.url]) {
    try {
      const file = createRequire(place).resolve('@valibot/to-json-schema')
      const { toJsonSchema } = (await import(pathToFileURL(file).href)) as { toJsonSchema?: ValibotConverter }
      if (toJsonSchema !== undefined) return toJsonSchema
    } catch {
      // Missing or broken: the document contains a note about it.
    }
  }
  return undefined
}
