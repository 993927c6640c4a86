import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { App, Service } from '../../config/app.ts'
import { loadApp } from '../../config/load.ts'
import { searchPath } from '../../config/services/command.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { CommandContext } from '../command.ts'
import { resolveOperand } from '../operand.ts'
import { onStopSignal } from '../stop-signals.ts'
import { paint, print } from '../terminal/terminal.ts'

/** What `--json` prints. Keys are only ever added. */
export interface BuildReport {
  readonly built: readonly BuiltService[]
}

interface BuiltService {
  readonly service: string
  readonly command: string
  readonly milliseconds: number
}

/** `busbar build`: builds the services one after the other, those that others need first. */
export async function build(context: CommandContext): Promise<number> {
  const { flags, terminal } = context
  const location = resolveOperand(context)
  const options = { env: terminal.env, overrides: flags, starts: false }
  const app = await loadApp(location, { ...options, unbuilt: true })
  const built: BuiltService[] = []
  for (const service of withBuild(app)) {
    const { name, build: { text } = { text: '' } } = service
    // The output of the builds goes to standard error, so that standard output is only JSON.
    const out = flags.json ? terminal.err : terminal.out
    print(out, `${paint(out, 'bold', name)} ${paint(out, 'dim', text)}`)
    const began = performance.now()
    await run(service, flags.json === true)
    built.push({ service: name, command: text, milliseconds: Math.round(performance.now() - began) })
  }
  // Refuses a build that did not create what a start needs.
  await loadApp(location, options)
  if (flags.json) print(terminal.out, JSON.stringify({ built } satisfies BuildReport, undefined, 2))
  else if (built.length === 0) print(terminal.out, 'no service has a build')
  return 0
}

/** In start order. Services of one folder with one build are built once. */
function withBuild({ services }: App): Service[] {
  const keys = new Set<string>()
  return services.filter(({ path, build: found }) => {
    const key = JSON.stringify([path, found])
    const isNew = found !== undefined && !keys.has(key)
    keys.add(key)
    return isNew
  })
}

async function run({ name, path, env: own, build: found }: Service, toStderr: boolean): Promise<void> {
  const env = { ...process.env, ...own }
  for (const [file, ...args] of found!.commands) {
    const child = spawn(file!, args, {
      cwd: path,
      env: { ...env, PATH: searchPath(path, env['PATH']) },
      stdio: ['ignore', toStderr ? 2 : 'inherit', 'inherit'],
    })
    const forget = onStopSignal((signal) => child.kill(signal))
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
      if (code !== 0) throw failed(name, found!.text, signal === null ? `exit code ${code}` : signal)
    } catch (error) {
      throw BusbarError.is(error) ? error : failed(name, found!.text, (error as Error).message)
    } finally {
      forget()
    }
  }
}

function failed(service: string, command: string, how: string): BusbarError {
  return new BusbarError('BUILD_FAILED', {
    service,
    message: `the build of service '${service}' (${command}) failed: ${how}`,
    hint: 'See its output above. Services that need this one were not built.',
  })
}
