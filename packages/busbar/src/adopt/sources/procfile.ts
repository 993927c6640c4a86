import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ImportDraft } from '../import-draft.ts'
import type { Imported } from '../imported.ts'
import { applyLaunch } from '../launch/apply-launch.ts'
import { parseLaunch } from '../launch/launch.ts'
import { workingFolder } from '../launch/working-folder.ts'

/** Lines of `<name>: <command>` (Heroku, foreman, honcho, overmind). */
export async function importProcfile(file: string): Promise<Imported> {
  const folder = dirname(file)
  const draft = new ImportDraft('procfile', file, folder)
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const [, name, command] = /^([\w-]+):\s*(\S.*)$/.exec(line) ?? []
    if (name === undefined || command === undefined)
      draft.report(`line ${index + 1}`, { why: 'it is not <name>: <command>' })
    else await importLine(name, command, draft)
  }
  return draft.finish()
}

async function importLine(name: string, command: string, draft: ImportDraft): Promise<void> {
  if (name === 'release')
    return draft.leaveOut(undefined, name, 'it runs once before each release: run it before busbar start')
  const service = draft.addService(name)
  service.config.run = 'process'
  const { folder, rest } = await workingFolder(command, draft.root)
  const launch = await parseLaunch(rest, folder)
  if (launch.kind === 'command') delete service.config.run
  if (!(await applyLaunch({ service, folder, launch }, draft))) return
  draft.report(name, {
    to: `services.${service.name}`,
    ...(launch.kind === 'command' && { note: 'it must listen on the port in the variable PORT' }),
  })
  // Platforms tell `web` its port by PORT, and so does the gateway's default.
  if (name !== 'web' || draft.config.gateway !== undefined) return
  service.port = undefined
  draft.config.gateway = { entry: service.name }
}
