/**
 * Code that makes something faster by means that Node does not document. All of it can be switched off: what Busbar promises
 * works without.
 */
export const acceleratorNames = ['exchange', 'stream', 'handover', 'batch-writes'] as const

export type AcceleratorName = (typeof acceleratorNames)[number]

/** Changes what a program observes: it is told that its bytes are written before they are. `gateway.batchWrites` asks for it. */
export const optIn: AcceleratorName = 'batch-writes'

/** What `all` means. */
export const defaultAccelerators: readonly AcceleratorName[] = acceleratorNames.filter((name) => name !== optIn)

/** Overrides the config: `all`, `none`, or names with commas between them. */
export const acceleratorsVariable = 'BUSBAR_ACCELERATORS'

/** As `busbar check` and the admin's `/status` tell it. */
export interface AcceleratorState {
  readonly name: AcceleratorName
  readonly on: boolean
  /** Why it is off; null where it is on. */
  readonly why: string | null
}

/** Undefined for names that are none. */
export function parseAccelerators(text: string): readonly AcceleratorName[] | undefined {
  const names = text.split(',').map((name) => name.trim())
  if (names.length === 1 && names[0] === 'all') return defaultAccelerators
  if (names.length === 1 && (names[0] === 'none' || names[0] === '')) return []
  return names.every(isName) ? names : undefined
}

function isName(name: string): name is AcceleratorName {
  return (acceleratorNames as readonly string[]).includes(name)
}

/** One sentence for the log and for people. */
export function acceleratorsText(states: readonly AcceleratorState[]): string {
  const on = states.filter((state) => state.on).map(({ name }) => name)
  const off = states.filter((state) => !state.on).map(({ name, why }) => `${name} (${why})`)
  const parts = [
    ...(on.length > 0 ? [`on: ${on.join(', ')}`] : []),
    ...(off.length > 0 ? [`off: ${off.join(', ')}`] : []),
  ]
  return parts.join('; ')
}
