import type { RawCase } from '../corpus/request.ts'
import { placements } from '../placements.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { mutate } from './mutated-requests.ts'

/** One step of a service's response, which `programs/scripted.mjs` carries out. */
export type Step = readonly [act: string, ...values: unknown[]]

/** Responses as bytes that a service writes to its socket: valid, unusual and invalid. */
const answers = [
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\nok\r\n0\r\nX: \xff\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\n\r\nuntil the end',
  'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.0 200 OK\r\n\r\nok',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 102 Processing\r\nX: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 103 Early Hints\r\nLink: no link\r\nX: \xff\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 103\r\nLink: <a>;;\r\nlink: <b>\r\n\r\nHTTP/1.1 304 Not Modified\r\nTrailer: x\r\n\r\n',
  'HTTP/1.1 199 Odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\nbytes',
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/1.1 000 None\r\n\r\n',
  'HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 999 High\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 1000 Long\r\n\r\n',
  'HTTP/1.1 200 a\x01b\x7fc\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 \xff\xfe\r\nX: \xff\x80\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 205 Reset Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n',
  'HTTP/1.1 407 Proxy\r\nProxy-Authenticate: Basic\r\nUpgrade: h2c\r\nConnection: upgrade, x\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 426 Upgrade Required\r\nUpgrade: foo\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 2\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nTrailer: x\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nshort',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger than that',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok',
  'HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nConnection: close, content-length, x-forwarded-for\r\nKeep-Alive: x\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nSet-Cookie: a\r\nset-cookie: b\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno',
  'ICY 200 OK\r\n\r\nok',
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  '',
  '\r\n\r\n\r\n',
  `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n\r\nok`,
]

const words = [
  '\r\n',
  '\n',
  '\0',
  ':',
  '\xff',
  'HTTP/1.1 ',
  ' 200 ',
  ' 099 ',
  ' 103 ',
  ' 304 ',
  ' 101 ',
  '0\r\n\r\n',
  'chunked',
  'Trailer: x\r\n',
  'Connection: close\r\n',
  'Content-Length: 1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Link: x\r\n',
]

const fields = [
  'Trailer',
  'Content-Length',
  'Transfer-Encoding',
  'Connection',
  'Upgrade',
  'Link',
  'Date',
  'X',
  'Set-Cookie',
]
fields.push('Keep-Alive', 'Expect', '__proto__', 'Content-Type')
const values = [
  'x',
  '0',
  '2',
  '5',
  'chunked',
  'close',
  'keep-alive',
  'gzip, chunked',
  'foo',
  '\xff',
  'a\tb',
  '',
  ' a ',
  '-1',
]
const statuses = [100, 101, 102, 103, 199, 200, 204, 205, 206, 299, 301, 304, 400, 426, 431, 500, 599, 600, 999]

/** A request to a service in any placement, with the script of its response. */
export function anyAnswer(chance: SeededRandom): RawCase {
  const steps = chance.below(2) === 0 ? rawSteps(chance) : methodSteps(chance)
  const script = Buffer.from(JSON.stringify(steps)).toString('base64url').slice(0, longestScript)
  const path = `/${chance.of(placements)}/${script}`
  const request = chance.of(requests)(path)
  return chance.below(4) === 0 ? [request + chance.of(requests)(path)] : [request]
}

/** The gateway of these tests accepts heads of more than the default 16 KiB. */
const longestScript = 40_000

const requests: readonly ((path: string) => string)[] = [
  (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  (path) => `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.0\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n`,
  (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`,
  (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello`,
  (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: a\r\n\r\n`,
  (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nhello`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n`,
  (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
]

function rawSteps(chance: SeededRandom): Step[] {
  let text = chance.of(answers)
  if (chance.below(3) > 0) for (let left = chance.below(3); left >= 0; left--) text = mutate(text, chance, words)
  const steps: Step[] = []
  for (let left = chance.below(3); left > 0 && text.length > 1; left--) {
    const cut = 1 + chance.below(text.length - 1)
    steps.push(['raw', text.slice(0, cut)], ['wait'])
    text = text.slice(cut)
  }
  steps.push(['raw', text])
  return [...steps, [chance.of(['end', 'end', 'destroy', 'reset', 'nothing', 'finish'])]]
}

function methodSteps(chance: SeededRandom): Step[] {
  const steps = Array.from({ length: 1 + chance.below(6) }, () => methodStep(chance))
  return [...steps, [chance.of(['finish', 'finish', 'finish', 'destroy', 'end', 'nothing', 'reset', 'break'])]]
}

function methodStep(chance: SeededRandom): Step {
  switch (chance.below(9)) {
    case 0:
      return ['status', chance.of(statuses), chance.of(['', 'OK', '\xff', 'a\tb'])]
    case 1:
      return ['head', chance.of(statuses), [chance.of(fields), chance.of(values), chance.of(fields), chance.of(values)]]
    case 2:
      return ['write', chance.of(['', 'ok', 'hello', '\xff', 'x'.repeat(70_000).slice(0, chance.below(9000))])]
    case 3:
      return ['trailers', chance.of(fields), chance.of(values)]
    case 4:
      return ['hints', chance.of(['</a>; rel=preload', 'no link', '<a>']), chance.of(values)]
    case 5:
      return [chance.of(['continue', 'processing', 'flush', 'wait', 'undated', 'keepless'])]
    case 6:
      return ['raw', mutate(chance.of(answers), chance, words)]
    default:
      return ['field', chance.of(fields), chance.of(values)]
  }
}
