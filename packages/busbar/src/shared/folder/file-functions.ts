import { type Localise, localDisposable, localEntries, localPath } from './results.ts'

export type Call = (...args: unknown[]) => unknown
export type Functions = Record<string, Call>

/** How a function tells its result. */
export type Way =
  /** It returns it, or throws. */
  | 'sync'
  /** The last argument gets it, behind an error. */
  | 'callback'
  | 'promise'
  /** It returns at once what tells more later: an iterator; or it tells of no error. */
  | 'other'

export interface FileFunction {
  /** Which arguments are paths. */
  readonly paths: readonly number[]
  readonly local?: Localise
  /** Errors name the absolute path in plain Node too. */
  readonly absoluteErrors?: boolean
}

const path: FileFunction = { paths: [0] }
const two: FileFunction = { paths: [0, 1] }

/** Functions with a callback, with `Sync` behind their names, and with a promise, as far as there are such. */
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
  // What a link says is relative to where it lies.
  symlink: { paths: [1] },
  truncate: path,
  unlink: path,
  utimes: path,
  writeFile: path,
}

/** In a form of their own. */
export const otherFileFunctions: Readonly<Record<string, readonly [way: Way, form: FileFunction]>> = {
  exists: ['other', path],
  existsSync: ['sync', path],
  openAsBlob: ['promise', path],
  openAsBlobSync: ['sync', path],
  unwatchFile: ['sync', path],
  watch: ['sync', path],
  watchFile: ['sync', path],
}

/** They search in the folder that an option names, and by default in the current one. */
export const globs = ['glob', 'globSync'] as const

/** These take no path. Streams, and classes of streams, open theirs by the public `fs.open`, and go on saying it as it was given. */
export const pathless: ReadonlySet<string> = new Set(
  [
    'close fchmod fchown fdatasync fstat fsync ftruncate futimes read readv write writev',
    'createReadStream createWriteStream FileReadStream FileWriteStream ReadStream Utf8Stream WriteStream',
    'Dir Dirent Stats',
  ].flatMap((names) => names.split(' ')),
)
