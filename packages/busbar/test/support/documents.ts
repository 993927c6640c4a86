import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../..', import.meta.url))

const skipped = /(^|\/)(node_modules|dist|target|programs|results)(\/|$)/

/** All Markdown files of the repository, relative to its root. */
export async function documents(): Promise<string[]> {
  const found: string[] = []
  for await (const file of glob('**/*.md', { cwd: root, exclude: (name) => skipped.test(name) })) found.push(file)
  return found.toSorted()
}

export function withoutCode(text: string): string {
  return text
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]+`/g, (code) => (code.includes('](') ? '' : code))
}

export interface Block {
  readonly language: string
  /** The value of `file=`. */
  readonly file: string | undefined
  readonly text: string
}

/** The fenced blocks, in order. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(?<language>\w*)(?: file=(?<file>\S+))?\n(?<text>[\s\S]*?)^```$/gm)].map(
    ({ groups }) => ({
      language: groups!['language']!,
      file: groups!['file'],
      text: groups!['text']!,
    }),
  )
}
