import net from 'node:net'
import { replaceProperty } from '../process/replace-property.ts'
import { type CurrentDirectory, isRelative, pathIn } from './relative-paths.ts'

type Connect = (this: net.Socket, ...args: unknown[]) => net.Socket
type Listen = (this: net.Server, ...args: unknown[]) => net.Server

/** Unix sockets have paths, too. `isKept`: true for a server that opens none. */
export function patchSockets(
  directory: CurrentDirectory,
  isKept: (server: net.Server) => boolean,
  patches: DisposableStack,
): void {
  replaceProperty(patches, net.Socket.prototype as unknown as { connect: Connect }, 'connect', (connect) => {
    return function (...args) {
      return Reflect.apply(connect, this, withDirectory(args, directory))
    }
  })
  replaceProperty(patches, net.Server.prototype as unknown as { listen: Listen }, 'listen', (listen) => {
    return function (...args) {
      return Reflect.apply(listen, this, isKept(this) ? args : withDirectory(args, directory))
    }
  })
}

/**
 * The path is the first argument, or an option. `net.connect` and agents pass all arguments as one
 * list.
 */
function withDirectory(args: unknown[], directory: CurrentDirectory): unknown[] {
  const [first] = args
  if (Array.isArray(first)) {
    const [options] = first as unknown[]
    const moved = moveOption(options, directory)
    if (moved !== options) first[0] = moved
    return args
  }
  const moved = isSocketPath(first) ? inDirectory(first, directory) : moveOption(first, directory)
  return moved === first ? args : args.with(0, moved)
}

function moveOption(options: unknown, directory: CurrentDirectory): unknown {
  if (typeof options !== 'object' || options === null || !('path' in options) || !isSocketPath(options.path))
    return options
  const path = inDirectory(options.path, directory)
  return path === options.path ? options : { ...options, path }
}

function inDirectory(path: string, directory: CurrentDirectory): string {
  const current = directory()
  return current === undefined ? path : pathIn(current, path)
}

/** Excludes ports and Linux's abstract socket names. */
function isSocketPath(value: unknown): value is string {
  return isRelative(value) && !(Number(value) >= 0) && !value.startsWith('\0')
}
