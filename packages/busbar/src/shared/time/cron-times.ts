import { Cron } from 'croner'

/** The first time after `after` that the expression means. Undefined if there is none. */
export function nextTime(cron: string, timeZone: string | undefined, after: Date): Date | undefined {
  const times = fixedTimesOf(cron).flatMap((one) => open(one, timeZone).nextRun(after) ?? [])
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0]
}

/** Why the expression cannot be used. Undefined if it can. */
export function whyNotCron(cron: string, timeZone: string | undefined): string | undefined {
  try {
    // A date is no expression: it would be over after one run.
    const fields = cron.trim().split(/\s+/).length
    if (!cron.trim().startsWith('@') && fields !== 5 && fields !== 6) return 'it needs five or six fields'
    return open(cron, timeZone).nextRun() === null ? 'it never occurs' : undefined
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '')
  }
}

export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** An expression with more times a day than this is an interval: it has one for each minute. */
const mostTimes = 1440

/**
 * One expression for each time of day. When clocks change, Croner drops or repeats times of an
 * expression that has several: `30 2,14 * * *` would miss a day. With a wildcard or a step it is an
 * interval, which follows the clock.
 */
function fixedTimesOf(cron: string): string[] {
  const fields = cron.trim().split(/\s+/)
  const days = fields.slice(-3)
  const ofDay = fields.slice(0, -3)
  if (ofDay.length < 2 || !ofDay.every((field) => /^[\d,-]+$/.test(field))) return [cron]
  let times = ['']
  for (const field of ofDay) {
    const values = field.split(',').flatMap(rangeOf)
    if (times.length * values.length > mostTimes) return [cron]
    times = times.flatMap((time) => values.map((value) => `${time}${value} `))
  }
  return times.map((time) => time + days.join(' '))
}

function rangeOf(text: string): number[] {
  const [from = 0, to = from] = text.split('-').map(Number)
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

/** Paused: only its arithmetic is used, timers are ours. */
function open(cron: string, timeZone: string | undefined): Cron {
  return new Cron(cron, { paused: true, ...(timeZone !== undefined && { timezone: timeZone }) })
}
