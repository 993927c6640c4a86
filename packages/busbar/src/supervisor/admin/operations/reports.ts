/** Results of the lab that are kept with the app: `busbar bench --json results/fanout.json`. */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { defineJson } from './operation.ts'

/** Below the folder of the app. */
const folders = ['', 'results', 'bench', 'docs/results', '.busbar/results'] as const

/** Files that are looked at, and the bytes of one. */
const maxFiles = 200
const maxSize = 32 * 1024 ** 2

/** What is read of a result; the lab's own schema describes all of it. */
const result = z.looseObject({
  version: z.literal(1),
  scenario: z.string(),
  question: z.string(),
  startedAt: z.string(),
  arms: z.array(z.looseObject({ name: z.string(), title: z.string() })),
})

type Result = z.output<typeof result>

export const listReports = defineJson({
  name: 'listReports',
  method: 'GET',
  path: '/reports',
  summary: 'The results of `busbar bench --json` in the folder of the app, the latest first.',
  input: z.strictObject({}),
  output: z.object({
    folders: z.array(z.string()).meta({ description: 'where they are looked for' }),
    reports: z.array(
      z.object({
        file: z.string().meta({ description: 'below the folder of the app' }),
        scenario: z.string(),
        question: z.string(),
        startedAt: z.string(),
        arms: z.int(),
      }),
    ),
  }),
  async handle(_, { running: { app } }) {
    const reports = []
    for (const file of await candidates(app.root)) {
      const found = await readResult(join(app.root, file))
      if (found === undefined) continue
      const { scenario, question, startedAt, arms } = found
      reports.push({ file, scenario, question, startedAt, arms: arms.length })
    }
    reports.sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))
    return { folders: folders.map((folder) => join(app.root, folder)), reports }
  },
})

export const getReport = defineJson({
  name: 'getReport',
  method: 'GET',
  path: '/reports/{file}',
  summary: 'One result of the lab.',
  input: z.strictObject({ file: z.string().meta({ description: 'as the list has it' }) }),
  output: result,
  async handle({ file }, { running: { app } }) {
    // Only a file of the list: a path from outside could lead anywhere.
    const known = (await candidates(app.root)).includes(file)
    const found = known ? await readResult(join(app.root, file)) : undefined
    if (found !== undefined) return found
    throw new BusbarError('ROUTE_NOT_FOUND', {
      message: `the app has no result ${JSON.stringify(file.slice(0, 200))}`,
      hint: 'GET /reports lists those that it has.',
    })
  },
})

async function candidates(root: string): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries)
      if (entry.isFile() && entry.name.endsWith('.json'))
        found.push(folder === '' ? entry.name : `${folder}/${entry.name}`)
  }
  return found.slice(0, maxFiles)
}

/** Undefined for other files, such as `package.json`. */
async function readResult(path: string): Promise<Result | undefined> {
  try {
    await using file = await open(path)
    if ((await file.stat()).size > maxSize) return undefined
    return result.parse(JSON.parse(await file.readFile('utf8')))
  } catch {
    return undefined
  }
}
