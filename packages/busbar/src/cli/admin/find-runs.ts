/** Finds the running apps of this user by their admin sockets. */
import { realpathSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import type { AppStatus } from '../../observe/app-status.ts'
import { AdminClient, askStatus, statusTimeout } from '../../supervisor/admin/api-client.ts'
import { describeApp } from '../../supervisor/admin/operations/describe.ts'
import { findSockets, type FoundSocket, listSockets, runtimeFolders } from '../../supervisor/admin/admin-socket.ts'
import { readStartRecord, type StartRecord } from '../../supervisor/admin/start-record.ts'
import { listWaiting, type WaitingApp } from '../background/waiting-apps.ts'
import type { CommandContext } from '../command.ts'

/** One run of an app. */
export interface Run {
  readonly status: AppStatus
  readonly admin: AdminClient
}

export interface RunningApps {
  /** In the order of their start. */
  readonly runs: readonly Run[]
  /** Of processes that do not answer. */
  readonly silent: readonly FoundSocket[]
  /** Their process has crashed, and starts again in a while. */
  readonly waiting: readonly WaitingApp[]
}

/** All running apps of this user. */
export async function listRuns(env: NodeJS.ProcessEnv): Promise<RunningApps> {
  const answers = await ask(await listSockets(...runtimeFolders(env)), statusTimeout)
  const roots = new Set(answers.runs.map(rootOf))
  // One that has just started again is a run.
  return { ...answers, waiting: listWaiting(env).filter(({ root }) => !roots.has(realPath(root))) }
}

async function ask(sockets: readonly FoundSocket[], timeout: number): Promise<Omit<RunningApps, 'waiting'>> {
  const asked = await Promise.all(
    sockets.map(async (socket) => {
      const { path } = socket
      try {
        return { status: await askStatus(path, timeout), admin: new AdminClient(path) }
      } catch (error) {
        // Other errors come from an app that has just ended: it is left out.
        return BusbarError.is(error, 'DEADLINE_EXCEEDED') ? socket : undefined
      }
    }),
  )
  const found = asked.filter((one) => one !== undefined)
  const runs = found.filter((one) => 'status' in one)
  return {
    runs: runs.toSorted((one, other) => one.status.app.startedAt - other.status.app.startedAt),
    silent: found.filter((one) => 'pid' in one),
  }
}

/** Milliseconds for an app that was meant and is late: the machine may be overloaded. */
const patience = 5000

type Where = Pick<CommandContext, 'terminal' | 'flags'>

/**
 * The runs of one app. `named`: its name, its folder, or the file of its config or of a program;
 * undefined: the process of `--pid`, or else the app of the working directory, or of the nearest
 * folder above it that has one. Rejects with APP_NOT_RUNNING.
 */
export async function findRuns(named: string | undefined, where: Where): Promise<readonly Run[]> {
  const { runs, waiting } = await findMeant(named, where)
  if (runs.length === 0) throw notServing(waiting)
  return runs
}

/** Like {@link findRuns}. `silent`, `waiting`: further runs of the app, which do not answer. */
export async function findMeant(named: string | undefined, { terminal, flags }: Where): Promise<RunningApps> {
  const running = await listRuns(terminal.env)
  if (named === undefined && flags.pid !== undefined) return await findProcess(flags.pid, running)
  const { runs, silent, waiting } = running
  const found = named === undefined ? inFolderOf(terminal.cwd, runs) : await namedBy(named, terminal.cwd, runs)
  const isName = named !== undefined && found.some(({ status }) => status.app.name === named)
  const folders = new Set(found.map(rootOf))
  // One that does not answer may be the one that was meant.
  if (isName && !folders.has(realPath(resolve(terminal.cwd, named))))
    for (const { path } of silent) {
      const record = readStartRecord(path)
      if (record?.name === named) folders.add(realPath(record.root))
    }
  if (folders.size > 1) throw severalApps(`are named ${named!}`, folders)
  const isWanted = ({ status }: Run): boolean => flags.pid === undefined || status.app.pid === flags.pid
  const wanted = found.filter(isWanted)
  const folder = resolve(terminal.cwd, named ?? '.')
  const inFolder = new Set(findSockets(runtimeFolders(terminal.env), folder).map(({ path }) => path))
  const roots = new Set(wanted.map(rootOf))
  const stuck = silent.filter(({ path, pid }) => {
    if (flags.pid !== undefined && flags.pid !== pid) return false
    const record = readStartRecord(path)
    // Beside runs that answer only those of the same app.
    if (roots.size > 0 && (record === undefined || !roots.has(realPath(record.root)))) return false
    return inFolder.has(path) || (record !== undefined && isMeant(record, named, terminal.cwd))
  })
  const meant = waiting.filter((one) => isMeant(one, named, terminal.cwd))
  if (meant.length > 0 && stuck.length === 0) return { runs: wanted, silent: [], waiting: meant }
  if (stuck.length === 0 && wanted.length === 0)
    throw found.length > 0 ? otherProcess(flags.pid!, found) : notRunning(folder, runs)
  const late = stuck.length === 0 ? { runs: [], silent: [] } : await ask(stuck, patience)
  const all = [...wanted, ...late.runs.filter(isWanted)]
  if (all.length === 0) throw notAnswering(folder, stuck)
  return { runs: all, silent: late.silent, waiting: meant }
}

/** Of any app: `--pid` without one says enough. */
async function findProcess(pid: number, { runs, silent, waiting }: RunningApps): Promise<RunningApps> {
  const stuck = silent.filter((one) => one.pid === pid)
  const late = await ask(stuck, patience)
  const found = [...runs, ...late.runs].filter(({ status }) => status.app.pid === pid)
  const meant = waiting.filter((one) => one.pid === pid)
  const folders = new Set(found.map(rootOf))
  // Those of two containers that share the runtime folder.
  if (folders.size > 1) throw severalApps(`run as process ${pid}`, folders)
  if (found.length > 0 || meant.length > 0) return { runs: found, silent: late.silent, waiting: meant }
  throw stuck.length > 0 ? notAnswering('', stuck) : noProcess(pid, runs)
}

/** By its name, its folder or the file that was started; or it is that of the working directory. */
function isMeant({ name, root, args, folder }: StartRecord, named: string | undefined, cwd: string): boolean {
  if (named === undefined) return `${realPath(cwd)}${sep}`.startsWith(`${realPath(root)}${sep}`)
  const path = realPath(resolve(cwd, named))
  return name === named || realPath(root) === path || args.some((arg) => realPath(resolve(folder, arg)) === path)
}

/** Rejects with USAGE if the app runs several times. */
export async function findRun(named: string | undefined, where: Where): Promise<Run> {
  const [run, ...others] = await findRuns(named, where)
  if (others.length === 0) return run!
  const pids = [run!, ...others].map(({ status }) => status.app.pid)
  throw new BusbarError('USAGE', {
    message: `${run!.status.app.name} runs ${pids.length} times`,
    hint: `Choose one by --pid: ${pids.join(', ')}.`,
  })
}

/** A folder or a file of that name precedes an app of that name. */
async function namedBy(named: string, cwd: string, runs: readonly Run[]): Promise<readonly Run[]> {
  const given = resolve(cwd, named)
  const path = realPath(given)
  const inFolder = runs.filter((run) => rootOf(run) === path)
  if (inFolder.length > 0) return inFolder
  const ofFile = await Promise.all(runs.map(async (run) => ((await runsFile(run, path, given)) ? [run] : [])))
  return ofFile.flat().length > 0 ? ofFile.flat() : runs.filter(({ status }) => status.app.name === named)
}

function inFolderOf(cwd: string, runs: readonly Run[]): readonly Run[] {
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    const found = runs.filter((run) => rootOf(run) === folder)
    if (found.length > 0 || dirname(folder) === folder) return found
  }
}

/** Two programs of one folder may run as two apps, which differ in nothing else. */
async function runsFile(run: Run, path: string, given: string): Promise<boolean> {
  if (!path.startsWith(rootOf(run) + sep)) return false
  try {
    const { configFile, services } = await run.admin.json(describeApp, {}, { timeout: 10_000 })
    // An entry has the arguments of the program after its file.
    const files = [configFile, ...services.map(({ entry }) => entry)].filter((file) => file !== null)
    return files.some((file) => [path, given].some((one) => file === one || file.startsWith(`${one} `)))
  } catch {
    // It has just ended.
    return false
  }
}

function rootOf({ status }: Run): string {
  return realPath(status.app.root)
}

/** Resolves symbolic links, so that each name of a folder finds the same app. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function notServing(waiting: readonly WaitingApp[]): BusbarError {
  const { name, pid } = waiting[0]!
  return new BusbarError('APP_NOT_RUNNING', {
    message: `${name} (process ${pid}) waits for its restart: its process has crashed`,
    hint: 'Its log says why: where it was started, or in the files of logs.files. busbar stop ends it.',
  })
}

function notAnswering(wanted: string, stuck: readonly FoundSocket[]): BusbarError {
  const folder = readStartRecord(stuck[0]!.path)?.root ?? wanted
  return new BusbarError('APP_NOT_RUNNING', {
    message: `the app in ${folder} (process ${stuck.map(({ pid }) => pid).join(', ')}) does not answer`,
    hint: 'Its supervisor is stuck or suspended: continue it (kill -CONT), or end it (kill -KILL).',
  })
}

function severalApps(what: string, folders: ReadonlySet<string>): BusbarError {
  return new BusbarError('USAGE', {
    message: `${folders.size} apps ${what}`,
    hint: `Give the folder of one: ${[...folders].join(', ')}.`,
  })
}

/** The app runs, but not as the process that `--pid` names. */
function otherProcess(pid: number, found: readonly Run[]): BusbarError {
  const pids = found.map(({ status }) => status.app.pid)
  return new BusbarError('APP_NOT_RUNNING', {
    message: `${found[0]!.status.app.name} does not run as process ${pid}`,
    hint: `It runs as ${pids.join(', ')}.`,
  })
}

function noProcess(pid: number, runs: readonly Run[]): BusbarError {
  const processes = runs.map(({ status: { app } }) => `${app.name} (process ${app.pid})`)
  return new BusbarError('APP_NOT_RUNNING', {
    message: `no app runs as process ${pid}`,
    hint: processes.length > 0 ? `These run: ${processes.join(', ')}.` : 'Start it: busbar start -d.',
  })
}

/** `wanted`: a folder, or the working directory with the name of an app. */
function notRunning(wanted: string, runs: readonly Run[]): BusbarError {
  const names = [...new Set(runs.map(({ status }) => status.app.name))]
  return new BusbarError('APP_NOT_RUNNING', {
    message: `no app runs in ${wanted}`,
    hint:
      names.length > 0
        ? `These run: ${names.join(', ')}; give the name or the folder of one.`
        : 'Start it: busbar start -d; apps of other users and in other containers are not visible.',
  })
}

/** The processes of other runs of the same app. */
export async function otherRuns({ status: { app } }: Run, env: NodeJS.ProcessEnv): Promise<ReadonlySet<number>> {
  const { runs } = await listRuns(env)
  const same = runs.filter(({ status }) => status.app.root === app.root && status.app.pid !== app.pid)
  return new Set(same.map(({ status }) => status.app.pid))
}
