import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { LogIntake } from '../../../src/observe/log-intake.ts'
import { Redactor } from '../../../src/observe/redactor.ts'
import { LineSplitter } from '../../../src/shared/output/line-splitter.ts'

const redactor = new Redactor({ secrets: ['hunter22', 'say "hello" twice', 'abc'], fields: ['iban', 'Card-Number'] })

for (const [line, shown] of [
  ['the password is hunter22, again hunter22', 'the password is [redacted], again [redacted]'],
  [String.raw`{"level":30,"msg":"say \"hello\" twice"}`, '{"level":30,"msg":"[redacted]"}'],
  [
    '{"level":30,"req":{"headers":{"Authorization":"Bearer x"}}}',
    '{"level":30,"req":{"headers":{"Authorization":"[redacted]"}}}',
  ],
  [
    '{"api_key":"x","apiKey":"y","x-api-key":"z"}',
    '{"api_key":"[redacted]","apiKey":"[redacted]","x-api-key":"[redacted]"}',
  ],
  ['{"token":{"a":1},"list":[{"cookie":5}]}', '{"token":"[redacted]","list":[{"cookie":"[redacted]"}]}'],
  ['sent {"a":1,"password":"x\\"y", "b":2}', 'sent {"a":1,"password":"[redacted]", "b":2}'],
  ['{"a":1,"token":["x","y"],"pin":5} end', '{"a":1,"token":"[redacted]","pin":5} end'],
  ['{"text":"broken off","secret":"hor', '{"text":"broken off","secret":"[redacted]"'],
  ['{"IBAN":"DE1","cardNumber":"4"}', '{"IBAN":"[redacted]","cardNumber":"[redacted]"}'],
] as const)
  test(`a secret is hidden: ${line}`, () => {
    assert.equal(redactor.line(line), shown)
  })

for (const line of [
  'abc is too short to be a secret',
  '{ password: 1 }',
  '{"level":30,"msg":"the token expired","tokens":3,"big":12345678901234567890}',
  '{"password":',
])
  test(`a line without a secret stays as it is: ${line}`, () => {
    assert.equal(redactor.line(line), line)
  })

test('a number that looks like a secret stays a number', () => {
  const pin = new Redactor({ secrets: ['8080'], fields: [] })
  assert.deepEqual(pin.fields({ port: 8080, url: 'http://127.0.0.1:8080' }), {
    port: 8080,
    url: 'http://127.0.0.1:[redacted]',
  })
})

test('a secret is hidden in a field that has JSON, and in names', () => {
  const quoted = new Redactor({ secrets: ['a"b\\c'], fields: [] })
  const thrown = { detail: `no such user ${JSON.stringify({ key: 'a"b\\c' })}`, data: [{ 'a"b\\c': null, at: 1 }] }
  assert.deepEqual(quoted.fields(thrown), {
    detail: 'no such user {"key":"[redacted]"}',
    data: [{ '[redacted]': null, at: 1 }],
  })
})

test('each line of a key with several lines is hidden', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END KEY-----\n'
  const pem = new Redactor({ secrets: [key], fields: [] })
  assert.equal(pem.line('read MIIEvQIBADANBgkqhkiG9w0BAQEF'), 'read [redacted]')
})

for (const [secret, line] of [
  ['S3cr3tS3cr3t99\n\n', 'token=S3cr3tS3cr3t99'],
  ['first-line\nsecond-line', 'token=second-line'],
  [String.raw`S3cr3t-"quoted"\back`, `token=${inspect({ t: String.raw`S3cr3t-"quoted"\back` })}`],
  [`it's "so"`, `token=${inspect([`it's "so"`])}`],
  ['key one/two?x', 'token=key%20one%2Ftwo%3Fx'],
] as const)
  test(`a secret is hidden in ${line}`, () => {
    const shown = new Redactor({ secrets: [secret], fields: [] }).line(line)
    assert.match(shown, /^token=.*\[redacted\]/)
    for (const part of secret.trim().split(/[\n\\ ]/)) assert.ok(!shown.includes(part), shown)
  })

test('a secret within another one leaves nothing of the longer one', () => {
  const both = new Redactor({ secrets: ['pass', 'password-1'], fields: [] })
  assert.equal(both.text('password-1 and pass'), '[redacted] and [redacted]')
})

/** A long line, in the parts in which the splitter emits it, as the log gets them. */
function written(line: string): string[] {
  const lines: string[] = []
  const intake = new LogIntake((record) => void lines.push(record.line))
  intake.use({ secrets: ['hunter22'], logs: undefined })
  const splitter = new LineSplitter((part, continues) =>
    intake.add({ ...from, line: part, ...(continues && { continues }) }),
  )
  for (let at = 0; at < line.length; at += 8192) splitter.push(line.slice(at, at + 8192))
  splitter.push('\nnext\n')
  return lines
}

const from = { time: 0, level: 'info', service: 'web', stream: 'stdout', worker: 0 } as const
const part = 64 * 1024

for (const [what, secret] of [
  ['a known value', 'hunter22'],
  ['a field', '"password": "correct horse battery staple"'],
  ['a list', '"cookie": ["one", "two", "three"]'],
] as const)
  test(`${what} is hidden wherever a long line is split`, () => {
    const shown = secret.replace(/hunter22|(?<=: ).*/, secret.startsWith('"') ? '"[redacted]"' : '[redacted]')
    for (let before = part - secret.length - 1; before <= part + 1; before++) {
      const [start, end] = ['x'.repeat(before), 'y'.repeat(part)]
      const lines = written(`${start}${secret}, ${end}`)
      assert.equal(lines.pop(), 'next')
      assert.equal(lines.join(''), `${start}${shown}, ${end}`)
    }
  })

test('a hidden value without an end takes bounded memory, and the rest of its line is left out', () => {
  const lines = written(`{"token": "${'s'.repeat(20 * part)}", "b": 1}`)
  assert.equal(lines.pop(), 'next')
  assert.equal(lines.join(''), '{"token": "[redacted]"')
})
