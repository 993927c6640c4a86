/**
 * The caller of typed services, whose names are in `SERVICES` (a JSON list). Otherwise like
 * `../entry.ts`.
 */
import { client } from 'busbar/client'
import { serveEntry } from '../serve-entry.ts'
import { leaf } from './leaf/contract.ts'

const names = JSON.parse(process.env['SERVICES'] ?? '[]') as string[]
const leaves = names.map((service) => client(leaf, undefined, { service }))
await serveEntry(
  leaves.map(
    ({ live }) =>
      async () =>
        (await live()).content.length > 0,
  ),
)
