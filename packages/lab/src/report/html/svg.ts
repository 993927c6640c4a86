/** SVG as text: elements, and scales for values. */

type Attributes = Readonly<Record<string, string | number | undefined>>

export function el(name: string, attributes: Attributes = {}, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : escape(value!)}"`)
    .join('')
  return `<${name}${written}>${children.join('')}</${name}>`
}

/** Scales with the page. `label` is for screen readers. */
export function drawing(width: number, height: number, label: string, ...children: readonly string[]): string {
  return el('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label }, ...children)
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return el('text', { x, y, ...attributes }, escape(content))
}

/** The tooltip of an element. */
export function tooltip(content: string): string {
  return el('title', {}, escape(content))
}

export function line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string {
  return el('line', { x1, y1, x2, y2, ...attributes })
}

/** A line through points. Undefined makes a gap, and a single point a dot. */
export function path(points: readonly (readonly [number, number] | undefined)[], attributes: Attributes): string {
  let pen = 'M'
  const steps = points.map((point) => {
    if (point === undefined) {
      pen = 'M'
      return ''
    }
    const step = `${pen}${short(point[0])} ${short(point[1])}${pen === 'M' ? 'h0' : ''}`
    pen = 'L'
    return step
  })
  return el('path', { d: steps.join(''), fill: 'none', ...attributes })
}

export function escape(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

export type Scale = (value: number) => number

export function linear([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  return (value) => start + ((value - from) / (to - from || 1)) * (end - start)
}

export function logarithmic(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const scale = linear([Math.log(domain[0]), Math.log(domain[1])], range)
  return (value) => scale(Math.log(value))
}

/** Keeps values at least `distance` apart. Earlier values have priority. */
export function spaced(values: readonly number[], scale: Scale, distance: number): number[] {
  const kept: number[] = []
  for (const value of values)
    if (kept.every((other) => Math.abs(scale(other) - scale(value)) >= distance)) kept.push(value)
  return kept.toSorted((one, other) => one - other)
}

/** 1, 2 and 5 times each power of ten within a range. Powers first, then fives, then twos. */
export function decades([from, to]: readonly [number, number]): number[] {
  const powers = Array.from(
    { length: Math.ceil(Math.log10(to)) - Math.floor(Math.log10(from)) + 1 },
    (_, at) => Math.floor(Math.log10(from)) + at,
  )
  // Parsed from text, since 10 ** -n is not exact.
  return [1, 5, 2]
    .flatMap((digit) => powers.map((power) => Number(`${digit}e${power}`)))
    .filter((each) => each >= from && each <= to)
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100)
}
