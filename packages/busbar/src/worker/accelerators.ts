import { inspect } from 'node:util'
import {
  acceleratorNames,
  type AcceleratorName,
  acceleratorsVariable,
  type AcceleratorState,
  optIn,
} from '../shared/accelerators.ts'
import { testedNodes } from '../shared/tested-nodes.ts'

/** Each exports `probe`, which resolves to why it does not work here, and `attachment`, which its layer then uses. */
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

/** Of those that are on: what the layers that they make faster go by, in place of the documented way. */
export type Attachments = {
  readonly [Name in AcceleratorName]?: Awaited<ReturnType<(typeof modules)[Name]>>['attachment']
}

export interface Accelerators {
  readonly states: readonly AcceleratorState[]
  readonly attachments: Attachments
}

const leftOut = `the config or ${acceleratorsVariable} leaves it out`
const notAsked = 'gateway.batchWrites does not ask for it'
const notThere = 'this Busbar comes without it'

/** Loads those of the accelerators that the app wants, and finds out which of them work here. */
export async function startAccelerators(wanted: readonly AcceleratorName[]): Promise<Accelerators> {
  const attachments: Attachments = {}
  const states = await Promise.all(
    acceleratorNames.map(async (name): Promise<AcceleratorState> => {
      const why = await start(name, wanted, attachments)
      return { name, on: why === null, why }
    }),
  )
  return { states, attachments }
}

/** Why it is off; null where it is on. */
async function start(
  name: AcceleratorName,
  wanted: readonly AcceleratorName[],
  attachments: Attachments,
): Promise<string | null> {
  if (!wanted.includes(name)) return name === optIn ? notAsked : leftOut
  const major = Number.parseInt(process.versions.node)
  if (!testedNodes.includes(major)) return `Node ${major} was not tested, only ${testedNodes.join(' and ')}`
  const found = await load(name)
  if (found === undefined) return notThere
  const fault = await found.probe()
  if (fault !== undefined) return `its probe failed: ${textOf(fault)}`
  Object.assign(attachments, { [name]: found.attachment })
  return null
}

/** Undefined where its folder was taken out. */
async function load(name: AcceleratorName): Promise<AcceleratorModule | undefined> {
  try {
    return await modules[name]()
  } catch (error) {
    if (isMissing(error, name)) return undefined
    throw error
  }
}

/** The very file that is imported here, and none that it imports itself. */
function isMissing(error: unknown, name: AcceleratorName): boolean {
  const { code, url } = error as { code?: unknown; url?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' && typeof url === 'string' && url.includes(`/accelerators/${name}/index.`)
}

function textOf(fault: unknown): string {
  if (typeof fault === 'string') return fault
  return fault instanceof Error ? fault.message : inspect(fault)
}
