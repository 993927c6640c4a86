import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * The folder that a variable names, else one below the home of this user. Relative paths are
 * ignored (XDG Base Directory Specification, "Basics"): they name another folder in each working
 * directory, and a later command would not find what an earlier one has written.
 */
export function userFolder(variable: string | undefined, ...belowHome: readonly string[]): string {
  return variable !== undefined && isAbsolute(variable) ? variable : join(homeFolder(), ...belowHome)
}

/**
 * `/` for a user who has none: no usable `HOME`, and no entry in the list of users, as in
 * containers with an arbitrary user. Container runtimes set `HOME` to it. Such a user cannot write
 * there, which is found where it matters.
 */
function homeFolder(): string {
  for (const read of [homedir, () => userInfo().homedir]) {
    try {
      const folder = read()
      if (isAbsolute(folder)) return folder
    } catch {
      // There is no such entry.
    }
  }
  return '/'
}

/** The number of a user who has no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
