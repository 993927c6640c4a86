/**
 * Fails if the product uses an undocumented name of Node outside `packages/busbar/src/node/`, which
 * has one file and one probe per capability. Such a name may change in any release. The names come
 * from every installed release line of Node (`undocumented-names.ts`).
 */
import { execFileSync } from 'node:child_process'
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { nodeBinary } from '../node-lines.ts'
import type { UndocumentedNames } from './undocumented-names.ts'

const source = 'packages/busbar/src'
const home = `${source}/node/`

/**
 * Documented for stream classes, which implement these and call those of their parent ("API for
 * stream implementers").
 */
const streamMethods = new Set([
  '_construct',
  '_destroy',
  '_final',
  '_flush',
  '_read',
  '_transform',
  '_write',
  '_writev',
])

/** Other undocumented interfaces, which are not properties of Node's objects. */
const others = /\bprocess\.binding\b|\bsetFlagsFromString\b|--expose[-_]internals|\bgetOwnPropertySymbols\b|\.parser\b/g

const names = union()
const problems: string[] = []

for await (const file of glob(`${source}/**/*.ts`)) {
  if (file.startsWith(home)) continue
  const found = usesIn(await readFile(file, 'utf8'))
  problems.push(
    ...found.map(({ line, name }) => `${file}:${line}: ${name} is not documented by Node: move it to ${home}`),
  )
}

if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  process.exit(1)
}

function union(): UndocumentedNames {
  const script = fileURLToPath(new URL('undocumented-names.ts', import.meta.url))
  const nodes = (['24', '26'] as const).flatMap((line) => nodeBinary(line) ?? [])
  const found = nodes.map((node) => JSON.parse(execFileSync(node, [script], { encoding: 'utf8' })) as UndocumentedNames)
  const all = (key: keyof UndocumentedNames) => [...new Set(found.flatMap((each) => each[key]))]
  return { properties: all('properties'), symbols: all('symbols'), parser: all('parser') }
}

interface Use {
  readonly line: number
  readonly name: string
}

function usesIn(text: string): Use[] {
  const code = withoutComments(text)
  const properties = new Set(names.properties)
  // Only descriptions such as `kState`, since others are ordinary words.
  const symbols = new Set(names.symbols.filter((name) => /^k[A-Z]/.test(name)))
  const parser = new Set(names.parser)
  const words = [...code.matchAll(/[\w$]+/g)].filter(({ 0: word, index }) => {
    if (parser.has(word) || symbols.has(word)) return true
    if (!properties.has(word)) return false
    return !streamMethods.has(word) || !isOwnStreamMethod(code, word, index)
  })
  return [...words, ...code.matchAll(others)].map(({ 0: name, index }) => ({
    name,
    line: code.slice(0, index).split('\n').length,
  }))
}

/**
 * `override _write(chunk) {`, `_read(): void {` or `super._final(done)`; not `socket._write = …` or
 * `socket._write(…)`.
 */
function isOwnStreamMethod(code: string, word: string, index: number): boolean {
  const before = code.slice(0, index)
  return (
    before.endsWith('super.') ||
    (/^\s*(?:override\s+)?$/.test(before.slice(before.lastIndexOf('\n') + 1)) && code[index + word.length] === '(')
  )
}

/** Line breaks stay, so that line numbers do not change. */
function withoutComments(text: string): string {
  return text.replace(
    /\/\*[^]*?\*\/|(^|[^:'"`])\/\/[^\n]*/g,
    (comment, kept: string | undefined) => (kept ?? '') + comment.replace(/[^\n]/g, '').slice(0),
  )
}
