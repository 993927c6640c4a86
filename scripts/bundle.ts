/**
 * Bundles the code of `busbar` for the published package: a start reads fewer and larger files,
 * which takes less time (docs/decisions/run/start.md). All entry points are part of one bundle, so
 * each module exists once in a thread, whichever of them has loaded it. Type declarations stay as
 * the compiler writes them.
 */
import { cp, glob, rm } from 'node:fs/promises'
import { basename, isAbsolute, join, relative } from 'node:path'
import { rolldown, type ChunkingContext, type OutputOptions } from 'rolldown'
import { acceleratorNames } from '../packages/busbar/src/shared/accelerators.ts'

/** Users import these, by `exports` of the package. */
const exported = [
  'index',
  'contract/index',
  'contract/client-entry',
  'contract/fetch-entry',
  'gateway/typed/adapters/index',
]

/** These are started or found by their paths, which therefore stay. */
const startedByPath = [
  'cli/main',
  'worker/main',
  'worker/process',
  'config/file/module/main',
  'offload/thread/main',
  'preload/main',
  'calibration/main',
  'calibration/app/busbar.config',
  'calibration/app/caller/index',
  'calibration/app/program/index',
  'calibration/app/typed/contract',
  'calibration/app/typed/index',
]

/** Files of their own: the preload requires the first, the second knows its own place. */
const separate = ['shared/process/builtin-undici', 'shared/package-files']

/** Each can be deleted. */
const accelerators = acceleratorNames.map((name) => `accelerators/${name}/index`)

const entries = [...exported, ...startedByPath, ...separate, ...accelerators]

/** Modules that are loaded together, with all that they import. */
interface Row {
  readonly modules: readonly string[]
  /** The row that is always loaded first, by one of its modules. */
  readonly after?: Row
}

const command: Row = { modules: ['cli/main'] }
const worker: Row = { modules: ['worker/main', 'worker/process'] }
const boot: Row = { modules: ['worker/boot'], after: worker }

/**
 * What the same rows have in common becomes one chunk, so that no row loads more than it imports.
 * Only first rows count: the others find the chunk loaded.
 */
const rows: readonly Row[] = [
  ...exported.map((name) => ({ modules: [name] })),
  command,
  { modules: ['cli/commands/start'], after: command },
  // What asks a running app.
  {
    modules: [
      'cli/commands/start-background',
      ...['ps', 'stop', 'describe', 'logs'].map((name) => `cli/commands/apps/${name}`),
    ],
    after: command,
  },
  worker,
  boot,
  { modules: ['worker/lifecycle/open-gateway'], after: boot },
  { modules: ['worker/typed/hosted-typed-service'], after: boot },
  { modules: ['config/file/module/main'] },
  { modules: ['offload/thread/main'] },
  { modules: ['preload/main'] },
]

/**
 * Part of the bundle. It has 95 modules, of which Busbar uses a part. It remains a dependency for
 * its types.
 */
const bundledDependency = 'zod'

/** `built`: the folder that the compiler has written. `target`: a copy of it, which is changed. */
export async function bundle(built: string, target: string): Promise<void> {
  const fileOf = (name: string): string => join(built, `${name}.js`)
  await using building = await rolldown({
    cwd: built,
    input: Object.fromEntries(entries.map((name) => [name, fileOf(name)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && id !== bundledDependency,
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    onLog: (_, { message }) => {
      throw new Error(message)
    },
  })
  await removeModules(target)
  await building.write({ ...output, dir: target, codeSplitting: { groups: [groupOf(fileOf)], ...alone } })
  const license = join(built, '../../../node_modules', bundledDependency, 'LICENSE')
  await cp(license, join(target, `chunks/${bundledDependency}.LICENSE`))
}

/** Names of functions and files stay, so that stacks can be read without source maps. */
const output: OutputOptions = {
  format: 'es',
  comments: { jsdoc: false, legal: true, annotation: true },
  entryFileNames: '[name].js',
  // The last module imports the others.
  chunkFileNames: ({ moduleIds }) => `chunks/${basename(moduleIds.at(-1) ?? 'shared', '.js')}-[hash].js`,
}

/** A module's imports do not follow it into its chunk: their own rows decide. */
const alone = { includeDependenciesRecursively: false }

/**
 * Names the chunk of a module by the rows that import it. Null leaves it to rolldown: entries are
 * files of their own, and modules of no row are loaded rarely.
 */
function groupOf(fileOf: (name: string) => string): {
  name: (id: string, context: ChunkingContext) => string | null
  debugName: string
} {
  const own = new Set(entries.map(fileOf))
  let importsOfRows: ReadonlyMap<Row, ReadonlySet<string>> | undefined
  return {
    debugName: 'rows',
    name: (id, context) => {
      if (own.has(id)) return null
      importsOfRows ??= new Map(rows.map((row) => [row, importsOf(row.modules.map(fileOf), context)]))
      const has = (row: Row | undefined): boolean => row !== undefined && importsOfRows!.get(row)!.has(id)
      const shared = [...rows.keys()].filter((at) => has(rows[at]) && !loadsBefore(rows[at]!, has))
      return shared.length === 0 ? null : shared.join('-')
    },
  }
}

/** Whether a row that is loaded before this one has it. */
function loadsBefore({ after }: Row, has: (row: Row) => boolean): boolean {
  return after !== undefined && (has(after) || loadsBefore(after, has))
}

/** All modules that these import, without those that they import on demand. */
function importsOf(roots: readonly string[], context: ChunkingContext): ReadonlySet<string> {
  const found = new Set<string>()
  const waiting = [...roots]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const module = context.getModuleInfo(id)
    if (module === null) throw new Error(`${relative(process.cwd(), id)} is not part of the bundle`)
    if (found.has(id)) continue
    found.add(id)
    waiting.push(...module.importedIds)
  }
  return found
}

/** A module of the compiler is beside its declarations. Others files are pages and schemas. */
async function removeModules(folder: string): Promise<void> {
  for await (const types of glob('**/*.d.ts', { cwd: folder }))
    await rm(join(folder, types.replace(/\.d\.ts$/, '.js')), { force: true })
}
