import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { type Flag, commands, exitCodes, globalFlags } from '../../src/cli/commands.ts'
import { flagText, helpText } from '../../src/cli/help.ts'
import { errorTable } from '../../src/contract/errors.ts'

const reference = await readFile(new URL('../../../../docs/reference/cli.md', import.meta.url), 'utf8')

test('the reference has the commands of the table, in its order', () => {
  const headings = [...reference.matchAll(/^### `busbar (.+)`$/gm)].map(([, signature]) => signature)
  assert.deepEqual(
    headings,
    commands.map(({ name, operand }) => [name, operand].filter(Boolean).join(' ')),
  )
})

for (const command of commands)
  test(`the reference has the flags of ${command.name}, and no others`, () => {
    assert.deepEqual(documentedFlags(`### \`busbar ${command.name}`), command.flags.map(flagText))
  })

test('the reference has the flags that need no command, and no others', () => {
  assert.deepEqual(documentedFlags('### Without a command'), globalFlags.map(flagText))
})

test('the reference explains each exit code as help does', () => {
  const rows = [...section('## Exit codes').matchAll(/^\| (\d+) \| (.+) \|$/gm)]
  assert.deepEqual(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning!.replaceAll('`', '')])), exitCodes)
})

test('every exit code of an error is explained', () => {
  for (const { exit } of Object.values(errorTable)) assert.ok(exit in exitCodes, `${exit}`)
})

test('help names every command, and the help of a command its operand and flags', () => {
  const overview = helpText(undefined)
  for (const command of commands) {
    assert.ok(overview.includes(`${command.name} ${command.operand}`), command.name)
    const help = helpText(command)
    for (const flag of command.flags) assert.ok(help.includes(flagText(flag)) && help.includes(flag.summary), flag.name)
  }
})

test('one name means the same flag everywhere', () => {
  const seen = new Map<string, Flag>()
  for (const flag of commands.flatMap(({ flags }) => flags)) {
    const before = seen.get(flag.name)
    if (before !== undefined) assert.deepEqual(flag, before)
    seen.set(flag.name, flag)
  }
})

function documentedFlags(heading: string): string[] {
  return [...section(heading).matchAll(/^\| `(-.+?)` \|/gm)].map(([, flag]) => flag!.replaceAll('\\|', '|'))
}

function section(heading: string): string {
  const start = reference.indexOf(heading)
  assert.ok(start >= 0, heading)
  const rest = reference.slice(start + heading.length)
  const end = rest.search(/^##/m)
  return end < 0 ? rest : rest.slice(0, end)
}
