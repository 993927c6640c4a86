import type { ArmResult, ComparisonResult, Result } from '../../result.ts'
import { summaryTable } from '../summary-table.ts'
import { tablesOf, type Table } from '../tables.ts'
import { reasonText } from '../reason.ts'
import {
  claim,
  deciding,
  lengthText,
  metricText,
  percent,
  ratioText,
  sentenceOn,
  sentencesFor,
  titleOf,
} from '../sentences.ts'
import { forest } from './forest-plot.ts'
import { percentilePlot, type Curve } from './percentile-plot.ts'
import { sharedScales, timeSeries } from './time-series.ts'
import { style } from './style.ts'
import { el, escape } from './svg.ts'

/** A self-contained page without scripts. */
export function htmlReport(result: Result): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    el(
      'head',
      {},
      '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
      // Names and answers are untrusted: nothing may be loaded or executed.
      `<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
      el('title', {}, escape(`${result.scenario}: ${result.question}`)),
      el('style', {}, style),
    ),
    el(
      'body',
      {},
      el(
        'main',
        {},
        header(result),
        ...ratios(result),
        figures(result),
        ...latencies(result),
        ...series(result),
        server(result),
        notes(result),
        environment(result),
      ),
    ),
    '</html>\n',
  ].join('\n')
}

function header(result: Result): string {
  const invalid = result.arms.filter(({ valid }) => !valid)
  const when = `${result.startedAt.slice(0, 10)} · ${lengthText(result)} · ${result.machine.cores} × ${result.machine.cpu}`
  return el(
    'header',
    {},
    el('p', { class: 'label' }, escape(`busbar bench ${result.scenario}`)),
    el('h1', {}, escape(result.question)),
    el('p', { class: 'when' }, escape(when)),
    el('ul', { class: 'answers' }, ...deciding(result).map((each) => answer(result, each))),
    invalid.length === 0 ? '' : el('div', { class: 'warning' }, ...invalidArms(invalid)),
  )
}

/** The ratio in large type if it is certain, then the sentence with the interval. */
function answer(result: Result, found: ComparisonResult): string {
  const ratio = `${ratioText(found.ratio)} ×`
  const big = { faster: ratio, slower: ratio, 'no difference': '=', unclear: '?', invalid: '–' }[found.verdict]
  const range = `${metricText(found, result.unit)}; ${percent(found.confidence)} interval ${ratioText(found.low)} to ${ratioText(found.high)}`
  return el(
    'li',
    { class: found.verdict.replace(' ', '-') },
    el('span', { class: 'big' }, escape(big)),
    el('span', {}, escape(claim(result, found)), el('small', {}, escape(range))),
  )
}

function invalidArms(arms: readonly ArmResult[]): string[] {
  return arms.flatMap(({ title, invalidBecause }) => [
    `<strong>${escape(title)}</strong> does not count:`,
    el('ul', {}, ...invalidBecause.map((reason) => el('li', {}, escape(reasonText(reason))))),
  ])
}

/** One plot for the throughput that decides, and one per rate for latency. */
function ratios(result: Result): string[] {
  const groups = Map.groupBy(deciding(result), ({ metric, share }) => `${metric} ${share}`)
  if (groups.size === 0) return []
  const plots = [...groups.values()].map((comparisons) => {
    const label = capital(`${metricText(comparisons[0]!, result.unit)}, over the baseline’s`)
    return el('figure', {}, el('h3', { style: 'margin-top:0' }, escape(label)), forest(result, comparisons, label))
  })
  const baselines = [...new Set(deciding(result).map(({ baseline }) => titleOf(result, baseline)))].join('; ')
  return [
    el('h2', {}, 'Ratios'),
    el(
      'p',
      {},
      escape(`Each arm against ${baselines}. The bar covers the true ratio with at least 99\u{a0}% confidence.`),
    ),
    ...plots,
  ]
}

function figures(result: Result): string {
  return el('h2', {}, 'Figures') + tablesOf(result).map(table).join('')
}

function table({ title, head, rows }: Table): string {
  const body = rows.map((row) =>
    el('tr', {}, ...row.map((cell, column) => el('td', verdictClass(cell, column, row.length), escape(cell)))),
  )
  return (
    (title === '' ? '' : el('h3', {}, escape(title))) +
    el(
      'div',
      { class: 'scroll' },
      el('table', {}, el('tr', {}, ...head.map((cell) => el('th', {}, escape(cell)))), ...body),
    )
  )
}

function verdictClass(cell: string, column: number, columns: number): { class?: string } {
  return column === columns - 1 && /^(faster|slower|unclear|INVALID)$/.test(cell) ? { class: cell } : {}
}

function latencies(result: Result): string[] {
  const shares = [...new Set(result.arms.flatMap(({ open }) => open.map(({ share }) => share)))]
  const plots = [
    ...shares.map((share) => ({
      title: `At ${Math.round(share * 100)} % of the baseline’s capacity, from when each request was due`,
      curves: curvesOf(result, (arm) => arm.open.find((open) => open.share === share)?.latency ?? null),
    })),
    {
      title: 'In a closed loop, where a slow answer delays the next request: to compare runs, not arms',
      curves: curvesOf(result, ({ latency }) => latency),
    },
    { title: 'Probe requests during the load, at a fixed rate', curves: curvesOf(result, ({ probe }) => probe) },
  ].filter(({ curves }) => curves.length > 0)
  if (plots.length === 0) return []
  return [
    el('h2', {}, 'Latency'),
    el('p', {}, 'Milliseconds by percentile. Each additional nine has the same width.'),
    ...plots.map(({ title, curves }) =>
      el(
        'figure',
        {},
        el('h3', { style: 'margin-top:0' }, escape(title)),
        legend(curves),
        percentilePlot(curves, title),
      ),
    ),
  ]
}

function curvesOf(result: Result, pick: (arm: ArmResult) => Curve['latency'] | null): Curve[] {
  return shown(result).flatMap((arm, at) => {
    const latency = pick(arm)
    return latency === null ? [] : [{ name: titleOf(result, arm.name), colour: at % 8, latency }]
  })
}

function legend(curves: readonly Curve[]): string {
  return el(
    'ul',
    { class: 'legend' },
    ...curves.map(({ name, colour }) => el('li', { class: `c${colour}` }, escape(name))),
  )
}

function series(result: Result): string[] {
  const arms = shown(result).filter(({ slices }) => slices.length > 0)
  if (arms.length === 0) return []
  const scales = sharedScales(arms)
  const open = arms.some((arm) => arm.open.length > 0) ? 'Darker slices ran at a fixed rate. ' : ''
  return [
    el('h2', {}, 'Over time'),
    el(
      'p',
      {},
      `All slices of each arm in sequence, every tenth of a second, on the same scales for all arms. ${open}Values from inside the programs come four times a second.`,
    ),
    ...arms.map((arm, at) =>
      el(
        'details',
        at < 3 ? { open: '' } : {},
        el('summary', {}, escape(titleOf(result, arm.name))),
        el('figure', {}, timeSeries(arm, shown(result).indexOf(arm) % 8, scales)),
      ),
    ),
  ]
}

function server(result: Result): string {
  return el('h2', {}, 'Summary') + table({ ...summaryTable(result), title: '' })
}

function notes(result: Result): string {
  const sentences = sentencesFor(result).filter(
    (sentence) => !deciding(result).some((each) => sentenceOn(result, each) === sentence),
  )
  return (
    el('h2', {}, 'Notes') + el('ul', { class: 'notes' }, ...sentences.map((sentence) => el('li', {}, escape(sentence))))
  )
}

function environment({ machine, versions, seed, command, generator, startedAt }: Result): string {
  const facts: [string, string][] = [
    ['processor', `${machine.cores} × ${machine.cpu}${machine.virtualised ? ', virtual' : ''}`],
    ['memory', `${(machine.memory / 2 ** 30).toFixed(0)} GiB`],
    ['system', `${machine.platform}, kernel ${machine.kernel}`],
    ['governor', machine.governor ?? 'unknown'],
    ['Node', machine.node],
    ...Object.entries(versions),
    ['load generator', generator === 'busbar-load' ? 'the lab’s own engine' : 'autocannon'],
    ['seed', String(seed)],
    ['started', startedAt],
  ]
  return [
    el('h2', {}, 'Where this was measured'),
    el('dl', {}, ...facts.map(([name, value]) => el('dt', {}, escape(name)) + el('dd', {}, escape(value)))),
    el('h2', {}, 'Repeat it'),
    el('pre', {}, escape(command)),
  ].join('')
}

function shown({ arms }: Result): ArmResult[] {
  return arms.filter(({ control }) => !control)
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
