import { isOwnAddress } from './addresses.ts'
import type { Address, Service } from './app.ts'
import { laterKeys } from './later.ts'
import { isPlainObject } from './placeholders.ts'
import type { Problems } from './problems.ts'
import { isTyped, type ServiceSource } from './services.ts'

/**
 * Programs are to run in a thread each unless the config says otherwise, and this version only has `shared`. So that
 * no app changes its meaning later, a program beside other services must say so; a single program shares with nobody.
 * Typed services are shared unless the config says otherwise.
 * `said` is the config as it was written: a `run` that was refused has been reported already.
 */
export async function checkPlacement(
  sources: readonly ServiceSource[],
  root: string,
  said: unknown,
  problems: Problems,
): Promise<void> {
  if (sources.length < 2 || isSaid(said, 'defaults', 'run')) return
  const silent: string[] = []
  for (const source of sources)
    if (!isSaid(said, 'services', source.name, 'run') && !(await isTyped(source, root))) silent.push(source.name)
  if (silent.length === 0) return
  problems.add('PLACEMENT_UNSUPPORTED', {
    message: `${silent.join(', ')}: programs run in a thread each unless the config says otherwise, which this version cannot do yet`,
    hint: "Write defaults: { run: 'shared' } to let them share threads; `busbar check` says what speaks against it.",
  })
}

/** `remote` is refused as well; at the app's own address it would be a loop in any version. */
export function checkRemotes(said: unknown, gateway: Address, services: readonly Service[], problems: Problems): void {
  const entries = isPlainObject(said) && isPlainObject(said['services']) ? Object.entries(said['services']) : []
  for (const [name, service] of entries) {
    const remote = isPlainObject(service) ? service['remote'] : undefined
    if (remote === undefined) continue
    if (typeof remote === 'string' && isOwnAddress(remote, gateway, services))
      problems.add('ROUTE_LOOP', {
        message: `services.${name}.remote is ${remote}, where this app itself answers: calls to ${name} would come back in`,
        hint: 'Give the address of another app, or the folder of the service.',
      })
    else
      problems.add('PLACEMENT_UNSUPPORTED', {
        message: `services.${name}.remote: this version does not have \`remote\` yet`,
        hint: laterKeys['remote']!,
      })
  }
}

function isSaid(said: unknown, ...path: string[]): boolean {
  let at = said
  for (const key of path) at = isPlainObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  return at !== undefined
}
