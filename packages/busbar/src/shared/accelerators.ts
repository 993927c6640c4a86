/**
 * Names of the accelerators: code that relies on undocumented parts of Node to be faster. Each can
 * be switched off; everything that Busbar promises works without it.
 */
export const acceleratorNames = ['exchange', 'stream', 'handover', 'batch-writes'] as const

export type AcceleratorName = (typeof acceleratorNames)[number]

/**
 * Changes what a program observes: writes are reported as complete before they are. Only
 * `gateway.batchWrites` enables it.
 */
export const optInAccelerator: AcceleratorName = 'batch-writes'

/** The meaning of `all`. */
export const defaultAccelerators: readonly AcceleratorName[] = acceleratorNames.filter(
  (name) => name !== optInAccelerator,
)

/** Overrides the config: `all`, `none`, or comma-separated names. */
export const acceleratorsVariable = 'BUSBAR_ACCELERATORS'

/** As reported by `busbar check` and the admin listener's `/status`. */
export interface AcceleratorState {
  readonly name: AcceleratorName
  readonly on: boolean
  /** Why it is off; null if it is on. */
  readonly why: string | null
}

/** Undefined for an unknown name. */
export function parseAccelerators(text: string): readonly AcceleratorName[] | undefined {
  const names = text.split(',').map((name) => name.trim())
  if (names.length === 1 && names[0] === 'all') return defaultAccelerators
  if (names.length === 1 && (names[0] === 'none' || names[0] === '')) return []
  return names.every(isName) ? names : undefined
}

function isName(name: string): name is AcceleratorName {
  return (acceleratorNames as readonly string[]).includes(name)
}

/** A sentence for the log and for people. */
export function acceleratorsText(states: readonly AcceleratorState[]): string {
  const on = states.filter((state) => state.on).map(({ name }) => name)
  const off = states.filter((state) => !state.on).map(({ name, why }) => `${name} (${why})`)
  const parts = [
    ...(on.length > 0 ? [`on: ${on.join(', ')}`] : []),
    ...(off.length > 0 ? [`off: ${off.join(', ')}`] : []),
  ]
  return parts.join('; ')
}

/** The release lines of Node that Busbar is tested with, as in `engines` of the package. */
export const testedNodes: readonly number[] = [24, 26]
