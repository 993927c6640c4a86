/**
 * What the segments of a path template match. Templates come from programs, and with Express partly
 * from requests. So there are no regular expressions: matching takes time that grows with the
 * length of the path, and no more.
 */
export type Segment =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'parameter' }
  | { readonly is: 'digits' }
  /** Several parameters with these texts around them, of which the outer ones may be empty. */
  | { readonly is: 'pieces'; readonly texts: readonly string[] }
  /** The last one: all that follows. */
  | { readonly is: 'rest' }

/** Each doubles the number of patterns. */
const maxOptional = 3

/**
 * The syntax of `find-my-way` and of Express: `:id`, `:id(\\d+)`, `:from-:to`, `*` or `*rest` at
 * the end, and what may be left out, as `{/:id}` or `/:id?`. Also `{id}` of OpenAPI and contracts.
 * Empty for any other syntax.
 */
export function patternsOf(path: string): readonly (readonly Segment[])[] {
  const written = path.replace(/(\/:\w+(?:\([^)]*\))?)\?$/, '{$1}')
  const optional = written.match(/\{\/[^{}]*\}/g) ?? []
  if (optional.length > maxOptional) return []
  const patterns = withAndWithout(written, optional).map(segmentsOf)
  return patterns.every((one) => one !== undefined) ? patterns : []
}

function withAndWithout(path: string, optional: readonly string[]): readonly string[] {
  const [first, ...others] = optional
  if (first === undefined) return [path]
  return [path.replace(first, () => ''), path.replace(first, () => first.slice(1, -1))].flatMap((one) =>
    withAndWithout(one, others),
  )
}

function segmentsOf(path: string): readonly Segment[] | undefined {
  const texts = path.replace(/\/$/, '').split('/').slice(1)
  const segments = texts.map((text, at) => segmentOf(text, at === texts.length - 1))
  return segments.every((one) => one !== undefined) ? segments : undefined
}

function segmentOf(text: string, isLast: boolean): Segment | undefined {
  if (/^\*\w*$/.test(text)) return isLast ? { is: 'rest' } : undefined
  if (/^(?::\w+|\{\w+\})$/.test(text)) return { is: 'parameter' }
  if (/^:\w+\(\^?(?:\\d|\[0-9\])\+\$?\)$/.test(text)) return { is: 'digits' }
  // A doubled colon is text. Everything else is the syntax of an expression.
  const pieces = text.split(/(?<!:):(?=\w)\w+/)
  if (pieces.some((piece) => /[*?+(){}[\]#<>]|(?<!:):(?!:)(?<!::)/.test(piece))) return undefined
  const texts = pieces.map((piece) => encoded(piece.replaceAll('::', ':')))
  if (texts.length === 1) return { is: 'text', text: texts[0]! }
  return texts.slice(1, -1).includes('') ? undefined : { is: 'pieces', texts }
}

/** As clients send it. */
function encoded(text: string): string {
  return text.replaceAll(/["\\^`|\u0080-\uffff]+/g, (part) => encodeURIComponent(part.toWellFormed()))
}
