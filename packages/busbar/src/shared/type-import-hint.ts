/**
 * Hint for an import that Node did not find in a TypeScript file: nearly always the import of a
 * type. Undefined for other errors.
 */
export function typeImportHint(thrown: unknown): string | undefined {
  if (!(thrown instanceof SyntaxError)) return undefined
  const { message, stack = '' } = thrown
  const name = /(?:does not provide an export named|^Named export) '([^']+)'/.exec(message)?.[1]
  // Node puts the importing file above the message.
  if (name === undefined || !/^\S+\.[cm]?ts(?:\?\S*)?:\d+\n/.test(stack)) return undefined
  return `If ${name} is a type, write \`import type { ${name} }\`: Node strips types, but keeps an import without that word.`
}
