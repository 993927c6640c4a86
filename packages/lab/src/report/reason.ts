/** A reason on one line: what a program said before it ended comes below the first, and may begin with where it was. */
export function reasonText(reason: string): string {
  const [first = '', ...said] = reason.split('\n')
  if (!first.endsWith(':')) return first
  const telling = said.find((line) => /Error\b/.test(line)) ?? said.find((line) => line.trim() !== '')
  return telling === undefined ? first : `${first} ${telling.trim()}`
}
