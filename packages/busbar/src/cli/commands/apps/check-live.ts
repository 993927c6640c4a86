import type { AppStatus } from '../../../observe/app-status.ts'
import { findRun } from '../../admin/find-runs.ts'
import type { CommandContext } from '../../command.ts'
import { clusterLines, remoteLines } from '../../terminal/remotes.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'

/**
 * `busbar check --live`: what a running app knows of other apps. Ends with 1 if it is not ready, a
 * service of another app cannot be reached, or the cluster cannot.
 */
export async function checkLive(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const { status } = await findRun(operands[0], context)
  const problems = problemsOf(status)
  const { app, remotes, cluster } = status
  if (flags.json)
    print(terminal.out, JSON.stringify({ ok: problems.length === 0, problems, app, remotes, cluster }, undefined, 2))
  else print(terminal.out, textOf(status, problems, terminal.out))
  return problems.length === 0 ? 0 : 1
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
