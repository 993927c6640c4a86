type Headers = Record<string, string | string[]>

/** Names in lower case. A repeated header has a list. */
export function foldHeaders(rawHeaders: readonly string[]): Headers {
  const headers: Headers = {}
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n]!.toLowerCase()
    const value = rawHeaders[n + 1]!
    const known = Object.hasOwn(headers, name) ? headers[name] : undefined
    // A copy for each repetition would make the time quadratic.
    if (Array.isArray(known)) known.push(value)
    else set(headers, name, known === undefined ? value : [known, value])
  }
  return headers
}

/** `raw`: a parser's list, or the lines in which a `ServerResponse` stores trailers. */
export function foldTrailers(raw: readonly string[] | string): Headers {
  return foldHeaders(typeof raw === 'string' ? pairsOf(raw) : raw)
}

function pairsOf(lines: string): string[] {
  return lines.split('\r\n').flatMap((line) => {
    const colon = line.indexOf(':')
    return colon === -1 ? [] : [line.slice(0, colon), line.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, '')]
  })
}

/** `__proto__` is a valid header name. */
function set<Value>(record: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true })
  else record[name] = value
}
