import type * as z from 'zod'
import { coresChange, coresUsed, durationChange, durationText } from '../../../observe/advice/figures.ts'
import { getAdvice, getCosts, measureCallCosts, tryAdvice } from '../../../supervisor/admin/operations/advice.ts'
import { findRun, type Run } from '../../admin/find-runs.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { onStopSignal } from '../../stop-signals.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint, print } from '../../terminal/terminal.ts'

type Advice = z.output<typeof getAdvice.output>
type Trial = z.output<typeof tryAdvice.output>
type Effect = Advice['services'][number]['elsewhere'][number]['change']

/** Milliseconds added to the time of watching: calibration and moves take the most. */
const extraTimeout = 300_000

/**
 * `busbar advise`: what services would cost elsewhere. `--try` applies the first suggestion, and
 * takes it back if it is worse.
 */
export async function advise(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const seconds = flags.seconds ?? 10
  const run = await findRun(operands[0], context)
  await measureOnce(run, context)
  const timeout = seconds * 1000 + extraTimeout
  const advice = await run.admin.json(getAdvice, { seconds }, { timeout })
  const [first] = advice.suggestions
  const moves = first?.moves.map(({ service, run: where }) => ({ service, run: where }))
  const tried = flags.try === true && moves !== undefined
  if (tried && flags.json !== true) print(terminal.out, adviceText(advice, run, terminal.out))
  const ask = (): Promise<Trial> => run.admin.json(tryAdvice, { moves: moves!, seconds }, { timeout: 2 * timeout })
  const trial = tried ? await endable(ask, context) : undefined
  const text = trial === undefined ? adviceText(advice, run, terminal.out) : trialText(trial, terminal.out)
  printResult(
    context,
    { app: run.status.app.name, ...advice, ...(flags.try === true && { trial: trial ?? null }) },
    text,
  )
  return 0
}

/** The app takes the moves back when this process has gone. */
async function endable(trial: () => Promise<Trial>, { terminal }: CommandContext): Promise<Trial> {
  const forget = onStopSignal((signal) => {
    print(terminal.err, 'ended: the app moves back the services that it has moved')
    forget()
    process.kill(process.pid, signal)
  })
  try {
    return await trial()
  } finally {
    forget()
  }
}

async function measureOnce({ admin }: Run, { terminal, flags }: CommandContext): Promise<void> {
  const { costs, distorted } = await admin.json(getCosts, {}, { timeout: 10_000 })
  if (costs !== null && !distorted && flags.calibrate !== true) return
  if (distorted) print(terminal.err, 'other processes were busy when the costs of calls were measured')
  print(terminal.err, 'measuring what calls cost on this machine; this takes some ten seconds of a processor')
  await admin.json(measureCallCosts, {}, { timeout: extraTimeout })
}

function adviceText(advice: Advice, { status }: Run, out: Output): string {
  const { now, suggestions, services, unknown, seconds, costs } = advice
  const latency = now.mean === null ? '' : ` of ${durationText(now.mean)} on average, p99 ${durationText(now.p99!)}`
  const cores = now.cpu === null ? 'the processor time is not known' : coresUsed(now.cpu, now.cores)
  // The parts are estimated, and may be more than the processors that are left for the app.
  const busiest =
    now.utilization === null ? 'is not known' : `${Math.round(Math.min(1, now.utilization) * 100)} % (${now.busiest})`
  const nothing =
    now.utilization === null
      ? 'no advice: it rests on the processor time of all workers'
      : 'nothing is clearly better than it is now'
  const [date] = new Date(costs.measuredAt).toISOString().split('T')
  const lines = [
    paint(out, 'bold', status.app.name),
    `in ${seconds.toFixed(0)} s: ${now.callsPerSecond.toFixed(0)} calls a second from outside${latency}; ${cores}, the busiest part ${busiest}`,
    '',
    ...(suggestions.length === 0 ? [nothing] : []),
    ...suggestions.flatMap(({ text, moves, figures, cautions }) => [
      `- ${text}`,
      ...figures.map((line) => paint(out, 'dim', `    ${line}`)),
      ...cautions.map((line) => `    ${line}`),
      ...moves.map(({ service, run }) => paint(out, 'dim', `    busbar move ${service} --run ${run}`)),
    ]),
    '',
    ...alignColumns([
      ['service', 'runs', 'calls/s', 'own cpu', 'elsewhere'].map((head) => paint(out, 'dim', head)),
      ...services.map(({ service, run, callsPerSecond, cpu, elsewhere, fixed }) => [
        service,
        run,
        callsPerSecond.toFixed(0),
        cpu === null ? '–' : cpu.toFixed(3),
        fixed === null
          ? elsewhere.map(({ run: where, change }) => `${where}: ${effectText(change)}`).join('; ')
          : fixed,
      ]),
    ]),
    '',
    `Estimates, for the same calls per second, from calls measured on ${date} (${costs.machine}, Node ${costs.node}).`,
    ...unknown.map((line) => `Not known: ${line}`),
  ]
  return lines.join('\n')
}

function effectText({ cpu, mean }: Effect): string {
  return mean === null ? coresChange(cpu) : `${coresChange(cpu)}, mean ${durationChange(mean)}`
}

function trialText({ before, after, kept, why }: Trial, out: Output): string {
  const row = (name: string, one: Trial['before']): string[] => [
    name,
    one.callsPerSecond.toFixed(0),
    ...[one.mean, one.p50, one.p99, one.cpuPerCall].map((value) => (value === null ? '–' : durationText(value))),
    one.cpu === null ? '–' : one.cpu.toFixed(2),
    `${one.failures}`,
  ]
  const heads = ['measured', 'calls/s', 'mean', 'p50', 'p99', 'cpu/call', 'cores', 'failed']
  const table = alignColumns([heads.map((head) => paint(out, 'dim', head)), row('before', before), row('after', after)])
  return ['', ...table, '', `${kept ? 'kept' : 'moved back'}: ${why}`].join('\n')
}
