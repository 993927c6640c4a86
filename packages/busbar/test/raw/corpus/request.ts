/** Raw requests: one string per write, each character a byte. */
export type RawCase = readonly string[]
export type Corpus = Readonly<Record<string, RawCase>>

export const host = 'Host: a\r\n'
export const chunked = 'Transfer-Encoding: chunked\r\n'
export const helloInChunks = '5\r\nhello\r\n0\r\n\r\n'

/**
 * The request after a case, which shows that the connection still works. Smuggled requests ask for
 * it, too.
 */
export const next = 'GET /admin/next HTTP/1.1\r\nHost: a\r\n\r\n'

export const get = 'GET /x HTTP/1.1'
export const post = 'POST /shop/x HTTP/1.1'

/** `hosts`: the Host line, or others in its place. */
export function raw(line: string, fields = '', body = '', hosts = host): string {
  return `${line}\r\n${hosts}${fields}\r\n${body}`
}

/** A corpus of one kind: each entry's name begins with the kind's. */
export function kind(name: string, cases: Record<string, string | RawCase>): Corpus {
  return Object.fromEntries(
    Object.entries(cases).map(([key, text]) => [`${name}: ${key}`, typeof text === 'string' ? [text] : text]),
  )
}
