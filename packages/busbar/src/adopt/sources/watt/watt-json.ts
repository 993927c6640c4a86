import { readFile } from 'node:fs/promises'
import { describeJsonError } from '../../../config/file/json-error.ts'
import { isPlainObject } from '../../../config/schema/placeholders.ts'
import { BusbarError } from '../../../contract/errors.ts'

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
