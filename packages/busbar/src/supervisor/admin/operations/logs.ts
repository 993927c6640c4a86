import * as z from 'zod'
import { levelNumber } from '../../../observe/log-entry.ts'
import { logLevels } from '../../../shared/output/log-levels.ts'
import { following } from './followers.ts'
import { defineLines } from './operation.ts'
import { knownService } from './serving-worker.ts'

const input = z.strictObject({
  service: z.string().optional().meta({ description: 'only lines of this service' }),
  level: z
    .enum(logLevels as [(typeof logLevels)[number], ...(typeof logLevels)[number][]])
    .optional()
    .meta({ description: 'only lines of this level or above' }),
  since: z.coerce.number().optional().meta({ description: 'only later lines: milliseconds since 1970' }),
  limit: z.coerce.number().int().min(0).max(100_000).default(1000).meta({ description: 'at most this many, the last' }),
  follow: z.stringbool().default(false).meta({ description: 'go on with further lines until the client disconnects' }),
  mark: z.stringbool().default(false).meta({ description: 'with `follow`: an empty line after those that were kept' }),
})

export const readLogs = defineLines({
  name: 'readLogs',
  method: 'GET',
  path: '/logs',
  summary: 'The recent lines of the log that the supervisor keeps in memory, the oldest first.',
  input,
  output: z.looseObject({
    level: z.union([z.number(), z.string()]).meta({ description: 'a number or a name, as the program writes it' }),
    time: z.union([z.number(), z.string()]).meta({
      description: 'as the program writes it; of other lines: milliseconds since 1970',
    }),
    service: z.string().optional(),
    worker: z.int().optional(),
    msg: z.string().optional(),
  }),
  handle({ level, service, ...reading }, { running, recentLog, signal }) {
    if (recentLog === undefined) return noLines()
    // Lines of a service that has gone are kept. Tasks of the schedule have names of their own.
    const mayHaveLines = service === undefined || service.startsWith('schedule.') || recentLog.has(service)
    if (!mayHaveLines) knownService(running.app, service)
    const lines = recentLog.read({ ...reading, service, signal, level: level && levelNumber(level) })
    return reading.follow ? following(running, lines) : lines
  },
})

async function* noLines(): AsyncGenerator<string> {}
