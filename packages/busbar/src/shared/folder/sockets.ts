import net from 'node:net'
import { replace } from '../replace.ts'
import { type CurrentFolder, isRelative, pathIn } from './folder.ts'

type Connect = (this: net.Socket, ...args: unknown[]) => net.Socket
type Listen = (this: net.Server, ...args: unknown[]) => net.Server

/** Unix sockets have paths too. `isKept`: a server that opens none. */
export function patchSockets(
  folder: CurrentFolder,
  isKept: (server: net.Server) => boolean,
  patches: DisposableStack,
): void {
  replace(patches, net.Socket.prototype as unknown as { connect: Connect }, 'connect', (connect) => {
    return function (...args) {
      return Reflect.apply(connect, this, withFolder(args, folder))
    }
  })
  replace(patches, net.Server.prototype as unknown as { listen: Listen }, 'listen', (listen) => {
    return function (...args) {
      return Reflect.apply(listen, this, isKept(this) ? args : withFolder(args, folder))
    }
  })
}

/** The path is the first argument, or an option. `net.connect` and agents give a socket all of their arguments in a list. */
function withFolder(args: unknown[], folder: CurrentFolder): unknown[] {
  const [first] = args
  if (Array.isArray(first)) {
    const [options] = first as unknown[]
    const moved = moveOption(options, folder)
    if (moved !== options) first[0] = moved
    return args
  }
  const moved = isSocketPath(first) ? inFolder(first, folder) : moveOption(first, folder)
  return moved === first ? args : args.with(0, moved)
}

function moveOption(options: unknown, folder: CurrentFolder): unknown {
  if (typeof options !== 'object' || options === null || !('path' in options) || !isSocketPath(options.path))
    return options
  const path = inFolder(options.path, folder)
  return path === options.path ? options : { ...options, path }
}

function inFolder(path: string, folder: CurrentFolder): string {
  const current = folder()
  return current === undefined ? path : pathIn(current, path)
}

/** Not a port, and not a name of Linux's that is no file. */
function isSocketPath(value: unknown): value is string {
  return isRelative(value) && !(Number(value) >= 0) && !value.startsWith('\0')
}
