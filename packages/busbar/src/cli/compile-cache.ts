/**
 * What V8 has made of an app's modules, for the process that takes over after a crash: a quarter of its start is reading and
 * compiling them. In a folder of its own, since whoever can write there has their code run here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Node reads it in every process and thread. */
const variable = 'NODE_COMPILE_CACHE'
const prefix = join(tmpdir(), 'busbar-cache-')

type Environment = Readonly<Record<string, string | undefined>>

/** What to add to the environment of those who are to share one; nothing where the user has one, or there is no place. */
export function createCompileCache({ [variable]: said }: NodeJS.ProcessEnv): Environment {
  if (said !== undefined) return {}
  try {
    return { [variable]: mkdtempSync(prefix) }
  } catch {
    return {}
  }
}

/** Only what was created here. */
export function removeCompileCache({ [variable]: folder }: Environment): void {
  if (folder?.startsWith(prefix) === true && dirname(folder) === dirname(prefix))
    rmSync(folder, { recursive: true, force: true })
}

/** Node itself writes it when it ends, which a crash leaves no time for. Without a cache, nothing. */
export function writeCompileCache(): void {
  flushCompileCache()
}
