import { BusbarError } from '../../../contract/errors.ts'
import { takeProfile, takeHeapSnapshot } from '../../../supervisor/admin/operations/diagnostics.ts'
import { findRun } from '../../admin/find-runs.ts'
import { saveFile, stamped } from '../../admin/save-file.ts'
import type { CommandContext } from '../../command.ts'

const extensions = { cpu: 'cpuprofile', heap: 'heapprofile' } as const

/** `busbar profile`: records a profile of a service's worker and writes it. */
export async function profile(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const [of, service] = operands as [string, string]
  if (of !== 'cpu' && of !== 'heap')
    throw new BusbarError('USAGE', { message: `busbar profile takes cpu or heap, not "${of}"` })
  const { admin } = await findRun(flags.app, context)
  const { instance, seconds } = flags
  const input = { service, of, instance, ...(seconds !== undefined && { seconds }) } as const
  await saveFile(context, () => admin.file(takeProfile, input), `${stamped(service)}.${extensions[of]}`)
  return 0
}

/** `busbar heap-snapshot`: writes a snapshot of the heap of a service's worker. */
export async function heapSnapshot(context: CommandContext): Promise<number> {
  const { operands, flags } = context
  const service = operands[0]!
  const { admin } = await findRun(flags.app, context)
  const input = { service, instance: flags.instance }
  await saveFile(context, () => admin.file(takeHeapSnapshot, input), `${stamped(service)}.heapsnapshot`)
  return 0
}
