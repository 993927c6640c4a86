/** What a shell that went to `path` would have changed in an environment that it had made. */
export function inFolder(path: string, { PWD }: Readonly<NodeJS.ProcessEnv>): { PWD?: string } {
  return PWD === undefined ? {} : { PWD: path }
}
