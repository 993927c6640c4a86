/**
 * Lets relative paths start from a folder of the running code's own, in threads that cannot have one: the public functions of
 * Node that take a path are replaced. What native code opens by itself still starts from the folder of the process.
 */
import { syncBuiltinESMExports } from 'node:module'
import type { Server } from 'node:net'
import { patchChildren } from './children.ts'
import { patchFiles } from './files.ts'
import type { CurrentFolder } from './folder.ts'
import { patchModules } from './modules.ts'
import { patchProcess } from './process.ts'
import { patchSockets } from './sockets.ts'
import { patchSqlite } from './sqlite.ts'

export interface FolderOptions {
  readonly folder: CurrentFolder
  /** Makes another folder that of the running code; where undefined, `process.chdir` does what Node does. */
  readonly enter?: (folder: string) => void
  /** Of a server that opens no socket, and whose path stays as it is said. */
  readonly isVirtual?: (server: Server) => boolean
}

export function followFolder(
  { folder, enter, isVirtual = () => false }: FolderOptions,
  patches: DisposableStack,
): void {
  patchFiles(folder, patches)
  patchProcess({ folder, enter }, patches)
  patchChildren(folder, patches)
  patchModules(folder, patches)
  patchSockets(folder, isVirtual, patches)
  patchSqlite(folder, patches)
  syncBuiltinESMExports()
}
