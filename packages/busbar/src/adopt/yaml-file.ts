import { readFile } from 'node:fs/promises'
import { parseDocument, stringify } from 'yaml'
import { BusbarError } from '../contract/errors.ts'

/** How often aliases may be resolved: a small file can name gigabytes by them. */
const maxAliasCount = 1000

/** Merge keys (`<<`) are resolved, as by Compose. */
export async function readYaml(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new BusbarError('CONFIG_UNREADABLE', { message: `${file} cannot be read: ${cause.message}`, cause })
  })
  const document = parseDocument(text, { merge: true, prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw invalid(file, error)
  try {
    return document.toJS({ maxAliasCount })
  } catch (cause) {
    // An alias that nothing has defined, or too many of them.
    throw invalid(file, cause as Error)
  }
}

function invalid(file: string, cause: Error): BusbarError {
  return new BusbarError('CONFIG_UNREADABLE', {
    message: `${file} is not valid YAML: ${cause.message.trimEnd()}`,
    cause,
  })
}

/**
 * Readers of YAML 1.1 would take `22:22` for a number, so such texts are quoted. Without anchors.
 */
export function yamlText(value: object): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
}
