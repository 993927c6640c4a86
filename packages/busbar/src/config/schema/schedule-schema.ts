import * as z from 'zod'
import { durationWithDefault, filled } from './fields.ts'

const entry = z
  .strictObject({
    cron: filled().meta({
      title: 'a cron expression, such as "0 3 * * *"',
      description: 'When: minute, hour, day, month and day of the week; a sixth field in front is the second.',
    }),
    timeZone: filled().optional().meta({
      title: 'a time zone, such as "Europe/Berlin"',
      description: 'The time zone of the expression. Default: that of the system.',
    }),
    call: z
      .string()
      .regex(/^[^.]+\.[^.]+$/)
      .optional()
      .meta({ title: '"<service>.<method>"', description: 'Calls this method of a typed service.' }),
    request: z
      .string()
      .regex(/^[A-Z]+ http:\/\/[^/]+\.internal\/\S*$/)
      .optional()
      .meta({
        title: '"<METHOD> http://<service>.internal/<path>"',
        description: 'Sends this request to a service. A status from 200 to 399 is a success.',
      }),
    task: filled().optional().meta({
      title: 'a file',
      description: 'Runs this module with Node, in a process of its own. The exit code 0 is a success.',
    }),
    input: z.json().optional().meta({
      title: 'a JSON value',
      description: 'The input of `call`, or the body of `request`.',
    }),
    overlap: z.enum(['skip', 'queue', 'allow']).prefault('skip').meta({
      title: '"skip", "queue" or "allow"',
      description:
        'What happens when the previous run has not ended: no run, one that waits for the end, or another one beside it.',
    }),
    jitter: durationWithDefault('0s', 0, 'Each run begins up to this much later, by chance.'),
    missed: z.enum(['skip', 'run']).prefault('skip').meta({
      title: '"skip" or "run"',
      description: 'What happens after times at which the app did not run: nothing, or one run at once.',
    }),
    timeout: durationWithDefault('600s', 1, 'How long a run may take before it is ended.'),
  })
  .meta({ title: 'an object', description: 'An entry: `cron`, and one of `call`, `request` and `task`.' })

export const schedule = z.record(z.string(), entry).optional().meta({
  title: 'an object of entries',
  description: 'What runs at set times. See [the scheduler](../guides/operate/scheduler.md).',
})

export type ParsedEntry = z.output<typeof entry>
