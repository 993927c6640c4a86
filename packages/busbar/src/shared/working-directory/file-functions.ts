import { type Localise, localDisposable, localEntries, localPath } from './relative-paths.ts'

export type Call = (...args: unknown[]) => unknown
export type Functions = Record<string, Call>

/** How a function delivers its result. */
export type Way =
  /** Returns it, or throws. */
  | 'sync'
  /** Passes it to a callback, the last argument, after an error. */
  | 'callback'
  | 'promise'
  /** Delivers it later, by an iterator or a listener; or reports no errors. */
  | 'other'

export interface FileFunction {
  /** The indexes of the path arguments. */
  readonly paths: readonly number[]
  readonly local?: Localise
  /** Errors contain the absolute path in plain Node, too. */
  readonly absoluteErrors?: boolean
}

const path: FileFunction = { paths: [0] }
const two: FileFunction = { paths: [0, 1] }

/** Functions with a callback form, a `Sync` form and a promise form, as far as Node has them. */
export const fileFunctions: Readonly<Record<string, FileFunction>> = {
  access: path,
  appendFile: path,
  chmod: path,
  chown: path,
  copyFile: two,
  cp: two,
  lchmod: path,
  lchown: path,
  link: two,
  lstat: path,
  lutimes: path,
  mkdir: { paths: [0], local: localPath },
  mkdtemp: { paths: [0], local: localPath },
  mkdtempDisposable: { paths: [0], local: localDisposable },
  open: path,
  opendir: path,
  readdir: { paths: [0], local: localEntries },
  readFile: path,
  readlink: path,
  realpath: { paths: [0], absoluteErrors: true },
  rename: two,
  rm: path,
  rmdir: path,
  stat: path,
  statfs: path,
  // The target of a link is relative to the link.
  symlink: { paths: [1] },
  truncate: path,
  unlink: path,
  utimes: path,
  writeFile: path,
}

/** Functions with only one form. */
export const otherFileFunctions: Readonly<Record<string, readonly [way: Way, form: FileFunction]>> = {
  exists: ['other', path],
  existsSync: ['sync', path],
  openAsBlob: ['promise', path],
  openAsBlobSync: ['sync', path],
  unwatchFile: ['sync', path],
  watch: ['sync', path],
  watchFile: ['sync', path],
}

/** Functions that search the directory of an option, by default the current one. */
export const globs = ['glob', 'globSync'] as const

/**
 * Functions without paths. Streams open their files by the public `fs.open`, and keep reporting the
 * path as given.
 */
export const pathless: ReadonlySet<string> = new Set(
  [
    'close fchmod fchown fdatasync fstat fsync ftruncate futimes read readv write writev',
    'createReadStream createWriteStream FileReadStream FileWriteStream ReadStream Utf8Stream WriteStream',
    'Dir Dirent Stats',
  ].flatMap((names) => names.split(' ')),
)
