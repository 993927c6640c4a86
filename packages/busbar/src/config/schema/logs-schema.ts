import * as z from 'zod'
import { bytes, durationWithDefault, filled, integer, size } from './fields.ts'

export const logFiles = z.strictObject({
  folder: filled().meta({
    title: 'a folder',
    description: 'Where the files are, relative to the folder of the config.',
  }),
  maxSize: size().prefault('16mb').meta({
    title: bytes,
    description: 'Size at which `app.log` is rotated: renamed with the time in its name, and begun anew.',
  }),
  maxAge: durationWithDefault('86400s', 1000, 'Age at which `app.log` is rotated.'),
  maxTotal: size().prefault('256mb').meta({
    title: bytes,
    description: 'All log files together; the oldest are deleted. At least three times `maxSize`.',
  }),
  compress: z.boolean().prefault(true).meta({
    title: 'true or false',
    description: 'Whether rotated files are compressed with gzip.',
  }),
})

const files = z.union([filled(), logFiles]).optional().meta({
  title: 'a folder, or an object',
  description: 'Also writes the log to files, as JSON lines. A text is short for its `folder`.',
})

export const logs = z
  .strictObject({
    stdout: z.boolean().prefault(true).meta({
      title: 'true or false',
      description: 'Whether the log is on standard output. False only has an effect with `logs.files`.',
    }),
    files,
    rate: integer(1, 1_000_000).optional().meta({
      title: 'an integer from 1 to 1000000',
      description:
        'Lines that each service may write per second; further ones are dropped, and a line says how many. Default: no limit.',
    }),
    redact: z
      .array(filled().meta({ title: 'the name of a field' }))
      .optional()
      .meta({
        title: 'a list of names of fields',
        description:
          'Fields of JSON lines whose values are hidden, beside the usual ones such as `password` and `authorization`.',
      }),
  })
  .prefault({})
  .meta({
    title: 'an object',
    description: 'The log: where it goes, its limits, what it hides. See [logs](../guides/observe/logs.md).',
  })
