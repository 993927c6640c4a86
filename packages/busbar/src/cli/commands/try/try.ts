import { join, relative, resolve } from 'node:path'
import { configText } from '../../../adopt/config-text.ts'
import type { Imported } from '../../../adopt/imported.ts'
import { findServices, importSource, sourceAt } from '../../../adopt/sources/find-sources.ts'
import { prepareTrial, type PreparedTrial } from '../../../adopt/trying/prepare-trial.ts'
import { withFoundPorts, withPlacement } from '../../../adopt/trying/recommended.ts'
import { canImportBusbar, checkNoConfig, writeNewFile } from '../../../adopt/write-config.ts'
import { pathKind } from '../../../config/file/file-lookup.ts'
import { BusbarError } from '../../../contract/errors.ts'
import type { CommandContext } from '../../command.ts'
import { resolveOperand } from '../../operand.ts'
import { print } from '../../terminal/terminal.ts'
import { findLab } from '../find-lab.ts'
import type { Tried, TriedArm, TryLab } from './lab.ts'
import { pageText } from './page.ts'
import { requestsOf } from './requests.ts'

/** Milliseconds that the measurements take if nothing else is said. */
const usualBudget = 180_000
const connections = 50
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
  let trial: PreparedTrial | undefined
  const prepare = async (folder: string) => {
    const prepared = await prepareTrial({
      found,
      folder,
      rewriteLocalhost: flags['rewrite-localhost'] === true,
      env: terminal.env,
    })
    trial = prepared
    const { requests } = await requestsOf(prepared, flags, (file) => lab.readRequests(resolve(terminal.cwd, file)))
    const { services, notToday } = prepared.today
    const { app, entry, exposed } = prepared
    return {
      name: app.name,
      today: services,
      ...(notToday !== undefined && { notToday }),
      folder,
      entry,
      exposed,
      requests,
      budgetMs: flags.budget === undefined ? usualBudget : flags.budget * 1000,
      connections,
    }
  }
  const result = await lab.tryCommand(prepare, terminal.err.stream).catch((error: unknown) => {
    throw BusbarError.is(error) ? error : new BusbarError('USAGE', { message: (error as Error).message, cause: error })
  })
  const { tried } = result
  if (tried === null || trial === undefined) {
    print(terminal.err, 'interrupted: everything that was started has ended')
    return interrupted
  }
  await report(context, found, trial, tried)
  if (result.interrupted) return interrupted
  return isSame(tried) ? 0 : 1
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
  const found = await findServices(path)
  if (found !== undefined) return found
  throw new BusbarError('CONFIG_NOT_FOUND', {
    message: `no service was found in ${path}`,
    hint: 'Services are packages of a workspace, entries of ecosystem.config.*, watt.json, compose.yaml or Procfile, or one program.',
  })
}

async function report(context: CommandContext, found: Imported, trial: PreparedTrial, tried: Tried): Promise<void> {
  const { flags, terminal } = context
  const best = bestOf(tried)
  const opened = withFoundPorts(trial.config, trial.entry, tried.foundPorts)
  const config = best === undefined ? opened : withPlacement(opened, best)
  const comments = [
    'Written by busbar try. busbar check shows how it would run.',
    ...found.leftOut.map(({ name, why }) => `Left out: ${name}: ${why}.`),
  ]
  const text = configText(config, { canImport: await canImportBusbar(found.root), comments })
  const file = flags.write ? join(found.root, 'busbar.config.ts') : undefined
  if (file !== undefined) await writeNewFile(file, text)
  const { calls, hazards, documents, today } = trial
  const same = isSame(tried)
  if (flags.json)
    return print(
      terminal.out,
      JSON.stringify(
        {
          ok: true,
          same,
          source: found.source,
          services: Object.keys(trial.config.services ?? {}),
          ...tried,
          calls,
          hazards,
          leftOut: found.leftOut,
          placement: best ?? null,
          config,
          text,
          file: file ?? null,
        },
        undefined,
        2,
      ),
    )
  const within = relative(terminal.cwd, found.source)
  const name = within === '' || within.startsWith('..') ? found.source : within
  print(
    terminal.out,
    pageText(
      { name, same, trial: { calls, hazards, documents, today }, tried, leftOut: found.leftOut, text, file },
      terminal.out,
    ),
  )
}

/** Every arm started and answered as today. */
export function isSame({ arms }: Tried): boolean {
  return arms.every(
    ({ problem, answers }) => problem === null && answers.every(({ differences }) => differences.length === 0),
  )
}

/**
 * The placement with the most requests per CPU second, of those with the same answers. Undefined:
 * none was measured.
 */
function bestOf({ arms }: Tried): 'shared' | 'thread' | 'process' | undefined {
  const isSound = ({ problem, answers, figures }: TriedArm): boolean =>
    problem === null &&
    answers.every(({ differences }) => differences.length === 0) &&
    figures?.invalidBecause.length === 0
  const rate = ({ figures }: TriedArm): number => figures?.perCpuSecond ?? 0
  const sound = arms.filter(({ name }) => name !== 'today').filter(isSound)
  const [best] = sound.toSorted((one, other) => rate(other) - rate(one))
  return best === undefined || rate(best) === 0 ? undefined : (best.name as 'shared' | 'thread' | 'process')
}
