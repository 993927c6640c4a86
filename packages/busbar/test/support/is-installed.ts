import { createRequire } from 'node:module'

/** Whether the repository has this package, which it needs for tests only. */
export function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
