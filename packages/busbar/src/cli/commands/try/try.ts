import { join, relative } from 'node:path'
import { configText } from '../../../adopt/config-text.ts'
import type { Imported } from '../../../adopt/imported.ts'
import { findServices, importSource, sourceAt } from '../../../adopt/sources/find-sources.ts'
import type { PreparedTrial } from '../../../adopt/trying/prepare-trial.ts'
import { withPlacement } from '../../../adopt/trying/recommended.ts'
import { canImportBusbar, checkNoConfig, checkWritable, writeNewFile } from '../../../adopt/write-config.ts'
import { pathKind } from '../../../config/file/file-lookup.ts'
import { BusbarError } from '../../../contract/errors.ts'
import type { CommandContext } from '../../command.ts'
import { resolveOperand } from '../../operand.ts'
import { printError } from '../../terminal/print-error.ts'
import { print } from '../../terminal/terminal.ts'
import { findLab } from '../find-lab.ts'
import type { Tried, TryLab } from './lab.ts'
import { notesOf } from './notes.ts'
import { pageText } from './page.ts'
import { Preparation } from './preparation.ts'
import { recommend } from './recommendation.ts'

const configName = 'busbar.config.ts'
const interrupted = 130

/**
 * `busbar try`: runs the services of a repository as today and under Busbar, and prints what
 * differs. Writes nothing there without `--write`.
 */
export async function tryApp(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  if (process.platform === 'win32')
    throw new BusbarError('PLACEMENT_UNSUPPORTED', {
      message: 'busbar try does not run on Windows',
      hint: 'Run it in WSL.',
    })
  const lab = (await findLab(terminal.cwd, 'try')) as TryLab
  const found = await findRepository(resolveOperand(context))
  if (flags.write) await checkWritable(join(found.root, configName))
  const preparation = new Preparation(context, found, lab)
  const result = await lab
    .tryCommand((folder, learned) => preparation.prepare(folder, learned), terminal.err.stream)
    .catch((error: unknown) => {
      throw BusbarError.is(error)
        ? error
        : new BusbarError('USAGE', { message: (error as Error).message, cause: error })
    })
  const { tried } = result
  const { trial } = preparation
  if (result.interrupted) print(terminal.err, 'interrupted: everything that was started has ended')
  if (tried === null || trial === undefined) return interrupted
  const { found: kept, startCallers } = preparation
  const config = flags.write && !result.interrupted ? join(kept.root, configName) : undefined
  const fault = await report(context, { found: kept, trial, tried, startCallers, config })
  if (result.interrupted) return interrupted
  return fault?.exitCode ?? (isSame(tried) ? 0 : 1)
}

/** Throws USAGE for an app of Busbar, and CONFIG_NOT_FOUND for a folder without services. */
async function findRepository(path: string): Promise<Imported> {
  if ((await pathKind(path)) === 'file') return await importSource(await sourceAt(path))
  await checkNoConfig(path).catch((cause: BusbarError) => {
    throw new BusbarError('USAGE', {
      message: `${cause.message}, so Busbar runs it`,
      hint: 'Run busbar bench . --vary placement to measure its placements.',
    })
  })
  const found = await findServices(path).catch(async (cause: unknown) => {
    throw (await nxError(path, cause)) ?? cause
  })
  if (found !== undefined) return found
  throw (
    (await nxError(path)) ??
    new BusbarError('CONFIG_NOT_FOUND', {
      message: `no service was found in ${path}`,
      hint: 'Services are packages of a workspace, entries of ecosystem.config.*, watt.json, compose.yaml or Procfile, or one program.',
    })
  )
}

/** Undefined for any other folder. */
async function nxError(path: string, cause?: unknown): Promise<BusbarError | undefined> {
  if ((await pathKind(join(path, 'nx.json'))) !== 'file') return undefined
  return new BusbarError('CONFIG_NOT_FOUND', {
    message: `${path} is a workspace of Nx, whose project.json files Busbar does not read`,
    hint: 'Build it, and write a Procfile of what was built, such as "api: node dist/apps/api/main.js".',
    cause,
  })
}

interface Outcome {
  readonly found: Imported
  readonly trial: PreparedTrial
  readonly tried: Tried
  readonly startCallers: ReadonlySet<string>
  /** The file to write, if any. */
  readonly config: string | undefined
}

/** Prints the page in any case. Returns why the config could not be written. */
async function report(
  { flags, terminal }: CommandContext,
  { found, trial, tried, startCallers, config: wanted }: Outcome,
): Promise<BusbarError | undefined> {
  const { placement, why } = recommend(tried)
  const config = placement === undefined ? trial.config : withPlacement(trial.config, placement)
  const comments = [
    'Written by busbar try. busbar check shows how it would run.',
    ...found.leftOut.map((one) => `Left out: ${one.name}: ${one.why}.`),
  ]
  const text = configText(config, { canImport: await canImportBusbar(found.root), comments })
  const fault = wanted === undefined ? undefined : await faultOf(writeNewFile(wanted, text))
  const file = fault === undefined ? wanted : undefined
  const { calls, hazards } = trial
  const { source, leftOut } = found
  const same = isSame(tried)
  const rewritten = flags['rewrite-localhost'] === true
  const notes = notesOf(tried, { ...trial, startCallers, rewritten })
  if (flags.json) {
    const services = Object.keys(trial.config.services ?? {})
    const recommended = { placement: placement ?? null, placementWhy: why, config, text, file: file ?? null }
    const report = { ok: true, same, source, services, ...tried, calls, hazards, leftOut, notes, ...recommended }
    print(terminal.out, JSON.stringify(report, undefined, 2))
  } else {
    const within = relative(terminal.cwd, source)
    const name = within === '' || within.startsWith('..') ? source : within
    const shown = { calls, hazards, rewritten }
    print(terminal.out, pageText({ name, same, trial: shown, tried, notes, leftOut, text, why, file }, terminal.out))
  }
  if (fault !== undefined) printError(terminal.err, fault, flags.verbose === true)
  return fault
}

async function faultOf(written: Promise<void>): Promise<BusbarError | undefined> {
  return await written.then(
    () => undefined,
    (error: unknown) => BusbarError.from(error),
  )
}

/** Every arm started and answered as today. */
export function isSame({ arms }: Tried): boolean {
  return arms.every(
    ({ problem, answers }) => problem === null && answers.every(({ differences }) => differences.length === 0),
  )
}
