/**
 * Holds the layers of `packages/busbar/src` to the one direction that `CONTRIBUTING.md` draws, and fails on a cycle.
 * Layers are folders; a file at the top (`index.ts`) only exports and is never imported from inside.
 */
import { readFile, glob } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

const source = 'packages/busbar/src'

/** What each layer may import besides itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  shared: [],
  config: ['contract', 'shared'],
  state: ['contract', 'shared'],
  offload: ['contract', 'shared'],
  mesh: ['contract', 'shared'],
  gateway: ['contract', 'shared', 'config', 'mesh'],
  worker: ['contract', 'shared', 'config', 'mesh', 'gateway'],
  node: ['shared'],
  accelerators: ['contract', 'shared', 'mesh', 'gateway', 'node'],
  preload: ['contract', 'shared', 'mesh'],
  observe: ['contract', 'shared', 'config'],
  supervisor: ['contract', 'shared', 'config', 'observe'],
  cli: ['contract', 'shared', 'config', 'observe', 'supervisor'],
  embed: ['contract', 'shared', 'config', 'observe', 'supervisor'],
  '.': ['contract', 'shared', 'config', 'state', 'offload', 'embed'],
}

/** Types cost nothing at run time; the orders between supervisor and worker are words about the app. */
const typesOnly: Readonly<Record<string, readonly string[]>> = {
  shared: ['contract', 'config'],
  accelerators: ['config'],
  '.': ['observe'],
}

/** Files that put the parts together, and what else they may import. */
const compositionRoots: Readonly<Record<string, readonly string[]>> = {
  'worker/accelerators.ts': ['accelerators', 'node'],
  'worker/boot.ts': ['accelerators', 'node'],
  'worker/main.ts': ['node'],
  'worker/process.ts': ['node'],
  'preload/install.ts': ['accelerators', 'node'],
  'cli/session.ts': ['node'],
  'embed/doubles.ts': ['gateway', 'worker'],
  'embed/service-fetch.ts': ['mesh'],
}

/** The contract runs in browsers. */
const browserSafe = new Set(['contract'])

interface Import {
  from: string
  to: string
  type: boolean
}

const problems: string[] = []
const imports: Import[] = []

for await (const file of glob(`${source}/**/*.ts`)) {
  const text = await readFile(file, 'utf8')
  for (const found of importsOf(text)) {
    if (browserSafe.has(layerOf(file)) && found.specifier.startsWith('node:'))
      problems.push(`${file}: imports ${found.specifier}, but ${layerOf(file)} runs in browsers`)
    if (!found.specifier.startsWith('.')) continue
    imports.push({ from: file, to: join(dirname(file), found.specifier), type: found.type })
  }
}

for (const { from, to, type } of imports) {
  const [here, there] = [layerOf(from), layerOf(to)]
  if (to === `${source}/index.ts`) problems.push(`${from}: imports index.ts, which is for users only`)
  // Each of them works without the others, and nothing else may need one.
  if (here === 'accelerators' && there === here && acceleratorOf(from) !== acceleratorOf(to))
    problems.push(`${from}: one accelerator may not import another (${relative(source, to)})`)
  if (here === there) continue
  const may = [
    ...(allowed[here] ?? []),
    ...(type ? (typesOnly[here] ?? []) : []),
    ...(compositionRoots[relative(source, from)] ?? []),
  ]
  if (!may.includes(there)) problems.push(`${from}: ${here} may not import ${there} (${relative(source, to)})`)
}

for (const cycle of cycles(imports.filter((entry) => !entry.type))) problems.push(`cycle: ${cycle.join(' → ')}`)

if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  process.exit(1)
}

function layerOf(file: string): string {
  const path = relative(source, file)
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '.'
}

function acceleratorOf(file: string): string | undefined {
  return relative(source, file).split('/')[1]
}

function* importsOf(text: string): Generator<{ specifier: string; type: boolean }> {
  const pattern = /^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm
  for (const [, type, from, bare, dynamic] of text.matchAll(pattern))
    yield { specifier: (from ?? bare ?? dynamic)!, type: type !== undefined }
}

/** Depth first; a file met again while it is still open closes a cycle. */
function cycles(edges: readonly Import[]): string[][] {
  const next = Map.groupBy(edges, (edge) => edge.from)
  const state = new Map<string, 'open' | 'done'>()
  const path: string[] = []
  const found: string[][] = []
  const visit = (file: string): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].map((entry) => relative(source, entry)))
      return
    }
    state.set(file, 'open')
    path.push(file)
    for (const edge of next.get(file) ?? []) visit(edge.to)
    path.pop()
    state.set(file, 'done')
  }
  for (const file of next.keys()) visit(file)
  return found
}
