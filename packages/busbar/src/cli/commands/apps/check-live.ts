import type { AppStatus } from '../../../observe/app-status.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { queueService } from '../../../contract/queues/queue-service.ts'
import { listQueue } from '../../../supervisor/admin/operations/queue.ts'
import { findRun, type Run } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { clusterLines, remoteLines } from '../../terminal/remotes.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'

/** Milliseconds that it waits for the first report: workers report every second. */
const reportTime = 2_000
/** Milliseconds. A queue that waits for its server says what is wrong with that after 10 s. */
const queueTimeout = 30_000

/**
 * `busbar check --live`: what a running app knows of other apps. Ends with 1 if it is not ready, a
 * service of another app cannot be reached, or the cluster or the queue cannot.
 */
export async function checkLive(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const run = await knownRun(() => findRun(operands[0], context))
  const { status } = run
  const problems = [...problemsOf(status), ...(await faultsOfQueue(run))]
  const { app, remotes, cluster } = status
  if (flags.json)
    print(terminal.out, JSON.stringify({ ok: problems.length === 0, problems, app, remotes, cluster }, undefined, 2))
  else print(terminal.out, textOf(status, problems, terminal.out))
  return problems.length === 0 ? 0 : 1
}

/**
 * The status, as soon as the app's workers have reported the hosts of every service, if they do so
 * soon: after a start nothing is known of them.
 */
async function knownRun(find: () => Promise<Run>): Promise<Run> {
  const until = performance.now() + reportTime
  for (;;) {
    const run = await find()
    const isKnown = run.status.remotes.every(({ reachable, hosts }) => reachable || hosts.length > 0)
    if (isKnown || performance.now() >= until) return run
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Its owner asks the server that keeps it, or tries to write its file. */
async function faultsOfQueue({ status, admin }: Run): Promise<string[]> {
  if (!status.services.some(({ service }) => service === queueService)) return []
  try {
    await admin.json(listQueue, { limit: 0, check: 'true' }, { timeout: queueTimeout })
    return []
  } catch (error) {
    return [BusbarError.from(error).message]
  }
}

function problemsOf({ app, remotes, cluster }: AppStatus): string[] {
  const notReady = app.phase === 'running' ? `not ready: ${app.unready.join(', ')}` : app.phase
  return [
    ...(app.ready ? [] : [notReady]),
    ...remotes.flatMap(({ service, reachable }) => (reachable ? [] : [`no host can be called for ${service}`])),
    ...(cluster === null || cluster.fault === null ? [] : [cluster.fault]),
  ]
}

function textOf(status: AppStatus, problems: readonly string[], out: Output): string {
  const { app } = status
  const state = problems.length === 0 ? [paint(out, 'green', 'ready')] : problems.map((one) => paint(out, 'red', one))
  const groups = [
    [`${paint(out, 'bold', app.name)} ${paint(out, 'dim', `${app.root}, process ${app.pid}`)}`, ...state],
    remoteLines(status, out),
    clusterLines(status, out),
  ]
  return groups
    .filter((group) => group.length > 0)
    .map((group) => group.join('\n'))
    .join('\n\n')
}
