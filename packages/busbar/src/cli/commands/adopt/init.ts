import { relative, resolve } from 'node:path'
import { adoptFolder, createApp, type Folder, inspectFolder } from '../../../adopt/init/init-folder.ts'
import { templateNames, type TemplateName } from '../../../adopt/init/template-names.ts'
import { templateSummaries } from '../../../adopt/init/templates.ts'
import { quoted } from '../../../adopt/launch/launch.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { ask, canAsk } from '../../terminal/ask.ts'
import { print } from '../../terminal/terminal.ts'

/** `busbar init`: a new app from a template, or a config for the services of an existing folder. */
export async function init(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  const path = resolve(terminal.cwd, operands[0] ?? '.')
  const folder = await inspectFolder(path)
  const asks = canAsk(terminal) && !flags.yes && !flags.json
  const files = folder.kind === 'new' ? await createNew(path, asks, context) : await adopt(folder, asks, context)
  if (files === undefined) return 130
  const next = nextSteps(folder, files, terminal.cwd)
  const lines = [`${files.join(', ')}: written`, '', 'Next:', ...next.map((step) => `  ${step}`)]
  printResult(context, { ok: true, folder: path, kind: folder.kind, files, next }, lines.join('\n'))
  return 0
}

/** Undefined if the question was not answered. */
async function createNew(
  path: string,
  asks: boolean,
  { flags, terminal }: CommandContext,
): Promise<string[] | undefined> {
  if (flags.template !== undefined || !asks) return await createApp(path, flags.template ?? 'both')
  for (const [index, name] of templateNames.entries())
    print(terminal.out, `  ${index + 1} ${name}: ${templateSummaries[name]}`)
  const chosen = await ask({ text: 'What should the app have?', usual: 'both', answers: templateNames }, terminal)
  return chosen === undefined ? undefined : await createApp(path, chosen as TemplateName)
}

/** Undefined if the user does not want it. */
async function adopt(
  { path, found }: Folder & { kind: 'existing' },
  asks: boolean,
  { flags, terminal }: CommandContext,
): Promise<string[] | undefined> {
  if (flags.template !== undefined)
    throw new BusbarError('USAGE', {
      message: `${path} is not empty, and a template needs an empty folder`,
      hint: 'Give another folder, or leave --template out.',
    })
  const names = Object.keys(found.config.services ?? {})
  const from = found.source === path ? '' : ` in ${relative(path, found.source)}`
  if (asks) {
    const count = names.length === 1 ? '1 service was' : `${names.length} services were`
    const text = `${count} found${from}: ${names.join(', ')}. Write busbar.config.ts for them?`
    if ((await ask({ text, usual: 'yes', answers: ['yes', 'no'] }, terminal)) !== 'yes') return undefined
  }
  return await adoptFolder(path, found)
}

function nextSteps(folder: Folder, files: readonly string[], cwd: string): string[] {
  const place = relative(cwd, folder.path)
  const enter = place === '' ? [] : [`cd ${quoted(place)}`]
  if (folder.kind === 'new') return [...enter, 'npm install', 'npm run dev']
  const { kind, unmapped, source } = folder.found
  const report =
    unmapped.length === 0
      ? []
      : [`npx busbar import ${quoted(relative(folder.path, source))}   # what became of every key`]
  return [
    ...enter,
    ...(files.includes('package.json') ? ['npm install'] : []),
    ...(kind === 'workspaces' || kind === 'program' ? [] : report),
    'npx busbar check',
    'npx busbar start',
  ]
}
