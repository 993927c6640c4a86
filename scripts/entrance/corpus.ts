/**
 * The raw corpus of the tests through the entrance, against the same program under plain Node.
 * Prints where the two differ:
 * `node --conditions=busbar-source scripts/entrance/corpus.ts [--bridge duplex|exchange]`, by
 * either Node. A difference that is not listed here fails.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import {
  formatCommonOutcome,
  formatOutcome,
  outcomesAt,
  type Outcome,
} from '../../packages/busbar/test/raw/outcomes.ts'
import { corpus } from '../../packages/busbar/test/raw/corpus/corpus.ts'
import { startPlain } from '../../packages/busbar/test/raw/placements.ts'

const { values } = parseArgs({ options: { bridge: { type: 'string', default: 'duplex' } } })
const program = `${import.meta.dirname}/../../packages/busbar/test/raw/programs/echo.mjs`
const names = Object.keys(corpus)

/**
 * Where the entrance is stricter than Node, or does what the portable gateway does, with its
 * reason.
 */
const known: readonly (readonly [RegExp, string])[] = [
  [
    /: underscore$|^Connection(?:, route)?: (?:.*close|x-forwarded-proto and -host)$|^Connection.*: (?:C|c)lose|keep-alive, then close$/,
    'bytes behind the last request get no answer of their own',
  ],
  [
    /^turn: one behind close$|^HTTP\/1\.0(?:, route)?: with host$/,
    'bytes behind the last request get no answer of their own',
  ],
  [/^method(?:, route)?: CONNECT/, 'no tunnels: 501'],
  [/^version: none, with an end$/, 'HTTP/1.1 and HTTP/1.0 only'],
  [/^line: two spaces$/, 'one space between the parts of the first line'],
  [
    /^upgrade(?:, entry)?: (?:h2c|with a body|with chunks|HTTP\/1\.0)$/,
    'an upgrade to h2c, with a body or in HTTP/1.0 is a plain request',
  ],
  [
    /^turn: two late ones$|^answer(?:, route)?: late$/,
    'a client that has closed its half of the connection gets its response',
  ],
  [/^answer(?:, route)?: hangup$/, 'a program that hangs up before it has answered is 502'],
  [/^Expect: too large$/, 'the client ends before it got 100 Continue'],
  [/^claim: hops/, 'the exchange takes out what counts hops'],
]

const plain = await startPlain(program)
const expected = await outcomesAt(plain.port, names)
await plain[Symbol.asyncDispose]()
const found = await throughEntrance()

let exact = 0
let differences = 0
const unknown: string[] = []
for (const name of names) {
  const [one, other] = [expected.get(name)!, found.get(name)!]
  if (formatOutcome(one) === formatOutcome(other)) exact++
  if (formatCommonOutcome(one) === formatCommonOutcome(other)) continue
  differences++
  const reason = known.find(([cases]) => cases.test(name))?.[1]
  if (reason === undefined) unknown.push(name)
  console.log(`${name.padEnd(48)} ${statuses(one).padEnd(14)} ${statuses(other).padEnd(14)} ${reason ?? 'UNKNOWN'}`)
}
console.log(`${names.length} cases: ${exact} the same to the byte, ${differences} differ`)
if (unknown.length > 0) {
  console.error(`not known: ${unknown.join('; ')}`)
  process.exitCode = 1
}

async function throughEntrance(): Promise<Map<string, Outcome>> {
  const args = ['--conditions=busbar-source', `${import.meta.dirname}/serve.ts`, program, '--bridge', values.bridge]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    const [text] = (await once(createInterface(child.stdout), 'line')) as [string]
    return await outcomesAt((JSON.parse(text) as { port: number }).port, names)
  } finally {
    child.kill()
  }
}

function statuses({ answers }: Outcome): string {
  return answers.map(({ status }) => status).join(',') || '-'
}
