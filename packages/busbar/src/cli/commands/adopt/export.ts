import { realpathSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { compose } from '../../../adopt/deploy/compose.ts'
import { type Deployment, describeDeployment } from '../../../adopt/deploy/deployment.ts'
import { dockerfile, dockerignore } from '../../../adopt/deploy/dockerfile.ts'
import { kubernetes } from '../../../adopt/deploy/kubernetes.ts'
import { writeNewFile } from '../../../adopt/write-config.ts'
import type { App } from '../../../config/app.ts'
import { pathKind } from '../../../config/file/file-lookup.ts'
import { loadApp } from '../../../config/load.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { unitOfApp } from '../../startup/app-unit.ts'
import { unitTarget } from '../../startup/install-unit.ts'

interface ExportedFile {
  /** Absolute. */
  readonly file: string
  readonly text: string
}

/** `busbar export`: prints or writes the files that deploy an app. */
export async function exportFiles(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const [format = '', place = '.'] = operands
  const create = formats[format]
  if (create === undefined)
    throw new BusbarError('USAGE', {
      message: `busbar export knows ${Object.keys(formats).join(', ')}, not "${format}"`,
    })
  const { env } = flags
  const location = resolve(terminal.cwd, place)
  const overrides = env === undefined ? {} : { env }
  // An image builds its services itself.
  const app = await loadApp(location, { env: terminal.env, overrides, unbuilt: format !== 'systemd', starts: false })
  const files = await create(app, location, context)
  if (flags.write) for (const { file, text } of files) await writeOne(file, text)
  const done = flags.write === true
  if (flags.json) printResult(context, { ok: true, format, written: done, files }, '')
  else if (done) printResult(context, {}, files.map(({ file }) => `${file} is written`).join('\n'))
  else terminal.out.stream.write(files[0]!.text)
  return 0
}

type Format = (app: App, location: string, context: CommandContext) => Promise<readonly ExportedFile[]>

/** The first file is the one that is printed. */
const formats: Readonly<Record<string, Format>> = {
  systemd: async (app, location, { flags, terminal }) => {
    const place = realpathSync(location)
    const { name, text } = unitOfApp(app, {
      location: place,
      environment: flags.env,
      target: unitTarget(flags.user === true, terminal.env),
    })
    return [{ file: join(app.root, name), text }]
  },
  dockerfile: async (app, _, { flags }) => {
    const deployment = await describeDeployment(app, flags.env)
    const ignored = await ignoreFile(deployment)
    return [{ file: join(app.root, 'Dockerfile'), text: dockerfile(deployment, nodeMajor()) }, ...ignored]
  },
  kubernetes: async (app, _, { flags }) => [
    { file: join(app.root, 'kubernetes.yaml'), text: kubernetes(await describeDeployment(app, flags.env)) },
  ],
  compose: async (app, _, { flags }) => [
    { file: join(app.root, 'compose.yaml'), text: compose(await describeDeployment(app, flags.env)) },
  ],
}

/** An existing `.dockerignore` counts, and stays. */
async function ignoreFile({ context }: Deployment): Promise<readonly ExportedFile[]> {
  const file = join(context, '.dockerignore')
  return (await pathKind(file)) === 'missing' ? [{ file, text: dockerignore }] : []
}

function nodeMajor(): number {
  return Number(process.versions.node.split('.')[0])
}

async function writeOne(file: string, text: string): Promise<void> {
  try {
    await writeNewFile(file, text)
  } catch (error) {
    if (BusbarError.is(error))
      throw new BusbarError('USAGE', {
        message: error.message,
        hint: `Print it instead, without --write, and compare it with your ${basename(file)}.`,
        cause: error,
      })
    throw error
  }
}
