/**
 * Checks the sources of the packages: imports between the layers of `packages/busbar/src` point one
 * way, as `CONTRIBUTING.md` describes; there are no import cycles, types included. A layer is a
 * folder. `index.ts` only exports, and is never imported from inside. No file with code is too
 * long, in tests and scripts too. A source file of a few lines is not left beside the only one that
 * uses it.
 */
import { glob, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

const busbar = 'packages/busbar/src'
const sources = [busbar, 'packages/lab/src']
/** Where the length of files is checked. */
const code = '{packages,crates,examples,docs,scripts}/**/*.{ts,tsx,js,mjs,cjs,rs}'
const maxLines = 300
/** Shorter files are merged into the file that they serve. */
const minLines = 30
/** Here each command, each capability of Node and each watchdog has a file, however short. */
const oneFileEach = /^packages\/busbar\/src\/(?:cli\/commands|node|supervisor\/watchdogs)\//

/** What each layer may import besides itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  shared: [],
  config: ['contract', 'shared'],
  adopt: ['contract', 'shared', 'config'],
  state: ['contract', 'shared'],
  offload: ['contract', 'shared'],
  mesh: ['contract', 'shared'],
  queue: ['contract', 'shared', 'mesh'],
  gateway: ['contract', 'shared', 'config', 'mesh'],
  entrance: ['contract', 'shared', 'config', 'mesh'],
  worker: ['contract', 'shared', 'config', 'mesh', 'queue', 'gateway', 'entrance'],
  node: ['shared'],
  accelerators: ['contract', 'shared', 'mesh', 'gateway', 'node'],
  preload: ['contract', 'shared', 'mesh'],
  observe: ['contract', 'shared', 'config'],
  supervisor: ['contract', 'shared', 'config', 'observe'],
  cli: ['contract', 'shared', 'config', 'adopt', 'observe', 'supervisor'],
  embed: ['contract', 'shared', 'config', 'observe', 'supervisor'],
  calibration: ['contract', 'embed'],
  '.': ['contract', 'shared', 'config', 'state', 'offload', 'embed'],
}

/** Additional layers of which types may be imported, since types have no effect at run time. */
const typesOnly: Readonly<Record<string, readonly string[]>> = {
  shared: ['contract'],
  accelerators: ['config'],
  calibration: ['config'],
  '.': ['observe', 'supervisor'],
}

/** Composition roots, and what else they may import. */
const compositionRoots: Readonly<Record<string, readonly string[]>> = {
  'worker/accelerators.ts': ['accelerators'],
  'worker/boot.ts': ['node'],
  'cli/session.ts': ['node', 'entrance'],
  'cli/commands/check.ts': ['entrance'],
  'embed/open-app.ts': ['entrance'],
  'embed/test-doubles.ts': ['gateway', 'worker'],
  'embed/service-fetch.ts': ['mesh'],
}

/** Layers that also run in browsers. */
const browserSafe = new Set(['contract'])

interface Import {
  readonly from: string
  readonly to: string
  readonly type: boolean
}

if (import.meta.main) {
  const problems = await findProblems('.')
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

/** `root`: folder of the repository. */
export async function findProblems(root: string): Promise<string[]> {
  const problems: string[] = []
  const imports: Import[] = []
  for (const source of sources)
    for await (const file of glob(`${source}/**/*.ts`, { cwd: root })) {
      const text = await readFile(join(root, file), 'utf8')
      for (const { specifier, type } of importsOf(text)) {
        if (browserSafe.has(layerOf(file)) && specifier.startsWith('node:'))
          problems.push(`${file}: imports ${specifier}, but ${layerOf(file)} also runs in browsers`)
        if (specifier.startsWith('.')) imports.push({ from: file, to: join(dirname(file), specifier), type })
      }
    }
  const cycles = findCycles(imports).map((cycle) => `cycle: ${cycle.join(' → ')}`)
  const sizes = [...(await findLongFiles(root)), ...(await findShortFiles(root, imports))]
  return [...sizes, ...problems, ...imports.flatMap(layerProblems), ...cycles]
}

async function findLongFiles(root: string): Promise<string[]> {
  const problems: string[] = []
  for await (const file of glob(code, { cwd: root, exclude: isGenerated })) {
    const lines = (await readFile(join(root, file), 'utf8')).split('\n').length - 1
    if (lines > maxLines) problems.push(`${file}: has ${lines} lines, and ${maxLines} are allowed: split it by purpose`)
  }
  return problems
}

/** Those that would fit into the one file of their layer that imports them. */
async function findShortFiles(root: string, imports: readonly Import[]): Promise<string[]> {
  const problems: string[] = []
  const linesOf = async (file: string): Promise<number> =>
    (await readFile(join(root, file), 'utf8').catch(() => '')).split('\n').length - 1
  for (const [file, uses] of Map.groupBy(imports, ({ to }) => to)) {
    const [user, ...others] = new Set(uses.map(({ from }) => from))
    if (others.length > 0 || layerOf(user!) !== layerOf(file) || basename(user!) === 'index.ts') continue
    const lines = await linesOf(file)
    if (lines === 0 || lines >= minLines || oneFileEach.test(file)) continue
    if (lines + (await linesOf(user!)) <= maxLines)
      problems.push(`${file}: has ${lines} lines, and only ${user} uses it: merge the two`)
  }
  return problems
}

function isGenerated(path: string): boolean {
  return /(^|\/)(node_modules|dist|\.busbar)$/.test(path)
}

function layerProblems({ from, to, type }: Import): string[] {
  const source = sources.find((folder) => from.startsWith(`${folder}/`))!
  if (!to.startsWith(`${source}/`)) return [`${from}: imports ${to}, which is outside ${source}`]
  if (source !== busbar) return []
  const [here, there] = [layerOf(from), layerOf(to)]
  if (to === `${busbar}/index.ts`) return [`${from}: imports index.ts, which is for users only`]
  if (here === there) {
    // Each accelerator must work without the others.
    if (here !== 'accelerators' || acceleratorOf(from) === acceleratorOf(to)) return []
    return [`${from}: an accelerator may not import another one (${relative(busbar, to)})`]
  }
  const allowedHere = [
    ...(allowed[here] ?? []),
    ...(type ? (typesOnly[here] ?? []) : []),
    ...(compositionRoots[relative(busbar, from)] ?? []),
  ]
  return allowedHere.includes(there) ? [] : [`${from}: ${here} may not import ${there} (${relative(busbar, to)})`]
}

function layerOf(file: string): string {
  const path = relative(busbar, file)
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '.'
}

function acceleratorOf(file: string): string | undefined {
  return relative(busbar, file).split('/')[1]
}

function* importsOf(text: string): Generator<{ specifier: string; type: boolean }> {
  const pattern = /^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm
  for (const [, type, from, bare, dynamic] of text.matchAll(pattern))
    yield { specifier: (from ?? bare ?? dynamic)!, type: type !== undefined }
}

/** Depth-first search: an import of a file that is still open closes a cycle. */
function findCycles(imports: readonly Import[]): string[][] {
  const next = Map.groupBy(imports, ({ from }) => from)
  const state = new Map<string, 'open' | 'done'>()
  const path: string[] = []
  const cycles: string[][] = []
  const visit = (file: string): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file])
      return
    }
    state.set(file, 'open')
    path.push(file)
    for (const { to } of next.get(file) ?? []) visit(to)
    path.pop()
    state.set(file, 'done')
  }
  for (const file of next.keys()) visit(file)
  return cycles
}
