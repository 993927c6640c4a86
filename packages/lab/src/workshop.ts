import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from './machine/certificate.ts'
import { shareOut } from './machine/cores.ts'
import { Keeper } from './machine/keeper.ts'
import type { CopyOptions } from './protocol/copy.ts'

/** What all copies need around them, whatever they are copies of. */
export type Workshop = Omit<CopyOptions, 'workers' | 'signal'>

/** Opens a workshop for the time of some work, and clears it away after it, however this process ends. */
export async function inWorkshop<T>(work: (workshop: Workshop) => Promise<T>): Promise<T> {
  // Short, since the path of a Unix socket below it may have 107 bytes.
  const folder = join(tmpdir(), `busbar-lab-${randomBytes(6).toString('base64url')}`)
  // The keeper before the folder: at no moment is there one that nobody would take away.
  const keeper = new Keeper(folder)
  try {
    await mkdir(folder, { mode: 0o700 })
    const certificate = await makeCertificate(folder)
    return await work({ folder, keeper, certificate, environment: environment(), launcher: shareOut().launcher })
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
