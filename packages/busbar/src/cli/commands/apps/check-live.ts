import type { AppStatus } from '../../../observe/app-status.ts'
import { findRun } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { clusterLines, remoteLines } from '../../terminal/remotes.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'

/** Milliseconds that it waits for the first report: workers report every second. */
const reportTime = 2_000

/**
 * `busbar check --live`: what a running app knows of other apps. Ends with 1 if it is not ready, a
 * service of another app cannot be reached, or the cluster cannot.
 */
export async function checkLive(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const status = await knownStatus(() => findRun(operands[0], context))
  const problems = problemsOf(status)
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
async function knownStatus(find: () => Promise<{ readonly status: AppStatus }>): Promise<AppStatus> {
  const until = performance.now() + reportTime
  for (;;) {
    const { status } = await find()
    const isKnown = status.remotes.every(({ reachable, hosts }) => reachable || hosts.length > 0)
    if (isKnown || performance.now() >= until) return status
    await new Promise((resolve) => setTimeout(resolve, 100))
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
