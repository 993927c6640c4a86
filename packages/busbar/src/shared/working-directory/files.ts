import fs from 'node:fs'
import { promisify } from 'node:util'
import { replaceProperty, copyFunctionProperties } from '../process/replace-property.ts'
import {
  type Call,
  type FileFunction,
  fileFunctions,
  type Functions,
  otherFileFunctions,
  type Way,
} from './file-functions.ts'
import { type CurrentDirectory, isRelative, pathIn, relativeTo, localError } from './relative-paths.ts'
import { patchGlobs } from './globs.ts'

/**
 * Makes the public functions of `node:fs` and `node:fs/promises` resolve relative paths in the
 * current directory.
 */
export function patchFiles(directory: CurrentDirectory, patches: DisposableStack): void {
  const callbacks = fs as unknown as Functions
  const promises = fs.promises as unknown as Functions
  const patch = (target: Functions, name: string, way: Way, form: FileFunction): void => {
    if (typeof target[name] === 'function')
      replaceProperty(patches, target, name, (original) => follow(original, way, form, directory))
  }
  for (const [name, form] of Object.entries(fileFunctions)) {
    patch(callbacks, name, 'callback', form)
    patch(callbacks, `${name}Sync`, 'sync', form)
    patch(promises, name, 'promise', { ...form, absoluteErrors: false })
  }
  for (const [name, [way, form]] of Object.entries(otherFileFunctions)) patch(callbacks, name, way, form)
  patch(promises, 'watch', 'other', { paths: [0] })
  patchGlobs(callbacks, promises, directory, patches)
}

/**
 * Also replaces the function's own properties: `fs.realpath.native`, and the form for
 * `util.promisify`.
 */
function follow(original: Call, way: Way, form: FileFunction, directory: CurrentDirectory): Call {
  const replacement = inDirectory(original, way, form, directory)
  const others = [
    ['native', way],
    [promisify.custom, 'promise'],
  ] as const
  for (const [key, itsWay] of others) {
    const own = Object.getOwnPropertyDescriptor(original, key)
    if (typeof own?.value !== 'function') continue
    const value = own.value === original ? replacement : followOwn(own.value as Call, itsWay, form, directory)
    Object.defineProperty(replacement, key, { ...own, value })
  }
  return replacement
}

/** Their errors come from the system. */
function followOwn(own: Call, way: Way, form: FileFunction, directory: CurrentDirectory): Call {
  return copyFunctionProperties(follow(own, way, { ...form, absoluteErrors: false }, directory), own)
}

/** Absolute paths, URLs, `Buffer`s and descriptors only cost two comparisons. */
function inDirectory(call: Call, way: Way, form: FileFunction, directory: CurrentDirectory): Call {
  const [first = 0, second] = form.paths
  return function (this: unknown, ...args) {
    const moves = isRelative(args[first]) || (second !== undefined && isRelative(args[second]))
    const current = moves ? directory() : undefined
    if (current === undefined) return Reflect.apply(call, this, args)
    const moved = { args: withDirectory(args, form.paths, current), local: localIn(args, form, current) }
    return calls[way](call, this, moved)
  }
}

interface Moved {
  readonly args: unknown[]
  readonly local: Local
}

interface Local {
  readonly result: (result: unknown) => unknown
  readonly error: (error: unknown) => unknown
}

const calls: Readonly<Record<Way, (call: Call, self: unknown, moved: Moved) => unknown>> = {
  sync(call, self, { args, local }) {
    try {
      return local.result(Reflect.apply(call, self, args))
    } catch (error) {
      throw local.error(error)
    }
  },
  callback(call, self, { args, local }) {
    const done = args.at(-1)
    if (typeof done !== 'function') return Reflect.apply(call, self, args)
    const answer = (error: unknown, ...results: unknown[]): unknown =>
      error ? (done as Call)(local.error(error), ...results) : (done as Call)(error, ...results.map(local.result))
    return Reflect.apply(call, self, args.with(args.length - 1, answer))
  },
  async promise(call, self, { args, local }) {
    try {
      return local.result(await Reflect.apply(call, self, args))
    } catch (error) {
      throw local.error(error)
    }
  },
  other: (call, self, { args }) => Reflect.apply(call, self, args),
}

function withDirectory(args: readonly unknown[], paths: readonly number[], directory: string): unknown[] {
  const moved = args.map((arg, at) => (paths.includes(at) && isRelative(arg) ? pathIn(directory, arg) : arg))
  return paths.length > 1 ? withFilter(moved, args, directory) : moved
}

/** The filter of `fs.cp` gets paths as the program gave them. */
function withFilter(moved: unknown[], given: readonly unknown[], directory: string): unknown[] {
  const options = moved[2] as { filter?: unknown } | null | undefined
  if (typeof options !== 'object' || typeof options?.filter !== 'function') return moved
  const { filter } = options as { filter: Call }
  const own = (path: unknown, at: number): unknown =>
    isRelative(given[at]) ? relativeTo(directory, String(path)) : path
  return moved.with(2, { ...options, filter: (...both: unknown[]) => filter(...both.map(own)) })
}

/**
 * If one of two paths is absolute, results and errors stay unchanged, since they may refer to that
 * one.
 */
function localIn(args: readonly unknown[], form: FileFunction, directory: string): Local {
  const isLocal = form.paths.every((at) => isRelative(args[at]))
  const { local, absoluteErrors = false } = form
  return {
    result: (result) => (isLocal && local !== undefined && result !== undefined ? local(result, directory) : result),
    error: (error) => (isLocal && !absoluteErrors ? localError(error, directory) : error),
  }
}
