import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadApp } from '../../../config/load.ts'
import { BusbarError } from '../../../contract/errors.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'
import { installUnit, nextSteps, unitTarget } from '../../startup/install-unit.ts'
import { ownCommand, socketsOfApp, type Unit, unitOfApp } from '../../startup/app-unit.ts'
import { savedAppsUnit, type ServiceUnit, unitName } from '../../startup/systemd-unit.ts'

type Target = ServiceUnit['target']

/** `busbar startup systemd`: installs a unit for an app, or for the saved ones. */
export async function startup(context: CommandContext): Promise<number> {
  const { operands, flags, terminal } = context
  if (operands[0] !== 'systemd')
    throw new BusbarError('USAGE', { message: `busbar startup supports systemd, not "${operands[0]}"` })
  const target = unitTarget(flags.user === true, terminal.env)
  const units = flags.saved ? [savedUnit(target)] : await unitsFor(context, target)
  if (flags.print) {
    const texts = units.map(({ name, text }) => (units.length === 1 ? text : `# ${name}\n${text}`))
    terminal.out.stream.write(texts.join('\n'))
    return 0
  }
  const files = units.map(({ name, text }) => installUnit(name, text, target.kind, terminal.env))
  const names = units.map(({ name }) => name)
  const next = nextSteps(names, target.kind)
  const written = `${files.join(' and ')} ${files.length === 1 ? 'is' : 'are'} written`
  const lines = [`${written}. To start the app now and after each boot:`, ...next.map((step) => `  ${step}`)]
  printResult(context, { ok: true, file: files[0], unit: names[0], files, next }, lines.join('\n'))
  return 0
}

/** The unit of the service, and with `--socket` the one of its sockets. */
async function unitsFor({ operands, flags, terminal }: CommandContext, target: Target): Promise<Unit[]> {
  const given = resolve(terminal.cwd, operands[1] ?? '.')
  // One that does not exist is refused below.
  const location = existsSync(given) ? realpathSync(given) : given
  const { env, socket: hasSockets = false } = flags
  const app = await loadApp(location, { env: terminal.env, overrides: { ...(env !== undefined && { env }) } })
  const service = unitOfApp(app, { location, environment: env, hasSockets, target })
  return hasSockets ? [service, socketsOfApp(app)] : [service]
}

function savedUnit(target: Target): Unit {
  return { name: unitName('saved'), text: savedAppsUnit({ command: ownCommand(), target }) }
}
