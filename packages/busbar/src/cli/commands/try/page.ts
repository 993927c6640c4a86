/** The page that `busbar try` prints. */
import type { PreparedTrial } from '../../../adopt/trying/prepare-trial.ts'
import { alignColumns } from '../../terminal/columns.ts'
import { type Output, paint } from '../../terminal/terminal.ts'
import type { ComparedRequest, Figures, Tried, TriedArm } from './lab.ts'

export interface Page {
  /** What the services were found in. */
  readonly name: string
  readonly same: boolean
  readonly trial: TrialOnPage
  readonly tried: Tried
  /** Sentences that a reader must know. */
  readonly notes: readonly string[]
  readonly leftOut: readonly { readonly name: string; readonly why: string }[]
  readonly text: string
  /** The reason for the placement in the config. */
  readonly why: string
  /** The config, if it was written. */
  readonly file: string | undefined
}

/** Calls to ports of services went through the mesh if it is `rewritten`. */
type TrialOnPage = Pick<PreparedTrial, 'calls' | 'hazards'> & { readonly rewritten: boolean }

export function pageText(page: Page, out: Output): string {
  const sections = [answers, figures, unsafe, calls, notes, config]
  return sections
    .map((section) => section(page, out))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

const maxRows = 30
const maxDetails = 15

function answers({ name, same, tried: { arms } }: Page, out: Output): string[] {
  const ran = arms.filter(({ problem }) => problem === null)
  const [first] = ran
  const failed = arms.flatMap(({ title, problem }) =>
    problem === null ? [] : [`${paint(out, 'red', 'could not run:')} ${title}: ${problem}`],
  )
  const differs = ran.some(({ answers: requests }) => requests.some(({ differences }) => differences.length > 0))
  const verdict = same
    ? paint(out, 'green', 'same answers')
    : paint(out, 'yellow', differs ? 'not the same everywhere' : 'same answers where it could run')
  const title = paint(out, 'bold', name)
  if (first === undefined) return [`${title}: ${paint(out, 'red', 'nothing could be started')}`, '', ...failed]
  const rows = first.answers
    .slice(0, maxRows)
    .map((request, index) => [
      `${request.method} ${request.path} ${paint(out, 'dim', `(${request.service})`)}`,
      `${request.status ?? 'no answer'}`,
      ...ran.slice(1).map(({ answers: others }) => sameText(others[index]!, out)),
    ])
  const more = first.answers.length - rows.length
  return [
    `${title}: ${verdict}`,
    '',
    ...alignColumns([['answers', ...ran.map(({ title }) => title)].map((text) => paint(out, 'dim', text)), ...rows]),
    ...(more > 0 ? [paint(out, 'dim', `and ${more} more requests`)] : []),
    ...failed,
    ...differing(ran),
    ...ignored(ran, out),
  ]
}

function sameText({ differences }: ComparedRequest, out: Output): string {
  return differences.length === 0 ? paint(out, 'green', 'same') : paint(out, 'yellow', 'differs')
}

function differing(arms: readonly TriedArm[]): string[] {
  const found = arms.flatMap(({ title, answers: requests }) =>
    requests.flatMap(({ method, path, differences }) =>
      differences.map(
        ({ part, today, here }) => `  ${title}, ${method} ${path}: ${part} is ${shown(here)}, today ${shown(today)}`,
      ),
    ),
  )
  if (found.length === 0) return []
  const more = found.length - maxDetails
  return ['', 'differences:', ...found.slice(0, maxDetails), ...(more > 0 ? [`  and ${more} more (--json)`] : [])]
}

function shown(value: string | null): string {
  return value === null ? 'missing' : JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}

/** Each reason once, with the parts that it is the reason for. */
function ignored(arms: readonly TriedArm[], out: Output): string[] {
  const found = arms.flatMap(({ answers: requests }) => requests.flatMap((request) => request.ignored))
  const reasons = Map.groupBy(found, ({ why }) => why)
  return [...reasons].map(([why, parts]) => {
    const names = [...new Set(parts.map(({ part }) => part))]
    const text = `${names.slice(0, 6).join(', ')}${names.length > 6 ? ` and ${names.length - 6} more` : ''}`
    return paint(out, 'dim', `not compared: ${text}: ${why}`)
  })
}

function figures({ tried: { arms, generator, measured } }: Page, out: Output): string[] {
  const counted = arms.flatMap(({ title, figures: found }) => (found === null ? [] : [{ title, found }]))
  const [first] = counted
  if (first === undefined) return []
  const head = ['', 'requests per CPU second', `against ${first.title}`, 'p99', 'memory'].map((text) =>
    paint(out, 'dim', text),
  )
  const rows = counted.map(({ title, found }, index) => [
    title,
    numberText(found.perCpuSecond),
    index === 0 ? '' : comparisonText(found),
    generator === 'autocannon' || found.p99 === null ? '–' : `${found.p99.toFixed(found.p99 < 10 ? 1 : 0)} ms`,
    found.memory === null ? '–' : `${Math.round(found.memory / 1e6)} MB`,
  ])
  const invalid = counted.flatMap(({ title, found }) =>
    found.invalidBecause.map((why) => `${title} does not count: ${why.split('\n')[0]}`),
  )
  const how = `${measured === 1 ? 'one request' : `${measured} requests in turn`}, on ${generator === 'autocannon' ? 'autocannon, which measures no latency' : "the lab's load engine"}`
  return [...alignColumns([head, ...rows]), paint(out, 'dim', `measured with ${how}`), ...invalid]
}

function comparisonText({ comparison, secondsNeeded }: Figures): string {
  if (comparison === null) return 'not compared'
  const { ratio, low, high, verdict } = comparison
  return verdict === 'unclear'
    ? `unclear: ${factor(low)} to ${factor(high)}${longerText(secondsNeeded)}`
    : `${factor(ratio)} (${factor(low)} to ${factor(high)}), ${verdict}`
}

function longerText(seconds: number | null): string {
  if (seconds === null) return ''
  return `, use --budget ${Math.ceil(seconds / 60) * 60} for a clear result`
}

function factor(value: number): string {
  return value > 1000 ? 'any' : `${value.toFixed(2)} x`
}

function numberText(value: number | null): string {
  return value === null ? '–' : `${Math.round(value)}`
}

function unsafe({ trial: { hazards } }: Page, out: Output): string[] {
  if (hazards.length === 0) return ['busbar check finds nothing unsafe, wherever the services run.']
  const rows = hazards.map(
    ({ code, message, hint }) =>
      `${paint(out, 'yellow', 'warning:')} ${message} ${paint(out, 'dim', `(${code})`)}\n  ${paint(out, 'cyan', 'hint:')} ${hint}`,
  )
  return ['unsafe if all share one thread:', ...rows]
}

function calls({ trial: { calls: found, rewritten } }: Page, out: Output): string[] {
  if (found.length === 0) return []
  const rows = found.map(({ from, to, where, address, instead, variable }) => [
    `${from} calls ${to}`,
    where,
    variable === undefined
      ? `change ${address} to ${instead}`
      : `${variable.name}=${variable.value}, in the config below`,
  ])
  const others = [...new Set(found.filter(({ atLocalhost }) => !atLocalhost).map(({ address }) => address))]
  const but = others.length === 0 ? 'nothing is edited' : `nothing is edited but calls to ${others.join(', ')}`
  const hint = `With ${rewritten ? '`localhost` in the config below' : '--rewrite-localhost'}, calls to these ports of localhost go through the mesh, and ${but}.`
  return ['calls by port, instead of by name:', ...alignColumns(rows), paint(out, 'dim', hint)]
}

function notes({ notes: sentences, leftOut }: Page): string[] {
  return [...sentences, ...leftOut.map(({ name, why }) => `Left out: ${name}: ${why}.`)]
}

function config({ text, why, file }: Page, out: Output): string[] {
  if (file !== undefined) return [why, `${file} is written. Next: busbar check, then busbar start.`]
  return [why, paint(out, 'dim', 'busbar.config.ts, which --write writes:'), text.trimEnd()]
}
