import type { Readable } from 'node:stream'

/** What has no newline for so long is cut, in characters. */
const longest = 64 * 1024

/** Calls back with each line, without its newline; a last one that lacks it too. */
export function splitLines(stream: Readable, line: (text: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const one of lines) line(one)
    if (rest.length < longest) return
    line(rest)
    rest = ''
  })
  stream.on('end', () => {
    if (rest !== '') line(rest)
  })
}
