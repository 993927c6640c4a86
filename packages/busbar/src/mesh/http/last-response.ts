import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http'

type Fields = OutgoingHttpHeaders | readonly OutgoingHttpHeader[]

const lasts = new WeakSet<object>()

/**
 * Ends the connection with this response, whose head is not sent yet, and says so. Without this,
 * Node keeps the connection, and its client too, if the program's own `Connection` lists anything
 * but `close`.
 */
export function makeLast(res: ServerResponse): void {
  res.shouldKeepAlive = false
  // A response of HTTP/2 has no such field.
  if (res.req.httpVersionMajor !== 1 || lasts.has(res)) return
  lasts.add(res)
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => ServerResponse
  res.writeHead = (status: number, ...rest: unknown[]) => {
    // A second call fails, as it would without this.
    if (res.headersSent) return writeHead(status, ...rest)
    const set = res.getHeader('connection')
    if (set !== undefined) res.setHeader('connection', withClose(set))
    const last = rest.at(-1)
    if (typeof last === 'object' && last !== null) rest[rest.length - 1] = closing(last as Fields)
    return writeHead(status, ...rest)
  }
}

function closing(fields: Fields): Fields {
  if (!Array.isArray(fields))
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => pairClosing(name, value)))
  const list = fields as readonly OutgoingHttpHeader[]
  if (Array.isArray(list[0])) {
    const pairs = list as unknown as readonly (readonly [string, OutgoingHttpHeader])[]
    return pairs.map(([name, value]) => pairClosing(name, value) as unknown as OutgoingHttpHeader)
  }
  return list.map((one, at) => (at % 2 === 1 && isConnection(list[at - 1]) ? withClose(one) : one))
}

function pairClosing<Value extends OutgoingHttpHeader | undefined>(
  name: string,
  value: Value,
): [string, Value | string] {
  return [name, value !== undefined && isConnection(name) ? withClose(value) : value]
}

function isConnection(name: unknown): boolean {
  return String(name).toLowerCase() === 'connection'
}

function withClose(value: OutgoingHttpHeader): string {
  const options = [value].flat().join(',').split(',')
  const others = options.map((one) => one.trim()).filter((one) => !/^(?:|close|keep-alive)$/i.test(one))
  return [...others, 'close'].join(', ')
}
