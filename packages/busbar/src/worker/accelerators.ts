import { inspect } from 'node:util'
import { parentPort } from 'node:worker_threads'
import {
  acceleratorNames,
  type AcceleratorName,
  acceleratorsVariable,
  type AcceleratorState,
  optInAccelerator,
  testedNodes,
} from '../shared/accelerators.ts'

/**
 * Each exports `probe`, which returns why it does not work here (undefined if it works), and
 * `attachment`, the implementation that its layer uses when it is on.
 */
const modules = {
  exchange: () => import('../accelerators/exchange/index.ts'),
  stream: () => import('../accelerators/stream/index.ts'),
  handover: () => import('../accelerators/handover/index.ts'),
  'batch-writes': () => import('../accelerators/batch-writes/index.ts'),
} satisfies Readonly<Record<AcceleratorName, () => Promise<AcceleratorModule>>>

interface AcceleratorModule {
  readonly probe: () => unknown
  readonly attachment: unknown
}

/** The attachments of the accelerators that are on. Layers use them in place of documented APIs. */
export type Attachments = {
  readonly [Name in AcceleratorName]?: Awaited<ReturnType<(typeof modules)[Name]>>['attachment']
}

export interface Accelerators {
  readonly states: readonly AcceleratorState[]
  readonly attachments: Attachments
}

interface Parts {
  readonly wanted: readonly AcceleratorName[]
  readonly probed: readonly AcceleratorState[]
  readonly unused: readonly AcceleratorName[]
  readonly attachments: Attachments
}

const disabled = `the config or ${acceleratorsVariable} leaves it out`
const notOptedIn = 'gateway.batchWrites does not ask for it'
const notInstalled = 'this Busbar comes without it'

/**
 * Loads the accelerators that the app enables and that work on this Node. Probes those that are not
 * in `probed`. `unused`: has nothing here to attach to, and is loaded for its probe only.
 */
export async function startAccelerators(
  wanted: readonly AcceleratorName[],
  probed: readonly AcceleratorState[] = [],
  unused: readonly AcceleratorName[] = [],
): Promise<Accelerators> {
  const attachments: Attachments = {}
  const states = await Promise.all(
    acceleratorNames.map(async (name): Promise<AcceleratorState> => {
      const why = await start(name, { wanted, probed, unused, attachments })
      return { name, on: why === null, why }
    }),
  )
  return { states, attachments }
}

/** In a thread of its own: reports which of `wanted` work on this Node. */
export async function reportAccelerators(wanted: readonly AcceleratorName[]): Promise<void> {
  const { states } = await startAccelerators(wanted)
  parentPort!.postMessage(states)
}

/** Returns why the accelerator is off, or null if it is on. */
async function start(name: AcceleratorName, { wanted, probed, unused, attachments }: Parts): Promise<string | null> {
  if (!wanted.includes(name)) return name === optInAccelerator ? notOptedIn : disabled
  const major = Number.parseInt(process.versions.node)
  if (!testedNodes.includes(major)) return `Node ${major} was not tested, only ${testedNodes.join(' and ')}`
  const known = probed.find((state) => state.name === name)
  if (known !== undefined && unused.includes(name)) return known.why
  const found = await load(name)
  if (found === undefined) return notInstalled
  const why = known === undefined ? await probe(found) : known.why
  if (why !== null) return why
  Object.assign(attachments, { [name]: found.attachment })
  return null
}

async function probe(accelerator: AcceleratorModule): Promise<string | null> {
  const fault = await accelerator.probe()
  return fault === undefined ? null : `its probe failed: ${textOf(fault)}`
}

/** Returns undefined if the accelerator's folder has been deleted. */
async function load(name: AcceleratorName): Promise<AcceleratorModule | undefined> {
  try {
    return await modules[name]()
  } catch (error) {
    if (isMissing(error, name)) return undefined
    throw error
  }
}

/** True if the accelerator's own entry is missing, false for a file that the entry imports. */
function isMissing(error: unknown, name: AcceleratorName): boolean {
  const { code, url } = error as { code?: unknown; url?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' && typeof url === 'string' && url.includes(`/accelerators/${name}/index.`)
}

function textOf(fault: unknown): string {
  if (typeof fault === 'string') return fault
  return fault instanceof Error ? fault.message : inspect(fault)
}
