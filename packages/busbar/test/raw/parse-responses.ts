/** A response in the bytes that a client received. */
export interface RawAnswer {
  readonly version: string
  readonly status: number
  readonly reason: string
  /**
   * `name: value`, sorted by name, since only the order of fields with the same name matters (RFC
   * 9110, 5.3). Values that depend on the time are left out.
   */
  readonly fields: readonly string[]
  readonly body: string
  readonly trailers: string
  /** False: the connection ended before the response was complete. */
  readonly whole: boolean
}

/**
 * `methods`: those of the requests, since a response to HEAD has no body. Bytes that are not a
 * response get the status 0.
 */
export function answersIn(bytes: string, methods: readonly string[]): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = bytes
  let turn = 0
  while (rest !== '') {
    const head = /^(HTTP\/1\.[01]) (\d{3})(?: ([^\r\n]*))?\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest)
    if (head === null) return [...answers, { ...nothing, body: withoutLateFrames(rest) }]
    const [text, version, status, reason = '', lines] = head
    const fields = lines!.split('\r\n').filter((line) => line !== '')
    const isHead = methods[turn] === 'HEAD'
    const body = bodyOf(rest.slice(text.length), Number(status), fields, isHead)
    rest = body.rest
    if (Number(status) >= 200) turn++
    answers.push({
      version: version!,
      status: Number(status),
      reason,
      fields: fields.map(timeless).sort(byName),
      body: body.text,
      trailers: body.trailers,
      whole: body.whole,
    })
    if (Number(status) === 101) return answers
  }
  return answers
}

/**
 * What the native entrance sends after its settings (RFC 9113, 6.5 and 6.9): the acknowledgement of
 * the client's, and the window of the connection. Each is missing if the entrance notices the
 * client's end first.
 */
const lateFrames = ['\0\0\0\x04\x01\0\0\0\0', '\0\0\x04\x08\0\0\0\0\0\0\x0f\0\x01']

function withoutLateFrames(bytes: string): string {
  return lateFrames.reduce((rest, late) => rest.replace(late, ''), bytes)
}

const nothing: RawAnswer = { version: '', status: 0, reason: '', fields: [], body: '', trailers: '', whole: false }

interface Body {
  readonly text: string
  readonly trailers: string
  readonly whole: boolean
  readonly rest: string
}

function bodyOf(bytes: string, status: number, fields: readonly string[], isHead: boolean): Body {
  const whole = { trailers: '', whole: true }
  if (status === 101) return { text: bytes, rest: '', ...whole }
  if (isHead || status < 200 || status === 204 || status === 304) return { text: '', rest: bytes, ...whole }
  if (fields.some((line) => /^transfer-encoding:.*chunked/i.test(line))) return chunksIn(bytes)
  const length = fields.map((line) => /^content-length: *(\d+)$/i.exec(line)?.[1]).find((found) => found !== undefined)
  if (length === undefined) return { text: bytes, rest: '', ...whole }
  const end = Number(length)
  return { text: bytes.slice(0, end), rest: bytes.slice(end), trailers: '', whole: bytes.length >= end }
}

function chunksIn(bytes: string): Body {
  let text = ''
  for (let rest = bytes; ;) {
    const line = /^([\da-f]+)\r\n/i.exec(rest)
    if (line === null) return { text, trailers: '', whole: false, rest: '' }
    const size = Number.parseInt(line[1]!, 16)
    const data = rest.slice(line[0].length)
    if (size === 0) {
      const end = /^((?:[^\r\n]+\r\n)*)\r\n/.exec(data)
      if (end === null) return { text, trailers: '', whole: false, rest: '' }
      return { text, trailers: end[1]!, whole: true, rest: data.slice(end[0].length) }
    }
    text += data.slice(0, size)
    rest = data.slice(size + 2)
    if (rest === '' && data.length < size + 2) return { text, trailers: '', whole: false, rest: '' }
  }
}

function timeless(line: string): string {
  return line.replace(/^(date): .*/i, '$1').replace(/^(content-length): \d+/i, '$1')
}

function byName(one: string, other: string): number {
  const [a, b] = [one, other].map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
  return a! < b! ? -1 : a! > b! ? 1 : 0
}
