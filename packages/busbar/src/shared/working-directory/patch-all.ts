/**
 * Gives code in threads its own working directory, which Node does not support: replaces all public
 * functions that take a path. Paths that native code opens still start from the process's
 * directory.
 */
import { syncBuiltinESMExports } from 'node:module'
import type { Server } from 'node:net'
import { patchChildren } from './child-processes.ts'
import { patchFiles } from './files.ts'
import type { CurrentDirectory } from './relative-paths.ts'
import { patchModules } from './modules.ts'
import { patchProcess } from './process.ts'
import { patchSockets } from './sockets.ts'
import { patchSqlite } from './sqlite.ts'

export interface DirectoryOptions {
  readonly directory: CurrentDirectory
  /** Changes the current directory; if undefined, `process.chdir` behaves as in Node. */
  readonly enter?: (directory: string) => void
  /** True for a server that opens no socket, whose path stays as given. */
  readonly isVirtual?: (server: Server) => boolean
}

export function patchWorkingDirectory(
  { directory, enter, isVirtual = () => false }: DirectoryOptions,
  patches: DisposableStack,
): void {
  patchFiles(directory, patches)
  patchProcess({ directory, enter }, patches)
  patchChildren(directory, patches)
  patchModules(directory, patches)
  patchSockets(directory, isVirtual, patches)
  patchSqlite(directory, patches)
  syncBuiltinESMExports()
}
