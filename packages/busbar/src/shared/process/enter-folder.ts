/**
 * Changes the working directory, and returns a function that changes it back. Threads share it: only
 * an app's sole service can have its own.
 */
export function enterFolder(folder: string): () => void {
  const before = process.cwd()
  process.chdir(folder)
  return () => process.chdir(before)
}
