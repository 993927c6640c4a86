import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from './machine/certificate.ts'
import { shareOut } from './machine/cores.ts'
import { Keeper } from './machine/keeper.ts'
import type { CopyOptions } from './protocol/copy.ts'

/** What all copies need around them, whatever they are copies of. */
export type Workshop = Omit<CopyOptions, 'workers' | 'signal'>

/** Opens a workshop for the time of some work, and clears it away after it. */
export async function inWorkshop<T>(work: (workshop: Workshop) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-lab-'))
  const keeper = new Keeper()
  try {
    const certificate = await makeCertificate(folder)
    return await work({ keeper, certificate, environment: environment(), launcher: shareOut().launcher })
  } finally {
    await keeper.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** What every arm gets: the same for all, with nothing of the lab's own options for Node. */
function environment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, NODE_ENV: 'production', ...(TMPDIR !== undefined && { TMPDIR }) }
}
