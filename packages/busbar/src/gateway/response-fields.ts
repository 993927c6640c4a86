import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'

type Fields = OutgoingHttpHeaders | readonly OutgoingHttpHeader[]

/**
 * Adds a field to a response when its head is written. Earlier, the program would see it, and might
 * replace it with a field of its own. `unless-set`: the program's own field precedes.
 */
export function addField(res: ServerResponse, name: string, value: string, how: 'beside' | 'unless-set'): void {
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => ServerResponse
  res.writeHead = (status: number, ...rest: unknown[]) => {
    const last = rest.at(-1)
    const fields = typeof last === 'object' && last !== null ? (last as Fields) : undefined
    const isSet = res.hasHeader(name) || (fields !== undefined && has(fields, name))
    // A second call fails, as it would without this.
    if (res.headersSent || (isSet && how === 'unless-set')) return writeHead(status, ...rest)
    if (fields !== undefined && (Array.isArray(fields) || has(fields, name)))
      return writeHead(status, ...rest.slice(0, -1), withField(res, fields, name, value))
    res.appendHeader(name, value)
    return writeHead(status, ...rest)
  }
}

function has(fields: Fields, name: string): boolean {
  return namesOf(fields).some((one) => one.toLowerCase() === name)
}

function namesOf(fields: Fields): string[] {
  if (!isList(fields)) return Object.keys(fields)
  if (Array.isArray(fields[0])) return fields.map((pair) => String((pair as unknown as readonly string[])[0]))
  return fields.filter((_, at) => at % 2 === 0).map(String)
}

/** Fields in a list replace those of the same name that were set before. */
function withField(res: ServerResponse, fields: Fields, name: string, value: string): Fields {
  if (!isList(fields)) {
    const key = Object.keys(fields).find((one) => one.toLowerCase() === name)!
    return { ...fields, [key]: [...textsOf(fields[key]), value] }
  }
  const before = has(fields, name) ? [] : textsOf(res.getHeader(name))
  const added = [...before, value]
  if (Array.isArray(fields[0])) return [...fields, ...added.map((one) => [name, one])]
  return [...fields, ...added.flatMap((one) => [name, one])]
}

function textsOf(value: OutgoingHttpHeader | undefined): string[] {
  return value === undefined ? [] : [value].flat().map(String)
}

function isList(fields: Fields): fields is readonly OutgoingHttpHeader[] {
  return Array.isArray(fields)
}
