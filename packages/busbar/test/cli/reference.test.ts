import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Flag } from '../../src/cli/command.ts'
import { commands, exitCodes, globalFlags } from '../../src/cli/command-table.ts'
import { flagText, helpText, signature } from '../../src/cli/terminal/help.ts'
import { errorTable } from '../../src/contract/errors.ts'

const reference = await readFile(new URL('../../../../docs/reference/cli.md', import.meta.url), 'utf8')

test('the reference lists the commands in the order of the table', () => {
  const headings = [...reference.matchAll(/^### `busbar (.+)`$/gm)].map(([, signature]) => signature)
  assert.deepEqual(headings, commands.map(signature))
})

for (const command of commands)
  test(`the reference lists exactly the flags of ${command.name}`, () => {
    assert.deepEqual(documentedFlags(`### \`busbar ${command.name}`), command.flags.map(flagText))
  })

test('the reference lists exactly the flags without a command', () => {
  assert.deepEqual(documentedFlags('### Without a command'), globalFlags.map(flagText))
})

test('the reference and help explain the same exit codes', () => {
  const rows = [...section('## Exit codes').matchAll(/^\| (\d+) \| (.+) \|$/gm)]
  assert.deepEqual(Object.fromEntries(rows.map(([, code, meaning]) => [code, meaning!.replaceAll('`', '')])), exitCodes)
})

test('every exit code of an error has an explanation', () => {
  for (const { exit } of Object.values(errorTable)) assert.ok(exit in exitCodes, `${exit}`)
})

test('help lists every command; the help of a command lists its operands and flags', () => {
  const overview = helpText(undefined)
  for (const command of commands) {
    assert.ok(overview.includes(signature(command)), command.name)
    const help = helpText(command)
    for (const flag of command.flags) assert.ok(help.includes(flagText(flag)) && help.includes(flag.summary), flag.name)
  }
})

test('a flag means the same for every command', () => {
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
