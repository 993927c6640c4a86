import { readFile } from 'node:fs/promises'
import { literal, variablesOf } from '../../key-rules.ts'
import { describeJsonError } from '../../../config/file/json-error.ts'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { BusbarError } from '../../../contract/errors.ts'

/**
 * `{NAME}` of Watt as `${NAME:-}` of Busbar: both are empty without the variable. Services are
 * `http://<name>.internal` here.
 */
export function wattText(text: string): string {
  return literal(text)
    .replaceAll(/\{{1,2}([a-z0-9_]+)\}{1,2}/gi, '${$1:-}')
    .replaceAll('.plt.local', '.internal')
}

export function wattVariables(value: unknown): Record<string, string> {
  return Object.fromEntries(
    // What `literal` has escaped is escaped once.
    Object.entries(variablesOf(value)).map(([name, text]) => [name, wattText(text.replaceAll('$${', '${'))]),
  )
}

export async function readWattJson(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  try {
    const content: unknown = JSON.parse(text)
    if (isPlainObject(content)) return content
  } catch (cause) {
    throw new BusbarError('CONFIG_UNREADABLE', {
      message: `${file} is not valid JSON: ${describeJsonError(text, cause)}`,
      cause,
    })
  }
  throw new BusbarError('CONFIG_INVALID', {
    message: `${file} is not an object`,
    hint: 'Give the path of a watt.json.',
  })
}
