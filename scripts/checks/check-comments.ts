/**
 * Refuses comments that are wider than 100 columns. The formatter allows code 120 columns, and does
 * not wrap comments. Commands, code and tables, which cannot be wrapped, may be wider.
 */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const maxColumns = 100
const sources = ['{packages,examples,docs,scripts}/**/*.{ts,tsx,js,mjs,cjs}', 'crates/**/*.rs', '.ci/*']
const comment = /^\s*(?:\/\/|\/\*|\*(?:\s|\/)|# )/
/** Indented code, a whole line in backticks, a row of a table. */
const unwrappable = /^\s*\*\s{2,}|^\s*\*? ?`[^`]*`?$|[│|].*[│|]/

if (import.meta.main) {
  const problems = await findWideComments('.')
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

/** `root`: folder of the repository. */
export async function findWideComments(root: string): Promise<string[]> {
  const problems: string[] = []
  for (const source of sources)
    for await (const file of glob(source, { cwd: root, exclude: isGenerated })) {
      const lines = (await readFile(join(root, file), 'utf8')).split('\n')
      for (const [index, line] of lines.entries())
        if (line.length > maxColumns && comment.test(line) && !unwrappable.test(line))
          problems.push(`${file}:${index + 1}: a comment has ${line.length} columns, and ${maxColumns} are allowed`)
    }
  return problems
}

function isGenerated(path: string): boolean {
  return /(^|\/)(node_modules|dist|target|\.busbar)$/.test(path)
}
