import * as z from 'zod'
import { isTimeZone, whyNotCron } from '../../shared/time/cron-times.ts'
import { durationWithDefault, filled, integer, optionalDuration, requestTarget } from './fields.ts'

const threshold = 'an integer from 1 to 1000'

export const healthObject = z.strictObject({
  path: requestTarget().meta({
    title: 'a path',
    description: 'The path that is requested, by GET. A status from 200 to 399 within `timeout` means healthy.',
  }),
  interval: durationWithDefault('5s', 10, 'The time from one check to the next.'),
  timeout: durationWithDefault('2s', 10, 'How long a check may take.'),
  unhealthyAfter: integer(1, 1_000).prefault(3).meta({
    title: threshold,
    description: 'After how many failed checks in a row an instance is unhealthy: it gets no new calls.',
  }),
  healthyAfter: integer(1, 1_000).prefault(1).meta({
    title: threshold,
    description: 'After how many passed checks in a row it is healthy again.',
  }),
  restartAfter: z
    .union([integer(1, 100_000), z.literal(false)])
    .prefault(12)
    .meta({
      title: 'an integer from 1 to 100000, or false',
      description: 'After how many failed checks in a row an instance is replaced; false: never.',
    }),
})

export const health = z.union([requestTarget(), healthObject]).optional().meta({
  title: 'a path, or an object',
  description: 'How the health of its instances is checked. A text is short for its `path`.',
})

export const ready = z.enum(['listen', 'signal']).optional().meta({
  title: '"listen" or "signal"',
  description:
    "When a program counts as started: when it listens (the default), or when it has also called `process.send('ready')` or `ready()` of `busbar`.",
})

const timeZone = filled().refine(isTimeZone).optional().meta({
  title: 'a time zone, such as "Europe/Berlin"',
  description: 'The time zone of the expression. Default: that of the system.',
})

const cronTitle = 'a cron expression, such as "0 4 * * *"'

const cron = () =>
  filled().refine(isCron).meta({
    title: cronTitle,
    description: 'When: minute, hour, day, month and day of the week; a sixth field in front is the second.',
  })

export const cronRestart = z
  .union([filled().refine(isCron), z.strictObject({ cron: cron(), timeZone })])
  .optional()
  .meta({
    title: `${cronTitle}, or an object of cron and timeZone`,
    description: 'When its instances are replaced, one after the other.',
  })

export const maxUptime = optionalDuration(1_000, 'How long an instance may serve before it is replaced.')

function isCron(text: string): boolean {
  return whyNotCron(text, undefined) === undefined
}

export const trial = z
  .strictObject({
    window: durationWithDefault('10s', 1, 'How long both generations serve.'),
    errors: z.number().min(1).prefault(2).meta({
      title: 'a number from 1',
      description: 'How many times as large a share of calls may fail as in the running generation.',
    }),
    p99: z.number().min(1).prefault(2).meta({
      title: 'a number from 1',
      description: 'How many times as long the p99 of calls may be as in the running generation.',
    }),
    calls: integer(1, 1_000_000).prefault(100).meta({
      title: 'an integer from 1 to 1000000',
      description: 'With fewer calls in the window, nothing is compared.',
    }),
  })
  .optional()
  .meta({
    title: 'an object of window, errors, p99 and calls',
    description:
      'A new [generation](../guides/operate/changing.md) first serves beside the running one, and is discarded if it is worse. Default: it takes over when it is ready.',
  })
